#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/attention/attention_problem.h"
#include "dlprim/ops/gemm/product_tile.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

/** \file Attention whose work groups keep their scores: in plain OpenCL C (flash_simt.cl) and on NVIDIA's
 * tensor cores (flash_tensor.cl). Kernels have the same names and arguments in both. */

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

/** With work groups for each block of `rows`. */
FlashExtents extents_of(const Attention& a, std::int64_t rows) {
  FlashExtents e{};
  e.query = strides_of(a.query), e.key = strides_of(a.key), e.value = strides_of(a.value);
  e.mask = attention_mask_strides(a.mask);
  e.threshold = static_cast<cl_long>(drop_threshold(a.settings.dropout_p));
  e.queries = static_cast<cl_int>(a.sizes.queries), e.keys = static_cast<cl_int>(a.sizes.keys);
  e.columns = static_cast<cl_int>(a.sizes.columns);
  e.value_columns = static_cast<cl_int>(a.sizes.value_columns);
  e.is_causal = a.settings.is_causal ? 1 : 0;
  e.blocks = static_cast<cl_int>(ceil_div(rows, std::int64_t{FLASH_TILE}));
  return e;
}

/** Whether rows are aligned vectors of 16 bytes. */
bool has_vectors(const Tensor& t) {
  const auto width = static_cast<std::int64_t>(16 / size_of(t.dtype));
  return t.strides[2] == 1 && t.shape[2] % width == 0 && t.strides[1] % width == 0 &&
         t.strides[0] % width == 0 && is_aligned_to(static_cast<std::size_t>(width), t);
}

/** The common part of all kernels of a family, and the list of them. */
struct Kernels {
  const char* name;
  int products;     // on tensor cores, that make one product; 0: in plain OpenCL C
  bool are_halves;  // whether those multiply numbers of 16 bits
};
constexpr Kernels all_kernels[] = {{"simt_flash", 0, false},
                                   {"tensor_tf32_flash", 1, false},
                                   {"tensor_tf32x3_flash", 3, false},
                                   {"tensor_half_flash", 1, true}};

constexpr int first_with_tensors = 80;  // compute capability 8.0

/** How a group on tensor cores divides its work. */
struct TensorShape {
  int width;   // columns of operands, padded
  int shares;  // warps that share lines of those
  int step;    // lines of the other kind at a time
  int items() const { return FLASH_TENSOR_ITEMS * shares; }
  /** Whether an item has registers for the gradients by key and by value. */
  bool makes_both() const { return width <= 64 * shares; }
};

/** Measured on an H100: a share has 128 columns; of backward by three products, which needs registers for
 * their parts, 64 as long as a group of that many items leaves them. */
TensorShape tensor_shape(const Kernels& kernels, const DeviceInfo& device, const AttentionSizes& s,
                         bool is_backward) {
  const std::int64_t widest = std::max(s.columns, s.value_columns);
  const int width = widest <= 32 ? 32 : static_cast<int>(round_up(widest, 64));
  const int words = kernels.are_halves ? width / 2 : width;
  const int share = kernels.products > 1 && is_backward && width <= 192 ? 64 : 128;
  TensorShape shape{width, (width + share - 1) / share, words >= 128 ? 16 : 32};
  // Two pairs of panels, with what shares give each other and a step's log_sums and dots.
  const auto local_memory = [&] {
    const int joint = shape.shares > 1 ? 2 * shape.items() : 0;
    return static_cast<std::uint64_t>(shape.step * (16 * (words + 4) + joint + 16));
  };
  while (local_memory() > device.usable_local_memory() && shape.step > 8) shape.step /= 2;
  return shape;
}

bool is_precise_enough(const Kernels& kernels, const AttentionSizes& s, MatmulPrecision precision) {
  if (kernels.are_halves) return true;
  return kernels.products > 1 ? std::min(s.columns, s.value_columns) >= fewest_terms_of_three_products
                              : precision != MatmulPrecision::highest;
}

bool takes(const Kernels& kernels, const DeviceInfo& device, const Attention& a) {
  if (a.probabilities || !simt_takes(device, a.query.dtype, a.sizes)) return false;
  if (kernels.products == 0) return true;
  const DType dtype = a.query.dtype;
  return device.compute_capability >= first_with_tensors &&
         (kernels.are_halves ? size_of(dtype) == 2 : dtype == DType::float32) &&
         is_precise_enough(kernels, a.sizes, a.settings.precision);
}

/** Whether a result that is not finite may be one by plain sums: three TF32 products make NaN of infinities,
 * and float16 has none of the large numbers on the way to a result that it has. */
bool marks(const Kernels& kernels, DType dtype) {
  return kernels.products > 1 || (kernels.are_halves && dtype == DType::float16);
}

bool has_vectors(const AttentionForward& p) {
  const Attention& a = p.attention;
  return has_vectors(a.query) && has_vectors(a.key) && has_vectors(a.value);
}
bool has_vectors(const AttentionBackward& p) {
  const Attention& a = p.attention;
  return has_vectors(a.query) && has_vectors(a.key) && has_vectors(a.value) && has_vectors(p.grad_output);
}

