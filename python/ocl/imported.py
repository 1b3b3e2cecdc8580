"""Modules that are made of other libraries' files and programs: names, errors, lifetimes of values."""

from __future__ import annotations

from typing import Any

import numpy as np

import ocl

__all__ = ["DTYPES", "ImportedModule", "UnsupportedError", "last_uses", "upload"]

# The dtypes of tensors by the names that NumPy and PyTorch have for them.
DTYPES = {
    "float32": ocl.float32,
    "float64": ocl.float64,
    "float16": ocl.float16,
    "bfloat16": ocl.bfloat16,
    "int64": ocl.int64,
    "int32": ocl.int32,
    "int16": ocl.int16,
    "int8": ocl.int8,
    "uint8": ocl.uint8,
    "bool": ocl.bool_,
}


def upload(array: np.ndarray, dtype: ocl.dtype, device: Any) -> ocl.Tensor:
    """A tensor with the elements and the shape of an array; bfloat16 comes as float32."""
    made = ocl.tensor(np.ascontiguousarray(array).reshape(array.shape), device=device)
    return made if made.dtype == dtype else made.to(dtype)


class UnsupportedError(ValueError):
    """A model needs operators that are not supported; ``missing`` lists them all, one tuple each."""

    def __init__(self, source: str, missing: list[tuple], lines: list[str]) -> None:
        self.missing = missing
        super().__init__(f"{source}: operators that are not supported: " + "; ".join(lines))


class ImportedModule(ocl.nn.Module):
    """A module whose parameters and buffers come under given names, which may have dots.

    ``names`` says under which path each of them stands here, and ``input_names`` how the inputs are called.
    """

    input_names: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, str] = {}

    def _add_parameter(self, name: str, value: ocl.nn.Parameter) -> None:
        holder, last = self._place(name)
        holder.register_parameter(last, value)

    def _add_buffer(self, name: str, value: ocl.Tensor, persistent: bool) -> None:
        holder, last = self._place(name)
        holder.register_buffer(last, value, persistent=persistent)

    def _place(self, name: str) -> tuple[ocl.nn.Module, str]:
        """The submodule and the name for a tensor: its dotted path where that is free."""
        parts = name.split(".")
        if not all(parts) or not self._is_free(parts):
            parts = ["_" + name.replace(".", "_")]
            while hasattr(self, parts[0]):
                parts[0] += "_"
        holder = self
        for part in parts[:-1]:
            if not hasattr(holder, part):
                holder.add_module(part, ocl.nn.Module())
            holder = getattr(holder, part)
        self.names[name] = ".".join(parts)
        return holder, parts[-1]

    def _is_free(self, parts: list[str]) -> bool:
        holder = self
        for part in parts[:-1]:
            if not hasattr(holder, part):
                return not hasattr(ocl.nn.Module, part)
            holder = getattr(holder, part)
            if not isinstance(holder, ocl.nn.Module):
                return False
        return not hasattr(holder, parts[-1])

    def _held(self) -> dict[str, ocl.Tensor]:
        """All parameters and buffers by the names that they came under."""
        return {name: _at(self, path) for name, path in self.names.items()}

    def _device(self, values) -> ocl.device:
        """Where the first tensor among the values is; the default device where there is none."""
        for value in values:
            if isinstance(value, ocl.Tensor):
                return value.device
        return ocl.get_default_device()


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = getattr(value, part)
    return value


def last_uses(nodes: list, kept: set[str], own: set[str]) -> list[list[str]]:
    """For each node the names among ``own`` that no later node reads, but for those that are ``kept``.

    Nodes have ``uses()`` and ``outputs``, names each.
    """
    seen: set[str] = set()
    found = []
    for node in reversed(nodes):
        names = {*node.uses(), *node.outputs} - kept - seen - {""}
        found.append(sorted(names & own))
        seen |= names
    return found[::-1]
