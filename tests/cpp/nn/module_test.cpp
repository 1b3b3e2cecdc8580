#include "nn/module.h"

#include <filesystem>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Modules : public OnDevice {};

struct Net : nn::Module {
  nn::Child<nn::Conv2d> conv = add<nn::Conv2d>("conv", 1, 2, 3);
  nn::Child<nn::BatchNorm2d> norm = add<nn::BatchNorm2d>("norm", 2);
  nn::Child<nn::Linear> out = add<nn::Linear>("out", 8, 3);
  Tensor forward(const Tensor& x) override { return out(flatten(relu(norm(conv(x))), 1)); }
};

std::vector<std::string> names_of(const StateDict& state) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) names.push_back(name);
  return names;
}

std::string temporary_file() {
  return (std::filesystem::temp_directory_path() /
          ("tapecl_module_test." + std::to_string(getpid()) + ".safetensors"))
      .string();
}

}  // namespace

TEST_F(Modules, Names) {
  const Net net;
  EXPECT_EQ(names_of(net.named_parameters()),
            (std::vector<std::string>{"conv.weight", "conv.bias", "norm.weight", "norm.bias", "out.weight",
                                      "out.bias"}));
  EXPECT_EQ(names_of(net.named_buffers()),
            (std::vector<std::string>{"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(net.parameters().size(), 6u);
  EXPECT_EQ(net.name(), "Net");
  for (const Tensor& p : net.parameters()) EXPECT_TRUE(p.requires_grad() && p.is_leaf());
}

TEST_F(Modules, ReprIsPyTorchs) {
  EXPECT_EQ(nn::Sequential(nn::make<nn::Linear>(2, 3), nn::make<nn::ReLU>()).repr(),
            "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): ReLU()\n)");
  EXPECT_EQ(nn::Linear(nn::LinearOptions(2, 3).bias(false)).repr(),
            "Linear(in_features=2, out_features=3, bias=False)");
}

TEST_F(Modules, Sequential) {
  nn::Sequential net(nn::make<nn::Linear>(2, 3), nn::make<nn::ReLU>());
  net.append(nn::make<nn::Linear>(3, 1));
  EXPECT_EQ(net.size(), 3u);
  EXPECT_EQ(net.at(-1)->name(), "Linear");
  EXPECT_EQ(net(ones({5, 2})).shape(), (Dims{5, 1}));
  expect_error<IndexError>([&] { net.at(3); }, "3");
}

TEST_F(Modules, OfSeveralInputs) {
  const auto bilinear = nn::make<nn::Bilinear>(nn::BilinearOptions(3, 4, 2));
  const Tensor a = randn({5, 3}), b = randn({5, 4});
  const Tensor expected = ocl::bilinear(a, b, bilinear->weight, bilinear->bias);
  EXPECT_EQ((*bilinear)(a, b).to_vector(), expected.to_vector());
  EXPECT_EQ(bilinear->call({{a}, {{"input2", b}}}).tensor("the result").to_vector(), expected.to_vector());
  expect_error<TypeError>([&] { bilinear->call({{a}, {{"input3", b}}}); }, "input3");
  expect_error<TypeError>([&] { bilinear->call({{a}, {}}); }, "input2 of Bilinear");
  int calls = 0;
  bilinear->register_forward_hook([&](nn::Module&, const nn::Arguments&, const nn::Value&) {
    ++calls;
    return nn::Value();
  });
  (*bilinear)(a, b);
  EXPECT_EQ(calls, 1);

  nn::EmbeddingBag bag(nn::EmbeddingBagOptions(6, 2).mode("sum"));
  const Tensor indices = tensor(std::vector<std::int64_t>{1, 5, 5}, {3});
  const Tensor begins = tensor(std::vector<std::int64_t>{0, 1}, {2}), factors = full({3}, 0.5);
  EXPECT_TRUE(allclose(bag(indices, begins, factors), index_select(bag.weight, 0, narrow(indices, 0, 0, 2)) *
                                                          tensor(Values{0.5, 1}, {2, 1})));
  EXPECT_EQ(bag(reshape(indices, {1, 3})).shape(), (Dims{1, 2}));
  nn::TripletMarginLoss loss(nn::TripletMarginLossOptions().margin(0.5));
  EXPECT_EQ(loss(a, a, a).to_vector(), Values{0.5});
}

TEST_F(Modules, TrainingMode) {
  Net net;
  EXPECT_TRUE(net.norm->is_training());
  net.eval();
  EXPECT_FALSE(net.norm->is_training());
  nn::Dropout dropout(0.5);
  dropout.eval();
  EXPECT_EQ(dropout(ones({100})).to_vector(), Values(100, 1));
  dropout.train();
  for (const float v : dropout(ones({100})).to_vector()) EXPECT_TRUE(v == 0 || v == 2) << v;
}

TEST_F(Modules, BatchNormMovesItsStatistics) {
  nn::BatchNorm1d norm(1);
  norm(tensor(Values{1, 3}, {2, 1}));
  EXPECT_NEAR(norm.running_mean.item(), 0.1 * 2, 1e-6);
  EXPECT_NEAR(norm.running_var.item(), 0.9 + 0.1 * 2, 1e-6);
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 1);
  norm.eval();
  EXPECT_NEAR(norm(tensor(Values{0.2f}, {1, 1})).item(), 0, 1e-6);
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 1);
  expect_error<ValueError>([&] { norm(ones({1, 1, 1, 1})); }, "BatchNorm1d");
}

TEST_F(Modules, ZeroGradAndFreezing) {
  nn::Linear linear(2, 1);
  sum(linear(ones({1, 2}))).backward();
  linear.zero_grad(false);
  EXPECT_EQ(gradient(linear.weight), (Values{0, 0}));
  linear.zero_grad();
  EXPECT_FALSE(linear.weight.grad().defined());
  linear.requires_grad_(false);
  EXPECT_FALSE(linear(ones({1, 2})).requires_grad());
}

TEST_F(Modules, ConversionKeepsHandles) {
  nn::Linear linear(2, 1);
  const Tensor handle = linear.weight;
  linear.to(DType::float16);
  EXPECT_EQ(handle.dtype(), DType::float16);
  EXPECT_TRUE(is_same(handle, linear.parameters()[0]));
  expect_error<TypeError>([&] { linear.to(DType::int32); }, "only accepts floating dtypes, got int32");
}

TEST_F(Modules, ForwardHooks) {
  nn::Identity identity;
  identity.register_forward_hook([](const nn::Module& module, const Tensor& x, const Tensor& y) {
    EXPECT_EQ(module.name(), "Identity");
    return x + y;
  });
  EXPECT_EQ(identity(full({}, 3.0)).item(), 6);
}

TEST_F(Modules, AForwardThatIsReplaced) {
  nn::Sequential net(nn::make<nn::Identity>(), nn::make<nn::Identity>());
  nn::Module& first = *net.entries().front();
  EXPECT_TRUE(first.computes_alone());
  first.replace_forward(
      [](const nn::Arguments& given) { return nn::Value(given.positional.at(0).tensor("x") * 5); });
  EXPECT_FALSE(first.computes_alone());
  EXPECT_FALSE(first.has_hooks());
  first.register_forward_hook([](const nn::Module&, const Tensor& x, const Tensor& y) { return x + y; });
  EXPECT_EQ(net(full({}, 2.0)).item(), 12);
  EXPECT_EQ(first(nn::Arguments{{full({}, 2.0)}, {}}).tensor("y").item(), 12);
  first.replace_forward({});
  EXPECT_EQ(net(full({}, 2.0)).item(), 4);
}

TEST_F(Modules, IdleHooksAreNotCalled) {
  nn::Identity identity;
  bool is_idle = true;
  const nn::Module::ForwardHook adds = [](nn::Module&, const nn::Arguments&, const nn::Value& y) {
    return nn::Value(y.tensor("y") + 1);
  };
  identity.register_forward_hook(adds, [&] { return is_idle; });
  EXPECT_FALSE(identity.has_hooks());
  EXPECT_EQ(identity(full({}, 3.0)).item(), 3);
  is_idle = false;
  EXPECT_TRUE(identity.has_hooks());
  EXPECT_EQ(identity(full({}, 3.0)).item(), 4);
}

TEST_F(Modules, PreHooksAndRemoval) {
  nn::Identity identity;
  nn::RemovableHandle doubles =
      identity.register_forward_pre_hook([](const nn::Module&, const Tensor& x) { return x * 2; });
  nn::RemovableHandle adds =
      identity.register_forward_hook([](const nn::Module&, const Tensor&, const Tensor& y) { return y + 1; });
  EXPECT_EQ(identity(full({}, 3.0)).item(), 7);
  adds.remove();
  adds.remove();
  EXPECT_EQ(identity(full({}, 3.0)).item(), 6);
  doubles.remove();
  EXPECT_EQ(identity(full({}, 3.0)).item(), 3);
  nn::RemovableHandle outlives;
  {
    nn::Identity gone;
    outlives = gone.register_forward_pre_hook([](const nn::Module&, const Tensor& x) { return x; });
  }
  outlives.remove();
}

TEST_F(Modules, BackwardHooks) {
  nn::Linear linear(nn::LinearOptions(2, 1).bias(false));
  const Tensor x = leaf({1, 2}, {1, 2});
  Values seen;
  linear.register_full_backward_hook(
      [&](const nn::Module&, const Tensor& grad_input, const Tensor& grad_output) {
        seen = grad_output.to_vector();
        return grad_input * 10;
      });
  (linear(x) * 3).backward();
  EXPECT_EQ(seen, Values{3});
  const Values weight = linear.weight.to_vector();
  expect_close(gradient(x), Values{30 * weight[0], 30 * weight[1]}, 1e-6, 0);
  EXPECT_EQ(gradient(linear.weight), (Values{3, 6}));
}

TEST_F(Modules, Walks) {
  Net net;
  EXPECT_EQ(names_of(net.named_parameters("net", false)), std::vector<std::string>{});
  EXPECT_EQ(names_of(net.out->named_parameters("out", false)),
            (std::vector<std::string>{"out.weight", "out.bias"}));
  EXPECT_EQ(net.get_submodule("norm")->name(), "BatchNorm2d");
  EXPECT_TRUE(is_same(net.get_parameter("out.bias"), net.out->bias));
  EXPECT_TRUE(is_same(net.get_buffer("norm.running_var"), net.norm->running_var));
  expect_error<nn::AttributeError>([&] { net.get_submodule("out.in"); }, "Linear has no attribute `in`");
  expect_error<nn::AttributeError>([&] { net.get_parameter("out.wait"); }, "has no parameter `wait`");
  std::vector<std::string> paths;
  for (const auto& [path, module] : net.named_modules("n")) paths.push_back(path);
  EXPECT_EQ(paths, (std::vector<std::string>{"n", "n.conv", "n.norm", "n.out"}));
}

TEST_F(Modules, ListsSharedModulesOnceOrUnderEachName) {
  nn::Module net;
  const auto shared = std::make_shared<nn::Linear>(2, 2);
  net.register_module("a", shared);
  net.register_module("b", shared);
  EXPECT_EQ(net.named_modules("", /*include_self=*/false).size(), 1u);
  EXPECT_EQ(net.modules().size(), 2u);
  EXPECT_EQ(net.modules(/*include_self=*/false).front(), shared);
  EXPECT_EQ(net.children().size(), net.named_children().size());
  EXPECT_EQ(net.named_modules().size(), 2u);
  EXPECT_EQ(net.named_modules("", nn::Module::Duplicates::kept).size(), 3u);
}

TEST_F(Modules, BuffersThatStayOutOfTheStateDict) {
  nn::Module module;
  module.register_buffer("scratch", ones({1}), false);
  module.register_buffer("kept", ones({1}));
  EXPECT_EQ(names_of(module.state_dict("m.")), std::vector<std::string>{"m.kept"});
  EXPECT_EQ(module.buffers().size(), 2u);
  module.unregister("kept");
  EXPECT_TRUE(module.state_dict().empty());
  expect_error<ValueError>([&] { module.unregister("kept"); }, "no parameter, buffer or submodule 'kept'");
}

TEST_F(Modules, LoadingByAssignment) {
  nn::Linear linear(2, 1);
  Tensor weight = full({1, 2}, 3.0);
  const nn::IncompatibleKeys keys = linear.load_state_dict({{"weight", weight}, {"x", weight}}, false, true);
  EXPECT_EQ(keys.missing_keys, std::vector<std::string>{"bias"});
  EXPECT_EQ(keys.unexpected_keys, std::vector<std::string>{"x"});
  EXPECT_TRUE(linear.weight.requires_grad());
  weight.fill_(4);
  EXPECT_EQ(linear.weight.to_vector(), (Values{4, 4}));
}

TEST_F(Modules, SharedParametersCountOnce) {
  struct Shared : nn::Module {
    Shared() {
      const auto one = nn::make<nn::Linear>(2, 2);
      register_module("first", one);
      register_module("second", one);
    }
  };
  EXPECT_EQ(Shared().parameters().size(), 2u);
}

TEST_F(Modules, WrongUse) {
  nn::Module module;
  expect_error<TypeError>([&] { module(ones({1})); }, "is missing the required \"forward\" function");
  expect_error<ValueError>([&] { module.register_parameter("a.b", ones({1})); }, "one word without '.'");
  expect_error<ValueError>([&] { module.register_module("", nullptr); }, "one word without '.'");
  expect_error<ValueError>([] { nn::Linear(-1, 3); }, "Linear: features must not be negative");
  expect_error<ValueError>([] { nn::Dropout(1.5); }, "between 0 and 1, but got 1.5");
  nn::Linear linear(2, 3);
  expect_error<ValueError>([&] { linear(ones({4, 5})); }, "[4, 5]");
  nn::Conv2d conv(3, 4, 3);
  expect_error<ValueError>([&] { conv(ones({1, 2, 8, 8})); }, "[1, 2, 8, 8]");
}

TEST_F(Modules, StateDictThroughAFile) {
  Net net, other;
  net(rand({4, 1, 4, 4}));  // moves the running statistics
  const std::string path = temporary_file();
  save(net.state_dict(), path, {{"epoch", "3"}});
  EXPECT_EQ(load_metadata(path).at("epoch"), "3");
  other.load_state_dict(load(path));
  std::filesystem::remove(path);
  const StateDict expected = net.state_dict(), actual = other.state_dict();
  EXPECT_EQ(names_of(actual), names_of(expected));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(actual[i].second.to_bytes(), expected[i].second.to_bytes()) << expected[i].first;
  EXPECT_EQ(other.norm->num_batches_tracked.item<int>(), 1);
  const Tensor x = rand({2, 1, 4, 4});
  net.eval();
  other.eval();
  EXPECT_EQ(net(x).to_vector(), other(x).to_vector());
}

TEST_F(Modules, EveryDTypeThroughAFile) {
  StateDict state;
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::int32,
                            DType::uint8, DType::boolean})
    state.emplace_back(name(dtype), transpose(full({2, 3}, 1, dtype), 0, 1));
  state.emplace_back("empty", empty({0, 3}));
  state.emplace_back("scalar", full({}, 4.0));
  const std::string path = temporary_file();
  save(state, path);
  const StateDict back = load(path);
  std::filesystem::remove(path);
  for (const auto& [name_of_entry, tensor] : back) {
    const auto original =
        std::find_if(state.begin(), state.end(),
                     [&, key = name_of_entry](const auto& entry) { return entry.first == key; });
    ASSERT_NE(original, state.end());
    EXPECT_EQ(tensor.dtype(), original->second.dtype()) << name_of_entry;
    EXPECT_EQ(tensor.shape(), original->second.shape()) << name_of_entry;
    EXPECT_EQ(tensor.to_bytes(), original->second.to_bytes()) << name_of_entry;
  }
  EXPECT_EQ(back.size(), state.size());
}

