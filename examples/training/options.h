#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

/** The options of examples/train.cpp; the defaults are those of examples/train.py. */
struct TrainingOptions {
  std::string device = "ocl:0", net = "small", output = "training-output";
  bool resume = false, dry_run = false;

  std::string data, mnist;  // folders; neither: pictures made for the purpose
  std::size_t fake_size = 2400, workers = 2;
  double test_share = 0.1;     // kept back of a folder without val
  int side = 0, channels = 0;  // 0: by the net and its pictures
  double least_scale = 0.5, mixup = 0, cutmix = 0;

  int epochs = 5, accumulate = 1;
  std::size_t batch_size = 32;
  std::string optimizer = "adamw", schedule = "cosine", amp;  // amp: "bf16", "fp16", or empty for float32
  double lr = 3e-3, momentum = 0.9, weight_decay = 0.01, warm_up = 0.5, label_smoothing = 0.1, ema = 0,
         clip = 0;
  std::uint64_t seed = 1;
  int checkpoint_every = 0, log_interval = 10;

  /** Options that a checkpoint and the training that goes on from it must share, by the options' names. */
  nlohmann::json fixed() const;
  /** Throws ValueError unless a training of the options `then` goes on by these: it goes on as it began, and
   * beyond its end if the learning rate did not come to 0 there. */
  void require_same(const nlohmann::json& then) const;
};
