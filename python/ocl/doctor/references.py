"""Operators and their gradients in float64 by NumPy: what results of a device are compared with.

Each function takes the inputs, and a function that draws the gradient of a result from its shape. It returns
the results and gradients by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Arrays = dict[str, np.ndarray]
Upstream = Callable[[Sequence[int]], np.ndarray]


def matmul(a: np.ndarray, b: np.ndarray, upstream: Upstream) -> Arrays:
    """``a @ b`` of matrices, or of two batches of them."""
    result = a @ b
    g = upstream(result.shape)
    return {
        "result": result,
        "gradient of a": g @ b.swapaxes(-1, -2),
        "gradient of b": a.swapaxes(-1, -2) @ g,
    }


def linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, upstream: Upstream) -> Arrays:
    result = x @ weight.T + bias
    g = upstream(result.shape)
    return {
        "result": result,
        "gradient of input": g @ weight,
        "gradient of weight": g.T @ x,
        "gradient of bias": g.sum(0),
    }


def stored_weight(outputs: int, inputs: int, bits: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """A weight in 8 bits, or in 4 in groups of 64 or 32, its scales and its zeros."""
    rng = np.random.default_rng([outputs, inputs, bits])
    if bits == 8:
        numbers = rng.integers(-128, 128, (outputs, inputs)).astype(np.int8)
        return numbers, rng.uniform(0.005, 0.01, outputs).astype(np.float32), None
    groups = inputs // (64 if inputs % 64 == 0 else 32)
    numbers = rng.integers(0, 256, (outputs, inputs // 2)).astype(np.uint8)
    scales, zeros = (rng.uniform(low, 0.2, (outputs, groups)).astype(np.float32) for low in (0.1, -0.2))
    return numbers, scales, zeros


def quantized_linear(x: np.ndarray, bias: np.ndarray, upstream: Upstream, bits: int, outputs: int) -> Arrays:
    """With the weight of ``stored_weight``: of each 32 in 4 bits, byte j has the numbers j and j + 16."""
    numbers, scales, zeros = stored_weight(outputs, x.shape[-1], bits)
    if zeros is None:
        weight = numbers * scales[:, None].astype(np.float64)
    else:
        blocks = numbers.reshape(outputs, -1, 1, 16)
        wide = np.concatenate([blocks & 15, blocks >> 4], 2).reshape(outputs, scales.shape[1], -1) - 8.0
        weight = (wide * scales[:, :, None] + zeros[:, :, None]).reshape(outputs, -1)
    results = linear(x, weight, bias, upstream)
    return {name: array for name, array in results.items() if name != "gradient of weight"}


class Windows:
    """The windows of pictures (N, C, H, W) that a kernel of `size` rows and columns meets."""

    def __init__(self, shape: Sequence[int], size: int, stride: int, padding: int, dilation: int = 1) -> None:
        self.shape, self.padding = tuple(shape), padding
        reach = dilation * (size - 1) + 1
        starts = [np.arange(0, side + 2 * padding - reach + 1, stride) for side in shape[2:]]
        steps = dilation * np.arange(size)
        self.rows = starts[0][:, None, None, None] + steps[None, None, :, None]
        self.columns = starts[1][None, :, None, None] + steps[None, None, None, :]

    def of(self, x: np.ndarray, filling: float = 0) -> np.ndarray:
        """(N, C, rows, columns, size, size)."""
        p = self.padding
        padded = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)), constant_values=filling)
        return padded[:, :, self.rows, self.columns]

    def joined(self, windows: np.ndarray) -> np.ndarray:
        """Adds windows up to a picture: the gradient of ``of``."""
        n, c, h, w = self.shape
        p = self.padding
        padded = np.zeros((n, c, h + 2 * p, w + 2 * p), windows.dtype)
        np.add.at(padded, (slice(None), slice(None), self.rows, self.columns), windows)
        return padded[:, :, p : p + h, p : p + w]


def conv2d(
    x: np.ndarray,
    weight: np.ndarray,
    upstream: Upstream,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Arrays:
    """`weight`: (filters, channels of a group, size, size)."""
    n, channels = x.shape[:2]
    filters, of_group, size = weight.shape[:3]
    windows = Windows(x.shape, size, stride, padding, dilation)
    seen = windows.of(x)
    rows, columns = seen.shape[2:4]
    # (group, images and places, elements of a window) by (group, elements of a window, filters).
    left = seen.reshape(n, groups, of_group, rows * columns, size * size).transpose(1, 0, 3, 2, 4)
    left = left.reshape(groups, n * rows * columns, of_group * size * size)
    right = weight.reshape(groups, filters // groups, -1).swapaxes(1, 2)

    def as_pictures(products: np.ndarray) -> np.ndarray:
        parted = products.reshape(groups, n, rows, columns, filters // groups)
        return parted.transpose(1, 0, 4, 2, 3).reshape(n, filters, rows, columns)

    result = as_pictures(left @ right)
    g = upstream(result.shape).reshape(n, groups, filters // groups, rows * columns)
    g = g.transpose(1, 0, 3, 2).reshape(groups, n * rows * columns, filters // groups)
    of_weight = (left.swapaxes(1, 2) @ g).swapaxes(1, 2).reshape(weight.shape)
    of_windows = (g @ right.swapaxes(1, 2)).reshape(groups, n, rows * columns, of_group, size * size)
    of_windows = of_windows.transpose(1, 0, 3, 2, 4).reshape(n, channels, rows, columns, size, size)
    return {
        "result": result,
        "gradient of input": windows.joined(of_windows),
        "gradient of weight": of_weight,
    }


def max_pool2d(x: np.ndarray, upstream: Upstream, size: int, stride: int, padding: int) -> Arrays:
    windows = Windows(x.shape, size, stride, padding)
    seen = windows.of(x, -np.inf)
    flat = seen.reshape(*seen.shape[:4], -1)
    best = flat.argmax(-1)[..., None]
    result = np.take_along_axis(flat, best, -1)[..., 0]
    of_windows = np.zeros_like(flat)
    np.put_along_axis(of_windows, best, upstream(result.shape)[..., None], -1)
    return {"result": result, "gradient of input": windows.joined(of_windows.reshape(seen.shape))}


def avg_pool2d(x: np.ndarray, upstream: Upstream, size: int, stride: int, padding: int) -> Arrays:
    """The padding counts."""
    windows = Windows(x.shape, size, stride, padding)
    seen = windows.of(x)
    result = seen.mean((-1, -2))
    of_windows = np.broadcast_to(upstream(result.shape)[..., None, None] / size**2, seen.shape)
    return {"result": result, "gradient of input": windows.joined(of_windows)}


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _softmax_gradient(result: np.ndarray, g: np.ndarray) -> np.ndarray:
    return result * (g - (g * result).sum(-1, keepdims=True))


def fourier_transform(x: np.ndarray, upstream: Upstream) -> Arrays:
    """The transform of pairs (real, imaginary) along the last dimension but one, over its root."""

    def transformed(pairs: np.ndarray, function: Callable) -> np.ndarray:
        numbers = function(pairs[..., 0] + 1j * pairs[..., 1], norm="ortho")
        return np.stack([numbers.real, numbers.imag], -1)

    result = transformed(x, np.fft.fft)
    return {"result": result, "gradient of input": transformed(upstream(result.shape), np.fft.ifft)}


def softmax(x: np.ndarray, upstream: Upstream) -> Arrays:
    """Over the last dimension."""
    result = _softmax(x)
    return {"result": result, "gradient of input": _softmax_gradient(result, upstream(result.shape))}


def log_softmax(x: np.ndarray, upstream: Upstream) -> Arrays:
    """Over the last dimension."""
    least = x - x.max(-1, keepdims=True)
    result = least - np.log(np.exp(least).sum(-1, keepdims=True))
    g = upstream(result.shape)
    return {"result": result, "gradient of input": g - np.exp(result) * g.sum(-1, keepdims=True)}


def attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, upstream: Upstream, causal: bool
) -> Arrays:
    """scaled_dot_product_attention of (batch, heads, length, width)."""
    scale = query.shape[-1] ** -0.5
    scores = scale * query @ key.swapaxes(-1, -2)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = _softmax(scores)
    result = weights @ value
    g = upstream(result.shape)
    of_scores = scale * _softmax_gradient(weights, g @ value.swapaxes(-1, -2))
    return {
        "result": result,
        "gradient of query": of_scores @ key,
        "gradient of key": of_scores.swapaxes(-1, -2) @ query,
        "gradient of value": weights.swapaxes(-1, -2) @ g,
    }


def _normalized(x: np.ndarray, axes: tuple[int, ...], eps: float) -> tuple[np.ndarray, np.ndarray]:
    """The input scaled to mean 0 and variance 1 over `axes`, and what it was multiplied by."""
    inverse = 1 / np.sqrt(x.var(axes, keepdims=True) + eps)
    return (x - x.mean(axes, keepdims=True)) * inverse, inverse


def _normalized_gradient(
    normal: np.ndarray, inverse: np.ndarray, g: np.ndarray, axes: tuple[int, ...]
) -> np.ndarray:
    means = g.mean(axes, keepdims=True) + normal * (g * normal).mean(axes, keepdims=True)
    return inverse * (g - means)


def batch_norm(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    upstream: Upstream,
    eps: float = 1e-5,
    momentum: float = 0.1,
) -> Arrays:
    """In training, of (N, C) or (N, C, H, W); the running statistics were 0 and 1."""
    axes, shape = (0, *range(2, x.ndim)), (1, -1) + (1,) * (x.ndim - 2)
    normal, inverse = _normalized(x, axes, eps)
    result = normal * weight.reshape(shape) + bias.reshape(shape)
    g = upstream(result.shape)
    count = x.size / x.shape[1]
    return {
        "running mean": momentum * x.mean(axes),
        "running variance": 1 - momentum + momentum * x.var(axes) * count / (count - 1),
        "result": result,
        "gradient of weight": (g * normal).sum(axes),
        "gradient of bias": g.sum(axes),
        "gradient of input": _normalized_gradient(normal, inverse, g * weight.reshape(shape), axes),
    }


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, upstream: Upstream, eps: float = 1e-5
) -> Arrays:
    """Over the last dimension of a matrix."""
    normal, inverse = _normalized(x, (-1,), eps)
    result = normal * weight + bias
    g = upstream(result.shape)
    return {
        "result": result,
        "gradient of input": _normalized_gradient(normal, inverse, g * weight, (-1,)),
        "gradient of weight": (g * normal).sum(0),
        "gradient of bias": g.sum(0),
    }


def rms_norm(x: np.ndarray, weight: np.ndarray, upstream: Upstream, eps: float = 1e-5) -> Arrays:
    """Over the last dimension of a matrix."""
    inverse = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    normal = x * inverse
    result = normal * weight
    g = upstream(result.shape)
    of_normal = g * weight
    return {
        "result": result,
        "gradient of input": inverse * (of_normal - normal * (of_normal * normal).mean(-1, keepdims=True)),
        "gradient of weight": (g * normal).sum(0),
    }
