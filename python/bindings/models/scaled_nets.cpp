#include "model_class.h"
#include "nn/models/convnext.h"
#include "nn/models/efficientnet.h"
#include "nn/models/regnet.h"

/** Stages as tuples of their numbers, in the order of torchvision's configs. */
template <>
struct PythonOption<EfficientNetOptions::Stages> {
  using Row = std::tuple<bool, double, int, int, std::int64_t, std::int64_t, std::int64_t>;
  static py::object give(const EfficientNetOptions::Stages& stages) {
    py::list rows;
    for (const efficientnet::Stage& s : stages)
      rows.append(py::make_tuple(s.fused, s.expand_ratio, s.kernel, s.stride, s.input_channels,
                                 s.out_channels, s.num_layers));
    return py::tuple(rows);
  }
  static void take(EfficientNetOptions::Stages& option, const py::handle& value, const std::string& name) {
    std::vector<Row> rows;
    PythonOption<std::vector<Row>>::take(rows, value, name);
    option.clear();
    for (const Row& row : rows)
      option.push_back(std::apply([](auto... each) { return efficientnet::Stage{each...}; }, row));
  }
  static std::string type() { return "tuple[tuple[bool, float, int, int, int, int, int], ...]"; }
};
template <>
struct PythonOption<ConvNeXtOptions::Stages> {
  using Row = std::tuple<std::int64_t, std::optional<std::int64_t>, std::int64_t>;
  static py::object give(const ConvNeXtOptions::Stages& stages) {
    py::list rows;
    for (const CNBlockConfig& s : stages)
      rows.append(py::make_tuple(s.input_channels, s.out_channels, s.num_layers));
    return py::tuple(rows);
  }
  static void take(ConvNeXtOptions::Stages& option, const py::handle& value, const std::string& name) {
    std::vector<Row> rows;
    PythonOption<std::vector<Row>>::take(rows, value, name);
    option.clear();
    for (const Row& row : rows)
      option.push_back(std::apply([](auto... each) { return CNBlockConfig{each...}; }, row));
  }
  static std::string type() { return "tuple[tuple[int, int | None, int], ...]"; }
};

namespace {

void bind_efficientnet(py::module_& models) {
  py::module_ m = models.def_submodule("efficientnet");
  bind_composed<efficientnet::MBConv>(m, "MBConv", "An inverted residual with squeeze and excitation.");
  bind_composed<efficientnet::FusedMBConv>(m, "FusedMBConv",
                                           "As MBConv, with one convolution in place of the first two.");
  bind_composed<EfficientNet>(
      m, "EfficientNet",
      "EfficientNet: Rethinking Model Scaling (Tan and Le 2019), EfficientNetV2 (2021): [N, 3, H, W] -> "
      "[N, num_classes]. inverted_residual_setting: of each stage (fused, expand_ratio, kernel, stride, "
      "input_channels, out_channels, num_layers).");
  def_nets<EfficientNet>(m, "An EfficientNet (Tan and Le 2019, 2021), as torchvision's.");
}

void bind_regnet(py::module_& models) {
  py::module_ m = models.def_submodule("regnet");
  bind_composed<regnet::SimpleStemIN, Sequential>(m, "SimpleStemIN", "A 3x3 convolution of stride 2.");
  bind_composed<regnet::BottleneckTransform, Sequential>(
      m, "BottleneckTransform", "1x1, grouped 3x3 (with squeeze and excitation) and 1x1 convolutions.");
  auto block = bind_composed<regnet::ResBottleneckBlock>(
      m, "ResBottleneckBlock", "[N, width_in, H, W] -> [N, width_out, H / stride, W / stride].");
  def_optional_child(block, "proj");
  bind_composed<regnet::AnyStage, Sequential>(m, "AnyStage", "Blocks, of which the first strides.");
  bind_composed<RegNet>(m, "RegNet",
                        "Designing Network Design Spaces (Radosavovic et al. 2020): [N, 3, H, W] -> "
                        "[N, num_classes], from the paper's parameters of a design.");
  def_nets<RegNet>(m, "A RegNet (Radosavovic et al. 2020), as torchvision's.");
}

void bind_convnext(py::module_& models) {
  py::module_ m = models.def_submodule("convnext");
  m.attr("LayerNorm2d") = models.attr("LayerNorm2d");
  bind_composed<CNBlock>(m, "CNBlock", "[N, dim, H, W] -> the same.");
  bind_composed<ConvNeXt>(m, "ConvNeXt",
                          "A ConvNet for the 2020s (Liu et al. 2022): [N, 3, H, W] -> [N, num_classes]. "
                          "block_setting: of each stage (input_channels, out_channels, num_layers).");
  def_nets<ConvNeXt>(m, "A ConvNeXt (Liu et al. 2022), as torchvision's; pictures of 32 x 32 or more.");
}

}  // namespace

void bind_scaled_nets(py::module_& m) {
  bind_efficientnet(m);
  bind_regnet(m);
  bind_convnext(m);
}
