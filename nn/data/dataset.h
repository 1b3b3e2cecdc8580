#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "dlprim/core/dtype.h"
#include "nn/data/random.h"

namespace ocl::data {

/** Elements on the host, row-major. */
struct HostArray {
  dlprim::DType dtype = dlprim::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  template <class T>
  static HostArray of(std::vector<std::int64_t> shape, const std::vector<T>& values) {
    HostArray array{dlprim::dtype_of<T>(), std::move(shape), {}};
    array.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
  }
  static HostArray of(std::int64_t number) { return of(std::vector<std::int64_t>{}, std::vector{number}); }
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
