#include "nn/modules/transformer.h"

#include <cmath>

#include "autograd/creation.h"
#include "autograd/ops/indexing.h"
#include "autograd/ops/pointwise.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using dlprim::require;

ActivationFunction function_of(const Activation& activation) {
  if (const auto* function = std::get_if<ActivationFunction>(&activation)) return *function;
  const auto& name = std::get<std::string>(activation);
  require(name == "relu" || name == "gelu", "activation should be relu/gelu, not ", name);
  if (name == "relu") return [](const Tensor& x) { return relu(x); };
  return [](const Tensor& x) { return gelu(x); };
}

/** The arguments of an encoder or its layer, which call the mask differently. */
std::pair<Tensor, TransformerMasks> encoder_arguments(const Module& module, const std::string& mask,
                                                      const Arguments& arguments) {
  const Value::Sequence given =
      arguments.matched(module.name(), {"src", mask, "src_key_padding_mask", "is_causal"});
  const std::string of = " of " + module.name();
  return {given[0].tensor("src" + of),
          {given[1].tensor_or_none(mask + of), given[2].tensor_or_none("src_key_padding_mask" + of),
           given[3].flag_or(false, "is_causal" + of)}};
}
Arguments encoder_arguments(const std::string& mask, const Tensor& src, const TransformerMasks& masks) {
  return {{src},
          {{mask, masks.attn_mask},
           {"is_causal", masks.is_causal},
           {"src_key_padding_mask", masks.key_padding_mask}}};
}

struct DecoderArguments {
  Tensor tgt, memory;
  TransformerMasks tgt_masks, memory_masks;
};
const std::vector<std::string> decoder_parameters{"tgt",
                                                  "memory",
                                                  "tgt_mask",
                                                  "memory_mask",
                                                  "tgt_key_padding_mask",
                                                  "memory_key_padding_mask",
                                                  "tgt_is_causal",
                                                  "memory_is_causal"};

DecoderArguments decoder_arguments(const Module& module, const Arguments& arguments) {
  const Value::Sequence given = arguments.matched(module.name(), decoder_parameters);
  const auto what = [&](std::size_t i) { return decoder_parameters[i] + " of " + module.name(); };
  const auto masks = [&](std::size_t first) {
    return TransformerMasks{given[first].tensor_or_none(what(first)),
                            given[first + 2].tensor_or_none(what(first + 2)),
                            given[first + 4].flag_or(false, what(first + 4))};
  };
  return {given[0].tensor(what(0)), given[1].tensor(what(1)), masks(2), masks(3)};
}
Arguments decoder_arguments(const DecoderArguments& a) {
  return {{a.tgt, a.memory, a.tgt_masks.attn_mask, a.memory_masks.attn_mask, a.tgt_masks.key_padding_mask,
           a.memory_masks.key_padding_mask, a.tgt_masks.is_causal, a.memory_masks.is_causal},
          {}};
}

}  // namespace

std::string repr_of(const Activation& activation) {
  const auto* name = std::get_if<std::string>(&activation);
  return name ? *name : "<function>";
}

void TransformerLayer::substitute_activation(ActivationFunction function) {
  const std::lock_guard locked(mutex());
  substitute_ = std::move(function);
}

Child<MultiheadAttention> TransformerLayer::add_attention(const std::string& name,
                                                          const TransformerLayerOptions& o) {
  return add<MultiheadAttention>(name, MultiheadAttentionOptions(o.d_model(), o.nhead())
                                           .dropout(o.dropout())
                                           .bias(o.bias())
                                           .batch_first(o.batch_first()));
}

void TransformerLayer::add_feed_forward(const TransformerLayerOptions& o) {
  function_of(o.activation());  // refuses an unknown name
  linear1 = add<Linear>("linear1", LinearOptions(o.d_model(), o.dim_feedforward()).bias(o.bias()));
  dropout = add<Dropout>("dropout", o.dropout());
  linear2 = add<Linear>("linear2", LinearOptions(o.dim_feedforward(), o.d_model()).bias(o.bias()));
}

Child<LayerNorm> TransformerLayer::add_norm(const std::string& name, const TransformerLayerOptions& o) {
  return add<LayerNorm>(name, LayerNormOptions({o.d_model()}).eps(o.layer_norm_eps()).bias(o.bias()));
}

template <class Block>
Tensor TransformerLayer::residual(bool norm_first, const Tensor& x, const Child<LayerNorm>& norm,
                                  Block block) {
  return norm_first ? x + block(norm(x)) : norm(x + block(x));
}

Tensor TransformerLayer::attend(const Child<MultiheadAttention>& attention, const Tensor& x,
                                const Tensor& memory, const TransformerMasks& masks) {
  const Value result = attention(Arguments{{x, memory, memory},
                                           {{"attn_mask", masks.attn_mask},
                                            {"key_padding_mask", masks.key_padding_mask},
                                            {"need_weights", false},
                                            {"is_causal", masks.is_causal}}});
  return result.sequence().at(0).tensor("the output of attention");
}

