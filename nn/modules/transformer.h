#pragma once

#include <functional>

#include "nn/modules/attention.h"
#include "nn/modules/basic.h"
#include "nn/modules/container.h"
#include "nn/modules/norm.h"

namespace ocl::nn {

/** The function between the two linear layers: "relu", "gelu", or a function. */
using ActivationFunction = std::function<Tensor(const Tensor&)>;
struct Activation : std::variant<std::string, ActivationFunction> {
  using variant::variant;
};
std::string repr_of(const Activation& activation);
std::string repr_of(const std::shared_ptr<Module>& module);

/** `TransformerEncoderLayerOptions(512, 8).dropout(0).activation("gelu")`. */
struct TransformerLayerOptions {
  TransformerLayerOptions() = default;
  TransformerLayerOptions(std::int64_t d_model, std::int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  OPTION(std::int64_t, d_model) = 0;
  OPTION(std::int64_t, nhead) = 0;
  OPTION(std::int64_t, dim_feedforward) = 2048;
  OPTION(double, dropout) = 0.1;
  OPTION(Activation, activation) = "relu";
  OPTION(double, layer_norm_eps) = 1e-5;
  OPTION(bool, batch_first) = false;
  OPTION(bool, norm_first) = false;
  OPTION(bool, bias) = true;
  OPTION_LIST(2, d_model_, nhead_, dim_feedforward_, dropout_, activation_, layer_norm_eps_, batch_first_,
              norm_first_, bias_)
};
using TransformerEncoderLayerOptions = TransformerLayerOptions;
using TransformerDecoderLayerOptions = TransformerLayerOptions;

/** The masks that hide keys of one attention: see MultiheadAttention::Masks. is_causal: a hint that attn_mask
 * is the causal one, which must be given. */
struct TransformerMasks {
  Tensor attn_mask, key_padding_mask;
  bool is_causal = false;
};

/** The common part of the layers of encoder and decoder. Their options norm_first and activation count at
 * every call; a submodule "activation" takes the latter's place. */
class TransformerLayer : public Module {
 public:
  static constexpr bool takes_factory = true;

  /** Replaces the option in this layer, not in its copies, by a function of another language. */
  void substitute_activation(ActivationFunction function);

  Child<MultiheadAttention> self_attn;
  Child<Linear> linear1, linear2;
  Child<LayerNorm> norm1, norm2;
  Child<Dropout> dropout, dropout1, dropout2;

 protected:
  Child<MultiheadAttention> add_attention(const std::string& name, const TransformerLayerOptions& options);
  void add_feed_forward(const TransformerLayerOptions& options);
  Child<LayerNorm> add_norm(const std::string& name, const TransformerLayerOptions& options);

  /** x + block(x), normalised before the block or after the sum. */
  template <class Block>
  static Tensor residual(bool norm_first, const Tensor& x, const Child<LayerNorm>& norm, Block block);
  static Tensor attend(const Child<MultiheadAttention>& attention, const Tensor& x, const Tensor& memory,
                       const TransformerMasks& masks);
  Tensor feed_forward(const Activation& activation, const Tensor& x) const;

 private:
  ActivationFunction substitute_;
};

/** torch.nn.TransformerEncoderLayer (Vaswani et al. 2017): attention of a sequence to itself and a
 * feed-forward net, each with a residual and layer norm. */
class TransformerEncoderLayer
    : public Layer<TransformerEncoderLayer, TransformerEncoderLayerOptions, TransformerLayer> {
 public:
  HOLDER(TransformerEncoderLayer, Layer)
  explicit TransformerEncoderLayer(const TransformerEncoderLayerOptions& options);
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead)
      : TransformerEncoderLayer(TransformerEncoderLayerOptions(d_model, nhead)) {}
  /** src [S, N, d_model] ([N, S, d_model] with batch_first), or [S, d_model]. */
  Tensor forward(const Tensor& src, const TransformerMasks& masks);
  Tensor forward(const Tensor& src) override { return forward(src, {}); }
  /** (src, src_mask, src_key_padding_mask, is_causal). */
  Value call(const Arguments& arguments) override;
  std::string extra_repr() const override { return ""; }
};

/** torch.nn.TransformerDecoderLayer: as the encoder's, with attention to `memory` between. */
class TransformerDecoderLayer
    : public Layer<TransformerDecoderLayer, TransformerDecoderLayerOptions, TransformerLayer> {
 public:
  HOLDER(TransformerDecoderLayer, Layer)
  explicit TransformerDecoderLayer(const TransformerDecoderLayerOptions& options);
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead)
      : TransformerDecoderLayer(TransformerDecoderLayerOptions(d_model, nhead)) {}
  Tensor forward(const Tensor& tgt, const Tensor& memory, const TransformerMasks& tgt_masks = {},
                 const TransformerMasks& memory_masks = {});
  using Module::forward;
  /** (tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
   * memory_is_causal). */
  Value call(const Arguments& arguments) override;
  std::string extra_repr() const override { return ""; }

  Child<MultiheadAttention> multihead_attn;
  Child<LayerNorm> norm3;
  Child<Dropout> dropout3;
};

/** A module that others are copied from. */
struct Prototype {
  template <class M = Module>
  Prototype(std::shared_ptr<M> original = nullptr) : module(std::move(original)) {}
  std::shared_ptr<Module> module;
};
std::string repr_of(const Prototype& prototype);

/** `TransformerEncoderOptions(make<TransformerEncoderLayer>(512, 8), 6).norm(make<LayerNorm>(…))`: the layer
 * is copied, the norm taken. Without a layer the stack is empty, for its owner to fill. */
