#pragma once

#include "autograd/ops/rnn.h"
#include "nn/layer.h"
#include "nn/utils/rnn.h"

namespace ocl::nn {

using utils::rnn::PackedSequence;

/** The options that RNN, GRU and LSTM share: those of struct `Struct`. */
#define RECURRENT_OPTIONS(Struct)                                   \
  Struct() = default;                                               \
  Struct(std::int64_t input_size, std::int64_t hidden_size)         \
      : input_size_(input_size), hidden_size_(hidden_size) {}       \
  std::string warning() const {                                     \
    return dropout_warning(dropout_, num_layers_);                  \
  }                                                                 \
  OPTION(std::int64_t, input_size) = 0;                             \
  OPTION(std::int64_t, hidden_size) = 0;                            \
  OPTION(std::int64_t, num_layers) = 1;                             \
  OPTION(bool, bias) = true;                                        \
  OPTION(bool, batch_first) = false;                                \
  OPTION(double, dropout) = 0; /* between layers, while training */ \
  OPTION(bool, bidirectional) = false

/** PyTorch's warning; empty for nothing. */
std::string dropout_warning(double dropout, std::int64_t num_layers);

/** `RNNOptions(3, 4).num_layers(2).nonlinearity("relu")`. */
struct RNNOptions {
  RECURRENT_OPTIONS(RNNOptions);
  OPTION(std::string, nonlinearity) = "tanh";
  OPTION_LIST(2, input_size_, hidden_size_, num_layers_, nonlinearity_, bias_, batch_first_, dropout_,
              bidirectional_)
  /** PyTorch's name for what is computed. Throws ValueError for an unknown nonlinearity. */
  std::string mode() const;
};

struct GRUOptions {
  RECURRENT_OPTIONS(GRUOptions);
  OPTION_LIST(2, input_size_, hidden_size_, num_layers_, bias_, batch_first_, dropout_, bidirectional_)
  std::string mode() const { return "GRU"; }
};

/** `LSTMOptions(650, 650).num_layers(2).batch_first(true)`. */
struct LSTMOptions {
  RECURRENT_OPTIONS(LSTMOptions);
  OPTION(std::int64_t, proj_size) = 0;
  OPTION_LIST(2, input_size_, hidden_size_, num_layers_, bias_, batch_first_, dropout_, bidirectional_,
              proj_size_)
  std::string mode() const { return "LSTM"; }
};
#undef RECURRENT_OPTIONS

/** The options of any of them. */
struct RecurrentSettings {
  template <class Options>
  explicit RecurrentSettings(const Options& o)
      : mode(o.mode()),
        input_size(o.input_size()),
        hidden_size(o.hidden_size()),
        num_layers(o.num_layers()),
        bias(o.bias()),
        batch_first(o.batch_first()),
        bidirectional(o.bidirectional()),
        dropout(o.dropout()) {
    if constexpr (std::is_same_v<Options, LSTMOptions>) proj_size = o.proj_size();
  }
  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  std::int64_t state_size() const { return proj_size > 0 ? proj_size : hidden_size; }

  std::string mode;  // "RNN_TANH", "RNN_RELU", "GRU", "LSTM"
  std::int64_t input_size, hidden_size, num_layers, proj_size = 0;
  bool bias, batch_first, bidirectional;
  double dropout;
};

inline LstmState as_lstm_state(const Tensor& h) {
  return {h, {}};
}
inline const LstmState& as_lstm_state(const LstmState& state) {
  return state;
}

/** The states that libtorch's recurrent layers give beside the output, and LSTMCell by itself. */
inline Tensor states_of(const Tensor& h, const Tensor&, const Tensor*) {
  return h;
}
inline std::tuple<Tensor, Tensor> states_of(const Tensor& h, const Tensor& c, const LstmState*) {
  return {h, c};
}

/**
 * The result of RNN, GRU and LSTM, which is libtorch's tuple as well: `auto [output, h_n] = gru(x)` and
 * `auto [output, states] = lstm(x)`, where `states` is the tuple of h_n and c_n.
 */
template <class State>
struct RecurrentResult
    : RnnResult,
      std::tuple<Tensor, decltype(states_of(Tensor(), Tensor(), static_cast<const State*>(nullptr)))> {
  using States = decltype(states_of(Tensor(), Tensor(), static_cast<const State*>(nullptr)));
  RecurrentResult(const RnnResult& result)
      : RnnResult(result),
        std::tuple<Tensor, States>(result.output,
                                   states_of(result.h_n, result.c_n, static_cast<const State*>(nullptr))) {}
};

/** The state that LSTMCell gives, which is libtorch's tuple as well: `std::tie(h, c) = cell(x, {h, c})`. */
struct LstmCellResult : LstmState, std::tuple<Tensor, Tensor> {
  LstmCellResult(const LstmState& state) : LstmState(state), std::tuple<Tensor, Tensor>(state.h, state.c) {}
};

/** The result of a recurrent layer on packed sequences; c_n of an LSTM alone. */
struct PackedRnnResult {
  PackedSequence output;
  Tensor h_n, c_n;
};

/** The common part of RNN, GRU and LSTM: parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0,
 * weight_hr_l0, weight_ih_l0_reverse and so on. */
class RNNBase : public Module {
 public:
  virtual RecurrentSettings settings() const = 0;
  std::string extra_repr() const override;
  /** Uniform within 1 / sqrt(hidden_size). */
  void reset_parameters();
  /** Does nothing: here for programs written for cuDNN. */
  void flatten_parameters() {}
  /** The names of the parameters, for each layer and direction in the order of ocl::lstm. */
  std::vector<std::vector<std::string>> all_weight_names() const;

