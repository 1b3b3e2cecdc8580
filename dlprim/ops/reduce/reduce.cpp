#include "dlprim/ops/reduce/reduce.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/layout.h"
#include "dlprim/core/real.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr int cpu_lanes = 32, column_vectors = 2;
// On a GPU: items of a line of a group that joins columns, and the elements that one reads at once as a
// vector.
constexpr int column_lanes = 32, vector = 4;
constexpr std::int64_t most_splits = 256;   // the second pass joins them one after another
constexpr std::int64_t least_split = 4096;  // reduced elements that are worth a launch slot of their own
constexpr int simt_items_per_unit = 1024;   // that a GPU's compute unit wants in flight

/** The input's dimensions, kept and reduced ones apart, each merged where neighbours run on. */
struct Space {
  Layout kept, reduced;
  std::int64_t outputs, elements;
};

Space split_dimensions(const Tensor& input, DimMask mask) {
  Dims sizes[2], strides[2];
  for (int d = 0; d < input.rank(); ++d) {
    const int side = mask >> d & 1u;
    sizes[side].push_back(input.shape[d]);
    strides[side].push_back(input.strides[d]);
  }
  return {merged_layout(sizes[0], {strides[0]}), merged_layout(sizes[1], {strides[1]}), product(sizes[0]),
          product(sizes[1])};
}

// Whether neighbouring outputs are neighbours in memory while the elements of one output are not.
bool is_columnwise(const Space& space) {
  const auto inner_stride = [](const Layout& layout) {
    return layout.sizes.empty() ? 0 : layout.strides[0].back();
  };
  return inner_stride(space.kept) == 1 && inner_stride(space.reduced) != 1 && space.kept.sizes.back() > 1;
}

/** Whether a vector of outputs is made faster than each of them alone, though their elements lie apart. */
bool has_short_rows(const Space& space) {
  constexpr std::int64_t short_row = 32;
  return space.elements <= short_row && !space.kept.sizes.empty() && space.kept.sizes.back() >= cpu_lanes;
}

/** Whether neighbours along the innermost dimension of `lines` may be read four at once, aligned, wherever a
 * line begins; `others` has the other dimensions. */
bool has_vectors(const Layout& lines, const Layout& others, const Tensor& input) {
  const auto are_multiples = [](const Dims& numbers, std::size_t but_last) {
    return std::all_of(numbers.begin(), numbers.end() - static_cast<std::ptrdiff_t>(but_last),
                       [](std::int64_t n) { return n % vector == 0; });
  };
  return is_floating(input.dtype) && is_aligned_to(vector, input) && !lines.sizes.empty() &&
         lines.strides[0].back() == 1 && lines.sizes.back() % vector == 0 &&
         are_multiples(lines.strides[0], 1) && are_multiples(others.strides[0], 0);
}

std::int64_t kept_elements(const Tensor& input, DimMask mask) {
  return product(reduced_shape(input.shape, mask, false));
}

/** Sizes and strides as reduce.cl's layout_t: kept sizes, kept strides, reduced sizes, reduced strides,
 * innermost first. */
template <class Index>
std::vector<Index> packed(const Space& space) {
  std::vector<Index> values;
  for (const Layout* layout : {&space.kept, &space.reduced}) {
    const std::size_t rank = layout->sizes.size();
    for (std::size_t d = 0; d < max_rank; ++d)
      values.push_back(d < rank ? static_cast<Index>(layout->sizes[rank - 1 - d]) : 1);
    for (std::size_t d = 0; d < max_rank; ++d)
      values.push_back(d < rank ? static_cast<Index>(layout->strides[0][rank - 1 - d]) : 0);
  }
  return values;
}

int round_up_to_power_of_two(std::int64_t n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

enum Step { rows, vector_rows, columns, vector_columns, join };
constexpr const char* step_names[ReductionKernels::steps] = {
    "reduce_rows", "reduce_vector_rows", "reduce_columns", "reduce_vector_columns", "join_splits"};

/** How a reduction is laid over work items. */
struct Plan {
  Step step;
  int lanes, lines;     // of a group: work items of a line, and how many
  std::int64_t groups;  // of outputs
  std::int64_t splits, split_size;

  std::int64_t items() const { return groups * lanes * lines; }
  /** Columns count their items along one dimension. */
  Range range() const {
    return step == rows || step == vector_rows ? Range::lines(lanes, lines, groups, splits)
                                               : Range::groups(lanes * lines, groups, splits);
  }
};

/** In so many parts, of whole vectors, that all items together are as many as wanted, each of them worth it.
 */
void split(Plan& plan, const Space& space, std::int64_t wanted, std::int64_t least) {
  plan.splits = std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(plan.items(), 1), 1,
                                         std::clamp<std::int64_t>(space.elements / least, 1, most_splits));
  plan.split_size = round_up(ceil_div(space.elements, plan.splits), std::int64_t{vector});
}

