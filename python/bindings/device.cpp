#include "dlprim/runtime/device.h"
#include "autograd/profiler.h"
#include "autograd/tensor/default_device.h"
#include "autograd/tensor/generator.h"
#include "casters.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/kernel_warnings.h"
#include "dlprim/runtime/pending.h"

namespace {

using ocl::Device;
using OptionalDevice = std::optional<Device>;

dlprim::MemoryStats stats(const OptionalDevice& device) {
  return device_or_default(device)->allocator().stats();
}

// The device that counted before each `with device:` that this thread is in.
thread_local std::vector<OptionalDevice> outer_devices;

void enter_device(const Device& device) {
  outer_devices.push_back(ocl::exchange_thread_device(device));
}

void leave_device() {
  dlprim::require(!outer_devices.empty(), "device: left, but not entered by this thread");
  ocl::exchange_thread_device(outer_devices.back());
  outer_devices.pop_back();
}

py::dict properties(const OptionalDevice& which) {
  const Device device = device_or_default(which);
  const dlprim::DeviceInfo& info = device->info();
  py::dict d;
  d["name"] = info.name;
  d["vendor"] = info.vendor;
  d["version"] = info.version;
  d["driver_version"] = info.driver_version;
  d["platform_name"] = info.platform_name;
  d["platform_version"] = info.platform_version;
  d["is_cpu"] = info.is_cpu;
  d["kernel_shape"] = info.shape == dlprim::KernelShape::cpu ? "cpu" : "simt";
  d["compute_units"] = info.compute_units;
  d["max_work_group"] = info.max_work_group;
  d["local_memory"] = info.local_memory;
  d["total_memory"] = info.global_memory;
  d["max_allocation"] = info.max_allocation;
  d["fp64"] = info.fp64;
  d["fp16"] = info.fp16;
  d["subgroups"] = info.subgroups;
  d["shares_host_memory"] = info.shares_host_memory;
  return d;
}

py::dict memory_stats(const OptionalDevice& device) {
  const dlprim::MemoryStats s = stats(device);
  py::dict d;
  d["allocated"] = s.allocated;
  d["reserved"] = s.reserved;
  d["max_allocated"] = s.max_allocated;
  d["max_reserved"] = s.max_reserved;
  d["segments"] = s.segments;
  d["allocations"] = s.allocations;
  return d;
}

py::dict kernel_cache_info() {
  const dlprim::KernelCacheInfo info = dlprim::KernelCache::global().info();
  py::dict d;
  d["path"] = info.path;
  d["entries"] = info.entries;
  d["bytes"] = info.bytes;
  d["hits"] = info.hits;
  d["misses"] = info.misses;
  d["built"] = info.built;
  d["build_seconds"] = info.build_seconds;
  return d;
}

void bind_profile(py::module_& m) {
  using ocl::profiler::Profile;
  py::class_<Profile>(m, "Profile", "Times every kernel launch from its construction to stop().")
      .def(py::init<>(), WithoutLock())
      .def("stop", &Profile::stop, WithoutLock())
      .def(
          "table",
          [](Profile& profile, const std::string& by) {
            const PythonUnlocked unlocked;
            for (const auto& [name, value] : {std::pair{"kernel", Profile::By::kernel},
                                              {"operator", Profile::By::operation},
                                              {"module", Profile::By::module},
                                              {"implementation", Profile::By::implementation}})
              if (by == name) return profile.table(value);
            throw dlprim::ValueError(
                "table: expected by to be 'kernel', 'operator', 'module' or 'implementation', got '" + by +
                "'");
          },
          py::arg("by") = "kernel",
          "A line per kernel, operator, class of module or chosen implementation, the longest first.")
      .def("export_chrome_trace", &Profile::export_chrome_trace, py::arg("path"), WithoutLock())
      .def("export_csv", &Profile::export_csv, py::arg("path"), WithoutLock())
      .def(
          "launches",
          [](Profile& profile) {
            py::list rows;
            for (const ocl::profiler::Launch& launch : profile.launches())
              rows.append(
                  py::make_tuple(launch.device, launch.kernel.name, launch.kernel.start, launch.kernel.end));
            return rows;
          },
          "(device, kernel, start, end) of every launch, times in nanoseconds.");
  m.def(
      "_ceilings",
      [](const Device& device) {
        const dlprim::Ceilings most = dlprim::ceilings(*device);
        return std::pair(most.operations, most.bytes);
      },
      py::arg("device"), WithoutLock());
}

}  // namespace

