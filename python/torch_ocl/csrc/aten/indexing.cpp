#include "aten/indexing.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Operators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/ScatterGatherChecks.h>
#include <torch/library.h>

#include <map>
#include <mutex>

#include "aten/fallback.h"
#include "aten/kernels.h"
#include "dlprim/ops/index/accumulate.h"

/** \file Operators that name elements, or whole entries of a dimension, by an index: gather, scatter, the
 * index_ family, embedding. Expressions of several indices and masks stand in index_expression.cpp. */

namespace torch_ocl {

dlprim::DeviceCheck index_check() {
  static auto& checks = *new std::map<const char*, dlprim::DeviceCheck>;
  static std::mutex using_them;
  const char* operation = dlprim::call_state.operation ? dlprim::call_state.operation : "index";
  const std::lock_guard locked(using_them);
  const auto found = checks.find(operation);
  if (found != checks.end()) return found->second;
  const std::string message = std::string(operation) + "(): index out of bounds: ";
  return checks[operation] = dlprim::register_check(message.c_str());
}

dlprim::Tensor readable_lines(const at::Tensor& given, int dim, int count) {
  const at::Tensor t = at_least_1d(given);
  if (const auto view = dlprim::outer_along_inner(raw(t), dim, count)) return *view;
  return *dlprim::outer_along_inner(raw(t.contiguous()), dim, count);
}

namespace {

using dlprim::Negative;

/** An index as int64. */
at::Tensor checked_index(const char* name, const at::Tensor& index) {
  TORCH_CHECK_INDEX(
      index.numel() == 0 || index.scalar_type() == c10::kLong || index.scalar_type() == c10::kInt, name,
      "(): Expected dtype int32/int64 for index");
  return index.to(c10::kLong);
}

void require_same_type(const char* name, const at::Tensor& self, const at::Tensor& other) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), name,
              "(): self and source expected to have the same dtype, but got ", self.scalar_type(), " and ",
              other.scalar_type());
}

/** `out` with the contents of `self`, over which an operator then writes. */
void begin_with(const at::Tensor& out, const at::Tensor& self, at::TensorList read) {
  at::native::resize_output(out, self.sizes());
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ",
              self.scalar_type(), ", but got ", out.scalar_type());
  at::assert_no_internal_overlap(out);
  for (const at::Tensor& t : read) at::assert_no_overlap(out, t);
  if (!out.is_same(self)) out.copy_(self);
}

// ---- one index for each element

/** The first entries of `t`, as many as the index has, in every dimension but `dim` (-1: in all). */
at::Tensor cut_to(at::Tensor t, const at::Tensor& index, std::int64_t dim) {
  for (std::int64_t d = 0; d < t.dim(); ++d)
    if (d != dim && t.size(d) != index.size(d)) t = t.narrow(d, 0, index.size(d));
  return t;
}

