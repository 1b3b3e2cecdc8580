#include "module_class.h"

void bind_basic_modules(py::module_& m) {
  LayerClass<Linear>(m, "Linear", "[..., in_features] -> [..., out_features].");
  LayerClass<Bilinear> bilinear(m, "Bilinear",
                                "[..., in1_features] and [..., in2_features] -> [..., out_features].");
  def_call<Bilinear>(bilinear, {{"input1", "ocl._C.Tensor"}, {"input2", "ocl._C.Tensor"}});
  LayerClass<Dropout>(m, "Dropout",
                      "Zeroes elements with probability p and scales the rest, while training.");
  LayerClass<Dropout2d>(m, "Dropout2d",
                        "Drops whole channels of x [N, C, ...] with probability p, while training.");
  LayerClass<StochasticDepth>(
      m, "StochasticDepth",
      "Drops whole residual branches while training, as torchvision.ops.StochasticDepth.");
  LayerClass<Flatten>(m, "Flatten", "Joins dimensions start_dim to end_dim.");
  LayerClass<Unflatten>(m, "Unflatten",
                        "Splits dimension dim into unflattened_size, of which one may be -1.");
  LayerClass<Identity> identity(m, "Identity", "The input itself.");
  identity.def(
      "__init__",
      [](py::detail::value_and_holder& self, const py::args&, const py::kwargs&) {
        construct<Identity>(self);
      },
      py::detail::is_new_style_constructor(), py::prepend(), "Ignores its arguments, as PyTorch's.");
}
