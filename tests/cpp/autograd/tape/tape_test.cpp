#include "autograd/tape/tape.h"

#include "autograd/ops/attention.h"
#include "autograd/ops/inplace.h"
#include "autograd/tape/gradients.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Tape : public OnDevice {};
class InPlace : public OnDevice {};

/** A function with a tape unit of its own: 3 x, whose backward says that it ran. */
Tensor triple(const Tensor& x, int* runs) {
  const Tensor y = [&] {
    const NoGradGuard guard;
    return x * 3;
  }();
  return record("TripleBackward", {x}, y.data(), [&] {
    return [runs](const TensorList& g) {
      ++*runs;
      EXPECT_FALSE(grad_enabled());
      return TensorList{g[0] * 3};
    };
  });
}

}  // namespace

TEST_F(Tape, AnOutputThatTheLossDoesNotUseHasAnUndefinedGradient) {
  const Tensor x = leaf({1, 2}, {2});
  std::vector<std::vector<bool>> seen;
  const auto doubled_and_tripled = [&] {
    const dlprim::Tensor twice = (x.detach() * 2).data(), thrice = (x.detach() * 3).data();
    return record_many("SeveralBackward", {x}, {twice, thrice}, [&] {
      return [&seen, of_twice = GradientKind(twice), of_thrice = GradientKind(thrice)](const TensorList& g) {
        seen.push_back({g.at(0).defined(), g.at(1).defined()});
        return TensorList{of_twice.or_zeros(g[0]) * 2 + of_thrice.or_zeros(g[1]) * 3};
      };
    });
  };
  sum(doubled_and_tripled()[0]).backward();
  EXPECT_EQ(gradient(x), (Values{2, 2}));
  sum(doubled_and_tripled()[1]).backward();
  EXPECT_EQ(gradient(x), (Values{5, 5}));
  const TensorList both = doubled_and_tripled();
  sum(both[0] * both[1].detach() + both[1] * 0).backward();
  EXPECT_EQ(gradient(x), (Values{5 + 6, 5 + 12}));
  EXPECT_EQ(seen, (std::vector<std::vector<bool>>{{true, false}, {false, true}, {true, true}}));
}

TEST_F(Tape, EitherResultOfAttentionHasAGradient) {
  const auto gradient_of = [](bool of_output, bool of_weights) {
    manual_seed(1);
    const Tensor q = randn({2, 3, 4}).requires_grad_(), k = randn({2, 5, 4}), v = randn({2, 5, 4});
    const AttentionResult result = attention_with_weights(q, k, v);
    Tensor loss = sum(q) * 0;
    if (of_output) loss = loss + sum(square(result.output));
    if (of_weights) loss = loss + sum(square(result.weights));
    loss.backward();
    return q.grad();
  };
  EXPECT_TRUE(
      allclose(gradient_of(true, false) + gradient_of(false, true), gradient_of(true, true), 1e-4, 1e-5));
}

TEST_F(Tape, Leaves) {
  Tensor x = ones({2});
  EXPECT_TRUE(x.is_leaf());
  EXPECT_FALSE(x.requires_grad());
  x.requires_grad_();
  const Tensor y = x * 2;
  EXPECT_FALSE(y.is_leaf());
  EXPECT_EQ(y.grad_fn()->name(), "mul");
  EXPECT_FALSE(y.detach().requires_grad());
  EXPECT_EQ(y.detach().data().storage, y.data().storage);
  expect_error<AutogradError>([&] { Tensor(y).requires_grad_(false); }, "of leaf variables");
  expect_error<AutogradError>([] { ones({2}, DType::int64).requires_grad_(); },
                              "floating or complex dtype can require gradients, got int64");
  expect_error<AutogradError>([] { ones({2}).retain_grad(); }, "retain_grad");
  expect_error<AutogradError>([] { ones({2}).register_hook([](const Tensor& g) { return g; }); }, "hook");
}

TEST_F(Tape, AUnitIsOneCallOfRecord) {
  int runs = 0;
  const Tensor x = leaf({1, 2}, {2});
  const Tensor y = triple(x, &runs);
  EXPECT_EQ(y.grad_fn()->name(), "TripleBackward");
  sum(y).backward();
  EXPECT_EQ(gradient(x), (Values{3, 3}));
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(triple(ones({2}), &runs).requires_grad());
}

TEST_F(Tape, OutputsThatAreIntegersAreNotOnIt) {
  const Tensor x = leaf({1, 5, 3, 2}, {1, 1, 2, 2});
  const TensorList both = max_pool2d_with_indices(x, 2);
  EXPECT_TRUE(both[0].requires_grad());
  EXPECT_FALSE(both[1].requires_grad());
  EXPECT_EQ(both[1].item<std::int64_t>(), 1);
  EXPECT_FALSE((x > 2).requires_grad());
  EXPECT_FALSE(x.to(DType::int32).requires_grad());
}

TEST_F(Tape, ANodeLivesAsLongAsItsResults) {
  const Tensor x = leaf({1}, {});
  Tensor y = x * 2;
  const std::weak_ptr<Node> node = y.grad_fn();
  Tensor z = y + 1;
  y = Tensor();
  EXPECT_FALSE(node.expired());
  z = Tensor();
  EXPECT_TRUE(node.expired());
}

TEST_F(Tape, SequenceGrows) {
  const Tensor x = leaf({1}, {});
  const Tensor y = x * 2, z = y * 2;
  EXPECT_LT(y.grad_fn()->sequence(), z.grad_fn()->sequence());
}

