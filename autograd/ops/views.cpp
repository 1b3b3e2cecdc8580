#include "autograd/ops/views.h"

#include <algorithm>
#include <numeric>

#include "autograd/ops/call.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/strided.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {
namespace {

using dlprim::require;
using dlprim::wrap_dim;

/** A view of `a` whose gradient `backward` carries to a's shape. */
template <class MakeBackward>
Tensor record_view(const char* name, const Tensor& a, const dlprim::Tensor& viewed,
                   const MakeBackward& make_backward) {
  Tensor result = record(name, {a}, viewed, make_backward);
  mark_view(result, a);
  return result;
}

Dims resolved_shape(const char* op, const Tensor& a, const std::vector<std::int64_t>& shape) {
  Dims resolved(shape);
  int unknown = -1;
  for (int d = 0; d < resolved.size(); ++d) {
    if (resolved[d] == -1) {
      require(unknown < 0, op, ": only one dimension can be inferred, got shape ", resolved);
      unknown = d;
    } else {
      require(resolved[d] >= 0, op, ": invalid shape dimension ", resolved[d]);
    }
  }
  Dims given = resolved;
  if (unknown >= 0) given[unknown] = 1;
  const std::int64_t known = dlprim::product(given);
  const bool fits = unknown < 0 ? known == a.numel() : known > 0 && a.numel() % known == 0;
  require(fits, op, ": shape ", Dims(shape), " is invalid for input of size ", a.numel(), " and shape ",
          a.shape());
  if (unknown >= 0) resolved[unknown] = a.numel() / known;
  return resolved;
}

/** The strides that give the elements of `t` in order under `shape`, where there are any. */
std::optional<Dims> view_strides(const dlprim::Tensor& t, const Dims& shape) {
  if (t.numel() == 0 || t.is_contiguous()) return dlprim::contiguous_strides(shape);
  Dims strides = Dims::filled(shape.size(), 1);
  int next = shape.size() - 1;
  std::int64_t chunk = 1, covered = 1, base = t.rank() ? t.strides[t.rank() - 1] : 1;
  for (int d = t.rank() - 1; d >= 0; --d) {
    chunk *= t.shape[d];
    // A run of dimensions ends where the next outer one does not carry it on evenly.
    const bool ends = d == 0 || (t.shape[d - 1] != 1 && t.strides[d - 1] != chunk * base);
    if (!ends) continue;
    while (next >= 0 && (covered < chunk || shape[next] == 1)) {
      strides[next] = covered * base;
      covered *= shape[next];
      --next;
    }
    if (covered != chunk) return std::nullopt;
    if (d > 0) base = t.strides[d - 1];
    chunk = covered = 1;
  }
  return next < 0 ? std::optional<Dims>(strides) : std::nullopt;
}

Tensor with_shape(const char* name, const Tensor& a, const Dims& shape, const Dims& strides) {
  dlprim::Tensor viewed = a.data();
  viewed.shape = shape;
  viewed.strides = strides;
  return record_view(name, a, viewed, [&] {
    return
        [original = a.shape()](const TensorList& g) { return TensorList{reshape(g[0], original.vector())}; };
  });
}

/** The view of `a` that `cut` makes of its description; its gradient is zeros with the view's own in its
 * place. */
template <class Cut>
Tensor cut_view(const char* name, const Tensor& a, const Cut& cut) {
  return record_view(name, a, cut(a.data()), [&] {
    return linear_gradient(
        name,
        [cut, shape = a.shape()](const Tensor& g) {
          const Tensor whole = zeros(shape.vector(), g.dtype(), g.device());
          dlprim::copy(g.device()->queue(), g.data(), cut(whole.data()));
          return whole;
        },
        [cut](const Tensor& g) { return Tensor(cut(g.data())).clone(); });
  });
}

dlprim::Tensor converted(const Tensor& a, DType dtype, MemoryFormat format) {
  const dlprim::Tensor copy =
      dlprim::Tensor::empty_strided(*a.device(), a.shape(), dlprim::strides_like(a.data(), format), dtype);
  dlprim::copy(a.device()->queue(), a.data(), copy);
  return copy;
}

}  // namespace

