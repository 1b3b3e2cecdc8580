#include "module_class.h"

namespace {

using OptionalTensor = std::optional<Tensor>;

py::object function_named(const std::string& name) {
  return py::module_::import("ocl.nn.functional").attr(name.c_str());
}

/** A function of Python's stands in the object's __dict__, where the collector sees it. */
template <class M>
void follow_activation(const py::object& self, M& layer) {
  if (!self.attr("__dict__").cast<py::dict>().contains("activation"))
    return layer.substitute_activation(nullptr);
  layer.substitute_activation([&layer](const Tensor& x) {
    const PythonLocked locked;
    const py::object python = py::cast(&layer, py::return_value_policy::reference);
    return python.attr("__dict__")["activation"](x).template cast<Tensor>();
  });
}

/** What PyTorch takes as an activation: a name, a module, or a function. */
template <class M>
void set_activation(const py::object& self, M& layer, const py::object& given) {
  const py::dict attributes = self.attr("__dict__");
  if (py::isinstance<Module>(given)) return add_child(self, layer, "activation", given);
  Activation option = layer.options().activation();
  set_option(option, given, "attribute 'activation'");
  bool is_named = py::isinstance<py::str>(given);
  for (const char* name : {"relu", "gelu"})
    if (given.is(function_named(name))) {
      option = name;
      is_named = true;
    }
  if (is_named)
    attributes.attr("pop")("activation", py::none());
  else
    attributes["activation"] = given;
  layer.change_options([&](auto& o) { o.activation(option); });
  follow_activation(self, layer);
}

/** The last of what a constructor, or a copy, does. */
template <class M>
void finish(const py::object& self, M& layer, const ConstructorArguments* arguments) {
  const py::handle activation = arguments ? (*arguments)["activation"] : py::handle();
  if (activation)
    set_activation(self, layer, py::reinterpret_borrow<py::object>(activation));
  else
    follow_activation(self, layer);
}

/** The bindings that both layers share. */
template <class M>
LayerClass<M> bind_layer(py::module_& m, const char* name, const char* documentation) {
  LayerClass<M> layer(m, name, documentation,
                      {"d_model", "nhead", "dim_feedforward", "dropout", "activation", "layer_norm_eps",
                       "batch_first", "bias"},
                      &finish<M>);
  layer.def_property(
      "activation",
      [](const py::object& self) -> py::object {
        const auto& own = self.cast<const M&>();
        if (const auto module = own.own_module("activation")) return python_half(self, "activation", module);
        const py::dict attributes = self.attr("__dict__");
        if (attributes.contains("activation")) return attributes["activation"];
        const Activation option = own.options().activation();
        const auto* named = std::get_if<std::string>(&option);
        return named ? function_named(*named) : py::cast(std::get<ActivationFunction>(option));
      },
      [](const py::object& self, const py::object& given) { set_activation(self, self.cast<M&>(), given); });
  return layer;
}

}  // namespace

void bind_transformer_modules(py::module_& m) {
  bind_layer<TransformerEncoderLayer>(
      m, "TransformerEncoderLayer",
      "Attention of a sequence to itself and a feed-forward net, each with a residual and layer norm.")
      .def(
          "forward",
          [](TransformerEncoderLayer& self, const Tensor& src, const OptionalTensor& src_mask,
             const OptionalTensor& src_key_padding_mask, bool is_causal) {
            return self.forward(src, {or_undefined(src_mask), or_undefined(src_key_padding_mask), is_causal});
          },
          py::arg("src"), py::arg("src_mask") = py::none(), py::arg("src_key_padding_mask") = py::none(),
          py::arg("is_causal") = false, WithoutLock());
  bind_layer<TransformerDecoderLayer>(
      m, "TransformerDecoderLayer",
      "As TransformerEncoderLayer, with attention to the encoder's output between.")
      .def(
          "forward",
          [](TransformerDecoderLayer& self, const Tensor& tgt, const Tensor& memory,
             const OptionalTensor& tgt_mask, const OptionalTensor& memory_mask,
             const OptionalTensor& tgt_key_padding_mask, const OptionalTensor& memory_key_padding_mask,
             bool tgt_is_causal, bool memory_is_causal) {
            return self.forward(
                tgt, memory, {or_undefined(tgt_mask), or_undefined(tgt_key_padding_mask), tgt_is_causal},
                {or_undefined(memory_mask), or_undefined(memory_key_padding_mask), memory_is_causal});
          },
          py::arg("tgt"), py::arg("memory"), py::arg("tgt_mask") = py::none(),
          py::arg("memory_mask") = py::none(), py::arg("tgt_key_padding_mask") = py::none(),
          py::arg("memory_key_padding_mask") = py::none(), py::arg("tgt_is_causal") = false,
          py::arg("memory_is_causal") = false, WithoutLock());
}
