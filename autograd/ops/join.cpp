#include "autograd/ops/join.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "autograd/ops/call.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/index.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/join/cat.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {
namespace {

using dlprim::require;
using dlprim::wrap_dim;

dlprim::Tensor part_of(dlprim::Tensor whole, int dim, std::int64_t start, std::int64_t length) {
  whole.offset += length > 0 ? start * whole.strides[dim] : 0;
  whole.shape[dim] = length;
  return whole;
}

void copy_to(const dlprim::Tensor& source, const dlprim::Tensor& destination) {
  dlprim::copy(source.device().queue(), source, destination);
}

/** The gradient of the whole from those of its parts along `dim`; undefined ones are zero. */
Tensor joined_gradient(const TensorList& parts, const std::vector<std::int64_t>& sizes, const Dims& shape,
                       int dim) {
  const Tensor& known =
      *std::find_if(parts.begin(), parts.end(), [](const Tensor& g) { return g.defined(); });
  if (grad_enabled()) {
    TensorList all = parts;
    Dims of_part = shape;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      of_part[dim] = sizes[i];
      if (!all[i].defined()) all[i] = zeros(of_part.vector(), known.dtype(), known.device());
    }
    return cat(all, dim);
  }
  const dlprim::Tensor whole = dlprim::Tensor::empty(*known.device(), shape, known.dtype());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const dlprim::Tensor place = part_of(whole, dim, start, sizes[i]);
    if (parts[i].defined())
      copy_to(parts[i].data(), place);
    else
      dlprim::fill(known.device()->queue(), place, 0);
    start += sizes[i];
  }
  return Tensor(whole);
}

std::vector<int> distinct_dims(const char* op, const std::vector<std::int64_t>& dims, int rank) {
  std::vector<int> wrapped;
  for (const std::int64_t dim : dims) {
    const int d = wrap_dim(dim, rank, op);
    require(std::find(wrapped.begin(), wrapped.end(), d) == wrapped.end(), op, ": dim ", d,
            " appears multiple times in the list of dims");
    wrapped.push_back(d);
  }
  return wrapped;
}

dlprim::Tensor rolled(const dlprim::Tensor& a, std::int64_t shift, int dim) {
  const dlprim::Tensor result = dlprim::Tensor::empty(a.device(), a.shape, a.dtype);
  const std::int64_t size = a.shape[dim];
  if (a.numel() == 0) return result;
  const std::int64_t wrapped = ((shift % size) + size) % size;
  copy_to(part_of(a, dim, 0, size - wrapped), part_of(result, dim, wrapped, size - wrapped));
  if (wrapped) copy_to(part_of(a, dim, size - wrapped, wrapped), part_of(result, dim, 0, wrapped));
  return result;
}

}  // namespace

TensorList split(const Tensor& a, const std::vector<std::int64_t>& sizes, std::int64_t dim) {
  ENTER_OPERATOR(split, a, sizes, dim);
  require(a.dim() > 0, "split expects at least a 1-dimensional tensor");
  const int d = wrap_dim(dim, a.dim(), "split");
  std::int64_t total = 0;
  std::vector<dlprim::Tensor> parts;
  for (const std::int64_t size : sizes) {
    require(size >= 0, "split: expected non-negative sizes, got ", size);
    require(size <= a.shape()[d] - total, "split: expected sizes that sum exactly to ", a.shape()[d],
            " (the size of dimension ", d, "), got more");
    parts.push_back(part_of(a.data(), d, total, size));
    total += size;
  }
  require(total == a.shape()[d], "split: expected sizes that sum exactly to ", a.shape()[d],
          " (the size of dimension ", d, "), got ", total);
  TensorList results = record_many("SplitBackward", {a}, parts, [&] {
    return [sizes, d, shape = a.shape()](const TensorList& g) {
      return TensorList{joined_gradient(g, sizes, shape, d)};
    };
  });
  for (Tensor& part : results) mark_view(part, a);
  return results;
}

TensorList split(const Tensor& a, std::int64_t split_size, std::int64_t dim) {
  ENTER_OVERLOAD(split, size, a, split_size, dim);
  require(a.dim() > 0, "split expects at least a 1-dimensional tensor");
  const std::int64_t size = a.size(dim);
  require(split_size > 0 || (split_size == 0 && size == 0), "split: expected a split_size above 0, got ",
          split_size, " for a dimension of size ", size);
  std::vector<std::int64_t> sizes;
  // More parts than the host has room for are refused here, and not when it has none left.
  if (size > 0) sizes.reserve(static_cast<std::size_t>((size - 1) / split_size + 1));
  for (std::int64_t left = size; left > 0; left -= sizes.back()) sizes.push_back(std::min(split_size, left));
  if (sizes.empty()) sizes.push_back(0);
  return split(a, sizes, dim);
}

