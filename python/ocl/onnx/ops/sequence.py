"""Sequences, which are lists of Python, and optional values."""

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import integers, scalar

ANYWHERE = range(1000)


@operator("SequenceConstruct", either=ANYWHERE, folds=False)
def sequence_construct(call, *values):
    return list(values)


@operator("SequenceEmpty", folds=False)
def sequence_empty(call):
    return []


@operator("SequenceLength", either=ANYWHERE, folds=False)
def sequence_length(call, sequence):
    return np.array(len(sequence), np.int64)


@operator("SequenceAt", host=(1,), folds=False)
def sequence_at(call, sequence, index):
    return sequence[int(scalar(index))]


@operator("SequenceInsert", host=(2,), either=(1,), folds=False)
def sequence_insert(call, sequence, value, index=None):
    place = len(sequence) if index is None else int(scalar(index))
    return [*sequence[:place], value, *sequence[place:]]


@operator("SequenceErase", host=(1,), folds=False)
def sequence_erase(call, sequence, index=None):
    place = int(scalar(index, -1)) % len(sequence)
    return [*sequence[:place], *sequence[place + 1 :]]


@operator("SplitToSequence", until=24, host=(1,), folds=False)
def split_to_sequence(call, x, sizes=None):
    axis = call.get("axis", 0) % x.ndim
    if sizes is None:
        parts = list(ocl.split(x, 1, axis))
        return parts if call.get("keepdims", 1) else [each.squeeze(axis) for each in parts]
    return list(ocl.split(x, integers(sizes) if np.ndim(sizes) else int(scalar(sizes)), axis))


@operator("ConcatFromSequence", folds=False)
def concat_from_sequence(call, sequence):
    parts = [call.tensor(each) for each in sequence]
    return (ocl.stack if call.get("new_axis", 0) else ocl.cat)(parts, call["axis"])


@operator("SequenceMap", either=ANYWHERE, folds=False)
def sequence_map(call, first, *others):
    rows = []
    for i, value in enumerate(first):
        now = [each[i] if isinstance(each, list) else each for each in others]
        rows.append(call.subgraph("body", value, *now))
    return tuple(list(column) for column in zip(*rows, strict=True))


@operator("Optional", until=28, either=ANYWHERE, folds=False)
def optional(call, value=None):
    return value


@operator("OptionalHasElement", until=28, either=ANYWHERE, folds=False)
def optional_has_element(call, value=None):
    return np.array(value is not None)


@operator("OptionalGetElement", until=28, either=ANYWHERE, folds=False)
def optional_get_element(call, value):
    if value is None:
        raise ValueError("the optional value is empty")
    return value
