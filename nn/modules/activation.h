#pragma once

#include "autograd/ops/pointwise.h"
#include "autograd/ops/softmax.h"
#include "nn/module.h"

namespace ocl::nn {

// torch.nn's activations, one class per row of activations.def.
#define ACTIVATION(Class, function)                                       \
  class Class : public Module {                                           \
   public:                                                                \
    Tensor forward(const Tensor& x) override { return ocl::function(x); } \
    std::string name() const override { return #Class; }                  \
  };
#define ACTIVATION_P(Class, function, p, p0)                                    \
  class Class : public Module {                                                 \
   public:                                                                      \
    explicit Class(double p = p0) : p_(p) {}                                    \
    Tensor forward(const Tensor& x) override { return ocl::function(x, p_); }   \
    std::string name() const override { return #Class; }                        \
    std::string extra_repr() const override { return #p "=" + float_repr(p_); } \
                                                                                \
   private:                                                                     \
    double p_;                                                                  \
  };
#define ACTIVATION_PQ(Class, function, p, p0, q, q0)                              \
  class Class : public Module {                                                   \
   public:                                                                        \
    explicit Class(double p = p0, double q = q0) : p_(p), q_(q) {}                \
    Tensor forward(const Tensor& x) override { return ocl::function(x, p_, q_); } \
    std::string name() const override { return #Class; }                          \
    std::string extra_repr() const override {                                     \
      return #p "=" + float_repr(p_) + ", " #q "=" + float_repr(q_);              \
    }                                                                             \
                                                                                  \
   private:                                                                       \
    double p_, q_;                                                                \
  };
#include "nn/modules/activations.def"

/** torch.nn.GELU; approximate: "none" or "tanh". Throws ValueError. */
class GELU : public Module {
 public:
  explicit GELU(const std::string& approximate = "none") : tanh_(approximate == "tanh") {
    dlprim::require(tanh_ || approximate == "none", "approximate argument must be either none or tanh, got ",
                    approximate);
  }
  Tensor forward(const Tensor& x) override { return tanh_ ? gelu_tanh(x) : gelu(x); }
  std::string name() const override { return "GELU"; }
  std::string extra_repr() const override { return tanh_ ? "approximate='tanh'" : "approximate='none'"; }

 private:
  bool tanh_;
};

/** torch.nn.Softmax. */
class Softmax : public Module {
 public:
  explicit Softmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override { return softmax(x, dim_); }
  std::string name() const override { return "Softmax"; }
  std::string extra_repr() const override { return dlprim::concat("dim=", dim_); }

 private:
  std::int64_t dim_;
};

/** torch.nn.LogSoftmax. */
class LogSoftmax : public Module {
 public:
  explicit LogSoftmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override { return log_softmax(x, dim_); }
  std::string name() const override { return "LogSoftmax"; }
  std::string extra_repr() const override { return dlprim::concat("dim=", dim_); }

 private:
  std::int64_t dim_;
};

/** torch.nn.Softmin. */
class Softmin : public Module {
 public:
  explicit Softmin(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& x) override { return softmin(x, dim_); }
  std::string name() const override { return "Softmin"; }
  std::string extra_repr() const override { return dlprim::concat("dim=", dim_); }

 private:
  std::int64_t dim_;
};

}  // namespace ocl::nn
