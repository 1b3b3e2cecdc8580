#include "aten/fallback.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/library.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>

#include "runtime/devices.h"
#include "runtime/generator.h"

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

/** A generator of the CPU that goes on from where the one given, or the default one, stands: another each
 * time, and the same for a seed. */
at::Generator on_the_cpu(const std::optional<at::Generator>& given, c10::Device device) {
  const dlprim::PhiloxState state = draw(given, device, 1);
  std::uint64_t mixed = state.seed + 0x9e3779b97f4a7c15 * (state.offset + 1);  // splitmix64
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return at::detail::createCPUGenerator(mixed ^ (mixed >> 31));
}

bool is_generator(c10::TypePtr type) {
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::GeneratorType;
}

/** Whether an operator takes tensors of the CPU beside those of a device: indices, and lengths. */
bool takes_several_devices(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  for (const char* part : {"index", "ctc_loss", "pack_padded_sequence", "copy", "set_", "::to"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

/** Throws what PyTorch throws for tensors of several devices. Numbers (tensors without dimensions) of the CPU
 * go with any. */
void require_one_device(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (takes_several_devices(op)) return;
  std::optional<c10::Device> device;
  const auto look_at = [&](const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) return;
    const at::Tensor& tensor = value.toTensor();
    if (tensor.is_cpu() && tensor.dim() == 0) return;
    if (!device) device = tensor.device();
    TORCH_CHECK(tensor.device() == *device, op.schema().name(),
                ": Expected all tensors to be on the same device, but found at least two devices, ", *device,
                " and ", tensor.device(), "!");
  };
  for (const c10::IValue& value : torch::jit::last(stack, op.schema().arguments().size())) {
    look_at(value);
    if (value.isList())
      for (const c10::IValue& one : value.toListRef()) look_at(one);
  }
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

c10::Device device_of_call(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto arguments = torch::jit::last(stack, op.schema().arguments().size());
  const auto is_ours = [](const c10::IValue& value) {
    return value.isTensor() && value.toTensor().defined() && value.toTensor().is_privateuseone();
  };
  for (const c10::IValue& value : arguments) {
    if (is_ours(value)) return value.toTensor().device();
    if (value.isList())
      for (const c10::IValue& one : value.toListRef())
        if (is_ours(one)) return one.toTensor().device();
  }
  for (const c10::IValue& value : arguments)
    if (value.isDevice() && value.toDevice().is_privateuseone() && value.toDevice().has_index())
      return value.toDevice();
  return {c10::kPrivateUse1, current_device()};
}

void generate_on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& arguments = op.schema().arguments();
  const std::size_t base = stack->size() - arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_generator(arguments[i].type())) continue;
    c10::IValue& value = (*stack)[base + i];
    value = on_the_cpu(value.isNone() ? std::nullopt : std::optional(value.toGenerator()),
                       device_of_call(op, *stack));
  }
}

void on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  require_one_device(op, *stack);
  note_fallback(toString(op.operator_name()));
  generate_on_the_cpu(op, stack);
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
}

}  // namespace torch_ocl
