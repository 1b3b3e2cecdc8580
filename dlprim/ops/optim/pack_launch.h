#pragma once

#include "dlprim/ops/optim/parameter_pack.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

/** \file Launching a kernel over a ParameterPack. */

namespace dlprim {

/** Per parameter, its tensors. */
using PackRows = std::vector<std::vector<const Tensor*>>;

/** Work items of a group that takes one chunk. */
inline int pack_group_size(const Queue& queue) {
  const DeviceInfo& device = queue.device().info();
  return device.runs_cpu_kernels() ? 1 : work_group(device);
}

/** Launches `kernel` (with PACK_ARGS and then `args`) over all chunks. */
template <class... Args>
void launch_pack(Queue& queue, ParameterPack& pack, const PackRows& rows, Kernel& kernel,
                 const Args&... args) {
  for (const ParameterPack::Launch& launch : pack.prepare(queue, rows))
    queue.launch_arguments(kernel, Range::groups(pack_group_size(queue), launch.chunks),
                           [&](const auto& set) {
                             for (const Tensor& buffer : launch.buffers) set(buffer);
                             set(pack.table());
                             set(static_cast<cl_ulong>(launch.first_chunk));
                             (set(args), ...);
                           });
}

}  // namespace dlprim
