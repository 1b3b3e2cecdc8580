#include "autograd/ops/box.h"

#include "autograd/ops/call.h"
#include "autograd/ops/index.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/join.h"
#include "autograd/ops/masking.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/box/nms.h"
#include "dlprim/ops/box/roi_align.h"

namespace ocl {
namespace {

using dlprim::require;

enum class BoxFormat { corners, corner_size, center_size };

BoxFormat format_named(const char* op, const std::string& name) {
  if (name == "xyxy") return BoxFormat::corners;
  if (name == "xywh") return BoxFormat::corner_size;
  require(name == "cxcywh", op, ": unsupported format '", name, "', expected xyxy, xywh or cxcywh");
  return BoxFormat::center_size;
}

void require_boxes(const char* op, const Tensor& boxes) {
  require(boxes.dim() > 0 && boxes.size(-1) == 4, op, ": expected boxes [..., 4], got shape ", boxes.shape());
  require<TypeError>(boxes.dtype() != DType::boolean, op, ": expected numbers, got bool");
}

/** In a dtype whose products do not overflow so soon, as torchvision's. */
Tensor widened(const Tensor& t) {
  if (is_floating(t.dtype())) return t.dtype() == DType::float64 ? t : to(t, DType::float32);
  return t.dtype() == DType::int64 ? t : to(t, DType::int32);
}

/** The first two coordinates, or the last two. */
Tensor former(const Tensor& boxes) {
  return narrow(boxes, -1, 0, 2);
}
Tensor latter(const Tensor& boxes) {
  return narrow(boxes, -1, 2, 2);
}

/** The corners of boxes, [..., 2] each. */
struct Corners {
  Tensor low, high;
};
Corners corners_of(const Tensor& boxes, BoxFormat format) {
  const Tensor first = former(boxes), second = latter(boxes);
  if (format == BoxFormat::corners) return {first, second};
  if (format == BoxFormat::corner_size) return {first, first + second};
  const Tensor half = second * 0.5;
  return {first - half, first + half};
}

Tensor area(const Tensor& boxes, BoxFormat format) {
  const Tensor sides = format == BoxFormat::corners ? latter(boxes) - former(boxes) : latter(boxes);
  return select(sides, -1, 0) * select(sides, -1, 1);
}

void require_candidates(const char* op, const Tensor& boxes, const Tensor& scores) {
  require_one_device(op, {boxes, scores});
  require(boxes.dim() == 2 && boxes.size(1) == 4, op, ": expected boxes [N, 4], got shape ", boxes.shape());
  require(scores.dim() == 1 && scores.size(0) == boxes.size(0), op, ": expected scores [", boxes.size(0),
          "], one for each box, got shape ", scores.shape());
  require<TypeError>(boxes.dtype() == scores.dtype(), op, ": expected boxes and scores of one dtype, got ",
                     name(boxes.dtype()), " and ", name(scores.dtype()));
}

Tensor kept_boxes(const Tensor& boxes, const Tensor& scores, const dlprim::Tensor* categories,
                  double iou_threshold) {
  return Tensor(dlprim::nms(boxes.device()->queue(), contiguous(boxes.detach()).data(),
                            contiguous(scores.detach()).data(), categories, iou_threshold));
}

}  // namespace

Tensor box_area(const Tensor& boxes, const std::string& format) {
  ENTER_OPERATOR(box_area, boxes, format);
  require_boxes("box_area", boxes);
  return area(widened(boxes), format_named("box_area", format));
}

Tensor box_convert(const Tensor& boxes, const std::string& in_format, const std::string& out_format) {
  ENTER_OPERATOR(box_convert, boxes, in_format, out_format);
  require_boxes("box_convert", boxes);
  const BoxFormat in = format_named("box_convert", in_format), out = format_named("box_convert", out_format);
  if (in == out) return clone(boxes);
  const auto [low, high] = corners_of(boxes, in);
  if (out == BoxFormat::corners) return cat({low, high}, -1);
  if (out == BoxFormat::corner_size) return cat({low, high - low}, -1);
  const Tensor center = (low + high) / 2, size = high - low;
  return cat({center, to(size, center.dtype())}, -1);
}

Tensor box_iou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format) {
  ENTER_OPERATOR(box_iou, boxes1, boxes2, format);
  constexpr const char* op = "box_iou";
  for (const Tensor& boxes : {boxes1, boxes2}) {
    require_boxes(op, boxes);
    require(boxes.dim() >= 2, op, ": expected boxes [..., N, 4], got shape ", boxes.shape());
  }
  const BoxFormat given = format_named(op, format);
  const auto [low1, high1] = corners_of(unsqueeze(boxes1, -2), given);
  const auto [low2, high2] = corners_of(unsqueeze(boxes2, -3), given);
  const Tensor sides = clamp_min(widened(minimum(high1, high2) - maximum(low1, low2)), 0);
  const Tensor both = select(sides, -1, 0) * select(sides, -1, 1);
  const Tensor area1 = area(widened(boxes1), given), area2 = area(widened(boxes2), given);
  return both / (unsqueeze(area1, -1) + unsqueeze(area2, -2) - both);
}

