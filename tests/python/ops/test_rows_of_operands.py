"""Operands with one element for a whole row, and rows that are walked backwards.

Lengths stand around the one from which CPUs have kernels of their own for them, and around widths of vectors.
"""

import numpy as np
import pytest
import torch

import ocl

LENGTHS = (1, 2, 7, 31, 32, 33, 48, 63, 64, 65, 200)
DTYPES = ("float32", "float64", "bfloat16", "int32", "uint8")


def drawn(shape, dtype, seed):
    """(ours, PyTorch's) numbers that every dtype holds, none of them 0."""
    values = np.random.default_rng(seed).integers(1, 12, shape)
    return ocl.tensor(values).to(getattr(ocl, dtype)), torch.tensor(values).to(getattr(torch, dtype))


def assert_equal(ours, theirs):
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_array_equal(ours.to(ocl.float64).numpy(), theirs.to(torch.float64).numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_an_element_for_each_row(length, dtype):
    x, their_x = drawn((3, 5, length), dtype, 0)
    for shape in ((3, 5, 1), (1, 5, 1), (3, 1, 1), (1,)):
        y, their_y = drawn(shape, dtype, 1)
        assert_equal(x + y, their_x + their_y)
        assert_equal(ocl.where(x > 6, x, y), torch.where(their_x > 6, their_x, their_y))
        if dtype == "float32":  # the walk is one for all operators; every other costs programs
            assert_equal(y - x, their_y - their_x)
            assert_equal(ocl.maximum(x, y), torch.maximum(their_x, their_y))
            if len(shape) > 1:
                assert_equal(x[:, 1::2] * y[:, :1], their_x[:, 1::2] * their_y[:, :1])
        changed, theirs_changed = x.clone(), their_x.clone()
        changed.add_(y)
        theirs_changed.add_(their_y)
        assert_equal(changed, theirs_changed)


@pytest.mark.parametrize("length", LENGTHS)
def test_all_of_several_operands_have_one(length):
    x, their_x = drawn((4, length), "float32", 0)
    rows = [drawn((4, 1), "float32", seed) for seed in (1, 2)]
    ours, theirs = [x, *(a for a, _ in rows)], [their_x, *(b for _, b in rows)]
    for order in ((0, 1, 2), (1, 0, 2), (1, 2, 0)):
        assert_equal(ocl.addcmul(*(ours[i] for i in order)), torch.addcmul(*(theirs[i] for i in order)))
    expanded = ours[1].expand(4, length)
    assert_equal(expanded + ours[2], theirs[1].expand(4, length) + theirs[2])


@pytest.mark.parametrize("length", LENGTHS)
def test_gradients_and_chains(length):
    """A chain is launched in one when it was met often; both ways have the same bits."""
    results = []
    for _ in range(40):
        x = drawn((6, length), "float32", 0)[0].requires_grad_()
        scale = drawn((6, 1), "float32", 1)[0].requires_grad_()
        ((x * scale + x).relu() * scale).sum().backward()
        results.append((x.grad.numpy(), scale.grad.numpy()))
    their_x = drawn((6, length), "float32", 0)[1].requires_grad_()
    their_scale = drawn((6, 1), "float32", 1)[1].requires_grad_()
    ((their_x * their_scale + their_x).relu() * their_scale).sum().backward()
    for mine in results:
        np.testing.assert_array_equal(mine[0], their_x.grad.numpy())
        np.testing.assert_allclose(mine[1], their_scale.grad.numpy(), rtol=1e-6)


@pytest.mark.parametrize("dtype", (*DTYPES, "bool"))
@pytest.mark.parametrize("length", LENGTHS)
def test_backward_rows(length, dtype):
    x, theirs = drawn((3, 4, length), dtype, 0)
    if dtype == "bool":
        x, theirs = ocl.tensor(np.arange(12 * length).reshape(3, 4, length) % 3 == 0), None
        theirs = torch.tensor(x.numpy())
    for dims in ((2,), (1,), (0, 2), (0, 1, 2)):
        assert_equal(x.flip(dims), theirs.flip(dims))
        assert_equal(x.transpose(1, 2).flip(dims), theirs.transpose(1, 2).flip(dims))
        assert_equal(x[..., ::2].flip(dims), theirs[..., ::2].flip(dims))


@pytest.mark.parametrize("length", (4, 8, 12, 100, 1020, 1024))
@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_sixteen_bits_from_any_element_on(length, dtype):
    """GPUs move four at once where memory begins at a multiple of four."""
    memory, their_memory = drawn((length + 9,), dtype, 0)
    for start in range(6):
        x, y = memory[start : start + length], memory[:length]
        their_x, their_y = their_memory[start : start + length], their_memory[:length]
        assert_equal(x * y + 3, their_x * their_y + 3)
        assert_equal(x.to(ocl.float32) / 4, their_x.to(torch.float32) / 4)
        assert_equal(x > y, their_x > their_y)
        changed, theirs_changed = memory.clone(), their_memory.clone()
        changed[start : start + length].mul_(2)
        theirs_changed[start : start + length].mul_(2)
        assert_equal(changed, theirs_changed)
