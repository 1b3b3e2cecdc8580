#include "module_class.h"

namespace {

using OptionalTensor = std::optional<Tensor>;

std::shared_ptr<MultiheadAttention> make_attention(std::int64_t embed_dim, std::int64_t num_heads,
                                                   double dropout, bool bias, bool add_bias_kv,
                                                   bool add_zero_attn, std::optional<std::int64_t> kdim,
                                                   std::optional<std::int64_t> vdim, bool batch_first) {
  dlprim::require(!add_bias_kv && !add_zero_attn,
                  "MultiheadAttention: add_bias_kv and add_zero_attn are not supported");
  return std::make_shared<MultiheadAttention>(
      embed_dim, num_heads, MultiheadAttention::Options{dropout, bias, kdim, vdim, batch_first});
}

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
  ModuleClass<NonDynamicallyQuantizableLinear, Linear>(m, "NonDynamicallyQuantizableLinear")
      .def(py::init<std::int64_t, std::int64_t, bool>(), py::arg("in_features"), py::arg("out_features"),
           py::arg("bias") = true);
  ModuleClass<MultiheadAttention>(
      m, "MultiheadAttention",
      "Attention of several heads; returns the output and, with need_weights, the weights, else None.")
      .def(py::init(&make_attention), py::arg("embed_dim"), py::arg("num_heads"), py::arg("dropout") = 0.0,
           py::arg("bias") = true, py::arg("add_bias_kv") = false, py::arg("add_zero_attn") = false,
           py::arg("kdim") = py::none(), py::arg("vdim") = py::none(), py::arg("batch_first") = false)
      .def("forward", &attend, py::arg("query"), py::arg("key"), py::arg("value"),
           py::arg("key_padding_mask") = py::none(), py::arg("need_weights") = true,
           py::arg("attn_mask") = py::none(), py::arg("average_attn_weights") = true,
           py::arg("is_causal") = false);
}
