#include "dlprim/ops/index/index.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/index/places.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/index/index.cl";

/** The kernel `name` for elements of the size of `dtype`. */
Kernel& mover(Queue& queue, const char* name, DType dtype) {
  return queue.kernel(file, (std::string(name) + '_' + std::to_string(8 * size_of(dtype))).c_str());
}

/** Dimensions [from, to) as one: its size and stride, or nothing where they do not run on evenly. */
std::optional<std::pair<std::int64_t, std::int64_t>> merged(const Tensor& t, int from, int to) {
  std::int64_t size = 1, stride = 0;
  for (int d = from; d < to; ++d) {
    if (t.shape[d] == 1) continue;
    if (size != 1 && stride != t.strides[d] * t.shape[d]) return std::nullopt;
    size *= t.shape[d];
    stride = t.strides[d];
  }
  return std::pair(size, stride);
}

Range elements_range(const Queue& queue, const Dims& shape) {
  // On a CPU rows are shared out, each with its inner elements.
  const std::int64_t rows = shape[0] * shape[1];
  return queue.device().info().runs_cpu_kernels() ? share_range(queue, rows, shape[2])
                                                  : share_range(queue, rows * shape[2]);
}

/** Whether the index differs along a dimension: 1 where it is broadcast there. */
std::int64_t own_size(const Tensor& index, int dim) {
  return index.strides[dim] == 0 ? 1 : index.shape[dim];
}

/** For every place the last j that names it, plus 1. */
Tensor last_writers(Queue& queue, const Tensor& index, std::int64_t bound, Negative negative) {
  Tensor own_index = index;
  own_index.shape = {own_size(index, 0), index.shape[1], own_size(index, 2)};
  const Tensor winner = queue.scratch({own_index.shape[0], bound, own_index.shape[2]}, DType::int32);
  queue.zero(winner);
  Places places = places_of(own_index, bound, negative);
  copy_strides(winner, places.winner);
  queue.launch(queue.kernel(file, "mark_winners"), elements_range(queue, own_index.shape), own_index, winner,
               places);
  return winner.expanded({index.shape[0], bound, index.shape[2]});
}

}  // namespace

std::optional<Tensor> outer_along_inner(const Tensor& t, int first, int count) {
  if (t.numel() == 0) {
    Tensor result = t;
    const auto size = [&](int from, int to) {
      return product(Dims(t.shape.begin() + from, t.shape.begin() + to));
    };
    return result.reshaped({size(0, first), size(first, first + count), size(first + count, t.rank())});
  }
  const auto outer = merged(t, 0, first), along = merged(t, first, first + count),
             inner = merged(t, first + count, t.rank());
  if (!outer || !along || !inner) return std::nullopt;
  Tensor result = t;
  result.shape = {outer->first, along->first, inner->first};
  result.strides = {outer->second, along->second, inner->second};
  return result;
}

void read_places(Queue& queue, const Tensor& x, const Tensor& index, const Tensor& y, Negative negative,
                 DeviceCheck check) {
  ENTER(read_places, queue, x, index, y, negative, check);
  require_lines("reading by an index", x, index, y);
  if (y.numel() == 0) return;
  Places places = places_of(index, x.shape[1], negative);
  copy_strides(x, places.x);
  copy_strides(y, places.y);
  queue.launch(mover(queue, "read", x.dtype), elements_range(queue, index.shape), x, index, y, places,
               check.spoiling(y));
}

void write_places(Queue& queue, const Tensor& x, const Tensor& index, const Tensor& y, bool distinct,
                  Negative negative, DeviceCheck check) {
  ENTER(write_places, queue, x, index, y, distinct, negative, check);
  require_lines("writing by an index", y, index, x);
  if (index.numel() == 0) return;
  kernel_int(index.shape[1], "writing by an index", "an index");
  Places places = places_of(index, y.shape[1], negative);
  copy_strides(x, places.x);
  copy_strides(y, places.y);
  const DeviceInfo& device = queue.device().info();
  if (!distinct && device.runs_cpu_kernels())
    return queue.launch(mover(queue, "write_last", y.dtype), owners_range(queue, index), x, index, y, places,
                        check.spoiling(y));
  if (!distinct && groups_take_lines(device, index, y.shape[1], sizeof(cl_int)))
    return queue.launch(mover(queue, "write_last", y.dtype), lines_range(device, index), x, index, y, places,
                        check.spoiling(y), memory_of_places(y.shape[1], sizeof(cl_int)));
  Tensor winner;
  if (!distinct) {
    winner = last_writers(queue, index, y.shape[1], negative);
    copy_strides(winner, places.winner);
  }
  queue.launch(mover(queue, "write", y.dtype), elements_range(queue, index.shape), x, index, y,
               Optional{distinct ? nullptr : &winner}, places, check.spoiling(y));
}

void join_indices(Queue& queue, const std::vector<Tensor>& indices, const Dims& sizes, const Tensor& places,
                  DeviceCheck check) {
  ENTER(join_indices, queue, indices, sizes, places, check);
  const std::int64_t count = places.numel();
  require(static_cast<int>(indices.size()) == sizes.size(), "joining indices: expected ", sizes.size(),
          " indices, one for each dimension, got ", indices.size());
  for (const Tensor& t : indices) require_elements("joining indices", "an index", t, count, DType::int64);
  require_elements("joining indices", "the result", places, count, DType::int64);
  if (count == 0) return;
  std::int64_t step = product(sizes);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::int64_t bound = sizes[static_cast<int>(k)];
    step = bound == 0 ? 0 : step / bound;
    queue.launch(queue.kernel(file, "add_places"), share_range(queue, count), indices[k], places,
                 cl_long{count}, cl_long{bound}, cl_long{step}, cl_int{k == 0}, check.spoiling(places));
  }
}

void triangle(Queue& queue, Triangle kept, const Tensor& x, std::int64_t diagonal, const Tensor& y) {
  ENTER(triangle, queue, kept, x, diagonal, y);
  require(x.rank() >= 2, "triangle: expected a tensor of at least 2 dimensions, got shape ", x.shape);
  require_contiguous("triangle", "the input", x);
  require_like("triangle", "the result", y, x.shape, x.dtype);
  if (x.numel() == 0) return;
  const cl_long rows = x.size(-2), columns = x.size(-1);
  const std::int64_t all_rows = x.numel() / columns;
  const Range range = queue.device().info().runs_cpu_kernels() ? share_range(queue, all_rows, columns)
                                                               : share_range(queue, x.numel());
  queue.launch(mover(queue, "triangle", x.dtype), range, x, y, cl_long{all_rows}, rows, columns,
               cl_long{diagonal}, cl_int{kept == Triangle::lower});
}

}  // namespace dlprim
