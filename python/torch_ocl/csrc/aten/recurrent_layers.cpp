#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/gru_native.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/rnn_relu_native.h>
#include <ATen/ops/rnn_tanh_native.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>

#include "arguments.h"
#include "aten/transforms.h"
#include "dlprim/ops/rnn/network.h"
#include "runtime/errors.h"
#include "runtime/generator.h"

/** \file PyTorch's recurrent layers on those of dlprim, whole layers at a time. Where those do not
 * take the arguments, PyTorch makes the layer of cells (recurrent.cpp), and says what is wrong with it. */

namespace torch_ocl {
namespace {

using dlprim::RnnCell;
using dlprim::RnnNetwork;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::vector<dlprim::Tensor> all_raw(at::TensorList tensors) {
  std::vector<dlprim::Tensor> all;
  for (const at::Tensor& t : tensors) all.push_back(t.defined() ? raw_to_read(t) : dlprim::Tensor());
  return all;
}

variable_list all_contiguous(at::TensorList tensors) {
  variable_list all;
  for (const at::Tensor& t : tensors) all.push_back(t.contiguous());
  return all;
}

/** The layers by PyTorch's cells: output, h_n and, of an LSTM, c_n. */
variable_list by_cells(const RnnNetwork& network, const at::Tensor& rows, at::TensorList hx,
                       at::TensorList params) {
  std::vector<std::int64_t> sizes;
  for (int t = 0; t < network.steps.count(); ++t) sizes.push_back(network.steps.size(t));
  const at::Tensor steps = at::tensor(sizes, at::TensorOptions(c10::kLong).device(c10::kCPU));
  const auto call = [&](auto function, const auto& states) {
    return function(rows, steps, states, params, network.has_biases, network.num_layers, network.dropout,
                    true, network.is_bidirectional);
  };
  using OfOne =
      std::tuple<at::Tensor, at::Tensor> (*)(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                             at::TensorList, bool, std::int64_t, double, bool, bool);
  using OfTwo = std::tuple<at::Tensor, at::Tensor, at::Tensor> (*)(const at::Tensor&, const at::Tensor&,
                                                                   at::TensorList, at::TensorList, bool,
                                                                   std::int64_t, double, bool, bool);
  if (network.cell == RnnCell::lstm) {
    const auto [output, h_n, c_n] = call(static_cast<OfTwo>(&at::native::lstm), hx);
    return {output, h_n, c_n};
  }
  const OfOne function = network.cell == RnnCell::gru    ? static_cast<OfOne>(&at::native::gru)
                         : network.cell == RnnCell::tanh ? static_cast<OfOne>(&at::native::rnn_tanh)
                                                         : static_cast<OfOne>(&at::native::rnn_relu);
  const auto [output, h_n] = call(function, hx[0]);
  return {output, h_n};
}

/** The values of forward that backward has. */
struct Kept : torch::CustomClassHolder {
  RnnNetwork network;
  dlprim::RnnTrace trace;

