"""Functions of arrangement.py give what PyTorch's give, with the same gradients."""

import numpy as np
import pytest
import torch

import ocl

SHAPES = [(), (1,), (6,), (4, 6), (3, 1, 4), (2, 4, 6), (0, 3), (2, 0, 4)]


def both(call, *arrays, differentiable=True):
    """Asserts that `call(library, *tensors)` gives the same, forward and backward, or fails in both."""
    results = []
    for lib in (torch, ocl):
        inputs = [lib.tensor(a) for a in arrays]
        for x in inputs:
            if x.is_floating_point() and differentiable:
                x.requires_grad_()
        try:
            given = call(lib, *inputs)
        except (RuntimeError, ValueError, IndexError) as error:
            results.append(type(error) is not None)
            continue
        parts = given if isinstance(given, tuple | list) else (given,)
        total = sum((p * p).sum() for p in parts if p.is_floating_point())
        if getattr(total, "requires_grad", False):
            total.backward()
        gradients = [x.grad for x in inputs]
        results.append(([p.detach().numpy() for p in parts], gradients, [str(p.dtype) for p in parts]))
    expected, got = results
    if expected is True or got is True:
        assert expected is got, f"PyTorch gives {expected}, this library {got}"
        return
    assert [d.split(".")[-1] for d in expected[2]] == [d.split(".")[-1] for d in got[2]]
    assert len(expected[0]) == len(got[0])
    for a, b in zip(expected[0], got[0], strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)
    for a, b in zip(expected[1], got[1], strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-5, atol=1e-4)


def floats(shape, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d", "msort"])
def test_of_one_tensor(name, shape):
    both(lambda lib, x: getattr(lib, name)(x), floats(shape))


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "row_stack"])
def test_of_several_tensors(name):
    arrays = [floats((3,), 1), floats((1,), 2) if name != "row_stack" else floats((2, 3), 2)]
    if name != "broadcast_tensors":
        both(lambda lib, *x: getattr(lib, name)(x), *arrays)
    if name != "row_stack":
        both(lambda lib, *x: getattr(lib, name)(*x), *arrays)


def test_broadcasts_ranks_and_sizes():
    both(lambda lib, *x: lib.broadcast_tensors(*x), floats((4, 1, 3)), floats((2, 1)), floats(()))
    both(lambda lib, *x: lib.broadcast_tensors(*x), floats((0, 1)), floats((1, 3)))
    both(lambda lib, *x: lib.broadcast_tensors(*x), floats((2,)), floats((3,)))
    both(lambda lib, x: lib.broadcast_to(x, (2, 4, 3)), floats((4, 1)))
    both(lambda lib, x: lib.broadcast_to(x, (2, 5, 3)), floats((4, 1)))
    both(lambda lib, x: x.broadcast_to((2, 4, 3)), floats((4, 1)))


@pytest.mark.parametrize("name", ["tensor_split", "hsplit", "vsplit", "dsplit"])
def test_parts_by_the_names_of_overloads(name):
    both(lambda lib, x: getattr(lib, name)(x, sections=2), floats((4, 4, 4)))
    both(lambda lib, x: getattr(lib, name)(x, indices=[1, 3]), floats((4, 4, 4)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [1, 2, 3, 7, 0, (1, 3), (2, 2, -1), (3, 1), (9,), ()])
@pytest.mark.parametrize("name", ["tensor_split", "hsplit", "vsplit", "dsplit"])
def test_splits(name, given, shape):
    both(lambda lib, x: getattr(lib, name)(x, given), floats(shape))
    both(lambda lib, x: getattr(x, name)(given), floats(shape))


@pytest.mark.parametrize("dim", [0, 1, -1, 2])
def test_tensor_split_takes_a_dimension_and_a_tensor(dim):
    both(lambda lib, x: lib.tensor_split(x, 3, dim), floats((5, 4)))
    both(lambda lib, x: lib.tensor_split(x, lib.tensor([1, 3]), dim), floats((5, 4)))


@pytest.mark.parametrize("increasing", [False, True])
@pytest.mark.parametrize("columns", [None, 0, 1, 2, 5, -1])
@pytest.mark.parametrize("x", [floats((4,)), np.array([2, -3, 0]), floats((0,)), floats((2, 2))])
def test_vander(x, columns, increasing):
    """Values alone: PyTorch's writes in place what its tape does not follow."""
    both(lambda lib, x: lib.vander(x, columns, increasing), x, differentiable=False)


@pytest.mark.parametrize("name", ["trapezoid", "trapz", "cumulative_trapezoid"])
@pytest.mark.parametrize("shape", [(5,), (1,), (4, 3), (3, 4, 2), (0,), ()])
@pytest.mark.parametrize("dim", [-1, 0])
def test_trapezoids(name, shape, dim):
    y, has_points = floats(shape), shape != (0,)  # PyTorch's result of no points is not on its tape
    both(lambda lib, y: getattr(lib, name)(y, dim=dim), y, differentiable=has_points)
    both(lambda lib, y: getattr(lib, name)(y, dx=0.5, dim=dim), y, differentiable=has_points)
    if shape and shape[dim]:
        x = floats((shape[dim],), 3)
        both(lambda lib, y, x: getattr(lib, name)(y, x, dim=dim), y, x)
        both(lambda lib, y, x: getattr(lib, name)(y, x, dim=dim), y, floats(shape, 4))
        both(lambda lib, y, x: getattr(lib, name)(y, x, dim=dim), y, floats((shape[dim] + 3,), 4))


def test_broadcast_tensors_wants_tensors():
    with pytest.raises(TypeError, match="expected tensors, got list"):
        ocl.broadcast_tensors([ocl.zeros(3)])


def test_methods():
    both(lambda lib, x, y: x.reshape_as(y), floats((2, 6)), floats((3, 4)))
    both(lambda lib, x, y: x.reshape_as(y), floats((2, 6)), floats((3, 5)))
    both(lambda lib, x, y: x.vdot(y), floats((4,)), floats((4,), 1))
    both(lambda lib, x: x.type_as(lib.tensor([1])), floats((4,)))
    for lib in (torch, ocl):
        x = lib.zeros(2, 3)
        assert x.is_same_size(lib.zeros(2, 3)) and not x.is_same_size(lib.zeros(3, 2))


@pytest.mark.parametrize("size", [(4, 3), (3,), (1, 3), (4, 1), (1, 1, 1), (), (2, 4, 3), (2, 1), (9,)])
def test_sum_to_size(size):
    both(lambda lib, x: x.sum_to_size(*size) if size else x.sum_to_size(()), floats((2, 4, 3)))