struct TransformerEncoderOptions {
  TransformerEncoderOptions() = default;
  TransformerEncoderOptions(Prototype encoder_layer, std::int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  OPTION(Prototype, encoder_layer);
  OPTION(std::int64_t, num_layers) = 0;
  OPTION(std::shared_ptr<Module>, norm) = nullptr;
  OPTION(bool, enable_nested_tensor) = true;  // of no effect: there are no nested tensors here
  OPTION(bool, mask_check) = true;            // likewise
  OPTION_LIST(2, encoder_layer_, num_layers_, norm_, enable_nested_tensor_, mask_check_)
};
struct TransformerDecoderOptions {
  TransformerDecoderOptions() = default;
  TransformerDecoderOptions(Prototype decoder_layer, std::int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  OPTION(Prototype, decoder_layer);
  OPTION(std::int64_t, num_layers) = 0;
  OPTION(std::shared_ptr<Module>, norm) = nullptr;
  OPTION_LIST(2, decoder_layer_, num_layers_, norm_)
};

/** The common part of TransformerEncoder and TransformerDecoder: copies of a layer, and a last norm or none.
 */
class TransformerStack : public Module {
 public:
  Child<ModuleList> layers = add<ModuleList>("layers");

 protected:
  void fill(const Prototype& layer, std::int64_t num_layers, const std::shared_ptr<Module>& norm);
  /** Through all layers, each called with `arguments`, the first of which is what the one before gave. */
  Tensor through_layers(Arguments arguments) const;
};

/** torch.nn.TransformerEncoder: num_layers copies of a layer one after the other, and a last norm. */
class TransformerEncoder : public Layer<TransformerEncoder, TransformerEncoderOptions, TransformerStack> {
 public:
  HOLDER(TransformerEncoder, Layer)
  explicit TransformerEncoder(const TransformerEncoderOptions& options);
  TransformerEncoder(Prototype encoder_layer, std::int64_t num_layers)
      : TransformerEncoder(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  Tensor forward(const Tensor& src, const TransformerMasks& masks);
  Tensor forward(const Tensor& src) override { return forward(src, {}); }
  /** (src, mask, src_key_padding_mask, is_causal). */
  Value call(const Arguments& arguments) override;
  std::string extra_repr() const override { return ""; }
};

/** torch.nn.TransformerDecoder. */
class TransformerDecoder : public Layer<TransformerDecoder, TransformerDecoderOptions, TransformerStack> {
 public:
  HOLDER(TransformerDecoder, Layer)
  explicit TransformerDecoder(const TransformerDecoderOptions& options);
  TransformerDecoder(Prototype decoder_layer, std::int64_t num_layers)
      : TransformerDecoder(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  Tensor forward(const Tensor& tgt, const Tensor& memory, const TransformerMasks& tgt_masks = {},
                 const TransformerMasks& memory_masks = {});
  using Module::forward;
  /** Like TransformerDecoderLayer's. */
  Value call(const Arguments& arguments) override;
  std::string extra_repr() const override { return ""; }
};

/** `TransformerOptions(512, 8).num_encoder_layers(3)`; those of its layers, and whole stacks of your own. */
struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(std::int64_t d_model, std::int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  OPTION(std::int64_t, d_model) = 512;
  OPTION(std::int64_t, nhead) = 8;
  OPTION(std::int64_t, num_encoder_layers) = 6;
  OPTION(std::int64_t, num_decoder_layers) = 6;
  OPTION(std::int64_t, dim_feedforward) = 2048;
  OPTION(double, dropout) = 0.1;
  OPTION(Activation, activation) = "relu";
  OPTION(std::shared_ptr<Module>, custom_encoder) = nullptr;
  OPTION(std::shared_ptr<Module>, custom_decoder) = nullptr;
  OPTION(double, layer_norm_eps) = 1e-5;
  OPTION(bool, batch_first) = false;
  OPTION(bool, norm_first) = false;
  OPTION(bool, bias) = true;
  OPTION_LIST(0, d_model_, nhead_, num_encoder_layers_, num_decoder_layers_, dim_feedforward_, dropout_,
              activation_, custom_encoder_, custom_decoder_, layer_norm_eps_, batch_first_, norm_first_,
              bias_)
};

/** torch.nn.Transformer (Vaswani et al. 2017): an encoder and a decoder, `transformer.forward(src, tgt)`. */
class Transformer : public Layer<Transformer, TransformerOptions> {
 public:
  HOLDER(Transformer, Layer)
  explicit Transformer(const TransformerOptions& options = {});
  Transformer(std::int64_t d_model, std::int64_t nhead) : Transformer(TransformerOptions(d_model, nhead)) {}
  Tensor forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& src_masks = {},
                 const TransformerMasks& tgt_masks = {}, const TransformerMasks& memory_masks = {});
  using Module::forward;
  /** (src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask,
   * memory_key_padding_mask, src_is_causal, tgt_is_causal, memory_is_causal). */
  Value call(const Arguments& arguments) override;
  std::string extra_repr() const override { return ""; }
  /** Glorot's for every parameter of two dimensions or more. */
  void reset_parameters();

  Child<TransformerEncoder> encoder;
  Child<TransformerDecoder> decoder;

  /** [sz, sz] of 0 where a query may look, -inf above the diagonal. */
  static Tensor generate_square_subsequent_mask(std::int64_t sz, const Device& device = {},
                                                DType dtype = DType::float32);
};

}  // namespace ocl::nn
