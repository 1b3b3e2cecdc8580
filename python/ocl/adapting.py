"""Functions of other libraries that read a tensor by the address of its memory, and what takes their place.

Memory of a device has no address. Under ``ocl.as_torch()`` the library is imported as it is, and then given
these.
"""

from __future__ import annotations

import importlib.machinery
import types
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.late_numpy import np

__all__ = ["found"]


def _to_ndarray(tensor: Tensor) -> tuple[np.ndarray, Tensor]:
    """The bytes of a tensor on the host, and the tensor. (safetensors.torch._to_ndarray)"""
    return np.frombuffer(_C._to_bytes(tensor), np.uint8), tensor


_FUNCTIONS = {"safetensors.torch": (_to_ndarray,)}


def found(name: str, path: Any) -> importlib.machinery.ModuleSpec | None:
    """Where a module is that is to be given functions; None for all others."""
    spec = importlib.machinery.PathFinder.find_spec(name, path) if name in _FUNCTIONS else None
    if spec is not None:
        execute = spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            _give_functions(module)

        spec.loader.exec_module = exec_module
    return spec


def _give_functions(module: types.ModuleType) -> None:
    for function in _FUNCTIONS[module.__name__]:
        name = function.__name__
        if not hasattr(module, name):
            raise ImportError(
                f"this version of {module.__name__} has no {name}, through which tensors of ocl are written: "
                "install a newer one",
                name=module.__name__,
            )
        setattr(module, name, function)
