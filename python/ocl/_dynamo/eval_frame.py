"""The names of torch._dynamo.eval_frame that programs ask for. Nothing is compiled here."""

from __future__ import annotations

from typing import Any, NoReturn

from ocl._C._nn import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """The class of compiled modules, of which there are none. (torch._dynamo.eval_frame.OptimizedModule)"""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("OptimizedModule: nothing is compiled, and compile gives the module itself")
