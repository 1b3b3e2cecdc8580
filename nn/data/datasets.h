#pragma once

/**
 * \file Datasets of tensors and their loaders as libtorch has them, over DataLoader:
 *
 *     auto dataset = ocl::data::datasets::MNIST("data")
 *                        .map(ocl::data::transforms::Normalize<>(0.1307, 0.3081))
 *                        .map(ocl::data::transforms::Stack<>());
 *     auto loader = ocl::data::make_data_loader(std::move(dataset), 64);
 *     for (auto& batch : *loader) step(batch.data, batch.target);
 *
 * Examples lie where their dataset puts them: the default device, unless it says another.
 */

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "autograd/ops/index.h"
#include "nn/data/data_loader.h"
#include "nn/data/example_transforms.h"

namespace ocl::data {
namespace datasets {

template <class Source, class Transform>
class MapDataset;

/** The base of datasets, which gives them `map`. Self has BatchType, get_batch(indices) and size(). */
template <class Self>
class Mappable {
 public:
  /** The dataset, or a copy of it, with a transform of its batches. */
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) const& {
    return {static_cast<const Self&>(*this), std::move(transform)};
  }
  template <class Transform>
  MapDataset<Self, Transform> map(Transform transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/** Examples by number: `struct Data : Dataset<Data>` overrides get and size. */
template <class Self, class OneExample = Example<>>
class Dataset : public Mappable<Self> {
 public:
  using ExampleType = OneExample;
  using BatchType = std::vector<OneExample>;
  virtual ~Dataset() = default;
  virtual OneExample get(std::size_t index) = 0;
  virtual optional<std::size_t> size() const = 0;
  virtual BatchType get_batch(const std::vector<std::size_t>& indices) {
    BatchType batch;
    for (const std::size_t index : indices) batch.push_back(get(index));
    return batch;
  }
};

/** Whether a dataset gives batches that are one example each, without a tensor for every example. */
template <class D, class = void>
constexpr bool gives_stacked = false;
template <class D>
constexpr bool gives_stacked<D, std::void_t<decltype(std::declval<D&>().get_stacked(
                                    std::declval<const std::vector<std::size_t>&>()))>> = true;

/** Whether a transform takes such batches. */
template <class T, class = void>
constexpr bool takes_stacked = false;
template <class T>
constexpr bool takes_stacked<T, std::void_t<decltype(&T::apply_stacked)>> = true;

template <class T>
constexpr bool is_stack = false;
template <class E>
constexpr bool is_stack<transforms::Stack<E>> = true;

/** A dataset whose batches go through a transform. */
template <class Source, class Transform>
class MapDataset : public Mappable<MapDataset<Source, Transform>> {
 public:
  using BatchType = typename Transform::OutputBatchType;
  MapDataset(Source source, Transform transform)
      : source_(std::move(source)), transform_(std::move(transform)) {}
  BatchType get_batch(const std::vector<std::size_t>& indices) {
    if constexpr (is_stack<Transform> && gives_stacked<Source>)
      return source_.get_stacked(indices);
    else
      return transform_.apply_batch(source_.get_batch(indices));
  }
  template <class S = Source, class T = Transform,
            class = std::enable_if_t<gives_stacked<S> && takes_stacked<T>>>
  Example<> get_stacked(const std::vector<std::size_t>& indices) {
    return transform_.apply_stacked(source_.get_stacked(indices));
  }
  optional<std::size_t> size() const { return source_.size(); }
  const Source& dataset() const { return source_; }
  const Transform& transform() const { return transform_; }

 private:
  Source source_;
  Transform transform_;
};

/** The rows of a tensor. */
class TensorDataset : public Dataset<TensorDataset, TensorExample> {
 public:
  explicit TensorDataset(Tensor rows) : tensor(std::move(rows)) {}
  explicit TensorDataset(const TensorList& rows);
  TensorExample get(std::size_t index) override;
  optional<std::size_t> size() const override { return static_cast<std::size_t>(tensor.size(0)); }
  Tensor tensor;
};

/** MNIST's images, float32 [1, 28, 28] from 0 to 1, and labels, int64 []. */
class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };
  /** Reads the files that load_mnist reads. Throws dlprim::FileError. */
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain, const Device& device = {});
  Example<> get(std::size_t index) override;
  /** Those of `indices`, as one example. */
  Example<> get_stacked(const std::vector<std::size_t>& indices) const;
  optional<std::size_t> size() const override { return static_cast<std::size_t>(images_.size(0)); }
  bool is_train() const { return is_train_; }
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  bool is_train_;
  Tensor images_, targets_;
};

}  // namespace datasets

/** The order of a loader, of so many of the first examples, or of all. */
namespace samplers {
struct SequentialSampler {
  static constexpr bool shuffles = false;
  SequentialSampler() = default;
  explicit SequentialSampler(std::size_t count) : size(count) {}
  optional<std::size_t> size;
};
struct RandomSampler {
  static constexpr bool shuffles = true;
  RandomSampler() = default;
  explicit RandomSampler(std::size_t count) : size(count) {}
  optional<std::size_t> size;
};
}  // namespace samplers

