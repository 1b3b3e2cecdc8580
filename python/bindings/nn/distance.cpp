#include "module_class.h"

void bind_distance_modules(py::module_& m) {
  LayerClass<PairwiseDistance> distance(m, "PairwiseDistance",
                                        "The p-norm of x1 - x2 + eps over the last dimension.", {"p"});
  def_call<PairwiseDistance>(distance, {{"x1", "ocl._C.Tensor"}, {"x2", "ocl._C.Tensor"}});
  // PyTorch's name of the attribute.
  distance.def_property(
      "norm", [](const PairwiseDistance& self) { return self.options().p(); },
      [](PairwiseDistance& self, double p) { self.change_options([p](auto& options) { options.p(p); }); });
  LayerClass<CosineSimilarity> cosine(m, "CosineSimilarity",
                                      "The cosine of the angle between the vectors along dim.");
  def_call<CosineSimilarity>(cosine, {{"x1", "ocl._C.Tensor"}, {"x2", "ocl._C.Tensor"}});
}
