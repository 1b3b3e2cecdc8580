#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "dlprim/ops/gemm/operand_pack.h"
#include "dlprim/runtime/device.h"

// Products whose operands are packed before, rounded and with zeros around them, so that what a tap meets
// lies in aligned vectors along the product's depth, and tensor cores read it from local memory themselves;
// else each number is brought by itself, and by registers. Packing reads and writes an operand once. The
// depth of the forward pass and of the gradient by the input are channels: what is gathered gets its channels
// last. That of the gradient by the weight are pixels, of which windows begin anywhere; so those of a place
// in all images are put side by side, images last.

namespace dlprim {
namespace {

constexpr char channels_last_prefix[] = "channels_last_", images_last_prefix[] = "images_last_";

// Images of a piece that lie side by side are a multiple of these, a line of local memory.
constexpr std::int64_t images_at_once = 32;

// Kernels count what is packed in 32 bits.
constexpr auto max_packed = static_cast<double>(max_kernel_int);

int narrow(std::int64_t n) {
  return kernel_int(n, "conv2d", "a packed operand");
}

/** Images of a piece, a multiple of `multiple` where that is not all, of so many words each. */
std::int64_t images_of_piece(std::int64_t images, std::int64_t words, std::int64_t multiple) {
  const std::int64_t most = most_packed_bytes / (words * std::int64_t{sizeof(float)});
  return std::min(images, std::max(multiple, most / multiple * multiple));
}

/** Some images of a contiguous tensor. */
Tensor images_of(const Tensor& all, std::int64_t first, std::int64_t count) {
  Tensor some = all;
  some.shape[0] = count;
  some.offset += first * product({all.shape.begin() + 1, all.shape.end()});
  return some;
}

// ---- channels last: forward, backward data

/** Coordinates of the source that some result meets in one direction, if results of a phase are a step apart;
 * none where last < first. */
struct Span {
  std::int64_t first, last;

  /** Those that are so far apart. */
  std::int64_t count(int step) const { return last < first ? 0 : (last - first) / step + 1; }
};

Span span_of(int start, int taps, int tap, int step, int phases, int results) {
  Span span{0, -1};
  for (int phase = 0; phase < std::min(phases, results); ++phase)
    for (int t = 0; t < taps; ++t) {
      const std::int64_t at = std::int64_t{start} + phase + std::int64_t{t} * tap;
      if (at % phases != 0) continue;
      const std::int64_t first = at / phases;
      const std::int64_t last = first + (ceil_div(results - phase, phases) - 1) * step;
      const bool is_first = span.last < span.first;
      span = {is_first ? first : std::min(span.first, first), is_first ? last : std::max(span.last, last)};
    }
  return span;
}

/** Words of a pixel, which are a tap's part of the depth: its channels and what pads them. */
std::int64_t pixel_words(const ProductTile& tile, const ConvGather& s) {
  return round_up(ceil_div(s.channels, tile.numbers_in_word), is_flat(s) ? vector_width : tile.depth);
}

struct ChannelsLast {
  ConvGather gather;  // the product: its source is what is packed, all that a tap meets is inside
  OperandPack pack;
};

Span rows_met(const ConvGather& s) {
  return span_of(s.start_h, s.taps_h, s.tap_h, s.step_h, s.phases_h, s.result_h);
}
Span columns_met(const ConvGather& s) {
  return span_of(s.start_w, s.taps_w, s.tap_w, s.step_w, s.phases_w, s.result_w);
}

/** With one tap, only what results meet is packed. */
int packed_step(int taps, int step) {
  return taps == 1 ? step : 1;
}

ChannelsLast channels_last(const ProductTile& tile, const ConvGather& s) {
  const Span h = rows_met(s), w = columns_met(s);
  const int step_h = packed_step(s.taps_h, s.step_h), step_w = packed_step(s.taps_w, s.step_w);
  const std::int64_t plane = std::int64_t{s.source_h} * s.source_w;
  ChannelsLast p{s,
                 {plane * s.channels, plane, s.channels, narrow(pixel_words(tile, s) * tile.numbers_in_word),
                  s.source_h, s.source_w, narrow(h.first), narrow(w.first), step_h, step_w,
                  narrow(h.count(step_h)), narrow(w.count(step_w))}};
  p.gather.source_h = p.pack.size_h;
  p.gather.source_w = p.pack.size_w;
  p.gather.start_h = narrow(s.start_h - h.first * s.phases_h);
  p.gather.start_w = narrow(s.start_w - w.first * s.phases_w);
  p.gather.step_h = s.step_h / step_h;
  p.gather.step_w = s.step_w / step_w;
  return p;
}

DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const ConvGather& s) {
  ProductSize size = product_size(s);
  size.depth = round_up(pixel_words(tile, s) * s.taps_h * s.taps_w, tile.depth);
  return split_gather(tile, device, s, size, tile.speed_of_rounded);
}

bool is_countable(const ProductTile& tile, const ConvGather& s) {
  const auto rows = static_cast<double>(rows_met(s).count(packed_step(s.taps_h, s.step_h))),
             columns = static_cast<double>(columns_met(s).count(packed_step(s.taps_w, s.step_w)));
  const auto pixels = static_cast<double>(pixel_words(tile, s)) * s.images * s.groups;
  return rows * columns > 0 && rows * columns * pixels < max_packed;
}

double cost_of(const ProductTile& tile, const DeviceInfo& device, const ConvGather& sizes, DType dtype) {
  const ChannelsLast p = channels_last(tile, sizes);
  const double pixels = double{1} * p.pack.size_h * p.pack.size_w * p.gather.images * p.gather.groups;
  return split_of(tile, device, p.gather).cost / (p.gather.phases_h * p.gather.phases_w) +
         pack_cost(tile, dtype, pixels * p.pack.padded_lines) + cost_per_launch;
}

void gather(Queue& queue, const ProductTile& tile, const GatherProblem& problem) {
  ChannelsLast p = channels_last(tile, problem.gather);
  ConvGather& s = p.gather;
  const DepthSplit split = split_of(tile, queue.device().info(), s);
  const bool flat = is_flat(s);
  Defines defines = tile.defines(problem.result.dtype, split.depth);
  defines.set("FLAT", flat ? 1 : 0).set("RIGHT_WIDTH", vector_width).set("CHANNELS_LAST", 1);
  const Tensor filters = queue.scratch({pad_filters(tile, flat, pixel_words(tile, s), s)});
  pack_filters(queue, tile, defines, s, problem.filters, problem.weight, filters);
  const std::int64_t images = s.images, of_image = packed_words(tile, s.groups, p.pack),
                     piece = images_of_piece(images, of_image, 1);
  const Tensor pixels = queue.scratch({piece * of_image});
  for (std::int64_t first = 0; first < images; first += piece) {
    s.images = static_cast<int>(std::min(piece, images - first));
    pack_operand(queue, tile, images_of(problem.source, first, s.images), std::int64_t{s.images} * s.groups,
                 p.pack, pixels);
    multiply_packed(queue, tile, split, defines, s, pixels, filters, problem.bias,
                    images_of(problem.result, first, s.images));
  }
}

template <std::size_t index>
struct Gather {
  static constexpr const ProductTile& tile = product_tiles[index];

