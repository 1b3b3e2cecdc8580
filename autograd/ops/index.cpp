#include "autograd/ops/index.h"

#include "autograd/ops/call.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/index_support.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/masking.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/index/accumulate.h"

namespace ocl {

using dlprim::DeviceCheck;
using dlprim::Negative;
using dlprim::register_check;
using dlprim::require;
using dlprim::wrap_dim;

namespace {

/** A scalar counts as one element in a row. */
dlprim::Tensor at_least_1d(dlprim::Tensor t) {
  return t.rank() == 0 ? t.reshaped({1}) : t;
}

/** The first `shape[d]` entries of every dimension but `dim`. */
dlprim::Tensor cut_to(dlprim::Tensor t, const Dims& shape, int dim) {
  for (int d = 0; d < t.rank(); ++d)
    if (d != dim) t.shape[d] = shape[d];
  return t;
}

/** An index of one element for each element of the result, along `dim`. */
struct ElementIndex {
  dlprim::Tensor index;  // int64, contiguous, at least one dimension
  Dims shape;            // as given
  int dim;
  DeviceCheck check;
  Negative negative = Negative::is_error;
};

ElementIndex element_index(const char* op, const Tensor& a, std::int64_t dim, const Tensor& index,
                           DeviceCheck check) {
  require_one_device(op, {a, index});
  const ElementIndex result{at_least_1d(checked_index(op, index)), index.shape(), wrap_dim(dim, a.dim(), op),
                            check};
  if (index.numel() == 0) return result;
  require(std::max(index.dim(), 1) == std::max(a.dim(), 1), op, ": index of shape ", index.shape(),
          " and input of shape ", a.shape(), " must have the same number of dimensions");
  for (int d = 0; d < a.dim(); ++d)
    require(d == result.dim || result.index.shape[d] <= a.shape()[d], op,
            ": size does not match at dimension ", d, ": expected index ", index.shape(),
            " to be no larger than input ", a.shape(), " apart from dimension ", result.dim);
  return result;
}

dlprim::Tensor gathered(const dlprim::Tensor& a, const ElementIndex& by) {
  const dlprim::Tensor out = dlprim::Tensor::empty(a.device(), by.shape, a.dtype);
  if (out.numel() == 0) return out;
  const dlprim::Tensor lines = readable_lines(cut_to(at_least_1d(a), by.index.shape, by.dim), by.dim);
  dlprim::read_places(queue_of(a), lines, readable_lines(by.index, by.dim),
                      readable_lines(at_least_1d(out), by.dim), by.negative, by.check);
  return out;
}

/** Writes `src` (of the shape of the index, or one element expanded to it) over places of `target`. */
void write_elements(const dlprim::Tensor& target, const ElementIndex& by, const dlprim::Tensor& src,
                    bool one_value) {
  if (by.index.numel() == 0) return;
  write_lines(cut_to(at_least_1d(target), by.index.shape, by.dim), by.dim, 1, false,
              [&](const dlprim::Tensor& lines) {
                dlprim::write_places(queue_of(target), readable_lines(src, by.dim),
                                     readable_lines(by.index, by.dim), lines, one_value, by.negative,
                                     by.check);
              });
}

void write_number(const dlprim::Tensor& target, const ElementIndex& by, const Scalar& value) {
  const dlprim::Tensor one = dlprim::Tensor::empty(target.device(), {1}, target.dtype);
  dlprim::fill(queue_of(target), one, value);
  write_elements(target, by, one.expanded(by.index.shape), true);
}

void add_elements(const dlprim::Tensor& target, const ElementIndex& by, const dlprim::Tensor& src) {
  if (by.index.numel() == 0) return;
  write_lines(
      cut_to(at_least_1d(target), by.index.shape, by.dim), by.dim, 1, true, [&](const dlprim::Tensor& lines) {
        dlprim::add_at_places(queue_of(target), readable_lines(src, by.dim), readable_lines(by.index, by.dim),
                              lines, 1, std::nullopt, by.negative, by.check);
      });
}

/** An index of whole entries of `dim`. */
struct EntryIndex {
  dlprim::Tensor index;  // int64 [n], contiguous
  int dim;
  DeviceCheck check;

