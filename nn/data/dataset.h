#pragma once

#include <memory>
#include <vector>

#include "dlprim/core/dims.h"
#include "dlprim/core/dtype.h"
#include "dlprim/core/error.h"
#include "nn/data/random.h"

namespace ocl::data {

/** Elements on the host, row-major. */
struct HostArray {
  dlprim::DType dtype = dlprim::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  /** Throws ValueError where the shape holds more or fewer elements than there are. */
  template <class T>
  static HostArray of(std::vector<std::int64_t> shape, const std::vector<T>& values) {
    HostArray array{dlprim::dtype_of<T>(), std::move(shape), {}};
    dlprim::require(array.elements() == values.size(), "HostArray: shape ", dlprim::Dims(array.shape),
                    " has ", array.elements(), " elements, got ", values.size());
    const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
    array.bytes.assign(first, first + values.size() * sizeof(T));
    return array;
  }
  static HostArray of(std::int64_t number) { return of(std::vector<std::int64_t>{}, std::vector{number}); }

  /** The number of elements that the shape has. */
  std::size_t elements() const { return static_cast<std::size_t>(dlprim::product(dlprim::Dims(shape))); }
};

/** A dataset's sample at one place: an image and its label, say. */
using Sample = std::vector<HostArray>;

/** Samples by number (torch.utils.data.Dataset). */
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::size_t size() const = 0;
  /** Sample `index`, below size(), with `random` for what is drawn at it. Threads call it at once. */
  virtual Sample get(std::size_t index, Random& random) const = 0;
};

/** A part of a dataset: the samples of these numbers, in their order (torch.utils.data.Subset). */
class Subset : public Dataset {
 public:
  /** Throws IndexError for a number that is not below dataset->size(). */
  Subset(std::shared_ptr<const Dataset> dataset, std::vector<std::size_t> indices);
  std::size_t size() const override { return indices_.size(); }
  Sample get(std::size_t index, Random& random) const override {
    return dataset_->get(indices_[index], random);
  }

 private:
  std::shared_ptr<const Dataset> dataset_;
  std::vector<std::size_t> indices_;
};

}  // namespace ocl::data
