"""NumPy for the modules that ``import ocl`` loads: it is imported when something of it is first asked for.

NumPy takes as long to import as all else of ``import ocl``. Programs pay for it where they first use it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _LateNumpy:
        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, value)
            return value

        def __dir__(self) -> list[str]:
            return dir(importlib.import_module("numpy"))

    np = _LateNumpy()
