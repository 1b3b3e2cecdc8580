#include "nn/models/segmentation.h"

#include "model_class.h"

/** A dict. */
template <>
struct PythonOption<ReturnLayers> {
  static py::object give(const ReturnLayers& layers) {
    py::dict result;
    for (const auto& [name, output] : layers.names) result[py::str(name)] = output;
    return result;
  }
  static void take(ReturnLayers& option, const py::handle& value, const std::string& name) {
    if (!py::isinstance<py::dict>(value)) refuse_option(name, type(), value);
    option = {};
    for (const auto& [layer, output] : value.cast<py::dict>())
      option.names.emplace_back(py::str(layer).cast<std::string>(), py::str(output).cast<std::string>());
  }
  static std::string type() { return "dict[str, str]"; }
};

void bind_segmentation(py::module_& models) {
  using namespace ocl::models::segmentation;
  py::module_ m = models.def_submodule("segmentation",
                                       "Nets of semantic segmentation, as torchvision.models.segmentation.");
  auto layers = bind_composed<IntermediateLayerGetter, ModuleDict>(
      m, "IntermediateLayerGetter", "Modules one after another; what return_layers names of their outputs.",
      {"return_layers"});
  def_call<IntermediateLayerGetter>(layers, {{"x", "ocl._C.Tensor"}}, "dict[str, ocl._C.Tensor]");
  bind_composed<FCNHead, Sequential>(m, "FCNHead", "[N, in_channels, H, W] -> [N, channels, H, W].");
  bind_composed<ASPPConv, Sequential>(m, "ASPPConv", "A convolution with dilation, batch norm and ReLU.");
  bind_composed<ASPPPooling, Sequential>(m, "ASPPPooling", "The means of channels, mixed, at every place.");
  bind_composed<ASPP>(m, "ASPP", "Convolutions of several dilations side by side, and means, joined.");
  bind_composed<DeepLabHead, Sequential>(m, "DeepLabHead",
                                         "[N, in_channels, H, W] -> [N, num_classes, H, W].");
  auto net = bind_composed<DeepLabV3>(
      m, "DeepLabV3",
      "Rethinking Atrous Convolution for Semantic Image Segmentation (Chen et al. 2017): [N, 3, H, W] -> "
      "{\"out\": [N, num_classes, H, W]} and, with aux_loss, \"aux\" of that shape.");
  def_optional_child(net, "aux_classifier");
  def_call<DeepLabV3>(net, {{"x", "ocl._C.Tensor"}}, "dict[str, ocl._C.Tensor]");
  def_nets<DeepLabV3>(
      m,
      "DeepLabV3 (Chen et al. 2017) over a MobileNetV3, as torchvision's; it trains on 2 pictures and more. "
      "aux_loss: None is False, and True with weights. weights_backbone: the path of a file of "
      "mobilenet_v3_large.");
}