/** A kernel of FLASH_ARGS and `more`, in a group for each block of `rows`. */
template <class Problem, class... More>
void launch(Queue& queue, const char* file, const char* name, const Defines& defines, int items,
            const Problem& p, const Optional& not_finite, std::int64_t rows, const More&... more) {
  const Attention& a = p.attention;
  const FlashExtents e = extents_of(a, rows);
  const bool hides = a.mask && a.mask->dtype == DType::boolean;
  with_real(a.query.dtype, [&](auto zero) {
    using Real = decltype(zero);
    queue.launch(queue.kernel(file, name, defines), Range::groups(items, e.blocks * a.sizes.batch), a.query,
                 a.key, a.value, Optional{hides ? a.mask : nullptr}, Optional{hides ? nullptr : a.mask},
                 not_finite, e, a.drops() ? a.settings.dropout : PhiloxState(),
                 static_cast<Real>(a.settings.scale), static_cast<Real>(kept_scale(a.settings.dropout_p)),
                 more...);
  });
}

constexpr const char* simt_file = "ops/attention/flash_simt.cl";
constexpr const char* tensor_file = "ops/attention/flash_tensor.cl";

/** Whether the output is wider than the operands: as it is summed. */
bool has_wide_output(const AttentionForward& p) {
  return p.output.dtype != p.attention.query.dtype;
}
bool has_wide_output(const AttentionBackward&) {
  return false;  // it is not made
}

/** Macros for results that are `columns` wide. */
Defines simt_defines(DType dtype, std::int64_t columns, bool has_wide_output, bool only_marked = false) {
  Defines defines = dtype_defines(dtype);
  defines.set("FLASH_PARTS", parts_of(columns)).set("FLASH_ONLY_MARKED", only_marked ? 1 : 0);
  return defines.set("FLASH_WIDE_OUTPUT", has_wide_output ? 1 : 0);
}

/** The results of a kernel. */
struct Made {
  bool output = false, by_query = false, by_key = false, by_value = false;

  const char* kernel() const {
    return output ? "flash_forward" : by_query ? "flash_backward_query" : "flash_backward_key";
  }
  /** Own lines of the groups, in all. */
  std::int64_t lines(const AttentionSizes& s) const { return output || by_query ? s.queries : s.keys; }
  /** The columns of the widest result. */
  std::int64_t columns(const AttentionSizes& s) const {
    return std::max(output || by_value ? s.value_columns : 0, by_query || by_key ? s.columns : 0);
  }
};

template <class Problem>
Defines tensor_defines(const Kernels& kernels, const TensorShape& shape, const Problem& p, const Made& made) {
  const DType dtype = p.attention.query.dtype;
  Defines defines = word_defines(dtype, dtype);
  defines.set("FLASH_WIDTH", shape.width).set("FLASH_SHARES", shape.shares).set("FLASH_STEP", shape.step);
  defines.set("FLASH_VECTORS", has_vectors(p) ? 1 : 0).set("FLASH_MARKS", marks(kernels, dtype) ? 1 : 0);
  defines.set("FLASH_OUTPUT", made.output ? 1 : 0).set("FLASH_BY_QUERY", made.by_query ? 1 : 0);
  defines.set("FLASH_WIDE_OUTPUT", has_wide_output(p) ? 1 : 0);
  defines.set("FLASH_BY_KEY", made.by_key ? 1 : 0).set("FLASH_BY_VALUE", made.by_value ? 1 : 0);
  defines.set("TF32_PRODUCTS", kernels.products).set("TILE_STAGES_AHEAD", 0);
  return defines;
}

Optional or_none(const Tensor& t) {
  return Optional{t.defined() ? &t : nullptr};
}

/** Like launch; on tensor cores blocks whose results may be wrong are done anew. */
template <class Problem, class... More>
void launch_of(const Kernels& kernels, Queue& queue, const Problem& p, const Made& made,
               const More&... more) {
  const Attention& a = p.attention;
  const DType dtype = a.query.dtype;
  const std::int64_t lines = made.lines(a.sizes);
  Tensor not_finite;
  if (marks(kernels, dtype))
    not_finite = queue.scratch({a.sizes.batch * ceil_div(lines, std::int64_t{FLASH_TILE})}, DType::int32);
  if (kernels.products > 0) {
    const TensorShape shape = tensor_shape(kernels, queue.device().info(), a.sizes, !made.output);
    launch(queue, tensor_file, made.kernel(), tensor_defines(kernels, shape, p, made), shape.items(), p,
           or_none(not_finite), lines, more...);
  }
  if (kernels.products == 0 || not_finite.defined())
    launch(queue, simt_file, made.kernel(),
           simt_defines(dtype, made.columns(a.sizes), has_wide_output(p), not_finite.defined()), FLASH_ITEMS,
           p, or_none(not_finite), lines, more...);
}