Tensor view(const Tensor& a, const std::vector<std::int64_t>& shape) {
  ENTER_OPERATOR(view, a, shape);
  const Dims resolved = resolved_shape("view", a, shape);
  const auto strides = view_strides(a.data(), resolved);
  require(strides.has_value(), "view: size ", resolved, " is not compatible with input tensor's size ",
          a.shape(), " and stride ", a.strides(),
          " (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return with_shape("ViewBackward", a, resolved, *strides);
}

Tensor view(const Tensor& a, DType dtype) {
  ENTER_OVERLOAD(view, dtype, a, dtype);
  return Tensor(dlprim::viewed_as(a.data(), dtype));
}

Tensor reshape(const Tensor& a, const std::vector<std::int64_t>& shape) {
  ENTER_OPERATOR(reshape, a, shape);
  const Dims resolved = resolved_shape("reshape", a, shape);
  if (const auto strides = view_strides(a.data(), resolved))
    return with_shape("ReshapeBackward", a, resolved, *strides);
  return with_shape("ReshapeBackward", contiguous(a), resolved, dlprim::contiguous_strides(resolved));
}

Tensor flatten(const Tensor& a, std::int64_t start_dim, std::int64_t end_dim) {
  ENTER_OPERATOR(flatten, a, start_dim, end_dim);
  const int start = wrap_dim(start_dim, a.dim(), "flatten"), end = wrap_dim(end_dim, a.dim(), "flatten");
  require(start <= end, "flatten: start_dim ", start_dim, " comes after end_dim ", end_dim);
  std::vector<std::int64_t> shape;
  std::int64_t merged = 1;
  for (int d = 0; d < a.dim(); ++d) {
    if (d < start || d > end) {
      shape.push_back(a.shape()[d]);
      continue;
    }
    merged *= a.shape()[d];
    if (d == end) shape.push_back(merged);
  }
  if (a.dim() == 0) shape.push_back(1);
  return reshape(a, shape);
}

Tensor swapaxes(const Tensor& a, std::int64_t axis0, std::int64_t axis1) {
  ENTER_OPERATOR(swapaxes, a, axis0, axis1);
  return transpose(a, axis0, axis1);
}

Tensor expand_as(const Tensor& a, const Tensor& other) {
  ENTER_OPERATOR(expand_as, a, other);
  return expand(a, other.shape().vector());
}

Tensor view_as(const Tensor& a, const Tensor& other) {
  ENTER_OPERATOR(view_as, a, other);
  return view(a, other.shape().vector());
}

Tensor permute(const Tensor& a, const std::vector<std::int64_t>& dims) {
  ENTER_OPERATOR(permute, a, dims);
  require(static_cast<int>(dims.size()) == a.dim(), "permute: ", dims.size(), " dims for a tensor of ",
          a.dim(), " dimensions");
  dlprim::Tensor viewed = a.data();
  std::vector<std::int64_t> inverse(dims.size(), -1);
  for (int d = 0; d < a.dim(); ++d) {
    const int from = wrap_dim(dims[static_cast<std::size_t>(d)], a.dim(), "permute");
    require(inverse[static_cast<std::size_t>(from)] < 0, "permute: repeated dim ", from);
    viewed.shape[d] = a.shape()[from];
    viewed.strides[d] = a.strides()[from];
    inverse[static_cast<std::size_t>(from)] = d;
  }
  return record_view("PermuteBackward", a, viewed, [&] {
    return [inverse](const TensorList& g) { return TensorList{permute(g[0], inverse)}; };
  });
}

Tensor transpose(const Tensor& a, std::int64_t dim0, std::int64_t dim1) {
  ENTER_OPERATOR(transpose, a, dim0, dim1);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(a.dim()));
  std::iota(dims.begin(), dims.end(), 0);
  const int first = wrap_dim(dim0, a.dim(), "transpose"), second = wrap_dim(dim1, a.dim(), "transpose");
  if (a.dim() > 0) std::swap(dims[static_cast<std::size_t>(first)], dims[static_cast<std::size_t>(second)]);
  return permute(a, dims);
}

Tensor t(const Tensor& a) {
  ENTER_OPERATOR(t, a);
  require(a.dim() <= 2, "t: expected a tensor of at most 2 dimensions, got shape ", a.shape());
  return a.dim() == 2 ? transpose(a, 0, 1) : a;
}

Tensor squeeze(const Tensor& a, std::optional<std::int64_t> dim) {
  ENTER_OPERATOR(squeeze, a, dim);
  const int only = dim ? wrap_dim(*dim, a.dim(), "squeeze") : -1;
  Dims shape, strides;
  for (int d = 0; d < a.dim(); ++d) {
    if (a.shape()[d] == 1 && (only < 0 || only == d)) continue;
    shape.push_back(a.shape()[d]);
    strides.push_back(a.strides()[d]);
  }
  return with_shape("SqueezeBackward", a, shape, strides);
}

