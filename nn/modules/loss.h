#pragma once

#include "autograd/ops/loss.h"
#include "nn/module.h"

namespace ocl::nn {

/** A module of two tensors, input and target. */
class Loss : public Module {
 public:
  explicit Loss(Reduction reduction) : reduction_(reduction) {}
  virtual Tensor forward(const Tensor& input, const Tensor& target) = 0;
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  using Module::forward;

 protected:
  Reduction reduction_;
};

/** torch.nn.CrossEntropyLoss; see ocl::cross_entropy. */
class CrossEntropyLoss : public Loss {
 public:
  explicit CrossEntropyLoss(const Tensor& weight = {}, std::int64_t ignore_index = -100,
                            Reduction reduction = Reduction::mean, double label_smoothing = 0)
      : Loss(reduction), weight_(weight), ignore_index_(ignore_index), label_smoothing_(label_smoothing) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return cross_entropy(input, target, weight_, ignore_index_, reduction_, label_smoothing_);
  }
  std::string name() const override { return "CrossEntropyLoss"; }

 private:
  Tensor weight_;
  std::int64_t ignore_index_;
  double label_smoothing_;
};

/** torch.nn.NLLLoss; see ocl::nll_loss. */
class NLLLoss : public Loss {
 public:
  explicit NLLLoss(const Tensor& weight = {}, std::int64_t ignore_index = -100,
                   Reduction reduction = Reduction::mean)
      : Loss(reduction), weight_(weight), ignore_index_(ignore_index) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return nll_loss(input, target, weight_, ignore_index_, reduction_);
  }
  std::string name() const override { return "NLLLoss"; }

 private:
  Tensor weight_;
  std::int64_t ignore_index_;
};

/** torch.nn.MSELoss. */
class MSELoss : public Loss {
 public:
  explicit MSELoss(Reduction reduction = Reduction::mean) : Loss(reduction) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return mse_loss(input, target, reduction_);
  }
  std::string name() const override { return "MSELoss"; }
};

/** torch.nn.L1Loss. */
class L1Loss : public Loss {
 public:
  explicit L1Loss(Reduction reduction = Reduction::mean) : Loss(reduction) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return l1_loss(input, target, reduction_);
  }
  std::string name() const override { return "L1Loss"; }
};

}  // namespace ocl::nn
