#include "autograd/tensor/tensor.h"

#include <cmath>
#include <sstream>

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class TensorHandle : public OnDevice {};
class Views : public OnDevice {};
class Types : public OnDevice {};

Tensor counted(const Shape& shape) {
  Values values(static_cast<std::size_t>(dlprim::product(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return tensor(values, shape);
}

bool shares_memory(const Tensor& a, const Tensor& b) {
  return a.data().storage == b.data().storage;
}

}  // namespace

TEST_F(TensorHandle, Creation) {
  EXPECT_EQ(tensor(std::vector<std::int64_t>{1, 2}, {2}).dtype(), DType::int64);
  EXPECT_EQ(full({2, 2}, 7, DType::int32).to_vector<std::int32_t>(), (std::vector<std::int32_t>{7, 7, 7, 7}));
  EXPECT_EQ(zeros({3}).to_vector(), (Values{0, 0, 0}));
  EXPECT_EQ(ones_like(counted({2})).to_vector(), (Values{1, 1}));
  EXPECT_EQ(empty({0, 3}).numel(), 0);
  expect_error<ValueError>([] { tensor(Values{1, 2, 3}, {2, 2}); },
                           "3 values for shape [2, 2], which takes 4");
  expect_error<ValueError>([] { zeros({-1}); }, "negative size");
  if (device().info().fp64) return;
  expect_error<DeviceError>([] { zeros({1}, DType::float64); }, "float64 is not supported");
}

TEST_F(TensorHandle, RandomNumbersFollowTheSeed) {
  manual_seed(5);
  const Values first = rand({100}).to_vector(), second = rand({100}).to_vector();
  EXPECT_NE(first, second);
  manual_seed(5);
  EXPECT_EQ(rand({100}).to_vector(), first);
  EXPECT_EQ(rand({100}).to_vector(), second);
  EXPECT_EQ(initial_seed(), 5u);
  for (const std::int64_t v : randint(-2, 3, {1000}).to_vector<std::int64_t>())
    EXPECT_TRUE(v >= -2 && v < 3) << v;
}

TEST_F(TensorHandle, Reading) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(transpose(x, 0, 1).to_vector(), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(x.to_vector<bool>()[0], false);
  EXPECT_EQ(x.to_vector<bool>()[5], true);
  EXPECT_EQ(sum(x).item(), 15);
  EXPECT_EQ(full({1, 1}, 3).item<std::int32_t>(), 3);
  EXPECT_EQ(full({1}, -2.7).item<std::int64_t>(), -2);
  expect_error<ValueError>([] { full({1}, std::int64_t{1} << 40, DType::int64).item<std::int32_t>(); },
                           "item: value 1099511627776 cannot be converted to int32 without overflow");
  expect_error<ValueError>([] { full({1}, 300, DType::int32).item<std::uint8_t>(); },
                           "item: value 300 cannot be converted to uint8 without overflow");
  expect_error<ValueError>([] { full({1}, HUGE_VAL).item<std::int64_t>(); },
                           "item: value inf cannot be converted to int64 without overflow");
  EXPECT_EQ(x.size(-1), 3);
  expect_error<ValueError>([&] { x.item(); }, "a Tensor with 6 elements cannot be converted to Scalar");
  expect_error<IndexError>([&] { x.size(2); }, "size: dimension out of range");
  expect_error<ValueError>([] { Tensor().shape(); }, "an undefined tensor was used");
}

TEST_F(TensorHandle, Prints) {
  const std::string where = "device='" + device().name() + "'";
  std::ostringstream out;
  out << tensor(Values{1, 2}, {2});
  EXPECT_EQ(out.str(), "tensor([1., 2.], " + where + ")");
  EXPECT_EQ(to_string(full({}, 3, DType::int32)), "tensor(3, " + where + ", dtype=ocl.int32)");
  EXPECT_EQ(to_string(ones({1}).requires_grad_()), "tensor([1.], " + where + ", requires_grad=True)");
  EXPECT_EQ(to_string(Tensor()), "tensor(undefined)");
}

TEST_F(TensorHandle, DevicesAreNamed) {
  EXPECT_EQ(Device(device().name()), Device(device()));
  EXPECT_EQ(ones({1}, DType::float32, device().name()).device(), Device(device()));
  EXPECT_THROW(Device("ocl:99"), DeviceError);
  EXPECT_THROW(Device("tpu"), ValueError);
}

TEST_F(TensorHandle, OutOfMemoryLeavesTheProgramAbleToGoOn) {
  expect_error<OutOfMemoryError>([] { empty({std::int64_t{1} << 50}); },
                                 "out of memory on " + device().name());
  EXPECT_EQ(sum(ones({1000})).item(), 1000);
}

TEST_F(Views, ShareMemory) {
  const Tensor x = counted({2, 3, 4});
  for (const Tensor& v : {x.view({6, -1}), reshape(x, {24}), flatten(x, 1), transpose(x, 0, -1),
                          permute(x, {1, 2, 0}), unsqueeze(x, 0), narrow(x, 1, 1, 2), slice(x, 2, 0, 4, 3),
                          select(x, 0, 1), expand(unsqueeze(x, 0), {5, -1, -1, -1})})
    EXPECT_TRUE(shares_memory(x, v)) << v.shape();
  Tensor part = select(x, 0, 1);
  part.fill_(9);
  EXPECT_EQ(sum(narrow(x, 0, 1, 1)).item(), 12 * 9);
}

TEST_F(Views, Elements) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(select(x, 1, -1).to_vector(), (Values{8, 9, 10, 11, 20, 21, 22, 23}));
  EXPECT_EQ(slice(x, 2, 1, 100, 2).to_vector(), (Values{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}));
  EXPECT_EQ(slice(x, 0, -1, 2).shape(), (Dims{1, 3, 4}));
  EXPECT_EQ(slice(x, 0, 2, 1).numel(), 0);
  EXPECT_EQ(permute(x, {2, 0, 1}).shape(), (Dims{4, 2, 3}));
  EXPECT_EQ(select(permute(x, {2, 0, 1}), 0, 2).to_vector(), (Values{2, 6, 10, 14, 18, 22}));
  EXPECT_EQ(t(counted({2, 2})).to_vector(), (Values{0, 2, 1, 3}));
  EXPECT_EQ(squeeze(counted({1, 3, 1})).shape(), Dims{3});
  EXPECT_EQ(squeeze(counted({1, 3, 1}), 0).shape(), (Dims{3, 1}));
  EXPECT_EQ(squeeze(counted({2, 3}), 0).shape(), (Dims{2, 3}));
  EXPECT_EQ(flatten(counted({})).shape(), Dims{1});
}

TEST_F(Views, ViewOfStridedMemory) {
  const Tensor x = counted({4, 6});
  const Tensor columns = narrow(x, 1, 0, 3);
  EXPECT_EQ(columns.view({2, 2, 3}).to_vector(), columns.to_vector());
  EXPECT_EQ(columns.view({4, 1, 3}).to_vector(), columns.to_vector());
  expect_error<ValueError>([&] { columns.view({12}); }, "Use .reshape(...) instead");
  EXPECT_FALSE(shares_memory(reshape(columns, {12}), x));
  EXPECT_EQ(reshape(columns, {12}).to_vector(), columns.to_vector());
  EXPECT_EQ(reshape(transpose(x, 0, 1), {3, -1}).to_vector(), transpose(x, 0, 1).to_vector());
}

TEST_F(Views, Errors) {
  const Tensor x = counted({2, 3});
  expect_error<ValueError>([&] { x.view({4, 2}); }, "view: shape [4, 2] is invalid for input of size 6");
  expect_error<ValueError>([&] { x.view({-1, -1}); }, "only one dimension can be inferred");
  expect_error<ValueError>([&] { x.view({-1, 4}); }, "is invalid for input of size 6");
  expect_error<ValueError>([&] { permute(x, {0, 0}); }, "repeated dim 0");
  expect_error<ValueError>([&] { permute(x, {0}); }, "1 dims for a tensor of 2 dimensions");
  expect_error<IndexError>([&] { transpose(x, 0, 2); }, "transpose: dimension out of range");
  expect_error<ValueError>([&] { expand(x, {2, 4}); },
                           "the expanded size 4 must match the existing size 3 at dimension 1");
  expect_error<ValueError>([&] { expand(x, {3}); }, "fewer dimensions");
  expect_error<IndexError>([&] { select(x, 0, 2); }, "index 2 is out of bounds for dimension 0 with size 2");
  expect_error<IndexError>([&] { narrow(x, 1, 2, 2); }, "start (2) + length (2) exceeds dimension size (3)");
  expect_error<ValueError>([&] { slice(x, 0, 0, 2, 0); }, "step must be greater than zero");
  expect_error<ValueError>([] { t(ones({1, 1, 1})); }, "at most 2 dimensions");
  expect_error<ValueError>([&] { cat({x, ones({2})}); },
                           "cat: tensors must have the same number of dimensions, got 2 and 1");
  expect_error<ValueError>([&] { cat({x, ones({2, 4})}); }, "sizes must match except in dimension 0");
  expect_error<ValueError>([] { cat({}); }, "non-empty");
}

TEST_F(Views, Cat) {
  const Tensor x = counted({2, 2});
  EXPECT_EQ(cat({x, x * 10}, 1).to_vector(), (Values{0, 1, 0, 10, 2, 3, 20, 30}));
  EXPECT_EQ(cat({x, empty({0, 2})}).shape(), (Dims{2, 2}));
  EXPECT_EQ(cat({x, ones({1, 2}, DType::int64)}).dtype(), DType::float32);
}

TEST_F(Types, ResultTypes) {
  const Tensor whole = ones({2}, DType::int32), half = ones({2}, DType::float16), scalar_float = ones({}),
               truth = ones({2}, DType::boolean);
  EXPECT_EQ((whole + 1).dtype(), DType::int32);
  EXPECT_EQ((whole + 1.5).dtype(), DType::float32);
  EXPECT_EQ((whole + scalar_float).dtype(), DType::float32);
  EXPECT_EQ((half + scalar_float).dtype(),
            DType::float16);  // a tensor with dimensions outranks a scalar of its kind
  EXPECT_EQ((half + 2.5).dtype(), DType::float16);
  EXPECT_EQ((truth + 1).dtype(), DType::int64);
  EXPECT_EQ((whole / whole).dtype(), DType::float32);
  EXPECT_EQ(exp(whole).dtype(), DType::float32);
  EXPECT_EQ((whole < half).dtype(), DType::boolean);
  EXPECT_EQ(where(truth, whole, half).dtype(), DType::float16);
  EXPECT_EQ(bitwise_and(truth, truth).dtype(), DType::boolean);
  expect_error<TypeError>([&] { bitwise_and(half, half); },
                          "bitwise_and: expected integers or bool, got float16");
  expect_error<TypeError>([&] { mean(whole); }, "mean: expected a floating dtype, got int32");
  expect_error<ValueError>([&] { whole + ones({3}); }, "add: shapes [2] and [3] do not broadcast");
}

TEST_F(Types, Arithmetic) {
  const Tensor x = tensor(Values{1, -2, 3}, {3});
  EXPECT_EQ((x + 1).to_vector(), (Values{2, -1, 4}));
  EXPECT_EQ((10 - x).to_vector(), (Values{9, 12, 7}));
  EXPECT_EQ((-x * 2).to_vector(), (Values{-2, 4, -6}));
  EXPECT_EQ((6 / x).to_vector(), (Values{6, -3, 2}));
  EXPECT_EQ((x >= 1).to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ((x == 3).to_vector<bool>(), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(floor_divide(tensor(std::vector<std::int32_t>{7, -7}, {2}), 2).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{3, -4}));
  EXPECT_EQ(remainder(tensor(std::vector<std::int32_t>{7, -7}, {2}), 3).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(argmax(x).item<std::int64_t>(), 2);
  EXPECT_EQ(argmin(x, 0, true).shape(), Dims{1});
  expect_error<IndexError>([] { argmax(empty({0})); }, "argmax");
}
