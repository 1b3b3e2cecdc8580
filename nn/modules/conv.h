#pragma once

#include "autograd/ops/conv.h"
#include "nn/module.h"

namespace ocl::nn {

/** What a convolution layer is made with; one number a spatial dimension in each list. */
struct ConvolutionOptions {
  std::int64_t in_channels, out_channels;
  std::vector<int> kernel_size, stride, dilation;
  std::variant<std::vector<int>, std::string> padding;
  std::vector<int> output_padding;
  std::int64_t groups;
  bool bias;
  std::string padding_mode;
  bool transposed;
};

/** Base of the convolution layers: their parameters, Kaiming-uniform as PyTorch's, and repr. */
class Convolution : public Module {
 public:
  std::string extra_repr() const override;
  const ConvolutionOptions& options() const { return options_; }

  Tensor weight;  // [out, in / groups, kernel sizes…], of a transposed one [in, out / groups, kernel sizes…]
  Tensor bias;  // [out_channels], or undefined

 protected:
  Convolution(const char* name, ConvolutionOptions options);

  /** The input with what padding_mode puts around it; the layer then pads no more. */
  Tensor padded(const Tensor& x) const;
  bool pads_itself() const { return options_.padding_mode != "zeros"; }

 private:
  ConvolutionOptions options_;
};

/** torch.nn.Conv1d: [N, in, L] -> [N, out, OL]; see ocl::conv1d. */
class Conv1d : public Convolution {
 public:
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, int kernel_size, int stride = 1,
         const Padding1d& padding = 0, int dilation = 1, std::int64_t groups = 1, bool bias = true,
         const std::string& padding_mode = "zeros");
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "Conv1d"; }
};

/** torch.nn.Conv2d: [N, in, H, W] -> [N, out, OH, OW]; see ocl::conv2d. */
class Conv2d : public Convolution {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size, Pair stride = 1,
         const Padding2d& padding = 0, Pair dilation = 1, std::int64_t groups = 1, bool bias = true,
         const std::string& padding_mode = "zeros");
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "Conv2d"; }
};

/** torch.nn.ConvTranspose1d: [N, in, L] -> [N, out, OL]; see ocl::conv_transpose1d. */
class ConvTranspose1d : public Convolution {
 public:
  ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels, int kernel_size, int stride = 1,
                  int padding = 0, int output_padding = 0, std::int64_t groups = 1, bool bias = true,
                  int dilation = 1);
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "ConvTranspose1d"; }
};

/** torch.nn.ConvTranspose2d: [N, in, H, W] -> [N, out, OH, OW]; see ocl::conv_transpose2d. */
class ConvTranspose2d : public Convolution {
 public:
  ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels, Pair kernel_size, Pair stride = 1,
                  Pair padding = 0, Pair output_padding = 0, std::int64_t groups = 1, bool bias = true,
                  Pair dilation = 1);
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "ConvTranspose2d"; }
};

}  // namespace ocl::nn
