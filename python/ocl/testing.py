"""Comparisons and random tensors for tests: torch.testing."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ocl import _C
from ocl._C import Tensor

__all__ = ["assert_close", "make_tensor"]

_NO_PAIR = "No comparison pair was able to handle inputs of type {} and {}."


class _OtherForm(AssertionError):
    """The two are nests of different forms, which the caller's message does not describe."""


# (rtol, atol) by dtype; numbers of all others must be equal.
_TOLERANCES = {
    _C.float16: (1e-3, 1e-5),
    _C.bfloat16: (1.6e-2, 1e-5),
    _C.float32: (1.3e-6, 1e-5),
    _C.float64: (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError where the two differ by more than ``atol + rtol * |expected|``
    (torch.testing.assert_close).

    They are tensors, arrays, numbers, None, or sequences and mappings of those. Both tolerances are given or
    neither: by default they are those of the dtypes, 1.3e-6 and 1e-5 of float32, 1e-7 of float64, and 0 of
    integers. Shapes must be equal, with ``check_dtype`` and ``check_device`` dtypes and devices, with
    ``check_stride`` strides; infinities are equal to themselves, NaN with ``equal_nan``. ``check_layout``
    changes nothing, as there is one layout. ``msg`` is the error's text, or makes it of the text that would
    be. ValueError for one tolerance alone, TypeError for other things than these.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or unspecified, but got rtol={rtol}, "
            f"atol={atol}"
        )
    options = {
        "allow_subclasses": allow_subclasses, "rtol": rtol, "atol": atol, "equal_nan": equal_nan,
        "check_device": check_device, "check_dtype": check_dtype, "check_stride": check_stride,
    }  # fmt: skip
    try:
        _compare(actual, expected, "", options)
    except _OtherForm:
        raise
    except AssertionError as error:
        text = str(error)
        raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg) from None


