#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/gemm/gemm_implementations.h"
#include "dlprim/ops/gemm/linear.h"

// One window, of whole planes: an image is a row of a matrix as it lies, and so is a filter. Squeeze and
// excitation has such convolutions, of one pixel.

namespace dlprim {
namespace {

constexpr char linear_name[] = "linear";

std::int64_t features(const ConvSizes& s) {
  return s.in_channels * s.taps();
}

template <class Problem>
bool can_take(const DeviceInfo&, const Problem& p) {
  const ConvSizes& s = p.sizes;
  for (int i = 0; i < 2; ++i)
    if (s.out_size[i] != 1 || s.kernel[i] != s.size[i] || s.padding[i] != 0 ||
        (s.dilation[i] != 1 && s.kernel[i] != 1))
      return false;
  return s.groups == 1 && std::max({s.images, s.out_channels, features(s)}) <= max_kernel_int;
}

Tensor images_of(const Tensor& x, const ConvSizes& s) {
  return x.reshaped({s.images, features(s)});
}
Tensor filters_of(const Tensor& weight, const ConvSizes& s) {
  return weight.reshaped({s.out_channels, features(s)});
}
Tensor results_of(const Tensor& y, const ConvSizes& s) {
  return y.reshaped({s.images, s.out_channels});
}

}  // namespace

ConvForward conv2d_forward_linear() {
  return {linear_name, can_take,
          [](const DeviceInfo& device, const ConvForwardProblem& p) {
            const ConvSizes& s = p.sizes;
            return gemm_cost(device, images_of(p.x, s), filters_of(p.weight, s).transposed(),
                             results_of(p.y, s), p.bias, p.precision);
          },
          [](Queue& queue, const ConvForwardProblem& p) {
            const ConvSizes& s = p.sizes;
            linear_forward(queue, images_of(p.x, s), filters_of(p.weight, s), p.bias, results_of(p.y, s),
                           p.precision);
            apply_epilogue(queue, p.epilogue, p.y);
          }};
}

ConvBackwardData conv2d_backward_data_linear() {
  return {linear_name, can_take,
          [](const DeviceInfo& device, const ConvBackwardDataProblem& p) {
            const ConvSizes& s = p.sizes;
            return gemm_cost(device, results_of(p.dy, s), filters_of(p.weight, s), images_of(p.dx, s),
                             nullptr, p.precision);
          },
          [](Queue& queue, const ConvBackwardDataProblem& p) {
            const ConvSizes& s = p.sizes;
            linear_backward_data(queue, results_of(p.dy, s), filters_of(p.weight, s), images_of(p.dx, s),
                                 p.precision);
          }};
}

ConvBackwardWeight conv2d_backward_weight_linear() {
  return {linear_name, can_take,
          [](const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
            const ConvSizes& s = p.sizes;
            return gemm_cost(device, results_of(p.dy, s).transposed(), images_of(p.x, s), filters_of(p.dw, s),
                             nullptr, p.precision);
          },
          [](Queue& queue, const ConvBackwardWeightProblem& p) {
            const ConvSizes& s = p.sizes;
            linear_backward_weight(queue, results_of(p.dy, s), images_of(p.x, s), filters_of(p.dw, s),
                                   p.precision);
          }};
}

}  // namespace dlprim
