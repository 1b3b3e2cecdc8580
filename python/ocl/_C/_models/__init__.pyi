"""
Nets, as torchvision.models, and of language.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import ocl._C._nn
import typing
from . import alexnet
from . import vgg
from . import squeezenet
from . import densenet
from . import resnet
from . import googlenet
from . import inception
from . import mobilenetv2
from . import mobilenetv3
from . import mnasnet
from . import shufflenetv2
from . import efficientnet
from . import regnet
from . import convnext
from . import vision_transformer
from . import swin_transformer
from . import maxvit
from . import segmentation
from . import detection
from . import gpt2
__all__: list[str] = ['Conv2dNormActivation', 'LayerNorm2d', 'MLP', 'Permute', 'SqueezeExcitation', 'alexnet', 'convnext', 'densenet', 'detection', 'efficientnet', 'googlenet', 'gpt2', 'inception', 'list_language_models', 'list_models', 'maxvit', 'mnasnet', 'mobilenetv2', 'mobilenetv3', 'regnet', 'require_model', 'resnet', 'segmentation', 'shufflenetv2', 'squeezenet', 'swin_transformer', 'vgg', 'vision_transformer']
class Conv2dNormActivation(ocl._C._nn.Sequential):
    """
    A Conv2d, a norm and an activation, the latter two where there are any.
    """
    out_channels: typing.Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...] = (3, 3), stride: int | tuple[int, ...] = (1, 1), padding: int | tuple[int, ...] | str | None = None, groups: int = 1, norm_layer: str | collections.abc.Callable | None = 'BatchNorm2d', activation_layer: str | collections.abc.Callable | None = 'ReLU', dilation: int | tuple[int, ...] = (1, 1), inplace: bool | None = True, bias: bool | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class SqueezeExcitation(ocl._C._nn.Module):
    """
    A factor for each channel of [N, C, H, W], made of the channels' means (Hu et al. 2017).
    """
    def __init__(self, input_channels: int, squeeze_channels: int, activation: str | collections.abc.Callable | None = 'ReLU', scale_activation: str | collections.abc.Callable | None = 'Sigmoid') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class MLP(ocl._C._nn.Sequential):
    """
    Linear layers, each but the last with its norm, activation and dropout.
    """
    def __init__(self, in_channels: int, hidden_channels: int | tuple[int, ...], norm_layer: str | collections.abc.Callable | None = None, activation_layer: str | collections.abc.Callable | None = 'ReLU', inplace: bool | None = None, bias: bool = True, dropout: float = 0.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class Permute(ocl._C._nn.Module):
    """
    The dimensions in another order.
    """
    dims: typing.Any
    def __init__(self, dims: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class LayerNorm2d(ocl._C._nn.LayerNorm):
    """
    LayerNorm over the channels of [N, C, H, W].
    """
    elementwise_affine: typing.Any
    eps: typing.Any
    normalized_shape: typing.Any
    def __init__(self, normalized_shape: int | tuple[int, ...], eps: float = 1e-05, elementwise_affine: bool = True, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def reset_parameters(self: ocl._C._nn.Module) -> None:
        ...
def list_language_models() -> list[str]:
    """
    The names of all nets that go on with a text, which list_models leaves out: torchvision has none.
    """
def list_models() -> list[str]:
    """
    The names of all nets that torchvision has.
    """
def require_model(name: str) -> None:
    """
    Raises ValueError unless there is a net of that name.
    """
