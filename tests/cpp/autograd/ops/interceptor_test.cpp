#include "autograd/ops/interceptor.h"

#include <string>

#include "autograd/autocast.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

// Those who stand between the call of an operator and its work.

namespace {

class Interceptors : public OnDevice {};

Tensor floats(const std::vector<float>& values) {
  return tensor(values, {static_cast<std::int64_t>(values.size())});
}

/** Answers calls of one operator by a function. */
class Answering final : public Interceptor {
 public:
  using Answer = std::function<std::optional<TensorList>(const InterceptedCall&)>;
  Answering(std::string name, Answer answer, bool passes_on = true)
      : name_(std::move(name)), answer_(std::move(answer)), passes_on_(passes_on) {}

  bool intercepts(const char* name) override { return name_ == name; }
  std::optional<TensorList> intercept(const InterceptedCall& call) override { return answer_(call); }
  bool passes_on() const override { return passes_on_; }

 private:
  std::string name_;
  Answer answer_;
  bool passes_on_;
};

TEST_F(Interceptors, GiveOtherTensors) {
  const Tensor x = floats({1, -2}), y = floats({-3, 4});
  Answering other("relu", [&](const InterceptedCall& call) {
    *call.tensors.at(0) = y;
    return std::optional<TensorList>();
  });
  const Intercepting intercepting(other);
  EXPECT_EQ(relu(x).to_vector(), (std::vector<float>{0, 4}));
}

TEST_F(Interceptors, GiveResultsInPlaceOfTheDevice) {
  const Tensor x = floats({1, 5, 2}), values = floats({7});
  const Tensor places = tensor(std::vector<std::int64_t>{9}, {1});
  std::vector<std::string> names;
  Answering given("topk", [&](const InterceptedCall& call) {
    for (const auto& argument : call.arguments()) names.push_back(argument.name);
    return TensorList{values, places};
  });
  x.to_vector();
  const auto before = device().queue().commands();
  {
    const Intercepting intercepting(given);
    const TensorPair found = topk(x, 2);
    EXPECT_EQ(&found.first.impl(), &values.impl());
    EXPECT_EQ(&found.second.impl(), &places.impl());
  }
  EXPECT_EQ(device().queue().commands(), before);
  EXPECT_EQ(names, (std::vector<std::string>{"input", "k", "dim", "largest", "sorted"}));
  EXPECT_EQ(topk(x, 1).first.to_vector(), (std::vector<float>{5}));
}

TEST_F(Interceptors, MayGiveNoOtherNumberOfResults) {
  const Tensor x = floats({1, 5, 2});
  Answering one("topk", [&](const InterceptedCall&) { return TensorList{x}; });
  const Intercepting intercepting(one);
  EXPECT_THROW(topk(x, 2), dlprim::TypeError);
}

TEST_F(Interceptors, HearOfTheCallsOfThoseWithin) {
  const Tensor x = floats({0, 0});
  Answering outer("cos", [&](const InterceptedCall&) { return TensorList{x}; });
  Answering inner("exp", [&](const InterceptedCall& call) { return TensorList{cos(*call.tensors.at(0))}; });
  const Intercepting first(outer), second(inner);
  EXPECT_EQ(&exp(x).impl(), &x.impl());
}

TEST_F(Interceptors, EndTheChainUnlessTheyPassOn) {
  const Tensor x = floats({0, 0});
  const auto nothing = [](const InterceptedCall&) { return std::optional<TensorList>(); };
  Answering outer("exp", [&](const InterceptedCall&) { return TensorList{x}; });
  const Intercepting first(outer);
  for (const bool passes_on : {true, false}) {
    Answering inner("exp", nothing, passes_on);
    const Intercepting second(inner);
    EXPECT_EQ(&exp(x).impl() == &x.impl(), passes_on);
  }
}

TEST_F(Interceptors, ComeBeforeAutocastWhicheverBegan) {
  const Tensor x = reshape(floats({1, 2}), {1, 2});
  std::vector<DType> seen;
  Answering looking("matmul", [&](const InterceptedCall& call) {
    seen.push_back(call.tensors.at(0)->dtype());
    return std::optional<TensorList>();
  });
  {
    const AutocastGuard autocast;
    const Intercepting intercepting(looking);
    EXPECT_EQ(matmul(x, x.t()).dtype(), DType::bfloat16);
  }
  const Intercepting intercepting(looking);
  {
    const AutocastGuard autocast;
    EXPECT_EQ(matmul(x, x.t()).dtype(), DType::bfloat16);
  }
  EXPECT_EQ(matmul(x, x.t()).dtype(), DType::float32);
  EXPECT_EQ(seen, std::vector<DType>(3, DType::float32));
}

}  // namespace
