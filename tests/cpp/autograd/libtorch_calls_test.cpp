// Calls that a program written for libtorch makes: each means the same here, or does not compile.

#include <type_traits>

#include "autograd/autograd.h"

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class LibtorchCalls : public OnDevice {};

/** All overloads of `function` as an object whose calls can be asked for. */
#define CALL_OF(function)                                                              \
  [](auto&&... given) -> decltype(function(std::forward<decltype(given)>(given)...)) { \
    return function(std::forward<decltype(given)>(given)...);                          \
  }
#define METHOD_OF(method)                                                                             \
  [](auto& self, auto&&... given) -> decltype(self.method(std::forward<decltype(given)>(given)...)) { \
    return self.method(std::forward<decltype(given)>(given)...);                                      \
  }

#define COMPILES(call, ...) std::is_invocable_v<decltype(call), __VA_ARGS__>

using Shared = const TensorList&;
constexpr auto grad = CALL_OF(autograd::grad);
static_assert(COMPILES(grad, Shared, Shared), "(outputs, inputs)");
static_assert(COMPILES(grad, Shared, Shared, Shared, bool), "(…, grad_outputs, retain_graph)");
static_assert(COMPILES(grad, Shared, Shared, Shared, std::nullopt_t, bool, bool),
              "(…, retain_graph, create_graph, allow_unused)");

constexpr auto walk = CALL_OF(backward);
static_assert(COMPILES(walk, Shared, Shared, bool), "(tensors, grad_tensors, retain_graph)");
static_assert(COMPILES(walk, Shared, Shared, bool, bool, Shared), "(…, create_graph, inputs)");
constexpr auto walk_from = METHOD_OF(backward);
static_assert(COMPILES(walk_from, Tensor&, const Tensor&, bool, bool),
              "(gradient, retain_graph, create_graph)");

// at::nll_loss(self, target, weight, reduction, ignore_index): a number in fourth place is a reduction there.
constexpr auto nll = CALL_OF(nll_loss);
static_assert(!COMPILES(nll, Tensor, Tensor, Tensor, int), "a reduction is no ignore_index");
static_assert(!COMPILES(nll, Tensor, Tensor, Tensor, int, int), "(…, reduction, ignore_index)");
static_assert(COMPILES(nll, Tensor, Tensor, Tensor, Reduction, int), "(…, reduction, ignore_index)");
constexpr auto entropy = CALL_OF(cross_entropy);
static_assert(!COMPILES(entropy, Tensor, Tensor, Tensor, int), "a reduction is no ignore_index");
static_assert(COMPILES(entropy, Tensor, Tensor, Tensor, Reduction, int, double), "as at::cross_entropy_loss");
constexpr auto logits = CALL_OF(binary_cross_entropy_with_logits);
static_assert(COMPILES(logits, Tensor, Tensor, Tensor, Tensor, Reduction),
              "(…, weight, pos_weight, reduction)");
static_assert(!COMPILES(logits, Tensor, Tensor, Tensor, Reduction, Tensor), "no other order");

constexpr auto poisson = CALL_OF(poisson_nll_loss);
static_assert(COMPILES(poisson, Tensor, Tensor, bool, bool, double, Reduction), "as at::poisson_nll_loss");
constexpr auto hinge = CALL_OF(hinge_embedding_loss);
static_assert(COMPILES(hinge, Tensor, Tensor, double, Reduction), "(…, margin, reduction)");
static_assert(!COMPILES(hinge, Tensor, Tensor, double, int), "a number is no reduction");
constexpr auto ranking = CALL_OF(margin_ranking_loss);
static_assert(COMPILES(ranking, Tensor, Tensor, Tensor, double, Reduction), "(…, margin, reduction)");
constexpr auto cosines = CALL_OF(cosine_embedding_loss);
static_assert(COMPILES(cosines, Tensor, Tensor, Tensor, double, Reduction), "(…, margin, reduction)");
constexpr auto triplet = CALL_OF(triplet_margin_loss);
static_assert(COMPILES(triplet, Tensor, Tensor, Tensor, double, double, double, bool, Reduction),
              "(…, margin, p, eps, swap, reduction)");
constexpr auto margins = CALL_OF(multi_margin_loss);
static_assert(COMPILES(margins, Tensor, Tensor, int, double, Tensor, Reduction),
              "(…, p, margin, weight, reduction)");

// at::scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, …).
constexpr auto attend = CALL_OF(scaled_dot_product_attention);
static_assert(COMPILES(attend, Tensor, Tensor, Tensor, AttentionOptions), "options are a struct");
static_assert(!COMPILES(attend, Tensor, Tensor, Tensor, AttentionOptions, double), "dropout_p is no bool");

/** Whether {} may stand for a T. */
template <class T, class = void>
struct IsMadeOfNothing : std::false_type {};
template <class T>
void take(T);
template <class T>
struct IsMadeOfNothing<T, std::void_t<decltype(take<T>({}))>> : std::true_type {};
static_assert(!IsMadeOfNothing<Scalar>::value, "clamp(x, {}, 1) has no lower bound in libtorch, here 0");
static_assert(IsMadeOfNothing<Tensor>::value, "an optional tensor");

}  // namespace

