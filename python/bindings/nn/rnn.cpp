#include "module_class.h"

using ocl::LstmState;
using ocl::RnnResult;

namespace {

using OptionalTensor = std::optional<Tensor>;
using TwoTensors = std::optional<std::tuple<Tensor, Tensor>>;

LstmState state_of(const OptionalTensor& hx) {
  return {or_undefined(hx), {}};
}
LstmState state_of(const TwoTensors& hx) {
  return hx ? LstmState{std::get<0>(*hx), std::get<1>(*hx)} : LstmState();
}

py::object as_python(const Tensor& h, const Tensor& c) {
  return c.defined() ? py::object(py::make_tuple(h, c)) : py::cast(h);
}

/** Python's PackedSequence (ocl/nn/utils/rnn.py) as C++'s. Waits where it does not know its sizes. */
PackedSequence packed_of(const py::object& sequence) {
  const auto optional = [&](const char* name) {
    return or_undefined(sequence.attr(name).cast<OptionalTensor>());
  };
  return {sequence.attr("data").cast<Tensor>(),
          sequence.attr("_host_sizes")().cast<std::vector<std::int64_t>>(), optional("sorted_indices"),
          optional("unsorted_indices")};
}

const Tensor& first_of(const RNN&, const LstmState& hx) {
  return hx.h;
}
const Tensor& first_of(const GRU&, const LstmState& hx) {
  return hx.h;
}
const LstmState& first_of(const LSTM&, const LstmState& hx) {
  return hx;
}

/** forward(input, hx): a tensor or a packed sequence, and the states. */
template <class Layer, class Hx>
py::tuple forward(Layer& self, const py::object& input, const Hx& hx) {
  const LstmState first = state_of(hx);
  if (py::isinstance<py::tuple>(input)) {
    const PackedSequence packed = packed_of(input);
    PackedRnnResult result;
    {
      const PythonUnlocked unlocked;
      result = self.forward(packed, first_of(self, first));
    }
    return py::make_tuple(input.attr("_with_data")(result.output.data), as_python(result.h_n, result.c_n));
  }
  const auto x = input.cast<Tensor>();
  RnnResult result;
  {
    const PythonUnlocked unlocked;
    result = self.forward(x, first_of(self, first));
  }
  return py::make_tuple(result.output, as_python(result.h_n, result.c_n));
}

/** What PyTorch warns of. */
void warn_of_dropout(double dropout, std::int64_t num_layers) {
  if (dropout <= 0 || num_layers != 1) return;
  const std::string text =
      "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
      "num_layers greater than 1, but got dropout=" +
      float_repr(dropout) + " and num_layers=1";
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

/** Moved to where `device` and `dtype` say. */
template <class M>
std::shared_ptr<M> placed(std::shared_ptr<M> module, const std::optional<ocl::Device>& device,
                          const std::optional<ocl::DType>& dtype) {
  if (device) module->to(*device);
  if (dtype) module->to(*dtype);
  return module;
}

py::list all_weights(const py::object& self) {
  py::list layers;
  for (const auto& names : self.cast<const RNNBase&>().all_weight_names()) {
    py::list weights;
    for (const std::string& name : names) weights.append(self.attr(name.c_str()));
    layers.append(weights);
  }
  return layers;
}

using OptionalDevice = std::optional<ocl::Device>;
using OptionalDType = std::optional<ocl::DType>;

void bind_layers(py::module_& m) {
  ModuleClass<RNNBase>(m, "RNNBase", "What RNN, GRU and LSTM share.")
      .def_readwrite("input_size", &RNNBase::input_size)
      .def_readwrite("hidden_size", &RNNBase::hidden_size)
      .def_readwrite("num_layers", &RNNBase::num_layers)
      .def_readwrite("bias", &RNNBase::bias)
      .def_readwrite("batch_first", &RNNBase::batch_first)
      .def_readwrite("dropout", &RNNBase::dropout)
      .def_readwrite("bidirectional", &RNNBase::bidirectional)
      .def_readwrite("proj_size", &RNNBase::proj_size)
      .def_property_readonly("all_weights", &all_weights, "The parameters of each layer and direction.")
      .def("reset_parameters", &RNNBase::reset_parameters)
      .def("flatten_parameters", &RNNBase::flatten_parameters, "Does nothing.");
  ModuleClass<RNN, RNNBase>(
      m, "RNN", "Layers of h = tanh(W_ih x + b_ih + W_hh h + b_hh), or of relu; gives output and h_n.")
      .def(py::init([](std::int64_t input_size, std::int64_t hidden_size, std::int64_t num_layers,
                       const std::string& nonlinearity, bool bias, bool batch_first, double dropout,
                       bool bidirectional, const OptionalDevice& device, const OptionalDType& dtype) {
             warn_of_dropout(dropout, num_layers);
             RNN::Options options;
             static_cast<RNNBase::Options&>(options) = {num_layers, bias, batch_first, dropout,
                                                        bidirectional};
             options.nonlinearity = nonlinearity;
             return placed(std::make_shared<RNN>(input_size, hidden_size, options), device, dtype);
           }),
           py::arg("input_size"), py::arg("hidden_size"), py::arg("num_layers") = 1,
           py::arg("nonlinearity") = "tanh", py::arg("bias") = true, py::arg("batch_first") = false,
           py::arg("dropout") = 0.0, py::arg("bidirectional") = false, py::arg("device") = py::none(),
           py::arg("dtype") = py::none())
      .def_readwrite("nonlinearity", &RNN::nonlinearity)
      .def_property_readonly(
          "mode", [](const RNN& self) { return self.nonlinearity == "relu" ? "RNN_RELU" : "RNN_TANH"; })
      .def("forward", &forward<RNN, OptionalTensor>, py::arg("input"), py::arg("hx") = py::none());
  ModuleClass<GRU, RNNBase>(m, "GRU", "Layers of gated recurrent units; gives output and h_n.")
      .def(py::init([](std::int64_t input_size, std::int64_t hidden_size, std::int64_t num_layers, bool bias,
                       bool batch_first, double dropout, bool bidirectional, const OptionalDevice& device,
                       const OptionalDType& dtype) {
             warn_of_dropout(dropout, num_layers);
             return placed(
                 std::make_shared<GRU>(input_size, hidden_size,
                                       GRU::Options{num_layers, bias, batch_first, dropout, bidirectional}),
                 device, dtype);
           }),
           py::arg("input_size"), py::arg("hidden_size"), py::arg("num_layers") = 1, py::arg("bias") = true,
           py::arg("batch_first") = false, py::arg("dropout") = 0.0, py::arg("bidirectional") = false,
           py::arg("device") = py::none(), py::arg("dtype") = py::none())
      .def_property_readonly("mode", [](const GRU&) { return "GRU"; })
      .def("forward", &forward<GRU, OptionalTensor>, py::arg("input"), py::arg("hx") = py::none());
  ModuleClass<LSTM, RNNBase>(m, "LSTM", "Layers of long short-term memory; gives output and (h_n, c_n).")
      .def(py::init([](std::int64_t input_size, std::int64_t hidden_size, std::int64_t num_layers, bool bias,
                       bool batch_first, double dropout, bool bidirectional, std::int64_t proj_size,
                       const OptionalDevice& device, const OptionalDType& dtype) {
             warn_of_dropout(dropout, num_layers);
             LSTM::Options options;
             static_cast<RNNBase::Options&>(options) = {num_layers, bias, batch_first, dropout,
                                                        bidirectional};
             options.proj_size = proj_size;
             return placed(std::make_shared<LSTM>(input_size, hidden_size, options), device, dtype);
           }),
           py::arg("input_size"), py::arg("hidden_size"), py::arg("num_layers") = 1, py::arg("bias") = true,
           py::arg("batch_first") = false, py::arg("dropout") = 0.0, py::arg("bidirectional") = false,
           py::arg("proj_size") = 0, py::arg("device") = py::none(), py::arg("dtype") = py::none())
      .def_property_readonly("mode", [](const LSTM&) { return "LSTM"; })
      .def("forward", &forward<LSTM, TwoTensors>, py::arg("input"), py::arg("hx") = py::none());
}

template <class Cell>
auto cell_init() {
  return py::init([](std::int64_t input_size, std::int64_t hidden_size, bool bias,
                     const OptionalDevice& device, const OptionalDType& dtype) {
    return placed(std::make_shared<Cell>(input_size, hidden_size, bias), device, dtype);
  });
}

void bind_cells(py::module_& m) {
  ModuleClass<RNNCellBase>(m, "RNNCellBase", "What the cells share.")
      .def_readwrite("input_size", &RNNCellBase::input_size)
      .def_readwrite("hidden_size", &RNNCellBase::hidden_size)
      .def_readwrite("bias", &RNNCellBase::bias)
      .def("reset_parameters", &RNNCellBase::reset_parameters);
  ModuleClass<RNNCell, RNNCellBase>(m, "RNNCell", "One step of RNN: h.")
      .def(py::init([](std::int64_t input_size, std::int64_t hidden_size, bool bias,
                       const std::string& nonlinearity, const OptionalDevice& device,
                       const OptionalDType& dtype) {
             return placed(std::make_shared<RNNCell>(input_size, hidden_size, bias, nonlinearity), device,
                           dtype);
           }),
           py::arg("input_size"), py::arg("hidden_size"), py::arg("bias") = true,
           py::arg("nonlinearity") = "tanh", py::arg("device") = py::none(), py::arg("dtype") = py::none())
      .def_readwrite("nonlinearity", &RNNCell::nonlinearity)
      .def(
          "forward",
          [](RNNCell& self, const Tensor& input, const OptionalTensor& hx) {
            return self.forward(input, or_undefined(hx));
          },
          py::arg("input"), py::arg("hx") = py::none(), WithoutLock());
  ModuleClass<GRUCell, RNNCellBase>(m, "GRUCell", "One step of GRU: h.")
      .def(cell_init<GRUCell>(), py::arg("input_size"), py::arg("hidden_size"), py::arg("bias") = true,
           py::arg("device") = py::none(), py::arg("dtype") = py::none())
      .def(
          "forward",
          [](GRUCell& self, const Tensor& input, const OptionalTensor& hx) {
            return self.forward(input, or_undefined(hx));
          },
          py::arg("input"), py::arg("hx") = py::none(), WithoutLock());
  ModuleClass<LSTMCell, RNNCellBase>(m, "LSTMCell", "One step of LSTM: (h, c).")
      .def(cell_init<LSTMCell>(), py::arg("input_size"), py::arg("hidden_size"), py::arg("bias") = true,
           py::arg("device") = py::none(), py::arg("dtype") = py::none())
      .def(
          "forward",
          [](LSTMCell& self, const Tensor& input, const TwoTensors& hx) {
            const LstmState state = self.forward(input, state_of(hx));
            return std::tuple(state.h, state.c);
          },
          py::arg("input"), py::arg("hx") = py::none(), WithoutLock());
}

using Sizes = std::vector<std::int64_t>;
using Parts = std::tuple<Tensor, Sizes, OptionalTensor, OptionalTensor>;

OptionalTensor none_if_undefined(const Tensor& tensor) {
  return tensor.defined() ? OptionalTensor(tensor) : std::nullopt;
}

/** What ocl/nn/utils/rnn.py makes its PackedSequence of and takes it apart into. */
Parts parts_of(const PackedSequence& packed) {
  return {packed.data, packed.batch_sizes, none_if_undefined(packed.sorted_indices),
          none_if_undefined(packed.unsorted_indices)};
}

void bind_packing(py::module_& parent) {
  namespace rnn = utils::rnn;
  py::module_ m = parent.def_submodule("_rnn", "Packing of sequences, in terms of its parts.");
  m.def(
      "pack_padded_sequence",
      [](const Tensor& input, const Sizes& lengths, bool batch_first, bool enforce_sorted) {
        return parts_of(rnn::pack_padded_sequence(input, lengths, batch_first, enforce_sorted));
      },
      WithoutLock());
  m.def(
      "pack_sequence",
      [](const ocl::TensorList& sequences, bool enforce_sorted) {
        return parts_of(rnn::pack_sequence(sequences, enforce_sorted));
      },
      WithoutLock());
  m.def(
      "pad_packed_sequence",
      [](const Parts& parts, bool batch_first, const ocl::Scalar& padding_value,
         std::optional<std::int64_t> total_length) {
        const auto& [data, sizes, sorted, unsorted] = parts;
        const rnn::PaddedSequence padded =
            rnn::pad_packed_sequence({data, sizes, or_undefined(sorted), or_undefined(unsorted)}, batch_first,
                                     padding_value, total_length);
        return std::tuple(padded.data, padded.lengths);
      },
      WithoutLock());
  m.def("pad_sequence", &rnn::pad_sequence, WithoutLock());
  m.def("unpad_sequence", &rnn::unpad_sequence, WithoutLock());
  m.def(
      "invert_permutation",
      [](const OptionalTensor& permutation) {
        return none_if_undefined(rnn::invert_permutation(or_undefined(permutation)));
      },
      WithoutLock());
}

}  // namespace

void bind_rnn_modules(py::module_& m) {
  bind_layers(m);
  bind_cells(m);
  bind_packing(m);
}