Plan cpu_plan(const Space& space, const DeviceInfo& device) {
  Plan plan{};
  plan.step = is_columnwise(space) || has_short_rows(space) ? columns : rows;
  plan.lanes = plan.lines = 1;
  const std::int64_t outputs_of_item =
      plan.step == rows ? std::max<std::int64_t>(least_split / std::max<std::int64_t>(space.elements, 1), 1)
                        : column_vectors * cpu_lanes;
  plan.groups = ceil_div(space.outputs, outputs_of_item);
  split(plan, space, 4 * device.compute_units, plan.step == rows ? least_split : 512);
  return plan;
}

Plan simt_plan(const Space& space, const Tensor& input, const DeviceInfo& device) {
  Plan plan{};
  const int most = work_group(device);
  const bool has_lines = most >= column_lanes;  // which splits are joined by, too
  const std::int64_t wanted = has_lines ? std::int64_t{simt_items_per_unit} * device.compute_units : 0;
  if (!has_lines || !is_columnwise(space)) {
    constexpr int items_of_group = 128;  // short rows share a group
    plan.step = has_vectors(space.reduced, space.kept, input) ? vector_rows : rows;
    const int elements_of_item = plan.step == rows ? 4 : 4 * vector;
    plan.lanes = std::clamp(round_up_to_power_of_two(space.elements / elements_of_item), 1, most);
    plan.lines = std::max(std::min(items_of_group, most) / plan.lanes, 1);
    plan.groups = ceil_div(space.outputs, std::int64_t{plan.lines});
    split(plan, space, wanted, least_split);
    return plan;
  }
  constexpr int rows_of_item = 32;
  plan.step = has_vectors(space.kept, space.reduced, input) ? vector_columns : columns;
  plan.lanes = column_lanes;
  plan.lines = std::clamp(round_up_to_power_of_two(space.elements / 8), 2, most / column_lanes);
  plan.groups = ceil_div(space.outputs, std::int64_t{column_lanes} * (plan.step == columns ? 1 : vector));
  split(plan, space, wanted, std::int64_t{rows_of_item} * plan.lines);
  return plan;
}

/** The types that a row joins elements in; see reduce.cl. */
struct RowTypes {
  std::string block, total, convert, finished;
};

RowTypes types_of(const ReductionOp& row, DType input) {
  switch (row.result) {
    case ReductionResult::Same:
      return {"T", "T", "(x)", "wide_t"};
    case ReductionResult::Bool:
      return {"int", "int", "(x)", "int"};
    case ReductionResult::Count:
      return {"int", "long", "((long)(x))", "long"};
    case ReductionResult::Moments:
      return {concat(info(input).compute_type, 2), "real2_t", "TO_REAL2(x)", "real_t"};
    default:
      return {"T", "wide_t", "((wide_t)(x))", "wide_t"};
  }
}

