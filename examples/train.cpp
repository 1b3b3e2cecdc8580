// Trains a net of ocl::models to tell the classes of pictures, on any OpenCL device: examples/train.py in
// C++.
//
//     train                                                # a small net on pictures made for it
//     train --net resnet18 --data DIR --epochs 90          # DIR/train/CLASS/*.jpg, DIR/val/CLASS/*.jpg
//     train --mnist DIR --net mobilenet_v3_small
//     train … --resume                                     # goes on where it was stopped or killed
//
// Writes into --output: model.safetensors for predict, log.csv, curves.png (by gnuplot) and the checkpoints.
// --augment and --erase are train.py's alone.

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "training/nets.h"
#include "training/precision.h"
#include "training/program.h"
#include "training/training.h"

namespace {

constexpr int most = 1 << 30;
const CLI::Range positive(1, most), not_negative(0, most), seeds(std::int64_t{0}, std::int64_t{INT64_MAX});

// Ranges let NaN through.
const CLI::Validator number(
    [](const std::string& text) {
      return std::isnan(std::strtod(text.c_str(), nullptr)) ? "must be a number" : std::string();
    },
    "FLOAT", "number");
const CLI::Validator share = CLI::Range(0.0, 1.0) & number, amount = CLI::NonNegativeNumber & number;

void add_pictures(CLI::App& app, TrainingOptions& options) {
  auto* const source = app.add_option_group("pictures");
  source->add_option("--data", options.data, "a folder of classes, or of train and val with classes");
  source->add_option("--mnist", options.mnist, "folder with MNIST's files");
  source->add_flag("--fake-data", "pictures made for the purpose: the default");
  source->require_option(0, 1);
  app.add_option("--fake-size", options.fake_size, "how many to train on")->check(positive);
  app.add_option("--test-share", options.test_share, "kept back of a folder without val")->check(share);
  app.add_option("--side", options.side,
                 "pixels; 224 for a folder, 28 for MNIST, else 32, and more for nets that need it")
      ->check(positive)
      ->default_str("");
  app.add_option("--channels", options.channels, "of the net's input; 1 for MNIST, else 3")
      ->check(CLI::IsMember({1, 3}))
      ->default_str("");
  app.add_option("--least-scale", options.least_scale, "of a random crop's area")
      ->check(CLI::Range(1e-3, 1.0) & number);
  app.add_option("--mixup", options.mixup, "alpha of the mixture, 0.2 is usual")->check(amount);
  app.add_option("--cutmix", options.cutmix, "alpha of the share that is cut, 1 is usual")->check(amount);
  app.add_option("--workers", options.workers, "threads that prepare batches")->check(not_negative);
}

void add_training(CLI::App& app, TrainingOptions& options) {
  app.add_option("--epochs", options.epochs)->check(positive);
  app.add_option("--batch-size", options.batch_size)->check(positive);
  app.add_option("--accumulate", options.accumulate, "batches for one update")->check(positive);
  app.add_option("--optimizer", options.optimizer)->check(CLI::IsMember({"adamw", "sgd"}));
  app.add_option("--lr", options.lr, "highest learning rate")->check(amount);
  app.add_option("--schedule", options.schedule,
                 "of the learning rate; with constant, --resume may ask for more --epochs")
      ->check(CLI::IsMember({"cosine", "constant"}));
  app.add_option("--momentum", options.momentum, "of sgd")->check(share);
  app.add_option("--weight-decay", options.weight_decay)->check(amount);
  app.add_option("--warm-up", options.warm_up, "epochs")->check(amount);
  app.add_option("--label-smoothing", options.label_smoothing)->check(share);
  app.add_option("--ema", options.ema, "test and keep averaged weights; 0.999 is usual")->check(share);
  app.add_option("--clip", options.clip, "norm of all gradients; 0 for none")->check(amount);
  add_amp_option(app, options.amp);
  app.add_option("--seed", options.seed)->check(seeds);
  app.add_option("--checkpoint-every", options.checkpoint_every, "updates, besides each epoch's end")
      ->check(not_negative);
  app.add_option("--log-interval", options.log_interval, "updates")->check(positive);
  app.add_flag("--dry-run", options.dry_run, "one epoch of two updates");
}

}  // namespace

int main(int argc, char** argv) {
  TrainingOptions options;
  bool list_nets = false;
  CLI::App app("Trains a net to tell the classes of pictures, on any OpenCL device.");
  app.option_defaults()->always_capture_default();
  app.add_option("--device", options.device, "as `clinfo --list` counts them");
  app.add_option("--net", options.net);
  app.add_flag("--list-nets", list_nets, "show the names and exit");
  app.add_option("--output", options.output, "folder for what is written");
  app.add_flag("--resume", options.resume, "go on from the checkpoint in --output");
  add_pictures(app, options);
  add_training(app, options);
  return run_program(app, argc, argv, "train", [&] {
    if (options.dry_run) options.epochs = 1;
    if (!list_nets) return run_training(options);
    for (const std::string& name : net_names()) std::printf("%s\n", name.c_str());
  });
}
