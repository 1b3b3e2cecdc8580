#include "dlprim/core/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

/** Gives `t` all but its memory; returns the bytes that this takes. */
std::size_t describe(Tensor& t, const Dims& shape, const Dims& strides, DType dtype) {
  for (std::int64_t size : shape) require(size >= 0, "empty: negative size in shape ", shape);
  t.dtype = dtype;
  t.shape = shape;
  t.strides = strides;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(t.numel()), size_of(dtype), &bytes)) return SIZE_MAX;
  return bytes;
}

std::shared_ptr<Storage> memory(Device& device, std::size_t bytes) {
  if (!call_state.has_elements) return std::make_shared<Storage>(device, bytes);
  return device.allocator().allocate(bytes);
}

}  // namespace

Tensor Tensor::empty(Device& device, const Dims& shape, DType dtype) {
  return empty_strided(device, shape, contiguous_strides(shape), dtype);
}

Tensor Tensor::empty_strided(Device& device, const Dims& shape, const Dims& strides, DType dtype) {
  Tensor t;
  const std::size_t bytes = describe(t, shape, strides, dtype);
  t.storage = memory(device, bytes);
  return t;
}

Tensor Tensor::empty_for_upload(Device& device, const Dims& shape, DType dtype) {
  Tensor t;
  const std::size_t bytes = describe(t, shape, contiguous_strides(shape), dtype);
  t.storage = bytes < Queue::least_transfer_beside || !call_state.has_elements
                  ? memory(device, bytes)
                  : device.allocator().allocate_for_upload(bytes);
  return t;
}

Device& Tensor::device() const {
  return storage->device();
}

