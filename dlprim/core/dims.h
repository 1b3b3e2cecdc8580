#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "dlprim/core/error.h"
#include "dlprim/core/shared.h"

namespace dlprim {

/** The most dimensions a tensor may have. */
constexpr int max_rank = MAX_RANK;

/** A short list of sizes or strides, held in place: copying one never allocates. */
class Dims {
 public:
  using value_type = std::int64_t;

  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) : Dims(values.begin(), values.end()) {}
  Dims(const std::vector<std::int64_t>& values) : Dims(values.begin(), values.end()) {}
  template <class Iterator>
  Dims(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }
  static Dims filled(int rank, std::int64_t value) {
    Dims dims;
    for (int i = 0; i < rank; ++i) dims.push_back(value);
    return dims;
  }

  /** Throws ValueError beyond max_rank. */
  void push_back(std::int64_t value) {
    require(size_ < max_rank, "a tensor has at most ", max_rank, " dimensions");
    values_[static_cast<std::size_t>(size_++)] = value;
  }
  /** Puts `value` before what stands at `position`. */
  void insert(int position, std::int64_t value) {
    push_back(0);
    for (int i = size_ - 1; i > position; --i) (*this)[i] = (*this)[i - 1];
    (*this)[position] = value;
  }
  void erase(int position) {
    for (int i = position; i + 1 < size_; ++i) (*this)[i] = (*this)[i + 1];
    --size_;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /** Precondition: 0 <= i < size(); see wrap_dim for dimensions counted from the back. */
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t back() const { return (*this)[size_ - 1]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + size_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + size_; }
  std::vector<std::int64_t> vector() const { return {begin(), end()}; }

  friend bool operator==(const Dims& a, const Dims& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(const Dims& a, const Dims& b) { return !(a == b); }
  /** Prints as PyTorch prints a size: "[2, 3]". */
  friend std::ostream& operator<<(std::ostream& out, const Dims& dims) {
    out << '[';
    for (int i = 0; i < dims.size_; ++i) out << (i ? ", " : "") << dims[i];
    return out << ']';
  }

 private:
  std::array<std::int64_t, max_rank> values_{};
  int size_ = 0;
};

/**
 * Product of all sizes; 1 for a scalar. Throws ValueError where 64 bits do not hold the product of the sizes
 * other than 0. So no tensor that exists has sizes, or contiguous strides, that multiply beyond that.
 */
std::int64_t product(const Dims& shape);

/** Strides, in elements, of a contiguous row-major tensor of that shape. Throws ValueError as product. */
Dims contiguous_strides(const Dims& shape);

/** `dim` counted from the front; a negative one counts from the back. Throws IndexError naming `op`. */
int wrap_dim(std::int64_t dim, int rank, const char* op);

/** The shape that both broadcast to (NumPy's rules). Throws ValueError naming `op` and both shapes. */
Dims broadcast_shapes(const Dims& a, const Dims& b, const char* op);

}  // namespace dlprim