  /** The index for lines [outer, along, inner]. */
  dlprim::Tensor lines(const Dims& shape) const {
    return index.reshaped({1, index.numel(), 1}).expanded({shape[0], index.numel(), shape[2]});
  }
};

EntryIndex entry_index(const char* op, const Tensor& a, std::int64_t dim, const Tensor& index,
                       DeviceCheck check) {
  require_one_device(op, {a, index});
  require<IndexError>(index.dim() <= 1, op, ": index is supposed to be a vector, got shape ", index.shape());
  require<IndexError>(a.dim() > 0 || index.numel() == 1, op, ": a scalar has one entry, got ", index.numel(),
                      " indices");
  return {at_least_1d(checked_index(op, index)), wrap_dim(dim, a.dim(), op), check};
}

dlprim::Tensor entries(const dlprim::Tensor& a, const EntryIndex& by) {
  Dims shape = a.shape;
  if (a.rank() > 0) shape[by.dim] = by.index.numel();
  const dlprim::Tensor out = dlprim::Tensor::empty(a.device(), shape, a.dtype);
  if (out.numel() == 0) return out;
  const dlprim::Tensor to = readable_lines(at_least_1d(out), by.dim);
  dlprim::read_places(queue_of(a), readable_lines(at_least_1d(a), by.dim), by.lines(to.shape), to,
                      Negative::is_error, by.check);
  return out;
}

void write_entries(const dlprim::Tensor& target, const EntryIndex& by, const dlprim::Tensor& source,
                   bool one_value) {
  if (source.numel() == 0) return;
  write_lines(at_least_1d(target), by.dim, 1, false, [&](const dlprim::Tensor& lines) {
    dlprim::write_places(queue_of(target), readable_lines(at_least_1d(source), by.dim), by.lines(lines.shape),
                         lines, one_value, Negative::is_error, by.check);
  });
}

/** Writes a number over whole entries of `target`. */
void fill_entries(const dlprim::Tensor& target, const EntryIndex& by, const Scalar& value) {
  const dlprim::Tensor one = dlprim::Tensor::empty(target.device(), {1}, target.dtype);
  dlprim::fill(queue_of(target), one, value);
  Dims named = target.rank() > 0 ? target.shape : Dims{1};
  named[by.dim] = by.index.numel();
  write_entries(target, by, one.expanded(named), true);
}

void add_entries(const dlprim::Tensor& target, const EntryIndex& by, const dlprim::Tensor& source,
                 const Scalar& alpha, std::optional<std::int64_t> left_out = std::nullopt) {
  if (source.numel() == 0) return;
  write_lines(at_least_1d(target), by.dim, 1, true, [&](const dlprim::Tensor& lines) {
    dlprim::add_at_places(queue_of(target), readable_lines(at_least_1d(source), by.dim),
                          by.lines(lines.shape), lines, alpha, left_out, Negative::is_error, by.check);
  });
}

/** The source of an index_add or index_copy: what a's entries would be. */
void require_source(const char* op, const Tensor& a, const EntryIndex& by, const Tensor& source) {
  require_one_device(op, {a, source});
  require<TypeError>(a.dtype() == source.dtype(), op, ": input (", name(a.dtype()), ") and source (",
                     name(source.dtype()), ") must have the same dtype");
  Dims expected = a.dim() ? a.shape() : Dims{1};
  expected[by.dim] = by.index.numel();
  require<IndexError>(std::max(source.dim(), 1) == expected.size(), op, ": source of shape ", source.shape(),
                      " must have the dimensions of input ", a.shape());
  require<IndexError>((source.dim() ? source.shape() : Dims{1}) == expected, op,
                      ": expected a source of shape ", expected, " for input of shape ", a.shape(), ", dim ",
                      by.dim, " and ", by.index.numel(), " indices, got ", source.shape());
}

/** An index kept for backward, which throws when it was written since. */
template <class Index>
struct Kept {
  Index by;
  SavedTensor index;