TensorList chunk(const Tensor& a, std::int64_t chunks, std::int64_t dim) {
  ENTER_OPERATOR(chunk, a, chunks, dim);
  require(a.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  require(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const std::int64_t size = a.size(dim);
  if (size == 0) return split(a, std::vector<std::int64_t>(static_cast<std::size_t>(chunks), 0), dim);
  return split(a, (size - 1) / chunks + 1, dim);
}

TensorList unbind(const Tensor& a, std::int64_t dim) {
  ENTER_OPERATOR(unbind, a, dim);
  require<IndexError>(a.dim() > 0, "unbind: Dimension specified as ", dim, " but tensor has no dimensions");
  const int d = wrap_dim(dim, a.dim(), "unbind");
  std::vector<dlprim::Tensor> entries;
  entries.reserve(static_cast<std::size_t>(a.shape()[d]));  // refused at once where the host has no room
  for (std::int64_t i = 0; i < a.shape()[d]; ++i) {
    dlprim::Tensor entry = part_of(a.data(), d, i, 1);
    entry.shape.erase(d);
    entry.strides.erase(d);
    entries.push_back(entry);
  }
  TensorList results = record_many("UnbindBackward", {a}, entries, [&] {
    return [d, shape = a.shape()](TensorList g) {
      for (Tensor& entry : g)
        if (entry.defined()) entry = unsqueeze(entry, d);
      return TensorList{joined_gradient(g, std::vector<std::int64_t>(g.size(), 1), shape, d)};
    };
  });
  for (Tensor& entry : results) mark_view(entry, a);
  return results;
}

Tensor cat(const TensorList& tensors, std::int64_t dim) {
  ENTER_OPERATOR(cat, tensors, dim);
  std::vector<dlprim::Tensor> raw;
  for (const Tensor& part : tensors) {
    require(part.device() == tensors.front().device(), "cat: expected all tensors on one device");
    raw.push_back(part.data());
  }
  const auto [shape, dtype] = dlprim::cat_result(raw, dim);
  const int d = wrap_dim(dim, shape.size(), "cat");
  std::vector<std::int64_t> sizes;
  std::optional<MemoryFormat> common;
  for (const Tensor& part : tensors) {
    const bool is_neutral = dlprim::is_neutral_in_cat(part.shape());
    sizes.push_back(is_neutral ? 0 : part.size(d));
    if (is_neutral) continue;
    const MemoryFormat format = format_of(part);
    common = common.value_or(format) == format ? format : MemoryFormat::contiguous;
  }
  const dlprim::Tensor joined = dlprim::Tensor::empty_strided(
      *tensors.front().device(), shape, dlprim::strides_of(common.value_or(MemoryFormat::contiguous), shape),
      dtype);
  dlprim::cat(joined.device().queue(), raw, d, joined);
  return record("CatBackward", tensors, joined, [&] {
    std::vector<dlprim::Tensor> described = raw;
    for (dlprim::Tensor& part : described) part.storage = nullptr;
    return [sizes, described, d](const TensorList& g) {
      TensorList parts;
      std::int64_t from = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const dlprim::Tensor& part = described[i];
        parts.push_back(sizes[i] == 0 ? zeros(part.shape.vector(), part.dtype, g[0].device())
                                      : to(narrow(g[0], d, from, sizes[i]), part.dtype));
        from += sizes[i];
      }
      return parts;
    };
  });
}

Tensor stack(const TensorList& tensors, std::int64_t dim) {
  ENTER_OPERATOR(stack, tensors, dim);
  require(!tensors.empty(), "stack expects a non-empty TensorList");
  const int d = wrap_dim(dim, tensors.front().dim() + 1, "stack");
  TensorList entries;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    require(tensors[i].shape() == tensors.front().shape(),
            "stack expects each tensor to be equal size, but got ", tensors.front().shape(),
            " at entry 0 and ", tensors[i].shape(), " at entry ", i);
    entries.push_back(unsqueeze(tensors[i], d));
  }
  return cat(entries, d);
}

