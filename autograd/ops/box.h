#pragma once

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

// Boxes, as torchvision.ops: four coordinates in the last dimension, "xyxy" (two corners) unless said
// otherwise; also "xywh" (corner, width, height) and "cxcywh" (center, width, height). All throw ValueError
// for shapes that do not fit, TypeError for dtypes.

/** The areas [...] of boxes [..., 4]; negative where one side is. float16 and bfloat16 give float32. */
Tensor box_area(const Tensor& boxes, const std::string& format = "xyxy");
/** Boxes [..., 4] in another format. */
Tensor box_convert(const Tensor& boxes, const std::string& in_format, const std::string& out_format);
/** Intersection over union of every pair of boxes [..., N, 4] and [..., M, 4]: [..., N, M]. */
Tensor box_iou(const Tensor& boxes1, const Tensor& boxes2, const std::string& format = "xyxy");
/** Boxes [..., 4] held within a picture of height and width `size`. */
Tensor clip_boxes_to_image(const Tensor& boxes, Pair size);
/** Where the boxes [N, 4] stand both of whose sides are `min_size` and more: int64 [K]. Waits. */
Tensor remove_small_boxes(const Tensor& boxes, double min_size);

/**
 * From the highest score down, the boxes [N, 4] that overlap with none kept before by more than
 * `iou_threshold`: where they stand, int64 [K]. `scores`: [N], of the boxes' floating dtype; of equal ones
 * the first counts as the higher, NaN as the highest. Waits for K. (torchvision.ops.nms)
 */
Tensor nms(const Tensor& boxes, const Tensor& scores, double iou_threshold);
/** nms within each category: only boxes of one number in `idxs` [N] (int64, int32) suppress each other. */
Tensor batched_nms(const Tensor& boxes, const Tensor& scores, const Tensor& idxs, double iou_threshold);

/**
 * torchvision.ops.roi_align (He et al. 2017): means over PH x PW = `output_size` bins of boxes on `input`
 * [N, C, H, W], of bilinear samples: [K, C, PH, PW]. `boxes`: [K, 5] (number of the image, x1, y1, x2, y2),
 * of the input's dtype. spatial_scale: from coordinates to elements. sampling_ratio: points along each axis
 * of a bin; 0 or less: one an element that it covers. aligned: an element's center is its position. Gradient:
 * input. A number of no image: IndexError at the next waiting point.
 */
Tensor roi_align(const Tensor& input, const Tensor& boxes, Pair output_size, double spatial_scale = 1,
                 int sampling_ratio = -1, bool aligned = false);
/** The same, with the boxes [L, 4] of each image. */
Tensor roi_align(const Tensor& input, const TensorList& boxes, Pair output_size, double spatial_scale = 1,
                 int sampling_ratio = -1, bool aligned = false);

}  // namespace ocl
