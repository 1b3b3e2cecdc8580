"""The doctor's references, which need NumPy alone, are PyTorch's results and gradients in float64."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from ocl.doctor import references

GRADIENTS = {
    "matmul": ("a", "b"),
    "linear": ("input", "weight", "bias"),
    "quantized_linear": ("input", "bias"),
    "conv2d": ("input", "weight"),
    "attention": ("query", "key", "value"),
    "layer_norm": ("input", "weight", "bias"),
    "rms_norm": ("input", "weight"),
}
CASES = [
    ("matmul", torch.matmul, [(2, 5, 7), (2, 7, 3)], {}),
    ("linear", functional.linear, [(5, 7), (3, 7), (3,)], {}),
    ("softmax", lambda x: functional.softmax(x, -1), [(4, 9)], {}),
    ("log_softmax", lambda x: functional.log_softmax(x, -1), [(4, 9)], {}),
    ("layer_norm", lambda x, w, b: functional.layer_norm(x, (8,), w, b), [(3, 8), (8,), (8,)], {}),
    ("rms_norm", lambda x, w: functional.rms_norm(x, (8,), w, 1e-5), [(3, 8), (8,)], {}),
    *[
        (f"{kind}_pool2d", None, [(2, 3, 9, 10)], {"size": size, "stride": stride, "padding": padding})
        for kind in ("max", "avg")
        for size, stride, padding in ((2, 2, 0), (3, 2, 1), (3, 1, 1))
    ],
    *[
        ("conv2d", None, [(2, 4, 9, 10), (8, 4 // options.get("groups", 1), 3, 3)], options)
        for options in (
            {"stride": 2, "padding": 1},
            {"groups": 2, "dilation": 2},
            {"groups": 4, "padding": 1},
        )
    ],
    *[("attention", None, [(2, 2, 6, 4)] * 3, {"causal": causal}) for causal in (False, True)],
    *[
        ("quantized_linear", None, [(3, inputs), (5,)], {"bits": bits, "outputs": 5})
        for bits, inputs in ((8, 7), (4, 64), (4, 96), (4, 128))
    ],
]


def upstream(shape):
    return np.random.default_rng(7).uniform(-1, 1, shape)


def torchs(name, options):
    """PyTorch's operator of that name."""
    if name == "conv2d":
        return lambda x, w: functional.conv2d(x, w, None, **options)
    if name == "attention":
        return lambda *inputs: functional.scaled_dot_product_attention(*inputs, is_causal=options["causal"])
    if name == "quantized_linear":
        return lambda x, bias: functional.linear(x, torch_weight(x.shape[1], **options), bias)
    pool = getattr(functional, name)
    return lambda x: pool(x, options["size"], options["stride"], options["padding"])


def torch_weight(inputs, bits, outputs):
    """The numbers that the doctor's weight stands for, element by element."""
    stored, scales, zeros = references.stored_weight(outputs, inputs, bits)
    weight = torch.empty(outputs, inputs, dtype=torch.float64)
    for o in range(outputs):
        for i in range(inputs):
            if bits == 8:
                weight[o, i] = float(stored[o, i]) * float(scales[o])
                continue
            packed, group = int(stored[o, i // 32 * 16 + i % 16]), i * scales.shape[1] // inputs
            number = packed % 16 if i % 32 < 16 else packed // 16
            weight[o, i] = (number - 8) * float(scales[o, group]) + float(zeros[o, group])
    return weight


def expect_same(found, function, names, arrays):
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    result = function(*tensors)
    result.backward(torch.tensor(upstream(result.shape)))
    expected = {"result": result.detach()} | {
        f"gradient of {name}": tensor.grad for name, tensor in zip(names, tensors, strict=True)
    }
    for name, tensor in expected.items():
        np.testing.assert_allclose(found[name], tensor.numpy(), rtol=1e-11, atol=1e-13, err_msg=name)


@pytest.mark.parametrize(("name", "function", "shapes", "options"), CASES)
def test_is_pytorchs(name, function, shapes, options, rng):
    arrays = [rng.standard_normal(shape) for shape in shapes]
    found = getattr(references, name)(*arrays, upstream, **options)
    expect_same(found, function or torchs(name, options), GRADIENTS.get(name, ("input",)), arrays)


@pytest.mark.parametrize("shape", [(3, 4, 5, 6), (8, 4)])
def test_batch_norm_is_pytorchs(rng, shape):
    arrays = [rng.standard_normal(size) for size in (shape, (4,), (4,))]
    mean, variance = torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    found = references.batch_norm(*arrays, upstream)
    expect_same(
        found,
        lambda x, w, b: functional.batch_norm(x, mean, variance, w, b, True),
        ("input", "weight", "bias"),
        arrays,
    )
    np.testing.assert_allclose(found["running mean"], mean.numpy())
    np.testing.assert_allclose(found["running variance"], variance.numpy())
