"""Gradient clipping against torch.nn.utils."""

import math

import numpy as np
import pytest
import torch
from support import expect_near

import ocl

SHAPES = [(3,), (), (5, 7), (129,), (33, 600), (1,)]
NORMS = [2, 1, math.inf, -math.inf, 3, 0.5, 2.5, -1]


def parameters(library, dtype, scale=1.0, missing=(1,)):
    """Parameters with gradients, but for some."""
    generator = np.random.default_rng(3)
    result = []
    for i, shape in enumerate(SHAPES):
        p = (
            library.zeros(*shape, dtype=dtype, requires_grad=True)
            if shape
            else library.tensor(0.0, dtype=dtype)
        )
        p.requires_grad_()
        gradient = (generator.standard_normal(shape) * scale).astype(np.float32)
        if i not in missing:
            p.grad = library.tensor(gradient, dtype=dtype)
        result.append(p)
    return result


def three(call, **options):
    """The result of `call(utils, parameters)` and the gradients after it: ours, PyTorch's two."""
    results = []
    for library, dtype in ((ocl, ocl.float32), (torch, torch.float64), (torch, torch.float32)):
        given = parameters(library, dtype, **options)
        returned = call(library.nn.utils, given)
        results.append((returned, [p.grad for p in given if p.grad is not None]))
    return zip(*results, strict=True)


def expect_same(call, **options):
    returned, gradients = three(call, **options)
    if returned[0] is not None:
        assert returned[0].shape == ()
        expect_near(*returned, "norm")
    for i, values in enumerate(zip(*gradients, strict=True)):
        expect_near(*values, f"gradient {i}")


@pytest.mark.parametrize("norm_type", NORMS)
@pytest.mark.parametrize("max_norm", [1.0, 1e9])
def test_norms(norm_type, max_norm):
    expect_same(lambda utils, p: utils.clip_grad_norm_(p, max_norm, norm_type))


@pytest.mark.parametrize("norm_type", [2, 1, 3, math.inf, -math.inf])
def test_empty_gradients_count_for_nothing(norm_type):
    """PyTorch refuses the infinite norms of an empty tensor, also where others have elements."""
    given = [ocl.zeros(2, 0), ocl.tensor([3.0, -4.0])]
    norm = ocl.nn.utils.get_total_norm(given, norm_type).item()
    assert norm == pytest.approx(torch.linalg.vector_norm(torch.tensor([3.0, 4.0]), norm_type).item())


def test_the_zero_norm_counts():
    """PyTorch takes the zero norm of the tensors' zero norms: how many tensors are not all zero."""
    norm = ocl.nn.utils.get_total_norm([ocl.tensor([0.0, 2.0, -1.0]), ocl.zeros(4), ocl.ones(2)], 0)
    assert norm.item() == 4


def test_values():
    expect_same(lambda utils, p: utils.clip_grad_value_(p, 0.5))
    expect_same(lambda utils, p: utils.clip_grad_value_(p, clip_value=100.0))


def test_norm_and_clipping_apart():
    def call(utils, p):
        total = utils.get_total_norm([q.grad for q in p if q.grad is not None], 3.0)
        utils.clip_grads_with_norm_(p, 0.25, total)
        return total

    expect_same(call)


def test_one_parameter_and_iterables():
    p = ocl.zeros(2, requires_grad=True)
    p.grad = ocl.tensor([3.0, 4.0])
    assert ocl.nn.utils.clip_grad_norm_(p, 1.0).item() == 5
    np.testing.assert_allclose(p.grad.numpy(), [0.6, 0.8], rtol=1e-6)
    assert ocl.nn.utils.clip_grad_norm_(iter([p]), 1.0).item() == pytest.approx(1)


def test_without_gradients():
    assert ocl.nn.utils.clip_grad_norm_([ocl.ones(2, requires_grad=True)], 1.0).item() == 0
    ocl.nn.utils.clip_grad_value_([ocl.ones(2, requires_grad=True)], 1.0)


def test_gradients_of_other_layouts():
    p = ocl.zeros(2, 3, requires_grad=True)
    p.grad = ocl.tensor(np.arange(6, dtype=np.float32).reshape(3, 2)).t()
    ocl.nn.utils.clip_grad_value_(p, 2.5)
    np.testing.assert_array_equal(p.grad.numpy(), [[0, 2, 2.5], [1, 2.5, 2.5]])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_gradients_that_are_not_finite(bad):
    def run(library):
        p = library.zeros(3, requires_grad=True)
        p.grad = library.tensor([1.0, bad, 2.0])
        norm = library.nn.utils.clip_grad_norm_(p, 1.0)
        return [norm.item(), *p.grad.tolist()]

    np.testing.assert_array_equal(run(ocl), run(torch))
    for library in (ocl, torch):
        p = library.zeros(3, requires_grad=True)
        p.grad = library.tensor([1.0, bad, 2.0])
        with pytest.raises(RuntimeError, match="total norm of order 2.* is non-finite"):
            library.nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
        np.testing.assert_array_equal(p.grad.numpy(), np.float32([1, bad, 2]))
        p.grad = library.tensor([1.0, bad, -9.0])
        library.nn.utils.clip_grad_value_(p, 2.0)
        np.testing.assert_array_equal(p.grad.numpy(), np.float32([1, min(bad, 2) if bad == bad else bad, -2]))


def test_few_launches_and_no_wait():
    given = parameters(ocl, ocl.float32)
    with ocl.profiler.profile() as profile:
        ocl.nn.utils.clip_grad_norm_(given, 1.0)
    assert len(list(profile.launches())) <= 4  # the table's two uploads are no launches


@pytest.mark.parametrize("norm", [2, 1, math.inf, 0.5])
@pytest.mark.parametrize("limit", [0.5, 1e6])
def test_complex_gradients(norm, limit):
    draws = np.random.default_rng(5)
    arrays = [(draws.standard_normal((3, 4)) + 1j * draws.standard_normal((3, 4))).astype("complex64")]
    arrays.append(draws.standard_normal(5).astype("float32"))
    found = []
    for library in (ocl, torch):
        given = [library.zeros(a.shape, dtype=getattr(library, str(a.dtype))) for a in arrays]
        for p, a in zip(given, arrays, strict=True):
            p.requires_grad_().grad = library.tensor(a)
        found.append([library.nn.utils.get_total_norm([p.grad for p in given], norm, foreach=False)])
        found[-1] += [library.nn.utils.clip_grad_norm_(given, limit, norm, foreach=False)]
        found[-1] += [p.grad for p in given]
        library.nn.utils.clip_grads_with_norm_(given, 0.1, found[-1][1])
        found[-1] += [p.grad for p in given]
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5)
    with pytest.raises(TypeError, match="complex gradients"):
        ocl.nn.utils.clip_grad_value_([_complex_parameter()], 1.0)


def _complex_parameter():
    p = ocl.zeros(2, dtype=ocl.complex64, requires_grad=True)
    p.grad = ocl.ones(2, dtype=ocl.complex64)
    return p