  template <class Problem>
  static bool can_take(const DeviceInfo& device, const Problem& p) {
    // Devices whose kernels count in 64 bits are not to be asked for the sizes as a GPU gets them.
    return tile.can_take(device, p.weight.dtype, p.precision) && is_countable(tile, as_gather(p).gather);
  }
  template <class Problem>
  static double expected_cost(const DeviceInfo& device, const Problem& p) {
    return cost_of(tile, device, as_gather(p).gather, p.weight.dtype);
  }
  template <class Problem>
  static void run(Queue& queue, const Problem& p) {
    gather(queue, tile, as_gather(p));
  }
  static const char* name() { return name_with<channels_last_prefix, index>(); }
};

// ---- images last: backward weight

struct ImagesLast {
  ConvShape shape;  // of the product: x is what is packed, its images padded, in words
  OperandPack x, dy;
  int columns_of_tap;  // of conv_weight_simt.cl: each line that an item brings is another tap's

  std::int64_t x_planes() const { return std::int64_t{shape.groups} * shape.in_channels; }
  std::int64_t dy_planes() const { return std::int64_t{shape.groups} * shape.out_channels; }
};

/** Words that such images of a pixel take. */
std::int64_t words_of_images(const ProductTile& tile, std::int64_t images) {
  return round_up(ceil_div(images, tile.numbers_in_word), vector_width);
}

ImagesLast images_last(const ProductTile& tile, const ConvSizes& sizes) {
  const ConvShape s = conv_shape(sizes);
  const std::int64_t words = words_of_images(tile, s.images);
  const int images = narrow(words * tile.numbers_in_word);
  const int step_h = packed_step(s.kernel_h, s.stride_h), step_w = packed_step(s.kernel_w, s.stride_w);
  const auto rows = [](int out, int stride, int kernel, int dilation) {
    return narrow((std::int64_t{out} - 1) * stride + (std::int64_t{kernel} - 1) * dilation + 1);
  };
  const int height = rows(s.out_h, s.stride_h / step_h, s.kernel_h, s.dilation_h),
            width = rows(s.out_w, s.stride_w / step_w, s.kernel_w, s.dilation_w);
  const std::int64_t in_plane = std::int64_t{s.height} * s.width, out_plane = std::int64_t{s.out_h} * s.out_w;
  ImagesLast p{s,
               {in_plane, in_plane * s.groups * s.in_channels, s.images, images, s.height, s.width, -s.pad_h,
                -s.pad_w, step_h, step_w, height, width},
               {out_plane, out_plane * s.groups * s.out_channels, s.images, images, s.out_h, s.out_w, 0, 0, 1,
                1, s.out_h, s.out_w},
               tile.items / (tile.depth / vector_width)};
  p.shape.images = narrow(words);
  p.shape.height = height;
  p.shape.width = width;
  p.shape.pad_h = p.shape.pad_w = 0;
  p.shape.stride_h /= step_h;
  p.shape.stride_w /= step_w;
  return p;
}

std::int64_t words_of(const ProductTile& tile, const ImagesLast& p) {
  return packed_words(tile, p.x_planes(), p.x) + packed_words(tile, p.dy_planes(), p.dy);
}

ProductSize product_size(const ImagesLast& p) {
  const ConvShape& s = p.shape;
  return {s.out_channels, std::int64_t{s.kernel_h} * s.kernel_w * round_up(s.in_channels, p.columns_of_tap),
          std::int64_t{s.images} * s.out_h * s.out_w, s.groups};
}

DepthSplit split_of(const ProductTile& tile, const DeviceInfo& device, const ImagesLast& p) {
  constexpr double of_speed = 0.75;  // sums are deep, results few
  return split_depth(tile, device, product_size(p), of_speed * tile.speed_of_rounded, tile.depth);
}

template <std::size_t index>
struct BackwardWeight {
  static constexpr const ProductTile& tile = product_tiles[index];

