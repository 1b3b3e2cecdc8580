#include <ATen/ATen.h>
#include <torch/library.h>

#include "aten/fallback.h"
#include "aten/kernels.h"
#include "aten/row_kernels.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/conv_gradients.h"

namespace torch_ocl {
namespace {

using Sizes = c10::IntArrayRef;

std::optional<at::Tensor> on_the_host(const std::optional<at::Tensor>& t) {
  return t && t->defined() ? std::optional(t->cpu()) : std::nullopt;
}

at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, Sizes stride, Sizes padding, Sizes dilation,
                       bool is_transposed, Sizes output_padding, std::int64_t groups) {
  if (!c10::isFloatingType(input.scalar_type())) {  // ocl has no convolution of whole numbers
    note_fallback("aten::convolution_overrideable");
    return at::convolution(input.cpu(), weight.cpu(), on_the_host(bias), stride, padding, dilation,
                           is_transposed, output_padding, groups)
        .to(input.device());
  }
  follow_settings();
  return result_of(ocl::convolution(tensor_to_read(input), tensor_to_read(weight),
                                    tensor_to_read(bias.value_or(at::Tensor())), stride.vec(), padding.vec(),
                                    dilation.vec(), is_transposed, output_padding.vec(), groups),
                   {});
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight, Sizes stride,
    Sizes padding, Sizes dilation, bool is_transposed, Sizes output_padding, std::int64_t groups,
    std::array<bool, 3> wanted) {
  follow_settings();
  const ocl::TensorList gradients = ocl::convolution_gradients(
      tensor_to_read(grad_output), tensor_to_read(input), tensor_to_read(weight),
      {stride.vec(), padding.vec(), dilation.vec(), is_transposed, output_padding.vec(), groups}, wanted);
  const auto made = [&](std::size_t i) { return wanted[i] ? result_of(gradients[i], {}) : at::Tensor(); };
  return {made(0), made(1), made(2)};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
}

}  // namespace
}  // namespace torch_ocl
