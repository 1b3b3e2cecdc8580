from __future__ import annotations
import ocl._C
from ocl._C._models.googlenet import BasicConv2d
import ocl._C._nn
import os
import typing
__all__: list[str] = ['BasicConv2d', 'Inception3', 'InceptionA', 'InceptionAux', 'InceptionB', 'InceptionC', 'InceptionD', 'InceptionE', 'inception_v3']
class InceptionA(ocl._C._nn.Module):
    """
    1x1, 5x5, twice 3x3, and an average.
    """
    def __init__(self, in_channels: int, pool_features: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class InceptionB(ocl._C._nn.Module):
    """
    As InceptionA, with stride 2.
    """
    def __init__(self, in_channels: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class InceptionC(ocl._C._nn.Module):
    """
    7x7 in two steps, once and twice.
    """
    def __init__(self, in_channels: int, channels_7x7: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class InceptionD(ocl._C._nn.Module):
    """
    As InceptionC, with stride 2.
    """
    def __init__(self, in_channels: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class InceptionE(ocl._C._nn.Module):
    """
    3x3 in two steps side by side.
    """
    def __init__(self, in_channels: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class InceptionAux(ocl._C._nn.Module):
    """
    The auxiliary head.
    """
    def __init__(self, in_channels: int, num_classes: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class Inception3(ocl._C._nn.Module):
    """
    Rethinking the Inception Architecture for Computer Vision (Szegedy et al. 2015): [N, 3, H, W] -> [N, num_classes], while training with aux_logits InceptionOutputs.
    """
    AuxLogits: typing.Any
    aux_logits: typing.Any
    transform_input: typing.Any
    def __init__(self, num_classes: int = 1000, aux_logits: bool = True, transform_input: bool = False, init_weights: bool | None = None, dropout: float = 0.5) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: ocl._C.Tensor) -> typing.Any:
        ...
def inception_v3(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, aux_logits: bool = True, transform_input: bool = False, init_weights: bool | None = None, dropout: float = 0.5) -> Inception3:
    """
    Inception v3 (Szegedy et al. 2015), as torchvision's; pictures of 299 x 299, or 75 x 75 and more.
    
    The arguments are Inception3's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
