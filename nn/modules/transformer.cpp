#include "nn/modules/transformer.h"

#include <cmath>

#include "autograd/creation.h"
#include "autograd/ops/indexing.h"
#include "autograd/ops/pointwise.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

using dlprim::require;

template <class Layer>
Child<ModuleList> add_copies(Module& owner, const Layer& layer, std::int64_t count) {
  require(count >= 0, owner.name(), ": num_layers must not be negative, got ", count);
  const Child<ModuleList> layers = owner.add<ModuleList>("layers");
  for (std::int64_t i = 0; i < count; ++i) layers->append(layer.clone());
  return layers;
}

void add_norm_if(Module& owner, std::shared_ptr<Module> norm) {
  if (norm) owner.register_module("norm", std::move(norm));
}

Tensor normed(const Module& owner, const Tensor& x) {
  const std::shared_ptr<Module> norm = owner.own_module("norm");
  return norm ? (*norm)(x) : x;
}

/** The layers, each of which must be a Layer. */
template <class Layer>
std::vector<std::shared_ptr<Layer>> layers_of(const Child<ModuleList>& list) {
  std::vector<std::shared_ptr<Layer>> layers;
  for (const auto& [name, module] : list->named_children()) {
    layers.push_back(std::dynamic_pointer_cast<Layer>(module));
    require<TypeError>(layers.back() != nullptr, "layer ", name, " of a transformer is a ", module->name());
  }
  return layers;
}

}  // namespace

ActivationFunction activation_named(const std::string& name) {
  require(name == "relu" || name == "gelu", "activation should be relu/gelu, not ", name);
  if (name == "relu") return [](const Tensor& x) { return relu(x); };
  return [](const Tensor& x) { return gelu(x); };
}

TransformerLayer::TransformerLayer(std::int64_t d_model, std::int64_t nhead,
                                   const TransformerOptions& options)
    : activation(options.activation),
      norm_first(options.norm_first),
      d_model_(d_model),
      nhead_(nhead),
      options_(options) {}

Child<MultiheadAttention> TransformerLayer::add_attention(const std::string& name) {
  return add<MultiheadAttention>(name, MultiheadAttentionOptions(d_model_, nhead_)
                                           .dropout(options_.dropout)
                                           .bias(options_.bias)
                                           .batch_first(options_.batch_first));
}

void TransformerLayer::add_feed_forward() {
  linear1 = add<Linear>("linear1", LinearOptions(d_model_, options_.dim_feedforward).bias(options_.bias));
  dropout = add_dropout("dropout");
  linear2 = add<Linear>("linear2", LinearOptions(options_.dim_feedforward, d_model_).bias(options_.bias));
}

Child<LayerNorm> TransformerLayer::add_norm(const std::string& name) {
  return add<LayerNorm>(
      name, LayerNormOptions({d_model_}).eps(options_.layer_norm_eps).bias(options_.bias));
}

Child<Dropout> TransformerLayer::add_dropout(const std::string& name) {
  return add<Dropout>(name, options_.dropout);
}

template <class Block>
Tensor TransformerLayer::residual(const Tensor& x, const Child<LayerNorm>& norm, Block block) const {
  return norm_first ? x + block(norm(x)) : norm(x + block(x));
}

Tensor TransformerLayer::attend(const Child<MultiheadAttention>& attention, const Tensor& x,
                                const Tensor& memory, const TransformerMasks& masks) const {
  require(!masks.is_causal || masks.attn_mask.defined(), name(),
          ": need attn_mask if specifying the is_causal hint");
  return attention
      ->forward(x, memory, memory, {masks.key_padding_mask, masks.attn_mask},
                MultiheadAttention::Weights::none)
      .output;
}

Tensor TransformerLayer::feed_forward(const Tensor& x) const {
  const Tensor hidden = linear1(x);
  const std::shared_ptr<Module> module = own_module("activation");
  return linear2(dropout(module ? (*module)(hidden) : activation(hidden)));
}

TransformerOptions TransformerLayer::options_now() const {
  TransformerOptions options = options_;
  options.activation = activation;
  options.norm_first = norm_first;
  return options;
}

