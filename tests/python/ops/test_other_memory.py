"""resize_ and set_ against PyTorch."""

import numpy as np
import pytest
import torch

import ocl


def both(run):
    """The numbers that both libraries give."""
    found = []
    for lib in (torch, ocl):
        x = lib.arange(12).float()
        found.append([t.numpy().copy() if hasattr(t, "numpy") else t for t in run(lib, x)])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_resize_within_the_memory():
    both(
        lambda lib, x: [
            x.resize_(2, 3),
            x.resize_((3, 4)),
            x.resize_(12)[4:].resize_(2, 2),
            x.resize_(0),
            x.resize_(12),
        ]
    )


def test_resize_beyond_keeps_what_was_there():
    for lib in (torch, ocl):
        x = lib.arange(6).float()
        y = x.resize_(4, 5)
        assert y is x and tuple(x.shape) == (4, 5) and x.is_contiguous()
        np.testing.assert_array_equal(x.numpy().reshape(-1)[:6], np.arange(6))
        x.fill_(1)
        assert x.sum().item() == 20


def test_resized_tensors_share():
    x = ocl.zeros(6)
    y = x[:]
    y.resize_(2, 2).fill_(3)
    assert x.tolist() == [3, 3, 3, 3, 0, 0]


def test_set():
    def run(lib, x):
        y = lib.zeros(2)
        y.set_(x)
        y[0] = 7
        z = lib.zeros(1).set_(x, 1, (2, 3), (1, 2))
        z[0, 0] = -1
        return [x, y, z, lib.ones(3).set_()]

    both(run)


def test_errors():
    for size in ((3,), (2, 2)):
        with pytest.raises(RuntimeError, match="resize"):
            ocl.ones(2).requires_grad_().resize_(size)
    with pytest.raises(ValueError, match="at least 0"):
        ocl.ones(2).resize_(-1)
    with pytest.raises(RuntimeError, match="gradients"):
        ocl.ones(2).requires_grad_().set_(ocl.ones(2))
    with pytest.raises(TypeError, match="float32"):
        ocl.ones(2).set_(ocl.tensor([1]))
    with pytest.raises(ValueError, match="beyond"):
        ocl.ones(2).set_(ocl.ones(4), 2, (3,))