Tensor squeeze(const Tensor& a, const std::vector<std::int64_t>& dims) {
  ENTER_OVERLOAD(squeeze, dims, a, dims);
  std::vector<bool> drops(static_cast<std::size_t>(a.dim()) + 1);
  for (const std::int64_t dim : dims) {
    const auto d = static_cast<std::size_t>(wrap_dim(dim, a.dim(), "squeeze"));
    require(!drops[d], "squeeze: dim ", d, " appears multiple times in the list of dims");
    drops[d] = true;
  }
  Dims shape, strides;
  for (int d = 0; d < a.dim(); ++d) {
    if (a.shape()[d] == 1 && drops[static_cast<std::size_t>(d)]) continue;
    shape.push_back(a.shape()[d]);
    strides.push_back(a.strides()[d]);
  }
  return with_shape("SqueezeBackward", a, shape, strides);
}

Tensor unflatten(const Tensor& a, std::int64_t dim, const std::vector<std::int64_t>& sizes) {
  ENTER_OPERATOR(unflatten, a, dim, sizes);
  require(!sizes.empty(), "unflatten: sizes must be non-empty");
  const int d = wrap_dim(dim, a.dim(), "unflatten");
  require<IndexError>(a.dim() > 0, "unflatten: a scalar has no dimension ", dim);
  Dims parts(sizes);
  int unknown = -1;
  for (int i = 0; i < parts.size(); ++i) {
    require(parts[i] != -1 || unknown < 0, "unflatten: only one dimension can be inferred, got ",
            Dims(sizes));
    if (parts[i] == -1) unknown = i;
  }
  const std::int64_t size = a.shape()[d];
  if (unknown >= 0) {
    parts[unknown] = 1;
    const std::int64_t known = dlprim::product(parts);
    require(known != 0 || size != 0, "unflatten: the -1 of ", Dims(sizes), " can be any number: dim ", d,
            " is of size 0");
    if (known > 0) parts[unknown] = size / known;
  }
  require(dlprim::product(parts) == size, "unflatten: provided sizes ", Dims(sizes),
          " don't multiply up to the size of dim ", d, " (", size, ") in the input tensor");
  Dims shape, strides;
  for (int i = 0; i < a.dim(); ++i) {
    if (i != d) {
      shape.push_back(a.shape()[i]);
      strides.push_back(a.strides()[i]);
      continue;
    }
    const Dims inner = dlprim::contiguous_strides(parts);
    for (int j = 0; j < parts.size(); ++j) {
      shape.push_back(parts[j]);
      strides.push_back(inner[j] * a.strides()[d]);
    }
  }
  return with_shape("UnflattenBackward", a, shape, strides);
}

Tensor movedim(const Tensor& a, const std::vector<std::int64_t>& source,
               const std::vector<std::int64_t>& destination) {
  ENTER_OPERATOR(movedim, a, source, destination);
  require(source.size() == destination.size(), "movedim: expected as many source as destination dims, got ",
          source.size(), " and ", destination.size());
  const auto rank = static_cast<std::size_t>(a.dim());
  std::vector<std::int64_t> order(rank, -1);
  std::vector<bool> moves(rank);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const int from = wrap_dim(source[i], a.dim(), "movedim"),
              to = wrap_dim(destination[i], a.dim(), "movedim");
    if (rank == 0) continue;
    require(!moves[static_cast<std::size_t>(from)] && order[static_cast<std::size_t>(to)] < 0,
            "movedim: repeated dim in source or destination");
    moves[static_cast<std::size_t>(from)] = true;
    order[static_cast<std::size_t>(to)] = from;
  }
  std::int64_t next = 0;
  for (std::int64_t& from : order) {
    if (from >= 0) continue;
    while (moves[static_cast<std::size_t>(next)]) ++next;
    from = next++;
  }
  return permute(a, order);
}

