#include "aten/convolution.h"

namespace torch_ocl {
namespace {

/** [N, C, depth, H, W] as the planes [N * depth, C, H, W], and back. */
at::Tensor as_planes(const at::Tensor& volume) {
  return volume.transpose(1, 2).flatten(0, 1);
}
at::Tensor as_volume(const at::Tensor& planes, std::int64_t batch) {
  return planes.unflatten(0, {batch, planes.size(0) / batch}).transpose(1, 2);
}

/** Along the depth: how the planes of the side with fewer (the result's, transposed the input's) lie on those
 * of the other, padded, for one plane of the weight. */
struct Depth {
  std::int64_t stride, padding, dilation, count;

  Depth(const VolumeConvolution& by, std::int64_t planes)
      : stride(by.stride[0]), padding(by.padding[0]), dilation(by.dilation[0]), count(planes) {}
  at::Tensor under(const at::Tensor& padded, std::int64_t k) const {
    return padded.slice(2, k * dilation, k * dilation + (count - 1) * stride + 1, stride);
  }
  at::Tensor padded(const at::Tensor& volume) const {
    return padding > 0 ? at::constant_pad_nd(volume, {0, 0, 0, 0, padding, padding}) : volume;
  }
  at::Tensor without_padding(const at::Tensor& volume) const {
    return volume.narrow(2, padding, volume.size(2) - 2 * padding);
  }
};

std::int64_t output_depth(const at::Tensor& input, const at::Tensor& weight, const VolumeConvolution& by) {
  const std::int64_t reach = by.dilation[0] * (weight.size(2) - 1);
  if (by.is_transposed)
    return (input.size(2) - 1) * by.stride[0] - 2 * by.padding[0] + reach + by.output_padding[0] + 1;
  const std::int64_t room = input.size(2) + 2 * by.padding[0] - reach - 1;
  TORCH_CHECK(room >= 0, "Calculated padded input size per channel: (", input.size(2) + 2 * by.padding[0],
              "). Kernel size: (", reach + 1, "). Kernel size can't be greater than actual input size");
  return room / by.stride[0] + 1;
}

at::Tensor convolve(const at::Tensor& planes, const at::Tensor& weight, const VolumeConvolution& by) {
  return at::convolution(planes, weight, {}, by.stride.slice(1), by.padding.slice(1), by.dilation.slice(1),
                         by.is_transposed, by.output_padding.slice(1), by.groups);
}

bool is_half(const at::Tensor& t) {
  return t.scalar_type() == c10::kHalf || t.scalar_type() == c10::kBFloat16;
}

}  // namespace

at::Tensor convolve_volumes(const at::Tensor& input, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const VolumeConvolution& by) {
  TORCH_CHECK(weight.dim() == 5, "expected a weight of 5 dimensions, got shape ", weight.sizes());
  // Parts that are added up are not rounded to half types first.
  if (is_half(input))
    return convolve_volumes(input.to(c10::kFloat), weight.to(c10::kFloat),
                            bias && bias->defined() ? std::optional(bias->to(c10::kFloat)) : std::nullopt, by)
        .to(input.scalar_type());
  const std::int64_t batch = input.size(0), depth = output_depth(input, weight, by);
  TORCH_CHECK(depth > 0, "input ", input.sizes(), " and weight ", weight.sizes(), " give an output of depth ",
              depth);
  at::Tensor y;
  if (by.is_transposed) {
    const Depth along(by, input.size(2));
    const at::Tensor planes = as_planes(input);
    for (std::int64_t k = 0; k < weight.size(2); ++k) {
      const at::Tensor part = as_volume(convolve(planes, weight.select(2, k), by), batch);
      if (!y.defined())
        y = at::zeros({batch, part.size(1), depth + 2 * along.padding, part.size(3), part.size(4)},
                      part.options());
      along.under(y, k).add_(part);
    }
    y = along.without_padding(y);
  } else {
    const Depth along(by, depth);
    const at::Tensor padded = along.padded(input);
    for (std::int64_t k = 0; k < weight.size(2); ++k) {
      const at::Tensor part = convolve(as_planes(along.under(padded, k)), weight.select(2, k), by);
      y = y.defined() ? y.add_(part) : part;
    }
    y = as_volume(y, batch);
  }
  if (bias && bias->defined()) y = y + bias->view({-1, 1, 1, 1});
  return y.contiguous();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolve_volumes_backward(const at::Tensor& grad,
                                                                         const at::Tensor& input,
                                                                         const at::Tensor& weight,
                                                                         const VolumeConvolution& by,
                                                                         std::array<bool, 3> wanted) {
  if (is_half(input)) {
    auto [dx, dw, db] = convolve_volumes_backward(grad.to(c10::kFloat), input.to(c10::kFloat),
                                                  weight.to(c10::kFloat), by, wanted);
    for (at::Tensor* t : {&dx, &dw, &db})
      if (t->defined()) *t = t->to(input.scalar_type());
    return {dx, dw, db};
  }
  const std::int64_t batch = input.size(0);
  const Depth along(by, by.is_transposed ? input.size(2) : grad.size(2));
  const at::Tensor x = by.is_transposed ? input : along.padded(input),
                   g = by.is_transposed ? along.padded(grad) : grad;
  at::Tensor dx = wanted[0] ? at::zeros_like(x) : at::Tensor(),
             dw = wanted[1] ? at::empty_like(weight) : at::Tensor();
  for (std::int64_t k = 0; k < weight.size(2) && (wanted[0] || wanted[1]); ++k) {
    const at::Tensor planes = as_planes(by.is_transposed ? x : along.under(x, k)),
                     gradient = as_planes(by.is_transposed ? along.under(g, k) : g);
    const auto [dplanes, dplane_weight, none] =
        at::convolution_backward(gradient, planes, weight.select(2, k), c10::nullopt, by.stride.slice(1),
                                 by.padding.slice(1), by.dilation.slice(1), by.is_transposed,
                                 by.output_padding.slice(1), by.groups, {wanted[0], wanted[1], false});
    if (wanted[0]) (by.is_transposed ? dx : along.under(dx, k)).add_(as_volume(dplanes, batch));
    if (wanted[1]) dw.select(2, k).copy_(dplane_weight);
  }
  if (wanted[0] && !by.is_transposed) dx = along.without_padding(dx).contiguous();
  return {dx, dw, wanted[2] ? grad.sum({0, 2, 3, 4}) : at::Tensor()};
}

}  // namespace torch_ocl