  /** input [T, N, input_size] (batch_first: [N, T, ...]) or [T, input_size]; undefined states are zeros.
   * Throws ValueError. */
  RnnResult run(const Tensor& input, const LstmState& hx) const;
  PackedRnnResult run(const PackedSequence& input, const LstmState& hx) const;
  /** (input, hx), where hx is a tensor or (h, c), -> (output, h_n) or (output, (h_n, c_n)). */
  Value call(const Arguments& arguments) override;

 protected:
  /** Throws ValueError for settings that do not fit. */
  void make_parameters(const char* layer, const RecurrentSettings& settings);
  /** run, with the hooks. */
  RnnResult called(const Tensor& input, const LstmState& hx);

 private:
  TensorList weights(const RecurrentSettings& settings) const;
  void check_input(const RecurrentSettings& settings, const Tensor& input, int rank,
                   const Tensor& weight) const;
  LstmState states_for(const RecurrentSettings& settings, const Tensor& input, const LstmState& hx,
                       std::int64_t batch) const;
};

// A result of several tensors is no Tensor, so that forward(x) hides Module's.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"

/** The arguments of a call of RNN, GRU and LSTM. `State`: what one begins with, a tensor or an LstmState.
 * Hooks run for calls with tensors, which alone they can see. */
template <class Derived, class OptionsType, class State>
class Recurrent : public Layer<Derived, OptionsType, RNNBase> {
 public:
  using Result = RecurrentResult<State>;
  Result operator()(const Tensor& input, const State& hx = {}) {
    return (*this)->called(input, as_lstm_state(hx));
  }
  PackedRnnResult operator()(const PackedSequence& input, const State& hx = {}) {
    return (*this)->forward(input, hx);
  }
  Result forward(const Tensor& input, const State& hx = {}) { return this->run(input, as_lstm_state(hx)); }
  PackedRnnResult forward(const PackedSequence& input, const State& hx) {
    return this->run(input, as_lstm_state(hx));
  }
  RecurrentSettings settings() const override { return RecurrentSettings(this->options()); }
  std::string extra_repr() const override { return RNNBase::extra_repr(); }

 protected:
  explicit Recurrent(Child<Derived> module) : Layer<Derived, OptionsType, RNNBase>(std::move(module)) {}
  Recurrent(const char* layer, const OptionsType& options) : Layer<Derived, OptionsType, RNNBase>(options) {
    this->make_parameters(layer, RecurrentSettings(options));
  }
};

#pragma GCC diagnostic pop

/** torch.nn.RNN: h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of that; `rnn(x)`, `rnn(x, h0)`. */
class RNN : public Recurrent<RNN, RNNOptions, Tensor> {
 public:
  HOLDER(RNN, Recurrent)
  explicit RNN(const RNNOptions& options) : Recurrent("RNN", options) {}
  RNN(std::int64_t input_size, std::int64_t hidden_size) : RNN(RNNOptions(input_size, hidden_size)) {}
};

/** torch.nn.GRU; `gru(x)`, `gru(x, h0)`. */
class GRU : public Recurrent<GRU, GRUOptions, Tensor> {
 public:
  HOLDER(GRU, Recurrent)
  explicit GRU(const GRUOptions& options) : Recurrent("GRU", options) {}
  GRU(std::int64_t input_size, std::int64_t hidden_size) : GRU(GRUOptions(input_size, hidden_size)) {}
};

/** torch.nn.LSTM; with proj_size h is a projection of that size (Sak et al. 2014). `lstm(x)`,
 * `lstm(x, {h0, c0})`. */
class LSTM : public Recurrent<LSTM, LSTMOptions, LstmState> {
 public:
  HOLDER(LSTM, Recurrent)
  explicit LSTM(const LSTMOptions& options) : Recurrent("LSTM", options) {}
  LSTM(std::int64_t input_size, std::int64_t hidden_size) : LSTM(LSTMOptions(input_size, hidden_size)) {}
};

/** Options of GRUCell and LSTMCell. */
struct GatedCellOptions {
  GatedCellOptions() = default;
  GatedCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  OPTION(std::int64_t, input_size) = 0;
  OPTION(std::int64_t, hidden_size) = 0;
  OPTION(bool, bias) = true;
  OPTION_LIST(2, input_size_, hidden_size_, bias_)
};
using GRUCellOptions = GatedCellOptions;
using LSTMCellOptions = GatedCellOptions;

struct RNNCellOptions {
  RNNCellOptions() = default;
  RNNCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  OPTION(std::int64_t, input_size) = 0;
  OPTION(std::int64_t, hidden_size) = 0;
  OPTION(bool, bias) = true;
  OPTION(std::string, nonlinearity) = "tanh";
  OPTION_LIST(2, input_size_, hidden_size_, bias_, nonlinearity_)
};

/** The common part of the cells: one step of [N, input_size] or [input_size]. */
class RNNCellBase : public Module {
 public:
  /** Uniform within 1 / sqrt(hidden_size). */
  void reset_parameters();
  /** Undefined states are zeros. Throws ValueError. */
  LstmState run(const Tensor& input, const LstmState& hx) const;
  /** (input, hx), where hx is a tensor or (h, c), -> h or (h, c). */
  Value call(const Arguments& arguments) override;

