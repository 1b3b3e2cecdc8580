from __future__ import annotations
import collections.abc
import ocl._C._nn
import os
import typing
__all__: list[str] = ['PatchMerging', 'PatchMergingV2', 'ShiftedWindowAttention', 'ShiftedWindowAttentionV2', 'SwinTransformer', 'SwinTransformerBlock', 'SwinTransformerBlockV2', 'swin_b', 'swin_s', 'swin_t', 'swin_v2_b', 'swin_v2_s', 'swin_v2_t']
class PatchMerging(ocl._C._nn.Module):
    """
    [..., H, W, dim] -> [..., H / 2, W / 2, 2 dim].
    """
    dim: typing.Any
    def __init__(self, dim: int, norm_layer: str | collections.abc.Callable | None = 'LayerNorm') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class PatchMergingV2(ocl._C._nn.Module):
    """
    As PatchMerging, with the norm last.
    """
    dim: typing.Any
    def __init__(self, dim: int, norm_layer: str | collections.abc.Callable | None = 'LayerNorm') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ShiftedWindowAttention(ocl._C._nn.Module):
    """
    Attention within windows: [N, H, W, dim] -> the same.
    """
    attention_dropout: typing.Any
    dropout: typing.Any
    num_heads: typing.Any
    shift_size: typing.Any
    window_size: typing.Any
    def __init__(self, dim: int, window_size: int | tuple[int, ...], shift_size: int | tuple[int, ...], num_heads: int, qkv_bias: bool = True, proj_bias: bool = True, attention_dropout: float = 0.0, dropout: float = 0.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class ShiftedWindowAttentionV2(ocl._C._nn.Module):
    """
    Scores are cosines, and a small net makes the bias of positions: [N, H, W, dim] -> the same.
    """
    attention_dropout: typing.Any
    dropout: typing.Any
    num_heads: typing.Any
    shift_size: typing.Any
    window_size: typing.Any
    def __init__(self, dim: int, window_size: int | tuple[int, ...], shift_size: int | tuple[int, ...], num_heads: int, qkv_bias: bool = True, proj_bias: bool = True, attention_dropout: float = 0.0, dropout: float = 0.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class SwinTransformerBlock(ocl._C._nn.Module):
    """
    Norms before attention and MLP.
    """
    def __init__(self, dim: int, num_heads: int, window_size: int | tuple[int, ...], shift_size: int | tuple[int, ...], mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.0, norm_layer: str | collections.abc.Callable | None = 'LayerNorm') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class SwinTransformerBlockV2(ocl._C._nn.Module):
    """
    Norms after attention and MLP.
    """
    def __init__(self, dim: int, num_heads: int, window_size: int | tuple[int, ...], shift_size: int | tuple[int, ...], mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.0, norm_layer: str | collections.abc.Callable | None = 'LayerNorm') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class SwinTransformer(ocl._C._nn.Module):
    """
    Swin Transformer: Hierarchical Vision Transformer using Shifted Windows (Liu et al. 2021, version 2: 2022): [N, 3, H, W] -> [N, num_classes].
    """
    num_classes: typing.Any
    def __init__(self, patch_size: int | tuple[int, ...], embed_dim: int, depths: int | tuple[int, ...], num_heads: int | tuple[int, ...], window_size: int | tuple[int, ...], mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.1, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, version: int = 1) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def swin_b(*, weights: str | os.PathLike | None = None, progress: bool = True, mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.5, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, version: int = 1) -> SwinTransformer:
    """
    A swin transformer (Liu et al. 2021, 2022), as torchvision's.
    
    The arguments are SwinTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def swin_s(*, weights: str | os.PathLike | None = None, progress: bool = True, mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.3, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, version: int = 1) -> SwinTransformer:
    """
    A swin transformer (Liu et al. 2021, 2022), as torchvision's.
    
    The arguments are SwinTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def swin_t(*, weights: str | os.PathLike | None = None, progress: bool = True, mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, version: int = 1) -> SwinTransformer:
    """
    A swin transformer (Liu et al. 2021, 2022), as torchvision's.
    
    The arguments are SwinTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def swin_v2_b(*, weights: str | os.PathLike | None = None, progress: bool = True, mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.5, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, version: int = 2) -> SwinTransformer:
    """
    A swin transformer (Liu et al. 2021, 2022), as torchvision's.
    
    The arguments are SwinTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def swin_v2_s(*, weights: str | os.PathLike | None = None, progress: bool = True, mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.3, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, version: int = 2) -> SwinTransformer:
    """
    A swin transformer (Liu et al. 2021, 2022), as torchvision's.
    
    The arguments are SwinTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def swin_v2_t(*, weights: str | os.PathLike | None = None, progress: bool = True, mlp_ratio: float = 4.0, dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.2, num_classes: int = 1000, norm_layer: str | collections.abc.Callable | None = None, version: int = 2) -> SwinTransformer:
    """
    A swin transformer (Liu et al. 2021, 2022), as torchvision's.
    
    The arguments are SwinTransformer's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
