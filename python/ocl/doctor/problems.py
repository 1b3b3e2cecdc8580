"""Small problems of every family of implementations, with their truth."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ocl.doctor import references
from ocl.doctor.references import Arrays

__all__ = ["FAMILIES", "Problem", "problems"]

GEMM, ATTENTION = ("gemm",), ("attention_forward", "attention_backward", "attention_softmax")
CONV = ("conv2d_forward", "conv2d_backward_data", "conv2d_backward_weight")
BATCH_NORM = (
    "batch_norm_statistics",
    "batch_norm_forward",
    "batch_norm_gradient_sums",
    "batch_norm_input_gradient",
)

# In the order in which they are checked: a family comes after those whose results it needs. With the results
# that a family computes, by the beginning of their names; "" stands for all.
FAMILIES = {
    "gemm": "",
    "quantized_linear": "result",
    "conv2d_forward": "result",
    "conv2d_backward_data": "gradient of input",
    "conv2d_backward_weight": "gradient of weight",
    "int8_conv2d": "",
    "fft": "",
    "softmax_forward": "result",
    "softmax_backward": "gradient",
    "attention_softmax": "",
    "attention_forward": "result",
    "attention_backward": "gradient",
    "batch_norm_statistics": "running",
    "batch_norm_forward": "result",
    "batch_norm_gradient_sums": "gradient of weight",
    "batch_norm_input_gradient": "gradient of input",
    "row_norm_forward": "result",
    "row_norm_backward": "gradient of input",
    "max_pool2d_forward": "result",
    "max_pool2d_backward": "gradient",
    "avg_pool2d_forward": "result",
    "avg_pool2d_backward": "gradient",
}

# The choices forced beside an implementation of a family, so that it computes.
BESIDE = {"attention_softmax": "attention_forward=whole_matrix,attention_backward=whole_matrix"}

EPSILON = {
    **{"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7},
    **{"int32": 0.0, "int8": 0.0},
}
EPSILON_OF_PRODUCTS = {"highest": 2.0**-23, "high": 2.0**-10, "medium": 2.0**-7}
# How many times its epsilon a result may be off. Rounding takes a tenth of that; a sum that lacks one of its
# terms is further off.
SLACK = 32.0  # of the magnitudes that a sum has added up, or of the largest element
SLACK_OF_REDUCED = 6.0  # of the root of the sum of squares, where operands are rounded: such errors cancel
SLACK_OF_ROUNDED = 4.0  # of the largest element, where operands or results are rounded


class Kind(NamedTuple):
    """An operator: what computes it here and on the host."""

    families: tuple[str, ...]
    names: tuple[str, ...]
    """Of the inputs."""
    compute: Callable[..., Any]
    """compute(ocl, *inputs, **options): the result, or the result and others by name."""
    truth: Callable[..., Arrays]
    has_products: bool = False
    """Rounds what it multiplies to the precision of products."""
    is_multilinear: bool = False
    """Sums of products: how far off one may be is measured by the products' magnitudes."""
    is_integer: bool = False


def _batch_norm(ocl: Any, x: Any, weight: Any, bias: Any) -> tuple[Any, dict[str, Any]]:
    channels = x.shape[1]
    mean, variance = ocl.zeros(channels, device=x.device), ocl.ones(channels, device=x.device)
    result = ocl.batch_norm(x, mean, variance, weight, bias, training=True)
    return result, {"running mean": mean, "running variance": variance}


def _quantized_linear(ocl: Any, x: Any, bias: Any, bits: int, outputs: int) -> Any:
    """With the weight of ``references.stored_weight``."""
    numbers, scales, zeros = references.stored_weight(outputs, x.shape[-1], bits)
    weight = ocl.tensor(numbers, device=x.device)
    floats = [None if t is None else ocl.tensor(t, device=x.device) for t in (scales, zeros)]
    return ocl.quantized_linear(x, weight, *floats, bias)


_INT8_SCALE = 16.0  # of results, so that sums are rounded


def _int8_conv2d(
    ocl: Any, x: Any, weight: Any, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1
) -> Any:
    plain, result = (1.0, 0), (_INT8_SCALE, 0, -128, 127)
    scales = ocl.ones(weight.shape[0], device=x.device)
    geometry = (stride, stride), (padding, padding), (dilation, dilation), groups
    return ocl._C._quantization.conv2d(x, plain, weight, scales, None, None, plain, *geometry, result)


def _int8_conv2d_truth(x: np.ndarray, weight: np.ndarray, upstream: Callable, **options: Any) -> Arrays:
    sums = references.conv2d(x, weight, upstream, **options)["result"]
    return {"result": np.clip(np.rint(sums / _INT8_SCALE), -128, 127)}


