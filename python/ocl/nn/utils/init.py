"""Modules whose parameters are not filled: torch.nn.utils.init."""

from __future__ import annotations

from typing import Any

__all__ = ["skip_init"]


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """``module_cls(*args, **kwargs)``, of whose parameters nothing may be expected.

    Matches torch.nn.utils.skip_init.

    They are filled nevertheless, which costs little. RuntimeError where the class is no module.
    """
    from ocl._C._nn import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    return module_cls(*args, **kwargs)
