#include <cmath>

#include "autograd/ops/dropout.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/resample.h"
#include "autograd/ops/softmax.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "nn/init.h"
#include "nn/models/swin_transformer.h"
#include "nn/models/windows.h"

namespace ocl::models::swin_transformer {
namespace {

using Extent = std::array<std::int64_t, 2>;  // height and width

/** How a picture of places is cut into windows. */
struct Grid {
  Extent padded, window, shift;
  std::int64_t windows() const { return (padded[0] / window[0]) * (padded[1] / window[1]); }
  std::int64_t places() const { return window[0] * window[1]; }
  bool is_shifted() const { return shift[0] + shift[1] > 0; }
};

Grid grid_of(const Tensor& x, const AttentionOptions& o) {
  Grid grid;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t window = o.window_size()[i], size = x.size(static_cast<int>(i) + 1);
    grid.window[i] = window;
    grid.padded[i] = (size + window - 1) / window * window;
    grid.shift[i] = window >= grid.padded[i] ? 0 : o.shift_size()[i];
  }
  return grid;
}

/** [N, H, W, C] -> [N * windows, places, C] */
Tensor partitioned(const Tensor& x, const Grid& g) {
  const Tensor cut = reshape(x, {x.size(0), g.padded[0] / g.window[0], g.window[0], g.padded[1] / g.window[1],
                                 g.window[1], x.size(3)});
  return reshape(permute(cut, {0, 1, 3, 2, 4, 5}), {-1, g.places(), x.size(3)});
}

/** The way back. */
Tensor joined(const Tensor& x, const Grid& g) {
  const Tensor cut = reshape(
      x, {-1, g.padded[0] / g.window[0], g.padded[1] / g.window[1], g.window[0], g.window[1], x.size(2)});
  return reshape(permute(cut, {0, 1, 3, 2, 4, 5}), {-1, g.padded[0], g.padded[1], x.size(2)});
}

/** -100 between places of a window that the shift has brought together from different sides of the picture,
 * else 0: [windows, 1, places, places]. */
Tensor mask_of(const Grid& g, const Tensor& like) {
  const auto region = [&](std::size_t axis, std::int64_t at) {
    return (at >= g.padded[axis] - g.window[axis]) + (at >= g.padded[axis] - g.shift[axis]);
  };
  std::vector<float> regions;
  for (std::int64_t i = 0; i < g.padded[0]; ++i)
    for (std::int64_t j = 0; j < g.padded[1]; ++j)
      regions.push_back(static_cast<float>(3 * region(0, i) + region(1, j)));
  const Tensor picture = tensor(regions, {1, g.padded[0], g.padded[1], 1}, like.device());
  const Tensor windows = reshape(partitioned(picture, g), {g.windows(), g.places()});
  const Tensor differs = unsqueeze(windows, 1) != unsqueeze(windows, 2);
  return unsqueeze(to(differs, like.dtype()) * -100, 1);
}

void check(const AttentionOptions& o) {
  dlprim::require(o.window_size().size() == 2 && o.shift_size().size() == 2,
                  "window_size and shift_size must be of length 2");
}

/** Rows of the table of relative positions, along each axis. */
Extent table_size(const AttentionOptions& o) {
  return {2 * o.window_size()[0] - 1, 2 * o.window_size()[1] - 1};
}

std::int64_t places_of(const AttentionOptions& o) {
  return o.window_size()[0] * o.window_size()[1];
}

/** Relative positions on a logarithmic scale, [1, 2 height - 1, 2 width - 1, 2]. */
Tensor log_coordinates(const AttentionOptions& o) {
  const Extent size = table_size(o);
  const auto scaled = [&](std::size_t axis, std::int64_t at) {
    const auto most = static_cast<float>(o.window_size()[axis] - 1);
    const float position = 8 * ((static_cast<float>(at) - most) / most);
    return std::copysign(std::log2(std::abs(position) + 1) / 3.0F, position);
  };
  std::vector<float> values;
  for (std::int64_t i = 0; i < size[0]; ++i)
    for (std::int64_t j = 0; j < size[1]; ++j) {
      values.push_back(scaled(0, i));
      values.push_back(scaled(1, j));
    }
  return tensor(values, {1, size[0], size[1], 2});
}

/** The keys of the second version have no bias. */
Tensor without_key_bias(const Tensor& bias) {
  const TensorList thirds = chunk(bias, 3);
  return cat({thirds[0], zeros_like(thirds[1]), thirds[2]});
}

Tensor projected_without_key_bias(const Linear& qkv, const Tensor& x) {
  const Tensor bias = *qkv.own_parameter("bias");
  return linear(x, *qkv.own_parameter("weight"), bias.defined() ? without_key_bias(bias) : bias);
}

}  // namespace

