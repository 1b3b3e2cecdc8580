#include "module_class.h"

using ocl::Reduction;

namespace {

using OptionalTensor = std::optional<Tensor>;

Tensor or_none(const OptionalTensor& tensor) {
  return tensor.value_or(Tensor());
}

}  // namespace

void bind_loss_modules(py::module_& m) {
  ModuleClass<Loss>(m, "Loss").def(
      "forward",
      [](Loss& self, const Tensor& input, const Tensor& target) { return self.forward(input, target); },
      py::arg("input"), py::arg("target"), WithoutLock());
  ModuleClass<CrossEntropyLoss, Loss>(m, "CrossEntropyLoss")
      .def(py::init([](const OptionalTensor& weight, std::int64_t ignore_index, Reduction reduction,
                       double label_smoothing) {
             return std::make_shared<CrossEntropyLoss>(or_none(weight), ignore_index, reduction,
                                                       label_smoothing);
           }),
           py::arg("weight") = py::none(), py::arg("ignore_index") = -100, py::arg("reduction") = "mean",
           py::arg("label_smoothing") = 0.0);
  ModuleClass<NLLLoss, Loss>(m, "NLLLoss")
      .def(py::init([](const OptionalTensor& weight, std::int64_t ignore_index, Reduction reduction) {
             return std::make_shared<NLLLoss>(or_none(weight), ignore_index, reduction);
           }),
           py::arg("weight") = py::none(), py::arg("ignore_index") = -100, py::arg("reduction") = "mean");
  ModuleClass<MSELoss, Loss>(m, "MSELoss").def(py::init<Reduction>(), py::arg("reduction") = "mean");
  ModuleClass<L1Loss, Loss>(m, "L1Loss").def(py::init<Reduction>(), py::arg("reduction") = "mean");
  ModuleClass<SmoothL1Loss, Loss>(m, "SmoothL1Loss")
      .def(py::init<Reduction, double>(), py::arg("reduction") = "mean", py::arg("beta") = 1.0);
  ModuleClass<HuberLoss, Loss>(m, "HuberLoss")
      .def(py::init<Reduction, double>(), py::arg("reduction") = "mean", py::arg("delta") = 1.0);
  ModuleClass<BCELoss, Loss>(m, "BCELoss")
      .def(py::init([](const OptionalTensor& weight, Reduction reduction) {
             return std::make_shared<BCELoss>(or_none(weight), reduction);
           }),
           py::arg("weight") = py::none(), py::arg("reduction") = "mean");
  ModuleClass<BCEWithLogitsLoss, Loss>(m, "BCEWithLogitsLoss")
      .def(py::init([](const OptionalTensor& weight, Reduction reduction, const OptionalTensor& pos_weight) {
             return std::make_shared<BCEWithLogitsLoss>(or_none(weight), reduction, or_none(pos_weight));
           }),
           py::arg("weight") = py::none(), py::arg("reduction") = "mean", py::arg("pos_weight") = py::none());
  ModuleClass<KLDivLoss, Loss>(m, "KLDivLoss")
      .def(py::init<std::string, bool>(), py::arg("reduction") = "mean", py::arg("log_target") = false);
}
