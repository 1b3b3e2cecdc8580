#include "nn/utils/rnn.h"

#include <algorithm>
#include <numeric>

#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"

namespace ocl::nn::utils::rnn {
namespace {

using dlprim::require;
using Numbers = std::vector<std::int64_t>;

std::int64_t count_of(const Numbers& numbers) {
  return static_cast<std::int64_t>(numbers.size());
}

Tensor uploaded(const Numbers& numbers, const Device& device) {
  return tensor(numbers, {count_of(numbers)}, device);
}

/** `t` [rows..., ...] with its first `joined` dimensions as one. */
Tensor as_rows(const Tensor& t, int joined) {
  return joined == 1 ? t : flatten(t, 0, joined - 1);
}

/** The trailing sizes of `t` behind `leading`. */
Numbers with_rest(Numbers leading, const Tensor& t, int first) {
  leading.insert(leading.end(), t.shape().begin() + first, t.shape().end());
  return leading;
}

/** Rows `places` of [count, ...] taken from `rows` one after the other, the others filled. */
Tensor spread(const Tensor& rows, const Numbers& places, std::int64_t count, const Scalar& filling) {
  const Tensor filled = full(with_rest({count}, rows, 1), filling, rows.dtype(), rows.device());
  return index_copy(filled, 0, uploaded(places, rows.device()), rows);
}

/** Sequences by length, the longest first, equal ones as they stand. */
Numbers order_of(const Numbers& lengths) {
  Numbers order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
  });
  return order;
}

Numbers inverse(const Numbers& order) {
  Numbers result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return result;
}

/** How many of the lengths, longest first, have each step. */
Numbers sizes_of(const Numbers& sorted_lengths) {
  Numbers sizes(static_cast<std::size_t>(sorted_lengths.front()));
  for (const std::int64_t length : sorted_lengths)
    for (std::int64_t t = 0; t < length; ++t) ++sizes[static_cast<std::size_t>(t)];
  return sizes;
}

/** Where step t of sequence i stands in a padded batch, for the rows of a packed one. */
Numbers padded_places(const Numbers& sizes, const Numbers& order, std::int64_t step_stride,
                      std::int64_t sequence_stride) {
  Numbers places;
  for (std::size_t t = 0; t < sizes.size(); ++t)
    for (std::int64_t i = 0; i < sizes[t]; ++i)
      places.push_back(static_cast<std::int64_t>(t) * step_stride +
                       order[static_cast<std::size_t>(i)] * sequence_stride);
  return places;
}