  static bool can_take(const DeviceInfo& device, const ConvBackwardWeightProblem& p) {
    if (!tile.can_take(device, p.dw.dtype, p.precision)) return false;
    const ConvSizes& s = p.sizes;
    const auto images = static_cast<double>(s.groups * (s.images + vector_width));
    const auto padded = [&](int i) { return static_cast<double>(s.size[i] + 2 * s.padding[i]); };
    return images * static_cast<double>(s.in_channels) * padded(0) * padded(1) < max_packed &&
           images * static_cast<double>(s.out_channels * s.out_pixels()) < max_packed;
  }
  static double expected_cost(const DeviceInfo& device, const ConvBackwardWeightProblem& problem) {
    const ImagesLast p = images_last(tile, problem.sizes);
    return split_of(tile, device, p).cost +
           pack_cost(tile, problem.dw.dtype, tile.numbers_in_word * static_cast<double>(words_of(tile, p))) +
           2 * cost_per_launch;
  }
  static void run(Queue& queue, const ConvBackwardWeightProblem& problem) {
    ConvSizes sizes = problem.sizes;
    const std::int64_t images = sizes.images;
    const ImagesLast all = images_last(tile, sizes);
    const std::int64_t of_image = ceil_div(words_of(tile, all), std::int64_t{all.x.padded_lines});
    const std::int64_t piece = images_of_piece(images, of_image, images_at_once * tile.numbers_in_word);
    sizes.images = piece;
    const ImagesLast of_piece = images_last(tile, sizes);
    const DepthSplit split = split_of(tile, queue.device().info(), of_piece);
    Defines defines = tile.defines(problem.dw.dtype, split.depth);
    defines.set("LEFT_WIDTH", vector_width).set("RIGHT_WIDTH", vector_width);
    defines.set("COLUMNS_OF_TAP", all.columns_of_tap).set("IMAGES_LAST", 1);
    const Tensor x = queue.scratch({packed_words(tile, of_piece.x_planes(), of_piece.x)}),
                 dy = queue.scratch({packed_words(tile, of_piece.dy_planes(), of_piece.dy)});
    const std::int64_t last = images - (images - 1) / piece * piece;
    const auto parts_of = [&](std::int64_t count) {
      return ceil_div(words_of_images(tile, count) * sizes.out_pixels(), split.depth);
    };
    const std::int64_t parts = (images - last) / piece * split.parts + parts_of(last);
    join_gradient(queue, parts, problem.dw, [&](const Tensor& sums) {
      for (std::int64_t first = 0; first < images; first += piece) {
        sizes.images = std::min(piece, images - first);
        const ImagesLast p = images_last(tile, sizes);
        const DepthSplit own{parts_of(sizes.images), split.depth, 0};
        pack_operand(queue, tile, images_of(problem.x, first, sizes.images), p.x_planes(), p.x, x);
        pack_operand(queue, tile, images_of(problem.dy, first, sizes.images), p.dy_planes(), p.dy, dy);
        Tensor own_sums = sums;
        own_sums.offset += first / piece * split.parts * problem.dw.numel();
        multiply_gradients(queue, defines, tile.range(own.of(product_size(p))), own, p.shape, dy, x,
                           own_sums);
      }
    });
  }
  static const char* name() { return name_with<images_last_prefix, index>(); }
};

}  // namespace

std::vector<ConvForward> conv2d_forward_channels_last() {
  return implementations_of_tiles<ConvForwardProblem, Gather>(takes_rounded);
}
std::vector<ConvBackwardData> conv2d_backward_data_channels_last() {
  return implementations_of_tiles<ConvBackwardDataProblem, Gather>(takes_rounded);
}
std::vector<ConvBackwardWeight> conv2d_backward_weight_images_last() {
  return implementations_of_tiles<ConvBackwardWeightProblem, BackwardWeight>(takes_rounded);
}

}  // namespace dlprim