TEST_F(InPlace, ChangesTheMemory) {
  Tensor x = tensor(Values{1, 2}, {2});
  const Tensor same = x;
  x.add_(tensor(Values{10, 20}, {2}), 2).mul_(3);
  EXPECT_EQ(same.to_vector(), (Values{63, 126}));
  EXPECT_EQ(x.version(), 2u);
  x.copy_(tensor(Values{7}, {1}));
  EXPECT_EQ(x.to_vector(), (Values{7, 7}));
  x.fill_(4);
  x.zero_();
  EXPECT_EQ(x.to_vector(), (Values{0, 0}));
  EXPECT_EQ(x.version(), 5u);
}

TEST_F(InPlace, IsRecorded) {
  const Tensor x = leaf({1, 2}, {2}), w = leaf({5, 7}, {2});
  Tensor y = x * 2;
  y.mul_(w);
  y.add_(x);
  sum(y).backward();
  EXPECT_EQ(gradient(x), (Values{11, 15}));
  EXPECT_EQ(gradient(w), (Values{2, 4}));
}

TEST_F(InPlace, CopyAndFillAreRecorded) {
  const Tensor x = leaf({1, 2}, {2}), source = leaf({3}, {1});
  Tensor y = x * 2;
  y.copy_(source);
  sum(y * y).backward();
  EXPECT_EQ(gradient(source), Values{12});
  EXPECT_FALSE(x.grad().defined() && gradient(x) != (Values{0, 0}));
  Tensor z = x * 2;
  z.fill_(3);
  sum(z * x).backward();
  EXPECT_EQ(gradient(x), (Values{3, 3}));
}

TEST_F(InPlace, ALeafIsRefused) {
  Tensor x = leaf({1, 2}, {2});
  expect_error<AutogradError>([&] { x.add_(1); },
                              "a leaf Variable that requires grad is being used in an in-place operation");
  expect_error<AutogradError>([&] { x.zero_(); }, "a leaf Variable");
  EXPECT_EQ(x.to_vector(), (Values{1, 2}));
  const NoGradGuard guard;
  x.add_(1);
  EXPECT_EQ(x.to_vector(), (Values{2, 3}));
}

TEST_F(InPlace, AChangedResultIsFound) {
  const Tensor x = leaf({1, 2}, {2});
  const Tensor y = exp(x);
  const Tensor z = sum(y * y);
  Tensor(y.detach()).add_(1);
  expect_error<AutogradError>(
      [&] { z.backward(); },
      "has been modified by an inplace operation: a tensor of shape [2] is at version 1; expected version 0");
}

TEST_F(InPlace, AChangedInputIsFound) {
  Tensor w = tensor(Values{3, 4}, {2});
  const Tensor x = leaf({1, 2}, {2});
  const Tensor y = sum(x * w);
  w.zero_();
  expect_error<AutogradError>([&] { y.backward(); }, "modified by an inplace operation");
}

TEST_F(InPlace, ShapesAndTypesMustFit) {
  Tensor x = ones({2});
  expect_error<ValueError>([&] { x.add_(ones({3, 2})); },
                           "add_: output with shape [2] doesn't match the broadcast shape [3, 2]");
  Tensor whole = ones({2}, DType::int64);
  expect_error<TypeError>([&] { whole.add_(ones({2})); },
                          "float32 can't be cast to the desired output type int64");
  expect_error<ValueError>([&] { x.copy_(ones({3})); }, "copy_");
}

TEST_F(InPlace, OverlapIsRefused) {
  Tensor x = tensor(Values{1, 2, 3, 4}, {4});
  Tensor head = narrow(x, 0, 0, 3);
  expect_error<ValueError>([&] { head.add_(narrow(x, 0, 1, 3)); }, "refer to a single memory location");
  Tensor same = expand(narrow(x, 0, 0, 1), {4});
  expect_error<ValueError>([&] { same.add_(1); }, "more than one element of the written-to tensor");
  narrow(x, 0, 0, 2).add_(narrow(x, 0, 2, 2));
  x.add_(x);
  EXPECT_EQ(x.to_vector(), (Values{8, 12, 6, 8}));
}

TEST_F(InPlace, AWriteThroughAViewJoinsTheHistoryOfTheBase) {
  const Tensor x = leaf({1, 2}, {2});
  const Tensor y = x * 2;
  Tensor part = narrow(y, 0, 0, 1);
  part.mul_(5);
  EXPECT_EQ(y.grad_fn()->name(), "CopySlices");
  sum(y).backward();
  EXPECT_EQ(gradient(x), (Values{10, 2}));
}

TEST_F(InPlace, AViewMadeUnderNoGradIsNotWrittenWhileRecording) {
  const Tensor y = leaf({1, 2}, {2}) * 2;
  Tensor part;
  {
    const NoGradGuard guard;
    part = narrow(y, 0, 0, 1);
    part.add_(1);
    EXPECT_EQ(y.to_vector(), (Values{3, 4}));
  }
  expect_error<AutogradError>([&] { part.mul_(leaf({3}, {1})); }, "created in no_grad mode");
}

TEST_F(InPlace, AViewLeadsToWhatItsBaseBecame) {
  const Tensor x = leaf({1, 2}, {2});
  Tensor y = x * 1;
  const Tensor before = y.view({2, 1});
  y.mul_(3);
  sum(before).backward();
  EXPECT_EQ(gradient(x), (Values{3, 3}));
}