Tensor clip_boxes_to_image(const Tensor& boxes, Pair size) {
  ENTER_OPERATOR(clip_boxes_to_image, boxes, size);
  require_boxes("clip_boxes_to_image", boxes);
  const Tensor x = clamp(slice(boxes, -1, 0, 4, 2), 0, size[1]);
  const Tensor y = clamp(slice(boxes, -1, 1, 4, 2), 0, size[0]);
  return reshape(stack({x, y}, -1), boxes.shape().vector());
}

Tensor remove_small_boxes(const Tensor& boxes, double min_size) {
  ENTER_OPERATOR(remove_small_boxes, boxes, min_size);
  require_boxes("remove_small_boxes", boxes);
  require(boxes.dim() == 2, "remove_small_boxes: expected boxes [N, 4], got shape ", boxes.shape());
  const Tensor given = boxes.detach(), is_wide = ge(latter(given) - former(given), min_size);
  return nonzero_as_tuple(select(is_wide, -1, 0).logical_and(select(is_wide, -1, 1))).front();
}

Tensor nms(const Tensor& boxes, const Tensor& scores, double iou_threshold) {
  ENTER_OPERATOR(nms, boxes, scores, iou_threshold);
  require_candidates("nms", boxes, scores);
  return kept_boxes(boxes, scores, nullptr, iou_threshold);
}

Tensor batched_nms(const Tensor& boxes, const Tensor& scores, const Tensor& idxs, double iou_threshold) {
  ENTER_OPERATOR(batched_nms, boxes, scores, idxs, iou_threshold);
  constexpr const char* op = "batched_nms";
  require_candidates(op, boxes, scores);
  require_one_device(op, {boxes, idxs});
  require(idxs.shape() == scores.shape(), op, ": expected idxs ", scores.shape(),
          ", one for each box, got shape ", idxs.shape());
  const dlprim::Tensor categories = checked_index(op, idxs);
  return kept_boxes(boxes, scores, &categories, iou_threshold);
}

Tensor roi_align(const Tensor& input, const Tensor& boxes, Pair output_size, double spatial_scale,
                 int sampling_ratio, bool aligned) {
  ENTER_OPERATOR(roi_align, input, boxes, output_size, spatial_scale, sampling_ratio, aligned);
  constexpr const char* op = "roi_align";
  require_one_device(op, {input, boxes});
  require(input.dim() == 4, op, ": expected an input [N, C, H, W], got shape ", input.shape());
  require(boxes.dim() == 2 && boxes.size(1) == 5, op,
          ": expected boxes [K, 5] (image, x1, y1, x2, y2), got shape ", boxes.shape());
  require<TypeError>(boxes.dtype() == input.dtype(), op, ": expected boxes of the input's dtype ",
                     name(input.dtype()), ", got ", name(boxes.dtype()));
  require(output_size[0] > 0 && output_size[1] > 0, op, ": expected a positive output_size, got (",
          output_size[0], ", ", output_size[1], ")");
  static const dlprim::DeviceCheck check =
      dlprim::register_check("roi_align: number of an image out of range: ");
  const dlprim::RegionGeometry geometry{spatial_scale, sampling_ratio, aligned};
  const Tensor x = contiguous(input), rois = contiguous(boxes.detach());
  const dlprim::Tensor y = dlprim::Tensor::empty(
      *x.device(), {rois.size(0), x.size(1), output_size[0], output_size[1]}, x.dtype());
  dlprim::roi_align_forward(x.device()->queue(), x.data(), rois.data(), geometry, y, check);
  return record("RoiAlignBackward", {x}, y, [&] {
    const SavedTensor kept(rois);
    return linear_gradient(
        "RoiAlignBackward",
        [geometry, kept, shape = x.shape()](const Tensor& given) {
          const Tensor g = contiguous(given);
          const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), shape, g.dtype());
          dlprim::roi_align_backward(g.device()->queue(), g.data(), kept.unpack(), geometry, dx);
          return Tensor(dx);
        },
        [kept, output_size, spatial_scale, sampling_ratio, aligned](const Tensor& given) {
          return roi_align(given, Tensor(kept.unpack()), output_size, spatial_scale, sampling_ratio, aligned);
        });
  });
}

Tensor roi_align(const Tensor& input, const TensorList& boxes, Pair output_size, double spatial_scale,
                 int sampling_ratio, bool aligned) {
  TensorList numbered;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Tensor& of_image = boxes[i];
    require(of_image.dim() == 2 && of_image.size(1) == 4,
            "roi_align: expected boxes [L, 4] of each image, got shape ", of_image.shape());
    const Tensor number =
        full({of_image.size(0), 1}, static_cast<double>(i), of_image.dtype(), of_image.device());
    numbered.push_back(cat({number, of_image}, 1));
  }
  const Tensor all = numbered.empty() ? zeros({0, 5}, input.dtype(), input.device()) : cat(numbered);
  return roi_align(input, all, output_size, spatial_scale, sampling_ratio, aligned);
}

}  // namespace ocl
