#include "dlprim/core/dlpack.h"

#include "dlprim/core/error.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/runtime/device.h"

namespace dlprim::dlpack {
namespace {

// Storage begins at such a place, as that of our own allocator; what lies between is the tensor's offset.
constexpr std::uint64_t alignment = 512;

std::size_t bytes_of(ElementType type) {
  return type.bits / 8u;
}

/** The object that `manager` points to. */
template <class Struct>
struct Shown {
  Elements elements;
  Struct shown{};

  explicit Shown(const Elements& given) : elements(given) {
    const Storage& storage = *elements.storage;
    Data& data = shown.tensor;
    data.data = storage.buffer()();
    data.device_type = device_type_opencl;
    data.device_id = storage.device().index();
    data.ndim = elements.shape.size();
    data.dtype = elements.type;
    data.shape = elements.shape.begin();
    data.strides = elements.strides.begin();
    data.byte_offset =
        storage.byte_offset() + static_cast<std::uint64_t>(elements.offset) * bytes_of(elements.type);
    shown.manager = this;
    shown.deleter = [](Struct* self) { delete static_cast<Shown*>(self->manager); };
    if constexpr (std::is_same_v<Struct, ManagedVersioned>) shown.major = 1;
  }
};

Dims dims_at(const std::int64_t* first, int count) {
  return Dims(first, first + count);
}

/** The byte after the last element's. Throws where that is beyond the buffer. */
std::uint64_t end_of(const Elements& elements, std::uint64_t start, std::uint64_t buffer_bytes) {
  std::uint64_t last = 0;
  for (int d = 0; d < elements.shape.size(); ++d) {
    require(elements.strides[d] >= 0, "from_dlpack: expected strides that are not negative, got ",
            elements.strides);
    last += static_cast<std::uint64_t>((elements.shape[d] - 1) * elements.strides[d]);
  }
  const std::uint64_t end = start + (last + 1) * bytes_of(elements.type);
  require(end <= buffer_bytes, "from_dlpack: shape ", elements.shape, " with strides ", elements.strides,
          " at byte ", start, " reaches past the buffer's ", buffer_bytes, " bytes");
  return end;
}

cl::Buffer buffer_of(const Data& data, const Device& device) {
  cl::Buffer buffer(static_cast<cl_mem>(data.data), true);
  cl_context context = nullptr;
  if (clGetMemObjectInfo(buffer(), CL_MEM_CONTEXT, sizeof context, &context, nullptr) != CL_SUCCESS ||
      context != device.context()())
    throw DeviceError(concat("from_dlpack: the memory belongs to another OpenCL context than that of ",
                             device.name(), ", which cannot share it; copy it through the host"));
  return buffer;
}

}  // namespace

ElementType type_of(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  switch (dtype) {
    case DType::float32:
    case DType::float64:
    case DType::float16:
      return {ElementType::floating, bits, 1};
    case DType::bfloat16:
      return {ElementType::bfloat, bits, 1};
    case DType::int64:
    case DType::int32:
    case DType::int16:
    case DType::int8:
      return {ElementType::integer, bits, 1};
    case DType::uint8:
      return {ElementType::whole, bits, 1};
    case DType::boolean:
      return {ElementType::boolean, bits, 1};
    case DType::complex64:
    case DType::complex128:
      return {ElementType::complex, bits, 1};
  }
  throw TypeError("no such dtype");
}

DType dtype_of(ElementType type) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const ElementType known = type_of(dtype);
    if (known.code == type.code && known.bits == type.bits && known.lanes == type.lanes) return dtype;
  }
  throw TypeError(concat("from_dlpack: there is no dtype for DLPack's type of code ", int{type.code}, ", ",
                         int{type.bits}, " bits and ", type.lanes, " lanes"));
}

Elements elements_of(const Tensor& tensor) {
  return {tensor.storage, type_of(tensor.dtype), tensor.shape, tensor.strides, tensor.offset};
}

Tensor tensor_of(const Elements& elements) {
  return {elements.storage, dtype_of(elements.type), elements.shape, elements.strides, elements.offset};
}

template <class Struct>
Struct* show(const Elements& elements) {
  auto shown = std::make_unique<Shown<Struct>>(elements);
  elements.storage->share();
  return &shown.release()->shown;
}

template <class Struct>
Elements take(Struct* shown) {
  const Data& data = shown->tensor;
  require(data.device_type == device_type_opencl,
          "from_dlpack: expected memory of OpenCL, DLPack's device type ", device_type_opencl, ", got type ",
          data.device_type);
  require<TypeError>(data.dtype.lanes == 1 && data.dtype.bits % 8 == 0 && data.dtype.bits > 0,
                     "from_dlpack: expected elements of whole bytes in one lane, got ", int{data.dtype.bits},
                     " bits and ", data.dtype.lanes, " lanes");
  Device& device = Device::get(data.device_id);
  Elements elements{{}, data.dtype, dims_at(data.shape, data.ndim), {}, 0};
  elements.strides = data.strides ? dims_at(data.strides, data.ndim) : contiguous_strides(elements.shape);
  const auto give_back = [shown](Storage* storage) {
    delete storage;
    if (shown->deleter) shown->deleter(shown);
  };
  if (product(elements.shape) == 0) {
    elements.storage.reset(new Storage(device, cl::Buffer(), 0), give_back);
    return elements;
  }
  const cl::Buffer buffer = buffer_of(data, device);
  const std::uint64_t end = end_of(elements, data.byte_offset, buffer.template getInfo<CL_MEM_SIZE>());
  const std::uint64_t start = data.byte_offset / alignment * alignment, rest = data.byte_offset - start;
  require(rest % bytes_of(data.dtype) == 0, "from_dlpack: elements of ", bytes_of(data.dtype),
          " bytes cannot begin at byte ", data.byte_offset);
  elements.offset = static_cast<std::int64_t>(rest / bytes_of(data.dtype));
  auto storage =
      std::make_unique<Storage>(device, buffer, start, end - start, nullptr, nullptr, Storage::any_command);
  storage->share();
  elements.storage.reset(storage.release(), give_back);
  return elements;
}

template Managed* show(const Elements&);
template ManagedVersioned* show(const Elements&);
template Elements take(Managed*);
template Elements take(ManagedVersioned*);

}  // namespace dlprim::dlpack
