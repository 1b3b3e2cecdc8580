#include <ATen/CPUFunctions.h>
#include <ATen/native/BatchLinearAlgebra.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/TransposeType.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/kernels.h"
#include "dlprim/ops/linalg/factors.h"

/** \file Factors of matrices, and what PyTorch computes by them: its own functions, whose stubs stand here.
 * PyTorch checks arguments, lays results out and differentiates. */

namespace torch_ocl {
namespace {

using at::native::TransposeType;

/** Calls `work(batches)` with the matrices as one batch [B, rows, columns], in the place of which it writes.
 */
template <class Work>
void in_place(const at::Tensor& a, const Work& work) {
  if (a.numel() == 0) return;
  const at::Tensor batches = a.dim() == 2 ? a.unsqueeze(0) : a.flatten(0, -3);
  work(batches);
  if (!batches.is_alias_of(a)) a.copy_(batches.view(a.sizes()));
}

/** Matrices to read as one batch, which are broadcast to the batch of `like`. */
at::Tensor batches_for(const at::Tensor& a, const at::Tensor& like) {
  std::vector<std::int64_t> shape = like.sizes().slice(0, static_cast<std::size_t>(like.dim() - 2)).vec();
  shape.insert(shape.end(), {a.size(-2), a.size(-1)});
  const at::Tensor whole = a.expand(shape);
  return whole.dim() == 2 ? whole.unsqueeze(0) : whole.flatten(0, -3);
}

/** Numbers along the last dimension, as one batch [B, n]; their matrices may be broadcast. */
at::Tensor rows_for(const at::Tensor& rows, const at::Tensor& like) {
  return batches_for(rows.unsqueeze(-2), like).squeeze(-2).contiguous();
}

dlprim::Queue& queue_of(const at::Tensor& a) {
  return device_under(a).queue();
}

void cholesky(const at::Tensor& a, const at::Tensor& info, bool upper) {
  in_place(a, [&](const at::Tensor& batches) {
    dlprim::cholesky(queue_of(a), raw(upper ? batches.mT() : batches), raw(info.view({-1})));
  });
}

void solve(const at::Tensor& a, const at::Tensor& b, bool left, bool upper, TransposeType transpose,
           bool unitriangular) {
  const bool swaps = (transpose != TransposeType::NoTranspose) == left;
  const at::Tensor of = swaps ? a.mT() : a;
  in_place(b, [&](const at::Tensor& batches) {
    dlprim::solve_triangular(queue_of(b), raw(batches_for(of, b)), upper != swaps, unitriangular,
                             raw(left ? batches : batches.mT()));
  });
}

/** solve, of the matrix that stands in the memory of `a` by columns, whatever its strides say: as LAPACK. */
void solve_stored(const at::Tensor& a, const at::Tensor& b, bool left, bool upper, TransposeType transpose,
                  bool unitriangular) {
  solve(a.stride(-2) == 1 ? a : a.mT(), b, left, upper, transpose, unitriangular);
}

void lu_factor(const at::Tensor& a, const at::Tensor& pivots, const at::Tensor& info, bool pivot) {
  TORCH_CHECK(pivot, "linalg.lu_factor: LU without pivoting is not implemented on ocl devices");
  in_place(a, [&](const at::Tensor& batches) {
    dlprim::lu_factor(queue_of(a), raw(batches), raw(pivots.view({batches.size(0), -1})),
                      raw(info.view({-1})));
  });
}

void swap_rows(const at::Tensor& pivots, bool backwards, const at::Tensor& a) {
  in_place(a, [&](const at::Tensor& batches) {
    dlprim::swap_rows(queue_of(a), raw(rows_for(pivots, a)), backwards, raw(batches));
  });
}

void lu_solve(const at::Tensor& lu, const at::Tensor& pivots, const at::Tensor& b, TransposeType transpose) {
  const bool plain = transpose == TransposeType::NoTranspose;
  if (plain) swap_rows(pivots, false, b);
  solve(lu, b, true, !plain, transpose, plain);
  solve(lu, b, true, plain, transpose, !plain);
  if (!plain) swap_rows(pivots, true, b);
}

void unpack_pivots(at::TensorIterator& iterator, std::int64_t, std::int64_t) {
  swap_rows(iterator.tensor(1), false, iterator.tensor(0).unsqueeze(-1));
}

at::Tensor& cholesky_inverse(at::Tensor& factor, at::Tensor& info, bool upper) {
  if (factor.numel() == 0) return factor;
  const at::Tensor diagonal = factor.diagonal(0, -2, -1), is_zero = diagonal.eq(0);
  info.copy_(((is_zero.to(c10::kInt).argmax(-1) + 1) * is_zero.any(-1)).reshape(info.sizes()));
  const at::Tensor root = at::eye(factor.size(-1), factor.options()).expand_as(factor).contiguous();
  solve(factor, root, true, upper, TransposeType::NoTranspose, false);
  return factor.copy_(upper ? at::matmul(root, root.mT()) : at::matmul(root.mT(), root));
}

void qr_factor(const at::Tensor& a, const at::Tensor& tau) {
  in_place(a, [&](const at::Tensor& batches) {
    dlprim::qr_factor(queue_of(a), raw(batches), raw(tau.view({batches.size(0), -1})));
  });
}

void multiply_by_q(const at::Tensor& a, const at::Tensor& tau, const at::Tensor& c, bool left,
                   bool transpose) {
  in_place(c, [&](const at::Tensor& batches) {
    dlprim::apply_reflectors(queue_of(c), raw(batches_for(a, c)), raw(rows_for(tau, c)), transpose == left,
                             raw(left ? batches : batches.mT()));
  });
}

at::Tensor& make_q(at::Tensor& a, const at::Tensor& tau) {
  const at::Tensor q = at::eye(a.size(-2), a.size(-1), a.options()).expand_as(a).contiguous();
  multiply_by_q(a, tau, q, true, false);
  return a.copy_(q);
}

at::Tensor cholesky_solve(const at::Tensor& b, const at::Tensor& factor, bool upper) {
  const at::Tensor lower = upper ? factor.mT() : factor;
  return at::linalg_solve_triangular(lower.mT(), at::linalg_solve_triangular(lower, b, false), true);
}

template <class Argument>
constexpr bool is_out = std::is_same_v<Argument, at::Tensor&>;

/** The out arguments among a function's, as aten returns them. */
template <class Argument>
auto outs_of([[maybe_unused]] std::remove_reference_t<Argument>& argument) {
  if constexpr (is_out<Argument>)
    return std::tie(argument);
  else
    return std::tuple<>();
}

/**
 * A function of PyTorch's that writes to tensors of any device. It gets fresh ones, which it gives the
 * strides that it wants: where `out` has others, PyTorch takes memory of the CPU in between.
 */
template <auto function, class = decltype(function)>
struct Into;
template <auto function, class Result, class... Arguments>
struct Into<function, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) {
    return with(std::tuple<std::conditional_t<is_out<Arguments>, at::Tensor, Arguments>...>(
                    handed<Arguments>(arguments)...),
                std::index_sequence_for<Arguments...>(), arguments...);
  }

