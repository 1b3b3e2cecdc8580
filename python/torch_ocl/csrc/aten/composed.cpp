#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "arguments.h"
#include "aten/kernels.h"
#include "aten/row_kernels.h"
#include "autograd/ops/fft.h"

/** \file Operators that PyTorch has kernels of for each device, made of others here. */

namespace torch_ocl {
namespace {

at::Tensor& fill_tensor(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return self.copy_(value.expand(self.sizes()));
}

bool equal(const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "Expected object of data type ", self.scalar_type(),
              " but got data type ", other.scalar_type(), " for argument 'other' in call to equal");
  return self.sizes() == other.sizes() && (self.numel() == 0 || self.eq(other).all().item<bool>());
}

/** Zeros that PyTorch need not store, stored. */
at::Tensor zeros(c10::IntArrayRef size, std::optional<c10::ScalarType> dtype,
                 std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                 std::optional<bool> pin_memory) {
  return at::zeros(size, dtype, layout, device, pin_memory);
}

/** The gradient of a view of sliding windows: what several windows hold is added up. */
at::Tensor unfold_backward(const at::Tensor& grad, c10::IntArrayRef sizes, std::int64_t dim,
                           std::int64_t size, std::int64_t step) {
  at::Tensor result = at::zeros(sizes, grad.options());
  if (sizes.empty()) return result.add_(grad.reshape({-1}).sum());
  dim = at::maybe_wrap_dim(dim, static_cast<std::int64_t>(sizes.size()));
  const at::Tensor places =
      at::arange(result.size(dim), grad.options().dtype(c10::kLong)).unfold(0, size, step);
  return result.index_add_(dim, places.reshape({-1}), grad.movedim(-1, dim + 1).flatten(dim, dim + 1));
}

at::Tensor repeat_interleave(const at::Tensor& repeats, std::optional<std::int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == c10::kLong || repeats.scalar_type() == c10::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.numel() == 0) return at::empty({0}, repeats.options());
  TORCH_CHECK((repeats >= 0).all().item<bool>(), "repeats can not be negative");
  const at::Tensor counts = repeats.to(c10::kLong), ends = counts.cumsum(0);
  const std::int64_t total = ends[-1].item<std::int64_t>();
  TORCH_CHECK(!output_size || *output_size == total, "allocated size does not match required size");
  // Each entry counts one at its first place; an entry without a place counts one behind the last.
  const at::Tensor marks = at::zeros({total + 1}, counts.options());
  marks.index_add_(0, ends - counts, at::ones_like(counts));
  return (marks.cumsum(0) - 1).narrow(0, 0, total).to(repeats.scalar_type());
}

/** Elements put back to where a pooling of the last `axes` dimensions took them from. */
at::Tensor& unpool(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size,
                   at::Tensor& out) {
  const auto axes = static_cast<std::int64_t>(size.size());
  TORCH_CHECK(indices.scalar_type() == c10::kLong,
              "elements in indices should be type int64 but got: ", indices.scalar_type());
  TORCH_CHECK(self.sizes() == indices.sizes(),
              "Expected shape of indices to be same as that of the input tensor (", self.sizes(),
              ") but got indices tensor with shape: ", indices.sizes());
  TORCH_CHECK(self.dim() == axes + 1 || self.dim() == axes + 2, "Input to max_unpooling should be a ",
              axes + 1, "d or ", axes + 2, "d Tensor, but got a tensor with ", self.dim(), " dimensions.");
  std::vector<std::int64_t> shape = self.sizes().slice(0, static_cast<std::size_t>(self.dim() - axes)).vec(),
                            flat = shape;
  shape.insert(shape.end(), size.begin(), size.end());
  flat.push_back(c10::multiply_integers(size));
  at::Tensor made = at::zeros(flat, self.options());
  if (self.numel() > 0) made.scatter_(-1, indices.flatten(-axes), self.flatten(-axes));
  at::native::resize_output(out, shape);
  return out.copy_(made.view(shape));
}

