#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>

namespace torch_ocl {
namespace {

enum class Mode { warn, silent, error };

Mode mode() {
  const char* given = std::getenv("TORCH_OCL_FALLBACK");
  const std::string_view text = given ? given : "warn";
  if (text == "silent") return Mode::silent;
  if (text == "error") return Mode::error;
  TORCH_CHECK_VALUE(text == "warn", "TORCH_OCL_FALLBACK must be warn, silent or error, got ", text);
  return Mode::warn;
}

/** What ocl has no kernel for: computed on the CPU, whose memory the tensors go through both ways. */
void on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::string name = toString(op.operator_name());
  const Mode chosen = mode();
  TORCH_CHECK_NOT_IMPLEMENTED(chosen != Mode::error, name,
                              " has no kernel for ocl devices, and TORCH_OCL_FALLBACK=error");
  if (chosen == Mode::warn) {
    static std::mutex mutex;
    static auto& told = *new std::set<std::string>;
    bool is_new = false;
    {
      const std::lock_guard locked(mutex);
      is_new = told.insert(name).second;
    }
    if (is_new)
      TORCH_WARN(
          name,
          " has no kernel for ocl devices and runs on the CPU: the device waits, and its tensors are copied "
          "to the host and back at every call. TORCH_OCL_FALLBACK=silent says nothing, =error raises.");
  }
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
}

}  // namespace
}  // namespace torch_ocl
