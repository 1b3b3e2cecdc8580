#pragma once

#include <cstdint>
#include <memory>

#include "dlprim/core/dims.h"
#include "dlprim/core/dtype.h"

namespace dlprim {

class Device;
class Storage;

/**
 * A raw tensor: shape, strides and offset (all in elements) over a shared piece of device memory. Cheap to
 * copy; a copy is the same memory. It knows nothing of gradients. Operators write results through a `const
 * Tensor&`: what is const is the handle, not the elements.
 *
 * Over memory of somebody else's: Tensor{std::make_shared<Storage>(device, buffer, bytes), dtype, shape,
 * contiguous_strides(shape)} (runtime/allocator.h).
 */
struct Tensor {
  std::shared_ptr<Storage> storage;
  DType dtype = DType::float32;
  Dims shape;
  Dims strides;
  std::int64_t offset = 0;

  /** Contiguous tensor over fresh memory of `device`; its contents are undefined. Throws ValueError for a
   * invalid shape, OutOfMemoryError for one that the device has no room for. */
  static Tensor empty(Device& device, const Dims& shape, DType dtype = DType::float32);
  /** With strides of the caller's, which must be dense (core/memory_format.h); not checked. */
  static Tensor empty_strided(Device& device, const Dims& shape, const Dims& strides,
                              DType dtype = DType::float32);
  /** Like empty, for contents that come by an upload (Queue::write): the memory is rather one that no command
   * under way uses, so that the upload can run beside them. */
  static Tensor empty_for_upload(Device& device, const Dims& shape, DType dtype = DType::float32);

  /** False for a Tensor{}, which stands for none; whatever else follows needs a defined one. */
  bool defined() const { return storage != nullptr; }
  Device& device() const;
  int rank() const { return shape.size(); }
  std::int64_t numel() const { return product(shape); }
  /** Whether elements lie side by side in row-major order; dimensions of size 1 may have any stride. */
  bool is_contiguous() const;
  /** Size of `dim`, which may be negative (-1 is the last). Precondition: within the rank. */
  std::int64_t size(int dim) const { return shape[dim < 0 ? dim + rank() : dim]; }

  /** This memory under another shape of as many elements, row-major (torch.Tensor.view). Precondition:
   * contiguous, same numel; neither is checked. */
  Tensor reshaped(const Dims& new_shape) const;
  /** This memory with the last two dimensions swapped: a matrix, or each of a batch, transposed.
   * Precondition: rank 2 at least. */
  Tensor transposed() const;
  /** This memory read with stride 0 along broadcast dimensions (torch.Tensor.expand). Precondition: the
   * shape broadcasts to the new one, which is not checked (broadcast_shapes does). Throws ValueError for more
   * elements than 64 bits count. */
  Tensor expanded(const Dims& new_shape) const;
  /** This memory under any geometry (torch.as_strided), strides and offset not negative. Throws
   * ValueError naming `op` for one that reaches past the storage. */
  Tensor restrided(const char* op, const Dims& new_shape, const Dims& new_strides,
                   std::int64_t new_offset) const;
  /** Whether both share memory that they could both touch. */
  bool overlaps(const Tensor& other) const;
  /** Smallest and one-past-largest element of the storage that the tensor can reach. */
  std::pair<std::int64_t, std::int64_t> reach() const;
};

/** The memory of complex numbers as that of their parts: a last dimension of 2, the real and the imaginary
 * one. Precondition: a complex dtype. */
Tensor pairs_of(const Tensor& complex);
/** One of the parts: 0 the real, 1 the imaginary one. */
Tensor part_of(const Tensor& complex, int part);
/** The memory as elements of another dtype, as torch.Tensor.view(dtype) gives it. Elements of another size
 * change the last dimension. Throws ValueError where they do not fit in there. */
Tensor viewed_as(const Tensor& tensor, DType dtype);

}  // namespace dlprim
