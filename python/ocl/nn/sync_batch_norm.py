"""Batch norm over the processes of a group, of which there is one."""

from __future__ import annotations

from typing import Any

from ocl._C._nn import BatchNorm2d

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm2d):
    """``BatchNorm2d``: a training is one process here. (torch.nn.SyncBatchNorm)"""

    def __init__(
        self, num_features: int, *arguments: Any, process_group: None = None, **options: Any
    ) -> None:
        if process_group is not None:
            raise NotImplementedError("SyncBatchNorm: there are no groups of processes")
        super().__init__(num_features, *arguments, **options)
