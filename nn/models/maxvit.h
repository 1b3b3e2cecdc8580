#pragma once

#include "nn/models/blocks.h"

namespace ocl::models {
namespace maxvit {

using Size = std::vector<std::int64_t>;  // height and width

struct MBConvOptions {
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(double, expansion_ratio) = 4;
  OPTION(double, squeeze_ratio) = 0.25;
  OPTION(int, stride) = 1;
  OPTION(ActivationLayer, activation_layer) = activation<GELU>("GELU");
  OPTION(NormLayer, norm_layer) = batch_norm();
  OPTION(double, p_stochastic_dropout) = 0;
  OPTION_LIST(5, in_channels_, out_channels_, expansion_ratio_, squeeze_ratio_, stride_, activation_layer_,
              norm_layer_, p_stochastic_dropout_)
};
/** torchvision's MBConv of MaxVit: [N, in_channels, H, W] -> [N, out_channels, H / stride, W / stride]. */
class MBConv : public Composed<MBConv, MBConvOptions> {
 public:
  explicit MBConv(const MBConvOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Module> proj = child<Module>("proj"), stochastic_depth = child<Module>("stochastic_depth");
  Child<Sequential> layers = child<Sequential>("layers");
};

struct AttentionOptions {
  AttentionOptions(std::int64_t feat_dim = 0, std::int64_t head_dim = 1, std::int64_t max_seq_len = 0)
      : feat_dim_(feat_dim), head_dim_(head_dim), max_seq_len_(max_seq_len) {}
  OPTION(std::int64_t, feat_dim);
  OPTION(std::int64_t, head_dim);
  /** Places of a window, a square. */
  OPTION(std::int64_t, max_seq_len);
  OPTION_LIST(3, feat_dim_, head_dim_, max_seq_len_)
};
/** torchvision's RelativePositionalMultiHeadAttention: x [N, windows, max_seq_len, feat_dim] -> the same.
 * Throws ValueError unless head_dim divides feat_dim. */
class RelativePositionalMultiHeadAttention
    : public Composed<RelativePositionalMultiHeadAttention, AttentionOptions> {
 public:
  explicit RelativePositionalMultiHeadAttention(const AttentionOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Tensor relative_position_bias_table;  // [(2 side - 1)^2, heads]
  Tensor relative_position_index;       // int64 [max_seq_len, max_seq_len]
  Child<Linear> to_qkv = child<Linear>("to_qkv"), merge = child<Linear>("merge");
};

struct SwapAxesOptions {
  SwapAxesOptions(std::int64_t a = 0, std::int64_t b = 0) : a_(a), b_(b) {}
  OPTION(std::int64_t, a);
  OPTION(std::int64_t, b);
  OPTION_LIST(2, a_, b_)
};
/** torchvision's SwapAxes. */
class SwapAxes : public Layer<SwapAxes, SwapAxesOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override { return transpose(x, options().a(), options().b()); }
  std::string extra_repr() const override { return ""; }
};

/** torchvision's WindowPartition: windows of p x p places, [N, C, H, W] -> [N, windows, p p, C]. */
class WindowPartition : public Layer<WindowPartition, NoOptions> {
 public:
  using Layer::Layer;
  using Module::forward;
  static Tensor forward(const Tensor& x, std::int64_t p);
};

/** torchvision's WindowDepartition, the way back: [N, windows, p p, C] -> [N, C, h p, w p]. */
class WindowDepartition : public Layer<WindowDepartition, NoOptions> {
 public:
  using Layer::Layer;
  using Module::forward;
  static Tensor forward(const Tensor& x, std::int64_t p, std::int64_t h_partitions,
                        std::int64_t w_partitions);
};

/** Options of PartitionAttentionLayer, and of all that MaxVitLayer and MaxVitBlock hold. */
struct PartitionOptions {
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, head_dim) = 0;
  OPTION(std::int64_t, partition_size) = 0;
  /** "window": squares of neighbours; "grid": as many places, spread over the picture. */
  OPTION(std::string, partition_type) = "window";
  OPTION(Size, grid_size) = { 0, 0 };
  OPTION(std::int64_t, mlp_ratio) = 4;
  OPTION(ActivationLayer, activation_layer) = activation<GELU>("GELU");
  OPTION(NormLayer, norm_layer) = layer_norm();
  OPTION(double, attention_dropout) = 0;
  OPTION(double, mlp_dropout) = 0;
  OPTION(double, p_stochastic_dropout) = 0;
  OPTION_LIST(5, in_channels_, head_dim_, partition_size_, partition_type_, grid_size_, mlp_ratio_,
              activation_layer_, norm_layer_, attention_dropout_, mlp_dropout_, p_stochastic_dropout_)
};
/** torchvision's PartitionAttentionLayer: x [N, in_channels, grid height, grid width] -> the same. Throws
 * ValueError for another partition_type, and for grids that do not divide. */
class PartitionAttentionLayer : public Composed<PartitionAttentionLayer, PartitionOptions> {
 public:
  explicit PartitionAttentionLayer(const PartitionOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Module> partition_op = child<Module>("partition_op"),
                departition_op = child<Module>("departition_op"),
                partition_swap = child<Module>("partition_swap"),
                departition_swap = child<Module>("departition_swap");
  Child<Sequential> attn_layer = child<Sequential>("attn_layer"), mlp_layer = child<Sequential>("mlp_layer");
  Child<StochasticDepth> stochastic_dropout = child<StochasticDepth>("stochastic_dropout");
};

/** The options of one layer: its convolution's options, and its attentions'. */
struct LayerOptions {
  MBConvOptions convolution;
  PartitionOptions attention;
};
/** torchvision's MaxVitLayer: an MBConv, attention within windows, attention over grids. */
class MaxVitLayer : public Composed<MaxVitLayer, NoOptions> {
 public:
  explicit MaxVitLayer(const NoOptions& = {}) {}
  explicit MaxVitLayer(const LayerOptions& options);
  Tensor forward(const Tensor& x) override { return layers(x); }

