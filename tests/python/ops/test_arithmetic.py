"""Functions of arithmetic.py, views.py and in_place.py beside PyTorch's."""

import numpy as np
import pytest
import torch
from further_names import compare, fails, floats
from support import assert_same

import ocl

INTEGERS = np.array([[12, 18, 0], [-7, 21, 5]])
SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -0.5, 3.4e38, 1.2e-38, 7e-45, 1 - 2**-24], np.float32
)


@pytest.mark.parametrize("name", ["deg2rad", "rad2deg", "positive", "fix"])
@pytest.mark.parametrize("x", [floats(3, 4) * 90, floats(0), floats(), INTEGERS, np.array([True, False])])
def test_of_one(name, x):
    if name == "fix" and x.dtype == bool:
        return  # trunc, which takes bool, is PyTorch's of numbers alone
    compare(lambda lib, x: getattr(lib, name)(x), x)
    compare(lambda lib, x: getattr(x, name)(), x)


def test_plus_sign():
    compare(lambda lib, x: +x, floats(3))
    fails(lambda lib, x: +x, np.array([True]))


@pytest.mark.parametrize("exponent", [2, 0.5, -1, floats(4), np.array([0, 1, 2, 3])])
@pytest.mark.parametrize("x", [np.abs(floats(3, 4)), np.arange(1, 5)])
def test_float_power(x, exponent):
    if isinstance(exponent, np.ndarray):
        compare(lambda lib, x, e: lib.float_power(x, e), x, exponent)
    else:
        compare(lambda lib, x: lib.float_power(x, exponent), x)
        compare(lambda lib, x: x.float_power(exponent), x)
        compare(lambda lib, x: lib.float_power(abs(exponent), x), x)


@pytest.mark.parametrize("x", [floats(2, 3), floats(2, 3).astype("float16"), INTEGERS])
@pytest.mark.parametrize("other", [np.array([3, -2, 0]), np.array([0.5, 1, -3], np.float32), np.array(4)])
def test_ldexp(x, other):
    """Values of negative exponents alone: PyTorch's gradient takes 2 ** -2 for an integer, 0."""
    compare(lambda lib, x, o: lib.ldexp(x, o), x, other, differentiable=False)
    compare(lambda lib, x, o: x.ldexp(o), x, abs(other))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_frexp(dtype):
    rng = np.random.default_rng(0)
    draw = rng.uniform(-1, 1, 300) * 2.0 ** rng.integers(-20, 15, 300)
    powers = 2.0 ** np.arange(-24.0, 15)
    wide = [] if dtype == "float16" else [SPECIAL, draw * 1e30, draw * 1e-30, 2.0 ** np.arange(-126.0, 128)]
    if dtype == "float64":
        wide += [2.0 ** np.arange(-1022.0, 1024), draw * 1e290, draw * 1e-290]
    x = np.concatenate([draw, powers, *wide]).astype(dtype)
    mantissa, exponent = ocl.frexp(ocl.tensor(x))
    expected = torch.frexp(torch.tensor(x))
    assert_same(mantissa, expected.mantissa)
    assert_same(exponent, expected.exponent)


def test_frexp_has_a_gradient():
    compare(lambda lib, x: lib.frexp(x).mantissa, floats(3, 4))
    assert_same(ocl.frexp(ocl.ones(2).bfloat16()).exponent, torch.frexp(torch.ones(2).bfloat16()).exponent)
    fails(lambda lib, x: lib.frexp(x), INTEGERS)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
def test_divisors(name, dtype):
    x = np.abs(INTEGERS).astype(dtype) if dtype == "uint8" else INTEGERS.astype(dtype)
    for other in (np.array([8, 27, 0], dtype), np.array(6), np.zeros((0, 1, 3), dtype)):
        compare(lambda lib, x, o: getattr(lib, name)(x, o), x, other)
        compare(lambda lib, x, o: getattr(x, name)(o), x, other)
    fails(lambda lib, x: getattr(lib, name)(x, x), floats(3))
    fails(lambda lib, x: getattr(lib, name)(x, x), np.array([True]))
    assert ocl.shapes_only()(lambda: ocl.gcd(ocl.tensor([4]), ocl.tensor([[2], [6]])).shape)() == (2, 1)