at::Tensor max_unpool2d(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size) {
  at::Tensor out = at::empty({0}, self.options());
  return unpool(self, indices, size, out);
}

at::Tensor& max_unpool3d_out(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size,
                             c10::IntArrayRef, c10::IntArrayRef, at::Tensor& out) {
  return unpool(self, indices, size, out);
}

at::Tensor max_unpool3d(const at::Tensor& self, const at::Tensor& indices, c10::IntArrayRef size,
                        c10::IntArrayRef, c10::IntArrayRef) {
  at::Tensor out = at::empty({0}, self.options());
  return unpool(self, indices, size, out);
}

at::Tensor& narrow_copy(const at::Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length,
                        at::Tensor& out) {
  const at::Tensor part = self.narrow(dim, start, length);
  at::native::resize_output(out, part.sizes());
  return out.copy_(part);
}

/** A copy of what is read conjugate: real numbers are their own. */
at::Tensor& write_conjugate(const at::Tensor& self, at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  return out.copy_(self.conj());
}

at::Tensor conjugate(const at::Tensor& self) {
  at::Tensor out = at::empty_like(self);
  return write_conjugate(self, out);
}

at::Tensor& conjugate_in_place(at::Tensor& self) {
  return write_conjugate(self, self);
}

// Complex numbers are pairs to ocl's operators.

bool has_parts_with_kernels(const at::Tensor& complex) {
  return complex.scalar_type() == c10::kComplexFloat || complex.scalar_type() == c10::kComplexDouble;
}

/** The parts of a tensor, which may be one to be read conjugate. */
ocl::Tensor pairs_of(const at::Tensor& complex) {
  return tensor_to_read(at::view_as_real(complex.resolve_conj()).contiguous());
}

at::Tensor tensor_of(const ocl::Tensor& made) {
  return result_of(made, {});
}

at::Tensor fft_c2c(const at::Tensor& self, c10::IntArrayRef dim, std::int64_t normalization, bool forward) {
  if (!has_parts_with_kernels(self))
    return OnTheCpu<at::_ops::_fft_c2c>::call(self, dim, normalization, forward);
  if (dim.empty()) return self.clone();
  return with_errors_of_torch([&] {
    return at::view_as_complex(tensor_of(ocl::_fft_c2c(pairs_of(self), dim.vec(), normalization, forward)));
  });
}

at::Tensor fft_r2c(const at::Tensor& self, c10::IntArrayRef dim, std::int64_t normalization, bool onesided) {
  if (self.scalar_type() != c10::kFloat && self.scalar_type() != c10::kDouble)
    return OnTheCpu<at::_ops::_fft_r2c>::call(self, dim, normalization, onesided);
  return with_errors_of_torch([&] {
    const ocl::Tensor numbers = tensor_to_read(self.contiguous());
    return at::view_as_complex(tensor_of(ocl::_fft_r2c(numbers, dim.vec(), normalization, onesided)));
  });
}

at::Tensor fft_c2r(const at::Tensor& self, c10::IntArrayRef dim, std::int64_t normalization,
                   c10::SymInt last_dim_size) {
  if (!has_parts_with_kernels(self))
    return OnTheCpu<at::_ops::_fft_c2r>::call(self, dim, normalization, last_dim_size.expect_int());
  return with_errors_of_torch([&] {
    return tensor_of(ocl::_fft_c2r(pairs_of(self), dim.vec(), normalization, last_dim_size.expect_int()));
  });
}

