// Nets written as programs for libtorch write them: modules that are members of their own kind, and handles.

#include <filesystem>

#include <unistd.h>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace testing_support;

namespace {

class LibtorchHolders : public OnDevice {};

void fill(ocl::TensorList parameters, double value) {
  for (ocl::Tensor& p : parameters) ocl::nn::init::constant_(p, value);
}

/** A net as the tutorial of the C++ frontend has it. */
struct Net : ocl::nn::Module {
  Net() {
    fc1 = register_module("fc1", ocl::nn::Linear(2, 3));
    fc2 = register_module("fc2", ocl::nn::Linear(3, 1));
  }
  ocl::Tensor forward(ocl::Tensor x) { return fc2->forward(ocl::relu(fc1->forward(x))); }
  ocl::nn::Linear fc1{nullptr}, fc2{nullptr};
};

/** A net as the example for MNIST has it: members are made first and registered then. */
struct ConvNet : ocl::nn::Module {
  ConvNet() : conv(ocl::nn::Conv2dOptions(1, 2, /*kernel_size=*/3).bias(false)), fc(8, 1) {
    register_module("conv", conv);
    register_module("bn", bn);
    register_module("drop", drop);
    register_module("fc", fc);
  }
  ocl::Tensor forward(ocl::Tensor x) {
    x = drop->forward(bn(conv(x)));
    return fc(x.view({-1, 8}));
  }
  ocl::nn::Conv2d conv;
  ocl::nn::BatchNorm2d bn{2};
  ocl::nn::Dropout2d drop;
  ocl::nn::Linear fc;
};

struct BlockImpl : ocl::nn::Module {
  explicit BlockImpl(int features) { fc = register_module("fc", ocl::nn::Linear(features, features)); }
  ocl::Tensor forward(ocl::Tensor x) { return x + fc(x); }
  ocl::nn::Linear fc{nullptr};
};
TORCH_MODULE(Block);

}  // namespace

TEST_F(LibtorchHolders, MembersThatAreEmptyAtFirst) {
  Net net;
  fill(net.parameters(), 0.5);
  EXPECT_EQ(net.forward(ocl::ones({1, 2})).item(), 2.75F);
  const ocl::StateDict parameters = net.named_parameters();
  ASSERT_EQ(parameters.size(), 4U);
  EXPECT_EQ(parameters[0].key(), "fc1.weight");
  EXPECT_TRUE(is_same(parameters["fc1.weight"], net.fc1->weight));
  net.load_state_dict(Net().state_dict());
  EXPECT_NE(net.fc1->weight[0][0].item(), 0.5F);
  const ocl::nn::Linear empty{nullptr};
  EXPECT_TRUE(empty.is_empty() && !empty);
  expect_error<ocl::ValueError>([&] { empty->options(); }, "used before it was registered");
  ocl::nn::Linear none = nullptr;
  expect_error<ocl::ValueError>([&] { none(ocl::ones({1, 2})); }, "used before it was registered");
}

TEST_F(LibtorchHolders, MembersThatAreMadeFirst) {
  ConvNet net;
  fill(net.parameters(), 0.5);
  EXPECT_EQ(net.named_parameters().size(), 5U);
  EXPECT_TRUE(is_same(net.named_parameters()["conv.weight"], net.conv->weight));
  EXPECT_TRUE(is_same(net.conv.weight, net.conv->weight));
  net.eval();
  EXPECT_FALSE(net.bn->is_training() || net.drop.is_training());
  EXPECT_NEAR(net.forward(ocl::ones({1, 1, 4, 4})).item(), 11.5, 1e-3);
  net.train();
  EXPECT_TRUE(net.bn->is_training() && net.drop->is_training());
  net.forward(ocl::ones({2, 1, 4, 4}));
  EXPECT_NEAR(net.bn->running_mean[0].item(), 0.45, 1e-5);
  net.to(ocl::kFloat64);
  EXPECT_EQ(net.fc->weight.dtype(), ocl::kFloat64);
}

TEST_F(LibtorchHolders, CopiesAreHandles) {
  ocl::nn::Linear a(2, 1);
  ocl::nn::Linear b = a;
  fill(a->parameters(), 0.5);
  EXPECT_EQ(b->weight.to_vector(), (Values{0.5F, 0.5F}));
  EXPECT_EQ(a.get(), b.get());
  EXPECT_EQ(a.ptr(), b.ptr());
  const auto use = [](ocl::nn::Linear fc) { return fc(ocl::ones({1, 2})).item(); };
  EXPECT_EQ(use(a), 1.5F);
  b = ocl::nn::Linear(3, 1);
  EXPECT_EQ(b->options().in_features(), 3);
  EXPECT_EQ(a->options().in_features(), 2);
  const auto pointer = std::make_shared<ocl::nn::Linear>(2, 1);
  ocl::nn::Linear holder(pointer);
  EXPECT_EQ(holder.ptr(), pointer);
  std::vector<ocl::nn::Linear> several;
  for (int i = 0; i < 3; ++i) several.push_back(ocl::nn::Linear(2, 2));
  EXPECT_NE(several[0].get(), several[1].get());
  // The number 0 is no null pointer.
  EXPECT_FALSE(ocl::nn::Softmax(0).is_empty());
  EXPECT_FALSE(ocl::nn::Dropout(0).is_empty());
}