Tensor TransformerLayer::feed_forward(const Activation& activation, const Tensor& x) const {
  const Tensor hidden = linear1(x);
  ActivationFunction substitute;
  {
    const std::lock_guard locked(mutex());
    substitute = substitute_;
  }
  const std::shared_ptr<Module> module = own_module("activation");
  return linear2(dropout(module       ? (*module)(hidden)
                         : substitute ? substitute(hidden)
                                      : function_of(activation)(hidden)));
}

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& o) : Layer(o) {
  self_attn = add_attention("self_attn", o);
  add_feed_forward(o);
  norm1 = add_norm("norm1", o);
  norm2 = add_norm("norm2", o);
  dropout1 = add<Dropout>("dropout1", o.dropout());
  dropout2 = add<Dropout>("dropout2", o.dropout());
}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const TransformerMasks& masks) {
  const TransformerEncoderLayerOptions o = options();
  const Tensor x = residual(o.norm_first(), src, norm1,
                            [&](const Tensor& t) { return dropout1(attend(self_attn, t, t, masks)); });
  return residual(o.norm_first(), x, norm2,
                  [&](const Tensor& t) { return dropout2(feed_forward(o.activation(), t)); });
}

Value TransformerEncoderLayer::call(const Arguments& arguments) {
  const auto [src, masks] = encoder_arguments(*this, "src_mask", arguments);
  return forward(src, masks);
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerDecoderLayerOptions& o) : Layer(o) {
  self_attn = add_attention("self_attn", o);
  multihead_attn = add_attention("multihead_attn", o);
  add_feed_forward(o);
  norm1 = add_norm("norm1", o);
  norm2 = add_norm("norm2", o);
  norm3 = add_norm("norm3", o);
  dropout1 = add<Dropout>("dropout1", o.dropout());
  dropout2 = add<Dropout>("dropout2", o.dropout());
  dropout3 = add<Dropout>("dropout3", o.dropout());
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory,
                                        const TransformerMasks& tgt_masks,
                                        const TransformerMasks& memory_masks) {
  const TransformerDecoderLayerOptions o = options();
  Tensor x = residual(o.norm_first(), tgt, norm1,
                      [&](const Tensor& t) { return dropout1(attend(self_attn, t, t, tgt_masks)); });
  x = residual(o.norm_first(), x, norm2,
               [&](const Tensor& t) { return dropout2(attend(multihead_attn, t, memory, memory_masks)); });
  return residual(o.norm_first(), x, norm3,
                  [&](const Tensor& t) { return dropout3(feed_forward(o.activation(), t)); });
}

Value TransformerDecoderLayer::call(const Arguments& arguments) {
  const DecoderArguments a = decoder_arguments(*this, arguments);
  return forward(a.tgt, a.memory, a.tgt_masks, a.memory_masks);
}

TransformerStack::TransformerStack(const Module& layer, std::int64_t num_layers,
                                   std::shared_ptr<Module> norm) {
  require(num_layers >= 0, "num_layers of a transformer must not be negative, got ", num_layers);
  for (std::int64_t i = 0; i < num_layers; ++i) layers->append(layer.clone());
  if (norm) register_module("norm", std::move(norm));
}

Tensor TransformerStack::through_layers(Arguments arguments) const {
  for (const auto& layer : layers->modules())
    arguments.positional[0] = (*layer)(arguments).tensor("the output of " + layer->name());
  const Tensor& x = arguments.positional[0].tensor("the input of " + name());
  const std::shared_ptr<Module> norm = own_module("norm");
  return norm ? (*norm)(x) : x;
}

Tensor TransformerEncoder::forward(const Tensor& src, const TransformerMasks& masks) {
  return through_layers(encoder_arguments("src_mask", src, masks));
}

Value TransformerEncoder::call(const Arguments& arguments) {
  const auto [src, masks] = encoder_arguments(*this, "mask", arguments);
  return forward(src, masks);
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const TransformerMasks& tgt_masks,
                                   const TransformerMasks& memory_masks) {
  return through_layers(decoder_arguments({tgt, memory, tgt_masks, memory_masks}));
}

Value TransformerDecoder::call(const Arguments& arguments) {
  const DecoderArguments a = decoder_arguments(*this, arguments);
  return forward(a.tgt, a.memory, a.tgt_masks, a.memory_masks);
}

Transformer::Transformer(const TransformerLayerOptions& o, std::int64_t num_encoder_layers,
                         std::int64_t num_decoder_layers)
    : options_(o) {
  const auto norm = [&] {
    return std::make_shared<LayerNorm>(
        LayerNormOptions({o.d_model()}).eps(o.layer_norm_eps()).bias(o.bias()));
  };
  encoder = add<TransformerEncoder>("encoder", TransformerEncoderLayer(o), num_encoder_layers, norm());
  decoder = add<TransformerDecoder>("decoder", TransformerDecoderLayer(o), num_decoder_layers, norm());
  for (Tensor parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& src_masks,
                            const TransformerMasks& tgt_masks, const TransformerMasks& memory_masks) {
  const int batch_dim = options_.batch_first() ? 0 : 1;
  require(src.dim() != 3 || (tgt.dim() == 3 && src.size(batch_dim) == tgt.size(batch_dim)),
          "Transformer: the batch number of src and tgt must be equal");
  require(src.size(-1) == options_.d_model() && tgt.size(-1) == options_.d_model(),
          "Transformer: the feature number of src and tgt must be equal to d_model");
  const std::string what = "the output of Transformer's ";
  const Tensor memory = encoder(encoder_arguments("mask", src, src_masks)).tensor(what + "encoder");
  return decoder(decoder_arguments({tgt, memory, tgt_masks, memory_masks})).tensor(what + "decoder");
}

Tensor Transformer::generate_square_subsequent_mask(std::int64_t sz, const Device& device, DType dtype) {
  return triu(full({sz, sz}, -INFINITY, dtype, device), 1);
}

}  // namespace ocl::nn
