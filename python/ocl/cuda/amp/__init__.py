"""torch.cuda.amp's names for ocl.amp."""

from __future__ import annotations

from ocl import _C
from ocl.amp import GradScaler
from ocl.amp.autocast_mode import autocast as _autocast

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):  # noqa: N801  (PyTorch's name)
    """ocl.autocast without the device; float16 by default, as in torch.cuda.amp."""

    def __init__(
        self, enabled: bool = True, dtype: _C.dtype = _C.float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("ocl", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)
