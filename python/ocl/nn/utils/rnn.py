"""Sequences of different lengths as one tensor, as torch.nn.utils.rnn."""

from typing import NamedTuple

from ocl import _C

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

_rnn = _C._nn._rnn
invert_permutation = _rnn.invert_permutation


class _Parts(NamedTuple):
    data: _C.Tensor
    batch_sizes: _C.Tensor
    sorted_indices: _C.Tensor | None
    unsorted_indices: _C.Tensor | None


class PackedSequence(_Parts):
    """Sequences packed step by step, the longest first: batch_sizes[t] of them have a step t.

    pack_padded_sequence and pack_sequence make one; every recurrent layer takes it. One that is made by hand
    reads its batch_sizes back from the device when they are needed.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    @classmethod
    def _of(cls, data, sizes, sorted_indices, unsorted_indices):
        made = cls(data, _C.tensor(sizes, device=data.device), sorted_indices, unsorted_indices)
        made._known_sizes = sizes
        return made

    def _host_sizes(self):
        """batch_sizes as numbers. Waits if they are not known here yet."""
        if not hasattr(self, "_known_sizes"):
            self._known_sizes = self.batch_sizes.tolist()
        return self._known_sizes

    def _with_data(self, data):
        made = type(self)(data, *self[1:])
        if hasattr(self, "_known_sizes"):
            made._known_sizes = self._known_sizes
        return made

    def to(self, *args, **kwargs):
        """With data.to(...); the indices follow to its device."""
        data = self.data.to(*args, **kwargs)
        made = self._with_data(data)
        if data.device == self.data.device:
            return made
        moved = [None if t is None else t.to(data.device) for t in self[1:]]
        return made._replace(**dict(zip(self._fields[1:], moved, strict=True)))

    def double(self):
        return self.to(_C.float64)

    def float(self):
        return self.to(_C.float32)

    def half(self):
        return self.to(_C.float16)


def _numbers(lengths):
    """Lengths given as a tensor, an array or a list; a tensor is read, which waits."""
    return [int(n) for n in (lengths.tolist() if hasattr(lengths, "tolist") else lengths)]


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs input [T, N, ...] ([N, T, ...] with batch_first), of which sequence i has lengths[i] steps."""
    return PackedSequence._of(
        *_rnn.pack_padded_sequence(input, _numbers(lengths), batch_first, enforce_sorted)
    )


def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of sequences [L, ...]."""
    return PackedSequence._of(*_rnn.pack_sequence(list(sequences), enforce_sorted))


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The sequences filled up to the longest, or to total_length, and their lengths."""
    parts = (sequence.data, sequence._host_sizes(), sequence.sorted_indices, sequence.unsorted_indices)
    padded, lengths = _rnn.pad_packed_sequence(parts, batch_first, padding_value, total_length)
    return padded, _C.tensor(lengths, device=padded.device)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """A list of sequences [L, ...] as [T, N, ...], or [N, T, ...] with batch_first."""
    return _rnn.pad_sequence(list(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The first lengths[i] steps of each sequence, as views."""
    return _rnn.unpad_sequence(padded_sequences, _numbers(lengths), batch_first)


def unpack_sequence(packed_sequences):
    """The sequences of a PackedSequence, as a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
