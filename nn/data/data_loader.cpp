#include "nn/data/data_loader.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "autograd/tensor/creation.h"
#include "autograd/tensor/generator.h"
#include "dlprim/core/error.h"
#include "dlprim/runtime/pinned_memory.h"

namespace ocl::data {
namespace {

using dlprim::require;

/** The order of a pass. Where it is the dataset's own it takes no memory, however long that is. */
class Order {
 public:
  Order(std::size_t samples, bool shuffled, Random random)
      : size_(samples), shuffled_(shuffled ? samples : 0) {
    std::iota(shuffled_.begin(), shuffled_.end(), std::size_t{0});
    for (std::size_t left = shuffled_.size(); left > 1; --left)
      std::swap(shuffled_[left - 1], shuffled_[random.integer(left)]);
  }
  std::size_t size() const { return size_; }
  std::size_t operator[](std::size_t i) const { return shuffled_.empty() ? i : shuffled_[i]; }

 private:
  const std::size_t size_;
  std::vector<std::size_t> shuffled_;
};

/** Where a batch is put together: for a device of its own memory page-locked, so that the upload needs no
 * other copy, and is kept until that is over. */
class BatchMemory {
 public:
  BatchMemory(const Device& device, std::size_t bytes) {
    if (device->info().shares_host_memory)
      plain_.reset(new std::uint8_t[bytes]);
    else
      pinned_ = dlprim::PinnedMemory::allocate(*device, bytes);
  }
  std::uint8_t* data() const { return pinned_ ? static_cast<std::uint8_t*>(pinned_->data()) : plain_.get(); }

 private:
  std::unique_ptr<std::uint8_t[]> plain_;
  std::shared_ptr<dlprim::PinnedMemory> pinned_;
};

/** One field of every sample as one tensor, whose first dimension counts them. */
Tensor stacked(const std::vector<Sample>& samples, std::size_t field, const Device& device) {
  const HostArray& first = samples.front()[field];
  const std::size_t needed = first.elements() * size_of(first.dtype);
  std::vector<std::int64_t> shape = first.shape;
  shape.insert(shape.begin(), static_cast<std::int64_t>(samples.size()));
  const BatchMemory batch(device, needed * samples.size());
  std::uint8_t* end = batch.data();
  for (const Sample& sample : samples) {
    const HostArray& one = sample[field];
    require(one.shape == first.shape && one.dtype == first.dtype,
            "DataLoader: a batch takes samples of one shape and dtype, got ", dlprim::name(first.dtype), " ",
            dlprim::Dims(first.shape), " and ", dlprim::name(one.dtype), " ", dlprim::Dims(one.shape));
    require(one.bytes.size() == needed, "DataLoader: an array of ", dlprim::name(one.dtype), " ",
            dlprim::Dims(one.shape), " needs ", needed, " bytes, a sample has ", one.bytes.size());
    end = std::copy(one.bytes.begin(), one.bytes.end(), end);
  }
  return from_bytes(batch.data(), shape, first.dtype, device, true);
}

TensorList stacked_batch(const Dataset& dataset, const Device& device,
                         const std::vector<std::size_t>& indices, std::uint64_t seed, std::uint64_t pass) {
  std::vector<Sample> samples;
  for (const std::size_t index : indices) {
    Random random{seed, pass, index};
    samples.push_back(dataset.get(index, random));
    require(samples.back().size() == samples.front().size(), "DataLoader: samples of ",
            samples.front().size(), " and of ", samples.back().size(), " arrays in one batch");
  }
  TensorList batch;
  for (std::size_t field = 0; field < samples.front().size(); ++field)
    batch.push_back(stacked(samples, field, device));
  return batch;
}

}  // namespace

/** The batches of one pass, made by worker threads or when they are asked for. */
class Pass {
 public:
  Pass(std::size_t samples, MakeBatch make, const DataLoaderOptions& options, std::uint64_t seed,
       std::uint64_t number, std::size_t batches, std::size_t first)
      : make_(std::move(make)),
        batch_size_(options.batch_size()),
        seed_(seed),
        number_(number),
        order_(samples, options.shuffle(), Random{seed, number}),
        batches_(batches),
        next_to_make_(first),
        next_to_give_(first),
        ahead_(std::max<std::size_t>(options.workers() * options.prefetch_factor(), 1)) {
    const std::size_t workers = std::min(options.workers(), batches - std::min(first, batches));
    for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  ~Pass() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /** False after the last. */
  bool next(TensorList& batch) {
    if (next_to_give_ >= batches_) return false;
    const std::size_t n = next_to_give_;
    if (threads_.empty()) {
      batch = made(n);
      ++next_to_give_;
      return true;
    }
    Result result;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [&] { return results_.count(n) > 0; });
      result = std::move(results_[n]);
      results_.erase(n);
      ++next_to_give_;
    }
    room_.notify_one();
    if (result.error) std::rethrow_exception(result.error);
    batch = std::move(result.batch);
    return true;
  }

