#include "nn/models/resnet.h"

#include "model_class.h"

/** The class of the block itself. */
template <>
struct PythonOption<ResNetBlockKind> {
  static py::object give(ResNetBlockKind block) {
    return block == ResNetBlockKind::basic ? py::type::of<BasicBlock>() : py::type::of<Bottleneck>();
  }
  static void take(ResNetBlockKind& option, const py::handle& value, const std::string& name) {
    for (const ResNetBlockKind kind : {ResNetBlockKind::basic, ResNetBlockKind::bottleneck})
      if (value.is(give(kind))) {
        option = kind;
        return;
      }
    throw ocl::TypeError(dlprim::concat(name, " must be BasicBlock or Bottleneck, not ", shown(value)));
  }
  static std::string type() { return "type"; }
};

namespace {

/** The shortcut as a submodule of Python's. */
template <class Block>
void finish(const py::object& self, Block&, const ConstructorArguments* arguments) {
  if (arguments) take_child(self, "downsample", (*arguments)["downsample"]);
}

template <class Block>
void bind_block(py::module_& m, const char* name, const char* documentation) {
  auto block = bind_composed<Block>(m, name, documentation, {"stride"}, &finish<Block>);
  block.attr("expansion") = Block::expansion;
  def_optional_child(block, "downsample");
}

}  // namespace

void bind_resnet(py::module_& models) {
  py::module_ m = models.def_submodule("resnet", "Residual nets.");
  bind_block<BasicBlock>(m, "BasicBlock", "Two 3x3 convolutions and a shortcut.");
  bind_block<Bottleneck>(m, "Bottleneck", "A 3x3 convolution between two 1x1, and a shortcut.");
  bind_composed<ResNet>(m, "ResNet",
                        "Deep Residual Learning for Image Recognition (He et al. 2015): [N, 3, H, W] -> "
                        "[N, num_classes].",
                        {"groups"});
  def_nets<ResNet>(m,
                   "A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and "
                   "Komodakis 2016), as torchvision's.");
}
