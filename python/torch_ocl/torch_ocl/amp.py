"""``torch.ocl.amp``: mixed precision, as torch.cuda.amp."""

from __future__ import annotations

import functools
from typing import Any

import torch


class autocast(torch.amp.autocast):
    """``torch.autocast("ocl", …)``."""

    def __init__(
        self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("ocl", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler("ocl", …)``."""

    def __init__(self, **options: Any) -> None:
        super().__init__("ocl", **options)


custom_fwd = functools.partial(torch.amp.custom_fwd, device_type="ocl")
custom_bwd = functools.partial(torch.amp.custom_bwd, device_type="ocl")
