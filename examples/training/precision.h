#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "autograd/autocast.h"
#include "nn/module.h"
#include "nn/optim/grad_scaler.h"
#include "nn/utils/clip_grad.h"

/** The option --amp into `amp`: "bf16", "fp16", or empty for float32. */
inline void add_amp_option(CLI::App& app, std::string& amp) {
  app.add_option("--amp", amp, "mixed precision: products and convolutions in 16 bits")
      ->check(CLI::IsMember({"bf16", "fp16"}))
      ->default_str("");
}

/** float32 throughout, or mixed; float16 has so small a range that its gradients need a scaler. */
class Precision {
 public:
  explicit Precision(const std::string& amp)
      : is_mixed_(!amp.empty()),
        dtype_(amp == "fp16" ? ocl::DType::float16 : ocl::DType::bfloat16),
        scaler_(65536, 2, 0.5, 2000, amp == "fp16") {}

  /** For forward and loss; backward runs behind its end. */
  ocl::AutocastGuard autocast() const { return ocl::AutocastGuard(dtype_, is_mixed_); }

  void backward(const ocl::Tensor& loss) const { scaler_.scale(loss).backward(); }

  /** The optimizer's step; before it all gradients are clipped to the norm `clip`, unless that is 0. */
  void step(ocl::optim::Optimizer& optimizer, const ocl::nn::Module& net, double clip = 0) {
    if (clip > 0) {
      scaler_.unscale_(optimizer);
      ocl::nn::utils::clip_grad_norm_(net.parameters(), clip);
    }
    scaler_.step(optimizer);
    scaler_.update();
  }

  ocl::GradScaler& scaler() { return scaler_; }
  const ocl::GradScaler& scaler() const { return scaler_; }

 private:
  bool is_mixed_;
  ocl::DType dtype_;
  ocl::GradScaler scaler_;
};
