#include "nn/modules/conv.h"

#include <algorithm>
#include <cmath>

#include "autograd/creation.h"
#include "autograd/ops/resample.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using Numbers = std::vector<int>;
using Padding = std::variant<Numbers, std::string>;

Numbers numbers(Pair pair) {
  return {pair[0], pair[1]};
}
Pair pair_of(const Numbers& n) {
  return {n[0], n[1]};
}

Padding padding_of(const Padding1d& padding) {
  if (const int* number = std::get_if<int>(&padding)) return Numbers{*number};
  return std::get<std::string>(padding);
}
Padding padding_of(const Padding2d& padding) {
  if (const auto* pair = std::get_if<Pair>(&padding)) return numbers(*pair);
  return std::get<std::string>(padding);
}

/** A tuple as Python prints it. */
std::string text_of(const Numbers& n) {
  std::string text = "(" + std::to_string(n[0]);
  for (std::size_t i = 1; i < n.size(); ++i) text += ", " + std::to_string(n[i]);
  return text + (n.size() == 1 ? ",)" : ")");
}

bool are_all(const Numbers& n, int value) {
  return std::all_of(n.begin(), n.end(), [value](int i) { return i == value; });
}

void check(const char* name, const ConvolutionOptions& o) {
  using dlprim::require;
  require(o.groups > 0, name, ": groups must be a positive integer, got ", o.groups);
  require(o.in_channels > 0 && o.in_channels % o.groups == 0, name, ": in_channels (", o.in_channels,
          ") must be divisible by groups (", o.groups, ")");
  require(o.out_channels > 0 && o.out_channels % o.groups == 0, name, ": out_channels (", o.out_channels,
          ") must be divisible by groups (", o.groups, ")");
  require(std::all_of(o.kernel_size.begin(), o.kernel_size.end(), [](int k) { return k > 0; }), name,
          ": kernel_size must be positive, got ", text_of(o.kernel_size));
  const auto& modes = {"zeros", "reflect", "replicate", "circular"};
  require(std::find(modes.begin(), modes.end(), o.padding_mode) != modes.end(), name,
          ": padding_mode must be zeros, reflect, replicate or circular, got '", o.padding_mode, "'");
  const auto* word = std::get_if<std::string>(&o.padding);
  require(!word || *word == "same" || *word == "valid", name, ": invalid padding string '", word ? *word : "",
          "', should be one of 'valid', 'same'");
  require(!word || *word == "valid" || are_all(o.stride, 1), name,
          ": padding='same' is not supported for strided convolutions");
}

}  // namespace

Convolution::Convolution(const char* name, ConvolutionOptions options) : options_(std::move(options)) {
  const ConvolutionOptions& o = options_;
  check(name, o);
  std::vector<std::int64_t> shape = o.transposed
                                        ? std::vector<std::int64_t>{o.in_channels, o.out_channels / o.groups}
                                        : std::vector<std::int64_t>{o.out_channels, o.in_channels / o.groups};
  shape.insert(shape.end(), o.kernel_size.begin(), o.kernel_size.end());
  register_parameter("weight", weight, empty(shape));
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  register_parameter("bias", bias, o.bias ? empty({o.out_channels}) : Tensor());
  if (!o.bias) return;
  const double bound = 1 / std::sqrt(static_cast<double>(init::fans(weight).in));
  init::uniform_(bias, -bound, bound);
}

std::string Convolution::extra_repr() const {
  const ConvolutionOptions& o = options_;
  std::string text = dlprim::concat(o.in_channels, ", ", o.out_channels,
                                    ", kernel_size=", text_of(o.kernel_size), ", stride=", text_of(o.stride));
  if (const auto* word = std::get_if<std::string>(&o.padding))
    text += ", padding=" + *word;
  else if (!are_all(std::get<Numbers>(o.padding), 0))
    text += ", padding=" + text_of(std::get<Numbers>(o.padding));
  if (!are_all(o.dilation, 1)) text += ", dilation=" + text_of(o.dilation);
  if (!are_all(o.output_padding, 0)) text += ", output_padding=" + text_of(o.output_padding);
  if (o.groups != 1) text += dlprim::concat(", groups=", o.groups);
  if (!o.bias) text += ", bias=False";
  if (o.padding_mode != "zeros") text += ", padding_mode=" + o.padding_mode;
  return text;
}

