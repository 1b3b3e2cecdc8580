#include "nn/data/datasets.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <unistd.h>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace testing_support;
using namespace ocl::data;

namespace {

class Datasets : public OnDevice {};

struct Numbers : datasets::Dataset<Numbers> {
  explicit Numbers(std::size_t all = 5) : count(all) {}
  Example<> get(std::size_t i) override {
    ++uses;
    const auto number = static_cast<float>(i);
    return {ocl::full({2}, number), ocl::tensor(static_cast<std::int64_t>(i))};
  }
  ocl::optional<std::size_t> size() const override { return count; }
  std::size_t count;
  int uses = 0;  // of this copy
};

std::vector<std::vector<double>> batches_of(const DataLoaderOptions& options) {
  auto loader = make_data_loader<samplers::SequentialSampler>(Numbers(8).map(transforms::Stack<>()), options);
  std::vector<std::vector<double>> batches;
  for (auto& batch : *loader) {
    EXPECT_EQ(batch.data.sizes(), (ocl::Dims{batch.target.size(0), 2}));
    batches.push_back(batch.target.to_vector<double>());
  }
  return batches;
}

/** MNIST's files of `count` images, of which each holds its number in every pixel. */
void write_mnist(const std::filesystem::path& folder, const std::string& half, std::uint8_t count) {
  std::filesystem::create_directories(folder);
  const auto word = [](std::ofstream& file, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(number >> shift & 255));
  };
  std::ofstream images(folder / (half + "-images-idx3-ubyte"), std::ios::binary);
  for (const std::uint32_t number : {2051U, std::uint32_t{count}, 28U, 28U}) word(images, number);
  for (int i = 0; i < count; ++i) images << std::string(28 * 28, static_cast<char>(i));
  std::ofstream labels(folder / (half + "-labels-idx1-ubyte"), std::ios::binary);
  for (const std::uint32_t number : {2049U, std::uint32_t{count}}) word(labels, number);
  for (int i = 0; i < count; ++i) labels.put(static_cast<char>(i % 10));
}

}  // namespace

TEST_F(Datasets, BatchesInOrder) {
  const std::vector<std::vector<double>> expected{{0, 1, 2}, {3, 4, 5}, {6, 7}};
  EXPECT_EQ(batches_of(DataLoaderOptions().batch_size(3)), expected);
  EXPECT_EQ(batches_of(DataLoaderOptions(3).workers(2)), expected);
  EXPECT_EQ(batches_of(DataLoaderOptions(3).drop_last(true)).size(), 2U);
}

TEST_F(Datasets, BatchesInAnyOrder) {
  ocl::manual_seed(1);
  auto loader = make_data_loader(Numbers(64).map(transforms::Stack<>()), 16);
  std::vector<double> first, second;
  for (auto& batch : *loader)
    for (const double number : batch.target.to_vector<double>()) first.push_back(number);
  for (Example<>& batch : *loader)
    for (const double number : batch.target.to_vector<double>()) second.push_back(number);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  std::vector<double> all(64);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(first, all);
  EXPECT_EQ(second, all);
}

TEST_F(Datasets, ExamplesThatNobodyStacks) {
  auto loader = make_data_loader(Numbers(), samplers::SequentialSampler(5), DataLoaderOptions(2));
  std::vector<std::size_t> sizes;
  for (auto& batch : *loader) {
    sizes.push_back(batch.size());
    EXPECT_EQ(batch[0].data.sizes(), (ocl::Dims{2}));
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 1}));
  auto rows = make_data_loader<samplers::SequentialSampler>(
      datasets::TensorDataset(ocl::arange(4.0).view({4, 1})), 4);
  for (auto& batch : *rows) EXPECT_EQ(batch[3].data.item(), 3);
}

TEST_F(Datasets, SamplersOfFewerExamples) {
  auto loader = make_data_loader(Numbers(), samplers::RandomSampler(3), DataLoaderOptions(2));
  std::size_t count = 0;
  for (auto& batch : *loader) count += batch.size();
  EXPECT_EQ(count, 3U);
  expect_error<dlprim::ValueError>([] { make_data_loader(Numbers(), samplers::SequentialSampler(6), 2); },
                                   "a sampler of 6 examples for a dataset of 5");
}

