#include "model_class.h"
#include "nn/models/alexnet.h"
#include "nn/models/densenet.h"
#include "nn/models/squeezenet.h"
#include "nn/models/vgg.h"

namespace {

void bind_alexnet(py::module_& models) {
  py::module_ m = models.def_submodule("alexnet");
  bind_composed<AlexNet>(m, "AlexNet",
                         "One weird trick for parallelizing convolutional neural networks (Krizhevsky 2014): "
                         "[N, 3, H, W] -> [N, num_classes].");
  def_nets<AlexNet>(m, "AlexNet (Krizhevsky 2014), as torchvision's; pictures of 63 x 63 or more.");
}

/** The features as a submodule of Python's. */
void finish_vgg(const py::object& self, VGG&, const ConstructorArguments* arguments) {
  if (arguments) take_child(self, "features", (*arguments)["features"]);
}

void bind_vgg(py::module_& models) {
  py::module_ m = models.def_submodule("vgg");
  bind_composed<VGG>(m, "VGG",
                     "Very Deep Convolutional Networks for Large-Scale Image Recognition (Simonyan and "
                     "Zisserman 2014): features, which give [N, 512, H, W], and a classifier.",
                     {}, &finish_vgg);
  def_nets<VGG>(m, "A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.");
}

void bind_squeezenet(py::module_& models) {
  py::module_ m = models.def_submodule("squeezenet");
  bind_composed<Fire>(m, "Fire", "[N, inplanes, H, W] -> [N, expand1x1_planes + expand3x3_planes, H, W].");
  bind_composed<SqueezeNet>(m, "SqueezeNet",
                            "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters (Iandola et al. "
                            "2016): [N, 3, H, W] -> [N, num_classes].",
                            {"num_classes"});
  def_nets<SqueezeNet>(m,
                       "A SqueezeNet (Iandola et al. 2016), as torchvision's; pictures of 21 x 21 or more.");
}

void bind_densenet(py::module_& models) {
  py::module_ m = models.def_submodule("densenet");
  auto layer = bind_composed<DenseLayer>(m, "_DenseLayer", "growth_rate new channels from all before.",
                                         {"drop_rate", "memory_efficient"});
  def_call<DenseLayer>(layer, {{"input", "ocl._C.Tensor | list[ocl._C.Tensor]"}});
  bind_composed<DenseBlock, ModuleDict>(m, "_DenseBlock",
                                        "Layers each of which sees what all before it gave.");
  bind_composed<Transition, Sequential>(m, "_Transition", "Fewer channels, half the height and width.");
  bind_composed<DenseNet>(m, "DenseNet",
                          "Densely Connected Convolutional Networks (Huang et al. 2016): [N, 3, H, W] -> "
                          "[N, num_classes]. memory_efficient is of no effect.");
  def_nets<DenseNet>(m, "A DenseNet (Huang et al. 2016), as torchvision's; pictures of 29 x 29 or more.");
}

}  // namespace

void bind_plain_nets(py::module_& m) {
  bind_alexnet(m);
  bind_vgg(m);
  bind_squeezenet(m);
  bind_densenet(m);
}
