#include "dlprim/ops/linalg/factors.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/linalg/factors_shared.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** Rows and columns of a matrix, from one on. */
struct Part {
  std::int64_t first, count;
};

Tensor part_of(const Tensor& a, Part rows, Part columns) {
  Tensor part = a;
  part.offset += rows.first * a.strides[1] + columns.first * a.strides[2];
  part.shape = {a.shape[0], rows.count, columns.count};
  return part;
}

MatrixSteps steps_of(const Tensor& a) {
  return {a.shape[0] == 1 ? 0 : a.strides[0], a.strides[1], a.strides[2]};
}

cl_int int_of(std::int64_t size) {
  return kernel_int(size, "a factorization", "a size");
}

Kernel& kernel_of(Queue& queue, const char* name, DType dtype) {
  return queue.kernel("ops/linalg/factors.cl", name, dtype_defines(dtype));
}

/** A work group for each matrix, with an item for each of its rows up to a group's most. */
Range group_per_matrix(const Queue& queue, std::int64_t batch, std::int64_t rows) {
  const DeviceInfo& device = queue.device().info();
  if (device.runs_cpu_kernels()) return Range::groups(1, batch);
  int group = work_group(device);
  while (group > 32 && group / 2 >= rows) group /= 2;
  return Range::groups(group, batch);
}

void require_matrices(const char* op, const Queue& queue, const Tensor& a) {
  require<TypeError>(a.dtype == DType::float32 || a.dtype == DType::float64, op,
                     ": expected float32 or float64, got ", name(a.dtype));
  require_floating(a.dtype, queue.device(), op);
  require(a.rank() == 3, op, ": expected matrices [B, rows, columns], got shape ", a.shape);
  for (const std::int64_t size : a.shape) kernel_int(size, op, "a size");
}

/** target -= x @ y */
void subtract_product(Queue& queue, const Tensor& x, const Tensor& y, const Tensor& target) {
  if (target.numel() == 0 || x.shape[2] == 0) return;
  const Tensor product = queue.scratch(target.shape, target.dtype);
  gemm(queue, x, y, product);
  pointwise(queue, forward_expression(pointwise_op("sub")), target.dtype, {target, product}, {Scalar(1)},
            {target});
}

/** solve_triangular of a block, whose systems a launch solves. */
void solve_block(Queue& queue, const Tensor& a, bool upper, bool unitriangular, const Tensor& b) {
  const std::int64_t systems = b.shape[0] * b.shape[2];
  if (systems == 0) return;
  queue.launch(kernel_of(queue, "solve_block", b.dtype), share_range(queue, systems, a.shape[1] * a.shape[1]),
               a, b, steps_of(a), steps_of(b), int_of(a.shape[1]), int_of(b.shape[2]), cl_long{systems},
               static_cast<cl_int>(upper), static_cast<cl_int>(unitriangular));
}

/** C - V T V^T C in the place of `c`, by the reflectors of a block, or with T^T in the place of T. G is V^T
 * V. Rows of Y = T V^T C are tau_r ((V^T C)_r - sum of G_rc Y_c) over the columns c behind r. For T^T they
 * are those before r. */
void apply_block(Queue& queue, const Tensor& a, const Tensor& tau, std::int64_t first, bool transposed,
                 const Tensor& c) {
  const std::int64_t batch = a.shape[0], rows = a.shape[1], count = a.shape[2], columns = c.shape[2];
  const Tensor v = queue.scratch({batch, rows, count}, a.dtype);
  queue.launch(kernel_of(queue, "reflectors_of", a.dtype), share_range(queue, v.numel()), a, v, steps_of(a),
               int_of(rows), int_of(count), cl_long{v.numel()});
  const Tensor inner = queue.scratch({batch, count, count}, a.dtype);
  const Tensor y = queue.scratch({batch, count, columns}, a.dtype);
  gemm(queue, v.transposed(), v, inner);
  gemm(queue, v.transposed(), c, y);
  queue.launch(kernel_of(queue, "weigh_reflections", a.dtype),
               share_range(queue, batch * columns, count * count), inner, tau, y, int_of(count),
               int_of(columns), int_of(tau.shape[1]), int_of(first), cl_long{batch * columns},
               static_cast<cl_int>(transposed));
  subtract_product(queue, v, y, c);
}

}  // namespace

