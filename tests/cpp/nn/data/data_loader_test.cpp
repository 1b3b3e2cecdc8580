#include "nn/data/data_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "dlprim/core/error.h"
#include "tests/cpp/support/autograd.h"
#include "tests/cpp/support/messages.h"

namespace {

using ocl::data::DataLoader;
using ocl::data::DataLoaderOptions;
using ocl::data::HostArray;
using ocl::data::Random;
using ocl::data::Sample;

/** Sample n is {[n, a number drawn at it], n}. */
class Numbers : public ocl::data::Dataset {
 public:
  explicit Numbers(std::size_t count) : count_(count) {}
  std::size_t size() const override { return count_; }
  Sample get(std::size_t index, Random& random) const override {
    ++gets;
    if (index == broken) throw dlprim::FileError("sample is broken");
    const std::size_t more = index == longer;
    std::vector<float> values(2 + more, static_cast<float>(index));
    values[1] = static_cast<float>(random.uniform());
    return {HostArray::of({static_cast<std::int64_t>(values.size())}, values),
            HostArray::of(static_cast<std::int64_t>(index))};
  }
  std::size_t broken = SIZE_MAX, longer = SIZE_MAX;
  mutable std::atomic<int> gets{0};

 private:
  std::size_t count_;
};

class DataLoading : public testing_support::OnDevice {};

using Batch = std::pair<std::vector<float>, std::vector<std::int64_t>>;

std::vector<Batch> pass_of(DataLoader& loader) {
  std::vector<Batch> batches;
  for (const ocl::TensorList& batch : loader)
    batches.emplace_back(batch[0].to_vector<float>(), batch[1].to_vector<std::int64_t>());
  return batches;
}

std::vector<std::int64_t> numbers_of(const std::vector<Batch>& batches) {
  std::vector<std::int64_t> all;
  for (const Batch& batch : batches) all.insert(all.end(), batch.second.begin(), batch.second.end());
  return all;
}

TEST_F(DataLoading, GivesEverySampleOnceInOrder) {
  for (const std::size_t workers : {0, 1, 3}) {
    DataLoader loader(std::make_shared<Numbers>(10), DataLoaderOptions().batch_size(4).workers(workers));
    EXPECT_EQ(loader.size(), 3U);
    const auto batches = pass_of(loader);
    ASSERT_EQ(batches.size(), 3U);
    EXPECT_EQ(batches[2].second, (std::vector<std::int64_t>{8, 9}));
    EXPECT_EQ(batches[0].first[6], 3.0F);
    EXPECT_EQ(pass_of(loader).size(), 3U);
  }
  DataLoader whole(std::make_shared<Numbers>(10), DataLoaderOptions().batch_size(4).drop_last(true));
  EXPECT_EQ(numbers_of(pass_of(whole)).size(), 8U);
  DataLoader none(std::make_shared<Numbers>(0), DataLoaderOptions().workers(2));
  EXPECT_TRUE(pass_of(none).empty());
}

TEST_F(DataLoading, AnOrderThatIsNotShuffledTakesNoMemory) {
  for (const std::size_t workers : {0, 2}) {
    DataLoader loader(std::make_shared<Numbers>(std::size_t{1} << 50),
                      DataLoaderOptions().batch_size(3).workers(workers));
    EXPECT_EQ((*loader.begin())[1].to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2}));
  }
}

TEST_F(DataLoading, OrdersAndDrawsDoNotDependOnWorkers) {
  std::vector<std::vector<Batch>> seen;
  for (const std::size_t workers : {0, 1, 4}) {
    DataLoader loader(std::make_shared<Numbers>(33),
                      DataLoaderOptions().batch_size(5).shuffle(true).workers(workers).seed(8));
    seen.push_back(pass_of(loader));
    const auto second = pass_of(loader);
    EXPECT_NE(seen.back(), second);
    EXPECT_NE(seen.back()[0].first[1], second[0].first[1]);
    seen.push_back(second);
  }
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_EQ(seen[0], seen[4]);
  EXPECT_EQ(seen[1], seen[5]);
  auto numbers = numbers_of(seen[0]);
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(std::set<std::int64_t>(numbers.begin(), numbers.end()).size(), 33U);
}

