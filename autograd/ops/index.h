#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Reading and writing by indices (torch functions of the same names). An index holds int64 or int32; one that
// is out of range throws IndexError at the next waiting point. Duplicates are added in a fixed order, and of
// several writes to one place the last along `dim` counts: every run gives the same. All throw ValueError for
// shapes that do not fit, IndexError for dimensions, TypeError for dtypes.

/** out[i][j] = a[index[i][j]][j] for dim = 0, and so on; the shape of `index`, which has the rank of `a` and
 * at most its sizes but for `dim`. */
Tensor gather(const Tensor& a, std::int64_t dim, const Tensor& index);
/** `a` with src[i][j] at [index[i][j]][j] for dim = 0, and so on; `src`: a number, or a tensor of at least
 * the sizes of `index` and a's dtype. */
Tensor scatter(const Tensor& a, std::int64_t dim, const Tensor& index, const Operand& src);
/** As scatter, adding. */
Tensor scatter_add(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src);
/** The entries of `dim` that `index` (of one dimension) names. */
Tensor index_select(const Tensor& a, std::int64_t dim, const Tensor& index);
/** `a` with alpha * source added to the entries of `dim` that `index` names. */
Tensor index_add(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha = 1);
/** `a` with the entries of `dim` that `index` names replaced by those of `source`. */
Tensor index_copy(const Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source);
/** gather with `a` and `indices` broadcast apart from `dim`; of the flat tensor without `dim`. Negative
 * indices count from the end. */
Tensor take_along_dim(const Tensor& a, const Tensor& indices, std::optional<std::int64_t> dim = std::nullopt);
/** Rows of `weight` [count, features]: the shape of `input`, then features. Row `padding_idx` gets no
 * gradient. */
Tensor embedding(const Tensor& input, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx = std::nullopt);

/** int64 [..., num_classes], 1 at each class that `a` (int64) names; -1 classes: as many as are named, which
 * waits. */
Tensor one_hot(const Tensor& a, std::int64_t num_classes = -1);

/** Matrices [..., rows, columns] with 0 above the diagonal; `diagonal` above 0 keeps more. */
Tensor tril(const Tensor& a, std::int64_t diagonal = 0);
/** Matrices [..., rows, columns] with 0 below the diagonal; `diagonal` above 0 keeps less. */
Tensor triu(const Tensor& a, std::int64_t diagonal = 0);

// In place. Throw AutogradError where the tape forbids it.

Tensor& scatter_(Tensor& a, std::int64_t dim, const Tensor& index, const Operand& src);
/** As scatter_, without a record on the tape, for an index that names no place twice. */
void scatter_distinct_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor& scatter_add_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor& index_add_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source,
                   const Scalar& alpha = 1);
Tensor& index_copy_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& source);

}  // namespace ocl
