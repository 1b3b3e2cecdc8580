#pragma once

#include "autograd/ops/rnn.h"
#include "nn/module.h"
#include "nn/utils/rnn.h"

namespace ocl::nn {

using utils::rnn::PackedSequence;

/** The result of a recurrent layer on packed sequences; c_n of an LSTM alone. */
struct PackedRnnResult {
  PackedSequence output;
  Tensor h_n, c_n;
};

/** What RNN, GRU and LSTM share: settings by PyTorch's names, read at every call, and parameters
 * weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_hr_l0, weight_ih_l0_reverse and so on, uniform
 * in
 * +-1 / sqrt(hidden_size). */
class RNNBase : public Module {
 public:
  struct Options {
    std::int64_t num_layers = 1;
    bool bias = true, batch_first = false;
    double dropout = 0;  // after all layers but the last, while training
    bool bidirectional = false;
  };

  std::int64_t input_size, hidden_size, num_layers;
  bool bias, batch_first;
  double dropout;
  bool bidirectional;
  std::int64_t proj_size;

  std::string extra_repr() const override;
  void reset_parameters();
  /** Does nothing: here for programs written for cuDNN. */
  void flatten_parameters() {}
  /** The names of the parameters, for each layer and direction in the order of ocl::lstm. */
  std::vector<std::vector<std::string>> all_weight_names() const;

 protected:
  /** Throws ValueError for settings that do not fit. */
  RNNBase(const char* class_name, std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
          const Options& options, std::int64_t proj_size = 0);

  /** What the derived class computes with. */
  virtual RnnResult compute(const Tensor& input, const LstmState& hx, const TensorList& params,
                            const RnnOptions& options) const = 0;
  virtual RnnResult compute(const Tensor& data, const std::vector<std::int64_t>& batch_sizes,
                            const LstmState& hx, const TensorList& params,
                            const RnnOptions& options) const = 0;
  virtual bool has_cell_state() const { return false; }

  /** input [T, N, input_size] (batch_first: [N, T, ...]) or [T, input_size]; undefined states are zeros. */
  RnnResult run(const Tensor& input, const LstmState& hx) const;
  PackedRnnResult run(const PackedSequence& input, const LstmState& hx) const;

 private:
  TensorList weights() const;
  RnnOptions function_options() const;
  void check_input(const Tensor& input, int rank, const Tensor& weight) const;
  LstmState states_for(const Tensor& input, const LstmState& hx, std::int64_t batch) const;

  const char* class_name_;
};

/** torch.nn.RNN: h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of that; `rnn(x)`, `rnn(x, h0)`. */
class RNN : public RNNBase {
 public:
  struct Options : RNNBase::Options {
    std::string nonlinearity = "tanh";
  };
  RNN(std::int64_t input_size, std::int64_t hidden_size, const Options& options);
  RNN(std::int64_t inputs, std::int64_t hidden) : RNN(inputs, hidden, Options()) {}
  RnnResult operator()(const Tensor& input, const Tensor& h = {}) { return forward(input, h); }
  PackedRnnResult operator()(const PackedSequence& input, const Tensor& h = {}) { return forward(input, h); }
  RnnResult forward(const Tensor& input, const Tensor& h) { return run(input, {h, {}}); }
  PackedRnnResult forward(const PackedSequence& input, const Tensor& h) { return run(input, {h, {}}); }
  using Module::forward;
  std::string name() const override { return "RNN"; }

  std::string nonlinearity;

 protected:
  RnnResult compute(const Tensor& input, const LstmState& hx, const TensorList& params,
                    const RnnOptions& options) const override;
  RnnResult compute(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
                    const TensorList& params, const RnnOptions& options) const override;

