#include "autograd/ops/quantized.h"

#include <algorithm>
#include <limits>

#include "autograd/ops/call.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/precision.h"
#include "dlprim/ops/quantized/quantized_linear.h"
#include "dlprim/ops/quantized/quantized_shared.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

void require_floating_matrix(const char* op, const Tensor& weight) {
  require(weight.dim() == 2, op, ": expected a weight of shape [out, in], got ", weight.shape());
  dlprim::require_floating(weight.dtype(), *weight.device(), op);
}

void require_one_device_of(const char* op, TensorList tensors) {
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(), [](const Tensor& t) { return !t.defined(); }),
                tensors.end());
  require_one_device(op, tensors);
}

/** The dtype that scales and numbers are computed in. */
DType wide_dtype(const Tensor& weight) {
  return weight.dtype() == DType::float64 ? DType::float64 : DType::float32;
}

double smallest_normal(DType dtype) {
  return dtype == DType::float64 ? std::numeric_limits<double>::min()
                                 : double{std::numeric_limits<float>::min()};
}

/** A weight as its operators keep it for backward. */
struct KeptWeight {
  SavedTensor weight, scales, zeros;

  dlprim::Tensor times(const Tensor& given) const {
    const Tensor g = contiguous(given);
    const std::int64_t in = dlprim::inputs_of("quantized_linear", weight.unpack(), raw_or_null(zeros));
    const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), {g.size(0), in}, g.dtype());
    dlprim::quantized_linear_backward_data(g.device()->queue(), g.data(), weight.unpack(), scales.unpack(),
                                           raw_or_null(zeros), dx, float32_matmul_precision());
    return dx;
  }
  dlprim::Tensor times_transposed(const Tensor& given) const {
    const Tensor x = contiguous(given);
    const dlprim::Tensor y =
        dlprim::Tensor::empty(*x.device(), {x.size(0), weight.unpack().shape[0]}, x.dtype());
    dlprim::quantized_linear_forward(x.device()->queue(), x.data(), weight.unpack(), scales.unpack(),
                                     raw_or_null(zeros), nullptr, y, float32_matmul_precision());
    return y;
  }
};

}  // namespace

TensorPair quantize_int8(const Tensor& weight) {
  ENTER_OPERATOR(quantize_int8, weight);
  constexpr double half_range = 127.5, least_scale = std::numeric_limits<float>::epsilon();
  require_floating_matrix("quantize_int8", weight);
  const DType wide = wide_dtype(weight);
  const Tensor given = weight.detach();
  if (given.size(1) == 0)
    return {to(given, DType::int8), full({given.size(0)}, least_scale, wide, given.device())};
  const Tensor largest = amax(ocl::abs(given), {1}, true);
  const Tensor scales = clamp_min(to(largest / half_range, wide), least_scale);
  const Tensor numbers = clamp(round(to(given, wide) * (1 / scales)), -128, 127);
  return {to(numbers, DType::int8), reshape(scales, {given.size(0)})};
}

TensorList quantize_int4(const Tensor& weight, std::int64_t group_size) {
  ENTER_OPERATOR(quantize_int4, weight, group_size);
  constexpr const char* op = "quantize_int4";
  constexpr std::int64_t half_block = dlprim::QUANTIZED_BLOCK / 2;
  require_floating_matrix(op, weight);
  require(group_size == 32 || group_size == 64 || group_size == 128 || group_size == 256, op,
          ": expected a group_size of 32, 64, 128 or 256, got ", group_size);
  const std::int64_t out = weight.size(0), in = weight.size(1);
  require(in % group_size == 0, op, ": a weight of shape ", weight.shape(), " has ", in,
          " inputs, which group_size ", group_size, " does not divide");
  const DType wide = wide_dtype(weight);
  const std::int64_t groups = in / group_size;
  if (groups == 0) {
    const Tensor none = reshape(weight.detach(), {out, 0});
    return {to(none, DType::uint8), none, none};
  }
  const Tensor grouped = reshape(to(weight.detach(), wide), {out, groups, group_size});
  const Tensor least = amin(grouped, {2}, true), largest = amax(grouped, {2}, true);
  const Tensor scales = clamp_min((largest - least) / 15, smallest_normal(wide));
  const Tensor zeros = least + scales * 8;
  const Tensor numbers = clamp(round((grouped - least) / scales), 0, 15);
  const Tensor blocks = reshape(numbers, {out, in / dlprim::QUANTIZED_BLOCK, 2, half_block});
  const Tensor packed = to(select(blocks, 2, 0) + select(blocks, 2, 1) * 16, DType::uint8);
  const auto of_groups = [&](const Tensor& t) { return to(reshape(t, {out, groups}), weight.dtype()); };
  return {reshape(packed, {out, in / 2}), of_groups(scales), of_groups(zeros)};
}

