#pragma once

#include "deferred.h"
#include "dlprim/ops/pointwise/pointwise.h"

/** \file Batch norms and activations behind them, which run in the norm's kernels where nobody looks at what
 * lies between: both are put off, and found here. */

namespace torch_ocl {

/** y = batch_norm(x) with given statistics. */
class DeferredNorm final : public Deferred {
 public:
  /** `weight` and `bias` may be undefined. */
  DeferredNorm(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& invstd,
               const at::Tensor& weight, const at::Tensor& bias);
  void run(const dlprim::Tensor& result) const override { run(result, nullptr); }
  void run(const dlprim::Tensor& result, const dlprim::PointwiseOp* activation) const;

  /** Whether it is that norm. `weight`: nullptr for none. */
  bool is_of(const dlprim::Tensor& x, const dlprim::Tensor& mean, const dlprim::Tensor& invstd,
             const dlprim::Tensor* weight) const;
  /** nullptr where there is none. */
  const dlprim::Tensor* bias() const { return bias_.defined() ? &bias_ : nullptr; }

 private:
  dlprim::Tensor x_, mean_, invstd_, weight_, bias_;
};

/** The gradient of an activation: told by its result, or, right behind a norm that was put off, by that. */
class DeferredActivationGradient final : public Deferred {
 public:
  DeferredActivationGradient(const dlprim::PointwiseOp& activation, dlprim::Tensor gradient,
                             dlprim::Tensor result)
      : activation_(activation), gradient_(std::move(gradient)), result_(std::move(result)) {}
  DeferredActivationGradient(const dlprim::PointwiseOp& activation, dlprim::Tensor gradient,
                             std::shared_ptr<const DeferredNorm> norm)
      : activation_(activation), gradient_(std::move(gradient)), norm_(std::move(norm)) {}
  void run(const dlprim::Tensor& result) const override;

  const dlprim::PointwiseOp& activation() const { return activation_; }
  const dlprim::Tensor& gradient() const { return gradient_; }
  const dlprim::Tensor& result() const { return result_; }  // undefined behind a norm that was put off
  const DeferredNorm* norm() const { return norm_.get(); }

 private:
  const dlprim::PointwiseOp& activation_;
  dlprim::Tensor gradient_, result_;
  std::shared_ptr<const DeferredNorm> norm_;
};

/** activation(self) in the kernel of a norm put off into `self`: into a fresh tensor, or into `self` itself.
 * Undefined where there is none. */
at::Tensor activate_deferred_norm(const dlprim::PointwiseOp& activation, const at::Tensor& self,
                                  bool in_place);

/** Puts off `out`, the gradient of an activation by its input `self`, which is a norm put off. False where it
 * is none. */
bool defer_gradient_behind_norm(const dlprim::PointwiseOp& activation, const at::Tensor& grad,
                                const at::Tensor& self, const at::Tensor& out);

/** Puts off `out`, the gradient of an activation that its `result` tells. False where it cannot be put off.
 */
bool defer_gradient_by_result(const dlprim::PointwiseOp& activation, const at::Tensor& grad,
                              const at::Tensor& result, const at::Tensor& out);

}  // namespace torch_ocl
