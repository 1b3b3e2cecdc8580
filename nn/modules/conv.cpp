#include "nn/modules/conv.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/pad.h"
#include "autograd/ops/resample.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using dlprim::concat;
using dlprim::require;
using Sizes = std::vector<std::int64_t>;

template <int N>
EachDim<N> each(const Extents<N>& extents) {
  return EachDim<N>(static_cast<const std::array<int, N>&>(extents));
}

/** The checks of the options of all convolution layers. */
template <class Options>
void check(const char* name, const Options& o) {
  require(o.groups() > 0, name, ": groups must be a positive integer, got ", o.groups());
  require(o.in_channels() >= 0 && o.in_channels() % o.groups() == 0, name, ": in_channels (", o.in_channels(),
          ") must be divisible by groups (", o.groups(), ")");
  require(o.out_channels() >= 0 && o.out_channels() % o.groups() == 0, name, ": out_channels (",
          o.out_channels(), ") must be divisible by groups (", o.groups(), ")");
  for (const int k : o.kernel_size())
    require(k >= 0, name, ": kernel_size must not be negative, got ", repr_of(o.kernel_size()));
}

template <int N>
void check_padding(const char* name, const ConvOptions<N>& o) {
  const auto& modes = {"zeros", "reflect", "replicate", "circular"};
  require(std::find(modes.begin(), modes.end(), o.padding_mode()) != modes.end(), name,
          ": padding_mode must be zeros, reflect, replicate or circular, got '", o.padding_mode(), "'");
  const auto* word = std::get_if<std::string>(&o.padding());
  require(!word || *word == "same" || *word == "valid", name, ": invalid padding string '", word ? *word : "",
          "', should be one of 'valid', 'same'");
  require(!word || *word == "valid" || o.stride().are_all(1), name,
          ": padding='same' is not supported for strided convolutions");
}

template <int N>
void check_padding(const char* name, const ConvTransposeOptions<N>& o) {
  require(o.padding_mode() == "zeros", name, ": only \"zeros\" padding mode is supported, got '",
          o.padding_mode(), "'");
}

template <class Options>
Sizes weight_shape(const char* name, const Options& o, std::int64_t first, std::int64_t second) {
  check(name, o);
  check_padding(name, o);
  Sizes shape{first, second / o.groups()};
  shape.insert(shape.end(), o.kernel_size().begin(), o.kernel_size().end());
  return shape;
}

/** The text between the parentheses; `rest`: what only some of the layers have. */
template <class Options>
std::string described(const Options& o, const std::string& padding, const std::string& output_padding) {
  std::string text =
      concat(o.in_channels(), ", ", o.out_channels(), ", kernel_size=", repr_of(o.kernel_size()),
             ", stride=", repr_of(o.stride()), padding);
  if (!o.dilation().are_all(1)) text += ", dilation=" + repr_of(o.dilation());
  text += output_padding;
  if (o.groups() != 1) text += concat(", groups=", o.groups());
  if (!o.bias()) text += ", bias=False";
  if (o.padding_mode() != "zeros") text += ", padding_mode=" + o.padding_mode();
  return text;
}

template <int N>
std::string described(const ConvOptions<N>& o) {
  std::string padding;
  if (const auto* word = std::get_if<std::string>(&o.padding()))
    padding = ", padding=" + *word;
  else if (const auto& sizes = std::get<Extents<N>>(o.padding()); !sizes.are_all(0))
    padding = ", padding=" + repr_of(sizes);
  return described(o, padding, "");
}

template <int N>
std::string described(const ConvTransposeOptions<N>& o) {
  const auto shown = [](const char* name, const Extents<N>& sizes) {
    return sizes.are_all(0) ? "" : concat(", ", name, '=', repr_of(sizes));
  };
  return described(o, shown("padding", o.padding()), shown("output_padding", o.output_padding()));
}

/** The input with what padding_mode puts around it; `padding` then is none. */
template <int N>
Tensor padded(const Tensor& x, const ConvOptions<N>& o, typename ConvOptions<N>::Padding& padding) {
  if (o.padding_mode() == "zeros") return x;
  const auto* sizes = std::get_if<Extents<N>>(&padding);
  const bool is_same = !sizes && std::get<std::string>(padding) == "same";
  Sizes margins;
  for (std::size_t i = N; i-- > 0;) {
    const std::int64_t total = sizes     ? 2 * std::int64_t{(*sizes)[i]}
                               : is_same ? std::int64_t{o.dilation()[i]} * (o.kernel_size()[i] - 1)
                                         : 0;
    margins.push_back(total / 2);
    margins.push_back(total - total / 2);
  }
  padding = Extents<N>(0);
  return pad(x, margins, o.padding_mode());
}

/** The output padding that brings the output to `wanted`. */
template <int N>
Extents<N> output_padding_for(const char* name, const Tensor& x, const ConvTransposeOptions<N>& o,
                              const std::optional<Sizes>& wanted) {
  if (!wanted) return o.output_padding();
  const std::size_t count = wanted->size();
  require(count == N || static_cast<int>(count) == x.dim(), name, ": output_size must have ", N, " or ",
          x.dim(), " elements, got ", count);
  Extents<N> result;
  for (std::size_t i = 0; i < N; ++i) {
    const int d = x.dim() - N + static_cast<int>(i);
    const std::int64_t least = (x.size(d) - 1) * o.stride()[i] - 2 * std::int64_t{o.padding()[i]} +
                               std::int64_t{o.dilation()[i]} * (o.kernel_size()[i] - 1) + 1;
    const std::int64_t more = (*wanted)[count - N + i] - least;
    require(more >= 0 && more < std::max(o.stride()[i], o.dilation()[i]), name,
            ": requested an output size of ", dlprim::Dims(*wanted), ", of which dimension ", i,
            " must be from ", least, " to ", least + o.stride()[i] - 1);
    result[i] = static_cast<int>(more);
  }
  return result;
}

