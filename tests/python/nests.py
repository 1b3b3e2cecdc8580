"""Nests of tensors: made for both libraries, and compared."""

import numpy as np
import torch

import ocl


def made(lib, nest):
    """The nest with a tensor for each array."""
    if isinstance(nest, dict):
        return type(nest)((key, made(lib, value)) for key, value in nest.items())
    if isinstance(nest, (tuple, list)):
        return type(nest)(made(lib, entry) for entry in nest)
    return lib.tensor(nest) if isinstance(nest, np.ndarray) else nest


def on_both(run, *nests):
    """The results of ``run(lib, *tensors)`` with PyTorch and with us."""
    return [run(lib, *(made(lib, nest) for nest in nests)) for lib in (torch, ocl)]


def assert_nests_close(actual, expected):
    """Expects equal forms, shapes and dtypes; float64 elements but for rounding."""
    if isinstance(expected, dict):
        assert list(actual) == list(expected)
        actual, expected = list(actual.values()), list(expected.values())
    if isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected) and len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            assert_nests_close(a, e)
        return
    assert tuple(actual.shape) == tuple(expected.shape)
    assert str(actual.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
    np.testing.assert_allclose(
        actual.detach().cpu().numpy(), expected.detach().numpy(), rtol=1e-9, atol=1e-11
    )


def check(run, *nests):
    """Compares ``run(lib, *tensors)`` of both libraries; gives ours."""
    expected, actual = on_both(run, *nests)
    assert_nests_close(actual, expected)
    return actual
