#include "options.h"

#include "autograd/tensor/tensor.h"

using nlohmann::json;

json TrainingOptions::fixed() const {
  return {{"net", net},
          {"data", data},
          {"mnist", mnist},
          {"fake-size", fake_size},
          {"test-share", test_share},
          {"side", side},
          {"channels", channels},
          {"least-scale", least_scale},
          {"mixup", mixup},
          {"cutmix", cutmix},
          {"epochs", epochs},
          {"accumulate", accumulate},
          {"batch-size", batch_size},
          {"optimizer", optimizer},
          {"schedule", schedule},
          {"lr", lr},
          {"momentum", momentum},
          {"weight-decay", weight_decay},
          {"warm-up", warm_up},
          {"label-smoothing", label_smoothing},
          {"ema", ema},
          {"clip", clip},
          {"amp", amp.empty() ? json() : json(amp)},  // null: older checkpoints have none
          {"seed", seed},
          {"dry-run", dry_run}};
}

void TrainingOptions::require_same(const json& then) const {
  const json now = fixed();
  std::string different;
  for (const auto& [name, value] : now.items()) {
    const json before = then.value(name, json());
    if (before == value || (name == "epochs" && schedule == "constant")) continue;
    different += (different.empty() ? "--" : ", --") + name + " was " + before.dump();
  }
  if (!different.empty())
    throw ocl::ValueError("the checkpoint in " + output + " is of another training: " + different);
}
