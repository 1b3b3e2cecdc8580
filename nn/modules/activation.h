#pragma once

#include "autograd/ops/activation.h"
#include "autograd/ops/softmax.h"
#include "nn/module.h"

namespace ocl::nn {

/** A pointwise operator as a module: its parameters by name, and whether it writes over its input. */
class Activation : public Module {
 public:
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return class_name_; }
  std::string extra_repr() const override;
  /** Throws ValueError for a name that the operator does not have. */
  Scalar& parameter(const std::string& name);

  bool inplace = false;

 protected:
  struct Parameter {
    const char* name;
    Scalar value;
  };
  Activation(const char* class_name, const char* function, std::vector<Parameter> parameters = {},
             bool is_inplace = false, bool shows_inplace = true);

 private:
  const char* class_name_;
  const dlprim::PointwiseOp& op_;
  std::vector<Parameter> parameters_;
  bool shows_inplace_;
};

// torch.nn's activations, one class per row of activations.def.
#define ACTIVATION(Class, function)            \
  class Class : public Activation {            \
   public:                                     \
    Class() : Activation(#Class, #function) {} \
  };
#define ACTIVATION_INPLACE(Class, function, shown)                                                    \
  class Class : public Activation {                                                                   \
   public:                                                                                            \
    explicit Class(bool is_inplace = false) : Activation(#Class, #function, {}, is_inplace, shown) {} \
  };
#define ACTIVATION_P_INPLACE(Class, function, p, p0)              \
  class Class : public Activation {                               \
   public:                                                        \
    explicit Class(const Scalar& p = p0, bool is_inplace = false) \
        : Activation(#Class, #function, {{#p, p}}, is_inplace) {} \
  };
#include "nn/modules/activations.def"

/** torch.nn.Softplus. */
class Softplus : public Activation {
 public:
  explicit Softplus(const Scalar& beta = 1.0, const Scalar& threshold = 20.0)
      : Activation("Softplus", "softplus", {{"beta", beta}, {"threshold", threshold}}) {}
};

/** torch.nn.Hardtanh. Throws ValueError unless min_val < max_val. */
class Hardtanh : public Activation {
 public:
  explicit Hardtanh(const Scalar& min_val = -1.0, const Scalar& max_val = 1.0, bool is_inplace = false)
      : Activation("Hardtanh", "hardtanh", {{"min_val", min_val}, {"max_val", max_val}}, is_inplace) {
    dlprim::require(min_val.real() < max_val.real(), "Hardtanh: min_val must be below max_val, got ",
                    min_val.real(), " and ", max_val.real());
  }
};

/** torch.nn.Threshold: what is not above `threshold` becomes `value`. */
class Threshold : public Activation {
 public:
  Threshold(const Scalar& threshold, const Scalar& value, bool is_inplace = false)
      : Activation("Threshold", "threshold", {{"threshold", threshold}, {"value", value}}, is_inplace) {}
};

/** torch.nn.GELU; approximate: "none" or "tanh". Throws ValueError. */
class GELU : public Module {
 public:
  explicit GELU(const std::string& approximate = "none");
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "GELU"; }
  std::string extra_repr() const override { return "approximate='" + approximate() + "'"; }
  std::string approximate() const { return tanh_ ? "tanh" : "none"; }

 private:
  bool tanh_;
};

/** torch.nn.PReLU: the slope where negative is learned, for all channels together or one each. */
class PReLU : public Module {
 public:
  explicit PReLU(std::int64_t num_parameters = 1, double init = 0.25);
  Tensor forward(const Tensor& x) override { return prelu(x, held(weight)); }
  std::string name() const override { return "PReLU"; }
  std::string extra_repr() const override { return dlprim::concat("num_parameters=", num_parameters()); }
  std::int64_t num_parameters() const { return weight.numel(); }
  double init() const { return init_; }

  Tensor weight;  // [num_parameters]

 private:
  double init_;
};

/** torch.nn.GLU: halves the size of `dim`. */
class GLU : public Module {
 public:
  explicit GLU(std::int64_t dim_ = -1) : dim(dim_) {}
  Tensor forward(const Tensor& x) override { return glu(x, dim); }
  std::string name() const override { return "GLU"; }
  std::string extra_repr() const override { return dlprim::concat("dim=", dim); }

  std::int64_t dim;
};

/** torch.nn.Softmax. */
class Softmax : public Module {
 public:
  explicit Softmax(std::int64_t dim_) : dim(dim_) {}
  Tensor forward(const Tensor& x) override { return softmax(x, dim); }
  std::string name() const override { return "Softmax"; }
  std::string extra_repr() const override { return dlprim::concat("dim=", dim); }

  std::int64_t dim;
};

/** torch.nn.LogSoftmax. */
class LogSoftmax : public Module {
 public:
  explicit LogSoftmax(std::int64_t dim_) : dim(dim_) {}
  Tensor forward(const Tensor& x) override { return log_softmax(x, dim); }
  std::string name() const override { return "LogSoftmax"; }
  std::string extra_repr() const override { return dlprim::concat("dim=", dim); }

  std::int64_t dim;
};

/** torch.nn.Softmin. */
class Softmin : public Module {
 public:
  explicit Softmin(std::int64_t dim_) : dim(dim_) {}
  Tensor forward(const Tensor& x) override { return softmin(x, dim); }
  std::string name() const override { return "Softmin"; }
  std::string extra_repr() const override { return dlprim::concat("dim=", dim); }

  std::int64_t dim;
};

}  // namespace ocl::nn