void solve_triangular(Queue& queue, const Tensor& a, bool upper, bool unitriangular, const Tensor& b) {
  ENTER(solve_triangular, queue, a, upper, unitriangular, b);
  constexpr const char* op = "solve_triangular";
  require_matrices(op, queue, b);
  const std::int64_t n = b.shape[1];
  require(a.dtype == b.dtype && a.shape == Dims{b.shape[0], n, n}, op, ": expected square matrices of dtype ",
          name(b.dtype), " and shape ", Dims{b.shape[0], n, n}, ", got ", name(a.dtype), " ", a.shape);
  const Part all{0, b.shape[2]};
  for (std::int64_t done = 0; done < n; done += FACTOR_BLOCK) {
    const std::int64_t count = std::min<std::int64_t>(FACTOR_BLOCK, n - done);
    const Part known{upper ? n - done : 0, done}, block{upper ? n - done - count : done, count};
    const Tensor unknown = part_of(b, block, all);
    subtract_product(queue, part_of(a, block, known), part_of(b, known, all), unknown);
    solve_block(queue, part_of(a, block, block), upper, unitriangular, unknown);
  }
}

void cholesky(Queue& queue, const Tensor& a, const Tensor& info) {
  ENTER(cholesky, queue, a, info);
  require_matrices("cholesky", queue, a);
  const std::int64_t batch = a.shape[0], n = a.shape[1];
  require(a.shape[2] == n, "cholesky: expected square matrices, got shape ", a.shape);
  require_like("cholesky", "info", info, {batch}, DType::int32);
  if (batch == 0) return;
  queue.zero(info);
  for (std::int64_t first = 0; first < n; first += FACTOR_BLOCK) {
    const std::int64_t count = std::min<std::int64_t>(FACTOR_BLOCK, n - first), end = first + count;
    const Part before{0, first}, block{first, count}, below{end, n - end};
    subtract_product(queue, part_of(a, {first, n - first}, before), part_of(a, block, before).transposed(),
                     part_of(a, {first, n - first}, block));
    const Tensor corner = part_of(a, block, block);
    queue.launch(kernel_of(queue, "cholesky_block", a.dtype), group_per_matrix(queue, batch, count), corner,
                 info, steps_of(a), int_of(first), int_of(count));
    solve_block(queue, corner, false, false, part_of(a, below, block).transposed());
  }
}

void lu_factor(Queue& queue, const Tensor& a, const Tensor& pivots, const Tensor& info) {
  ENTER(lu_factor, queue, a, pivots, info);
  require_matrices("lu_factor", queue, a);
  const std::int64_t batch = a.shape[0], m = a.shape[1], n = a.shape[2], most = std::min(m, n);
  require_like("lu_factor", "the pivots", pivots, {batch, most}, DType::int32);
  require_like("lu_factor", "info", info, {batch}, DType::int32);
  if (batch == 0) return;
  queue.zero(info);
  for (std::int64_t first = 0; first < most; first += FACTOR_BLOCK) {
    const std::int64_t count = std::min<std::int64_t>(FACTOR_BLOCK, most - first), end = first + count;
    const Part block{first, count}, right{end, n - end}, below{end, m - end};
    queue.launch(kernel_of(queue, "lu_panel", a.dtype), group_per_matrix(queue, batch, m - first), a, pivots,
                 info, steps_of(a), int_of(m), int_of(most), int_of(first), int_of(end));
    for (const Part others : {Part{0, first}, right})
      if (others.count > 0)
        queue.launch(queue.kernel("ops/linalg/swap_rows.cl", "swap_rows", dtype_defines(a.dtype)),
                     share_range(queue, batch * others.count, count), pivots, part_of(a, {0, m}, others),
                     steps_of(a), int_of(others.count), int_of(most), int_of(first), int_of(end),
                     cl_long{batch * others.count}, cl_int{0});
    solve_block(queue, part_of(a, block, block), false, true, part_of(a, block, right));
    subtract_product(queue, part_of(a, below, block), part_of(a, block, right), part_of(a, below, right));
  }
}

