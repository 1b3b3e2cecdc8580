#pragma once

#include "nn/models/backbone.h"

/** torchvision.models.detection's parts of SSDlite ("MobileNetV2", Sandler et al. 2018; "Searching for
 * MobileNetV3", Howard et al. 2019). */
namespace ocl::models::ssdlite {

/** SSDlite's norm by default: BatchNorm2d(eps=0.001, momentum=0.03). */
NormLayer norm_or_default(const NormLayer& given);

struct FeatureExtractorOptions {
  OPTION(NormLayer, norm_layer) = nullptr;
  /** Weights of mobilenet_v3_large, all of whose channels are there then; else its last stage has half of
   * them. */
  OPTION(BackboneWeights, weights_backbone);
  /** So many of the last of six stages learn. */
  OPTION(std::int64_t, trainable_layers) = 6;
  OPTION_LIST(0, norm_layer_, weights_backbone_, trainable_layers_)
};
/** torchvision's SSDLiteFeatureExtractorMobileNet over mobilenet_v3_large: [N, 3, H, W] -> {"0": …, "5": …},
 * feature maps each half as high and wide as the one before. Throws ValueError for another number of
 * layers. */
class SSDLiteFeatureExtractorMobileNet
    : public Composed<SSDLiteFeatureExtractorMobileNet, FeatureExtractorOptions> {
 public:
  explicit SSDLiteFeatureExtractorMobileNet(const FeatureExtractorOptions& options = {});
  NamedTensors outputs(const Tensor& x);
  Value call(const Arguments& arguments) override;
  /** Channels of the maps. */
  std::vector<std::int64_t> out_channels() const;

  Child<Sequential> features = child<Sequential>("features");
  Child<ModuleList> extra = child<ModuleList>("extra");
};

struct RegressionHeadOptions {
  OPTION(std::vector<std::int64_t>, in_channels);
  OPTION(std::vector<std::int64_t>, num_anchors);
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(2, in_channels_, num_anchors_, norm_layer_)
};
struct ClassificationHeadOptions {
  OPTION(std::vector<std::int64_t>, in_channels);
  OPTION(std::vector<std::int64_t>, num_anchors);
  OPTION(std::int64_t, num_classes) = 0;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(3, in_channels_, num_anchors_, num_classes_, norm_layer_)
};

/** Convolutions for each of several feature maps, and their results joined. */
template <class Derived, class Options>
class ScoringHead : public Composed<Derived, Options> {
 public:
  /** Maps [N, in_channels, H, W] -> [N, boxes, numbers a box]. */
  Tensor scores(const TensorList& maps);
  Value call(const Arguments& arguments) override;

 protected:
  explicit ScoringHead(const Options& options) : Composed<Derived, Options>(options) {}
  void add_blocks(std::int64_t columns);

  Child<ModuleList> module_list = this->template child<ModuleList>("module_list");
};
/** torchvision's SSDLiteClassificationHead: [N, boxes, num_classes]. */
class SSDLiteClassificationHead : public ScoringHead<SSDLiteClassificationHead, ClassificationHeadOptions> {
 public:
  explicit SSDLiteClassificationHead(const ClassificationHeadOptions& options = {});
};
/** torchvision's SSDLiteRegressionHead: [N, boxes, 4]. */
class SSDLiteRegressionHead : public ScoringHead<SSDLiteRegressionHead, RegressionHeadOptions> {
 public:
  explicit SSDLiteRegressionHead(const RegressionHeadOptions& options = {});
};
/** torchvision's SSDLiteHead: {"bbox_regression": [N, boxes, 4], "cls_logits": [N, boxes, num_classes]}. */
class SSDLiteHead : public Composed<SSDLiteHead, ClassificationHeadOptions> {
 public:
  explicit SSDLiteHead(const ClassificationHeadOptions& options = {});
  Value call(const Arguments& arguments) override;

  Child<Module> classification_head = child<Module>("classification_head"),
                regression_head = child<Module>("regression_head");
};

}  // namespace ocl::models::ssdlite
