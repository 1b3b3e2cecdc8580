// Nets of ocl::models from C++: made by class and by name, trained, changed, copied, loaded.

#include "nn/models/models.h"

#include <unistd.h>

#include <filesystem>

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

// Pictures of a size whose last planes have several pixels: batch norms of two numbers hardly show what those
// are.
TEST_F(Models, LearnInOneStep) {
  models::ResNet net(small_resnet());
  const Tensor x = rand({2, 3, 64, 64}), target = tensor(std::vector<std::int64_t>{3, 7}, {2});
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

TEST_F(Models, AreListedByTask) {
  using models::Task;
  EXPECT_EQ(models::list_models(Task::segmentation),
            std::vector<std::string>{"deeplabv3_mobilenet_v3_large"});
  EXPECT_EQ(models::list_models(Task::detection), std::vector<std::string>{"ssdlite320_mobilenet_v3_large"});
  EXPECT_EQ(models::list_models().size(), models::list_models(Task::classification).size() + 2);
}

TEST_F(Models, OfSegmentationLearnInOneStep) {
  models::DeepLabV3 net(models::DeepLabV3Options().num_classes(3).aux_loss(true));
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.01));
  const Tensor x = rand({2, 3, 32, 40}), target = zeros({2, 32, 40}, DType::int64);
  const auto loss = [&] {
    const auto [out, aux] = net.outputs(x);
    EXPECT_EQ(out.shape(), (Dims{2, 3, 32, 40}));
    return cross_entropy(out, target) + cross_entropy(aux, target) * 0.5;
  };
  const Tensor before = loss();
  before.backward();
  for (const auto& [name, parameter] : net.named_parameters())
    EXPECT_TRUE(parameter.grad().defined()) << name;
  optimizer.step();
  EXPECT_LT(loss().item(), before.item());
  net.eval();
  const nn::Value named = net(nn::Arguments{{x}, {}});
  ASSERT_TRUE(named.mapping());
  EXPECT_EQ(named.mapping()->front().first, "out");
  EXPECT_TRUE(equal(named.mapping()->front().second.tensor("out"), net.outputs(x).out));
}

TEST_F(Models, OfDetectionLearnInOneStepAndDetect) {
  models::SSD net(models::SSDOptions().num_classes(3));
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.01));
  const TensorList images{rand({3, 60, 80}), rand({3, 90, 50})};
  const std::vector<models::SSD::Target> targets{
      {tensor(std::vector<float>{5, 5, 50, 40}, {1, 4}), tensor(std::vector<std::int64_t>{2}, {1})},
      {zeros({0, 4}), zeros({0}, DType::int64)}};
  const auto loss = [&] {
    const auto [boxes, classes] = net.losses(images, targets);
    return boxes + classes;
  };
  const Tensor before = loss();
  before.backward();
  for (const auto& [name, parameter] : net.named_parameters())
    EXPECT_TRUE(parameter.grad().defined()) << name;
  optimizer.step();
  EXPECT_LT(loss().item(), before.item());
  net.eval();
  net.change_options([](models::SSDOptions& o) { o.detections_per_img(7); });
  const auto found = net.detections(images);
  ASSERT_EQ(found.size(), 2u);
  for (const auto& [boxes, labels, scores] : found) {
    EXPECT_EQ(boxes.shape(), (Dims{7, 4}));
    EXPECT_EQ(labels.dtype(), DType::int64);
    EXPECT_TRUE(all(labels.gt(0)).item<bool>());
    EXPECT_TRUE(equal(scores, sort(scores, 0, true).first));
  }
  EXPECT_LE(max(select(found[1].boxes, 1, 2)).item(), 50);
}

TEST_F(Models, OfSegmentationAreLoadedWithTheirAuxiliaryClassifier) {
  const auto path =
      std::filesystem::temp_directory_path() / ("tapecl_models_" + std::to_string(getpid()) + ".safetensors");
  const models::DeepLabV3 net(models::DeepLabV3Options().num_classes(3).aux_loss(true));
  save(net.state_dict(), path);
  const auto loaded = models::create_model("deeplabv3_mobilenet_v3_large",
                                           models::ModelOptions().num_classes(3).weights(path));
  std::filesystem::remove(path);
  EXPECT_TRUE(
      equal(loaded->get_parameter("aux_classifier.0.weight"), net.get_parameter("aux_classifier.0.weight")));
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
