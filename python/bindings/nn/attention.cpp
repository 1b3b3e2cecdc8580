#include "module_class.h"

void bind_attention_modules(py::module_& m) {
  using OptionalTensor = std::optional<Tensor>;
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
      .def(
          "forward",
          [](MultiheadAttention& self, const Tensor& query, const Tensor& key, const Tensor& value,
             const OptionalTensor& key_padding_mask, bool need_weights, const OptionalTensor& attn_mask,
             bool average_attn_weights, bool is_causal) {
            Value result;
            {
              const PythonUnlocked unlocked;
              result = self.MultiheadAttention::call(
                  {{query, key, value, or_undefined(key_padding_mask), need_weights, or_undefined(attn_mask),
                    average_attn_weights, is_causal},
                   {}});
            }
            return python_of(result);
          },
          py::arg("query"), py::arg("key"), py::arg("value"), py::arg("key_padding_mask") = py::none(),
          py::arg("need_weights") = true, py::arg("attn_mask") = py::none(),
          py::arg("average_attn_weights") = true, py::arg("is_causal") = false);
  for (const char* name : {"bias_k", "bias_v"})
    m.attr("MultiheadAttention").attr(name) = py::none();  // not supported
}
