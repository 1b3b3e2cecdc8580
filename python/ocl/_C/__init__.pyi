"""
TapeCL's C++ library, as the package ocl uses it.
"""
from __future__ import annotations
import collections.abc
import numpy
import os
import typing
from . import _nn
from . import _optim
from . import _data
__all__: list[str] = ['DeviceError', 'KernelBuildError', 'OutOfMemoryError', 'Profile', 'Tensor', 'abs', 'acos', 'adaptive_avg_pool2d', 'add', 'addcdiv', 'addcmul', 'all', 'amax', 'amin', 'any', 'argmax', 'argmin', 'asin', 'atan', 'atan2', 'avg_pool2d', 'backward', 'batch_norm', 'bfloat16', 'bitwise_and', 'bitwise_not', 'bitwise_or', 'bitwise_xor', 'bmm', 'bool_', 'cat', 'ceil', 'celu', 'clamp', 'clone', 'conv2d', 'cos', 'cosh', 'count_nonzero', 'cross_entropy', 'device', 'device_count', 'div', 'div_floor', 'div_trunc', 'dropout', 'dtype', 'elu', 'empty', 'empty_cache', 'eq', 'erf', 'exp', 'expm1', 'flatten', 'float16', 'float32', 'float64', 'floor', 'floor_divide', 'fmod', 'frac', 'from_numpy', 'full', 'ge', 'gelu', 'gelu_tanh', 'get_default_device', 'get_device_name', 'get_device_properties', 'grad', 'gradcheck', 'gt', 'hardsigmoid', 'hardswish', 'hardtanh', 'initial_seed', 'int32', 'int64', 'is_available', 'is_grad_enabled', 'isfinite', 'isinf', 'isnan', 'kernel_cache_info', 'l1_loss', 'le', 'leaky_relu', 'lerp', 'linear', 'log', 'log10', 'log1p', 'log2', 'log_softmax', 'logaddexp', 'logical_and', 'logical_not', 'logical_or', 'logical_xor', 'logit', 'logsigmoid', 'lt', 'manual_seed', 'manual_seed_all', 'matmul', 'max_memory_allocated', 'max_memory_reserved', 'max_pool2d', 'maximum', 'mean', 'memory_allocated', 'memory_reserved', 'memory_stats', 'minimum', 'mish', 'mm', 'mse_loss', 'mul', 'narrow', 'ne', 'neg', 'nll_loss', 'ones', 'ones_like', 'permute', 'pointwise_table', 'pow', 'prelu_kernel', 'promote_types', 'rand', 'randint', 'randn', 'reciprocal', 'reduction_table', 'relu', 'relu6', 'remainder', 'reset_peak_memory_stats', 'reshape', 'round', 'rsqrt', 'select', 'selu', 'set_default_device', 'set_memory_limit', 'sgn', 'sigmoid', 'sign', 'silu', 'sin', 'sinh', 'softmax', 'softplus', 'softsign', 'sqrt', 'square', 'squeeze', 'sub', 'sum', 'synchronize', 't', 'tan', 'tanh', 'tanhshrink', 'tensor', 'threshold', 'transpose', 'trunc', 'uint8', 'unsqueeze', 'vector_norm', 'where', 'zeros', 'zeros_like']
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
    An OpenCL device: 'ocl:N' (N as in clinfo --list), 'ocl' or 'cpu'.
    """
    def __eq__(self, arg0: typing.Any) -> bool:
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
    def __init__(self, index: typing.SupportsInt | typing.SupportsIndex) -> None:
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
    def table(self) -> str:
        """
        A line per kernel: calls, total and mean time, share; the longest first.
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
    
      uint8
    
      bool_
    """
    __members__: typing.ClassVar[dict[str, dtype]]
    bfloat16: typing.ClassVar[dtype]
    bool_: typing.ClassVar[dtype]
    float16: typing.ClassVar[dtype]
    float32: typing.ClassVar[dtype]
    float64: typing.ClassVar[dtype]
    int32: typing.ClassVar[dtype]
    int64: typing.ClassVar[dtype]
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
    @typing.overload
    def __eq__(self: numpy.dtype[typing.Any], other: numpy.dtype[typing.Any]) -> bool:
        ...
    @typing.overload
    def __eq__(self: numpy.dtype[typing.Any], other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self: numpy.dtype[typing.Any]) -> int:
        ...
    def __init__(self: numpy.dtype[typing.Any], value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self: numpy.dtype[typing.Any]) -> int:
        ...
    @typing.overload
    def __ne__(self: numpy.dtype[typing.Any], other: numpy.dtype[typing.Any]) -> bool:
        ...
    @typing.overload
    def __ne__(self: numpy.dtype[typing.Any], other: typing.Any) -> bool:
        ...
    def __setstate__(self: numpy.dtype[typing.Any], state: typing.SupportsInt | typing.SupportsIndex) -> None:
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
class Tensor:
    """
    A tensor on an OpenCL device, with autograd; torch.Tensor's names.
    """
    __array_priority__: typing.ClassVar[int] = 1000
    requires_grad: bool
    def __abs__(self) -> Tensor:
        ...
    def __add__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __and__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __array__(self, dtype: typing.Any = None, copy: typing.Any = None) -> typing.Any:
        ...
    def __bool__(self) -> bool:
        ...
    def __eq__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __float__(self) -> float:
        ...
    def __floordiv__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __ge__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __getitem__(self, arg0: typing.Any) -> Tensor:
        ...
    def __gt__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __hash__(self) -> int:
        ...
    def __iadd__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __imul__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __int__(self) -> int:
        ...
    def __invert__(self) -> Tensor:
        ...
    def __isub__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __iter__(self) -> collections.abc.Iterator:
        ...
    def __le__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __len__(self) -> int:
        ...
    def __lt__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __matmul__(self, arg0: Tensor) -> Tensor:
        ...
    def __mod__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __mul__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __ne__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __neg__(self) -> Tensor:
        ...
    def __or__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __pow__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __radd__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __rand__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __repr__(self) -> str:
        ...
    def __rfloordiv__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __rmod__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __rmul__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __ror__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __rpow__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __rsub__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __rtruediv__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __rxor__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __setitem__(self, arg0: typing.Any, arg1: typing.Any) -> None:
        ...
    def __sub__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __truediv__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def __xor__(self, arg0: Tensor | float | int | bool) -> Tensor:
        ...
    def abs(self) -> Tensor:
        """
        The absolute value of every element.
        """
    def acos(self) -> Tensor:
        """
        The inverse cosine, in radians.
        """
    def add(self, other: Tensor | float | int | bool, *, alpha: float | int | bool = 1) -> Tensor:
        """
        a + alpha * b.
        """
    def add_(self, other: Tensor | float | int | bool, *, alpha: float | int | bool = 1) -> Tensor:
        ...
    def all(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        Whether every element is non-zero.
        """
    def amax(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The largest element; NaN if there is one.
        """
    def amin(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The smallest element; NaN if there is one.
        """
    def any(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        Whether some element is non-zero.
        """
    def argmax(self, dim: typing.SupportsInt | typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
        ...
    def argmin(self, dim: typing.SupportsInt | typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
        ...
    def asin(self) -> Tensor:
        """
        The inverse sine, in radians.
        """
    def atan(self) -> Tensor:
        """
        The inverse tangent, in radians.
        """
    def atan2(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The angle of the point (b, a), in radians.
        """
    def backward(self, gradient: Tensor | None = None, retain_graph: bool = False) -> None:
        ...
    def bfloat16(self) -> Tensor:
        ...
    def bitwise_and(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The bits set in both.
        """
    def bitwise_not(self) -> Tensor:
        """
        All bits inverted; logical for bool.
        """
    def bitwise_or(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The bits set in either.
        """
    def bitwise_xor(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The bits set in exactly one.
        """
    def bmm(self, mat2: Tensor) -> Tensor:
        ...
    def bool(self) -> Tensor:
        ...
    def ceil(self) -> Tensor:
        """
        The smallest whole number not below every element.
        """
    def celu(self, alpha: typing.SupportsFloat | typing.SupportsIndex | None = 1.0) -> Tensor:
        """
        elu with a continuous slope (Barron 2017).
        """
    def clamp(self, min: typing.SupportsFloat | typing.SupportsIndex | None = None, max: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        """
        a held between min and max.
        """
    def clone(self) -> Tensor:
        ...
    def contiguous(self) -> Tensor:
        ...
    def copy_(self, src: Tensor) -> Tensor:
        ...
    def cos(self) -> Tensor:
        """
        The cosine, of radians.
        """
    def cosh(self) -> Tensor:
        """
        The hyperbolic cosine.
        """
    def count_nonzero(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        How many elements are non-zero.
        """
    def detach(self) -> Tensor:
        ...
    def dim(self) -> int:
        ...
    def div(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The true quotient.
        """
    def div_floor(self, other: Tensor | float | int | bool) -> Tensor:
        """
        div with rounding_mode='floor'.
        """
    def div_trunc(self, other: Tensor | float | int | bool) -> Tensor:
        """
        div with rounding_mode='trunc'.
        """
    def double(self) -> Tensor:
        ...
    def elu(self, alpha: typing.SupportsFloat | typing.SupportsIndex | None = 1.0) -> Tensor:
        """
        a, or alpha * (exp(a) - 1) where negative (Clevert et al. 2016).
        """
    def eq(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether a equals b.
        """
    def erf(self) -> Tensor:
        """
        The error function.
        """
    def exp(self) -> Tensor:
        """
        e to the power of every element.
        """
    def expand(self, *args) -> Tensor:
        ...
    def expm1(self) -> Tensor:
        """
        exp(a) - 1, exact near 0.
        """
    def fill_(self, value: float | int | bool) -> Tensor:
        ...
    def flatten(self, start_dim: typing.SupportsInt | typing.SupportsIndex = 0, end_dim: typing.SupportsInt | typing.SupportsIndex = -1) -> Tensor:
        ...
    def float(self) -> Tensor:
        ...
    def floor(self) -> Tensor:
        """
        The largest whole number not above every element.
        """
    def floor_divide(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The quotient rounded down.
        """
    def fmod(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The remainder of division, with the sign of a.
        """
    def frac(self) -> Tensor:
        """
        What trunc leaves.
        """
    def ge(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether a is at least b.
        """
    def gelu(self) -> Tensor:
        """
        a times the normal distribution function of a (Hendrycks and Gimpel 2016).
        """
    def gelu_tanh(self) -> Tensor:
        """
        gelu in its tanh approximation.
        """
    def gt(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether a is greater than b.
        """
    def half(self) -> Tensor:
        ...
    def hardsigmoid(self) -> Tensor:
        """
        relu6(a + 3) / 6.
        """
    def hardswish(self) -> Tensor:
        """
        a * relu6(a + 3) / 6 (Howard et al. 2019).
        """
    def hardtanh(self, min_val: typing.SupportsFloat | typing.SupportsIndex | None = None, max_val: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        """
        a held between min_val and max_val.
        """
    def int(self) -> Tensor:
        ...
    def is_contiguous(self) -> bool:
        ...
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
    def item(self) -> typing.Any:
        ...
    def le(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether a is at most b.
        """
    def leaky_relu(self, negative_slope: typing.SupportsFloat | typing.SupportsIndex | None = 0.01) -> Tensor:
        """
        a, or negative_slope * a where negative.
        """
    def log(self) -> Tensor:
        """
        The natural logarithm.
        """
    def log10(self) -> Tensor:
        """
        The logarithm to base 10.
        """
    def log1p(self) -> Tensor:
        """
        log(1 + a), exact near 0.
        """
    def log2(self) -> Tensor:
        """
        The logarithm to base 2.
        """
    def log_softmax(self, dim: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
        ...
    def logaddexp(self, other: Tensor | float | int | bool) -> Tensor:
        """
        log(exp(a) + exp(b)), without overflow.
        """
    def logical_and(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether both are non-zero.
        """
    def logical_not(self) -> Tensor:
        """
        Whether every element is zero.
        """
    def logical_or(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether either is non-zero.
        """
    def logical_xor(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether exactly one is non-zero.
        """
    def logit(self) -> Tensor:
        """
        log(a / (1 - a)), the inverse of sigmoid.
        """
    def logsigmoid(self) -> Tensor:
        """
        log(sigmoid(a)).
        """
    def long(self) -> Tensor:
        ...
    def lt(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether a is less than b.
        """
    def matmul(self, other: Tensor) -> Tensor:
        ...
    def maximum(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The larger of a and b; NaN if either is.
        """
    def mean(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The mean of the elements.
        """
    def minimum(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The smaller of a and b; NaN if either is.
        """
    def mish(self) -> Tensor:
        """
        a * tanh(softplus(a)) (Misra 2019).
        """
    def mm(self, mat2: Tensor) -> Tensor:
        ...
    def mul(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The product.
        """
    def mul_(self, other: Tensor | float | int | bool) -> Tensor:
        ...
    def narrow(self, dim: typing.SupportsInt | typing.SupportsIndex, start: typing.SupportsInt | typing.SupportsIndex, length: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
        ...
    def ne(self, other: Tensor | float | int | bool) -> Tensor:
        """
        Whether a differs from b.
        """
    def neg(self) -> Tensor:
        """
        The negative of every element.
        """
    def numel(self) -> int:
        ...
    def numpy(self) -> numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]:
        """
        Waits, and copies the elements to a NumPy array.
        """
    def permute(self, *args) -> Tensor:
        ...
    def pow(self, other: Tensor | float | int | bool) -> Tensor:
        """
        a to the power b.
        """
    def prelu_kernel(self, other: Tensor | float | int | bool) -> Tensor:
        """
        prelu with the slope b broadcast already.
        """
    def reciprocal(self) -> Tensor:
        """
        One over every element.
        """
    def register_hook(self, hook: collections.abc.Callable[[Tensor], typing.Any]) -> None:
        ...
    def relu(self) -> Tensor:
        """
        max(a, 0).
        """
    def relu6(self) -> Tensor:
        """
        min(max(a, 0), 6).
        """
    def remainder(self, other: Tensor | float | int | bool) -> Tensor:
        """
        The remainder of division, with the sign of b.
        """
    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        ...
    def reshape(self, *args) -> Tensor:
        ...
    def retain_grad(self) -> None:
        ...
    def round(self) -> Tensor:
        """
        The nearest whole number; halves go to the even one.
        """
    def rsqrt(self) -> Tensor:
        """
        One over the square root.
        """
    def select(self, dim: typing.SupportsInt | typing.SupportsIndex, index: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
        ...
    def selu(self) -> Tensor:
        """
        The self-normalising unit (Klambauer et al. 2017).
        """
    def sgn(self) -> Tensor:
        """
        As sign, for real numbers.
        """
    def sigmoid(self) -> Tensor:
        """
        1 / (1 + exp(-a)).
        """
    def sign(self) -> Tensor:
        """
        -1, 0 or 1 by the sign of every element.
        """
    def silu(self) -> Tensor:
        """
        a * sigmoid(a), also named swish.
        """
    def sin(self) -> Tensor:
        """
        The sine, of radians.
        """
    def sinh(self) -> Tensor:
        """
        The hyperbolic sine.
        """
    def size(self, dim: typing.SupportsInt | typing.SupportsIndex | None = None) -> typing.Any:
        ...
    def softmax(self, dim: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
        ...
    def softplus(self, beta: typing.SupportsFloat | typing.SupportsIndex | None = None, threshold: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        """
        log(1 + exp(beta * a)) / beta; linear above threshold / beta.
        """
    def softsign(self) -> Tensor:
        """
        a / (1 + |a|).
        """
    def sqrt(self) -> Tensor:
        """
        The square root.
        """
    def square(self) -> Tensor:
        """
        The square of every element.
        """
    def squeeze(self, dim: typing.SupportsInt | typing.SupportsIndex | None = None) -> Tensor:
        ...
    def stride(self) -> tuple:
        ...
    def sub(self, other: Tensor | float | int | bool, *, alpha: float | int | bool = 1) -> Tensor:
        """
        a - alpha * b.
        """
    def sub_(self, other: Tensor | float | int | bool) -> Tensor:
        ...
    def sum(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The sum of the elements.
        """
    def t(self) -> Tensor:
        ...
    def tan(self) -> Tensor:
        """
        The tangent, of radians.
        """
    def tanh(self) -> Tensor:
        """
        The hyperbolic tangent.
        """
    def tanhshrink(self) -> Tensor:
        """
        a - tanh(a).
        """
    def threshold(self, threshold: typing.SupportsFloat | typing.SupportsIndex | None = None, value: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
        """
        a where it is above threshold, value elsewhere.
        """
    def to(self, target: typing.Any = None, dtype: numpy.dtype[typing.Any] | None = None) -> Tensor:
        """
        To a device, a dtype, or those of another tensor.
        """
    def tolist(self) -> typing.Any:
        ...
    def transpose(self, dim0: typing.SupportsInt | typing.SupportsIndex, dim1: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
        ...
    def trunc(self) -> Tensor:
        """
        The whole number towards 0.
        """
    def unsqueeze(self, dim: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
        ...
    def vector_norm(self, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
        """
        The Euclidean norm.
        """
    def view(self, *args) -> Tensor:
        ...
    def zero_(self) -> Tensor:
        ...
    @property
    def T(self) -> Tensor:
        ...
    @property
    def _is_parameter(self) -> bool:
        ...
    @property
    def _version(self) -> int:
        ...
    @property
    def device(self) -> device:
        ...
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        ...
    @property
    def grad(self) -> typing.Any:
        ...
    @grad.setter
    def grad(self, arg1: Tensor | None) -> None:
        ...
    @property
    def grad_fn(self) -> typing.Any:
        ...
    @property
    def is_leaf(self) -> bool:
        ...
    @property
    def ndim(self) -> int:
        ...
    @property
    def shape(self) -> tuple:
        ...
def _set_grad_enabled(arg0: bool) -> None:
    ...
def abs(input: Tensor) -> Tensor:
    """
    The absolute value of every element.
    """
def acos(input: Tensor) -> Tensor:
    """
    The inverse cosine, in radians.
    """
def adaptive_avg_pool2d(input: Tensor, output_size: int | tuple[int, int]) -> Tensor:
    ...
def add(input: Tensor | float | int | bool, other: Tensor | float | int | bool, *, alpha: float | int | bool = 1) -> Tensor:
    """
    a + alpha * b.
    """
def addcdiv(a: Tensor | float | int | bool, b: Tensor | float | int | bool, c: Tensor | float | int | bool, *, value: float | int | bool = 1) -> Tensor:
    """
    a + value * b / c.
    """
def addcmul(a: Tensor | float | int | bool, b: Tensor | float | int | bool, c: Tensor | float | int | bool, *, value: float | int | bool = 1) -> Tensor:
    """
    a + value * b * c.
    """
def all(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    Whether every element is non-zero.
    """
def amax(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The largest element; NaN if there is one.
    """
def amin(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The smallest element; NaN if there is one.
    """
def any(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    Whether some element is non-zero.
    """
def argmax(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
    ...
def argmin(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | None = None, keepdim: bool = False) -> Tensor:
    ...
def asin(input: Tensor) -> Tensor:
    """
    The inverse sine, in radians.
    """
def atan(input: Tensor) -> Tensor:
    """
    The inverse tangent, in radians.
    """
def atan2(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The angle of the point (b, a), in radians.
    """
def avg_pool2d(input: Tensor, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = (0, 0), ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: typing.SupportsInt | typing.SupportsIndex | None = None) -> Tensor:
    ...
def backward(tensors: collections.abc.Sequence[Tensor], grad_tensors: collections.abc.Sequence[Tensor | None] = [], retain_graph: bool = False) -> None:
    ...
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, momentum: typing.SupportsFloat | typing.SupportsIndex = 0.1, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-05) -> Tensor:
    ...
def bitwise_and(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The bits set in both.
    """
def bitwise_not(input: Tensor) -> Tensor:
    """
    All bits inverted; logical for bool.
    """
def bitwise_or(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The bits set in either.
    """
def bitwise_xor(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The bits set in exactly one.
    """
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """
    Batched matrix product [B, M, K] x [B, K, N].
    """
def cat(tensors: collections.abc.Sequence[Tensor], dim: typing.SupportsInt | typing.SupportsIndex = 0) -> Tensor:
    ...
def ceil(input: Tensor) -> Tensor:
    """
    The smallest whole number not below every element.
    """
def celu(input: Tensor, alpha: typing.SupportsFloat | typing.SupportsIndex | None = 1.0) -> Tensor:
    """
    elu with a continuous slope (Barron 2017).
    """
def clamp(input: Tensor, min: typing.SupportsFloat | typing.SupportsIndex | None = None, max: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    a held between min and max.
    """
def clone(input: Tensor) -> Tensor:
    ...
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int | tuple[int, int] = (1, 1), padding: int | tuple[int, int] = (0, 0), dilation: int | tuple[int, int] = (1, 1), groups: typing.SupportsInt | typing.SupportsIndex = 1) -> Tensor:
    """
    Input [N, C, H, W], weight [O, C / groups, KH, KW], bias [O] -> [N, O, OH, OW].
    """
def cos(input: Tensor) -> Tensor:
    """
    The cosine, of radians.
    """
def cosh(input: Tensor) -> Tensor:
    """
    The hyperbolic cosine.
    """
def count_nonzero(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    How many elements are non-zero.
    """
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: typing.SupportsInt | typing.SupportsIndex = -100, reduction: str = 'mean', label_smoothing: typing.SupportsFloat | typing.SupportsIndex = 0.0) -> Tensor:
    ...
def device_count() -> int:
    """
    Number of OpenCL devices over all platforms.
    """
@typing.overload
def div(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The true quotient.
    """
@typing.overload
def div(input: Tensor | float | int | bool, other: Tensor | float | int | bool, *, rounding_mode: str | None) -> Tensor:
    ...
def div_floor(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    div with rounding_mode='floor'.
    """
def div_trunc(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    div with rounding_mode='trunc'.
    """
def dropout(input: Tensor, p: typing.SupportsFloat | typing.SupportsIndex = 0.5, training: bool = True) -> Tensor:
    ...
def elu(input: Tensor, alpha: typing.SupportsFloat | typing.SupportsIndex | None = 1.0) -> Tensor:
    """
    a, or alpha * (exp(a) - 1) where negative (Clevert et al. 2016).
    """
def empty(*args, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Contents undefined.
    """
def empty_cache() -> None:
    """
    Gives cached memory that no tensor uses back to the devices.
    """
def eq(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether a equals b.
    """
def erf(input: Tensor) -> Tensor:
    """
    The error function.
    """
def exp(input: Tensor) -> Tensor:
    """
    e to the power of every element.
    """
def expm1(input: Tensor) -> Tensor:
    """
    exp(a) - 1, exact near 0.
    """
def flatten(input: Tensor, start_dim: typing.SupportsInt | typing.SupportsIndex = 0, end_dim: typing.SupportsInt | typing.SupportsIndex = -1) -> Tensor:
    ...
def floor(input: Tensor) -> Tensor:
    """
    The largest whole number not above every element.
    """
def floor_divide(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The quotient rounded down.
    """
def fmod(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The remainder of division, with the sign of a.
    """
def frac(input: Tensor) -> Tensor:
    """
    What trunc leaves.
    """
def from_numpy(array: numpy.ndarray[typing.Any, numpy.dtype[typing.Any]]) -> Tensor:
    """
    Copies a NumPy array to the default device.
    """
def full(size: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], fill_value: float | int | bool, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None) -> Tensor:
    ...
def ge(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
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
def grad(outputs: collections.abc.Sequence[Tensor], inputs: collections.abc.Sequence[Tensor], grad_outputs: collections.abc.Sequence[Tensor | None] = [], retain_graph: bool = False, allow_unused: bool = False) -> list[Tensor | None]:
    ...
def gradcheck(function: collections.abc.Callable[[list[Tensor]], Tensor], inputs: collections.abc.Sequence[Tensor], eps: typing.SupportsFloat | typing.SupportsIndex = 1e-06, atol: typing.SupportsFloat | typing.SupportsIndex = 1e-05, rtol: typing.SupportsFloat | typing.SupportsIndex = 0.001) -> bool:
    ...
def gt(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether a is greater than b.
    """
def hardsigmoid(input: Tensor) -> Tensor:
    """
    relu6(a + 3) / 6.
    """
def hardswish(input: Tensor) -> Tensor:
    """
    a * relu6(a + 3) / 6 (Howard et al. 2019).
    """
def hardtanh(input: Tensor, min_val: typing.SupportsFloat | typing.SupportsIndex | None = None, max_val: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    a held between min_val and max_val.
    """
def initial_seed() -> int:
    """
    The seed of the last manual_seed.
    """
def is_available() -> bool:
    """
    Whether this machine has an OpenCL device.
    """
def is_grad_enabled() -> bool:
    ...
def isfinite(input: Tensor) -> Tensor:
    """
    Whether every element is neither NaN nor infinite.
    """
def isinf(input: Tensor) -> Tensor:
    """
    Whether every element is infinite.
    """
def isnan(input: Tensor) -> Tensor:
    """
    Whether every element is NaN.
    """
def kernel_cache_info() -> dict:
    """
    Where kernel binaries are kept and what this process did with them: path, entries, bytes, hits, misses, built, build_seconds.
    """
def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    ...
def le(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether a is at most b.
    """
def leaky_relu(input: Tensor, negative_slope: typing.SupportsFloat | typing.SupportsIndex | None = 0.01) -> Tensor:
    """
    a, or negative_slope * a where negative.
    """
def lerp(a: Tensor | float | int | bool, b: Tensor | float | int | bool, c: Tensor | float | int | bool) -> Tensor:
    """
    a + weight * (b - a).
    """
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    ...
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
def log_softmax(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
    ...
def logaddexp(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    log(exp(a) + exp(b)), without overflow.
    """
def logical_and(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether both are non-zero.
    """
def logical_not(input: Tensor) -> Tensor:
    """
    Whether every element is zero.
    """
def logical_or(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether either is non-zero.
    """
def logical_xor(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether exactly one is non-zero.
    """
def logit(input: Tensor) -> Tensor:
    """
    log(a / (1 - a)), the inverse of sigmoid.
    """
def logsigmoid(input: Tensor) -> Tensor:
    """
    log(sigmoid(a)).
    """
def lt(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether a is less than b.
    """
def manual_seed(seed: typing.SupportsInt | typing.SupportsIndex) -> None:
    """
    Seeds the random numbers of every device.
    """
def manual_seed_all(seed: typing.SupportsInt | typing.SupportsIndex) -> None:
    """
    Seeds the random numbers of every device.
    """
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """
    torch.matmul, all broadcasting cases.
    """
def max_memory_allocated(device: device | str | int | None = None) -> int:
    """
    Peak of memory_allocated, in bytes.
    """
def max_memory_reserved(device: device | str | int | None = None) -> int:
    """
    Peak of memory_reserved, in bytes.
    """
def max_pool2d(input: Tensor, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = (0, 0), dilation: int | tuple[int, int] = (1, 1), ceil_mode: bool = False, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    ...
def maximum(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The larger of a and b; NaN if either is.
    """
def mean(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The mean of the elements.
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
def minimum(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The smaller of a and b; NaN if either is.
    """
def mish(input: Tensor) -> Tensor:
    """
    a * tanh(softplus(a)) (Misra 2019).
    """
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """
    Matrix product [M, K] x [K, N].
    """
def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    ...
def mul(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The product.
    """
def narrow(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex, start: typing.SupportsInt | typing.SupportsIndex, length: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
    ...
def ne(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    Whether a differs from b.
    """
def neg(input: Tensor) -> Tensor:
    """
    The negative of every element.
    """
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: typing.SupportsInt | typing.SupportsIndex = -100, reduction: str = 'mean') -> Tensor:
    ...
def ones(*args, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Filled with 1.
    """
def ones_like(input: Tensor) -> Tensor:
    ...
def permute(input: Tensor, dims: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> Tensor:
    ...
def pointwise_table() -> list:
    """
    The rows of the pointwise operator table, as dicts.
    """
def pow(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    a to the power b.
    """
def prelu_kernel(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    prelu with the slope b broadcast already.
    """
def promote_types(type1: numpy.dtype[typing.Any], type2: numpy.dtype[typing.Any]) -> numpy.dtype[typing.Any]:
    """
    The dtype that both promote to.
    """
def rand(*args, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Uniform in [0, 1).
    """
def randint(low: typing.SupportsInt | typing.SupportsIndex, high: typing.SupportsInt | typing.SupportsIndex, size: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None) -> Tensor:
    ...
def randn(*args, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Standard normal.
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
def remainder(input: Tensor | float | int | bool, other: Tensor | float | int | bool) -> Tensor:
    """
    The remainder of division, with the sign of b.
    """
def reset_peak_memory_stats(device: device | str | int | None = None) -> None:
    ...
def reshape(input: Tensor, shape: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> Tensor:
    ...
def round(input: Tensor) -> Tensor:
    """
    The nearest whole number; halves go to the even one.
    """
def rsqrt(input: Tensor) -> Tensor:
    """
    One over the square root.
    """
def select(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex, index: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
    ...
def selu(input: Tensor) -> Tensor:
    """
    The self-normalising unit (Klambauer et al. 2017).
    """
def set_default_device(device: typing.Any) -> None:
    """
    Sets the device of tensors that name none.
    """
def set_memory_limit(bytes: typing.SupportsInt | typing.SupportsIndex, device: device | str | int | None = None) -> None:
    """
    Refuses to reserve more than that many bytes; 0 lifts the limit.
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
def silu(input: Tensor) -> Tensor:
    """
    a * sigmoid(a), also named swish.
    """
def sin(input: Tensor) -> Tensor:
    """
    The sine, of radians.
    """
def sinh(input: Tensor) -> Tensor:
    """
    The hyperbolic sine.
    """
def softmax(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
    ...
def softplus(input: Tensor, beta: typing.SupportsFloat | typing.SupportsIndex | None = None, threshold: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    log(1 + exp(beta * a)) / beta; linear above threshold / beta.
    """
def softsign(input: Tensor) -> Tensor:
    """
    a / (1 + |a|).
    """
def sqrt(input: Tensor) -> Tensor:
    """
    The square root.
    """
def square(input: Tensor) -> Tensor:
    """
    The square of every element.
    """
def squeeze(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | None = None) -> Tensor:
    ...
def sub(input: Tensor | float | int | bool, other: Tensor | float | int | bool, *, alpha: float | int | bool = 1) -> Tensor:
    """
    a - alpha * b.
    """
def sum(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The sum of the elements.
    """
def synchronize(device: device | str | int | None = None) -> None:
    """
    Waits for the work of one device, or of all; raises what a device reported meanwhile.
    """
def t(input: Tensor) -> Tensor:
    ...
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
def tensor(data: typing.Any, *, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Copies data (array, list, number) to a device. Floats of Python become float32; NumPy's keep their dtype.
    """
def threshold(input: Tensor, threshold: typing.SupportsFloat | typing.SupportsIndex | None = None, value: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Tensor:
    """
    a where it is above threshold, value elsewhere.
    """
def transpose(input: Tensor, dim0: typing.SupportsInt | typing.SupportsIndex, dim1: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
    ...
def trunc(input: Tensor) -> Tensor:
    """
    The whole number towards 0.
    """
def unsqueeze(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex) -> Tensor:
    ...
def vector_norm(input: Tensor, dim: typing.SupportsInt | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None, keepdim: bool = False) -> Tensor:
    """
    The Euclidean norm.
    """
def where(a: Tensor | float | int | bool, b: Tensor | float | int | bool, c: Tensor | float | int | bool) -> Tensor:
    """
    b where the condition a holds, c elsewhere.
    """
def zeros(*args, dtype: numpy.dtype[typing.Any] | None = None, device: device | str | int | None = None, requires_grad: bool = False) -> Tensor:
    """
    Filled with 0.
    """
def zeros_like(input: Tensor) -> Tensor:
    ...
bfloat16: dtype
bool_: dtype
float16: dtype
float32: dtype
float64: dtype
int32: dtype
int64: dtype
uint8: dtype
