from __future__ import annotations
import ocl._C._nn
import os
import typing
__all__: list[str] = ['Fire', 'SqueezeNet', 'squeezenet1_0', 'squeezenet1_1']
class Fire(ocl._C._nn.Module):
    """
    [N, inplanes, H, W] -> [N, expand1x1_planes + expand3x3_planes, H, W].
    """
    def __init__(self, inplanes: int, squeeze_planes: int, expand1x1_planes: int, expand3x3_planes: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class SqueezeNet(ocl._C._nn.Module):
    """
    SqueezeNet: AlexNet-level accuracy with 50x fewer parameters (Iandola et al. 2016): [N, 3, H, W] -> [N, num_classes].
    """
    num_classes: typing.Any
    def __init__(self, version: str = '1_0', num_classes: int = 1000, dropout: float = 0.5) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def squeezenet1_0(*, weights: str | os.PathLike | None = None, progress: bool = True, version: str = '1_0', num_classes: int = 1000, dropout: float = 0.5) -> SqueezeNet:
    """
    A SqueezeNet (Iandola et al. 2016), as torchvision's; pictures of 21 x 21 or more.
    
    The arguments are SqueezeNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def squeezenet1_1(*, weights: str | os.PathLike | None = None, progress: bool = True, version: str = '1_1', num_classes: int = 1000, dropout: float = 0.5) -> SqueezeNet:
    """
    A SqueezeNet (Iandola et al. 2016), as torchvision's; pictures of 21 x 21 or more.
    
    The arguments are SqueezeNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