// Integers of every width are read as long, by their size: one program serves all.
std::string source_of(const ReductionOp& row, bool indexed, DType input, bool wide_index, bool cpu) {
  const bool floating = is_floating(input);
  const RowTypes types =
      indexed ? RowTypes{"indexed_t", "indexed_t", "(x)", "indexed_t"} : types_of(row, input);
  std::string text = expanded_source("core/common.cl");
  const auto define = [&](const char* macro, const auto& value) {
    text += concat("#define ", macro, " ", value, "\n");
  };
  text += concat("typedef ", floating ? info(input).compute_type : "long", " T;\n");
  text += concat("typedef ", wide_index ? "long" : "int", " index_t;\n");
  define("T_IS_FLOATING", floating);
  define("T_IS_BOOL", 0);
  define("INPUT_TYPE", floating ? info(input).storage_type : "uchar");
  define("LOAD_INPUT(at)",
         floating ? concat("LOAD_", name(input), "(input, at)") : "load_integer(input, at, input_dtype)");
  define("LOWEST", floating ? "(-INFINITY)" : "LONG_MIN");
  define("HIGHEST", floating ? "INFINITY" : "LONG_MAX");
  define("BLOCK_T", types.block);
  define("TOTAL_T", types.total);
  define("TO_TOTAL(x)", types.convert);
  define("FINISHED_T", types.finished);
  define("IDENTITY", row.identity);
  define("MAP", concat("(", row.map, ")"));
  define("COMBINE", concat("(", row.combine, ")"));
  define("FINISH", concat("(", row.finish, ")"));
  define("LANES", cpu_lanes);
  define("COLUMN_VECTORS", column_vectors);
  define("COLUMN_LANES", column_lanes);
  define("IS_INDEXED", indexed);
  if (indexed) {
    define("BEATS", row.name == "argmax" ? ">" : "<");
    define("FURTHER(x, z)", row.name == "argmax" ? "MAXIMUM(x, z)" : "MINIMUM(x, z)");
  }
  static_assert(dtype_count == 12, "a case for every DType but the complex ones in STORE_AS of reduce.cl");
  for (int dtype = 0; dtype < dtype_count; ++dtype)
    define(concat("DTYPE_", name(static_cast<DType>(dtype))).c_str(), dtype);
  text += expanded_source("ops/pointwise/functions.cl") + expanded_source("ops/reduce/reduce.cl");
  if (cpu) return text;
  // Both ways to lay outputs over groups, with what an item reads at once.
  const auto add_kernels = [&](Step of_rows, Step of_columns, int width, const std::string& read) {
    text += "\n#undef ROWS\n#undef COLUMNS\n#undef VECTOR\n#undef READ_INPUT\n";
    define("ROWS", step_names[of_rows]);
    define("COLUMNS", step_names[of_columns]);
    define("VECTOR", width);
    define("READ_INPUT(to, at)", read);
    text += expanded_source("ops/reduce/rows_simt.cl") + expanded_source("ops/reduce/columns_simt.cl");
  };
  add_kernels(rows, columns, 1, "READ_ONE(to, at)");
  if (!floating) return text;
  text += expanded_source("core/vectors4.cl");
  add_kernels(vector_rows, vector_columns, vector,
              concat("vstore4(LOAD_", name(input), "_4(input, (at) / 4), 0, to)"));
  return text;
}

const std::vector<ReductionOp>& indexed_rows() {
  static const auto row = [](const char* name, const char* worst) {
    return ReductionOp{name,
                       ReductionResult::Same,
                       concat("indexed(", worst, ", LONG_MAX)"),
                       "indexed(a, index)",
                       "more_extreme(x, z, x.value BEATS z.value)",
                       "x",
                       "",
                       ""};
  };
  static const auto& rows = *new std::vector<ReductionOp>{row("argmax", "LOWEST"), row("argmin", "HIGHEST")};
  return rows;
}

// 64-bit words of one partial result.
int partial_words(const ReductionOp& row, bool indexed) {
  return indexed || row.result == ReductionResult::Moments ? 2 : 1;
}

/** Where a reduction's results go; `indices` for extremes with their places, `values` then optional. */
struct Results {
  const Tensor* values;
  const Tensor* indices;
};

/** Runs the first pass and, where the work was split, the second. */
void run(Queue& queue, const ReductionOp& row, const Tensor& input, DimMask mask, const Results& results,
         const ReductionParameters& parameters) {
  const Space space = split_dimensions(input, mask);
  if (space.outputs == 0) return;
  const DeviceInfo& device = queue.device().info();
  const bool cpu = device.runs_cpu_kernels();
  const Plan plan = cpu ? cpu_plan(space, device) : simt_plan(space, input, device);
  const auto [low, high] = input.reach();
  const bool wide = !space.kept.fits_32_bits() || !space.reduced.fits_32_bits() || high - low > INT32_MAX;
  const bool indexed = results.indices != nullptr;
  const auto kernel = [&](Step step) -> Kernel& {
    return row.kernels->handle(input.dtype, wide, step).get(queue.device().index(), [&]() -> Kernel& {
      const char* const dtypes = is_floating(input.dtype) ? name(input.dtype) : "integers";
      const char* const options = input.dtype == DType::float64 ? "" : " -cl-single-precision-constant";
      return queue.device().programs().generated_kernel(
          concat("reduce ", row.name, " ", dtypes, wide ? " 64" : ""), step_names[step], options,
          [&] { return source_of(row, indexed, input.dtype, wide, cpu); });
    });
  };

  Tensor partial;
  if (plan.splits > 1)
    partial = queue.scratch({plan.splits, space.outputs, partial_words(row, indexed)}, DType::int64);
  const auto set_tensors = [&](auto&& set, auto index) {
    using Index = decltype(index);
    set(input);
    set(Optional{results.values});
    set(Optional{results.indices});
    set(Optional{partial.defined() ? &partial : nullptr});
    set(Optional{parameters.shift});
    set(static_cast<cl_int>(size_of(input.dtype)));
    set(static_cast<cl_int>(input.dtype));
    set(static_cast<cl_int>(results.values ? results.values->dtype : DType::int64));
    if (device.fp64)
      set(parameters.p);
    else
      set(static_cast<float>(parameters.p));
    set(static_cast<Index>(space.outputs));
    set(static_cast<Index>(space.elements));
  };
  const auto launch = [&](auto index) {
    using Index = decltype(index);
    queue.launch_arguments(kernel(plan.step), plan.range(), [&](auto&& set) {
      set_tensors(set, index);
      set(static_cast<Index>(plan.split_size));
      set(packed<Index>(space));
    });
    if (!partial.defined()) return;
    const int items = cpu ? 1 : work_group(device);
    queue.launch_arguments(
        kernel(join),
        Range::groups(items, cpu ? space.outputs : ceil_div(space.outputs, std::int64_t{column_lanes})),
        [&](auto&& set) {
          set_tensors(set, index);
          set(static_cast<Index>(plan.splits));
        });
  };
  if (wide)
    launch(cl_long{});
  else
    launch(cl_int{});
}

}  // namespace

