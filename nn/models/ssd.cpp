#include "nn/models/ssd.h"

#include <algorithm>
#include <limits>

#include "autograd/autograd.h"
#include "autograd/ops/join.h"
#include "autograd/ops/masking.h"
#include "nn/models/ssdlite.h"

namespace ocl::models {
namespace {

constexpr const char* net = "SSD";

PictureSize size_of(const Tensor& image) {
  return {image.size(-2), image.size(-1)};
}

/** The pictures of a list, or of a batch. */
TensorList images_in(const Value& images) {
  if (images.is_tensor()) return unbind(images.tensor("images"));
  dlprim::require<TypeError>(images.is_sequence(), net, ": expected a list of images, got ", images.kind());
  TensorList result;
  for (const Value& image : images.sequence()) result.push_back(image.tensor("an image of SSD"));
  return result;
}

std::vector<SSD::Target> targets_in(const Value& targets) {
  dlprim::require(!targets.is_none(), net, ": targets should not be none when in training mode");
  dlprim::require<TypeError>(targets.is_sequence(), net, ": expected a list of targets, got ",
                             targets.kind());
  std::vector<SSD::Target> result;
  for (const Value& target : targets.sequence()) {
    const std::string what = "a target of SSD";
    const Value::Mapping named = mapping_of(target, what);  // it may hold more
    result.push_back({entry(named, "boxes", what), entry(named, "labels", what)});
  }
  return result;
}

void check_targets(const TensorList& images, const std::vector<SSD::Target>& targets) {
  dlprim::require(images.size() == targets.size(), net, ": expected a target for each of ", images.size(),
                  " images, got ", targets.size());
  for (const auto& [boxes, labels] : targets) {
    dlprim::require(boxes.dim() == 2 && boxes.size(1) == 4,
                    "Expected target boxes to be a tensor of shape [N, 4], got ", boxes.shape(), ".");
    dlprim::require<TypeError>(is_floating(boxes.dtype()), net,
                               ": expected target boxes of a floating dtype, got ", name(boxes.dtype()));
    dlprim::require(labels.dim() == 1 && labels.size(0) == boxes.size(0), net, ": expected labels [",
                    boxes.size(0), "], one for each target box, got shape ", labels.shape());
    dlprim::require<TypeError>(labels.dtype() == DType::int64, net, ": expected labels of dtype int64, got ",
                               name(labels.dtype()));
  }
}

/** One question to the device for all pictures. */
void refuse_degenerate(const TensorList& boxes) {
  const Tensor all = cat(boxes);
  const auto is_flat = [](const Tensor& of) { return le(narrow(of, 1, 2, 2), narrow(of, 1, 0, 2)); };
  if (!any(is_flat(all)).item<bool>()) return;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Tensor wrong =
        masked_select(arange(0, boxes[i].size(0), 1, {}, all.device()), any(is_flat(boxes[i]), {1}));
    if (wrong.numel() == 0) continue;
    const std::vector<float> box = select(boxes[i], 0, select(wrong, 0, 0).item<std::int64_t>()).to_vector();
    throw ValueError(
        dlprim::concat("All bounding boxes should have positive height and width. Found invalid box [",
                       box[0], ", ", box[1], ", ", box[2], ", ", box[3], "] for target at index ", i, "."));
  }
}

/** The target of each default box: a true box and its class, or those of no box where `is_object` is false.
 */
struct Wanted {
  Tensor is_object, boxes, labels;  // [A], [A, 4], [A]
};
Wanted wanted_of(const SSD::Target& target, const Tensor& anchors, double threshold) {
  const Tensor match = match_boxes(target.boxes, anchors, threshold), is_object = ge(match, 0);
  if (target.boxes.size(0) == 0)
    return {is_object, anchors, zeros({anchors.size(0)}, DType::int64, anchors.device())};
  const Tensor box = clamp_min(match, 0);
  return {is_object, index_select(target.boxes, 0, box),
          masked_fill(index_select(target.labels, 0, box), logical_not(is_object), 0)};
}

Tensor sum_where(const Tensor& condition, const Tensor& values) {
  return sum(where(condition, values, zeros({}, values.dtype(), values.device())));
}

}  // namespace

void expect_weights(SSDOptions& options) {
  options.is_trained(true);
}

SSD::SSD(const SSDOptions& o) : Composed(o) {
  compose([&] {
    dlprim::require(o.positive_fraction() > 0, net, ": expected a positive_fraction above 0, got ",
                    o.positive_fraction());
    const bool is_trained = o.is_trained() || !o.weights_backbone().state.empty();
    const auto extractor =
        add<ssdlite::SSDLiteFeatureExtractorMobileNet>(
            "backbone", ssdlite::FeatureExtractorOptions()
                            .norm_layer(o.norm_layer())
                            .weights_backbone(o.weights_backbone())
                            .trainable_layers(is_trained ? o.trainable_backbone_layers().value_or(6) : 6))
            .get();
    const std::vector<std::vector<std::int64_t>> ratios(6, {2, 3});
    const auto generator = add<DefaultBoxGenerator>(
        "anchor_generator", DefaultBoxGeneratorOptions(ratios).min_ratio(0.2).max_ratio(0.95));
    add<ssdlite::SSDLiteHead>("head", ssdlite::ClassificationHeadOptions()
                                          .in_channels(extractor->out_channels())
                                          .num_anchors(generator->num_anchors_per_location())
                                          .num_classes(o.num_classes())
                                          .norm_layer(o.norm_layer()));
    add<GeneralizedRCNNTransform>(
        "transform", GeneralizedRCNNTransformOptions().image_mean(o.image_mean()).image_std(o.image_std()));
  });
  change_options([](SSDOptions& own) { own.weights_backbone({}); });
}

