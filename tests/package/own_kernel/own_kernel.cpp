// An operator with OpenCL kernels of its own, in a program beside the library: squared_relu(x) = max(x, 0)².
#include <cstdlib>
#include <iostream>

#include "autograd/autograd.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace {

// BUFFER and BIND come from core/common.cl: a tensor is a buffer and the element that its data starts at.
constexpr const char* kernels = R"(
__kernel void forward(const long n, BUFFER(const float, x), BUFFER(float, y)) {
  BIND(const float, x);
  BIND(float, y);
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) y[i] = x[i] > 0 ? x[i] * x[i] : 0;
}

__kernel void backward(const long n, BUFFER(const float, dy), BUFFER(const float, x), BUFFER(float, dx)) {
  BIND(const float, dy);
  BIND(const float, x);
  BIND(float, dx);
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) dx[i] = x[i] > 0 ? 2 * x[i] * dy[i] : 0;
}
)";

/** The kernel of that name, built at its first use on the device and kept in the kernel cache. */
dlprim::Kernel& kernel(dlprim::Device& device, const char* name) {
  const auto source = [] { return dlprim::expanded_source("core/common.cl") + kernels; };
  return device.programs().generated_kernel("my_library/squared_relu", name, "", source);
}

/** Runs a kernel of `n` elements; it waits for nothing. */
template <class... Tensors>
void launch(dlprim::Device& device, const char* name, std::int64_t n, const Tensors&... tensors) {
  dlprim::Queue& queue = device.queue();
  if (n > 0) queue.launch(kernel(device, name), dlprim::share_range(queue, n), cl_long{n}, tensors...);
}

ocl::Tensor squared_relu(const ocl::Tensor& input) {
  dlprim::require(input.dtype() == ocl::DType::float32, "squared_relu: expected float32, got ",
                  name(input.dtype()));
  const ocl::Tensor x = ocl::contiguous(input);
  dlprim::Device& device = *x.device();
  const dlprim::Tensor y = dlprim::Tensor::empty(device, x.shape(), x.dtype());
  launch(device, "forward", x.numel(), x.data(), y);
  return ocl::record("SquaredReluBackward", {x}, y, [&] {
    return [x = ocl::SavedTensor(x)](const ocl::TensorList& gradients) -> ocl::TensorList {
      const ocl::Tensor g = ocl::contiguous(gradients[0]);
      if (ocl::grad_enabled()) return {2 * ocl::relu(x.input(0)) * g};  // it will be differentiated in turn
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), g.shape(), g.dtype());
      launch(*g.device(), "backward", g.numel(), g.data(), x.unpack(), dx);
      return {ocl::Tensor(dx)};
    };
  });
}

}  // namespace

int main() {
  const char* device = std::getenv("OCL_TEST_DEVICE");
  ocl::set_default_device(device ? device : "ocl:0");
  ocl::manual_seed(1);
  const ocl::Tensor x = ocl::randn({1000, 7}).requires_grad_();
  const ocl::Tensor positive = ocl::relu(x.detach());
  const ocl::Tensor y = squared_relu(x);
  ocl::sum(ocl::sin(y)).backward();
  const ocl::Tensor expected = ocl::cos(positive * positive) * 2 * positive;
  std::cout << y.detach()[0] << "\n";
  const bool right = ocl::allclose(y.detach(), positive * positive) && ocl::allclose(x.grad(), expected);
  std::cout << (right ? "the kernels are right\n" : "the kernels are WRONG\n");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
