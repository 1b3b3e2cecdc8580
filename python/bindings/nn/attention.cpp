#include "module_class.h"

void bind_attention_modules(py::module_& m) {
  LayerClass<NonDynamicallyQuantizableLinear, Linear>(m, "NonDynamicallyQuantizableLinear",
                                                      "The Linear at the end of MultiheadAttention.");
  LayerClass<MultiheadAttention> attention(
      m, "MultiheadAttention",
      "Attention of several heads::\n\n"
      "    attention = nn.MultiheadAttention(8, 2)\n"
      "    x = ocl.randn(5, 3, 8)  # steps, items, features\n"
      "    output, weights = attention(x, x, x)\n"
      "    output.sum().backward()\n\n"
      "Returns the output and, with need_weights, the weights, else None.");
  attention.def_property_readonly("head_dim", [](const MultiheadAttention& self) {
    const auto o = self.options();
    return o.embed_dim() / o.num_heads();
  });
  const char *tensor = "ocl._C.Tensor", *optional = "ocl._C.Tensor | None";
  def_call<MultiheadAttention>(attention,
                               {{"query", tensor},
                                {"key", tensor},
                                {"value", tensor},
                                {"key_padding_mask", optional, "None"},
                                {"need_weights", "bool", "True"},
                                {"attn_mask", optional, "None"},
                                {"average_attn_weights", "bool", "True"},
                                {"is_causal", "bool", "False"}},
                               "tuple[ocl._C.Tensor, ocl._C.Tensor | None]");
}
