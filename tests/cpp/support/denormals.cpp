#include "tests/cpp/support/denormals.h"

#include <algorithm>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/program.h"
#include "tests/cpp/support/tensors.h"

namespace testing_support {
namespace {

/** Flags of the threads that run some work groups, which are taken back. Items are busy for a while, so that
 * each thread gets some. (By the compiler's functions: PoCL 5 fails at inline assembly.) */
bool take_flags() {
  constexpr int groups = 256;
  dlprim::Kernel& kernel =
      device().programs().generated_kernel("test for denormal numbers", "take_flags", "", [] {
        return dlprim::expanded_source("core/common.cl") + R"(
          __attribute__((reqd_work_group_size(1, 1, 1)))
          __kernel void take_flags(BUFFER(int, met)) {
            BIND(int, met);
            const uint denormal = 2, all = 63;
            const uint state = __builtin_ia32_stmxcsr();
            met[get_group_id(0)] = state & denormal;
            __builtin_ia32_ldmxcsr(state & ~all);
            for (volatile int turn = 0; turn < 20000; ++turn) ;
          })";
      });
  const dlprim::Tensor met = upload(std::vector<std::int32_t>(groups), {groups});
  queue().launch(kernel, dlprim::Range::groups(1, groups), met);
  const auto flags = download<std::int32_t>(met);
  return std::any_of(flags.begin(), flags.end(), [](std::int32_t flag) { return flag != 0; });
}

void square(float number) {
  const dlprim::Tensor t = upload(std::vector<float>{number}, {1});
  dlprim::pointwise(queue(), dlprim::forward_expression(dlprim::pointwise_op("square")), t.dtype, {t}, {},
                    {t});
}

constexpr float denormal = 1e-40F;
#if defined(__x86_64__)
constexpr bool has_flags = true;
#else
constexpr bool has_flags = false;
#endif

}  // namespace

bool notes_denormals() {
  const dlprim::DeviceInfo& info = device().info();
  if (!has_flags || !info.runs_cpu_kernels() || info.platform_name != "Portable Computing Language")
    return false;
  have_met_denormals();
  square(1);
  const bool of_one = have_met_denormals();
  square(denormal);
  return !of_one && have_met_denormals();
}

bool have_met_denormals() {
  constexpr int quiet_enough = 4, most_turns = 1000;  // a flag that stays is one that was met
  bool met = false;
  for (int turn = 0, quiet = 0; turn < most_turns && quiet < quiet_enough; ++turn) {
    const bool taken = take_flags();
    quiet = taken ? 0 : quiet + 1;
    met = met || taken;
  }
  return met;
}

void leave_denormals_in_memory() {
  for (const std::int64_t count : {1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 24})
    upload(std::vector<float>(static_cast<std::size_t>(count), denormal), {count});
}

}  // namespace testing_support
