// three_steps NET INPUT OUTPUT DEVICE: three steps of SGD on a net of ocl::models, for
// test_same_bits_as_cpp.py, which does the same in Python and compares the bits.
//
// INPUT is a safetensors file with the weights (net.*), pictures.0 to .2 and labels.0 to .2. OUTPUT gets of
// each step the output and the loss, of the first the gradients (gradient.*), and at the end the weights
// (net.*) and what the net gives for pictures.0 in evaluation.

#include <cstdio>

#include "nn/models/models.h"
#include "nn/nn.h"

namespace {

using namespace ocl;

const std::string net_prefix = "net.";

std::shared_ptr<nn::Module> make_net(const std::string& name, std::int64_t side, std::int64_t classes) {
  for (const auto& [known, options] : models::VisionTransformer::variants())
    if (known == name) {  // its positions depend on the size of the pictures
      models::VisionTransformerOptions own = options;
      return nn::make<models::VisionTransformer>(own.image_size(side).num_classes(classes));
    }
  return models::create_model(name, models::ModelOptions().num_classes(classes));
}

void run(const std::string& name, const std::string& input, const std::string& output, const Device& device) {
  set_default_device(device);
  manual_seed(7);
  StateDict weights, others;
  for (const auto& [key, tensor] : load(input, device)) {
    const bool is_weight = key.compare(0, net_prefix.size(), net_prefix) == 0;
    if (is_weight)
      weights.emplace_back(key.substr(net_prefix.size()), tensor);
    else
      others.emplace_back(key, tensor);
  }
  const auto given = [&](const std::string& key) {
    for (const auto& [known, tensor] : others)
      if (known == key) return tensor;
    throw ValueError("the input has no " + key);
  };
  const auto net = make_net(name, given("pictures.0").size(-1), given("classes").size(0));
  net->to(device);
  net->load_state_dict(weights);

  StateDict found;
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01).momentum(0.9).weight_decay(1e-4));
  for (int i = 0; i < 3; ++i) {
    const std::string step = "." + std::to_string(i);
    const Tensor scores = (*net)(given("pictures" + step));
    const Tensor loss = cross_entropy(scores, given("labels" + step));
    optimizer.zero_grad();
    loss.backward();
    found.emplace_back("output" + step, scores.detach());
    found.emplace_back("loss" + step, loss.detach());
    if (i == 0)
      for (const auto& [key, parameter] : net->named_parameters())
        found.emplace_back("gradient." + key, parameter.grad());
    optimizer.step();
  }
  net->eval();
  found.emplace_back("evaluated", (*net)(given("pictures.0")).detach());
  for (const auto& [key, tensor] : net->state_dict()) found.emplace_back(net_prefix + key, tensor);
  save(found, output);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: three_steps NET INPUT OUTPUT DEVICE\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3], Device(std::string(argv[4])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "three_steps: %s\n", error.what());
    return 1;
  }
}
