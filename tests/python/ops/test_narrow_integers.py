"""int8 and int16: PyTorch's dtypes and numbers, wrapped around where they do not fit."""

import itertools

import numpy as np
import pytest
import torch
from support import assert_same

import ocl

NARROW = ("int8", "int16")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")


def dtype_of(lib, name):
    return getattr(lib, "bool_" if lib is ocl and name == "bool" else name)


def numbers(dtype, shape=(5, 37), seed=0):
    """Numbers from the whole range, its ends among them."""
    limits = np.iinfo(dtype)
    x = np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(dtype)
    x.flat[:3] = limits.min, limits.max, 0
    return x


@pytest.mark.parametrize(("a", "b"), list(itertools.product(DTYPES, repeat=2)))
def test_promotion(a, b):
    expected = torch.promote_types(dtype_of(torch, a), dtype_of(torch, b))
    assert str(ocl.promote_types(dtype_of(ocl, a), dtype_of(ocl, b))) == str(expected).replace("torch", "ocl")


CALLS = {
    "add": lambda lib, x, y: x + y,
    "number": lambda lib, x, y: x + 3,
    "mul": lambda lib, x, y: x * y,
    "neg": lambda lib, x, y: -x,
    "abs": lambda lib, x, y: x.abs(),
    "div": lambda lib, x, y: x / y,
    "floor_divide": lambda lib, x, y: x // (y | 1),
    "remainder": lambda lib, x, y: x % (y | 1),
    "pow": lambda lib, x, y: x**3,
    "bits": lambda lib, x, y: (x & y) ^ (x | ~y),
    "shifts": lambda lib, x, y: (x << 3) + (y >> 2),
    "compare": lambda lib, x, y: (x < y) | (x == 0),
    "clamp": lambda lib, x, y: x.clamp(-5, 90),
    "maximum": lambda lib, x, y: lib.maximum(x, y),
    "where": lambda lib, x, y: lib.where(x > y, x, y),
    "sum": lambda lib, x, y: x.sum(),
    "sum of rows": lambda lib, x, y: x.sum(1),
    "sum of columns": lambda lib, x, y: x.sum(0),
    "prod": lambda lib, x, y: x[:, :3].prod(1),
    "amax": lambda lib, x, y: x.amax(0),
    "amin": lambda lib, x, y: x.amin(),
    "max": lambda lib, x, y: tuple(x.max(1)),
    "argmin": lambda lib, x, y: x.argmin(),
    "all": lambda lib, x, y: x.all(1),
    "count_nonzero": lambda lib, x, y: lib.count_nonzero(x),
    "cumsum": lambda lib, x, y: x.cumsum(1),
    "cummax": lambda lib, x, y: tuple(x.cummax(1)),
    "sort": lambda lib, x, y: x.sort(1, descending=True).values,
    "unique": lambda lib, x, y: lib.unique(x),
    "matmul": lambda lib, x, y: x @ y.t(),
    "cat": lambda lib, x, y: lib.cat([x, y], 1),
    "gather": lambda lib, x, y: x.gather(1, lib.argsort(y, dim=1, stable=True)),
    "scatter_add": lambda lib, x, y: x.scatter_add(1, lib.argsort(y, dim=1, stable=True) % 4, y),
    "index": lambda lib, x, y: x[:, [3, 1, 3]],
    "mask": lambda lib, x, y: x[y > 0],
    "put": lambda lib, x, y: x.index_put((lib.tensor([1, 1], device=x.device),), y[:2], accumulate=True),
    "tril": lambda lib, x, y: x.tril(),
    "flip": lambda lib, x, y: x.flip(1),
    "floating": lambda lib, x, y: x.sqrt().isnan(),
    "float": lambda lib, x, y: x.float() * 0.5,
    "to uint8": lambda lib, x, y: x.to(lib.uint8),
    "isin": lambda lib, x, y: lib.isin(x, y[0]),
    "bincount": lambda lib, x, y: lib.bincount((x.flatten().abs() % 50).abs()),
}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", CALLS)
def test_operators(name, dtype):
    arrays = numbers(dtype), numbers(dtype, seed=1)
    ours = CALLS[name](ocl, *map(ocl.tensor, arrays))
    theirs = CALLS[name](torch, *map(torch.tensor, arrays))
    for our, their in zip(*(r if isinstance(r, tuple) else (r,) for r in (ours, theirs)), strict=True):
        assert_same(our, their)


@pytest.mark.parametrize("dtype", NARROW)
def test_doors(dtype, tmp_path):
    array = numbers(dtype)
    own, other = dtype_of(ocl, dtype), dtype_of(torch, dtype)
    x = ocl.tensor(array)
    assert x.dtype == own and x.numpy().dtype == array.dtype and x.element_size() == array.itemsize
    np.testing.assert_array_equal(x.numpy(), array)
    np.testing.assert_array_equal(ocl.tensor(array.tolist(), dtype=own).numpy(), array)
    assert x.tolist() == array.tolist() and x[0, 0].item() == int(array[0, 0])
    assert str(x[0, 1].item()) in repr(x) and f"dtype=ocl.{dtype}" in repr(x)
    torch.save({"x": torch.tensor(array)}, tmp_path / "x.pth")
    np.testing.assert_array_equal(ocl.load(tmp_path / "x.pth")["x"].numpy(), array)
    ocl.save({"x": x}, tmp_path / "x.safetensors")
    assert ocl.load(tmp_path / "x.safetensors")["x"].dtype == own
    assert ocl.iinfo(own).max == torch.iinfo(other).max
    kind = {"int8": "CharTensor", "int16": "ShortTensor"}[dtype]
    assert isinstance(x, getattr(ocl, kind)) and getattr(ocl, kind)(array.tolist()).dtype == own
    assert getattr(ocl.ones(2), {"int8": "char", "int16": "short"}[dtype])().dtype == own
    assert_same(ocl.zeros(3, dtype=own).fill_(7), torch.zeros(3, dtype=other).fill_(7))
    assert_same(ocl.arange(-3, 90, 7, dtype=own), torch.arange(-3, 90, 7, dtype=other))


@pytest.mark.parametrize("dtype", NARROW)
def test_errors(dtype):
    own, limits = dtype_of(ocl, dtype), np.iinfo(dtype)
    with pytest.raises(IndexError, match="int64, int32, uint8 or bool"):
        ocl.arange(5)[ocl.tensor([1], dtype=own)]
    with pytest.raises(TypeError, match="floating"):
        ocl.ones(3, dtype=own).mean()
    with pytest.raises(ValueError, match=f"cannot be converted to {dtype} without overflow"):
        ocl.tensor([limits.max + 1], dtype=own)
    with pytest.raises((TypeError, RuntimeError)):
        ocl.ones(3, dtype=own, requires_grad=True)