def test_nextafter():
    for dtype in ("float32", "float64"):
        other = np.roll(SPECIAL, 3).astype(dtype)
        compare(
            lambda lib, x, o: lib.nextafter(x, o),
            SPECIAL.astype(dtype),
            other,
            rtol=0,
            atol=0,
            differentiable=False,
        )
    compare(lambda lib, x, o: x.nextafter(o), floats(2, 3), floats(3), rtol=0, atol=0, differentiable=False)
    fails(lambda lib, x: lib.nextafter(x, x), INTEGERS)


def test_mvlgamma():
    compare(lambda lib, x: lib.mvlgamma(x, 3), np.abs(floats(3, 4)) + 2)
    compare(lambda lib, x: x.mvlgamma(1), np.abs(floats(3, 4)) + 2)
    fails(lambda lib, x: lib.mvlgamma(x, 0), floats(2))


# --- views.py ---


def test_shapes():
    for shapes in ([(2, 1), (3,)], [(), (0, 1)], [3, (2, 1)], [], [(2,), (3,)], [(1, 0), (5, 1)], [(-1, 2)]):
        compare(lambda lib, s=shapes: tuple(lib.broadcast_shapes(*s)))


@pytest.mark.parametrize("x", [floats(2, 3, 4), floats(3, 4), INTEGERS, floats(0, 2)])
def test_other_shapes(x):
    compare(lambda lib, x: lib.ravel(x), x)
    compare(lambda lib, x: x.mT.ravel(), x)
    compare(lambda lib, x: lib.adjoint(x), x)
    compare(lambda lib, x: lib.narrow_copy(x, -1, 1, 1), x)
    compare(lambda lib, x: lib.split_with_sizes(x, [1, x.shape[-1] - 1], -1), x)
    compare(lambda lib, x: lib.unsafe_chunk(x, 2, -1), x)
    compare(lambda lib, x: lib.unsafe_split(x, 2, -1), x)
    compare(lambda lib, x: lib.constant_pad_nd(x, [1, 2], 3), x)
    compare(lambda lib, x: lib.detach(x), x)


def test_ger():
    compare(lambda lib, x, y: lib.ger(x, y), floats(3), floats(4))
    compare(lambda lib, x, y: x.ger(y), floats(3), floats(4))


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 4), 24, (24,), (0, 3), (-1, 3)])
def test_unravel_index(shape):
    compare(
        lambda lib, x: lib.unravel_index(x, shape),
        np.array([[0, 5, 23], [7, 11, 2]]) * (0 not in np.atleast_1d(shape)),
    )
    fails(lambda lib, x: lib.unravel_index(x, shape), floats(3))


def test_as_strided_scatter():
    """PyTorch's gradient leaves the offset out."""
    x, s = floats(3, 3), floats(2, 2)
    compare(lambda lib, x, s: lib.as_strided_scatter(x, s, (2, 2), (1, 2), 1), x, s, differentiable=False)
    x, s = (ocl.tensor(a.astype("float64"), requires_grad=True) for a in (x, s))
    assert ocl.autograd.gradcheck(lambda x, s: ocl.as_strided_scatter(x, s, (2, 2), (1, 2), 1), (x, s))
    fails(lambda lib, x, s: lib.as_strided_scatter(x, s, (2, 2), (1, 2)), floats(3, 3), floats(2, 3))


@pytest.mark.parametrize("accumulate", [False, True])
def test_put(accumulate):
    index = np.array([[1, -1], [5, 0]])
    compare(lambda lib, x, i, s: lib.put(x, i, s, accumulate), floats(2, 3), index, floats(2, 2))
    compare(lambda lib, x, i, s: x.put(i, s, accumulate), floats(2, 3), index, floats(4))


