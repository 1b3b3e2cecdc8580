#include "tests/cpp/ops/layouts/cases.h"

// Boxes: what is kept of them, and what lies in them.
namespace testing_support {

using namespace dlprim;

namespace {

void draw_nms(Draw& d) {
  const std::int64_t n = d.size_or_none(100);
  const DType dtype = d.floating();
  const Tensor *boxes = d.operand("boxes", Role::input, dtype, {n, 4}, d.between(0, 6)),
               *scores = d.operand("scores", Role::input, dtype, {n}, d.whole(0, 9)),
               *categories = d.coin() ? d.indices("categories", {n}, 3) : nullptr;
  d.calls([=, &d](Queue& queue) { d.returned(nms(queue, *boxes, *scores, categories, 0.25)); });
}

DeviceCheck image_check() {
  static const DeviceCheck check = register_check("roi_align in a test: ");
  return check;
}

/** Boxes on the first of some planes. */
struct Regions {
  explicit Regions(Draw& d)
      : x{d.number(1, 2), d.size(9), d.size(12), d.size(12)},
        y{d.size_or_none(5), x[1], d.number(1, 3), d.number(1, 3)},
        dtype(d.floating()),
        geometry{0.5, d.number(-1, 2), d.coin()},
        rois(d.operand("rois", Role::input, dtype, {y[0], 5}, d.between(0, 0.875))) {}
  Dims x, y;
  DType dtype;
  RegionGeometry geometry;
  const Tensor* rois;
};

void draw_roi_align_forward(Draw& d) {
  const Regions r(d);
  const Tensor *x = d.input("x", r.x, r.dtype), *y = d.output("y", r.y, r.dtype);
  d.calls([=](Queue& queue) { roi_align_forward(queue, *x, *r.rois, r.geometry, *y, image_check()); });
}

void draw_roi_align_backward(Draw& d) {
  const Regions r(d);
  const Tensor *dy = d.input("dy", r.y, r.dtype), *dx = d.output("dx", r.x, r.dtype);
  d.calls([=](Queue& queue) { roi_align_backward(queue, *dy, *r.rois, r.geometry, *dx); });
}

}  // namespace

LayoutCases box_cases() {
  return {{"nms", draw_nms},
          {"roi_align_forward", draw_roi_align_forward},
          {"roi_align_backward", draw_roi_align_backward}};
}

}  // namespace testing_support
