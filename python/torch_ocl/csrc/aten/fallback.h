#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>

#include <cstdint>
#include <map>
#include <string>

namespace torch_ocl {

/** An operator without a kernel of ocl: computed on the CPU, whose memory the tensors go through both ways.
 */
void on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/** A fall-back for a kernel that takes only some of an operator's arguments: OnTheCpu<at::_ops::name>::call.
 */
template <class Operator>
using OnTheCpu = at::native::call_fallback_fn<&on_the_cpu, Operator>;

/** The ocl device of the tensors, or of the device, among a call's arguments; else the current one. */
c10::Device device_of_call(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

/** Gives a random operator that is to run on the CPU a generator seeded by that of the device. */
void generate_on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/** The step before an operator's work on the CPU: warns, counts, or throws, as TORCH_OCL_FALLBACK has it. */
void note_fallback(const std::string& name);

/** How often each operator ran on the CPU so far. */
std::map<std::string, std::int64_t> fallbacks();

}  // namespace torch_ocl