at::Tensor& copied_to(const at::Tensor& made, at::Tensor& out) {
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

at::Tensor& fft_c2c_out(const at::Tensor& self, c10::IntArrayRef dim, std::int64_t normalization,
                        bool forward, at::Tensor& out) {
  return copied_to(fft_c2c(self, dim, normalization, forward), out);
}

at::Tensor& fft_r2c_out(const at::Tensor& self, c10::IntArrayRef dim, std::int64_t normalization,
                        bool onesided, at::Tensor& out) {
  return copied_to(fft_r2c(self, dim, normalization, onesided), out);
}

at::Tensor& fft_c2r_out(const at::Tensor& self, c10::IntArrayRef dim, std::int64_t normalization,
                        c10::SymInt last_dim_size, at::Tensor& out) {
  return copied_to(fft_c2r(self, dim, normalization, last_dim_size), out);
}

at::Tensor& complex_out(const at::Tensor& real, const at::Tensor& imag, at::Tensor& out) {
  if (!has_parts_with_kernels(out)) return OnTheCpu<at::_ops::complex_out>::call(real, imag, out);
  TORCH_CHECK(
      real.scalar_type() == imag.scalar_type() && c10::toComplexType(real.scalar_type()) == out.scalar_type(),
      "Expected object of scalar type ", c10::toRealValueType(out.scalar_type()), " for both parts, but got ",
      real.scalar_type(), " and ", imag.scalar_type());
  return copied_to(at::view_as_complex(at::stack(at::broadcast_tensors({real, imag}), -1)), out);
}

at::Tensor& polar_out(const at::Tensor& abs, const at::Tensor& angle, at::Tensor& out) {
  if (!has_parts_with_kernels(out)) return OnTheCpu<at::_ops::polar_out>::call(abs, angle, out);
  return complex_out(abs * angle.cos(), abs * angle.sin(), out);
}

// Batch norm by its other names.

using ThreeTensors = std::tuple<at::Tensor&, at::Tensor&, at::Tensor&>;
using GivenTensor = std::optional<at::Tensor>;

ThreeTensors batch_norm_out(const at::Tensor& input, const GivenTensor& weight, const GivenTensor& bias,
                            const GivenTensor& running_mean, const GivenTensor& running_var, bool training,
                            double momentum, double eps, at::Tensor& out, at::Tensor& mean,
                            at::Tensor& invstd) {
  const auto [y, m, s] =
      at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
  return {copied_to(y, out), copied_to(m, mean), copied_to(s, invstd)};
}

ThreeTensors batch_norm_legit_out(const at::Tensor& input, const GivenTensor& weight, const GivenTensor& bias,
                                  at::Tensor& running_mean, at::Tensor& running_var, bool training,
                                  double momentum, double eps, at::Tensor& out, at::Tensor& mean,
                                  at::Tensor& invstd) {
  return batch_norm_out(input, weight, bias, running_mean, running_var, training, momentum, eps, out, mean,
                        invstd);
}

ThreeTensors batch_norm_no_stats_out(const at::Tensor& input, const GivenTensor& weight,
                                     const GivenTensor& bias, bool training, double momentum, double eps,
                                     at::Tensor& out, at::Tensor& mean, at::Tensor& invstd) {
  return batch_norm_out(input, weight, bias, {}, {}, training, momentum, eps, out, mean, invstd);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> batch_norm_with_update(
    const at::Tensor& input, const GivenTensor& weight, const GivenTensor& bias, at::Tensor& running_mean,
    at::Tensor& running_var, double momentum, double eps) {
  const auto [y, mean, invstd] =
      at::native_batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {y, mean, invstd, at::empty({0}, input.options().dtype(c10::kByte))};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_backward(
    const at::Tensor& grad, const at::Tensor& input, const at::Tensor& weight,
    const GivenTensor& running_mean, const GivenTensor& running_var, const GivenTensor& mean,
    const GivenTensor& invstd, bool update, double eps, std::array<bool, 3> wanted, const at::Tensor&) {
  return at::native_batch_norm_backward(grad, input, weight, running_mean, running_var, mean, invstd, update,
                                        eps, wanted);
}

// Bags of rows of a table. `bag_of` is the bag of each index; rows of the index `padding` are in none,
// and -1 stands for no such index.

enum BagMode : std::int64_t { bag_sum, bag_mean, bag_max };

at::Tensor along_rows(const at::Tensor& numbers, const at::Tensor& rows) {
  return numbers.to(rows.scalar_type()).unsqueeze(1).expand_as(rows);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> embedding_bag(
    const at::Tensor& weight, const at::Tensor& given_indices, const at::Tensor& given_offsets, bool,
    std::int64_t mode, bool, const GivenTensor& factors, bool include_last_offset, std::int64_t padding) {
  TORCH_CHECK(given_indices.dim() == 1 && given_offsets.dim() == 1 && weight.dim() == 2,
              "embedding_bag: expected indices and offsets of 1 dimension and a weight of 2");
  if (padding < 0 && padding != -1) padding += weight.size(0);
  const at::Tensor indices = given_indices.to(c10::kLong), offsets = given_offsets.to(c10::kLong);
  const std::int64_t bags = offsets.size(0) - (include_last_offset ? 1 : 0), count = indices.size(0);
  const at::Tensor starts = offsets.narrow(0, 0, bags).contiguous();
  const at::Tensor bag_of = at::searchsorted(starts, at::arange(count, indices.options()), false, true) - 1;
  const at::Tensor is_left_out = indices.eq(padding), are_left_out = is_left_out.unsqueeze(1);
  const at::Tensor sizes = at::zeros({bags}, indices.options())
                               .index_add_(0, bag_of, is_left_out.logical_not().to(indices.scalar_type()));
  at::Tensor rows = weight.index_select(0, indices);
  at::Tensor result = at::zeros({bags, weight.size(1)}, weight.options());
  at::Tensor largest = at::empty({0}, indices.options());
  if (mode == bag_max) {
    const at::Tensor places = bag_of.unsqueeze(1).expand_as(rows);
    rows = rows.masked_fill(are_left_out, -std::numeric_limits<double>::infinity());
    const at::Tensor most = at::full_like(result, -std::numeric_limits<double>::infinity())
                                .scatter_reduce(0, places, rows, "amax");
    const at::Tensor is_it = rows.eq(most.index_select(0, bag_of))
                                 .logical_or(rows.isnan())  // a maximum wherever it stands
                                 .logical_and(are_left_out.logical_not());
    const at::Tensor numbers = at::arange(count, indices.options()).unsqueeze(1).expand_as(rows);
    const at::Tensor first =
        at::full(result.sizes(), count, indices.options())
            .scatter_reduce(0, places, numbers.masked_fill(is_it.logical_not(), count), "amin");
    const at::Tensor is_empty = first.eq(count);
    result = most.masked_fill(is_empty, 0);
    if (count > 0)
      largest = indices.index_select(0, first.masked_fill(is_empty, 0).flatten()).view(first.sizes());
    else
      largest = at::zeros(first.sizes(), indices.options());
    largest = largest.masked_fill(is_empty, -1);
  } else {
    if (factors && factors->defined()) rows = rows * along_rows(*factors, rows);
    if (padding >= 0) rows = rows.masked_fill(are_left_out, 0);
    result = result.index_add(0, bag_of, rows);
    if (mode == bag_mean) result = result / along_rows(sizes.clamp_min(1), result);
  }
  return {result, bag_of.to(given_indices.scalar_type()), sizes.to(given_indices.scalar_type()),
          largest.to(given_indices.scalar_type())};
}

/** Shortens the rows that are named to a norm of at most `longest`. */
at::Tensor& embedding_renorm(at::Tensor& self, const at::Tensor& indices, double longest, double norm_type) {
  const at::Tensor named = indices.flatten().to(c10::kLong), rows = self.index_select(0, named);
  const at::Tensor norms = at::linalg_vector_norm(rows, norm_type, c10::IntArrayRef(1), /*keepdim=*/true);
  const at::Tensor shorter = rows * (longest / (norms + 1e-7)).to(rows.scalar_type());
  return self.index_copy_(0, named, at::where(norms > longest, shorter, rows));
}

at::Tensor embedding_bag_dense_backward(const at::Tensor& grad, const at::Tensor& indices,
                                        const at::Tensor& bag_of, const at::Tensor& sizes,
                                        const at::Tensor& largest, c10::SymInt rows, bool scale_by_frequency,
                                        std::int64_t mode, const GivenTensor& factors, std::int64_t padding) {
  const std::int64_t count = rows.expect_int();
  if (padding < 0 && padding != -1) padding += count;
  if (mode == bag_max) {
    const at::Tensor is_empty = largest.lt(0);
    return at::zeros({count, grad.size(1)}, grad.options())
        .scatter_add(0, largest.masked_fill(is_empty, 0).to(c10::kLong), grad.masked_fill(is_empty, 0));
  }
  at::Tensor each = grad.index_select(0, bag_of);
  if (mode == bag_mean) each = each / along_rows(sizes.clamp_min(1).index_select(0, bag_of), each);
  if (factors && factors->defined()) each = each * along_rows(*factors, each);
  return at::embedding_dense_backward(each, indices.to(c10::kLong), count, padding, scale_by_frequency);
}

at::Tensor embedding_bag_backward(const at::Tensor& grad, const at::Tensor& indices,
                                  const at::Tensor& offsets, const at::Tensor& bag_of,
                                  const at::Tensor& sizes, const at::Tensor& largest, c10::SymInt rows,
                                  bool scale_by_frequency, std::int64_t mode, bool sparse,
                                  const GivenTensor& factors, std::int64_t padding) {
  if (sparse)
    return at::_embedding_bag_sparse_backward_symint(grad, indices, offsets, bag_of, sizes, std::move(rows),
                                                     scale_by_frequency, mode, factors, padding);
  return embedding_bag_dense_backward(grad, indices, bag_of, sizes, largest, std::move(rows),
                                      scale_by_frequency, mode, factors, padding);
}

at::Tensor embedding_bag_factors_backward(const at::Tensor& grad, const at::Tensor& weight,
                                          const at::Tensor& indices, const at::Tensor&,
                                          const at::Tensor& bag_of, std::int64_t, std::int64_t padding) {
  if (padding < 0 && padding != -1) padding += weight.size(0);
  const at::Tensor products = grad.index_select(0, bag_of) * weight.index_select(0, indices);
  return products.sum(1).masked_fill(indices.eq(padding), 0);
}

// Functions of numbers.

at::Tensor leaky_or_random(const at::Tensor& self, at::Tensor& noise, const at::Scalar& lower,
                           const at::Scalar& upper, bool training, std::optional<at::Generator> generator) {
  TORCH_CHECK(self.sym_sizes() == noise.sym_sizes(), "noise tensor shape must match self tensor shape. ",
              "Got self.shape = ", self.sizes(), " noise.shape = ", noise.sizes());
  if (!training) return at::leaky_relu(self, (lower.toDouble() + upper.toDouble()) / 2);
  const at::Tensor drawn = at::empty_like(self).uniform_(lower.toDouble(), upper.toDouble(), generator);
  noise.copy_(drawn.masked_fill(self.gt(0), 1));
  return self * noise;
}

at::Tensor rrelu(const at::Tensor& self, at::Tensor& noise, const at::Scalar& lower, const at::Scalar& upper,
                 bool training, std::optional<at::Generator> generator) {
  return leaky_or_random(self, noise, lower, upper, training, std::move(generator));
}

at::Tensor& rrelu_in_place(at::Tensor& self, at::Tensor& noise, const at::Scalar& lower,
                           const at::Scalar& upper, bool training, std::optional<at::Generator> generator) {
  return self.copy_(leaky_or_random(self, noise, lower, upper, training, std::move(generator)));
}

at::Tensor& rrelu_out(const at::Tensor& self, at::Tensor& noise, const at::Scalar& lower,
                      const at::Scalar& upper, bool training, std::optional<at::Generator> generator,
                      at::Tensor& out) {
  return copied_to(leaky_or_random(self, noise, lower, upper, training, std::move(generator)), out);
}

at::Tensor& mvlgamma_out(const at::Tensor& self, std::int64_t p, at::Tensor& out) {
  TORCH_CHECK(p >= 1, "p has to be greater than or equal to 1");
  const at::Tensor x = self.is_floating_point() ? self : self.to(c10::get_default_dtype_as_scalartype());
  at::Tensor sum = at::lgamma(x);
  for (std::int64_t i = 1; i < p; ++i) sum = sum + at::lgamma(x - 0.5 * static_cast<double>(i));
  return copied_to(sum + static_cast<double>(p * (p - 1)) * std::log(std::acos(-1.0)) / 4, out);
}

at::Tensor& logspace_out(const at::Scalar& start, const at::Scalar& end, std::int64_t steps, double base,
                         at::Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  if (!out.is_floating_point()) return OnTheCpu<at::_ops::logspace_out>::call(start, end, steps, base, out);
  return copied_to(at::pow(base, at::linspace(start, end, steps, out.options())), out);
}

at::Tensor nonzero_static(const at::Tensor& self, c10::SymInt given_size, std::int64_t filling) {
  const std::int64_t size = given_size.expect_int();
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  const at::Tensor found = at::nonzero(self);
  const std::int64_t count = std::min(size, found.size(0));
  at::Tensor result = at::full({size, self.dim()}, filling, found.options());
  result.narrow(0, 0, count).copy_(found.narrow(0, 0, count));
  return result;
}

at::Tensor& nonzero_static_out(const at::Tensor& self, c10::SymInt size, std::int64_t filling,
                               at::Tensor& out) {
  return copied_to(nonzero_static(self, std::move(size), filling), out);
}

at::Tensor& spherical_bessel_j0_out(const at::Tensor& given, at::Tensor& out) {
  const at::Tensor x = given.to(out.scalar_type());
  const at::Tensor squares = x * x, is_small = x.abs().lt(0.5);
  // sin(x) / x, by its first terms where the quotient would lose digits
  const at::Tensor series =
      1 - squares / 6 * (1 - squares / 20 * (1 - squares / 42 * (1 - squares / 72 * (1 - squares / 110))));
  return copied_to(at::where(is_small, series, at::where(x.isinf(), 0, x.sin() / x)), out);
}

/** A step of a recurrence: P(k) = next(k, P(k - 1), P(k - 2)). */
using NextPolynomial = at::Tensor (*)(std::int64_t k, const at::Tensor& x, const at::Tensor& last,
                                      const at::Tensor& before);

/** The polynomial of degree `n`, a tensor of at most `most`, for each x: 1 at 0, first(x) at 1, 0 below. */
at::Tensor& polynomial(const at::Tensor& x, const at::Tensor& n, std::int64_t most,
                       at::Tensor (*first)(const at::Tensor&), NextPolynomial next, at::Tensor& out) {
  // A number stands for a tensor of the CPU.
  const at::Tensor degrees = n.to(out.device(), c10::kLong);
  const auto shape = at::infer_size(x.sizes(), n.sizes());
  const at::Tensor values = x.to(out.device(), out.scalar_type());
  at::Tensor before = at::ones_like(values), last = first(values);
  at::Tensor result = degrees.ge(0).to(out.scalar_type()).expand(shape).contiguous();
  result = at::where(degrees.eq(1), last, result);
  for (std::int64_t k = 2; k <= most; ++k) {
    at::Tensor made = next(k, values, last, before);
    before = std::exchange(last, made);
    result = at::where(degrees.eq(k), last, result);
  }
  return copied_to(result, out);
}

at::Tensor chebyshev_next(std::int64_t, const at::Tensor& x, const at::Tensor& last,
                          const at::Tensor& before) {
  return 2 * x * last - before;
}
at::Tensor itself(const at::Tensor& x) {
  return x;
}
at::Tensor twice(const at::Tensor& x) {
  return 2 * x;
}
at::Tensor twice_less_one(const at::Tensor& x) {
  return 2 * x - 1;
}
at::Tensor twice_and_one(const at::Tensor& x) {
  return 2 * x + 1;
}

template <at::Tensor (*first)(const at::Tensor&)>
at::Tensor& chebyshev(const at::Tensor& x, const at::Tensor& n, std::int64_t most, at::Tensor& out) {
  return polynomial(x, n, most, first, &chebyshev_next, out);
}
template <at::Tensor (*first)(const at::Tensor&)>
at::Tensor& shifted_chebyshev(const at::Tensor& x, const at::Tensor& n, std::int64_t most, at::Tensor& out) {
  return polynomial(2 * x.to(out.device(), out.scalar_type()) - 1, n, most, first, &chebyshev_next, out);
}

at::Tensor& hermite_h(const at::Tensor& x, const at::Tensor& n, std::int64_t most, at::Tensor& out) {
  return polynomial(
      x, n, most, &twice,
      [](std::int64_t k, const at::Tensor& at, const at::Tensor& last, const at::Tensor& before) {
        return 2 * (at * last - (k - 1) * before);
      },
      out);
}
at::Tensor& hermite_he(const at::Tensor& x, const at::Tensor& n, std::int64_t most, at::Tensor& out) {
  return polynomial(
      x, n, most, &itself,
      [](std::int64_t k, const at::Tensor& at, const at::Tensor& last, const at::Tensor& before) {
        return at * last - (k - 1) * before;
      },
      out);
}
at::Tensor& laguerre(const at::Tensor& x, const at::Tensor& n, std::int64_t most, at::Tensor& out) {
  return polynomial(
      x, n, most, [](const at::Tensor& at) { return 1 - at; },
      [](std::int64_t k, const at::Tensor& at, const at::Tensor& last, const at::Tensor& before) {
        return ((2 * k - 1 - at) * last - (k - 1) * before) / k;
      },
      out);
}
at::Tensor& legendre(const at::Tensor& x, const at::Tensor& n, std::int64_t most, at::Tensor& out) {
  return polynomial(
      x, n, most, &itself,
      [](std::int64_t k, const at::Tensor& at, const at::Tensor& last, const at::Tensor& before) {
        return ((2 * k - 1) * at * last - (k - 1) * before) / k;
      },
      out);
}

/** The polynomial by `recurrence`, whose degrees are launches one after another; on the CPU from a degree on
 * where that takes too long. */
template <class Operator,
          at::Tensor& (*recurrence)(const at::Tensor&, const at::Tensor&, std::int64_t, at::Tensor&)>
at::Tensor& of_low_degree(const at::Tensor& x, const at::Tensor& n, at::Tensor& out) {
  constexpr double highest = 64;
  const double most = x.numel() > 0 && n.numel() > 0 ? n.max().item<double>() : 0;
  if (!(most <= highest)) return OnTheCpu<Operator>::call(x, n, out);  // of a NaN too
  return recurrence(x, n, static_cast<std::int64_t>(std::max(most, 0.0)), out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("fill_.Tensor", &fill_tensor);
  m.impl("equal", &equal);
  library.impl("_efficientzerotensor", &zeros);
  m.impl("unfold_backward", &unfold_backward);
  m.impl("repeat_interleave.Tensor", &repeat_interleave);
  m.impl("max_unpool2d", &max_unpool2d);
  m.impl("max_unpool2d.out", &unpool);
  m.impl("max_unpool3d", &max_unpool3d);
  m.impl("max_unpool3d.out", &max_unpool3d_out);
  m.impl("narrow_copy.out", &narrow_copy);
  library.impl("conj_physical.out", &write_conjugate);  // complex numbers too
  library.impl("conj_physical_", &conjugate_in_place);
  library.impl("_conj_physical", &conjugate);
  library.impl("_fft_c2c", &fft_c2c);
  library.impl("_fft_c2c.out", &fft_c2c_out);
  library.impl("_fft_r2c", &fft_r2c);
  library.impl("_fft_r2c.out", &fft_r2c_out);
  library.impl("_fft_c2r", &fft_c2r);
  library.impl("_fft_c2r.out", &fft_c2r_out);
  library.impl("complex.out", &complex_out);
  library.impl("polar.out", &polar_out);
  m.impl("native_batch_norm.out", &batch_norm_out);
  m.impl("_native_batch_norm_legit.out", &batch_norm_legit_out);
  m.impl("_native_batch_norm_legit.no_stats_out", &batch_norm_no_stats_out);
  m.impl("_batch_norm_with_update", &batch_norm_with_update);
  m.impl("batch_norm_backward", &batch_norm_backward);
  m.impl("embedding_renorm_", &embedding_renorm);
  m.impl("_embedding_bag", &embedding_bag);
  m.impl("_embedding_bag_forward_only", &embedding_bag);
  m.impl("_embedding_bag_backward", &embedding_bag_backward);
  m.impl("_embedding_bag_dense_backward", &embedding_bag_dense_backward);
  m.impl("_embedding_bag_per_sample_weights_backward", &embedding_bag_factors_backward);
  m.impl("rrelu_with_noise", &rrelu);
  m.impl("rrelu_with_noise_", &rrelu_in_place);
  m.impl("rrelu_with_noise.out", &rrelu_out);
  m.impl("mvlgamma.out", &mvlgamma_out);
  m.impl("logspace.out", &logspace_out);
  m.impl("nonzero_static", &nonzero_static);
  m.impl("nonzero_static.out", &nonzero_static_out);
  m.impl("special_spherical_bessel_j0.out", &spherical_bessel_j0_out);
  m.impl("special_chebyshev_polynomial_t.out",
         &of_low_degree<at::_ops::special_chebyshev_polynomial_t_out, &chebyshev<&itself>>);
  m.impl("special_chebyshev_polynomial_u.out",
         &of_low_degree<at::_ops::special_chebyshev_polynomial_u_out, &chebyshev<&twice>>);
  m.impl("special_chebyshev_polynomial_v.out",
         &of_low_degree<at::_ops::special_chebyshev_polynomial_v_out, &chebyshev<&twice_less_one>>);
  m.impl("special_chebyshev_polynomial_w.out",
         &of_low_degree<at::_ops::special_chebyshev_polynomial_w_out, &chebyshev<&twice_and_one>>);
  m.impl("special_shifted_chebyshev_polynomial_t.out",
         &of_low_degree<at::_ops::special_shifted_chebyshev_polynomial_t_out, &shifted_chebyshev<&itself>>);
  m.impl("special_shifted_chebyshev_polynomial_u.out",
         &of_low_degree<at::_ops::special_shifted_chebyshev_polynomial_u_out, &shifted_chebyshev<&twice>>);
  m.impl("special_shifted_chebyshev_polynomial_v.out",
         &of_low_degree<at::_ops::special_shifted_chebyshev_polynomial_v_out,
                        &shifted_chebyshev<&twice_less_one>>);
  m.impl("special_shifted_chebyshev_polynomial_w.out",
         &of_low_degree<at::_ops::special_shifted_chebyshev_polynomial_w_out,
                        &shifted_chebyshev<&twice_and_one>>);
  m.impl("special_hermite_polynomial_h.out",
         &of_low_degree<at::_ops::special_hermite_polynomial_h_out, &hermite_h>);
  m.impl("special_hermite_polynomial_he.out",
         &of_low_degree<at::_ops::special_hermite_polynomial_he_out, &hermite_he>);
  m.impl("special_laguerre_polynomial_l.out",
         &of_low_degree<at::_ops::special_laguerre_polynomial_l_out, &laguerre>);
  m.impl("special_legendre_polynomial_p.out",
         &of_low_degree<at::_ops::special_legendre_polynomial_p_out, &legendre>);
}

}  // namespace
}  // namespace torch_ocl
