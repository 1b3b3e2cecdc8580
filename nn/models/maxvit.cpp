#include "nn/models/maxvit.h"

#include <cmath>

#include "autograd/ops/join.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/softmax.h"
#include "nn/init.h"
#include "nn/models/windows.h"

namespace ocl::models {

using namespace maxvit;
using dlprim::require;

namespace {

/** The side that a convolution of stride 2 leaves of a picture. */
maxvit::Size halved(const maxvit::Size& size) {
  return {(size.at(0) - 1) / 2 + 1, (size.at(1) - 1) / 2 + 1};
}

/** Places along one side of a window that is a square. */
std::int64_t side_of(std::int64_t places) {
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(places)));
}

/** An integer argument of a call, which C++ hands on as it is. */
struct Partition {
  std::int64_t size, rows, columns;
};

Partition partition_of(const PartitionOptions& o) {
  const std::int64_t windows = o.grid_size()[0] / o.partition_size();
  const std::int64_t p = o.partition_type() == "window" ? o.partition_size() : windows;
  require(p > 0 && o.grid_size()[0] % p == 0 && o.grid_size()[1] % p == 0,
          "Grid size must be divisible by partition size. Got grid size of ", nn::repr_of(o.grid_size()),
          " and partition size of ", p);
  return {p, o.grid_size()[0] / p, o.grid_size()[1] / p};
}

}  // namespace

maxvit::MBConv::MBConv(const maxvit::MBConvOptions& o) : Composed(o) {
  compose([&] {
    if (o.stride() == 1 && o.in_channels() == o.out_channels()) {
      add<Identity>("proj");
    } else {
      const auto projection = add<Sequential>("proj");
      if (o.stride() == 2) projection->append(make<AvgPool2d>(AvgPool2dOptions(3).stride(2).padding(1)));
      projection->append(make<Conv2d>(o.in_channels(), o.out_channels(), 1));
    }
    if (o.p_stochastic_dropout() == 0)
      add<Identity>("stochastic_depth");
    else
      add<StochasticDepth>("stochastic_depth", StochasticDepthOptions(o.p_stochastic_dropout(), "row"));
    const auto share = [&](double ratio) {
      return static_cast<std::int64_t>(static_cast<double>(o.out_channels()) * ratio);
    };
    const std::int64_t middle = share(o.expansion_ratio());
    const auto conv = [&](std::int64_t in) {
      return Conv2dNormActivationOptions(in, middle)
          .norm_layer(o.norm_layer())
          .activation_layer(o.activation_layer())
          .inplace(std::nullopt);
    };
    add<Sequential>(
        "layers",
        Children{{"pre_norm", o.norm_layer()(o.in_channels())},
                 {"conv_a", make<Conv2dNormActivation>(conv(o.in_channels()).kernel_size(1))},
                 {"conv_b", make<Conv2dNormActivation>(conv(middle).stride(o.stride()).groups(middle))},
                 {"squeeze_excitation",
                  make<SqueezeExcitation>(SqueezeExcitationOptions(middle, share(o.squeeze_ratio()))
                                              .activation(models::activation<SiLU>("SiLU")))},
                 {"conv_c", make<Conv2d>(middle, o.out_channels(), 1)}});
  });
}

Tensor maxvit::MBConv::forward(const Tensor& x) {
  return proj(x) + stochastic_depth(layers(x));
}

RelativePositionalMultiHeadAttention::RelativePositionalMultiHeadAttention(const maxvit::AttentionOptions& o)
    : Composed(o) {
  require(o.head_dim() > 0 && o.feat_dim() % o.head_dim() == 0, "feat_dim: ", o.feat_dim(),
          " must be divisible by head_dim: ", o.head_dim());
  const std::int64_t heads = o.feat_dim() / o.head_dim(), side = side_of(o.max_seq_len());
  register_parameter("relative_position_bias_table", relative_position_bias_table,
                     made({(2 * side - 1) * (2 * side - 1), heads}));
  register_buffer("relative_position_index", relative_position_index, Tensor());
  compose([&] {
    add<Linear>("to_qkv", o.feat_dim(), 3 * o.feat_dim());
    add<Linear>("merge", o.feat_dim(), o.feat_dim());
    register_buffer("relative_position_index", models::relative_position_index(side, side));
    init::trunc_normal_(relative_position_bias_table, 0, 0.02);
  });
}

