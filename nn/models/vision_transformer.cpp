#include "nn/models/vision_transformer.h"

#include <cmath>

#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "autograd/tensor/creation.h"
#include "nn/init.h"
#include "nn/module_scope.h"

namespace ocl::models {

using namespace vision_transformer;
using dlprim::require;

namespace {

void require_sequence(const Tensor& x) {
  require(x.dim() == 3, "Expected (batch_size, seq_length, hidden_dim) got ", x.shape());
}

/** Whether a token's output is made of that token alone, and nobody hears of the module's calls. */
bool works_on_single_tokens(const std::shared_ptr<Module>& module) {
  return module && module->computes_alone() && module->works_on_last_dimension();
}

VisionTransformerOptions base(std::int64_t patch_size) {
  return VisionTransformerOptions()
      .patch_size(patch_size)
      .num_layers(12)
      .num_heads(12)
      .hidden_dim(768)
      .mlp_dim(3072);
}
VisionTransformerOptions large(std::int64_t patch_size) {
  return VisionTransformerOptions()
      .patch_size(patch_size)
      .num_layers(24)
      .num_heads(16)
      .hidden_dim(1024)
      .mlp_dim(4096);
}
VisionTransformerOptions huge(std::int64_t patch_size) {
  return large(patch_size).num_layers(32).hidden_dim(1280).mlp_dim(5120);
}

}  // namespace

MLPBlock::MLPBlock(const MLPBlockOptions& o) : Composed(o) {
  compose([&] {
    append_mlp(*this, MLPOptions(o.in_dim(), {o.mlp_dim(), o.in_dim()})
                          .activation_layer(activation<GELU>("GELU"))
                          .dropout(o.dropout()));
    init_mlp(*this);
  });
}

EncoderBlock::EncoderBlock(const EncoderBlockOptions& o) : Composed(o) {
  compose([&] {
    const NormLayer norm = or_default(o.norm_layer(), layer_norm(1e-6));
    register_module("ln_1", norm(o.hidden_dim()));
    add<MultiheadAttention>("self_attention", MultiheadAttentionOptions(o.hidden_dim(), o.num_heads())
                                                  .dropout(o.attention_dropout())
                                                  .batch_first(true));
    add<Dropout>("dropout", o.dropout());
    register_module("ln_2", norm(o.hidden_dim()));
    add<MLPBlock>("mlp", MLPBlockOptions(o.hidden_dim(), o.mlp_dim(), o.dropout()));
  });
}

Tensor EncoderBlock::forward(const Tensor& x) {
  require_sequence(x);
  return first_tokens(x, x.size(1));
}

Tensor EncoderBlock::first_tokens(const Tensor& input, std::int64_t tokens) {
  const auto first = [&](const Tensor& all) {
    return tokens == all.size(1) ? all : narrow(all, 1, 0, tokens);
  };
  const Tensor normed = ln_1(input);
  const Value attended =
      self_attention(Arguments{{first(normed), normed, normed}, {{"need_weights", false}}});
  const Tensor x = dropout(attended.sequence().at(0).tensor("the output of attention")) + first(input);
  return x + mlp(ln_2(x));
}

bool EncoderBlock::can_leave_tokens_out() const {
  const auto attention = std::dynamic_pointer_cast<MultiheadAttention>(own_module("self_attention"));
  return is_own_class() && computes_alone() && attention && attention->is_own_class() &&
         attention->computes_alone() && works_on_single_tokens(own_module("dropout")) &&
         works_on_single_tokens(own_module("ln_2")) && works_on_single_tokens(own_module("mlp"));
}

Encoder::Encoder(const EncoderOptions& o) : Composed(o) {
  register_parameter("pos_embedding", pos_embedding, made({1, o.seq_length(), o.hidden_dim()}));
  compose([&] {
    const NormLayer norm = or_default(o.norm_layer(), layer_norm(1e-6));
    init::normal_(pos_embedding, 0, 0.02);
    add<Dropout>("dropout", o.dropout());
    const auto blocks = add<Sequential>("layers");
    for (std::int64_t i = 0; i < o.num_layers(); ++i)
      blocks->register_module("encoder_layer_" + std::to_string(i),
                              make<EncoderBlock>(EncoderBlockOptions()
                                                     .num_heads(o.num_heads())
                                                     .hidden_dim(o.hidden_dim())
                                                     .mlp_dim(o.mlp_dim())
                                                     .dropout(o.dropout())
                                                     .attention_dropout(o.attention_dropout())
                                                     .norm_layer(norm)));
    register_module("ln", norm(o.hidden_dim()));
  });
}

Tensor Encoder::forward(const Tensor& x) {
  require_sequence(x);
  return ln(layers(dropout(x + held(pos_embedding))));
}

Tensor Encoder::first_tokens(const Tensor& x, std::int64_t tokens) {
  const std::shared_ptr<Module> sequence = own_module("layers");
  const auto* listed = dynamic_cast<const Sequential*>(sequence.get());
  const ModulePointers blocks = listed && listed->is_own_class() ? listed->entries() : ModulePointers();
  const auto last = blocks.empty() ? nullptr : std::dynamic_pointer_cast<EncoderBlock>(blocks.back());
  if (!is_own_class() || !computes_alone() || !sequence->computes_alone() || !last ||
      !last->can_leave_tokens_out() || !works_on_single_tokens(own_module("ln")))
    return narrow((*this)(x), 1, 0, tokens);
  const auto whole = [&] { return x; };
  const ModuleScope entered(*this, whole);
  Tensor y = dropout(x + held(pos_embedding));
  {
    const ModuleScope entered_layers(*sequence, whole);
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) y = (*blocks[i])(y);
    const ModuleScope entered_last(*last, whole);
    y = last->first_tokens(y, tokens);
  }
  return ln(y);
}