  Tensor weight_ih, weight_hh;  // [gates * hidden_size, input_size], [gates * hidden_size, hidden_size]
  Tensor bias_ih, bias_hh;      // [gates * hidden_size], or undefined

 protected:
  void make_parameters(const char* layer, std::int64_t gates, std::int64_t input_size,
                       std::int64_t hidden_size, bool bias);
  /** run, with the hooks. */
  LstmState called(const Tensor& input, const LstmState& hx);
  /** One step with a batch. */
  virtual LstmState step(const Tensor& input, const LstmState& hx) const = 0;
  virtual bool has_cell_state() const { return false; }
};

/** `cell(x)`, `cell(x, state)`. `State`: a tensor or an LstmState. */
template <class Derived, class OptionsType, class State, class Result = State>
class RecurrentCell : public Layer<Derived, OptionsType, RNNCellBase> {
 public:
  Result operator()(const Tensor& input, const State& hx = {}) {
    return given_back((*this)->called(input, as_lstm_state(hx)));
  }
  Result forward(const Tensor& input, const State& hx) {
    return given_back(this->run(input, as_lstm_state(hx)));
  }
  Tensor forward(const Tensor& input) override {
    if constexpr (std::is_same_v<State, Tensor>)
      return this->run(input, {}).h;
    else
      return Module::forward(input);
  }
  std::string extra_repr() const override {
    const OptionsType o = this->options();
    return dlprim::concat(o.input_size(), ", ", o.hidden_size(), o.bias() ? "" : ", bias=False");
  }

 protected:
  explicit RecurrentCell(Child<Derived> module)
      : Layer<Derived, OptionsType, RNNCellBase>(std::move(module)) {}
  RecurrentCell(const char* layer, std::int64_t gates, const OptionsType& o)
      : Layer<Derived, OptionsType, RNNCellBase>(o) {
    this->make_parameters(layer, gates, o.input_size(), o.hidden_size(), o.bias());
  }

 private:
  static Result given_back(const LstmState& state) {
    if constexpr (std::is_same_v<State, Tensor>)
      return state.h;
    else
      return state;
  }
};

/** torch.nn.RNNCell. */
class RNNCell : public RecurrentCell<RNNCell, RNNCellOptions, Tensor> {
 public:
  HOLDER(RNNCell, RecurrentCell)
  explicit RNNCell(const RNNCellOptions& options) : RecurrentCell("RNNCell", 1, options) {}
  RNNCell(std::int64_t input_size, std::int64_t hidden_size)
      : RNNCell(RNNCellOptions(input_size, hidden_size)) {}
  std::string extra_repr() const override;

 protected:
  LstmState step(const Tensor& input, const LstmState& hx) const override;
};

/** torch.nn.GRUCell. */
class GRUCell : public RecurrentCell<GRUCell, GRUCellOptions, Tensor> {
 public:
  HOLDER(GRUCell, RecurrentCell)
  explicit GRUCell(const GRUCellOptions& options) : RecurrentCell("GRUCell", 3, options) {}
  GRUCell(std::int64_t input_size, std::int64_t hidden_size)
      : GRUCell(GRUCellOptions(input_size, hidden_size)) {}

 protected:
  LstmState step(const Tensor& input, const LstmState& hx) const override;
};

/** torch.nn.LSTMCell. */
class LSTMCell : public RecurrentCell<LSTMCell, LSTMCellOptions, LstmState, LstmCellResult> {
 public:
  HOLDER(LSTMCell, RecurrentCell)
  explicit LSTMCell(const LSTMCellOptions& options) : RecurrentCell("LSTMCell", 4, options) {}
  LSTMCell(std::int64_t input_size, std::int64_t hidden_size)
      : LSTMCell(LSTMCellOptions(input_size, hidden_size)) {}

 protected:
  LstmState step(const Tensor& input, const LstmState& hx) const override;
  bool has_cell_state() const override { return true; }
};

}  // namespace ocl::nn

// Both decompose as tuples.
template <class State>
struct std::tuple_size<ocl::nn::RecurrentResult<State>> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I, class State>
struct std::tuple_element<I, ocl::nn::RecurrentResult<State>>
    : std::tuple_element<I, std::tuple<ocl::Tensor, typename ocl::nn::RecurrentResult<State>::States>> {};
template <>
struct std::tuple_size<ocl::nn::LstmCellResult> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, ocl::nn::LstmCellResult>
    : std::tuple_element<I, std::tuple<ocl::Tensor, ocl::Tensor>> {};
