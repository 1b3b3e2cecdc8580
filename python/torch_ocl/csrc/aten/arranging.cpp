#include <ATen/Operators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <torch/library.h>

#include <cmath>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "dlprim/ops/creation/arange.h"
#include "dlprim/runtime/device.h"

/** \file Tensors made from numbers, and elements in another order. */

namespace torch_ocl {
namespace {

at::Tensor& arange(const c10::Scalar& start, const c10::Scalar& end, const c10::Scalar& step,
                   at::Tensor& out) {
  TORCH_CHECK(std::isfinite(start.toDouble()) && std::isfinite(end.toDouble()), "unsupported range: ", start,
              " -> ", end);
  // PyTorch's way to count: int64 in whole numbers, all else in double; other whole numbers lose their
  // fraction after.
  const auto count = [](auto first, auto last, auto by) {
    TORCH_CHECK(by != 0, "step must be nonzero");
    TORCH_CHECK(by > 0 ? last >= first : last <= first,
                "upper bound and lower bound inconsistent with step sign");
    if constexpr (std::is_integral_v<decltype(by)>)
      return (last - first + by - (by > 0 ? 1 : -1)) / by;
    else
      return static_cast<std::int64_t>(std::ceil((last - first) / by));
  };
  const std::int64_t size = out.scalar_type() == c10::kLong
                                ? count(start.toLong(), end.toLong(), step.toLong())
                                : count(start.toDouble(), end.toDouble(), step.toDouble());
  if (out.numel() != size) at::native::resize_output(out, {size});
  if (size == 0) return out;
  const bool is_whole = c10::isIntegralType(out.scalar_type(), false);
  const dlprim::Scalar from = is_whole ? dlprim::Scalar(start.toLong()) : scalar_of(start),
                       by = is_whole ? dlprim::Scalar(step.toLong()) : scalar_of(step);
  into(out,
       [&](const dlprim::Tensor& y) { dlprim::arange(y.device().queue(), y.reshaped({size}), from, by); });
  return out;
}

at::Tensor& linspace(const c10::Scalar& start, const c10::Scalar& end, std::int64_t steps, at::Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  if (out.numel() != steps) at::native::resize_output(out, {steps});
  if (steps == 0) return out;
  const bool is_whole = c10::isIntegralType(out.scalar_type(), true);
  if (steps == 1) return out.fill_(is_whole ? c10::Scalar(start.toLong()) : start);
  // For a result of whole numbers PyTorch cuts both ends first.
  const auto number = [&](const c10::Scalar& given) {
    return is_whole ? static_cast<double>(given.toLong()) : given.toDouble();
  };
  const double first = number(start), last = number(end),
               step = (last - first) / static_cast<double>(steps - 1);
  if (is_whole) {
    if (!device_under(out).info().fp64) return OnTheCpu<at::_ops::linspace_out>::call(start, end, steps, out);
    // From both ends, which are exact: what is cut off must not hang on a rounding.
    const at::TensorOptions options = out.options().dtype(c10::kDouble);
    const std::int64_t half = steps / 2;
    const at::Tensor forwards = at::arange(half, options) * step + first,
                     backwards = at::arange(steps - half - 1, -1, -1, options) * -step + last;
    return out.copy_(at::cat({forwards, backwards}).trunc().view(out.sizes()));
  }
  into(out, [&](const dlprim::Tensor& y) {
    dlprim::arange(y.device().queue(), y.reshaped({steps}), first, step);
  });
  return out;
}

at::Tensor& eye_m(std::int64_t rows, std::int64_t columns, at::Tensor& out) {
  TORCH_CHECK(rows >= 0 && columns >= 0, "eye: sizes must be greater or equal to 0, got ", rows, " and ",
              columns);
  at::native::resize_output(out, {rows, columns});
  out.zero_();
  out.diagonal().fill_(1);
  return out;
}

at::Tensor& eye(std::int64_t rows, at::Tensor& out) {
  return eye_m(rows, rows, out);
}

at::Tensor rolled(const at::Tensor& self, c10::IntArrayRef shifts, c10::IntArrayRef dims) {
  TORCH_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) return rolled(self.reshape({-1}), shifts, 0).view(self.sizes());
  TORCH_CHECK(shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(),
              ", dims:", dims.size());
  at::Tensor result = self;
  for (std::size_t i = 0; i < dims.size() && self.numel() > 0; ++i) {
    const std::int64_t size = self.size(dims[i]), shift = ((shifts[i] % size) + size) % size;
    if (shift == 0) continue;
    result = at::cat({result.narrow(dims[i], size - shift, shift), result.narrow(dims[i], 0, size - shift)},
                     dims[i]);
  }
  return result.is_same(self) ? self.clone() : result;
}

/** PyTorch takes the places on the host only; as numbers they are there. */
std::vector<at::Tensor> split_at(const at::Tensor& self, const at::Tensor& places, std::int64_t dim) {
  TORCH_CHECK(places.scalar_type() == c10::kLong,
              "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
              places.scalar_type());
  TORCH_CHECK(places.dim() <= 1,
              "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
              "tensor, but got a tensor with ",
              places.dim(), " dims");
  const at::Tensor here = places.cpu().contiguous();
  const auto* numbers = here.const_data_ptr<std::int64_t>();
  if (here.dim() == 0) return self.tensor_split(*numbers, dim);
  return self.tensor_split(c10::IntArrayRef(numbers, static_cast<std::size_t>(here.numel())), dim);
}

// Made of differentiable operators.
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("tensor_split.tensor_indices_or_sections", &split_at);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("tensor_split.tensor_indices_or_sections", &split_at);
  Kernels m(library);
  m.impl("arange.start_out", &arange);
  m.impl("linspace.out", &linspace);
  m.impl("eye.out", &eye);
  m.impl("eye.m_out", &eye_m);
  library.impl("roll", &rolled);  // made of what moves all dtypes
}

}  // namespace
}  // namespace torch_ocl
