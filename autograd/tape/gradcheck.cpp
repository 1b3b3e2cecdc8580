#include "autograd/tape/gradcheck.h"

#include <cmath>

#include "autograd/tape/engine.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"

namespace ocl::autograd {
namespace {

using dlprim::require;

/** d outputs / d inputs[which], by central differences: [input element][output element]. The function may
 * take gradients itself, so that it finds its inputs with gradients wanted. */
std::vector<std::vector<double>> numerical_jacobian(const std::function<Tensor(const TensorList&)>& function,
                                                    TensorList inputs, std::size_t which, double eps) {
  const std::vector<double> values = inputs[which].to_vector<double>();
  const Shape shape = inputs[which].shape().vector();
  const Device device = inputs[which].device();
  const auto evaluated_at = [&](std::size_t element, double shift) {
    std::vector<double> moved = values;
    moved[element] += shift;
    inputs[which] = tensor(moved, shape, device).requires_grad_();
    return function(inputs).to_vector<double>();
  };
  std::vector<std::vector<double>> jacobian;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> above = evaluated_at(i, eps);
    const std::vector<double> below = evaluated_at(i, -eps);
    for (std::size_t k = 0; k < above.size(); ++k) above[k] = (above[k] - below[k]) / (2 * eps);
    jacobian.push_back(std::move(above));
  }
  return jacobian;
}

/** One row of the tape's jacobian: the gradient of output element `element`. */
std::vector<double> tape_gradient(const Tensor& output, const Tensor& input, std::size_t element) {
  std::vector<double> seed(static_cast<std::size_t>(output.numel()), 0.0);
  seed[element] = 1;
  const TensorList found =
      grad({output}, {input}, {tensor(seed, output.shape().vector(), output.device())}, true, false, true);
  if (!found[0].defined()) return std::vector<double>(static_cast<std::size_t>(input.numel()), 0.0);
  require<AutogradError>(found[0].shape() == input.shape(), "gradcheck: gradient of shape ", found[0].shape(),
                         " for an input of shape ", input.shape());
  return found[0].to_vector<double>();
}

}  // namespace

bool gradcheck(const std::function<Tensor(const TensorList&)>& function, const TensorList& inputs, double eps,
               double atol, double rtol) {
  const GradMode recording(true);
  const Tensor output = function(inputs);
  require<TypeError>(output.dtype() == DType::float64, "gradcheck: expected a float64 output, got ",
                     name(output.dtype()));
  for (std::size_t which = 0; which < inputs.size(); ++which) {
    const Tensor& input = inputs[which];
    if (!input.requires_grad()) continue;
    require<TypeError>(input.dtype() == DType::float64, "gradcheck: expected float64 inputs, got ",
                       name(input.dtype()));
    const auto expected = numerical_jacobian(function, inputs, which, eps);
    for (std::size_t k = 0; k < static_cast<std::size_t>(output.numel()); ++k) {
      const std::vector<double> actual = tape_gradient(output, input, k);
      for (std::size_t i = 0; i < actual.size(); ++i)
        require<AutogradError>(std::abs(actual[i] - expected[i][k]) <= atol + rtol * std::abs(expected[i][k]),
                               "gradcheck: gradient of output element ", k, " with respect to element ", i,
                               " of input ", which, " is ", actual[i], " by the tape, ", expected[i][k],
                               " by differences");
    }
  }
  return true;
}

}  // namespace ocl::autograd
