// Calls that a program written for libtorch makes on tensors. The expected numbers are those that PyTorch
// computes.

#include "autograd/autograd.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace ocl::indexing;
using namespace testing_support;

namespace {

class LibtorchMethods : public OnDevice {
 protected:
  const Tensor x = tensor({{3.F, 1.F, 2.F}, {0.F, 5.F, 4.F}}),
               y = tensor({{1.F, -2.F, 3.F}, {4.F, 0.5F, -1.F}});
  const Tensor c = ocl::arange(24.0).view({2, 3, 4}), v = tensor({1.F, 2.F, 3.F});
  const Tensor i = tensor({{0, 2}, {1, 1}}), k = tensor({6, 3, 5}), m = x > 2;
  const std::vector<float> values{1, 2, 3, 4};
  const std::vector<std::int64_t> numbers{4, 5, 6};
  const float* host = values.data();
  const std::int64_t* whole = numbers.data();
};

void expect_pytorchs(const char* call, const Tensor& found, const Shape& shape,
                     const std::vector<double>& expected) {
  EXPECT_EQ(found.sizes(), Dims(shape)) << call;
  const std::vector<float> elements = found.to_vector();
  ASSERT_EQ(elements.size(), expected.size()) << call;
  for (std::size_t n = 0; n < expected.size(); ++n)
    EXPECT_NEAR(elements[n], expected[n], 1e-5 * (1 + std::abs(expected[n]))) << call << ", element " << n;
}

#define EXPECT_PYTORCHS(call, ...) expect_pytorchs(#call, call, __VA_ARGS__)

}  // namespace

