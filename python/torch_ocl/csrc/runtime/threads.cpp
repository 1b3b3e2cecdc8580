#include "runtime/threads.h"

#include <ATen/ThreadLocalPythonObjects.h>
#include <ATen/ops/empty.h>
#include <c10/core/SafePyObject.h>
#include <torch/csrc/PyInterpreter.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>

#include "dlprim/runtime/device.h"
#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/responsible_thread.h"

namespace torch_ocl {
namespace {

constexpr const char* key = "torch_ocl.thread";

/** The object that PyTorch hands on as a Python object: it has none, so that no thread needs Python's lock
 * for it. */
struct Thread : c10::SafePyObject {
  explicit Thread(std::uint32_t n) : SafePyObject(nullptr, getPyInterpreter()), number(n) {}
  const std::uint32_t number;
};

/** The number of the thread that the calling one works for, or its own; 0 where none was announced. */
std::uint32_t find_thread() {
  using at::impl::ThreadLocalPythonObjects;
  if (!ThreadLocalPythonObjects::contains(key)) return 0;
  return static_cast<const Thread&>(*ThreadLocalPythonObjects::get(key)).number;
}

/** A backward pass that computes nothing and holds no Python object. */
struct NoGradients : torch::autograd::Function<NoGradients> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& input) {
    return at::empty({0}, input.options());
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    return {at::Tensor()};
  }
};

const bool is_installed = [] {
  dlprim::find_served_thread = &find_thread;
  return true;
}();

}  // namespace

void announce_thread() {
  static thread_local bool is_announced = false;
  if (is_announced || find_thread() != 0) return;
  at::impl::ThreadLocalPythonObjects::set(key, std::make_shared<Thread>(dlprim::thread_number()));
  is_announced = true;
}

void finish_backward_passes() {
  if (dlprim::lifetime::is_forked()) return;
  const c10::InferenceMode not_inference(false);
  const at::AutoGradMode recorded(true);
  // A device has one thread, which does one thing after another.
  for (const dlprim::Device* device : dlprim::Device::opened()) {
    const c10::Device place(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(device->index()));
    const at::Tensor input = at::empty({0}, at::TensorOptions().device(place)).set_requires_grad(true);
    const at::Tensor result = NoGradients::apply(input);
    torch::autograd::Engine::get_default_engine().execute({torch::autograd::impl::gradient_edge(result)},
                                                          {result.detach()}, false, false, true);
  }
}

}  // namespace torch_ocl
