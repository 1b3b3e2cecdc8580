#include "dlprim/runtime/program.h"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/kernel_sources.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr const char* good_source =
    "__kernel void set_seven(__global int *p, const ulong start) { p[start + get_global_id(0)] = 7; }\n";

ProgramTable& programs() {
  return device().programs();
}

std::function<std::string()> source(const std::string& text) {
  return [text] { return text; };
}

}  // namespace

TEST(Program, DefinesKeepTheirOrder) {
  Defines defines;
  defines.set("TILE", 8).set("TYPE", "float").add_option("-cl-mad-enable");
  EXPECT_EQ(defines.text(), " -DTILE=8 -DTYPE=float -cl-mad-enable");
  EXPECT_EQ(Defines().set("A", -1).append(defines).text(), " -DA=-1 -DTILE=8 -DTYPE=float -cl-mad-enable");
}

TEST(Program, AKernelOfAFileIsFoundByWhatItWasAskedForWith) {
  const char* file = "ops/softmax/softmax.cl";
  const char* name = "softmax_forward_rows";
  const auto defines = [](DType dtype, int exact) {
    return dtype_defines(dtype).set("EXACT_STORAGE", exact);
  };
  Kernel& kernel = programs().kernel(file, name, defines(DType::float32, 1));
  EXPECT_EQ(&programs().kernel(file, name, defines(DType::float32, 1)), &kernel);
  EXPECT_EQ(
      &programs().kernel(std::string(file).c_str(), std::string(name).c_str(), defines(DType::float32, 1)),
      &kernel);
  Defines elsewhere = dtype_defines(DType::float32);
  elsewhere.set(interned("EXACT_STORAGE"), interned("1"));
  EXPECT_EQ(&programs().kernel(file, name, elsewhere), &kernel) << "the text is the same";
  EXPECT_NE(&programs().kernel(file, name, defines(DType::float32, 0)), &kernel);
  EXPECT_NE(&programs().kernel(file, name, defines(DType::float16, 1)), &kernel);
  EXPECT_NE(&programs().kernel(file, "softmax_backward_rows", defines(DType::float32, 1)), &kernel);
  EXPECT_EQ(kernel.program->label, file);
}

TEST(Program, MoreMacrosThanDefinesHoldAreRefused) {
  Defines defines;
  EXPECT_THROW(for (int i = 0; i < 100; ++i) defines.set("A", i), DeviceError);
}

TEST(Program, GeneratedKernelRuns) {
  Kernel& kernel = programs().generated_kernel("test set_seven", "set_seven", "", source(good_source));
  EXPECT_EQ(kernel.name, "set_seven");
  const Tensor t = Tensor::empty(device(), {5}, DType::int32);
  queue().launch(kernel, Range::linear(5, 1), t);
  EXPECT_EQ(download<std::int32_t>(t), std::vector<std::int32_t>(5, 7));
}

TEST(Program, IsBuiltOnceAndTheSourceAskedForOnce) {
  int asked = 0;
  const auto counted = [&] {
    ++asked;
    return std::string(good_source);
  };
  Kernel& first = programs().generated_kernel("test asked once", "set_seven", "", counted);
  const std::size_t count = programs().count();
  Kernel& second = programs().generated_kernel("test asked once", "set_seven", "", counted);
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(programs().count(), count);
}

TEST(Program, OneBuildForManyThreads) {
  std::atomic<int> asked{0};
  std::vector<std::thread> threads;
  std::vector<Kernel*> kernels(8);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    threads.emplace_back([&, i] {
      kernels[i] = &programs().generated_kernel("test many threads", "set_seven", "", [&] {
        ++asked;
        return std::string(good_source) + "// many threads\n";
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(asked, 1);
  for (const Kernel* kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
}

TEST(Program, ABuildStallsNoOtherThread) {
  programs().generated_kernel("test set_seven", "set_seven", "", source(good_source));
  std::future_status while_building = std::future_status::timeout;
  std::future<void> other;
  programs().generated_kernel("test builds meanwhile", "set_seven", "", [&] {
    other = std::async(std::launch::async, [] {
      programs().generated_kernel("test set_seven", "set_seven", "", source(good_source));
      download<float>(upload(std::vector<float>(8), {8}));
    });
    while_building = other.wait_for(std::chrono::seconds(20));
    return std::string(good_source) + "// meanwhile\n";
  });
  other.get();
  EXPECT_EQ(while_building, std::future_status::ready);
}

TEST(Program, ABuildErrorHoldsTheLog) {
  const auto broken = source("__kernel void broken(__global int *p) { p[0] = no_such_variable; }\n");
  const auto build = [&] {
    programs().generated_kernel("test broken", "broken", " -DSOME_OPTION=1", broken);
  };
  expect_error<KernelBuildError>(build, "test broken does not build on " + device().name());
  expect_error<KernelBuildError>(build, "no_such_variable");  // asked again, it says so again
  expect_error<KernelBuildError>(build, "-DSOME_OPTION=1");
  EXPECT_NO_THROW(programs().generated_kernel("test set_seven", "set_seven", "", source(good_source)));
}

TEST(Program, ABuildErrorIsADeviceError) {
  const auto broken = source("this is no OpenCL C\n");
  EXPECT_THROW(programs().generated_kernel("test no OpenCL C", "k", "", broken), DeviceError);
}

TEST(Program, AMissingKernelIsNamed) {
  expect_error<KernelBuildError>(
      [] { programs().generated_kernel("test set_seven", "set_eight", "", source(good_source)); },
      "kernel set_eight of test set_seven");
}

TEST(Program, AMissingFileIsNamed) {
  expect_error<DeviceError>([] { programs().kernel("ops/none/none.cl", "k"); },
                            "no kernel source named 'ops/none/none.cl'");
}

TEST(Program, IncludesAreExpandedOnce) {
  const std::string text = expanded_source("ops/softmax/softmax.cl");
  EXPECT_EQ(text.find("#include \""), std::string::npos);
  const std::size_t first = text.find("#define BUFFER(");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("#define BUFFER(", first + 1), std::string::npos);
}

TEST(Program, EverySourceIsCarried) {
  for (const char* file : {"core/common.cl", "ops/pointwise/pointwise.cl", "ops/reduce/reduce.cl"})
    EXPECT_EQ(kernel_sources().count(file), 1u) << file;
}
