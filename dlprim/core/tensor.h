#pragma once

#include <cstdint>
#include <memory>

#include "dlprim/core/dims.h"
#include "dlprim/core/dtype.h"

namespace dlprim {

class Device;
class Storage;

/**
 * A raw tensor: shape, strides and offset (all in elements) over a shared device buffer. Cheap to copy; a
 * copy is the same memory. It knows nothing of gradients.
 */
struct Tensor {
  std::shared_ptr<Storage> storage;
  DType dtype = DType::float32;
  Dims shape;
  Dims strides;
  std::int64_t offset = 0;

  /** Contiguous tensor over fresh memory of `device`; its contents are undefined. Throws ValueError for a
   * shape that is none, OutOfMemoryError for one that the device has no room for. */
  static Tensor empty(Device& device, const Dims& shape, DType dtype = DType::float32);

  bool defined() const { return storage != nullptr; }
  Device& device() const;
  int rank() const { return shape.size(); }
  std::int64_t numel() const { return product(shape); }
  bool is_contiguous() const;
  /** Size of `dim`, which may be negative. */
  std::int64_t size(int dim) const { return shape[dim < 0 ? dim + rank() : dim]; }

  /** The same elements under another contiguous shape. Precondition: contiguous, same numel. */
  Tensor reshaped(const Dims& new_shape) const;
  /** The same memory read with stride 0 along broadcast dimensions. Precondition: shapes broadcast. Throws
   * ValueError for more elements than 64 bits count. */
  Tensor expanded(const Dims& new_shape) const;
  /** The same memory under any geometry, strides and offset not negative. Throws ValueError naming `op` for
   * one that reaches past the storage. */
  Tensor restrided(const char* op, const Dims& new_shape, const Dims& new_strides,
                   std::int64_t new_offset) const;
  /** Whether both share memory that they could both touch. */
  bool overlaps(const Tensor& other) const;
  /** Smallest and one-past-largest element of the storage that the tensor can reach. */
  std::pair<std::int64_t, std::int64_t> reach() const;
};

}  // namespace dlprim
