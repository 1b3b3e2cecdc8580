#include "autograd/ops/attention.h"
#include "operator_binder.h"

using ocl::Tensor;

void bind_attention(const OperatorBinder& bind) {
  bind.free(
      "scaled_dot_product_attention",
      [](const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& attn_mask,
         double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) {
        return ocl::scaled_dot_product_attention(
            query, key, value, {or_none(attn_mask), dropout_p, is_causal, scale, enable_gqa});
      },
      py::arg("query"), py::arg("key"), py::arg("value"), py::arg("attn_mask") = py::none(),
      py::arg("dropout_p") = 0.0, py::arg("is_causal") = false, py::kw_only(), py::arg("scale") = py::none(),
      py::arg("enable_gqa") = false);
}
