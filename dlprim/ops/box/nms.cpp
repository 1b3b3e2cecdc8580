#include "dlprim/ops/box/nms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/box/box_shared.h"
#include "dlprim/ops/sort/sort.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/box/nms.cl";
constexpr std::int64_t most_marks = 1 << 22;  // words of a stretch

/** The largest number of the type that is not above `value`: what is above one is above the other. */
template <class Real>
Real rounded_down(double value) {
  const auto near = static_cast<Real>(value);
  return static_cast<double>(near) > value ? std::nextafter(near, -std::numeric_limits<Real>::infinity())
                                           : near;
}

}  // namespace

Tensor nms(Queue& queue, const Tensor& boxes, const Tensor& scores, const Tensor* categories,
           double iou_threshold) {
  ENTER(nms, queue, boxes, scores, categories, iou_threshold);
  require_floating(boxes.dtype, queue.device(), "nms");
  const std::int64_t count = scores.numel();
  const cl_int n = kernel_int(count, "nms", "a number of boxes");
  require_like("nms", "the boxes", boxes, {count, 4}, boxes.dtype);
  require_like("nms", "the scores", scores, {count}, boxes.dtype);
  require_like("nms", "the categories", categories, {count}, DType::int64);
  Tensor kept = queue.scratch({count}, DType::int64);
  if (n == 0) return entered.returns(kept);

  const Defines defines = dtype_defines(boxes.dtype);
  const DType real = boxes.dtype == DType::float64 ? DType::float64 : DType::float32;
  const Tensor order = queue.scratch({1, count}, DType::int32);
  sort_order(queue, scores.reshaped({1, count}), true, order);
  const Tensor ordered = queue.scratch(boxes.shape, real);
  const Tensor ordered_categories = categories ? queue.scratch({count}, DType::int64) : Tensor();
  const Optional in_order{categories ? &ordered_categories : nullptr};
  queue.launch(queue.kernel(file, "order_boxes", defines), share_range(queue, count, 4), boxes,
               Optional{categories}, order, ordered, in_order, cl_long{count});

  const std::int64_t words = ceil_div(count, NMS_WORD);
  const std::int64_t rows = std::min(round_up(count, NMS_WORD),
                                     std::max<std::int64_t>(most_marks / words / NMS_WORD, 1) * NMS_WORD);
  const Tensor marks = queue.scratch({std::min(rows, count), words}, DType::int32);
  const Tensor removed = queue.scratch({words}, DType::int32), found = queue.scratch({1}, DType::int32);
  queue.zero(removed);
  queue.zero(found);
  const DeviceInfo& device = queue.device().info();
  const Range one_group = Range::groups(device.runs_cpu_kernels() ? 1 : work_group(device), 1);
  Kernel& mark = queue.kernel(file, "mark_overlaps", defines);
  Kernel& keep = queue.kernel(file, "keep_boxes", defines);
  const auto width = static_cast<cl_int>(words);
  for (std::int64_t first = 0; first < count; first += rows) {
    const std::int64_t stretch = std::min(rows, count - first);
    with_real(boxes.dtype, [&](auto zero) {
      queue.launch(mark, share_range(queue, stretch * words, 8 * NMS_WORD), ordered, in_order, marks, n,
                   width, static_cast<cl_int>(first), cl_long{stretch * words},
                   rounded_down<decltype(zero)>(iou_threshold));
    });
    queue.launch(keep, one_group, marks, order, removed, kept, found, n, width, static_cast<cl_int>(first),
                 static_cast<cl_int>(stretch));
  }
  cl_int result = 0;
  queue.read(found, &result, sizeof result);
  kept.shape[0] = result;
  return entered.returns(kept);
}

}  // namespace dlprim
