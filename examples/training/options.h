#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/** What examples/train.cpp is asked for. */
struct TrainingOptions {
  std::string device = "ocl:0", net = "shufflenet_v2_x0_5", output = "training-output";
  bool resume = false, dry_run = false;

  std::string data, mnist;  // folders; neither: pictures made for the purpose
  std::size_t fake_size = 2400, workers = 2;
  int side = 0;  // 0: 224 for a folder, 28 for MNIST, 32 for pictures made
  double mixup = 0, cutmix = 0;

  int epochs = 5, accumulate = 1;
  std::size_t batch_size = 32;
  std::string optimizer = "adamw";
  double lr = 3e-3, momentum = 0.9, weight_decay = 0.01, warm_up = 0.5, label_smoothing = 0.1, ema = 0,
         clip = 0;
  std::uint64_t seed = 1;
  int checkpoint_every = 0, log_interval = 10;

  /** What a checkpoint and the training that goes on from it must have in common. */
  std::string fixed() const;
};
