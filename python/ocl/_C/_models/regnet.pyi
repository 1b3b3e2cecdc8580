from __future__ import annotations
import collections.abc
import ocl._C._nn
import os
import typing
__all__: list[str] = ['AnyStage', 'BottleneckTransform', 'RegNet', 'ResBottleneckBlock', 'SimpleStemIN', 'regnet_x_16gf', 'regnet_x_1_6gf', 'regnet_x_32gf', 'regnet_x_3_2gf', 'regnet_x_400mf', 'regnet_x_800mf', 'regnet_x_8gf', 'regnet_y_128gf', 'regnet_y_16gf', 'regnet_y_1_6gf', 'regnet_y_32gf', 'regnet_y_3_2gf', 'regnet_y_400mf', 'regnet_y_800mf', 'regnet_y_8gf']
class SimpleStemIN(ocl._C._nn.Sequential):
    """
    A 3x3 convolution of stride 2.
    """
    def __init__(self, width_in: int, width_out: int, stride: int, norm_layer: str | collections.abc.Callable | None = 'BatchNorm2d', activation_layer: str | collections.abc.Callable | None = 'ReLU', group_width: int = 1, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class BottleneckTransform(ocl._C._nn.Sequential):
    """
    1x1, grouped 3x3 (with squeeze and excitation) and 1x1 convolutions.
    """
    def __init__(self, width_in: int, width_out: int, stride: int, norm_layer: str | collections.abc.Callable | None = 'BatchNorm2d', activation_layer: str | collections.abc.Callable | None = 'ReLU', group_width: int = 1, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ResBottleneckBlock(ocl._C._nn.Module):
    """
    [N, width_in, H, W] -> [N, width_out, H / stride, W / stride].
    """
    proj: typing.Any
    def __init__(self, width_in: int, width_out: int, stride: int, norm_layer: str | collections.abc.Callable | None = 'BatchNorm2d', activation_layer: str | collections.abc.Callable | None = 'ReLU', group_width: int = 1, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class AnyStage(ocl._C._nn.Sequential):
    """
    Blocks, of which the first strides.
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class RegNet(ocl._C._nn.Module):
    """
    Designing Network Design Spaces (Radosavovic et al. 2020): [N, 3, H, W] -> [N, num_classes], from the paper's parameters of a design.
    """
    def __init__(self, depth: int, w_0: int, w_a: float, w_m: float, group_width: int, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def regnet_x_16gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_x_1_6gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_x_32gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_x_3_2gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_x_400mf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_x_800mf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_x_8gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_128gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_16gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_1_6gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_32gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_3_2gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_400mf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_800mf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def regnet_y_8gf(*, weights: str | os.PathLike | None = None, progress: bool = True, bottleneck_multiplier: float = 1.0, se_ratio: float | None = 0.25, num_classes: int = 1000, stem_width: int = 32, norm_layer: str | collections.abc.Callable | None = None, activation: str | collections.abc.Callable | None = None) -> RegNet:
    """
    A RegNet (Radosavovic et al. 2020), as torchvision's.
    
    The arguments are RegNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
