"""Windows and Fourier transforms; a transform is a product with a matrix."""

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import ONNX_DTYPES, dtype_of, integers, scalar

_COSINES = {
    "HannWindow": (0.5, 0.5, 0.0),
    "HammingWindow": (25 / 46, 1 - 25 / 46, 0.0),
    "BlackmanWindow": (0.42, 0.5, 0.08),
}


@operator(" ".join(_COSINES), host=(0,), folds=False)
def window(call, size):
    size = int(scalar(size))
    first, second, third = _COSINES[call.name]
    at = 2 * np.pi * np.arange(size) / (size if call.get("periodic", 1) else max(size - 1, 1))
    values = first - second * np.cos(at) + third * np.cos(2 * at)
    dtype = dtype_of(call.get("output_datatype", ONNX_DTYPES[ocl.float32]))
    return call.tensor(values).to(dtype)


def _transformed(call, x, length: int, inverse: bool, onesided: bool):
    """The transform [..., frequencies, 2] of numbers [..., length, 1 or 2]."""
    have = x.shape[-2]
    if inverse and onesided:
        return _real_inverse(call, x, length)
    rows = length // 2 + 1 if onesided else length
    angle = (
        (1 if inverse else -1) * 2 * np.pi * np.outer(np.arange(rows), np.arange(min(have, length))) / length
    )
    over = length if inverse else 1
    cos, sin = _matrix(call, np.cos(angle) / over, x), _matrix(call, np.sin(angle) / over, x)
    x = x.narrow(-2, 0, min(have, length))
    real = x.select(-1, 0)
    y_real, y_imaginary = ocl.matmul(real, cos.t()), ocl.matmul(real, sin.t())
    if x.shape[-1] == 2:
        imaginary = x.select(-1, 1)
        y_real = y_real - ocl.matmul(imaginary, sin.t())
        y_imaginary = y_imaginary + ocl.matmul(imaginary, cos.t())
    return ocl.stack([y_real, y_imaginary], -1)


def _real_inverse(call, x, length: int):
    """Real numbers [..., length, 1] from the first half of their transform."""
    rows = min(x.shape[-2], length // 2 + 1)
    angle = 2 * np.pi * np.outer(np.arange(length), np.arange(rows)) / length
    twice = np.full(rows, 2.0)
    twice[0] = 1
    if length % 2 == 0 and rows == length // 2 + 1:
        twice[-1] = 1
    cos, sin = (
        _matrix(call, np.cos(angle) * twice / length, x),
        _matrix(call, np.sin(angle) * twice / length, x),
    )
    x = x.narrow(-2, 0, rows)
    y = ocl.matmul(x.select(-1, 0), cos.t()) - ocl.matmul(x.select(-1, 1), sin.t())
    return y.unsqueeze(-1)


def _matrix(call, values: np.ndarray, x):
    return call.tensor(values).to(x.dtype)


@operator("DFT", host=(1, 2))
def dft(call, x, length=None, axis=None):
    axis = (call.get("axis", 1) if call.version < 20 else scalar(axis, -2)) % x.ndim
    inverse, onesided = bool(call.get("inverse", 0)), bool(call.get("onesided", 0))
    x = x.transpose(axis, -2)
    default = 2 * (x.shape[-2] - 1) if inverse and onesided else x.shape[-2]
    return _transformed(call, x, int(scalar(length, default)), inverse, onesided).transpose(axis, -2)


@operator("STFT", host=(1, 3))
def stft(call, x, step, window=None, length=None):
    length = int(scalar(length, x.shape[1] if window is None else window.shape[0]))
    frames = 1 + (x.shape[1] - length) // int(scalar(step))
    places = np.arange(frames).reshape(-1, 1) * int(scalar(step)) + np.arange(length)
    parts = ocl.index_select(x, 1, call.tensor(places.reshape(-1)))
    parts = parts.reshape([x.shape[0], frames, length, x.shape[2]])
    if window is not None:
        parts = parts * window.reshape([-1, 1])
    return _transformed(call, parts, length, False, bool(call.get("onesided", 1)))


@operator("MelWeightMatrix", host=range(5), folds=False)
def mel_weight_matrix(call, bins, length, rate, low, high):
    bins, length = integers(bins)[0], integers(length)[0]
    mels = 2595 * np.log10(1 + np.array([scalar(low), scalar(high)]) / 700)
    edges = mels[0] + np.arange(bins + 2) * (mels[1] - mels[0]) / (bins + 2)
    edges = np.floor((length + 1) * 700 * (10 ** (edges / 2595) - 1) / scalar(rate)).astype(int)
    matrix = np.zeros((length // 2 + 1, bins))
    for i in range(bins):
        left, centre, right = edges[i : i + 3]
        if left == centre:
            matrix[centre, i] = 1
        else:
            matrix[left : centre + 1, i] = (np.arange(left, centre + 1) - left) / (centre - left)
        if right > centre:
            matrix[centre:right, i] = (right - np.arange(centre, right)) / (right - centre)
    return call.tensor(matrix).to(dtype_of(call.get("output_datatype", ONNX_DTYPES[ocl.float32])))
