#include "dlprim/ops/optim/fused.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/optim/optim_shared.h"
#include "dlprim/ops/optim/pack_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

PackRows rows_of(const Queue& queue, const char* op, const std::vector<OptimizedParameter>& parameters) {
  PackRows rows;
  rows.reserve(parameters.size());
  const OptimizedParameter& first = parameters.front();
  for (const OptimizedParameter& p : parameters) {
    require_packable(op, queue, p.parameter, first.parameter.dtype);
    require(p.state.size() == first.state.size(), op, ": expected ", first.state.size(),
            " states per parameter, got ", p.state.size());
    require_beside(op, "the gradient", p.gradient, p.parameter);
    std::vector<const Tensor*>& row = rows.emplace_back();
    row.reserve(2 + p.state.size());
    row.insert(row.end(), {&p.parameter, &p.gradient});
    for (const Tensor& t : p.state) {
      require_beside(op, "the state", t, p.parameter);
      row.push_back(&t);
    }
    require(p.step.defined() == first.step.defined(), op, ": expected a step for all parameters or for none");
    if (!p.step.defined()) continue;
    require_elements(op, "the step", p.step, 1, DType::float32);
    row.push_back(&p.step);
  }
  return rows;
}

}  // namespace

void fused_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
                const FusedUpdate& update, const Tensor* found_inf) {
  ENTER(fused_step, queue, pack, parameters, update, found_inf);
  if (parameters.empty()) return;
  const DType dtype = parameters.front().parameter.dtype;
  const PackRows rows = rows_of(queue, update.kernel, parameters);
  if (found_inf) require_elements(update.kernel, "found_inf", *found_inf, 1, DType::float32);
  Defines defines = dtype_defines(dtype);
  defines.set(interned(std::string("ONLY_") + update.kernel), 1).append(update.defines);
  with_real(dtype, [&](auto zero) {
    Coefficients<decltype(zero)> coefficients{};
    for (std::size_t i = 0; i < update.coefficients.size(); ++i)
      coefficients.of[i] = static_cast<decltype(zero)>(update.coefficients[i]);
    launch_pack(queue, pack, rows, queue.kernel("ops/optim/fused.cl", update.kernel, defines), coefficients,
                Optional{found_inf});
  });
}

}  // namespace dlprim