Tensor RelativePositionalMultiHeadAttention::forward(const Tensor& x) {
  const maxvit::AttentionOptions o = options();
  const std::int64_t n = x.size(0), windows = x.size(1), places = x.size(2), width = x.size(3);
  TensorList parts = chunk(to_qkv(x), 3, -1);
  for (Tensor& part : parts)
    part = permute(reshape(part, {n, windows, places, -1, o.head_dim()}), {0, 1, 3, 2, 4});
  const Tensor keys = parts[1] * (1 / std::sqrt(static_cast<double>(o.feat_dim())));
  const Tensor bias = relative_position_bias(held(relative_position_bias_table),
                                             held(relative_position_index), o.max_seq_len());
  const Tensor weights = softmax(matmul(parts[0], transpose(keys, -2, -1)) + bias, -1);
  return merge(reshape(permute(matmul(weights, parts[2]), {0, 1, 3, 2, 4}), {n, windows, places, width}));
}

Tensor WindowPartition::forward(const Tensor& x, std::int64_t p) {
  const std::int64_t n = x.size(0), channels = x.size(1), rows = x.size(2) / p, columns = x.size(3) / p;
  return reshape(permute(reshape(x, {n, channels, rows, p, columns, p}), {0, 2, 4, 3, 5, 1}),
                 {n, rows * columns, p * p, channels});
}

Tensor WindowDepartition::forward(const Tensor& x, std::int64_t p, std::int64_t h_partitions,
                                  std::int64_t w_partitions) {
  const std::int64_t n = x.size(0), channels = x.size(3);
  return reshape(permute(reshape(x, {n, h_partitions, w_partitions, p, p, channels}), {0, 5, 1, 3, 2, 4}),
                 {n, channels, h_partitions * p, w_partitions * p});
}

PartitionAttentionLayer::PartitionAttentionLayer(const PartitionOptions& o) : Composed(o) {
  compose([&] {
    require(o.partition_type() == "grid" || o.partition_type() == "window",
            "partition_type must be either 'grid' or 'window'");
    add<WindowPartition>("partition_op");
    add<WindowDepartition>("departition_op");
    for (const char* swap : {"partition_swap", "departition_swap"})
      if (o.partition_type() == "grid")
        add<SwapAxes>(swap, SwapAxesOptions(-2, -3));
      else
        add<Identity>(swap);
    const std::int64_t width = o.in_channels(), hidden = width * o.mlp_ratio(), p = o.partition_size();
    add<Sequential>(
        "attn_layer", o.norm_layer()(width),
        make<RelativePositionalMultiHeadAttention>(maxvit::AttentionOptions(width, o.head_dim(), p * p)),
        make<Dropout>(o.attention_dropout()));
    add<Sequential>("mlp_layer", make<LayerNorm>(LayerNormOptions({width})), make<Linear>(width, hidden),
                    o.activation_layer()(std::nullopt), make<Linear>(hidden, width),
                    make<Dropout>(o.mlp_dropout()));
    add<StochasticDepth>("stochastic_dropout", StochasticDepthOptions(o.p_stochastic_dropout(), "row"));
  });
}

Tensor PartitionAttentionLayer::forward(const Tensor& input) {
  const Partition p = partition_of(options());
  Tensor x = partition_swap(WindowPartition::forward(input, p.size));
  x = x + stochastic_dropout(attn_layer(x));
  x = x + stochastic_dropout(mlp_layer(x));
  return WindowDepartition::forward(departition_swap(x), p.size, p.rows, p.columns);
}

MaxVitLayer::MaxVitLayer(const LayerOptions& o) {
  PartitionOptions attention = o.attention;
  add<Sequential>(
      "layers",
      Children{{"MBconv", make<maxvit::MBConv>(o.convolution)},
               {"window_attention", make<PartitionAttentionLayer>(attention.partition_type("window"))},
               {"grid_attention", make<PartitionAttentionLayer>(attention.partition_type("grid"))}});
}

