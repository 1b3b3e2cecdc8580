"""Bounds of clamp and its kin that are tensors: PyTorch's values, dtypes, gradients and refusals."""

import itertools

import numpy as np
import pytest
import torch
from support import assert_same, check_like_torch, of_dtype, skip_without

import ocl

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
NAN, INF = float("nan"), float("inf")
VALUES = [-2.0, 0.3, 5.0, 1.0, NAN, 2.0, 3.0, INF, -INF, 0.0]
LOWEST = [0.0, 0.3, 1.0, 2.0, 0.0, NAN, 4.0, 1.0, NAN, -0.0]
HIGHEST = [1.0, 1.0, 2.0, 0.0, 1.0, 1.0, 4.0, INF, NAN, 0.0]


def written(x, name, *bounds, **named):
    y = x * 1
    assert getattr(y, name)(*bounds, **named) is y
    return y


# Each takes (lib, x, the lower bound, the upper bound).
FORMS = {
    "clamp(x, low, high)": lambda lib, x, low, high: lib.clamp(x, low, high),
    "clamp(x, min=low)": lambda lib, x, low, high: lib.clamp(x, min=low),
    "clamp(x, max=high)": lambda lib, x, low, high: lib.clamp(x, max=high),
    "clip(x, min=low, max=high)": lambda lib, x, low, high: lib.clip(x, min=low, max=high),
    "x.clamp(low, high)": lambda lib, x, low, high: x.clamp(low, high),
    "x.clamp(None, high)": lambda lib, x, low, high: x.clamp(None, high),
    "x.clip(low)": lambda lib, x, low, high: x.clip(low),
    "clamp_min(x, low)": lambda lib, x, low, high: lib.clamp_min(x, low),
    "x.clamp_min(min=low)": lambda lib, x, low, high: x.clamp_min(min=low),
    "clamp_max(x, high)": lambda lib, x, low, high: lib.clamp_max(x, high),
    "x.clamp_max(max=high)": lambda lib, x, low, high: x.clamp_max(max=high),
    "x.clamp_(low, high)": lambda lib, x, low, high: written(x, "clamp_", low, high),
    "x.clip_(max=high)": lambda lib, x, low, high: written(x, "clip_", max=high),
    "x.clamp_min_(low)": lambda lib, x, low, high: written(x, "clamp_min_", low),
    "x.clamp_max_(high)": lambda lib, x, low, high: written(x, "clamp_max_", high),
}


def given(lib, *arrays):
    return [lib.tensor(np.array(array, np.float32), requires_grad=True) for array in arrays]


@pytest.mark.parametrize("form", FORMS)
def test_values_and_gradients_at_the_edges(form):
    """Bounds that cross, equal ones, NaN on every place."""
    results = []
    for lib in (ocl, torch):
        tensors = given(lib, VALUES, LOWEST, HIGHEST)
        y = FORMS[form](lib, *tensors)
        y.backward(lib.tensor(np.arange(1.0, 11.0, dtype=np.float32)))
        results.append([y.detach(), *(t.grad for t in tensors)])
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert_same(ours, theirs)


SHAPES = [((4, 5), (5,), (4, 1)), ((3,), (2, 1), ()), ((), (), (2,)), ((0, 3), (3,), ())]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bounds_broadcast(shapes, dtype, rng):
    x, low, high = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes)

    def expanded(lib, x, *bounds):
        """PyTorch's backward pass takes no bounds that are larger."""
        return x if lib is ocl else x.expand(torch.broadcast_shapes(x.shape, *(b.shape for b in bounds)))

    def within(lib, x, low, high):
        return lib.clamp(expanded(lib, x, low, high), low, high)

    check_like_torch(within, x, low, high, dtype=dtype)
    check_like_torch(lambda lib, x, low: expanded(lib, x, low).clamp_min(low), x, low, dtype=dtype)


@pytest.mark.parametrize("dtypes", itertools.combinations_with_replacement(DTYPES, 2), ids="-".join)
def test_promotion(dtypes):
    skip_without("float64" if "float64" in dtypes else "float32")
    for x_dtype, bound_dtype in {dtypes, dtypes[::-1]}:
        for bound in ([1, 0, 2], 1):
            ours, theirs = (
                (
                    lib.tensor([0, 1, 3]).to(of_dtype(x_dtype)[i]),
                    lib.tensor(bound).to(of_dtype(bound_dtype)[i]),
                )
                for i, lib in enumerate((ocl, torch))
            )
            for name in ("clamp", "clamp_min", "clamp_max"):
                assert_same(getattr(ocl, name)(*ours), getattr(torch, name)(*theirs))
            try:
                expected = theirs[0].clone().clamp_(max=theirs[1])
            except RuntimeError:
                with pytest.raises(TypeError, match="can't be cast"):
                    ours[0].clone().clamp_(max=ours[1])
            else:
                assert_same(ours[0].clone().clamp_(max=ours[1]), expected)


def test_a_number_beside_a_tensor():
    """PyTorch takes it where the tensor has no dimension and no gradient."""
    x, high = ocl.tensor([-1.0, 0.5, 3.0], requires_grad=True), ocl.tensor(2.0, requires_grad=True)
    y = x.clamp(0, high)
    y.sum().backward()
    assert y.tolist() == [0, 0.5, 2] and x.grad.tolist() == [0, 1, 0] and high.grad.item() == 1
    assert ocl.tensor([1, 9]).clamp(ocl.tensor(3), 5.5).tolist() == [3.0, 5.5]
    with pytest.raises(ValueError, match="300"):
        ocl.tensor([1, 9], dtype=ocl.uint8).clamp(ocl.tensor(3, dtype=ocl.uint8), 300)


def test_what_bounds_cannot_be():
    x = ocl.ones(3)
    with pytest.raises(ValueError, match="broadcast"):
        x.clamp(ocl.ones(2))
    with pytest.raises(ValueError, match="doesn't match the broadcast shape"):
        x.clamp_(max=ocl.ones(2, 3))
    with pytest.raises(TypeError, match="clamp.*min"):
        x.clamp("0")
    with pytest.raises(RuntimeError, match="leaf"):
        ocl.ones(3, requires_grad=True).clamp_(min=ocl.ones(3))


@pytest.mark.parametrize("name", ["clamp", "clip", "clamp_", "clip_"])
@pytest.mark.parametrize("bounds", [(), (None,), (None, None)], ids=str)
def test_one_bound_is_needed(name, bounds):
    with pytest.raises(ValueError, match="at least one of 'min' or 'max' must not be None"):
        getattr(ocl.ones(3), name)(*bounds)


def test_a_parameter_as_a_bound_is_trained():
    limit = ocl.nn.Parameter(ocl.tensor(0.5))
    optimizer = ocl.optim.SGD([limit], lr=0.1)
    ocl.arange(4.0).clamp(max=limit).sum().backward()
    optimizer.step()
    assert limit.item() == pytest.approx(0.2)
