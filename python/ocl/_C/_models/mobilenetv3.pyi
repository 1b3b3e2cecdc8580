from __future__ import annotations
import collections.abc
import ocl._C._nn
import os
import typing
__all__: list[str] = ['InvertedResidual', 'MobileNetV3', 'mobilenet_v3_large', 'mobilenet_v3_small']
class InvertedResidual(ocl._C._nn.Module):
    """
    [N, input_channels, H, W] -> [N, out_channels, H / stride, W / stride].
    """
    def __init__(self, input_channels: int, kernel: int, expanded_channels: int, out_channels: int, use_se: bool, use_hs: bool, stride: int, dilation: int, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class MobileNetV3(ocl._C._nn.Module):
    """
    Searching for MobileNetV3 (Howard et al. 2019): [N, 3, H, W] -> [N, num_classes]. arch: "large" or "small".
    """
    def __init__(self, arch: str, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, dropout: float = 0.2, width_mult: float = 1.0, reduced_tail: bool = False, dilated: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def mobilenet_v3_large(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, dropout: float = 0.2, width_mult: float = 1.0, reduced_tail: bool = False, dilated: bool = False) -> MobileNetV3:
    """
    A MobileNetV3 (Howard et al. 2019), as torchvision's.
    
    The arguments are MobileNetV3's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def mobilenet_v3_small(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, dropout: float = 0.2, width_mult: float = 1.0, reduced_tail: bool = False, dilated: bool = False) -> MobileNetV3:
    """
    A MobileNetV3 (Howard et al. 2019), as torchvision's.
    
    The arguments are MobileNetV3's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
