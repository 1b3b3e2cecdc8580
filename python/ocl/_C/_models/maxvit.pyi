from __future__ import annotations
import collections.abc
import ocl._C
import ocl._C._nn
import os
import typing
__all__: list[str] = ['MBConv', 'MaxVit', 'MaxVitBlock', 'MaxVitLayer', 'PartitionAttentionLayer', 'RelativePositionalMultiHeadAttention', 'SwapAxes', 'WindowDepartition', 'WindowPartition', 'maxvit_t']
class MBConv(ocl._C._nn.Module):
    """
    [N, in_channels, H, W] -> [N, out_channels, H / stride, W / stride].
    """
    def __init__(self, in_channels: int, out_channels: int, expansion_ratio: float, squeeze_ratio: float, stride: int, activation_layer: str | collections.abc.Callable | None = 'GELU', norm_layer: str | collections.abc.Callable | None = 'BatchNorm2d', p_stochastic_dropout: float = 0.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class RelativePositionalMultiHeadAttention(ocl._C._nn.Module):
    """
    [N, windows, max_seq_len, feat_dim] -> the same.
    """
    def __init__(self, feat_dim: int, head_dim: int, max_seq_len: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class SwapAxes(ocl._C._nn.Module):
    """
    Two dimensions in each other's place.
    """
    a: typing.Any
    b: typing.Any
    def __init__(self, a: int, b: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class WindowPartition(ocl._C._nn.Module):
    """
    [N, C, H, W] -> [N, windows, p p, C].
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: ocl._C.Tensor, p: typing.SupportsIndex) -> ocl._C.Tensor:
        ...
class WindowDepartition(ocl._C._nn.Module):
    """
    [N, windows, p p, C] -> [N, C, H, W].
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def forward(self, x: ocl._C.Tensor, p: typing.SupportsIndex, h_partitions: typing.SupportsIndex, w_partitions: typing.SupportsIndex) -> ocl._C.Tensor:
        ...
class PartitionAttentionLayer(ocl._C._nn.Module):
    """
    Attention within windows, or over a grid, and an MLP.
    """
    grid_size: typing.Any
    head_dim: typing.Any
    partition_type: typing.Any
    def __init__(self, in_channels: int, head_dim: int, partition_size: int, partition_type: str, grid_size: int | tuple[int, ...], mlp_ratio: int = 4, activation_layer: str | collections.abc.Callable | None = 'GELU', norm_layer: str | collections.abc.Callable | None = 'LayerNorm', attention_dropout: float = 0.0, mlp_dropout: float = 0.0, p_stochastic_dropout: float = 0.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class MaxVitLayer(ocl._C._nn.Module):
    """
    A convolution, attention within windows, attention over grids.
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class MaxVitBlock(ocl._C._nn.Module):
    """
    Layers, of which the first halves the picture.
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class MaxVit(ocl._C._nn.Module):
    """
    MaxViT: Multi-Axis Vision Transformer (Tu et al. 2022): [N, 3, *input_size] -> [N, num_classes].
    """
    partition_size: typing.Any
    def __init__(self, input_size: int | tuple[int, ...], stem_channels: int, partition_size: int, block_channels: int | tuple[int, ...], block_layers: int | tuple[int, ...], head_dim: int, stochastic_depth_prob: float, norm_layer: str | collections.abc.Callable | None = None, activation_layer: str | collections.abc.Callable | None = 'GELU', squeeze_ratio: float = 0.25, expansion_ratio: float = 4.0, mlp_ratio: int = 4, mlp_dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def maxvit_t(*, weights: str | os.PathLike | None = None, progress: bool = True, norm_layer: str | collections.abc.Callable | None = None, activation_layer: str | collections.abc.Callable | None = 'GELU', squeeze_ratio: float = 0.25, expansion_ratio: float = 4.0, mlp_ratio: int = 4, mlp_dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000) -> MaxVit:
    """
    A MaxViT (Tu et al. 2022), as torchvision's; pictures of 224 x 224, or input_size.
    
    The arguments are MaxVit's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
