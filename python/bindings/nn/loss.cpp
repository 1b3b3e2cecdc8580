#include "module_class.h"

void bind_loss_modules(py::module_& m) {
  ModuleClass<Loss, Module>(m, "_Loss", "Base of the losses.")
      .def(
          "forward",
          [](Loss& self, const Tensor& input, const Tensor& target) { return self.forward(input, target); },
          py::arg("input"), py::arg("target"), WithoutLock());
  LayerClass<CrossEntropyLoss, Loss>(m, "CrossEntropyLoss", "Cross entropy of logits and classes.");
  LayerClass<NLLLoss, Loss>(m, "NLLLoss", "Negative log likelihood of log probabilities and classes.");
  LayerClass<MSELoss, Loss>(m, "MSELoss", "Squared differences.");
  LayerClass<L1Loss, Loss>(m, "L1Loss", "Absolute differences.");
  LayerClass<SmoothL1Loss, Loss>(m, "SmoothL1Loss", "Squared where below beta, absolute above.");
  LayerClass<HuberLoss, Loss>(m, "HuberLoss", "Squared where below delta, absolute above, times delta.");
  LayerClass<BCELoss, Loss>(m, "BCELoss", "Binary cross entropy of probabilities.");
  LayerClass<BCEWithLogitsLoss, Loss>(m, "BCEWithLogitsLoss", "Binary cross entropy of logits.");
  LayerClass<KLDivLoss, Loss>(m, "KLDivLoss", "Kullback-Leibler divergence of log probabilities.");
}
