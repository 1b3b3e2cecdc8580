"""Batch norm over the processes of a group, of which there is one."""

from __future__ import annotations

from typing import Any

from ocl._C import Tensor
from ocl._C._nn import BatchNorm2d

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm2d):
    """Batch norm of ``[N, C, ...]``, of any rank from 2, over one process. (torch.nn.SyncBatchNorm)

    Raises NotImplementedError for a ``process_group``.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: None = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        if process_group is not None:
            raise NotImplementedError("SyncBatchNorm: there are no groups of processes")
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype, bias=bias
        )
        self.process_group = process_group

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  (PyTorch's name)
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        planes = input if input.dim() == 4 else input.reshape(*input.shape[:2], -1, 1)
        return super().forward(planes).reshape(input.shape)
