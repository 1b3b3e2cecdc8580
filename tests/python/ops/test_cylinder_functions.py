"""Bessel and Airy functions against SciPy in float64 and PyTorch in float32, and their derivatives."""

import math

import numpy as np
import pytest
import scipy.special
import torch
from support import has_float64

import ocl

# Name: SciPy's function, and where it is compared.
FUNCTIONS = {
    "bessel_j0": (scipy.special.j0, (-120, 120)),
    "bessel_j1": (scipy.special.j1, (-120, 120)),
    "bessel_y0": (scipy.special.y0, (1e-3, 120)),
    "bessel_y1": (scipy.special.y1, (1e-2, 120)),
    "modified_bessel_k0": (scipy.special.k0, (1e-3, 80)),
    "modified_bessel_k1": (scipy.special.k1, (1e-3, 80)),
    "scaled_modified_bessel_k0": (scipy.special.k0e, (1e-3, 500)),
    "scaled_modified_bessel_k1": (scipy.special.k1e, (1e-3, 500)),
    "spherical_bessel_j0": (lambda x: scipy.special.spherical_jn(0, x), (0, 120)),
    "airy_ai": (lambda x: scipy.special.airy(x)[0], (-40, 12)),
}
OSCILLATING = {"bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0", "airy_ai"}
EDGES = [0.0, -0.0, 1.0, 2.0, 4.0, 8.0, -4.0, -1.0, math.inf, -math.inf, math.nan, 1e-8, 1e-30, 1e10]


def points(name, count=2001):
    return np.linspace(*FUNCTIONS[name][1], count)


def errors(name, found, truth):
    """Relative to the value; of functions with zeros to the larger of that and the size of their swings."""
    scale = np.abs(truth)
    if name in OSCILLATING:
        x = np.maximum(np.abs(points(name, truth.size)), 1)
        swing = 0.5 / (x**0.25 if name == "airy_ai" else x if name.startswith("sph") else np.sqrt(x))
        scale = (
            np.where(points(name, truth.size) > 0, scale, swing)
            if name == "airy_ai"
            else np.maximum(scale, swing)
        )
    return np.abs(found.astype(np.float64) - truth) / scale


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64_like_scipy(name):
    if not has_float64():
        pytest.skip("the device has no float64")
    x = points(name)
    found = getattr(ocl.special, name)(ocl.tensor(x)).numpy()
    assert errors(name, found, FUNCTIONS[name][0](x)).max() < 4e-14


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_is_as_near_as_torch(name):
    x = points(name).astype(np.float32)
    truth = FUNCTIONS[name][0](x.astype(np.float64))
    ours = errors(name, getattr(ocl.special, name)(ocl.tensor(x)).numpy(), truth)
    theirs = errors(name, getattr(torch.special, name)(torch.tensor(x)).numpy(), truth)
    assert ours.max() <= max(4 * theirs.max(), 2e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges(name, dtype):
    if dtype == "float64" and not has_float64():
        pytest.skip("the device has no float64")
    x = np.array(EDGES, dtype)
    with np.errstate(all="ignore"):
        truth = FUNCTIONS[name][0](x.astype(np.float64))
    # SciPy's K is NaN below 0, as PyTorch's; Y of negative numbers is NaN; all tend to 0.
    found = getattr(ocl.special, name)(ocl.tensor(x)).numpy().astype(np.float64)
    with np.errstate(all="ignore"):
        truth = truth.astype(dtype).astype(np.float64)
    defined = ~(np.isnan(truth) & (np.isinf(x) | (x > 0)))  # where SciPy does not go
    np.testing.assert_allclose(
        found[defined], truth[defined], rtol=1e-4 if dtype == "float32" else 1e-9, atol=2e-6
    )


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "airy_ai"])
def test_derivatives(name):
    if not has_float64():
        pytest.skip("the device has no float64")
    x = ocl.tensor(np.random.default_rng(2).uniform(0.4, 14, 7)).requires_grad_()
    function = getattr(ocl.special, name)
    assert ocl.autograd.gradcheck(function, (x,))
    assert ocl.autograd.gradgradcheck(function, (x,))


def test_airy_has_no_derivative():
    x = ocl.ones(2).requires_grad_()
    with pytest.raises(NotImplementedError, match="airy_ai"):
        ocl.special.airy_ai(x).sum().backward()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtypes(name):
    function = getattr(ocl.special, name)
    assert function(ocl.tensor([1, 2])).dtype == ocl.float32
    assert function(ocl.ones(2, dtype=ocl.float16)).dtype == ocl.float16
    assert function(ocl.zeros(0)).shape == (0,)
    with pytest.raises(TypeError):
        function(3.0)
