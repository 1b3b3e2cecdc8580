#include "aten/convolution.h"

#include <torch/library.h>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "dlprim/ops/conv/conv2d.h"

namespace torch_ocl {
namespace {

/** The convolution as one over planes: rows of pixels become planes of one row. */
struct Planes {
  dlprim::Conv2dGeometry geometry;
  std::array<int, 2> output_padding{0, 0};
  bool has_rows_only;

  Planes(std::int64_t rank, c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation,
         c10::IntArrayRef behind, std::int64_t groups)
      : has_rows_only(rank == 3) {
    TORCH_CHECK(rank == 3 || rank == 4, "expected an input of 3 or 4 dimensions, got ", rank);
    const auto both = [&](c10::IntArrayRef values, int for_rows) {
      const std::array<int, 2> pair = pair_of(values);
      return has_rows_only ? std::array<int, 2>{for_rows, pair[1]} : pair;
    };
    geometry = {both(stride, 1), both(padding, 0), both(dilation, 1), groups};
    output_padding = both(behind, 0);
  }
  at::Tensor of(const at::Tensor& t) const { return (has_rows_only ? t.unsqueeze(2) : t).contiguous(); }
  /** Zeros behind the input of a transposed convolution for output padding of whole strides, which dilation
   * allows. */
  std::array<std::int64_t, 2> rows_behind() const {
    return {output_padding[0] / geometry.stride[0], output_padding[1] / geometry.stride[1]};
  }
  at::Tensor with_rows_behind(const at::Tensor& x) const {
    const auto [rows, columns] = rows_behind();
    return rows || columns ? at::constant_pad_nd(x, {0, columns, 0, rows}) : x;
  }
  at::Tensor back(const at::Tensor& t) const { return has_rows_only && t.defined() ? t.squeeze(2) : t; }
};

std::optional<at::Tensor> on_the_host(const std::optional<at::Tensor>& t) {
  return t && t->defined() ? std::optional(t->cpu()) : std::nullopt;
}

at::Tensor convolution_of_planes(const at::Tensor& input, const at::Tensor& weight,
                                 const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                                 c10::IntArrayRef padding, c10::IntArrayRef dilation, bool is_transposed,
                                 c10::IntArrayRef output_padding, std::int64_t groups) {
  const Planes planes(input.dim(), stride, padding, dilation, output_padding, groups);
  const at::Tensor x = planes.of(input), w = planes.of(weight);
  const dlprim::Tensor raw_x = raw(x), raw_w = raw(w);
  const dlprim::Dims shape = is_transposed
                                 ? dlprim::conv_transpose2d_output_shape(
                                       raw_x.shape, raw_w.shape, planes.geometry, planes.output_padding)
                                 : dlprim::conv2d_output_shape(raw_x.shape, raw_w.shape, planes.geometry);
  at::Tensor y = at::empty(sizes_of(shape), x.options());
  dlprim::Queue& queue = device_under(x).queue();
  if (y.numel() == 0) return planes.back(y);
  if (is_transposed) {
    dlprim::conv2d_backward_data(queue, raw(planes.with_rows_behind(x)), raw_w, planes.geometry, raw(y),
                                 matmul_precision());
    if (bias && bias->defined()) y.add_(bias->view({-1, 1, 1}));
  } else {
    dlprim::conv2d_forward(queue, raw_x, raw_w, Optional(bias).get(), planes.geometry, raw(y),
                           matmul_precision());
  }
  return planes.back(y);
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
      input.dim() == 5 ? convolve_volumes(input, weight, bias,
                                          {stride, padding, dilation, is_transposed, output_padding, groups})
                       : convolution_of_planes(input, weight, bias, stride, padding, dilation, is_transposed,
                                               output_padding, groups);
  // As everywhere in PyTorch: channels last where either operand has them so.
  return laid_out_as(input.suggest_memory_format() == c10::MemoryFormat::Contiguous ? weight : input, y);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight, c10::IntArrayRef stride,
    c10::IntArrayRef padding, c10::IntArrayRef dilation, bool is_transposed, c10::IntArrayRef output_padding,
    std::int64_t groups, std::array<bool, 3> wanted) {
  if (input.dim() == 5)
    return convolve_volumes_backward(grad_output, input, weight,
                                     {stride, padding, dilation, is_transposed, output_padding, groups},
                                     wanted);
  const Planes planes(input.dim(), stride, padding, dilation, output_padding, groups);
  const at::Tensor given = planes.of(input), w = planes.of(weight), g = planes.of(grad_output);
  const at::Tensor x = is_transposed ? planes.with_rows_behind(given) : given;
  if (given.numel() == 0 || g.numel() == 0)
    return {wanted[0] ? at::zeros_like(input) : at::Tensor(),
            wanted[1] ? at::zeros_like(weight) : at::Tensor(),
            wanted[2] ? at::zeros({g.size(1)}, g.options()) : at::Tensor()};
  const dlprim::Tensor raw_x = raw(x), raw_w = raw(w), raw_g = raw(g);
  dlprim::Queue& queue = device_under(x).queue();
  at::Tensor dx, dw, db;
  if (wanted[0]) {
    dx = at::empty_like(x);
    if (is_transposed)
      dlprim::conv2d_forward(queue, raw_g, raw_w, nullptr, planes.geometry, raw(dx), matmul_precision());
    else
      dlprim::conv2d_backward_data(queue, raw_g, raw_w, planes.geometry, raw(dx), matmul_precision());
  }
  if (wanted[0] && !x.is_same(given))
    dx = dx.narrow(2, 0, given.size(2)).narrow(3, 0, given.size(3)).contiguous();
  if (wanted[1]) {
    dw = at::empty_like(w);
    dlprim::conv2d_backward_weight(queue, is_transposed ? raw_x : raw_g, is_transposed ? raw_g : raw_x,
                                   planes.geometry, raw(dw), matmul_precision());
  }
  if (wanted[2]) {
    db = at::empty({g.size(1)}, g.options());
    dlprim::conv2d_backward_bias(queue, raw_g, raw(db));
  }
  return {planes.back(dx), planes.back(dw), db};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
}

}  // namespace
}  // namespace torch_ocl
