#pragma once

#include <cstdint>
#include <memory>

#include "dlprim/core/tensor.h"

/**
 * \file Tensors of other libraries over the same device memory: DLPack with device type OpenCL. `data` is a
 * cl_mem of the device's context (Device::context) and `device_id` the number of the device (Device::get).
 *
 * Copies of this library in one process (runtime/copies.h) keep the order of their commands on such memory by
 * themselves. With others it is the caller's to keep: wait (Queue::finish) before the memory changes hands.
 */

namespace dlprim::dlpack {

// DLPack's structs, as its version 1 lays them out.

struct ElementType {
  enum Code : std::uint8_t { integer, whole, floating, bfloat = 4, complex = 5, boolean = 6 };
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Data {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t ndim;
  ElementType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: contiguous
  std::uint64_t byte_offset;
};

struct Managed {
  Data tensor;
  void* manager;
  void (*deleter)(Managed*);
};

struct ManagedVersioned {
  std::uint32_t major, minor;
  void* manager;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Data tensor;
};

constexpr std::int32_t device_type_opencl = 4;

/** A tensor whose dtype need not be one of dlprim's. */
struct Elements {
  std::shared_ptr<Storage> storage;
  ElementType type;
  Dims shape, strides;
  std::int64_t offset = 0;
};

ElementType type_of(DType dtype);
/** Throws TypeError for a type that is none of dlprim's. */
DType dtype_of(ElementType type);
Elements elements_of(const Tensor& tensor);
/** Throws TypeError, as dtype_of. */
Tensor tensor_of(const Elements& elements);

/** A tensor that another library takes over; it calls `deleter` when it is done. The memory is shared from
 * now on. */
template <class Struct>
Struct* show(const Elements& elements);
/** A tensor over another library's memory, which is given back with the last tensor that uses it. Throws
 * ValueError, TypeError or DeviceError for what there is no way to share; it is still the caller's then. */
template <class Struct>
Elements take(Struct* shown);

}  // namespace dlprim::dlpack