void bind_device(py::module_& m) {
  m.def("_kernel_warnings", &dlprim::kernel_warnings);
  py::class_<Device>(
      m, "device",
      "An OpenCL device: 'ocl:N' (N as in clinfo --list), 'ocl' or 'cpu'. Within `with device:` the "
      "thread makes tensors that name none on it.")
      .def(py::init<std::string>(), py::arg("name"))
      .def(py::init<const Device&>(), py::arg("device"))
      .def(py::init<int>(), py::arg("index"))
      .def_property_readonly("index", [](const Device& d) { return d->index(); })
      .def_property_readonly("type", [](const Device&) { return "ocl"; })
      .def("__str__", [](const Device& d) { return d->name(); })
      .def("__repr__", [](const Device& d) { return "device('" + d->name() + "')"; })
      .def("__hash__", [](const Device& d) { return d->index(); })
      .def("__enter__",
           [](const py::object& self) {
             enter_device(self.cast<Device>());
             return self;
           })
      .def("__exit__", [](const Device&, const py::args&) { leave_device(); })
      .def("__eq__", [](const Device& d, const py::object& other) {
        if (py::isinstance<Device>(other)) return d == other.cast<Device>();
        return py::isinstance<py::str>(other) && (d->name() == other.cast<std::string>());
      });

  m.def(
      "is_available", [] { return dlprim::Device::count() > 0; },
      "Whether this machine has an OpenCL device.");
  m.def("_platforms", &dlprim::Device::platforms, "Name and number of devices of each OpenCL platform.");
  m.def("device_count", &dlprim::Device::count, "Number of OpenCL devices over all platforms.");
  m.def(
      "get_device_name", [](const OptionalDevice& d) { return device_or_default(d)->info().name; },
      py::arg("device") = py::none());
  m.def("get_device_properties", &properties, py::arg("device") = py::none(),
        "What the device is and can do, as a dict; sizes in bytes.");
  m.def(
      "set_default_device", [](const py::object& device) { ocl::set_default_device(device_of(device)); },
      py::arg("device"), "Sets the device of tensors that name none.");
  m.def("get_default_device", [] { return Device(); });
  m.def(
      "synchronize", [](const OptionalDevice& d) { d ? ocl::synchronize(*d) : ocl::synchronize(); },
      py::arg("device") = py::none(), WithoutLock(),
      "Waits for the work of one device, or of all; raises what a device reported meanwhile.");
  m.def("empty_cache", &ocl::empty_cache, WithoutLock(),
        "Gives cached memory that no tensor uses back to the devices.");
  m.def(
      "memory_allocated", [](const OptionalDevice& d) { return stats(d).allocated; },
      py::arg("device") = py::none(), "Bytes in use by tensors.");
  m.def(
      "memory_reserved", [](const OptionalDevice& d) { return stats(d).reserved; },
      py::arg("device") = py::none(), "Bytes taken from the device.");
  m.def(
      "max_memory_allocated", [](const OptionalDevice& d) { return stats(d).max_allocated; },
      py::arg("device") = py::none(), "Peak of memory_allocated, in bytes.");
  m.def(
      "max_memory_reserved", [](const OptionalDevice& d) { return stats(d).max_reserved; },
      py::arg("device") = py::none(), "Peak of memory_reserved, in bytes.");
  m.def("memory_stats", &memory_stats, py::arg("device") = py::none());
  m.def(
      "_staging_slots", [](const OptionalDevice& d) { return device_or_default(d)->queue().staging_slots(); },
      py::arg("device") = py::none(), "Pieces of page-locked memory that transfers have needed so far.");
  m.def(
      "reset_peak_memory_stats",
      [](const OptionalDevice& d) { device_or_default(d)->allocator().reset_peaks(); },
      py::arg("device") = py::none());
  m.def(
      "set_memory_limit",
      [](std::uint64_t bytes, const OptionalDevice& d) {
        device_or_default(d)->allocator().set_limit(bytes);
      },
      py::arg("bytes"), py::arg("device") = py::none(),
      "Refuses to reserve more than that many bytes; 0 lifts the limit.");
  m.def("kernel_cache_info", &kernel_cache_info,
        "Where kernel binaries are kept and what this process did with them: path, entries, bytes, hits, "
        "misses, built, build_seconds.");
  m.def(
      "set_fusion", &dlprim::set_fusion, py::arg("enabled"),
      "Whether pointwise operators wait for those behind them, so that several over the same elements become "
      "one kernel; their bits are the same. On at first, unless the environment has OCL_FUSION=off. Of this "
      "process.");
  m.def("get_fusion", &dlprim::fusion, "What set_fusion was given last.");
  m.def("manual_seed", &ocl::manual_seed, py::arg("seed"), "Seeds the random numbers of every device.");
  m.def("manual_seed_all", &ocl::manual_seed, py::arg("seed"), "Seeds the random numbers of every device.");
  m.def("initial_seed", &ocl::initial_seed, "The seed of the last manual_seed.");
  bind_profile(m);
}
