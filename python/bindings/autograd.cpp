#include "autograd/autograd.h"
#include "casters.h"
#include "collector.h"

using ocl::Tensor;
using ocl::TensorList;

namespace {

using OptionalTensors = std::vector<std::optional<Tensor>>;

TensorList undefined_for_none(const OptionalTensors& tensors) {
  TensorList result;
  for (const std::optional<Tensor>& tensor : tensors) result.push_back(tensor.value_or(Tensor()));
  return result;
}

OptionalTensors none_for_undefined(const TensorList& tensors) {
  OptionalTensors result;
  for (const Tensor& tensor : tensors)
    result.push_back(tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt);
  return result;
}

void bind_walks(py::module_& m) {
  m.def(
      "backward",
      [](const TensorList& tensors, const OptionalTensors& grad_tensors, std::optional<bool> retain_graph,
         bool create_graph, const TensorList& inputs) {
        ocl::backward(tensors, undefined_for_none(grad_tensors), retain_graph, create_graph, inputs);
      },
      py::arg("tensors"), py::arg("grad_tensors") = OptionalTensors(), py::arg("retain_graph") = py::none(),
      py::arg("create_graph") = false, py::arg("inputs") = TensorList(), WithoutLock());
  m.def(
      "grad",
      [](const TensorList& outputs, const TensorList& inputs, const OptionalTensors& grad_outputs,
         std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
        return none_for_undefined(ocl::autograd::grad(outputs, inputs, undefined_for_none(grad_outputs),
                                                      retain_graph, create_graph, allow_unused));
      },
      py::arg("outputs"), py::arg("inputs"), py::arg("grad_outputs") = OptionalTensors(),
      py::arg("retain_graph") = py::none(), py::arg("create_graph") = false, py::arg("allow_unused") = false,
      WithoutLock());
  m.def("_leads_beyond", &ocl::autograd::leads_beyond, py::arg("tensors"), py::arg("leaves"), WithoutLock());
  m.def(
      "gradcheck",
      [](const std::function<Tensor(const TensorList&)>& function, const TensorList& inputs, double eps,
         double atol, double rtol) { return ocl::autograd::gradcheck(function, inputs, eps, atol, rtol); },
      py::arg("function"), py::arg("inputs"), py::arg("eps") = 1e-6, py::arg("atol") = 1e-5,
      py::arg("rtol") = 1e-3);
}

// The parts of ocl.autograd.Function. A saved tensor is kept without its history: one that held its own
// node would never be freed.
void bind_function(py::module_& m) {
  py::class_<ocl::SavedTensor>(m, "_SavedTensor")
      .def(py::init<const Tensor&>())
      .def("unpack", [](const ocl::SavedTensor& saved) { return Tensor(saved.unpack()); })
      .def("input", &ocl::SavedTensor::input, py::arg("number"))
      .def("output", &ocl::SavedTensor::output, py::arg("number"));
  m.def(
      "_record_function",
      [](const std::string& name, const TensorList& inputs, const TensorList& outputs,
         const py::function& backward, bool saves_tensors) {
        ocl::autograd::record_function(
            name, inputs, outputs,
            [held = backward.ptr()](const TensorList& gradients) {
              const PythonLocked locked;
              return undefined_for_none(
                  object_of(held)(none_for_undefined(gradients)).cast<OptionalTensors>());
            },
            saves_tensors, foreign(backward));
      },
      py::arg("name"), py::arg("inputs"), py::arg("outputs"), py::arg("backward"), py::arg("saves_tensors"));
}

}  // namespace

void bind_autograd(py::module_& m) {
  m.def("is_grad_enabled", &ocl::grad_enabled);
  m.def("_set_grad_enabled", &ocl::set_grad_enabled);
  bind_walks(m);
  bind_function(m);
}
