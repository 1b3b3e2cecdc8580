// The README's training loop, on data of its own: exits with 0 when the net has learned.
#include <cstdlib>
#include <iostream>

#include "nn/nn.h"

using namespace ocl::nn;

int main() {
  const char* device = std::getenv("OCL_TEST_DEVICE");
  ocl::set_default_device(device ? device : "ocl:0");
  ocl::manual_seed(1);
  const ocl::Tensor x = ocl::randn({64, 4});
  const ocl::Tensor y = (ocl::sum(x, {1}) > 0).to(ocl::DType::int64);

  Sequential model(make<Linear>(4, 8), make<ReLU>(), make<Linear>(8, 2));
  ocl::optim::Adam optimizer(model.parameters(), 1e-2);
  ocl::Tensor loss;
  for (int step = 0; step < 100; ++step) {
    loss = functional::cross_entropy(model(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  std::cout << model.repr() << "\nloss " << loss.item<float>() << "\n";
  return loss.item<float>() < 0.1F ? EXIT_SUCCESS : EXIT_FAILURE;
}
