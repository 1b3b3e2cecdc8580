#include "dlprim/ops/optim/multi_tensor.h"

#include <cmath>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/optim/optim_shared.h"
#include "dlprim/ops/optim/pack_launch.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

PackRows rows_of(Queue& queue, const char* op, const std::vector<Tensor>& tensors) {
  PackRows rows;
  for (const Tensor& t : tensors) {
    require_packable(op, queue, t, tensors.front().dtype);
    rows.push_back({&t});
  }
  return rows;
}

Kernel& kernel_of(Queue& queue, const char* kernel, DType dtype) {
  return queue.kernel("ops/optim/multi_tensor.cl", kernel, dtype_defines(dtype));
}

cl_int kind_of(double p) {
  require(!std::isnan(p), "multi_tensor_norm: p must be a number, got NaN");
  if (p == 1) return NORM_1;
  if (p == 2) return NORM_2;
  if (std::isinf(p)) return p > 0 ? NORM_MAX : NORM_MIN;
  return p == 0 ? NORM_0 : NORM_P;
}

/** Prepares the pack, puts every chunk's part of a norm into fresh memory and calls join(parts). Without
 * chunks it only prepares. */
template <class Join>
void over_chunks(Queue& queue, ParameterPack& pack, const char* op, const std::vector<Tensor>& tensors,
                 double p, const Join& join) {
  const PackRows rows = rows_of(queue, op, tensors);
  pack.prepare(queue, rows);
  if (pack.chunks() == 0) return;
  const DType dtype = tensors.front().dtype;
  const Tensor partials = queue.scratch({pack.chunks()}, compute_dtype(dtype));
  with_real(dtype, [&](auto zero) {
    launch_pack(queue, pack, rows, kernel_of(queue, "multi_tensor_norm_chunks", dtype), partials, kind_of(p),
                static_cast<decltype(zero)>(p));
  });
  join(partials);
}

}  // namespace

void multi_tensor_norm(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors, double p,
                       const Tensor& norm) {
  ENTER(multi_tensor_norm, queue, pack, tensors, p, norm);
  constexpr const char* op = "multi_tensor_norm";
  const cl_int kind = kind_of(p);
  const DType dtype = tensors.empty() ? norm.dtype : tensors.front().dtype;
  require_elements(op, "the norm", norm, 1, norm.dtype == compute_dtype(dtype) ? norm.dtype : dtype);
  if (tensors.empty()) return queue.zero(norm);
  over_chunks(queue, pack, op, tensors, p, [&](const Tensor& partials) {
    with_real(dtype, [&](auto zero) {
      queue.launch(kernel_of(queue, "multi_tensor_norm_join", norm.dtype),
                   Range::groups(pack_group_size(queue), 1), partials,
                   kernel_int(pack.chunks(), op, "a number of chunks"), kind, static_cast<decltype(zero)>(p),
                   norm);
    });
  });
  if (pack.chunks() == 0) queue.zero(norm);
}

void multi_tensor_norms(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors, double p,
                        const Tensor& norms) {
  ENTER(multi_tensor_norms, queue, pack, tensors, p, norms);
  constexpr const char* op = "multi_tensor_norms";
  const cl_int kind = kind_of(p);
  const auto count = static_cast<std::int64_t>(tensors.size());
  const DType dtype = tensors.empty() ? norms.dtype : tensors.front().dtype;
  require_elements(op, "the norms", norms, count, dtype);
  if (count == 0) return;
  over_chunks(queue, pack, op, tensors, p, [&](const Tensor& partials) {
    with_real(dtype, [&](auto zero) {
      queue.launch(kernel_of(queue, "multi_tensor_norms_join", dtype),
                   Range::groups(pack_group_size(queue), count), partials, pack.table(),
                   static_cast<cl_ulong>(pack.ranges_start()), kind, static_cast<decltype(zero)>(p), norms);
    });
  });
  if (pack.chunks() == 0) fill(queue, norms, kind == NORM_MIN ? INFINITY : 0.0);
}

void multi_tensor_clip(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors,
                       const Tensor& norm, double max_norm) {
  ENTER(multi_tensor_clip, queue, pack, tensors, norm, max_norm);
  constexpr const char* op = "multi_tensor_clip";
  const PackRows rows = rows_of(queue, op, tensors);
  if (rows.empty()) return;
  const DType dtype = tensors.front().dtype;
  require_elements(op, "the norm", norm, 1, compute_dtype(dtype));
  with_real(dtype, [&](auto zero) {
    launch_pack(queue, pack, rows, kernel_of(queue, op, dtype), norm, static_cast<decltype(zero)>(max_norm));
  });
}

namespace {

void launch_with_number(Queue& queue, ParameterPack& pack, const char* op, const std::vector<Tensor>& tensors,
                        double number) {
  const PackRows rows = rows_of(queue, op, tensors);
  if (rows.empty()) return;
  const DType dtype = tensors.front().dtype;
  with_real(dtype, [&](auto zero) {
    launch_pack(queue, pack, rows, kernel_of(queue, op, dtype), static_cast<decltype(zero)>(number));
  });
}

}  // namespace

void multi_tensor_scale(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors,
                        double factor) {
  ENTER(multi_tensor_scale, queue, pack, tensors, factor);
  launch_with_number(queue, pack, "multi_tensor_scale", tensors, factor);
}

void multi_tensor_unscale(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors,
                          double factor, const Tensor& found_inf) {
  ENTER(multi_tensor_unscale, queue, pack, tensors, factor, found_inf);
  constexpr const char* op = "multi_tensor_unscale";
  require_elements(op, "found_inf", found_inf, 1, DType::float32);
  const PackRows rows = rows_of(queue, op, tensors);
  if (rows.empty()) return;
  const DType dtype = tensors.front().dtype;
  with_real(dtype, [&](auto zero) {
    launch_pack(queue, pack, rows, kernel_of(queue, op, dtype), static_cast<decltype(zero)>(factor),
                found_inf);
  });
}

void multi_tensor_clamp(Queue& queue, ParameterPack& pack, const std::vector<Tensor>& tensors, double limit) {
  ENTER(multi_tensor_clamp, queue, pack, tensors, limit);
  launch_with_number(queue, pack, "multi_tensor_clamp", tensors, limit);
}

}  // namespace dlprim
