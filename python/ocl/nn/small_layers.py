"""Layers that are others with arguments filled in."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl._C._nn import InstanceNorm2d, Module, Upsample

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "CrossMapLRN2d",
    "InstanceNorm3d",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class _ConstantPad(Module):
    _axes = 0

    def _set(self, padding: int | Sequence[int], value: float) -> None:
        count = 2 * self._axes
        self.padding = (padding,) * count if isinstance(padding, numbers.Integral) else tuple(padding)
        if len(self.padding) != count:
            raise ValueError(
                f"{type(self).__name__}: expected {count} amounts of padding, got {self.padding}"
            )
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return _C.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """`value` left and right of the last dimension. (torch.nn.ConstantPad1d)"""

    _axes = 1

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__()
        self._set(padding, value)


class ConstantPad2d(_ConstantPad):
    """`value` around the last two dimensions. (torch.nn.ConstantPad2d)"""

    _axes = 2

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__()
        self._set(padding, value)


class ConstantPad3d(_ConstantPad):
    """`value` around the last three dimensions. (torch.nn.ConstantPad3d)"""

    _axes = 3

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__()
        self._set(padding, value)


class UpsamplingNearest2d(Upsample):
    """Upsample by the nearest neighbours. (torch.nn.UpsamplingNearest2d)"""

    def __init__(self, size: int | Sequence[int] | None = None, scale_factor: float | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample by lines between the centres of corners. (torch.nn.UpsamplingBilinear2d)"""

    def __init__(self, size: int | Sequence[int] | None = None, scale_factor: float | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class InstanceNorm3d(InstanceNorm2d):
    """Instance norms of volumes [N, C, D, H, W] or [C, D, H, W], whose planes lie side by side as images.
    (torch.nn.InstanceNorm3d)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = {"device": device, "dtype": dtype, "bias": bias}
        super().__init__(num_features, eps, momentum, affine, track_running_stats, **options)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (4, 5):
            raise ValueError(f"expected 4D or 5D input (got {input.ndim}D input)")
        return super().forward(input.flatten(-3, -2)).reshape(input.shape)


class CrossMapLRN2d(Module):
    """Local response normalisation across the channels of [N, C, H, W]. (torch.nn.CrossMapLRN2d)

    Divides by ``(k + alpha / size * sum of squares)`` to the power ``beta``, the sum over ``size`` channels
    around each, of an even size one fewer. PyTorch 2.13 leaves the first channel in the sums of all later
    ones.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        window = (self.size - 1) // 2 * 2 + 1
        return _C.local_response_norm(input, window, self.alpha * window / self.size, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
