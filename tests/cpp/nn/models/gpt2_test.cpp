// GPT-2 from C++: made, trained, copied, loaded as published, generating.

#include "nn/models/gpt2.h"

#include "nn/models/models.h"
#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class GPT2 : public OnDevice {};

models::GPT2Options small() {
  return models::GPT2Options()
      .vocab_size(31)
      .n_positions(12)
      .n_embd(16)
      .n_layer(2)
      .n_head(4)
      .resid_pdrop(0)
      .embd_pdrop(0)
      .attn_pdrop(0)
      .initializer_range(0.3);
}

Tensor tokens(std::int64_t items, std::int64_t length) {
  return randint(0, 31, {items, length});
}

}  // namespace

TEST_F(GPT2, IsMadeByName) {
  EXPECT_EQ(models::list_models(models::Task::language),
            (std::vector<std::string>{"gpt2", "gpt2_large", "gpt2_medium", "gpt2_xl"}));
  const std::vector<std::string> pictures = models::list_models();
  EXPECT_EQ(std::count(pictures.begin(), pictures.end(), "gpt2"), 0);
  const auto options = models::options_of<models::GPT2LMHeadModel>("gpt2_xl");
  EXPECT_EQ(options.n_layer(), 48);
  EXPECT_EQ(options.n_embd(), 1600);
  EXPECT_EQ(options.n_head(), 25);
  expect_error<ValueError>([] { models::create_model("gpt2", models::ModelOptions().num_classes(10)); },
                           "the net 'gpt2' has no num_classes");
}

TEST_F(GPT2, Learns) {
  models::GPT2LMHeadModel net(small().initializer_range(0.02));
  const Tensor given = tokens(3, 9), target = flatten(narrow(given, 1, 1, 8));
  const auto loss_of = [&] { return cross_entropy(flatten(net(narrow(given, 1, 0, 8)), 0, 1), target); };
  optim::AdamW optimizer(net.parameters(), optim::AdamWOptions(0.02));
  const float before = loss_of().item();
  EXPECT_NEAR(before, std::log(31), 0.2);
  for (int i = 0; i < 20; ++i) {
    optimizer.zero_grad();
    loss_of().backward();
    optimizer.step();
  }
  EXPECT_LT(loss_of().item(), 0.5F * before);
  EXPECT_EQ(&net.lm_head.get()->own_parameter("weight")->impl(), &net.transformer->wte->weight.impl());
}

TEST_F(GPT2, GeneratesTheSameWithAndWithoutTheCache) {
  models::GPT2LMHeadModel net(small());
  net.eval();
  for (const std::int64_t items : {1, 3}) {
    const Tensor given = tokens(items, 5);
    const auto options = models::GenerationOptions().max_new_tokens(7);
    const Tensor made = net.generate(given, options);
    EXPECT_EQ(made.shape(), (Dims{items, 12}));
    EXPECT_TRUE(equal(made, net.generate(given, models::GenerationOptions(options).use_cache(false))));
    EXPECT_TRUE(equal(narrow(made, 1, 0, 5), given));
    const Tensor likeliest = argmax(net(narrow(made, 1, 0, 11)), -1);
    EXPECT_TRUE(equal(narrow(likeliest, 1, 4, 7), narrow(made, 1, 5, 7)));
  }
}

TEST_F(GPT2, DrawsFromAGenerator) {
  models::GPT2LMHeadModel net(small());
  net.eval();
  const Tensor given = tokens(2, 2);
  const auto drawn = [&](std::uint64_t seed) {
    Generator generator(seed);
    return net.generate(given, models::GenerationOptions()
                                   .max_new_tokens(10)
                                   .do_sample(true)
                                   .top_k(20)
                                   .top_p(0.95)
                                   .temperature(1.5)
                                   .generator(&generator));
  };
  EXPECT_TRUE(equal(drawn(1), drawn(1)));
  EXPECT_FALSE(equal(drawn(1), drawn(2)));
}

TEST_F(GPT2, StepsOverACacheOfTheCaller) {
  models::GPT2LMHeadModel net(small());
  net.eval();
  const Tensor given = tokens(2, 5);
  const TensorList cache = net.make_cache(2, 11);
  Tensor next = net.next_tokens(given, arange(5), cache), made = cat({given, next}, 1);
  for (std::int64_t position = 5; position < 9; ++position) {
    next = net.next_tokens(next, tensor(std::vector<std::int64_t>{position}), cache);
    made = cat({made, next}, 1);
  }
  EXPECT_TRUE(equal(made, net.generate(given, models::GenerationOptions().max_new_tokens(5))));
  expect_error<ValueError>([&] { net.make_cache(2, 13); },
                           "make_cache: length must be from 1 to n_positions=12, got 13");
  expect_error<ValueError>([&] { net.next_tokens(given, arange(4), cache); },
                           "next_tokens: expected positions [5], one for each token, got shape [4]");
}

TEST_F(GPT2, RefusesTooManyPositions) {
  models::GPT2LMHeadModel net(small());
  expect_error<ValueError>([&] { net.generate(tokens(1, 6), models::GenerationOptions().max_new_tokens(7)); },
                           "generate: 6 tokens and max_new_tokens=7 are more than n_positions=12");
  expect_error<ValueError>([&] { net(tokens(1, 13)); },
                           "GPT2Model: a sequence of 13 tokens is longer than n_positions=12");
}

TEST_F(GPT2, LoadsAsPublished) {
  models::GPT2LMHeadModel net(small()), other(small());
  StateDict bare;
  const std::string prefix = "transformer.";
  for (const auto& [name, tensor] : net.state_dict())
    if (name != "lm_head.weight") bare.emplace_back(name.substr(prefix.size()), tensor);
  bare.emplace_back("h.1.attn.bias", ones({1, 1, 12, 12}));
  bare.emplace_back("h.1.attn.masked_bias", ones({}));
  const Tensor given = tokens(2, 4);
  EXPECT_FALSE(equal(other(given), net(given)));
  other.load_state_dict(bare);
  EXPECT_TRUE(equal(other(given), net(given)));
}

TEST_F(GPT2, IsCopied) {
  models::GPT2LMHeadModel net(small());
  const auto copy = net.clone();
  EXPECT_EQ(copy->repr(), net.repr());
  const Tensor given = tokens(2, 4);
  EXPECT_TRUE(equal((*copy)(given), net(given)));
  EXPECT_EQ(copy->parameters().size(), net.parameters().size());  // the head shares there, too
  EXPECT_NE(&copy->parameters()[0].impl(), &net.parameters()[0].impl());
}
