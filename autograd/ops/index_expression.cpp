#include "autograd/ops/index_expression.h"

#include <algorithm>

#include "autograd/ops/call.h"
#include "autograd/ops/index.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/masking.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/index/accumulate.h"

namespace ocl {
namespace {

using dlprim::Negative;
using dlprim::require;

dlprim::DeviceCheck index_check() {
  static const dlprim::DeviceCheck check = dlprim::register_check("index: index out of bounds: ");
  return check;
}

bool is_mask(const Tensor& t) {
  return t.dtype() == DType::boolean || t.dtype() == DType::uint8;
}

const Tensor* tensor_in(const IndexItem& item) {
  return std::get_if<Tensor>(&item.choice());
}

/** Dimensions of the indexed tensor that an item uses up. */
int dimensions_of(const IndexItem& item) {
  if (const Tensor* t = tensor_in(item)) return is_mask(*t) ? t->dim() : 1;
  return std::holds_alternative<std::int64_t>(item.choice()) || std::holds_alternative<Slice>(item.choice());
}

/** A view, and the index tensors for those of its dimensions that have one. */
struct Resolved {
  Tensor view;
  TensorList indices;     // one a dimension; undefined: the whole dimension
  bool distinct = false;  // whether no two places are the same
  Tensor mask;            // that stayed one, of shape that broadcasts to the view
};

enum class Masks { become_places, stay };

class Resolver {
 public:
  Resolver(const Tensor& a, const IndexItems& items, Masks masks) : a_(a), treatment_(masks) {
    resolved_.view = a;
    for (const IndexItem& item : items) used_ += dimensions_of(item);
    require<IndexError>(used_ <= a.dim(), "too many indices for tensor of dimension ", a.dim());
    for (const IndexItem& item : items) std::visit([this](const auto& i) { take(i); }, item.choice());
    resolved_.indices.resize(static_cast<std::size_t>(resolved_.view.dim()));
    resolved_.distinct = masks_ == 1 && index_tensors_ == 0;
    for (int after = resolved_.view.dim() - mask_end_; resolved_.mask.defined() && after > 0; --after)
      resolved_.mask = unsqueeze(resolved_.mask, -1);
  }
  Resolved result() const { return resolved_; }

 private:
  void take(std::int64_t at) { resolved_.view = select(resolved_.view, dim_, at); }
  void take(const Slice& s) {
    require(s.step > 0, "slice: step must be greater than zero, got ", s.step);
    const std::int64_t size = resolved_.view.size(dim_);
    resolved_.view = slice(resolved_.view, dim_, s.start.value_or(0), s.stop.value_or(size), s.step);
    ++dim_;
  }
  void take(NewAxis) { resolved_.view = unsqueeze(resolved_.view, dim_++); }
  void take(EllipsisIndex) {
    dim_ += a_.dim() - used_;
    used_ = a_.dim();  // a second one stands for nothing
  }
  void take(bool chosen) {
    resolved_.view = unsqueeze(resolved_.view, dim_);
    put(zeros({chosen ? 1 : 0}, DType::int64, a_.device()));
    ++index_tensors_;
  }
  void take(const Tensor& t) {
    require<IndexError>(is_mask(t) || t.dtype() == DType::int64 || t.dtype() == DType::int32,
                        "tensors used as indices must be int64, int32, uint8 or bool tensors, got ",
                        name(t.dtype()));
    require_one_device("index", {a_, t});
    if (is_mask(t)) {
      if (t.dim() == 0) return take(t.item<std::int64_t>() != 0);
      return take_mask(t);
    }
    if (t.dim() == 0) return take(t.item<std::int64_t>());
    put(t);
    ++index_tensors_;
  }
  void take_mask(const Tensor& mask) {
    for (int d = 0; d < mask.dim(); ++d)
      require<IndexError>(mask.shape()[d] == resolved_.view.shape()[dim_ + d], "the shape of the mask ",
                          mask.shape(), " at index ", d, " does not match the shape of the indexed tensor ",
                          resolved_.view.shape(), " at index ", dim_ + d);
    ++masks_;
    if (treatment_ == Masks::stay) {
      resolved_.mask = mask;
      mask_end_ = dim_ += mask.dim();
      return;
    }
    for (const Tensor& places : nonzero_as_tuple(mask)) put(places);
  }
  void put(const Tensor& places) {
    resolved_.indices.resize(static_cast<std::size_t>(dim_) + 1);
    resolved_.indices[static_cast<std::size_t>(dim_++)] = places;
  }

