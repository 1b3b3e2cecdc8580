#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl {

/** Entries of a tensor of N dimensions, for reading, from a copy of its elements: Tensor::accessor. */
template <class T, std::size_t N>
class Accessor {
 public:
  using Elements = std::shared_ptr<const std::vector<T>>;
  Accessor(Elements elements, Dims sizes, std::int64_t first = 0)
      : elements_(std::move(elements)), sizes_(std::move(sizes)), first_(first) {}

  const Dims& sizes() const { return sizes_; }
  std::int64_t size(int dim) const { return sizes_[dim]; }
  /** The element, or the entries of the dimensions that are left. Throws IndexError. */
  auto operator[](std::int64_t index) const {
    dlprim::require<IndexError>(index >= 0 && index < sizes_[0], "accessor: index ", index,
                                " is out of range for a dimension of ", sizes_[0], " entries");
    if constexpr (N == 1) {
      return T((*elements_)[static_cast<std::size_t>(first_ + index)]);
    } else {
      const Dims below(sizes_.begin() + 1, sizes_.end());
      return Accessor<T, N - 1>(elements_, below, first_ + index * dlprim::product(below));
    }
  }

 private:
  Elements elements_;
  Dims sizes_;
  std::int64_t first_;
};

template <class T, std::size_t N>
Accessor<T, N> Tensor::accessor() const {
  dlprim::require<TypeError>(dtype() == dlprim::dtype_of<T>(), "accessor: expected elements of ",
                             name(dlprim::dtype_of<T>()), ", got a tensor of ", name(dtype()));
  dlprim::require(dim() == static_cast<int>(N), "accessor: expected ", N, " dimensions, got shape ", sizes());
  return Accessor<T, N>(std::make_shared<const std::vector<T>>(to_vector<T>()), sizes());
}

}  // namespace ocl
