#include "aten/fallback.h"

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

std::mutex counting;

std::map<std::string, std::int64_t>& counts() {
  static auto& counts = *new std::map<std::string, std::int64_t>;
  return counts;
}

}  // namespace

std::map<std::string, std::int64_t> fallbacks() {
  const std::lock_guard locked(counting);
  return counts();
}

void note_fallback(const std::string& name) {
  const Mode chosen = mode();
  TORCH_CHECK_NOT_IMPLEMENTED(chosen != Mode::error, name,
                              " has no kernel for ocl devices, and TORCH_OCL_FALLBACK=error");
  bool is_untold = false;
  {
    static auto& told = *new std::set<std::string>;
    const std::lock_guard locked(counting);
    ++counts()[name];
    is_untold = chosen == Mode::warn && told.insert(name).second;
  }
  if (is_untold)
    TORCH_WARN(
        name,
        " has no kernel for ocl devices and runs on the CPU: the device waits, and its tensors are copied "
        "to the host and back at every call. TORCH_OCL_FALLBACK=silent says nothing, =error raises.");
}

void on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  note_fallback(toString(op.operator_name()));
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
}

}  // namespace torch_ocl
