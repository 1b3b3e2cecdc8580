#include "autograd/ops/rnn.h"

#include "operator_binder.h"

using ocl::LstmState;
using ocl::RnnOptions;
using ocl::RnnResult;
using ocl::Tensor;
using ocl::TensorList;

namespace {

using OneState = std::tuple<Tensor, Tensor>;
using TwoStates = std::tuple<Tensor, Tensor, Tensor>;

LstmState states_of(const char* name, const TensorList& hx) {
  dlprim::require(hx.size() == 2, name, ": expects two hidden states, got ", hx.size());
  return {hx[0], hx[1]};
}

OneState results(const RnnResult& result, const Tensor&) {
  return {result.output, result.h_n};
}
TwoStates results(const RnnResult& result, const TensorList&) {
  return {result.output, result.h_n, result.c_n};
}
const Tensor& states(const Tensor& hx) {
  return hx;
}
LstmState states(const TensorList& hx) {
  return states_of("lstm", hx);
}

/** Both forms of a function whose states are given as `Hx`: of packed data, and of a padded batch. */
template <class Hx, class Function>
void bind_sequence(const OperatorBinder& bind, const char* name, Function function) {
  bind.free(
      name,
      [function](const Tensor& data, const Tensor& batch_sizes, const Hx& hx, const TensorList& params,
                 bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
        return results(function(data, batch_sizes.to_vector<std::int64_t>(), states(hx), params,
                                RnnOptions{has_biases, num_layers, dropout, train, bidirectional, false}),
                       hx);
      },
      py::arg("data"), py::arg("batch_sizes"), py::arg("hx"), py::arg("params"), py::arg("has_biases"),
      py::arg("num_layers"), py::arg("dropout"), py::arg("train"), py::arg("bidirectional"));
  bind.free(
      name,
      [function](const Tensor& input, const Hx& hx, const TensorList& params, bool has_biases,
                 std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
        return results(
            function(input, states(hx), params,
                     RnnOptions{has_biases, num_layers, dropout, train, bidirectional, batch_first}),
            hx);
      },
      py::arg("input"), py::arg("hx"), py::arg("params"), py::arg("has_biases"), py::arg("num_layers"),
      py::arg("dropout"), py::arg("train"), py::arg("bidirectional"), py::arg("batch_first"));
}

}  // namespace

void bind_rnn(const OperatorBinder& bind) {
  bind_sequence<TensorList>(bind, "lstm", [](const auto&... given) { return ocl::lstm(given...); });
  bind_sequence<Tensor>(bind, "gru", [](const auto&... given) { return ocl::gru(given...); });
  bind_sequence<Tensor>(bind, "rnn_tanh", [](const auto&... given) { return ocl::rnn_tanh(given...); });
  bind_sequence<Tensor>(bind, "rnn_relu", [](const auto&... given) { return ocl::rnn_relu(given...); });
  bind.free(
      "lstm_cell",
      [](const Tensor& input, const TensorList& hx, const Tensor& w_ih, const Tensor& w_hh,
         const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
        const LstmState state =
            ocl::lstm_cell(input, states_of("lstm_cell", hx), w_ih, w_hh, or_none(b_ih), or_none(b_hh));
        return std::tuple(state.h, state.c);
      },
      py::arg("input"), py::arg("hx"), py::arg("w_ih"), py::arg("w_hh"), py::arg("b_ih") = py::none(),
      py::arg("b_hh") = py::none());
}