  Kept(const RnnNetwork& of, dlprim::RnnTrace made) : network(of), trace(std::move(made)) {}
};

struct Made {
  variable_list outputs;
  dlprim::RnnTrace trace;
};

/** All contiguous. */
Made run(const RnnNetwork& network, const at::Tensor& rows, at::TensorList hx, at::TensorList params) {
  Made made;
  made.outputs.push_back(at::empty({rows.size(0), network.directions() * hx[0].size(2)}, rows.options()));
  for (const at::Tensor& state : hx) made.outputs.push_back(at::empty(state.sizes(), rows.options()));
  const bool has_cells = hx.size() > 1;
  made.trace = with_errors_of_torch([&] {
    return dlprim::rnn_network_forward(
        device_under(rows).queue(), network, raw_to_read(rows),
        {raw_to_read(hx[0]), has_cells ? raw_to_read(hx[1]) : dlprim::Tensor()}, all_raw(params),
        [&](std::int64_t count) { return draw(std::nullopt, rows.device(), count); },
        {raw(made.outputs[0]), raw(made.outputs[1]), has_cells ? raw(made.outputs[2]) : dlprim::Tensor()});
  });
  return made;
}

class Recurrent : public torch::autograd::Function<Recurrent> {
 public:
  static variable_list forward(AutogradContext* ctx, const RnnNetwork& network, const at::Tensor& given_rows,
                               const at::TensorList& given_hx, const at::TensorList& given_params) {
    const at::Tensor rows = given_rows.contiguous();
    const variable_list hx = all_contiguous(given_hx), params = all_contiguous(given_params);
    Made made = run(network, rows, hx, params);
    variable_list saved{given_rows};
    saved.insert(saved.end(), given_hx.begin(), given_hx.end());
    saved.insert(saved.end(), given_params.begin(), given_params.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["states"] = static_cast<std::int64_t>(hx.size());
    ctx->saved_data["kept"] =
        c10::IValue::make_capsule(c10::make_intrusive<Kept>(network, std::move(made.trace)));
    ctx->set_materialize_grads(false);
    return made.outputs;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto kept = c10::static_intrusive_pointer_cast<Kept>(ctx->saved_data["kept"].toCapsule());
    const auto states = static_cast<std::size_t>(ctx->saved_data["states"].toInt());
    const variable_list saved = ctx->get_saved_variables();
    variable_list results = at::GradMode::is_enabled() ? recorded(*kept, states, saved, gradients, ctx)
                                                       : computed(*kept, states, saved, gradients, ctx);
    results.insert(results.begin(), at::Tensor());  // of the network
    return results;
  }

 private:
  static variable_list computed(const Kept& kept, std::size_t states, const variable_list& saved,
                                const variable_list& gradients, AutogradContext* ctx) {
    variable_list results;
    for (std::size_t i = 0; i < saved.size(); ++i)
      results.push_back(ctx->needs_input_grad(i) ? at::empty(saved[i].sizes(), saved[i].options())
                                                 : at::Tensor());
    const auto raw_or_none = [](const at::Tensor& t) { return t.defined() ? raw(t) : dlprim::Tensor(); };
    variable_list given;
    for (const at::Tensor& g : gradients) given.push_back(g.defined() ? g.contiguous() : g);
    const variable_list params = all_contiguous(at::TensorList(saved).slice(1 + states));
    std::vector<dlprim::Tensor> by_params;
    for (std::size_t i = 1 + states; i < saved.size(); ++i) by_params.push_back(raw_or_none(results[i]));
    const bool has_cells = states > 1;
    with_errors_of_torch([&] {
      dlprim::rnn_network_backward(
          device_under(saved[0]).queue(), kept.network, kept.trace, all_raw(params),
          {raw_or_none(given[0]), raw_or_none(given[1]),
           has_cells ? raw_or_none(given[2]) : dlprim::Tensor()},
          raw_or_none(results[0]),
          {raw_or_none(results[1]), has_cells ? raw_or_none(results[2]) : dlprim::Tensor()}, by_params);
    });
    return results;
  }

  /** Where the gradients are to be differentiated in turn. */
  static variable_list recorded(const Kept& kept, std::size_t states, const variable_list& saved,
                                const variable_list& gradients, AutogradContext* ctx) {
    TORCH_CHECK_NOT_IMPLEMENTED(kept.network.dropout == 0 || kept.network.num_layers == 1,
                                "recurrent layers with dropout between them have no second derivative");
    variable_list own, wanted;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      own.push_back(ctx->needs_input_grad(i) ? saved[i].alias() : saved[i]);
      if (ctx->needs_input_grad(i)) wanted.push_back(own.back());
    }
    const at::TensorList all(own);
    const variable_list outputs = by_cells(kept.network, all[0], all.slice(1, states), all.slice(1 + states));
    variable_list used, given;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (gradients[i].defined()) {
        used.push_back(outputs[i]);
        given.push_back(gradients[i]);
      }
    const variable_list found = torch::autograd::grad(used, wanted, given, true, true, true);
    variable_list results;
    std::size_t next = 0;
    for (std::size_t i = 0; i < saved.size(); ++i)
      results.push_back(ctx->needs_input_grad(i) ? found[next++] : at::Tensor());
    return results;
  }
};

/** The network of a call, where dlprim takes all that the call has. */
std::optional<RnnNetwork> network_of(RnnCell cell, const at::Tensor& rows, std::vector<std::int64_t> sizes,
                                     at::TensorList hx, at::TensorList params, bool has_biases,
                                     std::int64_t num_layers, double dropout, bool train,
                                     bool bidirectional) {
  if (at::autocast::is_autocast_enabled(c10::DeviceType::PrivateUse1)) return std::nullopt;
  if (is_transformed(rows) || are_transformed(hx) || are_transformed(params)) return std::nullopt;
  const auto fits = [&](const at::Tensor& t, c10::IntArrayRef shape) {
    return t.defined() && t.device() == rows.device() && t.scalar_type() == rows.scalar_type() &&
           t.sizes() == shape;
  };
  const auto is_one_of = [&](c10::ScalarType type) { return rows.scalar_type() == type; };
  if (!(is_one_of(c10::kFloat) || is_one_of(c10::kDouble) || is_one_of(c10::kHalf) ||
        is_one_of(c10::kBFloat16)))
    return std::nullopt;
  const std::size_t states = cell == RnnCell::lstm ? 2 : 1;
  if (rows.dim() != 2 || rows.numel() == 0 || hx.size() != states || num_layers < 1 || sizes.empty() ||
      sizes.front() < 1 || !std::is_sorted(sizes.rbegin(), sizes.rend()) || sizes.back() < 1 || dropout < 0 ||
      dropout > 1)
    return std::nullopt;
  for (const at::Tensor& state : hx)
    if (!state.defined() || state.dim() != 3 || state.numel() == 0) return std::nullopt;
  const std::int64_t layers = num_layers * (bidirectional ? 2 : 1), state = hx[0].size(2),
                     units = hx[states - 1].size(2), batch = sizes.front();
  RnnNetwork network{cell,
                     dlprim::RnnSteps(std::move(sizes)),
                     num_layers,
                     bidirectional,
                     has_biases,
                     state != units,
                     train ? dropout : 0,
                     matmul_precision()};
  const std::int64_t count = network.params_of_one(), gates = dlprim::gates_of(cell) * units;
  if (!fits(hx[0], {layers, batch, state}) || !fits(hx[states - 1], {layers, batch, units}) ||
      rows.size(0) != network.steps.rows() || static_cast<std::int64_t>(params.size()) != layers * count)
    return std::nullopt;
  for (std::int64_t i = 0; i < layers; ++i) {
    const at::TensorList own =
        params.slice(static_cast<std::size_t>(i * count), static_cast<std::size_t>(count));
    const std::int64_t features = i < network.directions() ? rows.size(1) : state * network.directions();
    bool all_fit = fits(own[0], {gates, features}) && fits(own[1], {gates, state});
    if (has_biases) all_fit = all_fit && fits(own[2], {gates}) && fits(own[3], {gates});
    if (network.is_projecting)
      all_fit = all_fit && fits(own[static_cast<std::size_t>(count - 1)], {state, units});
    if (!all_fit) return std::nullopt;
  }
  return network;
}

template <bool records>
variable_list recurrent(const RnnNetwork& network, const at::Tensor& rows, at::TensorList hx,
                        at::TensorList params) {
  if constexpr (records) return Recurrent::apply(network, rows, hx, params);
  return run(network, rows.contiguous(), all_contiguous(hx), all_contiguous(params)).outputs;
}

/** Over sequences of one length, [steps, batch, features]; undefined where dlprim does not take the call. */
template <bool records>
variable_list over_padded(RnnCell cell, const at::Tensor& input, at::TensorList hx, at::TensorList params,
                          bool has_biases, std::int64_t num_layers, double dropout, bool train,
                          bool bidirectional, bool batch_first) {
  if (input.dim() != 3 || input.numel() == 0) return {};
  const at::Tensor x = batch_first ? input.transpose(0, 1) : input;
  const std::int64_t steps = x.size(0), batch = x.size(1);
  const at::Tensor rows = x.reshape({steps * batch, x.size(2)});
  const auto network =
      network_of(cell, rows, std::vector<std::int64_t>(static_cast<std::size_t>(steps), batch), hx, params,
                 has_biases, num_layers, dropout, train, bidirectional);
  if (!network) return {};
  variable_list results = recurrent<records>(*network, rows, hx, params);
  results[0] = results[0].view({steps, batch, -1});
  if (batch_first) results[0] = results[0].transpose(0, 1);
  return results;
}

template <bool records>
variable_list over_packed(RnnCell cell, const at::Tensor& data, const at::Tensor& batch_sizes,
                          at::TensorList hx, at::TensorList params, bool has_biases, std::int64_t num_layers,
                          double dropout, bool train, bool bidirectional) {
  if (data.dim() != 2 || !batch_sizes.is_cpu() || batch_sizes.dim() != 1 ||
      batch_sizes.scalar_type() != c10::kLong)
    return {};
  const at::Tensor sizes = batch_sizes.contiguous();
  const auto* first = sizes.const_data_ptr<std::int64_t>();
  const auto network = network_of(cell, data, {first, first + sizes.numel()}, hx, params, has_biases,
                                  num_layers, dropout, train, bidirectional);
  return network ? recurrent<records>(*network, data, hx, params) : variable_list();
}

template <bool records>
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm(const at::Tensor& input, at::TensorList hx,
                                                    at::TensorList params, bool has_biases,
                                                    std::int64_t num_layers, double dropout, bool train,
                                                    bool bidirectional, bool batch_first) {
  const variable_list made = over_padded<records>(RnnCell::lstm, input, hx, params, has_biases, num_layers,
                                                  dropout, train, bidirectional, batch_first);
  if (!made.empty()) return {made[0], made[1], made[2]};
  return at::native::lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
                          batch_first);
}

template <bool records>
std::tuple<at::Tensor, at::Tensor, at::Tensor> packed_lstm(const at::Tensor& data,
                                                           const at::Tensor& batch_sizes, at::TensorList hx,
                                                           at::TensorList params, bool has_biases,
                                                           std::int64_t num_layers, double dropout,
                                                           bool train, bool bidirectional) {
  const variable_list made = over_packed<records>(RnnCell::lstm, data, batch_sizes, hx, params, has_biases,
                                                  num_layers, dropout, train, bidirectional);
  if (!made.empty()) return {made[0], made[1], made[2]};
  return at::native::lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
                          bidirectional);
}

