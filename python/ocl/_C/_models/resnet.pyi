"""
Residual nets.
"""
from __future__ import annotations
import collections.abc
import ocl._C._nn
import os
import typing
__all__: list[str] = ['BasicBlock', 'Bottleneck', 'ResNet', 'resnet101', 'resnet152', 'resnet18', 'resnet34', 'resnet50', 'resnext101_32x8d', 'resnext101_64x4d', 'resnext50_32x4d', 'wide_resnet101_2', 'wide_resnet50_2']
class BasicBlock(ocl._C._nn.Module):
    """
    Two 3x3 convolutions and a shortcut.
    """
    expansion: typing.ClassVar[int] = 1
    downsample: typing.Any
    stride: typing.Any
    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: ocl._C._nn.Module | None = None, groups: int = 1, base_width: int = 64, dilation: int = 1, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class Bottleneck(ocl._C._nn.Module):
    """
    A 3x3 convolution between two 1x1, and a shortcut.
    """
    expansion: typing.ClassVar[int] = 4
    downsample: typing.Any
    stride: typing.Any
    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: ocl._C._nn.Module | None = None, groups: int = 1, base_width: int = 64, dilation: int = 1, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ResNet(ocl._C._nn.Module):
    """
    Deep Residual Learning for Image Recognition (He et al. 2015): [N, 3, H, W] -> [N, num_classes].
    """
    groups: typing.Any
    def __init__(self, block: type, layers: int | tuple[int, ...], num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def resnet101(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def resnet152(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def resnet18(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def resnet34(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def resnet50(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def resnext101_32x8d(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 32, width_per_group: int = 8, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def resnext101_64x4d(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 64, width_per_group: int = 4, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def resnext50_32x4d(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 32, width_per_group: int = 4, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def wide_resnet101_2(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 128, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def wide_resnet50_2(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, zero_init_residual: bool = False, groups: int = 1, width_per_group: int = 128, replace_stride_with_dilation: bool | tuple[bool, ...] | None = None, norm_layer: str | collections.abc.Callable | None = None) -> ResNet:
    """
    A residual net (He et al. 2015), ResNeXt (Xie et al. 2016) or wide one (Zagoruyko and Komodakis 2016), as torchvision's.
    
    The arguments are ResNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