KINDS = {
    "matmul": Kind(
        GEMM, ("a", "b"), lambda ocl, a, b: a @ b, references.matmul, has_products=True, is_multilinear=True
    ),
    "integer matmul": Kind(
        GEMM, ("a", "b"), lambda ocl, a, b: a @ b, references.matmul, is_multilinear=True, is_integer=True
    ),
    "linear": Kind(
        GEMM,
        ("input", "weight", "bias"),
        lambda ocl, *inputs: ocl.linear(*inputs),
        references.linear,
        has_products=True,
        is_multilinear=True,
    ),
    "quantized_linear": Kind(
        ("quantized_linear",),
        ("input", "bias"),
        _quantized_linear,
        references.quantized_linear,
        has_products=True,
    ),
    "conv2d": Kind(
        CONV,
        ("input", "weight"),
        lambda ocl, x, weight, **options: ocl.conv2d(x, weight, None, **options),
        references.conv2d,
        has_products=True,
        is_multilinear=True,
    ),
    "int8 conv2d": Kind(
        ("int8_conv2d",),
        ("input", "weight"),
        _int8_conv2d,
        _int8_conv2d_truth,
        is_multilinear=True,
        is_integer=True,
    ),
    "fourier transform": Kind(
        ("fft",), ("input",), lambda ocl, x: ocl._fft_c2c(x, [-1], 1, True), references.fourier_transform
    ),
    "softmax": Kind(
        ("softmax_forward", "softmax_backward"),
        ("input",),
        lambda ocl, x: ocl.softmax(x, -1),
        references.softmax,
    ),
    "log_softmax": Kind(
        ("softmax_forward", "softmax_backward"),
        ("input",),
        lambda ocl, x: ocl.log_softmax(x, -1),
        references.log_softmax,
    ),
    "attention": Kind(
        ATTENTION,
        ("query", "key", "value"),
        lambda ocl, *inputs, causal: ocl.scaled_dot_product_attention(*inputs, is_causal=causal),
        references.attention,
        has_products=True,
    ),
    "batch_norm": Kind(BATCH_NORM, ("input", "weight", "bias"), _batch_norm, references.batch_norm),
    "layer_norm": Kind(
        ("row_norm_forward", "row_norm_backward"),
        ("input", "weight", "bias"),
        lambda ocl, x, weight, bias: ocl.layer_norm(x, x.shape[-1:], weight, bias),
        references.layer_norm,
    ),
    "rms_norm": Kind(
        ("row_norm_forward", "row_norm_backward"),
        ("input", "weight"),
        lambda ocl, x, weight: ocl.rms_norm(x, x.shape[-1:], weight, 1e-5),
        references.rms_norm,
    ),
    "max_pool2d": Kind(
        ("max_pool2d_forward", "max_pool2d_backward"),
        ("input",),
        lambda ocl, x, size, stride, padding: ocl.max_pool2d(x, size, stride, padding),
        references.max_pool2d,
    ),
    "avg_pool2d": Kind(
        ("avg_pool2d_forward", "avg_pool2d_backward"),
        ("input",),
        lambda ocl, x, size, stride, padding: ocl.avg_pool2d(x, size, stride, padding),
        references.avg_pool2d,
    ),
}


def rounded(array: np.ndarray, dtype: str) -> np.ndarray:
    """The nearest numbers that `dtype` holds, as float64."""
    if dtype != "bfloat16":
        return array.astype(dtype).astype(np.float64)
    bits = array.astype(np.float32).view(np.uint32)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return nearest.astype(np.uint32).view(np.float32).astype(np.float64)


