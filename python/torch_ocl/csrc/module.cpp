#include <pybind11/pybind11.h>

#include "dlprim/runtime/allocator.h"
#include "runtime/devices.h"
#include "tensors.h"

namespace py = pybind11;

PYBIND11_MODULE(_C, m) {
  m.def("device_count", [] { return int{torch_ocl::device_count()}; });
  m.def("current_device", [] { return int{torch_ocl::current_device()}; });
  m.def("set_device", [](int index) { torch_ocl::set_device(static_cast<c10::DeviceIndex>(index)); });
  m.def("exchange_device",
        [](int index) { return int{torch_ocl::exchange_device(static_cast<c10::DeviceIndex>(index))}; });
  m.def(
      "synchronize",
      [](int index) { torch_ocl::device_of(static_cast<c10::DeviceIndex>(index)).synchronize(); },
      py::call_guard<py::gil_scoped_release>());
  m.def("device_name",
        [](int index) { return torch_ocl::device_of(static_cast<c10::DeviceIndex>(index)).info().name; });
  m.def("empty_cache", [] { torch_ocl::device_of(c10::DeviceIndex{-1}).allocator().empty_cache(); });
  m.def("memory_allocated", [](int index) {
    return torch_ocl::device_of(static_cast<c10::DeviceIndex>(index)).allocator().stats().allocated;
  });
}
