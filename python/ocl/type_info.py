"""The limits of dtypes, as torch.finfo and torch.iinfo."""

from __future__ import annotations

from ocl import _C
from ocl.late_numpy import np

__all__ = ["finfo", "iinfo"]

# (bits, eps, max, smallest normal, resolution); NumPy has no bfloat16.
_BFLOAT16 = (16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 0.01)


def _name(dtype: _C.dtype) -> str:
    return str(dtype).rpartition(".")[2]


class finfo:  # noqa: N801  (PyTorch's name)
    """Limits of a floating dtype: ``bits``, ``eps``, ``max``, ``min``, ``tiny``, ``resolution``.

    Raises TypeError for a dtype that is not floating.
    """

    def __init__(self, type: _C.dtype = _C.float32) -> None:  # noqa: A002
        if isinstance(type, _C.dtype) and type.is_complex:
            type = type.to_real()  # noqa: A001  (the parts' limits)
        if not isinstance(type, _C.dtype) or not type.is_floating_point:
            raise TypeError(f"finfo() requires a floating point input type. Use iinfo to handle {type}")
        self.dtype = _name(type)
        if type == _C.bfloat16:
            self.bits, self.eps, self.max, self.tiny, self.resolution = _BFLOAT16
        else:
            limits = np.finfo(self.dtype)
            self.bits = limits.bits
            self.eps, self.max, self.tiny = float(limits.eps), float(limits.max), float(limits.tiny)
            self.resolution = 10.0**-limits.precision
        self.min, self.smallest_normal = -self.max, self.tiny

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801
    """Limits of a whole-number dtype: ``bits``, ``min``, ``max``. Raises TypeError for any other."""

    def __init__(self, type: _C.dtype) -> None:  # noqa: A002
        if not isinstance(type, _C.dtype) or type.is_floating_point or type.is_complex:
            raise TypeError(f"iinfo() requires an integer input type. Use finfo to handle {type}")
        self.dtype = _name(type)
        if self.dtype == "bool":
            raise TypeError("iinfo: ocl.bool is not supported")
        limits = np.iinfo(self.dtype)
        self.bits, self.min, self.max = limits.bits, int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
