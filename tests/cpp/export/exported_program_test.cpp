// Programs made of the primitives that work calls: the same bits from a file, on other memory.
#include "dlprim/export/exported_program.h"

#include <unistd.h>

#include <filesystem>

#include "autograd/export.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_file.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/io/safetensors.h"
#include "dlprim/runtime/device.h"
#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;
using dlprim::ProgramRunner;

namespace {

class ExportedPrograms : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("tapecl_" + std::string(test->name()) + std::to_string(::getpid()) + ".ocl");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /** The program after a round trip through a file. */
  ExportedProgram from_file(const ExportedProgram& program) {
    save_program(program, path_);
    return dlprim::load_program(path_, *device_of_test());
  }
  static Device device_of_test() { return Device(); }

  std::filesystem::path path_;
};

void set_input(ProgramRunner& runner, const std::string& name, const Tensor& value) {
  copy(runner.device().queue(), value.data(), runner.input(name));
}

std::vector<char> bytes(const dlprim::Tensor& tensor) {
  return Tensor(tensor).to_bytes();
}

nn::Sequential small_net() {
  using namespace nn;
  return Sequential(make<Conv2d>(1, 8, 3), make<BatchNorm2d>(8), make<ReLU>(), make<MaxPool2d>(2),
                    make<Flatten>(), make<Dropout>(0.25), make<Linear>(8 * 13 * 13, 10));
}

}  // namespace

TEST_F(ExportedPrograms, ForwardGivesTheBitsOfEagerForOtherInputs) {
  nn::Sequential net = small_net();
  net.eval();
  const Tensor example = randn({3, 1, 28, 28});
  const NoGradGuard no_grad;
  const ExportedProgram program = from_file(
      export_program([&] { return NamedTensors{{"y", net(example)}}; }, {{"x", example}}, net.state_dict()));
  EXPECT_NE(program.text().find("0.weight"), std::string::npos) << program.text();
  ProgramRunner runner(program, *device_of_test());
  for (int run = 0; run < 4; ++run) {
    const Tensor x = randn({3, 1, 28, 28});
    set_input(runner, "x", x);
    runner.run();
    EXPECT_EQ(bytes(runner.output("y")), net(x).to_bytes()) << "run " << run;
  }
  EXPECT_TRUE(runner.replays());
}

TEST_F(ExportedPrograms, DynamicShapesGiveTheBitsOfEagerAtOtherSizes) {
  nn::Sequential net = small_net();
  net.eval();
  const Dim batch{"batch", 1, 6};
  const NoGradGuard no_grad;
  const auto work = [&](const std::vector<Tensor>& inputs) { return NamedTensors{{"y", net(inputs[0])}}; };
  const ExportedProgram program =
      from_file(export_program(work, {{"x", randn({3, 1, 28, 28})}}, {{{0, batch}}}, net.state_dict()));
  ASSERT_EQ(program.symbols.size(), 1u);
  EXPECT_NE(program.text().find("x: float32[batch, 1, 28, 28]"), std::string::npos) << program.text();
  ProgramRunner runner(program, *device_of_test());
  const std::size_t arena = runner.plan().bytes;
  for (const std::int64_t size : {6, 1, 2, 2, 2, 5, 6}) {
    const Tensor x = randn({size, 1, 28, 28});
    runner.set_input_shape(0, x.shape());
    set_input(runner, "x", x);
    runner.run();
    EXPECT_EQ(bytes(runner.output("y")), net(x).to_bytes()) << "batch " << size;
  }
  EXPECT_EQ(runner.plan().bytes, arena);
  expect_error<ValueError>([&] { runner.set_input_shape(0, {7, 1, 28, 28}); },
                           "batch, is 7, and must be from 1 to 6");
  expect_error<ValueError>([&] { runner.set_input_shape(0, {6, 1, 28}); }, "got [6, 1, 28]");
  expect_error<ValueError>([&] { export_program(work, {{"x", randn({8, 1, 28, 28})}}, {{{0, batch}}}); },
                           "dimension 0 of input x is 8");
  expect_error<Error>(
      [&] {
        export_program(
            [](const std::vector<Tensor>& x) {
              return NamedTensors{{"y", x[0].size(0) > 3 ? exp(x[0]) : sin(x[0])}};
            },
            {{"x", randn({4, 2})}}, {{{0, batch}}});
      },
      "differs with the sizes");
}

