#pragma once

#include "autograd/ops/resample.h"
#include "nn/module.h"

namespace ocl::nn {

/** torch.nn.Upsample; see ocl::interpolate. One size or scale factor stands for every dimension. */
class Upsample : public Module {
 public:
  explicit Upsample(std::vector<std::int64_t> size, std::vector<double> scale_factor = {},
                    const std::string& mode = "nearest", std::optional<bool> align_corners = std::nullopt,
                    std::optional<bool> recompute_scale_factor = std::nullopt)
      : size_(std::move(size)),
        scale_factor_(std::move(scale_factor)),
        mode_(mode),
        align_corners_(align_corners),
        recompute_scale_factor_(recompute_scale_factor) {}
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "Upsample"; }
  std::string extra_repr() const override;

 private:
  std::vector<std::int64_t> size_;
  std::vector<double> scale_factor_;
  std::string mode_;
  std::optional<bool> align_corners_, recompute_scale_factor_;
};

/** torch.nn.PixelShuffle. */
class PixelShuffle : public Module {
 public:
  explicit PixelShuffle(std::int64_t upscale_factor) : factor_(upscale_factor) {}
  Tensor forward(const Tensor& x) override { return pixel_shuffle(x, factor_); }
  std::string name() const override { return "PixelShuffle"; }
  std::string extra_repr() const override { return dlprim::concat("upscale_factor=", factor_); }

 private:
  std::int64_t factor_;
};

/** torch.nn.PixelUnshuffle. */
class PixelUnshuffle : public Module {
 public:
  explicit PixelUnshuffle(std::int64_t downscale_factor) : factor_(downscale_factor) {}
  Tensor forward(const Tensor& x) override { return pixel_unshuffle(x, factor_); }
  std::string name() const override { return "PixelUnshuffle"; }
  std::string extra_repr() const override { return dlprim::concat("downscale_factor=", factor_); }

 private:
  std::int64_t factor_;
};

/** torch.nn.ChannelShuffle. */
class ChannelShuffle : public Module {
 public:
  explicit ChannelShuffle(std::int64_t groups) : groups_(groups) {}
  Tensor forward(const Tensor& x) override { return channel_shuffle(x, groups_); }
  std::string name() const override { return "ChannelShuffle"; }
  std::string extra_repr() const override { return dlprim::concat("groups=", groups_); }

 private:
  std::int64_t groups_;
};

/** Base of the padding layers: ocl::pad of the last dimensions, `padding` as there; one number stands for
 * all. */
class PaddingLayer : public Module {
 public:
  Tensor forward(const Tensor& x) override { return pad(x, padding_, mode_); }
  std::string extra_repr() const override;

 protected:
  PaddingLayer(std::vector<std::int64_t> padding, std::size_t axes, const char* mode);

 private:
  std::vector<std::int64_t> padding_;
  const char* mode_;
};

// torch.nn.ZeroPad1d and its kin.
#define PADDING(Class, axes, mode)                                                                      \
  class Class : public PaddingLayer {                                                                   \
   public:                                                                                              \
    explicit Class(std::vector<std::int64_t> padding) : PaddingLayer(std::move(padding), axes, mode) {} \
    std::string name() const override { return #Class; }                                                \
  };
#include "nn/modules/paddings.def"

}  // namespace ocl::nn
