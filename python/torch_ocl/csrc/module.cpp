#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "aten/fallback.h"
#include "aten/packs.h"
#include "dlpack.h"
#include "dlprim/runtime/allocator.h"
#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/pinned_memory.h"
#include "python/exchange.h"
#include "runtime/devices.h"
#include "runtime/generator.h"
#include "runtime/graph.h"
#include "runtime/threads.h"
#include "source_kernel.h"
#include "tensors.h"

namespace py = pybind11;

namespace torch_ocl {
namespace {

dlprim::Device& device_at(int index) {
  return device_of(static_cast<c10::DeviceIndex>(index));
}

py::dict properties(int index) {
  const dlprim::DeviceInfo& info = device_at(index).info();
  py::dict all;
  all["name"] = info.name;
  all["vendor"] = info.vendor;
  all["driver_version"] = info.driver_version;
  all["total_memory"] = info.global_memory;
  all["max_compute_units"] = info.compute_units;
  all["has_fp16"] = info.fp16;
  all["has_fp64"] = info.fp64;
  all["kernel_shape"] = info.runs_cpu_kernels() ? "cpu" : "simt";
  all["max_work_group"] = info.max_work_group;
  return all;
}

py::dict memory_stats(int index) {
  const dlprim::MemoryStats stats = device_at(index).allocator().stats();
  py::dict all;
  all["allocated"] = stats.allocated;
  all["max_allocated"] = stats.max_allocated;
  all["reserved"] = stats.reserved;
  all["max_reserved"] = stats.max_reserved;
  all["segments"] = stats.segments;
  all["allocations"] = stats.allocations;
  return all;
}

void empty_cache() {
  forget_packs();
  c10::getDeviceAllocator(c10::kPrivateUse1)->emptyCache();
  dlprim::PinnedMemory::empty_cache();
}

std::pair<std::size_t, std::size_t> memory_info(int index) {
  return c10::getDeviceAllocator(c10::kPrivateUse1)->getMemoryInfo(static_cast<c10::DeviceIndex>(index));
}

PYBIND11_MODULE(_C, m) {
  dlprim::python::meet(TAPECL_VERSION);
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const dlprim::IndexError& e) {
      PyErr_SetString(PyExc_IndexError, e.what());
    }
  });
  m.def("device_count", [] { return int{device_count()}; });
  m.def("current_device", [] { return int{current_device()}; });
  m.def("set_device", [](int index) { set_device(static_cast<c10::DeviceIndex>(index)); });
  m.def("exchange_device",
        [](int index) { return int{exchange_device(static_cast<c10::DeviceIndex>(index))}; });
  m.def("device_properties", &properties);
  m.def("opened_devices", [] {
    std::vector<int> indices;
    for (const dlprim::Device* device : dlprim::Device::opened()) indices.push_back(device->index());
    return indices;
  });
  m.def("is_forked", &dlprim::lifetime::is_forked);
  m.def("finish_backward_passes", &finish_backward_passes, py::call_guard<py::gil_scoped_release>());
  m.def(
      "synchronize", [](int index) { device_at(index).synchronize(); },
      py::call_guard<py::gil_scoped_release>());
  m.def("default_generator",
        [](int index) { return default_generator(static_cast<c10::DeviceIndex>(index)); });
  m.def(
      "elapsed_time",
      [](std::uintptr_t start, std::uintptr_t end) {
        const c10::impl::VirtualGuardImpl events(c10::kPrivateUse1);
        return events.elapsedTime(reinterpret_cast<void*>(start), reinterpret_cast<void*>(end), 0);
      },
      py::call_guard<py::gil_scoped_release>());
  py::class_<Graph>(m, "Graph")
      .def(py::init())
      .def("capture_begin", &Graph::capture_begin, py::arg("pool") = c10::MempoolId_t{0, 0})
      .def("capture_end", &Graph::capture_end, py::call_guard<py::gil_scoped_release>())
      .def("replay", &Graph::replay, py::call_guard<py::gil_scoped_release>())
      .def("reset", &Graph::reset, py::call_guard<py::gil_scoped_release>())
      .def("pool", &Graph::pool)
      .def("description", &Graph::description);
  m.def("new_graph_pool", &new_graph_pool);
  py::class_<SourceKernel>(m, "SourceKernel")
      .def(py::init<std::string, std::string, std::string, const std::vector<std::string>&>(),
           py::arg("source"), py::arg("name"), py::arg("options") = "",
           py::arg("checks") = std::vector<std::string>())
      .def("launch", &SourceKernel::launch, py::arg("tensors"), py::arg("numbers"), py::arg("global_size"),
           py::arg("local_size"), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("name", &SourceKernel::name)
      .def_property_readonly("source", &SourceKernel::source);
  m.def("is_capturing", [] { return capturing(-1) != nullptr; });
  m.def("fallbacks", &fallbacks);
  m.def("to_dlpack", [](const at::Tensor& tensor, const py::object& max_version) {
    return dlprim::python::capsule_of(elements_of(tensor), max_version);
  });
  m.def("from_dlpack",
        [](const py::object& capsule) { return tensor_over(dlprim::python::take_from(capsule)); });
  m.def("shows_opencl", &dlprim::python::shows_opencl);
  m.def("empty_cache", &empty_cache);
  m.def("memory_stats", &memory_stats);
  m.def("memory_info", &memory_info);
  m.def("reset_peak_memory_stats", [](int index) { device_at(index).allocator().reset_peaks(); });
  m.def("set_memory_limit",
        [](int index, std::uint64_t bytes) { device_at(index).allocator().set_limit(bytes); });
}

}  // namespace
}  // namespace torch_ocl
