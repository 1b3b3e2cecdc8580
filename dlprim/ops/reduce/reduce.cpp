#include "dlprim/ops/reduce/reduce.h"

#include <algorithm>

#include "dlprim/core/layout.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr int cpu_lanes = 16;
constexpr std::int64_t most_splits = 256;   // the second pass joins them one after another
constexpr std::int64_t least_split = 4096;  // reduced elements that are worth a launch slot of their own
constexpr int simt_items_per_unit = 1024;   // that a GPU's compute unit wants in flight

/** What a reduction computes: a plain row of the table, or an extreme with its index. */
struct Recipe {
  std::string identity, prelude;
  DType compute;
};

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

/** How a reduction is laid over work items. */
struct Plan {
  bool columns;
  int lanes;  // work items (simt) or vector lanes (cpu) that share one output, or hold one each (columns)
  std::int64_t groups;  // of outputs
  std::int64_t splits, split_size;
};

Plan make_plan(const Space& space, const DeviceInfo& device) {
  Plan plan;
  plan.columns = is_columnwise(space);
  const bool cpu = device.runs_cpu_kernels();
  if (cpu) {
    plan.lanes = cpu_lanes;
  } else {
    const int most = std::min(256, device.max_work_group);
    plan.lanes =
        plan.columns ? std::min(64, most) : std::clamp(round_up_to_power_of_two(space.elements / 4), 1, most);
  }
  plan.groups = plan.columns ? (space.outputs + plan.lanes - 1) / plan.lanes : space.outputs;
  const std::int64_t items = cpu ? plan.groups : plan.groups * plan.lanes;
  const std::int64_t wanted =
      cpu ? 4 * device.compute_units : static_cast<std::int64_t>(simt_items_per_unit) * device.compute_units;
  const std::int64_t least = plan.columns && !cpu ? 64 : least_split;
  plan.splits = std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(items, 1), 1,
                                         std::clamp<std::int64_t>(space.elements / least, 1, most_splits));
  plan.split_size = (space.elements + plan.splits - 1) / plan.splits;
  return plan;
}

std::string type_prelude(DType compute, DType input) {
  return concat(expanded_source("core/common.cl"), "typedef ", info(compute).compute_type,
                " T;\n#define T_IS_FLOATING ", is_floating(compute),
                "\n#define T_IS_BOOL 0\n#define INPUT_TYPE ", info(input).storage_type,
                "\n#define LOAD_INPUT LOAD_", name(input), "\n#define LOWEST ",
                is_floating(compute)      ? "(-INFINITY)"
                : compute == DType::int64 ? "LONG_MIN"
                                          : "INT_MIN",
                "\n#define HIGHEST ",
                is_floating(compute)      ? "INFINITY"
                : compute == DType::int64 ? "LONG_MAX"
                                          : "INT_MAX",
                "\n", expanded_source("ops/pointwise/functions.cl"));
}

