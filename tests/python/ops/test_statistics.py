"""cov, corrcoef, dist, histogram, histogramdd and gradient beside PyTorch's."""

import numpy as np
import pytest
from further_names import compare, fails, floats

import ocl

COUNTS, AMOUNTS = np.array([1, 0, 2, 3, 1]), np.array([0.5, 1, 2, 0, 1.5], np.float32)


@pytest.mark.filterwarnings("ignore:cov")
@pytest.mark.parametrize("x", [floats(3, 5), floats(5), floats(1, 5), np.arange(10).reshape(2, 5)])
@pytest.mark.parametrize("correction", [1, 0, 2, 9])
def test_cov(correction, x):
    both = correction < 5
    compare(lambda lib, x: lib.cov(x, correction=correction), x, differentiable=both)
    compare(lambda lib, x, f: x.cov(correction=correction, fweights=f), x, COUNTS)
    compare(
        lambda lib, x, a: lib.cov(x, correction=correction, aweights=a.detach()),
        x,
        AMOUNTS,
        differentiable=both,
    )
    compare(
        lambda lib, x, f, a: lib.cov(x, correction=correction, fweights=f, aweights=a.detach()),
        *(x, COUNTS, AMOUNTS),
        differentiable=both,
    )


@pytest.mark.filterwarnings("ignore:cov")
@pytest.mark.parametrize(
    "x", [floats(), floats(2, 1), floats(2, 0), floats(0, 3), floats(2, 2, 2), floats(1)]
)
def test_cov_of_few(x):
    compare(lambda lib, x: lib.cov(x), x, differentiable=False)
    compare(lambda lib, x: lib.corrcoef(x), x, differentiable=False)


def test_weights_that_cov_refuses():
    x = floats(3, 5)
    fails(lambda lib, x, f: lib.cov(x, fweights=f), x, AMOUNTS)
    fails(lambda lib, x, a: lib.cov(x, aweights=a), x, COUNTS)
    fails(lambda lib, x, f: lib.cov(x, fweights=f), x, -COUNTS)
    fails(lambda lib, x, f: lib.cov(x, fweights=f), x, 0 * COUNTS)
    fails(lambda lib, x, f: lib.cov(x, fweights=f), x, COUNTS[1:])
    fails(lambda lib, x, f: lib.cov(x, fweights=f), x, COUNTS[None])
    fails(lambda lib, x: lib.cov(x), x > 0)


@pytest.mark.parametrize(
    "x", [floats(3, 5), floats(5), floats(2, 3).astype("float64"), np.arange(6).reshape(2, 3) ** 2]
)
def test_corrcoef(x):
    compare(lambda lib, x: lib.corrcoef(x), x, atol=1e-5)
    compare(lambda lib, x: x.corrcoef(), x, atol=1e-5)


@pytest.mark.parametrize("p", [2, 1, 3.5, float("inf"), -float("inf"), -1])
def test_dist(p):
    compare(lambda lib, x, y: lib.dist(x, y, p), floats(3, 4), floats(3, 4, seed=1))
    compare(lambda lib, x, y: x.dist(y, p), floats(3, 4), floats(4))
    compare(lambda lib, x, y: lib.dist(x, y, p), floats(), floats() + 1)


@pytest.mark.parametrize("p", [2, 1, 0, 3.5])
def test_dist_without_gradients(p):
    """PyTorch's backward of p = 0 fails."""
    compare(lambda lib, x, y: lib.dist(x, y, p), floats(0), floats(0), differentiable=p != 0)
    compare(lambda lib, x, y: lib.dist(x, y, p), floats(3, 4), floats(4), differentiable=False)


HELD = np.array([-1, -0.5, 0, 0, 0.25, 1, 1.5, 2, 2, -3, np.nan, np.inf], np.float32)


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_histogram(weighted, density):
    for x in (HELD, HELD.reshape(3, 4), HELD.astype("float64")):
        weight = (np.arange(12) * 0.5).reshape(x.shape).astype(x.dtype)
        for bins, bounds in ((4, (-1, 2)), (1, (0, 0)), (5, (-9, 9)), (3, (5, 6))):
            compare(
                lambda lib, x, w, b=bins, r=bounds: lib.histogram(
                    x, b, range=r, weight=w if weighted else None, density=density
                ),
                *(x, weight),
                differentiable=False,
            )
        edges = np.array([-1, 0, 0.25, 2, 2.5], x.dtype)
        compare(
            lambda lib, x, w, e: x.histogram(e, weight=w if weighted else None, density=density),
            *(x, weight, edges),
            differentiable=False,
        )


