from __future__ import annotations
import ocl._C._nn
import os
import typing
__all__: list[str] = ['InvertedResidual', 'ShuffleNetV2', 'shufflenet_v2_x0_5', 'shufflenet_v2_x1_0', 'shufflenet_v2_x1_5', 'shufflenet_v2_x2_0']
class InvertedResidual(ocl._C._nn.Module):
    """
    [N, inp, H, W] -> [N, oup, H / stride, W / stride].
    """
    stride: typing.Any
    def __init__(self, inp: int, oup: int, stride: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ShuffleNetV2(ocl._C._nn.Module):
    """
    ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design (Ma et al. 2018): [N, 3, H, W] -> [N, num_classes].
    """
    def __init__(self, stages_repeats: int | tuple[int, ...], stages_out_channels: int | tuple[int, ...], num_classes: int = 1000) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def shufflenet_v2_x0_5(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000) -> ShuffleNetV2:
    """
    A ShuffleNetV2 (Ma et al. 2018), as torchvision's.
    
    The arguments are ShuffleNetV2's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def shufflenet_v2_x1_0(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000) -> ShuffleNetV2:
    """
    A ShuffleNetV2 (Ma et al. 2018), as torchvision's.
    
    The arguments are ShuffleNetV2's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def shufflenet_v2_x1_5(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000) -> ShuffleNetV2:
    """
    A ShuffleNetV2 (Ma et al. 2018), as torchvision's.
    
    The arguments are ShuffleNetV2's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def shufflenet_v2_x2_0(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000) -> ShuffleNetV2:
    """
    A ShuffleNetV2 (Ma et al. 2018), as torchvision's.
    
    The arguments are ShuffleNetV2's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
