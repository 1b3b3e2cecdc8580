from __future__ import annotations
import collections.abc
import ocl._C._nn
import os
import typing
__all__: list[str] = ['InvertedResidual', 'MobileNetV2', 'mobilenet_v2']
class InvertedResidual(ocl._C._nn.Module):
    """
    [N, inp, H, W] -> [N, oup, H / stride, W / stride].
    """
    stride: typing.Any
    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class MobileNetV2(ocl._C._nn.Module):
    """
    MobileNetV2: Inverted Residuals and Linear Bottlenecks (Sandler et al. 2018): [N, 3, H, W] -> [N, num_classes].
    """
    def __init__(self, num_classes: int = 1000, width_mult: float = 1.0, inverted_residual_setting: int | tuple[int, ...] | tuple[int | tuple[int, ...], ...] | None = None, round_nearest: int = 8, norm_layer: str | collections.abc.Callable | None = None, dropout: float = 0.2) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def mobilenet_v2(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, width_mult: float = 1.0, inverted_residual_setting: int | tuple[int, ...] | tuple[int | tuple[int, ...], ...] | None = None, round_nearest: int = 8, norm_layer: str | collections.abc.Callable | None = None, dropout: float = 0.2) -> MobileNetV2:
    """
    MobileNetV2 (Sandler et al. 2018), as torchvision's.
    
    The arguments are MobileNetV2's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
