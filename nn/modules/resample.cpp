#include "nn/modules/resample.h"

namespace ocl::nn {
namespace {

/** The entries; a single one is repeated for the dimensions of `x` after batch and channels. */
template <class T>
std::vector<T> entries_of(const PerDimension<T>& entries, const Tensor& x) {
  if (!entries) return {};
  if (const auto* one = std::get_if<T>(&*entries))
    return std::vector<T>(static_cast<std::size_t>(std::max(x.dim() - 2, 0)), *one);
  return std::get<std::vector<T>>(*entries);
}

}  // namespace

Tensor Upsample::forward(const Tensor& x) {
  const UpsampleOptions o = options();
  return interpolate(x, entries_of(o.size(), x), entries_of(o.scale_factor(), x), o.mode(), o.align_corners(),
                     o.recompute_scale_factor());
}

std::string Upsample::extra_repr() const {
  const UpsampleOptions o = options();
  const std::string what =
      o.scale_factor() ? "scale_factor=" + repr_of(o.scale_factor()) : "size=" + repr_of(o.size());
  return what + ", mode=" + repr_of(o.mode());
}

Tensor Unfold::forward(const Tensor& x) {
  const UnfoldOptions o = options();
  return unfold(x, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

Tensor Fold::forward(const Tensor& x) {
  const FoldOptions o = options();
  return fold(x, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}

}  // namespace ocl::nn
