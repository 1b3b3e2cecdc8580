#include "tests/cpp/support/device_faults.h"

#include "dlprim/runtime/program.h"
#include "tests/cpp/support/tensors.h"

namespace testing_support {

bool ends_loops_early() {
  static const bool answer = [] {
    constexpr int turns = 100'000;
    dlprim::Kernel& kernel =
        device().programs().generated_kernel("test whether loops end early", "count_turns", "", [] {
          return dlprim::expanded_source("core/common.cl") + R"(
            __kernel void count_turns(BUFFER(int, p), const int turns) {
              BIND(int, p);
              int x = 0;
              for (int i = 0; i < turns; ++i) x += p[1];
              p[0] = x;
            })";
        });
    const dlprim::Tensor counted = upload(std::vector<std::int32_t>{0, 1}, {2});
    queue().launch(kernel, dlprim::Range::linear(1, 1), counted, turns);
    return download<std::int32_t>(counted)[0] != turns;
  }();
  return answer;
}

bool calls_back() {
  static const bool answer = [] {
    cl::CommandQueue queue(device().context(), device().handle());
    cl::Event event;
    queue.enqueueMarkerWithWaitList(nullptr, &event);
    const auto ignore = [](cl_event, cl_int, void*) {};
    const cl_int code = clSetEventCallback(event(), CL_COMPLETE, ignore, nullptr);
    queue.finish();
    return code != CL_INVALID_OPERATION;
  }();
  return answer;
}

}  // namespace testing_support
