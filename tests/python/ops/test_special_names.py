"""ocl.special: the functions that Python makes of operators."""

import math

import numpy as np
import pytest
import torch
from support import check_like_torch, expect_near

import ocl
from ocl.special import polynomials

POINTS = np.array([-2.0, -1.0, -0.8, -0.3, 0.0, 0.2, 0.5, 0.9, 1.0, 1.5, 3.0], np.float32)


@pytest.mark.parametrize("name", polynomials.__all__)
def test_polynomials(name):
    ours, theirs = getattr(ocl.special, name), getattr(torch.special, name)
    for n in (-1, 0, 1, 2, 3, 5, 9, 20):
        found, truth = ours(ocl.tensor(POINTS), n), theirs(torch.tensor(POINTS).double(), n)
        assert found.dtype == ocl.float32
        near, is_inside = theirs(torch.tensor(POINTS), n), np.abs(POINTS) <= 1
        for part in (is_inside, *(POINTS == point for point in POINTS[~is_inside])):
            expect_near(found.numpy()[part], truth.numpy()[part], near.numpy()[part], f"degree {n}", units=64)
        found = ours(ocl.tensor(POINTS.astype("float64")), n).numpy()
        np.testing.assert_allclose(found, truth.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", polynomials.__all__)
def test_degrees_that_are_a_tensor(name):
    ours, theirs = getattr(ocl.special, name), getattr(torch.special, name)
    degrees = np.array([[0.0], [1.0], [2.7], [4.0], [-1.0]])
    found = ours(ocl.tensor(POINTS.astype("float64")), ocl.tensor(degrees))
    expected = theirs(torch.tensor(POINTS).double(), torch.tensor(degrees))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-13)
    whole = ours(0.25, ocl.tensor([0, 3, 2]))
    assert whole.dtype == ocl.float32
    np.testing.assert_allclose(whole.numpy(), theirs(0.25, torch.tensor([0, 3, 2])).numpy(), rtol=1e-6)
    assert ours(ocl.tensor([1, 2]), 3).tolist() == theirs(torch.tensor([1, 2]), 3).tolist()
    assert ours(ocl.zeros(0), ocl.zeros(0)).shape == (0,)
    with pytest.raises(TypeError, match="expected a tensor"):
        ours(2, 3)


@pytest.mark.parametrize("name", polynomials.__all__)
def test_gradients_of_polynomials(name):
    function = getattr(ocl.special, name)
    x = ocl.tensor(POINTS[2:8].astype("float64"), requires_grad=True)
    for n in (1, 4, ocl.tensor([0, 1, 2, 3, 4, 5])):
        assert ocl.autograd.gradcheck(lambda x, n=n: function(x, n), x)


def test_ndtr():
    points = np.linspace(-9, 9, 41).astype(np.float32)
    check_like_torch(lambda lib, x: lib.special.ndtr(x), points[15:], ulps=8)
    truth = [0.5 * math.erfc(-x / math.sqrt(2)) for x in points.tolist()]  # PyTorch has 0 from -8.3 down
    np.testing.assert_allclose(ocl.special.ndtr(ocl.tensor(points)).numpy(), truth, rtol=1e-5)
    np.testing.assert_allclose(ocl.special.ndtr(ocl.tensor(points).double()).numpy(), truth, rtol=1e-13)
    assert ocl.special.ndtr(ocl.tensor([1, 2])).dtype == ocl.float32
    assert ocl.special.ndtr(ocl.ones(2).half()).dtype == ocl.float16
    edges = np.array([-np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(ocl.special.ndtr(ocl.tensor(edges)).numpy(), [0, 1, np.nan])


@pytest.mark.parametrize("p", [1, 2, 5])
def test_multigammaln(p):
    points = np.linspace(2.6, 30, 24).reshape(2, 3, 4).astype(np.float32)
    check_like_torch(lambda lib, x: lib.special.multigammaln(x, p), points, ulps=16, unit="largest")
    assert ocl.special.multigammaln(ocl.tensor([3, 4]), p).dtype == ocl.float32
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        ocl.special.multigammaln(ocl.ones(2), 0)
