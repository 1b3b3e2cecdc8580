#include "model_class.h"
#include "nn/models/mnasnet.h"
#include "nn/models/mobilenetv2.h"
#include "nn/models/mobilenetv3.h"
#include "nn/models/shufflenetv2.h"

namespace {

void bind_mobilenetv2(py::module_& models) {
  py::module_ m = models.def_submodule("mobilenetv2");
  bind_composed<mobilenetv2::InvertedResidual>(
      m, "InvertedResidual", "[N, inp, H, W] -> [N, oup, H / stride, W / stride].", {"stride"});
  bind_composed<MobileNetV2>(m, "MobileNetV2",
                             "MobileNetV2: Inverted Residuals and Linear Bottlenecks (Sandler et al. 2018): "
                             "[N, 3, H, W] -> [N, num_classes].");
  def_nets<MobileNetV2>(m, "MobileNetV2 (Sandler et al. 2018), as torchvision's.");
}

void bind_mobilenetv3(py::module_& models) {
  py::module_ m = models.def_submodule("mobilenetv3");
  bind_composed<mobilenetv3::InvertedResidual>(
      m, "InvertedResidual", "[N, input_channels, H, W] -> [N, out_channels, H / stride, W / stride].");
  bind_composed<MobileNetV3>(
      m, "MobileNetV3",
      "Searching for MobileNetV3 (Howard et al. 2019): [N, 3, H, W] -> [N, num_classes]. "
      "arch: \"large\" or \"small\".");
  def_nets<MobileNetV3>(m, "A MobileNetV3 (Howard et al. 2019), as torchvision's.");
}

void bind_mnasnet(py::module_& models) {
  py::module_ m = models.def_submodule("mnasnet");
  bind_composed<mnasnet::InvertedResidual>(m, "_InvertedResidual",
                                           "[N, in_ch, H, W] -> [N, out_ch, H / stride, W / stride].");
  bind_composed<MNASNet>(m, "MNASNet",
                         "MnasNet: Platform-Aware Neural Architecture Search for Mobile (Tan et al. 2018): "
                         "[N, 3, H, W] -> [N, num_classes]; alpha scales the channels.",
                         {"alpha", "num_classes"});
  def_nets<MNASNet>(m, "An MNASNet (Tan et al. 2018), as torchvision's.");
}

void bind_shufflenetv2(py::module_& models) {
  py::module_ m = models.def_submodule("shufflenetv2");
  bind_composed<shufflenetv2::InvertedResidual>(
      m, "InvertedResidual", "[N, inp, H, W] -> [N, oup, H / stride, W / stride].", {"stride"});
  bind_composed<ShuffleNetV2>(
      m, "ShuffleNetV2",
      "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design (Ma et "
      "al. 2018): [N, 3, H, W] -> [N, num_classes].");
  def_nets<ShuffleNetV2>(m, "A ShuffleNetV2 (Ma et al. 2018), as torchvision's.");
}

}  // namespace

void bind_mobile_nets(py::module_& m) {
  bind_mobilenetv2(m);
  bind_mobilenetv3(m);
  bind_mnasnet(m);
  bind_shufflenetv2(m);
}
