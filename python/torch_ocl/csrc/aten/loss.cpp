#include <torch/library.h>

#include "arguments.h"
#include "aten/compute_type.h"
#include "aten/kernels.h"
#include "dlprim/ops/loss/nll_loss.h"
#include "dlprim/ops/softmax/softmax.h"

namespace torch_ocl {
namespace {

using Softmax = void (*)(dlprim::Queue&, const dlprim::Tensor&, std::int64_t, const dlprim::Tensor&);
using SoftmaxBackward = void (*)(dlprim::Queue&, const dlprim::Tensor&, const dlprim::Tensor&, std::int64_t,
                                 const dlprim::Tensor&);

template <Softmax compute>
at::Tensor& softmax(const at::Tensor& self, std::int64_t dim, bool half_to_float, at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  const at::Tensor x = (half_to_float ? self.to(c10::kFloat) : self).contiguous();
  if (out.numel() > 0)
    into(out, [&](const dlprim::Tensor& y) { compute(y.device().queue(), raw(x), dim, y); }, {x});
  return out;
}

template <SoftmaxBackward compute>
at::Tensor& softmax_backward(const at::Tensor& grad, const at::Tensor& output, std::int64_t dim,
                             c10::ScalarType type, at::Tensor& out) {
  at::native::resize_output(out, grad.sizes());
  if (out.numel() == 0) return out;
  const at::Tensor g = grad.contiguous(), y = output.contiguous();
  at::Tensor made = out.is_contiguous() && type == g.scalar_type() ? out : at::empty_like(g);
  compute(device_under(g).queue(), raw(g), raw(y), dim, raw(made));
  if (!made.is_same(out)) out.copy_(made);
  return out;
}

dlprim::Reduction reduction_of(std::int64_t reduction) {
  return reduction == at::Reduction::None   ? dlprim::Reduction::none
         : reduction == at::Reduction::Mean ? dlprim::Reduction::mean
                                            : dlprim::Reduction::sum;
}

std::tuple<at::Tensor&, at::Tensor&> nll_loss(const at::Tensor& self, const at::Tensor& target,
                                              const std::optional<at::Tensor>& weight, std::int64_t reduction,
                                              std::int64_t ignore_index, at::Tensor& output,
                                              at::Tensor& total_weight) {
  const dlprim::Dims shape = dlprim::class_loss_shape(dims_of(self.sizes()), reduction_of(reduction));
  at::native::resize_output(output, sizes_of(shape));
  at::native::resize_output(total_weight, {});
  const at::Tensor x = self.contiguous(), t = target.to(c10::kLong).contiguous();
  const at::Tensor total = at::empty({}, x.options().dtype(compute_type(x.scalar_type())));
  into(output, [&](const dlprim::Tensor& y) {
    dlprim::nll_loss_forward(y.device().queue(), raw(x), raw(t), Optional(weight).get(), ignore_index,
                             reduction_of(reduction), y, raw(total));
  });
  total_weight.copy_(total);
  return {output, total_weight};
}

/** The total_weight of nll_loss, in float: as a number of 16 bits it may be infinite. */
at::Tensor total_weight_of(const at::Tensor& target, const std::optional<at::Tensor>& weight,
                           std::int64_t ignore_index) {
  const at::Tensor counts = target.ne(ignore_index);
  if (!weight || !weight->defined()) return counts.sum().to(c10::kFloat);
  const at::Tensor known = target.masked_fill(counts.logical_not(), 0).flatten();
  return (weight->to(c10::kFloat).index_select(0, known) * counts.flatten()).sum();
}

at::Tensor& nll_loss_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                              const std::optional<at::Tensor>& weight, std::int64_t reduction,
                              std::int64_t ignore_index, const at::Tensor& total_weight, at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  const at::Tensor g = grad.contiguous(), t = target.to(c10::kLong).contiguous();
  const bool is_wanted = reduction == at::Reduction::Mean;
  const at::Tensor total = is_wanted && c10::isReducedFloatingType(self.scalar_type())
                               ? total_weight_of(t, weight, ignore_index)
                               : in_compute_type(total_weight).contiguous();
  into(out, [&](const dlprim::Tensor& dx) {
    dlprim::nll_loss_backward(dx.device().queue(), raw(g), raw(t), Optional(weight).get(), ignore_index,
                              reduction_of(reduction), raw(total), dx);
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor> nll_loss2d(const at::Tensor& self, const at::Tensor& target,
                                              const std::optional<at::Tensor>& weight, std::int64_t reduction,
                                              std::int64_t ignore_index) {
  at::Tensor output = at::empty({0}, self.options()), total_weight = at::empty({0}, self.options());
  torch_ocl::nll_loss(self, target, weight, reduction, ignore_index, output, total_weight);
  return {output, total_weight};
}

at::Tensor nll_loss2d_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                               const std::optional<at::Tensor>& weight, std::int64_t reduction,
                               std::int64_t ignore_index, const at::Tensor& total_weight) {
  at::Tensor out = at::empty({0}, self.options());
  return torch_ocl::nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("_softmax.out", &softmax<&dlprim::softmax_forward>);
  m.impl("_log_softmax.out", &softmax<&dlprim::log_softmax_forward>);
  m.impl("_softmax_backward_data.out", &softmax_backward<&dlprim::softmax_backward>);
  m.impl("_log_softmax_backward_data.out", &softmax_backward<&dlprim::log_softmax_backward>);
  m.impl("nll_loss_forward.output", &nll_loss);
  m.impl("nll_loss_backward.grad_input", &nll_loss_backward);
  m.impl("nll_loss2d_forward", &nll_loss2d);
  m.impl("nll_loss2d_forward.output", &nll_loss);
  m.impl("nll_loss2d_backward", &nll_loss2d_backward);
  m.impl("nll_loss2d_backward.grad_input", &nll_loss_backward);
}

}  // namespace
}  // namespace torch_ocl
