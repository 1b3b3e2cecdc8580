#include "dlprim/ops/optim/fused.h"

#include <cmath>

#include "dlprim/core/error.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/optim/pack_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

// Structs of fused.cl.
template <class Real>
struct Sgd {
  Real lr, momentum, undamped, weight_decay, sign;
  cl_int nesterov, first_step;
};
template <class Real>
struct Adam {
  Real step_size, first_weight, beta2, second_weight, eps, weight_decay, shrink, root_correction, sign;
};
template <class Real>
struct Rmsprop {
  Real lr, alpha, rest, eps, weight_decay, momentum, sign;
};
template <class Real>
struct Adagrad {
  Real lr, eps, weight_decay, sign;
};

void require_fitting(const char* op, const Tensor& t, const char* what, const Tensor& parameter,
                     DType dtype) {
  require<TypeError>(t.dtype == dtype, op, ": expected ", what, " of dtype ", name(dtype), ", got ",
                     name(t.dtype));
  require(t.shape == parameter.shape, op, ": expected ", what, " of shape ", parameter.shape, ", got ",
          t.shape);
  require(t.is_contiguous(), op, ": expected a contiguous ", what, ", got strides ", t.strides);
}

PackRows rows_of(Queue& queue, const char* op, const std::vector<OptimizedParameter>& parameters,
                 std::size_t states) {
  PackRows rows;
  rows.reserve(parameters.size());
  for (const OptimizedParameter& p : parameters) {
    const DType dtype = parameters.front().parameter.dtype;
    require_floating(dtype, queue.device(), op);
    require<TypeError>(dtype == DType::float32 || dtype == DType::float64, op,
                       ": expected parameters of dtype float32 or float64, got ", name(dtype));
    require(p.state.size() == states, op, ": expected ", states, " states per parameter, got ",
            p.state.size());
    require_fitting(op, p.parameter, "parameter", p.parameter, dtype);
    require_fitting(op, p.gradient, "gradient", p.parameter, dtype);
    rows.push_back({&p.parameter, &p.gradient});
    for (const Tensor& t : p.state) {
      require_fitting(op, t, "state", p.parameter, dtype);
      rows.back().push_back(&t);
    }
  }
  return rows;
}

/** Launches `kernel` of fused.cl, with the options that `options_for(zero of the real type)` gives. */
template <class OptionsFor>
void step(Queue& queue, ParameterPack& pack, const char* kernel,
          const std::vector<OptimizedParameter>& parameters, std::size_t states, Defines defines,
          OptionsFor options_for) {
  if (parameters.empty()) return;
  const PackRows rows = rows_of(queue, kernel, parameters, states);
  const DType dtype = parameters.front().parameter.dtype;
  Defines all = dtype_defines(dtype);
  all.add_option(defines.text().c_str());
  with_real(dtype, [&](auto zero) {
    launch_pack(queue, pack, rows, queue.kernel("ops/optim/fused.cl", kernel, all), options_for(zero));
  });
}

template <class Real>
Real sign_of(bool maximize) {
  return maximize ? Real{-1} : Real{1};
}

}  // namespace

void sgd_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
              const SgdOptions& options) {
  const bool has_momentum = options.momentum != 0;
  require(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
          "sgd_step: Nesterov momentum requires a momentum and zero dampening");
  Defines defines;
  defines.set("MOMENTUM", has_momentum ? 1 : 0);
  step(queue, pack, "sgd_step", parameters, has_momentum ? 1 : 0, defines, [&](auto zero) {
    using Real = decltype(zero);
    return Sgd<Real>{static_cast<Real>(options.lr),
                     static_cast<Real>(options.momentum),
                     static_cast<Real>(1 - options.dampening),
                     static_cast<Real>(options.weight_decay),
                     sign_of<Real>(options.maximize),
                     options.nesterov,
                     options.first_step};
  });
}

void adam_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
               const AdamOptions& options) {
  require(options.step >= 1, "adam_step: steps are counted from 1, got ", options.step);
  Defines defines;
  defines.set("AMSGRAD", options.amsgrad ? 1 : 0);
  const double steps = static_cast<double>(options.step);
  const double correction1 = 1 - std::pow(options.beta1, steps),
               correction2 = 1 - std::pow(options.beta2, steps);
  const bool decoupled = options.decoupled_weight_decay;
  step(queue, pack, "adam_step", parameters, options.amsgrad ? 3 : 2, defines, [&](auto zero) {
    using Real = decltype(zero);
    return Adam<Real>{static_cast<Real>(options.lr / correction1),
                      static_cast<Real>(1 - options.beta1),
                      static_cast<Real>(options.beta2),
                      static_cast<Real>(1 - options.beta2),
                      static_cast<Real>(options.eps),
                      static_cast<Real>(decoupled ? 0 : options.weight_decay),
                      static_cast<Real>(decoupled ? 1 - options.lr * options.weight_decay : 1),
                      static_cast<Real>(std::sqrt(correction2)),
                      sign_of<Real>(options.maximize)};
  });
}

void rmsprop_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
                  const RmspropOptions& options) {
  const bool has_momentum = options.momentum != 0;
  Defines defines;
  defines.set("MOMENTUM", has_momentum ? 1 : 0).set("CENTERED", options.centered ? 1 : 0);
  const std::size_t states = 1 + (has_momentum ? 1 : 0) + (options.centered ? 1 : 0);
  step(queue, pack, "rmsprop_step", parameters, states, defines, [&](auto zero) {
    using Real = decltype(zero);
    return Rmsprop<Real>{static_cast<Real>(options.lr),           static_cast<Real>(options.alpha),
                         static_cast<Real>(1 - options.alpha),    static_cast<Real>(options.eps),
                         static_cast<Real>(options.weight_decay), static_cast<Real>(options.momentum),
                         sign_of<Real>(options.maximize)};
  });
}

void adagrad_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
                  const AdagradOptions& options) {
  require(options.step >= 1, "adagrad_step: steps are counted from 1, got ", options.step);
  const double lr = options.lr / (1 + static_cast<double>(options.step - 1) * options.lr_decay);
  step(queue, pack, "adagrad_step", parameters, 1, Defines(), [&](auto zero) {
    using Real = decltype(zero);
    return Adagrad<Real>{static_cast<Real>(lr), static_cast<Real>(options.eps),
                         static_cast<Real>(options.weight_decay), sign_of<Real>(options.maximize)};
  });
}

}  // namespace dlprim