Tensor dequantize_weight(const Tensor& weight, const Tensor& scales, const Tensor& zeros,
                         std::optional<DType> dtype) {
  ENTER_OPERATOR(dequantize_weight, weight, scales, zeros, dtype);
  constexpr const char* op = "dequantize_weight";
  require_one_device_of(op, {weight, scales, zeros});
  const std::int64_t in = dlprim::inputs_of(op, weight.data(), raw_or_null(zeros));
  const Tensor q = contiguous(weight), s = contiguous(scales.detach()), z = contiguous_or_none(zeros);
  const dlprim::Tensor result =
      dlprim::Tensor::empty(*weight.device(), {weight.size(0), in}, dtype.value_or(scales.dtype()));
  dlprim::dequantize_weight(weight.device()->queue(), q.data(), s.data(), raw_or_null(z), result);
  return Tensor(result);
}

Tensor quantized_linear(const Tensor& input, const Tensor& weight, const Tensor& scales, const Tensor& zeros,
                        const Tensor& bias) {
  ENTER_OPERATOR(quantized_linear, input, weight, scales, zeros, bias);
  constexpr const char* op = "quantized_linear";
  require_one_device_of(op, {input, weight, scales, zeros, bias});
  require<AutogradError>(!needs_tape({scales, zeros}), op,
                         ": not differentiable with respect to scales and zeros, which require grad");
  dlprim::require_floating(input.dtype(), *input.device(), op);
  const std::int64_t in = dlprim::inputs_of(op, weight.data(), raw_or_null(zeros)), out = weight.size(0);
  require(input.dim() > 0 && input.size(-1) == in, op, ": input of shape ", input.shape(),
          " and a weight for ", in, " input features cannot be multiplied");
  require(!bias.defined() || bias.shape() == Dims{out}, op, ": expected a bias of shape [", out, "], got ",
          bias.defined() ? bias.shape() : Dims());
  require<TypeError>(!bias.defined() || bias.dtype() == input.dtype(), op,
                     ": expected a bias of the input's dtype ", name(input.dtype()), ", got ",
                     name(bias.defined() ? bias.dtype() : input.dtype()));
  if (input.dim() != 2) {
    std::vector<std::int64_t> shape = input.shape().vector();
    shape.back() = out;
    const std::int64_t rows = dlprim::product(Dims(input.shape().begin(), input.shape().end() - 1));
    return reshape(quantized_linear(reshape(input, {rows, in}), weight, scales, zeros, bias), shape);
  }
  const Tensor x = contiguous(input), q = contiguous(weight), s = contiguous(scales),
               z = contiguous_or_none(zeros), added = contiguous_or_none(bias);
  const dlprim::Tensor y = dlprim::Tensor::empty(*x.device(), {x.size(0), out}, x.dtype());
  dlprim::quantized_linear_forward(x.device()->queue(), x.data(), q.data(), s.data(), raw_or_null(z),
                                   raw_or_null(added), y, float32_matmul_precision());
  return record("QuantizedLinearBackward", {input, bias}, y, [&] {
    const KeptWeight kept{SavedTensor(q), SavedTensor(s), SavedTensor(z)};
    return [kept](const TensorList& gradients) {
      const Tensor& g = gradients[0];
      TensorList results(2);
      if (gradient_is_wanted(0))
        results[0] = apply_linear(
            "QuantizedLinearBackward", g, [kept](const Tensor& t) { return Tensor(kept.times(t)); },
            [kept](const Tensor& t) { return Tensor(kept.times_transposed(t)); });
      if (gradient_is_wanted(1)) results[1] = sum(g, {0});
      return results;
    };
  });
}

}  // namespace ocl
