#include <torch/library.h>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "dlprim/ops/conv/convolutions.h"

namespace torch_ocl {
namespace {

using dlprim::Convolutions;
using Sizes = c10::IntArrayRef;

/** How a convolution over `axes` dimensions is asked for. One over rows of pixels becomes one over planes of
 * one row. */
template <std::size_t axes>
struct Convolution {
  dlprim::ConvGeometry<axes> geometry;
  std::array<int, axes> output_padding;
  bool is_transposed, has_rows_only;

  Convolution(std::int64_t rank, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes behind,
              std::int64_t groups)
      : is_transposed(transposed), has_rows_only(axes == 2 && rank == 3) {
    TORCH_CHECK(has_rows_only || rank == axes + 2, "expected an input of 3, 4 or 5 dimensions, got ", rank);
    const auto each = [&](Sizes values, int for_rows) {
      auto numbers = numbers_of<axes>(values);
      if (has_rows_only) numbers[0] = for_rows;
      return numbers;
    };
    geometry.stride = each(stride, 1);
    geometry.padding = each(padding, 0);
    geometry.dilation = each(dilation, 1);
    geometry.groups = groups;
    output_padding = each(behind, 0);
  }
  at::Tensor of(const at::Tensor& t) const { return (has_rows_only ? t.unsqueeze(2) : t).contiguous(); }
  at::Tensor back(const at::Tensor& t) const { return has_rows_only && t.defined() ? t.squeeze(2) : t; }

  /** The input of a transposed convolution with zeros behind it for output padding of whole strides, which
   * dilation allows. */
  at::Tensor with_zeros_behind(const at::Tensor& x) const {
    std::vector<std::int64_t> margins(2 * axes, 0);  // from the last dimension on
    bool is_any = false;
    for (std::size_t i = 0; i < axes; ++i) {
      margins[2 * (axes - 1 - i) + 1] = output_padding[i] / geometry.stride[i];
      is_any |= output_padding[i] >= geometry.stride[i];
    }
    return is_any ? at::constant_pad_nd(x, margins) : x;
  }
  /** What of `padded` lies over `x`. */
  at::Tensor without_zeros_behind(at::Tensor padded, const at::Tensor& x) const {
    for (int d = 2; d < x.dim(); ++d) padded = padded.narrow(d, 0, x.size(d));
    return padded.contiguous();
  }
};

std::optional<at::Tensor> on_the_host(const std::optional<at::Tensor>& t) {
  return t && t->defined() ? std::optional(t->cpu()) : std::nullopt;
}

template <std::size_t axes>
at::Tensor convolve(const Convolution<axes>& by, const at::Tensor& input, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias) {
  const at::Tensor x = by.of(input), w = by.of(weight);
  const dlprim::Tensor raw_x = raw(x), raw_w = raw(w);
  const dlprim::Dims shape = by.is_transposed
                                 ? Convolutions<axes>::transposed_output_shape(raw_x.shape, raw_w.shape,
                                                                               by.geometry, by.output_padding)
                                 : Convolutions<axes>::output_shape(raw_x.shape, raw_w.shape, by.geometry);
  at::Tensor y = at::empty(sizes_of(shape), x.options());
  dlprim::Queue& queue = device_under(x).queue();
  if (y.numel() == 0) return by.back(y);
  if (by.is_transposed) {
    Convolutions<axes>::backward_data(queue, raw(by.with_zeros_behind(x)), raw_w, by.geometry, raw(y),
                                      matmul_precision());
    if (bias && bias->defined()) {
      std::vector<std::int64_t> column(axes + 1, 1);
      column[0] = -1;
      y.add_(bias->view(column));
    }
  } else {
    Convolutions<axes>::forward(queue, raw_x, raw_w, Optional(bias).get(), by.geometry, raw(y),
                                matmul_precision());
  }
  return by.back(y);
}

template <std::size_t axes>
std::tuple<at::Tensor, at::Tensor, at::Tensor> convolve_backward(const Convolution<axes>& by,
                                                                 const at::Tensor& grad_output,
                                                                 const at::Tensor& input,
                                                                 const at::Tensor& weight,
                                                                 std::array<bool, 3> wanted) {
  const at::Tensor given = by.of(input), w = by.of(weight), g = by.of(grad_output);
  const at::Tensor x = by.is_transposed ? by.with_zeros_behind(given) : given;
  if (given.numel() == 0 || g.numel() == 0)
    return {wanted[0] ? at::zeros_like(input) : at::Tensor(),
            wanted[1] ? at::zeros_like(weight) : at::Tensor(),
            wanted[2] ? at::zeros({g.size(1)}, g.options()) : at::Tensor()};
  const dlprim::Tensor raw_x = raw(x), raw_w = raw(w), raw_g = raw(g);
  dlprim::Queue& queue = device_under(x).queue();
  at::Tensor dx, dw, db;
  if (wanted[0]) {
    dx = at::empty_like(x);
    if (by.is_transposed)
      Convolutions<axes>::forward(queue, raw_g, raw_w, nullptr, by.geometry, raw(dx), matmul_precision());
    else
      Convolutions<axes>::backward_data(queue, raw_g, raw_w, by.geometry, raw(dx), matmul_precision());
  }
  if (wanted[0] && !x.is_same(given)) dx = by.without_zeros_behind(dx, given);
  if (wanted[1]) {
    dw = at::empty_like(w);
    Convolutions<axes>::backward_weight(queue, by.is_transposed ? raw_x : raw_g,
                                        by.is_transposed ? raw_g : raw_x, by.geometry, raw(dw),
                                        matmul_precision());
  }
  if (wanted[2]) {
    db = at::empty({g.size(1)}, g.options());
    Convolutions<axes>::backward_bias(queue, raw_g, raw(db));
  }
  return {by.back(dx), by.back(dw), db};
}

/** Calls `work` with the convolution, over two dimensions or three. */
template <class Work>
auto with_convolution(const at::Tensor& input, Sizes stride, Sizes padding, Sizes dilation,
                      bool is_transposed, Sizes output_padding, std::int64_t groups, const Work& work) {
  if (input.dim() == 5)
    return work(Convolution<3>(5, stride, padding, dilation, is_transposed, output_padding, groups));
  return work(Convolution<2>(input.dim(), stride, padding, dilation, is_transposed, output_padding, groups));
}

at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                       c10::IntArrayRef padding, c10::IntArrayRef dilation, bool is_transposed,
                       c10::IntArrayRef output_padding, std::int64_t groups) {
  if (!c10::isFloatingType(input.scalar_type())) {  // dlprim has no convolution of whole numbers
    note_fallback("aten::convolution_overrideable");
    return at::convolution(input.cpu(), weight.cpu(), on_the_host(bias), stride, padding, dilation,
                           is_transposed, output_padding, groups)
        .to(input.device());
  }
  const at::Tensor y =
      with_convolution(input, stride, padding, dilation, is_transposed, output_padding, groups,
                       [&](const auto& by) { return convolve(by, input, weight, bias); });
  // As everywhere in PyTorch: channels last where either operand has them so.
  return laid_out_as(input.suggest_memory_format() == c10::MemoryFormat::Contiguous ? weight : input, y);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight, c10::IntArrayRef stride,
    c10::IntArrayRef padding, c10::IntArrayRef dilation, bool is_transposed, c10::IntArrayRef output_padding,
    std::int64_t groups, std::array<bool, 3> wanted) {
  return with_convolution(
      input, stride, padding, dilation, is_transposed, output_padding, groups,
      [&](const auto& by) { return convolve_backward(by, grad_output, input, weight, wanted); });
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
}

}  // namespace
}  // namespace torch_ocl
