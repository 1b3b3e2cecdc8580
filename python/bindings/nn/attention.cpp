#include "module_class.h"

namespace {

using OptionalTensor = std::optional<Tensor>;

py::tuple attend(MultiheadAttention& self, const Tensor& query, const Tensor& key, const Tensor& value,
                 const OptionalTensor& key_padding_mask, bool need_weights, const OptionalTensor& attn_mask,
                 bool average_attn_weights, bool is_causal) {
  using Weights = MultiheadAttention::Weights;
  dlprim::require(!is_causal || attn_mask,
                  "MultiheadAttention: need attn_mask if specifying the is_causal hint");
  const Weights weights = !need_weights          ? Weights::none
                          : average_attn_weights ? Weights::averaged
                                                 : Weights::per_head;
  ocl::AttentionResult result;
  {
    const PythonUnlocked unlocked;
    result = self.forward(query, key, value,
                          {key_padding_mask.value_or(Tensor()), attn_mask.value_or(Tensor())}, weights);
  }
  return py::make_tuple(result.output,
                        result.weights.defined() ? py::cast(result.weights) : py::object(py::none()));
}

}  // namespace

void bind_attention_modules(py::module_& m) {
  LayerClass<NonDynamicallyQuantizableLinear, Linear>(m, "NonDynamicallyQuantizableLinear",
                                                      "The Linear at the end of MultiheadAttention.");
  LayerClass<MultiheadAttention>(
      m, "MultiheadAttention",
      "Attention of several heads; returns the output and, with need_weights, the weights, else None.")
      .def_property_readonly("head_dim",
                             [](const MultiheadAttention& self) {
                               const auto o = self.options();
                               return o.embed_dim() / o.num_heads();
                             })
      .def("forward", &attend, py::arg("query"), py::arg("key"), py::arg("value"),
           py::arg("key_padding_mask") = py::none(), py::arg("need_weights") = true,
           py::arg("attn_mask") = py::none(), py::arg("average_attn_weights") = true,
           py::arg("is_causal") = false);
  for (const char* name : {"bias_k", "bias_v"})
    m.attr("MultiheadAttention").attr(name) = py::none();  // not supported
}
