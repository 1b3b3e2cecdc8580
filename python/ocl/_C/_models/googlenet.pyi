from __future__ import annotations
import ocl._C
import ocl._C._nn
import os
import typing
__all__: list[str] = ['BasicConv2d', 'GoogLeNet', 'Inception', 'InceptionAux', 'googlenet']
class BasicConv2d(ocl._C._nn.Module):
    """
    A convolution, batch norm and ReLU.
    """
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] = (1, 1), padding: int | tuple[int, ...] = (0, 0)) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class Inception(ocl._C._nn.Module):
    """
    Four branches, joined.
    """
    def __init__(self, in_channels: int, ch1x1: int, ch3x3red: int, ch3x3: int, ch5x5red: int, ch5x5: int, pool_proj: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class InceptionAux(ocl._C._nn.Module):
    """
    An auxiliary head.
    """
    def __init__(self, in_channels: int, num_classes: int, dropout: float = 0.7) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class GoogLeNet(ocl._C._nn.Module):
    """
    Going Deeper with Convolutions (Szegedy et al. 2014): [N, 3, H, W] -> [N, num_classes], while training with aux_logits GoogLeNetOutputs.
    """
    aux1: typing.Any
    aux2: typing.Any
    aux_logits: typing.Any
    transform_input: typing.Any
    def __init__(self, num_classes: int = 1000, aux_logits: bool = True, transform_input: bool = False, init_weights: bool | None = None, dropout: float = 0.2, dropout_aux: float = 0.7) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: ocl._C.Tensor) -> typing.Any:
        ...
def googlenet(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, aux_logits: bool = True, transform_input: bool = False, init_weights: bool | None = None, dropout: float = 0.2, dropout_aux: float = 0.7) -> GoogLeNet:
    """
    GoogLeNet (Szegedy et al. 2014), as torchvision's; pictures of 15 x 15 or more.
    
    The arguments are GoogLeNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
