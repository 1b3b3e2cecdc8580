#include "dlprim/core/memory_format.h"

#include <algorithm>
#include <utility>

#include "dlprim/core/tensor.h"

namespace dlprim {
namespace {

/** The dimensions of a channels-last format from the innermost to the outermost; empty for other formats. */
Dims innermost_first(MemoryFormat format) {
  if (format == MemoryFormat::channels_last) return {1, 3, 2, 0};
  if (format == MemoryFormat::channels_last_3d) return {1, 4, 3, 2, 0};
  return {};
}

bool is_channels_last(const Tensor& t, const Dims& order) {
  if (t.rank() != order.size()) return false;
  std::int64_t expected = 1;
  for (const std::int64_t dim : order) {
    const auto d = static_cast<int>(dim);
    if (t.shape[d] == 1) continue;
    if (t.strides[d] != expected) return false;
    expected *= t.shape[d];
  }
  return true;
}

/** Whether the strides are of that order of dimensions, dense or not. A layout that may as well be contiguous
 * is no other format.
 */
bool suggests(const Tensor& t, const Dims& order) {
  if (t.rank() != order.size() || t.strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::int64_t dim : order) {
    const auto d = static_cast<int>(dim);
    if (t.shape[d] == 0 || t.strides[d] < least) return false;
    if (d == 0 && least == t.strides[1]) return false;  // [N, 1, 1, 1]
    least = t.strides[d] * std::max<std::int64_t>(t.shape[d], 1);
  }
  return true;
}

/** Whether no dimension lies within one before it: then the order of memory is that of the dimensions. */
bool are_outermost_first(const Dims& strides) {
  for (int d = 1; d < strides.size(); ++d)
    if (strides[d - 1] < strides[d]) return false;
  return true;
}

/** The strides of `t`, which broadcasts to `shape`, as it is walked there; 0 where it stands still. */
Dims broadcast_strides(const Tensor& t, const Dims& shape) {
  Dims strides = Dims::filled(shape.size(), 0);
  for (int i = 1; i <= t.rank(); ++i)
    if (t.shape[t.rank() - i] != 1 || shape[shape.size() - i] == 1)
      strides[shape.size() - i] = t.strides[t.rank() - i];
  return strides;
}

/** Strides of operands over one shape. */
struct OperandStrides {
  std::array<Dims, max_elementwise_inputs> of;
  std::size_t count = 0;
};

enum class Order { kept, open, swapped };

/** Whether dimension `inner` belongs further out than `outer`. The first operand that walks both decides. */
Order order_of(int inner, int outer, const Dims& shape, const OperandStrides& operands) {
  for (std::size_t k = 0; k < operands.count; ++k) {
    const std::int64_t in = operands.of[k][inner], out = operands.of[k][outer];
    if (in == 0 || out == 0) continue;
    if (in != out) return in < out ? Order::kept : Order::swapped;
    if (shape[inner] > shape[outer]) return Order::swapped;
  }
  return Order::open;
}

/** Dense strides with the dimensions in the operands' order. PyTorch's sort by insertion, step by step:
 * order_of is no order of all dimensions, so that another sort would end elsewhere. */
Dims dense_strides(const Dims& shape, const OperandStrides& operands) {
  Dims order;
  for (int d = shape.size() - 1; d >= 0; --d) order.push_back(d);
  for (int i = 1; i < order.size(); ++i)
    for (int outer = i, inner = i - 1; inner >= 0; --inner) {
      const Order found =
          order_of(static_cast<int>(order[inner]), static_cast<int>(order[outer]), shape, operands);
      if (found == Order::kept) break;
      if (found == Order::open) continue;
      std::swap(order[inner], order[outer]);
      outer = inner;
    }
  Dims strides = Dims::filled(shape.size(), 1);
  std::int64_t next = 1;
  for (const std::int64_t d : order) {
    strides[static_cast<int>(d)] = next;
    next *= std::max<std::int64_t>(shape[static_cast<int>(d)], 1);
  }
  return strides;
}

}  // namespace

const char* name(MemoryFormat format) {
  constexpr const char* names[] = {"contiguous_format", "channels_last", "channels_last_3d",
                                   "preserve_format"};
  return names[static_cast<int>(format)];
}

Dims strides_of(MemoryFormat format, const Dims& shape) {
  require(format != MemoryFormat::preserve, "unsupported memory format Preserve");
  if (format == MemoryFormat::contiguous) return contiguous_strides(shape);
  const Dims order = innermost_first(format);
  require(shape.size() == order.size(), "required rank ", order.size(), " tensor to use ", name(format),
          " format");
  product(shape);  // throws where the elements cannot be counted
  Dims strides = Dims::filled(shape.size(), 1);
  std::int64_t next = 1;
  for (const std::int64_t d : order) {
    strides[static_cast<int>(d)] = next;
    next *= shape[static_cast<int>(d)];
  }
  return strides;
}

Dims strides_like(const Tensor& like, MemoryFormat format) {
  if (format != MemoryFormat::preserve) return strides_of(format, like.shape);
  return is_dense(like) ? like.strides : dense_strides(like.shape, {{like.strides}, 1});
}

bool is_contiguous(const Tensor& tensor, MemoryFormat format) {
  const Dims order = innermost_first(format);
  return order.empty() ? tensor.is_contiguous() : is_channels_last(tensor, order);
}

MemoryFormat suggested_memory_format(const Tensor& tensor) {
  for (const MemoryFormat format : {MemoryFormat::channels_last, MemoryFormat::channels_last_3d})
    if (suggests(tensor, innermost_first(format))) return format;
  return MemoryFormat::contiguous;
}

bool is_dense(const Tensor& tensor) {
  if (tensor.is_contiguous()) return true;
  Dims inward;  // dimensions of more than one element, by falling stride
  for (int d = 0; d < tensor.rank(); ++d) {
    if (tensor.shape[d] == 1) continue;
    int place = inward.size();
    while (place > 0 && tensor.strides[static_cast<int>(inward[place - 1])] < tensor.strides[d]) --place;
    inward.insert(place, d);
  }
  std::int64_t expected = 1;
  for (int i = inward.size() - 1; i >= 0; --i) {
    const auto d = static_cast<int>(inward[i]);
    if (tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

Tensor in_memory_order(const Tensor& dense) {
  return dense.reshaped({dense.numel()});
}

bool lies_by(const Tensor& tensor, const Dims& strides) {
  if (tensor.strides == strides || tensor.numel() == 0) return true;
  for (int d = 0; d < tensor.rank(); ++d)
    if (tensor.shape[d] != 1 && tensor.strides[d] != strides[d]) return false;
  return true;
}

bool lie_alike(const Tensor& a, const Tensor& b) {
  return a.shape == b.shape && lies_by(a, b.strides);
}

Dims elementwise_strides(const Dims& shape, const ElementwiseInputs& inputs) {
  const auto all = [&](const auto& holds) {
    return std::all_of(inputs.begin(), inputs.end(), [&](const Tensor* t) { return !t || holds(*t); });
  };
  if (all([](const Tensor& t) { return are_outermost_first(t.strides); })) return contiguous_strides(shape);
  if (all([&](const Tensor& t) { return t.shape == shape; })) {
    for (const MemoryFormat format : {MemoryFormat::contiguous, MemoryFormat::channels_last})
      if (all([&](const Tensor& t) { return is_contiguous(t, format); })) return strides_of(format, shape);
    const Tensor& first = *inputs.front();
    if (is_dense(first) && all([&](const Tensor& t) { return t.strides == first.strides; }))
      return first.strides;
  }
  OperandStrides operands;
  for (const Tensor* t : inputs)
    if (t) operands.of[operands.count++] = broadcast_strides(*t, shape);
  return dense_strides(shape, operands);
}

}  // namespace dlprim
