#pragma once

#include "nn/models/inception_parts.h"

namespace ocl::models {
namespace inception {

/** A BasicConv2d of a block. */
struct BranchConv {
  const char* name;
  std::int64_t in, out;  // in: 0 for as many as the block's input has
  Extents<2> kernel_size = 1, stride = 1, padding = 0;
};

struct BlockOptions {
  BlockOptions(std::int64_t in_channels = 0) : in_channels_(in_channels) {}
  OPTION(std::int64_t, in_channels);
  OPTION_LIST(1, in_channels_)
};
struct PoolFeaturesOptions {
  PoolFeaturesOptions(std::int64_t in_channels = 0, std::int64_t pool_features = 0)
      : in_channels_(in_channels), pool_features_(pool_features) {}
  OPTION(std::int64_t, in_channels);
  OPTION(std::int64_t, pool_features);
  OPTION_LIST(2, in_channels_, pool_features_)
};
struct SevenOptions {
  SevenOptions(std::int64_t in_channels = 0, std::int64_t channels_7x7 = 0)
      : in_channels_(in_channels), channels_7x7_(channels_7x7) {}
  OPTION(std::int64_t, in_channels);
  OPTION(std::int64_t, channels_7x7);
  OPTION_LIST(2, in_channels_, channels_7x7_)
};

/** The common part of Inception3's blocks: convolutions by name. */
template <class Block, class Options>
class InceptionBlock : public Composed<Block, Options> {
 protected:
  using Composed<Block, Options>::Composed;
  void add_convolutions(const std::vector<BranchConv>& convolutions);
};

/** torchvision's InceptionA: [N, in_channels, H, W] -> [N, 224 + pool_features, H, W]. */
class InceptionA : public InceptionBlock<InceptionA, PoolFeaturesOptions> {
 public:
  explicit InceptionA(const PoolFeaturesOptions& options = {});
  Tensor forward(const Tensor& x) override;
};
/** torchvision's InceptionB: [N, in_channels, H, W] -> [N, in_channels + 480, (H - 1) / 2, (W - 1) / 2]. */
class InceptionB : public InceptionBlock<InceptionB, BlockOptions> {
 public:
  explicit InceptionB(const BlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
};
/** torchvision's InceptionC: [N, in_channels, H, W] -> [N, 768, H, W]. */
class InceptionC : public InceptionBlock<InceptionC, SevenOptions> {
 public:
  explicit InceptionC(const SevenOptions& options = {});
  Tensor forward(const Tensor& x) override;
};
/** torchvision's InceptionD: [N, in_channels, H, W] -> [N, in_channels + 512, (H - 1) / 2, (W - 1) / 2]. */
class InceptionD : public InceptionBlock<InceptionD, BlockOptions> {
 public:
  explicit InceptionD(const BlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
};
/** torchvision's InceptionE: [N, in_channels, H, W] -> [N, 2048, H, W]. */
class InceptionE : public InceptionBlock<InceptionE, BlockOptions> {
 public:
  explicit InceptionE(const BlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
};

struct InceptionAuxOptions {
  InceptionAuxOptions(std::int64_t in_channels = 0, std::int64_t num_classes = 0)
      : in_channels_(in_channels), num_classes_(num_classes) {}
  OPTION(std::int64_t, in_channels);
  OPTION(std::int64_t, num_classes);
  OPTION_LIST(2, in_channels_, num_classes_)
};
/** torchvision's InceptionAux of Inception3: [N, in_channels, 17, 17] -> [N, num_classes]. */
class InceptionAux : public Composed<InceptionAux, InceptionAuxOptions> {
 public:
  explicit InceptionAux(const InceptionAuxOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<BasicConv2d> conv0 = child<BasicConv2d>("conv0"), conv1 = child<BasicConv2d>("conv1");
  Child<Linear> fc = child<Linear>("fc");
};

}  // namespace inception

struct Inception3Options {
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(bool, aux_logits) = true;
  /** From torchvision's mean and deviation of pictures to those that the paper's weights expect. */
  OPTION(bool, transform_input) = false;
  /** None: true. */
  OPTION(std::optional<bool>, init_weights) = std::nullopt;
  OPTION(double, dropout) = 0.5;
  OPTION_LIST(0, num_classes_, aux_logits_, transform_input_, init_weights_, dropout_)
};
/** torchvision.models.Inception3: "Rethinking the Inception Architecture for Computer Vision" (Szegedy et al.
 * 2015). Pictures of 299 x 299; 75 x 75 or more do. Its submodules are torchvision's: Conv2d_1a_3x3 to
 * Mixed_7c, AuxLogits where there are any, avgpool, dropout, fc. */
class Inception3 : public Composed<Inception3, Inception3Options> {
 public:
  /** aux_logits: undefined but while training with aux_logits. */
  struct Outputs {
    Tensor logits, aux_logits;
  };
  explicit Inception3(const Inception3Options& options = {});
  Outputs outputs(const Tensor& x);
  /** The logits alone. */
  Tensor forward(const Tensor& x) override { return outputs(x).logits; }
  /** While training with aux_logits (logits, aux_logits), else the logits. */
  Value call(const Arguments& arguments) override;
  static const Variants<Inception3Options>& variants();
};

}  // namespace ocl::models
