#include "dlprim/ops/random/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/core/scalar.h"
#include "dlprim/ops/random/random_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

// One work item a counter, or on a CPU a few that share the runs.
Range random_range(Queue& queue, std::int64_t numel, int elements_per_counter) {
  const DeviceInfo& info = queue.device().info();
  const std::int64_t per_run = RANDOM_RUN * elements_per_counter;
  const std::int64_t runs = (numel + per_run - 1) / per_run;
  if (!info.runs_cpu_kernels()) return Range::linear(runs * RANDOM_RUN, std::min(128, info.max_work_group));
  constexpr std::int64_t least_runs = 32;
  return Range::linear(std::min<std::int64_t>(runs / least_runs + 1, 4 * info.compute_units), 1);
}

void require_probability(const char* op, double p) {
  require(p >= 0 && p <= 1, op, ": expected a probability between 0 and 1, got ", p);
}

template <class Real>
void launch_real(Queue& queue, const char* op, const Tensor& out, Real a, Real b, PhiloxState state) {
  queue.launch(random_kernel(queue, op, out.dtype),
               random_range(queue, out.numel(), out.dtype == DType::float64 ? 2 : 4), out,
               static_cast<cl_ulong>(out.numel()), state, a, b);
}

void fill_real(Queue& queue, const char* op, const Tensor& out, double a, double b, PhiloxState state) {
  require_floating(out.dtype, queue.device(), op);
  require_contiguous(op, "the result", out);
  if (out.numel() == 0) return;
  with_real(out.dtype, [&](auto zero) {
    using Real = decltype(zero);
    launch_real(queue, op, out, static_cast<Real>(a), static_cast<Real>(b), state);
  });
}

void require_dropout(const char* op, Queue& queue, const Tensor& x, double p, const Tensor& y) {
  require_floating(x.dtype, queue.device(), op);
  require_probability(op, p);
  require_contiguous(op, "the input", x);
  require_like(op, "the result", y, x.shape, x.dtype);
}

void launch_dropout(Queue& queue, const Tensor& x, double p, PhiloxState state, DropoutRows rows,
                    const Tensor& y) {
  // In a row that begins anywhere, runs of which only an end is in it count too.
  constexpr std::int64_t run = RANDOM_RUN * 4;
  const bool is_aligned = rows.first % run == 0 && rows.outer % run == 0 && rows.inner % run == 0;
  rows.runs = (rows.length + (is_aligned ? run - 1 : 2 * run - 2)) / run;
  with_real(x.dtype, [&](auto zero) {
    queue.launch(random_kernel(queue, "dropout", x.dtype),
                 random_range(queue, rows.rows * rows.runs * run, 4), x, y, rows, state,
                 static_cast<cl_ulong>(drop_threshold(p)), static_cast<decltype(zero)>(kept_scale(p)));
  });
}

}  // namespace

std::uint64_t drop_threshold(double p) {
  return static_cast<std::uint64_t>(std::llround(p * 4294967296.0));
}

double kept_scale(double p) {
  return p < 1 ? 1 / (1 - p) : 0;
}

Kernel& random_kernel(Queue& queue, const char* name, DType dtype) {
  require<DeviceError>(dtype != DType::float64 || queue.device().info().fp64, name,
                       ": float64 is not supported by ", queue.device().name());
  Defines defines = dtype_defines(dtype);
  const int cut_bits = dtype == DType::float16 ? 0x1fff : dtype == DType::bfloat16 ? 0xffff : 0;
  defines.set("CUT_BITS", cut_bits)
      .set("FLOATING", is_floating(dtype) ? 1 : 0)
      .set("DOUBLE", dtype == DType::float64 ? 1 : 0);
  return queue.kernel("ops/random/random.cl", name, defines);
}

std::array<std::uint32_t, 4> philox_words(std::uint64_t seed, std::uint64_t index) {
  std::array<std::uint32_t, 4> counter{static_cast<std::uint32_t>(index),
                                       static_cast<std::uint32_t>(index >> 32), 0, 0};
  auto first_key = static_cast<std::uint32_t>(seed), second_key = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53u} * counter[0],
                        q = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(q >> 32) ^ counter[1] ^ first_key, static_cast<std::uint32_t>(q),
               static_cast<std::uint32_t>(p >> 32) ^ counter[3] ^ second_key, static_cast<std::uint32_t>(p)};
    first_key += 0x9E3779B9u;
    second_key += 0xBB67AE85u;
  }
  return counter;
}

