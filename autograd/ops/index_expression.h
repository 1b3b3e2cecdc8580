#pragma once

#include <optional>
#include <type_traits>
#include <variant>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Index expressions, as Python writes them between brackets; PyTorch's rules, and libtorch's names:
//
//     x.index({Slice(1, None), Ellipsis, rows})             x[1:, ..., rows]
//     x.index_put_({mask}, 0)                               x[mask] = 0

/** None: a new dimension of size 1; as a bound of a Slice, no bound. */
struct NewAxis {};
inline constexpr NewAxis None{};

/** All dimensions that the other items leave, whole. */
struct EllipsisIndex {};
inline constexpr EllipsisIndex Ellipsis{};

/** start:stop:step; step > 0. */
struct Slice {
  /** A number, or None. */
  struct Bound : std::optional<std::int64_t> {
    using optional::optional;
    Bound(NewAxis) {}
  };
  Slice(Bound first = None, Bound end = None, std::int64_t by = 1) : start(first), stop(end), step(by) {}

  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};

/**
 * One item of an index expression. A tensor holds int64 or int32 places (negative ones count from the end),
 * or is a bool mask over as many dimensions as it has. A bool is a mask of no dimensions.
 */
class IndexItem {
 public:
  using Choice = std::variant<std::int64_t, bool, Slice, NewAxis, EllipsisIndex, Tensor>;

  template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
  IndexItem(Number number)
      : choice_(std::in_place_type<std::conditional_t<std::is_same_v<Number, bool>, bool, std::int64_t>>,
                number) {}
  IndexItem(const Slice& slice) : choice_(slice) {}
  IndexItem(NewAxis) : choice_(NewAxis()) {}
  IndexItem(EllipsisIndex) : choice_(EllipsisIndex()) {}
  IndexItem(const Tensor& places) : choice_(places) {}
  /** Ellipsis, from "...". Throws IndexError for another text. */
  IndexItem(const char* text);

  const Choice& choice() const { return choice_; }

 private:
  Choice choice_;
};
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

/** The names that libtorch has in a namespace of their own. */
namespace indexing {
using ocl::Ellipsis;
using ocl::None;
using ocl::Slice;
}  // namespace indexing

}  // namespace ocl