TEST_F(ExportedPrograms, ATrainingStepGivesTheBitsOfEagerOverManyRunsAndResumes) {
  manual_seed(5);
  nn::Sequential net = small_net();
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.05).momentum(0.9));
  Tensor x = randn({6, 1, 28, 28}), y = randint(0, 10, {6});
  std::vector<Tensor> pictures;  // drawn before, so that the step's numbers are the generator's only ones
  for (int i = 0; i < 6; ++i) pictures.push_back(randn({6, 1, 28, 28}));
  const auto step = [&] {
    optimizer.zero_grad();
    const Tensor loss = nn::functional::cross_entropy(net(x), y);
    loss.backward();
    optimizer.step();
    return NamedTensors{{"loss", loss}};
  };
  step();  // the optimizer makes its states
  const std::vector<char> weights_before = net.parameters().front().to_bytes();
  const ExportedProgram program = export_program(step, {{"x", x}, {"y", y}}, net.state_dict());
  EXPECT_EQ(net.parameters().front().to_bytes(), weights_before) << "the export has trained the net";
  EXPECT_GT(program.random_advance, 0u);

  auto runner = std::make_unique<ProgramRunner>(from_file(program), *device_of_test());
  for (int run = 0; run < 6; ++run) {
    x.copy_(pictures[static_cast<std::size_t>(run)]);
    set_input(*runner, "x", x);
    set_input(*runner, "y", y);
    runner->run();
    EXPECT_EQ(bytes(runner->output("loss")), step().front().second.to_bytes()) << "run " << run;
    if (run == 3) {
      save_program(runner->current_program(), path_);
      runner =
          std::make_unique<ProgramRunner>(dlprim::load_program(path_, *device_of_test()), *device_of_test());
    }
  }
  for (const auto& [name, parameter] : net.named_parameters())
    EXPECT_EQ(bytes(runner->state(name)), parameter.to_bytes()) << name;
}

TEST_F(ExportedPrograms, SayWhatCannotBeExported) {
  const Tensor x = randn({4, 4});
  const auto expect_refusal = [&](const std::function<Tensor()>& work, const std::string& part) {
    expect_error<Error>([&] { export_program([&] { return NamedTensors{{"y", work()}}; }, {{"x", x}}); },
                        part);
  };
  expect_refusal([&] { return x * x.sum().item(); }, "read on the host");
  int calls = 0;
  expect_refusal([&] { return x * ++calls; }, "differs from one call to the next: mul");
  expect_refusal([&] { return nonzero(x > 0); }, "export: ");
}

TEST_F(ExportedPrograms, DropCallsThatNobodyNeeds) {
  const Tensor x = randn({4, 4});
  const ExportedProgram program = export_program(
      [&] {
        sin(x);
        return NamedTensors{{"y", cos(x)}};
      },
      {{"x", x}});
  EXPECT_EQ(program.calls.size(), 1u) << program.text();
}

TEST_F(ExportedPrograms, KeepWhatTheHostUploads) {
  const Tensor x = randn({3});
  const ExportedProgram program = from_file(export_program(
      [&] { return NamedTensors{{"y", x + tensor(std::vector<float>{1, 2, 3}, {3})}}; }, {{"x", x}}));
  ProgramRunner runner(program, *device_of_test());
  for (int run = 0; run < 3; ++run) {
    set_input(runner, "x", zeros({3}));
    runner.run();
    EXPECT_EQ(Tensor(runner.output("y")).to_vector(), (std::vector<float>{1, 2, 3}));
  }
}

TEST_F(ExportedPrograms, RefuseAPlaceThatReachesPastItsBuffer) {
  const Tensor x = randn({4, 4});
  ExportedProgram program = export_program([&] { return NamedTensors{{"y", sin(x)}}; }, {{"x", x}});
  program.inputs.front().tensor.shape = {4, 5};
  program.inputs.front().tensor.strides = {5, 1};
  expect_error<ValueError>([&] { check_program(program); }, "reaches past its buffer");
  save_program(program, path_);
  expect_error<FileError>([&] { dlprim::load_program(path_, *device_of_test()); }, path_.string());
}

TEST_F(ExportedPrograms, RefuseFilesThatAreNoPrograms) {
  dlprim::io::SafetensorsWriter(path_, {}).finish();
  expect_error<FileError>([&] { dlprim::load_program(path_, *device_of_test()); }, "no exported program");
}

TEST(PrimitiveTable, RefusesValuesOfOtherKinds) {
  dlprim::ArgumentContext context{[](const dlprim::Tensor& t) { return t; },
                                  [](dlprim::PhiloxState state) { return state; }};
  const dlprim::Primitive& arange = *dlprim::find_primitive("arange");
  expect_error<TypeError>(
      [&] { arange.call({{"out", std::string("x")}, {"start", 1.0}, {"step", 1.0}}, context); },
      "arange: argument out: expected a tensor, got a text");
  EXPECT_THROW(arange.call({}, context), TypeError);
  EXPECT_EQ(dlprim::find_primitive("nms"), nullptr);
}