  const Tensor& a_;
  const Masks treatment_;
  Resolved resolved_;
  int dim_ = 0, used_ = 0, masks_ = 0, index_tensors_ = 0, mask_end_ = 0;
};

/** Index tensors made one: places in a run of dimensions taken together. */
class Places {
 public:
  /** Nothing is indexed unless some of `resolved.indices` is defined. */
  explicit Places(const Resolved& resolved) : distinct_(resolved.distinct) {
    std::vector<int> indexed, whole;
    for (std::size_t d = 0; d < resolved.indices.size(); ++d)
      (resolved.indices[d].defined() ? indexed : whole).push_back(static_cast<int>(d));
    const bool neighbours = indexed.back() - indexed.front() + 1 == static_cast<int>(indexed.size());
    first_ = neighbours ? indexed.front() : 0;
    count_ = static_cast<int>(indexed.size());
    if (!neighbours) {
      order_ = indexed;
      order_.insert(order_.end(), whole.begin(), whole.end());
    }
    TensorList indices;
    for (const int d : indexed) indices.push_back(resolved.indices[static_cast<std::size_t>(d)]);
    const Dims shape = arranged(resolved.view.data()).shape;
    join(indices, Dims(shape.begin() + first_, shape.begin() + first_ + count_));
    for (int d = 0; d < first_; ++d) shape_.push_back(shape[d]);
    for (const std::int64_t size : index_shape_) shape_.push_back(size);
    for (int d = first_ + count_; d < shape.size(); ++d) shape_.push_back(shape[d]);
  }

  const dlprim::Tensor& index() const { return places_; }
  /** The shape of what is read or written. */
  const Dims& shape() const { return shape_; }

  dlprim::Tensor read(const dlprim::Tensor& t) const {
    const dlprim::Tensor out = dlprim::Tensor::empty(t.device(), shape_, t.dtype);
    if (out.numel() == 0) return out;
    const dlprim::Tensor to = *dlprim::outer_along_inner(out, first_, index_shape_.size());
    dlprim::read_places(queue_of(t), readable_lines(arranged(t), first_, count_), lines(to.shape), to,
                        Negative::wraps, index_check());
    return out;
  }
  /** `one_value`: all elements of `source` are the same. */
  void write(const dlprim::Tensor& t, const dlprim::Tensor& source, bool one_value) const {
    if (source.numel() == 0) return;
    const dlprim::Tensor from = readable_lines(source, first_, index_shape_.size());
    write_lines(arranged(t), first_, count_, false, [&](const dlprim::Tensor& to) {
      dlprim::write_places(queue_of(t), from, lines(from.shape), to, one_value || distinct_, Negative::wraps,
                           index_check());
    });
  }
  void add_to_zeros(const dlprim::Tensor& t, const dlprim::Tensor& source) const {
    if (distinct_) return write(t, source, true);
    add(t, source);
  }
  void add(const dlprim::Tensor& t, const dlprim::Tensor& source) const {
    if (source.numel() == 0) return;
    const dlprim::Tensor from = readable_lines(source, first_, index_shape_.size());
    write_lines(arranged(t), first_, count_, true, [&](const dlprim::Tensor& to) {
      dlprim::add_at_places(queue_of(t), from, lines(from.shape), to, 1, std::nullopt, Negative::wraps,
                            index_check());
    });
  }

 private:
  /** `t` with the indexed dimensions side by side. */
  dlprim::Tensor arranged(dlprim::Tensor t) const {
    const dlprim::Tensor given = t;
    for (std::size_t d = 0; d < order_.size(); ++d) {
      t.shape[static_cast<int>(d)] = given.shape[order_[d]];
      t.strides[static_cast<int>(d)] = given.strides[order_[d]];
    }
    return t;
  }
  dlprim::Tensor lines(const Dims& shape) const {
    return places_.reshaped({1, places_.numel(), 1}).expanded({shape[0], places_.numel(), shape[2]});
  }

