#pragma once

#include <typeinfo>

#include "autograd/ops/activation.h"
#include "autograd/ops/softmax.h"
#include "nn/layer.h"

namespace ocl::nn {

struct InplaceOptions {
  InplaceOptions(bool inplace = false) : inplace_(inplace) {}
  OPTION(bool, inplace);
  OPTION_LIST(0, inplace_)
};

/** repr of an activation: its numbers, and inplace only where it is set. */
template <class Options>
std::string activation_repr(const Options& options) {
  std::string text = options_repr(options);
  const std::string inplace = "inplace=False";
  if (const std::size_t at = text.find(inplace); at != std::string::npos)
    text.erase(at < 2 ? 0 : at - 2);  // with the comma before it
  return text;
}

// Members of a class whose forward is a row of the pointwise table.
#define POINTWISE_ROW(Class, function)                                      \
  const dlprim::PointwiseOp* pointwise() const override {                   \
    return typeid(*this) == typeid(Class) ? &row() : nullptr;               \
  }                                                                         \
                                                                            \
 private:                                                                   \
  static const dlprim::PointwiseOp& row() {                                 \
    static const dlprim::PointwiseOp& op = dlprim::pointwise_op(#function); \
    return op;                                                              \
  }

// torch.nn's activations, one class per row of activations.def.
#define ACTIVATION(Class, function)                                                    \
  class Class : public Layer<Class, NoOptions> {                                       \
   public:                                                                             \
    using Layer::Layer;                                                                \
    Tensor forward(const Tensor& x) override { return activate(row(), x, {}, false); } \
    POINTWISE_ROW(Class, function)                                                     \
  };
#define ACTIVATION_INPLACE(Class, function, shown)                                                   \
  class Class : public Layer<Class, InplaceOptions> {                                                \
   public:                                                                                           \
    using Layer::Layer;                                                                              \
    Tensor forward(const Tensor& x) override { return activate(row(), x, {}, options().inplace()); } \
    std::string extra_repr() const override { return shown ? activation_repr(options()) : ""; }      \
    POINTWISE_ROW(Class, function)                                                                   \
  };
#define ACTIVATION_P(Class, function, p, p0)                                           \
  struct Class##Options {                                                              \
    Class##Options(double p = p0) : p##_(p) {}                                         \
    OPTION(Scalar, p);                                                                 \
    OPTION_LIST(0, p##_)                                                               \
  };                                                                                   \
  class Class : public Layer<Class, Class##Options> {                                  \
   public:                                                                             \
    using Layer::Layer;                                                                \
    Tensor forward(const Tensor& x) override {                                         \
      static const dlprim::PointwiseOp& op = dlprim::pointwise_op(#function);          \
      return activate(op, x, {options().p()}, false);                                  \
    }                                                                                  \
    std::string extra_repr() const override {                                          \
      return options_repr(options()).substr(sizeof #p); /* without the name and "=" */ \
    }                                                                                  \
  };
#define ACTIVATION_P_INPLACE(Class, function, p, p0)                               \
  struct Class##Options {                                                          \
    Class##Options(double p = p0) : p##_(p) {}                                     \
    OPTION(Scalar, p);                                                             \
    OPTION(bool, inplace) = false;                                                 \
    OPTION_LIST(0, p##_, inplace_)                                                 \
  };                                                                               \
  class Class : public Layer<Class, Class##Options> {                              \
   public:                                                                         \
    using Layer::Layer;                                                            \
    Tensor forward(const Tensor& x) override {                                     \
      static const dlprim::PointwiseOp& op = dlprim::pointwise_op(#function);      \
      const Options o = options();                                                 \
      return activate(op, x, {o.p()}, o.inplace());                                \
    }                                                                              \
    std::string extra_repr() const override { return activation_repr(options()); } \
  };
#include "nn/modules/activations.def"
#undef POINTWISE_ROW

struct SoftplusOptions {
  OPTION(Scalar, beta) = 1.0;
  OPTION(Scalar, threshold) = 20.0;
  OPTION_LIST(0, beta_, threshold_)
};
/** torch.nn.Softplus. */
class Softplus : public Layer<Softplus, SoftplusOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
};

struct HardtanhOptions {
  OPTION(Scalar, min_val) = -1.0;
  OPTION(Scalar, max_val) = 1.0;
  OPTION(bool, inplace) = false;
  OPTION_LIST(0, min_val_, max_val_, inplace_)
};
/** torch.nn.Hardtanh. Throws ValueError unless min_val < max_val. */
class Hardtanh : public Layer<Hardtanh, HardtanhOptions> {
 public:
  HOLDER(Hardtanh, Layer)
  explicit Hardtanh(const HardtanhOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override { return activation_repr(options()); }
};

struct ThresholdOptions {
  ThresholdOptions() = default;
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  OPTION(Scalar, threshold) = 0;
  OPTION(Scalar, value) = 0;
  OPTION(bool, inplace) = false;
  OPTION_LIST(2, threshold_, value_, inplace_)
};
/** torch.nn.Threshold: what is not above `threshold` becomes `value`. */
class Threshold : public Layer<Threshold, ThresholdOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override { return activation_repr(options()); }
};

struct RReLUOptions {
  RReLUOptions() = default;
  RReLUOptions(double lower, double upper) : lower_(lower), upper_(upper) {}
  OPTION(double, lower) = 1.0 / 8;
  OPTION(double, upper) = 1.0 / 3;
  OPTION(bool, inplace) = false;
  OPTION_LIST(0, lower_, upper_, inplace_)
};
/** torch.nn.RReLU: slopes drawn between `lower` and `upper` while training; see ocl::rrelu. */
class RReLU : public Layer<RReLU, RReLUOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override { return activation_repr(options()); }
};

/** torch.nn.Softmax2d: softmax over the channels of [N, C, H, W] or [C, H, W]. Throws ValueError. */
class Softmax2d : public Layer<Softmax2d, NoOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
};