template <class Attention>
void WindowAttention<Attention>::add_projections() {
  const AttentionOptions o = this->options();
  this->template add<Linear>("qkv", LinearOptions(o.dim(), 3 * o.dim()).bias(o.qkv_bias()));
  this->template add<Linear>("proj", LinearOptions(o.dim(), o.dim()).bias(o.proj_bias()));
}

template <class Attention>
Tensor WindowAttention<Attention>::attended(const Tensor& input, const Tensor& bias,
                                            const Tensor& logit_scale) const {
  const AttentionOptions o = this->options();
  const Grid grid = grid_of(input, o);
  const std::int64_t height = input.size(1), width = input.size(2), channels = input.size(3),
                     heads = o.num_heads();
  Tensor x = pad(input, {0, 0, 0, grid.padded[1] - width, 0, grid.padded[0] - height});
  if (grid.is_shifted()) x = roll(x, {-grid.shift[0], -grid.shift[1]}, {1, 2});
  x = partitioned(x, grid);
  const std::int64_t count = x.size(0);

  const Tensor all = logit_scale.defined() ? projected_without_key_bias(*qkv.get(), x) : qkv(x);
  const TensorList parts =
      unbind(permute(reshape(all, {count, grid.places(), 3, heads, channels / heads}), {2, 0, 3, 1, 4}), 0);
  Tensor scores;
  if (logit_scale.defined()) {
    const Tensor q = normalize(parts[0], 2, {-1}), k = normalize(parts[1], 2, {-1});
    scores = matmul(q, transpose(k, -2, -1)) * exp(clamp(logit_scale, -INFINITY, std::log(100.0)));
  } else {
    const double scale = 1 / std::sqrt(static_cast<double>(channels / heads));
    scores = matmul(parts[0] * scale, transpose(parts[1], -2, -1));
  }
  scores = scores + bias;
  if (grid.is_shifted()) {
    const std::vector<std::int64_t> shape = scores.shape().vector();
    scores = reshape(scores, {-1, grid.windows(), heads, grid.places(), grid.places()}) +
             unsqueeze(mask_of(grid, scores), 0);
    scores = reshape(scores, shape);
  }
  const bool training = this->is_training();
  const Tensor weights = dropout(softmax(scores, -1), o.attention_dropout(), training);
  x = reshape(transpose(matmul(weights, parts[2]), 1, 2), {count, grid.places(), channels});
  x = joined(dropout(proj(x), o.dropout(), training), grid);
  if (grid.is_shifted()) x = roll(x, {grid.shift[0], grid.shift[1]}, {1, 2});
  return contiguous(narrow(narrow(x, 1, 0, height), 2, 0, width));
}

ShiftedWindowAttention::ShiftedWindowAttention(const AttentionOptions& o) : WindowAttention(o) {
  check(o);
  const Extent size = table_size(o);
  register_parameter("relative_position_bias_table", relative_position_bias_table,
                     made({size[0] * size[1], o.num_heads()}));
  register_buffer("relative_position_index", relative_position_index, Tensor());
  compose([&] {
    add_projections();
    init::trunc_normal_(relative_position_bias_table, 0, 0.02);
    register_buffer("relative_position_index",
                    flatten(models::relative_position_index(o.window_size()[0], o.window_size()[1])));
  });
}

Tensor ShiftedWindowAttention::forward(const Tensor& x) {
  const Tensor bias = relative_position_bias(held(relative_position_bias_table),
                                             held(relative_position_index), places_of(options()));
  return attended(x, bias, {});
}

ShiftedWindowAttentionV2::ShiftedWindowAttentionV2(const AttentionOptions& o) : WindowAttention(o) {
  check(o);
  register_parameter("logit_scale", logit_scale, made({o.num_heads(), 1, 1}));
  register_buffer("relative_coords_table", relative_coords_table, Tensor());
  register_buffer("relative_position_index", relative_position_index, Tensor());
  compose([&] {
    add_projections();
    init::constant_(logit_scale, std::log(10.0));
    register_buffer("relative_coords_table", log_coordinates(o));
    register_buffer("relative_position_index",
                    flatten(models::relative_position_index(o.window_size()[0], o.window_size()[1])));
    add<Sequential>("cpb_mlp", make<Linear>(2, 512), inplace_relu(),
                    make<Linear>(LinearOptions(512, o.num_heads()).bias(false)));
    if (!o.qkv_bias()) return;
    const NoGradGuard no_grad;
    qkv->bias.copy_(without_key_bias(qkv->bias));
  });
}

Tensor ShiftedWindowAttentionV2::forward(const Tensor& x) {
  const AttentionOptions o = options();
  const Tensor table = reshape(cpb_mlp(held(relative_coords_table)), {-1, o.num_heads()});
  const Tensor bias = relative_position_bias(table, held(relative_position_index), places_of(o));
  return attended(x, 16 * sigmoid(bias), held(logit_scale));
}

}  // namespace ocl::models::swin_transformer
