#include "autograd/ops/linalg.h"
#include "autograd/ops/einsum.h"
#include "autograd/tensor/precision.h"
#include "operator_binder.h"

using ocl::Tensor;

void bind_linalg(const OperatorBinder& bind) {
  bind.tensor().def("__matmul__", &ocl::matmul, py::is_operator(), WithoutLock());
  bind.tensor().def(
      "__matmul__",
      [](const Tensor& a, const py::array& array) {
        const Tensor b = tensor_beside(a, array);
        const PythonUnlocked unlocked;
        return ocl::matmul(a, b);
      },
      py::is_operator());
  bind.module().def(
      "einsum",
      [](const std::string& equation, const py::args& operands) {
        const bool listed = operands.size() == 1 && !py::isinstance<Tensor>(operands[0]);
        const auto tensors = listed ? operands[0].cast<ocl::TensorList>() : operands.cast<ocl::TensorList>();
        const PythonUnlocked without_lock;
        return ocl::einsum(equation, tensors);
      },
      py::arg("equation"), OperatorBinder::doc("einsum"));
  bind.module().def(
      "set_float32_matmul_precision", &ocl::set_float32_matmul_precision, py::arg("precision"),
      "How precisely products and convolutions of float32 tensors are computed: \"highest\" (as float32), "
      "\"high\" (operands may be rounded to TensorFloat-32) or \"medium\" (to bfloat16). Sums are float32 "
      "always. A device without faster arithmetic of lower precision computes as for \"highest\".");
  bind.module().def("get_float32_matmul_precision", &ocl::get_float32_matmul_precision,
                    "What set_float32_matmul_precision was given last; \"highest\" at first.");
}