TEST_F(DataLoading, GoesOnFromItsState) {
  for (const std::size_t workers : {0, 2})
    for (const std::size_t taken : {0, 1, 3, 7}) {  // 7: the whole first pass
      const auto options = DataLoaderOptions().batch_size(5).shuffle(true).workers(workers);
      DataLoader first(std::make_shared<Numbers>(33), DataLoaderOptions(options).seed(3));
      DataLoader second(std::make_shared<Numbers>(33), DataLoaderOptions(options).seed(4));
      std::vector<Batch> rest;
      std::size_t number = 0;
      ocl::data::DataLoaderState state = first.state();
      for (const ocl::TensorList& batch : first) {
        if (number >= taken)
          rest.emplace_back(batch[0].to_vector<float>(), batch[1].to_vector<std::int64_t>());
        if (++number == taken) state = first.state();
      }
      second.set_state(state);
      EXPECT_EQ(pass_of(second), rest) << taken;
      EXPECT_EQ(pass_of(second), pass_of(first));
    }
  DataLoader loader(std::make_shared<Numbers>(3), DataLoaderOptions());
  EXPECT_THROW(loader.set_state({1, 0, 4}), dlprim::ValueError);
}

TEST_F(DataLoading, ErrorsComeWhereTheBatchIsDue) {
  for (const std::size_t workers : {0, 2}) {
    const auto dataset = std::make_shared<Numbers>(20);
    dataset->broken = 9;
    DataLoader loader(dataset, DataLoaderOptions().batch_size(4).workers(workers));
    int batches = 0;
    const auto count_batches = [&] {
      for (const ocl::TensorList& batch : loader) batches += static_cast<int>(batch.size()) / 2;
    };
    EXPECT_THROW(count_batches(), dlprim::FileError);
    EXPECT_EQ(batches, 2);
    dataset->broken = SIZE_MAX;
    EXPECT_EQ(pass_of(loader).size(), 5U);
    dataset->longer = 6;
    EXPECT_THROW(pass_of(loader), dlprim::ValueError);
  }
  EXPECT_THROW(DataLoader(std::make_shared<Numbers>(1), DataLoaderOptions().batch_size(0)),
               dlprim::ValueError);
}

TEST_F(DataLoading, ArraysHaveTheElementsOfTheirShape) {
  for (const std::size_t count : {0, 2, 4})
    testing_support::expect_error<dlprim::ValueError>(
        [&] { HostArray::of({3}, std::vector<float>(count)); },
        dlprim::concat("shape [3] has 3 elements, got ", count));
  struct Short : ocl::data::Dataset {
    std::size_t size() const override { return 2; }
    Sample get(std::size_t, Random&) const override {
      return {HostArray{dlprim::DType::float32, {3}, std::vector<std::uint8_t>(8)}};
    }
  };
  DataLoader loader(std::make_shared<Short>(), DataLoaderOptions().batch_size(2));
  testing_support::expect_error<dlprim::ValueError>([&] { pass_of(loader); },
                                                    "float32 [3] needs 12 bytes, a sample has 8");
  testing_support::expect_error<dlprim::ValueError>(
      [] { DataLoader(std::shared_ptr<ocl::data::Dataset>{}, DataLoaderOptions()); }, "there is no dataset");
}

TEST_F(DataLoading, WorkersStayAheadButNotFar) {
  const auto dataset = std::make_shared<Numbers>(100);
  {
    DataLoader loader(dataset, DataLoaderOptions().batch_size(1).workers(2).prefetch_factor(3));
    auto batch = loader.begin();
    while (dataset->gets < 7) std::this_thread::yield();  // one taken, six ahead
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_EQ(dataset->gets, 7);
    ++batch;
    while (dataset->gets < 8) std::this_thread::yield();
  }
  const int given_up = dataset->gets;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(dataset->gets, given_up);
}

TEST_F(DataLoading, SubsetIsAPartInItsOrder) {
  const auto part =
      std::make_shared<ocl::data::Subset>(std::make_shared<Numbers>(10), std::vector<std::size_t>{7, 2, 7});
  DataLoader loader(part, DataLoaderOptions().batch_size(3));
  EXPECT_EQ(numbers_of(pass_of(loader)), (std::vector<std::int64_t>{7, 2, 7}));
  EXPECT_THROW(ocl::data::Subset(std::make_shared<Numbers>(10), {10}), dlprim::IndexError);
}

}  // namespace