template <std::size_t kind>
void run(Queue& queue, const AttentionForward& p) {
  Made output;
  output.output = true;
  launch_of(all_kernels[kind], queue, p, output, p.output, Optional{p.log_sums});
}

Tensor made_dots(Queue& queue, const AttentionBackward& p) {
  const AttentionSizes& s = p.attention.sizes;
  const DType dtype = p.attention.query.dtype;
  const Tensor dots = queue.scratch({s.batch, s.queries}, compute_dtype(dtype));
  constexpr int rows_of_group = FLASH_ITEMS / 16;
  queue.launch(queue.kernel(simt_file, "flash_dots", simt_defines(dtype, 1, p.output->dtype != dtype)),
               Range::groups(FLASH_ITEMS, ceil_div(s.batch * s.queries, rows_of_group)), *p.output,
               p.grad_output, dots, cl_long{s.batch * s.queries}, static_cast<cl_int>(s.value_columns));
  return dots;
}

/** The gradients by key and value, in one launch if an item has registers for both. */
void run_backward_key(const Kernels& kernels, Queue& queue, const AttentionBackward& p, const Tensor& dots) {
  const AttentionGradients& g = p.gradients;
  const auto launch_for = [&](const Tensor& key, const Tensor& value) {
    Made made;
    made.by_key = key.defined(), made.by_value = value.defined();
    if (made.by_key || made.by_value)
      launch_of(kernels, queue, p, made, p.grad_output, *p.log_sums, dots, or_none(key), or_none(value));
  };
  if (kernels.products == 0 ||
      tensor_shape(kernels, queue.device().info(), p.attention.sizes, true).makes_both())
    return launch_for(g.key, g.value);
  launch_for(g.key, {});
  launch_for({}, g.value);
}

template <std::size_t kind>
void run(Queue& queue, const AttentionBackward& p) {
  constexpr const Kernels& kernels = all_kernels[kind];
  const AttentionGradients& g = p.gradients;
  if (!g.query.defined() && !g.key.defined() && !g.value.defined()) return;
  const Tensor dots = made_dots(queue, p);
  Made by_query;
  by_query.by_query = true;
  if (g.query.defined()) launch_of(kernels, queue, p, by_query, p.grad_output, *p.log_sums, dots, g.query);
  run_backward_key(kernels, queue, p, dots);
}

bool has_what_it_needs(const AttentionForward&) {
  return true;
}
bool has_what_it_needs(const AttentionBackward& p) {
  return p.output && p.log_sums && !p.gradients.mask.defined();
}

/** The cost of a score, beside products of matrices, whose scores go to memory and come back several times;
 * measured on an H100, where tensor cores make those. There scores of 16-bit operands are rounded to 16 bits:
 * never.
 */
double cost_of_score(const Kernels& kernels, const DeviceInfo& device, DType dtype, std::int64_t columns,
                     bool is_backward) {
  const bool is_narrow = columns <= 64, is_wide = columns > 128;
  if (kernels.are_halves) return is_wide ? 0.45 : 0.2;
  if (size_of(dtype) == 2) return 0.5;
  if (kernels.products == 1) return is_wide ? 0.6 : 0.3;
  if (kernels.products > 1)
    return is_narrow ? 0.5 : is_backward ? columns > 192 ? 2.5 : 1.1 : columns > 192 ? 1.1 : 0.7;
  if (device.compute_capability < first_with_tensors) return 0.5;
  return is_narrow ? 0.8 : 1.3;
}

double cost(const Kernels& kernels, const DeviceInfo& device, const Attention& a, bool is_backward) {
  const AttentionSizes& s = a.sizes;
  return cost_of_score(kernels, device, a.query.dtype, std::max(s.columns, s.value_columns), is_backward) *
         static_cast<double>(s.scores());
}

template <class Problem, std::size_t... kinds>
std::array<Implementation<Problem>, sizeof...(kinds)> of_all_kernels(std::index_sequence<kinds...>) {
  return {{{all_kernels[kinds].name,
            [](const DeviceInfo& device, const Problem& p) {
              return has_what_it_needs(p) && takes(all_kernels[kinds], device, p.attention);
            },
            [](const DeviceInfo& device, const Problem& p) {
              return cost(all_kernels[kinds], device, p.attention,
                          std::is_same_v<Problem, AttentionBackward>);
            },
            run<kinds>}...}};
}
constexpr auto kinds = std::make_index_sequence<std::size(all_kernels)>();

}  // namespace

bool has_attention_flash(const DeviceInfo& device, DType dtype, const AttentionSizes& sizes) {
  return simt_takes(device, dtype, sizes);
}

std::array<Implementation<AttentionForward>, 4> attention_forward_flash() {
  return of_all_kernels<AttentionForward>(kinds);
}

std::array<Implementation<AttentionBackward>, 4> attention_backward_flash() {
  return of_all_kernels<AttentionBackward>(kinds);
}

}  // namespace dlprim
