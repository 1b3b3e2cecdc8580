from __future__ import annotations
import ocl._C
import ocl._C._nn
import os
import typing
__all__: list[str] = ['DenseNet', 'densenet121', 'densenet161', 'densenet169', 'densenet201']
class _DenseLayer(ocl._C._nn.Module):
    """
    growth_rate new channels from all before.
    """
    drop_rate: typing.Any
    memory_efficient: typing.Any
    def __init__(self, num_input_features: int, growth_rate: int, bn_size: int, drop_rate: float, memory_efficient: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, input: ocl._C.Tensor | list[ocl._C.Tensor]) -> ocl._C.Tensor:
        ...
class _DenseBlock(ocl._C._nn.ModuleDict):
    """
    Layers each of which sees what all before it gave.
    """
    def __init__(self, num_layers: int, num_input_features: int, bn_size: int, growth_rate: int, drop_rate: float, memory_efficient: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class _Transition(ocl._C._nn.Sequential):
    """
    Fewer channels, half the height and width.
    """
    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class DenseNet(ocl._C._nn.Module):
    """
    Densely Connected Convolutional Networks (Huang et al. 2016): [N, 3, H, W] -> [N, num_classes]. memory_efficient is of no effect.
    """
    def __init__(self, growth_rate: int = 32, block_config: int | tuple[int, ...] = (6, 12, 24, 16), num_init_features: int = 64, bn_size: int = 4, drop_rate: float = 0.0, num_classes: int = 1000, memory_efficient: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def densenet121(*, weights: str | os.PathLike | None = None, progress: bool = True, growth_rate: int = 32, block_config: int | tuple[int, ...] = (6, 12, 24, 16), num_init_features: int = 64, bn_size: int = 4, drop_rate: float = 0.0, num_classes: int = 1000, memory_efficient: bool = False) -> DenseNet:
    """
    A DenseNet (Huang et al. 2016), as torchvision's; pictures of 29 x 29 or more.
    
    The arguments are DenseNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def densenet161(*, weights: str | os.PathLike | None = None, progress: bool = True, growth_rate: int = 48, block_config: int | tuple[int, ...] = (6, 12, 36, 24), num_init_features: int = 96, bn_size: int = 4, drop_rate: float = 0.0, num_classes: int = 1000, memory_efficient: bool = False) -> DenseNet:
    """
    A DenseNet (Huang et al. 2016), as torchvision's; pictures of 29 x 29 or more.
    
    The arguments are DenseNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def densenet169(*, weights: str | os.PathLike | None = None, progress: bool = True, growth_rate: int = 32, block_config: int | tuple[int, ...] = (6, 12, 32, 32), num_init_features: int = 64, bn_size: int = 4, drop_rate: float = 0.0, num_classes: int = 1000, memory_efficient: bool = False) -> DenseNet:
    """
    A DenseNet (Huang et al. 2016), as torchvision's; pictures of 29 x 29 or more.
    
    The arguments are DenseNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def densenet201(*, weights: str | os.PathLike | None = None, progress: bool = True, growth_rate: int = 32, block_config: int | tuple[int, ...] = (6, 12, 48, 32), num_init_features: int = 64, bn_size: int = 4, drop_rate: float = 0.0, num_classes: int = 1000, memory_efficient: bool = False) -> DenseNet:
    """
    A DenseNet (Huang et al. 2016), as torchvision's; pictures of 29 x 29 or more.
    
    The arguments are DenseNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