ROWS, COLUMNS = np.array([0, 2, 2, -1]), np.array([[1], [0]])
PUTS = [
    ((3, 4), [ROWS], [(4,), (4, 4), (), (1, 1)]),
    ((3, 4), [np.array([[0, 1], [1, 2]])], [(2, 2, 4), (4,), ()]),
    ((3, 2, 4), [ROWS, COLUMNS], [(2, 4, 4), (4,), ()]),
    ((3, 4), [np.array([True, False, True])], [(2, 4), (4,), ()]),
    ((3, 4), [floats(3, 4) > 0], [(), (1,)]),
    ((2, 3, 4), [np.array([1, 0]), np.array([[True, False, True, True]] * 3)[:, :] & False], [()]),
    ((3,), [np.zeros(0, np.int64)], [(0,), ()]),
    ((3, 4), [ROWS.astype(np.int32)], [(4,)]),
]


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("case", range(len(PUTS)))
def test_index_put(case, accumulate):
    shape, indices, value_shapes = PUTS[case]
    for value_shape in value_shapes:
        values = floats(*value_shape, seed=5)
        if not accumulate:  # of several values for one entry either may stay
            values = np.full_like(values, 7)
        compare(
            lambda lib, x, v, *i: lib.index_put(x, i, v, accumulate),
            floats(*shape),
            values,
            *indices,
            differentiable=accumulate,
        )
        compare(
            lambda lib, x, v, *i: (x * 1).index_put_(i, v, accumulate),
            floats(*shape),
            values,
            *indices,
            differentiable=accumulate,
        )


def test_index_put_leaves_dimensions_out():
    x, v, rows = floats(2, 3, 4), floats(2, 5, 4), np.array([0, 2, 2, 1, -1])
    got = ocl.index_put(ocl.tensor(x), (None, ocl.tensor(rows)), ocl.tensor(v), True).numpy()
    np.add.at(x, (slice(None), rows), v)
    np.testing.assert_allclose(got, x, rtol=1e-6)


def test_gradients_of_index_put_without_accumulation():
    compare(lambda lib, x, v, i: lib.index_put(x, (i,), v), floats(3, 4), floats(2, 4), np.array([2, 0]))
    x, v = (ocl.tensor(floats(*s).astype("float64"), requires_grad=True) for s in ((3, 4), (2, 4)))
    index = ocl.tensor([2, 2])
    assert ocl.autograd.gradcheck(lambda x, v: ocl.index_put(x, (index,), v * v, True) ** 2, (x, v))


def test_what_index_put_refuses():
    x, v = floats(3, 4), floats(4)
    fails(lambda lib, x, v, i: lib.index_put(x, (i,), v).sum().item(), x, v, ROWS + 9)
    fails(lambda lib, x, v, i: lib.index_put(x, (i,), v, True).sum().item(), x, v, ROWS + 9)
    fails(lambda lib, x, v, i: lib.index_put(x, (i, i, i), v), x, v, ROWS)
    fails(lambda lib, x, v, i: lib.index_put(x, (i,), v), x, v, floats(3))
    fails(lambda lib, x, v, i: lib.index_put(x, (i,), v), x, v, np.array([True, False]))
    fails(lambda lib, x, v, i: lib.index_put(x, (i,), v), x, v.astype("float64"), ROWS)
    fails(lambda lib, x, v, i: lib.index_put(x, (i,), v, True), x, floats(3), ROWS)


# --- in_place.py ---

WRITTEN = {
    "absolute": (), "arcsinh": (), "arctan": (), "deg2rad": (), "fix": (), "rad2deg": (), "tril": (1,),
    "cumsum": (1,), "cumprod": (0,), "arccos": (), "arcsin": (), "arctanh": (), "renorm": (2, 0, 1.0),
    "triu": (), "mvlgamma": (1,),
}  # fmt: skip
WITH_TENSOR = ("addmm", "less", "greater_equal", "not_equal", "true_divide", "arctan2", "ldexp", "nextafter")


@pytest.mark.parametrize("name", WRITTEN)
def test_written_methods(name):
    x = np.abs(floats(3, 3)) / 2.1

    def write(lib, x):
        y = x * 1
        assert getattr(y, name + "_")(*WRITTEN[name]) is y
        return y

    if name not in ("arctanh", "arcsinh"):  # in place PyTorch has no gradient of them
        compare(write, x)
    compare(write, x, differentiable=False)


