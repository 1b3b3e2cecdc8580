"""Comparison of one call with PyTorch's: values, dtypes, gradients, or that both fail."""

import numpy as np
import torch

import ocl

ERRORS = (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError)


def outcome(lib, call, arrays, differentiable):
    """The results, their dtypes and the gradients of floating inputs; None where the call fails."""
    inputs = [lib.tensor(a) for a in arrays]
    for x in inputs:
        if differentiable and x.is_floating_point():
            x.requires_grad_()
    try:
        given = call(lib, *inputs)
    except ERRORS:
        return None
    parts = given if isinstance(given, tuple | list) else (given,)
    flowing = [p for p in parts if getattr(p, "requires_grad", False)]
    if flowing:
        sum((p * p + p).sum() for p in flowing).backward()
    gradients = [None if x.grad is None else x.grad.numpy() for x in inputs]
    values = [p.detach().numpy() if isinstance(p, lib.Tensor) else np.asarray(p) for p in parts]
    dtypes = [str(getattr(p, "dtype", "")).split(".")[-1] for p in parts]
    return values, dtypes, gradients


def compare(call, *arrays, differentiable=True, rtol=1e-5, atol=1e-6):
    """Asserts that `call(library, *tensors)` gives the same, forward and backward, or fails in both."""
    expected, got = (outcome(lib, call, arrays, differentiable) for lib in (torch, ocl))
    assert (expected is None) == (got is None), f"PyTorch gives {expected}, this library {got}"
    if got is None:
        return
    assert got[1] == expected[1]
    assert len(got[0]) == len(expected[0])
    for a, b in zip([*expected[0], *expected[2]], [*got[0], *got[2]], strict=True):
        assert (a is None) == (b is None), f"PyTorch's gradient is {a}, this library's {b}"
        if a is not None:
            assert a.shape == b.shape
            np.testing.assert_allclose(b, a, rtol=rtol, atol=atol)


def fails(call, *arrays):
    """Asserts that the call fails in both libraries."""
    for lib in (torch, ocl):
        assert outcome(lib, call, arrays, False) is None, f"{lib.__name__} does not fail"


def floats(*shape, seed=0):
    """float32 numbers between -2 and 2."""
    return np.random.default_rng([seed, *shape]).uniform(-2, 2, shape).astype(np.float32)
