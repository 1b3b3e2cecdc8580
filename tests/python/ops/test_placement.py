"""Functions of placement.py give what PyTorch's give, with the same gradients, or fail where they do."""

import numpy as np
import pytest
import torch

import ocl


def outcome(lib, call, arrays):
    """The result, its dtype and the gradients; "error" where the call fails."""
    inputs = [lib.tensor(a) for a in arrays]
    for x in inputs:
        if x.is_floating_point():
            x.requires_grad_()
    try:
        result = call(lib, *inputs)
    except (RuntimeError, ValueError, IndexError):
        return "error"
    if result.requires_grad:
        (result * result + result).sum().backward()
    gradients = [None if x.grad is None else x.grad.numpy() for x in inputs]
    return result.detach().numpy(), str(result.dtype).split(".")[-1], gradients


def compare(call, *arrays):
    expected, got = (outcome(lib, call, arrays) for lib in (torch, ocl))
    assert (expected == "error") == (got == "error")
    if got == "error":
        return
    assert got[1] == expected[1]
    for a, b in zip([expected[0], *expected[2]], [got[0], *got[2]], strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.shape == b.shape
            np.testing.assert_allclose(b, a, rtol=1e-6)


def floats(*shape):
    return np.random.default_rng(len(shape)).uniform(-2, 2, shape).astype(np.float32)


VALUES = [
    floats(4),
    floats(3, 4),
    floats(2, 1, 3),
    floats(0),
    floats(),
    np.arange(3),
    np.array([True, False]),
]


@pytest.mark.parametrize("x", VALUES)
@pytest.mark.parametrize("offset", [0, 1, -2, 4, -9])
@pytest.mark.parametrize("name", ["diag", "diag_embed", "diagflat"])
def test_diagonals(name, offset, x):
    compare(lambda lib, x: getattr(lib, name)(x, offset), x)
    compare(lambda lib, x: getattr(x, name)(offset), x)


@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-1, 0), (0, 2), (1, 1), (0, 3), (0, -4)])
def test_diag_embed_takes_dimensions(dims):
    compare(lambda lib, x: lib.diag_embed(x, 1, *dims), floats(3, 4))


def test_values_that_are_not_finite_stay_where_they_are():
    compare(lambda lib, x: lib.diag(x), np.array([np.inf, np.nan, 1], np.float32))


@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-1, 0), (1, 2)])
@pytest.mark.parametrize("offset", [0, 1, -1, 2, -3])
def test_diagonal_scatter(offset, dims):
    x = floats(3, 4, 5)
    place = np.diagonal(x, offset, *dims)
    compare(lambda lib, x, s: lib.diagonal_scatter(x, s, offset, *dims), x, floats(*place.shape))


@pytest.mark.parametrize("dim", [0, 1, -1, -3, 3])
@pytest.mark.parametrize("index", [0, 2, -1, -3, 9])
def test_select_scatter(index, dim):
    shape = (3, 4, 5)
    rest = floats(*(n for d, n in enumerate(shape) if d != dim % 3))
    compare(lambda lib, x, s: lib.select_scatter(x, s, dim, index), floats(*shape), rest)


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("bounds", [(None, None), (1, None), (None, -1), (-3, 9), (3, 1), (2, 3)])
@pytest.mark.parametrize("dim", [0, -1])
def test_slice_scatter(dim, bounds, step):
    x = floats(5, 6)
    place = np.moveaxis(np.moveaxis(x, dim, 0)[slice(*bounds, step)], 0, dim)
    compare(lambda lib, x, s: lib.slice_scatter(x, s, dim, *bounds, step), x, floats(*place.shape))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x, s: lib.diagonal_scatter(x, s),
        lambda lib, x, s: lib.diagonal_scatter(x, s, 0, 1, 1),
        lambda lib, x, s: lib.select_scatter(x, s, 0, 0),
        lambda lib, x, s: lib.slice_scatter(x, s),
        lambda lib, x, s: lib.slice_scatter(x, s, 0, 0, 2, 0),
        lambda lib, x, s: lib.slice_scatter(x, s, 2),
    ],
)
def test_errors(call):
    assert outcome(ocl, call, [floats(3, 4), floats(2, 4)]) == "error"
    compare(call, floats(3, 4), floats(2, 4))


@pytest.mark.parametrize("x", [np.array([[0, 2], [3, 0]]), floats(), np.zeros((0, 2), np.float32)])
def test_argwhere(x):
    compare(lambda lib, x: lib.argwhere(x.detach()), x)


@pytest.mark.parametrize(
    "x", [np.array([[0, 2], [3, 0]]), floats(), np.zeros((0, 2), np.float32), floats(4) > 0]
)
def test_where_of_a_condition_alone(x):
    expected, got = (lib.where(lib.tensor(x)) for lib in (torch, ocl))
    assert [p.tolist() for p in got] == [p.tolist() for p in expected] and isinstance(got, tuple)
    assert ocl.where(ocl.tensor([True, False]), 1.0, ocl.tensor(2.0)).tolist() == [1, 2]
    with pytest.raises(TypeError, match="where"):
        ocl.where(ocl.tensor([True]), 1.0)
