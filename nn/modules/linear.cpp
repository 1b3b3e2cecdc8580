#include "nn/modules/linear.h"

#include <cmath>

namespace ocl::nn {

Linear::Linear(const LinearOptions& o) : Layer(o) {
  dlprim::require(o.in_features() >= 0 && o.out_features() >= 0,
                  "Linear: features must not be negative, got ", o.in_features(), " and ", o.out_features());
  register_parameter("weight", weight, made({o.out_features(), o.in_features()}));
  register_parameter("bias", bias, o.bias() ? made({o.out_features()}) : Tensor());
  initialize();
}

void Linear::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(weight.size(1));
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}

std::string Linear::extra_repr() const {
  const LinearOptions o = options();
  return dlprim::concat("in_features=", o.in_features(), ", out_features=", o.out_features(),
                        ", bias=", repr_of(held(bias).defined()));
}

Bilinear::Bilinear(const BilinearOptions& o) : Layer(o) {
  dlprim::require(o.in1_features() > 0, "Bilinear: in1_features must be > 0, but got ", o.in1_features());
  dlprim::require(o.in2_features() >= 0 && o.out_features() >= 0,
                  "Bilinear: features must not be negative, got ", o.in2_features(), " and ",
                  o.out_features());
  register_parameter("weight", weight, made({o.out_features(), o.in1_features(), o.in2_features()}));
  register_parameter("bias", bias, o.bias() ? made({o.out_features()}) : Tensor());
  initialize();
}

const OfSeveralInputs::Inputs& Bilinear::inputs() const {
  static const auto& both = *new Inputs{{"input1", "input2"}, 2};
  return both;
}

void Bilinear::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

std::string Bilinear::extra_repr() const {
  const BilinearOptions o = options();
  return dlprim::concat("in1_features=", o.in1_features(), ", in2_features=", o.in2_features(),
                        ", out_features=", o.out_features(), ", bias=", repr_of(held(bias).defined()));
}

}  // namespace ocl::nn
