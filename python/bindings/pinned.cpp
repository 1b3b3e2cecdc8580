// NumPy arrays in page-locked memory.
#include "autograd/autograd.h"
#include "casters.h"
#include "dlprim/runtime/pinned_memory.h"

using dlprim::PinnedMemory;

namespace {

/** An array that owns page-locked memory for a device; contents undefined. */
py::array pinned_empty(const ocl::Shape& shape, const py::dtype& dtype,
                       const std::optional<ocl::Device>& device) {
  dlprim::require<ocl::TypeError>(!dtype.attr("hasobject").cast<bool>(),
                                  "pin_memory: an array of Python objects cannot be page-locked");
  const ocl::Device owner = device_or_default(device);
  const auto elements = static_cast<std::size_t>(dlprim::product(shape));
  const std::size_t bytes = elements * static_cast<std::size_t>(dtype.itemsize());
  std::shared_ptr<PinnedMemory> memory;
  {
    const PythonUnlocked unlocked;
    memory = PinnedMemory::allocate(*owner, bytes);
  }
  void* data = memory->data();
  const py::capsule base(new std::shared_ptr<PinnedMemory>(std::move(memory)),
                         [](void* held) { delete static_cast<std::shared_ptr<PinnedMemory>*>(held); });
  return py::array(dtype, shape, {}, data, base);
}

bool is_pinned(const py::array& array) {
  return PinnedMemory::around(array.data(), 1) != nullptr;
}

}  // namespace

void bind_pinned(py::module_& m) {
  m.def("_pinned_empty", &pinned_empty, py::arg("shape"), py::arg("dtype"), py::arg("device") = py::none());
  m.def(
      "pin_memory",
      [](const py::object& data, const std::optional<ocl::Device>& device) {
        const py::array source = numpy().attr("asarray")(data);
        py::array pinned =
            pinned_empty(ocl::Shape(source.shape(), source.shape() + source.ndim()), source.dtype(), device);
        numpy().attr("copyto")(pinned, source);
        return pinned;
      },
      py::arg("data"), py::arg("device") = py::none(),
      "A copy of an array in page-locked memory, C-contiguous. ocl.tensor, Tensor.copy_ and "
      "Tensor.numpy(out=...) move such arrays, and slices of them that are contiguous, to and from that "
      "device "
      "(the default one) at the bus's full rate; with non_blocking=True uploads do not wait. The memory is "
      "released with the last array over it. As torch.Tensor.pin_memory. Raises OutOfMemoryError where the "
      "system locks no more pages, TypeError for an array of Python objects.");
  m.def("is_pinned", &is_pinned, py::arg("array"),
        "Whether the array lies in memory that pin_memory has locked. As torch.Tensor.is_pinned.");
}
