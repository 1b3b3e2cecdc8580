"""
Modules.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import typing
from . import _functional
from . import _init
from . import _utils
__all__: list[str] = ['Activation', 'AdaptiveAvgPool1d', 'AdaptiveAvgPool2d', 'AdaptiveMaxPool1d', 'AdaptiveMaxPool2d', 'AvgPool1d', 'AvgPool2d', 'BCELoss', 'BCEWithLogitsLoss', 'BatchNorm1d', 'BatchNorm2d', 'CELU', 'ChannelShuffle', 'CircularPad1d', 'CircularPad2d', 'CircularPad3d', 'Conv1d', 'Conv2d', 'ConvTranspose1d', 'ConvTranspose2d', 'CrossEntropyLoss', 'Dropout', 'Dropout2d', 'ELU', 'Embedding', 'Flatten', 'GELU', 'GLU', 'GroupNorm', 'Hardsigmoid', 'Hardswish', 'Hardtanh', 'HuberLoss', 'Identity', 'IncompatibleKeys', 'InstanceNorm1d', 'InstanceNorm2d', 'KLDivLoss', 'L1Loss', 'LayerNorm', 'LeakyReLU', 'Linear', 'LocalResponseNorm', 'LogSigmoid', 'LogSoftmax', 'Loss', 'MSELoss', 'MaxPool1d', 'MaxPool2d', 'Mish', 'Module', 'ModuleDict', 'ModuleList', 'MultiheadAttention', 'NLLLoss', 'NonDynamicallyQuantizableLinear', 'PReLU', 'ParameterList', 'PixelShuffle', 'PixelUnshuffle', 'RMSNorm', 'ReLU', 'ReLU6', 'ReflectionPad1d', 'ReflectionPad2d', 'ReflectionPad3d', 'RemovableHandle', 'ReplicationPad1d', 'ReplicationPad2d', 'ReplicationPad3d', 'SELU', 'Sequential', 'SiLU', 'Sigmoid', 'SmoothL1Loss', 'Softmax', 'Softmin', 'Softplus', 'Softsign', 'StochasticDepth', 'Tanh', 'Tanhshrink', 'Threshold', 'Unflatten', 'Upsample', 'ZeroPad1d', 'ZeroPad2d', 'ZeroPad3d']
class IncompatibleKeys:
    """
    Names that a state dict lacked, and names in it that the module does not have.
    """
    def __iter__(self) -> collections.abc.Iterator:
        ...
    def __repr__(self) -> str:
        ...
    @property
    def missing_keys(self) -> list[str]:
        ...
    @property
    def unexpected_keys(self) -> list[str]:
        ...
class Module:
    """
    Base of all modules, as torch.nn.Module.
    """
    training: bool
    def __call__(self, *args, **kwargs) -> typing.Any:
        ...
    def __delattr__(self, arg0: str) -> None:
        ...
    def __getattr__(self, arg0: str) -> typing.Any:
        ...
    def __init__(self) -> None:
        ...
    def __repr__(self) -> str:
        ...
    def __setattr__(self, arg0: str, arg1: typing.Any) -> None:
        ...
    def add_module(self, name: str, module: typing.Any) -> None:
        ...
    def apply(self, fn: collections.abc.Callable) -> typing.Any:
        ...
    def bfloat16(self) -> typing.Any:
        ...
    def buffers(self, recurse: bool = True) -> collections.abc.Iterator:
        ...
    def children(self) -> collections.abc.Iterator:
        ...
    def double(self) -> typing.Any:
        ...
    def eval(self) -> typing.Any:
        ...
    def extra_repr(self) -> str:
        ...
    def float(self) -> typing.Any:
        ...
    def forward(self, input: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
    def get_buffer(self, target: str) -> ocl._C.Tensor:
        ...
    def get_parameter(self, target: str) -> ocl._C.Tensor:
        ...
    def get_submodule(self, target: str) -> typing.Any:
        """
        What stands under a dotted name.
        """
    def half(self) -> typing.Any:
        ...
    def load_state_dict(self, state_dict: dict, strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """
        Takes anything array-like: our tensors, NumPy arrays, PyTorch's.
        """
    def modules(self) -> collections.abc.Iterator:
        ...
    def named_buffers(self, prefix: str = '', recurse: bool = True, remove_duplicate: bool = True) -> collections.abc.Iterator:
        ...
    def named_children(self) -> collections.abc.Iterator:
        ...
    def named_modules(self, memo: typing.Any = None, prefix: str = '', remove_duplicate: bool = True) -> collections.abc.Iterator:
        ...
    def named_parameters(self, prefix: str = '', recurse: bool = True, remove_duplicate: bool = True) -> collections.abc.Iterator:
        ...
    def parameters(self, recurse: bool = True) -> collections.abc.Iterator:
        ...
    def register_buffer(self, name: str, tensor: ocl._C.Tensor | None, persistent: bool = True) -> None:
        """
        A buffer that is not persistent stays out of the state dict.
        """
    def register_forward_hook(self, hook: collections.abc.Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """
        Calls hook(module, args, output) after every forward; what it returns, unless None, replaces the output.
        """
    def register_forward_pre_hook(self, hook: collections.abc.Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """
        Calls hook(module, args) before every forward; what it returns, unless None, replaces the arguments.
        """
    def register_full_backward_hook(self, hook: collections.abc.Callable, prepend: bool = False) -> RemovableHandle:
        """
        Calls hook(module, grad_input, grad_output) in every backward; what it returns, unless None, replaces grad_input. Of outputs, a tensor or a tuple of them is watched.
        """
    def register_module(self, name: str, module: typing.Any) -> None:
        ...
    def register_parameter(self, name: str, param: ocl._C.Tensor | None) -> None:
        ...
    def requires_grad_(self, requires_grad: bool = True) -> typing.Any:
        ...
    def state_dict(self, *, prefix: str = '') -> dict:
        ...
    def to(self, *args, device: typing.Any = None, dtype: ocl._C.dtype | None = None, non_blocking: bool = False) -> typing.Any:
        """
        Moves parameters and buffers to a device, a floating dtype, both, or those of a tensor.
        """
    def train(self, mode: bool = True) -> typing.Any:
        ...
    def zero_grad(self, set_to_none: bool = True) -> None:
        ...
    @property
    def _buffers(self) -> dict:
        ...
    @property
    def _modules(self) -> dict:
        ...
    @property
    def _parameters(self) -> dict:
        ...
class RemovableHandle:
    """
    Takes a hook away again; also a context manager.
    """
    def __enter__(self) -> typing.Any:
        ...
    def __exit__(self, *args) -> None:
        ...
    def remove(self) -> None:
        ...
class Sequential(Module):
    """
    Each module's output is the next one's input.
    """
    def __init__(self) -> None:
        ...
    def forward(self, input: typing.Any) -> typing.Any:
        ...
class ModuleList(Module):
    """
    Modules by number.
    """
    def __init__(self) -> None:
        ...
    def __repr__(self) -> str:
        ...
class ModuleDict(Module):
    """
    Modules by name.
    """
    def __init__(self) -> None:
        ...
class ParameterList(Module):
    """
    Parameters by number.
    """
    def __init__(self) -> None:
        ...
class Activation(Module):
    """
    Base of the activations that are pointwise operators.
    """
    @property
    def inplace(self) -> bool:
        """
        Whether the result is written over the input.
        """
    @inplace.setter
    def inplace(self, arg0: bool) -> None:
        ...
class Sigmoid(Activation):
    def __init__(self) -> None:
        ...
class Tanh(Activation):
    def __init__(self) -> None:
        ...
class LogSigmoid(Activation):
    def __init__(self) -> None:
        ...
class Tanhshrink(Activation):
    def __init__(self) -> None:
        ...
class Softsign(Activation):
    def __init__(self) -> None:
        ...
class ReLU(Activation):
    def __init__(self, inplace: bool = False) -> None:
        ...
class ReLU6(Activation):
    max_val: typing.ClassVar[float] = 6.0
    min_val: typing.ClassVar[float] = 0.0
    def __init__(self, inplace: bool = False) -> None:
        ...
class SiLU(Activation):
    def __init__(self, inplace: bool = False) -> None:
        ...
class Mish(Activation):
    def __init__(self, inplace: bool = False) -> None:
        ...
class SELU(Activation):
    def __init__(self, inplace: bool = False) -> None:
        ...
class Hardsigmoid(Activation):
    def __init__(self, inplace: bool = False) -> None:
        ...
class Hardswish(Activation):
    def __init__(self, inplace: bool = False) -> None:
        ...
class LeakyReLU(Activation):
    negative_slope: float | int | bool
    def __init__(self, negative_slope: float | int | bool = 0.01, inplace: bool = False) -> None:
        ...
class ELU(Activation):
    alpha: float | int | bool
    def __init__(self, alpha: float | int | bool = 1.0, inplace: bool = False) -> None:
        ...
class CELU(Activation):
    alpha: float | int | bool
    def __init__(self, alpha: float | int | bool = 1.0, inplace: bool = False) -> None:
        ...
class Softplus(Activation):
    beta: float | int | bool
    threshold: float | int | bool
    def __init__(self, beta: float | int | bool = 1.0, threshold: float | int | bool = 20.0) -> None:
        ...
class Hardtanh(Activation):
    max_val: float | int | bool
    min_val: float | int | bool
    def __init__(self, min_val: float | int | bool = -1.0, max_val: float | int | bool = 1.0, inplace: bool = False) -> None:
        ...
class Threshold(Activation):
    threshold: float | int | bool
    value: float | int | bool
    def __init__(self, threshold: float | int | bool, value: float | int | bool, inplace: bool = False) -> None:
        ...
class GELU(Module):
    def __init__(self, approximate: str = 'none') -> None:
        ...
    @property
    def approximate(self) -> str:
        ...
class PReLU(Module):
    """
    The slope where negative is learned, for all channels together or one each.
    """
    def __init__(self, num_parameters: typing.SupportsInt | typing.SupportsIndex = 1, init: typing.SupportsFloat | typing.SupportsIndex = 0.25) -> None:
        ...
    @property
    def init(self) -> float:
        ...
    @property
    def num_parameters(self) -> int:
        ...
class GLU(Module):
    """
    The first half of dim times the sigmoid of the second.
    """
    def __init__(self, dim: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
    @property
    def dim(self) -> int:
        ...
    @dim.setter
    def dim(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class Softmax(Module):
    def __init__(self, dim: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def dim(self) -> int:
        ...
    @dim.setter
    def dim(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class Softmin(Module):
    def __init__(self, dim: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def dim(self) -> int:
        ...
    @dim.setter
    def dim(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class LogSoftmax(Module):
    def __init__(self, dim: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def dim(self) -> int:
        ...
    @dim.setter
    def dim(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class Linear(Module):
    """
    [..., in_features] -> [..., out_features].
    """
    def __init__(self, in_features: typing.SupportsInt | typing.SupportsIndex, out_features: typing.SupportsInt | typing.SupportsIndex, bias: bool = True) -> None:
        ...
    @property
    def in_features(self) -> int:
        ...
    @property
    def out_features(self) -> int:
        ...
class Dropout(Module):
    """
    Zeroes elements with probability p and scales the rest, while training.
    """
    inplace: bool
    p: float | int | bool
    def __init__(self, p: float | int | bool = 0.5, inplace: bool = False) -> None:
        ...
class Dropout2d(Module):
    """
    Drops whole channels of x [N, C, ...] with probability p, while training.
    """
    inplace: bool
    p: float | int | bool
    def __init__(self, p: float | int | bool = 0.5, inplace: bool = False) -> None:
        ...
class StochasticDepth(Module):
    """
    Drops whole residual branches while training, as torchvision.ops.StochasticDepth.
    """
    mode: str
    p: float | int | bool
    def __init__(self, p: float | int | bool, mode: str) -> None:
        ...
class Flatten(Module):
    """
    Joins dimensions start_dim to end_dim.
    """
    def __init__(self, start_dim: typing.SupportsInt | typing.SupportsIndex = 1, end_dim: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
    @property
    def end_dim(self) -> int:
        ...
    @end_dim.setter
    def end_dim(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def start_dim(self) -> int:
        ...
    @start_dim.setter
    def start_dim(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class Unflatten(Module):
    """
    Splits dimension dim into unflattened_size, of which one may be -1.
    """
    def __init__(self, dim: typing.SupportsInt | typing.SupportsIndex, unflattened_size: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
    @property
    def dim(self) -> int:
        ...
    @dim.setter
    def dim(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def unflattened_size(self) -> tuple:
        ...
class Identity(Module):
    """
    The input itself; arguments of the constructor are ignored, as PyTorch's.
    """
    def __init__(self, *args, **kwargs) -> None:
        ...
class _ConvNd(Module):
    """
    Base of the convolution layers.
    """
    @property
    def dilation(self) -> tuple:
        ...
    @property
    def groups(self) -> int:
        ...
    @property
    def in_channels(self) -> int:
        ...
    @property
    def kernel_size(self) -> tuple:
        ...
    @property
    def out_channels(self) -> int:
        ...
    @property
    def output_padding(self) -> tuple:
        ...
    @property
    def padding(self) -> typing.Any:
        ...
    @property
    def padding_mode(self) -> str:
        ...
    @property
    def stride(self) -> tuple:
        ...
class Conv1d(_ConvNd):
    """
    1D convolution, [N, in, L] -> [N, out, OL].
    """
    def __init__(self, in_channels: typing.SupportsInt | typing.SupportsIndex, out_channels: typing.SupportsInt | typing.SupportsIndex, kernel_size: int | tuple[int], stride: int | tuple[int] = 1, padding: int | tuple[int] | str = 0, dilation: int | tuple[int] = 1, groups: typing.SupportsInt | typing.SupportsIndex = 1, bias: bool = True, padding_mode: str = 'zeros') -> None:
        ...
class Conv2d(_ConvNd):
    """
    2D convolution, [N, in, H, W] -> [N, out, OH, OW].
    """
    def __init__(self, in_channels: typing.SupportsInt | typing.SupportsIndex, out_channels: typing.SupportsInt | typing.SupportsIndex, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] | str = 0, dilation: int | tuple[int, int] = 1, groups: typing.SupportsInt | typing.SupportsIndex = 1, bias: bool = True, padding_mode: str = 'zeros') -> None:
        ...
class ConvTranspose1d(_ConvNd):
    """
    The gradient of a 1D convolution, [N, in, L] -> [N, out, OL].
    """
    def __init__(self, in_channels: typing.SupportsInt | typing.SupportsIndex, out_channels: typing.SupportsInt | typing.SupportsIndex, kernel_size: int | tuple[int], stride: int | tuple[int] = 1, padding: int | tuple[int] = 0, output_padding: int | tuple[int] = 0, groups: typing.SupportsInt | typing.SupportsIndex = 1, bias: bool = True, dilation: int | tuple[int] = 1) -> None:
        ...
class ConvTranspose2d(_ConvNd):
    """
    The gradient of a 2D convolution, [N, in, H, W] -> [N, out, OH, OW].
    """
    def __init__(self, in_channels: typing.SupportsInt | typing.SupportsIndex, out_channels: typing.SupportsInt | typing.SupportsIndex, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, output_padding: int | tuple[int, int] = 0, groups: typing.SupportsInt | typing.SupportsIndex = 1, bias: bool = True, dilation: int | tuple[int, int] = 1) -> None:
        ...
class BatchNorm1d(Module):
    """
    Batch normalisation over [N, C] or [N, C, L].
    """
    def __init__(self, num_features: typing.SupportsInt | typing.SupportsIndex, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05, momentum: typing.SupportsFloat | typing.SupportsIndex | None = 0.1, affine: bool = True, track_running_stats: bool = True) -> None:
        ...
    @property
    def num_batches_tracked(self) -> int:
        ...
class BatchNorm2d(Module):
    """
    Batch normalisation over [N, C, H, W].
    """
    def __init__(self, num_features: typing.SupportsInt | typing.SupportsIndex, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05, momentum: typing.SupportsFloat | typing.SupportsIndex | None = 0.1, affine: bool = True, track_running_stats: bool = True) -> None:
        ...
    @property
    def num_batches_tracked(self) -> int:
        ...
class InstanceNorm1d(Module):
    """
    Instance normalisation over [N, C, L] or [C, L].
    """
    def __init__(self, num_features: typing.SupportsInt | typing.SupportsIndex, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05, momentum: typing.SupportsFloat | typing.SupportsIndex | None = 0.1, affine: bool = False, track_running_stats: bool = False) -> None:
        ...
    @property
    def num_batches_tracked(self) -> int:
        ...
class InstanceNorm2d(Module):
    """
    Instance normalisation over [N, C, H, W] or [C, H, W].
    """
    def __init__(self, num_features: typing.SupportsInt | typing.SupportsIndex, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05, momentum: typing.SupportsFloat | typing.SupportsIndex | None = 0.1, affine: bool = False, track_running_stats: bool = False) -> None:
        ...
    @property
    def num_batches_tracked(self) -> int:
        ...
class LayerNorm(Module):
    """
    The last dimensions, of sizes normalized_shape, normalised.
    """
    def __init__(self, normalized_shape: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05, elementwise_affine: bool = True, bias: bool = True) -> None:
        ...
class RMSNorm(Module):
    """
    The last dimensions over their root mean square.
    """
    def __init__(self, normalized_shape: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], eps: typing.SupportsFloat | typing.SupportsIndex | None = None, elementwise_affine: bool = True) -> None:
        ...
class GroupNorm(Module):
    """
    Groups of channels of [N, num_channels, ...] normalised.
    """
    def __init__(self, num_groups: typing.SupportsInt | typing.SupportsIndex, num_channels: typing.SupportsInt | typing.SupportsIndex, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05, affine: bool = True) -> None:
        ...
class LocalResponseNorm(Module):
    """
    Local response normalisation of [N, C, ...].
    """
    def __init__(self, size: typing.SupportsInt | typing.SupportsIndex, alpha: typing.SupportsFloat | typing.SupportsIndex = 0.0001, beta: typing.SupportsFloat | typing.SupportsIndex = 0.75, k: typing.SupportsFloat | typing.SupportsIndex = 1.0) -> None:
        ...
class MaxPool1d(Module):
    def __init__(self, kernel_size: int | tuple[int], stride: int | tuple[int] | None = None, padding: int | tuple[int] = 0, dilation: int | tuple[int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None:
        ...
    def forward(self, input: ocl._C.Tensor) -> ocl._C.Tensor | tuple[ocl._C.Tensor, ocl._C.Tensor]:
        ...
class MaxPool2d(Module):
    def __init__(self, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = 0, dilation: int | tuple[int, int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None:
        ...
    def forward(self, input: ocl._C.Tensor) -> ocl._C.Tensor | tuple[ocl._C.Tensor, ocl._C.Tensor]:
        ...
class AdaptiveMaxPool1d(Module):
    def __init__(self, output_size: int | tuple[int], return_indices: bool = False) -> None:
        ...
    def forward(self, input: ocl._C.Tensor) -> ocl._C.Tensor | tuple[ocl._C.Tensor, ocl._C.Tensor]:
        ...
class AdaptiveMaxPool2d(Module):
    def __init__(self, output_size: int | None | tuple[int | None, int | None], return_indices: bool = False) -> None:
        ...
    def forward(self, input: ocl._C.Tensor) -> ocl._C.Tensor | tuple[ocl._C.Tensor, ocl._C.Tensor]:
        ...
class AvgPool1d(Module):
    def __init__(self, kernel_size: int | tuple[int], stride: int | tuple[int] | None = None, padding: int | tuple[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        ...
class AvgPool2d(Module):
    def __init__(self, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: typing.SupportsInt | typing.SupportsIndex | None = None) -> None:
        ...
class AdaptiveAvgPool1d(Module):
    def __init__(self, output_size: int | tuple[int]) -> None:
        ...
class AdaptiveAvgPool2d(Module):
    def __init__(self, output_size: int | None | tuple[int | None, int | None]) -> None:
        ...
class Upsample(Module):
    def __init__(self, size: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, scale_factor: typing.SupportsFloat | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> None:
        ...
class PixelShuffle(Module):
    def __init__(self, upscale_factor: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class PixelUnshuffle(Module):
    def __init__(self, downscale_factor: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class ChannelShuffle(Module):
    def __init__(self, groups: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class ZeroPad1d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ZeroPad2d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ZeroPad3d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ReflectionPad1d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ReflectionPad2d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ReflectionPad3d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ReplicationPad1d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ReplicationPad2d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class ReplicationPad3d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class CircularPad1d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class CircularPad2d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class CircularPad3d(Module):
    def __init__(self, padding: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        ...
class Loss(Module):
    def forward(self, input: ocl._C.Tensor, target: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class CrossEntropyLoss(Loss):
    def __init__(self, weight: ocl._C.Tensor | None = None, ignore_index: typing.SupportsInt | typing.SupportsIndex = -100, reduction: str = 'mean', label_smoothing: typing.SupportsFloat | typing.SupportsIndex = 0.0) -> None:
        ...
class NLLLoss(Loss):
    def __init__(self, weight: ocl._C.Tensor | None = None, ignore_index: typing.SupportsInt | typing.SupportsIndex = -100, reduction: str = 'mean') -> None:
        ...
class MSELoss(Loss):
    def __init__(self, reduction: str = 'mean') -> None:
        ...
class L1Loss(Loss):
    def __init__(self, reduction: str = 'mean') -> None:
        ...
class SmoothL1Loss(Loss):
    def __init__(self, reduction: str = 'mean', beta: typing.SupportsFloat | typing.SupportsIndex = 1.0) -> None:
        ...
class HuberLoss(Loss):
    def __init__(self, reduction: str = 'mean', delta: typing.SupportsFloat | typing.SupportsIndex = 1.0) -> None:
        ...
class BCELoss(Loss):
    def __init__(self, weight: ocl._C.Tensor | None = None, reduction: str = 'mean') -> None:
        ...
class BCEWithLogitsLoss(Loss):
    def __init__(self, weight: ocl._C.Tensor | None = None, reduction: str = 'mean', pos_weight: ocl._C.Tensor | None = None) -> None:
        ...
class KLDivLoss(Loss):
    def __init__(self, reduction: str = 'mean', log_target: bool = False) -> None:
        ...
class NonDynamicallyQuantizableLinear(Linear):
    def __init__(self, in_features: typing.SupportsInt | typing.SupportsIndex, out_features: typing.SupportsInt | typing.SupportsIndex, bias: bool = True) -> None:
        ...
class MultiheadAttention(Module):
    """
    Attention of several heads; returns the output and, with need_weights, the weights, else None.
    """
    def __init__(self, embed_dim: typing.SupportsInt | typing.SupportsIndex, num_heads: typing.SupportsInt | typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex = 0.0, bias: bool = True, add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: typing.SupportsInt | typing.SupportsIndex | None = None, vdim: typing.SupportsInt | typing.SupportsIndex | None = None, batch_first: bool = False) -> None:
        ...
    def forward(self, query: ocl._C.Tensor, key: ocl._C.Tensor, value: ocl._C.Tensor, key_padding_mask: ocl._C.Tensor | None = None, need_weights: bool = True, attn_mask: ocl._C.Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False) -> tuple:
        ...
class Embedding(Module):
    """
    A table of rows looked up by number: [...] -> [..., embedding_dim].
    """
    @staticmethod
    def from_pretrained(embeddings: ocl._C.Tensor, freeze: bool = True, padding_idx: typing.SupportsInt | typing.SupportsIndex | None = None) -> Embedding:
        """
        With the rows given, which are not trained unless freeze is False.
        """
    def __init__(self, num_embeddings: typing.SupportsInt | typing.SupportsIndex, embedding_dim: typing.SupportsInt | typing.SupportsIndex, padding_idx: typing.SupportsInt | typing.SupportsIndex | None = None) -> None:
        ...
    @property
    def embedding_dim(self) -> int:
        ...
    @property
    def num_embeddings(self) -> int:
        ...
    @property
    def padding_idx(self) -> int | None:
        ...
