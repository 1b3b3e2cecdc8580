#pragma once

#include <functional>
#include <iterator>
#include <optional>

#include "autograd/tensor/tensor.h"
#include "nn/data/dataset.h"
#include "nn/options.h"

namespace ocl::data {

/** Options of DataLoader: `DataLoaderOptions().batch_size(64).shuffle(true).workers(2)`. */
struct DataLoaderOptions {
  DataLoaderOptions(std::size_t batch_size = 1) : batch_size_(batch_size) {}
  OPTION(std::size_t, batch_size);
  OPTION(bool, shuffle) = false;
  OPTION(bool, drop_last) = false;             // leave the last batch out where it is smaller
  OPTION(std::size_t, workers) = 0;            // threads that make batches ahead; 0: made when asked for
  OPTION(std::size_t, prefetch_factor) = 2;    // batches ahead for each worker
  OPTION(std::optional<std::uint64_t>, seed);  // default: that of manual_seed
};

/** Where a loader stands; what a training saves to go on from. */
struct DataLoaderState {
  std::uint64_t seed = 0, passes = 0;  // begun before the one it stands in
  std::size_t batches = 0;             // taken in that pass
};

class Pass;

/** Makes the batch of these samples in a pass; threads call it at once. */
using MakeBatch = std::function<TensorList(const std::vector<std::size_t>& samples, std::uint64_t seed,
                                           std::uint64_t pass)>;

/**
 * The batches of a dataset on a device (torch.utils.data.DataLoader):
 *
 *     DataLoader loader(dataset, DataLoaderOptions().batch_size(64).shuffle(true).workers(2), device);
 *     for (const TensorList& batch : loader) step(batch[0], batch[1]);
 *
 * Each begin() starts a pass in an order of its own. Workers also upload, so that the device finds its data
 * there. Order and what datasets draw depend on seed, pass and sample alone, not on the workers. One thread
 * uses a loader.
 */
class DataLoader {
 public:
  /** Throws ValueError for a batch size or prefetch factor of 0. */
  DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options, Device device = {});
  /** The batches of `samples` samples that a function makes, wherever it puts them. */
  DataLoader(std::size_t samples, MakeBatch make, DataLoaderOptions options);
  DataLoader(DataLoader&&) noexcept;
  ~DataLoader();

  /** The number of batches in a pass. */
  std::size_t size() const;
  /** Precondition: made of a dataset. */
  const Dataset& dataset() const { return *dataset_; }
  const Device& device() const { return device_; }

  /** Moves on from batch to batch. Errors that a worker met, and samples that differ in number, shape or
   * dtype within a batch (ValueError), are thrown where the batch is due; the pass is then over. */
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = TensorList;
    using difference_type = std::ptrdiff_t;
    using pointer = const TensorList*;
    using reference = const TensorList&;

    Iterator() = default;
    reference operator*() const { return batch_; }
    pointer operator->() const { return &batch_; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return loader_ == other.loader_; }
    bool operator!=(const Iterator& other) const { return loader_ != other.loader_; }

   private:
    friend class DataLoader;
    explicit Iterator(DataLoader* loader) : loader_(loader) { ++*this; }

    DataLoader* loader_ = nullptr;  // null past the last batch
    TensorList batch_;
  };

  /** Starts a pass; one that was going on is given up. */
  Iterator begin();
  Iterator end() { return {}; }

  DataLoaderState state() const;
  /** The next pass goes on after the last batch that had been taken. */
  void set_state(const DataLoaderState& state);

 private:
  bool next(TensorList& batch);
  /** The seed of the first pass, or the one that it will have. */
  std::uint64_t seed() const;

  std::size_t samples() const { return dataset_ ? dataset_->size() : samples_; }

  std::shared_ptr<const Dataset> dataset_;
  std::size_t samples_ = 0;  // where there is no dataset
  MakeBatch make_;
  DataLoaderOptions options_;
  Device device_;
  std::optional<std::uint64_t> seed_;
  std::uint64_t passes_ = 0;
  std::size_t taken_ = 0;
  bool resumes_ = false;
  std::unique_ptr<Pass> pass_;
};

}  // namespace ocl::data
