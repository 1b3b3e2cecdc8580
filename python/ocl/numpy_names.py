"""NumPy's names of arguments, which PyTorch's functions take too. Bound functions take them in C++."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__: list[str] = []

_TORCH_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def takes_numpy_names(function: Callable) -> Callable:
    """The function, which takes ``axis`` for ``dim`` and ``keepdims`` for ``keepdim``."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for name in _TORCH_NAMES.keys() & kwargs.keys():
            if _TORCH_NAMES[name] not in kwargs:
                kwargs[_TORCH_NAMES[name]] = kwargs.pop(name)
        return function(*args, **kwargs)

    return called
