#include "model_class.h"
#include "nn/models/googlenet.h"
#include "nn/models/inception.h"

namespace {

/** Binds forward of a net with auxiliary outputs, which gives them with the logits as a named tuple while it
 * trains with them. */
template <class Net, class Class>
void def_forward_with_outputs(Class& bound, const char* outputs) {
  bound.def(
      "forward",
      [outputs](Net& self, const py::args& positional, const py::kwargs& named) {
        const Arguments given = arguments_of(positional, named);
        Value value;
        {
          const PythonUnlocked unlocked;
          value = self.Net::call(given);
        }
        const py::object result = python_of(value);
        return value.is_tensor() ? result : py::module_::import("ocl.models.outputs").attr(outputs)(*result);
      },
      call_documentation({{"x", "ocl._C.Tensor"}}, "typing.Any").c_str());
}

void bind_googlenet(py::module_& models) {
  py::module_ m = models.def_submodule("googlenet");
  bind_composed<BasicConv2d>(m, "BasicConv2d", "A convolution, batch norm and ReLU.");
  bind_composed<googlenet::Inception>(m, "Inception", "Four branches, joined.");
  bind_composed<googlenet::InceptionAux>(m, "InceptionAux", "An auxiliary head.");
  auto net = bind_composed<GoogLeNet>(m, "GoogLeNet",
                                      "Going Deeper with Convolutions (Szegedy et al. 2014): [N, 3, H, W] -> "
                                      "[N, num_classes], while training with aux_logits GoogLeNetOutputs.",
                                      {"aux_logits", "transform_input"});
  for (const char* head : {"aux1", "aux2"}) def_optional_child(net, head);
  def_forward_with_outputs<GoogLeNet>(net, "GoogLeNetOutputs");
  def_nets<GoogLeNet>(m, "GoogLeNet (Szegedy et al. 2014), as torchvision's; pictures of 15 x 15 or more.");
}

void bind_inception(py::module_& models) {
  py::module_ m = models.def_submodule("inception");
  m.attr("BasicConv2d") = models.attr("googlenet").attr("BasicConv2d");
  bind_composed<inception::InceptionA>(m, "InceptionA", "1x1, 5x5, twice 3x3, and an average.");
  bind_composed<inception::InceptionB>(m, "InceptionB", "As InceptionA, with stride 2.");
  bind_composed<inception::InceptionC>(m, "InceptionC", "7x7 in two steps, once and twice.");
  bind_composed<inception::InceptionD>(m, "InceptionD", "As InceptionC, with stride 2.");
  bind_composed<inception::InceptionE>(m, "InceptionE", "3x3 in two steps side by side.");
  bind_composed<inception::InceptionAux>(m, "InceptionAux", "The auxiliary head.");
  auto net = bind_composed<Inception3>(
      m, "Inception3",
      "Rethinking the Inception Architecture for Computer Vision (Szegedy et al. 2015): [N, 3, H, W] -> "
      "[N, num_classes], while training with aux_logits InceptionOutputs.",
      {"aux_logits", "transform_input"});
  def_optional_child(net, "AuxLogits");
  def_forward_with_outputs<Inception3>(net, "InceptionOutputs");
  def_nets<Inception3>(
      m, "Inception v3 (Szegedy et al. 2015), as torchvision's; pictures of 299 x 299, or 75 x 75 and more.");
}

}  // namespace

void bind_inception_nets(py::module_& m) {
  bind_googlenet(m);
  bind_inception(m);
}
