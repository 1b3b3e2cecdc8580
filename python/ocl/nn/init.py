"""Filling of parameters, in place, as torch.nn.init."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, Generator, Tensor
from ocl.late_numpy import np
from ocl.random import fork_rng

globals().update({name: value for name, value in vars(_C._nn._init).items() if not name.startswith("_")})


def _of_complex_numbers_too(fill: Callable, scale: float) -> Callable:
    """The function, which fills both parts of complex numbers; ``scale`` is that of each part."""

    @functools.wraps(fill)
    def filled(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not tensor.is_complex():
            return fill(tensor, *args, **kwargs)
        parts = _C.empty((2, *tensor.shape), dtype=tensor.dtype.to_real(), device=tensor.device)
        for part in parts:
            fill(part, *args, **kwargs)
        tensor.data.copy_(_C.complex(*(parts * scale)))
        return tensor

    return filled


for _name in ("uniform_", "xavier_uniform_", "kaiming_uniform_"):
    globals()[_name] = _of_complex_numbers_too(globals()[_name], 1.0)
for _name in ("xavier_normal_", "kaiming_normal_"):  # The variance is that of both parts together.
    globals()[_name] = _of_complex_numbers_too(globals()[_name], math.sqrt(0.5))
_fill_with_normal_numbers = globals()["normal_"]


@functools.wraps(_fill_with_normal_numbers)
def normal_(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    if tensor.is_complex():
        tensor.data.normal_(*args, **kwargs)
        return tensor
    return _fill_with_normal_numbers(tensor, *args, **kwargs)


def _by_generator(fill: Callable) -> Callable:
    """The function, which draws from a generator where one is given."""

    @functools.wraps(fill)
    def filled(tensor: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
        if generator is None:
            return fill(tensor, *args, **kwargs)
        if not isinstance(generator, Generator):
            raise ArgumentTypeError(
                f"{fill.__name__}: expected an ocl.Generator as generator, got {type(generator).__name__}"
            )
        with fork_rng():
            _C.set_rng_state(generator.get_state())
            try:
                return fill(tensor, *args, **kwargs)
            finally:
                generator.set_state(_C.get_rng_state())

    return filled


for _name in (
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
):
    globals()[_name] = _by_generator(globals()[_name])

__all__ = [name for name in dir(_C._nn._init) if not name.startswith("_")]
__all__ += ["dirac_", "orthogonal_", "sparse_"]


def _calculate_fan_in_and_fan_out(tensor):
    """(fan in, fan out) of a weight; model files call it by this name."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive_field, tensor.size(0) * receptive_field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """The fan that ``mode``, "fan_in" or "fan_out", names. ValueError for another."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


def _write(tensor: Tensor, values: np.ndarray) -> Tensor:
    """Copies an array of the host's into the tensor, without a history."""
    tensor.data.copy_(_C.tensor(np.ascontiguousarray(values), device=tensor.device).to(tensor.dtype))
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fills a tensor of two dimensions or more with a matrix whose rows, or columns, are orthonormal.

    Dimensions after the first count as one; ``gain`` scales the matrix. The host decomposes it. ValueError
    for fewer dimensions. (torch.nn.init.orthogonal_)
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    drawn = _C.randn(rows, columns, device=tensor.device, generator=generator).numpy().astype(np.float64)
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q = q * np.where(np.diag(r) < 0, -1.0, 1.0)  # so that all such matrices are equally likely
    q = (q.T if rows < columns else q).reshape(tuple(tensor.shape))
    return _write(tensor, (gain * q).astype(np.float32))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fills a matrix with normal numbers of deviation ``std``, and sets a part of each column to 0.

    The part is ``sparsity``, rounded up to whole rows. ValueError for another number of dimensions.
    (torch.nn.init.sparse_)
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    values = (_C.randn(rows, columns, device=tensor.device, generator=generator) * std).numpy().copy()
    order = _C.rand(rows, columns, device=tensor.device, generator=generator).numpy().argsort(axis=0)
    np.put_along_axis(values, order[:zeros], 0, axis=0)
    return _write(tensor, values)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fills the weight of a convolution so that it gives as many of its input's channels as it can.

    The weight has three to five dimensions; within each of ``groups``. ValueError for others, and where the
    groups do not divide the first. (torch.nn.init.dirac_)
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(tuple(tensor.shape), dtype=np.float32)
    per_group = tensor.size(0) // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(per_group, tensor.size(1))):
            values[(group * per_group + channel, channel, *middle)] = 1
    return _write(tensor, values)


def _deprecated(function: Callable) -> Callable:
    """The function under its name of before PyTorch 0.4, which warns."""
    old = function.__name__.rstrip("_")

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    return renamed


# PyTorch keeps these, too.
_OLD = "constant dirac eye kaiming_normal kaiming_uniform normal sparse uniform xavier_normal xavier_uniform"
globals().update({name: _deprecated(globals()[f"{name}_"]) for name in _OLD.split()})