TEST_F(Datasets, Transforms) {
  auto twice = transforms::Lambda<Example<>>([](Example<> example) {
    example.data = example.data * 2;
    return example;
  });
  auto dataset = Numbers().map(twice).map(transforms::TensorLambda<>([](ocl::Tensor x) { return x + 1; }));
  EXPECT_EQ(dataset.get_batch({3, 1})[0].data.to_vector(), (Values{7, 7}));
  EXPECT_EQ(dataset.map(transforms::Stack<>()).get_batch({3, 1}).data.to_vector(), (Values{7, 7, 3, 3}));
  EXPECT_EQ(dataset.size().value(), 5U);
  transforms::Normalize<> by_channel({0.5, 0.25}, {0.5, 2.0});
  EXPECT_EQ(by_channel(ocl::ones({2, 1, 2})).to_vector(), (Values{1, 1, 0.375F, 0.375F}));
  EXPECT_EQ(by_channel(ocl::ones({3, 2, 1, 2})).sizes(), (ocl::Dims{3, 2, 1, 2}));
  EXPECT_EQ(transforms::Normalize<>(0.5, 0.25)(ocl::ones({1, 2})).to_vector(), (Values{2, 2}));
  EXPECT_THROW(transforms::Stack<>().apply_batch({}), ocl::ValueError);
}

TEST_F(Datasets, WorkersHaveTheirOwn) {
  struct Alone : datasets::Dataset<Alone> {
    Example<> get(std::size_t i) override {
      EXPECT_FALSE(busy.exchange(true));
      const Example<> example(ocl::full({1}, static_cast<float>(i)), ocl::zeros({1}));
      busy = false;
      return example;
    }
    ocl::optional<std::size_t> size() const override { return 40; }
    Alone() = default;
    Alone(const Alone&) : Alone() {}
    std::atomic<bool> busy{false};
  };
  auto loader = make_data_loader(Alone().map(transforms::Stack<>()), DataLoaderOptions(2).workers(3));
  double sum = 0;
  for (auto& batch : *loader) sum += batch.data.sum().item<double>();
  EXPECT_EQ(sum, 780);
}

TEST_F(Datasets, ErrorsComeWhereTheBatchIsDue) {
  struct Endless : datasets::Dataset<Endless> {
    Example<> get(std::size_t) override { return {}; }
    ocl::optional<std::size_t> size() const override { return ocl::nullopt; }
  };
  expect_error<ocl::ValueError>([] { make_data_loader(Endless()); }, "does not say its size");
  struct Uneven : datasets::Dataset<Uneven> {
    Example<> get(std::size_t i) override { return {ocl::ones({static_cast<int>(i) + 1}), ocl::ones({1})}; }
    ocl::optional<std::size_t> size() const override { return 4; }
  };
  auto loader = make_data_loader<samplers::SequentialSampler>(Uneven().map(transforms::Stack<>()), 2);
  EXPECT_THROW(loader->begin(), ocl::ValueError);
}

TEST_F(Datasets, Mnist) {
  const auto folder = std::filesystem::temp_directory_path() / ("datasets." + std::to_string(::getpid()));
  write_mnist(folder, "t10k", 20);
  using Mode = datasets::MNIST::Mode;
  datasets::MNIST whole(folder.string(), Mode::kTest);
  EXPECT_FALSE(whole.is_train());
  EXPECT_EQ(whole.size().value(), 20U);
  EXPECT_EQ(whole.get(12).target.item<std::int64_t>(), 2);
  EXPECT_NEAR(whole.get(12).data.mean().item(), 12 / 255.0, 1e-6);
  EXPECT_THROW(datasets::MNIST(folder.string()), dlprim::FileError);
  const transforms::Normalize<> normalize(0.1307, 0.3081);
  auto stacked = whole.map(normalize).map(transforms::Stack<>());
  // The stacked batch makes no tensors for the examples, and has the same numbers.
  const Example<> one_by_one = transforms::Stack<>().apply_batch(whole.map(normalize).get_batch({7, 3, 19}));
  const Example<> at_once = stacked.get_batch({7, 3, 19});
  EXPECT_EQ(at_once.data.sizes(), (ocl::Dims{3, 1, 28, 28}));
  EXPECT_TRUE(at_once.data.equal(one_by_one.data) && at_once.target.equal(one_by_one.target));
  std::int64_t labels = 0;
  auto loader = make_data_loader(std::move(stacked), 6);
  for (auto& batch : *loader) labels += batch.target.sum().item<std::int64_t>();
  EXPECT_EQ(labels, 90);
  std::filesystem::remove_all(folder);
}
