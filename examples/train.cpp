// Trains a net of ocl::models to tell the classes of pictures, on any OpenCL device: examples/train.py in
// C++.
//
//     train                                                # a small net on pictures made for it
//     train --net resnet18 --data DIR --epochs 90          # DIR/train/CLASS/*.jpg, DIR/val/CLASS/*.jpg
//     train … --resume                                     # goes on where it was stopped or killed
//
// Writes into --output: model.safetensors for predict, log.csv and the checkpoints.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "nn/models/registry.h"
#include "training/trainer.h"

namespace {

namespace fs = std::filesystem;

void write_csv(const std::vector<EpochRow>& rows, const fs::path& path) {
  std::ofstream file(path);
  file << "epoch,train_loss,test_loss,test_top1,test_top5,images_per_second\n";
  for (const EpochRow& row : rows)
    file << row.epoch << ',' << row.train_loss << ',' << row.test_loss << ',' << row.top1 << ',' << row.top5
         << ',' << row.images_per_second << '\n';
  if (!file.flush()) throw ocl::FileError(path.string() + ": cannot be written");
}

void run(const TrainingOptions& options) {
  const ocl::Device device(options.device);
  ocl::set_default_device(*device);
  ocl::manual_seed(options.seed);
  const Pictures pictures = load_pictures(options);
  const auto net = ocl::models::create_model(
      options.net,
      ocl::models::ModelOptions().num_classes(static_cast<std::int64_t>(pictures.classes.size())));
  net->to(device);
  const fs::path output = options.output;
  fs::create_directories(output);
  Trainer trainer(net, pictures, options);
  if (options.resume) trainer.resume();
  trainer.run([&](const std::vector<EpochRow>& rows) {
    const EpochRow& row = rows.back();
    std::printf(
        "epoch %d/%d: training loss %.4f, test loss %.4f, top 1 %.2f %%, top 5 %.2f %%, %.0f images/s\n",
        row.epoch, options.epochs, row.train_loss, row.test_loss, row.top1, row.top5, row.images_per_second);
    std::fflush(stdout);
    write_csv(rows, output / "log.csv");
  });
  save_classifier({options.net, trainer.best(), pictures.classes, pictures.side},
                  output / "model.safetensors");
  std::printf("wrote %s\n", (output / "model.safetensors").c_str());
}

}  // namespace

int main(int argc, char** argv) {
  TrainingOptions options;
  bool list_nets = false;
  const CLI::Range positive(1, 1 << 30), share(0.0, 1.0);
  CLI::App app("Trains a net to tell the classes of pictures, on any OpenCL device.");
  app.option_defaults()->always_capture_default();
  app.add_option("--device", options.device, "as `clinfo --list` counts them");
  app.add_option("--net", options.net);
  app.add_flag("--list-nets", list_nets, "show the names and exit");
  app.add_option("--output", options.output, "folder for what is written");
  app.add_flag("--resume", options.resume, "go on from the checkpoint in --output");
  auto* folder =
      app.add_option("--data", options.data, "folder with train and val, each with a folder for each class");
  app.add_option("--mnist", options.mnist, "folder with MNIST's files")->excludes(folder);
  app.add_option("--fake-size", options.fake_size, "pictures to make without --data and --mnist")
      ->check(positive);
  app.add_option("--side", options.side, "pixels (0: 224 for a folder, else 32; MNIST's own)");
  app.add_option("--workers", options.workers, "threads that prepare batches");
  app.add_option("--mixup", options.mixup, "alpha of the mixture, 0.2 is usual")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--cutmix", options.cutmix, "alpha of the share that is cut, 1 is usual")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--epochs", options.epochs)->check(positive);
  app.add_option("--batch-size", options.batch_size)->check(positive);
  app.add_option("--accumulate", options.accumulate, "batches for one update")->check(positive);
  app.add_option("--optimizer", options.optimizer)->check(CLI::IsMember({"adamw", "sgd"}));
  app.add_option("--lr", options.lr, "highest learning rate");
  app.add_option("--momentum", options.momentum, "of sgd")->check(share);
  app.add_option("--weight-decay", options.weight_decay)->check(CLI::NonNegativeNumber);
  app.add_option("--warm-up", options.warm_up, "epochs")->check(CLI::NonNegativeNumber);
  app.add_option("--label-smoothing", options.label_smoothing)->check(share);
  app.add_option("--ema", options.ema, "test and keep averaged weights; 0.999 is usual")->check(share);
  app.add_option("--clip", options.clip, "norm of all gradients; 0 for none")->check(CLI::NonNegativeNumber);
  app.add_option("--seed", options.seed);
  app.add_option("--checkpoint-every", options.checkpoint_every, "updates, besides each epoch's end");
  app.add_option("--log-interval", options.log_interval, "updates")->check(positive);
  app.add_flag("--dry-run", options.dry_run, "one epoch of two updates");
  CLI11_PARSE(app, argc, argv);
  if (options.dry_run) options.epochs = 1;
  try {
    if (list_nets)
      for (const std::string& name : ocl::models::list_models(ocl::models::Task::classification))
        std::printf("%s\n", name.c_str());
    else
      run(options);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "train: %s\n", error.what());
    return 1;
  }
}