 private:
  struct Result {
    TensorList batch;
    std::exception_ptr error;
  };

  TensorList made(std::size_t n) const {
    const std::size_t begin = n * batch_size_, end = std::min(begin + batch_size_, order_.size());
    std::vector<std::size_t> samples;
    for (std::size_t i = begin; i < end; ++i) samples.push_back(order_[i]);
    return make_(samples, seed_, number_);
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [&] {
        return is_over_ || next_to_make_ >= batches_ || next_to_make_ < next_to_give_ + ahead_;
      });
      if (is_over_ || next_to_make_ >= batches_) return;
      const std::size_t n = next_to_make_++;
      lock.unlock();
      Result result;
      try {
        result.batch = made(n);
      } catch (...) {
        result.error = std::current_exception();
      }
      lock.lock();
      results_[n] = std::move(result);
      ready_.notify_one();
    }
  }

  const MakeBatch make_;
  const std::size_t batch_size_;
  const std::uint64_t seed_, number_;
  const Order order_;
  const std::size_t batches_;

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::map<std::size_t, Result> results_;  // made and not yet given
  std::size_t next_to_make_, next_to_give_;
  const std::size_t ahead_;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options, Device device)
    : DataLoader(
          0,
          [dataset = dataset.get(), device](const std::vector<std::size_t>& samples, std::uint64_t seed,
                                            std::uint64_t pass) {
            return stacked_batch(*dataset, device, samples, seed, pass);
          },
          std::move(options)) {
  require(dataset != nullptr, "DataLoader: there is no dataset");
  dataset_ = std::move(dataset);
  device_ = std::move(device);
}

DataLoader::DataLoader(std::size_t samples, MakeBatch make, DataLoaderOptions options)
    : samples_(samples), make_(std::move(make)), options_(std::move(options)) {
  require(options_.batch_size() > 0, "DataLoader: expected a positive batch size");
  require(options_.prefetch_factor() > 0, "DataLoader: expected a positive prefetch factor");
}

DataLoader::DataLoader(DataLoader&&) noexcept = default;
DataLoader::~DataLoader() = default;

std::size_t DataLoader::size() const {
  const std::size_t all = samples(), batch = options_.batch_size();
  return options_.drop_last() ? all / batch : (all + batch - 1) / batch;
}

std::uint64_t DataLoader::seed() const {
  return seed_ ? *seed_ : options_.seed().value_or(initial_seed());
}

DataLoader::Iterator DataLoader::begin() {
  pass_.reset();
  seed_ = seed();
  if (!std::exchange(resumes_, false)) {
    if (taken_ > 0) ++passes_;
    taken_ = 0;
  }
  pass_ = std::make_unique<Pass>(samples(), make_, options_, *seed_, passes_, size(), taken_);
  return Iterator(this);
}

bool DataLoader::next(TensorList& batch) {
  if (!pass_) return false;
  try {
    if (pass_->next(batch)) {
      ++taken_;
      return true;
    }
  } catch (...) {
    pass_.reset();
    throw;
  }
  pass_.reset();
  ++passes_;
  taken_ = 0;
  return false;
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  batch_.clear();
  if (!loader_->next(batch_)) loader_ = nullptr;
  return *this;
}

DataLoaderState DataLoader::state() const {
  return {seed(), passes_, taken_};
}

void DataLoader::set_state(const DataLoaderState& state) {
  require(state.batches <= size(), "DataLoader: a state of ", state.batches, " batches for a pass of ",
          size());
  pass_.reset();
  seed_ = state.seed;
  passes_ = state.passes;
  taken_ = state.batches;
  resumes_ = true;
}

}  // namespace ocl::data