  const Index& get() const {
    index.unpack();
    return by;
  }
};

template <class Index>
Kept<Index> kept(const Index& by) {
  return {by, SavedTensor(by.index)};
}

Tensor zeros_of(const Dims& shape, const Tensor& like) {
  return zeros(shape.vector(), like.dtype(), like.device());
}

/** A write to places of a tensor, done to a copy of it or in place, and its gradients. */
struct Write {
  const char* op;
  const char* node;
  TensorList sources;
  std::function<void(const dlprim::Tensor& target)> apply;
  std::function<Backward()> make_backward;
};

Tensor written_copy(const Tensor& a, const Write& write) {
  const dlprim::Tensor result = contiguous_copy(a.data());
  write.apply(result);
  TensorList inputs{a};
  inputs.insert(inputs.end(), write.sources.begin(), write.sources.end());
  return record(write.node, inputs, result, write.make_backward);
}

Tensor& written_in_place(Tensor& a, const Write& write) {
  check_in_place(write.op, a, write.sources);
  write.apply(a.data());
  record_in_place(write.node, a, write.sources, write.make_backward);
  return a;
}

/** `src` cut to the sizes of the index. Throws where it is smaller. */
Tensor fitting_source(const char* op, const Tensor& a, const ElementIndex& by, const Tensor& src) {
  require_one_device(op, {a, src});
  require<TypeError>(a.dtype() == src.dtype(), op, ": expected input (", name(a.dtype()), ") and src (",
                     name(src.dtype()), ") of the same dtype");
  if (by.index.numel() == 0) return src;
  require(std::max(src.dim(), 1) == by.index.rank(), op, ": index of shape ", by.shape, " and src of shape ",
          src.shape(), " must have the same number of dimensions");
  Tensor fitting = src.dim() ? src : src.reshape({1});
  for (int d = 0; d < fitting.dim(); ++d) {
    require(by.index.shape[d] <= fitting.shape()[d], op, ": expected index ", by.shape,
            " to be no larger than src ", src.shape());
    fitting = narrow(fitting, d, 0, by.index.shape[d]);
  }
  return fitting;
}

/** The gradient of what a write left of a tensor: that of the result, but 0 where `clear` writes it. */
template <class Clear>
Tensor rest_of(const char* node, const Tensor& g, Clear clear) {
  const auto cleared = [clear](const Tensor& given) {
    const Tensor rest = given.clone(MemoryFormat::contiguous);
    clear(rest.data());
    return rest;
  };
  return apply_linear(node, g, cleared, cleared);
}

LinearFunction gather_at(const Kept<ElementIndex>& by) {
  return [by](const Tensor& whole) { return Tensor(gathered(whole.data(), by.get())); };
}
LinearFunction scatter_add_at(const Kept<ElementIndex>& by, const Dims& shape) {
  return [by, shape](const Tensor& elements) {
    const Tensor whole = zeros_of(shape, elements);
    add_elements(whole.data(), by.get(), at_least_1d(elements.data()));
    return whole;
  };
}
LinearFunction select_at(const Kept<EntryIndex>& by) {
  return [by](const Tensor& whole) { return Tensor(entries(whole.data(), by.get())); };
}
LinearFunction add_at(const Kept<EntryIndex>& by, const Dims& shape,
                      std::optional<std::int64_t> left_out = std::nullopt) {
  return [by, shape, left_out](const Tensor& elements) {
    const Tensor whole = zeros_of(shape, elements);
    add_entries(whole.data(), by.get(), elements.data(), 1, left_out);
    return whole;
  };
}

/** The gradient of a source of `shape` whose elements went where the index says. */
Tensor source_gradient(const Tensor& g, const Kept<ElementIndex>& by, const Dims& shape) {
  if (by.get().index.numel() == 0) return zeros_of(shape, g);
  return reshape(apply_linear("GatherBackward", g, gather_at(by), scatter_add_at(by, g.shape())),
                 shape.vector());
}
Tensor source_gradient(const Tensor& g, const Kept<EntryIndex>& by, const Dims& shape) {
  return reshape(apply_linear("IndexSelectBackward", g, select_at(by), add_at(by, g.shape())),
                 shape.vector());
}

Write scatter_write(const Tensor& a, std::int64_t dim, const Tensor& index, const Operand& src) {
  static const DeviceCheck check = register_check("scatter: index out of range: ");
  const ElementIndex by = element_index("scatter", a, dim, index, check);
  const auto gradient_of_a = [](const Tensor& g, const Kept<ElementIndex>& of_a) {
    return rest_of("ScatterBackward", g, [of_a](const dlprim::Tensor& t) { write_number(t, of_a.get(), 0); });
  };
  if (!src.is_tensor())
    return {"scatter_",
            "ScatterBackward",
            {},
            [by, value = src.number()](const dlprim::Tensor& target) { write_number(target, by, value); },
            [by, gradient_of_a] {
              return [by = kept(by), gradient_of_a](const TensorList& g) {
                return TensorList{gradient_of_a(g[0], by)};
              };
            }};
  const Tensor source = fitting_source("scatter", a, by, src.tensor());
  return {
      "scatter_",
      "ScatterBackward",
      {source},
      [by, data = source.data()](const dlprim::Tensor& target) { write_elements(target, by, data, false); },
      [by, gradient_of_a, shape = source.shape()] {
        return [by = kept(by), gradient_of_a, shape](const TensorList& g) {
          return TensorList{gradient_of_a(g[0], by), source_gradient(g[0], by, shape)};
        };
      }};
}

Write scatter_add_write(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src) {
  static const DeviceCheck check = register_check("scatter_add: index out of range: ");
  const ElementIndex by = element_index("scatter_add", a, dim, index, check);
  const Tensor source = fitting_source("scatter_add", a, by, src);
  return {"scatter_add_",
          "ScatterAddBackward",
          {source},
          [by, data = source.data()](const dlprim::Tensor& target) { add_elements(target, by, data); },
          [by, shape = source.shape()] {
            return [by = kept(by), shape](const TensorList& g) {
              return TensorList{g[0], source_gradient(g[0], by, shape)};
            };
          }};
}

Write index_add_write(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source,
                      const Scalar& alpha) {
  static const DeviceCheck check = register_check("index_add: index out of range: ");
  const EntryIndex by = entry_index("index_add", a, dim, index, check);
  dlprim::require_holds("index_add", a.dtype(), alpha);
  require_source("index_add", a, by, source);
  return {"index_add_",
          "IndexAddBackward",
          {source},
          [by, alpha, data = source.data()](const dlprim::Tensor& target) {
            add_entries(target, by, data, alpha);
          },
          [by, alpha, shape = source.shape()] {
            return [by = kept(by), alpha, shape](const TensorList& g) {
              const Tensor picked = source_gradient(g[0], by, shape);
              return TensorList{g[0], alpha.real() == 1 ? picked : mul(picked, alpha)};
            };
          }};
}

Write index_copy_write(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source) {
  static const DeviceCheck check = register_check("index_copy: index out of range: ");
  const EntryIndex by = entry_index("index_copy", a, dim, index, check);
  require_source("index_copy", a, by, source);
  return {
      "index_copy_",
      "IndexCopyBackward",
      {source},
      [by, data = source.data()](const dlprim::Tensor& target) { write_entries(target, by, data, false); },
      [by, shape = source.shape()] {
        return [by = kept(by), shape](const TensorList& g) {
          const auto clear = [by](const dlprim::Tensor& t) { fill_entries(t, by.get(), 0); };
          return TensorList{rest_of("IndexCopyBackward", g[0], clear), source_gradient(g[0], by, shape)};
        };
      }};
}

Write index_fill_write(const Tensor& a, std::int64_t dim, const Tensor& index, const Scalar& value) {
  static const DeviceCheck check = register_check("index_fill: index out of range: ");
  const EntryIndex by = entry_index("index_fill", a, dim, index, check);
  dlprim::require_holds("index_fill", a.dtype(), value);
  const Scalar element = dlprim::as_element("index_fill", a.dtype(), value);
  return {"index_fill_",
          "IndexFillBackward",
          {},
          [by, element](const dlprim::Tensor& target) { fill_entries(target, by, element); },
          [by] {
            return [by = kept(by)](const TensorList& g) {
              const auto clear = [by](const dlprim::Tensor& t) { fill_entries(t, by.get(), 0); };
              return TensorList{rest_of("IndexFillBackward", g[0], clear)};
            };
          }};
}

}  // namespace

Tensor gather(const Tensor& a, std::int64_t dim, const Tensor& index) {
  ENTER_OPERATOR(gather, a, dim, index);
  static const DeviceCheck check = register_check("gather: index out of range: ");
  const ElementIndex by = element_index("gather", a, dim, index, check);
  return record("GatherBackward", {a}, gathered(a.data(), by), [&] {
    const auto index_kept = kept(by);
    return linear_gradient("GatherBackward", scatter_add_at(index_kept, a.shape()), gather_at(index_kept));
  });
}

Tensor take_along_dim(const Tensor& a, const Tensor& indices, std::optional<std::int64_t> dim) {
  ENTER_OPERATOR(take_along_dim, a, indices, dim);
  constexpr const char* op = "take_along_dim";
  if (!dim) return take_along_dim(reshape(a, {-1}), reshape(indices, {-1}), 0);
  require<TypeError>(indices.dtype() == DType::int64, op, ": expected indices of dtype int64, got ",
                     name(indices.dtype()));
  require(a.dim() == indices.dim(), op, ": input and indices should have the same number of dimensions, got ",
          a.shape(), " and ", indices.shape());
  const int d = wrap_dim(*dim, a.dim(), op);
  Dims input_shape = a.shape(), index_shape = indices.shape();
  if (a.dim() > 0) {
    input_shape[d] = index_shape[d] = 1;
    input_shape = index_shape = dlprim::broadcast_shapes(input_shape, index_shape, op);
    input_shape[d] = a.shape()[d];
    index_shape[d] = indices.shape()[d];
  }
  // A negative index counts from the end.
  const Tensor wrapped = where(lt(indices, 0), indices + (a.dim() ? a.size(d) : 1), indices);
  return gather(expand(a, input_shape.vector()), d, expand(wrapped, index_shape.vector()));
}

namespace {

/** Places in the flattened `a`, for operators that take int64 alone. Negative ones count from the end. */
ElementIndex flat_index(const char* op, const Tensor& a, const Tensor& index, DeviceCheck check) {
  require<TypeError>(index.dtype() == DType::int64, op, ": expected an index of dtype int64, got ",
                     name(index.dtype()));
  require<IndexError>(a.numel() > 0 || index.numel() == 0, op,
                      ": expected an input with elements for an index of shape ", index.shape());
  require_one_device(op, {a, index});
  const dlprim::Tensor places = checked_index(op, index).reshaped({index.numel()});
  return {places, places.shape, 0, check, Negative::wraps};
}

}  // namespace

Tensor take(const Tensor& a, const Tensor& index) {
  ENTER_OPERATOR(take, a, index);
  static const DeviceCheck check = register_check("take: index out of range: ");
  const Tensor flat = reshape(a, {-1});
  const ElementIndex by = flat_index("take", flat, index, check);
  const Tensor taken = record("TakeBackward", {flat}, gathered(flat.data(), by), [&] {
    const auto index_kept = kept(by);
    return linear_gradient("TakeBackward", scatter_add_at(index_kept, flat.shape()), gather_at(index_kept));
  });
  return reshape(taken, index.shape().vector());
}

Tensor& put_(Tensor& a, const Tensor& index, const Tensor& source, bool accumulate) {
  ANNOUNCE_ROW("put_", put_, a, index, source, accumulate);
  static const DeviceCheck check = register_check("put_: index out of range: ");
  require_one_device("put_", {a, index, source});
  require<TypeError>(a.dtype() == source.dtype(), "put_: expected input (", name(a.dtype()), ") and source (",
                     name(source.dtype()), ") of the same dtype");
  require<IndexError>(index.numel() == source.numel(),
                      "put_: expected as many elements in source as in index, got shapes ", source.shape(),
                      " and ", index.shape());
  const Dims row{a.numel()};
  const ElementIndex by = flat_index("put_", a, index, check);
  const dlprim::Tensor given = contiguous(source.detach()).data().reshaped({source.numel()});
  return written_in_place(
      a, {"put_",
          "PutBackward",
          {source},
          [by, given, row, accumulate](const dlprim::Tensor& target) {
            const bool in_a_row = target.is_contiguous();
            const dlprim::Tensor whole = in_a_row ? target : contiguous_copy(target);
            if (accumulate)
              add_elements(whole.reshaped(row), by, given);
            else
              write_elements(whole.reshaped(row), by, given, false);
            if (!in_a_row) dlprim::copy(queue_of(target), whole, target);
          },
          [by, accumulate, shape = a.shape(), of_source = source.shape()] {
            return [by = kept(by), accumulate, shape, of_source](const TensorList& g) {
              const Tensor whole = reshape(g[0], {-1}), read = source_gradient(whole, by, of_source);
              if (accumulate) return TensorList{g[0], read};
              const auto clear = [by](const dlprim::Tensor& t) { write_number(t, by.get(), 0); };
              return TensorList{reshape(rest_of("PutBackward", whole, clear), shape.vector()), read};
            };
          }});
}

Tensor scatter(const Tensor& a, std::int64_t dim, const Tensor& index, const Operand& src) {
  ENTER_OPERATOR(scatter, a, dim, index, src);
  return written_copy(a, scatter_write(a, dim, index, src));
}
Tensor& scatter_(Tensor& a, std::int64_t dim, const Tensor& index, const Operand& src) {
  ANNOUNCE_ROW("scatter_", scatter_, a, dim, index, src);
  return written_in_place(a, scatter_write(a, dim, index, src));
}
void scatter_distinct_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src) {
  static const DeviceCheck check = register_check("scatter: index out of range: ");
  const ElementIndex by = element_index("scatter", a, dim, index, check);
  write_elements(a.data(), by, at_least_1d(src.data()), true);
}
void reduce_into_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src,
                  dlprim::PlaceReduction reduction) {
  static const DeviceCheck check = register_check("scatter_reduce: index out of range: ");
  const ElementIndex by = element_index("scatter_reduce", a, dim, index, check);
  write_lines(cut_to(a.data(), by.index.shape, by.dim), by.dim, 1, true, [&](const dlprim::Tensor& lines) {
    dlprim::reduce_at_places(queue_of(a.data()), reduction, readable_lines(src.data(), by.dim),
                             readable_lines(by.index, by.dim), lines, by.negative, by.check);
  });
}
Tensor scatter_add(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src) {
  ENTER_OPERATOR(scatter_add, a, dim, index, src);
  return written_copy(a, scatter_add_write(a, dim, index, src));
}
Tensor& scatter_add_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src) {
  ANNOUNCE_ROW("scatter_add_", scatter_add_, a, dim, index, src);
  return written_in_place(a, scatter_add_write(a, dim, index, src));
}
Tensor index_add(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  ENTER_OPERATOR(index_add, a, dim, index, source, alpha);
  if (alpha.imaginary() != 0) return index_add(a, dim, index, source * alpha, 1);
  return written_copy(a, index_add_write(a, dim, index, source, alpha));
}
Tensor& index_add_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source,
                   const Scalar& alpha) {
  ANNOUNCE_ROW("index_add_", index_add_, a, dim, index, source, alpha);
  if (alpha.imaginary() != 0) return index_add_(a, dim, index, source * alpha, 1);
  return written_in_place(a, index_add_write(a, dim, index, source, alpha));
}
Tensor index_fill(const Tensor& a, std::int64_t dim, const Tensor& index, const Operand& value) {
  ENTER_OPERATOR(index_fill, a, dim, index, value);
  require(!value.is_tensor() || value.tensor().dim() == 0,
          "index_fill: expected a number or a tensor without dimensions for value, got shape ",
          value.is_tensor() ? value.tensor().shape() : Dims());
  require<IndexError>(index.dtype() == DType::int64 || index.dtype() == DType::int32,
                      "index_fill: expected an index of dtype int64 or int32, got ", name(index.dtype()));
  if (!value.is_tensor()) return written_copy(a, index_fill_write(a, dim, index, value.number()));
  const int axis = wrap_dim(dim, a.dim(), "index_fill");
  std::vector<std::int64_t> places(static_cast<std::size_t>(a.dim()), 1);
  if (a.dim() > 0) places[static_cast<std::size_t>(axis)] = a.size(axis);
  const Tensor mask = index_fill(zeros(places, DType::boolean, a.device()), dim, index, true);
  return masked_fill(a, mask, value);
}