class Problem:
    """An operator with its inputs, which are the same in every run."""

    def __init__(
        self,
        kind: str,
        *shapes: tuple[int, ...],
        dtype: str = "float32",
        precision: str = "highest",
        channels_last: bool = False,
        is_quick: bool = False,
        **options: Any,
    ) -> None:
        self.kind, self.dtype, self.precision, self.options = KINDS[kind], dtype, precision, options
        self.channels_last, self.is_quick = channels_last, is_quick
        said = [f"{name}={value}" for name, value in options.items()]
        said += ["channels_last"] if channels_last else []
        said += [dtype] + ([f"precision {precision}"] if precision != "highest" else [])
        sizes = " ".join("x".join(map(str, shape)) for shape in shapes)
        self.name = f"{kind} {sizes}, {', '.join(said)}"
        self._rng = np.random.default_rng(list(self.name.encode()))
        self.inputs = [self._drawn(shape) for shape in shapes]
        self._upstream: np.ndarray | None = None

    def _drawn(self, shape: tuple[int, ...]) -> np.ndarray:
        if self.kind.is_integer:
            return self._rng.integers(-9, 10, shape).astype(np.float64)
        return rounded(self._rng.uniform(-1, 1, shape), self.dtype)

    def upstream(self, shape: tuple[int, ...]) -> np.ndarray:
        """The gradient of the result."""
        if self._upstream is None:
            self._upstream = self._drawn(tuple(shape))
        return self._upstream

    @functools.cached_property
    def truth(self) -> Arrays:
        truth = self.kind.truth(*self.inputs, self.upstream, **self.options)
        return {"result": truth["result"]} if self.kind.is_integer else truth

    @functools.cached_property
    def allowed(self) -> Arrays:
        """How far each element of a result may be off."""
        reduced = EPSILON[self.dtype]
        if self.kind.has_products:
            reduced = max(reduced, EPSILON_OF_PRODUCTS[self.precision])
        is_reduced = reduced > 1e-6
        if not self.kind.is_multilinear:
            slack = (SLACK_OF_ROUNDED if is_reduced else SLACK) * reduced
            return {name: np.asarray(slack * np.abs(array).max()) for name, array in self.truth.items()}
        power = 2 if is_reduced else 1
        inputs = [np.abs(array) ** power for array in self.inputs]
        sums = self.kind.truth(*inputs, lambda shape: np.abs(self.upstream(shape)) ** power, **self.options)
        if not is_reduced:
            return {name: SLACK * reduced * magnitudes for name, magnitudes in sums.items()}
        return {
            name: reduced * (SLACK_OF_REDUCED * np.sqrt(sums[name]) + 2 * np.abs(truth))
            for name, truth in self.truth.items()
        }

    def compute(self, device: Any) -> Arrays:
        """The results and gradients as `device` computes them."""
        import ocl

        def given(array: np.ndarray) -> Any:
            host = array.astype({"int32": np.int32, "float64": np.float64}.get(self.dtype, np.float32))
            tensor = ocl.tensor(host, device=device).to(getattr(ocl, self.dtype))
            if self.channels_last and tensor.ndim == 4:
                tensor = tensor.contiguous(memory_format=ocl.channels_last)
            return tensor

        inputs = [given(array) for array in self.inputs]
        if not self.kind.is_integer:
            for tensor in inputs:
                tensor.requires_grad_()
        before = ocl.get_float32_matmul_precision()
        ocl.set_float32_matmul_precision(self.precision)
        try:
            made = self.kind.compute(ocl, *inputs, **self.options)
            result, others = made if isinstance(made, tuple) else (made, {})
            results = {"result": result, **others}
            if not self.kind.is_integer:
                result.backward(given(self.upstream(tuple(result.shape))))
                for name, tensor in zip(self.kind.names, inputs, strict=True):
                    results[f"gradient of {name}"] = tensor.grad
        finally:
            ocl.set_float32_matmul_precision(before)
        return {name: _downloaded(tensor) for name, tensor in results.items()}


def _downloaded(tensor: Any) -> np.ndarray:
    import ocl

    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype in (ocl.float16, ocl.bfloat16) else tensor).numpy()


def _products() -> list[Problem]:
    large = (256, 256), (256, 256)
    return [
        Problem("linear", (5, 37), (11, 37), (11,), is_quick=True),
        Problem("linear", (64, 128), (96, 128), (96,), is_quick=True),
        Problem("linear", (1, 300), (70, 300), (70,)),
        Problem("matmul", (3, 33, 65), (3, 65, 17)),
        Problem("matmul", *large),
        Problem("matmul", *large, precision="high"),
        Problem("matmul", *large, precision="medium"),
        Problem("matmul", (130, 70), (70, 200), precision="high"),
        Problem("matmul", *large, dtype="float16"),
        Problem("matmul", *large, dtype="bfloat16"),
        Problem("linear", (32, 64), (48, 64), (48,), dtype="float16", is_quick=True),
        Problem("matmul", (40, 50), (50, 60), dtype="float64"),
        Problem("integer matmul", (33, 65), (65, 17), dtype="int32", is_quick=True),
        Problem("quantized_linear", (1, 256), (70,), bits=4, outputs=70, is_quick=True),
        Problem("quantized_linear", (5, 128), (33,), bits=4, outputs=33, dtype="float16"),
        Problem("quantized_linear", (3, 77), (19,), bits=8, outputs=19, is_quick=True),
        Problem("quantized_linear", (40, 192), (50,), bits=4, outputs=50),
    ]


