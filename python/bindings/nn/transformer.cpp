#include "module_class.h"

namespace {

using OptionalTensor = std::optional<Tensor>;

/** What PyTorch takes as an activation: a name, a module, or a function. */
template <class Layer>
void set_activation(Layer& layer, const py::object& activation) {
  if (py::isinstance<Module>(activation))
    layer.register_module("activation", activation.cast<std::shared_ptr<Module>>());
  else if (py::isinstance<py::str>(activation))
    layer.activation = activation_named(activation.cast<std::string>());
  else if (!activation.is_none())
    layer.activation = activation.cast<ActivationFunction>();
}

/** The bindings that both layers share. */
template <class Layer>
auto bind_layer(py::module_& m, const char* name, const char* doc) {
  return ModuleClass<Layer>(m, name, doc)
      .def(py::init([](std::int64_t d_model, std::int64_t nhead, std::int64_t dim_feedforward, double dropout,
                       const py::object& activation, double layer_norm_eps, bool batch_first, bool norm_first,
                       bool bias, const std::optional<ocl::Device>& device,
                       const std::optional<ocl::DType>& dtype) {
             TransformerOptions options;
             options.dim_feedforward = dim_feedforward;
             options.dropout = dropout;
             options.layer_norm_eps = layer_norm_eps;
             options.batch_first = batch_first;
             options.norm_first = norm_first;
             options.bias = bias;
             auto layer = std::make_shared<Layer>(d_model, nhead, options);
             set_activation(*layer, activation);
             if (device) layer->to(*device);
             if (dtype) layer->to(*dtype);
             return layer;
           }),
           py::arg("d_model"), py::arg("nhead"), py::arg("dim_feedforward") = 2048, py::arg("dropout") = 0.1,
           py::arg("activation") = "relu", py::arg("layer_norm_eps") = 1e-5, py::arg("batch_first") = false,
           py::arg("norm_first") = false, py::arg("bias") = true, py::arg("device") = py::none(),
           py::arg("dtype") = py::none())
      .def_readwrite("norm_first", &Layer::norm_first)
      .def_property(
          "activation",
          [](const py::object& self) -> py::object {
            const auto& layer = self.cast<const Layer&>();
            if (const auto module = layer.own_module("activation"))
              return python_half(self, "activation", module);
            return py::cast(layer.activation);
          },
          [](Layer& self, const py::object& activation) { set_activation(self, activation); })
      .def("__deepcopy__", [](const py::object& self, const py::dict&) {
        if (!py::type::of(self).is(py::type::of<Layer>()))
          throw ocl::TypeError("a subclass of a transformer's layer needs a __deepcopy__ of its own");
        return self.cast<const Layer&>().clone();
      });
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