def test_histogram_finds_the_range():
    compare(lambda lib, x: lib.histogram(x, 7), floats(50), differentiable=False)
    compare(lambda lib, x: lib.histogram(x, 3), floats(0), differentiable=False)
    compare(lambda lib, x: lib.histogram(x, 3), np.ones(4, np.float32), differentiable=False)
    compare(
        lambda lib, x, e: lib.histogram(x, e), floats(9), np.array([0.5], np.float32), differentiable=False
    )


def test_what_histogram_refuses():
    x = floats(6)
    fails(lambda lib, x: lib.histogram(x, 3), HELD)
    fails(lambda lib, x: lib.histogram(x, 0), x)
    fails(lambda lib, x: lib.histogram(x, 3, range=(2, 1)), x)
    fails(lambda lib, x: lib.histogram(x, 3, range=(2, 3, 4)), x)
    fails(lambda lib, x: lib.histogram(x, 3), np.arange(4))
    fails(lambda lib, x, e: lib.histogram(x, e), x, floats(2, 2))
    fails(lambda lib, x, e: lib.histogram(x, e), x, np.arange(3.0))
    fails(lambda lib, x, w: lib.histogram(x, 3, weight=w), x, floats(5))
    fails(lambda lib, x, w: lib.histogram(x, 3, weight=w), x, np.ones(6))


@pytest.mark.parametrize("density", [False, True])
def test_histogramdd(density):
    points = floats(4, 9, 3)
    weight = np.abs(floats(4, 9))
    compare(lambda lib, x: lib.histogramdd(x, 3, density=density)[0], points, differentiable=False)
    compare(lambda lib, x: lib.histogramdd(x, [2, 3, 4], density=density)[1], points, differentiable=False)
    compare(
        lambda lib, x, w: lib.histogramdd(
            x, [2, 3, 1], range=[-1, 1, -2, 2, 0, 1], weight=w, density=density
        )[0],
        *(points, weight),
        differentiable=False,
    )
    edges = [np.array(e, np.float32) for e in ([-1, 0, 1], [0, 1.5], [-2, -1, 0, 2])]
    compare(
        lambda lib, x, *e: lib.histogramdd(x, e, density=density)[0], *(points, *edges), differentiable=False
    )
    fails(lambda lib, x: lib.histogramdd(x, [2, 2]), points)
    fails(lambda lib, x: lib.histogramdd(x, 2, range=[0, 1]), points)
    fails(lambda lib, x: lib.histogramdd(x, 2), floats(4))


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize(
    "x", [floats(5), floats(4, 6), floats(3, 3, 4), np.arange(20).reshape(4, 5) ** 2, floats(2, 5)]
)
def test_gradient(x, edge_order):
    spaces = [0.5, 2.0, -1.5][: x.ndim]
    coordinates = [np.cumsum(np.abs(floats(n, seed=n)) + 0.1).astype(np.float32) for n in x.shape]
    compare(lambda lib, x: lib.gradient(x, edge_order=edge_order), x)
    compare(lambda lib, x: lib.gradient(x, spacing=0.25, edge_order=edge_order), x)
    compare(lambda lib, x: lib.gradient(x, spacing=spaces, edge_order=edge_order), x)
    compare(lambda lib, x: lib.gradient(x, dim=-1, edge_order=edge_order), x)
    compare(lambda lib, x, *c: lib.gradient(x, spacing=c, edge_order=edge_order), x, *coordinates, atol=1e-4)
    compare(
        lambda lib, x, c: lib.gradient(x, spacing=(c,), dim=-1, edge_order=edge_order),
        x,
        coordinates[-1],
        atol=1e-4,
    )


def test_what_gradient_refuses():
    x = floats(3, 4)
    fails(lambda lib, x: lib.gradient(x, edge_order=3), x)
    fails(lambda lib, x: lib.gradient(x), floats(1, 4))
    fails(lambda lib, x: lib.gradient(x, spacing=[1.0, 2.0, 3.0]), x)
    fails(lambda lib, x: lib.gradient(x, dim=(0, 0)), x)
    fails(lambda lib, x: lib.gradient(x, dim=2), x)
    with pytest.raises(ValueError, match="vector of 3 coordinates for dimension 0"):
        ocl.gradient(ocl.tensor(x), spacing=(ocl.ones(4),), dim=0)
    fails(lambda lib, x: lib.gradient(x), np.ones(4, np.uint8))