def _convolutions() -> list[Problem]:
    many, filters = (4, 64, 14, 14), (64, 64, 3, 3)
    return [
        Problem("conv2d", (4, 16, 14, 14), (32, 16, 3, 3), padding=1, is_quick=True),
        Problem("conv2d", (2, 32, 7, 7), (48, 32, 1, 1), is_quick=True),
        Problem("conv2d", (5, 12, 4, 4), (20, 12, 4, 4), is_quick=True),
        Problem("conv2d", (2, 16, 15, 13), (16, 1, 3, 3), padding=1, groups=16, is_quick=True),
        Problem("conv2d", (2, 64, 14, 14), (64, 64, 3, 3), padding=1, is_quick=True),
        Problem("conv2d", (2, 24, 16, 16), (24, 1, 5, 5), padding=2, stride=2, groups=24),
        Problem("conv2d", (2, 3, 32, 32), (16, 3, 7, 7), stride=2, padding=3),
        Problem("conv2d", (3, 12, 11, 9), (18, 6, 3, 3), stride=2, padding=1, groups=2),
        Problem("conv2d", (2, 8, 17, 17), (8, 8, 3, 3), padding=2, dilation=2),
        Problem("conv2d", many, filters, padding=1),
        Problem("conv2d", many, filters, padding=1, precision="high"),
        Problem("conv2d", many, filters, padding=1, precision="medium"),
        Problem("conv2d", many, filters, padding=1, channels_last=True),
        Problem("conv2d", many, filters, padding=1, channels_last=True, precision="high"),
        Problem("conv2d", many, filters, padding=1, channels_last=True, precision="medium"),
        Problem("conv2d", many, filters, padding=1, channels_last=True, dtype="float16"),
        Problem("conv2d", many, filters, padding=1, dtype="bfloat16"),
        Problem("conv2d", (4, 16, 9, 9), (16, 16, 3, 3), padding=1, dtype="float16"),
        Problem("int8 conv2d", (2, 19, 14, 14), (33, 19, 3, 3), padding=1, dtype="int8", is_quick=True),
        Problem(
            "int8 conv2d", (2, 16, 15, 13), (16, 1, 3, 3), padding=1, groups=16, dtype="int8", is_quick=True
        ),
        Problem("int8 conv2d", (3, 12, 11, 9), (18, 6, 3, 3), stride=2, padding=1, groups=2, dtype="int8"),
    ]


def _rows() -> list[Problem]:
    heads = ((1, 2, 128, 64),) * 3
    return [
        Problem("fourier transform", (37, 60, 2), is_quick=True),
        Problem("fourier transform", (3, 1009, 2), is_quick=True),
        Problem("fourier transform", (2, 8192, 2), is_quick=True),
        Problem("softmax", (300, 10), is_quick=True),
        Problem("softmax", (7, 1000)),
        Problem("log_softmax", (33, 257), is_quick=True),
        Problem("attention", *(((2, 3, 17, 16),) * 3), causal=False, is_quick=True),
        # So many scores for so few columns that none are kept for the gradient.
        Problem("attention", *(((1, 2, 96, 16),) * 3), causal=True, is_quick=True),
        Problem("attention", *heads, causal=True),
        Problem("attention", *heads, causal=True, precision="high"),
        Problem("attention", *heads, causal=False, dtype="float16"),
        Problem("layer_norm", (37, 96), (96,), (96,), is_quick=True),
        Problem("layer_norm", (5, 1000), (1000,), (1000,)),
        Problem("rms_norm", (16, 600), (600,)),
    ]


def _planes() -> list[Problem]:
    pools = [
        Problem(kind, shape, size=size, stride=stride, padding=padding, is_quick=is_quick)
        for kind in ("max_pool2d", "avg_pool2d")
        for shape, size, stride, padding, is_quick in (
            ((2, 5, 12, 14), 2, 2, 0, True),
            ((2, 3, 6, 16), 2, 2, 0, True),
            ((2, 5, 13, 11), 3, 2, 1, False),
            ((2, 4, 10, 10), 3, 1, 1, False),
            ((3, 16, 7, 7), 7, 7, 0, True),
        )
    ]
    return [
        *pools,
        Problem("batch_norm", (4, 8, 7, 9), (8,), (8,), is_quick=True),
        Problem("batch_norm", (8, 5), (5,), (5,), is_quick=True),
        Problem("batch_norm", (4, 6, 5, 3), (6,), (6,), channels_last=True, is_quick=True),
        Problem("batch_norm", (4, 8, 5, 3), (8,), (8,), channels_last=True, is_quick=True),
        Problem("batch_norm", (8, 16, 16, 16), (16,), (16,), is_quick=True),
    ]


def problems(quick: bool, dtypes: set[str]) -> list[Problem]:
    """All problems of floating dtypes among `dtypes`, or a few that cover every family."""
    every = _products() + _convolutions() + _rows() + _planes()
    return [p for p in every if (p.is_quick or not quick) and (p.kind.is_integer or p.dtype in dtypes)]