template <class Layer>
std::shared_ptr<Layer> TransformerLayer::with_values(std::shared_ptr<Layer> copy) const {
  if (const std::shared_ptr<Module> module = own_module("activation"))
    copy->register_module("activation", module);
  copy->load_state_dict(state_dict());
  copy->train(is_training());
  const Tensor& like = self_attn->out_proj->weight;
  copy->to(like.device());
  copy->to(like.dtype());
  return copy;
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerOptions& options)
    : TransformerLayer(d_model, nhead, options) {
  self_attn = add_attention("self_attn");
  add_feed_forward();
  norm1 = add_norm("norm1");
  norm2 = add_norm("norm2");
  dropout1 = add_dropout("dropout1");
  dropout2 = add_dropout("dropout2");
}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const TransformerMasks& masks) {
  const Tensor x =
      residual(src, norm1, [&](const Tensor& t) { return dropout1(attend(self_attn, t, t, masks)); });
  return residual(x, norm2, [&](const Tensor& t) { return dropout2(feed_forward(t)); });
}

std::shared_ptr<TransformerEncoderLayer> TransformerEncoderLayer::clone() const {
  return with_values(std::make_shared<TransformerEncoderLayer>(d_model_, nhead_, options_now()));
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerOptions& options)
    : TransformerLayer(d_model, nhead, options) {
  self_attn = add_attention("self_attn");
  multihead_attn = add_attention("multihead_attn");
  add_feed_forward();
  norm1 = add_norm("norm1");
  norm2 = add_norm("norm2");
  norm3 = add_norm("norm3");
  dropout1 = add_dropout("dropout1");
  dropout2 = add_dropout("dropout2");
  dropout3 = add_dropout("dropout3");
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory,
                                        const TransformerMasks& tgt_masks,
                                        const TransformerMasks& memory_masks) {
  Tensor x =
      residual(tgt, norm1, [&](const Tensor& t) { return dropout1(attend(self_attn, t, t, tgt_masks)); });
  x = residual(x, norm2,
               [&](const Tensor& t) { return dropout2(attend(multihead_attn, t, memory, memory_masks)); });
  return residual(x, norm3, [&](const Tensor& t) { return dropout3(feed_forward(t)); });
}

std::shared_ptr<TransformerDecoderLayer> TransformerDecoderLayer::clone() const {
  return with_values(std::make_shared<TransformerDecoderLayer>(d_model_, nhead_, options_now()));
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                                       std::shared_ptr<Module> norm)
    : layers(add_copies(*this, layer, num_layers)) {
  add_norm_if(*this, std::move(norm));
}

Tensor TransformerEncoder::forward(const Tensor& src, const TransformerMasks& masks) {
  Tensor x = src;
  for (const auto& layer : layers_of<TransformerEncoderLayer>(layers)) x = layer->forward(x, masks);
  return normed(*this, x);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                                       std::shared_ptr<Module> norm)
    : layers(add_copies(*this, layer, num_layers)) {
  add_norm_if(*this, std::move(norm));
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const TransformerMasks& tgt_masks,
                                   const TransformerMasks& memory_masks) {
  Tensor x = tgt;
  for (const auto& layer : layers_of<TransformerDecoderLayer>(layers))
    x = layer->forward(x, memory, tgt_masks, memory_masks);
  return normed(*this, x);
}

Transformer::Transformer(std::int64_t d_model, std::int64_t nhead, std::int64_t num_encoder_layers,
                         std::int64_t num_decoder_layers, const TransformerOptions& options)
    : d_model_(d_model), batch_first_(options.batch_first) {
  const auto norm = [&] {
    return std::make_shared<LayerNorm>(
        LayerNormOptions({d_model}).eps(options.layer_norm_eps).bias(options.bias));
  };
  encoder = add<TransformerEncoder>("encoder", TransformerEncoderLayer(d_model, nhead, options),
                                    num_encoder_layers, norm());
  decoder = add<TransformerDecoder>("decoder", TransformerDecoderLayer(d_model, nhead, options),
                                    num_decoder_layers, norm());
  for (Tensor parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& src_masks,
                            const TransformerMasks& tgt_masks, const TransformerMasks& memory_masks) {
  const int batch_dim = batch_first_ ? 0 : 1;
  require(src.dim() != 3 || (tgt.dim() == 3 && src.size(batch_dim) == tgt.size(batch_dim)),
          "Transformer: the batch number of src and tgt must be equal");
  require(src.size(-1) == d_model_ && tgt.size(-1) == d_model_,
          "Transformer: the feature number of src and tgt must be equal to d_model");
  return decoder->forward(tgt, encoder->forward(src, src_masks), tgt_masks, memory_masks);
}

Tensor Transformer::generate_square_subsequent_mask(std::int64_t sz, const Device& device, DType dtype) {
  return triu(full({sz, sz}, -INFINITY, dtype, device), 1);
}

}  // namespace ocl::nn
