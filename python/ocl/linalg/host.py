"""Factorizations on the host: tensors become batches of NumPy arrays, and results go back to the device."""

from __future__ import annotations

import math
from collections.abc import Callable

from ocl import _C
from ocl._C import Tensor
from ocl.batching import derivatives
from ocl.late_numpy import np
from ocl.shapes import is_shapes_only

_NAMES = ("float32", "float64", "complex64", "complex128", "int32", "int64")
_DTYPES = {name: getattr(_C, name) for name in _NAMES}


def on_host(function: Callable, *tensors: Tensor) -> tuple[Tensor, ...]:
    """The arrays of ``function(*arrays)`` as tensors on the device of ``tensors``; waits for that device.

    ``tensors`` are (*batch, rows, columns) with one batch. The function gets arrays (count, rows, columns)
    of its own, and gives a tuple of arrays (count, ...). Under ``shapes_only`` it gets a count of 0, which
    says what follows the batch. Under vmap it runs once per example.
    """
    return derivatives.opaque(_on_host, function, *tensors)


def _on_host(function: Callable, *tensors: Tensor) -> tuple[Tensor, ...]:
    batch, place = tuple(tensors[0].shape[:-2]), tensors[0].device
    if is_shapes_only():
        given = [np.empty((0, *t.shape[-2:]), str(t.dtype).removeprefix("ocl.")) for t in tensors]
        results = function(*given)
        return tuple(
            _C.empty((*batch, *r.shape[1:]), dtype=_DTYPES[r.dtype.name], device=place) for r in results
        )
    count = math.prod(batch)
    arrays = [t.numpy(force=True).reshape(count, *t.shape[-2:]) for t in tensors]
    with np.errstate(all="ignore"):  # Infinities and NaN are results, as on a device.
        results = function(*arrays)
    return tuple(
        _C.tensor(np.ascontiguousarray(r).reshape(batch + r.shape[1:]), device=place) for r in results
    )


def one_by_one(function: Callable, failed: Callable, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """``function`` of each matrix alone, and ``failed`` of those for which it raises NumPy's LinAlgError.

    NumPy does not tell which matrix of a batch it could not factor.
    """
    results = []
    for matrices in zip(*arrays, strict=True):
        try:
            results.append(function(*matrices))
        except np.linalg.LinAlgError:
            results.append(failed(*matrices))
    return tuple(np.stack(parts) for parts in zip(*results, strict=True))
