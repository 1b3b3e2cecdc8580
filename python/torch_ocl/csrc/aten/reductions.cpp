#include <ATen/native/ReduceOpsUtils.h>
#include <torch/library.h>

#include <cmath>

#include "arguments.h"
#include "aten/compute_type.h"
#include "aten/kernels.h"
#include "dlprim/ops/reduce/reduce.h"

namespace torch_ocl {
namespace {

using Pair = std::tuple<at::Tensor, at::Tensor>;

/** Which dimensions of `self`; none given: all. */
dlprim::DimMask mask_of(const char* name, const at::Tensor& self, c10::OptionalIntArrayRef dims) {
  return dlprim::dim_mask(dims ? dims->vec() : std::vector<std::int64_t>(), static_cast<int>(self.dim()),
                          name);
}

/** Gives `out` the shape of the reduction. */
void resize_reduced(const at::Tensor& out, const at::Tensor& self, dlprim::DimMask mask, bool keepdim) {
  at::native::resize_output(out, sizes_of(dlprim::reduced_shape(dims_of(self.sizes()), mask, keepdim)));
}

void reduce_into(const char* row, const at::Tensor& self, dlprim::DimMask mask, bool keepdim,
                 const at::Tensor& out, double p = 0) {
  resize_reduced(out, self, mask, keepdim);
  if (out.numel() == 0) return;
  into(out,
       [&](const dlprim::Tensor& y) {
         dlprim::reduce(y.device().queue(), dlprim::reduction(row), raw(self), mask, y, {nullptr, p});
       },
       {self});
}

/** Sums and the like, which have a value for no elements. */
template <const char* row>
at::Tensor& with_dtype(const at::Tensor& self, c10::OptionalIntArrayRef dims, bool keepdim,
                       std::optional<c10::ScalarType> dtype, at::Tensor& out) {
  reduce_into(row, dtype ? self.to(*dtype) : self, mask_of(row, self, dims), keepdim, out);
  return out;
}

at::Tensor& nansum_out(const at::Tensor& self, c10::OptionalIntArrayRef dims, bool keepdim,
                       std::optional<c10::ScalarType> dtype, at::Tensor& out) {
  const at::Tensor known = c10::isFloatingType(self.scalar_type())
                               ? at::where(self.isnan(), at::zeros({}, self.options()), self)
                               : self;
  return at::sum_out(out, known, dims, keepdim, dtype);
}

at::Tensor nansum(const at::Tensor& self, c10::OptionalIntArrayRef dims, bool keepdim,
                  std::optional<c10::ScalarType> dtype) {
  const c10::ScalarType type =
      dtype.value_or(c10::isIntegralType(self.scalar_type(), true) ? c10::kLong : self.scalar_type());
  at::Tensor out = at::empty({0}, self.options().dtype(type));
  return nansum_out(self, dims, keepdim, dtype, out);
}

at::Tensor& prod_dim(const at::Tensor& self, std::int64_t dim, bool keepdim,
                     std::optional<c10::ScalarType> dtype, at::Tensor& out) {
  reduce_into("prod", dtype ? self.to(*dtype) : self, mask_of("prod", self, c10::IntArrayRef(dim)), keepdim,
              out);
  return out;
}

at::Tensor prod(const at::Tensor& self, std::optional<c10::ScalarType> dtype) {
  const c10::ScalarType type =
      dtype.value_or(c10::isIntegralType(self.scalar_type(), true) ? c10::kLong : self.scalar_type());
  at::Tensor out = at::empty({}, self.options().dtype(type));
  reduce_into("prod", dtype ? self.to(*dtype) : self, mask_of("prod", self, std::nullopt), false, out);
  return out;
}

at::Tensor count_nonzero(const at::Tensor& self, c10::IntArrayRef dims) {
  at::Tensor out = at::empty({0}, self.options().dtype(c10::kLong));
  reduce_into("count_nonzero", self, mask_of("count_nonzero", self, dims), false, out);
  return out;
}

// ---- extremes, which no elements have none of

template <const char* row>
at::Tensor& extreme(const at::Tensor& self, c10::IntArrayRef dims, bool keepdim, at::Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(), row,
              "(): Expected the dtype for input and out to match, ", "but got ", self.scalar_type(),
              " for input's dtype and ", out.scalar_type(), " for out's dtype.");
  if (self.numel() == 0) at::native::zero_numel_check_dims(self, dims, row);
  reduce_into(row, self, mask_of(row, self, dims), keepdim, out);
  return out;
}

template <const char* row>
at::Tensor& whole_out(const at::Tensor& self, at::Tensor& out) {
  TORCH_CHECK(self.numel() > 0, row, "(): expected a tensor with elements, got shape ", self.sizes());
  TORCH_CHECK(self.scalar_type() == out.scalar_type(), row, "(): expected a result of dtype ",
              self.scalar_type(), ", got ", out.scalar_type());
  reduce_into(row, self, mask_of(row, self, std::nullopt), false, out);
  return out;
}

template <const char* row>
at::Tensor whole(const at::Tensor& self) {
  at::Tensor out = at::empty({}, self.options());
  return whole_out<row>(self, out);
}

std::tuple<at::Tensor&, at::Tensor&> both_extremes(const at::Tensor& self, std::optional<std::int64_t> dim,
                                                   bool keepdim, at::Tensor& least, at::Tensor& most) {
  const std::vector<std::int64_t> dims = dim ? std::vector{*dim} : std::vector<std::int64_t>();
  at::amin_out(least, self, dims, keepdim);
  at::amax_out(most, self, dims, keepdim);
  return {least, most};
}

/** Writes `values` (unless undefined) and `indices`. */
void index_into(const char* name, dlprim::Extreme kind, const at::Tensor& self, dlprim::DimMask mask,
                bool keepdim, const at::Tensor& values, const at::Tensor& indices) {
  for (const at::Tensor& out : {values, indices})
    if (out.defined()) resize_reduced(out, self, mask, keepdim);
  TORCH_CHECK(indices.scalar_type() == c10::kLong, name, "(): expected indices of dtype Long, got ",
              indices.scalar_type());
  if (indices.numel() == 0) return;
  TORCH_CHECK_INDEX(self.numel() > 0, name, "(): Expected reduction dim to have non-zero size, got shape ",
                    self.sizes());
  into(indices,
       [&](const dlprim::Tensor& places) {
         const auto find = [&](const dlprim::Tensor& found) {
           dlprim::reduce_index(places.device().queue(), kind, raw(self), mask, found, places);
         };
         if (values.defined())
           into(values, find, {self});
         else
           find({});
       },
       {self});
}

constexpr char argmax[] = "argmax", argmin[] = "argmin", max[] = "max", min[] = "min";

template <const char* name, dlprim::Extreme kind>
at::Tensor& place(const at::Tensor& self, std::optional<std::int64_t> dim, bool keepdim, at::Tensor& out) {
  const std::vector<std::int64_t> dims = dim ? std::vector{*dim} : std::vector<std::int64_t>();
  TORCH_CHECK_INDEX(dim || self.numel() > 0, name,
                    "(): Expected reduction dim to be specified for input.numel() == 0.");
  index_into(name, kind, self, mask_of(name, self, dims), keepdim, {}, out);
  return out;
}

template <const char* name, dlprim::Extreme kind>
std::tuple<at::Tensor&, at::Tensor&> with_place(const at::Tensor& self, std::int64_t dim, bool keepdim,
                                                at::Tensor& values, at::Tensor& indices) {
  TORCH_CHECK(values.scalar_type() == self.scalar_type(), name, "(): expected values of dtype ",
              self.scalar_type(), ", got ", values.scalar_type());
  if (self.numel() == 0) at::native::zero_numel_check_dims(self, dim, name);
  index_into(name, kind, self, mask_of(name, self, c10::IntArrayRef(dim)), keepdim, values, indices);
  return {values, indices};
}

// ---- truth

template <const char* row>
at::Tensor& truth(const at::Tensor& self, std::int64_t dim, bool keepdim, at::Tensor& out) {
  reduce_into(row, self, mask_of(row, self, c10::IntArrayRef(dim)), keepdim, out);
  return out;
}

template <const char* row>
at::Tensor& truth_of_dims(const at::Tensor& self, c10::OptionalIntArrayRef dims, bool keepdim,
                          at::Tensor& out) {
  // Here alone an empty list stands for no dimension.
  reduce_into(row, self, dims && dims->empty() ? 0 : mask_of(row, self, dims), keepdim, out);
  return out;
}

template <const char* row>
at::Tensor& whole_truth(const at::Tensor& self, at::Tensor& out) {
  reduce_into(row, self, mask_of(row, self, std::nullopt), false, out);
  return out;
}

// ---- moments

/** Variance or its root, and the mean, in fresh tensors of self's dtype. */
Pair moments(const char* name, bool root, const at::Tensor& self, c10::OptionalIntArrayRef dims,
             const std::optional<c10::Scalar>& correction, bool keepdim) {
  TORCH_CHECK(c10::isFloatingType(self.scalar_type()), name,
              " only support floating point and complex dtypes");
  const dlprim::DimMask mask = mask_of(name, self, dims);
  // The variance may be more than 16 bits hold where its root is not.
  const at::TensorOptions wide = self.options().dtype(compute_type(self.scalar_type()));
  at::Tensor result = at::empty({0}, root ? wide : self.options());
  resize_reduced(result, self, mask, keepdim);
  const at::Tensor mean = at::empty(result.sizes(), wide);
  if (result.numel() > 0 && self.numel() == 0) {
    result.fill_(NAN);
    mean.fill_(NAN);
  } else if (result.numel() > 0) {
    dlprim::variance(device_under(self).queue(), raw(self), mask, correction ? correction->toDouble() : 1.0,
                     raw(mean), raw(result));
  }
  if (root) result.sqrt_();
  return {result.to(self.scalar_type()), mean.to(self.scalar_type())};
}

constexpr char var[] = "var", std_[] = "std";

template <const char* name>
Pair moments_with_mean(const at::Tensor& self, c10::OptionalIntArrayRef dims,
                       const std::optional<c10::Scalar>& correction, bool keepdim) {
  return moments(name, name == std_, self, dims, correction, keepdim);
}

template <const char* name>
at::Tensor moment(const at::Tensor& self, c10::OptionalIntArrayRef dims,
                  const std::optional<c10::Scalar>& correction, bool keepdim) {
  return std::get<0>(moments(name, name == std_, self, dims, correction, keepdim));
}

template <const char* name>
at::Tensor& moment_out(const at::Tensor& self, c10::OptionalIntArrayRef dims,
                       const std::optional<c10::Scalar>& correction, bool keepdim, at::Tensor& out) {
  const at::Tensor made = moment<name>(self, dims, correction, keepdim);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

// ---- norms

at::Tensor& vector_norm(const at::Tensor& self, const c10::Scalar& ord, c10::OptionalIntArrayRef dims,
                        bool keepdim, std::optional<c10::ScalarType> dtype, at::Tensor& out) {
  const double p = ord.toDouble();
  const dlprim::DimMask mask = mask_of("linalg.vector_norm", self, dims);
  TORCH_CHECK(dlprim::reduced_count(dims_of(self.sizes()), mask) > 0 || (p >= 0 && !std::isinf(p)),
              "linalg.vector_norm cannot compute the ", p,
              " norm on an empty tensor because the operation does not have an identity");
  reduce_into(dlprim::norm_reduction(p).name.c_str(), dtype ? self.to(*dtype) : self, mask, keepdim, out, p);
  return out;
}

at::Tensor& norm_with_dtype(const at::Tensor& self, const std::optional<c10::Scalar>& p,
                            c10::IntArrayRef dims, bool keepdim, c10::ScalarType dtype, at::Tensor& out) {
  const double order = p ? p->toDouble() : 2.0;
  reduce_into(dlprim::norm_reduction(order).name.c_str(), self.to(dtype), mask_of("norm", self, dims),
              keepdim, out, order);
  return out;
}

at::Tensor& norm(const at::Tensor& self, const std::optional<c10::Scalar>& p, c10::IntArrayRef dims,
                 bool keepdim, at::Tensor& out) {
  return norm_with_dtype(self, p, dims, keepdim, self.scalar_type(), out);
}

constexpr char sum[] = "sum", mean[] = "mean", amax[] = "amax", amin[] = "amin", all[] = "all", any[] = "any";

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("sum.IntList_out", &with_dtype<sum>);
  m.impl("mean.out", &with_dtype<mean>);
  m.impl("nansum", &nansum);
  m.impl("nansum.out", &nansum_out);
  m.impl("prod", &prod);
  m.impl("prod.int_out", &prod_dim);
  m.impl("count_nonzero.dim_IntList", &count_nonzero);
  m.impl("amax.out", &extreme<amax>);
  m.impl("amin.out", &extreme<amin>);
  m.impl("max", &whole<amax>);
  m.impl("min", &whole<amin>);
  m.impl("max.unary_out", &whole_out<amax>);
  m.impl("min.unary_out", &whole_out<amin>);
  m.impl("aminmax.out", &both_extremes);
  m.impl("argmax.out", &place<argmax, dlprim::Extreme::max>);
  m.impl("argmin.out", &place<argmin, dlprim::Extreme::min>);
  m.impl("max.dim_max", &with_place<max, dlprim::Extreme::max>);
  m.impl("min.dim_min", &with_place<min, dlprim::Extreme::min>);
  m.impl("all.out", &truth<all>);
  m.impl("any.out", &truth<any>);
  m.impl("all.dims_out", &truth_of_dims<all>);
  m.impl("any.dims_out", &truth_of_dims<any>);
  m.impl("all.all_out", &whole_truth<all>);
  m.impl("any.all_out", &whole_truth<any>);
  m.impl("var.correction", &moment<var>);
  m.impl("var.correction_out", &moment_out<var>);
  m.impl("var_mean.correction", &moments_with_mean<var>);
  m.impl("std.correction", &moment<std_>);
  m.impl("std.correction_out", &moment_out<std_>);
  m.impl("std_mean.correction", &moments_with_mean<std_>);
  m.impl("linalg_vector_norm.out", &vector_norm);
  m.impl("norm.out", &norm);
  m.impl("norm.dtype_out", &norm_with_dtype);
}

}  // namespace
}  // namespace torch_ocl
