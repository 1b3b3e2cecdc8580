"""Switches of PyTorch's that programs set: those with an effect here have it, the others keep their value."""

from __future__ import annotations

import os
from typing import Any

from ocl import _C, device_names

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_default_dtype",
    "get_num_interop_threads",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_num_interop_threads",
    "set_num_threads",
    "use_deterministic_algorithms",
]

_values: dict[str, Any] = {"deterministic": False, "warn_only": False, "threads": None, "interop": None}
reduced_default: _C.dtype | None = None  # the default dtype, where it is not float32


def get_default_dtype() -> _C.dtype:
    """float32, or what a program set under ``ocl.as_torch()``. (torch.get_default_dtype)"""
    return reduced_default or _C.float32


def set_default_dtype(d: _C.dtype) -> None:
    """Takes float32. Under ``ocl.as_torch()`` it takes float16 and bfloat16 too: layers, and tensors that are
    made of sizes or Python floats, have that dtype then.

    Whole numbers still give float32 with Python floats. So float64 raises NotImplementedError: its digits
    would be lost. (torch.set_default_dtype)
    """
    global reduced_default
    if not isinstance(d, _C.dtype) or not d.is_floating_point:
        raise TypeError(
            f"set_default_dtype: only floating-point types are supported as the default type, got {d}"
        )
    accepted = (_C.float32, _C.float16, _C.bfloat16) if device_names.stand_for_ocl else (_C.float32,)
    if d not in accepted:
        raise NotImplementedError(f"set_default_dtype: tensors are made in float32 by default, not in {d}")
    reduced_default = None if d == _C.float32 else d


def set_default_tensor_type(t: Any) -> None:
    """Does what set_default_dtype does, for ``FloatTensor`` or its name. (torch.set_default_tensor_type)"""
    names = {"FloatTensor": _C.float32, "DoubleTensor": _C.float64, "HalfTensor": _C.float16}
    name = t.rpartition(".")[2] if isinstance(t, str) else getattr(t, "__name__", "")
    if name not in names:
        raise TypeError(f"invalid type object: {t}")
    set_default_dtype(names[name])


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Keeps the setting. Nothing changes by it. (torch.use_deterministic_algorithms)"""
    _values["deterministic"], _values["warn_only"] = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """The setting of use_deterministic_algorithms."""
    return _values["deterministic"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """The ``warn_only`` that use_deterministic_algorithms was given."""
    return _values["warn_only"]


def _thread_count(name: str, count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"expected a whole number of threads, got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError(f"expected a positive number of threads, got {count}")
    _values[name] = count


def set_num_threads(count: int) -> None:
    """Keeps the number; the OpenCL driver chooses its threads itself. (torch.set_num_threads)"""
    _thread_count("threads", count)


def get_num_threads() -> int:
    """The number given to set_num_threads, at first the number of processors."""
    return _values["threads"] or os.cpu_count() or 1


def set_num_interop_threads(count: int) -> None:
    """Keeps the number. (torch.set_num_interop_threads)"""
    _thread_count("interop", count)


def get_num_interop_threads() -> int:
    """The number given to set_num_interop_threads, at first the number of processors."""
    return _values["interop"] or os.cpu_count() or 1