void swap_rows(Queue& queue, const Tensor& pivots, bool backwards, const Tensor& a) {
  ENTER(swap_rows, queue, pivots, backwards, a);
  require(a.rank() == 3, "swap_rows: expected matrices [B, rows, columns], got shape ", a.shape);
  require(pivots.rank() == 2 && pivots.shape[1] <= a.shape[1],
          "swap_rows: expected at most as many pivots as rows, got shape ", pivots.shape, " for ", a.shape);
  require_like("swap_rows", "the pivots", pivots, {a.shape[0], pivots.shape[1]}, DType::int32);
  const std::int64_t columns = a.shape[0] * a.shape[2], count = pivots.shape[1];
  if (columns == 0 || count == 0) return;
  queue.launch(queue.kernel("ops/linalg/swap_rows.cl", "swap_rows", dtype_defines(a.dtype)),
               share_range(queue, columns, count), pivots, a, steps_of(a), int_of(a.shape[2]), int_of(count),
               cl_int{0}, int_of(count), cl_long{columns}, static_cast<cl_int>(backwards));
}

void qr_factor(Queue& queue, const Tensor& a, const Tensor& tau) {
  ENTER(qr_factor, queue, a, tau);
  require_matrices("qr_factor", queue, a);
  const std::int64_t batch = a.shape[0], m = a.shape[1], n = a.shape[2], most = std::min(m, n);
  require_like("qr_factor", "tau", tau, {batch, most}, a.dtype);
  if (batch == 0) return;
  for (std::int64_t first = 0; first < most; first += FACTOR_BLOCK) {
    const std::int64_t count = std::min<std::int64_t>(FACTOR_BLOCK, most - first), end = first + count;
    const Part rest{first, m - first};
    queue.launch(kernel_of(queue, "qr_panel", a.dtype), group_per_matrix(queue, batch, rest.count), a, tau,
                 steps_of(a), int_of(m), int_of(most), int_of(first), int_of(end));
    if (end < n)
      apply_block(queue, part_of(a, rest, {first, count}), tau, first, true,
                  part_of(a, rest, {end, n - end}));
  }
}

void apply_reflectors(Queue& queue, const Tensor& a, const Tensor& tau, bool transposed, const Tensor& c) {
  ENTER(apply_reflectors, queue, a, tau, transposed, c);
  constexpr const char* op = "apply_reflectors";
  require_matrices(op, queue, a);
  require_matrices(op, queue, c);
  const std::int64_t batch = a.shape[0], m = a.shape[1];
  require(c.dtype == a.dtype && c.shape[0] == batch && c.shape[1] == m, op, ": expected ", name(a.dtype),
          " matrices of ", m, " rows, got ", name(c.dtype), " ", c.shape);
  require(tau.rank() == 2 && tau.shape[1] <= std::min(m, a.shape[2]), op,
          ": expected at most as many factors as reflectors, got shapes ", tau.shape, " and ", a.shape);
  require_like(op, "tau", tau, {batch, tau.shape[1]}, a.dtype);
  if (c.numel() == 0) return;
  const std::int64_t blocks = ceil_div(tau.shape[1], FACTOR_BLOCK);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t first = (transposed ? i : blocks - 1 - i) * FACTOR_BLOCK;
    const Part rest{first, m - first},
        block{first, std::min<std::int64_t>(FACTOR_BLOCK, tau.shape[1] - first)};
    apply_block(queue, part_of(a, rest, block), tau, first, transposed, part_of(c, rest, {0, c.shape[2]}));
  }
}

}  // namespace dlprim