/** Batches as the lists of tensors that DataLoader carries, and back. */
template <class Batch>
struct BatchTensors;
template <>
struct BatchTensors<Example<>> {
  static constexpr std::size_t count = 2;
  static TensorList list(const Example<>& batch) { return {batch.data, batch.target}; }
  static Example<> batch(const TensorList& list) { return {list[0], list[1]}; }
};
template <>
struct BatchTensors<TensorExample> {
  static constexpr std::size_t count = 1;
  static TensorList list(const TensorExample& batch) { return {batch.data}; }
  static TensorExample batch(const TensorList& list) { return {list[0]}; }
};
template <>
struct BatchTensors<Tensor> {
  static constexpr std::size_t count = 1;
  static TensorList list(const Tensor& batch) { return {batch}; }
  static Tensor batch(const TensorList& list) { return list[0]; }
};
template <class One>
struct BatchTensors<std::vector<One>> {
  using Each = BatchTensors<One>;
  static TensorList list(const std::vector<One>& batch) {
    TensorList all;
    for (const One& one : batch)
      for (Tensor& tensor : Each::list(one)) all.push_back(std::move(tensor));
    return all;
  }
  static std::vector<One> batch(const TensorList& list) {
    std::vector<One> all;
    for (auto first = list.begin(); first != list.end(); first += Each::count)
      all.push_back(Each::batch(TensorList(first, first + Each::count)));
    return all;
  }
};

/** Copies of a dataset for threads, whose get may change it: each has one to itself for as long as it works.
 */
template <class D>
class DatasetCopies {
 public:
  explicit DatasetCopies(D dataset) : original_(std::move(dataset)) {}
  template <class Use>
  auto with_one(const Use& use) {
    std::unique_ptr<D> one = taken();
    auto result = use(*one);
    const std::lock_guard locked(mutex_);
    free_.push_back(std::move(one));
    return result;
  }

 private:
  std::unique_ptr<D> taken() {
    const std::lock_guard locked(mutex_);
    if (free_.empty()) return std::make_unique<D>(original_);
    std::unique_ptr<D> one = std::move(free_.back());
    free_.pop_back();
    return one;
  }
  std::mutex mutex_;
  const D original_;
  std::vector<std::unique_ptr<D>> free_;
};

/** The loader that make_data_loader gives: DataLoader, with the batches of the dataset's type. */
template <class D>
class StatelessDataLoader {
 public:
  using BatchType = typename D::BatchType;
  /** It loads the first `size` examples, or all. Throws ValueError for a dataset of no size, or of a smaller
   * one. */
  StatelessDataLoader(D dataset, const DataLoaderOptions& options, optional<std::size_t> size = {})
      : loader_{size_of(dataset, size), making(std::move(dataset)), options},
        options_(options) {}  // in order

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = BatchType;
    using difference_type = std::ptrdiff_t;
    using pointer = BatchType*;
    using reference = BatchType&;
    explicit Iterator(DataLoader::Iterator lists) : lists_(std::move(lists)) { take(); }
    reference operator*() { return batch_; }
    pointer operator->() { return &batch_; }
    Iterator& operator++() {
      ++lists_;
      take();
      return *this;
    }
    bool operator==(const Iterator& other) const { return lists_ == other.lists_; }
    bool operator!=(const Iterator& other) const { return lists_ != other.lists_; }

   private:
    void take() {
      batch_ = lists_ == DataLoader::Iterator() ? BatchType() : BatchTensors<BatchType>::batch(*lists_);
    }
    DataLoader::Iterator lists_;
    BatchType batch_;
  };
  Iterator begin() { return Iterator(loader_.begin()); }
  Iterator end() { return Iterator(loader_.end()); }
  const DataLoaderOptions& options() const { return options_; }

 private:
  static std::size_t size_of(const D& dataset, optional<std::size_t> wanted) {
    const optional<std::size_t> size = dataset.size();
    dlprim::require(size.has_value(), "make_data_loader: the dataset does not say its size");
    dlprim::require(wanted.value_or(0) <= *size, "make_data_loader: a sampler of ", wanted.value_or(0),
                    " examples for a dataset of ", *size);
    return wanted.value_or(*size);
  }
  static MakeBatch making(D dataset) {
    const auto copies = std::make_shared<DatasetCopies<D>>(std::move(dataset));
    return [copies](const std::vector<std::size_t>& indices, std::uint64_t, std::uint64_t) {
      return copies->with_one([&](D& one) { return BatchTensors<BatchType>::list(one.get_batch(indices)); });
    };
  }

  DataLoader loader_;
  DataLoaderOptions options_;
};

/** The batches of a dataset, in the sampler's order. Workers are threads, each with a copy of the dataset. */
template <class Sampler = samplers::RandomSampler, class D>
std::unique_ptr<StatelessDataLoader<D>> make_data_loader(D dataset, DataLoaderOptions options = {}) {
  return std::make_unique<StatelessDataLoader<D>>(std::move(dataset), options.shuffle(Sampler::shuffles));
}
template <class D, class Sampler, class = decltype(Sampler::shuffles)>
std::unique_ptr<StatelessDataLoader<D>> make_data_loader(D dataset, Sampler sampler,
                                                         DataLoaderOptions options = {}) {
  return std::make_unique<StatelessDataLoader<D>>(std::move(dataset), options.shuffle(Sampler::shuffles),
                                                  sampler.size);
}

}  // namespace ocl::data
