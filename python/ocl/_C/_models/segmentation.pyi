"""
Nets of semantic segmentation, as torchvision.models.segmentation.
"""
from __future__ import annotations
import ocl._C
import ocl._C._nn
import os
import typing
__all__: list[str] = ['ASPP', 'ASPPConv', 'ASPPPooling', 'DeepLabHead', 'DeepLabV3', 'FCNHead', 'IntermediateLayerGetter', 'deeplabv3_mobilenet_v3_large']
class IntermediateLayerGetter(ocl._C._nn.ModuleDict):
    """
    Modules one after another; what return_layers names of their outputs.
    """
    return_layers: typing.Any
    def __init__(self, return_layers: dict[str, str]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: ocl._C.Tensor) -> dict[str, ocl._C.Tensor]:
        ...
class FCNHead(ocl._C._nn.Sequential):
    """
    [N, in_channels, H, W] -> [N, channels, H, W].
    """
    def __init__(self, in_channels: int, channels: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ASPPConv(ocl._C._nn.Sequential):
    """
    A convolution with dilation, batch norm and ReLU.
    """
    def __init__(self, in_channels: int, out_channels: int, dilation: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ASPPPooling(ocl._C._nn.Sequential):
    """
    The means of channels, mixed, at every place.
    """
    def __init__(self, in_channels: int, out_channels: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ASPP(ocl._C._nn.Module):
    """
    Convolutions of several dilations side by side, and means, joined.
    """
    def __init__(self, in_channels: int, atrous_rates: int | tuple[int, ...], out_channels: int = 256) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class DeepLabHead(ocl._C._nn.Sequential):
    """
    [N, in_channels, H, W] -> [N, num_classes, H, W].
    """
    def __init__(self, in_channels: int, num_classes: int, atrous_rates: int | tuple[int, ...] = (12, 24, 36)) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class DeepLabV3(ocl._C._nn.Module):
    """
    Rethinking Atrous Convolution for Semantic Image Segmentation (Chen et al. 2017): [N, 3, H, W] -> {"out": [N, num_classes, H, W]} and, with aux_loss, "aux" of that shape.
    """
    aux_classifier: typing.Any
    def __init__(self, num_classes: int = 21, aux_loss: bool | None = None, weights_backbone: str | os.PathLike | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: ocl._C.Tensor) -> dict[str, ocl._C.Tensor]:
        ...
def deeplabv3_mobilenet_v3_large(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 21, aux_loss: bool | None = None, weights_backbone: str | os.PathLike | None = None) -> DeepLabV3:
    """
    DeepLabV3 (Chen et al. 2017) over a MobileNetV3, as torchvision's; it trains on 2 pictures and more. aux_loss: None is False, and True with weights. weights_backbone: the path of a file of mobilenet_v3_large.
    
    The arguments are DeepLabV3's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
