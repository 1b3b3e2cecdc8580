#include "autograd/ops/conv.h"

#include <algorithm>

#include "autograd/ops/call.h"
#include "autograd/ops/complex.h"
#include "autograd/ops/conv_gradients.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/views.h"
#include "autograd/ops/whole_conv.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/precision.h"
#include "dlprim/ops/conv/convolutions.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::ConvGeometry;
using dlprim::Convolutions;
using dlprim::require;

/** Whether its elements are whole numbers. Truths are not convolved. */
bool is_whole(DType dtype) {
  return dlprim::is_integral(dtype) && dtype != DType::boolean;
}

template <std::size_t N>
WholeGeometry whole(const ConvGeometry<N>& g) {
  const auto numbers = [](const auto& each) { return std::vector<std::int64_t>(each.begin(), each.end()); };
  return {numbers(g.stride), numbers(g.padding), numbers(g.dilation), g.groups};
}

/** `y` [N, O, sizes…] and a bias [O], which may be undefined. */
Tensor with_bias(const Tensor& y, const Tensor& bias) {
  if (!bias.defined()) return y;
  std::vector<std::int64_t> column(static_cast<std::size_t>(y.dim()) - 1, 1);
  column[0] = y.size(1);
  return add(y, reshape(bias, column));
}

void check_arguments(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                     std::int64_t out_channels) {
  if (!is_whole(x.dtype())) dlprim::require_floating(x.dtype(), *x.device(), op);
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

/** Like PyTorch's, the result is channels last where input or weight is. */
MemoryFormat result_format(const Tensor& x, const Tensor& weight) {
  const MemoryFormat format = format_of(x);
  return format == MemoryFormat::contiguous ? format_of(weight) : format;
}

/** The names of what is recorded, over N dimensions. */
template <std::size_t N>
struct ConvNodes {
  static constexpr bool is_2d = N == 2;
  static constexpr const char *forward = is_2d ? "Conv2dBackward" : "Conv3dBackward",
                              *back = is_2d ? "ConvTranspose2dBackward" : "ConvTranspose3dBackward",
                              *weight = is_2d ? "Conv2dWeightBackward" : "Conv3dWeightBackward";
};

/** Like PyTorch, gives for an input without channels gives a result without channels, of `shape` but for
 * them. */
Tensor convolve_no_channels(const char* node, const Tensor& x, const Tensor& weight, const Tensor& bias,
                            Dims shape) {
  shape[1] = 0;
  return record(node, {x, weight, bias}, dlprim::Tensor::empty(*x.device(), shape, x.dtype()), [&] {
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

// A convolution is linear in its input and in its weight, so that the gradients of the three functions that
// follow are these functions again. They take contiguous tensors.

template <std::size_t N>
Tensor convolved(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvGeometry<N>& geometry);
template <std::size_t N>
Tensor convolved_back(const Tensor& dy, const Tensor& weight, const ConvGeometry<N>& geometry,
                      const Dims& shape);
template <std::size_t N>
Tensor weight_gradient(const Tensor& dy, const Tensor& x, const ConvGeometry<N>& geometry, const Dims& shape);

template <std::size_t N>
Tensor bias_gradient(const Tensor& g) {
  if (grad_enabled()) return sum(g, N == 2 ? DimList{0, 2, 3} : DimList{0, 2, 3, 4});
  const dlprim::Tensor db = dlprim::Tensor::empty(*g.device(), {g.size(1)}, g.dtype());
  Convolutions<N>::backward_bias(g.device()->queue(), g.data(), db);
  return Tensor(db);
}

template <std::size_t N>
Tensor convolved(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvGeometry<N>& geometry) {
  const dlprim::Tensor y = dlprim::Tensor::empty(
      *x.device(), Convolutions<N>::output_shape(x.shape(), weight.shape(), geometry), x.dtype());
  Convolutions<N>::forward(x.device()->queue(), x.data(), weight.data(),
                           bias.defined() ? &bias.data() : nullptr, geometry, y, float32_matmul_precision());
  return record(ConvNodes<N>::forward, {x, weight, bias}, y, [&] {
    return [x = SavedTensor(x), weight = SavedTensor(weight), geometry](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      TensorList results(3);
      if (gradient_is_wanted(0)) results[0] = convolved_back(g, weight.input(1), geometry, x.unpack().shape);
      if (gradient_is_wanted(1)) results[1] = weight_gradient(g, x.input(0), geometry, weight.unpack().shape);
      if (gradient_is_wanted(2)) results[2] = bias_gradient<N>(g);
      return results;
    };
  });
}

/** The gradient of convolved with respect to its input, of that shape, when `dy` comes back. */
template <std::size_t N>
Tensor convolved_back(const Tensor& dy, const Tensor& weight, const ConvGeometry<N>& geometry,
                      const Dims& shape) {
  const dlprim::Tensor dx = dlprim::Tensor::empty(*dy.device(), shape, dy.dtype());
  Convolutions<N>::backward_data(dy.device()->queue(), dy.data(), weight.data(), geometry, dx,
                                 float32_matmul_precision());
  return record(ConvNodes<N>::back, {dy, weight}, dx, [&] {
    return [dy = SavedTensor(dy), weight = SavedTensor(weight), geometry](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      TensorList results(2);
      if (gradient_is_wanted(0)) results[0] = convolved(g, weight.input(1), {}, geometry);
      if (gradient_is_wanted(1))
        results[1] = weight_gradient(dy.input(0), g, geometry, weight.unpack().shape);
      return results;
    };
  });
}

/** The gradient of convolved with respect to its weight, of that shape, when `dy` comes back. */
template <std::size_t N>
Tensor weight_gradient(const Tensor& dy, const Tensor& x, const ConvGeometry<N>& geometry,
                       const Dims& shape) {
  const dlprim::Tensor dw = dlprim::Tensor::empty(*dy.device(), shape, dy.dtype());
  Convolutions<N>::backward_weight(dy.device()->queue(), dy.data(), x.data(), geometry, dw,
                                   float32_matmul_precision());
  return record(ConvNodes<N>::weight, {dy, x}, dw, [&] {
    return [dy = SavedTensor(dy), x = SavedTensor(x), geometry](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      TensorList results(2);
      if (gradient_is_wanted(0)) results[0] = convolved(x.input(1), g, {}, geometry);
      if (gradient_is_wanted(1)) results[1] = convolved_back(dy.input(0), g, geometry, x.unpack().shape);
      return results;
    };
  });
}

template <std::size_t N>
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvGeometry<N>& geometry) {
  const Dims shape = Convolutions<N>::output_shape(x.shape(), weight.shape(), geometry);
  check_arguments(Convolutions<N>::op, x, weight, bias, weight.size(0));
  if (x.size(1) == 0) return convolve_no_channels(ConvNodes<N>::forward, x, weight, bias, shape);
  if (is_whole(x.dtype())) return with_bias(convolved_whole(x, weight, whole(geometry), shape), bias);
  const Tensor y =
      convolved(contiguous(x), contiguous(weight), bias.defined() ? contiguous(bias) : bias, geometry);
  return in_format(y, result_format(x, weight));
}

/** `convolution(input, weight)` of complex numbers, by their parts, and the bias [O]. */
template <class Convolution>
Tensor convolve_parts(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Convolution& convolution) {
  require<TypeError>(x.dtype() == weight.dtype(), op, ": input is ", name(x.dtype()), " but weight is ",
                     name(weight.dtype()));
  const Tensor y = of_parts(x, weight, convolution);
  if (bias.defined())
    require(bias.shape() == Dims{y.size(1)}, op, ": expected bias of shape [", y.size(1), "], got ",
            bias.shape());
  return with_bias(y, bias);
}

/** Margins of as many zeros behind each of the last dimensions, as pad takes them. */
template <std::size_t N>
std::vector<std::int64_t> margins_behind(const std::array<int, N>& zeros) {
  std::vector<std::int64_t> margins;
  for (std::size_t i = N; i-- > 0;) {
    margins.push_back(0);
    margins.push_back(zeros[i]);
  }
  return margins;
}

/** `x` with as many zeros behind each of its last dimensions. */
template <std::size_t N>
Tensor padded_behind(const Tensor& x, const std::array<int, N>& zeros) {
  const bool is_any = std::any_of(zeros.begin(), zeros.end(), [](int n) { return n != 0; });
  return is_any ? pad(x, margins_behind(zeros)) : x;
}

/** The input of a transposed convolution: output padding of whole strides (dilation allows it) reads zeros
 * that stand behind it. */
template <std::size_t N>
Tensor with_zeros_behind(const Tensor& x, const ConvGeometry<N>& geometry, const EachDim<N>& output_padding) {
  std::array<int, N> behind{};
  for (std::size_t i = 0; i < N; ++i) behind[i] = output_padding.values[i] / geometry.stride[i];
  return padded_behind(x, behind);
}

/** A batch of one without its batch again. */
template <std::size_t N, class Function>
Tensor of_batch(const Tensor& x, const Function& function) {
  if (x.dim() != static_cast<int>(N) + 1) return function(x);
  return squeeze(function(unsqueeze(x, 0)), 0);
}

template <std::size_t N>
Tensor convolve_batch(const Tensor& x, const Tensor& weight, const Tensor& bias, const EachDim<N>& stride,
                      const PaddingOf<N>& padding, const EachDim<N>& dilation, std::int64_t groups) {
  if (x.is_complex())
    return convolve_parts(Convolutions<N>::op, x, weight, bias, [&](const Tensor& a, const Tensor& b) {
      return convolve_batch<N>(a, b, {}, stride, padding, dilation, groups);
    });
  ConvGeometry<N> geometry;
  geometry.stride = stride.values;
  geometry.dilation = dilation.values;
  geometry.groups = groups;
  if (const auto* numbers = std::get_if<EachDim<N>>(&padding)) {
    geometry.padding = numbers->values;
    return convolve(x, weight, bias, geometry);
  }
  const std::string& word = std::get<std::string>(padding);
  require(word == "same" || word == "valid", Convolutions<N>::op, ": invalid padding string '", word,
          "', should be one of 'valid', 'same'");
  if (word == "valid" || weight.dim() != static_cast<int>(N) + 2) return convolve(x, weight, bias, geometry);
  const auto same = Convolutions<N>::same_padding(weight.shape(), geometry);
  geometry.padding = same.padding;
  return convolve(padded_behind(x, same.behind), weight, bias, geometry);
}

template <std::size_t N>
Tensor convolve_batch_back(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           const EachDim<N>& stride, const EachDim<N>& padding,
                           const EachDim<N>& output_padding, std::int64_t groups,
                           const EachDim<N>& dilation) {
  if (x.is_complex())
    return convolve_parts(
        Convolutions<N>::transposed_op, x, weight, bias, [&](const Tensor& a, const Tensor& b) {
          return convolve_batch_back<N>(a, b, {}, stride, padding, output_padding, groups, dilation);
        });
  ConvGeometry<N> geometry;
  geometry.stride = stride.values;
  geometry.padding = padding.values;
  geometry.dilation = dilation.values;
  geometry.groups = groups;
  const Dims shape =
      Convolutions<N>::transposed_output_shape(x.shape(), weight.shape(), geometry, output_padding.values);
  check_arguments(Convolutions<N>::transposed_op, x, weight, bias, shape[1]);
  if (is_whole(x.dtype())) return with_bias(convolved_back_whole(x, weight, whole(geometry), shape), bias);
  const Tensor input = with_zeros_behind(x, geometry, output_padding);
  const Tensor y = in_format(convolved_back(contiguous(input), contiguous(weight), geometry, shape),
                             result_format(input, weight));
  return with_bias(y, bias);
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
  return of_batch<2>(x, [&](const Tensor& batch) {
    return convolve_batch(batch, weight, bias, stride, padding, dilation, groups);
  });
}

Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, Triple stride,
              const Padding3d& padding, Triple dilation, std::int64_t groups) {
  ENTER_OPERATOR(conv3d, x, weight, bias, stride, padding, dilation, groups);
  return of_batch<3>(x, [&](const Tensor& batch) {
    return convolve_batch(batch, weight, bias, stride, padding, dilation, groups);
  });
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, Single stride,
              const Padding1d& padding, Single dilation, std::int64_t groups) {
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
  return of_batch<2>(x, [&](const Tensor& batch) {
    return convolve_batch_back(batch, weight, bias, stride, padding, output_padding, groups, dilation);
  });
}

Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, Triple stride,
                        Triple padding, Triple output_padding, std::int64_t groups, Triple dilation) {
  ENTER_OPERATOR(conv_transpose3d, x, weight, bias, stride, padding, output_padding, groups, dilation);
  return of_batch<3>(x, [&](const Tensor& batch) {
    return convolve_batch_back(batch, weight, bias, stride, padding, output_padding, groups, dilation);
  });
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, Single stride,
                        Single padding, Single output_padding, std::int64_t groups, Single dilation) {
  ENTER_OPERATOR(conv_transpose1d, x, weight, bias, stride, padding, output_padding, groups, dilation);
  return squeeze(
      conv_transpose2d(as_plane("conv_transpose1d", "input [N, Cin, L]", x, true),
                       as_plane("conv_transpose1d", "weight [Cin, Cout / groups, K]", weight, false), bias,
                       {1, stride}, {0, padding}, {0, output_padding}, groups, {1, dilation}),
      -2);
}

namespace {

/** One number for all of N dimensions, or one for each. */
template <std::size_t N>
EachDim<N> each_of(const char* what, const std::vector<std::int64_t>& numbers) {
  require(numbers.size() == 1 || numbers.size() == N, "convolution: expected one or ", N, " numbers of ",
          what, ", got ", numbers.size());
  std::array<int, N> each{};
  for (std::size_t i = 0; i < N; ++i) each[i] = static_cast<int>(numbers[numbers.size() == 1 ? 0 : i]);
  return each;
}

/** The number of the one dimension. */
int one_of(const char* what, const std::vector<std::int64_t>& numbers) {
  require(numbers.size() == 1, "convolution: expected one number of ", what, ", got ", numbers.size());
  return static_cast<int>(numbers[0]);
}

/** The settings of a convolution over lines as those of one over planes of one row. */
Convolution over_planes(const Convolution& c) {
  const auto behind = [](std::int64_t first, const char* what, const std::vector<std::int64_t>& numbers) {
    return std::vector<std::int64_t>{first, one_of(what, numbers)};
  };
  return {behind(1, "stride", c.stride),
          behind(0, "padding", c.padding),
          behind(1, "dilation", c.dilation),
          c.transposed,
          behind(0, "output_padding", c.output_padding),
          c.groups};
}

/** Without what lies behind `shape` in each of the last dimensions. */
Tensor cut_to(const Tensor& padded, const Dims& shape) {
  Tensor result = padded;
  for (int d = 2; d < shape.size(); ++d)
    if (result.shape()[d] != shape[d]) result = narrow(result, d, 0, shape[d]);
  return result;
}

template <std::size_t N>
TensorList gradients_over(const Tensor& given, const Tensor& input, const Tensor& given_weight,
                          const Convolution& c, const std::array<bool, 3>& wanted) {
  ConvGeometry<N> geometry;
  geometry.stride = each_of<N>("stride", c.stride).values;
  geometry.padding = each_of<N>("padding", c.padding).values;
  geometry.dilation = each_of<N>("dilation", c.dilation).values;
  geometry.groups = c.groups;
  const Tensor g = contiguous(given), weight = contiguous(given_weight);
  const Tensor x = contiguous(
      c.transposed ? with_zeros_behind(input, geometry, each_of<N>("output_padding", c.output_padding))
                   : input);
  TensorList results(3);
  if (wanted[0])
    results[0] = c.transposed ? cut_to(convolved(g, weight, {}, geometry), input.shape())
                              : convolved_back(g, weight, geometry, x.shape());
  if (wanted[1])
    results[1] = c.transposed ? weight_gradient(x, g, geometry, weight.shape())
                              : weight_gradient(g, x, geometry, weight.shape());
  if (wanted[2]) results[2] = bias_gradient<N>(g);
  return results;
}

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const std::vector<std::int64_t>& stride, const std::vector<std::int64_t>& padding,
                   const std::vector<std::int64_t>& dilation, bool transposed,
                   const std::vector<std::int64_t>& output_padding, std::int64_t groups) {
  ENTER_OPERATOR(convolution, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
  if (weight.dim() == 3) {
    const Convolution c = over_planes({stride, padding, dilation, transposed, output_padding, groups});
    return squeeze(convolution(as_plane("convolution", "input [N, C, L]", x, true),
                               as_plane("convolution", "weight", weight, false), bias, c.stride, c.padding,
                               c.dilation, transposed, c.output_padding, groups),
                   -2);
  }
  require(weight.dim() == 4 || weight.dim() == 5,
          "convolution: expected a weight of 3, 4 or 5 dimensions, got shape ", weight.shape());
  const auto over = [&](auto dims) {
    constexpr std::size_t N = decltype(dims)::value;
    const auto steps = each_of<N>("stride", stride), margins = each_of<N>("padding", padding),
               gaps = each_of<N>("dilation", dilation);
    return of_batch<N>(x, [&](const Tensor& batch) {
      if (!transposed) return convolve_batch<N>(batch, weight, bias, steps, margins, gaps, groups);
      return convolve_batch_back<N>(batch, weight, bias, steps, margins,
                                    each_of<N>("output_padding", output_padding), groups, gaps);
    });
  };
  return weight.dim() == 4 ? over(std::integral_constant<std::size_t, 2>())
                           : over(std::integral_constant<std::size_t, 3>());
}

TensorList convolution_gradients(const Tensor& g, const Tensor& x, const Tensor& weight, const Convolution& c,
                                 const std::array<bool, 3>& wanted) {
  if (x.numel() == 0 || g.numel() == 0) {
    const Shape shapes[] = {x.shape().vector(), weight.shape().vector(), {g.size(1)}};
    TensorList results(3);
    for (std::size_t i = 0; i < 3; ++i)
      if (wanted[i]) results[i] = zeros(shapes[i], g.dtype(), g.device());
    return results;
  }
  if (weight.dim() == 3) {
    TensorList results = convolution_gradients(unsqueeze(g, -2), unsqueeze(x, -2), unsqueeze(weight, -2),
                                               over_planes(c), wanted);
    for (std::size_t i = 0; i < 2; ++i)
      if (wanted[i]) results[i] = squeeze(results[i], -2);
    return results;
  }
  return weight.dim() == 4 ? gradients_over<2>(g, x, weight, c, wanted)
                           : gradients_over<3>(g, x, weight, c, wanted);
}

}  // namespace ocl
