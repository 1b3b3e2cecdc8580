#pragma once

#include <functional>

#include "autograd/ops/loss.h"
#include "nn/modules/several_inputs.h"

namespace ocl::nn {

/** A module of two tensors, input and target. */
class Loss : public Module {
 public:
  virtual Tensor forward(const Tensor& input, const Tensor& target) = 0;
  Tensor operator()(const Tensor& input, const Tensor& target) {
    if (const auto other = elsewhere()) return as_kind<Loss>(*other, "the loss").forward(input, target);
    return forward(input, target);
  }
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
  HOLDER(CrossEntropyLoss, Layer)
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
  HOLDER(NLLLoss, Layer)
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
  HOLDER(BCELoss, Layer)
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
  HOLDER(BCEWithLogitsLoss, Layer)
  explicit BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
  std::string extra_repr() const override { return ""; }

  Tensor weight, pos_weight;  // broadcast to the loss; may be undefined
};

struct MultiMarginLossOptions {
  OPTION(std::int64_t, p) = 1;
  OPTION(double, margin) = 1;
  OPTION(Tensor, weight);  // [C], or undefined
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, p_, margin_, weight_, reduction_)
};
/** torch.nn.MultiMarginLoss; see ocl::multi_margin_loss. Throws ValueError unless p is 1 or 2. */
class MultiMarginLoss : public Layer<MultiMarginLoss, MultiMarginLossOptions, Loss> {
 public:
  HOLDER(MultiMarginLoss, Layer)
  explicit MultiMarginLoss(const MultiMarginLossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
  std::string extra_repr() const override { return ""; }

  Tensor weight;  // [C], or undefined
};

/** torch.nn.MultiLabelSoftMarginLoss; see ocl::multilabel_soft_margin_loss. */
class MultiLabelSoftMarginLoss : public Layer<MultiLabelSoftMarginLoss, BCELossOptions, Loss> {
 public:
  HOLDER(MultiLabelSoftMarginLoss, Layer)
  explicit MultiLabelSoftMarginLoss(const BCELossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
  std::string extra_repr() const override { return ""; }

  Tensor weight;  // broadcasts to the losses; may be undefined
};

struct ReductionOptions {
  ReductionOptions() = default;
  ReductionOptions(ReductionName reduction) : reduction_(reduction) {}
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
struct PoissonNLLLossOptions {
  OPTION(bool, log_input) = true;
  OPTION(bool, full) = false;
  OPTION(double, eps) = 1e-8;
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, log_input_, full_, eps_, reduction_)
};
struct HingeEmbeddingLossOptions {
  OPTION(double, margin) = 1;
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, margin_, reduction_)
};
LOSS(PoissonNLLLoss, PoissonNLLLossOptions,
     poisson_nll_loss(input, target, o.log_input(), o.full(), o.eps(), reduction_from_name(o.reduction())))
LOSS(HingeEmbeddingLoss, HingeEmbeddingLossOptions,
     hinge_embedding_loss(input, target, o.margin(), reduction_from_name(o.reduction())))
LOSS(SoftMarginLoss, ReductionOptions, soft_margin_loss(input, target, reduction_from_name(o.reduction())))
LOSS(MultiLabelMarginLoss, ReductionOptions,
     multilabel_margin_loss(input, target, reduction_from_name(o.reduction())))
#undef LOSS

// torch.nn's losses of three tensors: LOSS_OF_THREE(class, its options, the names of the tensors, the call).
#define LOSS_OF_THREE(Class, ClassOptions, a, b, c, expression)                                       \
  class Class : public Layer<Class, ClassOptions, OfSeveralInputs> {                                  \
   public:                                                                                            \
    using Layer::Layer;                                                                               \
    using OfSeveralInputs::forward;                                                                   \
    Tensor forward(const Tensor& a, const Tensor& b, const Tensor& c) {                               \
      const Options o = options();                                                                    \
      return expression;                                                                              \
    }                                                                                                 \
    const Inputs& inputs() const override {                                                           \
      static const auto& all = *new Inputs{{#a, #b, #c}, 3};                                          \
      return all;                                                                                     \
    }                                                                                                 \
    Tensor result(const TensorList& given) override { return forward(given[0], given[1], given[2]); } \
    std::string extra_repr() const override { return ""; }                                            \
  };

struct GaussianNLLLossOptions {
  OPTION(bool, full) = false;
  OPTION(double, eps) = 1e-6;
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST_WITH_KEYWORDS(0, 3, full_, eps_, reduction_)
};
struct MarginLossOptions {
  OPTION(double, margin) = 0;
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, margin_, reduction_)
};
LOSS_OF_THREE(GaussianNLLLoss, GaussianNLLLossOptions, input, target, var,
              gaussian_nll_loss(input, target, var, o.full(), o.eps(), reduction_from_name(o.reduction())))
LOSS_OF_THREE(MarginRankingLoss, MarginLossOptions, input1, input2, target,
              margin_ranking_loss(input1, input2, target, o.margin(), reduction_from_name(o.reduction())))
LOSS_OF_THREE(CosineEmbeddingLoss, MarginLossOptions, input1, input2, target,
              cosine_embedding_loss(input1, input2, target, o.margin(), reduction_from_name(o.reduction())))
#undef LOSS_OF_THREE

struct TripletMarginLossOptions {
  OPTION(double, margin) = 1;
  OPTION(double, p) = 2;
  OPTION(double, eps) = 1e-6;
  OPTION(bool, swap) = false;
  OPTION(std::string, reduction) = "mean";
  OPTION_LIST(0, margin_, p_, eps_, swap_, reduction_)
};
/** torch.nn.TripletMarginLoss; see ocl::triplet_margin_loss. Throws ValueError unless margin > 0. */
class TripletMarginLoss : public Layer<TripletMarginLoss, TripletMarginLossOptions, OfSeveralInputs> {
 public:
  HOLDER(TripletMarginLoss, Layer)
  explicit TripletMarginLoss(const TripletMarginLossOptions& options = {});
  using OfSeveralInputs::forward;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  const Inputs& inputs() const override;
  Tensor result(const TensorList& given) override { return forward(given[0], given[1], given[2]); }
  std::string extra_repr() const override { return ""; }
};

struct TripletMarginWithDistanceLossOptions {
  using Distance = std::function<Tensor(const Tensor&, const Tensor&)>;
  OPTION(Distance, distance_function);  // by default pairwise_distance
  OPTION(double, margin) = 1;
  OPTION(bool, swap) = false;
  OPTION(std::string, reduction) = "mean";
};
/** torch.nn.TripletMarginWithDistanceLoss: TripletMarginLoss with any distance. Throws ValueError unless
 * margin > 0. */
class TripletMarginWithDistanceLoss : public OfSeveralInputs {
 public:
  explicit TripletMarginWithDistanceLoss(TripletMarginWithDistanceLossOptions options = {});
  using OfSeveralInputs::forward;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  const Inputs& inputs() const override;
  Tensor result(const TensorList& given) override { return forward(given[0], given[1], given[2]); }
  std::shared_ptr<Module> alike() const override {
    return std::make_shared<TripletMarginWithDistanceLoss>(options_);
  }

 private:
  const TripletMarginWithDistanceLossOptions options_;
};

}  // namespace ocl::nn
