// Nets of ocl::models from C++: made by class and by name, trained, changed, copied, loaded.

#include "nn/models/models.h"

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Models : public OnDevice {};

/** A ResNet of one block a stage, for ten classes. */
models::ResNetOptions small_resnet() {
  return models::ResNetOptions(models::ResNetBlockKind::basic, {1, 1, 1, 1}).num_classes(10);
}

Tensor picture() {
  return rand({2, 3, 32, 32});
}

}  // namespace

TEST_F(Models, AreMadeByName) {
  const auto net = models::create_model("resnet18", models::ModelOptions().num_classes(10));
  EXPECT_EQ(net->name(), "ResNet");
  EXPECT_EQ(net->state_dict().size(), 122u);
  EXPECT_EQ((*net)(picture()).shape(), (Dims{2, 10}));
}

TEST_F(Models, HaveOptionsByName) {
  const auto options = models::options_of<models::ResNet>("resnext50_32x4d");
  EXPECT_EQ(options.groups(), 32);
  EXPECT_EQ(options.width_per_group(), 4);
  EXPECT_EQ(options.layers(), (std::vector<std::int64_t>{3, 4, 6, 3}));
  expect_error<ValueError>([] { models::options_of<models::ResNet>("vgg11"); }, "is of another class");
}

TEST_F(Models, RefuseUnknownNames) {
  expect_error<ValueError>([] { models::create_model("resnet19"); }, "Unknown model resnet19, did you mean ");
  expect_error<ValueError>([] { models::create_model("perceptron"); },
                           "list_models() and list_language_models() have the names");
}

TEST_F(Models, LearnInOneStep) {
  models::ResNet net(small_resnet());
  const Tensor x = picture(), target = tensor(std::vector<std::int64_t>{3, 7}, {2});
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.01));
  const Tensor before = cross_entropy(net(x), target);
  before.backward();
  for (const auto& [name, parameter] : net.named_parameters())
    EXPECT_TRUE(parameter.grad().defined()) << name;
  optimizer.step();
  EXPECT_LT(cross_entropy(net(x), target).item(), before.item());
}

TEST_F(Models, TakeAnotherHead) {
  models::ResNet net(small_resnet());
  net.register_module("fc",
                      nn::make<nn::Sequential>(nn::make<nn::Linear>(512, 8), nn::make<nn::Linear>(8, 4)));
  EXPECT_EQ(net(picture()).shape(), (Dims{2, 4}));
}

TEST_F(Models, TakeAnotherNorm) {
  const models::NormLayer groups{
      "", [](std::int64_t channels) { return nn::make<nn::GroupNorm>(nn::GroupNormOptions(8, channels)); }};
  models::ResNet net(small_resnet().norm_layer(groups));
  EXPECT_EQ(net.bn1->name(), "GroupNorm");
  EXPECT_EQ(net(picture()).shape(), (Dims{2, 10}));
}

TEST_F(Models, AreCopied) {
  models::ResNet net(small_resnet());
  net.eval();
  const auto copy = net.clone();
  EXPECT_EQ(copy->repr(), net.repr());
  const Tensor x = picture();
  EXPECT_TRUE(equal((*copy)(x), net(x)));
  EXPECT_NE(copy->get_submodule("layer1.0.conv1"), net.get_submodule("layer1.0.conv1"));
}

TEST_F(Models, GiveAuxiliaryOutputs) {
  models::GoogLeNet net(models::GoogLeNetOptions().num_classes(5).init_weights(false));
  const nn::Arguments x{{rand({2, 3, 64, 64})}, {}};
  const nn::Value training = net(x);
  ASSERT_EQ(training.sequence().size(), 3u);
  for (const nn::Value& output : training.sequence())
    EXPECT_EQ(output.tensor("an output").shape(), (Dims{2, 5}));
  net.eval();
  EXPECT_TRUE(net(x).is_tensor());
}

TEST_F(Models, LoadOlderNames) {
  const Tensor t = ones({1});
  const StateDict renamed =
      models::with_current_names({{"features.denseblock1.denselayer1.norm.1.weight", t},
                                  {"encoder.layers.encoder_layer_0.mlp.linear_2.bias", t},
                                  {"features.norm5.weight", t}});
  EXPECT_EQ(renamed[0].first, "features.denseblock1.denselayer1.norm1.weight");
  EXPECT_EQ(renamed[1].first, "encoder.layers.encoder_layer_0.mlp.3.bias");
  EXPECT_EQ(renamed[2].first, "features.norm5.weight");
}
