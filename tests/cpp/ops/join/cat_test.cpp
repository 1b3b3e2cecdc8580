#include "dlprim/ops/join/cat.h"

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** Parts of these sizes along `dim`, in any layout, against their elements one by one. */
void check(std::mt19937& random, DType dtype, const Dims& shape, int dim,
           const std::vector<std::int64_t>& sizes) {
  Queue& queue = device().queue();
  std::vector<Sample> parts;
  std::vector<Tensor> tensors;
  for (const std::int64_t size : sizes) {
    Dims of_part = shape;
    of_part[dim] = size;
    parts.push_back(sample(random, dtype, of_part, static_cast<Placement>(parts.size() % 4)));
    tensors.push_back(parts.back().tensor);
  }
  const CatResult expected = cat_result(tensors, dim);
  EXPECT_EQ(expected.dtype, dtype);
  std::vector<double> values;
  for_each_element(expected.shape, [&](Dims at) {
    std::size_t part = 0;
    for (; at[dim] >= sizes[part]; ++part) at[dim] -= sizes[part];
    values.push_back(parts[part].values[element_number(parts[part].tensor.shape, at)]);
  });
  const Tensor result = queue.scratch(expected.shape, dtype);
  cat(queue, tensors, dim - shape.size(), result);
  EXPECT_EQ(download_values(result), values) << name(dtype) << " " << expected.shape << ", dim " << dim;
}

TEST(Cat, AlongEveryDimension) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::int64, DType::boolean}) {
    check(random, dtype, {1}, 0, {7, 1, 0, 33});
    for (int dim = 0; dim < 3; ++dim) check(random, dtype, {3, 5, 17}, dim, {2, 0, 9, 1, 4});
    check(random, dtype, {2, 0}, 0, {1, 3});
  }
}

TEST(Cat, PromotesAndPassesOverWhatIsEmpty) {
  Queue& queue = device().queue();
  const Tensor whole = upload<std::int64_t>({1, 2}, {1, 2}), real = upload<float>({0.5, -1}, {1, 2}),
               none = queue.scratch({0}, DType::float16);
  const CatResult expected = cat_result({none, whole, real}, 0);
  EXPECT_EQ(expected.shape, (Dims{2, 2}));
  EXPECT_EQ(expected.dtype, DType::float32);
  const Tensor result = queue.scratch(expected.shape, expected.dtype);
  cat(queue, {none, whole, real}, 0, result);
  EXPECT_EQ(download<float>(result), (std::vector<float>{1, 2, 0.5, -1}));
  EXPECT_EQ(cat_result({none, none}, -1).shape, Dims{0});
}

TEST(Cat, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor a = queue.scratch({2, 3}), b = queue.scratch({2, 4});
  expect_error<ValueError>([] { cat_result({}, 0); }, "non-empty list");
  expect_error<ValueError>([&] { cat_result({queue.scratch({})}, 0); }, "zero-dimensional");
  expect_error<ValueError>([&] { cat_result({a, b}, 0); }, "got [2, 3] and [2, 4]");
  expect_error<ValueError>([&] { cat_result({a, queue.scratch({2})}, 0); }, "dimensions, got 2 and 1");
  expect_error<IndexError>([&] { cat_result({a, b}, 2); }, "");
  expect_error<ValueError>([&] { cat(queue, {a, b}, 1, a); }, "a result of shape [2, 7], got [2, 3]");
}

}  // namespace