TEST_F(LibtorchHolders, AHandleHasWhatTheModuleHas) {
  ocl::nn::Sequential layers(ocl::nn::Linear(2, 2), ocl::nn::ReLU());
  int calls = 0;
  layers->register_forward_hook([&](const ocl::nn::Module&, const ocl::Tensor&, const ocl::Tensor&) {
    ++calls;
    return ocl::Tensor();
  });
  layers.eval();
  struct Holding : ocl::nn::Module {
    explicit Holding(ocl::nn::Sequential given) : layers(register_module("layers", given)) {}
    ocl::nn::Sequential layers;
  };
  Holding holding(layers);
  EXPECT_FALSE(holding.layers->is_training());
  holding.layers(ocl::ones({1, 2}));
  layers->forward(ocl::ones({1, 2}));
  EXPECT_EQ(calls, 1);
  layers->push_back(ocl::nn::Linear(2, 1));
  EXPECT_EQ(holding.parameters().size(), 4U);
  EXPECT_EQ(layers.parameters().size(), 4U);
  EXPECT_EQ(holding.layers.size(), 3U);
  const auto copy = layers.clone();
  EXPECT_FALSE(is_same(copy->parameters()[0], layers.parameters()[0]));
  ocl::nn::Sequential of_parts(holding.layers, ocl::nn::Tanh());
  EXPECT_EQ(of_parts.size(), 2U);
  EXPECT_EQ(of_parts[0], layers.ptr());
}

TEST_F(LibtorchHolders, ModulesOfSeveralTensors) {
  struct Recurrent : ocl::nn::Module {
    Recurrent() {
      lstm = register_module("lstm", ocl::nn::LSTM(ocl::nn::LSTMOptions(2, 3)));
      attention = register_module("attention", ocl::nn::MultiheadAttention(3, 1));
      bilinear = register_module("bilinear", ocl::nn::Bilinear(3, 3, 1));
    }
    ocl::Tensor forward(ocl::Tensor x) {
      auto [y, state] = lstm(x);
      const ocl::Tensor z = attention(y, y, y).output;
      return loss(bilinear(y, z), ocl::zeros({4, 1, 1}));
    }
    ocl::nn::LSTM lstm{nullptr};
    ocl::nn::MultiheadAttention attention{nullptr};
    ocl::nn::Bilinear bilinear{nullptr};
    ocl::nn::MSELoss loss;
  };
  Recurrent net;
  const ocl::nn::MSELoss same = net.loss;
  fill(net.parameters(), 0.1);
  net.forward(ocl::ones({4, 1, 2})).backward();
  for (const auto& entry : net.named_parameters()) EXPECT_TRUE(entry.value().grad().defined()) << entry.key();
}

TEST_F(LibtorchHolders, ClassesOfOnesOwn) {
  Block block(2);
  fill(block->parameters(), 0.5);
  EXPECT_EQ(block->forward(ocl::ones({1, 2})).to_vector(), (Values{2.5F, 2.5F}));
  EXPECT_EQ(block(ocl::ones({1, 2})).to_vector(), (Values{2.5F, 2.5F}));
  struct Whole : ocl::nn::Module {
    Whole() {
      first = register_module("first", Block(2));
      rest = register_module("rest", ocl::nn::Sequential(Block(2), std::make_shared<BlockImpl>(2)));
      rest->push_back(ocl::nn::Linear(2, 1));
    }
    ocl::Tensor forward(ocl::Tensor x) { return rest->forward(first->forward(x)); }
    Block first{nullptr};
    ocl::nn::Sequential rest{nullptr};
  };
  Whole net;
  fill(net.parameters(), 0.5);
  EXPECT_EQ(net.forward(ocl::ones({1, 2})).item(), 12.0F);
  EXPECT_EQ(net.named_parameters()[2].key(), "rest.0.fc.weight");
  const Block same = block;
  EXPECT_EQ(same.ptr(), block.ptr());
  EXPECT_TRUE(Block(nullptr).is_empty());
}

