#pragma once

#include <optional>
#include <variant>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Index expressions, as Python writes them between brackets; PyTorch's rules:
//
//     index(x, {Slice{1, {}}, Ellipsis(), rows})             x[1:, ..., rows]
//     index_put_(x, {mask}, 0)                               x[mask] = 0

/** start:stop:step; step > 0. */
struct Slice {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};
/** None: a new dimension of size 1. */
struct NewAxis {};
/** All dimensions that the other items leave, whole. */
struct Ellipsis {};

/**
 * One item of an index expression. A tensor holds int64 or int32 places (negative ones count from the end),
 * or is a bool mask over as many dimensions as it has. A bool is a mask of no dimensions.
 */
using IndexItem = std::variant<std::int64_t, bool, Slice, NewAxis, Ellipsis, Tensor>;
using IndexItems = std::vector<IndexItem>;

/**
 * The part of `a` that the items name: a view where none of them is a tensor or a bool, else a copy. In a
 * copy the broadcast shape of the index tensors replaces the dimensions that they index; it stands in front
 * where those are not neighbours. Masks wait. Throws IndexError; for an index tensor's elements at the next
 * waiting point.
 */
Tensor index(const Tensor& a, const IndexItems& items);

/** Writes `value`, broadcast and converted, to that part of `a`, or with `accumulate` adds it there. The last
 * of several writes to one place counts; additions all count, in a fixed order. */
Tensor& index_put_(Tensor& a, const IndexItems& items, const Operand& value, bool accumulate = false);

}  // namespace ocl
