// Trains a small convolutional net on MNIST, on any OpenCL device: examples/mnist.py in C++.
//
//     mnist                             # on what examples/mnist.py downloaded, or on pictures made for it
//     mnist --data DIR --device ocl:0 --epochs 5 --plot curves.png

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "nn/data/data_loader.h"
#include "nn/data/image_datasets.h"
#include "nn/data/mnist.h"
#include "nn/nn.h"
#include "training/plotting.h"
#include "training/precision.h"
#include "training/program.h"
#include "training/progress.h"

namespace {

namespace nn = ocl::nn;
namespace F = ocl::nn::functional;
using ocl::data::DataLoader;
using ocl::data::DataLoaderOptions;

const auto process_start = Clock::now();

struct Net : nn::Module {
  nn::Child<nn::Conv2d> conv1 =
      add<nn::Conv2d>("conv1", nn::Conv2dOptions(1, 32, 3).bias(false));  // the shift is the batch norm's
  nn::Child<nn::Sequential> norm = add<nn::Sequential>("norm", nn::make<nn::BatchNorm2d>(32),
                                                       nn::make<nn::ReLU>());  // which run as one
  nn::Child<nn::Conv2d> conv2 = add<nn::Conv2d>("conv2", 32, 64, 3);
  nn::Child<nn::Linear> fc1 = add<nn::Linear>("fc1", 64 * 5 * 5, 128);
  nn::Child<nn::Linear> fc2 = add<nn::Linear>("fc2", 128, 10);

  ocl::Tensor forward(const ocl::Tensor& images) override {  // (N, 1, 28, 28)
    auto x = F::max_pool2d(norm(conv1(images)), 2);          // (N, 32, 13, 13)
    x = F::relu(F::max_pool2d(conv2(x), 2));                 // (N, 64, 5, 5)
    return fc2(F::relu(fc1(ocl::flatten(x, 1))));
  }
};

struct Options {
  std::string device = "ocl:0", data, amp, save_model, plot, profile;
  std::size_t batch_size = 64, test_batch_size = 1000;
  int epochs = 3, log_interval = 10;
  float lr = 1e-3f, gamma = 0.7f;
  std::uint64_t seed = 1;
  bool dry_run = false;
};

struct History {
  std::vector<std::pair<int, float>> losses;  // step, loss
  std::vector<double> accuracies;             // percent, one an epoch
  double first_step_seconds = 0;
};

ocl::Tensor loss_of(Net& net, const ocl::TensorList& batch, const Precision& precision) {
  const auto autocast = precision.autocast();
  return F::cross_entropy(net.forward(batch[0]), batch[1]);
}

void train(Net& net, DataLoader& loader, ocl::optim::Adam& optimizer, Precision& precision, int epoch,
           const Options& options, History& history) {
  net.train();
  int images = 0;
  auto since = Clock::now();
  const int steps = options.dry_run ? 1 : static_cast<int>(loader.size());
  int step = 0;
  for (const ocl::TensorList& batch : loader) {
    if (++step > steps) break;
    optimizer.zero_grad();
    const auto loss = loss_of(net, batch, precision);
    precision.backward(loss);
    precision.step(optimizer, net);
    if (history.first_step_seconds == 0) {
      ocl::synchronize(loader.device());
      history.first_step_seconds = seconds_since(process_start);
    }
    images += static_cast<int>(batch[0].size(0));
    if (step % options.log_interval != 0 && step != steps) continue;
    const auto value = loss.item<float>();  // waits for the device, so only here
    history.losses.emplace_back((epoch - 1) * steps + step, value);
    print_progress(step == steps, "epoch %d: step %d/%d, loss %.4f, %.0f images/s", epoch, step, steps, value,
                   images / seconds_since(since));
    images = 0;
    since = Clock::now();
  }
}

/** The accuracy in percent over the test set. */
double test(Net& net, DataLoader& loader, const Precision& precision) {
  net.eval();
  const ocl::NoGradGuard no_grad;
  const auto autocast = precision.autocast();
  std::vector<ocl::Tensor> hits;
  for (const ocl::TensorList& batch : loader)
    hits.push_back((net.forward(batch[0]).argmax(1) == batch[1]).sum());
  std::int64_t total = 0;
  for (const auto& hit : hits) total += hit.item<std::int64_t>();
  return 100.0 * static_cast<double>(total) / static_cast<double>(loader.dataset().size());
}

/** Before the training, so that its work is not lost. */
void check_plotting(const std::string& path) {
  if (!can_plot()) throw std::runtime_error("--plot needs the program gnuplot, which is not installed");
  if (!std::ofstream(path, std::ios::app)) throw std::runtime_error("cannot write " + path);
}

void plot_history(const History& history, const std::string& path) {
  Curves losses{"step", "training loss", {{}}, false, true},
      accuracies{"epoch", "test accuracy (%)", {{}}, true};
  for (const auto& [step, loss] : history.losses) {
    losses.lines[0].x.push_back(step);
    losses.lines[0].y.push_back(static_cast<double>(loss));
  }
  for (const double accuracy : history.accuracies) {
    accuracies.lines[0].x.push_back(static_cast<double>(accuracies.lines[0].x.size() + 1));
    accuracies.lines[0].y.push_back(accuracy);
  }
  plot({losses, accuracies}, path);
}

std::string default_data_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base =
      cache != nullptr && *cache ? cache : std::string(home != nullptr ? home : ".") + "/.cache";
  return base + "/tapecl/datasets/mnist";
}

