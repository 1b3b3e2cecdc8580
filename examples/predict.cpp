// Names what pictures show, with a net that train trained or with published weights: examples/predict.py in
// C++.
//
//     predict                                  # made pictures, by training-output's net or one trained now
//     predict training-output/model.safetensors cat.jpg dog.png
//     predict --net resnet18 --weights resnet18.safetensors --names imagenet_classes.txt cat.jpg

#include "training/classifier.h"
#include "training/made_pictures.h"
#include "training/pictures.h"
#include "training/program.h"
#include "training/training.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* trained = "training-output/model.safetensors";

struct Options {
  std::vector<std::string> files;
  std::string net, weights, names, device = "ocl:0";
  int side = 0;
  std::int64_t top = 3;
};

struct Guess {
  std::string name;
  double probability;
};

/** The `count` likeliest classes of a picture. */
std::vector<Guess> predictions(const Classifier& classifier, const ocl::data::Image& image,
                               const Options& options) {
  ocl::data::Random random{0};
  const Preparation& preparation = classifier.preparation;
  const auto array = preparation.array_of(preparation.to_test()(image, random));
  const ocl::NoGradGuard no_grad;
  const ocl::Tensor picture =
      ocl::from_bytes(array.bytes.data(), {1, preparation.channels, preparation.side, preparation.side},
                      array.dtype, ocl::Device(options.device));
  const ocl::Tensor shares = ocl::nn::functional::softmax(scores_of(*classifier.net, picture).front(), 1);
  const auto [best, places] = ocl::topk(shares, std::min(options.top, shares.size(1)), 1);
  const auto values = best.to_vector<float>();
  const auto numbers = places.to_vector<std::int64_t>();
  std::vector<Guess> guesses;
  for (std::size_t i = 0; i < values.size(); ++i)
    guesses.push_back(
        {classifier.classes.at(static_cast<std::size_t>(numbers[i])), static_cast<double>(values[i])});
  return guesses;
}

std::string shown(const std::vector<Guess>& guesses) {
  std::string text;
  for (const auto& [name, probability] : guesses) {
    char percent[32];
    std::snprintf(percent, sizeof percent, " %.1f %%", 100 * probability);
    text += (text.empty() ? "" : ", ") + name + percent;
  }
  return text;
}

void name_files(const Classifier& classifier, const std::vector<std::string>& files, const Options& options) {
  for (const std::string& file : files) {
    const auto guesses = predictions(classifier, ocl::data::read_image(file), options);
    std::printf("%s: %s\n", file.c_str(), shown(guesses).c_str());
  }
}

/** Pictures that no training has seen, each with what it shows and whether the net saw that. */
void name_made_pictures(const Classifier& classifier, const Options& options) {
  if (classifier.classes != made_classes())
    throw ocl::ValueError("the net knows other classes than made pictures have: name pictures for it");
  const std::size_t count = 12,
                    first = 2 * TrainingOptions().fake_size;  // behind those to train and to test on
  int right = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [image, label] = made_picture(classifier.preparation.side, first + i);
    const auto guesses = predictions(classifier, image, options);
    const std::string& truth = made_classes()[static_cast<std::size_t>(label)];
    const bool is_right = guesses.front().name == truth;
    right += is_right;
    std::printf("a %s: %s: %s\n", truth.c_str(), shown(guesses).c_str(), is_right ? "right" : "wrong");
  }
  std::printf("%d of %zu right\n", right, count);
}

/** The one in training-output; where there is none, the net that train trains in one epoch. */
Classifier trained_classifier(const std::string& device) {
  if (!fs::exists(trained)) {
    std::printf("no %s: training one first\n", trained);
    TrainingOptions options;
    options.device = device;
    options.epochs = 1;
    run_training(options);
  }
  return load_classifier(trained, ocl::Device(device));
}

void predict(const Options& options) {
  const bool is_published = !options.net.empty();
  auto pictures = options.files;
  if (!is_published && pictures.empty())
    return name_made_pictures(trained_classifier(options.device), options);
  const ocl::Device device(options.device);
  const auto classifier =
      is_published ? published_classifier(options.net, options.weights, options.names, options.side, device)
                   : load_classifier(pictures.front(), device);
  if (!is_published) pictures.erase(pictures.begin());
  if (pictures.empty()) throw ocl::ValueError("name pictures to classify");
  name_files(classifier, pictures, options);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Names what pictures show, with a net that train trained or with published weights.");
  app.option_defaults()->always_capture_default();
  app.add_option("files", options.files,
                 "model.safetensors of train, then JPEG, PNG, BMP, PPM, PGM or GIF files");
  auto* const net = app.add_option("--net", options.net, "of ocl::models; then all files are pictures");
  auto* const weights =
      app.add_option("--weights", options.weights, "its state dict, .safetensors")->needs(net);
  net->needs(weights);
  app.add_option("--names", options.names, "file of the classes' names, one a line; else they have numbers")
      ->needs(net);
  app.add_option("--side", options.side, "pixels, with --net; 0: 224 or what the net needs")
      ->needs(net)
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--device", options.device);
  app.add_option("--top", options.top, "how many classes to name")->check(CLI::Range(1, 1 << 20));
  return run_program(app, argc, argv, "predict", [&] { predict(options); });
}