TEST_F(LibtorchCalls, AnInputThatIsNotUsed) {
  const Tensor x = leaf({3}, {}), other = leaf({1}, {});
  const Tensor y = x * x;
  expect_error<AutogradError>([&] { autograd::grad({y}, {x, other}, {}, true); }, "input 1");
  const TensorList found = autograd::grad({y}, {x, other}, {}, false, false, true);
  EXPECT_EQ(found[0].item(), 6);
  EXPECT_FALSE(found[1].defined());
}

TEST_F(LibtorchCalls, StableComesBeforeTheDimension) {
  const Tensor x = tensor(Values{3, 1, 2, 0, 5, 4}, {2, 3});
  const Values rows{0, 1, 2, 3, 5, 4}, columns{1, 2, 3, 0, 4, 5};
  EXPECT_EQ(sort(x, /*stable=*/true, /*dim=*/0, /*descending=*/false).first.to_vector(), rows);
  EXPECT_EQ(sort(x, std::optional<bool>(true), 0).first.to_vector(), rows);
  EXPECT_EQ(sort(x, 0).first.to_vector(), rows);
  EXPECT_EQ(sort(x, std::optional<bool>()).first.to_vector(), columns);
  using Places = std::vector<std::int64_t>;
  EXPECT_EQ(argsort(x, /*stable=*/true, /*dim=*/0).to_vector<std::int64_t>(), (Places{1, 0, 0, 0, 1, 1}));
  EXPECT_EQ(argsort(x, 0, true).to_vector<std::int64_t>(), (Places{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(argsort(x, false).to_vector<std::int64_t>(), (Places{1, 2, 0, 0, 2, 1}));
}

TEST_F(LibtorchCalls, OneNumberIsTheUpperBoundOfRandomNumbers) {
  Tensor x = zeros({1000});
  x.random_(10);
  EXPECT_EQ(max(x).item(), 9);
  EXPECT_EQ(min(x).item(), 0);
  x.random_(-5, 0);
  EXPECT_EQ(max(x).item(), -1);
  EXPECT_EQ(min(x).item(), -5);
  x.random_(1 << 20, std::nullopt);
  EXPECT_GE(min(x).item(), 1 << 20);
  x.random_();
  EXPECT_GT(max(x).item(), 1 << 20);
}

TEST_F(LibtorchCalls, GroupsOfHeadsAreAnOption) {
  const Tensor q = randn({2, 4, 3, 5}), k = randn({2, 2, 6, 5}), v = randn({2, 2, 6, 5});
  AttentionOptions options;
  options.enable_gqa = true;
  const auto every_twice = [](const Tensor& t) { return repeat_interleave(t, 2, 1); };
  const Tensor expected = scaled_dot_product_attention(q, every_twice(k), every_twice(v));
  // Sums of numbers around 1, in other orders, some of which cancel.
  EXPECT_TRUE(allclose(scaled_dot_product_attention(q, k, v, options), expected, 1e-5, 1e-6));
  EXPECT_TRUE(allclose(attention_with_weights(q, k, v, options).output, expected, 1e-5, 1e-6));
  expect_error<ValueError>([&] { scaled_dot_product_attention(q, narrow(q, 1, 0, 3), q, options); },
                           "enable_gqa");
}

TEST_F(LibtorchCalls, LossesTakeTheirReductionFirst) {
  const Tensor x = log_softmax(randn({4, 3}), 1), labels = tensor(std::vector<std::int64_t>{0, 2, 1, 1}, {4});
  EXPECT_EQ(nll_loss(x, labels, {}, Reduction::none, 1).shape(), (Dims{4}));
  EXPECT_EQ(nll_loss(x, labels, {}, Reduction::none, 1).to_vector()[2], 0);
  EXPECT_TRUE(
      allclose(cross_entropy(x, labels, {}, Reduction::sum, 1), nll_loss(x, labels, {}, Reduction::sum, 1)));
  const Tensor target = ones({4, 3}), weight = full({3}, 2.0);
  EXPECT_TRUE(allclose(binary_cross_entropy_with_logits(x, target, {}, weight),
                       binary_cross_entropy_with_logits(x, target) * 2));
}

TEST_F(LibtorchCalls, AnEmbeddingWithItsArgumentsSwappedIsRefused) {  // at::embedding(weight, indices)
  const Tensor weight = ones({3, 2}), indices = zeros({4, 1}, DType::int64);
  EXPECT_EQ(embedding(indices, weight).shape(), (Dims{4, 1, 2}));
  expect_error<TypeError>([&] { embedding(weight, indices); }, "embedding");
}

TEST_F(LibtorchCalls, TheDtypeOfAFilledTensorIsItsValues) {
  EXPECT_EQ(full({2}, 3).dtype(), DType::int64);
  EXPECT_EQ(full({2}, true).dtype(), DType::boolean);
  EXPECT_EQ(full({2}, 3.0).dtype(), DType::float32);
  EXPECT_EQ(full({2}, 3, DType::float64).dtype(), DType::float64);
}
