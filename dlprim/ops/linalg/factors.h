#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * Factors of matrices, and systems of equations that these solve, in the place of what they are given: as
 * LAPACK's functions. Batches [B, rows, columns] of float32 or float64, with any strides but those of memory
 * that two elements share. Blocks of FACTOR_BLOCK columns are factored, and products of matrices do the rest.
 * Nothing waits: `info` (int32 [B]) says what failed. All throw ValueError, TypeError.
 */

/** X of A X = B in the place of `b` [B, n, k], for triangular `a` [B, n, n], which may be broadcast. The
 * other triangle is not read, nor is the diagonal where `unitriangular`, which counts as ones. Zeros on the
 * diagonal give infinities and NaN. */
void solve_triangular(Queue& queue, const Tensor& a, bool upper, bool unitriangular, const Tensor& b);

/** The lower L of A = L L^T in the place of `a` [B, n, n], of which the lower triangle is read; what stands
 * above it is undefined afterwards. `info` is 0, or the order of the first leading minor that is not
 * positive-definite; the columns from there on are undefined then. */
void cholesky(Queue& queue, const Tensor& a, const Tensor& info);

/** P L U in the place of `a` [B, m, n]: L without its ones, and U. `pivots` (int32 [B, min(m, n)]): row i was
 * exchanged with row pivots[i], counted from 1. `info` is 0, or the place, counted from 1, of the first zero
 * on the diagonal of U. */
void lu_factor(Queue& queue, const Tensor& a, const Tensor& pivots, const Tensor& info);

/** Exchanges rows of `a` [B, m, n], of any dtype of 4 or 8 bytes, as `pivots` (int32 [B, k], contiguous, k <=
 * m) say: those from the first on, or where `backwards` those from the last on. */
void swap_rows(Queue& queue, const Tensor& pivots, bool backwards, const Tensor& a);

/** R, and below it the reflectors of Q, in the place of `a` [B, m, n]: Q is the product of I - tau_i v_i
 * v_i^T, where v_i is 1 in row i, column i of `a` below it, and 0 above. `tau`: [B, min(m, n)], contiguous.
 */
void qr_factor(Queue& queue, const Tensor& a, const Tensor& tau);

/** Q C, or Q^T C where `transposed`, in the place of `c` [B, m, k]: Q is that of qr_factor's `a` [B, m, n],
 * by its first columns, one for each number of `tau` [B, t], contiguous. */
void apply_reflectors(Queue& queue, const Tensor& a, const Tensor& tau, bool transposed, const Tensor& c);

}  // namespace dlprim