/** Runs the first pass and, where the work was split, the second. */
void run(Queue& queue, const Recipe& recipe, const Tensor& input, DimMask mask,
         const std::vector<Tensor>& outputs, DType index_dtype) {
  if (outputs.back().numel() == 0) return;
  const Space space = split_dimensions(input, mask);
  const DeviceInfo& device = queue.device().info();
  const Plan plan = make_plan(space, device);
  const auto [low, high] = input.reach();
  const bool wide = !space.kept.fits_32_bits() || !space.reduced.fits_32_bits() || high - low > INT32_MAX;
  const bool cpu = device.runs_cpu_kernels();
  const bool whole = plan.splits == 1;
  const bool indexed = outputs.size() == 2;

  std::string identity =
      concat("reduce ", recipe.identity, " in ", name(recipe.compute), ": ", name(input.dtype), " -> ",
             outputs.front().defined() ? name(outputs.front().dtype) : "none", wide ? " 64" : "");
  const char* options = recipe.compute == DType::float64 ? "" : " -cl-single-precision-constant";
  const auto kernel = [&](const char* name_of_kernel) -> Kernel& {
    return queue.device().programs().generated_kernel(identity, name_of_kernel, options, [&] {
      return concat(type_prelude(recipe.compute, input.dtype), recipe.prelude, "\ntypedef ",
                    wide ? "long" : "int", " index_t;\n", expanded_source("ops/reduce/reduce.cl"));
    });
  };

  const Dims partial_shape{plan.splits, space.outputs};
  std::vector<Tensor> partials;
  if (!whole) {
    partials.push_back(queue.scratch(partial_shape, recipe.compute));
    if (indexed) partials.push_back(queue.scratch(partial_shape, index_dtype));
  }
  const Range first =
      cpu ? Range::groups(1, plan.groups, plan.splits) : Range::groups(plan.lanes, plan.groups, plan.splits);
  queue.launch_arguments(kernel(plan.columns ? "reduce_columns" : "reduce_rows"), first, [&](auto&& set) {
    set(input);
    for (const Tensor& t : outputs) set(Optional{t.defined() ? &t : nullptr});
    for (std::size_t i = 0; i < outputs.size(); ++i) set(Optional{whole ? nullptr : &partials[i]});
    if (!cpu && !plan.columns) {
      set(LocalMemory{static_cast<std::size_t>(plan.lanes) * info(recipe.compute).bytes});
      set(LocalMemory{indexed ? static_cast<std::size_t>(plan.lanes) * sizeof(cl_long) : sizeof(cl_long)});
    }
    const auto set_geometry = [&](auto index) {
      using Index = decltype(index);
      set(static_cast<Index>(space.outputs));
      set(static_cast<Index>(space.elements));
      set(static_cast<Index>(plan.split_size));
      set(packed<Index>(space));
    };
    if (wide)
      set_geometry(cl_long{});
    else
      set_geometry(cl_int{});
  });
  if (whole) return;

  const int group = cpu ? 1 : std::min(64, device.max_work_group);
  queue.launch_arguments(kernel("join_splits"), Range::linear(space.outputs, group), [&](auto&& set) {
    for (const Tensor& t : outputs) set(Optional{t.defined() ? &t : nullptr});
    for (const Tensor& t : partials) set(t);
    const auto set_geometry = [&](auto index) {
      using Index = decltype(index);
      set(static_cast<Index>(space.outputs));
      set(static_cast<Index>(space.elements));
      set(static_cast<Index>(plan.splits));
    };
    if (wide)
      set_geometry(cl_long{});
    else
      set_geometry(cl_int{});
  });
}

DType compute_type(const ReductionOp& reduction, DType input) {
  if (reduction.result == ReductionResult::Sum || reduction.result == ReductionResult::Count)
    return reduction.result_dtype(input);
  return input;
}

}  // namespace

void reduce(Queue& queue, const ReductionOp& row, const Tensor& input, DimMask mask, const Tensor& output) {
  const DType compute = accumulation_type(compute_type(row, input.dtype));
  // Counting and truth of a floating input are read in its own type, then joined in the result's.
  const Recipe recipe{
      row.name,
      concat("#define MAP(a) (", row.map, ")\n#define IDENTITY ", row.identity, "\n#define COMBINE(x, z) (",
             row.combine, ")\n#define FINISH(x, n) (", row.finish, ")\n#define OUTPUT_TYPE ",
             info(output.dtype).storage_type, "\n#define STORE_OUTPUT STORE_", name(output.dtype),
             "\ntypedef ", info(promote_types(input.dtype, compute)).compute_type, " element_t;\n"),
      compute};
  run(queue, recipe, input, mask, {output}, DType::int64);
}

void reduce_index(Queue& queue, Extreme extreme, const Tensor& input, DimMask mask, const Tensor& values,
                  const Tensor& indices) {
  const bool max = extreme == Extreme::max;
  const Recipe recipe{
      max ? "argmax" : "argmin",
      concat("#define WITH_INDEX 1\n#define BEATS(x, z) ((x) ", max ? ">" : "<", " (z))\n#define IDENTITY ",
             max ? "LOWEST" : "HIGHEST", "\n#define OUTPUT_TYPE ", info(input.dtype).storage_type,
             "\n#define STORE_OUTPUT STORE_", name(input.dtype), "\n"),
      accumulation_type(input.dtype)};
  run(queue, recipe, input, mask, {values, indices}, DType::int64);
}

}  // namespace dlprim