Tensor repeat(const Tensor& a, const std::vector<std::int64_t>& repeats) {
  ENTER_OPERATOR(repeat, a, repeats);
  require(static_cast<int>(repeats.size()) >= a.dim(),
          "repeat: number of dimensions of repeat dims can not be smaller "
          "than number of dimensions of tensor, got ",
          Dims(repeats), " for shape ", a.shape());
  std::vector<std::int64_t> shape(repeats.size() - static_cast<std::size_t>(a.dim()), 1);
  shape.insert(shape.end(), a.shape().begin(), a.shape().end());
  Tensor result = reshape(a, shape);
  Dims whole(shape);
  for (int d = 0; d < whole.size(); ++d)
    whole[d] = dlprim::product({whole[d], repeats[static_cast<std::size_t>(d)]});
  dlprim::product(whole);  // throws where the elements cannot be counted
  std::int64_t inner = 1;  // elements below dimension d
  bool copied = false;
  for (std::size_t d = repeats.size(); d-- > 0;) {
    require(repeats[d] >= 0, "repeat: expected numbers of at least 0, got ", Dims(repeats));
    inner *= shape[d];
    if (repeats[d] == 1) continue;
    const std::int64_t outer = std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(d),
                                               std::int64_t{1}, std::multiplies<>());
    result = contiguous(expand(reshape(result, {outer, 1, inner}), {outer, repeats[d], inner}));
    inner *= repeats[d];
    shape[d] *= repeats[d];
    copied = true;
  }
  return copied ? reshape(result, shape) : clone(result);
}

Tensor tile(const Tensor& a, const std::vector<std::int64_t>& dims) {
  ENTER_OPERATOR(tile, a, dims);
  std::vector<std::int64_t> repeats = dims;
  while (static_cast<int>(repeats.size()) < a.dim()) repeats.insert(repeats.begin(), 1);
  return repeat(a, repeats);
}

Tensor repeat_interleave(const Tensor& a, std::int64_t repeats, std::optional<std::int64_t> dim) {
  ENTER_OPERATOR(repeat_interleave, a, repeats, dim);
  require(repeats >= 0, "repeat_interleave: repeats must be non-negative, got ", repeats);
  if (!dim) return repeat_interleave(flatten(a), repeats, 0);
  const Tensor whole = a.dim() == 0 ? reshape(a, {1}) : a;
  const int d = wrap_dim(*dim, whole.dim(), "repeat_interleave");
  std::vector<std::int64_t> spread = whole.shape().vector(), merged = spread;
  spread.insert(spread.begin() + d + 1, repeats);
  merged[static_cast<std::size_t>(d)] = dlprim::product({whole.size(d), repeats});
  return reshape(expand(unsqueeze(whole, d + 1), spread), merged);
}

Tensor repeat_interleave(const Tensor& a, const Tensor& repeats, std::optional<std::int64_t> dim) {
  ENTER_OVERLOAD(repeat_interleave, tensor, a, repeats, dim);
  require<TypeError>(repeats.dtype() == DType::int64 || repeats.dtype() == DType::int32,
                     "repeat_interleave: repeats has to be int64 or int32, got ", name(repeats.dtype()));
  require(repeats.dim() <= 1, "repeat_interleave: repeats must be 0-dim or 1-dim tensor, got ",
          repeats.shape());
  const std::vector<std::int64_t> counts = to(repeats, DType::int64).to_vector<std::int64_t>();
  if (counts.size() == 1) return repeat_interleave(a, counts[0], dim);
  if (!dim || a.dim() == 0) return repeat_interleave(flatten(a), repeats, dim.value_or(0));
  const int d = wrap_dim(*dim, a.dim(), "repeat_interleave");
  require(static_cast<std::int64_t>(counts.size()) == a.size(d),
          "repeat_interleave: repeats must have the same size as input along dim, got ", counts.size(),
          " for ", a.size(d));
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    require(count >= 0, "repeat_interleave: repeats can not be negative, got ", count);
    require(dlprim::try_add(total, count, total), "repeat_interleave: more elements than 64 bits count");
  }
  constexpr std::int64_t most_places = 1 << 24;  // that are worth a list on the host
  if (total > most_places) {
    TensorList parts;
    std::vector<std::int64_t> shape = a.shape().vector();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      shape[static_cast<std::size_t>(d)] = counts[i];
      parts.push_back(expand(narrow(a, d, static_cast<std::int64_t>(i), 1), shape));
    }
    return cat(parts, d);
  }
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < counts.size(); ++i)
    places.insert(places.end(), static_cast<std::size_t>(counts[i]), static_cast<std::int64_t>(i));
  return index_select(a, d, tensor(places, {total}, a.device()));
}

