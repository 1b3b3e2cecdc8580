#pragma once

#include <algorithm>

#include "autograd/ops/conv.h"
#include "nn/init.h"
#include "nn/layer.h"

namespace ocl::nn {

/** PyTorch's warning; empty for nothing. */
template <int N>
std::string empty_weight_warning(std::int64_t in_channels, std::int64_t out_channels,
                                 const Extents<N>& kernel_size) {
  const bool is_empty = in_channels == 0 || out_channels == 0 ||
                        std::find(kernel_size.begin(), kernel_size.end(), 0) != kernel_size.end();
  return is_empty ? init::no_elements_warning : "";
}

/** Options of Conv1d, Conv2d and Conv3d: `Conv2dOptions(3, 64, 7).stride(2).padding(3).bias(false)`. */
template <int N>
struct ConvOptions {
  using Size = Extents<N>;
  using Padding = std::variant<Size, std::string>;  // "same", "valid"
  ConvOptions() = default;
  ConvOptions(std::int64_t in_channels, std::int64_t out_channels, Size kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  std::string warning() const { return empty_weight_warning(in_channels_, out_channels_, kernel_size_); }
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(Size, kernel_size);
  OPTION(Size, stride) = 1;
  OPTION(Padding, padding) = Size(0);
  OPTION(Size, dilation) = 1;
  OPTION(std::int64_t, groups) = 1;
  OPTION(bool, bias) = true;
  OPTION(std::string, padding_mode) = "zeros";
  OPTION_LIST(3, in_channels_, out_channels_, kernel_size_, stride_, padding_, dilation_, groups_, bias_,
              padding_mode_)
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

/** Options of ConvTranspose1d, ConvTranspose2d and ConvTranspose3d. */
template <int N>
struct ConvTransposeOptions {
  using Size = Extents<N>;
  ConvTransposeOptions() = default;
  ConvTransposeOptions(std::int64_t in_channels, std::int64_t out_channels, Size kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  std::string warning() const { return empty_weight_warning(in_channels_, out_channels_, kernel_size_); }
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(Size, kernel_size);
  OPTION(Size, stride) = 1;
  OPTION(Size, padding) = 0;
  OPTION(Size, output_padding) = 0;
  OPTION(std::int64_t, groups) = 1;
  OPTION(bool, bias) = true;
  OPTION(Size, dilation) = 1;
  OPTION(std::string, padding_mode) = "zeros";
  OPTION_LIST(3, in_channels_, out_channels_, kernel_size_, stride_, padding_, output_padding_, groups_,
              bias_, dilation_, padding_mode_)
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

/** Base of the convolution layers: their parameters, Kaiming-uniform as PyTorch's. */
class Convolution : public Module {
 public:
  void reset_parameters();

  Tensor weight;  // [out, in / groups, kernel sizes…], of a transposed one [in, out / groups, kernel sizes…]
  Tensor bias;    // [out_channels], or undefined

 protected:
  /** Registers the parameters, `weight` of that shape. */
  void make_parameters(std::vector<std::int64_t> weight_shape, std::int64_t out_channels, bool has_bias);
};

/** torch.nn.Conv1d: [N, in, L] -> [N, out, OL]; see ocl::conv1d. Throws ValueError. */
class Conv1d : public Layer<Conv1d, Conv1dOptions, Convolution> {
 public:
  HOLDER(Conv1d, Layer)
  explicit Conv1d(const Conv1dOptions& options);
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, int kernel_size)
      : Conv1d(Conv1dOptions(in_channels, out_channels, kernel_size)) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

/** torch.nn.Conv2d: [N, in, H, W] -> [N, out, OH, OW]; see ocl::conv2d. Throws ValueError. */
class Conv2d : public Layer<Conv2d, Conv2dOptions, Convolution> {
 public:
  HOLDER(Conv2d, Layer)
  explicit Conv2d(const Conv2dOptions& options);
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, Extents<2> kernel_size)
      : Conv2d(Conv2dOptions(in_channels, out_channels, kernel_size)) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

/** torch.nn.Conv3d: [N, in, D, H, W] -> [N, out, OD, OH, OW]; see ocl::conv3d. Throws ValueError. */
class Conv3d : public Layer<Conv3d, Conv3dOptions, Convolution> {
 public:
  HOLDER(Conv3d, Layer)
  explicit Conv3d(const Conv3dOptions& options);
  Conv3d(std::int64_t in_channels, std::int64_t out_channels, Extents<3> kernel_size)
      : Conv3d(Conv3dOptions(in_channels, out_channels, kernel_size)) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

/** torch.nn.ConvTranspose1d: [N, in, L] -> [N, out, OL]; see ocl::conv_transpose1d. Throws ValueError. */
class ConvTranspose1d : public Layer<ConvTranspose1d, ConvTranspose1dOptions, Convolution> {
 public:
  HOLDER(ConvTranspose1d, Layer)
  explicit ConvTranspose1d(const ConvTranspose1dOptions& options);
  ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, Extents<1> kernel_size)
      : ConvTranspose1d(ConvTranspose1dOptions(in_channels, out_channels, kernel_size)) {}
  /** `output_size`: of the sizes that the geometry leaves open, the one to give; [OL] or [N, out, OL]. */
  Tensor forward(const Tensor& x, const std::optional<std::vector<std::int64_t>>& output_size);
  Tensor forward(const Tensor& x) override { return forward(x, std::nullopt); }
  std::string extra_repr() const override;
};

/** torch.nn.ConvTranspose2d: [N, in, H, W] -> [N, out, OH, OW]; see ocl::conv_transpose2d. Throws ValueError.
 */
class ConvTranspose2d : public Layer<ConvTranspose2d, ConvTranspose2dOptions, Convolution> {
 public:
  HOLDER(ConvTranspose2d, Layer)
  explicit ConvTranspose2d(const ConvTranspose2dOptions& options);
  ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, Extents<2> kernel_size)
      : ConvTranspose2d(ConvTranspose2dOptions(in_channels, out_channels, kernel_size)) {}
  Tensor forward(const Tensor& x, const std::optional<std::vector<std::int64_t>>& output_size);
  Tensor forward(const Tensor& x) override { return forward(x, std::nullopt); }
  std::string extra_repr() const override;
};

/** torch.nn.ConvTranspose3d: [N, in, D, H, W] -> [N, out, OD, OH, OW]; see ocl::conv_transpose3d. Throws
 * ValueError. */
class ConvTranspose3d : public Layer<ConvTranspose3d, ConvTranspose3dOptions, Convolution> {
 public:
  HOLDER(ConvTranspose3d, Layer)
  explicit ConvTranspose3d(const ConvTranspose3dOptions& options);
  ConvTranspose3d(std::int64_t in_channels, std::int64_t out_channels, Extents<3> kernel_size)
      : ConvTranspose3d(ConvTranspose3dOptions(in_channels, out_channels, kernel_size)) {}
  Tensor forward(const Tensor& x, const std::optional<std::vector<std::int64_t>>& output_size);
  Tensor forward(const Tensor& x) override { return forward(x, std::nullopt); }
  std::string extra_repr() const override;
};

}  // namespace ocl::nn
