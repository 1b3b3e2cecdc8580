"""The limits of dtypes, as torch.finfo and torch.iinfo."""

from __future__ import annotations

from ocl import _C, absent
from ocl.late_numpy import np

__all__ = ["finfo", "iinfo"]

# (bits, eps, max, min, smallest normal, resolution) of dtypes that NumPy does not have.
_BFLOAT16_MAX = (2 - 2.0**-7) * 2.0**127
_LIMITS = {
    "bfloat16": (16, 2.0**-7, _BFLOAT16_MAX, -_BFLOAT16_MAX, 2.0**-126, 0.01),
    "float8_e4m3fn": (8, 2.0**-3, 448.0, -448.0, 2.0**-6, 1.0),
    "float8_e4m3fnuz": (8, 2.0**-3, 240.0, -240.0, 2.0**-7, 1.0),
    "float8_e5m2": (8, 2.0**-2, 57344.0, -57344.0, 2.0**-14, 1.0),
    "float8_e5m2fnuz": (8, 2.0**-3, 57344.0, -57344.0, 2.0**-15, 1.0),
    "float8_e8m0fnu": (8, 1.0, 2.0**127, 2.0**-127, 2.0**-127, 1.0),
}
_WHOLE = ("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def _name(dtype: _C.dtype | absent.Dtype) -> str:
    return str(dtype).rpartition(".")[2]


class finfo:  # noqa: N801  (PyTorch's name)
    """Limits of a floating dtype: ``bits``, ``eps``, ``max``, ``min``, ``tiny``, ``resolution``.

    Raises TypeError for a dtype that is not floating.
    """

    def __init__(self, type: _C.dtype = _C.float32) -> None:  # noqa: A002
        if isinstance(type, _C.dtype) and type.is_complex:
            type = type.to_real()  # noqa: A001  (the parts' limits)
        is_dtype = isinstance(type, (_C.dtype, absent.Dtype))
        if not is_dtype or not type.is_floating_point:
            raise TypeError(f"finfo() requires a floating point input type. Use iinfo to handle {type}")
        self.dtype = _name(type)
        if self.dtype in _LIMITS:
            self.bits, self.eps, self.max, self.min, self.tiny, self.resolution = _LIMITS[self.dtype]
        elif isinstance(type, absent.Dtype):
            raise NotImplementedError(f"finfo: {type} is not supported")
        else:
            limits = np.finfo(self.dtype)
            self.bits = limits.bits
            self.eps, self.max, self.tiny = float(limits.eps), float(limits.max), float(limits.tiny)
            self.min = -self.max
            self.resolution = 10.0**-limits.precision
        self.smallest_normal = self.tiny

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801
    """Limits of a whole-number dtype: ``bits``, ``min``, ``max``. Raises TypeError for any other."""

    def __init__(self, type: _C.dtype) -> None:  # noqa: A002
        is_dtype = isinstance(type, (_C.dtype, absent.Dtype))
        if not is_dtype or type.is_floating_point or type.is_complex:
            raise TypeError(f"iinfo() requires an integer input type. Use finfo to handle {type}")
        self.dtype = _name(type)
        if self.dtype not in _WHOLE:
            raise TypeError(f"iinfo: {type} is not supported")
        limits = np.iinfo(self.dtype)
        self.bits, self.min, self.max = limits.bits, int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
