#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>
#include <torch/library.h>

#include "aten/indexing.h"
#include "aten/kernels.h"
#include "aten/pointwise.h"
#include "dlprim/ops/index/accumulate.h"
#include "dlprim/ops/index/nonzero.h"

/** \file x[i, j, mask] with tensors, for reading and writing, and what else is chosen by a mask. */

namespace torch_ocl {
namespace {

using Indices = c10::List<std::optional<at::Tensor>>;
using dlprim::Negative;

/** Index tensors made one: places in a run of dimensions taken together. */
class Places {
 public:
  Places(const at::Tensor& self, const Indices& given) {
    at::native::checkIndexTensorTypes(given, true);
    std::vector<at::Tensor> indices = at::native::expandTensors(self, given, true);
    TORCH_CHECK_INDEX(indices.size() <= static_cast<std::size_t>(self.dim()),
                      "too many indices for tensor of dimension ", self.dim());
    // A mask's places are all different.
    int masks = 0, others = 0;
    for (const std::optional<at::Tensor>& index : given)
      if (index && index->defined())
        ++(index->scalar_type() == c10::kBool || index->scalar_type() == c10::kByte ? masks : others);
    distinct_ = masks == 1 && others == 0;
    try {
      indices = at::expand_outplace(indices);
    } catch (const c10::Error&) {
      TORCH_CHECK_INDEX(false,
                        "shape mismatch: indexing tensors could not be broadcast together with shapes ",
                        at::native::shapes_as_str(indices));
    }
    indices.resize(static_cast<std::size_t>(self.dim()));
    arranged_ = self;
    if (!at::native::hasContiguousSubspace(indices))
      std::tie(arranged_, indices) = at::native::transposeToFront(self, indices);
    std::vector<at::Tensor> chosen;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (!indices[d].defined()) continue;
      if (chosen.empty()) first_ = static_cast<int>(d);
      chosen.push_back(indices[d].to(c10::kLong).contiguous());
    }
    count_ = static_cast<int>(chosen.size());
    if (chosen.empty()) {
      shape_ = self.sizes().vec();
      return;
    }
    join(chosen);
    const c10::IntArrayRef sizes = arranged_.sizes();
    shape_.assign(sizes.begin(), sizes.begin() + first_);
    shape_.insert(shape_.end(), chosen.front().sizes().begin(), chosen.front().sizes().end());
    shape_.insert(shape_.end(), sizes.begin() + first_ + count_, sizes.end());
    rank_ = static_cast<int>(chosen.front().dim());
  }

  /** Of what is read or written. */
  c10::IntArrayRef shape() const { return shape_; }
  bool is_whole() const { return count_ == 0; }

  void read(const at::Tensor& out) const {
    into(out, [&](const dlprim::Tensor& y) {
      const dlprim::Dims& shape = y.shape;
      const dlprim::Tensor to =
          y.reshaped({dlprim::product(dlprim::Dims(shape.begin(), shape.begin() + first_)), places_.numel(),
                      dlprim::product(dlprim::Dims(shape.begin() + first_ + rank_, shape.end()))});
      dlprim::read_places(y.device().queue(), readable_lines(arranged_, first_, count_), lines(to.shape), to,
                          Negative::wraps, index_check());
    });
  }

  /** `source` has the shape of what is written; `one_value`: all its elements are the same. */
  void write(const at::Tensor& source, bool one_value) const {
    change(source, false, [&](const auto& to, const auto& from) {
      dlprim::write_places(to.device().queue(), from, lines(from.shape), to, one_value || distinct_,
                           Negative::wraps, index_check());
    });
  }
  void add(const at::Tensor& source) const {
    change(source, true, [&](const auto& to, const auto& from) {
      dlprim::add_at_places(to.device().queue(), from, lines(from.shape), to, 1, std::nullopt,
                            Negative::wraps, index_check());
    });
  }