TEST_F(Modules, StateDictsThatDoNotFit) {
  nn::Linear linear(2, 3);
  const Values before = linear.weight.to_vector();
  StateDict state = linear.state_dict();
  state[0].first = "wait";
  expect_error<ValueError>([&] { linear.load_state_dict(state); },
                           "Missing key(s) in state_dict: \"weight\"");
  expect_error<ValueError>([&] { linear.load_state_dict(state); },
                           "Unexpected key(s) in state_dict: \"wait\"");
  EXPECT_NO_THROW(linear.load_state_dict(state, false));
  expect_error<ValueError>(
      [&] { linear.load_state_dict({{"weight", ones({3, 3})}, {"bias", ones({3})}}, false); },
      "size mismatch for weight");
  EXPECT_EQ(linear.weight.to_vector(), before);
  EXPECT_NE(linear.bias.to_vector(), (Values{1, 1, 1}));  // nothing is copied unless everything fits
  expect_error<FileError>([] { load("/no/such/file.safetensors"); }, "/no/such/file.safetensors");
}

TEST_F(Modules, NothingIsLoadedUnlessACounterFitsToo) {
  nn::BatchNorm2d norm(2);
  StateDict state = norm.state_dict();
  for (auto& [name, value] : state)
    value = name == "num_batches_tracked" ? zeros({2}, DType::int64) : full({2}, 7.0);
  expect_error<ValueError>([&] { norm.load_state_dict(state); }, "size mismatch for num_batches_tracked");
  EXPECT_EQ(norm.weight.to_vector(), (Values{1, 1}));
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 0);
  state.back().second = full({1}, 5, DType::int64);
  norm.load_state_dict(state);
  EXPECT_EQ(norm.weight.to_vector(), (Values{7, 7}));
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 5);
}