#define OF_ONE_STATE(name, cell)                                                                          \
  template <bool records>                                                                                 \
  std::tuple<at::Tensor, at::Tensor> name(                                                                \
      const at::Tensor& input, const at::Tensor& hx, at::TensorList params, bool has_biases,              \
      std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {        \
    const variable_list made = over_padded<records>(cell, input, hx, params, has_biases, num_layers,      \
                                                    dropout, train, bidirectional, batch_first);          \
    if (!made.empty()) return {made[0], made[1]};                                                         \
    return at::native::name(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,     \
                            batch_first);                                                                 \
  }                                                                                                       \
  template <bool records>                                                                                 \
  std::tuple<at::Tensor, at::Tensor> packed_##name(                                                       \
      const at::Tensor& data, const at::Tensor& batch_sizes, const at::Tensor& hx, at::TensorList params, \
      bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {         \
    const variable_list made = over_packed<records>(cell, data, batch_sizes, hx, params, has_biases,      \
                                                    num_layers, dropout, train, bidirectional);           \
    if (!made.empty()) return {made[0], made[1]};                                                         \
    return at::native::name(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,        \
                            bidirectional);                                                               \
  }
OF_ONE_STATE(gru, RnnCell::gru)
OF_ONE_STATE(rnn_tanh, RnnCell::tanh)
OF_ONE_STATE(rnn_relu, RnnCell::relu)
#undef OF_ONE_STATE

template <bool records>
void register_layers(torch::Library& m) {
  m.impl("lstm.input", &lstm<records>);
  m.impl("lstm.data", &packed_lstm<records>);
  m.impl("gru.input", &gru<records>);
  m.impl("gru.data", &packed_gru<records>);
  m.impl("rnn_tanh.input", &rnn_tanh<records>);
  m.impl("rnn_tanh.data", &packed_rnn_tanh<records>);
  m.impl("rnn_relu.input", &rnn_relu<records>);
  m.impl("rnn_relu.data", &packed_rnn_relu<records>);
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  register_layers<true>(m);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  register_layers<false>(m);
}

}  // namespace
}  // namespace torch_ocl