void reduce(Queue& queue, const ReductionOp& row, const Tensor& input, DimMask mask, const Tensor& output,
            const ReductionParameters& parameters) {
  ENTER(reduce, queue, row, input, mask, output, parameters);
  row.result_dtype(input.dtype);
  const std::int64_t groups = kept_elements(input, mask);
  require_elements(row.name.c_str(), "the result", output, groups, output.dtype);
  require_elements(row.name.c_str(), "a number for every result", parameters.shift, groups,
                   compute_dtype(input.dtype));
  run(queue, row, input, mask, {&output, nullptr}, parameters);
}

void variance(Queue& queue, const Tensor& input, DimMask mask, double correction, const Tensor& mean,
              const Tensor& output) {
  ENTER(variance, queue, input, mask, correction, mean, output);
  // Both results before the first is written.
  require_elements("var", "the result", output, kept_elements(input, mask), output.dtype);
  reduce(queue, reduction("mean"), input, mask, mean);
  reduce(queue, reduction("moments"), input, mask, output, {&mean, correction});
}

void logsumexp(Queue& queue, const Tensor& input, DimMask mask, const Tensor& largest, const Tensor& rest) {
  ENTER(logsumexp, queue, input, mask, largest, rest);
  require_elements("logsumexp", "the result", rest, kept_elements(input, mask), rest.dtype);
  reduce(queue, reduction("amax"), input, mask, largest);
  reduce(queue, reduction("shifted_exp"), input, mask, rest, {&largest});
}

void reduce_index(Queue& queue, Extreme extreme, const Tensor& input, DimMask mask, const Tensor& values,
                  const Tensor& indices) {
  ENTER(reduce_index, queue, extreme, input, mask, values, indices);
  const ReductionOp& row = indexed_rows()[extreme == Extreme::max ? 0 : 1];
  const std::int64_t groups = kept_elements(input, mask);
  if (values.defined()) require_elements(row.name.c_str(), "the values", values, groups, input.dtype);
  require_elements(row.name.c_str(), "the indices", indices, groups, DType::int64);
  run(queue, row, input, mask, {values.defined() ? &values : nullptr, &indices}, {});
}

void place_at_index(Queue& queue, const Tensor& values, const Tensor& indices, int dim,
                    const Tensor& output) {
  ENTER(place_at_index, queue, values, indices, dim, output);
  constexpr const char* op = "placing by an index";
  require_contiguous(op, "the result", output);
  require_elements(op, "the values", values, values.numel(), output.dtype);
  require_elements(op, "the indices", indices, values.numel(), DType::int64);
  queue.zero(output);
  const Dims& shape = output.shape;
  const std::int64_t size = shape.empty() ? 1 : shape[dim];
  const std::int64_t inner = shape.empty() ? 1 : product(Dims(shape.begin() + dim + 1, shape.end()));
  const std::int64_t items = values.numel();
  if (items == 0) return;
  const DeviceInfo& device = queue.device().info();
  queue.launch(queue.kernel("ops/reduce/place.cl", "place_at_index"),
               Range::linear(items, device.runs_cpu_kernels() ? 1 : std::min(64, device.max_work_group)),
               values, indices, output, static_cast<cl_int>(size_of(output.dtype)), items, size, inner);
}

}  // namespace dlprim