SSD::Outputs SSD::outputs(const TensorList& images) {
  const Tensor batch = transform->batch(images);
  Value::Sequence values;
  std::vector<PictureSize> sizes;
  const std::string given = "what the backbone of SSD gives";
  for (const auto& [key, value] : mapping_of(backbone(Arguments{{batch}, {}}), given)) {
    values.push_back(value);
    sizes.push_back(size_of(value.tensor(dlprim::concat("'", key, "' of ", given))));
  }
  const std::string what = "what the head of SSD gives";
  const Value::Mapping results = mapping_of(head(Arguments{{values}, {}}), what);
  const Tensor regression = entry(results, "bbox_regression", what);
  return {regression, entry(results, "cls_logits", what),
          anchor_generator->boxes(sizes, size_of(batch), regression.dtype(), regression.device())};
}

SSD::Losses SSD::losses(const TensorList& images, const std::vector<Target>& targets) {
  const SSDOptions o = options();
  check_targets(images, targets);
  std::vector<Target> resized;
  TensorList boxes;
  for (std::size_t i = 0; i < images.size(); ++i) {
    resized.push_back(
        {resize_boxes(targets[i].boxes.detach(), size_of(images[i]), transform->size()), targets[i].labels});
    boxes.push_back(resized.back().boxes);
  }
  if (!boxes.empty()) refuse_degenerate(boxes);

  const auto [regression, logits, anchors] = outputs(images);
  TensorList objects, wanted_boxes, wanted_labels;
  for (const Target& target : resized) {
    const Wanted wanted =
        wanted_of({target.boxes.to(anchors.dtype()), target.labels}, anchors, o.iou_thresh());
    objects.push_back(wanted.is_object);
    wanted_boxes.push_back(wanted.boxes);
    wanted_labels.push_back(wanted.labels);
  }
  const Tensor is_object = stack(objects), labels = stack(wanted_labels);
  const Tensor codes = BoxCoder().encode(stack(wanted_boxes), anchors);
  const Tensor off = smooth_l1_loss(regression, codes, Reduction::none);
  const Tensor unlike = reshape(
      cross_entropy(reshape(logits, {-1, logits.size(-1)}), reshape(labels, {-1}), {}, Reduction::none),
      labels.shape().vector());

  // Among boxes without an object, those that look most like one count, a fixed number for each object.
  const Tensor is_positive = gt(labels, 0);
  const Tensor most = sum(is_positive, {1}, true) * ((1 - o.positive_fraction()) / o.positive_fraction());
  const Tensor negative = masked_fill(unlike.detach(), is_positive, -std::numeric_limits<double>::infinity());
  const Tensor is_counted = lt(argsort(argsort(negative, 1, true), 1), most);
  const Tensor count = clamp_min(sum(is_object), 1).to(unlike.dtype());
  return {sum_where(unsqueeze(is_object, -1), off) / count,
          (sum_where(is_positive, unlike) + sum_where(is_counted, unlike)) / count};
}

std::vector<SSD::Detections> SSD::detections(const TensorList& images) {
  const SSDOptions o = options();
  const auto [regression, logits, anchors] = outputs(images);
  const PictureSize size = transform->size();
  const Tensor places = clip_boxes_to_image(BoxCoder().decode(regression, anchors),
                                            {static_cast<int>(size[0]), static_cast<int>(size[1])});
  const Tensor likely = transpose(softmax(logits, -1), 1, 2);
  const Tensor of_objects = narrow(likely, 1, 1, likely.size(1) - 1);
  const std::int64_t candidates = std::min(o.topk_candidates(), anchors.size(0));
  const double none = -std::numeric_limits<double>::infinity();
  std::vector<Detections> result;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Tensor scores = select(of_objects, 0, static_cast<std::int64_t>(i));
    const auto [best, anchor] = topk(masked_fill(scores, le(scores, o.score_thresh()), none), candidates, 1);
    const TensorList found = nonzero_as_tuple(gt(best, none));  // classes and ranks
    const Tensor place = found[0] * candidates + found[1], labels = found[0] + 1;
    const Tensor found_scores = index_select(reshape(best, {-1}), 0, place);
    const Tensor found_boxes = index_select(select(places, 0, static_cast<std::int64_t>(i)), 0,
                                            index_select(reshape(anchor, {-1}), 0, place));
    const Tensor all = batched_nms(found_boxes, found_scores, labels, o.nms_thresh());
    const Tensor kept = narrow(all, 0, 0, std::min(all.size(0), o.detections_per_img()));
    result.push_back({resize_boxes(index_select(found_boxes, 0, kept), size, size_of(images[i])),
                      index_select(labels, 0, kept), index_select(found_scores, 0, kept)});
  }
  return result;
}

Value SSD::call(const Arguments& arguments) {
  const Value::Sequence given = arguments.matched(name(), {"images", "targets"});
  const TensorList images = images_in(given[0]);
  if (is_training()) {
    const Losses all = losses(images, targets_in(given[1]));
    return value_of({{"bbox_regression", all.bbox_regression}, {"classification", all.classification}});
  }
  Value::Sequence values;
  for (const auto& [boxes, labels, scores] : detections(images))
    values.push_back(value_of({{"boxes", boxes}, {"scores", scores}, {"labels", labels}}));
  return values;
}

const Variants<SSDOptions>& SSD::variants() {
  static const auto& all = *new Variants<SSDOptions>{{"ssdlite320_mobilenet_v3_large", {}}};
  return all;
}

}  // namespace ocl::models
