"""The names of torch.onnx.symbolic_helper that programs import: no function of theirs is called here."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["parse_args"]


def parse_args(*arg_descriptors: str) -> Callable[[Callable], Callable]:
    """A decorator that gives the function itself. (torch.onnx.symbolic_helper.parse_args)"""
    return lambda function: function
