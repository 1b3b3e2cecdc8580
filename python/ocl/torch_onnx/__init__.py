"""The names of torch.onnx under ``ocl.as_torch()``: ``ocl.onnx.save`` writes the files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

__all__ = ["export", "is_in_onnx_export", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]


def is_in_onnx_export() -> bool:
    """False: files are written from the operators that run, and no code has to go another way for them."""
    return False


def export(
    model: Any, args: Any = (), f: str | os.PathLike | None = None, *, verbose: Any = None, **options: Any
) -> None:
    """Writes ``model(*args)`` as an ONNX file, by ``ocl.onnx.save`` with its options. (torch.onnx.export)

    Needs the package ``onnx``. TypeError for options that ``ocl.onnx.save`` does not have.
    """
    from ocl import onnx

    if f is None:
        raise NotImplementedError("onnx.export: there is no ONNXProgram here; pass the file's path as f")
    onnx.save(model, f, args if isinstance(args, tuple) else (args,), **options)


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable, opset_version: int) -> None:
    """Nothing: ``ocl.onnx`` writes operators by a table of its own, and calls no function of this kind."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Nothing, as ``register_custom_op_symbolic``."""
