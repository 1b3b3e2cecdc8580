"""ocl.linalg beside torch.linalg: results, gradients and gradients of gradients."""

import numpy as np
import pytest
import torch
from linalg_table import CASES
from support import expect_near

import ocl

LAYOUTS = ("contiguous", "transposed", "strided")


def laid_out(lib, array, layout, dtype):
    """A leaf of the array's elements, and the tensor over it that has the array's shape."""
    array = np.asarray(array, dtype)
    make = ocl.tensor if lib is ocl else lambda values: torch.from_numpy(values.copy())
    if layout == "transposed" and array.ndim >= 2:
        leaf = make(np.ascontiguousarray(array.swapaxes(-1, -2))).requires_grad_()
        return leaf, leaf.mT
    if layout == "strided" and array.ndim >= 1:
        leaf = make(np.repeat(array, 2, axis=-1)).requires_grad_()
        return leaf, leaf[..., ::2]
    leaf = make(array).requires_grad_()
    return leaf, leaf


def weighted(lib, tensors, seed):
    """A sum of all elements of the tensors that require gradients, each with a weight of its own."""
    total = 0
    for i, tensor in enumerate(tensors):
        if tensor is not None and tensor.requires_grad:
            weights = np.random.default_rng([seed, i]).uniform(-1, 1, tuple(tensor.shape))
            weights = weights.astype(str(tensor.dtype).split(".")[1])
            total = (
                total + (tensor * (ocl.tensor(weights) if lib is ocl else torch.from_numpy(weights))).sum()
            )
    return total


def computed(lib, case, arrays, layout, dtype, order):
    """Results, gradients and, with an order of 2, gradients of these, as arrays or None."""
    leaves, tensors = zip(*(laid_out(lib, array, layout, dtype) for array in arrays), strict=True)
    results = case.function(lib, *tensors)
    found = [list(results) if isinstance(results, (tuple, list)) else [results]]
    for i in range(order):
        loss = weighted(lib, found[-1], i)
        if not isinstance(loss, lib.Tensor):
            found.append([None] * len(leaves))
            continue
        found.append(lib.autograd.grad(loss, leaves, create_graph=i + 1 < order, allow_unused=True))
    return [[None if t is None else t.numpy(force=True) for t in tensors] for tensors in found]


def expect_like(mine, theirs, what):
    """Shapes and dtypes agree, and numbers nearly; None stands for zeros."""
    if mine is None or theirs is None:
        present = mine if theirs is None else theirs
        assert present is None or not present.any(), f"{what}: {mine}, PyTorch has {theirs}"
        return
    assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), what
    scale = np.abs(theirs).max(initial=1)
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10 * scale, err_msg=what)


@pytest.mark.parametrize("name", CASES)
def test_float64(name):
    case = CASES[name]
    arrays = case.draw(np.random.default_rng([3, *name.encode()]))
    layout, order = LAYOUTS[sum(name.encode()) % 3], 2 if case.double else 1
    ours, theirs = (computed(lib, case, arrays, layout, "float64", order) for lib in (ocl, torch))
    for what, mine, expected in zip(("result", "gradient", "second gradient"), ours, theirs, strict=False):
        for i, (a, b) in enumerate(zip(mine, expected, strict=True)):
            expect_like(a, b, f"{what} {i}")


@pytest.mark.parametrize("name", CASES)
def test_float32_is_as_near_to_the_truth(name):
    case = CASES[name]
    arrays = [array.astype(np.float32) for array in case.draw(np.random.default_rng([5, *name.encode()]))]
    layout = LAYOUTS[sum(name.encode(), 1) % 3]
    ours, single, truth = (
        computed(lib, case, arrays, layout, dtype, 1)
        for lib, dtype in ((ocl, "float32"), (torch, "float32"), (torch, "float64"))
    )
    for what, *found in zip(("result", "gradient"), ours, single, truth, strict=False):
        for i, (mine, near, true) in enumerate(zip(*found, strict=True)):
            if mine is not None and true is not None and mine.dtype.kind == "f":
                assert mine.dtype == np.float32
                expect_near(mine, true, near, f"{what} {i}", units=16)