  void join(const TensorList& indices, const Dims& sizes) {
    for (const Tensor& index : indices) {
      const Dims before = index_shape_;
      try {
        index_shape_ = dlprim::broadcast_shapes(before, index.shape(), "index");
      } catch (const ValueError&) {
        throw IndexError(
            dlprim::concat("shape mismatch: indexing tensors could not be broadcast together with shapes ",
                           before, ", ", index.shape()));
      }
    }
    std::vector<dlprim::Tensor> flat;
    for (const Tensor& index : indices)
      flat.push_back(checked_index("index", expand(index.detach(), index_shape_.vector())));
    if (flat.size() == 1) {
      places_ = flat.front().reshaped({flat.front().numel()});
      return;
    }
    places_ = dlprim::Tensor::empty(flat.front().device(), {product(index_shape_)}, DType::int64);
    dlprim::join_indices(queue_of(places_), flat, sizes, places_, index_check());
  }

  bool distinct_;
  std::vector<int> order_;  // of dimensions, where the indexed ones must be brought together
  int first_ = 0, count_ = 0;
  Dims index_shape_, shape_;
  dlprim::Tensor places_;  // int64 [n]
};

bool has_index_tensor(const Resolved& resolved) {
  return std::any_of(resolved.indices.begin(), resolved.indices.end(),
                     [](const Tensor& t) { return t.defined(); });
}

/** Whether the only tensor among the items is a mask. */
bool has_one_mask(const IndexItems& items) {
  int masks = 0;
  for (const IndexItem& item : items) {
    const Tensor* t = tensor_in(item);
    if (std::holds_alternative<bool>(item.choice()) || (t && (t->dtype() != DType::boolean || t->dim() == 0)))
      return false;
    masks += t != nullptr;
  }
  return masks == 1;
}

/** A tensor without the leading dimensions of size 1 that it has more than `rank`. */
Tensor without_leading_ones(const Tensor& t, int rank) {
  Tensor result = t;
  while (result.dim() > rank && result.shape()[0] == 1) result = squeeze(result, 0);
  return result;
}

/** `value` in the dtype of `target`, expanded to `shape`. */
dlprim::Tensor fitting_source(const Tensor& target, const Operand& value, const Dims& shape) {
  if (!value.is_tensor()) {
    const dlprim::Tensor one = dlprim::Tensor::empty(*target.device(), {1}, target.dtype());
    dlprim::fill(queue_of(one), one, value.number());
    return one.expanded(shape);
  }
  const Tensor source = without_leading_ones(value.tensor().detach(), shape.size());
  require(dlprim::broadcast_shapes(source.shape(), shape, "index_put_") == shape,
          "shape mismatch: value tensor of shape ", source.shape(),
          " cannot be broadcast to indexing result of shape ", shape);
  return to(source, target.dtype()).data().expanded(shape);
}

/** Places kept for backward, which throws when the index was written since. */
class KeptPlaces {
 public:
  explicit KeptPlaces(const Places& places) : places_(places), index_(places.index()) {}
  const Places& get() const {
    index_.unpack();
    return places_;
  }
  /** The elements at the places, and what adds elements there to zeros of `shape`. */
  LinearFunction reader() const {
    return [places = *this](const Tensor& whole) { return Tensor(places.get().read(whole.data())); };
  }
  LinearFunction adder(const Dims& shape) const {
    return [places = *this, shape](const Tensor& elements) {
      const Tensor whole = zeros(shape.vector(), elements.dtype(), elements.device());
      places.get().add_to_zeros(whole.data(), elements.data());
      return whole;
    };
  }

