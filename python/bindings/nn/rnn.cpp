#include "module_class.h"

using ocl::LstmState;
using ocl::RnnResult;

namespace {

/** (h, c). A tensor is no pair, also where it has two entries: those would end with the call's arguments. */
struct TensorPair {
  Tensor h, c;
};

}  // namespace

template <>
struct pybind11::detail::type_caster<TensorPair> {
  PYBIND11_TYPE_CASTER(TensorPair, const_name("tuple[Tensor, Tensor]"));
  bool load(handle given, bool convert) {
    if (!isinstance<tuple>(given) && !isinstance<list>(given)) return false;
    make_caster<std::tuple<Tensor, Tensor>> both;
    if (!both.load(given, convert)) return false;
    std::tie(value.h, value.c) = cast_op<std::tuple<Tensor, Tensor>>(both);
    return true;
  }
};

namespace {

using OptionalTensor = std::optional<Tensor>;
using TwoTensors = std::optional<TensorPair>;

LstmState state_of(const OptionalTensor& hx) {
  return {or_undefined(hx), {}};
}
LstmState state_of(const TwoTensors& hx) {
  return hx ? LstmState{hx->h, hx->c} : LstmState();
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

/** forward(input, hx): a tensor or a packed sequence, and the states. */
template <class Hx>
py::tuple forward(const RNNBase& self, const py::object& input, const Hx& hx) {
  const LstmState first = state_of(hx);
  if (py::isinstance<py::tuple>(input)) {
    const PackedSequence packed = packed_of(input);
    PackedRnnResult result;
    {
      const PythonUnlocked unlocked;
      result = self.run(packed, first);
    }
    return py::make_tuple(input.attr("_with_data")(result.output.data), as_python(result.h_n, result.c_n));
  }
  const Tensor x = tensor_of(input);
  RnnResult result;
  {
    const PythonUnlocked unlocked;
    result = self.run(x, first);
  }
  return py::make_tuple(result.output, as_python(result.h_n, result.c_n));
}

/** One step: h, or (h, c). */
template <class Hx>
py::object step(const RNNCellBase& self, const Tensor& input, const Hx& hx) {
  LstmState result;
  {
    const PythonUnlocked unlocked;
    result = self.run(input, state_of(hx));
  }
  return as_python(result.h, result.c);
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

/** An attribute of all layers that is an option of some alone. */
template <class Get>
auto fixed(const char* name, const Get& get) {
  return [name, get](const RNNBase& self, const py::object& value) {
    if (!get(self).equal(value))
      throw ocl::ValueError(
          dlprim::concat(self.name(), ": '", name, "' cannot be ", py::repr(value).cast<std::string>()));
  };
}

template <class M, class Hx>
LayerClass<M, RNNBase> bind_layer(py::module_& m, const char* name, const char* documentation) {
  LayerClass<M, RNNBase> layer(m, name, documentation, {});
  layer.def("forward", &forward<Hx>, py::arg("input"), py::arg("hx") = py::none());
  return layer;
}

template <class Cell, class Hx>
void bind_cell(py::module_& m, const char* name, const char* documentation) {
  LayerClass<Cell, RNNCellBase>(m, name, documentation, {})
      .def("forward", &step<Hx>, py::arg("input"), py::arg("hx") = py::none());
}

void bind_layers(py::module_& m) {
  const auto mode = [](const RNNBase& self) -> py::object { return py::str(self.settings().mode); };
  const auto proj_size = [](const RNNBase& self) -> py::object {
    return py::int_(self.settings().proj_size);
  };
  ModuleClass<RNNBase>(m, "RNNBase", "What RNN, GRU and LSTM share.")
      .def_property("mode", mode, fixed("mode", mode))
      .def_property("proj_size", proj_size, fixed("proj_size", proj_size))
      .def_property_readonly("all_weights", &all_weights, "The parameters of each layer and direction.")
      .def("flatten_parameters", &RNNBase::flatten_parameters, "Does nothing.");
  bind_layer<RNN, OptionalTensor>(
      m, "RNN", "Layers of h = tanh(W_ih x + b_ih + W_hh h + b_hh), or of relu; gives output and h_n.")
      .def_property("mode", mode, [](RNN& self, const std::string& value) {
        dlprim::require(value == "RNN_TANH" || value == "RNN_RELU", "RNN: Unrecognized RNN mode: ", value);
        self.change_options([&](auto& o) { o.nonlinearity(value == "RNN_RELU" ? "relu" : "tanh"); });
      });
  bind_layer<GRU, OptionalTensor>(m, "GRU", "Layers of gated recurrent units; gives output and h_n.");
  bind_layer<LSTM, TwoTensors>(m, "LSTM", "Layers of long short-term memory; gives output and (h_n, c_n).");
}

void bind_cells(py::module_& m) {
  ModuleClass<RNNCellBase>(m, "RNNCellBase", "What the cells share.");
  bind_cell<RNNCell, OptionalTensor>(m, "RNNCell", "One step of RNN: h.");
  bind_cell<GRUCell, OptionalTensor>(m, "GRUCell", "One step of GRU: h.");
  bind_cell<LSTMCell, TwoTensors>(m, "LSTMCell", "One step of LSTM: (h, c).");
}

using Sizes = std::vector<std::int64_t>;
using Parts = std::tuple<Tensor, Sizes, OptionalTensor, OptionalTensor>;

OptionalTensor none_if_undefined(const Tensor& tensor) {
  return tensor.defined() ? OptionalTensor(tensor) : std::nullopt;
}

/** The parts of a PackedSequence of ocl/nn/utils/rnn.py. */
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
