from __future__ import annotations
import collections.abc
import ocl._C._nn
import os
import typing
__all__: list[str] = ['Encoder', 'EncoderBlock', 'MLPBlock', 'VisionTransformer', 'vit_b_16', 'vit_b_32', 'vit_h_14', 'vit_l_16', 'vit_l_32']
class MLPBlock(ocl._C._nn.Sequential):
    """
    in_dim to mlp_dim and back.
    """
    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class EncoderBlock(ocl._C._nn.Module):
    """
    Attention and an MLP, each after a norm: [N, S, hidden_dim] -> the same.
    """
    num_heads: typing.Any
    def __init__(self, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float, attention_dropout: float, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class Encoder(ocl._C._nn.Module):
    """
    Positions, blocks and a norm.
    """
    def __init__(self, seq_length: int, num_layers: int, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float, attention_dropout: float, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class VisionTransformer(ocl._C._nn.Module):
    """
    An Image is Worth 16x16 Words (Dosovitskiy et al. 2020): [N, 3, image_size, image_size] -> [N, num_classes].
    """
    attention_dropout: typing.Any
    dropout: typing.Any
    hidden_dim: typing.Any
    image_size: typing.Any
    mlp_dim: typing.Any
    num_classes: typing.Any
    patch_size: typing.Any
    representation_size: typing.Any
    def __init__(self, image_size: int, patch_size: int, num_layers: int, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000, representation_size: int | None = None, norm_layer: str | collections.abc.Callable | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def vit_b_16(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000, representation_size: int | None = None, norm_layer: str | collections.abc.Callable | None = None) -> VisionTransformer:
    """
    A vision transformer (Dosovitskiy et al. 2020), as torchvision's; pictures of 224 x 224, or image_size.
    
    The arguments are VisionTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vit_b_32(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000, representation_size: int | None = None, norm_layer: str | collections.abc.Callable | None = None) -> VisionTransformer:
    """
    A vision transformer (Dosovitskiy et al. 2020), as torchvision's; pictures of 224 x 224, or image_size.
    
    The arguments are VisionTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vit_h_14(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000, representation_size: int | None = None, norm_layer: str | collections.abc.Callable | None = None) -> VisionTransformer:
    """
    A vision transformer (Dosovitskiy et al. 2020), as torchvision's; pictures of 224 x 224, or image_size.
    
    The arguments are VisionTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vit_l_16(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000, representation_size: int | None = None, norm_layer: str | collections.abc.Callable | None = None) -> VisionTransformer:
    """
    A vision transformer (Dosovitskiy et al. 2020), as torchvision's; pictures of 224 x 224, or image_size.
    
    The arguments are VisionTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def vit_l_32(*, weights: str | os.PathLike | None = None, progress: bool = True, dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000, representation_size: int | None = None, norm_layer: str | collections.abc.Callable | None = None) -> VisionTransformer:
    """
    A vision transformer (Dosovitskiy et al. 2020), as torchvision's; pictures of 224 x 224, or image_size.
    
    The arguments are VisionTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
