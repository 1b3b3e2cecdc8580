#include "dlprim/ops/optim/fused.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/optim/optim_shared.h"
#include "dlprim/ops/optim/pack_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

PackRows rows_of(const char* op, const std::vector<OptimizedParameter>& parameters) {
  PackRows rows;
  rows.reserve(parameters.size());
  const OptimizedParameter& first = parameters.front();
  for (const OptimizedParameter& p : parameters) {
    require<TypeError>(p.parameter.dtype == first.parameter.dtype, op, ": expected parameters of one dtype");
    require(p.state.size() == first.state.size(), op, ": expected ", first.state.size(),
            " states per parameter, got ", p.state.size());
    require_contiguous(op, "the parameter", p.parameter);
    require_like(op, "the gradient", p.gradient, p.parameter.shape, first.parameter.dtype);
    std::vector<const Tensor*>& row = rows.emplace_back();
    row.reserve(2 + p.state.size());
    row.insert(row.end(), {&p.parameter, &p.gradient});
    for (const Tensor& t : p.state) {
      require_like(op, "the state", t, p.parameter.shape, first.parameter.dtype);
      row.push_back(&t);
    }
  }
  return rows;
}

}  // namespace

void fused_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
                const FusedUpdate& update) {
  ENTER(fused_step, queue, pack, parameters, update);
  if (parameters.empty()) return;
  const DType dtype = parameters.front().parameter.dtype;
  require_floating(dtype, queue.device(), update.kernel);
  require<TypeError>(dtype == DType::float32 || dtype == DType::float64, update.kernel,
                     ": expected parameters of dtype float32 or float64, got ", name(dtype));
  const PackRows rows = rows_of(update.kernel, parameters);
  Defines defines = dtype_defines(dtype);
  defines.set((std::string("ONLY_") + update.kernel).c_str(), 1);
  defines.add_option(update.defines.text().c_str());
  with_real(dtype, [&](auto zero) {
    Coefficients<decltype(zero)> coefficients{};
    for (std::size_t i = 0; i < update.coefficients.size(); ++i)
      coefficients.of[i] = static_cast<decltype(zero)>(update.coefficients[i]);
    launch_pack(queue, pack, rows, queue.kernel("ops/optim/fused.cl", update.kernel, defines), coefficients);
  });
}

}  // namespace dlprim