  Child<Sequential> layers = child<Sequential>("layers");
};

/** torchvision's MaxVitBlock: layers, of which the first halves the picture. */
class MaxVitBlock : public Composed<MaxVitBlock, NoOptions> {
 public:
  explicit MaxVitBlock(const NoOptions& = {}) {}
  /** `p_stochastic`: of each layer. */
  MaxVitBlock(LayerOptions options, const std::vector<double>& p_stochastic);
  Tensor forward(const Tensor& x) override;

  Child<ModuleList> layers = child<ModuleList>("layers");
};

}  // namespace maxvit

struct MaxVitOptions {
  using Sizes = std::vector<std::int64_t>;
  OPTION(Sizes, input_size) = { 224, 224 };
  OPTION(std::int64_t, stem_channels) = 0;
  OPTION(std::int64_t, partition_size) = 0;
  OPTION(Sizes, block_channels);
  OPTION(Sizes, block_layers);
  OPTION(std::int64_t, head_dim) = 0;
  OPTION(double, stochastic_depth_prob) = 0;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION(ActivationLayer, activation_layer) = activation<GELU>("GELU");
  OPTION(double, squeeze_ratio) = 0.25;
  OPTION(double, expansion_ratio) = 4;
  OPTION(std::int64_t, mlp_ratio) = 4;
  OPTION(double, mlp_dropout) = 0;
  OPTION(double, attention_dropout) = 0;
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION_LIST(7, input_size_, stem_channels_, partition_size_, block_channels_, block_layers_, head_dim_,
              stochastic_depth_prob_, norm_layer_, activation_layer_, squeeze_ratio_, expansion_ratio_,
              mlp_ratio_, mlp_dropout_, attention_dropout_, num_classes_)
};
/** torchvision.models.MaxVit: "MaxViT: Multi-Axis Vision Transformer" (Tu et al. 2022). Pictures of
 * input_size. Throws ValueError for an input_size that partitions do not divide. */
class MaxVit : public Composed<MaxVit, MaxVitOptions> {
 public:
  explicit MaxVit(const MaxVitOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<MaxVitOptions>& variants();

  Child<Sequential> stem = child<Sequential>("stem");
  Child<ModuleList> blocks = child<ModuleList>("blocks");
  Child<Sequential> classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