 private:
  template <class Argument>
  static auto handed(std::remove_reference_t<Argument>& argument)
      -> std::conditional_t<is_out<Argument>, at::Tensor, Argument> {
    if constexpr (is_out<Argument>)
      return at::empty({0}, argument.options());
    else
      return argument;
  }

  template <class Handed, std::size_t... i>
  static Result with(Handed given, std::index_sequence<i...>,
                     std::remove_reference_t<Arguments>&... arguments) {
    function(std::get<i>(given)...);
    const auto write = [](auto& argument, const auto& made) {
      if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, at::Tensor> &&
                    !std::is_const_v<std::remove_reference_t<decltype(argument)>>) {
        at::native::resize_output(argument, made.sizes());
        argument.copy_(made);
      }
    };
    (write(arguments, std::get<i>(given)), ...);
    const auto outs = std::tuple_cat(outs_of<Arguments>(arguments)...);
    if constexpr (std::is_same_v<Result, at::Tensor&>)
      return std::get<0>(outs);
    else
      return outs;
  }
};

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("cholesky", &at::cpu::cholesky);
  m.impl("cholesky.out", &Into<&at::cpu::cholesky_outf>::call);
  m.impl("cholesky_inverse", &at::cpu::cholesky_inverse);
  m.impl("cholesky_inverse.out", &Into<&at::cpu::cholesky_inverse_outf>::call);
  m.impl("_cholesky_solve_helper", &cholesky_solve);
  m.impl("linalg_cholesky_ex.L", &Into<&at::cpu::linalg_cholesky_ex_outf>::call);
  m.impl("linalg_solve_triangular", &at::cpu::linalg_solve_triangular);
  m.impl("linalg_solve_triangular.out", &Into<&at::cpu::linalg_solve_triangular_outf>::call);
  m.impl("triangular_solve.X", &Into<&at::cpu::triangular_solve_outf>::call);
  m.impl("linalg_lu_factor_ex.out", &Into<&at::cpu::linalg_lu_factor_ex_outf>::call);
  m.impl("linalg_lu.out", &Into<&at::cpu::linalg_lu_outf>::call);
  m.impl("linalg_lu_solve.out", &Into<&at::cpu::linalg_lu_solve_outf>::call);
  m.impl("lu_unpack.out", &Into<&at::cpu::lu_unpack_outf>::call);
  m.impl("_linalg_solve_ex.result", &Into<&at::cpu::_linalg_solve_ex_outf>::call);
  m.impl("linalg_inv_ex.inverse", &Into<&at::cpu::linalg_inv_ex_outf>::call);
  m.impl("_linalg_det.result", &Into<&at::cpu::_linalg_det_outf>::call);
  m.impl("_linalg_slogdet.sign", &Into<&at::cpu::_linalg_slogdet_outf>::call);
  m.impl("geqrf", &at::cpu::geqrf);
  m.impl("geqrf.a", &Into<&at::cpu::geqrf_outf>::call);
  m.impl("linalg_householder_product", &at::cpu::linalg_householder_product);
  m.impl("linalg_householder_product.out", &Into<&at::cpu::linalg_householder_product_outf>::call);
  m.impl("ormqr", &at::cpu::ormqr);
  m.impl("ormqr.out", &Into<&at::cpu::ormqr_outf>::call);
  m.impl("linalg_qr.out", &Into<&at::cpu::linalg_qr_outf>::call);
}

}  // namespace
}  // namespace torch_ocl

namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(cholesky_stub, &torch_ocl::cholesky)
REGISTER_PRIVATEUSE1_DISPATCH(cholesky_inverse_stub, &torch_ocl::cholesky_inverse)
REGISTER_PRIVATEUSE1_DISPATCH(triangular_solve_stub, &torch_ocl::solve_stored)
REGISTER_PRIVATEUSE1_DISPATCH(lu_factor_stub, &torch_ocl::lu_factor)
REGISTER_PRIVATEUSE1_DISPATCH(lu_solve_stub, &torch_ocl::lu_solve)
REGISTER_PRIVATEUSE1_DISPATCH(unpack_pivots_stub, &torch_ocl::unpack_pivots)
REGISTER_PRIVATEUSE1_DISPATCH(geqrf_stub, &torch_ocl::qr_factor)
REGISTER_PRIVATEUSE1_DISPATCH(orgqr_stub, &torch_ocl::make_q)
REGISTER_PRIVATEUSE1_DISPATCH(ormqr_stub, &torch_ocl::multiply_by_q)

}  // namespace at::native
