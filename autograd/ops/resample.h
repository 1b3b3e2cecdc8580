#pragma once

#include <optional>

#include "autograd/tensor/pair.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * torch.nn.functional.interpolate: x [N, C, ...] with one to three spatial dimensions, brought to `size`, or
 * to `scale_factor` times its own (one number a spatial dimension; give one of the two). `mode`: nearest,
 * nearest-exact, linear, bilinear, trilinear, area. Throws ValueError, TypeError; also for antialias.
 */
Tensor interpolate(const Tensor& x, const std::vector<std::int64_t>& size,
                   const std::vector<double>& scale_factor = {}, const std::string& mode = "nearest",
                   std::optional<bool> align_corners = std::nullopt,
                   std::optional<bool> recompute_scale_factor = std::nullopt, bool antialias = false);

/** torch.nn.functional.unfold: x [N, C, H, W] -> [N, C KH KW, blocks], a sliding block a column; also without
 * N. */
Tensor unfold(const Tensor& x, Pair kernel_size, Pair dilation = 1, Pair padding = 0, Pair stride = 1);
/** torch.nn.functional.fold: x [N, C KH KW, blocks] -> [N, C, H, W], overlapping blocks added; also without
 * N. */
Tensor fold(const Tensor& x, Pair output_size, Pair kernel_size, Pair dilation = 1, Pair padding = 0,
            Pair stride = 1);

/** torch.nn.functional.pixel_shuffle: [..., C r r, H, W] -> [..., C, H r, W r]. Any dtype. */
Tensor pixel_shuffle(const Tensor& x, std::int64_t upscale_factor);
/** torch.nn.functional.pixel_unshuffle: [..., C, H r, W r] -> [..., C r r, H, W]. Any dtype. */
Tensor pixel_unshuffle(const Tensor& x, std::int64_t downscale_factor);
/** torch.nn.functional.channel_shuffle: channel i of [N, C, ...] goes from group to group. Any dtype. */
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

}  // namespace ocl
