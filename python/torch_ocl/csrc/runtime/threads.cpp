#include "runtime/threads.h"

#include <ATen/ThreadLocalPythonObjects.h>
#include <c10/core/SafePyObject.h>
#include <torch/csrc/PyInterpreter.h>

#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/responsible_thread.h"

namespace torch_ocl {
namespace {

constexpr const char* key = "torch_ocl.thread";

/** What PyTorch hands on as a Python object: it has none, so that no thread needs Python's lock for it. */
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

}  // namespace torch_ocl
