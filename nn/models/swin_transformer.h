#pragma once

#include "nn/models/blocks.h"

namespace ocl::models {
namespace swin_transformer {

struct PatchMergingOptions {
  PatchMergingOptions(std::int64_t dim = 0) : dim_(dim) {}
  OPTION(std::int64_t, dim);
  OPTION(NormLayer, norm_layer) = layer_norm();
  OPTION_LIST(1, dim_, norm_layer_)
};
/** torchvision's PatchMerging: [..., H, W, dim] -> [..., H / 2, W / 2, 2 dim], rounded up. */
class PatchMerging : public Composed<PatchMerging, PatchMergingOptions> {
 public:
  explicit PatchMerging(const PatchMergingOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Linear> reduction = child<Linear>("reduction");
  Child<Module> norm = child<Module>("norm");
};
/** torchvision's PatchMergingV2: the norm comes last. */
class PatchMergingV2 : public Composed<PatchMergingV2, PatchMergingOptions> {
 public:
  explicit PatchMergingV2(const PatchMergingOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Linear> reduction = child<Linear>("reduction");
  Child<Module> norm = child<Module>("norm");
};

struct AttentionOptions {
  using Sizes = std::vector<std::int64_t>;
  OPTION(std::int64_t, dim) = 0;
  OPTION(Sizes, window_size) = { 0, 0 };
  OPTION(Sizes, shift_size) = { 0, 0 };
  OPTION(std::int64_t, num_heads) = 0;
  OPTION(bool, qkv_bias) = true;
  OPTION(bool, proj_bias) = true;
  OPTION(double, attention_dropout) = 0;
  OPTION(double, dropout) = 0;
  OPTION_LIST(4, dim_, window_size_, shift_size_, num_heads_, qkv_bias_, proj_bias_, attention_dropout_,
              dropout_)
};
/** The common part of both versions of ShiftedWindowAttention: x [N, H, W, dim] -> the same. */
template <class Attention>
class WindowAttention : public Composed<Attention, AttentionOptions> {
 public:
  Tensor relative_position_index;  // int64 [places * places] of a window
  Child<Linear> qkv = this->template child<Linear>("qkv"), proj = this->template child<Linear>("proj");

 protected:
  using Composed<Attention, AttentionOptions>::Composed;
  void add_projections();
  /** Attention within windows, between which `bias` [1, heads, places, places] is added to the scores.
   * `logit_scale`: of the second version, where not undefined. */
  Tensor attended(const Tensor& x, const Tensor& bias, const Tensor& logit_scale) const;
};

/** torchvision's ShiftedWindowAttention. Throws ValueError unless window_size and shift_size are pairs. */
class ShiftedWindowAttention : public WindowAttention<ShiftedWindowAttention> {
 public:
  explicit ShiftedWindowAttention(const AttentionOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Tensor relative_position_bias_table;  // [(2 height - 1) (2 width - 1), num_heads]
};
/** torchvision's ShiftedWindowAttentionV2: scores are cosines, and a small net makes the bias of positions.
 */
class ShiftedWindowAttentionV2 : public WindowAttention<ShiftedWindowAttentionV2> {
 public:
  explicit ShiftedWindowAttentionV2(const AttentionOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Tensor logit_scale;            // [num_heads, 1, 1]
  Tensor relative_coords_table;  // [1, 2 height - 1, 2 width - 1, 2]
  Child<Sequential> cpb_mlp = child<Sequential>("cpb_mlp");
};

struct BlockOptions {
  using Sizes = std::vector<std::int64_t>;
  OPTION(std::int64_t, dim) = 0;
  OPTION(std::int64_t, num_heads) = 0;
  OPTION(Sizes, window_size);
  OPTION(Sizes, shift_size);
  OPTION(double, mlp_ratio) = 4;
  OPTION(double, dropout) = 0;
  OPTION(double, attention_dropout) = 0;
  OPTION(double, stochastic_depth_prob) = 0;
  OPTION(NormLayer, norm_layer) = layer_norm();
  OPTION_LIST(4, dim_, num_heads_, window_size_, shift_size_, mlp_ratio_, dropout_, attention_dropout_,
              stochastic_depth_prob_, norm_layer_)
};
/** The common part of both versions of SwinTransformerBlock: x [N, H, W, dim] -> the same. */
template <class Block>
class SwinBlock : public Composed<Block, BlockOptions> {
 public:
  Child<Module> norm1 = this->template child<Module>("norm1"), attn = this->template child<Module>("attn");
  Child<StochasticDepth> stochastic_depth = this->template child<StochasticDepth>("stochastic_depth");
  Child<Module> norm2 = this->template child<Module>("norm2"), mlp = this->template child<Module>("mlp");

 protected:
  using Composed<Block, BlockOptions>::Composed;
  template <class Attention>
  void add_parts();
};

/** torchvision's SwinTransformerBlock: norms come before attention and MLP. */
class SwinTransformerBlock : public SwinBlock<SwinTransformerBlock> {
 public:
  explicit SwinTransformerBlock(const BlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
};
/** torchvision's SwinTransformerBlockV2: norms come after them. */
class SwinTransformerBlockV2 : public SwinBlock<SwinTransformerBlockV2> {
 public:
  explicit SwinTransformerBlockV2(const BlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
};

}  // namespace swin_transformer

struct SwinTransformerOptions {
  using Sizes = std::vector<std::int64_t>;
  OPTION(Sizes, patch_size) = { 4, 4 };
  OPTION(std::int64_t, embed_dim) = 0;
  OPTION(Sizes, depths);
  OPTION(Sizes, num_heads);
  OPTION(Sizes, window_size);
  OPTION(double, mlp_ratio) = 4;
  OPTION(double, dropout) = 0;
  OPTION(double, attention_dropout) = 0;
  OPTION(double, stochastic_depth_prob) = 0.1;
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(NormLayer, norm_layer) = nullptr;
  /** 1, or 2 for the blocks and patch mergings that end in V2. */
  OPTION(std::int64_t, version) = 1;
  OPTION_LIST(5, patch_size_, embed_dim_, depths_, num_heads_, window_size_, mlp_ratio_, dropout_,
              attention_dropout_, stochastic_depth_prob_, num_classes_, norm_layer_, version_)
};
/** torchvision.models.SwinTransformer: "Swin Transformer: Hierarchical Vision Transformer using Shifted
 * Windows" (Liu et al. 2021), "Swin Transformer V2" (Liu et al. 2022). Pictures of any size. */
class SwinTransformer : public Composed<SwinTransformer, SwinTransformerOptions> {
 public:
  explicit SwinTransformer(const SwinTransformerOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<SwinTransformerOptions>& variants();

  Child<Sequential> features = child<Sequential>("features");
  Child<Module> norm = child<Module>("norm");
  Child<Permute> permute = child<Permute>("permute");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Flatten> flatten = child<Flatten>("flatten");
  Child<Linear> head = child<Linear>("head");

 private:
  template <class Block, class Merging>
  void add_features();
};

}  // namespace ocl::models
