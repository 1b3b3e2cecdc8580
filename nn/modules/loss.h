#pragma once

#include "autograd/ops/loss.h"
#include "nn/layer.h"

namespace ocl::nn {

/** A module of two tensors, input and target. */
class Loss : public Module {
 public:
  virtual Tensor forward(const Tensor& input, const Tensor& target) = 0;
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }
  using Module::forward;
};

struct CrossEntropyLossOptions {
  OPTION(Tensor, weight);  // [C], or undefined
  OPTION(std::int64_t, ignore_index) = -100;
  OPTION(std::string, reduction) = "mean";
  OPTION(double, label_smoothing) = 0;
  OPTION_LIST(0, weight_, ignore_index_, reduction_, label_smoothing_)
};
/** torch.nn.CrossEntropyLoss; see ocl::cross_entropy. */
class CrossEntropyLoss : public Layer<CrossEntropyLoss, CrossEntropyLossOptions, Loss> {
 public:
  explicit CrossEntropyLoss(const CrossEntropyLossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
  std::string extra_repr() const override { return ""; }

  Tensor weight;  // [C], or undefined
};

struct NLLLossOptions {
  OPTION(Tensor, weight);  // [C], or undefined
  OPTION(std::int64_t, ignore_index) = -100;
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, weight_, ignore_index_, reduction_)
};
/** torch.nn.NLLLoss; see ocl::nll_loss. */
class NLLLoss : public Layer<NLLLoss, NLLLossOptions, Loss> {
 public:
  explicit NLLLoss(const NLLLossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
  std::string extra_repr() const override { return ""; }

  Tensor weight;  // [C], or undefined
};

struct BCELossOptions {
  OPTION(Tensor, weight);  // broadcasts to the loss; may be undefined
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, weight_, reduction_)
};
/** torch.nn.BCELoss; see ocl::binary_cross_entropy. */
class BCELoss : public Layer<BCELoss, BCELossOptions, Loss> {
 public:
  explicit BCELoss(const BCELossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
  std::string extra_repr() const override { return ""; }

  Tensor weight;  // broadcasts to the loss; may be undefined
};

struct BCEWithLogitsLossOptions {
  OPTION(Tensor, weight);  // broadcasts to the loss, as pos_weight; both may be undefined
  OPTION(std::string, reduction) = "mean";
  OPTION(Tensor, pos_weight);
  OPTION_LIST(0, weight_, reduction_, pos_weight_)
};
/** torch.nn.BCEWithLogitsLoss; see ocl::binary_cross_entropy_with_logits. */
class BCEWithLogitsLoss : public Layer<BCEWithLogitsLoss, BCEWithLogitsLossOptions, Loss> {
 public:
  explicit BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
  std::string extra_repr() const override { return ""; }

  Tensor weight, pos_weight;  // broadcast to the loss; may be undefined
};

struct ReductionOptions {
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, reduction_)
};

// torch.nn's losses with no tensors of their own: LOSS(class, its options, the call).
#define LOSS(Class, ClassOptions, call)                                  \
  class Class : public Layer<Class, ClassOptions, Loss> {                \
   public:                                                               \
    using Layer::Layer;                                                  \
    using Loss::forward;                                                 \
    Tensor forward(const Tensor& input, const Tensor& target) override { \
      const Options o = options();                                       \
      return call;                                                       \
    }                                                                    \
    std::string extra_repr() const override { return ""; }               \
  };

struct SmoothL1LossOptions {
  OPTION(std::string, reduction) = "mean";
  OPTION(double, beta) = 1;
  OPTION_LIST(0, reduction_, beta_)
};
struct HuberLossOptions {
  OPTION(std::string, reduction) = "mean";
  OPTION(double, delta) = 1;
  OPTION_LIST(0, reduction_, delta_)
};
struct KLDivLossOptions {
  OPTION(std::string, reduction) = "mean";
  OPTION(bool, log_target) = false;
  OPTION_LIST(0, reduction_, log_target_)
};
LOSS(MSELoss, ReductionOptions, mse_loss(input, target, reduction_from_name(o.reduction())))
LOSS(L1Loss, ReductionOptions, l1_loss(input, target, reduction_from_name(o.reduction())))
LOSS(SmoothL1Loss, SmoothL1LossOptions,
     smooth_l1_loss(input, target, reduction_from_name(o.reduction()), o.beta()))
LOSS(HuberLoss, HuberLossOptions, huber_loss(input, target, reduction_from_name(o.reduction()), o.delta()))
LOSS(KLDivLoss, KLDivLossOptions, kl_div(input, target, o.reduction(), o.log_target()))
#undef LOSS

}  // namespace ocl::nn
