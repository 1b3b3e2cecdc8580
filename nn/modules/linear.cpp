#include "nn/modules/linear.h"

#include <cmath>

#include "autograd/creation.h"
#include "nn/init.h"

namespace ocl::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias) {
  dlprim::require(in_features > 0 && out_features > 0, "Linear: features must be positive, got ", in_features,
                  " and ", out_features);
  register_parameter("weight", weight, empty({out_features, in_features}));
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  register_parameter("bias", bias, with_bias ? empty({out_features}) : Tensor());
  if (!with_bias) return;
  const double bound = 1 / std::sqrt(static_cast<double>(in_features));
  init::uniform_(bias, -bound, bound);
}

std::string Linear::extra_repr() const {
  return dlprim::concat("in_features=", weight.size(1), ", out_features=", weight.size(0),
                        ", bias=", bias.defined() ? "True" : "False");
}

}  // namespace ocl::nn
