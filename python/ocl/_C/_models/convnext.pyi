from __future__ import annotations
import collections.abc
from ocl._C._models import LayerNorm2d
import ocl._C._nn
import os
import typing
__all__: list[str] = ['CNBlock', 'ConvNeXt', 'LayerNorm2d', 'convnext_base', 'convnext_large', 'convnext_small', 'convnext_tiny']
class CNBlock(ocl._C._nn.Module):
    """
    [N, dim, H, W] -> the same.
    """
    def __init__(self, dim: int, layer_scale: float, stochastic_depth_prob: float, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ConvNeXt(ocl._C._nn.Module):
    """
    A ConvNet for the 2020s (Liu et al. 2022): [N, 3, H, W] -> [N, num_classes]. block_setting: of each stage (input_channels, out_channels, num_layers).
    """
    def __init__(self, block_setting: tuple[tuple[int, int | None, int], ...], stochastic_depth_prob: float = 0.0, layer_scale: float = 1e-06, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def convnext_base(*, weights: str | os.PathLike | None = None, progress: bool = True, stochastic_depth_prob: float = 0.5, layer_scale: float = 1e-06, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None) -> ConvNeXt:
    """
    A ConvNeXt (Liu et al. 2022), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are ConvNeXt's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def convnext_large(*, weights: str | os.PathLike | None = None, progress: bool = True, stochastic_depth_prob: float = 0.5, layer_scale: float = 1e-06, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None) -> ConvNeXt:
    """
    A ConvNeXt (Liu et al. 2022), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are ConvNeXt's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def convnext_small(*, weights: str | os.PathLike | None = None, progress: bool = True, stochastic_depth_prob: float = 0.4, layer_scale: float = 1e-06, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None) -> ConvNeXt:
    """
    A ConvNeXt (Liu et al. 2022), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are ConvNeXt's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def convnext_tiny(*, weights: str | os.PathLike | None = None, progress: bool = True, stochastic_depth_prob: float = 0.1, layer_scale: float = 1e-06, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None) -> ConvNeXt:
    """
    A ConvNeXt (Liu et al. 2022), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are ConvNeXt's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
