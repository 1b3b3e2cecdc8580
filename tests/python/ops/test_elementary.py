"""Sines, tangents, inverses, hyperbolic sines, logarithms and remainders of float32 numbers of every size."""

import math

import numpy as np
import pytest

import ocl


def lgamma(x):
    """math.lgamma, which raises at the poles."""
    return math.inf if math.isinf(x) or (x <= 0 and x == math.floor(x)) else math.lgamma(x)


FUNCTIONS = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "log2": np.log2,
    "log10": np.log10,
    "exp2": np.exp2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erfc": np.vectorize(math.erfc),
    "lgamma": np.vectorize(lgamma),
}
SPECIAL = np.array(
    [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 88.8, 89.3, -89.4, 90], np.float32
)


def runs_on_cpu():
    """Where the functions are our own; OpenCL lets a library's be off by 4 to 6 units."""
    properties = ocl.get_device_properties()
    return properties["kernel_shape"] == "cpu" and properties["fp64"]


def numbers(seed, least=-149, most=127.9, count=20000):
    """Numbers of every size, and those near multiples of pi / 2, where a sine or a cosine vanishes."""
    rng = np.random.default_rng(seed)
    sizes = 2.0 ** rng.uniform(least, most, count) * rng.choice([-1, 1], count)
    multiples = rng.integers(1, 2**40, count) * (np.pi / 2)
    return np.concatenate([SPECIAL, sizes, multiples]).astype(np.float32)


def expect_near(actual, truth, units, what):
    expected = truth.astype(np.float32)
    plain = np.isfinite(expected) & (expected != 0)
    np.testing.assert_array_equal(np.where(plain, 1, actual), np.where(plain, 1, expected), err_msg=what)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]), err_msg=what)
    off = np.abs(actual.astype(np.float64) - truth) / np.spacing(np.abs(np.where(plain, expected, 1)))
    assert off[plain].max() <= units, f"{what}: {off[plain].max()} units"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_size(name):
    if name == "lgamma" and not runs_on_cpu():
        pytest.skip("OpenCL leaves the accuracy of lgamma open")
    x = numbers(1)
    if name in ("asin", "acos", "atanh", "acosh", "erfc"):
        x = np.concatenate([x, numbers(2, -3, 0), np.nextafter(np.float32(1), np.zeros(9, np.float32))])
    if name in ("sinh", "cosh", "exp2", "erfc"):
        x = np.concatenate([x, numbers(2, -6, 7)])
    with np.errstate(all="ignore"):
        truth = FUNCTIONS[name](x.astype(np.float64))
        if not runs_on_cpu():  # tiny results may be flushed
            x, truth = x[np.abs(truth) > 1e-30], truth[np.abs(truth) > 1e-30]
        expect_near(getattr(ocl.tensor(x), name)().numpy(), truth, 0.6 if runs_on_cpu() else 6, name)


def test_atan2():
    rng = np.random.default_rng(3)
    x, y = (rng.permutation(numbers(seed)) for seed in (4, 5))
    special = [a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL)]
    x, y = np.concatenate([x, special[0]]), np.concatenate([y, special[1]])
    truth = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    if not runs_on_cpu():
        usual = (
            (np.abs(truth) > 1e-30)
            & np.isfinite(x)
            & np.isfinite(y)
            & (np.abs(x) > 1e-30)
            & (np.abs(y) > 1e-30)
        )
        x, y, truth = x[usual], y[usual], truth[usual]
    actual = ocl.atan2(ocl.tensor(y), ocl.tensor(x)).numpy()
    expect_near(actual, truth, 0.6 if runs_on_cpu() else 6, "atan2")


@pytest.mark.parametrize("least", [-149, -10, -1])
def test_remainders_are_exact(least):
    if not runs_on_cpu():
        pytest.skip("the library's remainder of large quotients is not exact on every GPU")
    rng = np.random.default_rng(6)
    most = min(127.9, -least)
    a, b = (rng.permutation(numbers(seed, least, most)) for seed in (7, 8))
    special = [s.ravel() for s in np.meshgrid(SPECIAL, SPECIAL)]
    a, b = np.concatenate([a, special[0]]), np.concatenate([b, special[1]])
    with np.errstate(all="ignore"):
        truth = np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    actual = ocl.fmod(ocl.tensor(a), ocl.tensor(b)).numpy()
    np.testing.assert_array_equal(actual, truth)
    there = ~np.isnan(truth)
    np.testing.assert_array_equal(np.signbit(actual[there]), np.signbit(truth[there]))


def test_erfinv_within_and_beyond():
    x = np.concatenate([np.linspace(-1.5, 1.5, 3001), SPECIAL]).astype(np.float32)
    y = ocl.tensor(x).erfinv()
    assert ocl.equal(y.isnan(), ocl.tensor(~(np.abs(x) <= 1)))
    inner = np.abs(x) < 1
    np.testing.assert_allclose(y.erf().numpy()[inner], x[inner], rtol=2e-6, atol=1e-44)
    np.testing.assert_array_equal(y.numpy()[np.abs(x) == 1], np.copysign(np.inf, x[np.abs(x) == 1]))


def test_hypot():
    rng = np.random.default_rng(7)
    x, y = (rng.permutation(numbers(seed)) for seed in (8, 9))
    special = [a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL)]
    x, y = np.concatenate([x, special[0]]), np.concatenate([y, special[1]])
    with np.errstate(all="ignore"):
        truth = np.hypot(x.astype(np.float64), y.astype(np.float64))
        if not runs_on_cpu():
            usual = np.isfinite(truth) & (truth > 1e-30) & (truth < 1e38)
            x, y, truth = x[usual], y[usual], truth[usual]
        expect_near(
            ocl.hypot(ocl.tensor(x), ocl.tensor(y)).numpy(), truth, 0.6 if runs_on_cpu() else 6, "hypot"
        )


@pytest.mark.parametrize("name", ["eq", "logical_xor"])
def test_comparisons_with_zeros_and_nan(name):
    """Equality is computed from bits on CPUs."""
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    truth = {"eq": np.equal, "logical_xor": np.logical_xor}[name](x, y)
    if not runs_on_cpu():  # which may take the least numbers for 0
        usual = (np.abs(x) != np.float32(1e-45)) & (np.abs(y) != np.float32(1e-45))
        x, y, truth = x[usual], y[usual], truth[usual]
    np.testing.assert_array_equal(getattr(ocl, name)(ocl.tensor(x), ocl.tensor(y)).numpy(), truth)