 private:
  void join(const std::vector<at::Tensor>& chosen) {
    const std::int64_t count = chosen.front().numel();
    places_ = chosen.front().reshape({count});
    if (chosen.size() == 1) return;
    std::vector<dlprim::Tensor> flat;
    for (const at::Tensor& index : chosen) flat.push_back(raw(index).reshaped({count}));
    places_ = at::empty({count}, places_.options());
    if (count == 0) return;
    const dlprim::Tensor joined = raw(places_);
    dlprim::join_indices(joined.device().queue(), flat,
                         dims_of(arranged_.sizes().slice(static_cast<std::size_t>(first_), chosen.size())),
                         joined, index_check());
  }
  dlprim::Tensor lines(const dlprim::Dims& shape) const {
    return raw(places_).reshaped({1, places_.numel(), 1}).expanded({shape[0], places_.numel(), shape[2]});
  }
  template <class Change>
  void change(const at::Tensor& source, bool wants_contiguous, const Change& change) const {
    if (source.numel() == 0) return;
    // An index of no dimensions takes one.
    const dlprim::Tensor from =
        rank_ > 0 ? readable_lines(source, first_, rank_) : readable_lines(source.unsqueeze(first_), first_);
    write_lines(arranged_, first_, count_, wants_contiguous,
                [&](const dlprim::Tensor& to) { change(to, from); });
  }

  at::Tensor arranged_;  // with the indexed dimensions side by side
  int first_ = 0, count_ = 0, rank_ = 0;
  bool distinct_ = false;
  std::vector<std::int64_t> shape_;
  at::Tensor places_;  // int64 [n]
};

at::Tensor& read_into(const Places& places, const at::Tensor& self, at::Tensor& out) {
  at::native::resize_output(out, places.shape());
  if (places.is_whole()) return out.copy_(self);
  if (out.numel() > 0) places.read(out);
  return out;
}

at::Tensor index(const at::Tensor& self, const Indices& indices) {
  const Places places(self, indices);
  at::Tensor out = at::empty(places.shape(), self.options());
  return read_into(places, self, out);
}

at::Tensor& index_out(const at::Tensor& self, const Indices& indices, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == self.scalar_type(), "index_out: self (", self.scalar_type(),
              ") and result (", out.scalar_type(), ") must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  for (const std::optional<at::Tensor>& index : indices)
    if (index && index->defined()) at::assert_no_overlap(out, *index);
  return read_into(Places(self, indices), self, out);
}

at::Tensor& index_put(at::Tensor& self, const Indices& indices, const at::Tensor& value, bool accumulate,
                      bool /*unsafe*/) {
  // PyTorch's CPU fills by a mask then, whatever the number's dtype.
  const bool is_number = value.dim() == 0 && !accumulate && indices.size() == 1 && indices.get(0) &&
                         indices.get(0)->defined() && indices.get(0)->scalar_type() == c10::kBool;
  const at::Tensor given = is_number ? value.to(self.scalar_type()) : value;
  TORCH_CHECK_INDEX(self.scalar_type() == given.scalar_type(),
                    "Index put requires the source and destination dtypes match, got ", self.scalar_type(),
                    " for the destination and ", given.scalar_type(), " for the source.");
  at::assert_no_internal_overlap(self);
  if (!accumulate) {
    // Nothing has to be counted, so nothing waits.
    const auto [is_mask, mask] = at::native::canDispatchToMaskedFill(self, indices, given);
    if (is_mask && mask.defined()) return self.masked_fill_(mask, given.item());
  }
  at::Tensor values = given.device() == self.device() ? given : given.to(self.device());
  // What is read must not change while it is written.
  if (values.is_alias_of(self)) values = values.clone();
  const Places places(self, indices);
  TORCH_CHECK(at::is_expandable_to(values.sizes(), places.shape()), "shape mismatch: value tensor of shape ",
              values.sizes(), " cannot be broadcast to indexing result of shape ", places.shape());
  const at::Tensor source = values.expand(places.shape());
  if (places.is_whole()) return accumulate ? self.add_(source) : self.copy_(source);
  if (accumulate)
    places.add(source);
  else
    places.write(source, values.numel() == 1);
  return self;
}

void require_mask(const char* name, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == c10::kBool, name,
              " only supports boolean masks, but got mask with dtype ", mask.scalar_type());
}

