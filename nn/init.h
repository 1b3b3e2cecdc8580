#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

/** Filling of parameters, as torch.nn.init; each writes in place, off the tape, from the device's default
 * generator. */
namespace ocl::nn::init {

Tensor& uniform_(Tensor& t, double a = 0, double b = 1);
Tensor& normal_(Tensor& t, double mean = 0, double std = 1);
Tensor& constant_(Tensor& t, const Scalar& value);
Tensor& zeros_(Tensor& t);
Tensor& ones_(Tensor& t);
/** Glorot and Bengio 2010. */
Tensor& xavier_uniform_(Tensor& t, double gain = 1);
Tensor& xavier_normal_(Tensor& t, double gain = 1);
/** Normal, but drawn again where outside [a, b]. Throws ValueError unless a < b and std > 0. */
Tensor& trunc_normal_(Tensor& t, double mean = 0, double std = 1, double a = -2, double b = 2);
/** Ones on the diagonal of a matrix, zeros elsewhere. Throws ValueError for other ranks. */
Tensor& eye_(Tensor& t);
/** How much a nonlinearity ("relu", "tanh", …) shrinks what passes through it, as
 * torch.nn.init.calculate_gain; param: the slope of "leaky_relu". Throws ValueError for one that is not
 * known. */
double calculate_gain(const std::string& nonlinearity, std::optional<double> param = std::nullopt);
/** The warning where a tensor without elements is to be filled by kaiming_uniform_ or kaiming_normal_, which
 * leave it as it is. */
constexpr const char* no_elements_warning = "Initializing zero-element tensors is a no-op";
/** He et al. 2015; `fan_out`: preserve magnitudes in the backward pass; `a`: the slope if `nonlinearity` is
 * "leaky_relu". */
Tensor& kaiming_uniform_(Tensor& t, double a = 0, bool fan_out = false,
                         const std::string& nonlinearity = "leaky_relu");
Tensor& kaiming_normal_(Tensor& t, double a = 0, bool fan_out = false,
                        const std::string& nonlinearity = "leaky_relu");

struct Fans {
  std::int64_t in, out;
};
/** Inputs and outputs of one unit of a weight [out, in, ...]. Throws ValueError for fewer than 2 dimensions.
 */
Fans fans(const Tensor& weight);

}  // namespace ocl::nn::init
