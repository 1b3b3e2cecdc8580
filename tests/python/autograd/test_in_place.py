"""Writing in place while gradients are recorded: right, or refused."""

import numpy as np
import pytest
import torch
from support import expect_exact, leaf

import ocl

WRITES = {
    "add_": lambda t: t.add_(1),
    "sub_": lambda t: t.sub_(1),
    "mul_": lambda t: t.mul_(2),
    "copy_": lambda t: t.copy_(ocl.zeros(*t.shape)),
    "fill_": lambda t: t.fill_(3),
    "zero_": lambda t: t.zero_(),
    "setitem": lambda t: t.__setitem__(0, 5.0),
}
parametrize_writes = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())


@parametrize_writes
def test_a_leaf_that_requires_gradients_is_not_written(write):
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError):
        write(x)
    expect_exact(x, [1, 2])
    with ocl.no_grad():
        write(x)


def test_the_refusal_names_leaf_and_in_place():
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad.*in-place"):
        leaf([1.0]).add_(1)


@parametrize_writes
def test_a_write_over_a_saved_tensor_is_noticed(write):
    x, factor = leaf([1.0, 2.0]), ocl.tensor([3.0, 4.0])
    y = (x * factor).sum()
    write(factor)
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*version 1; expected version 0"):
        y.backward()
    assert x.grad is None


@parametrize_writes
def test_a_write_over_a_saved_result_is_noticed(write):
    x = leaf([1.0, 2.0])
    y = x.exp()  # its derivative is the result
    z = y.sum()
    with ocl.no_grad():
        write(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_a_write_through_a_view_or_detach_is_noticed():
    for alias in (lambda t: t[1:], lambda t: t.detach(), lambda t: t.view(2, 1)):
        x, factor = leaf([1.0, 2.0]), ocl.tensor([3.0, 4.0])
        y = (x * factor).sum()
        alias(factor).fill_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_a_write_to_what_nobody_saved_is_fine():
    x = leaf([1.0, 2.0])
    y = x + 1
    y.mul_(3)
    y.add_(x)
    y.sum().backward()
    expect_exact(y, [7, 11])
    expect_exact(x.grad, [4, 4])


def test_in_place_operations_carry_gradients():
    x, z = leaf([1.0, 2.0]), leaf([10.0, 20.0])
    y = x * 2
    y.mul_(z)
    y.sub_(x)
    y.sum().backward()
    expect_exact(x.grad, [2 * 10 - 1, 2 * 20 - 1])
    expect_exact(z.grad, [2, 4])


def test_copy_replaces_the_history():
    x, z = leaf([1.0]), leaf([2.0])
    y = x * 3
    y.copy_(z)
    (y * 5).sum().backward()
    assert x.grad is None or x.grad.item() == 0
    expect_exact(z.grad, [5])


def test_fill_cuts_the_history():
    x = leaf([1.0])
    y = x * 3
    y.fill_(7)
    (y * x).sum().backward()
    expect_exact(x.grad, [7])


def test_copy_into_a_constant_records():
    x = leaf([1.0, 2.0])
    y = ocl.zeros(3, 2)
    y.copy_(x)
    (y * 2).sum().backward()
    expect_exact(x.grad, [6, 6])


def as_in_torch(compute):
    """Value and gradients of compute(lib, x [3, 4], w [4]), ours and PyTorch's, are the same."""
    results = []
    for lib in (ocl, torch):
        x = lib.tensor(np.arange(1, 13, dtype=np.float32).reshape(3, 4)).requires_grad_()
        w = lib.tensor(np.arange(2, 6, dtype=np.float32)).requires_grad_()
        y = compute(lib, x, w)
        y.sum().backward()
        results.append((y.detach(), x.grad, w.grad))
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)


def written_parts(lib, x, w):
    y = x * 2
    y[0].mul_(w)
    y[:, 1:3].copy_(w[1:3] * 3)
    return y * y


def earlier_view_and_later_write(lib, x, w):
    y = x * 2
    row = y[1]
    y.mul_(w)
    row.add_(w)
    return row * y[1] + y.sum()


def constant_that_is_written(lib, x, w):
    y = lib.zeros(3, 4)
    y[1] = w
    y[2, 1:] = x[0, :3]
    y.t()[0].mul_(5.0)
    return y * y


def two_views(lib, x, w):
    y = lib.zeros(3, 4)
    row = y[1]
    row.copy_(w)
    y.view(12).mul_(3.0)
    y[0] = 7.0
    return y * y + row * 2


