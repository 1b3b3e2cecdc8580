"""max_unpool1d, 2d and 3d and their modules compared with PyTorch."""

import numpy as np
import pytest
import torch

import ocl


def pooled(lib, x, axes, options):
    pool = getattr(lib.nn.functional, f"max_pool{axes}d")
    return pool(lib.tensor(x), **options, return_indices=True)


def unpooled(lib, x, axes, options, output_size):
    """The result, and the gradient of the maxima."""
    maxima, places = pooled(lib, x, axes, options)
    maxima.requires_grad_()
    call = getattr(lib.nn.functional, f"max_unpool{axes}d")
    result = call(maxima, places, **options, output_size=output_size)
    (result * result * 0.5 + result).sum().backward()
    return result.detach().numpy(), maxima.grad.numpy()


def compare(*arguments):
    expected, got = (unpooled(lib, *arguments) for lib in (torch, ocl))
    for a, b in zip(expected, got, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(b, a, rtol=1e-6)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_as_pytorch(seed, axes):
    """Windows that overlap or not, with and without a batch, of sizes that do and do not divide."""
    rng = np.random.default_rng(seed)
    kernel = tuple(int(k) for k in rng.integers(1, 4, axes))
    padding = tuple(int(rng.integers(k // 2 + 1)) for k in kernel)
    options = {"kernel_size": kernel, "stride": kernel, "padding": padding}
    if seed % 2:
        options["stride"] = tuple(max(1, k - 1) for k in kernel)
    size = [k * int(n) for k, n in zip(kernel, rng.integers(2, 5, axes), strict=True)]
    lead = [(3,), (2, 3), (1, 1)][seed % 3]
    x = rng.permutation(int(np.prod((*lead, *size)))).reshape(*lead, *size).astype(np.float32)
    for output_size in (tuple(size), (*([7] * 2), *size)):
        compare(x, axes, options, output_size)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_the_usual_size(axes):
    x = np.random.default_rng(0).normal(size=(2, 3, *(6,) * axes)).astype(np.float32)
    compare(x, axes, {"kernel_size": 2}, None)
    compare(x, axes, {"kernel_size": 2, "stride": 2, "padding": 0}, None)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_modules(axes):
    x = np.random.default_rng(0).normal(size=(2, 3, *(7,) * axes)).astype(np.float32)
    results = []
    for lib in (torch, ocl):
        maxima, places = pooled(lib, x, axes, {"kernel_size": 2})
        module = getattr(lib.nn, f"MaxUnpool{axes}d")(2)
        results.append((module(maxima, places, output_size=x.shape).numpy(), repr(module)))
    np.testing.assert_array_equal(results[1][0], results[0][0])
    assert results[1][1] == results[0][1]


def test_finite_differences():
    x = ocl.tensor(np.random.default_rng(1).normal(size=(2, 3)), dtype=ocl.float64).requires_grad_()
    places = ocl.tensor([[1, 2, 5], [0, 3, 4]])
    assert ocl.autograd.gradcheck(lambda x: ocl.nn.functional.max_unpool1d(x, places, 2), (x,))


@pytest.mark.parametrize(
    ("indices", "options"),
    [
        ((1, 2, 2), {}),
        ((1, 2, 3), {"output_size": (9,)}),
        ((1, 2, 3), {"output_size": (4,)}),
        ((1, 2, 3), {"output_size": (6, 6)}),
    ],
)
def test_errors(indices, options):
    for lib in (torch, ocl):
        call, x = lib.nn.functional.max_unpool1d, lib.ones(1, 2, 3)
        with pytest.raises((RuntimeError, ValueError)):
            call(x, lib.zeros(indices, dtype=lib.int64), 2, **options)
        with pytest.raises((RuntimeError, TypeError)):
            call(x, lib.zeros(1, 2, 3), 2)


def test_places_out_of_range():
    with pytest.raises(IndexError):
        ocl.nn.functional.max_unpool1d(ocl.ones(1, 1, 1), ocl.tensor([[[9]]]), 2).numpy()