TensorList meshgrid(const TensorList& tensors, const std::string& indexing) {
  ENTER_OPERATOR(meshgrid, tensors, indexing);
  require(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  require(indexing == "ij" || indexing == "xy",
          "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  // The dimension along which each tensor runs.
  std::vector<std::size_t> own(tensors.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  if (indexing == "xy" && tensors.size() >= 2) std::swap(own[0], own[1]);
  std::vector<std::int64_t> shape(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    require(t.dim() <= 1, "meshgrid: expected 0D or 1D tensors, but got one of shape ", t.shape());
    require<TypeError>(t.dtype() == tensors[0].dtype(),
                       "meshgrid expects all tensors to have the same dtype");
    require(t.device() == tensors[0].device(), "meshgrid expects all tensors to be on one device");
    shape[own[i]] = t.numel();
  }
  TensorList grids;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<std::int64_t> along(tensors.size(), 1);
    along[own[i]] = tensors[i].numel();
    grids.push_back(expand(reshape(tensors[i], along), shape));
  }
  return grids;
}

Tensor flip(const Tensor& a, const std::vector<std::int64_t>& dims) {
  ENTER_OPERATOR(flip, a, dims);
  dlprim::Tensor reversed = a.data();
  for (const int d : distinct_dims("flip", dims, a.dim())) {
    if (a.numel() == 0 || a.dim() == 0) continue;
    reversed.offset += (reversed.shape[d] - 1) * reversed.strides[d];
    reversed.strides[d] = -reversed.strides[d];
  }
  const dlprim::Tensor result =
      dlprim::Tensor::empty_strided(*a.device(), a.shape(), dlprim::strides_like(a.data()), a.dtype());
  copy_to(reversed, result);
  return record("FlipBackward", {a}, result,
                [&] { return [dims](const TensorList& g) { return TensorList{flip(g[0], dims)}; }; });
}

Tensor roll(const Tensor& a, const std::vector<std::int64_t>& shifts, const std::vector<std::int64_t>& dims) {
  ENTER_OPERATOR(roll, a, shifts, dims);
  if (dims.empty()) {
    require(shifts.size() == 1, "roll: expected one shift where no dims are given, got ", shifts.size());
    return reshape(roll(flatten(a), shifts, {0}), a.shape().vector());
  }
  require(shifts.size() == dims.size(), "roll: shifts and dimensions must align, got ", shifts.size(),
          " and ", dims.size());
  require<IndexError>(a.dim() > 0, "roll: a scalar has no dimension ", dims[0]);
  dlprim::Tensor result = a.data();
  for (std::size_t i = 0; i < dims.size(); ++i)
    result = rolled(result, shifts[i], wrap_dim(dims[i], a.dim(), "roll"));
  return record("RollBackward", {a}, result, [&] {
    std::vector<std::int64_t> back;
    for (std::size_t i = 0; i < shifts.size(); ++i)
      back.push_back(-(shifts[i] % std::max<std::int64_t>(a.size(dims[i]), 1)));
    return [back, dims](const TensorList& g) { return TensorList{roll(g[0], back, dims)}; };
  });
}

namespace {

/** Scalars as vectors, and with `rank` 2 vectors as rows. */
TensorList with_dimensions(const char* op, const TensorList& tensors, int rank) {
  require(!tensors.empty(), op, ": expected at least one tensor");
  TensorList result;
  for (const Tensor& t : tensors) {
    Tensor whole = t.dim() == 0 ? reshape(t, {1}) : t;
    if (rank >= 2 && whole.dim() == 1) whole = unsqueeze(whole, 0);
    if (rank >= 3 && whole.dim() == 2) whole = unsqueeze(whole, 2);
    result.push_back(whole);
  }
  return result;
}

/** Appends the choices of `left` more places from `from` on to `chosen`. */
void choose(std::int64_t from, std::int64_t count, std::int64_t left, bool with_replacement,
            std::vector<std::int64_t>& current, std::vector<std::int64_t>& chosen) {
  if (left == 0) {
    chosen.insert(chosen.end(), current.begin(), current.end());
    return;
  }
  for (std::int64_t i = from; i < count; ++i) {
    current.push_back(i);
    choose(with_replacement ? i : i + 1, count, left - 1, with_replacement, current, chosen);
    current.pop_back();
  }
}

}  // namespace

Tensor hstack(const TensorList& tensors) {
  ENTER_OPERATOR(hstack, tensors);
  const TensorList whole = with_dimensions("hstack", tensors, 1);
  return cat(whole, whole[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(const TensorList& tensors) {
  ENTER_OPERATOR(vstack, tensors);
  return cat(with_dimensions("vstack", tensors, 2), 0);
}

Tensor dstack(const TensorList& tensors) {
  ENTER_OPERATOR(dstack, tensors);
  return cat(with_dimensions("dstack", tensors, 3), 2);
}

Tensor column_stack(const TensorList& tensors) {
  ENTER_OPERATOR(column_stack, tensors);
  TensorList columns;
  for (const Tensor& t : tensors) columns.push_back(t.dim() <= 1 ? reshape(t, {t.numel(), 1}) : t);
  return hstack(columns);
}

Tensor block_diag(const TensorList& tensors) {
  ENTER_OPERATOR(block_diag, tensors);
  std::int64_t columns = 0;
  for (const Tensor& t : tensors)
    require(t.dim() <= 2, "block_diag: input tensors must have 2 or fewer dimensions, got shape ", t.shape());
  const TensorList blocks = with_dimensions("block_diag", tensors, 2);
  DType dtype = blocks[0].dtype();
  for (const Tensor& block : blocks) {
    columns += block.size(1);
    dtype = dlprim::promote_types(dtype, block.dtype());
  }
  TensorList rows;
  std::int64_t before = 0;
  for (const Tensor& block : blocks) {
    const std::int64_t height = block.size(0), after = columns - before - block.size(1);
    rows.push_back(cat({zeros({height, before}, dtype, block.device()), to(block, dtype),
                        zeros({height, after}, dtype, block.device())},
                       1));
    before += block.size(1);
  }
  return cat(rows, 0);
}

Tensor cartesian_prod(const TensorList& tensors) {
  ENTER_OPERATOR(cartesian_prod, tensors);
  require(!tensors.empty(), "cartesian_prod: expected at least one tensor");
  for (const Tensor& t : tensors)
    require(t.dim() == 1, "cartesian_prod: expect a 1D vector, but got shape ", t.shape());
  if (tensors.size() == 1) return tensors[0];
  TensorList columns;
  for (const Tensor& grid : meshgrid(tensors, "ij")) columns.push_back(flatten(grid));
  return stack(columns, 1);
}

Tensor combinations(const Tensor& a, std::int64_t r, bool with_replacement) {
  ENTER_OPERATOR(combinations, a, r, with_replacement);
  require(a.dim() == 1, "combinations: expect a 1D vector, but got shape ", a.shape());
  require(r >= 0, "combinations: expect a non-negative number, but got ", r);
  if (r == 0) return empty({0}, a.dtype(), a.device());
  std::vector<std::int64_t> current, chosen;
  choose(0, a.size(0), r, with_replacement, current, chosen);
  const auto rows = static_cast<std::int64_t>(chosen.size()) / r;
  return reshape(index_select(a, 0, tensor(chosen, {rows * r}, a.device())), {rows, r});
}

Tensor fliplr(const Tensor& a) {
  ENTER_OPERATOR(fliplr, a);
  require(a.dim() >= 2, "fliplr: input must be >= 2-d, got shape ", a.shape());
  return flip(a, {1});
}

Tensor flipud(const Tensor& a) {
  ENTER_OPERATOR(flipud, a);
  require(a.dim() >= 1, "flipud: input must be >= 1-d, got shape ", a.shape());
  return flip(a, {0});
}

Tensor rot90(const Tensor& a, std::int64_t k, const std::vector<std::int64_t>& dims) {
  ENTER_OPERATOR(rot90, a, k, dims);
  require(dims.size() == 2, "rot90: expected total rotation dims == 2, but got dims = ", dims.size());
  require(a.dim() >= 2, "rot90: expected total dims >= 2, but got total dims = ", a.dim());
  const std::int64_t first = wrap_dim(dims[0], a.dim(), "rot90"),
                     second = wrap_dim(dims[1], a.dim(), "rot90");
  require(first != second, "rot90: expected rotation dims to be different, but got dim0 = ", dims[0],
          " and dim1 = ", dims[1]);
  switch (((k % 4) + 4) % 4) {
    case 1:
      return transpose(flip(a, {second}), first, second);
    case 2:
      return flip(a, {first, second});
    case 3:
      return transpose(flip(a, {first}), first, second);
    default:
      return a.clone(MemoryFormat::contiguous);
  }
}

}  // namespace ocl
