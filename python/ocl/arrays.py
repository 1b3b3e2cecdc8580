"""NumPy arrays beside tensors.

NumPy's questions to a tensor that stands right of an operator, or among the arguments of a universal
function.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

from ocl import _C
from ocl._C import Tensor
from ocl.late_numpy import np


@functools.cache
def _operators() -> dict[np.ufunc, Callable]:
    """The universal functions that Python's operators are, with which a gradient comes back."""
    return {
        np.add: operator.add,
        np.subtract: operator.sub,
        np.multiply: operator.mul,
        np.true_divide: operator.truediv,
        np.floor_divide: operator.floordiv,
        np.remainder: operator.mod,
        np.power: operator.pow,
        np.matmul: operator.matmul,
        np.bitwise_and: operator.and_,
        np.bitwise_or: operator.or_,
        np.bitwise_xor: operator.xor,
        np.equal: operator.eq,
        np.not_equal: operator.ne,
        np.less: operator.lt,
        np.less_equal: operator.le,
        np.greater: operator.gt,
        np.greater_equal: operator.ge,
    }


def _operand(given: object, like: Tensor) -> object:
    """A tensor or a number of Python's, for which NumPy is not asked again."""
    if np.ndim(given) == 0 and getattr(given, "dtype", None) == np.longdouble:
        return float(given)  # NumPy made an array of a number that no dtype is for
    if isinstance(given, np.generic):
        given = given.item()
    if isinstance(given, (Tensor, bool, int, float, complex)):
        return given
    return _C.tensor(np.asarray(given), device=like.device)


def _array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: object, **named: object) -> object:
    """The operators of tensors: ``array * tensor`` is what ``ocl.tensor(array) * tensor`` is.

    Other universal functions compute on the host and refuse tensors that require gradients. Their results are
    tensors on this one's device, as PyTorch's are tensors.
    """
    if method == "__call__" and not named and ufunc in _operators():
        return _operators()[ufunc](*(_operand(given, self) for given in inputs))
    if any(isinstance(out, Tensor) for out in named.get("out", ())):
        raise TypeError(f"{ufunc.__name__}: expected an array for out, got a Tensor")
    arrays = [np.asarray(given) if isinstance(given, Tensor) else given for given in inputs]
    result = getattr(ufunc, method)(*arrays, **named)
    if "out" in named or result is None:
        return result
    if isinstance(result, tuple):
        return tuple(_C.tensor(one, device=self.device) for one in result)
    return _C.tensor(result, device=self.device)


Tensor.__array_ufunc__ = _array_ufunc
