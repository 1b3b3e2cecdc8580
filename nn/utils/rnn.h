#pragma once

#include <optional>
#include <string>

#include "autograd/tensor/tensor.h"

/** Sequences of different lengths as one tensor, as torch.nn.utils.rnn. */
namespace ocl::nn::utils::rnn {

/**
 * Sequences packed step by step: row after row the first step of all, then the second of those that have one,
 * and so on, longest sequence first. Where the sequences were not in that order, sequence i of it was number
 * sorted_indices[i], and sequence i of before is now unsorted_indices[i]; both int64 or undefined.
 */
struct PackedSequence {
  Tensor data;
  std::vector<std::int64_t> batch_sizes;
  Tensor sorted_indices, unsorted_indices;
};

/** `permutation` (int64 [n]) the other way round; undefined if it is. */
Tensor invert_permutation(const Tensor& permutation);

/** input [T, N, ...] ([N, T, ...] with batch_first), of which sequence i has lengths[i] steps. With
 * enforce_sorted the lengths must not grow. One gather. Throws ValueError. */
PackedSequence pack_padded_sequence(const Tensor& input, const std::vector<std::int64_t>& lengths,
                                    bool batch_first = false, bool enforce_sorted = true);

struct PaddedSequence {
  Tensor data;  // [T, N, ...], or [N, T, ...]
  std::vector<std::int64_t> lengths;
};

/** The sequences in their own order again, filled up with padding_value to the longest, or to total_length.
 */
PaddedSequence pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                   const Scalar& padding_value = 0.0,
                                   std::optional<std::int64_t> total_length = std::nullopt);

/** Sequences [L, ...] of any L as [T, N, ...] ([N, T, ...] with batch_first), filled up at the side "right"
 * or "left". */
Tensor pad_sequence(const TensorList& sequences, bool batch_first = false, const Scalar& padding_value = 0.0,
                    const std::string& padding_side = "right");

/** The first lengths[i] steps of each sequence, as views. */
TensorList unpad_sequence(const Tensor& padded_sequences, const std::vector<std::int64_t>& lengths,
                          bool batch_first = false);

PackedSequence pack_sequence(const TensorList& sequences, bool enforce_sorted = true);
TensorList unpack_sequence(const PackedSequence& packed_sequences);

}  // namespace ocl::nn::utils::rnn
