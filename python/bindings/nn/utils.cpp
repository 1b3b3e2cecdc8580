#include "module_class.h"

namespace {

/** One tensor, or any iterable of tensors. */
ocl::TensorList one_or_several(const py::object& tensors) {
  return py::isinstance<Tensor>(tensors) ? ocl::TensorList{tensors.cast<Tensor>()} : tensors_of(tensors);
}

}  // namespace

void bind_utils(py::module_& parent) {
  py::module_ m = parent.def_submodule("_utils", "Helpers around training.");
  m.def(
      "get_total_norm",
      [](const py::object& tensors, double norm_type, bool error_if_nonfinite) {
        return utils::get_total_norm(one_or_several(tensors), norm_type, error_if_nonfinite);
      },
      py::arg("tensors"), py::arg("norm_type") = 2.0, py::arg("error_if_nonfinite") = false,
      "The norm of all elements of all tensors together.");
  m.def(
      "clip_grads_with_norm_",
      [](const py::object& parameters, double max_norm, const Tensor& total_norm) {
        utils::clip_grads_with_norm_(one_or_several(parameters), max_norm, total_norm);
      },
      py::arg("parameters"), py::arg("max_norm"), py::arg("total_norm"),
      "Multiplies the gradients by min(1, max_norm / (total_norm + 1e-6)).");
  m.def(
      "clip_grad_norm_",
      [](const py::object& parameters, double max_norm, double norm_type, bool error_if_nonfinite) -> Tensor {
        return utils::clip_grad_norm_(one_or_several(parameters), max_norm, norm_type, error_if_nonfinite);
      },
      py::arg("parameters"), py::arg("max_norm"), py::arg("norm_type") = 2.0,
      py::arg("error_if_nonfinite") = false,
      "Scales the gradients down together so that their norm is at most max_norm; returns the norm that they "
      "had. Does not wait, unless error_if_nonfinite is set.");
  m.def(
      "clip_grad_value_",
      [](const py::object& parameters, double clip_value) {
        utils::clip_grad_value_(one_or_several(parameters), clip_value);
      },
      py::arg("parameters"), py::arg("clip_value"),
      "Holds every element of the gradients between -clip_value and clip_value.");
}
