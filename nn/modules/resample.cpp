#include "nn/modules/resample.h"

namespace ocl::nn {
namespace {

/** "3", or "(2, 3)" for several. */
template <class T, class Text>
std::string tuple_repr(const std::vector<T>& entries, const Text& text) {
  if (entries.size() == 1) return text(entries[0]);
  std::string joined;
  for (const T& entry : entries) joined += (joined.empty() ? "(" : ", ") + text(entry);
  return joined + ")";
}

template <class T>
std::vector<T> repeated(const std::vector<T>& entries, const Tensor& x) {
  return entries.size() == 1 ? std::vector<T>(static_cast<std::size_t>(std::max(x.dim() - 2, 0)), entries[0])
                             : entries;
}

}  // namespace

Tensor Upsample::forward(const Tensor& x) {
  return interpolate(x, repeated(size_, x), repeated(scale_factor_, x), mode_, align_corners_,
                     recompute_scale_factor_);
}

std::string Upsample::extra_repr() const {
  const std::string what =
      scale_factor_.empty()
          ? "size=" + tuple_repr(size_, [](std::int64_t n) { return std::to_string(n); })
          : "scale_factor=" + tuple_repr(scale_factor_, [](double f) { return float_repr(f); });
  return what + ", mode='" + mode_ + "'";
}

PaddingLayer::PaddingLayer(std::vector<std::int64_t> padding, std::size_t axes, const char* mode)
    : padding_(std::move(padding)), mode_(mode) {
  if (padding_.size() == 1) padding_.resize(2 * axes, padding_[0]);
  dlprim::require(padding_.size() == 2 * axes, "padding: expected one number or ", 2 * axes, ", got ",
                  padding_.size());
}

std::string PaddingLayer::extra_repr() const {
  return tuple_repr(padding_, [](std::int64_t n) { return std::to_string(n); });
}

}  // namespace ocl::nn