Tensor index_copy(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source) {
  ENTER_OPERATOR(index_copy, a, dim, index, source);
  return written_copy(a, index_copy_write(a, dim, index, source));
}
Tensor& index_copy_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source) {
  ANNOUNCE_ROW("index_copy_", index_copy_, a, dim, index, source);
  return written_in_place(a, index_copy_write(a, dim, index, source));
}

Tensor index_select(const Tensor& a, std::int64_t dim, const Tensor& index) {
  ENTER_OPERATOR(index_select, a, dim, index);
  static const DeviceCheck check = register_check("index_select: index out of range: ");
  const EntryIndex by = entry_index("index_select", a, dim, index, check);
  return record("IndexSelectBackward", {a}, entries(a.data(), by), [&] {
    const auto index_kept = kept(by);
    return linear_gradient("IndexSelectBackward", add_at(index_kept, a.shape()), select_at(index_kept));
  });
}

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<std::int64_t> padding_idx) {
  ENTER_OPERATOR(embedding, input, weight, padding_idx);
  static const DeviceCheck check = register_check("embedding: index out of range: ");
  require(weight.dim() == 2, "embedding: 'weight' must be 2-D, got shape ", weight.shape());
  const std::int64_t count = weight.size(0);
  if (padding_idx) {
    require(*padding_idx >= -count && *padding_idx < count,
            "embedding: padding_idx must be within num_embeddings (", count, "), got ", *padding_idx);
    if (*padding_idx < 0) *padding_idx += count;
  }
  require_one_device("embedding", {weight, input});
  const dlprim::Tensor index = checked_index("embedding", input);
  const EntryIndex by{index.reshaped({index.numel()}), 0, check};
  Dims shape = input.shape();
  shape.push_back(weight.size(1));
  return record("EmbeddingBackward", {weight}, entries(weight.data(), by).reshaped(shape), [&] {
    const auto index_kept = kept(by);
    return [index_kept, padding_idx, whole_shape = weight.shape()](const TensorList& g) {
      const Tensor rows = reshape(g[0], {index_kept.get().index.numel(), whole_shape[1]});
      // A value that is added to no row has no gradient.
      const auto rows_at = [index_kept, padding_idx](const Tensor& whole) {
        const Tensor chosen(entries(whole.data(), index_kept.get()));
        if (!padding_idx) return chosen;
        return where(eq(unsqueeze(Tensor(index_kept.get().index), 1), *padding_idx), 0.0, chosen);
      };
      return TensorList{
          apply_linear("EmbeddingBackward", rows, add_at(index_kept, whole_shape, padding_idx), rows_at)};
    };
  });
}

