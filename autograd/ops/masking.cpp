#include "autograd/ops/masking.h"

#include "autograd/ops/call.h"
#include "autograd/ops/index.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/index/nonzero.h"

namespace ocl {
namespace {

using dlprim::require;

void require_mask(const char* op, const Tensor& a, const Tensor& mask) {
  require_one_device(op, {a, mask});
  require<TypeError>(mask.dtype() == DType::boolean, op, ": expected a bool mask, got ", name(mask.dtype()));
}

/** Places of the elements that are not 0: [rank, count] where the dimensions come first, else [count, rank].
 */
dlprim::Tensor places_of_true(const Tensor& a, bool dimensions_first) {
  const Tensor given = a.detach();
  const dlprim::Tensor flags = contiguous(given.dtype() == DType::boolean ? given : ne(given, 0)).data();
  dlprim::Queue& queue = queue_of(flags);
  const dlprim::TrueCount counted = dlprim::count_true(queue, flags);
  const std::int64_t rank = flags.rank();
  const dlprim::Tensor places = dlprim::Tensor::empty(
      flags.device(), dimensions_first ? Dims{rank, counted.count} : Dims{counted.count, rank}, DType::int64);
  if (places.numel() == 0) return places;
  dlprim::Tensor by_count = places;
  if (dimensions_first) {
    std::swap(by_count.shape[0], by_count.shape[1]);
    std::swap(by_count.strides[0], by_count.strides[1]);
  }
  dlprim::write_true(queue, flags, counted, by_count);
  return places;
}

/** The value that masked_fill writes: `value` in the dtype of `a`. Throws for a tensor of more than one
 * element. */
Operand fitting_value(const Tensor& a, const Operand& value) {
  if (value.is_tensor()) {
    require(value.tensor().dim() == 0, "masked_fill: expected a value tensor of 0 dimensions, got shape ",
            value.tensor().shape());
    require_one_device("masked_fill", {a, value.tensor()});
    return to(value.tensor(), a.dtype());
  }
  dlprim::require_holds("masked_fill", a.dtype(), value.number());
  if (a.dtype() == DType::boolean) return dlprim::as_element("masked_fill", a.dtype(), value.number());
  if (is_complex(a.dtype())) return value.number();
  if (is_floating(a.dtype())) return value.number().real();
  return value.number().integer();
}

}  // namespace

Tensor nonzero(const Tensor& a) {
  ENTER_OPERATOR(nonzero, a);
  return Tensor(places_of_true(a, false));
}

TensorList nonzero_as_tuple(const Tensor& a) {
  const Tensor places(places_of_true(a.dim() ? a : reshape(a, {1}), true));
  TensorList result;
  for (std::int64_t d = 0; d < places.size(0); ++d) result.push_back(select(places, 0, d));
  return result;
}

Tensor masked_select(const Tensor& a, const Tensor& mask) {
  ENTER_OPERATOR(masked_select, a, mask);
  require_mask("masked_select", a, mask);
  const std::vector<std::int64_t> shape =
      dlprim::broadcast_shapes(a.shape(), mask.shape(), "masked_select").vector();
  const Tensor places = nonzero_as_tuple(reshape(expand(mask, shape), {-1})).front();
  const Tensor flat = reshape(expand(a, shape), {-1});
  static const dlprim::DeviceCheck check = dlprim::register_check("masked_select: index out of range: ");
  const dlprim::Tensor out = dlprim::Tensor::empty(*a.device(), places.shape(), a.dtype());
  const dlprim::Tensor index = places.data().reshaped({1, places.numel(), 1});
  dlprim::read_places(queue_of(out), readable_lines(flat.data(), 0), index, readable_lines(out, 0),
                      dlprim::Negative::is_error, check);
  return record("MaskedSelectBackward", {flat}, out, [&] {
    // The index is our own: nobody writes it.
    return linear_gradient(
        "MaskedSelectBackward",
        [index, count = flat.numel()](const Tensor& g) {
          const Tensor whole = zeros({count}, g.dtype(), g.device());
          dlprim::write_places(queue_of(whole.data()), readable_lines(g.data(), 0), index,
                               readable_lines(whole.data(), 0), true, dlprim::Negative::is_error, check);
          return whole;
        },
        [places](const Tensor& g) { return index_select(g, 0, places); });
  });
}

Tensor masked_fill(const Tensor& a, const Tensor& mask, const Operand& value) {
  ENTER_OPERATOR(masked_fill, a, mask, value);
  require_mask("masked_fill", a, mask);
  return where(mask, fitting_value(a, value), a);
}

Tensor& masked_fill_(Tensor& a, const Tensor& mask, const Operand& value) {
  ANNOUNCE_ROW("masked_fill_", masked_fill_, a, mask, value);
  require_mask("masked_fill_", a, mask);
  require(dlprim::broadcast_shapes(a.shape(), mask.shape(), "masked_fill_") == a.shape(),
          "masked_fill_: a mask of shape ", mask.shape(), " does not broadcast to ", a.shape());
  const Operand fitting = fitting_value(a, value);
  const Tensor source = fitting.tensor();
  check_in_place("masked_fill_", a, {mask, source});
  const dlprim::PointwiseOperand filling =
      source.defined() ? dlprim::PointwiseOperand(source.data()) : dlprim::PointwiseOperand(fitting.number());
  dlprim::pointwise(queue_of(a.data()), dlprim::forward_expression(dlprim::pointwise_op("where")), a.dtype(),
                    {mask.data(), filling, a.data()}, {}, {a.data()});
  record_in_place("MaskedFillBackward", a, {source}, [&] {
    return [mask = SavedTensor(mask), has_source = source.defined()](const TensorList& g) {
      const Tensor filled(mask.unpack());
      TensorList gradients{where(filled, 0.0, g[0]), Tensor()};
      if (has_source) gradients[1] = sum_to_shape(where(filled, g[0], 0.0), {});
      return gradients;
    };
  });
  return a;
}

Tensor masked_scatter(const Tensor& a, const Tensor& mask, const Tensor& source) {
  ENTER_OPERATOR(masked_scatter, a, mask, source);
  require_mask("masked_scatter", a, mask);
  require_one_device("masked_scatter", {a, source});
  require<TypeError>(a.dtype() == source.dtype(), "masked_scatter: expected self (", name(a.dtype()),
                     ") and source (", name(source.dtype()), ") to have same dtypes");
  const std::vector<std::int64_t> shape =
      dlprim::broadcast_shapes(a.shape(), mask.shape(), "masked_scatter").vector();
  const Tensor whole = expand(a, shape), chosen = expand(mask, shape);
  const std::int64_t count = sum(chosen).item<std::int64_t>();
  require(count <= source.numel(), "masked_scatter: expected at least ", count, " elements in source, got ",
          source.numel());
  if (source.numel() == 0) return whole.clone();
  const Tensor place = clamp_min(cumsum(reshape(chosen, {-1}), 0) - 1, 0);
  const Tensor taken = index_select(reshape(source, {-1}), 0, place);
  return where(chosen, reshape(taken, shape), whole);
}

}  // namespace ocl