void random_uniform(Queue& queue, const Tensor& out, double low, double high, PhiloxState state) {
  ENTER(random_uniform, queue, out, low, high, state);
  require(low <= high, "random_uniform: expected low <= high, got ", low, " and ", high);
  for (const double end : {low, high}) {
    require(std::isfinite(end), "random_uniform: expected finite numbers, got ", low, " and ", high);
    require_holds("random_uniform", out.dtype, end);
  }
  if (is_floating(out.dtype)) {
    constexpr double most_of_half = 65504;
    const double most = out.dtype == DType::float16   ? most_of_half
                        : out.dtype == DType::float64 ? std::numeric_limits<double>::max()
                                                      : double{std::numeric_limits<float>::max()};
    require(high - low <= most, "random_uniform: expected high - low that ", name(out.dtype), " holds, got ",
            low, " and ", high);
  }
  fill_real(queue, "random_uniform", out, low, high, state);
}

void random_normal(Queue& queue, const Tensor& out, double mean, double std, PhiloxState state) {
  ENTER(random_normal, queue, out, mean, std, state);
  require(std >= 0, "random_normal: expected std >= 0, got ", std);
  fill_real(queue, "random_normal", out, mean, std, state);
}

void random_bernoulli(Queue& queue, const Tensor& out, double p, PhiloxState state) {
  ENTER(random_bernoulli, queue, out, p, state);
  require_probability("random_bernoulli", p);
  require_contiguous("random_bernoulli", "the result", out);
  if (out.numel() == 0) return;
  queue.launch(random_kernel(queue, "random_bernoulli", out.dtype), random_range(queue, out.numel(), 4), out,
               static_cast<cl_ulong>(out.numel()), state, static_cast<cl_ulong>(drop_threshold(1 - p)));
}

void random_integers(Queue& queue, const Tensor& out, std::int64_t low, std::int64_t high,
                     PhiloxState state) {
  ENTER(random_integers, queue, out, low, high, state);
  constexpr const char* op = "random_integers";
  require(low < high, op, ": expected low < high, got ", low, " and ", high);
  require_contiguous(op, "the result", out);
  if (!is_floating(out.dtype)) {
    const auto [least, largest] = integer_range(out.dtype);
    require(low >= least && high - 1 <= largest, op, ": numbers from ", low, " to ", high - 1,
            " are out of bounds for ", name(out.dtype));
  } else {
    for (const std::int64_t end : {low, high - 1}) require_holds(op, out.dtype, end);
  }
  if (out.dtype == DType::boolean)
    return random_bernoulli(queue, out, high - low == 2 ? 0.5 : static_cast<double>(low), state);
  if (out.numel() == 0) return;
  const cl_ulong range = static_cast<cl_ulong>(high) - static_cast<cl_ulong>(low);
  queue.launch(random_kernel(queue, op, out.dtype), random_range(queue, out.numel(), 2), out,
               static_cast<cl_ulong>(out.numel()), state, static_cast<cl_long>(low), range);
}

void dropout(Queue& queue, const Tensor& x, double p, PhiloxState state, const Tensor& y) {
  ENTER(dropout, queue, x, p, state, y);
  require_dropout("dropout", queue, x, p, y);
  if (x.numel() > 0) launch_dropout(queue, x, p, state, {1, 1, x.numel(), 0, 0, 0, 0}, y);
}

void dropout_part(Queue& queue, const Tensor& x, double p, PhiloxState state, const DropoutPart& part,
                  const Tensor& y) {
  ENTER(dropout_part, queue, x, p, state, part, y);
  constexpr const char* op = "dropout_part";
  require_dropout(op, queue, x, p, y);
  require(x.rank() == 3 && part.first >= 0 && part.outer >= 0 && part.inner >= 0, op,
          ": expected a part of rank 3 and steps of at least 0, got shape ", x.shape, ", steps ", part.first,
          ", ", part.outer, " and ", part.inner);
  if (x.numel() == 0) return;
  DropoutRows rows{x.shape[0] * x.shape[1], x.shape[1], x.shape[2], part.first, part.outer, part.inner, 0};
  if (rows.inner == rows.length) {  // rows that follow each other are one
    rows = {x.shape[0], 1, x.shape[1] * x.shape[2], part.first, part.outer, 0, 0};
    if (rows.outer == rows.length) rows = {1, 1, x.numel(), part.first, 0, 0, 0};
  }
  launch_dropout(queue, x, p, state, rows, y);
}

}  // namespace dlprim
