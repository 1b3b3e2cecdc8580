#include <deque>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/transposition.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

/** Conversion of one dtype to another. */
const PointwiseExpression& conversion(DType from, DType to) {
  static const auto* programs = [] {
    auto* made = new std::deque<PointwiseProgram>;  // in the order of DType, as each one's expressions
    for (int source = 0; source < dtype_count; ++source) {
      std::vector<PointwiseExpression> expressions;
      for (int target = 0; target < dtype_count; ++target) {
        const auto result = static_cast<DType>(target);
        expressions.push_back({concat("to_", name(result)), {"a"}, {}, {"a"}});
        expressions.back().result = result;
      }
      made->emplace_back("copy", std::move(expressions), static_cast<DType>(source));
    }
    return made;
  }();
  return (*programs)[static_cast<std::size_t>(from)].expressions()[static_cast<std::size_t>(to)];
}

/** Elements that follow each other along `dim` as one of 8 bytes. */
Tensor widened(Tensor t, int dim) {
  const auto width = static_cast<std::int64_t>(8 / size_of(t.dtype));
  for (int d = 0; d < t.rank(); ++d) t.strides[d] = d == dim ? 1 : t.strides[d] / width;
  t.shape[dim] /= width;
  t.offset /= width;
  t.dtype = DType::int64;
  return t;
}

/** Whether that is possible wherever such elements begin, the tensor's memory and the tensor within it. */
bool can_be_widened(const Tensor& t, int dim) {
  const auto width = static_cast<std::int64_t>(8 / size_of(t.dtype));
  if (t.strides[dim] != 1 || t.shape[dim] % width != 0 || t.offset % width != 0 ||
      !is_aligned_to(static_cast<std::size_t>(width), t))
    return false;
  for (int d = 0; d < t.rank(); ++d)
    if (d != dim && t.shape[d] > 1 && t.strides[d] % width != 0) return false;
  return true;
}

/** Moves elements 8 bytes at a time, if there is a dimension along which both lie so: a GPU takes as long to
 * find the place of two bytes as of eight. */
bool copy_widened(Queue& queue, const Tensor& source, const Tensor& destination) {
  if (size_of(source.dtype) >= 8 || queue.device().info().runs_cpu_kernels()) return false;
  for (int d = 0; d < source.rank(); ++d)
    if (can_be_widened(source, d) && can_be_widened(destination, d)) {
      pointwise(queue, conversion(DType::int64, DType::int64), DType::int64, {widened(source, d)}, {},
                {widened(destination, d)});
      return true;
    }
  return false;
}

/** To or from complex numbers: what is real has no imaginary part, which the other way is left out. */
void convert_complex(Queue& queue, const Tensor& source, const Tensor& destination) {
  if (is_complex(source.dtype) && is_complex(destination.dtype))
    return copy(queue, pairs_of(source), pairs_of(destination));
  if (destination.dtype == DType::boolean) {
    static const PointwiseExpression& truth =
        lone_expression("is_not_zero", {"a"}, {}, {"TRUTH(a)"}, DType::boolean);
    return pointwise(queue, truth, source.dtype, {source}, {}, {destination});
  }
  if (is_complex(source.dtype)) return copy(queue, part_of(source, 0), destination);
  copy(queue, source, part_of(destination, 0));
  fill(queue, part_of(destination, 1), 0);
}

}  // namespace

void copy(Queue& queue, const Tensor& source, const Tensor& destination) {
  ENTER(copy, queue, source, destination);
  if (source.dtype == destination.dtype && lie_alike(source, destination) && is_dense(source)) {
    // OpenCL refuses to copy memory to itself.
    if (source.storage == destination.storage && source.offset == destination.offset) return;
    return queue.copy(source, destination, static_cast<std::size_t>(source.numel()) * size_of(source.dtype));
  }
  const bool is_moved = source.dtype == destination.dtype && source.shape == destination.shape;
  if (is_moved && (copy_transposed(queue, source, destination) || copy_widened(queue, source, destination)))
    return;
  if (source.dtype != destination.dtype && (is_complex(source.dtype) || is_complex(destination.dtype)))
    return convert_complex(queue, source, destination);
  pointwise(queue, conversion(source.dtype, destination.dtype), source.dtype, {source}, {}, {destination});
}

}  // namespace dlprim
