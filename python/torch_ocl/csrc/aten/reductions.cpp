#include <torch/library.h>

#include <cmath>

#include "aten/row_kernels.h"
#include "autograd/autograd.h"
#include "dlprim/ops/reduce/reduce.h"

/** \file Reductions: ocl's, with aten's arguments. */

namespace torch_ocl {
namespace {

using ocl::DimList;
using ocl::Tensor;
using GivenDType = std::optional<ocl::DType>;
using GivenDims = std::optional<DimList>;
using Reduction = Tensor (*)(const Tensor&, const DimList&, bool);

Tensor as(GivenDType dtype, const Tensor& x) {
  return dtype ? ocl::to(x, *dtype) : x;
}

/** Over several dimensions, in a dtype, which the result has too: sums of integers are int64 by themselves.
 */
template <Reduction reduction>
Tensor with_dtype(const Tensor& x, const DimList& dims, bool keepdim, GivenDType dtype) {
  return as(dtype, reduction(as(dtype, x), dims, keepdim));
}

Tensor nansum(const Tensor& x, const DimList& dims, bool keepdim, GivenDType dtype) {
  const Tensor numbers = dlprim::is_floating(x.dtype()) ? ocl::where(ocl::isnan(x), 0, x) : x;
  return as(dtype, ocl::sum(as(dtype, numbers), dims, keepdim));
}

Tensor prod_of_dim(const Tensor& x, std::int64_t dim, bool keepdim, GivenDType dtype) {
  return as(dtype, ocl::prod(as(dtype, x), {dim}, keepdim));
}
Tensor prod(const Tensor& x, GivenDType dtype) {
  return as(dtype, ocl::prod(as(dtype, x)));
}

template <Reduction reduction>
Tensor over_all(const Tensor& x) {
  return reduction(x, {}, false);
}
template <Reduction reduction>
Tensor over_dim(const Tensor& x, std::int64_t dim, bool keepdim) {
  return reduction(x, {dim}, keepdim);
}
/** Here alone an empty list stands for no dimension. */
template <Reduction reduction>
Tensor over_dims(const Tensor& x, const GivenDims& dims, bool keepdim) {
  if (dims && dims->empty()) return reduction(ocl::unsqueeze(x, 0), {0}, false);
  return reduction(x, dims.value_or(DimList()), keepdim);
}

Tensor norm(const Tensor& x, std::optional<double> p, const DimList& dims, bool keepdim) {
  return ocl::norm(x, p.value_or(2), dims, keepdim);
}
Tensor norm_with_dtype(const Tensor& x, std::optional<double> p, const DimList& dims, bool keepdim,
                       ocl::DType dtype) {
  return ocl::norm(ocl::to(x, dtype), p.value_or(2), dims, keepdim);
}
Tensor vector_norm(const Tensor& x, double p, const DimList& dims, bool keepdim, GivenDType dtype) {
  const dlprim::DimMask mask = dlprim::dim_mask(dims, x.dim(), "linalg.vector_norm");
  TORCH_CHECK(dlprim::reduced_count(x.shape(), mask) > 0 || (p >= 0 && !std::isinf(p)),
              "linalg.vector_norm cannot compute the ", p,
              " norm on an empty tensor because the operation does not have an identity");
  return ocl::norm(as(dtype, x), p, dims, keepdim);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  RowKernels m(library);
  using ocl::operator_form;
  m.function("sum.dim_IntList", &with_dtype<ocl::sum>);
  m.function("mean.dim", &with_dtype<ocl::mean>);
  m.function("nansum", &nansum);
  m.function("prod", &prod);
  m.function("prod.dim_int", &prod_of_dim);
  m.function("count_nonzero.dim_IntList",
             static_cast<Tensor (*)(const Tensor&, const DimList&)>(
                 [](const Tensor& x, const DimList& dims) { return ocl::count_nonzero(x, dims); }));
  m.function("amax", Reduction(ocl::amax));
  m.function("amin", Reduction(ocl::amin));
  m.function("max", &over_all<ocl::amax>);
  m.function("min", &over_all<ocl::amin>);
  m.row("aminmax");
  m.row("argmax");
  m.row("argmin");
  m.row("max.dim", operator_form("max", "dim"));
  m.row("min.dim", operator_form("min", "dim"));
  m.function("all", &over_all<ocl::all>);
  m.function("any", &over_all<ocl::any>);
  m.function("all.dim", &over_dim<ocl::all>);
  m.function("any.dim", &over_dim<ocl::any>);
  m.function("all.dims", &over_dims<ocl::all>);
  m.function("any.dims", &over_dims<ocl::any>);
  const ArgumentNames several{{{"dim", "dims"}}, {}};
  m.row("var.correction", operator_form("var"), several);
  m.row("std.correction", operator_form("std"), several);
  m.row("var_mean.correction", operator_form("var_mean"), several);
  m.row("std_mean.correction", operator_form("std_mean"), several);
  m.row("logsumexp", operator_form("logsumexp"), several);
  m.function("linalg_vector_norm", &vector_norm);
  m.function("norm.ScalarOpt_dim", &norm);
  m.function("norm.ScalarOpt_dim_dtype", &norm_with_dtype);
}

}  // namespace
}  // namespace torch_ocl
