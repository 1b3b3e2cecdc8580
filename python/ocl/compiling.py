"""torch.compile, under which functions and modules run as they are."""

from __future__ import annotations

from typing import Any

__all__ = ["compile"]


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,  # noqa: A001
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict | None = None,
    disable: bool = False,
) -> Any:
    """The function or module itself; as a decorator too. (torch.compile)

    Nothing is compiled, and no argument changes anything: operators run when they are called. TypeError for
    what cannot be called; RuntimeError where both ``mode`` and ``options`` are given, as PyTorch.
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if model is None:
        return compile_later
    return compile_later(model)


def compile_later(model: Any) -> Any:
    """The decorator that ``compile`` with arguments alone is."""
    if not callable(model):
        raise TypeError(f"compile: expected a function or a module, got {type(model).__name__}")
    return model