Tensor diagonal(const Tensor& a, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  ENTER_OPERATOR(diagonal, a, offset, dim1, dim2);
  const int first = wrap_dim(dim1, a.dim(), "diagonal"), second = wrap_dim(dim2, a.dim(), "diagonal");
  require(first != second, "diagonal: dimensions cannot be identical ", dim1, ", ", dim2);
  const std::int64_t length =
      std::max<std::int64_t>(0, std::min(a.size(first) + std::min<std::int64_t>(offset, 0),
                                         a.size(second) - std::max<std::int64_t>(offset, 0)));
  const auto diagonal_of = [=](dlprim::Tensor whole) {
    const std::int64_t row_stride = whole.strides[first], column_stride = whole.strides[second];
    if (length > 0) whole.offset += offset >= 0 ? offset * column_stride : -offset * row_stride;
    for (const int d : {std::max(first, second), std::min(first, second)}) {
      whole.shape.erase(d);
      whole.strides.erase(d);
    }
    whole.shape.push_back(length);
    whole.strides.push_back(row_stride + column_stride);
    return whole;
  };
  return cut_view("DiagonalBackward", a, diagonal_of);
}

Tensor as_strided(const Tensor& a, const std::vector<std::int64_t>& size,
                  const std::vector<std::int64_t>& stride, std::optional<std::int64_t> storage_offset) {
  ENTER_OPERATOR(as_strided, a, size, stride, storage_offset);
  require(size.size() == stride.size(), "as_strided: mismatch in length of strides and shape: ", Dims(size),
          " and ", Dims(stride));
  const dlprim::Tensor viewed =
      a.data().restrided("as_strided", size, stride, storage_offset.value_or(a.data().offset));
  return record_view("AsStridedBackward", a, viewed, [&] {  // by where its elements lie in memory
    return [span = StridedSpan(a.data(), viewed)](const TensorList& g) {
      return TensorList{span.gradient_of_view(g[0])};
    };
  });
}

Tensor unsqueeze(const Tensor& a, std::int64_t dim) {
  ENTER_OPERATOR(unsqueeze, a, dim);
  const int at = wrap_dim(dim, a.dim() + 1, "unsqueeze");
  Dims shape = a.shape(), strides = a.strides();
  shape.insert(at, 1);
  strides.insert(at, at < a.dim() ? a.shape()[at] * a.strides()[at] : 1);
  return with_shape("UnsqueezeBackward", a, shape, strides);
}

Tensor expand(const Tensor& a, const std::vector<std::int64_t>& shape) {
  ENTER_OPERATOR(expand, a, shape);
  Dims target(shape);
  require(target.size() >= a.dim(), "expand: ", target, " has fewer dimensions than the tensor's ",
          a.shape());
  for (int i = 1; i <= target.size(); ++i) {
    std::int64_t& size = target[target.size() - i];
    const std::int64_t own = i <= a.dim() ? a.shape()[a.dim() - i] : 1;
    require(size != -1 || i <= a.dim(), "expand: -1 is not allowed in a leading, non-existing dimension of ",
            Dims(shape));
    if (size == -1) size = own;
    require(size >= 0 && (own == size || own == 1), "expand: the expanded size ", size,
            " must match the existing size ", own, " at dimension ", target.size() - i, "; target ",
            Dims(shape), ", tensor ", a.shape());
  }
  return record_view("ExpandBackward", a, a.data().expanded(target), [&] {
    return [original = a.shape()](const TensorList& g) { return TensorList{sum_to_shape(g[0], original)}; };
  });
}

