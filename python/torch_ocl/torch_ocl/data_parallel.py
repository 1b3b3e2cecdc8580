"""``torch.nn.DataParallel``, whose copies of a net PyTorch spreads by functions that only CUDA has."""

from __future__ import annotations

import functools
from typing import Any

import torch


def install() -> None:
    """On one ocl device the module itself runs, as on one of CUDA's. Several are refused."""
    initialize = torch.nn.DataParallel.__init__

    @functools.wraps(initialize)
    def initialize_or_refuse(self: Any, module: torch.nn.Module, *arguments: Any, **options: Any) -> None:
        initialize(self, module, *arguments, **options)
        if not self.device_ids or self.src_device_obj.type != "ocl":
            return
        if len(self.device_ids) > 1:
            raise RuntimeError(
                f"DataParallel over ocl devices {self.device_ids}: pass device_ids=[0] for one of them, or "
                'train with DistributedDataParallel and init_process_group("ocl"), a process for each device'
            )
        self.device_ids = []

    torch.nn.DataParallel.__init__ = initialize_or_refuse
