"""argmax, argmin and their kin: equal numbers, NaN, infinities, and sizes around those of the kernels."""

import numpy as np
import pytest

import ocl

SIZES = (1, 2, 15, 16, 17, 31, 33, 511, 512, 513, 1025, 5000)


def rows_of(rng, n):
    """Few different numbers, so that many are equal, with special ones among them."""
    x = rng.integers(-3, 4, (40, n)).astype(np.float32)
    for row, special in zip(x, [np.nan, np.inf, -np.inf, -0.0] * 10, strict=True):
        row[rng.integers(0, n, 1 + n // 300)] = special
    x[0], x[1], x[2] = np.nan, -np.inf, np.inf
    return x


def first_places(x, axis, largest):
    """NumPy names the first of equal numbers, and the first NaN."""
    return (np.argmax if largest else np.argmin)(x, axis)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("n", SIZES)
def test_the_first_counts(name, n, rng):
    x = rows_of(rng, n)
    function, largest = getattr(ocl, name), name == "argmax"
    whole = ocl.tensor(x)
    np.testing.assert_array_equal(function(whole, 1).numpy(), first_places(x, 1, largest))
    np.testing.assert_array_equal(function(whole, 0).numpy(), first_places(x, 0, largest))
    np.testing.assert_array_equal(function(whole.t(), 0).numpy(), first_places(x, 1, largest))
    assert function(whole).item() == first_places(x, None, largest)
    part = x[3:, ::2]
    np.testing.assert_array_equal(function(whole[3:, ::2], 1).numpy(), first_places(part, 1, largest))
    assert function(whole[3:, ::2]).item() == first_places(np.ascontiguousarray(part), None, largest)
    assert function(ocl.tensor(x[4:, :, None]).expand(-1, -1, 3), 2).sum().item() == 0


@pytest.mark.parametrize("dtype", ["int64", "int16", "int8", "bool", "float16"])
@pytest.mark.parametrize("n", [1, 17, 513, 1500])
def test_other_dtypes(dtype, n, rng):
    x = rng.integers(0, 2, (20, n)) if dtype == "bool" else rng.integers(-100, 101, (20, n))
    x = x.astype(dtype)
    for name in ("max", "min"):
        values, places = getattr(ocl.tensor(x), name)(1)
        expected = first_places(x, 1, name == "max")
        np.testing.assert_array_equal(places.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, expected[:, None], 1)[:, 0])


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("n", [1, 17, 600])
def test_running_extremes(name, n, rng):
    import torch

    x = rows_of(rng, n)
    for dim in (0, 1):
        ours, theirs = getattr(ocl.tensor(x), name)(dim), getattr(torch.tensor(x), name)(dim)
        np.testing.assert_array_equal(ours[0].numpy(), theirs[0].numpy())
        np.testing.assert_array_equal(ours[1].numpy(), theirs[1].numpy())
