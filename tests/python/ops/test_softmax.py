"""softmax and log_softmax."""

import numpy as np
import pytest
import torch
from support import FLOATS, check_like_torch, small, to_numpy

import ocl

NAMES = ("softmax", "log_softmax")


def both(name, dim):
    return lambda lib, x: getattr(lib, name)(x, dim)


SHAPES = [
    ((10,), 0),
    ((4, 10), 1),
    ((4, 10), 0),
    ((4, 10), -1),
    ((3, 5, 7), 1),
    ((3, 5, 7), 2),
    ((2, 3, 4, 5), -3),
    ((5, 1), 1),
    ((1, 1), 0),
    ((128, 10), 1),
    ((7, 1000), 1),
    ((1000, 7), 0),
    ((3, 20_011), 1),
    ((2, 257, 33), 1),
    ((), 0),
    ((0, 5), 1),
    ((5, 0), 1),
]


@pytest.mark.parametrize(("shape", "dim"), small(SHAPES, lambda shape, dim: np.prod(shape) < 2000))
@pytest.mark.parametrize("name", NAMES)
def test_shapes(name, shape, dim, rng):
    check_like_torch(
        both(name, dim), rng.uniform(-5, 5, shape).astype(np.float32), unit="largest gradient", ulps=4
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NAMES)
def test_dtypes_and_views(name, dtype, rng):
    def function(lib, x):
        return getattr(lib, name)(x.transpose(0, 2)[:, 1:], 1).transpose(0, 1)

    check_like_torch(
        function,
        rng.uniform(-5, 5, (4, 6, 9)).astype(np.float32),
        dtype=dtype,
        unit="largest gradient",
        ulps=4,
    )


@pytest.mark.parametrize("scale", [1e4, 1e30, 1e-30])
@pytest.mark.parametrize("name", NAMES)
def test_large_and_tiny_values(name, scale, rng):
    check_like_torch(
        both(name, 1),
        (rng.uniform(-1, 1, (5, 33)) * scale).astype(np.float32),
        unit="largest gradient",
        ulps=4,
    )


@pytest.mark.parametrize("shift", [1e4, -1e4])
@pytest.mark.parametrize("name", NAMES)
def test_shifted_values(name, shift, rng):
    check_like_torch(
        both(name, 0),
        (rng.integers(-9, 9, (12, 5)) + shift).astype(np.float32),
        unit="largest gradient",
        ulps=4,
    )


@pytest.mark.parametrize(
    "row",
    [
        [-np.inf, 0, 1],
        [-np.inf, -np.inf, 2],
        [-np.inf] * 3,
        [np.inf, 0, 1],
        [np.nan, 0, 1],
        [0, 0, -1e4],
        [1e38, 1e38, -1e38],
    ],
    ids=str,
)
@pytest.mark.parametrize("name", NAMES)
def test_edge_values(name, row):
    for shape, dim in [((1, 3), 1), ((3, 1), 0)]:
        x = np.float32(row).reshape(shape)
        actual, expected = getattr(ocl, name)(ocl.tensor(x), dim), getattr(torch, name)(torch.tensor(x), dim)
        np.testing.assert_allclose(to_numpy(actual), expected.numpy(), rtol=1e-6)


def test_gradient_beside_minus_infinity():
    check_like_torch(both("softmax", 0), np.float32([-np.inf, 0, 1, 2]), unit="largest gradient", ulps=4)


def test_softmax_sums_to_one(rng):
    x = ocl.tensor(rng.uniform(-50, 50, (20, 301)).astype(np.float32))
    np.testing.assert_allclose(ocl.softmax(x, 1).sum(1).numpy(), 1, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_errors(name):
    with pytest.raises(TypeError, match=f"{name}: expected a floating dtype, got int64"):
        getattr(ocl, name)(ocl.tensor([1, 2]), 0)
    with pytest.raises(IndexError, match=f"{name}: dimension out of range"):
        getattr(ocl, name)(ocl.ones(2, 3), 2)
