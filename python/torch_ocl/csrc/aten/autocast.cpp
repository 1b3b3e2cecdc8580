#include <ATen/autocast_mode.h>
#include <torch/library.h>

// torch.autocast("ocl"): PyTorch's own lists of what runs in the lower precision, what in float32, and what
// in the widest of its arguments.

namespace at::autocast {
namespace {

[[noreturn]] Tensor binary_cross_entropy(const Tensor&, const Tensor&, const std::optional<Tensor>&,
                                         std::int64_t) {
  TORCH_CHECK(
      false,
      "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: a logarithm "
      "of a probability in half precision. Use binary_cross_entropy_with_logits or BCEWithLogitsLoss.");
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define FLOAT32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define FLOAT32_SET(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define WIDEST(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_LOWER_PRECISION_FP(LOWER)
  AT_FORALL_FP32(FLOAT32)
  AT_FORALL_FP32_SET_OPT_DTYPE(FLOAT32_SET)
  AT_FORALL_PROMOTE(WIDEST)
#undef LOWER
#undef FLOAT32
#undef FLOAT32_SET
#undef WIDEST
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  m.impl("binary_cross_entropy", &binary_cross_entropy);
}

}  // namespace
}  // namespace at::autocast