at::Tensor& gather(const at::Tensor& self, std::int64_t dim, const at::Tensor& given, bool /*sparse_grad*/,
                   at::Tensor& out) {
  const at::Tensor index = checked_index("gather", given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  if (index.numel() > 0) at::native::gather_shape_check(self, dim, index);
  require_same_type("gather", self, out);
  at::native::resize_output(out, index.sizes());
  at::assert_no_internal_overlap(out);
  for (const at::Tensor& t : {self, given}) at::assert_no_overlap(out, t);
  if (out.numel() == 0) return out;
  const at::Tensor lines = at_least_1d(index);
  const int along = static_cast<int>(dim);
  into(out, [&](const dlprim::Tensor& y) {
    dlprim::read_places(y.device().queue(), readable_lines(cut_to(at_least_1d(self), lines, dim), along),
                        readable_lines(lines, along), *dlprim::outer_along_inner(at_least_1d(y), along),
                        Negative::is_error, index_check());
  });
  return out;
}

/** Calls `change(lines of out, index)` with what the index reaches. */
template <class Change>
void change_elements(const at::Tensor& out, std::int64_t dim, const at::Tensor& given, bool wants_contiguous,
                     const Change& change) {
  const at::Tensor index = at_least_1d(given);
  if (index.numel() == 0) return;
  write_lines(cut_to(at_least_1d(out), index, dim), static_cast<int>(dim), 1, wants_contiguous,
              [&](const dlprim::Tensor& lines) {
                change(lines, index, readable_lines(index, static_cast<int>(dim)));
              });
}

/** Writes elements of `src`, of which several may go to one place unless they are all the same. */
void write_elements(const at::Tensor& out, std::int64_t dim, const at::Tensor& index, const at::Tensor& src,
                    bool one_value) {
  change_elements(out, dim, index, false, [&](const auto& to, const at::Tensor& by, const auto& places) {
    const at::Tensor from = one_value ? src.expand(by.sizes()) : cut_to(at_least_1d(src), by, -1);
    dlprim::write_places(to.device().queue(), readable_lines(from, static_cast<int>(dim)), places, to,
                         one_value, Negative::is_error, index_check());
  });
}

void add_elements(const at::Tensor& out, std::int64_t dim, const at::Tensor& index, const at::Tensor& src) {
  change_elements(out, dim, index, true, [&](const auto& to, const at::Tensor& by, const auto& places) {
    dlprim::add_at_places(to.device().queue(),
                          readable_lines(cut_to(at_least_1d(src), by, -1), static_cast<int>(dim)), places, to,
                          1, std::nullopt, Negative::is_error, index_check());
  });
}

at::Tensor& scatter_src(const at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                        const at::Tensor& src, at::Tensor& out) {
  const at::Tensor index = checked_index("scatter", given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  at::native::scatter_shape_check(self, dim, index, src);
  require_same_type("scatter", self, src);
  begin_with(out, self, {given, src});
  write_elements(out, dim, index, src, false);
  return out;
}

at::Tensor& scatter_value(const at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                          const c10::Scalar& value, at::Tensor& out) {
  const at::Tensor index = checked_index("scatter", given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  at::native::scatter_shape_check(self, dim, index);
  begin_with(out, self, {given});
  write_elements(out, dim, index, at::full({}, value, out.options()), true);
  return out;
}

at::Tensor& scatter_add(const at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                        const at::Tensor& src, at::Tensor& out) {
  const at::Tensor index = checked_index("scatter_add", given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  at::native::scatter_shape_check(self, dim, index, src);
  require_same_type("scatter_add", self, src);
  begin_with(out, self, {given, src});
  add_elements(out, dim, index, src);
  return out;
}

at::Tensor& scatter_reduce(const at::Tensor& self, std::int64_t dim, const at::Tensor& index,
                           const at::Tensor& src, c10::string_view reduce, at::Tensor& out) {
  if (reduce == "add") return scatter_add(self, dim, index, src, out);
  return OnTheCpu<at::_ops::scatter_reduce_out>::call(self, dim, index, src, reduce, out);
}

at::Tensor& scatter_value_reduce(const at::Tensor& self, std::int64_t dim, const at::Tensor& index,
                                 const c10::Scalar& value, c10::string_view reduce, at::Tensor& out) {
  if (reduce == "add")
    return scatter_add(self, dim, index, at::full({}, value, self.options()).expand(index.sizes()), out);
  return OnTheCpu<at::_ops::scatter_value_reduce_out>::call(self, dim, index, value, reduce, out);
}

at::Tensor& scatter_reduce_two(const at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                               const at::Tensor& src, c10::string_view reduce, bool include_self,
                               at::Tensor& out) {
  if (reduce == "sum" && include_self) return scatter_add(self, dim, given, src, out);
  if (reduce == "sum")  // what is written to begins with 0
    return scatter_add(at::scatter(self, dim, given, 0), dim, given, src, out);
  return OnTheCpu<at::_ops::scatter_reduce_two_out>::call(self, dim, given, src, reduce, include_self, out);
}

// ---- an index of whole entries of a dimension

/** The index of entries as an index of elements [outer, along, inner]. */
dlprim::Tensor entry_lines(const at::Tensor& index, const dlprim::Dims& shape) {
  return raw(index.reshape({1, -1, 1}).contiguous()).expanded({shape[0], index.numel(), shape[2]});
}

at::Tensor checked_entries(const char* name, const at::Tensor& self, const at::Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1, name, "(): Index is supposed to be a vector");
  TORCH_CHECK_INDEX(self.dim() > 0 || index.numel() == 1, name,
                    "(): Index to scalar can have only 1 value, got ", index.numel(), " value(s)");
  return checked_index(name, index);
}

at::Tensor& index_select_out(const at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                             at::Tensor& out) {
  const at::Tensor index = checked_entries("index_select", self, given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  require_same_type("index_select", self, out);
  std::vector<std::int64_t> shape = self.sizes().vec();
  if (!shape.empty()) shape[static_cast<std::size_t>(dim)] = index.numel();
  at::assert_no_internal_overlap(out);
  at::native::resize_output(out, shape);
  for (const at::Tensor& t : {self, given}) at::assert_no_overlap(out, t);
  if (out.numel() == 0) return out;
  into(out, [&](const dlprim::Tensor& y) {
    const dlprim::Tensor to = *dlprim::outer_along_inner(at_least_1d(y), static_cast<int>(dim));
    dlprim::read_places(y.device().queue(), readable_lines(self, static_cast<int>(dim)),
                        entry_lines(index, to.shape), to, Negative::is_error, index_check());
  });
  return out;
}

at::Tensor index_select(const at::Tensor& self, std::int64_t dim, const at::Tensor& index) {
  at::Tensor out = at::empty({0}, self.options());
  return index_select_out(self, dim, index, out);
}

/** Calls `change(lines of out, lines of source, index)`. */
template <class Change>
void change_entries(const at::Tensor& out, std::int64_t dim, const at::Tensor& index,
                    const at::Tensor& source, bool wants_contiguous, const Change& change) {
  if (source.numel() == 0) return;
  write_lines(at_least_1d(out), static_cast<int>(dim), 1, wants_contiguous, [&](const dlprim::Tensor& to) {
    const dlprim::Tensor from = readable_lines(source, static_cast<int>(dim));
    TORCH_CHECK(
        from.shape[0] == to.shape[0] && from.shape[1] == index.numel() && from.shape[2] == to.shape[2],
        "Source/destination tensor must have same slice shapes, got ", source.sizes(), " for ", index.numel(),
        " entries of ", out.sizes(), " at dimension ", dim);
    change(to, from, entry_lines(index, from.shape));
  });
}

at::Tensor& index_add(const at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                      const at::Tensor& source, const c10::Scalar& alpha, at::Tensor& out) {
  const at::Tensor index = checked_entries("index_add", self, given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  require_same_type("index_add", self, source);
  begin_with(out, self, {given, source});
  change_entries(out, dim, index, source, true, [&](const auto& to, const auto& from, const auto& places) {
    dlprim::add_at_places(to.device().queue(), from, places, to, scalar_of(alpha), std::nullopt,
                          Negative::is_error, index_check());
  });
  return out;
}

void write_entries(const at::Tensor& out, std::int64_t dim, const at::Tensor& index, const at::Tensor& source,
                   bool one_value) {
  change_entries(out, dim, index, source, false, [&](const auto& to, const auto& from, const auto& places) {
    dlprim::write_places(to.device().queue(), from, places, to, one_value, Negative::is_error, index_check());
  });
}

at::Tensor& index_copy(const at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                       const at::Tensor& source, at::Tensor& out) {
  const at::Tensor index = checked_entries("index_copy", self, given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  require_same_type("index_copy", self, source);
  begin_with(out, self, {given, source});
  write_entries(out, dim, index, source, false);
  return out;
}

at::Tensor& index_fill(at::Tensor& self, std::int64_t dim, const at::Tensor& given,
                       const c10::Scalar& value) {
  const at::Tensor index = checked_entries("index_fill_", self, given);
  dim = at::maybe_wrap_dim(dim, self.dim());
  at::assert_no_internal_overlap(self);
  at::assert_no_overlap(self, given);
  std::vector<std::int64_t> shape = at_least_1d(self).sizes().vec();
  shape[static_cast<std::size_t>(dim)] = index.numel();
  // Negative ones count from the end here alone.
  const at::Tensor wrapped = at::where(index < 0, index + at_least_1d(self).size(dim), index);
  write_entries(self, dim, wrapped, at::full({}, value, self.options()).expand(shape), true);
  return self;
}

at::Tensor& index_fill_tensor(at::Tensor& self, std::int64_t dim, const at::Tensor& index,
                              const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
              " dimension(s).");
  return index_fill(self, dim, index, value.item());
}

at::Tensor embedding_backward(const at::Tensor& grad, const at::Tensor& given, std::int64_t count,
                              std::int64_t padding, bool scales_by_frequency) {
  if (scales_by_frequency)
    return OnTheCpu<at::_ops::embedding_dense_backward>::call(grad, given, count, padding,
                                                              scales_by_frequency);
  const at::Tensor index = checked_index("embedding_backward", given).reshape({-1});
  at::Tensor weight = at::zeros({count, grad.size(-1)}, grad.options());
  if (index.numel() == 0 || weight.numel() == 0) return weight;
  const dlprim::Tensor from = readable_lines(grad.reshape({index.numel(), -1}), 0),
                       to = *dlprim::outer_along_inner(raw(weight), 0);
  dlprim::add_at_places(to.device().queue(), from, entry_lines(index, from.shape), to, 1,
                        padding < 0 ? std::nullopt : std::optional(padding), Negative::is_error,
                        index_check());
  return weight;
}

// ---- places in the whole tensor

at::Tensor& take_out(const at::Tensor& self, const at::Tensor& given, at::Tensor& out) {
  const at::Tensor index = checked_index("take", given);
  require_same_type("take", self, out);
  at::native::resize_output(out, index.sizes());
  TORCH_CHECK_INDEX(self.numel() > 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  for (const at::Tensor& t : {self, given}) at::assert_no_overlap(out, t);
  if (out.numel() == 0) return out;
  into(out, [&](const dlprim::Tensor& y) {
    const dlprim::Dims line{1, index.numel(), 1};
    dlprim::read_places(y.device().queue(), readable_lines(self.reshape({-1}), 0),
                        raw(index.contiguous()).reshaped(line), y.reshaped(line), Negative::wraps,
                        index_check());
  });
  return out;
}

at::Tensor take(const at::Tensor& self, const at::Tensor& index) {
  at::Tensor out = at::empty({0}, self.options());
  return take_out(self, index, out);
}

at::Tensor& put(at::Tensor& self, const at::Tensor& given, const at::Tensor& source, bool accumulate) {
  const at::Tensor index = checked_index("put_", given).contiguous();
  require_same_type("put_", self, source);
  TORCH_CHECK(index.numel() == source.numel(),
              "put_(): Expected source and index to have the same number of elements, got ", source.numel(),
              " and ", index.numel());
  at::assert_no_internal_overlap(self);
  for (const at::Tensor& t : {given, source}) at::assert_no_overlap(self, t);
  if (index.numel() == 0) return self;
  TORCH_CHECK_INDEX(self.numel() > 0, "put_(): tried to put elements into an empty tensor");
  write_lines(at_least_1d(self), 0, std::max<int>(static_cast<int>(self.dim()), 1), accumulate,
              [&](const dlprim::Tensor& to) {
                const dlprim::Dims line{1, index.numel(), 1};
                const dlprim::Tensor from = raw(source.contiguous()).reshaped(line),
                                     places = raw(index).reshaped(line);
                if (accumulate)
                  dlprim::add_at_places(to.device().queue(), from, places, to, 1, std::nullopt,
                                        Negative::wraps, index_check());
                else
                  dlprim::write_places(to.device().queue(), from, places, to, false, Negative::wraps,
                                       index_check());
              });
  return self;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("gather.out", &gather);
  m.impl("scatter.src_out", &scatter_src);
  m.impl("scatter.value_out", &scatter_value);
  m.impl("scatter.reduce_out", &scatter_reduce);
  m.impl("scatter.value_reduce_out", &scatter_value_reduce);
  m.impl("scatter_add.out", &scatter_add);
  m.impl("scatter_reduce.two_out", &scatter_reduce_two);
  m.impl("index_select", &index_select);
  m.impl("index_select.out", &index_select_out);
  m.impl("index_add.out", &index_add);
  m.impl("index_copy.out", &index_copy);
  m.impl("index_fill_.int_Scalar", &index_fill);
  m.impl("index_fill_.int_Tensor", &index_fill_tensor);
  m.impl("embedding_dense_backward", &embedding_backward);
  m.impl("take", &take);
  m.impl("take.out", &take_out);
  m.impl("put_", &put);
}

}  // namespace
}  // namespace torch_ocl
