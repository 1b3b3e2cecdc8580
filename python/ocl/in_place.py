"""Methods that write their result over the tensor, and the functions of that name.

They compute of a copy, so that the tape keeps what the tensor held before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor

__all__: list[str] = []

# Methods whose result has the shape of the tensor: NAME_ writes what NAME gives.
_WRITTEN = (
    "absolute",
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "baddbmm",
    "cumprod",
    "cumsum",
    "deg2rad",
    "fix",
    "float_power",
    "gcd",
    "greater",
    "greater_equal",
    "i0",
    "igamma",
    "igammac",
    "index_fill",
    "index_reduce",
    "lcm",
    "ldexp",
    "less",
    "less_equal",
    "masked_scatter",
    "mvlgamma",
    "nextafter",
    "not_equal",
    "rad2deg",
    "renorm",
    "scatter_reduce",
    "tril",
    "triu",
    "true_divide",
)
# Methods that give the same memory another shape.
_RESHAPED = ("squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze")


def _writing(name: str) -> Callable:
    compute = getattr(Tensor, name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        result = compute(self.clone(), *args, **kwargs)
        if tuple(result.shape) != tuple(self.shape):
            raise ArgumentValueError(
                f"{name}_: output with shape {list(self.shape)} doesn't match the broadcast shape "
                f"{list(result.shape)}"
            )
        if not _C.can_cast(result.dtype, self.dtype):
            raise ArgumentTypeError(
                f"{name}_: result type {result.dtype} can't be cast to the desired output type {self.dtype}"
            )
        return self.copy_(result)

    method.__doc__ = f"Writes what ``{name}`` gives over the tensor. (torch.Tensor.{name}_)"
    return method


def _reshaping(name: str) -> Callable:
    view = getattr(Tensor, name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not self.requires_grad or (self.is_leaf and not _C.is_grad_enabled()):
            self.data = view(self.data, *args, **kwargs)
            return self
        if self.is_leaf:
            raise RuntimeError(
                f"{name}_: a leaf Variable that requires grad is being used in an in-place operation."
            )
        was_enabled = _C.is_grad_enabled()
        _C._set_grad_enabled(True)  # The history has the tensor's shape, also under no_grad.
        try:
            self._become_view(view(self, *args, **kwargs))
        finally:
            _C._set_grad_enabled(was_enabled)
        return self

    method.__doc__ = f"""Gives the tensor the shape and strides of what ``{name}`` gives.

    Raises RuntimeError for a leaf that requires gradients. (torch.Tensor.{name}_)
    """
    return method


def _fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Overwrites the elements whose coordinates are equal; with `wrap` the diagonal of a tall matrix begins
    anew below an empty row. (torch.Tensor.fill_diagonal_)
    """
    if self.ndim < 2:
        raise ArgumentValueError(f"fill_diagonal_: dimensions must larger than 1, got {self.ndim}")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise ArgumentValueError(
            f"fill_diagonal_: all dimensions of input must be of equal length, got {tuple(self.shape)}"
        )
    rows = _C.arange(self.shape[0], device=self.device).reshape(-1, *[1] * (self.ndim - 1))
    if wrap and self.ndim == 2:
        rows = rows % (self.shape[1] + 1)
    mask = _C.ones(tuple(self.shape), dtype=_C.bool_, device=self.device)
    for d in range(1, self.ndim):
        entries = _C.arange(self.shape[d], device=self.device)
        mask = mask & _C.eq(rows, entries.reshape(-1, *[1] * (self.ndim - 1 - d)))
    return self.masked_fill_(mask, fill_value)


def _set_method(name: str, method: Callable) -> None:
    method.__name__ = method.__qualname__ = name
    setattr(Tensor, name, method)


for _name in _WRITTEN:
    _set_method(f"{_name}_", _writing(_name))
for _name in _RESHAPED:
    _set_method(f"{_name}_", _reshaping(_name))
_set_method("fill_diagonal_", _fill_diagonal_)

# Those that PyTorch has as functions beside the methods.
_FUNCTIONS = (
    "abs acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil celu "
    "clamp clamp_max clamp_min clip cos cosh deg2rad erf erfc exp exp2 expm1 fill fix floor frac gcd i0 "
    "index_put lcm ldexp log log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal relu round "
    "rsqrt selu sigmoid sin sinc sinh sqrt square tan tanh threshold trunc xlogy zero"
)

for _name in _FUNCTIONS.split():
    globals()[f"{_name}_"] = getattr(Tensor, f"{_name}_")
    __all__ += [f"{_name}_"]