TEST_F(LibtorchMethods, ShapesAndViews) {
  EXPECT_PYTORCHS((x.unsqueeze(1)), {2, 1, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.unsqueeze(-1).squeeze()), {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.unsqueeze(0).squeeze(0)), {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.permute({1, 0})), {3, 2}, {3, 0, 1, 5, 2, 4});
  EXPECT_PYTORCHS((c.permute({2, 0, 1})), {4, 2, 3},
                  {0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23});
  EXPECT_PYTORCHS((v.expand({2, 3})), {2, 3}, {1, 2, 3, 1, 2, 3});
  EXPECT_PYTORCHS((v.expand({2, -1})), {2, 3}, {1, 2, 3, 1, 2, 3});
  EXPECT_PYTORCHS((x.repeat({2, 1})), {4, 3}, {3, 1, 2, 0, 5, 4, 3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((v.repeat(2)), {6}, {1, 2, 3, 1, 2, 3});
  EXPECT_PYTORCHS((x.view(-1)), {6}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.view({3, -1})), {3, 2}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.reshape({6})), {6}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((c.flatten(1)), {2, 12},
                  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  EXPECT_PYTORCHS((x.transpose(0, 1)), {3, 2}, {3, 0, 1, 5, 2, 4});
  EXPECT_PYTORCHS((x.t()), {3, 2}, {3, 0, 1, 5, 2, 4});
  EXPECT_PYTORCHS((c.movedim(0, 2)), {3, 4, 2},
                  {0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23});
  EXPECT_PYTORCHS((x.chunk(2, 1)[1]), {2, 1}, {2, 4});
  EXPECT_PYTORCHS((x.split(2, 1)[0]), {2, 2}, {3, 1, 0, 5});
  EXPECT_PYTORCHS((x.split({1, 2}, 1)[1]), {2, 2}, {1, 2, 5, 4});
  EXPECT_PYTORCHS((x.unbind(1)[2]), {2}, {2, 4});
  EXPECT_PYTORCHS((x.narrow(1, 1, 2)), {2, 2}, {1, 2, 5, 4});
  EXPECT_PYTORCHS((x.select(1, -1)), {2}, {2, 4});
  EXPECT_PYTORCHS((x.flip(0)), {2, 3}, {0, 5, 4, 3, 1, 2});
  EXPECT_PYTORCHS((x.flip({0, 1})), {2, 3}, {4, 5, 0, 2, 1, 3});
  EXPECT_PYTORCHS((x.roll(1, 1)), {2, 3}, {2, 3, 1, 4, 0, 5});
  EXPECT_PYTORCHS((x.diagonal()), {2}, {3, 5});
  EXPECT_PYTORCHS((x.tril()), {2, 3}, {3, 0, 0, 0, 5, 0});
  EXPECT_PYTORCHS((x.contiguous().clone()), {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.view_as(y.view({3, 2}))), {3, 2}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.repeat_interleave(2, 1)), {2, 6}, {3, 3, 1, 1, 2, 2, 0, 0, 5, 5, 4, 4});
  EXPECT_PYTORCHS((x.unflatten(1, {3, 1})), {2, 3, 1}, {3, 1, 2, 0, 5, 4});
}

TEST_F(LibtorchMethods, IndexingExpressions) {
  EXPECT_PYTORCHS((x[0]), {3}, {3, 1, 2});
  EXPECT_PYTORCHS((x[-1][2]), {}, {4});
  EXPECT_PYTORCHS((c[1][2]), {4}, {20, 21, 22, 23});
  EXPECT_PYTORCHS((v[k % 3]), {3}, {1, 1, 3});
  EXPECT_PYTORCHS((x[m]), {3}, {3, 5, 4});
  EXPECT_PYTORCHS((x.index({Slice(), 1})), {2}, {1, 5});
  EXPECT_PYTORCHS((x.index({Slice(None, 1), Slice(1, None)})), {1, 2}, {1, 2});
  EXPECT_PYTORCHS((x.index({Slice(0, 2), Slice(None, None, 2)})), {2, 2}, {3, 2, 0, 4});
  EXPECT_PYTORCHS((x.index({Ellipsis, 0})), {2}, {3, 0});
  EXPECT_PYTORCHS((x.index({"...", -1})), {2}, {2, 4});
  EXPECT_PYTORCHS((x.index({None, 0})), {1, 3}, {3, 1, 2});
  EXPECT_PYTORCHS((x.index({0, None})), {1, 3}, {3, 1, 2});
  EXPECT_PYTORCHS((x.index({m})), {3}, {3, 5, 4});
  EXPECT_PYTORCHS((x.index({Slice(), k % 3})), {2, 3}, {3, 3, 2, 0, 0, 4});
  EXPECT_PYTORCHS((x.slice(1, 1)), {2, 2}, {1, 2, 5, 4});
  EXPECT_PYTORCHS((x.slice(/*dim=*/1, /*start=*/0, /*end=*/3, /*step=*/2)), {2, 2}, {3, 2, 0, 4});
  EXPECT_PYTORCHS((x.gather(1, i)), {2, 2}, {3, 2, 5, 5});
  EXPECT_PYTORCHS((x.index_select(1, k % 3)), {2, 3}, {3, 3, 2, 0, 0, 4});
  EXPECT_PYTORCHS((x.masked_fill(m, 0)), {2, 3}, {0, 1, 2, 0, 0, 0});
  EXPECT_PYTORCHS((x.masked_select(m)), {3}, {3, 5, 4});
  EXPECT_PYTORCHS((x.where(m, y)), {2, 3}, {3, -2, 3, 4, 5, 4});
  EXPECT_PYTORCHS((ocl::where(m, x, 0)), {2, 3}, {3, 0, 0, 0, 5, 4});
  EXPECT_PYTORCHS((x.take_along_dim(x.argsort(1), 1)), {2, 3}, {1, 2, 3, 0, 4, 5});
  EXPECT_PYTORCHS((x.scatter(1, i, 9)), {2, 3}, {9, 1, 9, 0, 9, 4});
  EXPECT_PYTORCHS((x.scatter_add(1, i, y)), {2, 3}, {4, 1, 0, 0, 9.5, 4});
  EXPECT_PYTORCHS((x.nonzero()), {5, 2}, {0, 0, 0, 1, 0, 2, 1, 1, 1, 2});
  EXPECT_PYTORCHS((x.clone().index_put_({0}, v)), {2, 3}, {1, 2, 3, 0, 5, 4});
  EXPECT_PYTORCHS((x.index({i.clamp(0, 1)})), {2, 2, 3}, {3, 1, 2, 0, 5, 4, 0, 5, 4, 0, 5, 4});
}

TEST_F(LibtorchMethods, Reductions) {
  EXPECT_PYTORCHS((x.sum()), {}, {15});
  EXPECT_PYTORCHS((x.sum(1)), {2}, {6, 9});
  EXPECT_PYTORCHS((x.sum(-1, true)), {2, 1}, {6, 9});
  EXPECT_PYTORCHS((x.sum({0, 1})), {}, {15});
  EXPECT_PYTORCHS((ocl::sum(x, 1)), {2}, {6, 9});
  EXPECT_PYTORCHS((ocl::mean(x, 0, true)), {1, 3}, {1.5, 3, 3});
  EXPECT_PYTORCHS((x.mean()), {}, {2.5});
  EXPECT_PYTORCHS((x.mean(0)), {3}, {1.5, 3, 3});
  EXPECT_PYTORCHS((c.mean({1, 2})), {2}, {5.5, 17.5});
  EXPECT_PYTORCHS((x.prod(1)), {2}, {6, 0});
  EXPECT_PYTORCHS((x.amax(1)), {2}, {3, 5});
  EXPECT_PYTORCHS((x.amin({0, 1})), {}, {0});
  EXPECT_PYTORCHS((x.max()), {}, {5});
  EXPECT_PYTORCHS((x.min()), {}, {0});
  EXPECT_PYTORCHS((x.max(y)), {2, 3}, {3, 1, 3, 4, 5, 4});
  EXPECT_PYTORCHS((std::get<0>(x.max(1))), {2}, {3, 5});
  EXPECT_PYTORCHS((std::get<1>(x.max(1))), {2}, {0, 1});
  EXPECT_PYTORCHS((std::get<0>(x.min(0, true))), {1, 3}, {0, 1, 2});
  EXPECT_PYTORCHS((x.argmax()), {}, {4});
  EXPECT_PYTORCHS((x.argmax(1)), {2}, {0, 1});
  EXPECT_PYTORCHS((x.argmin(0)), {3}, {1, 0, 0});
  EXPECT_PYTORCHS((x.std()), {}, {1.87082875});
  EXPECT_PYTORCHS((x.std(1)), {2}, {1, 2.64575124});
  EXPECT_PYTORCHS((x.std(false)), {}, {1.70782518});
  EXPECT_PYTORCHS((x.std(1, false)), {2}, {0.816496611, 2.16024685});
  EXPECT_PYTORCHS((x.std(1, true, true)), {2, 1}, {1, 2.64575124});
  EXPECT_PYTORCHS((x.var()), {}, {3.5});
  EXPECT_PYTORCHS((x.var(0)), {3}, {4.5, 8, 2});
  EXPECT_PYTORCHS((x.var({0, 1}, false)), {}, {2.91666675});
  EXPECT_PYTORCHS((x.norm()), {}, {7.41619825});
  EXPECT_PYTORCHS((x.norm(1)), {}, {15});
  EXPECT_PYTORCHS((x.norm(2, 1)), {2}, {3.7416575, 6.40312433});
  EXPECT_PYTORCHS((x.norm(2, {0, 1})), {}, {7.41619825});
  EXPECT_PYTORCHS((x.logsumexp(1)), {2}, {3.40760612, 5.31817532});
  EXPECT_PYTORCHS((m.any()), {}, {1});
  EXPECT_PYTORCHS((m.all(1)), {2}, {0, 0});
  EXPECT_PYTORCHS((x.cumsum(1)), {2, 3}, {3, 4, 6, 0, 5, 9});
  EXPECT_PYTORCHS((x.cumprod(1)), {2, 3}, {3, 3, 6, 0, 0, 0});
  EXPECT_PYTORCHS((x.median()), {}, {2});
  EXPECT_PYTORCHS((x.count_nonzero(1)), {2}, {3, 2});
  EXPECT_PYTORCHS((std::get<0>(x.topk(2))), {2, 2}, {3, 2, 5, 4});
  EXPECT_PYTORCHS((std::get<1>(x.topk(2))), {2, 2}, {0, 2, 1, 2});
  EXPECT_PYTORCHS((std::get<0>(x.sort(1, true))), {2, 3}, {3, 2, 1, 5, 4, 0});
  EXPECT_PYTORCHS((x.argsort(1)), {2, 3}, {1, 2, 0, 0, 2, 1});
  EXPECT_PYTORCHS((std::get<0>(x.kthvalue(2))), {2}, {2, 4});
  EXPECT_PYTORCHS((x.softmax(1)), {2, 3},
                  {0.665240884, 0.0900305659, 0.244728446, 0.00490168901, 0.727475166, 0.267623156});
  EXPECT_PYTORCHS((x.log_softmax(-1)), {2, 3},
                  {-0.407606035, -2.40760612, -1.40760601, -5.31817532, -0.318175405, -1.31817544});
}

TEST_F(LibtorchMethods, Arithmetic) {
  EXPECT_PYTORCHS((x + y), {2, 3}, {4, -1, 5, 4, 5.5, 3});
  EXPECT_PYTORCHS((2 * x - 1), {2, 3}, {5, 1, 3, -1, 9, 7});
  EXPECT_PYTORCHS((1 / (x + 1)), {2, 3}, {0.25, 0.5, 0.333333343, 1, 0.166666672, 0.200000003});
  EXPECT_PYTORCHS((-x), {2, 3}, {-3, -1, -2, -0, -5, -4});
  EXPECT_PYTORCHS((x.pow(2)), {2, 3}, {9, 1, 4, 0, 25, 16});
  EXPECT_PYTORCHS((x.add(y, 2)), {2, 3}, {5, -3, 8, 8, 6, 2});
  EXPECT_PYTORCHS((x.matmul(y.t())), {2, 2}, {7, 10.5, 2, -1.5});
  EXPECT_PYTORCHS((x.mm(y.t())), {2, 2}, {7, 10.5, 2, -1.5});
  EXPECT_PYTORCHS(
      (c.bmm(c.transpose(1, 2))), {2, 3, 3},
      {14, 38, 62, 38, 126, 214, 62, 214, 366, 734, 950, 1166, 950, 1230, 1510, 1166, 1510, 1854});
  EXPECT_PYTORCHS((x.mv(v)), {2}, {11, 22});
  EXPECT_PYTORCHS((v.dot(v)), {}, {14});
  EXPECT_PYTORCHS((v.outer(v)), {3, 3}, {1, 2, 3, 2, 4, 6, 3, 6, 9});
  EXPECT_PYTORCHS((v.addmv(x.t().matmul(x), v)), {3}, {34, 123, 113});
  EXPECT_PYTORCHS((x.addcmul(x, y, 0.5)), {2, 3}, {4.5, 0, 5, 0, 6.25, 2});
  EXPECT_PYTORCHS((x.addcdiv(x, y, 2)), {2, 3}, {9, 0, 3.33333349, 0, 25, -4});
  EXPECT_PYTORCHS((x.lerp(y, 0.25)), {2, 3}, {2.5, 0.25, 2.25, 1, 3.875, 2.75});
  EXPECT_PYTORCHS((x > y), {2, 3}, {1, 1, 0, 0, 1, 1});
  EXPECT_PYTORCHS((x == 2), {2, 3}, {0, 0, 1, 0, 0, 0});
  EXPECT_PYTORCHS((2 < x), {2, 3}, {1, 0, 0, 0, 1, 1});
  EXPECT_PYTORCHS((2 >= x), {2, 3}, {0, 1, 1, 1, 0, 0});
  EXPECT_PYTORCHS((x != y), {2, 3}, {1, 1, 1, 1, 1, 1});
  EXPECT_PYTORCHS(((x > 1) & (x < 4)), {2, 3}, {1, 0, 1, 0, 0, 0});
  EXPECT_PYTORCHS(((x < 1) | m), {2, 3}, {1, 0, 0, 1, 1, 1});
  EXPECT_PYTORCHS((m ^ (y > 0)), {2, 3}, {0, 0, 1, 1, 0, 1});
  EXPECT_PYTORCHS((~m), {2, 3}, {0, 1, 1, 1, 0, 0});
  EXPECT_PYTORCHS((k & 3), {3}, {2, 3, 1});
  EXPECT_PYTORCHS((k | 8), {3}, {14, 11, 13});
  EXPECT_PYTORCHS((k % 4), {3}, {2, 3, 1});
  EXPECT_PYTORCHS((x.clamp(1, 3)), {2, 3}, {3, 1, 2, 1, 3, 3});
  EXPECT_PYTORCHS((x.clamp_min(2)), {2, 3}, {3, 2, 2, 2, 5, 4});
  EXPECT_PYTORCHS((x.sigmoid()), {2, 3},
                  {0.952574134, 0.731058598, 0.880797029, 0.5, 0.993307173, 0.982013762});
  EXPECT_PYTORCHS((x.relu().exp().log1p()), {2, 3},
                  {3.04858732, 1.31326163, 2.12692809, 0.693147182, 5.0067153, 4.01814985});
  EXPECT_PYTORCHS((x.sqrt().round()), {2, 3}, {2, 1, 1, 0, 2, 2});
  EXPECT_PYTORCHS((x.to(kInt64)), {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((m.to(kFloat32)), {2, 3}, {1, 0, 0, 0, 1, 1});
  EXPECT_PYTORCHS((x.to(kFloat16)), {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.to(kBFloat16)), {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((k.to(kInt32)), {3}, {6, 3, 5});
  EXPECT_PYTORCHS((k.to(kUInt8)), {3}, {6, 3, 5});
  EXPECT_PYTORCHS((x.to(kBool)), {2, 3}, {1, 1, 1, 0, 1, 1});
  EXPECT_PYTORCHS((k.type_as(x)), {3}, {6, 3, 5});
  EXPECT_PYTORCHS((x.cpu()), {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_PYTORCHS((x.isnan()), {2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_PYTORCHS((x.nan_to_num()), {2, 3}, {3, 1, 2, 0, 5, 4});
}

TEST_F(LibtorchMethods, Creation) {
  EXPECT_PYTORCHS((ocl::tensor({1.f, 2.f})), {2}, {1, 2});
  EXPECT_PYTORCHS((ocl::tensor({1, 2, 3})), {3}, {1, 2, 3});
  EXPECT_PYTORCHS((ocl::tensor({true, false})), {2}, {1, 0});
  EXPECT_PYTORCHS((ocl::tensor({1.5, 2.5})), {2}, {1.5, 2.5});
  EXPECT_PYTORCHS((ocl::tensor(3.0)), {}, {3});
  EXPECT_PYTORCHS((ocl::tensor(7)), {}, {7});
  EXPECT_PYTORCHS((ocl::tensor({{1, 2}, {3, 4}})), {2, 2}, {1, 2, 3, 4});
  EXPECT_PYTORCHS((ocl::tensor({1, 2}, kFloat32)), {2}, {1, 2});
  EXPECT_PYTORCHS((ocl::tensor({1.5, 2.5}, kFloat16)), {2}, {1.5, 2.5});
  EXPECT_PYTORCHS((ocl::tensor(std::vector<float>{1, 2})), {2}, {1, 2});
  EXPECT_PYTORCHS((ocl::tensor(std::vector<double>{1, 2})), {2}, {1, 2});
  EXPECT_PYTORCHS((ocl::arange(5)), {5}, {0, 1, 2, 3, 4});
  EXPECT_PYTORCHS((ocl::arange(3.0)), {3}, {0, 1, 2});
  EXPECT_PYTORCHS((ocl::arange(1, 7, 2)), {3}, {1, 3, 5});
  EXPECT_PYTORCHS((ocl::arange(4, kFloat32)), {4}, {0, 1, 2, 3});
  EXPECT_PYTORCHS((ocl::zeros(3)), {3}, {0, 0, 0});
  EXPECT_PYTORCHS((ocl::ones({2, 2}, kInt64)), {2, 2}, {1, 1, 1, 1});
  EXPECT_PYTORCHS((ocl::full({2}, 1.5)), {2}, {1.5, 1.5});
  EXPECT_PYTORCHS((ocl::eye(2)), {2, 2}, {1, 0, 0, 1});
  EXPECT_PYTORCHS((ocl::linspace(0, 1, 5)), {5}, {0, 0.25, 0.5, 0.75, 1});
  EXPECT_PYTORCHS((ocl::from_blob(host, {2, 2})), {2, 2}, {1, 2, 3, 4});
  EXPECT_PYTORCHS((ocl::from_blob(whole, {3}, kInt64)), {3}, {4, 5, 6});
  EXPECT_PYTORCHS((ocl::zeros_like(x)), {2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_PYTORCHS((ocl::cat({x, y}, 1)), {2, 6}, {3, 1, 2, 1, -2, 3, 0, 5, 4, 4, 0.5, -1});
  EXPECT_PYTORCHS((ocl::stack({x, y})), {2, 2, 3}, {3, 1, 2, 0, 5, 4, 1, -2, 3, 4, 0.5, -1});
}
TEST_F(LibtorchMethods, CreationTakesTheDtypeOfTheNumbers) {
  EXPECT_EQ((ocl::tensor({1.f, 2.f})).dtype(), kFloat32);
  EXPECT_EQ((ocl::tensor({1, 2, 3})).dtype(), kInt64);
  EXPECT_EQ((ocl::tensor({true, false})).dtype(), kBool);
  EXPECT_EQ((ocl::tensor({1.5, 2.5})).dtype(), kFloat32);
  EXPECT_EQ((ocl::tensor(3.0)).dtype(), kFloat32);
  EXPECT_EQ((ocl::tensor(7)).dtype(), kInt64);
  EXPECT_EQ((ocl::tensor({{1, 2}, {3, 4}})).dtype(), kInt64);
  EXPECT_EQ((ocl::tensor({1, 2}, kFloat32)).dtype(), kFloat32);
  EXPECT_EQ((ocl::tensor({1.5, 2.5}, kFloat16)).dtype(), kFloat16);
  EXPECT_EQ((ocl::tensor(std::vector<float>{1, 2})).dtype(), kFloat32);
  EXPECT_EQ((ocl::tensor(std::vector<double>{1, 2})).dtype(), kFloat32);
  EXPECT_EQ((ocl::arange(5)).dtype(), kInt64);
  EXPECT_EQ((ocl::arange(3.0)).dtype(), kFloat32);
  EXPECT_EQ((ocl::arange(1, 7, 2)).dtype(), kInt64);
  EXPECT_EQ((ocl::arange(4, kFloat32)).dtype(), kFloat32);
  EXPECT_EQ((ocl::zeros(3)).dtype(), kFloat32);
  EXPECT_EQ((ocl::ones({2, 2}, kInt64)).dtype(), kInt64);
  EXPECT_EQ((ocl::full({2}, 1.5)).dtype(), kFloat32);
  EXPECT_EQ((ocl::eye(2)).dtype(), kFloat32);
  EXPECT_EQ((ocl::linspace(0, 1, 5)).dtype(), kFloat32);
  EXPECT_EQ((ocl::from_blob(host, {2, 2})).dtype(), kFloat32);
  EXPECT_EQ((ocl::from_blob(whole, {3}, kInt64)).dtype(), kInt64);
  EXPECT_EQ((ocl::zeros_like(x)).dtype(), kFloat32);
  EXPECT_EQ((ocl::cat({x, y}, 1)).dtype(), kFloat32);
  EXPECT_EQ((ocl::stack({x, y})).dtype(), kFloat32);
}

TEST_F(LibtorchMethods, OperatorsThatAssignWriteInPlace) {
  Tensor a = x.clone();
  const Tensor same = a;
  a += y;
  expect_pytorchs("+=", same, {2, 3}, {4, -1, 5, 4, 5.5, 3});
  a -= 1;
  a *= 2;
  a /= y.abs();
  expect_pytorchs("-= *= /=", same, {2, 3}, {6, -2, 8.0 / 3, 1.5, 18, 4});
  Tensor bits = k.clone();
  bits |= 8;
  bits &= 12;
  bits ^= 1;
  expect_pytorchs("|= &= ^=", bits, {3}, {13, 9, 13});
  expect_error<TypeError>([&] { a &= 1; }, "bitwise_and");
}

TEST_F(LibtorchMethods, PartsAreWrittenByAssignment) {
  Tensor a = x.clone();
  a[0] = 7;
  a[1] += 1;
  a[1][2] = -1;
  expect_pytorchs("a[0] = 7", a, {2, 3}, {7, 7, 7, 1, 6, -1});
  a.select(1, 0) = tensor({8.F, 9.F});
  a.index({1, Slice(1, None)}) = y[0].slice(0, 1);
  expect_pytorchs("a.select(1, 0) = t", a, {2, 3}, {8, 7, 7, 9, -2, 3});
  a.index_put_({a > 7}, 0);
  a.masked_fill_(a < 0, 1).clamp_(0, 5);
  expect_pytorchs("index_put_", a, {2, 3}, {0, 5, 5, 0, 1, 3});
  Tensor variable = a;
  variable = y;  // a variable is another tensor from now on, and nothing is written
  expect_pytorchs("a = y", a, {2, 3}, {0, 5, 5, 0, 1, 3});
  EXPECT_TRUE(is_same(variable, y));
  expect_error<ValueError>([&] { a[0] = ocl::zeros(2); }, "shape");
}

TEST_F(LibtorchMethods, ReadingAndWhatTheTapeKnows) {
  EXPECT_EQ(x[1][1].item<float>(), 5);
  EXPECT_EQ(x.sum().item<double>(), 15);
  EXPECT_EQ(x.argmax().item<std::int64_t>(), 4);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.sizes()[0], 2);
  EXPECT_EQ(x.dim(), 2);
  EXPECT_TRUE(x.is_floating_point() && x.scalar_type() == kFloat32 && !k.is_floating_point());
  EXPECT_TRUE(x.equal(x.clone()) && x.allclose(x * 1.000001) && !x.equal(y));

  const Tensor w = x.clone().requires_grad_();
  Tensor loss = (w[0] * w.index({1, Slice()})).sum();
  loss.backward();
  expect_pytorchs("the gradient through []", w.grad(), {2, 3}, {0, 5, 4, 3, 1, 2});
  EXPECT_TRUE(loss.requires_grad());
  loss.detach_();
  EXPECT_TRUE(!loss.requires_grad() && loss.is_leaf());
  Tensor part = (w * 2)[0];
  expect_error<AutogradError>([&] { part.detach_(); }, "detach");
}

TEST_F(LibtorchMethods, WritesInPlaceHaveGradients) {
  const Tensor w = x.clone().requires_grad_();
  Tensor a = w * 2;
  a[0] = y[0];
  a[1] *= w[1];
  a.addcmul_(w, y, 3);
  a.sum().backward();
  expect_pytorchs("d a.sum() / d w", w.grad(), {2, 3}, {3, -6, 9, 12, 21.5, 13});
}

TEST_F(LibtorchMethods, ErrorsNameWhatWasExpected) {
  expect_error<IndexError>([&] { x[2]; }, "2");
  expect_error<IndexError>([&] { x.sum(2); }, "");
  expect_error<IndexError>([&] { x.index({"all"}); }, "...");
  expect_error<ValueError>([&] { tensor({{1, 2}, {3}}); }, "rows of 2 numbers, got one of 1");
  expect_error<ValueError>([&] { tensor({300}, kUInt8); }, "300");
}