TEST_F(LibtorchHolders, HandlesLeadToTheModule) {
  Net net;
  ocl::nn::Linear handle = net.fc1;
  EXPECT_EQ(handle.state_dict().size(), 2U);
  EXPECT_EQ(handle.named_modules()[0].value().get(), net.fc1.get());
  int calls = 0;
  handle.register_forward_pre_hook([&](const ocl::nn::Module&, const ocl::Tensor&) {
    ++calls;
    return ocl::Tensor();
  });
  handle.register_forward_hook([&](const ocl::nn::Module&, const ocl::Tensor&, const ocl::Tensor&) {
    ++calls;
    return ocl::Tensor();
  });
  handle.register_full_backward_hook([&](const ocl::nn::Module&, const ocl::Tensor&, const ocl::Tensor&) {
    ++calls;
    return ocl::Tensor();
  });
  handle.register_state_dict_pre_hook([&](const ocl::nn::Module&, const std::string&, bool) { ++calls; });
  handle.register_state_dict_post_hook(
      [&](const ocl::nn::Module&, ocl::StateDict&, const std::string&) { ++calls; });
  handle.register_load_state_dict_pre_hook(
      [&](ocl::nn::Module&, ocl::StateDict&, const std::string&, ocl::nn::LoadReport&) { ++calls; });
  handle.register_load_state_dict_post_hook([&](ocl::nn::Module&, ocl::nn::IncompatibleKeys&) { ++calls; });
  EXPECT_FALSE(handle.computes_alone());
  net.forward(ocl::ones({1, 2})).sum().backward();
  net.fc1->operator()(ocl::ones({1, 2}, ocl::kFloat32).requires_grad_()).sum().backward();
  const int of_calls = calls;
  EXPECT_GE(of_calls, 3);
  net.load_state_dict(net.state_dict());
  EXPECT_EQ(calls, of_calls + 4);
  handle.load_state_dict(handle.state_dict());
  EXPECT_EQ(calls, of_calls + 8);
  handle.replace_forward([&net](const ocl::nn::Arguments& arguments) -> ocl::nn::Value {
    return arguments.only_tensor(net) * 0;
  });
  EXPECT_EQ(net.fc1(ocl::ones({1, 2})).sum().item(), 0);
}

TEST_F(LibtorchHolders, HandlesInATreeLeadToTheModule) {
  ocl::nn::Linear fc(2, 3);
  struct Holding : ocl::nn::Module {
    explicit Holding(const ocl::nn::Linear& given) : layer(add<ocl::nn::Linear>("layer", given)) {}
    ocl::nn::Child<ocl::nn::Linear> layer;
  };
  Holding holding(fc);
  EXPECT_EQ(holding.parameters().size(), 2U);
  EXPECT_EQ(holding.state_dict().size(), 2U);
  EXPECT_TRUE(is_same(holding.layer->weight, fc->weight));
  ocl::nn::Linear outside = *holding.layer;  // what is registered becomes a handle
  EXPECT_EQ(holding.parameters().size(), 2U);
  EXPECT_TRUE(is_same(holding.parameters()[0], outside->weight));
  holding.requires_grad_(false);
  EXPECT_FALSE(fc->weight.requires_grad());
}

TEST_F(LibtorchHolders, PartsByValueComputeTheirOwnForward) {
  struct Twice : ocl::nn::Module {
    ocl::Tensor forward(ocl::Tensor x) { return x * 2; }
    std::shared_ptr<ocl::nn::Module> alike() const override { return std::make_shared<Twice>(); }
  };
  ocl::nn::Sequential net{Twice(), std::make_shared<Twice>()};
  EXPECT_EQ(net->forward(ocl::ones({1})).item(), 4);
  EXPECT_EQ(net->clone()->operator()(ocl::ones({1})).item(), 4);
}

TEST_F(LibtorchHolders, AClassThatInheritsAlikeIsRefused) {
  struct Doubling : ocl::nn::Linear {
    using Linear::Linear;
    ocl::Tensor forward(const ocl::Tensor& x) override { return Linear::forward(x) * 2; }
  };
  expect_error<ocl::TypeError>([] { ocl::nn::Sequential net(Doubling(2, 3)); }, "override it");
  expect_error<ocl::TypeError>([] { Doubling(2, 3).clone(); }, "override it");
}

TEST_F(LibtorchHolders, ArchivesWriteIntoParameters) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("libtorch_archives." + std::to_string(::getpid()) + ".safetensors");
  ocl::nn::Linear saved(2, 3), read(2, 3);
  ocl::serialize::OutputArchive out;
  out.write("weight", saved->weight);
  expect_error<ocl::ValueError>([&] { out.write("weight", saved->weight); }, "written already");
  out.save_to(path);
  ocl::serialize::InputArchive in;
  in.load_from(path);
  in.read("weight", read->weight);
  EXPECT_TRUE(read->weight.equal(saved->weight));
  EXPECT_TRUE(is_same(read->parameters()[0], read->weight) && read->weight.requires_grad());
  ocl::Tensor fresh;
  in.read("weight", fresh);
  EXPECT_TRUE(fresh.equal(saved->weight));
  EXPECT_FALSE(in.try_read("bias", fresh));
  expect_error<ocl::ValueError>([&] { in.read("bias", fresh); }, "there is no tensor \"bias\"");
  expect_error<ocl::ValueError>([&] { in.read("weight", read->bias); }, "has shape");
  std::filesystem::remove(path);
}

TEST_F(LibtorchHolders, Files) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("libtorch_holders." + std::to_string(::getpid()) + ".safetensors");
  Net net;
  ocl::save(net.fc1, path);
  ocl::nn::Linear other(2, 3);
  ocl::load(other, path);
  EXPECT_TRUE(other->weight.equal(net.fc1->weight));
  Block block(2), read(2);
  ocl::save(block, path);
  ocl::load(read, path);
  EXPECT_TRUE(read->fc->weight.equal(block->fc->weight));
  std::filesystem::remove(path);
}
