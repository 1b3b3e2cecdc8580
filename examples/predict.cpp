// Says what pictures show, by a net that train wrote.
//
//     predict training-output/model.safetensors cat.jpg dog.png

#include <CLI/CLI.hpp>
#include <cstdio>

#include "training/classifier.h"
#include "training/pictures.h"

namespace {

void predict(const std::string& model, const std::vector<std::string>& files, const std::string& device_name,
             std::int64_t top) {
  const ocl::Device device(device_name);
  const Classifier classifier = load_classifier(model, device);
  const auto prepare = test_transform(classifier.side);
  const ocl::NoGradGuard no_grad;
  for (const std::string& file : files) {
    ocl::data::Random random{0};
    const auto array = ocl::data::to_array(prepare(ocl::data::read_image(file), random),
                                           ocl::data::Normalization::imagenet());
    const ocl::Tensor picture =
        ocl::from_bytes(array.bytes.data(), {1, 3, classifier.side, classifier.side}, array.dtype, device);
    const ocl::Tensor shares = ocl::nn::functional::softmax(scores_of(*classifier.net, picture).front(), 1);
    const auto [best, places] = ocl::topk(shares, std::min(top, shares.size(1)), 1);
    const auto values = best.to_vector<float>();
    const auto classes = places.to_vector<std::int64_t>();
    std::printf("%s:", file.c_str());
    for (std::size_t i = 0; i < values.size(); ++i)
      std::printf("%s %s %.1f %%", i ? "," : "",
                  classifier.classes.at(static_cast<std::size_t>(classes[i])).c_str(),
                  100 * static_cast<double>(values[i]));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string model, device = "ocl:0";
  std::vector<std::string> files;
  std::int64_t top = 3;
  CLI::App app("Says what pictures show, by a net that train wrote.");
  app.option_defaults()->always_capture_default();
  app.add_option("model", model, "the file that train wrote")->required();
  app.add_option("pictures", files, "JPEG, PNG, BMP or GIF files")->required();
  app.add_option("--device", device);
  app.add_option("--top", top, "how many classes to name")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  try {
    predict(model, files, device, top);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "predict: %s\n", error.what());
    return 1;
  }
}
