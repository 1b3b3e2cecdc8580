"""Convolutions of complex numbers, by those of their parts, and layers with complex parameters.

The layers of C++ are made with floating parameters. One of a complex dtype gets complex parameters once it
is built, and a convolution a forward of its own beside its class's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl._C import _nn as layers
from ocl.amp.autocast_mode import autocast, is_autocast_enabled
from ocl.nn.parameter import Parameter
from ocl.sparse.asking import _named

__all__: list[str] = []

CONVOLUTIONS = [f"conv{kind}{dims}d" for kind in ("", "_transpose") for dims in (1, 2, 3)]


def _by_parts(
    name: str, real: Callable, input: Tensor, weight: Tensor, bias: Tensor | None, *rest: Any
) -> Tensor:
    """A function that is linear in input and in weight, of complex ones."""
    given = [t for t in (input, weight, bias) if t is not None]
    for t in given:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}: expected Tensors for input, weight and bias, got {type(t).__name__}")
    if len({t.dtype for t in given}) != 1:
        found = ", ".join(str(t.dtype) for t in given)
        raise ArgumentTypeError(f"{name}: expected input, weight and bias of one dtype, got {found}")
    if is_autocast_enabled():
        with autocast(enabled=False):
            return _by_parts(name, real, input, weight, bias, *rest)
    x, y = input.real.contiguous(), input.imag.contiguous()
    u, v = weight.real.contiguous(), weight.imag.contiguous()
    a, b = (None, None) if bias is None else (bias.real.contiguous(), bias.imag.contiguous())
    return _C.complex(
        real(x, u, a, *rest) - real(y, v, None, *rest), real(x, v, b, *rest) + real(y, u, None, *rest)
    )


def _of_any_numbers(name: str) -> Callable:
    """The function of that name, of complex numbers too."""
    real = getattr(_C, name)

    @functools.wraps(real)
    def convolution(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, *args: Any, **kwargs: Any
    ) -> Tensor:
        tensors = (input, weight, bias)
        if any(isinstance(t, Tensor) and t.is_complex() for t in tensors):
            of_parts = functools.partial(real, **kwargs)
            return _by_parts(name, of_parts, input, weight, bias, *args)
        return real(input, weight, bias, *args, **kwargs)

    return convolution


def with_complex_meaning(module: str) -> dict[str, Callable]:
    """The convolutions by name, as they stand in a module."""
    return {name: _named(_of_any_numbers(name), module, name) for name in CONVOLUTIONS}


@functools.wraps(_C.l1_loss)
def l1_loss(input: Tensor, target: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    if input.is_complex() or target.is_complex():
        sizes = (input - target).abs()
        return _C.l1_loss(sizes, _C.zeros_like(sizes), *args, **kwargs)
    return _C.l1_loss(input, target, *args, **kwargs)


FUNCTIONS = with_complex_meaning("ocl.nn.functional")
FUNCTIONS["l1_loss"] = _named(l1_loss, "ocl.nn.functional", "l1_loss")


def _padded(layer: Any, input: Tensor) -> tuple[Tensor, Any]:
    """The input padded by another mode than zeros, and the padding that is left to do."""
    if layer.padding_mode == "zeros":
        return input, layer.padding
    amounts: list[int] = []
    for axis in reversed(range(len(layer.kernel_size))):
        if layer.padding == "same":
            total = layer.dilation[axis] * (layer.kernel_size[axis] - 1)
            amounts += [total // 2, total - total // 2]
        else:
            amounts += [0 if layer.padding == "valid" else layer.padding[axis]] * 2
    padded = [
        _C.pad(part.contiguous(), amounts, mode=layer.padding_mode) for part in (input.real, input.imag)
    ]
    return _C.complex(*padded), (0,) * len(layer.kernel_size)


def _output_padding(layer: Any, input: Tensor, output_size: Any) -> tuple[int, ...]:
    """The rows that are added to one side of the output, so that it has a size."""
    if output_size is None:
        return layer.output_padding
    dims = len(layer.kernel_size)
    wanted = tuple(output_size)[-dims:]
    if len(output_size) not in (dims, input.ndim):
        raise ArgumentValueError(
            f"ConvTranspose{dims}d: for {input.ndim}D input, output_size must have {dims} or {input.ndim} "
            f"elements (got {len(output_size)})"
        )
    added = []
    for axis in range(dims):
        least = (input.shape[axis - dims] - 1) * layer.stride[axis] - 2 * layer.padding[axis]
        least += layer.dilation[axis] * (layer.kernel_size[axis] - 1) + 1
        if not least <= wanted[axis] <= least + layer.stride[axis] - 1:
            raise ArgumentValueError(
                f"requested an output size of {list(wanted)}, but valid sizes of dimension {axis} range from "
                f"{least} to {least + layer.stride[axis] - 1} (for an input of {list(input.shape[-dims:])})"
            )
        added.append(wanted[axis] - least)
    return tuple(added)


def _forward_with_complex_numbers(self: Any, input: Tensor, output_size: Any = None) -> Tensor:
    """The forward of a convolution that had complex parameters once."""
    if not self.weight.is_complex():
        own = type(self).forward
        return own(self, input) if output_size is None else own(self, input, output_size)
    dims = len(self.kernel_size)
    if isinstance(self, tuple(_TRANSPOSED)):
        extra = _output_padding(self, input, output_size)
        convolve = FUNCTIONS[f"conv_transpose{dims}d"]
        return convolve(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
    padded, padding = _padded(self, input)
    convolve = FUNCTIONS[f"conv{dims}d"]
    return convolve(padded, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


_TRANSPOSED = [getattr(layers, f"ConvTranspose{dims}d") for dims in (1, 2, 3)]
_CONVOLVING = [getattr(layers, f"Conv{dims}d") for dims in (1, 2, 3)] + _TRANSPOSED


def prepare(module: Any) -> None:
    """Lets a layer that now has complex parameters compute with them."""
    if isinstance(module, tuple(_CONVOLVING)) and "forward" not in module.__dict__:
        module.forward = module._forward_with_complex_numbers


layers._ConvNd._forward_with_complex_numbers = _forward_with_complex_numbers


_real_l1_loss = layers.L1Loss.forward


@functools.wraps(_real_l1_loss)
def _l1_loss_forward(self: Any, input: Tensor, target: Tensor) -> Tensor:
    if input.is_complex() or target.is_complex():
        return l1_loss(input, target, reduction=self.reduction)
    return _real_l1_loss(self, input, target)


layers.L1Loss.forward = _l1_loss_forward


def _is_complex(value: Any) -> bool:
    return isinstance(value, _C.dtype) and value.is_complex


def _real(value: Any) -> Any:
    return value.to_real() if _is_complex(value) else value


def _own_parameters(module: Any) -> dict[str, Parameter]:
    return {name: p for name, p in module._entries("_parameters").items() if p is not None and p.numel()}


def _drawing_complex_numbers(reset: Callable, scale: float) -> Callable:
    """reset_parameters of a layer, for complex parameters too: each part is drawn as real parameters are."""

    @functools.wraps(reset)
    def reset_parameters(self: Any) -> None:
        own = _own_parameters(self)
        if not any(p.is_complex() for p in own.values()):
            reset(self)
            return
        parts = []
        try:
            for _ in range(2):
                for name, p in own.items():
                    real = _C.zeros(p.shape, dtype=p.dtype.to_real(), device=p.device)
                    self._set_entry("_parameters", name, Parameter(real, False))
                reset(self)
                parts.append(_own_parameters(self))
        finally:
            for name, p in own.items():
                self._set_entry("_parameters", name, p)
        for name, p in own.items():
            p.data.copy_(_C.complex(parts[0][name] * scale, parts[1][name] * scale))

    return reset_parameters


def _taking_complex_dtypes(cls: type) -> Callable:
    """The constructor of a layer, for complex dtypes too."""
    build, reset = cls.__init__, cls.reset_parameters

    @functools.wraps(build)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if not any(map(_is_complex, (*args, *kwargs.values()))):
            build(self, *args, **kwargs)
            return
        build(self, *map(_real, args), **{name: _real(value) for name, value in kwargs.items()})
        for name, p in self._entries("_parameters").items():
            if p is not None:
                zeros = _C.zeros(p.shape, dtype=p.dtype.to_complex(), device=p.device)
                self._set_entry("_parameters", name, Parameter(zeros, p.requires_grad))
        if _own_parameters(self):
            reset(self)
        prepare(self)

    return __init__


# A normal complex number has the variance 1 of both parts together.
_SCALES = {**dict.fromkeys((layers.Linear, *_CONVOLVING), 1.0), layers.Embedding: math.sqrt(0.5)}
for _class, _scale in _SCALES.items():
    _class.reset_parameters = _drawing_complex_numbers(_class.reset_parameters, _scale)
    _class.__init__ = _taking_complex_dtypes(_class)
