"""
TapeCL's C++ library, as the package ocl uses it.
"""
from __future__ import annotations
import collections.abc
import numpy
import ocl
import ocl.arithmetic
import ocl.statistics
import os
import typing
from . import _ops
from . import _nn
from . import _models
from . import _optim
from . import _data
from . import _export
from . import _quantization
from . import _distributed
__all__: list[str] = ['ArgumentIndexError', 'ArgumentTypeError', 'ArgumentValueError', 'ArgumentZeroDivisionError', 'DeviceError', 'Generator', 'HookHandle', 'KernelBuildError', 'Node', 'OutOfMemoryError', 'Profile', 'Tensor', 'abs', 'absolute', 'acos', 'acosh', 'adaptive_avg_pool1d', 'adaptive_avg_pool2d', 'adaptive_avg_pool3d', 'adaptive_max_pool1d', 'adaptive_max_pool2d', 'adaptive_max_pool3d', 'add', 'addbmm', 'addcdiv', 'addcmul', 'addmm', 'addmv', 'addr', 'affine_grid', 'all', 'allclose', 'amax', 'amin', 'aminmax', 'angle', 'any', 'arange', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctan2', 'arctanh', 'argmax', 'argmin', 'argsort', 'as_strided', 'as_tensor', 'asin', 'asinh', 'atan', 'atan2', 'atanh', 'avg_pool1d', 'avg_pool2d', 'avg_pool3d', 'backward', 'baddbmm', 'batch_norm', 'batch_norm_activation', 'bernoulli', 'bfloat16', 'bilinear', 'binary_cross_entropy', 'binary_cross_entropy_with_logits', 'bincount', 'bitwise_and', 'bitwise_left_shift', 'bitwise_not', 'bitwise_or', 'bitwise_right_shift', 'bitwise_xor', 'block_diag', 'bmm', 'bool_', 'bucketize', 'can_cast', 'cartesian_prod', 'cat', 'cdist', 'ceil', 'celu', 'channel_shuffle', 'channels_last', 'channels_last_3d', 'chunk', 'clamp', 'clamp_max', 'clamp_max_tensor', 'clamp_min', 'clamp_min_tensor', 'clamp_tensor', 'clip', 'clone', 'column_stack', 'combinations', 'complex', 'complex128', 'complex64', 'concat', 'concatenate', 'conj', 'contiguous_format', 'conv1d', 'conv2d', 'conv3d', 'conv_transpose1d', 'conv_transpose2d', 'conv_transpose3d', 'convolution', 'copysign', 'cos', 'cosh', 'cosine_embedding_loss', 'cosine_similarity', 'count_nonzero', 'cross', 'cross_entropy', 'cummax', 'cummin', 'cumprod', 'cumsum', 'dequantize_weight', 'device', 'device_count', 'diagonal', 'diff', 'digamma', 'div', 'div_floor', 'div_trunc', 'divide', 'dot', 'dropout', 'dropout2d', 'dstack', 'dtype', 'einsum', 'elu', 'embedding', 'embedding_bag', 'empty', 'empty_cache', 'empty_like', 'eq', 'equal', 'erf', 'erfc', 'erfinv', 'exp', 'exp2', 'expm1', 'eye', 'flatten', 'flip', 'fliplr', 'flipud', 'float16', 'float32', 'float64', 'floor', 'floor_divide', 'fmax', 'fmin', 'fmod', 'fold', 'frac', 'from_dlpack', 'from_numpy', 'full', 'full_like', 'gather', 'gaussian_nll_loss', 'ge', 'gelu', 'gelu_tanh', 'get_default_device', 'get_device_name', 'get_device_properties', 'get_float32_matmul_precision', 'get_fusion', 'get_rng_state', 'glu', 'glu_kernel', 'grad', 'gradcheck', 'greater', 'greater_equal', 'grid_sample', 'group_norm', 'gru', 'gru_cell', 'gt', 'gumbel_softmax', 'hardshrink', 'hardsigmoid', 'hardswish', 'hardtanh', 'heaviside', 'hinge_embedding_loss', 'histc', 'hstack', 'huber_loss', 'hypot', 'imag', 'index_add', 'index_copy', 'index_fill', 'index_reduce', 'index_select', 'initial_seed', 'inner', 'instance_norm', 'int16', 'int32', 'int64', 'int8', 'interpolate', 'is_anomaly_check_nan_enabled', 'is_anomaly_enabled', 'is_available', 'is_complex', 'is_floating_point', 'is_grad_enabled', 'is_pinned', 'is_tensor', 'isclose', 'isfinite', 'isin', 'isinf', 'isnan', 'isneginf', 'isposinf', 'kernel_cache_info', 'kl_div', 'kron', 'kthvalue', 'l1_loss', 'layer_norm', 'le', 'leaky_relu', 'lerp', 'less', 'less_equal', 'lgamma', 'linear', 'linspace', 'local_response_norm', 'log', 'log10', 'log1p', 'log2', 'log_softmax', 'logaddexp', 'logaddexp2', 'logcumsumexp', 'logical_and', 'logical_not', 'logical_or', 'logical_xor', 'logit', 'logsigmoid', 'logsumexp', 'lp_pool1d', 'lp_pool2d', 'lp_pool3d', 'lstm', 'lstm_cell', 'lt', 'manual_seed', 'manual_seed_all', 'margin_ranking_loss', 'masked_fill', 'masked_scatter', 'masked_select', 'matmul', 'max', 'max_memory_allocated', 'max_memory_reserved', 'max_pool1d', 'max_pool2d', 'max_pool3d', 'maximum', 'mean', 'median', 'memory_allocated', 'memory_format', 'memory_reserved', 'memory_stats', 'meshgrid', 'min', 'minimum', 'mish', 'mm', 'mode', 'moveaxis', 'movedim', 'mse_loss', 'mul', 'multi_margin_loss', 'multilabel_margin_loss', 'multilabel_soft_margin_loss', 'multinomial', 'multiply', 'mv', 'nan_to_num', 'nanmean', 'nanmedian', 'nanquantile', 'nansum', 'narrow', 'ne', 'neg', 'negative', 'nll_loss', 'nonzero', 'norm', 'normal', 'normalize', 'not_equal', 'numel', 'one_hot', 'ones', 'ones_like', 'operator_table', 'outer', 'pad', 'pairwise_distance', 'pdist', 'permute', 'pin_memory', 'pixel_shuffle', 'pixel_unshuffle', 'pointwise_table', 'poisson_nll_loss', 'polar', 'polygamma', 'polygamma_kernel', 'pow', 'prelu', 'prelu_kernel', 'preserve_format', 'prod', 'promote_types', 'quantile', 'quantize_int4', 'quantize_int8', 'quantized_linear', 'rand', 'rand_like', 'randint', 'randint_like', 'randn', 'randn_like', 'randperm', 'real', 'reciprocal', 'reduction_table', 'relu', 'relu6', 'remainder', 'renorm', 'repeat_interleave', 'reset_peak_memory_stats', 'reshape', 'result_type', 'rms_norm', 'rnn_relu', 'rnn_relu_cell', 'rnn_tanh', 'rnn_tanh_cell', 'roll', 'rot90', 'round', 'round_decimals', 'rrelu', 'rsqrt', 'rsub', 'scaled_dot_product_attention', 'scatter', 'scatter_add', 'scatter_reduce', 'searchsorted', 'select', 'selu', 'set_default_device', 'set_float32_matmul_precision', 'set_fusion', 'set_memory_limit', 'set_printoptions', 'set_rng_state', 'sgn', 'sigmoid', 'sign', 'signbit', 'silu', 'sin', 'sinc', 'sinh', 'smooth_l1_loss', 'soft_margin_loss', 'softmax', 'softmin', 'softplus', 'softshrink', 'softsign', 'sort', 'special_entr', 'special_xlog1py', 'split', 'sqrt', 'square', 'squeeze', 'stack', 'std', 'std_mean', 'sub', 'subtract', 'sum', 'swapaxes', 'swapdims', 'synchronize', 't', 'take', 'take_along_dim', 'tan', 'tanh', 'tanhshrink', 'tensor', 'tensordot', 'threshold', 'tile', 'topk', 'trace', 'transpose', 'tril', 'triplet_margin_loss', 'triu', 'true_divide', 'trunc', 'uint8', 'unbind', 'unflatten', 'unfold', 'unique', 'unique_consecutive', 'unsqueeze', 'var', 'var_mean', 'vdot', 'vector_norm', 'view_as_complex', 'view_as_real', 'vstack', 'where', 'xlogy', 'zeros', 'zeros_like']
class ArgumentValueError(ValueError, RuntimeError):
    """
    A shape or a value that does not fit; a ValueError and a RuntimeError.
    """
class ArgumentTypeError(TypeError, NotImplementedError):
    """
    A dtype that an operator does not take; a TypeError and a NotImplementedError (a RuntimeError).
    """
class ArgumentIndexError(IndexError, RuntimeError):
    """
    A dimension or an index out of range; an IndexError and a RuntimeError.
    """
class ArgumentZeroDivisionError(ZeroDivisionError, RuntimeError):
    """
    A whole number divided by zero; a ZeroDivisionError and a RuntimeError.
    """
class DeviceError(RuntimeError):
    """
    No such device, no OpenCL platform, or a failing OpenCL call.
    """
class OutOfMemoryError(DeviceError):
    """
    The device has no room for a request, even with the cache freed.
    """
class KernelBuildError(DeviceError):
    """
    A kernel that does not compile on the device; the message holds the build log.
    """
class device:
    """
    An OpenCL device: 'ocl:N' (N as in clinfo --list), 'ocl' or 'cpu'. Within `with device:` the thread makes tensors that name none on it.
    """
    def __copy__(self):
        ...
    def __deepcopy__(self, memo):
        ...
    def __enter__(self) -> typing.Any:
        ...
    def __eq__(self, arg0: typing.Any) -> bool:
        ...
    def __exit__(self, *args) -> None:
        ...
    def __hash__(self) -> int:
        ...
    @typing.overload
    def __init__(self, name: str) -> None:
        ...
    @typing.overload
    def __init__(self, device: device) -> None:
        ...
    @typing.overload
    def __init__(self, index: typing.SupportsIndex) -> None:
        ...
    def __reduce__(self):
        ...
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    @property
    def index(self) -> int:
        ...
    @property
    def type(self) -> str:
        ...
class Profile:
    """
    Times every kernel launch from its construction to stop().
    """
    def __init__(self) -> None:
        ...
    def export_chrome_trace(self, path: os.PathLike | str | bytes) -> None:
        ...
    def export_csv(self, path: os.PathLike | str | bytes) -> None:
        ...
    def launches(self) -> list:
        """
        (device, kernel, start, end) of every launch, times in nanoseconds.
        """
    def stop(self) -> None:
        ...
    def table(self, by: str = 'kernel') -> str:
        """
        A line per kernel, operator, class of module or chosen implementation, the longest first.
        """
class dtype:
    """
    The element type of a tensor.
    
    Members:
    
      float32
    
      float64
    
      float16
    
      bfloat16
    
      int64
    
      int32
    
      int16
    
      int8
    
      uint8
    
      bool_
    
      complex64
    
      complex128
    """
    __members__: typing.ClassVar[dict[str, dtype]]
    bfloat16: typing.ClassVar[dtype]
    bool_: typing.ClassVar[dtype]
    complex128: typing.ClassVar[dtype]
    complex64: typing.ClassVar[dtype]
    float16: typing.ClassVar[dtype]
    float32: typing.ClassVar[dtype]
    float64: typing.ClassVar[dtype]
    int16: typing.ClassVar[dtype]
    int32: typing.ClassVar[dtype]
    int64: typing.ClassVar[dtype]
    int8: typing.ClassVar[dtype]
    uint8: typing.ClassVar[dtype]
    @staticmethod
    def __repr__(*args, **kwargs):
        """
        (self: ocl._C.dtype) -> str
        """
    @staticmethod
    def __str__(*args, **kwargs):
        """
        (self: ocl._C.dtype) -> str
        """
    def __copy__(self):
        ...
    def __deepcopy__(self, memo):
        ...
    def __eq__(self: numpy.dtype[typing.Any], arg0: typing.Any) -> bool:
        ...
    def __getstate__(self: numpy.dtype[typing.Any]) -> int:
        ...
    def __hash__(self: numpy.dtype[typing.Any]) -> int:
        ...
    @typing.overload
    def __init__(self: numpy.dtype[typing.Any], value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @typing.overload
    def __init__(self: numpy.dtype[typing.Any], arg0: type) -> None:
        """
        The dtype that Python's float, int, bool or complex stands for.
        """
    def __ne__(self: numpy.dtype[typing.Any], arg0: typing.Any) -> bool:
        ...
    def __reduce_ex__(self, protocol):
        ...
    def __setstate__(self: numpy.dtype[typing.Any], state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def to_complex(self: numpy.dtype[typing.Any]) -> numpy.dtype[typing.Any]:
        """
        The complex dtype of 64 bits for float64, else of 32.
        """
    def to_real(self: numpy.dtype[typing.Any]) -> numpy.dtype[typing.Any]:
        """
        The dtype of a complex one's parts; any other as it is.
        """
    @property
    def is_complex(self) -> bool:
        ...
    @property
    def is_floating_point(self) -> bool:
        ...
    @property
    def itemsize(self) -> int:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class memory_format:
    """
    The order of a tensor's elements in memory.
    
    Members:
    
      contiguous_format
    
      channels_last
    
      channels_last_3d
    
      preserve_format
    """
    __members__: typing.ClassVar[dict[str, memory_format]]
    channels_last: typing.ClassVar[memory_format]
    channels_last_3d: typing.ClassVar[memory_format]
    contiguous_format: typing.ClassVar[memory_format]
    preserve_format: typing.ClassVar[memory_format]
    @staticmethod
    def __repr__(*args, **kwargs):
        """
        (self: ocl._C.memory_format) -> str
        """
    @staticmethod
    def __str__(*args, **kwargs):
        """
        (self: ocl._C.memory_format) -> str
        """
    def __copy__(self):
        ...
    def __deepcopy__(self, memo):
        ...
    def __eq__(self, arg0: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsIndex) -> None:
        ...
    def __ne__(self, arg0: typing.Any) -> bool:
        ...
    def __reduce_ex__(self, protocol):
        ...
    def __setstate__(self, state: typing.SupportsIndex) -> None:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class HookHandle:
    """
    What register_hook returns.
    """
    def remove(self) -> None:
        """
        Ends the hook.
        """
class Tensor:
    """
    A tensor on an OpenCL device, with autograd; torch.Tensor's names.
    """
    __array_priority__: typing.ClassVar[int] = 1000
    _is_parameter: bool
    grad: Tensor | None
    requires_grad: bool
    @staticmethod
    def __hash__(*args, **kwargs):
        """
        Return hash(self).
        """
    @staticmethod
    def __pos__(input: Tensor) -> Tensor:
        """
        The tensor itself; bool is refused. (torch.positive)
        """
    @staticmethod
    def __torch_function__(*args, **kwargs):
        """
        The function itself; its tensors become of the class. (torch.Tensor.__torch_function__)
        """
    @staticmethod
    def absolute(*args, **kwargs):
        """
        abs(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The absolute value of every element.
        """
    @staticmethod
    def adjoint(input: Tensor) -> Tensor:
        """
        The matrices transposed, with conjugate elements. (torch.adjoint)
        """
    @staticmethod
    def arccos(*args, **kwargs):
        """
        acos(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The inverse cosine, in radians.
        """
    @staticmethod
    def arccosh(*args, **kwargs):
        """
        acosh(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The inverse hyperbolic cosine; NaN below 1.
        """
    @staticmethod
    def arcsin(*args, **kwargs):
        """
        asin(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The inverse sine, in radians.
        """
    @staticmethod
    def arcsinh(*args, **kwargs):
        """
        asinh(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The inverse hyperbolic sine.
        """
    @staticmethod
    def arctan(*args, **kwargs):
        """
        atan(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The inverse tangent, in radians.
        """
    @staticmethod
    def arctan2(*args, **kwargs):
        """
        atan2(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        The angle of the point (b, a), in radians.
        """
    @staticmethod
    def arctanh(*args, **kwargs):
        """
        atanh(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
        """
    @staticmethod
    def argwhere(input: Tensor) -> Tensor:
        """
        The coordinates [count, rank] of what is not 0. Waits for their number. (torch.argwhere)
        """
    @staticmethod
    def as_strided_scatter(input: Tensor, src: Tensor, size: typing.Sequence[int], stride: typing.Sequence[int], storage_offset: int = 0) -> Tensor:
        """
        input with src in the place of as_strided(input, size, stride, storage_offset).
            (torch.as_strided_scatter)
            
        """
    @staticmethod
    def broadcast_to(input: Tensor, size: typing.Sequence[int]) -> Tensor:
        """
        input expanded to `size`, without a copy. (torch.broadcast_to)
        """
    @staticmethod
    def cauchy_(*args, **kwargs) -> Tensor:
        """
        Overwrites with numbers of Cauchy's distribution. (torch.Tensor.cauchy_)
        """
    @staticmethod
    def clip(*args, **kwargs):
        """
        clamp(*args, **kwargs)
        Overloaded function.
        
        1. clamp(self: ocl._C.Tensor, min: complex | float | int | bool | None = None, max: complex | float | int | bool | None = None) -> ocl._C.Tensor
        
        a held between min and max.
        
        2. clamp(self: ocl._C.Tensor, min: Tensor | complex | float | int | bool | None = None, max: Tensor | complex | float | int | bool | None = None) -> ocl._C.Tensor
        
        a held between min and max.
        """
    @staticmethod
    def clip_(*args, **kwargs):
        """
        clamp_(*args, **kwargs)
        Overloaded function.
        
        1. clamp_(self: ocl._C.Tensor, min: complex | float | int | bool | None = None, max: complex | float | int | bool | None = None) -> ocl._C.Tensor
        
        In place: a held between min and max.
        
        2. clamp_(self: ocl._C.Tensor, min: Tensor | complex | float | int | bool | None = None, max: Tensor | complex | float | int | bool | None = None) -> ocl._C.Tensor
        """
    @staticmethod
    def conj_physical(*args, **kwargs):
        """
        conj(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The conjugates, with the signs of the imaginary parts turned; a tensor of real numbers itself.
        """
    @staticmethod
    def corrcoef(input: Tensor) -> Tensor:
        """
        The correlations [N, N] of N variables with observations [N, count]. (torch.corrcoef)
        """
    @staticmethod
    def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """
        The covariances [N, N] of N variables with observations [N, count]; a scalar for a vector. (torch.cov)
        
            fweights says how often each observation counts, and aweights how much. Checks of weights wait.
            
        """
    @staticmethod
    def deg2rad(input: Tensor) -> Tensor:
        """
        Degrees as radians; integers give float32. (torch.deg2rad)
        """
    @staticmethod
    def diag(input: Tensor, diagonal: int = 0) -> Tensor:
        """
        The matrix with a vector on its diagonal, or a copy of the diagonal of a matrix. (torch.diag)
        """
    @staticmethod
    def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
        """
        Square matrices with the last dimension of input on a diagonal and 0 elsewhere. (torch.diag_embed)
        """
    @staticmethod
    def diagflat(input: Tensor, offset: int = 0) -> Tensor:
        """
        The matrix with all elements of input on its diagonal. (torch.diagflat)
        """
    @staticmethod
    def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        """
        input with src in the place of diagonal(input, offset, dim1, dim2). (torch.diagonal_scatter)
        """
    @staticmethod
    def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
        """
        The p-norm of input - other, which broadcast. (torch.dist)
        """
    @staticmethod
    def divide(*args, **kwargs):
        """
        div(*args, **kwargs)
        Overloaded function.
        
        1. div(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        The true quotient.
        
        2. div(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool, *, rounding_mode: str | None) -> ocl._C.Tensor
        """
    @staticmethod
    def divide_(*args, **kwargs):
        """
        div_(*args, **kwargs)
        Overloaded function.
        
        1. div_(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        In place: The true quotient.
        
        2. div_(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool, *, rounding_mode: str | None) -> ocl._C.Tensor
        """
    @staticmethod
    def dsplit(*args, **kwargs) -> tuple[Tensor, ...]:
        """
        Parts along the third of at least three dimensions. (torch.dsplit)
        """
    @staticmethod
    def einsum(equation: str | Tensor, *operands: typing.Any) -> Tensor:
        """
        Sums of products by letters, as ``"bij,bjk->bik"``; the operands follow, or a list of them.
            (torch.einsum)
        
            Lists of numbers below 52 may name the dimensions, each behind its operand, and one the result's.
            TypeError and ValueError for what does not fit.
            
        """
    @staticmethod
    def fix(*args, **kwargs):
        """
        trunc(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The whole number towards 0.
        """
    @staticmethod
    def float_power(input: Tensor | float, exponent: Tensor | float) -> Tensor:
        """
        input ** exponent in float64 or complex128, which the device needs for it. (torch.float_power)
        """
    @staticmethod
    def frexp(input: Tensor) -> ocl.arithmetic.FRExp:
        """
        input as mantissa * 2 ** exponent, with 0.5 <= |mantissa| < 1 and exponents in int32. (torch.frexp)
        
            Zeros, infinities and NaN are their own mantissas, with the exponent 0. The mantissa is differentiable.
            
        """
    @staticmethod
    def gcd(input: Tensor, other: Tensor) -> Tensor:
        """
        The greatest common divisors of integers, which broadcast; computed on the host. (torch.gcd)
        """
    @staticmethod
    def geometric_(*args, **kwargs) -> Tensor:
        """
        Overwrites with how many trials the first success takes, each with the probability p.
            (torch.Tensor.geometric_)
            
        """
    @staticmethod
    def ger(*args, **kwargs):
        """
        outer(self: ocl._C.Tensor, vec2: ocl._C.Tensor) -> ocl._C.Tensor
        
        All products of the elements of two vectors.
        """
    @staticmethod
    def get_device(input: Tensor) -> int:
        """
        The number of the tensor's device, N of "ocl:N". (torch.get_device)
        """
    @staticmethod
    def greater(*args, **kwargs):
        """
        gt(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        Whether a is greater than b.
        """
    @staticmethod
    def greater_equal(*args, **kwargs):
        """
        ge(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        Whether a is at least b.
        """
    @staticmethod
    def histogram(input: Tensor, bins: int | Tensor, *, range: typing.Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False) -> ocl.statistics.Histogram:
        """
        How many elements, or how much `weight`, fall into each bin, and their bounds. (torch.histogram)
        
            `bins` equal bins of `range`, or of the elements' own range (which waits), or those between the ascending
            elements of a tensor. Bins are open above, the last is closed. `density` makes the integral 1.
            
        """
    @staticmethod
    def hsplit(*args, **kwargs) -> tuple[Tensor, ...]:
        """
        Parts along the second dimension, those of a vector along its only one. (torch.hsplit)
        """
    @staticmethod
    def i0(input: Tensor, *others) -> Tensor:
        """
        The modified Bessel function of order 0; integers give float32. (torch.special.i0)
        """
    @staticmethod
    def igamma(input: Tensor, other: Tensor) -> Tensor:
        """
        The regularized lower incomplete gamma function P(input, other); the arguments broadcast.
            (torch.special.gammainc)
        
            Its gradient by `other` is differentiable. That by `input`, which PyTorch does not have, is not.
            
        """
    @staticmethod
    def igammac(input: Tensor, other: Tensor) -> Tensor:
        """
        The regularized upper incomplete gamma function Q(input, other), as gammainc.
            (torch.special.gammaincc)
            
        """
    @staticmethod
    def index_put(input: Tensor, indices: typing.Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
        """
        input with values, which broadcast, at the entries that indices name, as input[indices] = values.
            (torch.index_put)
        
            With `accumulate` values are added, also to an entry that is named several times. Masks wait for the
            number of what they hold. An index that is out of range raises IndexError at the next waiting point.
            
        """
    @staticmethod
    def is_conj(input: Tensor) -> bool:
        """
        False: conj() computes, so that no tensor is the conjugate of its memory. (torch.is_conj)
        """
    @staticmethod
    def is_inference(input: Tensor) -> bool:
        """
        False: tensors made in inference mode are ordinary ones. (torch.is_inference)
        """
    @staticmethod
    def is_neg(input: Tensor) -> bool:
        """
        False: no tensor is the negative of its memory. (torch.is_neg)
        """
    @staticmethod
    def is_nonzero(input: Tensor) -> bool:
        """
        Whether the only element is not 0. Waits. Raises ValueError for other numbers. (torch.is_nonzero)
        """
    @staticmethod
    def is_signed(input: Tensor) -> bool:
        """
        Whether the dtype has numbers below 0. (torch.is_signed)
        """
    @staticmethod
    def isreal(input: Tensor) -> Tensor:
        """
        Whether the imaginary part of each element is 0; bool. (torch.isreal)
        """
    @staticmethod
    def istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None, return_complex: bool = False) -> Tensor:
        """
        The signal of which `input` [batch, frequencies, windows] is the stft. (torch.istft)
        
            The windows' signals are added up and divided by the sum of their squared windows, which may be 0 nowhere
            (ValueError; waits for that). Returns [batch, length] real numbers, complex ones with `return_complex`.
            
        """
    @staticmethod
    def lcm(input: Tensor, other: Tensor) -> Tensor:
        """
        The least common multiples of integers, which broadcast; computed on the host. (torch.lcm)
        """
    @staticmethod
    def ldexp(input: Tensor, other: Tensor | int) -> Tensor:
        """
        input * 2 ** other; integers give float32. (torch.ldexp)
        """
    @staticmethod
    def less(*args, **kwargs):
        """
        lt(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        Whether a is less than b.
        """
    @staticmethod
    def less_equal(*args, **kwargs):
        """
        le(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        Whether a is at most b.
        """
    @staticmethod
    def log_normal_(*args, **kwargs) -> Tensor:
        """
        Overwrites with numbers whose logarithms have a normal distribution. (torch.Tensor.log_normal_)
        """
    @staticmethod
    def moveaxis(*args, **kwargs):
        """
        movedim(self: ocl._C.Tensor, source: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], destination: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> ocl._C.Tensor
        
        The dimensions source moved to the places destination.
        """
    @staticmethod
    def msort(input: Tensor) -> Tensor:
        """
        The elements in order along the first dimension. (torch.msort)
        """
    @staticmethod
    def multiply(*args, **kwargs):
        """
        mul(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        The product.
        """
    @staticmethod
    def multiply_(*args, **kwargs):
        """
        mul_(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        In place: The product.
        """
    @staticmethod
    def mvlgamma(input: Tensor, p: int) -> Tensor:
        """
        The logarithm of the gamma function of dimension p (torch.special.multigammaln).
        
            Elements are not checked to be above (p - 1) / 2. Integers give float32.
            
        """
    @staticmethod
    def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
        """
        A copy of `length` entries of `dim` from `start` on. (torch.narrow_copy)
        """
    @staticmethod
    def negative(*args, **kwargs):
        """
        neg(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        The negative of every element.
        """
    @staticmethod
    def negative_(*args, **kwargs):
        """
        neg_(self: ocl._C.Tensor) -> ocl._C.Tensor
        
        In place: The negative of every element.
        """
    @staticmethod
    def nextafter(input: Tensor, other: Tensor) -> Tensor:
        """
        The next number after each of input in the direction of other; computed on the host. (torch.nextafter)
        
            Takes float32, float64 and float16, and no gradient flows.
            
        """
    @staticmethod
    def not_equal(*args, **kwargs):
        """
        ne(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        Whether a differs from b.
        """
    @staticmethod
    def positive(input: Tensor) -> Tensor:
        """
        The tensor itself; bool is refused. (torch.positive)
        """
    @staticmethod
    def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
        """
        input with source at the elements that index names in the flattened tensor, or added to them.
            (torch.put)
            
        """
    @staticmethod
    def rad2deg(input: Tensor) -> Tensor:
        """
        Radians as degrees; integers give float32. (torch.rad2deg)
        """
    @staticmethod
    def ravel(input: Tensor) -> Tensor:
        """
        All elements as a vector, without a copy where the strides allow it. (torch.ravel)
        """
    @staticmethod
    def resolve_conj(input: Tensor) -> Tensor:
        """
        The tensor itself. (torch.resolve_conj)
        """
    @staticmethod
    def resolve_neg(input: Tensor) -> Tensor:
        """
        The tensor itself. (torch.resolve_neg)
        """
    @staticmethod
    def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
        """
        input with src in the place of select(input, dim, index). (torch.select_scatter)
        """
    @staticmethod
    def slice_scatter(input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
        """
        input with src in the place of the entries start:end:step of dim. (torch.slice_scatter)
        """
    @staticmethod
    def sparse_mask(*args, **kwargs) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor.sparse_mask)
        """
    @staticmethod
    def split_with_sizes(input: Tensor, split_sizes: typing.Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        """
        Views of parts of those sizes along `dim`. (torch.split_with_sizes)
        """
    @staticmethod
    def stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None, center: bool = True, pad_mode: str = 'reflect', normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None) -> Tensor:
        """
        The transforms of a signal's windows. (torch.stft)
        
            input: [batch, length] or [length], real or complex. Each `hop_length` elements (a quarter of `n_fft`) a
            window of `n_fft` begins, times `window` [win_length]. `center` reflects the signal at its ends, so that
            the windows' middles lie on it; `normalized` divides by the root of n_fft. Returns [batch, frequencies,
            windows], complex, or pairs with ``return_complex=False``. `onesided`, the default of real numbers, leaves
            out the frequencies below 0.
            
        """
    @staticmethod
    def subtract(*args, **kwargs):
        """
        sub(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> ocl._C.Tensor
        
        a - alpha * b.
        """
    @staticmethod
    def subtract_(*args, **kwargs):
        """
        sub_(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> ocl._C.Tensor
        
        In place: a - alpha * b.
        """
    @staticmethod
    def swapdims(*args, **kwargs):
        """
        swapaxes(self: ocl._C.Tensor, axis0: typing.SupportsIndex, axis1: typing.SupportsIndex) -> ocl._C.Tensor
        
        Two dimensions swapped.
        """
    @staticmethod
    def tensor_split(*args, **kwargs) -> tuple[Tensor, ...]:
        """
        Views along `dim`: as many parts of nearly one size, the first ones larger, or parts between indices.
        
            Indices are those of Python slices. Raises ValueError for a number of parts below 1 and for a scalar
            input. (torch.tensor_split)
            
        """
    @staticmethod
    def true_divide(*args, **kwargs):
        """
        div(*args, **kwargs)
        Overloaded function.
        
        1. div(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool) -> ocl._C.Tensor
        
        The true quotient.
        
        2. div(self: ocl._C.Tensor, other: Tensor | complex | float | int | bool, *, rounding_mode: str | None) -> ocl._C.Tensor
        """
    @staticmethod
    def unfold(*args, **kwargs):
        """
        unfold_dimension(self: ocl._C.Tensor, dimension: typing.SupportsIndex, size: typing.SupportsIndex, step: typing.SupportsIndex) -> ocl._C.Tensor
        
        Tensor.unfold: windows of size entries of dimension, one each step entries, as a last dimension.
        """
    @staticmethod
    def unsafe_chunk(*args, **kwargs):
        """
        chunk(self: ocl._C.Tensor, chunks: typing.SupportsIndex, dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]
        
        A tuple of at most chunks equal parts along dim.
        """
    @staticmethod
    def unsafe_split(*args, **kwargs):
        """
        split(self: ocl._C.Tensor, split_size: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]
        
        A tuple of parts along dim: of split_size entries, or of the sizes listed.
        """
    @staticmethod
    def vsplit(*args, **kwargs) -> tuple[Tensor, ...]:
        """
        Parts along the first of at least two dimensions. (torch.vsplit)
        """
    @classmethod
    def _make_subclass(cls: typing.Any, data: Tensor, require_grad: bool = False) -> typing.Any:
        """
        A leaf of a class derived from Tensor, over the memory of `data`.
        """
    def __abs__(self) -> Tensor:
        ...
    @typing.overload
    def __add__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __add__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __and__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __and__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __array__(self, dtype: typing.Any = None, copy: typing.Any = None) -> typing.Any:
        ...
    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: typing.Any, **named: typing.Any) -> typing.Any:
        """
        The operators of tensors: ``array * tensor`` is what ``ocl.tensor(array) * tensor`` is.
        
            Other universal functions compute on the host and refuse tensors that require gradients. Their results are
            tensors on this one's device, as PyTorch's are tensors.
            
        """
    def __bool__(self) -> bool:
        ...
    def __complex__(self) -> typing.Any:
        ...
    def __contains__(self, arg0: Tensor | complex | float | int | bool) -> bool:
        ...
    def __copy__(self) -> Tensor:
        """
        Another tensor over the same memory.
        """
    def __deepcopy__(self, memo: dict) -> Tensor:
        ...
    def __dlpack__(self, **kwargs) -> typing.Any:
        """
        A capsule over a copy on the host, for which it waits; with dl_device=(4, N), DLPack's number for OpenCL and that of the tensor's device, over the tensor's own memory, a cl_mem.
        """
    def __dlpack_device__(self) -> tuple[int, int]:
        ...
    @typing.overload
    def __eq__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __eq__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __float__(self) -> float:
        ...
    @typing.overload
    def __floordiv__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __floordiv__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __format__(self, arg0: str) -> str:
        ...
    @typing.overload
    def __ge__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __ge__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __getitem__(self, arg0: typing.Any) -> Tensor:
        ...
    @typing.overload
    def __gt__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __gt__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __iadd__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __iadd__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __iand__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __iand__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __ifloordiv__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __ifloordiv__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __ilshift__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __ilshift__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __imod__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __imod__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __imul__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __imul__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __index__(self) -> int:
        ...
    def __int__(self) -> int:
        ...
    def __invert__(self) -> Tensor:
        ...
    @typing.overload
    def __ior__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __ior__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __ipow__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __ipow__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __irshift__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __irshift__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __isub__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __isub__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __iter__(self) -> collections.abc.Iterator:
        ...
    @typing.overload
    def __itruediv__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __itruediv__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __ixor__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __ixor__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __le__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __le__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __len__(self) -> int:
        ...
    @typing.overload
    def __lshift__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __lshift__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __lt__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __lt__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __matmul__(self, arg0: Tensor) -> Tensor:
        ...
    @typing.overload
    def __matmul__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __mod__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __mod__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __mul__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __mul__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __ne__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __ne__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __neg__(self) -> Tensor:
        ...
    @typing.overload
    def __or__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __or__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __pow__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __pow__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __radd__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rand__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __reduce_ex__(self, protocol: int) -> tuple:
        ...
    def __repr__(self) -> str:
        ...
    def __rfloordiv__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rlshift__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rmod__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rmul__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __ror__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rpow__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rrshift__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __rshift__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __rshift__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def __rsub__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rtruediv__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __rxor__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def __setitem__(self, arg0: typing.Any, arg1: typing.Any) -> None:
        ...
    @typing.overload
    def __sub__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __sub__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __truediv__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __truediv__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    @typing.overload
    def __xor__(self, arg0: Tensor | complex | float | int | bool) -> Tensor:
        ...
    @typing.overload
    def __xor__(self, arg0: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
        ...
    def _become_view(self, view: Tensor) -> None:
        """
        Takes the shape, strides and history of a view of the tensor.
        """
    def _indices(self) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor._indices)
        """
    def _is_view(self) -> bool:
        ...
    def _nnz(self) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor._nnz)
        """
    def _values(self) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor._values)
        """
    def abs(self) -> Tensor:
        """
        The absolute value of every element.
        """
    def abs_(self) -> Tensor:
        """
        In place: The absolute value of every element.
        """
    def absolute_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``absolute`` gives over the tensor. (torch.Tensor.absolute_)
        """
    def acos(self) -> Tensor:
        """
        The inverse cosine, in radians.
        """
    def acos_(self) -> Tensor:
        """
        In place: The inverse cosine, in radians.
        """
    def acosh(self) -> Tensor:
        """
        The inverse hyperbolic cosine; NaN below 1.
        """
    def acosh_(self) -> Tensor:
        """
        In place: The inverse hyperbolic cosine; NaN below 1.
        """
    def add(self, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        a + alpha * b.
        """
    def add_(self, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        In place: a + alpha * b.
        """
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        beta * input + alpha * the sum over the batch of batch1 @ batch2, with input broadcast.
        """
    def addbmm_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``addbmm`` gives over the tensor. (torch.Tensor.addbmm_)
        """
    def addcdiv(self, tensor1: Tensor | complex | float | int | bool, tensor2: Tensor | complex | float | int | bool, *, value: complex | float | int | bool = 1) -> Tensor:
        """
        a + value * b / c.
        """
    def addcdiv_(self, tensor1: Tensor | complex | float | int | bool, tensor2: Tensor | complex | float | int | bool, *, value: complex | float | int | bool = 1) -> Tensor:
        """
        In place: a + value * b / c.
        """
    def addcmul(self, tensor1: Tensor | complex | float | int | bool, tensor2: Tensor | complex | float | int | bool, *, value: complex | float | int | bool = 1) -> Tensor:
        """
        a + value * b * c.
        """
    def addcmul_(self, tensor1: Tensor | complex | float | int | bool, tensor2: Tensor | complex | float | int | bool, *, value: complex | float | int | bool = 1) -> Tensor:
        """
        In place: a + value * b * c.
        """
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        beta * input + alpha * mat1 @ mat2, with input broadcast.
        """
    def addmm_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``addmm`` gives over the tensor. (torch.Tensor.addmm_)
        """
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        beta * input + alpha * mat @ vec, with input broadcast.
        """
    def addmv_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``addmv`` gives over the tensor. (torch.Tensor.addmv_)
        """
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        beta * input + alpha * outer(vec1, vec2), with input broadcast.
        """
    def addr_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``addr`` gives over the tensor. (torch.Tensor.addr_)
        """
    def all(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        Whether every element is non-zero.
        """
    def allclose(self, other: Tensor, rtol: typing.SupportsFloat | typing.SupportsIndex = 1e-05, atol: typing.SupportsFloat | typing.SupportsIndex = 1e-08, equal_nan: bool = False) -> bool:
        """
        Whether all of isclose hold, a bool of Python; waits.
        """
    def amax(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The largest element; NaN if there is one.
        """
    def amin(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The smallest element; NaN if there is one.
        """
    def aminmax(self, *, dim: typing.SupportsIndex | None = None, keepdim: bool = False) -> typing.Any:
        """
        The smallest and the largest elements (min, max).
        """
    def angle(self) -> Tensor:
        """
        The angle of a number in the complex plane: pi where negative, 0 elsewhere.
        """
    def any(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        Whether some element is non-zero.
        """
    def arccos_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``arccos`` gives over the tensor. (torch.Tensor.arccos_)
        """
    def arccosh_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``arccosh`` gives over the tensor. (torch.Tensor.arccosh_)
        """
    def arcsin_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``arcsin`` gives over the tensor. (torch.Tensor.arcsin_)
        """
    def arcsinh_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``arcsinh`` gives over the tensor. (torch.Tensor.arcsinh_)
        """
    def arctan2_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``arctan2`` gives over the tensor. (torch.Tensor.arctan2_)
        """
    def arctan_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``arctan`` gives over the tensor. (torch.Tensor.arctan_)
        """
    def arctanh_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``arctanh`` gives over the tensor. (torch.Tensor.arctanh_)
        """
    def argmax(self, dim: typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
        """
        Where the largest element stands, of equal ones the first; int64.
        """
    def argmin(self, dim: typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
        """
        Where the smallest element stands, of equal ones the first; int64.
        """
    def argsort(self, dim: typing.SupportsIndex = -1, descending: bool = False, stable: bool = False) -> Tensor:
        """
        Where the elements of dim in order stood.
        """
    def as_strided(self, size: collections.abc.Sequence[typing.SupportsIndex], stride: collections.abc.Sequence[typing.SupportsIndex], storage_offset: typing.SupportsIndex | None = None) -> Tensor:
        """
        The same memory under any sizes, strides and offset.
        """
    def as_subclass(self, cls: typing.Any) -> typing.Any:
        """
        A view of the whole tensor, as an object of a class derived from Tensor.
        """
    def asin(self) -> Tensor:
        """
        The inverse sine, in radians.
        """
    def asin_(self) -> Tensor:
        """
        In place: The inverse sine, in radians.
        """
    def asinh(self) -> Tensor:
        """
        The inverse hyperbolic sine.
        """
    def asinh_(self) -> Tensor:
        """
        In place: The inverse hyperbolic sine.
        """
    def atan(self) -> Tensor:
        """
        The inverse tangent, in radians.
        """
    def atan2(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The angle of the point (b, a), in radians.
        """
    def atan2_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The angle of the point (b, a), in radians.
        """
    def atan_(self) -> Tensor:
        """
        In place: The inverse tangent, in radians.
        """
    def atanh(self) -> Tensor:
        """
        The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
        """
    def atanh_(self) -> Tensor:
        """
        In place: The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
        """
    def backward(self, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: collections.abc.Sequence[Tensor] | None = None) -> None:
        ...
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        beta * input + alpha * batch1 @ batch2, with input broadcast.
        """
    def baddbmm_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``baddbmm`` gives over the tensor. (torch.Tensor.baddbmm_)
        """
    def bernoulli(self, p: typing.SupportsFloat | typing.SupportsIndex | None = None, *, generator: Generator = None) -> Tensor:
        """
        1 with the probability that each element gives (or p), else 0.
        """
    def bernoulli_(self, p: Tensor | complex | float | int | bool = 0.5, *, generator: Generator = None) -> Tensor:
        """
        Overwrites with 1, with probability p (a number or a tensor), and 0.
        """
    def bfloat16(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def bincount(self, weights: Tensor | None = None, minlength: typing.SupportsIndex = 0) -> Tensor:
        """
        How often each whole number from 0 on occurs, or the sum of its weights; at least minlength places. Waits for the largest.
        """
    def bitwise_and(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The bits set in both.
        """
    def bitwise_and_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The bits set in both.
        """
    def bitwise_left_shift(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The bits of a moved b places up; 0 where b is negative or beyond the width.
        """
    def bitwise_left_shift_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The bits of a moved b places up; 0 where b is negative or beyond the width.
        """
    def bitwise_not(self) -> Tensor:
        """
        All bits inverted; logical for bool.
        """
    def bitwise_not_(self) -> Tensor:
        """
        In place: All bits inverted; logical for bool.
        """
    def bitwise_or(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The bits set in either.
        """
    def bitwise_or_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The bits set in either.
        """
    def bitwise_right_shift(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The bits of a moved b places down, the sign kept; all of them where b is negative.
        """
    def bitwise_right_shift_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The bits of a moved b places down, the sign kept; all of them where b is negative.
        """
    def bitwise_xor(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The bits set in exactly one.
        """
    def bitwise_xor_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The bits set in exactly one.
        """
    def bmm(self, mat2: Tensor) -> Tensor:
        """
        Batched matrix product [B, M, K] x [B, K, N] -> [B, M, N].
        """
    def bool(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def byte(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def cdouble(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def ceil(self) -> Tensor:
        """
        The smallest whole number not below every element.
        """
    def ceil_(self) -> Tensor:
        """
        In place: The smallest whole number not below every element.
        """
    def celu(self, alpha: complex | float | int | bool | None = 1.0) -> Tensor:
        """
        elu with a continuous slope (Barron 2017).
        """
    def celu_(self, alpha: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: elu with a continuous slope (Barron 2017).
        """
    def cfloat(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def char(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def cholesky(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        ``linalg.cholesky`` by its old name (torch.cholesky).
        """
    def cholesky_inverse(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        The inverse of the matrix whose Cholesky factor is ``input`` (*, n, n) (torch.cholesky_inverse).
        
            Gradients are those of the triangle that is read; PyTorch's fill the other one too.
            
        """
    def cholesky_solve(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        X of A X = ``input`` (*, n, k), where ``input2`` (*, n, n) is the Cholesky factor of A, the upper one
            with ``upper`` (torch.cholesky_solve).
        """
    def chunk(self, chunks: typing.SupportsIndex, dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]:
        """
        A tuple of at most chunks equal parts along dim.
        """
    @typing.overload
    def clamp(self, min: complex | float | int | bool | None = None, max: complex | float | int | bool | None = None) -> Tensor:
        """
        a held between min and max.
        """
    @typing.overload
    def clamp(self, min: Tensor | complex | float | int | bool | None = None, max: Tensor | complex | float | int | bool | None = None) -> Tensor:
        """
        a held between min and max.
        """
    @typing.overload
    def clamp_(self, min: complex | float | int | bool | None = None, max: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: a held between min and max.
        """
    @typing.overload
    def clamp_(self, min: Tensor | complex | float | int | bool | None = None, max: Tensor | complex | float | int | bool | None = None) -> Tensor:
        ...
    @typing.overload
    def clamp_max(self, max: complex | float | int | bool | None = ...) -> Tensor:
        """
        a held at max or below.
        """
    @typing.overload
    def clamp_max(self, max: Tensor | complex | float | int | bool) -> Tensor:
        """
        a held at max or below.
        """
    @typing.overload
    def clamp_max_(self, max: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: a held at max or below.
        """
    @typing.overload
    def clamp_max_(self, max: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def clamp_max_tensor(self, max: Tensor | complex | float | int | bool) -> Tensor:
        """
        clamp_max with a tensor as bound.
        """
    @typing.overload
    def clamp_min(self, min: complex | float | int | bool | None = ...) -> Tensor:
        """
        a held at min or above.
        """
    @typing.overload
    def clamp_min(self, min: Tensor | complex | float | int | bool) -> Tensor:
        """
        a held at min or above.
        """
    @typing.overload
    def clamp_min_(self, min: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: a held at min or above.
        """
    @typing.overload
    def clamp_min_(self, min: Tensor | complex | float | int | bool) -> Tensor:
        ...
    def clamp_min_tensor(self, min: Tensor | complex | float | int | bool) -> Tensor:
        """
        clamp_min with a tensor as bound.
        """
    def clamp_tensor(self, min: Tensor | complex | float | int | bool, max: Tensor | complex | float | int | bool) -> Tensor:
        """
        clamp with tensors as bounds.
        """
    def clone(self, *, memory_format: memory_format | None = None) -> Tensor:
        """
        A copy.
        """
    def coalesce(self) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor.coalesce)
        """
    def conj(self) -> Tensor:
        """
        The conjugates, with the signs of the imaginary parts turned; a tensor of real numbers itself.
        """
    def conj_physical_(self) -> Tensor:
        """
        Turns the signs of the imaginary parts in place. (torch.Tensor.conj_physical_)
        """
    def contiguous(self, *, memory_format: memory_format | None = None) -> Tensor:
        """
        The tensor itself where it is contiguous, else a contiguous copy.
        """
    @typing.overload
    def copy_(self, src: Tensor, non_blocking: bool = False) -> Tensor:
        """
        Takes the elements of src, broadcast and converted.
        """
    @typing.overload
    def copy_(self, src: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]], non_blocking: bool = False) -> Tensor:
        """
        From a NumPy array: the upload overlaps with what the device computes; non_blocking as in ocl.tensor.
        """
    def copysign(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        a with the sign of b.
        """
    def copysign_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: a with the sign of b.
        """
    def cos(self) -> Tensor:
        """
        The cosine, of radians.
        """
    def cos_(self) -> Tensor:
        """
        In place: The cosine, of radians.
        """
    def cosh(self) -> Tensor:
        """
        The hyperbolic cosine.
        """
    def cosh_(self) -> Tensor:
        """
        In place: The hyperbolic cosine.
        """
    def count_nonzero(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        How many elements are non-zero.
        """
    def cpu(self) -> Tensor:
        """
        On a CPU: itself if it is on one, else a copy on the first OpenCL device of that type. numpy(), item() and tolist() need no such copy. Raises DeviceError where no OpenCL device is a CPU.
        """
    def cross(self, other: Tensor, dim: typing.SupportsIndex | None = None) -> Tensor:
        """
        The cross products of vectors of 3 elements along dim.
        """
    def cummax(self, dim: typing.SupportsIndex) -> tuple[Tensor, Tensor]:
        """
        The largest elements so far along dim and where they stand (values, indices).
        """
    def cummin(self, dim: typing.SupportsIndex) -> tuple[Tensor, Tensor]:
        """
        The smallest elements so far along dim and where they stand (values, indices).
        """
    def cumprod(self, dim: typing.SupportsIndex, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
        """
        Running products along dim.
        """
    def cumprod_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``cumprod`` gives over the tensor. (torch.Tensor.cumprod_)
        """
    def cumsum(self, dim: typing.SupportsIndex, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
        """
        Running sums along dim.
        """
    def cumsum_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``cumsum`` gives over the tensor. (torch.Tensor.cumsum_)
        """
    def data_ptr(self) -> int:
        """
        A number for the place of the first element: the same for tensors that begin at one place in memory.
        
            It is no address: memory of a device has none here. (torch.Tensor.data_ptr)
            
        """
    def deg2rad_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``deg2rad`` gives over the tensor. (torch.Tensor.deg2rad_)
        """
    def dense_dim(self) -> int:
        """
        The number of dimensions: all are dense. (torch.Tensor.dense_dim)
        """
    def det(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        The determinants (*,) of A (*, n, n) (torch.linalg.det).
        """
    def detach(self) -> Tensor:
        ...
    def detach_(self) -> Tensor:
        """
        Takes the tensor out of its graph: it becomes a leaf without gradients. (torch.Tensor.detach_)
        """
    def diagonal(self, offset: typing.SupportsIndex = 0, dim1: typing.SupportsIndex = 0, dim2: typing.SupportsIndex = 1) -> Tensor:
        """
        Entries (i, i + offset) of two dimensions, as a last dimension.
        """
    def diff(self, n: typing.SupportsIndex = 1, dim: typing.SupportsIndex = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """
        Differences of neighbours along dim, n times.
        """
    def digamma(self) -> Tensor:
        """
        The derivative of lgamma.
        """
    def digamma_(self) -> Tensor:
        """
        In place: The derivative of lgamma.
        """
    def dim(self) -> int:
        ...
    @typing.overload
    def div(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The true quotient.
        """
    @typing.overload
    def div(self, other: Tensor | complex | float | int | bool, *, rounding_mode: str | None) -> Tensor:
        ...
    @typing.overload
    def div_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The true quotient.
        """
    @typing.overload
    def div_(self, other: Tensor | complex | float | int | bool, *, rounding_mode: str | None) -> Tensor:
        ...
    def div_floor(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        div with rounding_mode='floor'.
        """
    def div_trunc(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        div with rounding_mode='trunc'.
        """
    def dot(self, tensor: Tensor) -> Tensor:
        """
        The sum of the products of two vectors.
        """
    def double(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def element_size(self) -> int:
        ...
    def elu(self, alpha: complex | float | int | bool | None = 1.0) -> Tensor:
        """
        a, or alpha * (exp(a) - 1) where negative (Clevert et al. 2016).
        """
    def elu_(self, alpha: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: a, or alpha * (exp(a) - 1) where negative (Clevert et al. 2016).
        """
    def eq(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether a equals b.
        """
    def eq_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether a equals b.
        """
    def equal(self, other: Tensor) -> bool:
        """
        Whether both have one shape and the same elements, a bool of Python; waits.
        """
    def erf(self) -> Tensor:
        """
        The error function.
        """
    def erf_(self) -> Tensor:
        """
        In place: The error function.
        """
    def erfc(self) -> Tensor:
        """
        1 - erf(a), exact where that is small.
        """
    def erfc_(self) -> Tensor:
        """
        In place: 1 - erf(a), exact where that is small.
        """
    def erfinv(self) -> Tensor:
        """
        The inverse of erf; infinite at -1 and 1, NaN beyond.
        """
    def erfinv_(self) -> Tensor:
        """
        In place: The inverse of erf; infinite at -1 and 1, NaN beyond.
        """
    def exp(self) -> Tensor:
        """
        e to the power of every element.
        """
    def exp2(self) -> Tensor:
        """
        2 to the power of every element.
        """
    def exp2_(self) -> Tensor:
        """
        In place: 2 to the power of every element.
        """
    def exp_(self) -> Tensor:
        """
        In place: e to the power of every element.
        """
    @typing.overload
    def expand(self, *args) -> Tensor:
        """
        Dimensions of size 1 repeated without a copy; -1 keeps a size.
        """
    @typing.overload
    def expand(self, *, size: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        Dimensions of size 1 repeated without a copy; -1 keeps a size.
        """
    def expand_as(self, other: Tensor) -> Tensor:
        """
        Expanded to the shape of other.
        """
    def expm1(self) -> Tensor:
        """
        exp(a) - 1, exact near 0.
        """
    def expm1_(self) -> Tensor:
        """
        In place: exp(a) - 1, exact near 0.
        """
    def exponential_(self, lambd: typing.SupportsFloat | typing.SupportsIndex = 1.0, *, generator: Generator = None) -> Tensor:
        """
        Overwrites with numbers of density lambd exp(-lambd x).
        """
    def fill_(self, value: Tensor | complex | float | int | bool) -> Tensor:
        """
        Sets every element to value.
        """
    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Tensor:
        """
        Overwrites the elements whose coordinates are equal; with `wrap` the diagonal of a tall matrix begins
            anew below an empty row. (torch.Tensor.fill_diagonal_)
            
        """
    def fix_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``fix`` gives over the tensor. (torch.Tensor.fix_)
        """
    def flatten(self, start_dim: typing.SupportsIndex = 0, end_dim: typing.SupportsIndex = -1) -> Tensor:
        """
        The dimensions from start_dim to end_dim as one.
        """
    @typing.overload
    def flip(self, *args) -> Tensor:
        """
        A copy in reverse order along dims.
        """
    @typing.overload
    def flip(self, *, dims: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        A copy in reverse order along dims.
        """
    def fliplr(self) -> Tensor:
        """
        A copy with the second dimension in reverse order.
        """
    def flipud(self) -> Tensor:
        """
        A copy with the first dimension in reverse order.
        """
    def float(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def float_power_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``float_power`` gives over the tensor. (torch.Tensor.float_power_)
        """
    def floor(self) -> Tensor:
        """
        The largest whole number not above every element.
        """
    def floor_(self) -> Tensor:
        """
        In place: The largest whole number not above every element.
        """
    def floor_divide(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The quotient rounded down.
        """
    def floor_divide_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The quotient rounded down.
        """
    def fmax(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The larger of a and b; the other one where one is NaN.
        """
    def fmin(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The smaller of a and b; the other one where one is NaN.
        """
    def fmod(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The remainder of division, with the sign of a.
        """
    def fmod_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The remainder of division, with the sign of a.
        """
    def frac(self) -> Tensor:
        """
        What trunc leaves.
        """
    def frac_(self) -> Tensor:
        """
        In place: What trunc leaves.
        """
    def gather(self, dim: typing.SupportsIndex, index: Tensor) -> Tensor:
        """
        Elements along dim that index names; the shape of index (int64 or int32).
        """
    def gcd_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``gcd`` gives over the tensor. (torch.Tensor.gcd_)
        """
    def ge(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether a is at least b.
        """
    def ge_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether a is at least b.
        """
    def gelu(self) -> Tensor:
        """
        a times the normal distribution function of a (Hendrycks and Gimpel 2016).
        """
    def gelu_(self) -> Tensor:
        """
        In place: a times the normal distribution function of a (Hendrycks and Gimpel 2016).
        """
    def gelu_tanh(self) -> Tensor:
        """
        gelu in its tanh approximation.
        """
    def geqrf(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        The factors of ``qr`` as LAPACK has them. No gradient flows. (torch.geqrf)
        """
    def glu_kernel(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        a * sigmoid(b): glu of its two halves.
        """
    def glu_kernel_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: a * sigmoid(b): glu of its two halves.
        """
    def greater_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``greater`` gives over the tensor. (torch.Tensor.greater_)
        """
    def greater_equal_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``greater_equal`` gives over the tensor. (torch.Tensor.greater_equal_)
        """
    def gt(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether a is greater than b.
        """
    def gt_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether a is greater than b.
        """
    def half(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def hardshrink(self, lambd: complex | float | int | bool | None = 0.5) -> Tensor:
        """
        a, but 0 between -lambd and lambd.
        """
    def hardsigmoid(self) -> Tensor:
        """
        relu6(a + 3) / 6.
        """
    def hardsigmoid_(self) -> Tensor:
        """
        In place: relu6(a + 3) / 6.
        """
    def hardswish(self) -> Tensor:
        """
        a * relu6(a + 3) / 6 (Howard et al. 2019).
        """
    def hardswish_(self) -> Tensor:
        """
        In place: a * relu6(a + 3) / 6 (Howard et al. 2019).
        """
    def hardtanh(self, min_val: complex | float | int | bool | None = None, max_val: complex | float | int | bool | None = None) -> Tensor:
        """
        a held between min_val and max_val.
        """
    def hardtanh_(self, min_val: complex | float | int | bool | None = None, max_val: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: a held between min_val and max_val.
        """
    def heaviside(self, values: Tensor | complex | float | int | bool) -> Tensor:
        """
        0 where a is negative, b where it is 0, 1 where it is positive.
        """
    def heaviside_(self, values: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: 0 where a is negative, b where it is 0, 1 where it is positive.
        """
    def histc(self, bins: typing.SupportsIndex = 100, min: complex | float | int | bool = 0, max: complex | float | int | bool = 0) -> Tensor:
        """
        How many elements fall into each of bins equal parts of [min, max]; of their own range where both are 0.
        """
    def hypot(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        sqrt(a a + b b), without overflow.
        """
    def hypot_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: sqrt(a a + b b), without overflow.
        """
    def i0_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``i0`` gives over the tensor. (torch.Tensor.i0_)
        """
    def igamma_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``igamma`` gives over the tensor. (torch.Tensor.igamma_)
        """
    def igammac_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``igammac`` gives over the tensor. (torch.Tensor.igammac_)
        """
    def index_add(self, dim: typing.SupportsIndex, index: Tensor, source: Tensor, *, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        input with alpha * source added to the entries of dim that index names, in a fixed order.
        """
    def index_add_(self, dim: typing.SupportsIndex, index: Tensor, source: Tensor, *, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        index_add in place.
        """
    def index_copy(self, dim: typing.SupportsIndex, index: Tensor, source: Tensor) -> Tensor:
        """
        input with the entries of dim that index names taken from source; of several for one entry the last counts.
        """
    def index_copy_(self, dim: typing.SupportsIndex, index: Tensor, source: Tensor) -> Tensor:
        """
        index_copy in place.
        """
    def index_fill(self, dim: typing.SupportsIndex, index: Tensor, value: Tensor | complex | float | int | bool) -> Tensor:
        """
        input with value (a number or a tensor of one element) in the entries of dim that index names.
        """
    def index_fill_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``index_fill`` gives over the tensor. (torch.Tensor.index_fill_)
        """
    def index_put_(self, indices: typing.Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
        """
        Writes values over the entries that indices name, or adds them. (torch.Tensor.index_put_)
        """
    def index_reduce(self, dim: typing.SupportsIndex, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
        """
        input with the prod, mean, amax or amin of the entries of source in those of dim that index names.
        """
    def index_reduce_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``index_reduce`` gives over the tensor. (torch.Tensor.index_reduce_)
        """
    def index_select(self, dim: typing.SupportsIndex, index: Tensor) -> Tensor:
        """
        The entries of dim that index names.
        """
    def indices(self) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor.indices)
        """
    def inner(self, other: Tensor) -> Tensor:
        """
        Sums of products over the last dimensions.
        """
    def int(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def inverse(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        ``linalg.inv`` by its old name (torch.inverse).
        """
    def is_coalesced(self) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor.is_coalesced)
        """
    def is_complex(self) -> bool:
        ...
    def is_contiguous(self, *, memory_format: memory_format | None = None) -> bool:
        ...
    def is_floating_point(self) -> bool:
        ...
    def is_same_size(self, other: Tensor) -> bool:
        """
        Whether both have one shape. (torch.Tensor.is_same_size)
        """
    def isclose(self, other: Tensor, rtol: typing.SupportsFloat | typing.SupportsIndex = 1e-05, atol: typing.SupportsFloat | typing.SupportsIndex = 1e-08, equal_nan: bool = False) -> Tensor:
        """
        Whether each |input - other| <= atol + rtol |other|; bool.
        """
    def isfinite(self) -> Tensor:
        """
        Whether every element is neither NaN nor infinite.
        """
    def isinf(self) -> Tensor:
        """
        Whether every element is infinite.
        """
    def isnan(self) -> Tensor:
        """
        Whether every element is NaN.
        """
    def isneginf(self) -> Tensor:
        """
        Whether every element is negative infinity.
        """
    def isposinf(self) -> Tensor:
        """
        Whether every element is positive infinity.
        """
    def item(self) -> typing.Any:
        """
        The one element as a Python number. Waits.
        """
    def kron(self, other: Tensor) -> Tensor:
        """
        The Kronecker product: every element of input times the whole of other.
        """
    def kthvalue(self, k: typing.SupportsIndex, dim: typing.SupportsIndex = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        """
        The k-th smallest elements along dim, counted from 1, and where they stand (values, indices).
        """
    def lcm_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``lcm`` gives over the tensor. (torch.Tensor.lcm_)
        """
    def ldexp_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``ldexp`` gives over the tensor. (torch.Tensor.ldexp_)
        """
    def le(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether a is at most b.
        """
    def le_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether a is at most b.
        """
    def leaky_relu(self, negative_slope: complex | float | int | bool | None = 0.01) -> Tensor:
        """
        a, or negative_slope * a where negative.
        """
    def leaky_relu_(self, negative_slope: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: a, or negative_slope * a where negative.
        """
    def lerp(self, end: Tensor | complex | float | int | bool, weight: Tensor | complex | float | int | bool) -> Tensor:
        """
        a + weight * (b - a).
        """
    def lerp_(self, end: Tensor | complex | float | int | bool, weight: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: a + weight * (b - a).
        """
    def less_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``less`` gives over the tensor. (torch.Tensor.less_)
        """
    def less_equal_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``less_equal`` gives over the tensor. (torch.Tensor.less_equal_)
        """
    def lgamma(self) -> Tensor:
        """
        The logarithm of the absolute value of the gamma function.
        """
    def lgamma_(self) -> Tensor:
        """
        In place: The logarithm of the absolute value of the gamma function.
        """
    def log(self) -> Tensor:
        """
        The natural logarithm.
        """
    def log10(self) -> Tensor:
        """
        The logarithm to base 10.
        """
    def log10_(self) -> Tensor:
        """
        In place: The logarithm to base 10.
        """
    def log1p(self) -> Tensor:
        """
        log(1 + a), exact near 0.
        """
    def log1p_(self) -> Tensor:
        """
        In place: log(1 + a), exact near 0.
        """
    def log2(self) -> Tensor:
        """
        The logarithm to base 2.
        """
    def log2_(self) -> Tensor:
        """
        In place: The logarithm to base 2.
        """
    def log_(self) -> Tensor:
        """
        In place: The natural logarithm.
        """
    def log_softmax(self, dim: typing.SupportsIndex, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
        """
        The logarithm of softmax, without overflow.
        """
    def logaddexp(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        log(exp(a) + exp(b)), without overflow.
        """
    def logaddexp2(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        log2(2^a + 2^b), without overflow.
        """
    def logcumsumexp(self, dim: typing.SupportsIndex) -> Tensor:
        """
        log(cumsum(exp(input))) along dim, without overflow.
        """
    def logdet(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        log det of (*, n, n), NaN where the determinant of a real matrix is negative (torch.logdet).
        """
    def logical_and(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether both are non-zero.
        """
    def logical_and_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether both are non-zero.
        """
    def logical_not(self) -> Tensor:
        """
        Whether every element is zero.
        """
    def logical_not_(self) -> Tensor:
        """
        In place: Whether every element is zero.
        """
    def logical_or(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether either is non-zero.
        """
    def logical_or_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether either is non-zero.
        """
    def logical_xor(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether exactly one is non-zero.
        """
    def logical_xor_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether exactly one is non-zero.
        """
    def logit(self, eps: complex | float | int | bool | None = None) -> Tensor:
        """
        log(a / (1 - a)), the inverse of sigmoid, of a held between eps and 1 - eps; an eps below 0 is none.
        """
    def logit_(self, eps: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: log(a / (1 - a)), the inverse of sigmoid, of a held between eps and 1 - eps; an eps below 0 is none.
        """
    def logsigmoid(self) -> Tensor:
        """
        log(sigmoid(a)).
        """
    def logsigmoid_(self) -> Tensor:
        """
        In place: log(sigmoid(a)).
        """
    def logsumexp(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None, keepdim: bool = False) -> Tensor:
        """
        log(sum(exp(input))), without overflow.
        """
    def long(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def lt(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether a is less than b.
        """
    def lt_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether a is less than b.
        """
    def lu(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        ``linalg.lu_factor``, or with ``get_infos`` ``linalg.lu_factor_ex`` (torch.lu).
        """
    def lu_solve(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        ``linalg.lu_solve`` with its arguments in another order (torch.lu_solve).
        """
    def masked_fill(self, mask: Tensor, value: Tensor | complex | float | int | bool) -> Tensor:
        """
        input with value (a number or a scalar tensor) where mask (bool) holds.
        """
    def masked_fill_(self, mask: Tensor, value: Tensor | complex | float | int | bool) -> Tensor:
        """
        masked_fill in place.
        """
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """
        input with the elements of source, one after another, where mask (bool) holds.
        """
    def masked_scatter_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``masked_scatter`` gives over the tensor. (torch.Tensor.masked_scatter_)
        """
    def masked_select(self, mask: Tensor) -> Tensor:
        """
        The elements where mask (bool) holds, one after another; input and mask broadcast. Waits for their number.
        """
    def matmul(self, other: Tensor) -> Tensor:
        """
        Dot product, matrix times vector, matrix product, and batches of them with broadcasting.
        """
    def matrix_exp(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        The exponentials of A (*, n, n) (torch.linalg.matrix_exp).
        
            They are computed on the device; the norms are read, which waits. A matrix that is not finite gives NaN.
            
        """
    def matrix_power(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        A (*, m, m) to the whole power n; a negative one of the inverse (torch.linalg.matrix_power).
        """
    @typing.overload
    def max(self) -> Tensor:
        """
        The largest element; along dim the largest elements and where they stand (values, indices); of two tensors, maximum.
        """
    @typing.overload
    def max(self, other: Tensor) -> Tensor:
        """
        The largest element; along dim the largest elements and where they stand (values, indices); of two tensors, maximum.
        """
    @typing.overload
    def max(self, dim: typing.SupportsIndex, keepdim: bool = False) -> typing.Any:
        """
        The largest element; along dim the largest elements and where they stand (values, indices); of two tensors, maximum.
        """
    def maximum(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The larger of a and b; NaN if either is.
        """
    @typing.overload
    def mean(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The mean of the elements.
        """
    @typing.overload
    def mean(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any]) -> Tensor:
        """
        The mean of the elements.
        """
    @typing.overload
    def median(self) -> Tensor:
        """
        The median, of two in the middle the lower, NaN if there is one; along dim the medians and where they stand (values, indices).
        """
    @typing.overload
    def median(self, dim: typing.SupportsIndex, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        """
        The median, of two in the middle the lower, NaN if there is one; along dim the medians and where they stand (values, indices).
        """
    @typing.overload
    def min(self) -> Tensor:
        """
        The smallest element; along dim the smallest elements and where they stand (values, indices); of two tensors, minimum.
        """
    @typing.overload
    def min(self, other: Tensor) -> Tensor:
        """
        The smallest element; along dim the smallest elements and where they stand (values, indices); of two tensors, minimum.
        """
    @typing.overload
    def min(self, dim: typing.SupportsIndex, keepdim: bool = False) -> typing.Any:
        """
        The smallest element; along dim the smallest elements and where they stand (values, indices); of two tensors, minimum.
        """
    def minimum(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The smaller of a and b; NaN if either is.
        """
    def mish(self) -> Tensor:
        """
        a * tanh(softplus(a)) (Misra 2019).
        """
    def mish_(self) -> Tensor:
        """
        In place: a * tanh(softplus(a)) (Misra 2019).
        """
    def mm(self, mat2: Tensor) -> Tensor:
        """
        Matrix product [M, K] x [K, N] -> [M, N].
        """
    def mode(self, dim: typing.SupportsIndex = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        """
        The most frequent elements along dim and where they stand (values, indices).
        """
    def movedim(self, source: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], destination: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        The dimensions source moved to the places destination.
        """
    def mul(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The product.
        """
    def mul_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The product.
        """
    def multinomial(self, num_samples: typing.SupportsIndex, replacement: bool = False, *, generator: Generator = None) -> Tensor:
        """
        Indices drawn with the probabilities that input [n] or [rows, n] gives up to a factor; int64 [num_samples] or [rows, num_samples].
        """
    def mv(self, vec: Tensor) -> Tensor:
        """
        Matrix [N, M] times vector [M].
        """
    def mvlgamma_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``mvlgamma`` gives over the tensor. (torch.Tensor.mvlgamma_)
        """
    def nan_to_num(self, nan: typing.SupportsFloat | typing.SupportsIndex | None = 0.0, posinf: typing.SupportsFloat | typing.SupportsIndex | None = None, neginf: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        """
        Numbers in the places of NaN and of the infinities: 0, the largest and the least finite number of the dtype where none is given.
        """
    def nan_to_num_(self, nan: typing.SupportsFloat | typing.SupportsIndex | None = 0.0, posinf: typing.SupportsFloat | typing.SupportsIndex | None = None, neginf: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        ...
    def nanmean(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
        """
        The mean of the elements that are not NaN.
        """
    @typing.overload
    def nanmedian(self) -> Tensor:
        """
        median of the elements that are not NaN.
        """
    @typing.overload
    def nanmedian(self, dim: typing.SupportsIndex, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        """
        median of the elements that are not NaN.
        """
    def nanquantile(self, q: Tensor | complex | float | int | bool, dim: typing.SupportsIndex | None = None, keepdim: bool = False, *, interpolation: str = 'linear') -> Tensor:
        """
        quantile of the elements that are not NaN.
        """
    def nansum(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
        """
        The sum of the elements that are not NaN.
        """
    def narrow(self, dim: typing.SupportsIndex, start: typing.SupportsIndex, length: typing.SupportsIndex) -> Tensor:
        """
        length entries of dim from start on.
        """
    def ndimension(self) -> int:
        ...
    def ne(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        Whether a differs from b.
        """
    def ne_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: Whether a differs from b.
        """
    def neg(self) -> Tensor:
        """
        The negative of every element.
        """
    def neg_(self) -> Tensor:
        """
        In place: The negative of every element.
        """
    def nelement(self) -> int:
        ...
    def new(self, *args: typing.Any) -> Tensor:
        """
        ``x.new(2, 3)``: elements that are not set. ``x.new([1, 2])``: these elements. Both have the dtype and
            the device of the tensor. (torch.Tensor.new)
            
        """
    def new_empty(self, *args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
        ...
    def new_full(self, size: collections.abc.Sequence[typing.SupportsIndex], fill_value: complex | float | int | bool, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
        ...
    def new_ones(self, *args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
        ...
    def new_tensor(self, data: typing.Any, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
        """
        As ocl.tensor, with this tensor's dtype and device where none is given.
        """
    def new_zeros(self, *args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
        ...
    def nextafter_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``nextafter`` gives over the tensor. (torch.Tensor.nextafter_)
        """
    def nonzero(self, *, as_tuple: bool = False) -> typing.Any:
        """
        The coordinates [count, rank] of the elements that are not 0, or with as_tuple a tensor for each dimension. Waits for their number.
        """
    def norm(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        (sum |input|^p)^(1/p) for any p, 0 and infinities too, along ``dim`` or of all elements (torch.norm).
        
            "fro" is 2. "nuc" is the sum of the singular values of the matrices that two dimensions are, on the host.
            
        """
    def normal_(self, mean: typing.SupportsFloat | typing.SupportsIndex = 0.0, std: typing.SupportsFloat | typing.SupportsIndex = 1.0, *, generator: Generator = None) -> Tensor:
        """
        Overwrites with normal numbers.
        """
    def not_equal_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``not_equal`` gives over the tensor. (torch.Tensor.not_equal_)
        """
    def numel(self) -> int:
        ...
    def numpy(self, *, force: bool = False, out: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]] | None = None) -> numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]:
        """
        Waits, and copies the elements to a NumPy array. A tensor that requires gradients is refused but with force=True or while gradients are off: use detach(). With `out` to that one, C-contiguous, of the tensor's shape and dtype: one of page-locked memory (pin_memory) takes the bus's full rate.
        """
    def orgqr(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        ``linalg.householder_product`` by its old name (torch.orgqr).
        """
    def outer(self, vec2: Tensor) -> Tensor:
        """
        All products of the elements of two vectors.
        """
    @typing.overload
    def permute(self, *args) -> Tensor:
        """
        The dimensions in another order.
        """
    @typing.overload
    def permute(self, *, dims: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        The dimensions in another order.
        """
    def pinverse(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        ``linalg.pinv`` with ``rcond`` for rtol (torch.pinverse).
        """
    def polygamma(self, n: typing.SupportsIndex) -> Tensor:
        """
        The derivative of digamma of the order n, a whole number: digamma itself at 0.
        """
    def polygamma_kernel(self, n: complex | float | int | bool | None = 0.0) -> Tensor:
        """
        polygamma with the order behind the input.
        """
    def polygamma_kernel_(self, n: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: polygamma with the order behind the input.
        """
    def pow(self, exponent: Tensor | complex | float | int | bool) -> Tensor:
        """
        a to the power b.
        """
    def pow_(self, exponent: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: a to the power b.
        """
    def prelu(self, weight: Tensor) -> Tensor:
        """
        a where positive, weight * a elsewhere; weight has one element, or one for each entry of dimension 1.
        """
    def prelu_kernel(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        prelu with the slope b broadcast already.
        """
    @typing.overload
    def prod(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The product of the elements.
        """
    @typing.overload
    def prod(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any]) -> Tensor:
        """
        The product of the elements.
        """
    def put_(self, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
        """
        Writes source over the elements that index names in the flattened tensor, or adds it to them.
        """
    def qr(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        ``linalg.qr``, reduced, or complete with ``some=False`` (torch.qr).
        """
    def quantile(self, q: Tensor | complex | float | int | bool, dim: typing.SupportsIndex | None = None, keepdim: bool = False, *, interpolation: str = 'linear') -> Tensor:
        """
        What stands at the part q (a number or a vector) of the way from the smallest element to the largest.
        """
    def rad2deg_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``rad2deg`` gives over the tensor. (torch.Tensor.rad2deg_)
        """
    @typing.overload
    def random_(self, to: typing.SupportsIndex | None = None, *, generator: Generator = None) -> Tensor:
        """
        Overwrites with whole numbers in [from, to).
        """
    @typing.overload
    def random_(self, from_: typing.SupportsIndex, to: typing.SupportsIndex | None, *, generator: Generator = None) -> Tensor:
        """
        Overwrites with whole numbers in [from, to).
        """
    def reciprocal(self) -> Tensor:
        """
        One over every element.
        """
    def reciprocal_(self) -> Tensor:
        """
        In place: One over every element.
        """
    def register_hook(self, hook: collections.abc.Callable[[Tensor], typing.Any]) -> HookHandle:
        ...
    def register_post_accumulate_grad_hook(self, hook: collections.abc.Callable[[Tensor], typing.Any]) -> HookHandle:
        """
        Calls hook(tensor) with this leaf as soon as a backward pass has added all there is to its grad.
        """
    def relu(self) -> Tensor:
        """
        max(a, 0).
        """
    def relu6(self) -> Tensor:
        """
        min(max(a, 0), 6).
        """
    def relu6_(self) -> Tensor:
        """
        In place: min(max(a, 0), 6).
        """
    def relu_(self) -> Tensor:
        """
        In place: max(a, 0).
        """
    def remainder(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        The remainder of division, with the sign of b.
        """
    def remainder_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: The remainder of division, with the sign of b.
        """
    def renorm(self, p: complex | float | int | bool, dim: typing.SupportsIndex, maxnorm: complex | float | int | bool) -> Tensor:
        """
        The entries of dim, those with a p-norm above maxnorm scaled down to it.
        """
    def renorm_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``renorm`` gives over the tensor. (torch.Tensor.renorm_)
        """
    @typing.overload
    def repeat(self, *args) -> Tensor:
        """
        Copies along every dimension; more numbers than dimensions add leading ones.
        """
    @typing.overload
    def repeat(self, *, repeats: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        Copies along every dimension; more numbers than dimensions add leading ones.
        """
    def repeat_interleave(self, repeats: typing.SupportsIndex | Tensor, dim: typing.SupportsIndex | None = None, *, output_size: typing.SupportsIndex | None = None) -> Tensor:
        """
        Every element several times in a row along dim.
        """
    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        ...
    @typing.overload
    def reshape(self, *args) -> Tensor:
        """
        A view where the strides allow one, else a copy; one size may be -1.
        """
    @typing.overload
    def reshape(self, *, shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        A view where the strides allow one, else a copy; one size may be -1.
        """
    def reshape_as(self, other: Tensor) -> Tensor:
        """
        Reshaped to the shape of other. (torch.Tensor.reshape_as)
        """
    def resize_(self, *size: typing.Any, memory_format: typing.Any = None) -> Tensor:
        """
        Gives the tensor that size, row by row over its memory, and returns it. (torch.Tensor.resize_)
        
            Where the memory is too small it gets more, with the elements that it had first and others of any value.
            Views of it keep the old one; those of PyTorch's follow. RuntimeError for a tensor that requires
            gradients, and for negative sizes.
            
        """
    def retain_grad(self) -> None:
        ...
    def roll(self, shifts: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], dims: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None) -> Tensor:
        """
        A copy moved by shifts along dims; what leaves enters at the other end.
        """
    def rot90(self, k: typing.SupportsIndex = 1, dims: collections.abc.Sequence[typing.SupportsIndex] = [0, 1]) -> Tensor:
        """
        Turned k times by 90 degrees in the plane of dims.
        """
    @typing.overload
    def round(self) -> Tensor:
        """
        The nearest whole number; halves go to the even one.
        """
    @typing.overload
    def round(self, *, decimals: typing.SupportsIndex) -> Tensor:
        """
        The nearest whole number; halves go to the even one.
        """
    @typing.overload
    def round_(self) -> Tensor:
        """
        In place: The nearest whole number; halves go to the even one.
        """
    @typing.overload
    def round_(self, *, decimals: typing.SupportsIndex) -> Tensor:
        ...
    def round_decimals(self, scale: complex | float | int | bool | None = None, divisor: complex | float | int | bool | None = None) -> Tensor:
        """
        round with decimals, of which one of the parameters is the power of ten.
        """
    def rsqrt(self) -> Tensor:
        """
        One over the square root.
        """
    def rsqrt_(self) -> Tensor:
        """
        In place: One over the square root.
        """
    def rsub(self, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        b - alpha * a.
        """
    @typing.overload
    def scatter(self, dim: typing.SupportsIndex, index: Tensor, src: Tensor | complex | float | int | bool) -> Tensor:
        """
        input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
        """
    @typing.overload
    def scatter(self, dim: typing.SupportsIndex, index: Tensor, src: Tensor | complex | float | int | bool, *, reduce: str) -> Tensor:
        """
        input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
        """
    @typing.overload
    def scatter(self, dim: typing.SupportsIndex, index: Tensor, value: Tensor | complex | float | int | bool, *, reduce: str) -> Tensor:
        """
        input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
        """
    @typing.overload
    def scatter(self, dim: typing.SupportsIndex, index: Tensor, value: complex | float | int | bool) -> Tensor:
        """
        input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
        """
    @typing.overload
    def scatter_(self, dim: typing.SupportsIndex, index: Tensor, src: Tensor | complex | float | int | bool) -> Tensor:
        """
        scatter in place.
        """
    @typing.overload
    def scatter_(self, dim: typing.SupportsIndex, index: Tensor, src: Tensor | complex | float | int | bool, *, reduce: str) -> Tensor:
        """
        scatter in place.
        """
    @typing.overload
    def scatter_(self, dim: typing.SupportsIndex, index: Tensor, value: Tensor | complex | float | int | bool, *, reduce: str) -> Tensor:
        """
        scatter in place.
        """
    @typing.overload
    def scatter_(self, dim: typing.SupportsIndex, index: Tensor, value: complex | float | int | bool) -> Tensor:
        """
        scatter in place.
        """
    def scatter_add(self, dim: typing.SupportsIndex, index: Tensor, src: Tensor) -> Tensor:
        """
        input with src added at the places along dim that index names, in a fixed order.
        """
    def scatter_add_(self, dim: typing.SupportsIndex, index: Tensor, src: Tensor) -> Tensor:
        """
        scatter_add in place.
        """
    def scatter_reduce(self, dim: typing.SupportsIndex, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
        """
        input with the sum, prod, mean, amax or amin of the elements of src at the places along dim that index names.
        """
    def scatter_reduce_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``scatter_reduce`` gives over the tensor. (torch.Tensor.scatter_reduce_)
        """
    def select(self, dim: typing.SupportsIndex, index: typing.SupportsIndex) -> Tensor:
        """
        Entry index of dim, which goes away.
        """
    def selu(self) -> Tensor:
        """
        The self-normalising unit (Klambauer et al. 2017).
        """
    def selu_(self) -> Tensor:
        """
        In place: The self-normalising unit (Klambauer et al. 2017).
        """
    def set_(self, source: Tensor | ocl.TypedStorage | ocl.UntypedStorage | None = None, storage_offset: int = 0, size: typing.Sequence[int] | None = None, stride: typing.Sequence[int] | None = None) -> Tensor:
        """
        Has the tensor stand for the memory of `source`, a tensor or a storage, and returns it; with `size` for
            that part of it. (torch.Tensor.set_)
        
            Without a source it gets none, and no elements. ArgumentTypeError for another dtype, ArgumentValueError
            for a part that goes beyond the memory. RuntimeError for a tensor that requires gradients.
            
        """
    def sgn(self) -> Tensor:
        """
        As sign, for real numbers.
        """
    def sgn_(self) -> Tensor:
        """
        In place: As sign, for real numbers.
        """
    def short(self, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def sigmoid(self) -> Tensor:
        """
        1 / (1 + exp(-a)).
        """
    def sigmoid_(self) -> Tensor:
        """
        In place: 1 / (1 + exp(-a)).
        """
    def sign(self) -> Tensor:
        """
        -1, 0 or 1 by the sign of every element.
        """
    def sign_(self) -> Tensor:
        """
        In place: -1, 0 or 1 by the sign of every element.
        """
    def signbit(self) -> Tensor:
        """
        Whether the sign of every element is set, that of -0 too.
        """
    def silu(self) -> Tensor:
        """
        a * sigmoid(a), also named swish.
        """
    def silu_(self) -> Tensor:
        """
        In place: a * sigmoid(a), also named swish.
        """
    def sin(self) -> Tensor:
        """
        The sine, of radians.
        """
    def sin_(self) -> Tensor:
        """
        In place: The sine, of radians.
        """
    def sinc(self) -> Tensor:
        """
        sin(pi a) / (pi a), 1 at 0.
        """
    def sinc_(self) -> Tensor:
        """
        In place: sin(pi a) / (pi a), 1 at 0.
        """
    def sinh(self) -> Tensor:
        """
        The hyperbolic sine.
        """
    def sinh_(self) -> Tensor:
        """
        In place: The hyperbolic sine.
        """
    def size(self, dim: typing.Any = None) -> typing.Any:
        """
        size(self: ocl._C.Tensor, dim: typing.SupportsIndex | None = None) -> object
        """
    def slogdet(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        The signs of the determinants of A (*, n, n) and the logarithms of their magnitudes, each (*,).
        
            (torch.linalg.slogdet) The sign of a complex matrix is a complex number of magnitude 1. A singular matrix
            gives 0 and minus infinity, and NaN as its gradient.
            
        """
    def softmax(self, dim: typing.SupportsIndex, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
        """
        exp(input) over its sum along dim.
        """
    def softplus(self, beta: complex | float | int | bool | None = None, threshold: complex | float | int | bool | None = None) -> Tensor:
        """
        log(1 + exp(beta * a)) / beta; linear above threshold / beta.
        """
    def softplus_(self, beta: complex | float | int | bool | None = None, threshold: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: log(1 + exp(beta * a)) / beta; linear above threshold / beta.
        """
    def softshrink(self, lambd: complex | float | int | bool | None = 0.5) -> Tensor:
        """
        a moved by lambd towards 0, which is as far as it goes.
        """
    def softsign(self) -> Tensor:
        """
        a / (1 + |a|).
        """
    def softsign_(self) -> Tensor:
        """
        In place: a / (1 + |a|).
        """
    def sort(self, dim: typing.SupportsIndex = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
        """
        The elements of dim in order, and where each stood; always stable, NaN as the largest.
        """
    def sparse_dim(self) -> int:
        """
        0: it is dense. (torch.Tensor.sparse_dim)
        """
    def special_entr(self) -> Tensor:
        """
        -a log(a), the entropy; 0 at 0, minus infinity below.
        """
    def special_xlog1py(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        a log(1 + b); 0 where a is 0 and b is not NaN.
        """
    def split(self, split_size: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]:
        """
        A tuple of parts along dim: of split_size entries, or of the sizes listed.
        """
    def sqrt(self) -> Tensor:
        """
        The square root.
        """
    def sqrt_(self) -> Tensor:
        """
        In place: The square root.
        """
    def square(self) -> Tensor:
        """
        The square of every element.
        """
    def square_(self) -> Tensor:
        """
        In place: The square of every element.
        """
    def squeeze(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None) -> Tensor:
        """
        Without dimensions of size 1.
        """
    def squeeze_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Gives the tensor the shape and strides of what ``squeeze`` gives.
        
            Raises RuntimeError for a leaf that requires gradients. (torch.Tensor.squeeze_)
            
        """
    @typing.overload
    def std(self, unbiased: bool) -> Tensor:
        """
        The standard deviation, the square root of var.
        """
    @typing.overload
    def std(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        """
        The standard deviation, the square root of var.
        """
    @typing.overload
    def std_mean(self, unbiased: bool) -> tuple[Tensor, Tensor]:
        """
        std and mean.
        """
    @typing.overload
    def std_mean(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> tuple[Tensor, Tensor]:
        """
        std and mean.
        """
    def storage(self) -> ocl.TypedStorage:
        """
        The memory that the tensor shares with its views. (torch.Tensor.storage)
        """
    def storage_offset(self) -> int:
        ...
    def stride(self, dim: typing.SupportsIndex | None = None) -> typing.Any:
        ...
    def sub(self, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        a - alpha * b.
        """
    def sub_(self, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
        """
        In place: a - alpha * b.
        """
    @typing.overload
    def sum(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The sum of the elements.
        """
    @typing.overload
    def sum(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any]) -> Tensor:
        """
        The sum of the elements.
        """
    def sum_to_size(self, *size: int | typing.Sequence[int]) -> Tensor:
        """
        Summed over the dimensions that expand `size` to the shape. (torch.Tensor.sum_to_size)
        """
    def svd(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        U, S and V, not its adjoint, of ``linalg.svd``; ``some=False`` gives the full matrices (torch.svd).
        
            Without ``compute_uv`` U (*, m, m) and V (*, n, n) are zeros.
            
        """
    def swapaxes(self, axis0: typing.SupportsIndex, axis1: typing.SupportsIndex) -> Tensor:
        """
        Two dimensions swapped.
        """
    def swapaxes_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Gives the tensor the shape and strides of what ``swapaxes`` gives.
        
            Raises RuntimeError for a leaf that requires gradients. (torch.Tensor.swapaxes_)
            
        """
    def swapdims_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Gives the tensor the shape and strides of what ``swapdims`` gives.
        
            Raises RuntimeError for a leaf that requires gradients. (torch.Tensor.swapdims_)
            
        """
    def t(self) -> Tensor:
        """
        The transpose of a matrix; anything of fewer dimensions as it is.
        """
    def t_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Gives the tensor the shape and strides of what ``t`` gives.
        
            Raises RuntimeError for a leaf that requires gradients. (torch.Tensor.t_)
            
        """
    def take(self, index: Tensor) -> Tensor:
        """
        The elements that index names in the flattened tensor, in the shape of index.
        """
    def take_along_dim(self, indices: Tensor, dim: typing.SupportsIndex | None = None) -> Tensor:
        """
        gather with input and indices broadcast apart from dim; of the flat tensor without dim.
        """
    def tan(self) -> Tensor:
        """
        The tangent, of radians.
        """
    def tan_(self) -> Tensor:
        """
        In place: The tangent, of radians.
        """
    def tanh(self) -> Tensor:
        """
        The hyperbolic tangent.
        """
    def tanh_(self) -> Tensor:
        """
        In place: The hyperbolic tangent.
        """
    def tanhshrink(self) -> Tensor:
        """
        a - tanh(a).
        """
    def tanhshrink_(self) -> Tensor:
        """
        In place: a - tanh(a).
        """
    def threshold(self, threshold: complex | float | int | bool | None = None, value: complex | float | int | bool | None = None) -> Tensor:
        """
        a where it is above threshold, value elsewhere.
        """
    def threshold_(self, threshold: complex | float | int | bool | None = None, value: complex | float | int | bool | None = None) -> Tensor:
        """
        In place: a where it is above threshold, value elsewhere.
        """
    @typing.overload
    def tile(self, *args) -> Tensor:
        """
        As repeat; fewer numbers than dimensions stand for the last ones.
        """
    @typing.overload
    def tile(self, *, dims: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        As repeat; fewer numbers than dimensions stand for the last ones.
        """
    @typing.overload
    def to(self, dtype: numpy.dtype[typing.Any], non_blocking: bool = False, copy: bool = False, *, memory_format: memory_format | None = None) -> Tensor:
        """
        To a device, a dtype, or those of another tensor, and to a memory format. A copy on another device waits for the tensor, and never for the upload there, which overlaps with what that device computes: non_blocking changes nothing.
        """
    @typing.overload
    def to(self, tensor: Tensor, non_blocking: bool = False, copy: bool = False, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    @typing.overload
    def to(self, device: device | str | int | None = None, dtype: numpy.dtype[typing.Any] | None = None, non_blocking: bool = False, copy: bool = False, *, memory_format: memory_format | None = None) -> Tensor:
        ...
    def to_dense(self, dtype: typing.Any = None, *, masked_grad: bool | None = None) -> Tensor:
        """
        Itself, of another dtype where one is given. (torch.Tensor.to_dense)
        """
    def to_sparse(self, sparse_dim: int | None = None, *, layout: typing.Any = None, blocksize: typing.Any = None, dense_dim: int | None = None) -> Tensor:
        """
        The elements that are not 0, as a sparse tensor whose first ``sparse_dim`` dimensions (all) have
            indices. Waits for their number. (torch.Tensor.to_sparse)
            
        """
    def to_sparse_bsc(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        Raises TypeError: there is no such layout. (torch.Tensor.to_sparse_bsc)
        """
    def to_sparse_bsr(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        Raises TypeError: there is no such layout. (torch.Tensor.to_sparse_bsr)
        """
    def to_sparse_coo(self) -> Tensor:
        """
        The elements that are not 0, as a sparse tensor; waits for their number.
            (torch.Tensor.to_sparse_coo)
            
        """
    def to_sparse_csc(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        Raises TypeError: there is no such layout. (torch.Tensor.to_sparse_csc)
        """
    def to_sparse_csr(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        Raises TypeError: there is no such layout. (torch.Tensor.to_sparse_csr)
        """
    def tolist(self) -> typing.Any:
        """
        The elements as nested lists, or a number. Waits.
        """
    def topk(self, k: typing.SupportsIndex, dim: typing.SupportsIndex = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
        """
        The k largest or smallest elements of dim in order, and where each stood; of equal ones the first.
        """
    def trace(self) -> Tensor:
        """
        The sum of the diagonal of a matrix.
        """
    def transpose(self, dim0: typing.SupportsIndex, dim1: typing.SupportsIndex) -> Tensor:
        """
        Two dimensions swapped.
        """
    def transpose_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Gives the tensor the shape and strides of what ``transpose`` gives.
        
            Raises RuntimeError for a leaf that requires gradients. (torch.Tensor.transpose_)
            
        """
    def triangular_solve(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        X of A X = b, or with ``transpose`` of A^T X = b, for triangular A, and a copy of A
            (torch.triangular_solve); the shapes are those of ``linalg.solve_triangular``.
        """
    def tril(self, diagonal: typing.SupportsIndex = 0) -> Tensor:
        """
        Matrices with 0 above the diagonal; a positive diagonal keeps more.
        """
    def tril_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``tril`` gives over the tensor. (torch.Tensor.tril_)
        """
    def triu(self, diagonal: typing.SupportsIndex = 0) -> Tensor:
        """
        Matrices with 0 below the diagonal; a positive diagonal keeps less.
        """
    def triu_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``triu`` gives over the tensor. (torch.Tensor.triu_)
        """
    def true_divide_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Writes what ``true_divide`` gives over the tensor. (torch.Tensor.true_divide_)
        """
    def trunc(self) -> Tensor:
        """
        The whole number towards 0.
        """
    def trunc_(self) -> Tensor:
        """
        In place: The whole number towards 0.
        """
    def type(self, dtype: typing.Any = None, non_blocking: bool = False) -> typing.Any:
        """
        The name of the tensor's type, or the tensor in another dtype. (torch.Tensor.type)
        
            `dtype`: also a type of tensors (``LongTensor``) or the name of one ("torch.LongTensor").
            
        """
    def type_as(self, other: Tensor) -> Tensor:
        """
        Converted to the dtype of other, on its device. (torch.Tensor.type_as)
        """
    def unbind(self, dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]:
        """
        A tuple of the entries of dim, which goes away.
        """
    def unflatten(self, dim: typing.SupportsIndex, sizes: collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        Dimension dim as several; one of their sizes may be -1.
        """
    def unfold_dimension(self, dimension: typing.SupportsIndex, size: typing.SupportsIndex, step: typing.SupportsIndex) -> Tensor:
        """
        Tensor.unfold: windows of size entries of dimension, one each step entries, as a last dimension.
        """
    def uniform_(self, from_: typing.SupportsFloat | typing.SupportsIndex = 0.0, to: typing.SupportsFloat | typing.SupportsIndex = 1.0, *, generator: Generator = None) -> Tensor:
        """
        Overwrites with numbers uniform in [from, to).
        """
    def unique(self, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: typing.SupportsIndex | None = None) -> typing.Any:
        """
        The values that occur, in ascending order; on request where each element stands among them and how often each occurs. Waits for their number.
        """
    def unique_consecutive(self, return_inverse: bool = False, return_counts: bool = False, dim: typing.SupportsIndex | None = None) -> typing.Any:
        """
        Of each run of equal elements one; on request the run of each element and the runs' lengths. Waits for their number.
        """
    def unsqueeze(self, dim: typing.SupportsIndex) -> Tensor:
        """
        With a dimension of size 1 at dim.
        """
    def unsqueeze_(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor:
        """
        Gives the tensor the shape and strides of what ``unsqueeze`` gives.
        
            Raises RuntimeError for a leaf that requires gradients. (torch.Tensor.unsqueeze_)
            
        """
    def untyped_storage(self) -> ocl.UntypedStorage:
        """
        The memory that the tensor shares with its views, as bytes. (torch.Tensor.untyped_storage)
        """
    def values(self) -> typing.Any:
        """
        Of a sparse tensor alone; raises TypeError. (torch.Tensor.values)
        """
    @typing.overload
    def var(self, unbiased: bool) -> Tensor:
        """
        The variance, with n - correction for the number of elements; in two passes.
        """
    @typing.overload
    def var(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        """
        The variance, with n - correction for the number of elements; in two passes.
        """
    @typing.overload
    def var_mean(self, unbiased: bool) -> tuple[Tensor, Tensor]:
        """
        var and mean.
        """
    @typing.overload
    def var_mean(self, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> tuple[Tensor, Tensor]:
        """
        var and mean.
        """
    def vdot(self, other: Tensor) -> Tensor:
        """
        dot with the conjugates of input.
        """
    @typing.overload
    def view(self, dtype: numpy.dtype[typing.Any]) -> Tensor:
        """
        The same memory under another shape, or as elements of another dtype; ValueError where it cannot be.
        """
    @typing.overload
    def view(self, *args) -> Tensor:
        """
        The same memory under another shape, or as elements of another dtype; ValueError where it cannot be.
        """
    @typing.overload
    def view(self, *, size: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
        """
        The same memory under another shape, or as elements of another dtype; ValueError where it cannot be.
        """
    def view_as(self, other: Tensor) -> Tensor:
        """
        Viewed in the shape of other.
        """
    def where(self, condition: Tensor, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        b where the condition a holds, c elsewhere.
        """
    def xlogy(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        a log(b); 0 where a is 0 and b is not NaN.
        """
    def xlogy_(self, other: Tensor | complex | float | int | bool) -> Tensor:
        """
        In place: a log(b); 0 where a is 0 and b is not NaN.
        """
    def zero_(self) -> Tensor:
        """
        Sets every element to 0.
        """
    @property
    def H(self) -> Tensor:
        """
        A matrix transposed, with conjugate elements. (torch)
        """
    @property
    def T(self) -> Tensor:
        ...
    @property
    def _base(self) -> Tensor | None:
        ...
    @property
    def _version(self) -> int:
        ...
    @property
    def data(self) -> Tensor:
        """
        The same memory, unknown to the tape; assigning gives the tensor other memory.
        """
    @data.setter
    def data(self, arg1: Tensor) -> None:
        ...
    @property
    def device(self) -> device:
        ...
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        ...
    @property
    def grad_fn(self) -> typing.Any:
        ...
    @property
    def imag(self) -> Tensor:
        """
        The imaginary parts, a view. (torch)
        """
    @imag.setter
    def imag(self, value: Tensor) -> None:
        ...
    @property
    def is_cuda(self):
        """
        False: the device is an OpenCL device. (torch.Tensor)
        """
    @property
    def is_leaf(self) -> bool:
        ...
    @property
    def is_meta(self):
        """
        False: there are no tensors of this kind.
        """
    @property
    def is_mkldnn(self):
        """
        False: there are no tensors of this kind.
        """
    @property
    def is_mps(self):
        """
        False: there are no tensors of this kind.
        """
    @property
    def is_nested(self):
        """
        False: there are no tensors of this kind.
        """
    @property
    def is_quantized(self):
        """
        False: there are no tensors of this kind.
        """
    @property
    def is_sparse(self) -> bool:
        """
        Whether it is a sparse tensor in coordinate format.
        """
    @property
    def is_sparse_csr(self) -> bool:
        """
        False: there are no tensors of that layout.
        """
    @property
    def is_xla(self):
        """
        False: there are no tensors of this kind.
        """
    @property
    def is_xpu(self):
        """
        False: there are no tensors of this kind.
        """
    @property
    def itemsize(self) -> int:
        ...
    @property
    def layout(self) -> typing.Any:
        """
        ``ocl.strided``, or ``ocl.sparse_coo`` of a sparse tensor.
        """
    @property
    def mH(self):
        """
        Matrices transposed, with conjugate elements. (torch)
        """
    @property
    def mT(self) -> Tensor:
        ...
    @property
    def nbytes(self) -> int:
        ...
    @property
    def ndim(self) -> int:
        ...
    @property
    def real(self) -> Tensor:
        """
        The real parts, a view; real numbers themselves. (torch)
        """
    @real.setter
    def real(self, value: Tensor) -> None:
        ...
    @property
    def retains_grad(self) -> bool:
        ...
    @property
    def shape(self, _new: typing.Any = ..., _shape: typing.Any = ...) -> ocl.Size:
        ...
class _SavedTensor:
    def __init__(self, arg0: Tensor) -> None:
        ...
    def input(self, number: typing.SupportsIndex) -> Tensor:
        ...
    def output(self, number: typing.SupportsIndex) -> Tensor:
        ...
    def unpack(self) -> Tensor:
        ...
class Node:
    """
    An operation that the tape has recorded.
    """
    def __init__(self, node: Node) -> None:
        """
        The same operation as an object of another class.
        """
    def _sequence_nr(self) -> int:
        ...
    def name(self) -> str:
        ...
    def register_hook(self, fn: typing.Any) -> HookHandle:
        """
        Calls fn(grad_inputs, grad_outputs) when the node has run; a tuple stands in the place of the former.
        """
    def register_prehook(self, fn: typing.Any) -> HookHandle:
        """
        Calls fn(grad_outputs) before the node runs; a tuple stands in their place.
        """
    @property
    def metadata(self) -> dict:
        ...
    @property
    def next_functions(self) -> tuple:
        ...
class _CallLog:
    def __init__(self) -> None:
        ...
    def choices(self) -> list[tuple[str, str, str]]:
        ...
    def entries(self) -> list:
        ...
    def start(self) -> None:
        ...
    def stop(self) -> None:
        ...
class _Interceptor:
    def __init__(self, function: collections.abc.Callable, passes_on: bool) -> None:
        ...
    def start(self) -> None:
        ...
    def stop(self) -> None:
        ...
class Generator:
    """
    A stream of random numbers of its own; every random function takes one as generator=. Its numbers are the same on every device.
    """
    @staticmethod
    def __setstate__(*args, **kwargs):
        """
        set_state(self: ocl._C.Generator, new_state: ocl._C.Tensor) -> None
        
        Goes on where get_state was called.
        """
    def __init__(self, device: device | str | int | None = None) -> None:
        ...
    def __reduce__(self):
        ...
    def get_state(self) -> Tensor:
        """
        Where the stream stands, as a uint8 tensor.
        """
    def initial_seed(self) -> int:
        ...
    def manual_seed(self, seed: int) -> Generator:
        """
        Starts the stream of that seed.
        """
    def seed(self) -> int:
        """
        Starts the stream of a seed that differs every time; returns the seed.
        """
    def set_state(self, new_state: Tensor) -> None:
        """
        Goes on where get_state was called.
        """
def _at_end_of_pass(arg0: typing.Any) -> None:
    ...
def _autocast_mode() -> tuple[bool, numpy.dtype[typing.Any], bool]:
    ...
def _bar_implementation(device: device, family: str, implementation: str, reason: str) -> None:
    ...
def _barred_implementations(device: device) -> list:
    ...
def _cast_rule(arg0: str) -> str:
    ...
def _ceilings(device: device) -> tuple[float, float]:
    ...
def _commands(device: device) -> int:
    """
    The number of commands that were enqueued on the device so far.
    """
def _current_pass() -> int:
    ...
def _edge_to(arg0: Tensor) -> tuple[typing.Any, int]:
    ...
def _fft_c2c(input: Tensor, dim: collections.abc.Sequence[typing.SupportsIndex], normalization: typing.SupportsIndex, forward: bool) -> Tensor:
    """
    The Fourier transform of pairs (real, imaginary) [..., 2] along dim.
    """
def _fft_c2r(input: Tensor, dim: collections.abc.Sequence[typing.SupportsIndex], normalization: typing.SupportsIndex, last_dim_size: typing.SupportsIndex) -> Tensor:
    """
    The real numbers whose half spectrum along dim the pairs (real, imaginary) [..., 2] are.
    """
def _fft_r2c(input: Tensor, dim: collections.abc.Sequence[typing.SupportsIndex], normalization: typing.SupportsIndex, onesided: bool) -> Tensor:
    """
    The Fourier transform of real numbers along dim, as pairs (real, imaginary) [..., 2].
    """
def _forget_measured_choices(device: device) -> None:
    ...
def _from_bytes(arg0: bytes, arg1: numpy.dtype[typing.Any], arg2: device) -> Tensor:
    ...
def _get_implementations() -> str:
    ...
def _group_probe(a: Tensor, b: Tensor, c: Tensor, rows: typing.SupportsIndex, columns: typing.SupportsIndex) -> None:
    ...
def _implementation_families() -> dict:
    ...
def _is_measuring() -> bool:
    ...
def _is_to_be_visited(arg0: Node) -> bool:
    ...
def _kernel_warnings() -> list[str]:
    ...
def _leads_beyond(tensors: collections.abc.Sequence[Tensor], leaves: collections.abc.Sequence[Tensor]) -> bool:
    ...
def _measured_choices(device: device) -> list:
    ...
def _packs_saved_tensors() -> bool:
    ...
def _pinned_empty(shape: collections.abc.Sequence[typing.SupportsIndex], dtype: numpy.dtype[typing.Any], device: device | str | int | None = None) -> numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]:
    ...
def _platforms() -> list[tuple[str, int]]:
    """
    Name and number of devices of each OpenCL platform.
    """
def _pop_saved_tensor_hooks() -> None:
    ...
def _push_saved_tensor_hooks(arg0: typing.Any, arg1: typing.Any) -> None:
    ...
def _record_function(name: str, inputs: collections.abc.Sequence[Tensor], outputs: collections.abc.Sequence[Tensor], backward: collections.abc.Callable, saves_tensors: bool) -> None:
    ...
def _restrided(arg0: Tensor, arg1: collections.abc.Sequence[typing.SupportsIndex], arg2: collections.abc.Sequence[typing.SupportsIndex], arg3: typing.SupportsIndex) -> Tensor:
    ...
def _set_autocast_mode(enabled: bool, dtype: numpy.dtype[typing.Any], cache_enabled: bool) -> tuple[bool, numpy.dtype[typing.Any], bool]:
    ...
def _set_detect_anomaly(mode: bool, check_nan: bool) -> None:
    ...
def _set_grad_enabled(arg0: bool) -> None:
    ...
def _set_implementations(choices: str) -> None:
    ...
def _set_measuring(measures: bool) -> None:
    ...
def _set_parameter_type(type: typing.Any) -> None:
    ...
def _set_shapes_only(is_on: bool) -> bool:
    ...
def _staging_slots(device: device | str | int | None = None) -> int:
    """
    Pieces of page-locked memory that transfers have needed so far.
    """
def _storage_key(arg0: Tensor) -> int:
    ...
def _to_bytes(arg0: Tensor) -> bytes:
    ...
def _unbar_implementations(device: device) -> None:
    ...
def _unscale_(gradients: collections.abc.Sequence[Tensor], scale: typing.SupportsFloat | typing.SupportsIndex) -> list[Tensor]:
    ...
def _version() -> str:
    ...
def _whole_storage(tensor: Tensor, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    All the memory that a tensor lies in, as elements of a dtype, which is the tensor's by default.
    """
def abs(input: Tensor) -> Tensor:
    """
    The absolute value of every element.
    """
def acos(input: Tensor) -> Tensor:
    """
    The inverse cosine, in radians.
    """
def acosh(input: Tensor) -> Tensor:
    """
    The inverse hyperbolic cosine; NaN below 1.
    """
def adaptive_avg_pool1d(input: Tensor, output_size: int | tuple[int]) -> Tensor:
    """
    Means over windows that divide input [N, C, L] into output_size parts.
    """
def adaptive_avg_pool2d(input: Tensor, output_size: int | None | tuple[int | None, int | None]) -> Tensor:
    """
    Means over windows that divide the plane into output_size parts; None keeps a size.
    """
def adaptive_avg_pool3d(input: Tensor, output_size: int | None | tuple[int | None, int | None, int | None]) -> Tensor:
    """
    Means over windows that divide the volume into output_size parts; None keeps a size.
    """
def adaptive_max_pool1d(input: Tensor, output_size: int | tuple[int], return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """
    The largest elements of windows that divide input [N, C, L] into output_size parts; with return_indices also where they stand.
    """
def adaptive_max_pool2d(input: Tensor, output_size: int | None | tuple[int | None, int | None], return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """
    The largest elements of windows that divide the plane into output_size parts; with return_indices also where they stand in their plane.
    """
def adaptive_max_pool3d(input: Tensor, output_size: int | None | tuple[int | None, int | None, int | None], return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """
    The largest elements of windows that divide the volume into output_size parts; with return_indices also where they stand in their volume.
    """
def add(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    a + alpha * b.
    """
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    beta * input + alpha * the sum over the batch of batch1 @ batch2, with input broadcast.
    """
def addcdiv(input: Tensor | complex | float | int | bool, tensor1: Tensor | complex | float | int | bool, tensor2: Tensor | complex | float | int | bool, *, value: complex | float | int | bool = 1) -> Tensor:
    """
    a + value * b / c.
    """
def addcmul(input: Tensor | complex | float | int | bool, tensor1: Tensor | complex | float | int | bool, tensor2: Tensor | complex | float | int | bool, *, value: complex | float | int | bool = 1) -> Tensor:
    """
    a + value * b * c.
    """
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    beta * input + alpha * mat1 @ mat2, with input broadcast.
    """
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    beta * input + alpha * mat @ vec, with input broadcast.
    """
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    beta * input + alpha * outer(vec1, vec2), with input broadcast.
    """
def affine_grid(theta: Tensor, size: collections.abc.Sequence[typing.SupportsIndex], align_corners: bool | None = None) -> Tensor:
    """
    The grid of a result of size (N, C, H, W) or (N, C, D, H, W), moved by the matrices theta [N, 2, 3] or [N, 3, 4].
    """
def all(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    Whether every element is non-zero.
    """
def allclose(input: Tensor, other: Tensor, rtol: typing.SupportsFloat | typing.SupportsIndex = 1e-05, atol: typing.SupportsFloat | typing.SupportsIndex = 1e-08, equal_nan: bool = False) -> bool:
    """
    Whether all of isclose hold, a bool of Python; waits.
    """
def amax(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The largest element; NaN if there is one.
    """
def amin(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The smallest element; NaN if there is one.
    """
def aminmax(input: Tensor, *, dim: typing.SupportsIndex | None = None, keepdim: bool = False) -> typing.Any:
    """
    The smallest and the largest elements (min, max).
    """
def angle(input: Tensor) -> Tensor:
    """
    The angle of a number in the complex plane: pi where negative, 0 elsewhere.
    """
def any(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    Whether some element is non-zero.
    """
@typing.overload
def arange(end: complex | float | int | bool, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    start, start + step, ... below end (above it for a negative step); int64 where all three are whole numbers, else float32.
    """
@typing.overload
def arange(start: complex | float | int | bool, end: complex | float | int | bool, step: complex | float | int | bool = 1, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    start, start + step, ... below end (above it for a negative step); int64 where all three are whole numbers, else float32.
    """
def argmax(input: Tensor, dim: typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
    """
    Where the largest element stands, of equal ones the first; int64.
    """
def argmin(input: Tensor, dim: typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
    """
    Where the smallest element stands, of equal ones the first; int64.
    """
def argsort(input: Tensor, dim: typing.SupportsIndex = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """
    Where the elements of dim in order stood.
    """
def as_strided(input: Tensor, size: collections.abc.Sequence[typing.SupportsIndex], stride: collections.abc.Sequence[typing.SupportsIndex], storage_offset: typing.SupportsIndex | None = None) -> Tensor:
    """
    The same memory under any sizes, strides and offset.
    """
def as_tensor(data: typing.Any, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None) -> Tensor:
    """
    As tensor, but a tensor that has that dtype and device already comes back itself.
    """
def asin(input: Tensor) -> Tensor:
    """
    The inverse sine, in radians.
    """
def asinh(input: Tensor) -> Tensor:
    """
    The inverse hyperbolic sine.
    """
def atan(input: Tensor) -> Tensor:
    """
    The inverse tangent, in radians.
    """
def atan2(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The angle of the point (b, a), in radians.
    """
def atanh(input: Tensor) -> Tensor:
    """
    The inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
    """
def avg_pool1d(input: Tensor, kernel_size: int | tuple[int], stride: int | tuple[int] | None = None, padding: int | tuple[int] = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """
    The mean of every window of input [N, C, L].
    """
def avg_pool2d(input: Tensor, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: typing.SupportsIndex | None = None) -> Tensor:
    """
    The mean of every window of input [N, C, H, W].
    """
def avg_pool3d(input: Tensor, kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] | None = None, padding: int | tuple[int, int, int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: typing.SupportsIndex | None = None) -> Tensor:
    """
    The mean of every window of input [N, C, D, H, W].
    """
def backward(tensors: collections.abc.Sequence[Tensor], grad_tensors: collections.abc.Sequence[Tensor | None] = [], retain_graph: bool | None = None, create_graph: bool = False, inputs: collections.abc.Sequence[Tensor] = []) -> None:
    ...
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: complex | float | int | bool = 1, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    beta * input + alpha * batch1 @ batch2, with input broadcast.
    """
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, momentum: typing.SupportsFloat | typing.SupportsIndex = 0.1, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05) -> Tensor:
    """
    Every channel of input [N, C, ...] brought to mean 0 and variance 1, then scaled and shifted.
    """
def batch_norm_activation(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, momentum: typing.SupportsFloat | typing.SupportsIndex = 0.1, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05, activation: str = 'relu', addend: Tensor | None = None) -> Tensor:
    """
    activation(batch_norm(input) + addend) in batch norm's own passes over memory where its kernels can take the rest.
    """
def bernoulli(input: Tensor, p: typing.SupportsFloat | typing.SupportsIndex | None = None, *, generator: Generator = None) -> Tensor:
    """
    1 with the probability that each element gives (or p), else 0.
    """
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """
    input1 [..., in1] times weight [out, in1, in2] times input2 [..., in2], plus bias [out].
    """
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean') -> Tensor:
    """
    Of probabilities input and target; logarithms are held above -100. Unlike PyTorch, an input outside [0, 1] gives NaN instead of an error.
    """
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """
    binary_cross_entropy of sigmoid(input), without overflow.
    """
def bincount(input: Tensor, weights: Tensor | None = None, minlength: typing.SupportsIndex = 0) -> Tensor:
    """
    How often each whole number from 0 on occurs, or the sum of its weights; at least minlength places. Waits for the largest.
    """
def bitwise_and(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The bits set in both.
    """
def bitwise_left_shift(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The bits of a moved b places up; 0 where b is negative or beyond the width.
    """
def bitwise_not(input: Tensor) -> Tensor:
    """
    All bits inverted; logical for bool.
    """
def bitwise_or(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The bits set in either.
    """
def bitwise_right_shift(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The bits of a moved b places down, the sign kept; all of them where b is negative.
    """
def bitwise_xor(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The bits set in exactly one.
    """
def block_diag(*args) -> Tensor:
    """
    Matrices along the diagonal of a matrix, with 0 elsewhere.
    """
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """
    Batched matrix product [B, M, K] x [B, K, N] -> [B, M, N].
    """
def bucketize(input: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """
    The bucket between ascending boundaries [n] that each element falls into; int64 or int32.
    """
def can_cast(from_: numpy.dtype[typing.Any], to: numpy.dtype[typing.Any]) -> bool:
    """
    Whether results of one dtype may be written to tensors of another.
    """
def cartesian_prod(*args) -> Tensor:
    """
    All choices of an element from each vector, as rows.
    """
def cat(tensors: collections.abc.Sequence[Tensor], dim: typing.SupportsIndex = 0) -> Tensor:
    """
    Tensors joined along dim.
    """
def cdist(x1: Tensor, x2: Tensor, p: typing.SupportsFloat | typing.SupportsIndex = 2.0, compute_mode: str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """
    The p-norms of the differences of all rows of x1 [..., P, M] and x2 [..., R, M]: [..., P, R].
    """
def ceil(input: Tensor) -> Tensor:
    """
    The smallest whole number not below every element.
    """
def celu(input: Tensor, alpha: complex | float | int | bool | None = 1.0) -> Tensor:
    """
    elu with a continuous slope (Barron 2017).
    """
def channel_shuffle(input: Tensor, groups: typing.SupportsIndex) -> Tensor:
    """
    The channels of input [N, C, ...] dealt out from group to group.
    """
def chunk(input: Tensor, chunks: typing.SupportsIndex, dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]:
    """
    A tuple of at most chunks equal parts along dim.
    """
@typing.overload
def clamp(input: Tensor, min: complex | float | int | bool | None = None, max: complex | float | int | bool | None = None) -> Tensor:
    """
    a held between min and max.
    """
@typing.overload
def clamp(input: Tensor, min: Tensor | complex | float | int | bool | None = None, max: Tensor | complex | float | int | bool | None = None) -> Tensor:
    """
    a held between min and max.
    """
@typing.overload
def clamp_max(input: Tensor, max: complex | float | int | bool | None = ...) -> Tensor:
    """
    a held at max or below.
    """
@typing.overload
def clamp_max(input: Tensor, max: Tensor | complex | float | int | bool) -> Tensor:
    """
    a held at max or below.
    """
def clamp_max_tensor(input: Tensor | complex | float | int | bool, max: Tensor | complex | float | int | bool) -> Tensor:
    """
    clamp_max with a tensor as bound.
    """
@typing.overload
def clamp_min(input: Tensor, min: complex | float | int | bool | None = ...) -> Tensor:
    """
    a held at min or above.
    """
@typing.overload
def clamp_min(input: Tensor, min: Tensor | complex | float | int | bool) -> Tensor:
    """
    a held at min or above.
    """
def clamp_min_tensor(input: Tensor | complex | float | int | bool, min: Tensor | complex | float | int | bool) -> Tensor:
    """
    clamp_min with a tensor as bound.
    """
def clamp_tensor(input: Tensor | complex | float | int | bool, min: Tensor | complex | float | int | bool, max: Tensor | complex | float | int | bool) -> Tensor:
    """
    clamp with tensors as bounds.
    """
def clone(input: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """
    A copy.
    """
def column_stack(tensors: collections.abc.Sequence[Tensor]) -> Tensor:
    """
    Vectors as columns, and matrices, joined along the second dimension.
    """
def combinations(input: Tensor, r: typing.SupportsIndex = 2, with_replacement: bool = False) -> Tensor:
    """
    All choices of r elements of a vector, in its order, as rows.
    """
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """
    Complex numbers of their parts, broadcast: complex64 of float32, complex128 of float64.
    """
def conj(input: Tensor) -> Tensor:
    """
    The conjugates, with the signs of the imaginary parts turned; a tensor of real numbers itself.
    """
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | tuple[int] = 1, padding: int | tuple[int] | str = 0, dilation: int | tuple[int] = 1, groups: typing.SupportsIndex = 1) -> Tensor:
    """
    input [N, C, L], weight [O, C / groups, K], bias [O] -> [N, O, OL]; padding is a number, 'same' or 'valid'.
    """
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] | str = 0, dilation: int | tuple[int, int] = 1, groups: typing.SupportsIndex = 1) -> Tensor:
    """
    input [N, C, H, W], weight [O, C / groups, KH, KW], bias [O] -> [N, O, OH, OW]; padding is a number, a pair, 'same' or 'valid'.
    """
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | tuple[int, int, int] = 1, padding: int | tuple[int, int, int] | str = 0, dilation: int | tuple[int, int, int] = 1, groups: typing.SupportsIndex = 1) -> Tensor:
    """
    input [N, C, D, H, W], weight [O, C / groups, KD, KH, KW], bias [O] -> [N, O, OD, OH, OW]; padding is a number, three, 'same' or 'valid'.
    """
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | tuple[int] = 1, padding: int | tuple[int] = 0, output_padding: int | tuple[int] = 0, groups: typing.SupportsIndex = 1, dilation: int | tuple[int] = 1) -> Tensor:
    """
    input [N, C, L], weight [C, O / groups, K], bias [O] -> [N, O, OL]: the gradient of conv1d as a function of its own.
    """
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, output_padding: int | tuple[int, int] = 0, groups: typing.SupportsIndex = 1, dilation: int | tuple[int, int] = 1) -> Tensor:
    """
    input [N, C, H, W], weight [C, O / groups, KH, KW], bias [O] -> [N, O, OH, OW]: the gradient of conv2d as a function of its own.
    """
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | tuple[int, int, int] = 1, padding: int | tuple[int, int, int] = 0, output_padding: int | tuple[int, int, int] = 0, groups: typing.SupportsIndex = 1, dilation: int | tuple[int, int, int] = 1) -> Tensor:
    """
    input [N, C, D, H, W], weight [C, O / groups, KD, KH, KW], bias [O] -> [N, O, OD, OH, OW]: the gradient of conv3d as a function of its own.
    """
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: collections.abc.Sequence[typing.SupportsIndex], padding: collections.abc.Sequence[typing.SupportsIndex], dilation: collections.abc.Sequence[typing.SupportsIndex], transposed: bool, output_padding: collections.abc.Sequence[typing.SupportsIndex], groups: typing.SupportsIndex) -> Tensor:
    """
    conv1d, conv2d, conv3d or, transposed, conv_transpose1d, conv_transpose2d, conv_transpose3d, as the weight's dimensions say.
    """
def copysign(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    a with the sign of b.
    """
def cos(input: Tensor) -> Tensor:
    """
    The cosine, of radians.
    """
def cosh(input: Tensor) -> Tensor:
    """
    The hyperbolic cosine.
    """
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: typing.SupportsFloat | typing.SupportsIndex = 0.0, reduction: str = 'mean') -> Tensor:
    """
    1 - cosine where target is 1, cosine - margin held above 0 where it is -1.
    """
def cosine_similarity(x1: Tensor, x2: Tensor, dim: typing.SupportsIndex = 1, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-08) -> Tensor:
    """
    The cosine of the angle between the vectors along dim of x1 and x2.
    """
def count_nonzero(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    How many elements are non-zero.
    """
def cross(input: Tensor, other: Tensor, dim: typing.SupportsIndex | None = None) -> Tensor:
    """
    The cross products of vectors of 3 elements along dim.
    """
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: typing.SupportsIndex = -100, reduction: str = 'mean', label_smoothing: typing.SupportsFloat | typing.SupportsIndex = 0.0) -> Tensor:
    """
    nll_loss of log_softmax(input); target holds classes or probabilities.
    """
def cummax(input: Tensor, dim: typing.SupportsIndex) -> tuple[Tensor, Tensor]:
    """
    The largest elements so far along dim and where they stand (values, indices).
    """
def cummin(input: Tensor, dim: typing.SupportsIndex) -> tuple[Tensor, Tensor]:
    """
    The smallest elements so far along dim and where they stand (values, indices).
    """
def cumprod(input: Tensor, dim: typing.SupportsIndex, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    Running products along dim.
    """
def cumsum(input: Tensor, dim: typing.SupportsIndex, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    Running sums along dim.
    """
def dequantize_weight(weight: Tensor, scales: Tensor, zeros: Tensor | None = None, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    The weight [out, in] that the results of quantize_int8 or quantize_int4 stand for, in the dtype of scales or in dtype.
    """
def device_count() -> int:
    """
    Number of OpenCL devices over all platforms.
    """
def diagonal(input: Tensor, offset: typing.SupportsIndex = 0, dim1: typing.SupportsIndex = 0, dim2: typing.SupportsIndex = 1) -> Tensor:
    """
    Entries (i, i + offset) of two dimensions, as a last dimension.
    """
def diff(input: Tensor, n: typing.SupportsIndex = 1, dim: typing.SupportsIndex = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """
    Differences of neighbours along dim, n times.
    """
def digamma(input: Tensor) -> Tensor:
    """
    The derivative of lgamma.
    """
@typing.overload
def div(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The true quotient.
    """
@typing.overload
def div(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool, *, rounding_mode: str | None) -> Tensor:
    ...
def div_floor(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    div with rounding_mode='floor'.
    """
def div_trunc(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    div with rounding_mode='trunc'.
    """
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """
    The sum of the products of two vectors.
    """
def dropout(input: Tensor, p: typing.SupportsFloat | typing.SupportsIndex = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """
    Zeroes elements with probability p and scales the rest by 1 / (1 - p); the input itself when not training.
    """
def dropout2d(input: Tensor, p: typing.SupportsFloat | typing.SupportsIndex = 0.5, training: bool = True) -> Tensor:
    """
    As dropout, of whole channels of input [N, C, ...].
    """
def dstack(tensors: collections.abc.Sequence[Tensor]) -> Tensor:
    """
    Tensors of at least three dimensions joined along the third.
    """
def einsum(equation: str, *args) -> Tensor:
    """
    Products of elements whose subscripts agree, added up over the subscripts that the output lacks.
    """
def elu(input: Tensor, alpha: complex | float | int | bool | None = 1.0) -> Tensor:
    """
    a, or alpha * (exp(a) - 1) where negative (Clevert et al. 2016).
    """
def embedding(input: Tensor, weight: Tensor, padding_idx: typing.SupportsIndex | None = None) -> Tensor:
    """
    The rows of weight [count, features] that input names, in the shape [*input, features]; row padding_idx gets no gradient.
    """
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, mode: str = 'mean', per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: typing.SupportsIndex | None = None) -> Tensor:
    """
    Sums, means or maxima over bags of rows of weight [count, features] that input names: [bags, features]; row padding_idx is left out.
    """
def empty(*args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, memory_format: memory_format | None = None) -> Tensor:
    """
    A tensor whose contents are undefined.
    """
def empty_cache() -> None:
    """
    Gives cached memory that no tensor uses back to the devices.
    """
def empty_like(input: Tensor, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, memory_format: memory_format | None = None) -> Tensor:
    """
    Undefined contents in the shape, dtype and on the device of input.
    """
def eq(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether a equals b.
    """
def equal(input: Tensor, other: Tensor) -> bool:
    """
    Whether both have one shape and the same elements, a bool of Python; waits.
    """
def erf(input: Tensor) -> Tensor:
    """
    The error function.
    """
def erfc(input: Tensor) -> Tensor:
    """
    1 - erf(a), exact where that is small.
    """
def erfinv(input: Tensor) -> Tensor:
    """
    The inverse of erf; infinite at -1 and 1, NaN beyond.
    """
def exp(input: Tensor) -> Tensor:
    """
    e to the power of every element.
    """
def exp2(input: Tensor) -> Tensor:
    """
    2 to the power of every element.
    """
def expm1(input: Tensor) -> Tensor:
    """
    exp(a) - 1, exact near 0.
    """
def eye(n: typing.SupportsIndex, m: typing.SupportsIndex | None = None, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Ones on the diagonal of a matrix [n, m], zeros elsewhere.
    """
def flatten(input: Tensor, start_dim: typing.SupportsIndex = 0, end_dim: typing.SupportsIndex = -1) -> Tensor:
    """
    The dimensions from start_dim to end_dim as one.
    """
def flip(input: Tensor, dims: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
    """
    A copy in reverse order along dims.
    """
def fliplr(input: Tensor) -> Tensor:
    """
    A copy with the second dimension in reverse order.
    """
def flipud(input: Tensor) -> Tensor:
    """
    A copy with the first dimension in reverse order.
    """
def floor(input: Tensor) -> Tensor:
    """
    The largest whole number not above every element.
    """
def floor_divide(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The quotient rounded down.
    """
def fmax(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The larger of a and b; the other one where one is NaN.
    """
def fmin(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The smaller of a and b; the other one where one is NaN.
    """
def fmod(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The remainder of division, with the sign of a.
    """
def fold(input: Tensor, output_size: int | tuple[int, int], kernel_size: int | tuple[int, int], dilation: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, stride: int | tuple[int, int] = 1) -> Tensor:
    """
    The sum of the blocks that are the columns of input [N, C KH KW, blocks] -> [N, C, H, W].
    """
def frac(input: Tensor) -> Tensor:
    """
    What trunc leaves.
    """
def from_dlpack(ext_tensor: typing.Any, device: device | str | int | None = None) -> Tensor:
    """
    What another library shows through __dlpack__: copied to a device from host memory; from memory of OpenCL's, as PyTorch's tensors on ocl devices are, the same memory.
    """
def from_numpy(array: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
    """
    Copies a NumPy array to the default device.
    """
def full(size: collections.abc.Sequence[typing.SupportsIndex], fill_value: complex | float | int | bool, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    A tensor filled with fill_value.
    """
def full_like(input: Tensor, fill_value: complex | float | int | bool, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, memory_format: memory_format | None = None) -> Tensor:
    """
    fill_value in the shape, dtype and on the device of input.
    """
def gather(input: Tensor, dim: typing.SupportsIndex, index: Tensor) -> Tensor:
    """
    Elements along dim that index names; the shape of index (int64 or int32).
    """
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | complex | float | int | bool, full: bool = False, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-06, reduction: str = 'mean') -> Tensor:
    """
    Negative log likelihood of normal variables target with the means input and the variances var. Unlike PyTorch, a tensor with a negative variance gives NaN instead of an error.
    """
def ge(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether a is at least b.
    """
@typing.overload
def gelu(input: Tensor) -> Tensor:
    """
    a times the normal distribution function of a (Hendrycks and Gimpel 2016).
    """
@typing.overload
def gelu(input: Tensor, approximate: str) -> Tensor:
    ...
def gelu_tanh(input: Tensor) -> Tensor:
    """
    gelu in its tanh approximation.
    """
def get_default_device() -> device:
    ...
def get_device_name(device: device | str | int | None = None) -> str:
    ...
def get_device_properties(device: device | str | int | None = None) -> dict:
    """
    What the device is and can do, as a dict; sizes in bytes.
    """
def get_float32_matmul_precision() -> str:
    """
    What set_float32_matmul_precision was given last; "highest" at first.
    """
def get_fusion() -> bool:
    """
    What set_fusion was given last.
    """
def get_rng_state(device: device | str | int | None = None) -> Tensor:
    """
    The state of a device's default generator.
    """
def glu(input: Tensor, dim: typing.SupportsIndex = -1) -> Tensor:
    """
    The first half of dim times the sigmoid of the second.
    """
def glu_kernel(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    a * sigmoid(b): glu of its two halves.
    """
def grad(outputs: collections.abc.Sequence[Tensor], inputs: collections.abc.Sequence[Tensor], grad_outputs: collections.abc.Sequence[Tensor | None] = [], retain_graph: bool | None = None, create_graph: bool = False, allow_unused: bool = False) -> list[Tensor | None]:
    ...
def gradcheck(function: collections.abc.Callable[[list[Tensor]], Tensor], inputs: collections.abc.Sequence[Tensor], eps: typing.SupportsFloat | typing.SupportsIndex = 1e-06, atol: typing.SupportsFloat | typing.SupportsIndex = 1e-05, rtol: typing.SupportsFloat | typing.SupportsIndex = 0.001) -> bool:
    ...
def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool | None = None) -> Tensor:
    """
    The values of input [N, C, H, W] at the points of grid [N, OH, OW, 2] -> [N, C, OH, OW], or of input [N, C, D, H, W] at grid [N, OD, OH, OW, 3]; modes bilinear, nearest, bicubic; padding_mode zeros, border, reflection.
    """
def group_norm(input: Tensor, num_groups: typing.SupportsIndex, weight: Tensor | None = None, bias: Tensor | None = None, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05) -> Tensor:
    """
    Every group of channels of input [N, C, ...] brought to mean 0 and variance 1, then scaled and shifted.
    """
@typing.overload
def gru(data: Tensor, batch_sizes: Tensor, hx: Tensor, params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool) -> tuple[Tensor, Tensor]:
    """
    Layers of gated recurrent units over [T, N, features] or packed rows: output and h_n.
    """
@typing.overload
def gru(input: Tensor, hx: Tensor, params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool, batch_first: bool) -> tuple[Tensor, Tensor]:
    """
    Layers of gated recurrent units over [T, N, features] or packed rows: output and h_n.
    """
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """
    One step of gru: h.
    """
def gt(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether a is greater than b.
    """
def gumbel_softmax(logits: Tensor, tau: typing.SupportsFloat | typing.SupportsIndex = 1.0, hard: bool = False, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-10, dim: typing.SupportsIndex = -1) -> Tensor:
    """
    A random sample of the categories along dim, soft or one-hot; eps is not used.
    """
def hardshrink(input: Tensor, lambd: complex | float | int | bool | None = 0.5) -> Tensor:
    """
    a, but 0 between -lambd and lambd.
    """
def hardsigmoid(input: Tensor) -> Tensor:
    """
    relu6(a + 3) / 6.
    """
def hardswish(input: Tensor) -> Tensor:
    """
    a * relu6(a + 3) / 6 (Howard et al. 2019).
    """
def hardtanh(input: Tensor, min_val: complex | float | int | bool | None = None, max_val: complex | float | int | bool | None = None) -> Tensor:
    """
    a held between min_val and max_val.
    """
def heaviside(input: Tensor | complex | float | int | bool, values: Tensor | complex | float | int | bool) -> Tensor:
    """
    0 where a is negative, b where it is 0, 1 where it is positive.
    """
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: typing.SupportsFloat | typing.SupportsIndex = 1.0, reduction: str = 'mean') -> Tensor:
    """
    input where target is 1, margin - input held above 0 where it is -1.
    """
def histc(input: Tensor, bins: typing.SupportsIndex = 100, min: complex | float | int | bool = 0, max: complex | float | int | bool = 0) -> Tensor:
    """
    How many elements fall into each of bins equal parts of [min, max]; of their own range where both are 0.
    """
def hstack(tensors: collections.abc.Sequence[Tensor]) -> Tensor:
    """
    Tensors joined along the second dimension, vectors along their only one.
    """
def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: typing.SupportsFloat | typing.SupportsIndex = 1.0) -> Tensor:
    """
    Half the squared difference below delta, linear above.
    """
def hypot(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    sqrt(a a + b b), without overflow.
    """
def imag(input: Tensor) -> Tensor:
    """
    The imaginary parts, a view.
    """
def index_add(input: Tensor, dim: typing.SupportsIndex, index: Tensor, source: Tensor, *, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    input with alpha * source added to the entries of dim that index names, in a fixed order.
    """
def index_copy(input: Tensor, dim: typing.SupportsIndex, index: Tensor, source: Tensor) -> Tensor:
    """
    input with the entries of dim that index names taken from source; of several for one entry the last counts.
    """
def index_fill(input: Tensor, dim: typing.SupportsIndex, index: Tensor, value: Tensor | complex | float | int | bool) -> Tensor:
    """
    input with value (a number or a tensor of one element) in the entries of dim that index names.
    """
def index_reduce(input: Tensor, dim: typing.SupportsIndex, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """
    input with the prod, mean, amax or amin of the entries of source in those of dim that index names.
    """
def index_select(input: Tensor, dim: typing.SupportsIndex, index: Tensor) -> Tensor:
    """
    The entries of dim that index names.
    """
def initial_seed() -> int:
    """
    The seed of the last manual_seed.
    """
def inner(input: Tensor, other: Tensor) -> Tensor:
    """
    Sums of products over the last dimensions.
    """
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True, momentum: typing.SupportsFloat | typing.SupportsIndex = 0.1, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05) -> Tensor:
    """
    Every channel of every item of input [N, C, ...] brought to mean 0 and variance 1, then scaled and shifted.
    """
def interpolate(input: Tensor, size: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, scale_factor: typing.SupportsFloat | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor:
    """
    input [N, C, ...] brought to size, or to scale_factor times its size; modes nearest, nearest-exact, linear, bilinear, trilinear, bicubic, area.
    """
def is_anomaly_check_nan_enabled() -> bool:
    ...
def is_anomaly_enabled() -> bool:
    ...
def is_available() -> bool:
    """
    Whether this machine has an OpenCL device.
    """
def is_complex(input: Tensor) -> bool:
    """
    Whether its elements are complex numbers.
    """
def is_floating_point(input: Tensor) -> bool:
    """
    Whether its dtype is a floating one.
    """
def is_grad_enabled() -> bool:
    ...
def is_pinned(array: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> bool:
    """
    Whether the array lies in memory that pin_memory has locked. As torch.Tensor.is_pinned.
    """
def is_tensor(obj: typing.Any) -> bool:
    """
    Whether it is a Tensor.
    """
def isclose(input: Tensor, other: Tensor, rtol: typing.SupportsFloat | typing.SupportsIndex = 1e-05, atol: typing.SupportsFloat | typing.SupportsIndex = 1e-08, equal_nan: bool = False) -> Tensor:
    """
    Whether each |input - other| <= atol + rtol |other|; bool.
    """
def isfinite(input: Tensor) -> Tensor:
    """
    Whether every element is neither NaN nor infinite.
    """
def isin(elements: Tensor, test_elements: Tensor | complex | float | int | bool, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """
    Whether each element is among test_elements; bool.
    """
def isinf(input: Tensor) -> Tensor:
    """
    Whether every element is infinite.
    """
def isnan(input: Tensor) -> Tensor:
    """
    Whether every element is NaN.
    """
def isneginf(input: Tensor) -> Tensor:
    """
    Whether every element is negative infinity.
    """
def isposinf(input: Tensor) -> Tensor:
    """
    Whether every element is positive infinity.
    """
def kernel_cache_info() -> dict:
    """
    Where kernel binaries are kept and what this process did with them: path, entries, bytes, hits, misses, built, build_seconds.
    """
def kl_div(input: Tensor, target: Tensor, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """
    Kullback-Leibler divergence of log-probabilities input from target, probabilities or their logarithms.
    """
def kron(input: Tensor, other: Tensor) -> Tensor:
    """
    The Kronecker product: every element of input times the whole of other.
    """
def kthvalue(input: Tensor, k: typing.SupportsIndex, dim: typing.SupportsIndex = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """
    The k-th smallest elements along dim, counted from 1, and where they stand (values, indices).
    """
def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """
    The absolute difference.
    """
def layer_norm(input: Tensor, normalized_shape: collections.abc.Sequence[typing.SupportsIndex], weight: Tensor | None = None, bias: Tensor | None = None, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05) -> Tensor:
    """
    The last dimensions, of sizes normalized_shape, brought to mean 0 and variance 1, then scaled and shifted.
    """
def le(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether a is at most b.
    """
def leaky_relu(input: Tensor, negative_slope: complex | float | int | bool | None = 0.01) -> Tensor:
    """
    a, or negative_slope * a where negative.
    """
def lerp(input: Tensor | complex | float | int | bool, end: Tensor | complex | float | int | bool, weight: Tensor | complex | float | int | bool) -> Tensor:
    """
    a + weight * (b - a).
    """
def lgamma(input: Tensor) -> Tensor:
    """
    The logarithm of the absolute value of the gamma function.
    """
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """
    input [..., in] times weight [out, in] transposed, plus bias [out].
    """
def linspace(start: complex | float | int | bool, end: complex | float | int | bool, steps: typing.SupportsIndex, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    steps numbers evenly spaced from start to end, both included.
    """
def local_response_norm(input: Tensor, size: typing.SupportsIndex, alpha: typing.SupportsFloat | typing.SupportsIndex = 0.0001, beta: typing.SupportsFloat | typing.SupportsIndex = 0.75, k: typing.SupportsFloat | typing.SupportsIndex = 1.0) -> Tensor:
    """
    input [N, C, ...] / (k + alpha * mean of squares over size neighbouring channels) to the power beta.
    """
def log(input: Tensor) -> Tensor:
    """
    The natural logarithm.
    """
def log10(input: Tensor) -> Tensor:
    """
    The logarithm to base 10.
    """
def log1p(input: Tensor) -> Tensor:
    """
    log(1 + a), exact near 0.
    """
def log2(input: Tensor) -> Tensor:
    """
    The logarithm to base 2.
    """
def log_softmax(input: Tensor, dim: typing.SupportsIndex, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    The logarithm of softmax, without overflow.
    """
def logaddexp(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    log(exp(a) + exp(b)), without overflow.
    """
def logaddexp2(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    log2(2^a + 2^b), without overflow.
    """
def logcumsumexp(input: Tensor, dim: typing.SupportsIndex) -> Tensor:
    """
    log(cumsum(exp(input))) along dim, without overflow.
    """
def logical_and(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether both are non-zero.
    """
def logical_not(input: Tensor) -> Tensor:
    """
    Whether every element is zero.
    """
def logical_or(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether either is non-zero.
    """
def logical_xor(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether exactly one is non-zero.
    """
def logit(input: Tensor, eps: complex | float | int | bool | None = None) -> Tensor:
    """
    log(a / (1 - a)), the inverse of sigmoid, of a held between eps and 1 - eps; an eps below 0 is none.
    """
def logsigmoid(input: Tensor) -> Tensor:
    """
    log(sigmoid(a)).
    """
def logsumexp(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None, keepdim: bool = False) -> Tensor:
    """
    log(sum(exp(input))), without overflow.
    """
def lp_pool1d(input: Tensor, norm_type: typing.SupportsFloat | typing.SupportsIndex, kernel_size: int | tuple[int], stride: int | tuple[int] | None = None, ceil_mode: bool = False) -> Tensor:
    """
    (sum x^norm_type)^(1/norm_type) over every window of input [N, C, L].
    """
def lp_pool2d(input: Tensor, norm_type: typing.SupportsFloat | typing.SupportsIndex, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, ceil_mode: bool = False) -> Tensor:
    """
    (sum x^norm_type)^(1/norm_type) over every window of input [N, C, H, W].
    """
def lp_pool3d(input: Tensor, norm_type: typing.SupportsFloat | typing.SupportsIndex, kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] | None = None, ceil_mode: bool = False) -> Tensor:
    """
    (sum x^norm_type)^(1/norm_type) over every window of input [N, C, D, H, W].
    """
@typing.overload
def lstm(data: Tensor, batch_sizes: Tensor, hx: collections.abc.Sequence[Tensor], params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool) -> tuple[Tensor, Tensor, Tensor]:
    """
    Layers of long short-term memory over [T, N, features] or packed rows: output, h_n and c_n. hx: (h, c); with an h smaller than c the layers project.
    """
@typing.overload
def lstm(input: Tensor, hx: collections.abc.Sequence[Tensor], params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool, batch_first: bool) -> tuple[Tensor, Tensor, Tensor]:
    """
    Layers of long short-term memory over [T, N, features] or packed rows: output, h_n and c_n. hx: (h, c); with an h smaller than c the layers project.
    """
def lstm_cell(input: Tensor, hx: collections.abc.Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """
    One step of lstm: h and c.
    """
def lt(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether a is less than b.
    """
def manual_seed(seed: typing.SupportsIndex) -> None:
    """
    Seeds the random numbers of every device.
    """
def manual_seed_all(seed: typing.SupportsIndex) -> None:
    """
    Seeds the random numbers of every device.
    """
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: typing.SupportsFloat | typing.SupportsIndex = 0.0, reduction: str = 'mean') -> Tensor:
    """
    margin - target * (input1 - input2) held above 0: target 1 wants input1 larger, -1 input2.
    """
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | complex | float | int | bool) -> Tensor:
    """
    input with value (a number or a scalar tensor) where mask (bool) holds.
    """
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """
    input with the elements of source, one after another, where mask (bool) holds.
    """
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """
    The elements where mask (bool) holds, one after another; input and mask broadcast. Waits for their number.
    """
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """
    Dot product, matrix times vector, matrix product, and batches of them with broadcasting.
    """
@typing.overload
def max(input: Tensor) -> Tensor:
    """
    The largest element; along dim the largest elements and where they stand (values, indices); of two tensors, maximum.
    """
@typing.overload
def max(input: Tensor, other: Tensor) -> Tensor:
    """
    The largest element; along dim the largest elements and where they stand (values, indices); of two tensors, maximum.
    """
@typing.overload
def max(input: Tensor, dim: typing.SupportsIndex, keepdim: bool = False) -> typing.Any:
    """
    The largest element; along dim the largest elements and where they stand (values, indices); of two tensors, maximum.
    """
def max_memory_allocated(device: device | str | int | None = None) -> int:
    """
    Peak of memory_allocated, in bytes.
    """
def max_memory_reserved(device: device | str | int | None = None) -> int:
    """
    Peak of memory_reserved, in bytes.
    """
def max_pool1d(input: Tensor, kernel_size: int | tuple[int], stride: int | tuple[int] | None = None, padding: int | tuple[int] = 0, dilation: int | tuple[int] = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """
    The largest element of every window of input [N, C, L]; with return_indices also where it stands.
    """
def max_pool2d(input: Tensor, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = 0, dilation: int | tuple[int, int] = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """
    The largest element of every window of input [N, C, H, W]; with return_indices also where it stands in its plane.
    """
def max_pool3d(input: Tensor, kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] | None = None, padding: int | tuple[int, int, int] = 0, dilation: int | tuple[int, int, int] = 1, ceil_mode: bool = False, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """
    The largest element of every window of input [N, C, D, H, W]; with return_indices also where it stands in its volume.
    """
def maximum(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The larger of a and b; NaN if either is.
    """
@typing.overload
def mean(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The mean of the elements.
    """
@typing.overload
def mean(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any]) -> Tensor:
    """
    The mean of the elements.
    """
@typing.overload
def median(input: Tensor) -> Tensor:
    """
    The median, of two in the middle the lower, NaN if there is one; along dim the medians and where they stand (values, indices).
    """
@typing.overload
def median(input: Tensor, dim: typing.SupportsIndex, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """
    The median, of two in the middle the lower, NaN if there is one; along dim the medians and where they stand (values, indices).
    """
def memory_allocated(device: device | str | int | None = None) -> int:
    """
    Bytes in use by tensors.
    """
def memory_reserved(device: device | str | int | None = None) -> int:
    """
    Bytes taken from the device.
    """
def memory_stats(device: device | str | int | None = None) -> dict:
    ...
def meshgrid(*args, indexing: str | None = None) -> tuple[Tensor, ...]:
    """
    Vectors expanded to all combinations of their elements; indexing 'ij' or 'xy'.
    """
@typing.overload
def min(input: Tensor) -> Tensor:
    """
    The smallest element; along dim the smallest elements and where they stand (values, indices); of two tensors, minimum.
    """
@typing.overload
def min(input: Tensor, other: Tensor) -> Tensor:
    """
    The smallest element; along dim the smallest elements and where they stand (values, indices); of two tensors, minimum.
    """
@typing.overload
def min(input: Tensor, dim: typing.SupportsIndex, keepdim: bool = False) -> typing.Any:
    """
    The smallest element; along dim the smallest elements and where they stand (values, indices); of two tensors, minimum.
    """
def minimum(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The smaller of a and b; NaN if either is.
    """
def mish(input: Tensor) -> Tensor:
    """
    a * tanh(softplus(a)) (Misra 2019).
    """
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """
    Matrix product [M, K] x [K, N] -> [M, N].
    """
def mode(input: Tensor, dim: typing.SupportsIndex = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """
    The most frequent elements along dim and where they stand (values, indices).
    """
def movedim(input: Tensor, source: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], destination: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
    """
    The dimensions source moved to the places destination.
    """
def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """
    The squared difference.
    """
def mul(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The product.
    """
def multi_margin_loss(input: Tensor, target: Tensor, p: typing.SupportsIndex = 1, margin: typing.SupportsFloat | typing.SupportsIndex = 1.0, weight: Tensor | None = None, reduction: str = 'mean') -> Tensor:
    """
    The sum of max(0, margin - input[target] + input[i])^p over the other classes i, times the weight of the class target, over the number of classes; p is 1 or 2.
    """
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """
    The sum of max(0, 1 - input[j] + input[i]) over the classes j before the first -1 in target and all others i, over the number of classes.
    """
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = 'mean') -> Tensor:
    """
    binary_cross_entropy_with_logits, averaged over the classes, which are the last dimension.
    """
def multinomial(input: Tensor, num_samples: typing.SupportsIndex, replacement: bool = False, *, generator: Generator = None) -> Tensor:
    """
    Indices drawn with the probabilities that input [n] or [rows, n] gives up to a factor; int64 [num_samples] or [rows, num_samples].
    """
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """
    Matrix [N, M] times vector [M].
    """
def nan_to_num(input: Tensor, nan: typing.SupportsFloat | typing.SupportsIndex | None = 0.0, posinf: typing.SupportsFloat | typing.SupportsIndex | None = None, neginf: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    Numbers in the places of NaN and of the infinities: 0, the largest and the least finite number of the dtype where none is given.
    """
def nanmean(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    The mean of the elements that are not NaN.
    """
@typing.overload
def nanmedian(input: Tensor) -> Tensor:
    """
    median of the elements that are not NaN.
    """
@typing.overload
def nanmedian(input: Tensor, dim: typing.SupportsIndex, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """
    median of the elements that are not NaN.
    """
def nanquantile(input: Tensor, q: Tensor | complex | float | int | bool, dim: typing.SupportsIndex | None = None, keepdim: bool = False, *, interpolation: str = 'linear') -> Tensor:
    """
    quantile of the elements that are not NaN.
    """
def nansum(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    The sum of the elements that are not NaN.
    """
def narrow(input: Tensor, dim: typing.SupportsIndex, start: typing.SupportsIndex, length: typing.SupportsIndex) -> Tensor:
    """
    length entries of dim from start on.
    """
def ne(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    Whether a differs from b.
    """
def neg(input: Tensor) -> Tensor:
    """
    The negative of every element.
    """
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: typing.SupportsIndex = -100, reduction: str = 'mean') -> Tensor:
    """
    Negative log likelihood of input [N, C, ...] for the classes target [N, ...].
    """
def nonzero(input: Tensor, *, as_tuple: bool = False) -> typing.Any:
    """
    The coordinates [count, rank] of the elements that are not 0, or with as_tuple a tensor for each dimension. Waits for their number.
    """
def norm(input: Tensor, p: typing.SupportsFloat | typing.SupportsIndex | str = 'fro', dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    (sum |input|^p)^(1/p) for any p, 0 and infinities too; 'fro' is 2.
    """
@typing.overload
def normal(mean: typing.SupportsFloat | typing.SupportsIndex, std: typing.SupportsFloat | typing.SupportsIndex, size: collections.abc.Sequence[typing.SupportsIndex], *, generator: Generator = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Normal, with a mean and a standard deviation for each element, or of one size.
    """
@typing.overload
def normal(mean: Tensor | complex | float | int | bool = 0.0, std: Tensor | complex | float | int | bool = 1.0, *, generator: Generator = None) -> Tensor:
    """
    Normal, with a mean and a standard deviation for each element, or of one size.
    """
def normalize(input: Tensor, p: typing.SupportsFloat | typing.SupportsIndex = 2.0, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = 1, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-12) -> Tensor:
    """
    input over its p-norm along dim, which is held above eps.
    """
def numel(input: Tensor) -> int:
    """
    The number of elements.
    """
def one_hot(tensor: Tensor, num_classes: typing.SupportsIndex = -1) -> Tensor:
    """
    int64 [*tensor, num_classes] with 1 at each class that tensor names; num_classes -1 (one more than the largest) waits.
    """
def ones(*args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    A tensor filled with 1.
    """
def ones_like(input: Tensor, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, memory_format: memory_format | None = None) -> Tensor:
    """
    Ones in the shape, dtype and on the device of input.
    """
def operator_table() -> list:
    """
    What is said of every operator, as dicts.
    """
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """
    All products of the elements of two vectors.
    """
def pad(input: Tensor, pad: collections.abc.Sequence[typing.SupportsIndex], mode: str = 'constant', value: complex | float | int | bool | None = None) -> Tensor:
    """
    Elements added around the last dimensions (negative numbers cut): a constant, or the input reflected, replicated or repeated.
    """
def pairwise_distance(x1: Tensor, x2: Tensor, p: typing.SupportsFloat | typing.SupportsIndex = 2.0, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-06, keepdim: bool = False) -> Tensor:
    """
    The p-norm of x1 - x2 + eps over the last dimension.
    """
def pdist(input: Tensor, p: typing.SupportsFloat | typing.SupportsIndex = 2.0) -> Tensor:
    """
    The p-norms of the differences of all pairs of rows of input [N, M], in the order of a triangle above the diagonal.
    """
def permute(input: Tensor, dims: collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
    """
    The dimensions in another order.
    """
def pin_memory(data: typing.Any, device: device | str | int | None = None) -> numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]:
    """
    A copy of an array in page-locked memory, C-contiguous. ocl.tensor, Tensor.copy_ and Tensor.numpy(out=...) move such arrays, and slices of them that are contiguous, to and from that device (the default one) at the bus's full rate; with non_blocking=True uploads do not wait. The memory is released with the last array over it. As torch.Tensor.pin_memory. Raises OutOfMemoryError where the system locks no more pages, TypeError for an array of Python objects.
    """
def pixel_shuffle(input: Tensor, upscale_factor: typing.SupportsIndex) -> Tensor:
    """
    [..., C r r, H, W] -> [..., C, H r, W r].
    """
def pixel_unshuffle(input: Tensor, downscale_factor: typing.SupportsIndex) -> Tensor:
    """
    [..., C, H r, W r] -> [..., C r r, H, W].
    """
def pointwise_table() -> list:
    """
    The rows of the pointwise operator table, as dicts.
    """
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-08, reduction: str = 'mean') -> Tensor:
    """
    Negative log likelihood of Poisson variables target; input: their means or, with log_input, the logarithms of these.
    """
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """
    Complex numbers of their sizes and angles in radians.
    """
def polygamma(n: typing.SupportsIndex, input: Tensor) -> Tensor:
    """
    The derivative of digamma of the order n, a whole number: digamma itself at 0.
    """
def polygamma_kernel(input: Tensor, n: complex | float | int | bool | None = 0.0) -> Tensor:
    """
    polygamma with the order behind the input.
    """
@typing.overload
def pow(input: Tensor | complex | float | int | bool, exponent: Tensor | complex | float | int | bool) -> Tensor:
    """
    a to the power b.
    """
@typing.overload
def pow(self: complex | float | int | bool, exponent: Tensor) -> Tensor:
    ...
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """
    a where positive, weight * a elsewhere; weight has one element, or one for each entry of dimension 1.
    """
def prelu_kernel(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    prelu with the slope b broadcast already.
    """
@typing.overload
def prod(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The product of the elements.
    """
@typing.overload
def prod(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any]) -> Tensor:
    """
    The product of the elements.
    """
def promote_types(type1: numpy.dtype[typing.Any], type2: numpy.dtype[typing.Any]) -> numpy.dtype[typing.Any]:
    """
    The dtype that both promote to.
    """
def quantile(input: Tensor, q: Tensor | complex | float | int | bool, dim: typing.SupportsIndex | None = None, keepdim: bool = False, *, interpolation: str = 'linear') -> Tensor:
    """
    What stands at the part q (a number or a vector) of the way from the smallest element to the largest.
    """
def quantize_int4(weight: Tensor, group_size: typing.SupportsIndex = 128) -> tuple[Tensor, ...]:
    """
    The weight [out, in] of a linear layer in four bits, as uint8 [out, in / 2], with scales and zeros [out, in / group_size]; group_size is 32, 64, 128 or 256 and divides in.
    """
def quantize_int8(weight: Tensor) -> tuple[Tensor, Tensor]:
    """
    The weight [out, in] of a linear layer in int8, and its scales [out]: the weight is close to scales[:, None] * int8.
    """
def quantized_linear(input: Tensor, weight: Tensor, scales: Tensor, zeros: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """
    input [..., in] times the transposed weight that the results of quantize_int8 or quantize_int4 stand for, plus bias [out].
    """
def rand(*args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, generator: Generator = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Uniform in [0, 1).
    """
def rand_like(input: Tensor, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, memory_format: memory_format | None = None) -> Tensor:
    """
    Uniform in [0, 1), in the shape, dtype and on the device of input.
    """
@typing.overload
def randint(high: typing.SupportsIndex, size: collections.abc.Sequence[typing.SupportsIndex], *, generator: Generator = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Whole numbers in [low, high).
    """
@typing.overload
def randint(low: typing.SupportsIndex, high: typing.SupportsIndex, size: collections.abc.Sequence[typing.SupportsIndex], *, generator: Generator = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Whole numbers in [low, high).
    """
@typing.overload
def randint_like(input: Tensor, high: typing.SupportsIndex, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None) -> Tensor:
    """
    Whole numbers in [low, high), in the shape, dtype and on the device of input.
    """
@typing.overload
def randint_like(input: Tensor, low: typing.SupportsIndex, high: typing.SupportsIndex, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None) -> Tensor:
    """
    Whole numbers in [low, high), in the shape, dtype and on the device of input.
    """
def randn(*args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, generator: Generator = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Standard normal.
    """
def randn_like(input: Tensor, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, memory_format: memory_format | None = None) -> Tensor:
    """
    Standard normal, in the shape, dtype and on the device of input.
    """
def randperm(n: typing.SupportsIndex, *, generator: Generator = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None) -> Tensor:
    """
    The numbers from 0 to n - 1 in random order (Fisher and Yates).
    """
def real(input: Tensor) -> Tensor:
    """
    The real parts, a view; a tensor of real numbers itself.
    """
def reciprocal(input: Tensor) -> Tensor:
    """
    One over every element.
    """
def reduction_table() -> list:
    """
    The rows of the reduction table, as dicts.
    """
def relu(input: Tensor) -> Tensor:
    """
    max(a, 0).
    """
def relu6(input: Tensor) -> Tensor:
    """
    min(max(a, 0), 6).
    """
def remainder(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    The remainder of division, with the sign of b.
    """
def renorm(input: Tensor, p: complex | float | int | bool, dim: typing.SupportsIndex, maxnorm: complex | float | int | bool) -> Tensor:
    """
    The entries of dim, those with a p-norm above maxnorm scaled down to it.
    """
def repeat_interleave(input: Tensor, repeats: typing.SupportsIndex | Tensor, dim: typing.SupportsIndex | None = None, *, output_size: typing.SupportsIndex | None = None) -> Tensor:
    """
    Every element several times in a row along dim.
    """
def reset_peak_memory_stats(device: device | str | int | None = None) -> None:
    ...
def reshape(input: Tensor, shape: collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
    """
    A view where the strides allow one, else a copy; one size may be -1.
    """
def result_type(tensor1: Tensor | complex | float | int | bool, tensor2: Tensor | complex | float | int | bool) -> numpy.dtype[typing.Any]:
    """
    The dtype that two tensors or numbers promote to.
    """
def rms_norm(input: Tensor, normalized_shape: collections.abc.Sequence[typing.SupportsIndex], weight: Tensor | None = None, eps: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    The last dimensions over their root mean square, then scaled.
    """
@typing.overload
def rnn_relu(data: Tensor, batch_sizes: Tensor, hx: Tensor, params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool) -> tuple[Tensor, Tensor]:
    """
    rnn_tanh with relu.
    """
@typing.overload
def rnn_relu(input: Tensor, hx: Tensor, params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool, batch_first: bool) -> tuple[Tensor, Tensor]:
    """
    rnn_tanh with relu.
    """
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """
    One step of rnn_relu: h.
    """
@typing.overload
def rnn_tanh(data: Tensor, batch_sizes: Tensor, hx: Tensor, params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool) -> tuple[Tensor, Tensor]:
    """
    Layers of h = tanh(W_ih x + b_ih + W_hh h + b_hh) over [T, N, features] or packed rows: output and h_n.
    """
@typing.overload
def rnn_tanh(input: Tensor, hx: Tensor, params: collections.abc.Sequence[Tensor], has_biases: bool, num_layers: typing.SupportsIndex, dropout: typing.SupportsFloat | typing.SupportsIndex, train: bool, bidirectional: bool, batch_first: bool) -> tuple[Tensor, Tensor]:
    """
    Layers of h = tanh(W_ih x + b_ih + W_hh h + b_hh) over [T, N, features] or packed rows: output and h_n.
    """
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """
    One step of rnn_tanh: h.
    """
def roll(input: Tensor, shifts: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], dims: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None) -> Tensor:
    """
    A copy moved by shifts along dims; what leaves enters at the other end.
    """
def rot90(input: Tensor, k: typing.SupportsIndex = 1, dims: collections.abc.Sequence[typing.SupportsIndex] = [0, 1]) -> Tensor:
    """
    Turned k times by 90 degrees in the plane of dims.
    """
@typing.overload
def round(input: Tensor) -> Tensor:
    """
    The nearest whole number; halves go to the even one.
    """
@typing.overload
def round(input: Tensor, *, decimals: typing.SupportsIndex) -> Tensor:
    """
    The nearest whole number; halves go to the even one.
    """
def round_decimals(input: Tensor, scale: complex | float | int | bool | None = None, divisor: complex | float | int | bool | None = None) -> Tensor:
    """
    round with decimals, of which one of the parameters is the power of ten.
    """
def rrelu(input: Tensor, lower: typing.SupportsFloat | typing.SupportsIndex = 0.125, upper: typing.SupportsFloat | typing.SupportsIndex = 0.3333333333333333, training: bool = False) -> Tensor:
    """
    input, times a random slope between lower and upper where negative, or when not training their mean.
    """
def rsqrt(input: Tensor) -> Tensor:
    """
    One over the square root.
    """
def rsub(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    b - alpha * a.
    """
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: typing.SupportsFloat | typing.SupportsIndex = 0.0, is_causal: bool = False, *, scale: typing.SupportsFloat | typing.SupportsIndex | None = None, enable_gqa: bool = False) -> Tensor:
    """
    softmax(query key^T * scale + attn_mask) value over [..., L, E], [..., S, E] and [..., S, Ev]; a query with no key left gives zeros.
    """
@typing.overload
def scatter(input: Tensor, dim: typing.SupportsIndex, index: Tensor, src: Tensor | complex | float | int | bool) -> Tensor:
    """
    input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
    """
@typing.overload
def scatter(input: Tensor, dim: typing.SupportsIndex, index: Tensor, src: Tensor | complex | float | int | bool, *, reduce: str) -> Tensor:
    """
    input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
    """
@typing.overload
def scatter(input: Tensor, dim: typing.SupportsIndex, index: Tensor, value: Tensor | complex | float | int | bool, *, reduce: str) -> Tensor:
    """
    input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
    """
@typing.overload
def scatter(input: Tensor, dim: typing.SupportsIndex, index: Tensor, value: complex | float | int | bool) -> Tensor:
    """
    input with src (a tensor or a number) at the places along dim that index names; of several writes to one place the last counts.
    """
def scatter_add(input: Tensor, dim: typing.SupportsIndex, index: Tensor, src: Tensor) -> Tensor:
    """
    input with src added at the places along dim that index names, in a fixed order.
    """
def scatter_reduce(input: Tensor, dim: typing.SupportsIndex, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """
    input with the sum, prod, mean, amax or amin of the elements of src at the places along dim that index names.
    """
def searchsorted(sorted_sequence: Tensor, input: Tensor | complex | float | int | bool, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    """
    Where each element of input keeps the order of the rows of sorted_sequence; int64 or int32.
    """
def select(input: Tensor, dim: typing.SupportsIndex, index: typing.SupportsIndex) -> Tensor:
    """
    Entry index of dim, which goes away.
    """
def selu(input: Tensor) -> Tensor:
    """
    The self-normalising unit (Klambauer et al. 2017).
    """
def set_default_device(device: typing.Any) -> None:
    """
    Sets the device of tensors that name none.
    """
def set_float32_matmul_precision(precision: str) -> None:
    """
    How precisely products and convolutions of float32 tensors are computed: "highest" (as float32), "high" (operands may be rounded to TensorFloat-32) or "medium" (to bfloat16). Sums are float32 always. A device without faster arithmetic of lower precision computes as for "highest".
    """
def set_fusion(enabled: bool) -> None:
    """
    Whether pointwise operators wait for those behind them, so that several over the same elements become one kernel; their bits are the same. On at first, unless the environment has OCL_FUSION=off. Of this process.
    """
def set_memory_limit(bytes: typing.SupportsIndex, device: device | str | int | None = None) -> None:
    """
    Refuses to reserve more than that many bytes; 0 lifts the limit.
    """
def set_printoptions(precision: typing.SupportsIndex | None = None, threshold: typing.SupportsIndex | None = None, edgeitems: typing.SupportsIndex | None = None, linewidth: typing.SupportsIndex | None = None, profile: str | None = None, sci_mode: bool | None = None) -> None:
    """
    How tensors are printed.
    """
def set_rng_state(new_state: Tensor, device: device | str | int | None = None) -> None:
    """
    Sets the state of a device's default generator.
    """
def sgn(input: Tensor) -> Tensor:
    """
    As sign, for real numbers.
    """
def sigmoid(input: Tensor) -> Tensor:
    """
    1 / (1 + exp(-a)).
    """
def sign(input: Tensor) -> Tensor:
    """
    -1, 0 or 1 by the sign of every element.
    """
def signbit(input: Tensor) -> Tensor:
    """
    Whether the sign of every element is set, that of -0 too.
    """
def silu(input: Tensor) -> Tensor:
    """
    a * sigmoid(a), also named swish.
    """
def sin(input: Tensor) -> Tensor:
    """
    The sine, of radians.
    """
def sinc(input: Tensor) -> Tensor:
    """
    sin(pi a) / (pi a), 1 at 0.
    """
def sinh(input: Tensor) -> Tensor:
    """
    The hyperbolic sine.
    """
def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean', beta: typing.SupportsFloat | typing.SupportsIndex = 1.0) -> Tensor:
    """
    The absolute difference, rounded off to a parabola below beta.
    """
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """
    log(1 + exp(-target * input)), of targets 1 and -1; without overflow.
    """
def softmax(input: Tensor, dim: typing.SupportsIndex, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    exp(input) over its sum along dim.
    """
def softmin(input: Tensor, dim: typing.SupportsIndex, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    softmax of -input.
    """
def softplus(input: Tensor, beta: complex | float | int | bool | None = None, threshold: complex | float | int | bool | None = None) -> Tensor:
    """
    log(1 + exp(beta * a)) / beta; linear above threshold / beta.
    """
def softshrink(input: Tensor, lambd: complex | float | int | bool | None = 0.5) -> Tensor:
    """
    a moved by lambd towards 0, which is as far as it goes.
    """
def softsign(input: Tensor) -> Tensor:
    """
    a / (1 + |a|).
    """
def sort(input: Tensor, dim: typing.SupportsIndex = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """
    The elements of dim in order, and where each stood; always stable, NaN as the largest.
    """
def special_entr(input: Tensor) -> Tensor:
    """
    -a log(a), the entropy; 0 at 0, minus infinity below.
    """
def special_xlog1py(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    a log(1 + b); 0 where a is 0 and b is not NaN.
    """
def split(tensor: Tensor, split_size_or_sections: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex], dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]:
    """
    A tuple of parts along dim: of split_size entries, or of the sizes listed.
    """
def sqrt(input: Tensor) -> Tensor:
    """
    The square root.
    """
def square(input: Tensor) -> Tensor:
    """
    The square of every element.
    """
def squeeze(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None) -> Tensor:
    """
    Without dimensions of size 1.
    """
def stack(tensors: collections.abc.Sequence[Tensor], dim: typing.SupportsIndex = 0) -> Tensor:
    """
    Tensors of one shape joined along a new dimension dim.
    """
@typing.overload
def std(input: Tensor, unbiased: bool) -> Tensor:
    """
    The standard deviation, the square root of var.
    """
@typing.overload
def std(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    The standard deviation, the square root of var.
    """
@typing.overload
def std_mean(input: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """
    std and mean.
    """
@typing.overload
def std_mean(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> tuple[Tensor, Tensor]:
    """
    std and mean.
    """
def sub(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool, *, alpha: complex | float | int | bool = 1) -> Tensor:
    """
    a - alpha * b.
    """
@typing.overload
def sum(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The sum of the elements.
    """
@typing.overload
def sum(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any]) -> Tensor:
    """
    The sum of the elements.
    """
def swapaxes(input: Tensor, axis0: typing.SupportsIndex, axis1: typing.SupportsIndex) -> Tensor:
    """
    Two dimensions swapped.
    """
def synchronize(device: device | str | int | None = None) -> None:
    """
    Waits for the work of one device, or of all; raises what a device reported meanwhile.
    """
def t(input: Tensor) -> Tensor:
    """
    The transpose of a matrix; anything of fewer dimensions as it is.
    """
def take(input: Tensor, index: Tensor) -> Tensor:
    """
    The elements that index names in the flattened tensor, in the shape of index.
    """
def take_along_dim(input: Tensor, indices: Tensor, dim: typing.SupportsIndex | None = None) -> Tensor:
    """
    gather with input and indices broadcast apart from dim; of the flat tensor without dim.
    """
def tan(input: Tensor) -> Tensor:
    """
    The tangent, of radians.
    """
def tanh(input: Tensor) -> Tensor:
    """
    The hyperbolic tangent.
    """
def tanhshrink(input: Tensor) -> Tensor:
    """
    a - tanh(a).
    """
def tensor(data: typing.Any, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, non_blocking: bool = False) -> Tensor:
    """
    Copies data (array, list, number) to a device. Floats of Python become float32; NumPy's keep their dtype. The array may be changed afterwards; with non_blocking=True one in page-locked memory (pin_memory) may not until the upload is over, which synchronize() waits for.
    """
def tensordot(a: Tensor, b: Tensor, dims: typing.SupportsIndex | tuple[collections.abc.Sequence[typing.SupportsIndex], collections.abc.Sequence[typing.SupportsIndex]] = 2) -> Tensor:
    """
    Sums of products over pairs of dimensions: the last of a and the first of b, or those listed.
    """
def threshold(input: Tensor, threshold: complex | float | int | bool | None = None, value: complex | float | int | bool | None = None) -> Tensor:
    """
    a where it is above threshold, value elsewhere.
    """
def tile(input: Tensor, dims: collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
    """
    As repeat; fewer numbers than dimensions stand for the last ones.
    """
def topk(input: Tensor, k: typing.SupportsIndex, dim: typing.SupportsIndex = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """
    The k largest or smallest elements of dim in order, and where each stood; of equal ones the first.
    """
def trace(input: Tensor) -> Tensor:
    """
    The sum of the diagonal of a matrix.
    """
def transpose(input: Tensor, dim0: typing.SupportsIndex, dim1: typing.SupportsIndex) -> Tensor:
    """
    Two dimensions swapped.
    """
def tril(input: Tensor, diagonal: typing.SupportsIndex = 0) -> Tensor:
    """
    Matrices with 0 above the diagonal; a positive diagonal keeps more.
    """
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: typing.SupportsFloat | typing.SupportsIndex = 1.0, p: typing.SupportsFloat | typing.SupportsIndex = 2.0, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-06, swap: bool = False, reduction: str = 'mean') -> Tensor:
    """
    margin + distance(anchor, positive) - distance(anchor, negative) held above 0.
    """
def triu(input: Tensor, diagonal: typing.SupportsIndex = 0) -> Tensor:
    """
    Matrices with 0 below the diagonal; a positive diagonal keeps less.
    """
def trunc(input: Tensor) -> Tensor:
    """
    The whole number towards 0.
    """
def unbind(input: Tensor, dim: typing.SupportsIndex = 0) -> tuple[Tensor, ...]:
    """
    A tuple of the entries of dim, which goes away.
    """
def unflatten(input: Tensor, dim: typing.SupportsIndex, sizes: collections.abc.Sequence[typing.SupportsIndex]) -> Tensor:
    """
    Dimension dim as several; one of their sizes may be -1.
    """
def unfold(input: Tensor, kernel_size: int | tuple[int, int], dilation: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, stride: int | tuple[int, int] = 1) -> Tensor:
    """
    The sliding blocks of input [N, C, H, W] as columns [N, C KH KW, blocks].
    """
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: typing.SupportsIndex | None = None) -> typing.Any:
    """
    The values that occur, in ascending order; on request where each element stands among them and how often each occurs. Waits for their number.
    """
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: typing.SupportsIndex | None = None) -> typing.Any:
    """
    Of each run of equal elements one; on request the run of each element and the runs' lengths. Waits for their number.
    """
def unsqueeze(input: Tensor, dim: typing.SupportsIndex) -> Tensor:
    """
    With a dimension of size 1 at dim.
    """
@typing.overload
def var(input: Tensor, unbiased: bool) -> Tensor:
    """
    The variance, with n - correction for the number of elements; in two passes.
    """
@typing.overload
def var(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    The variance, with n - correction for the number of elements; in two passes.
    """
@typing.overload
def var_mean(input: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """
    var and mean.
    """
@typing.overload
def var_mean(input: Tensor, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: typing.SupportsFloat | typing.SupportsIndex | None = None) -> tuple[Tensor, Tensor]:
    """
    var and mean.
    """
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """
    dot with the conjugates of input.
    """
def vector_norm(input: Tensor, ord: typing.SupportsFloat | typing.SupportsIndex | str = 2.0, dim: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None, keepdim: bool = False, *, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
    """
    norm with the argument ord; ocl.linalg.vector_norm.
    """
def view_as_complex(input: Tensor) -> Tensor:
    """
    The memory of a last dimension of 2 as that of complex numbers.
    """
def view_as_real(input: Tensor) -> Tensor:
    """
    The memory of complex numbers as that of their parts: a last dimension of 2, the real and the imaginary one.
    """
def vstack(tensors: collections.abc.Sequence[Tensor]) -> Tensor:
    """
    Tensors of at least two dimensions (vectors are rows) joined along the first.
    """
def where(condition: Tensor | complex | float | int | bool, input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    b where the condition a holds, c elsewhere.
    """
def xlogy(input: Tensor | complex | float | int | bool, other: Tensor | complex | float | int | bool) -> Tensor:
    """
    a log(b); 0 where a is 0 and b is not NaN.
    """
def zeros(*args, size: collections.abc.Sequence[typing.SupportsIndex] | None = None, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    A tensor filled with 0.
    """
def zeros_like(input: Tensor, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False, memory_format: memory_format | None = None) -> Tensor:
    """
    Zeros in the shape, dtype and on the device of input.
    """
bfloat16: dtype
bool_: dtype
channels_last: memory_format
channels_last_3d: memory_format
complex128: dtype
complex64: dtype
contiguous_format: memory_format
float16: dtype
float32: dtype
float64: dtype
int16: dtype
int32: dtype
int64: dtype
int8: dtype
preserve_format: memory_format
uint8: dtype
absolute = abs
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctan2 = atan2
arctanh = atanh
clip = clamp
concat = cat
concatenate = cat
divide = div
greater = gt
greater_equal = ge
less = lt
less_equal = le
moveaxis = movedim
multiply = mul
negative = neg
not_equal = ne
subtract = sub
swapdims = swapaxes
true_divide = div
