#include "model_class.h"
#include "nn/models/maxvit.h"
#include "nn/models/swin_transformer.h"
#include "nn/models/vision_transformer.h"

namespace {

void bind_vision_transformer(py::module_& models) {
  py::module_ m = models.def_submodule("vision_transformer");
  bind_composed<vision_transformer::MLPBlock, Sequential>(m, "MLPBlock", "in_dim to mlp_dim and back.");
  bind_composed<vision_transformer::EncoderBlock>(
      m, "EncoderBlock", "Attention and an MLP, each after a norm: [N, S, hidden_dim] -> the same.",
      {"num_heads"});
  bind_composed<vision_transformer::Encoder>(m, "Encoder", "Positions, blocks and a norm.");
  bind_composed<VisionTransformer>(
      m, "VisionTransformer",
      "An Image is Worth 16x16 Words (Dosovitskiy et al. 2020): [N, 3, image_size, image_size] -> "
      "[N, num_classes].",
      {"image_size", "patch_size", "hidden_dim", "mlp_dim", "attention_dropout", "dropout", "num_classes",
       "representation_size"});
  def_nets<VisionTransformer>(m,
                              "A vision transformer (Dosovitskiy et al. 2020), as torchvision's; pictures of "
                              "224 x 224, or image_size.");
}

void bind_swin_transformer(py::module_& models) {
  using namespace swin_transformer;
  py::module_ m = models.def_submodule("swin_transformer");
  const std::set<std::string> at_call{"window_size", "shift_size", "num_heads", "attention_dropout",
                                      "dropout"};
  bind_composed<PatchMerging>(m, "PatchMerging", "[..., H, W, dim] -> [..., H / 2, W / 2, 2 dim].", {"dim"});
  bind_composed<PatchMergingV2>(m, "PatchMergingV2", "As PatchMerging, with the norm last.", {"dim"});
  bind_composed<ShiftedWindowAttention>(m, "ShiftedWindowAttention",
                                        "Attention within windows: [N, H, W, dim] -> the same.", at_call);
  bind_composed<ShiftedWindowAttentionV2>(
      m, "ShiftedWindowAttentionV2",
      "Scores are cosines, and a small net makes the bias of positions: [N, H, W, dim] -> the same.",
      at_call);
  bind_composed<SwinTransformerBlock>(m, "SwinTransformerBlock", "Norms before attention and MLP.");
  bind_composed<SwinTransformerBlockV2>(m, "SwinTransformerBlockV2", "Norms after attention and MLP.");
  bind_composed<SwinTransformer>(
      m, "SwinTransformer",
      "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows (Liu et al. 2021, version 2: "
      "2022): [N, 3, H, W] -> [N, num_classes].",
      {"num_classes"});
  def_nets<SwinTransformer>(m, "A swin transformer (Liu et al. 2021, 2022), as torchvision's.");
}

void bind_maxvit(py::module_& models) {
  using namespace maxvit;
  py::module_ m = models.def_submodule("maxvit");
  bind_composed<maxvit::MBConv>(m, "MBConv",
                                "[N, in_channels, H, W] -> [N, out_channels, H / stride, W / stride].");
  bind_composed<RelativePositionalMultiHeadAttention>(m, "RelativePositionalMultiHeadAttention",
                                                      "[N, windows, max_seq_len, feat_dim] -> the same.");
  LayerClass<SwapAxes>(m, "SwapAxes", "Two dimensions in each other's place.");
  LayerClass<WindowPartition>(m, "WindowPartition", "[N, C, H, W] -> [N, windows, p p, C].")
      .def(
          "forward",
          [](WindowPartition&, const Tensor& x, std::int64_t p) { return WindowPartition::forward(x, p); },
          py::arg("x"), py::arg("p"), WithoutLock());
  LayerClass<WindowDepartition>(m, "WindowDepartition", "[N, windows, p p, C] -> [N, C, H, W].")
      .def(
          "forward",
          [](WindowDepartition&, const Tensor& x, std::int64_t p, std::int64_t h_partitions,
             std::int64_t w_partitions) {
            return WindowDepartition::forward(x, p, h_partitions, w_partitions);
          },
          py::arg("x"), py::arg("p"), py::arg("h_partitions"), py::arg("w_partitions"), WithoutLock());
  bind_composed<PartitionAttentionLayer>(m, "PartitionAttentionLayer",
                                         "Attention within windows, or over a grid, and an MLP.",
                                         {"head_dim", "partition_type", "grid_size"});
  bind_composed<MaxVitLayer>(m, "MaxVitLayer",
                             "A convolution, attention within windows, attention over grids.");
  bind_composed<MaxVitBlock>(m, "MaxVitBlock", "Layers, of which the first halves the picture.");
  bind_composed<MaxVit>(m, "MaxVit",
                        "MaxViT: Multi-Axis Vision Transformer (Tu et al. 2022): [N, 3, *input_size] -> "
                        "[N, num_classes].",
                        {"partition_size"});
  def_nets<MaxVit>(m, "A MaxViT (Tu et al. 2022), as torchvision's; pictures of 224 x 224, or input_size.");
}

}  // namespace

void bind_transformer_nets(py::module_& m) {
  bind_vision_transformer(m);
  bind_swin_transformer(m);
  bind_maxvit(m);
}
