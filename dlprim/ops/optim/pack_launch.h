#pragma once

#include "dlprim/core/memory_format.h"
#include "dlprim/ops/optim/parameter_pack.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

/** \file Launching a kernel over a ParameterPack. */

namespace dlprim {

/** Per parameter, its tensors. */
using PackRows = std::vector<std::vector<const Tensor*>>;

/** The first tensors of rows: all of one floating dtype, each dense. Throws ValueError, TypeError. */
inline void require_packable(const char* op, const Queue& queue, const Tensor& t, DType dtype) {
  require_floating(t.dtype, queue.device(), op);
  require<TypeError>(t.dtype == dtype, op, ": expected tensors of one dtype, got ", name(dtype), " and ",
                     name(t.dtype));
  require(is_dense(t), op, ": expected its tensors to be dense, got shape ", t.shape, " with strides ",
          t.strides);
}

/** The tensors beside the first one of a row, element by element: the kernels walk both in the order of
 * memory. Throws ValueError, TypeError. */
inline void require_beside(const char* op, const char* what, const Tensor& t, const Tensor& first) {
  require(t.shape == first.shape, op, ": expected ", what, " of shape ", first.shape, ", got ", t.shape);
  require<TypeError>(t.dtype == first.dtype, op, ": expected ", what, " of dtype ", name(first.dtype),
                     ", got ", name(t.dtype));
  require(lie_alike(t, first), op, ": expected ", what, " to lie as the first of its row, with strides ",
          first.strides, ", got strides ", t.strides);
}

/** Work items of a group that takes one chunk. */
inline int pack_group_size(const Queue& queue) {
  const DeviceInfo& device = queue.device().info();
  return device.runs_cpu_kernels() ? 1 : work_group(device);
}

/** Launches `kernel` over all chunks, with PACK_ARGS and then what set_rest(set) sets. */
template <class SetRest>
void launch_pack_with(Queue& queue, ParameterPack& pack, const PackRows& rows, Kernel& kernel,
                      const SetRest& set_rest) {
  for (const ParameterPack::Launch& launch : pack.prepare(queue, rows))
    queue.launch_arguments(kernel, Range::groups(pack_group_size(queue), launch.chunks),
                           [&](const auto& set) {
                             for (const Tensor& buffer : launch.buffers) set(buffer);
                             set(pack.table());
                             set(static_cast<cl_ulong>(launch.first_chunk));
                             set_rest(set);
                           });
}

/** Launches `kernel` (with PACK_ARGS and then `args`) over all chunks. */
template <class... Args>
void launch_pack(Queue& queue, ParameterPack& pack, const PackRows& rows, Kernel& kernel,
                 const Args&... args) {
  launch_pack_with(queue, pack, rows, kernel, [&](const auto& set) { (set(args), ...); });
}

}  // namespace dlprim