def _compare(actual: Any, expected: Any, where: str, options: dict) -> None:
    place = f"\n\nThe failure occurred for item {where}" if where else ""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if set(actual) != set(expected):
            raise _OtherForm(
                f"The keys of the mappings do not match: missing "
                f"{sorted(map(repr, set(expected) - set(actual)))}, additional "
                f"{sorted(map(repr, set(actual) - set(expected)))}{place}"
            )
        for key in expected:
            _compare(actual[key], expected[key], f"{where}[{key!r}]", options)
        return
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise _OtherForm(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{place}")
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _compare(a, e, f"{where}[{i}]", options)
        return
    if actual is None or expected is None:
        if actual is not expected:
            raise AssertionError(f"None mismatch: {actual} is not {expected}{place}")
        return
    is_number = isinstance(actual, numbers.Number) and isinstance(expected, numbers.Number)
    if is_number and options["check_dtype"] and isinstance(actual, bool) != isinstance(expected, bool):
        raise AssertionError(f"The types do not match: {type(actual)} and {type(expected)}{place}")
    if not options["allow_subclasses"] and type(actual) is not type(expected):
        raise TypeError(
            f"assert_close: expected objects of one type, got {type(actual)} and {type(expected)}"
        )
    _compare_tensors(_tensor(actual, expected), _tensor(expected, actual), is_number, place, options)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _tensor(value: Any, other: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray) or isinstance(value, numbers.Number):
        if isinstance(other, Tensor) and isinstance(value, numbers.Number):
            raise TypeError(_NO_PAIR.format(type(other), type(value)))
        dtype = _C.float64 if isinstance(value, float) else None
        return _C.tensor(value, dtype=dtype)
    raise TypeError(_NO_PAIR.format(type(value), type(other)))


def _compare_tensors(actual: Tensor, expected: Tensor, is_number: bool, place: str, options: dict) -> None:
    if actual.shape != expected.shape:
        raise AssertionError(
            f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.{place}"
        )
    for name in ("device", "dtype", "stride"):
        if not options[f"check_{name}"] or (is_number and name == "dtype"):
            continue
        own, others = (t.stride() if name == "stride" else getattr(t, name) for t in (actual, expected))
        if own != others:
            raise AssertionError(f"The values for attribute '{name}' do not match: {own} != {others}.{place}")
    rtol, atol = options["rtol"], options["atol"]
    if rtol is None:
        found = [_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(f[0] for f in found), max(f[1] for f in found)
    a, e = _array(actual), _array(expected)
    if a.dtype.kind == "f" or e.dtype.kind == "f":
        a, e = a.astype(np.float64), e.astype(np.float64)
    with np.errstate(all="ignore"):
        close = a == e
        if a.dtype.kind in "iu" and (rtol or atol) or a.dtype.kind == "f":
            wide_a, wide_e = a.astype(np.float64), e.astype(np.float64)
            close |= np.isfinite(wide_e) & (np.abs(wide_a - wide_e) <= atol + rtol * np.abs(wide_e))
        if options["equal_nan"] and a.dtype.kind == "f":
            close |= np.isnan(a) & np.isnan(e)
    if not close.all():
        raise AssertionError(_difference(a, e, close, rtol, atol, is_number) + place)


def _array(tensor: Tensor) -> np.ndarray:
    if tensor.dtype == _C.bfloat16:  # NumPy has none
        tensor = tensor.to(_C.float32)
    return np.asarray(tensor.numpy(force=True))


def _difference(
    a: np.ndarray, e: np.ndarray, close: np.ndarray, rtol: float, atol: float, is_number: bool
) -> str:
    exact = rtol == 0 and atol == 0
    if a.ndim == 0:
        name = "Scalars" if is_number or a.size == 1 else "Tensor-likes"
        gap = abs(float(a) - float(e))
        if exact:
            return f"{name} are not equal!\n\nExpected {e} but got {a}.\nAbsolute difference: {gap}"
        size = gap / abs(float(e)) if e else math.inf
        return (
            f"{name} are not close!\n\nExpected {e} but got {a}.\nAbsolute difference: {gap} (up to {atol} "
            f"allowed)\nRelative difference: {size} (up to {rtol} allowed)"
        )
    with np.errstate(all="ignore"):
        gaps = np.where(close, 0, np.abs(a.astype(np.float64) - e.astype(np.float64)))
        shares = np.where(close, 0, gaps / np.abs(e.astype(np.float64)))
    wrong = int((~close).sum())
    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!\n",
        f"Mismatched elements: {wrong} / {a.size} ({wrong / a.size:.1%})",
    ]
    for name, values, limit in (("absolute", gaps, atol), ("relative", shares, rtol)):
        at = np.unravel_index(int(np.argmax(values)), a.shape)
        up_to = "" if exact else f" (up to {limit} allowed)"
        lines.append(f"Greatest {name} difference: {values[at]} at index {tuple(map(int, at))}{up_to}")
    return "\n".join(lines)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers drawn evenly from [low, high) (torch.testing.make_tensor).

    By default these are -9 and 9 of floating dtypes, -9 and 10 of integers, 0 and 10 of uint8, and 0 and 2 of
    bool. With ``noncontiguous`` every other element of more memory; with ``exclude_zero`` the smallest
    positive number stands for 0. The numbers are of the device's generator (``ocl.manual_seed``). ValueError
    where ``low`` is not below ``high``, for NaN, and where a dtype that requires gradients is no floating
    one.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    is_floating = dtype in _TOLERANCES
    first, last = (-9, 9) if is_floating else (0, 2) if dtype == _C.bool_ else (0, 10)
    if not is_floating and dtype not in (_C.bool_, _C.uint8):
        first = -9
    low, high = first if low is None else low, last if high is None else high
    if any(isinstance(bound, float) and math.isnan(bound) for bound in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low >= high:
        raise ValueError(f"make_tensor: `low` must be below `high`, but got low={low} and high={high}")
    if requires_grad and not is_floating:
        raise ValueError(f"`requires_grad=True` is not supported for integral dtypes, but got dtype={dtype}")
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually exclusive")
    drawn = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous and sizes else sizes
    if is_floating:
        made = (
            (_C.rand(drawn, dtype=_C.float32, device=device) * (high - low) + low).clamp(low, high).to(dtype)
        )
    else:
        made = _C.randint(math.ceil(low), math.ceil(high), drawn, dtype=_C.int64, device=device).to(dtype)
    if exclude_zero:
        smallest = float(np.finfo("float32").tiny) if is_floating else 1
        made = made.masked_fill(made == 0, smallest)
    if noncontiguous and sizes:
        made = made[..., ::2]
    if memory_format is not None:
        made = made.contiguous(memory_format=memory_format)
    return made.requires_grad_(requires_grad)
