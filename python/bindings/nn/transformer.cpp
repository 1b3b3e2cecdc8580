#include "module_option.h"

/** Names alone: a module or a function of Python's becomes part of the object. */
template <>
struct PythonOption<Activation> {
  static py::object give(const Activation& activation) {
    const auto* name = std::get_if<std::string>(&activation);
    if (!name) throw ocl::TypeError("Python cannot copy an activation that is a function of C++");
    return py::str(*name);
  }
  static void take(Activation& option, const py::handle& value, const std::string& name) {
    if (py::isinstance<py::str>(value))
      option = value.cast<std::string>();
    else if (!PyCallable_Check(value.ptr()))
      throw ocl::TypeError(
          dlprim::concat(name, " must be a name or callable, not ", Py_TYPE(value.ptr())->tp_name));
  }
  static std::string type() { return "str | collections.abc.Callable | Module"; }
};

/** The parts that Python's objects copy themselves (finish_stack). */
template <>
struct PythonOption<Prototype> {
  static py::object give(const Prototype&) { return py::none(); }
  static void take(Prototype&, const py::handle& value, const std::string& name) {
    if (!value.is_none() && !py::isinstance<Module>(value)) refuse_option(name, type(), value);
  }
  static std::string type() { return "Module"; }
};

namespace {

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
    return half_of(layer).attr("__dict__")["activation"](x).template cast<Tensor>();
  });
}

/** PyTorch's values of an activation: a name, a module, or a function. */
template <class M>
void set_activation(const py::object& self, M& layer, const py::object& given) {
  const py::dict attributes = self.attr("__dict__");
  if (py::isinstance<Module>(given)) return add_child(self, "activation", given);
  Activation option = layer.options().activation();
  PythonOption<Activation>::take(option, given, "attribute 'activation'");
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
        if (const auto module = own.own_module("activation")) return python_half(self, module);
        const py::dict attributes = self.attr("__dict__");
        if (attributes.contains("activation")) return attributes["activation"];
        const Activation option = own.options().activation();
        const auto* named = std::get_if<std::string>(&option);
        return named ? function_named(*named) : py::cast(std::get<ActivationFunction>(option));
      },
      [](const py::object& self, const py::object& given) { set_activation(self, self.cast<M&>(), given); });
  return layer;
}

const CallArgument tensor(const char* name) {
  return {name, "ocl._C.Tensor"};
}
const CallArgument optional_tensor(const char* name) {
  return {name, "ocl._C.Tensor | None", "None"};
}
const CallArgument flag(const char* name, const char* standard = "False") {
  return {name, "bool | None", standard};
}

/** The copies of the layer, and what PyTorch's stacks have under "norm" where there is none. */
template <class M>
void finish_stack(const py::object& self, M& stack, const ConstructorArguments* arguments) {
  if (!arguments) return;
  const py::object layers = python_half(self, stack.own_module("layers")),
                   deepcopy = py::module_::import("copy").attr("deepcopy");
  for (std::int64_t i = 0; i < stack.options().num_layers(); ++i)
    layers.attr("append")(deepcopy((*arguments)[0]));
  if (!take_child(self, "norm", (*arguments)["norm"])) self.attr("__dict__")["norm"] = py::none();
}

void finish_transformer(const py::object& self, Transformer& transformer,
                        const ConstructorArguments* arguments) {
  if (!arguments) return;
  const py::handle activation = (*arguments)["activation"];
  for (const char* stack : {"encoder", "decoder"}) {
    const bool is_custom = take_child(self, stack, (*arguments)[std::string("custom_") + stack]);
    if (!activation || py::isinstance<py::str>(activation) || is_custom) continue;
    for (const py::handle layer : python_half(self, transformer.own_module(stack)).attr("layers"))
      layer.attr("activation") = py::module_::import("copy").attr("deepcopy")(activation);
  }
}

void bind_transformer_layers(py::module_& m) {
  auto encoder_layer = bind_layer<TransformerEncoderLayer>(
      m, "TransformerEncoderLayer",
      "Attention of a sequence to itself and a feed-forward net, each with a residual and layer norm.");
  def_call<TransformerEncoderLayer>(
      encoder_layer, {tensor("src"), optional_tensor("src_mask"), optional_tensor("src_key_padding_mask"),
                      flag("is_causal")});
  auto decoder_layer = bind_layer<TransformerDecoderLayer>(
      m, "TransformerDecoderLayer",
      "As TransformerEncoderLayer, with attention to the encoder's output between.");
  def_call<TransformerDecoderLayer>(
      decoder_layer,
      {tensor("tgt"), tensor("memory"), optional_tensor("tgt_mask"), optional_tensor("memory_mask"),
       optional_tensor("tgt_key_padding_mask"), optional_tensor("memory_key_padding_mask"),
       flag("tgt_is_causal"), flag("memory_is_causal")});
}

void bind_stacks(py::module_& m) {
  LayerClass<TransformerEncoder> encoder(m, "TransformerEncoder",
                                         "num_layers copies of a layer one after the other, and a last norm. "
                                         "enable_nested_tensor and mask_check "
                                         "are of no effect: there are no nested tensors here.",
                                         {"encoder_layer", "norm"}, &finish_stack<TransformerEncoder>);
  def_call<TransformerEncoder>(encoder, {tensor("src"), optional_tensor("mask"),
                                         optional_tensor("src_key_padding_mask"), flag("is_causal", "None")});
  LayerClass<TransformerDecoder> decoder(m, "TransformerDecoder",
                                         "num_layers copies of a layer one after the other, and a last norm.",
                                         {"decoder_layer", "norm"}, &finish_stack<TransformerDecoder>);
  def_call<TransformerDecoder>(
      decoder, {tensor("tgt"), tensor("memory"), optional_tensor("tgt_mask"), optional_tensor("memory_mask"),
                optional_tensor("tgt_key_padding_mask"), optional_tensor("memory_key_padding_mask"),
                flag("tgt_is_causal", "None"), flag("memory_is_causal")});
}

void bind_transformer(py::module_& m) {
  LayerClass<Transformer> transformer(
      m, "Transformer", "Encoder and decoder (Vaswani et al. 2017): `transformer(src, tgt)`.",
      {"num_encoder_layers", "num_decoder_layers", "dim_feedforward", "dropout", "activation",
       "custom_encoder", "custom_decoder", "layer_norm_eps", "norm_first", "bias"},
      &finish_transformer);
  def_call<Transformer>(
      transformer, {tensor("src"), tensor("tgt"), optional_tensor("src_mask"), optional_tensor("tgt_mask"),
                    optional_tensor("memory_mask"), optional_tensor("src_key_padding_mask"),
                    optional_tensor("tgt_key_padding_mask"), optional_tensor("memory_key_padding_mask"),
                    flag("src_is_causal", "None"), flag("tgt_is_causal", "None"), flag("memory_is_causal")});
  transformer.def("_reset_parameters", &Transformer::reset_parameters, WithoutLock())
      .def_static(
          "generate_square_subsequent_mask",
          [](std::int64_t sz, const std::optional<ocl::Device>& device,
             const std::optional<ocl::DType>& dtype) {
            return Transformer::generate_square_subsequent_mask(sz, device_or_default(device),
                                                                dtype.value_or(ocl::DType::float32));
          },
          py::arg("sz"), py::arg("device") = py::none(), py::arg("dtype") = py::none(), WithoutLock(),
          "[sz, sz] of 0 where a query may look, -inf above the diagonal.");
}

}  // namespace

void bind_transformer_modules(py::module_& m) {
  bind_transformer_layers(m);
  bind_stacks(m);
  bind_transformer(m);
}
