#pragma once

#include <functional>
#include <vector>

#include "dlprim/ops/optim/parameter_pack.h"

namespace torch_ocl {

/** Calls `use` with the pack that the last call for those tensors used, so that its table lies on the device
 * already, or with a fresh one. Any thread. */
void with_pack(const std::vector<std::vector<const dlprim::Tensor*>>& tensors,
               const std::function<void(dlprim::ParameterPack&)>& use);

/** Forgets them all, with their memory. */
void forget_packs();

}  // namespace torch_ocl
