#include "autograd/ops/conv.h"

#include "autograd/ops/call.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/precision.h"
#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

void check_arguments(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                     std::int64_t out_channels) {
  dlprim::require_floating(x.dtype(), *x.device(), op);
  require<TypeError>(x.dtype() == weight.dtype(), op, ": input is ", name(x.dtype()), " but weight is ",
                     name(weight.dtype()));
  require(x.device() == weight.device(), op, ": expected all tensors on one device");
  if (!bias.defined()) return;
  require<TypeError>(bias.dtype() == x.dtype(), op, ": input is ", name(x.dtype()), " but bias is ",
                     name(bias.dtype()));
  require(bias.device() == x.device(), op, ": expected all tensors on one device");
  require(bias.shape() == Dims{out_channels}, op, ": expected bias of shape [", out_channels, "], got ",
          bias.shape());
}

/** As PyTorch: the result is channels last where input or weight is. */
MemoryFormat result_format(const Tensor& x, const Tensor& weight) {
  const MemoryFormat format = format_of(x);
  return format == MemoryFormat::contiguous ? format_of(weight) : format;
}

/** As PyTorch: an input without channels gives a result without channels, of `shape` but for them. */
Tensor convolve_no_channels(const Tensor& x, const Tensor& weight, const Tensor& bias, Dims shape) {
  shape[1] = 0;
  return record("Conv2dBackward", {x, weight, bias}, dlprim::Tensor::empty(*x.device(), shape, x.dtype()),
                [&] {
                  std::vector<Dims> shapes{x.shape(), weight.shape()};
                  if (bias.defined()) shapes.push_back(bias.shape());
                  return [shapes](const TensorList& g) {
                    TensorList nothing(3);
                    for (std::size_t i = 0; i < shapes.size(); ++i)
                      nothing[i] = zeros(shapes[i].vector(), g[0].dtype(), g[0].device());
                    return nothing;
                  };
                });
}

/*
 * Convolution is linear in its input and in its weight. The three functions are its result, its gradient by
 * the input (which a transposed convolution is) and that by the weight; the gradients of each are the other
 * two.
 */
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                const dlprim::Conv2dGeometry& geometry);
/** The gradient of convolve with respect to its input, of that shape, when x comes back. */
Tensor convolve_transposed(const Tensor& x, const Tensor& weight, const dlprim::Conv2dGeometry& geometry,
                           const Dims& shape);
/** The gradient of convolve(x, …) with respect to its weight, of that shape, when g comes back. */
Tensor weight_gradient(const Tensor& x, const Tensor& g, const dlprim::Conv2dGeometry& geometry,
                       const Dims& shape);

Tensor bias_gradient(const Tensor& g) {
  if (grad_enabled()) return sum(g, {0, 2, 3});
  const dlprim::Tensor db = dlprim::Tensor::empty(*g.device(), {g.size(1)}, g.dtype());
  dlprim::conv2d_backward_bias(g.device()->queue(), g.data(), db);
  return Tensor(db);
}

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                const dlprim::Conv2dGeometry& geometry) {
  const Dims shape = dlprim::conv2d_output_shape(x.shape(), weight.shape(), geometry);
  check_arguments("conv2d", x, weight, bias, weight.size(0));
  if (x.size(1) == 0) return convolve_no_channels(x, weight, bias, shape);
  const Tensor input = contiguous(x), kernel = contiguous(weight);
  const Tensor added = bias.defined() ? contiguous(bias) : bias;
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::conv2d_forward(x.device()->queue(), input.data(), kernel.data(),
                         added.defined() ? &added.data() : nullptr, geometry, y, float32_matmul_precision());
  const Tensor result = record("Conv2dBackward", {input, kernel, added}, y, [&] {
    return [x = SavedTensor(input), weight = SavedTensor(kernel), geometry](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      TensorList results(3);
      if (gradient_is_wanted(0))
        results[0] = convolve_transposed(g, weight.input(1), geometry, x.unpack().shape);
      if (gradient_is_wanted(1)) results[1] = weight_gradient(x.input(0), g, geometry, weight.unpack().shape);
      if (gradient_is_wanted(2)) results[2] = bias_gradient(g);
      return results;
    };
  });
  return in_format(result, result_format(x, weight));
}

Tensor convolve_transposed(const Tensor& x, const Tensor& weight, const dlprim::Conv2dGeometry& geometry,
                           const Dims& shape) {
  const Tensor input = contiguous(x), kernel = contiguous(weight);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::conv2d_backward_data(x.device()->queue(), input.data(), kernel.data(), geometry, y,
                               float32_matmul_precision());
  const Tensor result = record("ConvTranspose2dBackward", {input, kernel}, y, [&] {
    return [x = SavedTensor(input), weight = SavedTensor(kernel), geometry](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      TensorList results(2);
      if (gradient_is_wanted(0)) results[0] = convolve(g, weight.input(1), {}, geometry);
      if (gradient_is_wanted(1)) results[1] = weight_gradient(g, x.input(0), geometry, weight.unpack().shape);
      return results;
    };
  });
  return in_format(result, result_format(x, weight));
}

