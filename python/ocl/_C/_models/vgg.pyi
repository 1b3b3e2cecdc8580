from __future__ import annotations
import ocl._C._nn
import os
import typing
__all__: list[str] = ['VGG', 'vgg11', 'vgg11_bn', 'vgg13', 'vgg13_bn', 'vgg16', 'vgg16_bn', 'vgg19', 'vgg19_bn']
class VGG(ocl._C._nn.Module):
    """
    Very Deep Convolutional Networks for Large-Scale Image Recognition (Simonyan and Zisserman 2014): features, which give [N, 512, H, W], and a classifier.
    """
    def __init__(self, features: ocl._C._nn.Module | None, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def vgg11(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vgg11_bn(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vgg13(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vgg13_bn(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vgg16(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vgg16_bn(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vgg19(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vgg19_bn(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> VGG:
    """
    A VGG (Simonyan and Zisserman 2014), as torchvision's; pictures of 32 x 32 or more.
    
    The arguments are VGG's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
