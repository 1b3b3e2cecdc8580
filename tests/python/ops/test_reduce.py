"""Every row of the reduction table (dlprim/ops/reduce/table.def), argmax and argmin against PyTorch."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from support import assert_same, check_like_torch, skip_without

import ocl

TABLE = (Path(__file__).parents[3] / "dlprim/ops/reduce/table.def").read_text()
ROWS = {name: kind for name, kind in re.findall(r"^REDUCTION\((\w+),\s*(\w+)", TABLE, re.MULTILINE)}
FLOAT_RESULT = ("sum", "mean", "amax", "amin")
EXACT = ("all", "any", "count_nonzero")
ARG = ("argmax", "argmin")


def test_every_row_is_tested_here():
    assert set(ROWS) == {*FLOAT_RESULT, *EXACT, "prod"}


def reduce(name, dim=None, keepdim=False):
    def function(lib, x):
        if lib is ocl:
            return getattr(ocl, name)(x, dim, keepdim)
        if name == "count_nonzero":
            dims = range(x.dim()) if dim is None else np.atleast_1d(dim).tolist()
            return torch.sum(x != 0, dim=list(dims), keepdim=keepdim) if x.dim() else (x != 0).long()
        if dim is None and name == "prod":
            return torch.prod(x)
        if dim is None:
            dim_or_all = None if name in ARG else tuple(range(x.dim()))
            return getattr(torch, name)(x, dim=dim_or_all, keepdim=keepdim)
        return getattr(torch, name)(x, dim=dim, keepdim=keepdim)

    return function


def both(name, array, dim=None, keepdim=False):
    function = reduce(name, dim, keepdim)
    return function(ocl, ocl.tensor(array)), function(torch, torch.tensor(array))


SHAPES_AND_DIMS = [
    ((7,), None),
    ((7,), 0),
    ((), None),
    ((), 0),
    ((4, 5), 0),
    ((4, 5), 1),
    ((4, 5), -1),
    ((4, 5), (0, 1)),
    ((3, 4, 5), 1),
    ((3, 4, 5), (0, 2)),
    ((3, 4, 5), (-1, 0)),
    ((2, 3, 4, 5), (1, 3)),
    ((2, 3, 4, 5), (0, 2, 3)),
    ((1, 17, 1), (0, 2)),
    ((300, 3), 0),
    ((3, 300), 1),
    ((2, 257, 33), 1),
    ((2, 2, 2, 1, 2, 2, 1, 3), (0, 2, 4, 7)),
]


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES_AND_DIMS, ids=str)
@pytest.mark.parametrize("name", FLOAT_RESULT)
def test_floats(name, shape, dim, keepdim, rng):
    x = rng.uniform(-1, 1, shape).astype(np.float32)
    check_like_torch(
        reduce(name, dim, keepdim), x, unit="sums" if name in ("sum", "mean") else "element", ulps=4
    )


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", FLOAT_RESULT)
def test_float64(name, rng):
    check_like_torch(
        reduce(name, (0, 2)),
        rng.uniform(-1, 1, (5, 6, 70)),
        dtype="float64",
        unit="sums" if name in ("sum", "mean") else "element",
        ulps=8,
    )


@pytest.mark.parametrize(
    ("shape", "dim"), [(s, d) for s, d in SHAPES_AND_DIMS if not isinstance(d, tuple)], ids=str
)
@pytest.mark.parametrize("name", ARG)
def test_arg(name, shape, dim, rng):
    x = rng.integers(-4, 5, shape).astype(np.float32)  # many equal ones: the first counts
    for keepdim in (False, True):
        actual = getattr(ocl, name)(ocl.tensor(x), dim, keepdim)
        expected = getattr(np, name)(x, axis=dim if shape else None, keepdims=keepdim)
        assert actual.dtype == ocl.int64
        np.testing.assert_array_equal(actual.numpy(), expected)


@pytest.mark.parametrize(("shape", "dim"), SHAPES_AND_DIMS, ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_truth(name, shape, dim, rng):
    x = np.where(rng.uniform(size=shape) > 0.3, np.float32(2.5), np.float32(0))
    assert_same(*both(name, x, dim))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
@pytest.mark.parametrize("name", [*ROWS, *ARG])
def test_integers(name, dtype, rng):
    if ROWS.get(name) == "Float":
        with pytest.raises(TypeError, match=f"{name}: expected a floating dtype, got {dtype}"):
            getattr(ocl, name)(ocl.tensor(np.ones(3, dtype)))
        return
    x = rng.integers(0, 2 if dtype == "bool" else 200, (5, 70)).astype(dtype)
    for dim in (None, 0, 1):
        if name in ARG:
            np.testing.assert_array_equal(
                getattr(ocl, name)(ocl.tensor(x), dim).numpy(), getattr(np, name)(x, axis=dim)
            )
        else:
            assert_same(*both(name, x, dim))


def test_integer_extremes_and_sums_do_not_overflow():
    x = np.array([np.iinfo(np.int32).max, np.iinfo(np.int32).min, np.iinfo(np.int32).max], np.int32)
    for name in ("sum", "amax", "amin"):
        assert_same(*both(name, x))
    large = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min, 5])
    for name in ("amax", "amin"):
        assert_same(*both(name, large))


# --- accuracy and sizes


@pytest.mark.parametrize("numel", [1_000_000, 4_194_301, 10_000_019])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_accuracy_of_many_elements(name, numel, rng):
    x = rng.uniform(0, 1, numel).astype(np.float32)
    check_like_torch(reduce(name), x, backward=False)


@pytest.mark.parametrize(
    ("shape", "dim"),
    [((1_000_003, 3), 0), ((3, 1_000_003), 1), ((100, 101, 103), 1), ((100, 101, 103), (0, 2))],
    ids=str,
)
def test_accuracy_along_dims(shape, dim, rng):
    check_like_torch(reduce("sum", dim), rng.uniform(-1, 1, shape).astype(np.float32), unit="sums")


@pytest.mark.parametrize("numel", [1_000_003])
@pytest.mark.parametrize("name", [*ARG, "amax", "amin", "count_nonzero", "any", "all"])
def test_many_elements(name, numel, rng):
    x = rng.standard_normal(numel).astype(np.float32)
    x[numel // 2] = 0
    assert_same(*both(name, x))


def test_sums_repeat_exactly(rng):
    x = ocl.tensor(rng.standard_normal(300_007).astype(np.float32))
    assert len({ocl.sum(x).item() for _ in range(5)}) == 1


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 255, 256, 257, 4095, 4097, 65_537])
@pytest.mark.parametrize("name", ["sum", "amax"])
def test_sizes(name, size, rng):
    x = rng.uniform(-1, 1, (2, size)).astype(np.float32)
    check_like_torch(reduce(name, 1), x, unit="sums" if name == "sum" else "element")
    check_like_torch(reduce(name, 0), x.T.copy().T, unit="sums" if name == "sum" else "element")


# --- layouts

LAYOUTS = {
    "transposed": lambda x: x.transpose(0, 2),
    "permuted": lambda x: x.permute(1, 2, 0),
    "every second": lambda x: x[:, ::2, 1::3],
    "offset": lambda x: x[1:, 2:, 3:],
    "expanded": lambda x: x[:, :1].expand(-1, 6, -1),
    "one column": lambda x: x[..., 2:3],
}


@pytest.mark.oclgrind
@pytest.mark.parametrize("dim", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, dim, rng):
    x = rng.uniform(-1, 1, (4, 6, 9)).astype(np.float32)
    for name in ("sum", "amax"):
        check_like_torch(
            lambda lib, x, name=name: reduce(name, dim)(lib, LAYOUTS[layout](x)),
            x,
            unit="sums" if name == "sum" else "element",
            ulps=4,
        )
    if not isinstance(dim, tuple):
        assert_same(
            ocl.argmax(LAYOUTS[layout](ocl.tensor(x)), dim),
            torch.argmax(LAYOUTS[layout](torch.tensor(x)), dim),
        )


# --- empty reductions, NaN and infinities


@pytest.mark.parametrize(
    ("shape", "dim"),
    [((0,), None), ((0, 3), 0), ((0, 3), 1), ((3, 0), 1), ((2, 0, 3), (0, 1)), ((2, 0, 3), 2)],
    ids=str,
)
@pytest.mark.parametrize("name", ["sum", "mean", "all", "any", "count_nonzero"])
def test_empty(name, shape, dim):
    assert_same(*both(name, np.zeros(shape, np.float32), dim))


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin"])
def test_empty_extremes(name):
    with pytest.raises(IndexError, match=f"{name}: expected reduction dim to have non-zero size"):
        getattr(ocl, name)(ocl.zeros(0))
    with pytest.raises(IndexError, match=f"{name}: expected reduction dim to have non-zero size"):
        getattr(ocl, name)(ocl.zeros(2, 0), 1)
    assert_same(*both(name, np.zeros((0, 3), np.float32), 1))


def test_backward_of_an_empty_sum():
    x = ocl.zeros(0, 3, requires_grad=True)
    x.sum().backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", [*ROWS, *ARG])
def test_edge_values(name, value):
    for shape, dim in [((40,), None), ((3, 40), 1), ((40, 3), 0)]:
        x = np.ones(shape, np.float32)
        x.flat[37] = value
        x.flat[11] = -value
        assert_same(*both(name, x, dim))


def test_extremes_of_infinities():
    x = np.full((2, 20), -np.inf, np.float32)
    for name in ("amax", "argmax", "amin", "argmin"):
        assert_same(*both(name, x, 1))


def test_equal_extremes_share_the_gradient():
    x = np.array([[1, 3, 3], [2, 2, 2]], np.float32)
    for name in ("amax", "amin"):
        check_like_torch(reduce(name, 1), x)


def test_gradient_of_the_norm_of_zero():
    x = ocl.zeros(3, requires_grad=True)
    ocl.norm(x).backward()
    assert x.grad.tolist() == [0, 0, 0]


# --- methods, and errors


def test_methods(rng):
    x = ocl.tensor(rng.uniform(-1, 1, (3, 4)).astype(np.float32))
    for name in [*ROWS, *ARG]:
        assert getattr(x, name)(1, keepdim=True).shape == (3, 1)
        assert getattr(x, name)(dim=-1).shape == (3,)
        assert getattr(x, name)().shape == ()


@pytest.mark.parametrize("name", [*ROWS, *ARG])
def test_dimension_out_of_range(name):
    for dim in (2, -3):
        with pytest.raises(IndexError, match=rf"{name}: dimension out of range.*\[-2, 1\].*{dim}"):
            getattr(ocl, name)(ocl.ones(2, 3), dim)


def test_dimension_twice():
    with pytest.raises(ValueError, match="sum: dim 1 appears more than once"):
        ocl.sum(ocl.ones(2, 3), (1, -1))


def test_logsumexp_of_infinities():
    x = np.full((3, 4), -np.inf, np.float32)
    x[1, 2], x[2, 1] = 5, np.inf
    assert_same(ocl.logsumexp(ocl.tensor(x), 1), torch.logsumexp(torch.tensor(x), 1))


def test_variance_of_numbers_far_from_zero(rng):
    skip_without("float64")  # PyTorch sums such rows in float64; a float32 mean is off by half a unit
    x = (rng.integers(0, 9, (3, 5000)) + 4e6).astype(np.float32)
    check_like_torch(lambda lib, t: lib.var(t, 1), x, unit="largest")


def test_many_elements_of_a_scan(rng):
    skip_without("float64")  # PyTorch multiplies in float64
    x = rng.uniform(-1, 1, (2, 70_001)).astype(np.float32)
    check_like_torch(lambda lib, t: lib.cumsum(t, 1), x, unit="sums")
    check_like_torch(lambda lib, t: lib.cumprod(1 + t / 1000, 1), x)


def test_a_named_result():
    result = ocl.max(ocl.tensor([[1.0, 5.0], [7.0, 2.0]]), 1)
    assert result.values.tolist() == [5, 7] and result.indices.tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_joined_in_float32(dtype, rng):
    ours, theirs = getattr(ocl, dtype), getattr(torch, dtype)
    x = torch.tensor(rng.uniform(0, 1, (3, 3000)).astype(np.float32)).to(theirs)
    exact = x.double()
    t = ocl.tensor(x.float().numpy()).to(ours)
    for function in (
        lambda lib, a: lib.sum(a, 1),
        lambda lib, a: lib.mean(a, 1),
        lambda lib, a: lib.var(a, 1),
        lambda lib, a: lib.logsumexp(a, 1),
        lambda lib, a: lib.norm(a, 2, 1),
        lambda lib, a: lib.cumsum(a, 1),
    ):
        result, truth = function(ocl, t), function(torch, exact)
        assert result.dtype == ours
        eps = torch.finfo(theirs).eps
        np.testing.assert_allclose(result.float().numpy(), truth.numpy(), rtol=0.51 * eps)


def test_float64_sum_keeps_its_precision():
    skip_without("float64")
    x = np.array([1e16, 1.0, -1e16, 1.0])
    assert ocl.sum(ocl.tensor(np.tile([0.1, 0.2], 50_000))).item() == pytest.approx(15_000, rel=1e-14)
    assert ocl.amax(ocl.tensor(x)).item() == 1e16


def test_the_product_of_one_element_has_its_gradient_as_it_is():
    gradient = np.array([[0.3, -7.1, 3e38]], np.float32)
    x = ocl.tensor(np.array([[1e-40, 3e38, 0.0]], np.float32), requires_grad=True)
    x.prod(0).backward(ocl.tensor(gradient[0]))
    np.testing.assert_array_equal(x.grad.numpy(), gradient)