Tensor one_hot(const Tensor& a, std::int64_t num_classes) {
  ENTER_OPERATOR(one_hot, a, num_classes);
  static const DeviceCheck check = register_check("one_hot: class out of range: ");
  require<TypeError>(a.dtype() == DType::int64, "one_hot is only applicable to an index of dtype int64, got ",
                     name(a.dtype()));
  require(num_classes >= -1, "one_hot: num_classes must be -1 or at least 0, got ", num_classes);
  require(a.numel() > 0 || num_classes > 0,
          "one_hot: can not infer total number of classes from an empty tensor");
  if (num_classes == -1) {
    num_classes = amax(a).item<std::int64_t>();
    require(num_classes < INT64_MAX, "one_hot: a class of ", num_classes, " is too large");
    ++num_classes;
  }
  require(num_classes > 0, "one_hot: class values must be smaller than num_classes ", num_classes);
  Dims shape = a.shape();
  shape.push_back(num_classes);
  const Tensor result = zeros(shape.vector(), DType::int64, a.device());
  write_number(result.data(), element_index("one_hot", result, -1, unsqueeze(a, -1), check), 1);
  return result;
}

namespace {

Tensor kept_triangle(const char* op, const char* node, dlprim::Triangle kept, const Tensor& a,
                     std::int64_t diagonal) {
  require(a.dim() >= 2, op, ": input tensor must have at least 2 dimensions, got shape ", a.shape());
  const auto cut = on_contiguous(
      a.shape(), [kept, diagonal](dlprim::Queue& queue, const dlprim::Tensor& x, const dlprim::Tensor& y) {
        dlprim::triangle(queue, kept, x, diagonal, y);
      });
  return apply_linear(node, a, cut, cut);
}

}  // namespace

Tensor tril(const Tensor& a, std::int64_t diagonal) {
  ENTER_OPERATOR(tril, a, diagonal);
  return kept_triangle("tril", "TrilBackward", dlprim::Triangle::lower, a, diagonal);
}
Tensor triu(const Tensor& a, std::int64_t diagonal) {
  ENTER_OPERATOR(triu, a, diagonal);
  return kept_triangle("triu", "TriuBackward", dlprim::Triangle::upper, a, diagonal);
}

}  // namespace ocl
