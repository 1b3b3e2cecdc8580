"""Samples to batches, on the host; and what of a batch goes to a device."""

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

import numpy as np

import ocl

__all__ = ["default_collate", "default_convert", "map_leaves"]


def default_collate(batch):
    """A list of samples as one batch of NumPy arrays, which a loader then uploads.

    Matches torch.utils.data.default_collate, but on the host. Arrays, ocl tensors and NumPy's scalars are
    stacked, dtype kept. Python's floats become float32, integers int64, bools bool; strings and bytes stay
    lists. Mappings, lists, tuples and named tuples of these are collated part by part and keep their type.

    Raises:
        ValueError, which is a RuntimeError too: arrays of unequal shape.
        ValueError: no sample.
        RuntimeError: lists or tuples of unequal length.
        KeyError: dicts without the keys of the first.
        TypeError: a sample of another type, such as an image that nobody has made an array of.
    """
    if not batch:
        raise ValueError("default_collate: no sample")
    first = batch[0]
    if isinstance(first, ocl.Tensor):
        return _stack([sample.numpy() for sample in batch])
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind not in "OSU":
        return _stack(batch)
    if isinstance(first, (bool, int)):
        return np.array(batch)
    if isinstance(first, float):
        return np.array(batch, np.float32)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return _rebuilt(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        lengths = sorted({len(sample) for sample in batch})
        if len(lengths) > 1:
            raise RuntimeError(
                "default_collate: each element in list of batch should be of equal size, "
                f"found sizes {lengths}; a collate_fn may pad them"
            )
        return _rebuilt(first, [default_collate(column) for column in zip(*batch, strict=True)])
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {_type_name(first)}{_advice(first)}"
    )


def default_convert(data):
    """Leaves a sample as it is, for a loader without batching: its arrays are uploaded as they are.

    Matches torch.utils.data.default_convert.
    """
    return data


def map_leaves(function, batch):
    """`batch` with function(leaf) for whatever is no mapping, list or tuple; containers keep their type."""
    if isinstance(batch, Mapping):
        return _rebuilt(batch, {key: map_leaves(function, value) for key, value in batch.items()})
    if isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        return _rebuilt(batch, [map_leaves(function, item) for item in batch])
    return function(batch)


def _rebuilt(container, parts):
    """`parts`, a dict or a list, in a container of that type where it can be made of them."""
    kind = type(container)
    if kind in (dict, list):
        return parts
    try:
        if hasattr(container, "_fields"):
            return kind(*parts)
        if isinstance(container, (MutableMapping, MutableSequence)):
            return _refilled(container, parts)
        return kind(parts)
    except TypeError:
        return parts


def _refilled(container, parts):
    """A copy of `container`, which keeps a defaultdict's factory, with other parts."""
    copied = copy.copy(container)
    if isinstance(parts, dict):
        copied.update(parts)
    else:
        copied[:] = parts
    return copied


def _stack(arrays):
    shapes = {np.shape(array) for array in arrays}
    if len(shapes) > 1:
        raise ocl._C.ArgumentValueError(
            f"default_collate: samples of unequal shape {sorted(shapes)} do not stack; "
            "make them equal (Resize, a crop, Pad) or give a collate_fn"
        )
    return np.stack(arrays)


def _type_name(value):
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _advice(sample):
    return ": the transform should end with ToTensor()" if _type_name(sample).startswith("PIL.") else ""