struct Datasets {
  std::shared_ptr<ocl::data::Dataset> train, test;
};

/** MNIST of `folder`, or of the default folder; where that holds none, striped pictures made for it. */
Datasets load_data(const std::string& folder) {
  try {
    auto mnist = ocl::data::load_mnist(folder.empty() ? default_data_folder() : folder);
    const auto part = [](ocl::data::IdxArray images, ocl::data::IdxArray labels) {
      return std::make_shared<ocl::data::IdxImages>(std::move(images), std::move(labels),
                                                    ocl::data::mnist_mean, ocl::data::mnist_std);
    };
    return {part(std::move(mnist.train_images), std::move(mnist.train_labels)),
            part(std::move(mnist.test_images), std::move(mnist.test_labels))};
  } catch (const dlprim::FileError& error) {
    if (!folder.empty()) throw;
    std::fprintf(stderr, "%s\ntraining on made pictures of stripes instead\n", error.what());
    const auto made = [](std::size_t size, std::uint64_t seed) {
      return std::make_shared<ocl::data::FakeImages>(size, 1, 28, 10, seed);
    };
    return {made(6400, 1), made(1000, 2)};
  }
}

void run(const Options& options) {
  if (!options.plot.empty()) check_plotting(options.plot);
  ocl::manual_seed(options.seed);
  const ocl::Device device(options.device);
  Net net;
  net.to(device);
  ocl::optim::Adam optimizer(net.parameters(), options.lr);
  ocl::optim::StepLR scheduler(optimizer, 1, options.gamma);
  Precision precision(options.amp);

  const Datasets data = load_data(options.data);
  DataLoader train_loader(
      data.train, DataLoaderOptions().batch_size(options.batch_size).shuffle(true).workers(1), device);
  DataLoader test_loader(data.test, DataLoaderOptions().batch_size(options.test_batch_size).workers(1),
                         device);

  History history;
  std::optional<ocl::profiler::Profile> profile;
  if (!options.profile.empty()) profile.emplace();
  for (int epoch = 1; epoch <= (options.dry_run ? 1 : options.epochs); ++epoch) {
    train(net, train_loader, optimizer, precision, epoch, options, history);
    history.accuracies.push_back(test(net, test_loader, precision));
    std::printf("epoch %d: accuracy %.2f %%\n", epoch, history.accuracies.back());
    scheduler.step();
  }

  if (profile) {
    profile->export_chrome_trace(options.profile);
    std::printf("%s\n", profile->table().c_str());
  }
  if (!options.save_model.empty()) ocl::save(net.state_dict(), options.save_model);
  if (!options.plot.empty()) plot_history(history, options.plot);
  const auto cache = ocl::kernel_cache_info();
  std::printf("kernels: %lld programs built in %.2f s\n", static_cast<long long>(cache.built),
              cache.build_seconds);
  std::printf("first step done after %.2f s\n", history.first_step_seconds);
  std::printf("test accuracy %.2f %%\n", history.accuracies.back());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const CLI::Range positive(1, 1 << 30);
  CLI::App app("Trains a small convolutional net on MNIST, on any OpenCL device.");
  app.option_defaults()->always_capture_default();
  app.add_option("--device", options.device, "as `clinfo --list` counts them");
  app.add_option(
      "--data", options.data,
      "folder of MNIST's files; without it those that examples/mnist.py downloaded, or made pictures");
  app.add_option("--batch-size", options.batch_size)->check(positive);
  app.add_option("--test-batch-size", options.test_batch_size)->check(positive);
  app.add_option("--epochs", options.epochs)->check(positive);
  app.add_option("--lr", options.lr, "learning rate of Adam");
  app.add_option("--gamma", options.gamma, "learning rate factor per epoch");
  add_amp_option(app, options.amp);
  app.add_option("--seed", options.seed)->check(CLI::Range(0, 1 << 30));
  app.add_option("--log-interval", options.log_interval, "steps from loss to loss")->check(positive);
  app.add_flag("--dry-run", options.dry_run, "train a single step");
  app.add_option("--save-model", options.save_model, "write the trained weights to this file");
  app.add_option("--plot", options.plot,
                 "draw the loss and accuracy curves into this PNG file (needs gnuplot)");
  app.add_option("--profile", options.profile, "write a trace for chrome://tracing, print a summary");
  return run_program(app, argc, argv, "mnist", [&] { run(options); });
}
