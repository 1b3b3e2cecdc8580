#pragma once

#include "nn/models/backbone.h"
#include "nn/models/boxes.h"

namespace ocl::models {

struct SSDOptions {
  OPTION(std::int64_t, num_classes) = 91;
  /** Weights of mobilenet_v3_large. */
  OPTION(BackboneWeights, weights_backbone);
  /** So many of the last of the backbone's six stages learn; counts where weights are loaded alone. */
  OPTION(std::optional<std::int64_t>, trainable_backbone_layers) = std::nullopt;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION(std::vector<double>, image_mean) { 0.5, 0.5, 0.5 };
  OPTION(std::vector<double>, image_std) { 0.5, 0.5, 0.5 };
  /** A box with a lower score is no detection. */
  OPTION(double, score_thresh) = 0.001;
  /** Detections of a class that overlap by more are one. */
  OPTION(double, nms_thresh) = 0.55;
  OPTION(std::int64_t, detections_per_img) = 300;
  /** Default boxes that overlap with a true one by that much stand for it. */
  OPTION(double, iou_thresh) = 0.5;
  /** So many of each class, before those that overlap are taken out. */
  OPTION(std::int64_t, topk_candidates) = 300;
  /** The share of the boxes that the loss of classes counts. */
  OPTION(double, positive_fraction) = 0.25;
  OPTION_LIST(0, num_classes_, weights_backbone_, trainable_backbone_layers_, norm_layer_, image_mean_,
              image_std_, score_thresh_, nms_thresh_, detections_per_img_, iou_thresh_, topk_candidates_,
              positive_fraction_)

  /** Whether weights of the whole net are to be loaded. */
  OPTION(bool, is_trained) = false;
};
void expect_weights(SSDOptions& options);

/**
 * torchvision.models.detection.SSD, over the parts of ssdlite320_mobilenet_v3_large: "SSD: Single Shot
 * MultiBox Detector" (Liu et al. 2016). Pictures [3, H, W] of floating numbers in [0, 1], of any sizes, which
 * become 320 x 320; boxes are places on the picture as it was given; class 0 is no object.
 */
class SSD : public Composed<SSD, SSDOptions> {
 public:
  /** The objects on a picture: boxes [M, 4], 0 <= x1 < x2 <= W and so on, and their classes, int64 [M]. */
  struct Target {
    Tensor boxes, labels;
  };
  /** Scalars. */
  struct Losses {
    Tensor bbox_regression, classification;
  };
  /** boxes [K, 4], labels int64 [K], scores [K], the most likely first. */
  struct Detections {
    Tensor boxes, labels, scores;
  };
  explicit SSD(const SSDOptions& options = {});
  /** Throws ValueError, TypeError for targets of other shapes and dtypes, and for boxes without area (which
   * waits). A class out of range is an IndexError at the next waiting point. */
  Losses losses(const TensorList& images, const std::vector<Target>& targets);
  /** Waits. */
  std::vector<Detections> detections(const TensorList& images);
  /** (images, targets) while training: {"bbox_regression": …, "classification": …}; else (images): a dict of
   * boxes, labels and scores for each picture. */
  Value call(const Arguments& arguments) override;
  static const Variants<SSDOptions>& variants();

  Child<Module> backbone = child<Module>("backbone");
  Child<DefaultBoxGenerator> anchor_generator = child<DefaultBoxGenerator>("anchor_generator");
  Child<Module> head = child<Module>("head");
  Child<GeneralizedRCNNTransform> transform = child<GeneralizedRCNNTransform>("transform");

 private:
  /** The heads' results for pictures' default boxes. */
  struct Outputs {
    Tensor bbox_regression, cls_logits, anchors;  // [N, A, 4], [N, A, num_classes], [A, 4]
  };
  Outputs outputs(const TensorList& images);
};

}  // namespace ocl::models