Tensor Convolution::padded(const Tensor& x) const {
  if (!pads_itself()) return x;
  const ConvolutionOptions& o = options_;
  const auto* sizes = std::get_if<Numbers>(&o.padding);
  const bool is_same = !sizes && std::get<std::string>(o.padding) == "same";
  std::vector<std::int64_t> margins;
  for (std::size_t i = o.kernel_size.size(); i-- > 0;) {
    const std::int64_t total = sizes     ? 2 * std::int64_t{(*sizes)[i]}
                               : is_same ? std::int64_t{o.dilation[i]} * (o.kernel_size[i] - 1)
                                         : 0;
    margins.push_back(total / 2);
    margins.push_back(total - total / 2);
  }
  return pad(x, margins, o.padding_mode);
}

Conv1d::Conv1d(std::int64_t in_channels, std::int64_t out_channels, int kernel_size, int stride,
               const Padding1d& padding, int dilation, std::int64_t groups, bool with_bias,
               const std::string& padding_mode)
    : Convolution("Conv1d", {in_channels,
                             out_channels,
                             {kernel_size},
                             {stride},
                             {dilation},
                             padding_of(padding),
                             {0},
                             groups,
                             with_bias,
                             padding_mode,
                             false}) {}

Tensor Conv1d::forward(const Tensor& x) {
  const ConvolutionOptions& o = options();
  Padding1d padding = 0;
  if (!pads_itself()) {
    const auto* sizes = std::get_if<Numbers>(&o.padding);
    padding = sizes ? Padding1d((*sizes)[0]) : Padding1d(std::get<std::string>(o.padding));
  }
  return conv1d(padded(x), held(weight), held(bias), o.stride[0], padding, o.dilation[0], o.groups);
}

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size, Pair stride,
               const Padding2d& padding, Pair dilation, std::int64_t groups, bool with_bias,
               const std::string& padding_mode)
    : Convolution("Conv2d", {in_channels,
                             out_channels,
                             numbers(kernel_size),
                             numbers(stride),
                             numbers(dilation),
                             padding_of(padding),
                             {0, 0},
                             groups,
                             with_bias,
                             padding_mode,
                             false}) {}

Tensor Conv2d::forward(const Tensor& x) {
  const ConvolutionOptions& o = options();
  Padding2d padding = 0;
  if (!pads_itself()) {
    const auto* sizes = std::get_if<Numbers>(&o.padding);
    padding = sizes ? Padding2d(pair_of(*sizes)) : Padding2d(std::get<std::string>(o.padding));
  }
  return conv2d(padded(x), held(weight), held(bias), pair_of(o.stride), padding, pair_of(o.dilation),
                o.groups);
}

ConvTranspose1d::ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, int kernel_size,
                                 int stride, int padding, int output_padding, std::int64_t groups,
                                 bool with_bias, int dilation)
    : Convolution("ConvTranspose1d", {in_channels,
                                      out_channels,
                                      {kernel_size},
                                      {stride},
                                      {dilation},
                                      Numbers{padding},
                                      {output_padding},
                                      groups,
                                      with_bias,
                                      "zeros",
                                      true}) {}

Tensor ConvTranspose1d::forward(const Tensor& x) {
  const ConvolutionOptions& o = options();
  return conv_transpose1d(x, held(weight), held(bias), o.stride[0], std::get<Numbers>(o.padding)[0],
                          o.output_padding[0], o.groups, o.dilation[0]);
}

ConvTranspose2d::ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size,
                                 Pair stride, Pair padding, Pair output_padding, std::int64_t groups,
                                 bool with_bias, Pair dilation)
    : Convolution("ConvTranspose2d",
                  {in_channels, out_channels, numbers(kernel_size), numbers(stride), numbers(dilation),
                   numbers(padding), numbers(output_padding), groups, with_bias, "zeros", true}) {}

Tensor ConvTranspose2d::forward(const Tensor& x) {
  const ConvolutionOptions& o = options();
  return conv_transpose2d(x, held(weight), held(bias), pair_of(o.stride),
                          pair_of(std::get<Numbers>(o.padding)), pair_of(o.output_padding), o.groups,
                          pair_of(o.dilation));
}

}  // namespace ocl::nn