@pytest.mark.parametrize("name", WITH_TENSOR)
def test_written_methods_of_two(name):
    x, y = np.abs(floats(3, 3)), np.abs(floats(3, 3, seed=1)) + 0.1

    def write(lib, x, y):
        others = (y, y) if name == "addmm" else (y,)
        return getattr(x * 1, name + "_")(*others)

    differentiable = name not in ("nextafter", "less", "greater_equal", "not_equal")
    compare(write, x, y, differentiable=differentiable)


def test_written_methods_of_indices():
    index = np.array([0, 2])
    compare(lambda lib, x, i: (x * 1).index_fill_(0, i, 3.0), floats(3, 2), index)
    compare(
        lambda lib, x, i: (x * 1).index_reduce_(0, i, x[:2] * 2, "prod"),
        floats(3, 2),
        index,
        differentiable=False,
    )
    compare(lambda lib, x, s: (x * 1).masked_scatter_(x > 0, s), floats(3, 2), floats(6))
    compare(lambda lib, x, i: (x * 1).scatter_reduce_(0, i[None], x[:1], "sum"), floats(3, 2), index)
    compare(lambda lib, x, y: x.clone().gcd_(y).lcm_(y + 1), INTEGERS, np.array([2, 4, 6]))


def test_what_cannot_be_written():
    fails(lambda lib, x: x.deg2rad_(), np.array([1, 2]))
    fails(lambda lib, x, y: x.less_(y), floats(3), floats(2, 3))
    fails(lambda lib, x: x.requires_grad_().tril_(), floats(2, 2))


def test_reshaping_methods():
    for call in (
        lambda lib, x: x.unsqueeze_(0),
        lambda lib, x: x.squeeze_(),
        lambda lib, x: x.squeeze_(1),
        lambda lib, x: x.transpose_(0, 1),
        lambda lib, x: x.swapaxes_(0, -1),
        lambda lib, x: x.swapdims_(0, 1),
        lambda lib, x: x.t_(),
        lambda lib, x: x.unsqueeze_(5),
    ):
        compare(call, floats(3, 1), differentiable=False)
    x = ocl.zeros(2, 3)
    y = x[0]
    y.unsqueeze_(0).fill_(4)
    assert x.tolist() == [[4, 4, 4], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="unsqueeze_: a leaf Variable that requires grad"):
        ocl.ones(2, requires_grad=True).unsqueeze_(0)


def test_reshaping_methods_keep_the_history():
    def reshaped(lib, x):
        y = x * 2
        y.unsqueeze_(0)
        y.transpose_(0, 1).mul_(x.detach().sum())
        part = (y * 3)[1]  # a view of another tensor
        part.t_()
        part.add_(y.squeeze()[0])
        z = x.exp()
        row = z[0]
        row.unsqueeze_(0)
        row.mul_(2)  # the whole knows of it
        return y.squeeze_(1) + z, part

    compare(reshaped, floats(3, 2))
    with ocl.no_grad():
        ocl.ones(2, requires_grad=True).unsqueeze_(0)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (7, 3), (2, 5), (3, 3, 3), (0, 0), (3, 3, 2), (4,)])
def test_fill_diagonal(shape, wrap):
    compare(lambda lib, x: (x * 1).fill_diagonal_(2.5, wrap), floats(*shape))


@pytest.mark.parametrize("name", [n for n in ocl.in_place.__all__ if n not in ("index_put_", "addmv_")])
def test_functions_in_place(name):
    arguments = {
        "clamp_": (0.2, 0.5),
        "clamp_max_": (0.5,),
        "clamp_min_": (0.5,),
        "clip_": (0.2, 0.5),
        "fill_": (3,),
        "threshold_": (0.5, 0.1),
    }.get(name, ())
    x = INTEGERS if name in ("gcd_", "lcm_") else np.abs(floats(3, 4)) / 2.1 + (1 if name == "acosh_" else 0)
    x = x + (1 if name == "arccosh_" else 0)
    others = (np.ones_like(x) * 2,) if name in ("gcd_", "lcm_", "ldexp_", "xlogy_") else ()

    def write(lib, x, *others):
        y = x * 1
        assert getattr(lib, name)(y, *arguments, *others) is y
        return y

    compare(write, x, *others, differentiable=False, rtol=1e-4)
