#include "dlprim/ops/index/accumulate.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/index/places.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/sort/sort.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

/** Calls `work` with a zero of the C++ type of the REAL that kernels of `dtype` compute in. */
template <class Work>
void with_compute_type(DType dtype, const Work& work) {
  if (dtype == DType::complex64) return work(cl_float2{});
  if (dtype == DType::complex128) return work(cl_double2{});
  if (is_floating(dtype)) return with_real(dtype, work);
  if (dtype == DType::int64)
    work(cl_long{0});
  else
    work(cl_int{0});
}

/** How elements of one place are joined. */
struct Joining {
  const char* by;  // JOIN_BY of accumulate.cl
  bool rounds;     // whether a result has to be rounded to 16 bits
  Scalar alpha = 1;
};

Kernel& accumulate_kernel(Queue& queue, const char* name, DType dtype, const Joining& joining) {
  return queue.kernel(
      "ops/index/accumulate.cl", name,
      dtype_defines(dtype).set("IS_FLOATING", is_floating(dtype) ? 1 : 0).set("JOIN_BY", joining.by));
}

/** The factor of what is added, as kernels take it: one for each part of complex numbers. */
template <class Real>
Real factor_of(const Scalar& alpha, DType dtype, Real) {
  if constexpr (!std::is_arithmetic_v<Real>) {
    using Part = std::decay_t<decltype(Real{}.s[0])>;
    return {{static_cast<Part>(alpha.real()), static_cast<Part>(alpha.real())}};
  } else {
    return is_floating(dtype) ? static_cast<Real>(alpha.real()) : static_cast<Real>(alpha.integer());
  }
}

/** Joins rows of `source` with the rows of `target` that `keys` [n] name; those named `none` are left out. */
void add_rows(Queue& queue, const Tensor& source, const Tensor& keys, std::int64_t none, const Tensor& target,
              const Joining& joining) {
  const SortedKeys sorted = sort_keys(queue, keys, none + 1);
  KeySums sums{keys.numel(), target.shape[0], target.shape[2], {}, {}, none};
  copy_strides(source, sums.source);
  copy_strides(target, sums.target);
  const std::int64_t chunks = ceil_div(sums.positions, SUM_CHUNK);
  const std::int64_t columns = queue.device().info().runs_cpu_kernels() ? CPU_SUM_COLUMNS : 1;
  const std::int64_t tiles = sums.outer * ceil_div(sums.inner, columns);
  const Range range = share_range(queue, chunks * tiles, SUM_CHUNK * columns);
  const DType compute = compute_dtype(target.dtype);
  const Tensor came_in = queue.scratch({chunks, sums.outer, sums.inner}, compute);
  const Tensor goes_on = queue.scratch({chunks, sums.outer, sums.inner}, compute);
  with_compute_type(target.dtype, [&](auto zero) {
    const auto factor = factor_of(joining.alpha, target.dtype, zero);
    queue.launch(accumulate_kernel(queue, "add_chunks", target.dtype, joining), range, source, sorted.keys,
                 sorted.order, target, came_in, goes_on, sums, factor);
    queue.launch(accumulate_kernel(queue, "join_chunks", target.dtype, joining), range, sorted.keys, target,
                 came_in, goes_on, sums, factor);
  });
}

/** Whether a CPU adds element by element: where sums are not rounded with each addition, and where sorted
 * keys would serve few columns. */
bool adds_in_lines(const Tensor& target, bool names_rows, const Joining& joining) {
  constexpr std::int64_t few_columns = 8;
  const bool is_exact = is_compute_dtype(target.dtype) || is_integral(target.dtype) || !joining.rounds;
  return is_exact && (!names_rows || target.shape[0] * target.shape[2] < few_columns);
}

/** The bytes that a sum has in the local memory of shape simt. */
std::size_t sum_bytes(const DeviceInfo& device, DType dtype) {
  return is_floating(dtype) && device.fp64 ? sizeof(cl_double) : size_of(compute_dtype(dtype));
}