def overwritten_and_written_again(lib, x, w):
    y = x * 3
    part = y.t()[1:]
    part.sub_(w[:3].expand(3, 3))
    part.zero_()
    part.add_(x[0, :3])
    return y * 3


def view_of_a_view(lib, x, w):
    y = x * 1
    y[1:][:, 1:][0].mul_(w[:3])
    return y.exp()


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    "compute",
    [
        written_parts,
        earlier_view_and_later_write,
        constant_that_is_written,
        two_views,
        overwritten_and_written_again,
        view_of_a_view,
    ],
)
def test_a_write_through_a_view_joins_the_history_of_the_base(compute):
    as_in_torch(compute)


def test_a_view_knows_what_became_of_its_base():
    y = ocl.zeros(3)
    row = y[:2]
    assert row.is_leaf and not row.requires_grad
    y.mul_(leaf([1.0, 2.0, 3.0]))
    assert row.requires_grad and not row.is_leaf and row.grad_fn is not None


def test_a_view_of_a_leaf_is_not_written():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[:1].mul_(2)
    with ocl.no_grad():
        x[:1].mul_(2)
    expect_exact(x, [2, 2])


def test_a_view_made_under_no_grad_is_not_written_while_recording():
    y = leaf([1.0, 2.0]) * 2
    with ocl.no_grad():
        row = y[:1]
        row.mul_(3)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        row.mul_(leaf([5.0]))


def test_parts_of_one_split_are_written():
    """PyTorch refuses, since its views of one node share it; ours lead to the base by their places."""
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x * 1
    first, second = y.chunk(2)
    first.mul_(3)
    (y.sum() + second.sum()).backward()
    expect_exact(x.grad, [3, 3, 2, 2])


def test_views_of_constants_are_written_freely():
    y = ocl.zeros(3)
    y[1] = 5.0
    y[2:].add_(1)
    expect_exact(y, [0, 5, 1])


def test_versions_count_writes():
    x = ocl.zeros(2)
    assert x._version == 0
    x.add_(1)
    x[0] = 5
    assert x._version == 2
    assert x.detach()._version == 2
    assert x.clone()._version == 0


def test_an_expanded_tensor_is_not_written():
    with pytest.raises(ValueError, match="more than one element.*clone"):
        ocl.zeros(1).expand(3).add_(1)


@pytest.mark.parametrize(
    "write",
    [
        lambda lib, x: x.add_(1),
        lambda lib, x: x.masked_fill_(lib.ones(1, 5, 0) > 0, 2),
        lambda lib, x: x.index_copy_(1, lib.tensor([3, 1]), lib.ones(1, 2, 0)),
        lambda lib, x: x.scatter_(1, lib.zeros(1, 2, 0, dtype=lib.int64), lib.ones(1, 2, 0)),
    ],
)
def test_an_expanded_tensor_without_elements_is_written(write):
    for lib in (ocl, torch):
        x = lib.zeros(1, 1, 0).expand(1, 5, 0)
        assert write(lib, x) is x
        assert tuple(x.shape) == (1, 5, 0)


def test_an_overlapping_input_is_refused():
    x = ocl.tensor(np.arange(4.0, dtype=np.float32))
    with pytest.raises(ValueError, match="single memory location"):
        x[1:].add_(x[:-1])


def test_a_sum_in_place_keeps_shape_and_dtype():
    with pytest.raises(ValueError, match="add_.*shape"):
        ocl.zeros(2).add_(ocl.zeros(3, 2))
    with pytest.raises(TypeError, match="add_"):
        ocl.zeros(2, dtype=ocl.int64).add_(0.5)


@pytest.mark.parametrize("name", ["mul_", "div_", "pow_", "atan2_", "fmod_"])
def test_a_tensor_written_with_itself(name):
    values = np.array([0.5, 1.5, 2.5], np.float32)

    def run(lib, in_place):
        x = lib.tensor(values, requires_grad=True)
        y = x * 1
        if in_place:
            getattr(y, name)(y)
        else:
            y = getattr(lib, name[:-1])(y, y)
        y.sum().backward()
        return y.detach().numpy(), x.grad.numpy()

    for ours, truth in zip(run(ocl, True), run(torch, False), strict=True):
        np.testing.assert_allclose(ours, truth, rtol=1e-6, atol=1e-6)


def test_an_element_may_be_filled_twice():
    assert ocl.zeros(1).expand(3).fill_(2).tolist() == [2, 2, 2]
