#include <algorithm>
#include <array>
#include <limits>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/attention/attention_problem.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

/** \file Attention whose work groups keep their scores: in plain OpenCL C (flash_simt.cl). */

namespace dlprim {
namespace {

constexpr int most_columns = 4 * FLASH_COLUMNS;

/** Parts of FLASH_COLUMNS of an item's results: few sizes of kernels. */
int parts_of(std::int64_t columns) {
  return columns <= FLASH_COLUMNS ? 1 : columns <= 2 * FLASH_COLUMNS ? 2 : 4;
}

bool simt_takes(const DeviceInfo& device, DType dtype, const AttentionSizes& s) {
  const std::int64_t widest = std::max(s.columns, s.value_columns);
  constexpr int depth = 16, padding = 4;
  const std::int64_t panel = std::max(2 * (FLASH_TILE + padding), parts_of(widest) * FLASH_COLUMNS + padding);
  const std::int64_t numbers = depth * panel + FLASH_TILE * (FLASH_TILE + padding);
  constexpr std::int64_t most_rows = std::numeric_limits<cl_int>::max() / 2;
  return !device.runs_cpu_kernels() && device.max_work_group >= FLASH_ITEMS && widest <= most_columns &&
         s.scores() > 0 && s.columns > 0 && s.value_columns > 0 && std::max(s.queries, s.keys) <= most_rows &&
         static_cast<std::uint64_t>(numbers) * size_of(compute_dtype(dtype)) <= device.local_memory;
}

OperandStrides strides_of(const Tensor& t) {
  return {t.strides[0], t.strides[1], t.strides[2]};
}

/** With work groups for each `block` of `rows`. */
FlashExtents extents_of(const Attention& a, std::int64_t rows, int block) {
  FlashExtents e{};
  e.query = strides_of(a.query), e.key = strides_of(a.key), e.value = strides_of(a.value);
  e.mask = attention_mask_strides(a.mask);
  e.seed = static_cast<cl_long>(a.settings.dropout.seed);
  e.offset = static_cast<cl_long>(a.settings.dropout.offset);
  e.threshold = static_cast<cl_long>(drop_threshold(a.settings.dropout_p));
  e.queries = static_cast<cl_int>(a.sizes.queries), e.keys = static_cast<cl_int>(a.sizes.keys);
  e.columns = static_cast<cl_int>(a.sizes.columns);
  e.value_columns = static_cast<cl_int>(a.sizes.value_columns);
  e.is_causal = a.settings.is_causal ? 1 : 0;
  e.blocks = static_cast<cl_int>(ceil_div(rows, block));
  return e;
}

/** Launches a kernel of FLASH_ARGS and `more`, of results that are `columns` wide. */
template <class... More>
void launch_simt(Queue& queue, const char* name, const Attention& a, std::int64_t rows, std::int64_t columns,
                 const More&... more) {
  const DType dtype = a.query.dtype;
  Defines defines = dtype_defines(dtype);
  defines.set("FLASH_PARTS", parts_of(columns));
  Kernel& kernel = queue.kernel("ops/attention/flash_simt.cl", name, defines);
  const FlashExtents e = extents_of(a, rows, FLASH_TILE);
  const bool hides = a.mask && a.mask->dtype == DType::boolean;
  with_real(dtype, [&](auto zero) {
    using Real = decltype(zero);
    queue.launch(kernel, Range::groups(FLASH_ITEMS, e.blocks * a.sizes.batch), a.query, a.key, a.value,
                 Optional{hides ? a.mask : nullptr}, Optional{hides ? nullptr : a.mask}, e,
                 static_cast<Real>(a.settings.scale), static_cast<Real>(kept_scale(a.settings.dropout_p)),
                 more...);
  });
}

void run_forward(Queue& queue, const AttentionForward& p) {
  const Attention& a = p.attention;
  launch_simt(queue, "flash_forward", a, a.sizes.queries, a.sizes.value_columns, p.output,
              Optional{p.log_sums});
}

Tensor made_dots(Queue& queue, const AttentionBackward& p) {
  const AttentionSizes& s = p.attention.sizes;
  const DType dtype = p.attention.query.dtype;
  const Tensor dots = queue.scratch({s.batch, s.queries}, compute_dtype(dtype));
  Defines defines = dtype_defines(dtype);
  defines.set("FLASH_PARTS", 1);
  constexpr int rows_of_group = FLASH_ITEMS / 16;
  queue.launch(queue.kernel("ops/attention/flash_simt.cl", "flash_dots", defines),
               Range::groups(FLASH_ITEMS, ceil_div(s.batch * s.queries, rows_of_group)), *p.output,
               p.grad_output, dots, cl_long{s.batch * s.queries}, static_cast<cl_int>(s.value_columns));
  return dots;
}

void run_backward(Queue& queue, const AttentionBackward& p) {
  const Attention& a = p.attention;
  const AttentionGradients& g = p.gradients;
  const auto or_none = [](const Tensor& t) { return Optional{t.defined() ? &t : nullptr}; };
  if (!g.query.defined() && !g.key.defined() && !g.value.defined()) return;
  const Tensor dots = made_dots(queue, p);
  if (g.query.defined())
    launch_simt(queue, "flash_backward_query", a, a.sizes.queries, a.sizes.columns, p.grad_output,
                *p.log_sums, dots, g.query);
  if (g.key.defined() || g.value.defined())
    launch_simt(queue, "flash_backward_key", a, a.sizes.keys, std::max(a.sizes.columns, a.sizes.value_columns),
                p.grad_output, *p.log_sums, dots, or_none(g.key), or_none(g.value));
}

// Beside products of matrices, whose scores go to memory and come back several times.
template <class Problem>
double cost(const DeviceInfo&, const Problem& p) {
  return 0.5 * static_cast<double>(p.attention.sizes.scores());
}

bool takes_backward(const AttentionBackward& p) {
  return !p.attention.probabilities && p.output && p.log_sums && !p.gradients.mask.defined();
}

}  // namespace

bool has_attention_flash(const DeviceInfo& device, DType dtype, const AttentionSizes& sizes) {
  return simt_takes(device, dtype, sizes);
}

std::array<Implementation<AttentionForward>, 1> attention_forward_flash() {
  return {{{"simt_flash",
            [](const DeviceInfo& device, const AttentionForward& p) {
              return !p.attention.probabilities &&
                     simt_takes(device, p.attention.query.dtype, p.attention.sizes);
            },
            cost<AttentionForward>, run_forward}}};
}

std::array<Implementation<AttentionBackward>, 1> attention_backward_flash() {
  return {{{"simt_flash",
            [](const DeviceInfo& device, const AttentionBackward& p) {
              return takes_backward(p) && simt_takes(device, p.attention.query.dtype, p.attention.sizes);
            },
            cost<AttentionBackward>, run_backward}}};
}

}  // namespace dlprim