Tensor slice(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  ANNOUNCE_OPERATOR("slice", a, dim, start, end, step);
  require(a.dim() > 0, "slice: a scalar cannot be sliced");
  require(step > 0, "slice: step must be greater than zero, got ", step);
  const int d = wrap_dim(dim, a.dim(), "slice");
  const std::int64_t size = a.shape()[d];
  const auto clipped = [size](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  start = clipped(start);
  end = std::max(clipped(end), start);
  step = std::min(step, std::max<std::int64_t>(size, 1));  // no longer than the dimension: strides stay in it
  const auto cut = [d, start, end, step](const dlprim::Tensor& whole) {
    dlprim::Tensor part = whole;
    part.shape[d] = end > start ? (end - start - 1) / step + 1 : 0;
    part.offset += start * whole.strides[d];
    part.strides[d] *= step;
    return part;
  };
  return cut_view("SliceBackward", a, cut);
}

Tensor unfold_dimension(const Tensor& a, std::int64_t dimension, std::int64_t size, std::int64_t step) {
  ENTER_OPERATOR(unfold_dimension, a, dimension, size, step);
  const int d = wrap_dim(dimension, a.dim(), "unfold");
  const std::int64_t room = a.dim() ? a.size(d) : 1;
  require(size >= 0 && size <= room, "unfold: expected a size between 0 and ", room, ", that of dimension ",
          dimension, ", got ", size);
  require(step > 0, "unfold: expected a positive step, got ", step);
  std::vector<std::int64_t> shape = a.shape().vector(), strides = a.strides().vector();
  shape.push_back(size);
  strides.push_back(a.dim() ? strides[static_cast<std::size_t>(d)] : 1);
  const std::int64_t windows = (room - size) / step + 1;
  if (a.dim()) shape[static_cast<std::size_t>(d)] = windows;
  if (windows > 1) strides[static_cast<std::size_t>(d)] *= step;
  return as_strided(a, shape, strides);
}

Tensor narrow(const Tensor& a, std::int64_t dim, std::int64_t start, std::int64_t length) {
  ENTER_OPERATOR(narrow, a, dim, start, length);
  const int d = wrap_dim(dim, a.dim(), "narrow");
  const std::int64_t size = a.size(d);
  if (start < 0) start += size;
  require<IndexError>(start >= 0 && length >= 0 && length <= size - start, "narrow: start (", start,
                      ") + length (", length, ") exceeds dimension size (", size, ")");
  return slice(a, d, start, start + length);
}

Tensor select(const Tensor& a, std::int64_t dim, std::int64_t index) {
  ENTER_OPERATOR(select, a, dim, index);
  require<IndexError>(a.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const int d = wrap_dim(dim, a.dim(), "select");
  const std::int64_t size = a.shape()[d];
  require<IndexError>(index >= -size && index < size, "index ", index, " is out of bounds for dimension ", d,
                      " with size ", size);
  return squeeze(slice(a, d, index < 0 ? index + size : index, (index < 0 ? index + size : index) + 1), d);
}

Tensor contiguous(const Tensor& a, MemoryFormat format) {
  ENTER_OPERATOR(contiguous, a, format);
  if (a.is_contiguous(format)) return a;
  require(format != MemoryFormat::preserve,
          "preserve memory format is unsupported by the contiguous operator");
  return clone(a, format);
}

// The gradient goes back in the format of `a`, so that what comes before finds one layout.
Tensor clone(const Tensor& a, MemoryFormat format) {
  ENTER_OPERATOR(clone, a, format);
  return record("CloneBackward", {a}, converted(a, a.dtype(), format), [&] {
    return [own = dlprim::suggested_memory_format(a.data())](const TensorList& g) {
      return TensorList{own == MemoryFormat::contiguous ? g[0] : contiguous(g[0], own)};
    };
  });
}

Tensor to(const Tensor& a, DType dtype, MemoryFormat format) {
  const bool has_format =
      format == MemoryFormat::preserve || dlprim::suggested_memory_format(a.data()) == format;
  if (a.dtype() == dtype) return has_format ? a : clone(a, format);
  ENTER_OPERATOR_NAMED("to", to(rewritten...), a, dtype, format);
  return record("ToCopyBackward", {a}, converted(a, dtype, format), [&] {
    return [original = a.dtype()](const TensorList& g) { return TensorList{to(g[0], original)}; };
  });
}

Tensor to(const Tensor& a, MemoryFormat format) {
  return to(a, a.dtype(), format);
}

Tensor to(const Tensor& a, const Device& device) {
  if (a.device() == device) return a;
  ANNOUNCE_OPERATOR("to", a, device);
  const Dims strides = dlprim::strides_like(a.data());
  const bool moves_as_it_lies = a.strides() == strides;
  dlprim::Tensor moved = copy_on(device, moves_as_it_lies ? dlprim::in_memory_order(a.data()) : a.data());
  moved.shape = a.shape();
  moved.strides = moves_as_it_lies ? strides : dlprim::contiguous_strides(a.shape());
  return record("ToCopyBackward", {a}, moved, [&] {
    return [original = a.device()](const TensorList& g) { return TensorList{to(g[0], original)}; };
  });
}

Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step) const {
  return ocl::slice(*this, dim, start.value_or(0), end.value_or(size(dim)), step);
}
Tensor Tensor::cpu() const {
  return device()->info().is_cpu ? *this : to(Device("cpu"));
}
Tensor Tensor::to(DType dtype, MemoryFormat format) const {
  return ocl::to(*this, dtype, format);
}
Tensor Tensor::to(MemoryFormat format) const {
  return ocl::to(*this, format);
}
Tensor Tensor::to(const Device& device) const {
  return ocl::to(*this, device);
}

}  // namespace ocl