 private:
  Places places_;
  SavedTensor index_;
};

void put(Tensor view, const Places& places, const Tensor& source, const Operand& value, bool accumulate) {
  check_in_place("index_put_", view, {source});
  const dlprim::Tensor given = fitting_source(view, value, places.shape());
  const bool one_value = !source.defined() || source.numel() == 1;
  if (accumulate)
    places.add(view.data(), given);
  else
    places.write(view.data(), given, one_value);
  record_in_place("IndexPutBackward", view, {source}, [&] {
    const Dims shape = source.defined() ? source.shape() : Dims{};
    const DType dtype = source.defined() ? source.dtype() : view.dtype();
    return [places = KeptPlaces(places), wants_source = needs_tape({source}), shape, dtype,
            accumulate](const TensorList& g) {
      const auto clear = [places](const Tensor& given) {
        const Tensor rest = given.clone(MemoryFormat::contiguous);
        const Places& written = places.get();
        written.write(rest.data(), fitting_source(given, 0, written.shape()), true);
        return rest;
      };
      TensorList gradients{accumulate ? g[0] : apply_linear("IndexPutBackward", g[0], clear, clear),
                           Tensor()};
      if (wants_source) {
        Dims without_ones = shape;
        while (without_ones.size() > places.get().shape().size()) without_ones.erase(0);
        const Tensor picked = sum_to_shape(
            apply_linear("IndexBackward", g[0], places.reader(), places.adder(g[0].shape())), without_ones);
        gradients[1] = reshape(to(picked, dtype), shape.vector());
      }
      return gradients;
    };
  });
}

}  // namespace

static dlprim::ArgumentValue argument_value(const Slice& slice) {
  const auto text = [](const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : std::string();
  };
  return text(slice.start) + ":" + text(slice.stop) +
         (slice.step == 1 ? "" : ":" + std::to_string(slice.step));
}
static dlprim::ArgumentValue argument_value(const NewAxis&) {
  return std::string("None");
}
static dlprim::ArgumentValue argument_value(const EllipsisIndex&) {
  return std::string("...");
}
static dlprim::ArgumentValue argument_value(const IndexItem& item) {
  return dlprim::value_of(item.choice());
}

IndexItem::IndexItem(const char* text) : choice_(EllipsisIndex()) {
  require<IndexError>(std::string_view(text) == "...", "index: expected \"...\" as the only text, got \"",
                      text, "\"");
}

Tensor Tensor::operator[](const Tensor& places) const {
  return ocl::index(*this, {places});
}
Tensor Tensor::index(const std::vector<IndexItem>& items) const {
  return ocl::index(*this, items);
}
Tensor& Tensor::index_put_(const std::vector<IndexItem>& items, const Operand& value, bool accumulate) {
  return ocl::index_put_(*this, items, value, accumulate);
}
Tensor& Tensor::operator=(const Operand& value) && {
  return index_put_({Ellipsis}, value);
}
Tensor& Tensor::operator=(const Tensor& value) && {
  return index_put_({Ellipsis}, value);
}
Tensor& Tensor::operator=(Tensor&& value) && {
  return index_put_({Ellipsis}, value);
}

Tensor index(const Tensor& a, const IndexItems& items) {
  ANNOUNCE_OPERATOR("index", a, items);
  const Resolved resolved = Resolver(a, items, Masks::become_places).result();
  if (!has_index_tensor(resolved)) return resolved.view;
  const Places places(resolved);
  return record("IndexBackward", {resolved.view}, places.read(resolved.view.data()), [&] {
    const KeptPlaces kept(places);
    return linear_gradient("IndexBackward", kept.adder(resolved.view.shape()), kept.reader());
  });
}

Tensor& index_put_(Tensor& a, const IndexItems& items, const Operand& given, bool accumulate) {
  ANNOUNCE_OPERATOR("index_put_", a, items, given, accumulate);
  const Operand value =
      given.is_tensor() ? given : Operand(dlprim::as_element("index_put_", a.dtype(), given.number()));
  Tensor source = value.tensor();
  // A tensor that is read must not change while the result is written.
  if (source.defined() && source.data().storage == a.data().storage) source = clone(source);
  const bool is_scalar = !source.defined() || source.dim() == 0;
  if (is_scalar && !accumulate && has_one_mask(items)) {
    // Nothing has to be counted, so nothing waits.
    Resolved masked = Resolver(a, items, Masks::stay).result();
    masked_fill_(masked.view, masked.mask, source.defined() ? Operand(source) : value);
    return a;
  }
  Resolved resolved = Resolver(a, items, Masks::become_places).result();
  if (has_index_tensor(resolved)) {
    if (source.defined()) require_one_device("index_put_", {a, source});
    put(resolved.view, Places(resolved), source, source.defined() ? Operand(source) : value, accumulate);
  } else if (accumulate) {
    const Operand added =
        source.defined() ? Operand(without_leading_ones(source, resolved.view.dim())) : value;
    apply_pointwise_in_place(dlprim::pointwise_op("add"), resolved.view, {resolved.view, added}, {1});
  } else if (source.defined()) {
    resolved.view.copy_(without_leading_ones(source, resolved.view.dim()));
  } else {
    resolved.view.fill_(value.number());
  }
  return a;
}

}  // namespace ocl