TEST_F(Modules, AnUndefinedTensorIsMissing) {
  nn::Linear linear(2, 1);
  expect_error<ValueError>([&] { linear.load_state_dict({{"weight", ones({1, 2})}, {"bias", {}}}); },
                           "Missing key(s) in state_dict: \"bias\"");
}

TEST_F(Modules, HooksMayChangeAStateDict) {
  nn::Sequential net(nn::make<nn::Linear>(1, 1), nn::make<nn::Linear>(1, 1));
  std::vector<std::string> order;
  const auto inner = net.at(1);
  inner->register_state_dict_pre_hook([&](const nn::Module&, const std::string& prefix, bool keep_vars) {
    order.push_back("before " + prefix + (keep_vars ? " kept" : ""));
  });
  inner->register_state_dict_post_hook([&](const nn::Module&, StateDict& state, const std::string& prefix) {
    order.push_back("after " + std::to_string(state.size()));
    state.back().first = prefix + "shift";
  });
  EXPECT_EQ(names_of(net.state_dict("n.", true)),
            (std::vector<std::string>{"n.0.weight", "n.0.bias", "n.1.weight", "n.1.shift"}));
  EXPECT_EQ(order, (std::vector<std::string>{"before n.1. kept", "after 4"}));
  EXPECT_TRUE(net.state_dict("", true)[0].second.requires_grad());
  EXPECT_FALSE(net.state_dict()[0].second.requires_grad());
  StateDict state = net.state_dict();
  for (auto& [key, tensor] : state) tensor = tensor * 0 + 7;
  expect_error<ValueError>([&] { net.load_state_dict(state); }, "Missing key(s) in state_dict: \"1.bias\"");
  const auto renaming = inner->register_load_state_dict_pre_hook(
      [](nn::Module&, StateDict& given, const std::string& prefix, nn::LoadReport&) {
        for (auto& [key, tensor] : given)
          if (key == prefix + "shift") key = prefix + "bias";
      });
  EXPECT_TRUE(net.rewrites_state_dicts());
  EXPECT_TRUE(net.load_state_dict(state).missing_keys.empty());
  EXPECT_EQ(inner->get_parameter("bias").item(), 7);
}

TEST_F(Modules, HooksMayExcuseMissingNames) {
  nn::Linear linear(1, 1);
  const Tensor weight = full({1, 1}, 3.0);
  const auto excuse = linear.register_load_state_dict_post_hook([&](nn::Module&, nn::IncompatibleKeys& keys) {
    EXPECT_EQ(keys.missing_keys, std::vector<std::string>{"bias"});
    EXPECT_EQ(linear.weight.item(), 3) << "what is there is loaded by now";
    keys.missing_keys.clear();
  });
  EXPECT_NO_THROW(linear.load_state_dict({{"weight", weight}}));
  linear.register_load_state_dict_pre_hook(
      [](nn::Module&, StateDict&, const std::string&, nn::LoadReport& report) {
        report.errors.push_back("no good");
      });
  expect_error<ValueError>([&] { linear.load_state_dict({{"weight", full({1, 1}, 4.0)}}); }, "no good");
  EXPECT_EQ(linear.weight.item(), 3) << "nothing changes where something does not fit";
}
