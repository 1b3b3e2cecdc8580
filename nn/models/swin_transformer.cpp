#include "nn/models/swin_transformer.h"

#include "autograd/ops/join.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/resample.h"
#include "nn/init.h"

namespace ocl::models {

using namespace swin_transformer;

namespace {

/** [..., H, W, C] -> [..., H / 2, W / 2, 4 C], rounded up: the places of each square of four side by side. */
Tensor squares(const Tensor& x) {
  const int rows = x.dim() - 3, columns = x.dim() - 2;
  const Tensor even = pad(x, {0, 0, 0, x.size(columns) % 2, 0, x.size(rows) % 2});
  const auto every_other = [&](std::int64_t row, std::int64_t column) {
    return slice(slice(even, rows, row, even.size(rows), 2), columns, column, even.size(columns), 2);
  };
  return cat({every_other(0, 0), every_other(1, 0), every_other(0, 1), every_other(1, 1)}, -1);
}

SwinTransformerOptions swin(std::int64_t embed_dim, std::int64_t third_stage, double stochastic_depth_prob) {
  const std::int64_t heads = embed_dim / 32;
  return SwinTransformerOptions()
      .embed_dim(embed_dim)
      .depths({2, 2, third_stage, 2})
      .num_heads({heads, 2 * heads, 4 * heads, 8 * heads})
      .window_size({7, 7})
      .stochastic_depth_prob(stochastic_depth_prob);
}

SwinTransformerOptions second(SwinTransformerOptions options) {
  return options.window_size({8, 8}).version(2);
}

}  // namespace

PatchMerging::PatchMerging(const PatchMergingOptions& o) : Composed(o) {
  compose([&] {
    add<Linear>("reduction", LinearOptions(4 * o.dim(), 2 * o.dim()).bias(false));
    register_module("norm", o.norm_layer()(4 * o.dim()));
  });
}

Tensor PatchMerging::forward(const Tensor& x) {
  return reduction(norm(squares(x)));
}

PatchMergingV2::PatchMergingV2(const PatchMergingOptions& o) : Composed(o) {
  compose([&] {
    add<Linear>("reduction", LinearOptions(4 * o.dim(), 2 * o.dim()).bias(false));
    register_module("norm", o.norm_layer()(2 * o.dim()));
  });
}

Tensor PatchMergingV2::forward(const Tensor& x) {
  return norm(reduction(squares(x)));
}

template <class Block>
template <class Attention>
void SwinBlock<Block>::add_parts() {
  const swin_transformer::BlockOptions o = this->options();
  this->register_module("norm1", o.norm_layer()(o.dim()));
  this->template add<Attention>("attn", AttentionOptions()
                                            .dim(o.dim())
                                            .window_size(o.window_size())
                                            .shift_size(o.shift_size())
                                            .num_heads(o.num_heads())
                                            .attention_dropout(o.attention_dropout())
                                            .dropout(o.dropout()));
  this->template add<StochasticDepth>("stochastic_depth",
                                      StochasticDepthOptions(o.stochastic_depth_prob(), "row"));
  this->register_module("norm2", o.norm_layer()(o.dim()));
  const auto hidden = static_cast<std::int64_t>(static_cast<double>(o.dim()) * o.mlp_ratio());
  const auto net = make<MLP>(
      MLPOptions(o.dim(), {hidden, o.dim()}).activation_layer(activation<GELU>("GELU")).dropout(o.dropout()));
  init_mlp(*net);
  this->register_module("mlp", net);
}

SwinTransformerBlock::SwinTransformerBlock(const swin_transformer::BlockOptions& o) : SwinBlock(o) {
  compose([&] { add_parts<ShiftedWindowAttention>(); });
}

Tensor SwinTransformerBlock::forward(const Tensor& input) {
  const Tensor x = input + stochastic_depth(attn(norm1(input)));
  return x + stochastic_depth(mlp(norm2(x)));
}

SwinTransformerBlockV2::SwinTransformerBlockV2(const swin_transformer::BlockOptions& o) : SwinBlock(o) {
  compose([&] { add_parts<ShiftedWindowAttentionV2>(); });
}

Tensor SwinTransformerBlockV2::forward(const Tensor& input) {
  const Tensor x = input + stochastic_depth(norm1(attn(input)));
  return x + stochastic_depth(norm2(mlp(x)));
}

template <class Block, class Merging>
void SwinTransformer::add_features() {
  const SwinTransformerOptions o = options();
  const NormLayer norm_layer = or_default(o.norm_layer(), layer_norm());
  const Extents<2> patch{static_cast<int>(o.patch_size()[0]), static_cast<int>(o.patch_size()[1])};
  const auto layers = add<Sequential>("features");
  layers->append(make<Sequential>(make<Conv2d>(Conv2dOptions(3, o.embed_dim(), patch).stride(patch)),
                                  make<Permute>(PermuteOptions({0, 2, 3, 1})), norm_layer(o.embed_dim())));
  double total = 0, index = 0;
  for (const std::int64_t depth : o.depths()) total += static_cast<double>(depth);
  std::int64_t dim = o.embed_dim();
  for (std::size_t stage = 0; stage < o.depths().size(); ++stage) {
    const auto blocks = make<Sequential>();
    auto block = swin_transformer::BlockOptions()
                     .dim(dim)
                     .num_heads(o.num_heads()[stage])
                     .window_size(o.window_size())
                     .mlp_ratio(o.mlp_ratio())
                     .dropout(o.dropout())
                     .attention_dropout(o.attention_dropout())
                     .norm_layer(norm_layer);
    for (std::int64_t i = 0; i < o.depths()[stage]; ++i) {
      std::vector<std::int64_t> shift = o.window_size();
      for (std::int64_t& s : shift) s = i % 2 == 0 ? 0 : s / 2;
      block.shift_size(shift).stochastic_depth_prob(o.stochastic_depth_prob() * index++ / (total - 1));
      blocks->append(make<Block>(block));
    }
    layers->append(blocks);
    if (stage + 1 == o.depths().size()) break;
    layers->append(make<Merging>(PatchMergingOptions(dim).norm_layer(norm_layer)));
    dim *= 2;
  }
  register_module("norm", norm_layer(dim));
  add<Permute>("permute", PermuteOptions({0, 3, 1, 2}));
  add<AdaptiveAvgPool2d>("avgpool", 1);
  add<Flatten>("flatten", FlattenOptions().start_dim(1));
  add<Linear>("head", dim, o.num_classes());
}

SwinTransformer::SwinTransformer(const SwinTransformerOptions& o) : Composed(o) {
  compose([&] {
    dlprim::require(o.patch_size().size() == 2, "SwinTransformer: patch_size must have 2 entries, got ",
                    o.patch_size().size());
    dlprim::require(!o.depths().empty() && o.depths().size() == o.num_heads().size(),
                    "SwinTransformer: expected num_heads for each of depths");
    dlprim::require(o.version() == 1 || o.version() == 2, "SwinTransformer: version must be 1 or 2, got ",
                    o.version());
    if (o.version() == 1)
      add_features<SwinTransformerBlock, PatchMerging>();
    else
      add_features<SwinTransformerBlockV2, PatchMergingV2>();
    init_layers<Linear>(*this, [](Tensor& weight) { init::trunc_normal_(weight, 0, 0.02); });
  });
}

Tensor SwinTransformer::forward(const Tensor& x) {
  return head(flatten(avgpool(permute(norm(features(x))))));
}

const Variants<SwinTransformerOptions>& SwinTransformer::variants() {
  static const auto& all = *new Variants<SwinTransformerOptions>{
      {"swin_t", swin(96, 6, 0.2)},
      {"swin_s", swin(96, 18, 0.3)},
      {"swin_b", swin(128, 18, 0.5)},
      {"swin_v2_t", second(swin(96, 6, 0.2))},
      {"swin_v2_s", second(swin(96, 18, 0.3))},
      {"swin_v2_b", second(swin(128, 18, 0.5))},
  };
  return all;
}

}  // namespace ocl::models
