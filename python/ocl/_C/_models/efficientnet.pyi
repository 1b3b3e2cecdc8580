from __future__ import annotations
import collections.abc
import ocl._C._nn
import os
import typing
__all__: list[str] = ['EfficientNet', 'FusedMBConv', 'MBConv', 'efficientnet_b0', 'efficientnet_b1', 'efficientnet_b2', 'efficientnet_b3', 'efficientnet_b4', 'efficientnet_b5', 'efficientnet_b6', 'efficientnet_b7', 'efficientnet_v2_l', 'efficientnet_v2_m', 'efficientnet_v2_s']
class MBConv(ocl._C._nn.Module):
    """
    An inverted residual with squeeze and excitation.
    """
    def __init__(self, expand_ratio: float, kernel: int, stride: int, input_channels: int, out_channels: int, stochastic_depth_prob: float = 0.0, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class FusedMBConv(ocl._C._nn.Module):
    """
    As MBConv, with one convolution in place of the first two.
    """
    def __init__(self, expand_ratio: float, kernel: int, stride: int, input_channels: int, out_channels: int, stochastic_depth_prob: float = 0.0, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class EfficientNet(ocl._C._nn.Module):
    """
    EfficientNet: Rethinking Model Scaling (Tan and Le 2019), EfficientNetV2 (2021): [N, 3, H, W] -> [N, num_classes]. inverted_residual_setting: of each stage (fused, expand_ratio, kernel, stride, input_channels, out_channels, num_layers).
    """
    def __init__(self, inverted_residual_setting: tuple[tuple[bool, float, int, int, int, int, int], ...], dropout: float = 0.2, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def efficientnet_b0(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.2, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_b1(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.2, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_b2(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.3, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_b3(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.3, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_b4(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.4, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_b5(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.4, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_b6(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.5, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_b7(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.5, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = None) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_v2_l(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.4, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = 1280) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_v2_m(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.3, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = 1280) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def efficientnet_v2_s(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.2, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, last_channel: int | None = 1280) -> EfficientNet:
    """
    An EfficientNet (Tan and Le 2019, 2021), as torchvision's.
    
    The arguments are EfficientNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
