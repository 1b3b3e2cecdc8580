#pragma once

#include "nn/models/blocks.h"
#include "nn/modules/attention.h"

namespace ocl::models {
namespace vision_transformer {

struct MLPBlockOptions {
  MLPBlockOptions() = default;
  MLPBlockOptions(std::int64_t in_dim, std::int64_t mlp_dim, double dropout)
      : in_dim_(in_dim), mlp_dim_(mlp_dim), dropout_(dropout) {}
  OPTION(std::int64_t, in_dim) = 0;
  OPTION(std::int64_t, mlp_dim) = 0;
  OPTION(double, dropout) = 0;
  OPTION_LIST(3, in_dim_, mlp_dim_, dropout_)
};
/** torchvision's MLPBlock: in_dim to mlp_dim and back. */
class MLPBlock : public Composed<MLPBlock, MLPBlockOptions, Sequential> {
 public:
  explicit MLPBlock(const MLPBlockOptions& options = {});
  bool works_on_last_dimension() const override { return is_own_class() && parts_work_on_last_dimension(); }
};

struct EncoderBlockOptions {
  OPTION(std::int64_t, num_heads) = 0;
  OPTION(std::int64_t, hidden_dim) = 0;
  OPTION(std::int64_t, mlp_dim) = 0;
  OPTION(double, dropout) = 0;
  OPTION(double, attention_dropout) = 0;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(5, num_heads_, hidden_dim_, mlp_dim_, dropout_, attention_dropout_, norm_layer_)
};
/** torchvision's EncoderBlock: x [N, S, hidden_dim] -> the same; attention and an MLP, each after a norm. */
class EncoderBlock : public Composed<EncoderBlock, EncoderBlockOptions> {
 public:
  explicit EncoderBlock(const EncoderBlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
  /** The first `tokens` of forward's, [N, tokens, hidden_dim], which attend to all; the others are not
   * computed. */
  Tensor first_tokens(const Tensor& x, std::int64_t tokens);
  /** Whether first_tokens gives what forward does, and nobody can tell which of the two was called: no hooks,
   * no modules but those that a token's result needs no other tokens for. */
  bool can_leave_tokens_out() const;

  Child<Module> ln_1 = child<Module>("ln_1");
  Child<MultiheadAttention> self_attention = child<MultiheadAttention>("self_attention");
  Child<Dropout> dropout = child<Dropout>("dropout");
  Child<Module> ln_2 = child<Module>("ln_2"), mlp = child<Module>("mlp");
};

struct EncoderOptions {
  OPTION(std::int64_t, seq_length) = 0;
  OPTION(std::int64_t, num_layers) = 0;
  OPTION(std::int64_t, num_heads) = 0;
  OPTION(std::int64_t, hidden_dim) = 0;
  OPTION(std::int64_t, mlp_dim) = 0;
  OPTION(double, dropout) = 0;
  OPTION(double, attention_dropout) = 0;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(7, seq_length_, num_layers_, num_heads_, hidden_dim_, mlp_dim_, dropout_, attention_dropout_,
              norm_layer_)
};
/** torchvision's Encoder: x [N, seq_length, hidden_dim] -> the same; adds the positions, then num_layers
 * blocks and a norm. */
class Encoder : public Composed<Encoder, EncoderOptions> {
 public:
  explicit Encoder(const EncoderOptions& options = {});
  Tensor forward(const Tensor& x) override;
  /** The first `tokens` of forward's, [N, tokens, hidden_dim]: a head that reads a class token needs no
   * others of the last block, which is a twelfth of vit_b_16. Where somebody could tell, all are computed. */
  Tensor first_tokens(const Tensor& x, std::int64_t tokens);

  Tensor pos_embedding;  // [1, seq_length, hidden_dim]
  Child<Dropout> dropout = child<Dropout>("dropout");
  Child<Sequential> layers = child<Sequential>("layers");
  Child<Module> ln = child<Module>("ln");
};

}  // namespace vision_transformer

struct VisionTransformerOptions {
  OPTION(std::int64_t, image_size) = 224;
  OPTION(std::int64_t, patch_size) = 0;
  OPTION(std::int64_t, num_layers) = 0;
  OPTION(std::int64_t, num_heads) = 0;
  OPTION(std::int64_t, hidden_dim) = 0;
  OPTION(std::int64_t, mlp_dim) = 0;
  OPTION(double, dropout) = 0;
  OPTION(double, attention_dropout) = 0;
  OPTION(std::int64_t, num_classes) = 1000;
  /** Width of a layer with tanh before the last, if there is one. */
  OPTION(std::optional<std::int64_t>, representation_size) = std::nullopt;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(6, image_size_, patch_size_, num_layers_, num_heads_, hidden_dim_, mlp_dim_, dropout_,
              attention_dropout_, num_classes_, representation_size_, norm_layer_)
};
/** torchvision.models.VisionTransformer: "An Image is Worth 16x16 Words: Transformers for Image Recognition
 * at Scale" (Dosovitskiy et al. 2020). Pictures of image_size x image_size. Throws ValueError for others, and
 * for sizes that patches do not divide. */
class VisionTransformer : public Composed<VisionTransformer, VisionTransformerOptions> {
 public:
  explicit VisionTransformer(const VisionTransformerOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<VisionTransformerOptions>& variants();

  Tensor class_token;  // [1, 1, hidden_dim]
  Child<Module> conv_proj = child<Module>("conv_proj");
  Child<vision_transformer::Encoder> encoder = child<vision_transformer::Encoder>("encoder");
  Child<Sequential> heads = child<Sequential>("heads");
};

}  // namespace ocl::models