void join_at_places(Queue& queue, const Joining& joining, const Tensor& source, const Tensor& index,
                    const Tensor& target, std::optional<std::int64_t> left_out, Negative negative,
                    DeviceCheck check) {
  require_lines("adding by an index", target, index, source);
  if (!is_integral(target.dtype))
    require_floating(real_dtype(target.dtype), queue.device(), "adding by an index");
  require_contiguous("adding by an index", "the target", target);
  if (index.numel() == 0) return;
  // An index of whole rows is sorted once for all columns; any other names single elements.
  const bool names_rows =
      (index.strides[0] == 0 || index.shape[0] == 1) && (index.strides[2] == 0 || index.shape[2] == 1);
  const DeviceInfo& device = queue.device().info();
  const auto launch_lines = [&](const Range& range, auto... local_memory) {
    Places places = places_of(index, target.shape[1], negative);
    copy_strides(source, places.x);
    copy_strides(target, places.y);
    with_compute_type(target.dtype, [&](auto zero) {
      queue.launch(accumulate_kernel(queue, "add_lines", target.dtype, joining), range, source, index, target,
                   places, cl_long{left_out.value_or(-1)}, factor_of(joining.alpha, target.dtype, zero),
                   check.spoiling(target), local_memory...);
    });
  };
  if (device.runs_cpu_kernels()) {
    if (adds_in_lines(target, names_rows, joining)) return launch_lines(owners_range(queue, index));
  } else if (groups_take_lines(device, index, target.shape[1],
                               sum_bytes(device, target.dtype) + sizeof(cl_int))) {
    return launch_lines(lines_range(device, index),
                        memory_of_places(target.shape[1], sum_bytes(device, target.dtype)),
                        memory_of_places(target.shape[1], sizeof(cl_int)));
  }
  Tensor own_index = index;
  if (names_rows) own_index.shape = {1, index.shape[1], 1};
  const std::int64_t bound = target.shape[1];
  const std::int64_t none = names_rows ? bound : target.numel();
  constexpr const char* op = "adding by an index";
  const cl_int none_key = kernel_int(none, op, "a number of places");
  kernel_int(own_index.numel(), op, "an index");
  const Tensor keys = queue.scratch(own_index.shape, DType::int32);
  Places places = places_of(own_index, bound, negative);
  copy_strides(keys, places.x);
  if (names_rows)
    places.y[1] = 1;
  else
    copy_strides(target, places.y);
  queue.launch(queue.kernel("ops/index/index.cl", "keys_of_places"), share_range(queue, own_index.numel()),
               own_index, keys, places, none_key, cl_long{left_out.value_or(-1)}, check.spoiling(target));
  const Tensor flat_keys = keys.reshaped({keys.numel()});
  if (names_rows) return add_rows(queue, source, flat_keys, none, target, joining);

  Tensor elements = source;
  if (!source.is_contiguous()) {
    elements = queue.scratch(source.shape, source.dtype);
    copy(queue, source, elements);
  }
  add_rows(queue, elements.reshaped({1, elements.numel(), 1}), flat_keys, none,
           target.reshaped({1, target.numel(), 1}), joining);
}

}  // namespace

void add_at_places(Queue& queue, const Tensor& source, const Tensor& index, const Tensor& target,
                   const Scalar& alpha, std::optional<std::int64_t> left_out, Negative negative,
                   DeviceCheck check) {
  ENTER(add_at_places, queue, source, index, target, alpha, left_out, negative, check);
  require(alpha.imaginary() == 0, "adding by an index: expected a real factor");
  join_at_places(queue, {"SUM", true, alpha}, source, index, target, left_out, negative, check);
}

void reduce_at_places(Queue& queue, PlaceReduction reduction, const Tensor& source, const Tensor& index,
                      const Tensor& target, Negative negative, DeviceCheck check) {
  ENTER(reduce_at_places, queue, reduction, source, index, target, negative, check);
  require<TypeError>(!is_complex(target.dtype), "reducing by an index: expected a real dtype, got ",
                     name(target.dtype));
  const bool multiplies = reduction == PlaceReduction::product;
  const char* extreme = reduction == PlaceReduction::largest ? "LARGEST" : "LEAST";
  const Joining joining{multiplies ? "PRODUCT" : extreme, multiplies};
  join_at_places(queue, joining, source, index, target, std::nullopt, negative, check);
}

}  // namespace dlprim