/** The batch sizes as a list of host numbers. Waits. */
Numbers order_of(const PackedSequence& sequence) {
  if (sequence.sorted_indices.defined()) return sequence.sorted_indices.to_vector<std::int64_t>();
  Numbers order(static_cast<std::size_t>(sequence.batch_sizes.front()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return permutation;
  return index_copy(empty_like(permutation), 0, permutation,
                    arange(0, permutation.numel(), 1, permutation.dtype(), permutation.device()));
}

PackedSequence pack_padded_sequence(const Tensor& input, const Numbers& lengths, bool batch_first,
                                    bool enforce_sorted) {
  constexpr const char* op = "pack_padded_sequence";
  require(input.dim() >= 2 && input.numel() > 0, op, ": Cannot pack empty tensors, got shape ",
          input.shape());
  const std::int64_t steps = input.size(batch_first ? 1 : 0), batch = input.size(batch_first ? 0 : 1);
  require(count_of(lengths) == batch, op, ": Expected `len(lengths)` to be equal to batch_size, but got ",
          lengths.size(), " (batch_size=", batch, ")");
  for (const std::int64_t length : lengths) {
    require(length > 0, op,
            ": Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= "
            "0");
    require(length <= steps, op, ": a length of ", length, " exceeds the ", steps, " steps of the input");
  }
  require(!enforce_sorted || std::is_sorted(lengths.rbegin(), lengths.rend()), op,
          ": `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
          "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement");
  const Numbers order = order_of(lengths);
  Numbers sorted_lengths;
  for (const std::int64_t i : order) sorted_lengths.push_back(lengths[static_cast<std::size_t>(i)]);
  PackedSequence packed;
  packed.batch_sizes = sizes_of(sorted_lengths);
  const Numbers places =
      padded_places(packed.batch_sizes, order, batch_first ? 1 : batch, batch_first ? steps : 1);
  packed.data = index_select(as_rows(input, 2), 0, uploaded(places, input.device()));
  if (!enforce_sorted) {
    packed.sorted_indices = uploaded(order, input.device());
    packed.unsorted_indices = uploaded(inverse(order), input.device());
  }
  return packed;
}

PaddedSequence pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                   const Scalar& padding_value, std::optional<std::int64_t> total_length) {
  constexpr const char* op = "pad_packed_sequence";
  const Numbers& sizes = sequence.batch_sizes;
  require(!sizes.empty() && sizes.front() > 0, op, ": expected at least one sequence");
  const std::int64_t longest = count_of(sizes), steps = total_length.value_or(longest);
  require(steps >= longest, op,
          ": Expected total_length to be at least the length of the longest sequence in input, but got "
          "total_length=",
          steps, " and max sequence length being ", longest);
  const std::int64_t batch = sizes.front();
  const Numbers order = order_of(sequence);
  require(count_of(order) == batch, op, ": expected sorted_indices of ", batch, " elements, got ",
          order.size());
  PaddedSequence result;
  result.lengths.resize(order.size());
  for (const std::int64_t size : sizes)
    for (std::int64_t i = 0; i < size; ++i)
      ++result.lengths[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  const Numbers places = padded_places(sizes, order, batch_first ? 1 : batch, batch_first ? steps : 1);
  require(sequence.data.dim() >= 1 && sequence.data.size(0) == count_of(places), op, ": expected data of ",
          places.size(), " rows, the sum of batch_sizes, got shape ", sequence.data.shape());
  const Tensor rows = spread(sequence.data, places, steps * batch, padding_value);
  result.data = unflatten(rows, 0, batch_first ? Numbers{batch, steps} : Numbers{steps, batch});
  return result;
}

Tensor pad_sequence(const TensorList& sequences, bool batch_first, const Scalar& padding_value,
                    const std::string& padding_side) {
  constexpr const char* op = "pad_sequence";
  require(!sequences.empty(), op, ": received an empty list of sequences");
  require(padding_side == "right" || padding_side == "left", op,
          ": expected padding_side to be 'left' or 'right', got '", padding_side, "'");
  const std::int64_t batch = static_cast<std::int64_t>(sequences.size());
  std::int64_t steps = 0;
  for (const Tensor& sequence : sequences) {
    require(sequence.dim() > 0, op, ": expected sequences of at least 1 dimension");
    steps = std::max(steps, sequence.size(0));
  }
  Numbers places;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t length = sequences[static_cast<std::size_t>(i)].size(0);
    const std::int64_t first = padding_side == "left" ? steps - length : 0;
    for (std::int64_t t = first; t < first + length; ++t)
      places.push_back(batch_first ? i * steps + t : t * batch + i);
  }
  const Tensor rows = spread(cat(sequences), places, steps * batch, padding_value);
  return unflatten(rows, 0, batch_first ? Numbers{batch, steps} : Numbers{steps, batch});
}

TensorList unpad_sequence(const Tensor& padded_sequences, const Numbers& lengths, bool batch_first) {
  const int batch_dim = batch_first ? 0 : 1;
  require(padded_sequences.dim() >= 2 && padded_sequences.size(batch_dim) == count_of(lengths),
          "unpad_sequence: ", lengths.size(), " lengths do not fit sequences of shape ",
          padded_sequences.shape());
  TensorList sequences;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    sequences.push_back(narrow(select(padded_sequences, batch_dim, static_cast<std::int64_t>(i)), 0, 0,
                               std::min(lengths[i], padded_sequences.size(1 - batch_dim))));
  return sequences;
}

PackedSequence pack_sequence(const TensorList& sequences, bool enforce_sorted) {
  Numbers lengths;
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.dim() > 0 ? sequence.size(0) : 0);
  return pack_padded_sequence(pad_sequence(sequences), lengths, false, enforce_sorted);
}

TensorList unpack_sequence(const PackedSequence& packed_sequences) {
  const PaddedSequence padded = pad_packed_sequence(packed_sequences, true);
  return unpad_sequence(padded.data, padded.lengths, true);
}

}  // namespace ocl::nn::utils::rnn
