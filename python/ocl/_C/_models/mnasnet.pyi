from __future__ import annotations
import ocl._C._nn
import os
import typing
__all__: list[str] = ['MNASNet', 'mnasnet0_5', 'mnasnet0_75', 'mnasnet1_0', 'mnasnet1_3']
class _InvertedResidual(ocl._C._nn.Module):
    """
    [N, in_ch, H, W] -> [N, out_ch, H / stride, W / stride].
    """
    def __init__(self, in_ch: int, out_ch: int, kernel_size: int, stride: int, expansion_factor: int, bn_momentum: float = 0.1) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class MNASNet(ocl._C._nn.Module):
    """
    MnasNet: Platform-Aware Neural Architecture Search for Mobile (Tan et al. 2018): [N, 3, H, W] -> [N, num_classes]; alpha scales the channels.
    """
    alpha: typing.Any
    num_classes: typing.Any
    def __init__(self, alpha: float, num_classes: int = 1000, dropout: float = 0.2) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def mnasnet0_5(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, dropout: float = 0.2) -> MNASNet:
    """
    An MNASNet (Tan et al. 2018), as torchvision's.
    
    The arguments are MNASNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def mnasnet0_75(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, dropout: float = 0.2) -> MNASNet:
    """
    An MNASNet (Tan et al. 2018), as torchvision's.
    
    The arguments are MNASNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def mnasnet1_0(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, dropout: float = 0.2) -> MNASNet:
    """
    An MNASNet (Tan et al. 2018), as torchvision's.
    
    The arguments are MNASNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def mnasnet1_3(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, dropout: float = 0.2) -> MNASNet:
    """
    An MNASNet (Tan et al. 2018), as torchvision's.
    
    The arguments are MNASNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