bool Tensor::is_contiguous() const {
  if (numel() == 0) return true;
  std::int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Tensor Tensor::reshaped(const Dims& new_shape) const {
  Tensor t = *this;
  t.shape = new_shape;
  t.strides = contiguous_strides(new_shape);
  return t;
}

Tensor Tensor::transposed() const {
  Tensor t = *this;
  std::swap(t.shape[rank() - 1], t.shape[rank() - 2]);
  std::swap(t.strides[rank() - 1], t.strides[rank() - 2]);
  return t;
}

Tensor Tensor::expanded(const Dims& new_shape) const {
  product(new_shape);  // throws where the elements cannot be counted
  Tensor t = *this;
  t.shape = new_shape;
  t.strides = Dims::filled(new_shape.size(), 0);
  for (int i = 1; i <= rank(); ++i)
    if (size(-i) == new_shape[new_shape.size() - i]) t.strides[new_shape.size() - i] = strides[rank() - i];
  return t;
}

Tensor Tensor::restrided(const char* op, const Dims& new_shape, const Dims& new_strides,
                         std::int64_t new_offset) const {
  require(new_offset >= 0, op, ": storage_offset must not be negative, got ", new_offset);
  std::int64_t last = new_offset;
  bool fits = true;
  for (int d = 0; d < new_shape.size(); ++d) {
    require(new_shape[d] >= 0, op, ": negative size in ", new_shape);
    require(new_strides[d] >= 0, op, ": negative strides are not supported, got ", new_strides);
    std::int64_t way = 0;
    if (new_shape[d] > 1)
      fits = fits && try_multiply(new_strides[d], new_shape[d] - 1, way) && try_add(last, way, last);
  }
  const auto elements = static_cast<std::int64_t>(storage->bytes() / size_of(dtype));
  require(product(new_shape) == 0 || (fits && last < elements), op, ": sizes ", new_shape, ", strides ",
          new_strides, " and storage offset ", new_offset, " are out of bounds for a storage of ", elements,
          " elements of ", name(dtype));
  Tensor t = *this;
  t.shape = new_shape;
  t.strides = new_strides;
  t.offset = new_offset;
  return t;
}

std::pair<std::int64_t, std::int64_t> Tensor::reach() const {
  if (numel() == 0) return {offset, offset};
  std::int64_t low = offset, high = offset + 1;
  for (int i = 0; i < rank(); ++i) (strides[i] < 0 ? low : high) += strides[i] * (shape[i] - 1);
  return {low, high};
}

namespace {

struct Walk {
  std::int64_t stride, steps;  // 0 to steps times stride, stride > 0
};

/**
 * Whether the sum of steps along `walks[from...]` can be `target`. Exact, but for giving up (with true) when
 * `budget` is spent; the strides of real tensors nest, so that one or two steps fit at each level.
 */
bool reaches(const std::vector<Walk>& walks, std::size_t from, std::int64_t target, int& budget) {
  if (--budget < 0) return true;
  if (from == walks.size()) return target == 0;
  std::int64_t rest = 0;
  for (std::size_t i = from + 1; i < walks.size(); ++i) rest += walks[i].stride * walks[i].steps;
  const Walk& walk = walks[from];
  const std::int64_t least = std::max<std::int64_t>(0, (target - rest + walk.stride - 1) / walk.stride);
  for (std::int64_t k = least; k <= walk.steps && k * walk.stride <= target; ++k)
    if (reaches(walks, from + 1, target - k * walk.stride, budget)) return true;
  return false;
}

}  // namespace

bool Tensor::overlaps(const Tensor& other) const {
  if (storage != other.storage || numel() == 0 || other.numel() == 0) return false;
  const auto [low, high] = reach();
  const auto [other_low, other_high] = other.reach();
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  const auto other_bytes = static_cast<std::int64_t>(size_of(other.dtype));
  if (low * bytes >= other_high * other_bytes || other_low * other_bytes >= high * bytes) return false;
  if (dtype != other.dtype) return true;
  // An element of both: low + (steps of this) = other_low + (steps of other), and a step of other back from
  // its high end counts as one forward.
  std::vector<Walk> walks;
  for (const Tensor* t : {this, &other})
    for (int d = 0; d < t->rank(); ++d)
      if (t->strides[d] != 0 && t->shape[d] > 1) walks.push_back({std::abs(t->strides[d]), t->shape[d] - 1});
  std::sort(walks.begin(), walks.end(), [](const Walk& a, const Walk& b) { return a.stride > b.stride; });
  int budget = 10000;
  return reaches(walks, 0, other_high - 1 - low, budget);
}

Tensor part_of(const Tensor& complex, int part) {
  Tensor reals = complex;
  reals.dtype = real_dtype(complex.dtype);
  for (int d = 0; d < reals.rank(); ++d) reals.strides[d] *= 2;
  reals.offset = 2 * complex.offset + part;
  return reals;
}

Tensor pairs_of(const Tensor& complex) {
  Tensor pairs = part_of(complex, 0);
  pairs.shape.push_back(2);
  pairs.strides.push_back(1);
  return pairs;
}

Tensor viewed_as(const Tensor& tensor, DType dtype) {
  Tensor result = tensor;
  result.dtype = dtype;
  const auto from = static_cast<std::int64_t>(size_of(tensor.dtype));
  const auto to = static_cast<std::int64_t>(size_of(dtype));
  if (from == to) return result;
  const int last = tensor.rank() - 1;
  const auto fits = [&](bool condition, const auto&... expected) {
    require(condition, "view: ", name(tensor.dtype), " of shape ", tensor.shape, ", strides ", tensor.strides,
            " and offset ", tensor.offset, " as ", name(dtype), ": expected ", expected...);
  };
  fits(last >= 0, "at least one dimension");
  fits(tensor.strides[last] == 1, "a last dimension of stride 1");
  if (from > to) {
    const std::int64_t parts = from / to;
    for (int d = 0; d < last; ++d) result.strides[d] *= parts;
    result.shape[last] *= parts;
    result.offset *= parts;
    return result;
  }
  const std::int64_t joined = to / from;
  fits(tensor.shape[last] % joined == 0, "a last dimension that ", joined, " divides");
  fits(tensor.offset % joined == 0, "an offset that ", joined, " divides");
  for (int d = 0; d < last; ++d) {
    fits(tensor.strides[d] % joined == 0, "strides that ", joined, " divides");
    result.strides[d] /= joined;
  }
  result.shape[last] /= joined;
  result.offset /= joined;
  return result;
}

}  // namespace dlprim
