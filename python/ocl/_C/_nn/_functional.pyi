"""
Functions that take inplace.
"""
from __future__ import annotations
import ocl._C
import typing
__all__: list[str] = ['celu', 'elu', 'hardsigmoid', 'hardswish', 'hardtanh', 'leaky_relu', 'mish', 'relu', 'relu6', 'rrelu', 'selu', 'silu', 'threshold']
def celu(input: ocl._C.Tensor, alpha: complex | float | int | bool = 1.0, inplace: bool = False) -> ocl._C.Tensor:
    """
    elu with a continuous slope (Barron 2017).
    """
def elu(input: ocl._C.Tensor, alpha: complex | float | int | bool = 1.0, inplace: bool = False) -> ocl._C.Tensor:
    """
    a, or alpha * (exp(a) - 1) where negative (Clevert et al. 2016).
    """
def hardsigmoid(input: ocl._C.Tensor, inplace: bool = False) -> ocl._C.Tensor:
    """
    relu6(a + 3) / 6.
    """
def hardswish(input: ocl._C.Tensor, inplace: bool = False) -> ocl._C.Tensor:
    """
    a * relu6(a + 3) / 6 (Howard et al. 2019).
    """
def hardtanh(input: ocl._C.Tensor, min_val: complex | float | int | bool = -1.0, max_val: complex | float | int | bool = 1.0, inplace: bool = False) -> ocl._C.Tensor:
    """
    a held between min_val and max_val.
    """
def leaky_relu(input: ocl._C.Tensor, negative_slope: complex | float | int | bool = 0.01, inplace: bool = False) -> ocl._C.Tensor:
    """
    a, or negative_slope * a where negative.
    """
def mish(input: ocl._C.Tensor, inplace: bool = False) -> ocl._C.Tensor:
    """
    a * tanh(softplus(a)) (Misra 2019).
    """
def relu(input: ocl._C.Tensor, inplace: bool = False) -> ocl._C.Tensor:
    """
    max(a, 0).
    """
def relu6(input: ocl._C.Tensor, inplace: bool = False) -> ocl._C.Tensor:
    """
    min(max(a, 0), 6).
    """
def rrelu(input: ocl._C.Tensor, lower: typing.SupportsFloat | typing.SupportsIndex = 0.125, upper: typing.SupportsFloat | typing.SupportsIndex = 0.3333333333333333, training: bool = False, inplace: bool = False) -> ocl._C.Tensor:
    """
    input, times a random slope between lower and upper where negative, or when not training their mean.
    """
def selu(input: ocl._C.Tensor, inplace: bool = False) -> ocl._C.Tensor:
    """
    The self-normalising unit (Klambauer et al. 2017).
    """
def silu(input: ocl._C.Tensor, inplace: bool = False) -> ocl._C.Tensor:
    """
    a * sigmoid(a), also named swish.
    """
def threshold(input: ocl._C.Tensor, threshold: complex | float | int | bool, value: complex | float | int | bool, inplace: bool = False) -> ocl._C.Tensor:
    """
    a where it is above threshold, value elsewhere.
    """
