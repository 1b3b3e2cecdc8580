#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** How boxes lie over planes: the arguments of torchvision.ops.roi_align. */
struct RegionGeometry {
  double spatial_scale = 1;  // from coordinates of boxes to elements
  int sampling_ratio = -1;   // points along each axis of a bin; 0 or less: one an element that it covers
  bool aligned = false;      // an element's center is its position, and boxes may be smaller than one
  FIELDS(spatial_scale, sampling_ratio, aligned)
};

/**
 * torchvision.ops.roi_align (He et al. 2017): `y` [K, C, PH, PW] holds means of bilinear samples over PH x PW
 * bins of the boxes `rois` [K, 5] (image, x1, y1, x2, y2). The planes are `x` [N, C, H, W]; samples outside
 * of them are 0. Boxes that are not finite give 0. An image that is not there is reported through `check` as
 * IndexError at the next waiting point. One floating dtype. Contiguous; precondition: no overlap. Throws
 * ValueError, TypeError.
 */
void roi_align_forward(Queue& queue, const Tensor& x, const Tensor& rois, const RegionGeometry& geometry,
                       const Tensor& y, DeviceCheck check);

/** Gradient with respect to x: every element of `dx` is written, with what it gave to each `dy`, in a fixed
 * order. */
void roi_align_backward(Queue& queue, const Tensor& dy, const Tensor& rois, const RegionGeometry& geometry,
                        const Tensor& dx);

}  // namespace dlprim
