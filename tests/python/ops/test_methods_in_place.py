"""Every operator's method in place against PyTorch's: values, gradients, refusals."""

import numpy as np
import pytest
import torch
from support import assert_same, check_like_torch

import ocl

BINARY_ARGUMENTS = {"addcmul_": 2, "addcdiv_": 2, "lerp_": 2}
ROWS = [row for row in ocl._C.pointwise_table() if hasattr(torch.Tensor, row["name"] + "_")]
WITHOUT_GRADIENT = {"logical_and", "logical_or", "logical_xor", "logical_not"}
WITHOUT_GRADIENT |= {"asinh", "acosh", "atanh"}  # in place, in PyTorch
BITWISE = [row["name"] for row in ROWS if row["types"] == "Integral"]
FLOATING = [row for row in ROWS if row["types"] != "Integral"]
DOMAIN = {
    "acos": (-0.9, 0.9),
    "acosh": (1.1, 2.9),
    "atanh": (-0.9, 0.9),
    "asin": (-0.9, 0.9),
    "erfinv": (-0.9, 0.9),
    "logit": (0.1, 0.9),
    "pow": (0.2, 2.0),
}


def drawn(row, rng, shape):
    low, high = DOMAIN.get(row["name"], (0.2, 2.9))
    return [rng.uniform(low, high, shape).astype(np.float32) for _ in range(row["inputs"])]


@pytest.mark.parametrize("row", FLOATING, ids=lambda row: row["name"])
def test_values_and_gradients(row, rng):
    """Through a transposed view of part of a tensor, so that the write joins the history of the whole."""
    name = row["name"] + "_"

    def write(lib, x, *others):
        y = x * 1
        bound = {"clamp_": {"min": 0.5}, "clamp_min_": {"min": 0.5}, "clamp_max_": {"max": 0.5}}.get(name, {})
        getattr(y[1:].t(), name)(*(o[1:].t() for o in others), **bound)
        return y

    differentiable = any(row["gradients"]) and row["name"] not in WITHOUT_GRADIENT
    check_like_torch(write, *drawn(row, rng, (4, 5)), backward=differentiable, unit="largest")


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise(name, rng):
    arrays = [rng.integers(-9, 9, (3, 5)) for _ in range(2)]
    row = next(r for r in ROWS if r["name"] == name)
    ours, theirs = ocl.tensor(arrays[0]), torch.tensor(arrays[0])
    getattr(ours, name + "_")(*(ocl.tensor(a) for a in arrays[1 : row["inputs"]]))
    getattr(theirs, name + "_")(*(torch.tensor(a) for a in arrays[1 : row["inputs"]]))
    assert_same(ours, theirs)


SYMBOLS = {
    "+=": lambda x, y: x.__iadd__(y),
    "-=": lambda x, y: x.__isub__(y),
    "*=": lambda x, y: x.__imul__(y),
    "/=": lambda x, y: x.__itruediv__(y),
    "//=": lambda x, y: x.__ifloordiv__(y),
    "%=": lambda x, y: x.__imod__(y),
    "**=": lambda x, y: x.__ipow__(y),
}


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_symbols(symbol, rng):
    a, b = (rng.uniform(0.5, 3, (3, 4)).astype(np.float32) for _ in range(2))
    for number in (2.0, None):
        ours, theirs = ocl.tensor(a), torch.tensor(a)
        result = SYMBOLS[symbol](ours, number or ocl.tensor(b))
        SYMBOLS[symbol](theirs, number or torch.tensor(b))
        assert result is ours
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


def test_bit_symbols():
    x = ocl.tensor([12, 10])
    x &= 10
    x |= 1
    x ^= 3
    assert x.tolist() == [10, 8]
    x <<= 3
    x >>= ocl.tensor([1, 2])
    assert x.tolist() == [40, 16]


def test_arguments():
    x = ocl.tensor([-2.0, 0.5, 7.0])
    assert x.clone().clamp_(min=0).tolist() == [0, 0.5, 7]
    assert x.clone().clamp_(max=1).tolist() == [-2, 0.5, 1]
    assert x.clone().clamp_(0, 1).tolist() == [0, 0.5, 1]
    assert x.clone().add_(1, alpha=2).tolist() == [0, 2.5, 9]
    assert x.clone().sub_(ocl.tensor(1.0), alpha=2).tolist() == [-4, -1.5, 5]
    assert x.clone().div_(2, rounding_mode="floor").tolist() == [-1, 0, 3]
    assert x.clone().mul_(float("inf")).nan_to_num_(1, posinf=2, neginf=3).tolist() == [3, 2, 2]
    assert x.clone().addcmul_(x, x, value=0.5).tolist() == [0, 0.625, 31.5]
    assert x.add_(1) is x and x.relu_() is x and x.fill_(0) is x and x.requires_grad_() is x


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.zeros(2, dtype=lib.int64).add_(0.5),
        lambda lib: lib.zeros(2, dtype=lib.int64).div_(2),
        lambda lib: lib.zeros(2, dtype=lib.int64).exp_(),
        lambda lib: lib.zeros(2, dtype=lib.bool).add_(1),
        lambda lib: lib.zeros(2).add_(lib.zeros(3, 2)),
        lambda lib: lib.zeros(1).expand(3).mul_(2),
        lambda lib: (lambda x: x[1:].add_(x[:-1]))(lib.zeros(4)),
        lambda lib: lib.zeros(2, requires_grad=True).add_(1),
        lambda lib: lib.zeros(2, requires_grad=True)[:1].add_(1),
    ],
)
def test_refusals(call):
    for lib in (torch, ocl):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            call(lib)
