#include "autograd/ops/conv.h"

#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {

using dlprim::require;

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, Pair stride, Pair padding,
              Pair dilation, int groups) {
  if (x.dim() == 3)
    return squeeze(conv2d(unsqueeze(x, 0), weight, bias, stride, padding, dilation, groups), 0);
  const dlprim::Conv2dGeometry geometry{stride.values, padding.values, dilation.values, groups};
  const Dims shape = dlprim::conv2d_output_shape(x.shape(), weight.shape(), geometry);
  dlprim::require_floating(x.dtype(), *x.device(), "conv2d");
  require<TypeError>(x.dtype() == weight.dtype(), "conv2d: input is ", name(x.dtype()), " but weight is ",
                     name(weight.dtype()));
  require(x.device() == weight.device(), "conv2d: expected all tensors on one device");
  require(!bias.defined() || bias.shape() == Dims{weight.size(0)}, "conv2d: expected bias of shape [",
          weight.size(0), "]");
  const Tensor input = contiguous(x), kernel = contiguous(weight);
  const Tensor added = bias.defined() ? contiguous(bias) : bias;
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), shape, x.dtype());
  dlprim::conv2d_forward(x.device()->queue(), input.data(), kernel.data(),
                         added.defined() ? &added.data() : nullptr, geometry, y);
  return record("Conv2dBackward", {input, kernel, added}, y, [&] {
    return [x = SavedTensor(input), weight = SavedTensor(kernel), geometry, needs_x = input.requires_grad(),
            needs_weight = kernel.requires_grad(),
            needs_bias = added.defined() && added.requires_grad()](const TensorList& gradients) {
      const Tensor g = contiguous(gradients[0]);
      dlprim::Queue& queue = g.device()->queue();
      TensorList results(3);
      if (needs_x) {
        const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), x.unpack().shape, g.dtype());
        dlprim::conv2d_backward_data(queue, g.data(), weight.unpack(), geometry, dx);
        results[0] = Tensor(dx);
      }
      if (needs_weight) {
        const dlprim::Tensor dw = dlprim::Tensor::empty(*g.device(), weight.unpack().shape, g.dtype());
        dlprim::conv2d_backward_weight(queue, g.data(), x.unpack(), geometry, dw);
        results[1] = Tensor(dw);
      }
      if (needs_bias) results[2] = sum(g, {0, 2, 3});
      return results;
    };
  });
}

}  // namespace ocl