Tensor weight_gradient(const Tensor& x, const Tensor& g, const dlprim::Conv2dGeometry& geometry,
                       const Dims& shape) {
  const Tensor input = contiguous(x), gradient = contiguous(g);
  const dlprim::Tensor dw = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::conv2d_backward_weight(x.device()->queue(), gradient.data(), input.data(), geometry, dw,
                                 float32_matmul_precision());
  return record("Conv2dWeightBackward", {input, gradient}, dw, [&] {
    return [x = SavedTensor(input), g = SavedTensor(gradient), geometry](const TensorList& by_weight) {
      TensorList results(2);
      if (gradient_is_wanted(0))
        results[0] = convolve_transposed(g.input(1), by_weight[0], geometry, x.unpack().shape);
      if (gradient_is_wanted(1)) results[1] = convolve(x.input(0), by_weight[0], {}, geometry);
      return results;
    };
  });
}

/** A weight or input of one spatial dimension as one of two, the first of size 1. */
Tensor as_plane(const char* op, const char* what, const Tensor& t, bool may_lack_batch) {
  require(t.dim() == 3 || (may_lack_batch && t.dim() == 2), op, ": expected a 3D ", what,
          ", but got one of size: ", t.shape());
  return unsqueeze(t, -2);
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, Pair stride,
              const Padding2d& padding, Pair dilation, std::int64_t groups) {
  ENTER_OPERATOR(conv2d, x, weight, bias, stride, padding, dilation, groups);
  if (x.dim() == 3)
    return squeeze(conv2d(unsqueeze(x, 0), weight, bias, stride, padding, dilation, groups), 0);
  dlprim::Conv2dGeometry geometry{stride.values, {0, 0}, dilation.values, groups};
  if (const auto* numbers = std::get_if<Pair>(&padding)) {
    geometry.padding = numbers->values;
    return convolve(x, weight, bias, geometry);
  }
  const std::string& word = std::get<std::string>(padding);
  require(word == "same" || word == "valid", "conv2d: invalid padding string '", word,
          "', should be one of 'valid', 'same'");
  if (word == "valid" || weight.dim() != 4) return convolve(x, weight, bias, geometry);
  const dlprim::SamePadding same = dlprim::conv2d_same_padding(weight.shape(), geometry);
  geometry.padding = same.padding;
  const auto [rows, columns] = same.behind;
  return convolve(rows || columns ? pad(x, {0, columns, 0, rows}) : x, weight, bias, geometry);
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, int stride, const Padding1d& padding,
              int dilation, std::int64_t groups) {
  ENTER_OPERATOR(conv1d, x, weight, bias, stride, padding, dilation, groups);
  const int* number = std::get_if<int>(&padding);
  const Padding2d planes = number ? Padding2d(Pair(0, *number)) : Padding2d(std::get<std::string>(padding));
  return squeeze(conv2d(as_plane("conv1d", "input [N, Cin, L]", x, true),
                        as_plane("conv1d", "weight [Cout, Cin / groups, K]", weight, false), bias,
                        {1, stride}, planes, {1, dilation}, groups),
                 -2);
}

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, Pair stride, Pair padding,
                        Pair output_padding, std::int64_t groups, Pair dilation) {
  ENTER_OPERATOR(conv_transpose2d, x, weight, bias, stride, padding, output_padding, groups, dilation);
  if (x.dim() == 3)
    return squeeze(
        conv_transpose2d(unsqueeze(x, 0), weight, bias, stride, padding, output_padding, groups, dilation),
        0);
  const dlprim::Conv2dGeometry geometry{stride.values, padding.values, dilation.values, groups};
  const Dims shape =
      dlprim::conv_transpose2d_output_shape(x.shape(), weight.shape(), geometry, output_padding.values);
  check_arguments("conv_transpose2d", x, weight, bias, shape[1]);
  // Output padding of whole strides (dilation allows it) reads zeros that stand behind the input.
  const int behind_h = output_padding[0] / stride[0], behind_w = output_padding[1] / stride[1];
  const Tensor input = behind_h || behind_w ? pad(x, {0, behind_w, 0, behind_h}) : x;
  const Tensor y = convolve_transposed(input, weight, geometry, shape);
  return bias.defined() ? add(y, reshape(bias, {shape[1], 1, 1})) : y;
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, int stride, int padding,
                        int output_padding, std::int64_t groups, int dilation) {
  ENTER_OPERATOR(conv_transpose1d, x, weight, bias, stride, padding, output_padding, groups, dilation);
  return squeeze(
      conv_transpose2d(as_plane("conv_transpose1d", "input [N, Cin, L]", x, true),
                       as_plane("conv_transpose1d", "weight [Cin, Cout / groups, K]", weight, false), bias,
                       {1, stride}, {0, padding}, {0, output_padding}, groups, {1, dilation}),
      -2);
}

}  // namespace ocl
