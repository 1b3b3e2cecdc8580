#pragma once

#include "autograd/ops/loss.h"
#include "nn/module.h"

namespace ocl::nn {

/** A module of two tensors, input and target. */
class Loss : public Module {
 public:
  virtual Tensor forward(const Tensor& input, const Tensor& target) = 0;
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  using Module::forward;
};

/** torch.nn.CrossEntropyLoss; see ocl::cross_entropy. */
class CrossEntropyLoss : public Loss {
 public:
  explicit CrossEntropyLoss(const Tensor& class_weight = {}, std::int64_t ignore_index = -100,
                            Reduction reduction = Reduction::mean, double label_smoothing = 0)
      : ignore_index_(ignore_index), reduction_(reduction), label_smoothing_(label_smoothing) {
    register_buffer("weight", weight, class_weight);
  }
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return cross_entropy(input, target, weight, ignore_index_, reduction_, label_smoothing_);
  }
  std::string name() const override { return "CrossEntropyLoss"; }

  Tensor weight;  // [C], or undefined

 private:
  std::int64_t ignore_index_;
  Reduction reduction_;
  double label_smoothing_;
};

/** torch.nn.NLLLoss; see ocl::nll_loss. */
class NLLLoss : public Loss {
 public:
  explicit NLLLoss(const Tensor& class_weight = {}, std::int64_t ignore_index = -100,
                   Reduction reduction = Reduction::mean)
      : ignore_index_(ignore_index), reduction_(reduction) {
    register_buffer("weight", weight, class_weight);
  }
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return nll_loss(input, target, weight, ignore_index_, reduction_);
  }
  std::string name() const override { return "NLLLoss"; }

  Tensor weight;  // [C], or undefined

 private:
  std::int64_t ignore_index_;
  Reduction reduction_;
};

/** torch.nn.MSELoss. */
class MSELoss : public Loss {
 public:
  explicit MSELoss(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return mse_loss(input, target, reduction_);
  }
  std::string name() const override { return "MSELoss"; }

 private:
  Reduction reduction_;
};

/** torch.nn.L1Loss. */
class L1Loss : public Loss {
 public:
  explicit L1Loss(Reduction reduction = Reduction::mean) : reduction_(reduction) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return l1_loss(input, target, reduction_);
  }
  std::string name() const override { return "L1Loss"; }

 private:
  Reduction reduction_;
};

/** torch.nn.SmoothL1Loss; see ocl::smooth_l1_loss. */
class SmoothL1Loss : public Loss {
 public:
  explicit SmoothL1Loss(Reduction reduction = Reduction::mean, double beta = 1)
      : reduction_(reduction), beta_(beta) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return smooth_l1_loss(input, target, reduction_, beta_);
  }
  std::string name() const override { return "SmoothL1Loss"; }

 private:
  Reduction reduction_;
  double beta_;
};

/** torch.nn.HuberLoss; see ocl::huber_loss. */
class HuberLoss : public Loss {
 public:
  explicit HuberLoss(Reduction reduction = Reduction::mean, double delta = 1)
      : reduction_(reduction), delta_(delta) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return huber_loss(input, target, reduction_, delta_);
  }
  std::string name() const override { return "HuberLoss"; }

 private:
  Reduction reduction_;
  double delta_;
};

/** torch.nn.BCELoss; see ocl::binary_cross_entropy. */
class BCELoss : public Loss {
 public:
  explicit BCELoss(const Tensor& element_weight = {}, Reduction reduction = Reduction::mean)
      : reduction_(reduction) {
    register_buffer("weight", weight, element_weight);
  }
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return binary_cross_entropy(input, target, weight, reduction_);
  }
  std::string name() const override { return "BCELoss"; }

  Tensor weight;  // broadcasts to the loss; may be undefined

 private:
  Reduction reduction_;
};

/** torch.nn.BCEWithLogitsLoss; see ocl::binary_cross_entropy_with_logits. */
class BCEWithLogitsLoss : public Loss {
 public:
  explicit BCEWithLogitsLoss(const Tensor& element_weight = {}, Reduction reduction = Reduction::mean,
                             const Tensor& positive_weight = {})
      : reduction_(reduction) {
    register_buffer("weight", weight, element_weight);
    register_buffer("pos_weight", pos_weight, positive_weight);
  }
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return binary_cross_entropy_with_logits(input, target, weight, reduction_, pos_weight);
  }
  std::string name() const override { return "BCEWithLogitsLoss"; }

  Tensor weight, pos_weight;  // broadcast to the loss; may be undefined

 private:
  Reduction reduction_;
};

/** torch.nn.KLDivLoss; see ocl::kl_div. */
class KLDivLoss : public Loss {
 public:
  explicit KLDivLoss(const std::string& reduction = "mean", bool log_target = false)
      : reduction_(reduction), log_target_(log_target) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return kl_div(input, target, reduction_, log_target_);
  }
  std::string name() const override { return "KLDivLoss"; }

 private:
  std::string reduction_;
  bool log_target_;
};

}  // namespace ocl::nn
