#include "autograd/ops/linalg.h"

#include <utility>
#include <variant>

#include "autograd/ops/einsum.h"
#include "autograd/tensor/precision.h"
#include "operator_binder.h"

using ocl::Tensor;

namespace {

using DimPairs = std::variant<std::int64_t, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>;

/** `dims`: how many of the last of `a` and the first of `b`, or both listed. */
Tensor tensordot(const Tensor& a, const Tensor& b, const DimPairs& dims) {
  if (const auto* listed = std::get_if<1>(&dims)) return ocl::tensordot(a, b, listed->first, listed->second);
  const std::int64_t count = std::get<0>(dims);
  dlprim::require(count >= 0, "tensordot: expected dims >= 0, but got dims=", count);
  dlprim::require(count <= a.dim() && count <= b.dim(),
                  "tensordot: expected at most as many dims as tensors of shapes ", a.shape(), " and ",
                  b.shape(), " have, got dims=", count);
  std::vector<std::int64_t> of_a, of_b;
  for (std::int64_t i = 0; i < count; ++i) {
    of_a.push_back(a.dim() - count + i);
    of_b.push_back(i);
  }
  return ocl::tensordot(a, b, of_a, of_b);
}

}  // namespace

void bind_linalg(const OperatorBinder& bind) {
  bind.tensor().def("__matmul__", &ocl::matmul, py::is_operator(), WithoutLock());
  bind.tensor().def(
      "__matmul__",
      [](const Tensor& a, const NumpyArray& array) {
        const Tensor b = tensor_beside(a, array);
        const PythonUnlocked unlocked;
        return ocl::matmul(a, b);
      },
      py::is_operator());
  bind.module().def(
      "einsum",
      [](const std::string& equation, const py::args& operands) {
        const ocl::TensorList tensors = listed_or_one_by_one(operands);
        const PythonUnlocked without_lock;
        return ocl::einsum(equation, tensors);
      },
      py::arg("equation"), OperatorBinder::doc("einsum"));
  bind.free("tensordot", &tensordot, py::arg("a"), py::arg("b"), py::arg("dims") = 2);
  bind.module().def(
      "set_float32_matmul_precision", &ocl::set_float32_matmul_precision, py::arg("precision"),
      "How precisely products and convolutions of float32 tensors are computed: \"highest\" (as float32), "
      "\"high\" (operands may be rounded to TensorFloat-32) or \"medium\" (to bfloat16). Sums are float32 "
      "always. A device without faster arithmetic of lower precision computes as for \"highest\".");
  bind.module().def("get_float32_matmul_precision", &ocl::get_float32_matmul_precision,
                    "What set_float32_matmul_precision was given last; \"highest\" at first.");
}