MaxVitBlock::MaxVitBlock(LayerOptions o, const std::vector<double>& p_stochastic) {
  const auto all = add<ModuleList>("layers");
  o.convolution.stride(2);
  for (const double p : p_stochastic) {
    o.convolution.p_stochastic_dropout(p);
    o.attention.p_stochastic_dropout(p);
    all->append(make<MaxVitLayer>(o));
    o.convolution.stride(1).in_channels(o.convolution.out_channels());
  }
}

Tensor MaxVitBlock::forward(const Tensor& x) {
  Tensor y = x;
  for (const auto& layer : layers->entries()) y = (*layer)(y);
  return y;
}

MaxVit::MaxVit(const MaxVitOptions& o) : Composed(o) {
  compose([&] {
    const NormLayer norm = or_default(o.norm_layer(), batch_norm(1e-3, 0.01));
    require(o.input_size().size() == 2 && !o.block_channels().empty() &&
                o.block_channels().size() == o.block_layers().size(),
            "MaxVit: expected an input_size of two numbers, and block_layers for each of block_channels");
    const Conv2dNormActivationOptions first(3, o.stem_channels()),
        second(o.stem_channels(), o.stem_channels());
    add<Sequential>(
        "stem",
        make<Conv2dNormActivation>(Conv2dNormActivationOptions(first)
                                       .stride(2)
                                       .norm_layer(norm)
                                       .activation_layer(o.activation_layer())
                                       .bias(false)
                                       .inplace(std::nullopt)),
        make<Conv2dNormActivation>(
            Conv2dNormActivationOptions(second).norm_layer(nullptr).activation_layer(nullptr).bias(true)));
    double total = -1, index = 0;
    for (const std::int64_t n : o.block_layers()) total += static_cast<double>(n);
    LayerOptions layer;
    layer.convolution.norm_layer(norm)
        .activation_layer(o.activation_layer())
        .expansion_ratio(o.expansion_ratio())
        .squeeze_ratio(o.squeeze_ratio())
        .out_channels(o.stem_channels());
    layer.attention.head_dim(o.head_dim())
        .partition_size(o.partition_size())
        .mlp_ratio(o.mlp_ratio())
        .activation_layer(o.activation_layer())
        .mlp_dropout(o.mlp_dropout())
        .attention_dropout(o.attention_dropout());
    maxvit::Size size = halved(o.input_size());
    const auto all = add<ModuleList>("blocks");
    for (std::size_t i = 0; i < o.block_channels().size(); ++i) {
      size = halved(size);
      for (const std::int64_t extent : size)
        require(o.partition_size() > 0 && extent % o.partition_size() == 0, "Input size ", nn::repr_of(size),
                " of block ", i, " is not divisible by partition size ", o.partition_size(),
                ". Consider changing the partition size or the input size.");
      layer.convolution.in_channels(layer.convolution.out_channels()).out_channels(o.block_channels()[i]);
      layer.attention.in_channels(o.block_channels()[i]).grid_size(size);
      std::vector<double> p_stochastic;
      for (std::int64_t n = 0; n < o.block_layers()[i]; ++n)
        p_stochastic.push_back(total > 0 ? o.stochastic_depth_prob() / total * index++ : 0);
      all->append(make<MaxVitBlock>(layer, p_stochastic));
    }
    const std::int64_t width = o.block_channels().back();
    add<Sequential>("classifier", make<AdaptiveAvgPool2d>(1), make<Flatten>(),
                    make<LayerNorm>(LayerNormOptions({width})), make<Linear>(width, width), make<Tanh>(),
                    make<Linear>(LinearOptions(width, o.num_classes()).bias(false)));
    init_layers<Conv2d, Linear>(*this, [](Tensor& weight) { init::normal_(weight, 0, 0.02); });
  });
}

Tensor MaxVit::forward(const Tensor& x) {
  Tensor y = stem(x);
  for (const auto& block : blocks->entries()) y = (*block)(y);
  return classifier(y);
}

const Variants<MaxVitOptions>& MaxVit::variants() {
  static const auto& all = *new Variants<MaxVitOptions>{{"maxvit_t", MaxVitOptions()
                                                                         .stem_channels(64)
                                                                         .block_channels({64, 128, 256, 512})
                                                                         .block_layers({2, 2, 5, 2})
                                                                         .head_dim(32)
                                                                         .stochastic_depth_prob(0.2)
                                                                         .partition_size(7)}};
  return all;
}

}  // namespace ocl::models