 private:
  bool is_relu() const;
};

/** torch.nn.GRU; `gru(x)`, `gru(x, h0)`. */
class GRU : public RNNBase {
 public:
  using Options = RNNBase::Options;
  GRU(std::int64_t input_size, std::int64_t hidden_size, const Options& options);
  GRU(std::int64_t inputs, std::int64_t hidden) : GRU(inputs, hidden, Options()) {}
  RnnResult operator()(const Tensor& input, const Tensor& h = {}) { return forward(input, h); }
  PackedRnnResult operator()(const PackedSequence& input, const Tensor& h = {}) { return forward(input, h); }
  RnnResult forward(const Tensor& input, const Tensor& h) { return run(input, {h, {}}); }
  PackedRnnResult forward(const PackedSequence& input, const Tensor& h) { return run(input, {h, {}}); }
  using Module::forward;
  std::string name() const override { return "GRU"; }

 protected:
  RnnResult compute(const Tensor& input, const LstmState& hx, const TensorList& params,
                    const RnnOptions& options) const override;
  RnnResult compute(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
                    const TensorList& params, const RnnOptions& options) const override;
};

/** torch.nn.LSTM; with proj_size h is a projection of that size (Sak et al. 2014). `lstm(x)`,
 * `lstm(x, {h0, c0})`. */
class LSTM : public RNNBase {
 public:
  struct Options : RNNBase::Options {
    std::int64_t proj_size = 0;
  };
  LSTM(std::int64_t input_size, std::int64_t hidden_size, const Options& options);
  LSTM(std::int64_t inputs, std::int64_t hidden) : LSTM(inputs, hidden, Options()) {}
  RnnResult operator()(const Tensor& input, const LstmState& hx = {}) { return forward(input, hx); }
  PackedRnnResult operator()(const PackedSequence& input, const LstmState& hx = {}) {
    return forward(input, hx);
  }
  RnnResult forward(const Tensor& input, const LstmState& hx) { return run(input, hx); }
  PackedRnnResult forward(const PackedSequence& input, const LstmState& hx) { return run(input, hx); }
  using Module::forward;
  std::string name() const override { return "LSTM"; }

 protected:
  bool has_cell_state() const override { return true; }
  RnnResult compute(const Tensor& input, const LstmState& hx, const TensorList& params,
                    const RnnOptions& options) const override;
  RnnResult compute(const Tensor& data, const std::vector<std::int64_t>& batch_sizes, const LstmState& hx,
                    const TensorList& params, const RnnOptions& options) const override;
};

/** What the cells share: one step of [N, input_size] or [input_size], parameters weight_ih, weight_hh,
 * bias_ih and bias_hh. */
class RNNCellBase : public Module {
 public:
  std::int64_t input_size, hidden_size;
  bool bias;
  std::string extra_repr() const override;
  void reset_parameters();

  Tensor weight_ih, weight_hh;  // [gates * hidden_size, input_size], [gates * hidden_size, hidden_size]
  Tensor bias_ih, bias_hh;      // [gates * hidden_size], or undefined

 protected:
  RNNCellBase(std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size, bool with_bias);
  /** Both with a batch, states zeros where undefined; the result without one again if it had none. */
  template <class Step>
  LstmState step(const Tensor& input, const LstmState& hx, bool has_cell_state, Step function) const;
};

/** torch.nn.RNNCell. */
class RNNCell : public RNNCellBase {
 public:
  RNNCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true,
          std::string nonlinearity = "tanh");
  Tensor forward(const Tensor& input, const Tensor& h);
  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }
  std::string name() const override { return "RNNCell"; }
  std::string extra_repr() const override;

  std::string nonlinearity;
};

/** torch.nn.GRUCell. */
class GRUCell : public RNNCellBase {
 public:
  GRUCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true);
  Tensor forward(const Tensor& input, const Tensor& h);
  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }
  std::string name() const override { return "GRUCell"; }
};

/** torch.nn.LSTMCell. */
class LSTMCell : public RNNCellBase {
 public:
  LSTMCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true);
  LstmState operator()(const Tensor& input, const LstmState& hx = {}) { return forward(input, hx); }
  LstmState forward(const Tensor& input, const LstmState& hx);
  using Module::forward;
  std::string name() const override { return "LSTMCell"; }
};

}  // namespace ocl::nn