/** The result of conv2d or conv3d, which is `function`. */
template <int N, class Function>
Tensor convolved(const Function& function, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 const ConvOptions<N>& o) {
  typename ConvOptions<N>::Padding padding = o.padding();
  const Tensor x = padded(input, o, padding);
  const auto* sizes = std::get_if<Extents<N>>(&padding);
  return function(x, weight, bias, each(o.stride()),
                  sizes ? PaddingOf<N>(each(*sizes)) : PaddingOf<N>(std::get<std::string>(padding)),
                  each(o.dilation()), o.groups());
}

/** The result of conv_transpose2d or conv_transpose3d, which is `function`. */
template <int N, class Function>
Tensor convolved_back(const char* name, const Function& function, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const ConvTransposeOptions<N>& o,
                      const std::optional<Sizes>& output_size) {
  const Extents<N> output_padding = output_padding_for(name, x, o, output_size);
  return function(x, weight, bias, each(o.stride()), each(o.padding()), each(output_padding), o.groups(),
                  each(o.dilation()));
}

}  // namespace

void Convolution::make_parameters(std::vector<std::int64_t> shape, std::int64_t out_channels, bool has_bias) {
  register_parameter("weight", weight, made(dlprim::Dims(std::move(shape))));
  register_parameter("bias", bias, has_bias ? made({out_channels}) : Tensor());
}

void Convolution::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const std::int64_t fan_in = init::fans(weight).in;
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  init::uniform_(bias, -bound, bound);
}

Conv1d::Conv1d(const Conv1dOptions& o) : Layer(o) {
  make_parameters(weight_shape("Conv1d", o, o.out_channels(), o.in_channels()), o.out_channels(), o.bias());
  initialize();
}

Tensor Conv1d::forward(const Tensor& input) {
  const Conv1dOptions o = options();
  Conv1dOptions::Padding padding = o.padding();
  const Tensor x = padded(input, o, padding);
  const auto* sizes = std::get_if<Extents<1>>(&padding);
  return conv1d(x, held(weight), held(bias), o.stride()[0],
                sizes ? Padding1d((*sizes)[0]) : Padding1d(std::get<std::string>(padding)), o.dilation()[0],
                o.groups());
}

std::string Conv1d::extra_repr() const {
  return described(options());
}

Conv2d::Conv2d(const Conv2dOptions& o) : Layer(o) {
  make_parameters(weight_shape("Conv2d", o, o.out_channels(), o.in_channels()), o.out_channels(), o.bias());
  initialize();
}

Tensor Conv2d::forward(const Tensor& input) {
  return convolved(conv2d, input, held(weight), held(bias), options());
}

std::string Conv2d::extra_repr() const {
  return described(options());
}

Conv3d::Conv3d(const Conv3dOptions& o) : Layer(o) {
  make_parameters(weight_shape("Conv3d", o, o.out_channels(), o.in_channels()), o.out_channels(), o.bias());
  initialize();
}

Tensor Conv3d::forward(const Tensor& input) {
  return convolved(conv3d, input, held(weight), held(bias), options());
}

std::string Conv3d::extra_repr() const {
  return described(options());
}

ConvTranspose1d::ConvTranspose1d(const ConvTranspose1dOptions& o) : Layer(o) {
  make_parameters(weight_shape("ConvTranspose1d", o, o.in_channels(), o.out_channels()), o.out_channels(),
                  o.bias());
  initialize();
}

Tensor ConvTranspose1d::forward(const Tensor& x, const std::optional<Sizes>& output_size) {
  const ConvTranspose1dOptions o = options();
  const Extents<1> output_padding = output_padding_for("ConvTranspose1d", x, o, output_size);
  return conv_transpose1d(x, held(weight), held(bias), o.stride()[0], o.padding()[0], output_padding[0],
                          o.groups(), o.dilation()[0]);
}

std::string ConvTranspose1d::extra_repr() const {
  return described(options());
}

ConvTranspose2d::ConvTranspose2d(const ConvTranspose2dOptions& o) : Layer(o) {
  make_parameters(weight_shape("ConvTranspose2d", o, o.in_channels(), o.out_channels()), o.out_channels(),
                  o.bias());
  initialize();
}

Tensor ConvTranspose2d::forward(const Tensor& x, const std::optional<Sizes>& output_size) {
  return convolved_back("ConvTranspose2d", conv_transpose2d, x, held(weight), held(bias), options(),
                        output_size);
}

std::string ConvTranspose2d::extra_repr() const {
  return described(options());
}

ConvTranspose3d::ConvTranspose3d(const ConvTranspose3dOptions& o) : Layer(o) {
  make_parameters(weight_shape("ConvTranspose3d", o, o.in_channels(), o.out_channels()), o.out_channels(),
                  o.bias());
  initialize();
}

Tensor ConvTranspose3d::forward(const Tensor& x, const std::optional<Sizes>& output_size) {
  return convolved_back("ConvTranspose3d", conv_transpose3d, x, held(weight), held(bias), options(),
                        output_size);
}

std::string ConvTranspose3d::extra_repr() const {
  return described(options());
}

}  // namespace ocl::nn
