#include "module_class.h"

namespace {

template <class M>
void bind_loss_of_three(py::module_& m, const char* name, const std::array<const char*, 3>& inputs,
                        const char* documentation) {
  constexpr const char* type = "ocl._C.Tensor";
  LayerClass<M> bound(m, name, documentation);
  def_call<M>(bound, {{inputs[0], type}, {inputs[1], type}, {inputs[2], type}});
}

}  // namespace

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
  LayerClass<PoissonNLLLoss, Loss>(m, "PoissonNLLLoss", "Negative log likelihood of Poisson variables.");
  LayerClass<HingeEmbeddingLoss, Loss>(
      m, "HingeEmbeddingLoss", "Distances of similar pairs, and what those of others lack to margin.");
  LayerClass<SoftMarginLoss, Loss>(m, "SoftMarginLoss", "log(1 + exp(-target input)).");
  LayerClass<MultiMarginLoss, Loss>(m, "MultiMarginLoss", "Hinge loss of scores and classes.");
  LayerClass<MultiLabelMarginLoss, Loss>(m, "MultiLabelMarginLoss",
                                         "Hinge loss of scores and several classes a row.");
  LayerClass<MultiLabelSoftMarginLoss, Loss>(m, "MultiLabelSoftMarginLoss",
                                             "Binary cross entropy of logits, averaged over classes.");
  bind_loss_of_three<GaussianNLLLoss>(m, "GaussianNLLLoss", {"input", "target", "var"},
                                      "Negative log likelihood of normal variables.");
  bind_loss_of_three<MarginRankingLoss>(m, "MarginRankingLoss", {"input1", "input2", "target"},
                                        "Hinge loss of which of two inputs should be larger.");
  bind_loss_of_three<CosineEmbeddingLoss>(m, "CosineEmbeddingLoss", {"input1", "input2", "target"},
                                          "Cosines of pairs that should be alike or not.");
  bind_loss_of_three<TripletMarginLoss>(m, "TripletMarginLoss", {"anchor", "positive", "negative"},
                                        "Hinge loss of the distances of an anchor from two others.");
}