at::Tensor& masked_fill(at::Tensor& self, const at::Tensor& mask, const c10::Scalar& value) {
  require_mask("masked_fill_", mask);
  dlprim::require_holds("masked_fill_", dtype_of(self.scalar_type()), scalar_of(value));
  const c10::Scalar fitting = self.scalar_type() == c10::kBool ? c10::Scalar(value.toDouble() != 0)
                              : c10::isIntegralType(self.scalar_type(), false) ? c10::Scalar(value.toLong())
                                                                               : value;
  compute_row(dlprim::pointwise_op("where"), {mask, fitting, self}, {}, Result::in_place, self);
  return self;
}

at::Tensor& masked_fill_tensor(at::Tensor& self, const at::Tensor& mask, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
              " dimension(s).");
  if (value.is_cpu()) return masked_fill(self, mask, value.item());
  require_mask("masked_fill_", mask);
  const at::Tensor fitting = value.to(self.scalar_type());
  compute_row(dlprim::pointwise_op("where"),
              {mask, fitting.is_alias_of(self) ? fitting.clone() : fitting, self}, {}, Result::in_place,
              self);
  return self;
}

at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == c10::kLong,
              "Expected out tensor to have scalar type Long but got scalar type ", out.scalar_type());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  const at::Tensor flags = (self.scalar_type() == c10::kBool ? self : self.ne(0)).contiguous();
  dlprim::TrueCount counted{0, {}};
  const dlprim::Tensor x = raw(flags);
  if (flags.numel() > 0) counted = dlprim::count_true(x.device().queue(), x);
  at::native::resize_output(out, {counted.count, self.dim()});
  if (out.numel() > 0) dlprim::write_true(x.device().queue(), x, counted, raw(out));
  return out;
}

at::Tensor nonzero(const at::Tensor& self) {
  at::Tensor out = at::empty({0}, self.options().dtype(c10::kLong));
  return nonzero_out(self, out);
}

/** The places of the true elements among all. */
at::Tensor flat_places(const at::Tensor& mask) {
  return at::nonzero(mask.reshape({-1})).reshape({-1});
}

at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask, at::Tensor& out) {
  require_mask("masked_select", mask);
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  for (const at::Tensor& t : {self, mask}) at::assert_no_overlap(out, t);
  const auto [whole, chosen] = at::expand_outplace(self, mask);
  return at::index_select_out(out, whole->reshape({-1}), 0, flat_places(*chosen));
}

at::Tensor masked_select(const at::Tensor& self, const at::Tensor& mask) {
  at::Tensor out = at::empty({0}, self.options());
  return masked_select_out(self, mask, out);
}

at::Tensor& masked_scatter(at::Tensor& self, const at::Tensor& mask, const at::Tensor& source) {
  require_mask("masked_scatter_", mask);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter_: expected self and source to have same dtypes but got ", self.scalar_type(),
              " and ", source.scalar_type());
  const at::Tensor places = flat_places(mask.expand(self.sizes()));
  TORCH_CHECK(source.numel() >= places.numel(), "Number of elements of source < number of ones in mask");
  return self.put_(places, source.reshape({-1}).narrow(0, 0, places.numel()));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("index.Tensor", &index);
  m.impl("index.Tensor_out", &index_out);
  m.impl("_index_put_impl_", &index_put);
  m.impl("masked_fill_.Scalar", &masked_fill);
  m.impl("masked_fill_.Tensor", &masked_fill_tensor);
  m.impl("masked_select", &masked_select);
  m.impl("masked_select.out", &masked_select_out);
  m.impl("masked_scatter_", &masked_scatter);
  m.impl("nonzero", &nonzero);
  m.impl("nonzero.out", &nonzero_out);
}

}  // namespace
}  // namespace torch_ocl