struct GELUOptions {
  OPTION(std::string, approximate) = "none";
  OPTION_LIST(0, approximate_)
};
/** torch.nn.GELU; approximate: "none" or "tanh". forward throws ValueError for any other. */
class GELU : public Layer<GELU, GELUOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
  bool works_on_last_dimension() const override { return is_own_class(); }
};

struct PReLUOptions {
  PReLUOptions(std::int64_t num_parameters = 1) : num_parameters_(num_parameters) {}
  OPTION(std::int64_t, num_parameters);
  OPTION(double, init) = 0.25;
  OPTION_LIST(0, num_parameters_, init_)
};
/** torch.nn.PReLU: the slope where negative is learned, for all channels together or one each. */
class PReLU : public Layer<PReLU, PReLUOptions> {
 public:
  HOLDER(PReLU, Layer)
  explicit PReLU(const PReLUOptions& options = {});
  Tensor forward(const Tensor& x) override { return prelu(x, held(weight)); }
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight;  // [num_parameters]
};

struct GLUOptions {
  GLUOptions(std::int64_t dim = -1) : dim_(dim) {}
  OPTION(std::int64_t, dim);
  OPTION_LIST(0, dim_)
};
/** torch.nn.GLU: halves the size of `dim`. */
class GLU : public Layer<GLU, GLUOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override { return glu(x, options().dim()); }
};

struct SoftmaxOptions {
  SoftmaxOptions(std::optional<std::int64_t> dim = std::nullopt) : dim_(dim) {}
  template <class Int, class = IfWhole<Int>>
  SoftmaxOptions(Int dim) : dim_(static_cast<std::int64_t>(dim)) {}
  OPTION(std::optional<std::int64_t>, dim);
  OPTION_LIST(0, dim_)
  /** `dim`, or the one that PyTorch chooses for an input of so many dimensions where none is set. */
  std::int64_t chosen_dim(int rank) const;
};

// torch.nn.Softmax, LogSoftmax and Softmin.
#define SOFTMAX(Class, function)                                                                    \
  class Class : public Layer<Class, SoftmaxOptions> {                                               \
   public:                                                                                          \
    using Layer::Layer;                                                                             \
    Tensor forward(const Tensor& x) override { return function(x, options().chosen_dim(x.dim())); } \
  };
SOFTMAX(Softmax, softmax)
SOFTMAX(LogSoftmax, log_softmax)
SOFTMAX(Softmin, softmin)
#undef SOFTMAX

}  // namespace ocl::nn
