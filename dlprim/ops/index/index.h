#pragma once

#include <optional>

#include "dlprim/runtime/queue.h"

/**
 * \file Moving and adding elements by an index.
 *
 * Tensors come as [outer, along, inner] of any strides, the index as int64 of that form. Element (o, j, i) of
 * the index names a place along the middle dimension of another tensor, at the same o and i. An index
 * expanded along outer or inner (stride 0) names whole rows. An index element that names no place is reported
 * through `check` (register_check in runtime/error_word.h) as IndexError at the next waiting point; reading
 * gives 0 there, writing nothing. Any dtype unless said otherwise. A written tensor overlaps no tensor that
 * is read, and is no view with two elements in one place.
 */

namespace dlprim {

/** `t` with the `count` dimensions from `first` on as the middle one of three; nothing where its strides do
 * not allow that. */
std::optional<Tensor> outer_along_inner(const Tensor& t, int first, int count = 1);

/** Whether negative index elements count from the end. */
enum class Negative { wraps, is_error };

/** y[o, j, i] = x[o, index[o, j, i], i]: torch.gather, and index_select and embedding by expanded indices.
 * `y` has the shape of `index` and the dtype of `x`. */
void read_places(Queue& queue, const Tensor& x, const Tensor& index, const Tensor& y, Negative negative,
                 DeviceCheck check);

/**
 * y[o, index[o, j, i], i] = x[o, j, i]; other elements stay. `x` has the shape of `index` and the dtype of
 * `y`. Among several that name one place the last along j is written, unless the caller knows that no two
 * `distinct` elements differ in what they write. (torch.Tensor.scatter_, index_copy_)
 */
void write_places(Queue& queue, const Tensor& x, const Tensor& index, const Tensor& y, bool distinct,
                  Negative negative, DeviceCheck check);

/**
 * One index in place of several: places[j] is the position in row-major order of (indices[0][j],
 * indices[1][j], …) in a tensor of `sizes`. All are contiguous int64 [n]; negative elements count from the
 * end. Throws ValueError. (x[i, j, …] with tensors)
 */
void join_indices(Queue& queue, const std::vector<Tensor>& indices, const Dims& sizes, const Tensor& places,
                  DeviceCheck check);

enum class Triangle { lower, upper };

/** torch.tril and torch.triu of contiguous [..., rows, columns] tensors of one dtype: elements beyond the
 * `diagonal` are 0 in `y`. */
void triangle(Queue& queue, Triangle kept, const Tensor& x, std::int64_t diagonal, const Tensor& y);

}  // namespace dlprim
