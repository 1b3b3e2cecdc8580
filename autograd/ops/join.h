#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

// What takes tensors apart along a dimension, puts them together, and copies them in another order (torch
// functions of the same names). Throw ValueError for shapes that do not fit, IndexError for dimensions.

// Several views along one dimension; one node of the tape serves them all.

/** Parts of `sizes` entries each, which sum to the size of `dim`. */
TensorList split(const Tensor& a, const std::vector<std::int64_t>& sizes, std::int64_t dim = 0);
/** Parts of `split_size` entries, the last one smaller where it does not divide. */
TensorList split(const Tensor& a, std::int64_t split_size, std::int64_t dim = 0);
/** At most `chunks` parts of equal size, the last one smaller. */
TensorList chunk(const Tensor& a, std::int64_t chunks, std::int64_t dim = 0);
/** The entries of `dim`, which goes away. */
TensorList unbind(const Tensor& a, std::int64_t dim = 0);

// Copies.

/** The tensors joined along `dim`; the other sizes agree. Tensors of shape [0] are left out. */
Tensor cat(const TensorList& tensors, std::int64_t dim = 0);
/** Tensors of one shape joined along a new dimension `dim`. */
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);
/** `repeats` copies along every dimension; more numbers than dimensions add leading ones. */
Tensor repeat(const Tensor& a, const std::vector<std::int64_t>& repeats);
/** As repeat; fewer numbers than dimensions stand for the last ones. */
Tensor tile(const Tensor& a, const std::vector<std::int64_t>& dims);
/** Every element `repeats` times in a row along `dim`; of the flattened tensor without one. */
Tensor repeat_interleave(const Tensor& a, std::int64_t repeats, std::optional<std::int64_t> dim = {});
/** Element i along `dim` repeats[i] times (int64 or int32, one number or one for each). Waits for `repeats`.
 */
Tensor repeat_interleave(const Tensor& a, const Tensor& repeats, std::optional<std::int64_t> dim = {});
/** Of vectors (or scalars) of n_0, n_1, … elements: each expanded to [n_0, n_1, …] along its own dimension,
 * without a copy; `indexing` "ij", or "xy", which exchanges the first two dimensions. */
TensorList meshgrid(const TensorList& tensors, const std::string& indexing = "ij");
/** In reverse order along `dims`. */
Tensor flip(const Tensor& a, const std::vector<std::int64_t>& dims);
/** Moved by `shifts` along `dims` (along the flattened tensor where empty); what leaves enters at the other
 * end. */
Tensor roll(const Tensor& a, const std::vector<std::int64_t>& shifts,
            const std::vector<std::int64_t>& dims = {});

}  // namespace ocl