VisionTransformer::VisionTransformer(const VisionTransformerOptions& o) : Composed(o) {
  register_parameter("class_token", class_token, made({1, 1, o.hidden_dim()}));
  compose([&] {
    require(o.patch_size() > 0 && o.image_size() % o.patch_size() == 0,
            "Input shape indivisible by patch size!");
    const std::int64_t side = o.image_size() / o.patch_size();
    init::zeros_(class_token);
    const auto patch = static_cast<int>(o.patch_size());
    const auto projection = add<Conv2d>("conv_proj", Conv2dOptions(3, o.hidden_dim(), patch).stride(patch));
    add<Encoder>("encoder", EncoderOptions()
                                .seq_length(side * side + 1)
                                .num_layers(o.num_layers())
                                .num_heads(o.num_heads())
                                .hidden_dim(o.hidden_dim())
                                .mlp_dim(o.mlp_dim())
                                .dropout(o.dropout())
                                .attention_dropout(o.attention_dropout())
                                .norm_layer(o.norm_layer()));
    const auto layers = add<Sequential>("heads");
    const auto narrow_normal = [](Tensor weight, std::int64_t fan_in) {
      init::trunc_normal_(weight, 0, std::sqrt(1 / static_cast<double>(fan_in)));
    };
    if (o.representation_size()) {
      const auto before = make<Linear>(o.hidden_dim(), *o.representation_size());
      narrow_normal(before->weight, o.hidden_dim());
      init::zeros_(before->bias);
      layers->register_module("pre_logits", before);
      layers->register_module("act", make<Tanh>());
    }
    const auto head = make<Linear>(o.representation_size().value_or(o.hidden_dim()), o.num_classes());
    layers->register_module("head", head);
    init::zeros_(head->weight);
    init::zeros_(head->bias);
    narrow_normal(projection->weight, 3 * o.patch_size() * o.patch_size());
    init::zeros_(projection->bias);
  });
}

Tensor VisionTransformer::forward(const Tensor& x) {
  const VisionTransformerOptions o = options();
  require(x.dim() == 4 && x.size(2) == o.image_size(), "Wrong image height! Expected ", o.image_size(),
          " but got a tensor of shape ", x.shape(), "!");
  require(x.size(3) == o.image_size(), "Wrong image width! Expected ", o.image_size(), " but got ", x.size(3),
          "!");
  const Tensor patches = permute(flatten(conv_proj(x), 2), {0, 2, 1});
  const Tensor token = expand(held(class_token), {x.size(0), -1, -1});
  const Tensor tokens = cat({token, patches}, 1);
  const auto own_encoder = std::dynamic_pointer_cast<Encoder>(own_module("encoder"));
  return heads(select(own_encoder ? own_encoder->first_tokens(tokens, 1) : encoder(tokens), 1, 0));
}

const Variants<VisionTransformerOptions>& VisionTransformer::variants() {
  static const auto& all = *new Variants<VisionTransformerOptions>{
      {"vit_b_16", base(16)},  {"vit_b_32", base(32)}, {"vit_l_16", large(16)},
      {"vit_l_32", large(32)}, {"vit_h_14", huge(14)},
  };
  return all;
}

}  // namespace ocl::models
