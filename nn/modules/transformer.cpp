#include "nn/modules/transformer.h"

#include <cmath>

#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/tensor/creation.h"
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

const std::vector<std::string> transformer_parameters{"src",
                                                      "tgt",
                                                      "src_mask",
                                                      "tgt_mask",
                                                      "memory_mask",
                                                      "src_key_padding_mask",
                                                      "tgt_key_padding_mask",
                                                      "memory_key_padding_mask",
                                                      "src_is_causal",
                                                      "tgt_is_causal",
                                                      "memory_is_causal"};

/** Two tensors, then the masks of `attentions`: of each kind all together. */
struct MaskedArguments {
  Tensor first, second;
  std::vector<TransformerMasks> masks;
};
MaskedArguments masked_arguments(const Module& module, const std::vector<std::string>& parameters,
                                 std::size_t attentions, const Arguments& arguments) {
  const Value::Sequence given = arguments.matched(module.name(), parameters);
  const auto what = [&](std::size_t i) { return parameters[i] + " of " + module.name(); };
  MaskedArguments all{given[0].tensor(what(0)), given[1].tensor(what(1)), {}};
  for (std::size_t i = 2; i < 2 + attentions; ++i) {
    const std::size_t padding = i + attentions, causal = padding + attentions;
    all.masks.push_back({given[i].tensor_or_none(what(i)), given[padding].tensor_or_none(what(padding)),
                         given[causal].flag_or(false, what(causal))});
  }
  return all;
}

DecoderArguments decoder_arguments(const Module& module, const Arguments& arguments) {
  const MaskedArguments given = masked_arguments(module, decoder_parameters, 2, arguments);
  return {given.first, given.second, given.masks[0], given.masks[1]};
}
Arguments decoder_arguments(const DecoderArguments& a) {
  return {{a.tgt, a.memory},
          {{"tgt_mask", a.tgt_masks.attn_mask},
           {"memory_mask", a.memory_masks.attn_mask},
           {"tgt_key_padding_mask", a.tgt_masks.key_padding_mask},
           {"memory_key_padding_mask", a.memory_masks.key_padding_mask},
           {"tgt_is_causal", a.tgt_masks.is_causal},
           {"memory_is_causal", a.memory_masks.is_causal}}};
}

}  // namespace

std::string repr_of(const Activation& activation) {
  const auto* name = std::get_if<std::string>(&activation);
  return name ? *name : "<function>";
}

std::string repr_of(const std::shared_ptr<Module>& module) {
  return module ? module->repr() : "None";
}

std::string repr_of(const Prototype& prototype) {
  return repr_of(prototype.module);
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

void TransformerStack::fill(const Prototype& layer, std::int64_t num_layers,
                            const std::shared_ptr<Module>& norm) {
  require(num_layers >= 0, "num_layers of a transformer must not be negative, got ", num_layers);
  for (std::int64_t i = 0; layer.module && i < num_layers; ++i) layers->append(layer.module->clone());
  if (norm) register_module("norm", norm);
}

Tensor TransformerStack::through_layers(Arguments arguments) const {
  for (const auto& layer : layers->entries()) {
    require<TypeError>(layer != nullptr, name(), ": expected modules for its layers, got None");
    arguments.positional[0] = (*layer)(arguments).tensor("the output of " + layer->name());
  }
  const Tensor& x = arguments.positional[0].tensor("the input of " + name());
  const std::shared_ptr<Module> norm = own_module("norm");
  return norm ? (*norm)(x) : x;
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderOptions& o) : Layer(o) {
  fill(o.encoder_layer(), o.num_layers(), o.norm());
  change_options([](auto& own) { own.encoder_layer({}).norm(nullptr); });
}

Tensor TransformerEncoder::forward(const Tensor& src, const TransformerMasks& masks) {
  return through_layers(encoder_arguments("src_mask", src, masks));
}

Value TransformerEncoder::call(const Arguments& arguments) {
  const auto [src, masks] = encoder_arguments(*this, "mask", arguments);
  return forward(src, masks);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderOptions& o) : Layer(o) {
  fill(o.decoder_layer(), o.num_layers(), o.norm());
  change_options([](auto& own) { own.decoder_layer({}).norm(nullptr); });
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const TransformerMasks& tgt_masks,
                                   const TransformerMasks& memory_masks) {
  return through_layers(decoder_arguments({tgt, memory, tgt_masks, memory_masks}));
}

Value TransformerDecoder::call(const Arguments& arguments) {
  const DecoderArguments a = decoder_arguments(*this, arguments);
  return forward(a.tgt, a.memory, a.tgt_masks, a.memory_masks);
}

Transformer::Transformer(const TransformerOptions& o) : Layer(o) {
  const auto norm = [&] {
    return make<LayerNorm>(LayerNormOptions({o.d_model()}).eps(o.layer_norm_eps()).bias(o.bias()));
  };
  const TransformerLayerOptions layer = TransformerLayerOptions(o.d_model(), o.nhead())
                                            .dim_feedforward(o.dim_feedforward())
                                            .dropout(o.dropout())
                                            .activation(o.activation())
                                            .layer_norm_eps(o.layer_norm_eps())
                                            .batch_first(o.batch_first())
                                            .norm_first(o.norm_first())
                                            .bias(o.bias());
  register_module("encoder", o.custom_encoder()
                                 ? o.custom_encoder()
                                 : make<TransformerEncoder>(
                                       TransformerEncoderOptions(make<TransformerEncoderLayer>(layer),
                                                                 o.num_encoder_layers())
                                           .norm(norm())));
  register_module("decoder", o.custom_decoder()
                                 ? o.custom_decoder()
                                 : make<TransformerDecoder>(
                                       TransformerDecoderOptions(make<TransformerDecoderLayer>(layer),
                                                                 o.num_decoder_layers())
                                           .norm(norm())));
  encoder = child<TransformerEncoder>("encoder");
  decoder = child<TransformerDecoder>("decoder");
  change_options([](auto& own) { own.custom_encoder(nullptr).custom_decoder(nullptr); });
  initialize();
}

void Transformer::reset_parameters() {
  for (Tensor parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& src_masks,
                            const TransformerMasks& tgt_masks, const TransformerMasks& memory_masks) {
  const TransformerOptions o = options();
  const int batch_dim = o.batch_first() ? 0 : 1;
  require(src.dim() != 3 || (tgt.dim() == 3 && src.size(batch_dim) == tgt.size(batch_dim)),
          "Transformer: the batch number of src and tgt must be equal");
  require(src.size(-1) == o.d_model() && tgt.size(-1) == o.d_model(),
          "Transformer: the feature number of src and tgt must be equal to d_model");
  const std::string what = "the output of Transformer's ";
  const Tensor memory = encoder(encoder_arguments("mask", src, src_masks)).tensor(what + "encoder");
  return decoder(decoder_arguments({tgt, memory, tgt_masks, memory_masks})).tensor(what + "decoder");
}

Value Transformer::call(const Arguments& arguments) {
  const MaskedArguments given = masked_arguments(*this, transformer_parameters, 3, arguments);
  return forward(given.first, given.second, given.masks[0], given.masks[1], given.masks[2]);
}

Tensor Transformer::generate_square_subsequent_mask(std::int64_t sz, const Device& device, DType dtype) {
  return triu(full({sz, sz}, -INFINITY, dtype, device), 1);
}

}  // namespace ocl::nn
