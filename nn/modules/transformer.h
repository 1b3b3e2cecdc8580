#pragma once

#include <functional>

#include "nn/modules/attention.h"
#include "nn/modules/basic.h"
#include "nn/modules/container.h"
#include "nn/modules/norm.h"

namespace ocl::nn {

using ActivationFunction = std::function<Tensor(const Tensor&)>;

/** "relu" or "gelu". Throws ValueError. */
ActivationFunction activation_named(const std::string& name);

/** What the layers of a transformer take beside d_model and nhead, by PyTorch's names. */
struct TransformerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  ActivationFunction activation = activation_named("relu");
  double layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, bias = true;
};

/** What hides keys of one attention: see MultiheadAttention::Masks. is_causal: a hint that attn_mask is the
 * causal one, which must be given. */
struct TransformerMasks {
  Tensor attn_mask, key_padding_mask;
  bool is_causal = false;
};

/** What the layers of encoder and decoder share. */
class TransformerLayer : public Module {
 public:
  Child<MultiheadAttention> self_attn;
  Child<Linear> linear1, linear2;
  Child<LayerNorm> norm1, norm2;
  Child<Dropout> dropout, dropout1, dropout2;
  /** Between linear1 and linear2; a submodule "activation" takes its place. */
  ActivationFunction activation;
  bool norm_first;

 protected:
  TransformerLayer(std::int64_t d_model, std::int64_t nhead, const TransformerOptions& options);
  Child<MultiheadAttention> add_attention(const std::string& name);
  void add_feed_forward();
  Child<LayerNorm> add_norm(const std::string& name);
  Child<Dropout> add_dropout(const std::string& name);

  /** x + block(x), normalised before the block or after the sum. */
  template <class Block>
  Tensor residual(const Tensor& x, const Child<LayerNorm>& norm, Block block) const;
  Tensor attend(const Child<MultiheadAttention>& attention, const Tensor& x, const Tensor& memory,
                const TransformerMasks& masks) const;
  Tensor feed_forward(const Tensor& x) const;
  /** A copy's values become this module's. */
  template <class Layer>
  std::shared_ptr<Layer> with_values(std::shared_ptr<Layer> copy) const;
  /** The options that a copy is made with: those given, and what has been set since. */
  TransformerOptions options_now() const;

  std::int64_t d_model_, nhead_;

 private:
  TransformerOptions options_;
};

/** torch.nn.TransformerEncoderLayer (Vaswani et al. 2017): attention of a sequence to itself and a
 * feed-forward net, each with a residual and layer norm. */
class TransformerEncoderLayer : public TransformerLayer {
 public:
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerOptions& options = {});
  /** src [S, N, d_model] ([N, S, d_model] with batch_first), or [S, d_model]. */
  Tensor forward(const Tensor& src, const TransformerMasks& masks);
  Tensor forward(const Tensor& src) override { return forward(src, {}); }
  std::string name() const override { return "TransformerEncoderLayer"; }
  /** A layer of its own with the same values. */
  std::shared_ptr<TransformerEncoderLayer> clone() const;
};

/** torch.nn.TransformerDecoderLayer: as the encoder's, with attention to `memory` between. */
class TransformerDecoderLayer : public TransformerLayer {
 public:
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerOptions& options = {});
  Tensor forward(const Tensor& tgt, const Tensor& memory, const TransformerMasks& tgt_masks = {},
                 const TransformerMasks& memory_masks = {});
  using Module::forward;
  std::string name() const override { return "TransformerDecoderLayer"; }
  std::shared_ptr<TransformerDecoderLayer> clone() const;

  Child<MultiheadAttention> multihead_attn;
  Child<LayerNorm> norm3;
  Child<Dropout> dropout3;
};

/** torch.nn.TransformerEncoder: num_layers copies of a layer one after the other, and a last norm. */
class TransformerEncoder : public Module {
 public:
  TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                     std::shared_ptr<Module> norm = nullptr);
  Tensor forward(const Tensor& src, const TransformerMasks& masks);
  Tensor forward(const Tensor& src) override { return forward(src, {}); }
  std::string name() const override { return "TransformerEncoder"; }

  Child<ModuleList> layers;
};

/** torch.nn.TransformerDecoder. */
class TransformerDecoder : public Module {
 public:
  TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                     std::shared_ptr<Module> norm = nullptr);
  Tensor forward(const Tensor& tgt, const Tensor& memory, const TransformerMasks& tgt_masks = {},
                 const TransformerMasks& memory_masks = {});
  using Module::forward;
  std::string name() const override { return "TransformerDecoder"; }

  Child<ModuleList> layers;
};

/** torch.nn.Transformer: `transformer.forward(src, tgt)`. */
class Transformer : public Module {
 public:
  explicit Transformer(std::int64_t d_model = 512, std::int64_t nhead = 8,
                       std::int64_t num_encoder_layers = 6, std::int64_t num_decoder_layers = 6,
                       const TransformerOptions& options = {});
  Tensor forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& src_masks = {},
                 const TransformerMasks& tgt_masks = {}, const TransformerMasks& memory_masks = {});
  using Module::forward;
  std::string name() const override { return "Transformer"; }

  Child<TransformerEncoder> encoder;
  Child<TransformerDecoder> decoder;

  /** [sz, sz] of 0 where a query may look, -inf above the diagonal. */
  static Tensor generate_square_subsequent_mask(std::int64_t sz, const Device& device = {},
                                                DType dtype = DType::float32);

 private:
  std::int64_t d_model_;
  bool batch_first_;
};

}  // namespace ocl::nn
