"""Matrix products: mm, bmm, matmul and linear."""

import numpy as np
import pytest
from support import FLOATS, check_like_torch, small

import ocl


def uniform(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


SIZES = [
    (1, 1, 1),
    (2, 3, 4),
    (5, 1, 7),
    (1, 9, 1),
    (1, 64, 3),
    (33, 17, 1),
    (7, 7, 7),
    (16, 16, 16),
    (31, 33, 65),
    (64, 100, 10),
    (129, 257, 63),
    (100, 1000, 12),
]


@pytest.mark.parametrize(("m", "k", "n"), small(SIZES, lambda m, k, n: m * k * n < 10_000))
def test_mm(m, k, n, rng):
    check_like_torch(lambda lib, a, b: lib.mm(a, b), uniform(rng, m, k), uniform(rng, k, n), unit="sums")


TRANSPOSED = {
    "a": lambda lib, a, b: lib.mm(a.t(), b),
    "b": lambda lib, a, b: lib.mm(a, b.t()),
    "both": lambda lib, a, b: lib.mm(a.t(), b.t()),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("which", TRANSPOSED)
def test_transposed_operands(which, dtype, rng):
    a = uniform(rng, *((45, 19) if which in ("a", "both") else (19, 45)))
    b = uniform(rng, *((23, 45) if which in ("b", "both") else (45, 23)))
    check_like_torch(TRANSPOSED[which], a, b, dtype=dtype, unit="sums")


def test_strided_operands(rng):
    check_like_torch(
        lambda lib, a, b: lib.mm(a[::2, 1:], b[:, ::3]),
        uniform(rng, 20, 14),
        uniform(rng, 13, 22),
        unit="sums",
    )
    check_like_torch(
        lambda lib, a, b: lib.mm(a.expand(6, 9), b), uniform(rng, 1, 9), uniform(rng, 9, 5), unit="sums"
    )
    check_like_torch(lambda lib, a: lib.mm(a, a.t()), uniform(rng, 11, 6), unit="sums")


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)])
def test_empty_mm(m, k, n, rng):
    check_like_torch(lambda lib, a, b: lib.mm(a, b), uniform(rng, m, k), uniform(rng, k, n))


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    ("b", "m", "k", "n"), [(1, 3, 4, 5), (7, 5, 1, 6), (3, 33, 18, 47), (0, 2, 3, 4), (4, 2, 0, 3)]
)
def test_bmm(b, m, k, n, rng):
    check_like_torch(
        lambda lib, x, y: lib.bmm(x, y), uniform(rng, b, m, k), uniform(rng, b, k, n), unit="sums"
    )


def test_bmm_of_views(rng):
    check_like_torch(
        lambda lib, x, y: lib.bmm(x.transpose(1, 2), y.transpose(0, 1)),
        uniform(rng, 3, 8, 5),
        uniform(rng, 8, 3, 6),
        unit="sums",
    )
    check_like_torch(
        lambda lib, x, y: lib.bmm(x.expand(4, 5, 6), y),
        uniform(rng, 1, 5, 6),
        uniform(rng, 4, 6, 3),
        unit="sums",
    )


MATMUL_SHAPES = [
    ((5,), (5,)),
    ((5,), (5, 3)),
    ((3, 5), (5,)),
    ((3, 5), (5, 4)),
    ((2, 3, 5), (5,)),
    ((5,), (2, 5, 4)),
    ((2, 3, 5), (5, 4)),
    ((3, 5), (2, 5, 4)),
    ((2, 3, 5), (2, 5, 4)),
    ((1, 3, 5), (2, 5, 4)),
    ((2, 1, 3, 5), (6, 5, 4)),
    ((2, 1, 3, 5), (1, 6, 5, 4)),
    ((2, 3, 4, 5), (5, 1)),
    ((0, 3, 5), (5, 4)),
    ((2, 3, 0), (0, 4)),
    ((1,), (1,)),
]


@pytest.mark.parametrize(("a", "b"), MATMUL_SHAPES, ids=str)
def test_matmul(a, b, rng):
    check_like_torch(lambda lib, x, y: lib.matmul(x, y), uniform(rng, *a), uniform(rng, *b), unit="sums")


def test_matmul_operator_and_methods(rng):
    a, b = uniform(rng, 3, 4), uniform(rng, 4, 5)
    for function in (lambda lib, x, y: x @ y, lambda lib, x, y: x.mm(y), lambda lib, x, y: x.matmul(y)):
        check_like_torch(function, a, b, unit="sums")
    check_like_torch(lambda lib, x, y: x.bmm(y), a[None], b[None], unit="sums")


@pytest.mark.oclgrind
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(4, 10), (10,), (2, 3, 10), (1, 10), (0, 10), (128, 10)], ids=str)
def test_linear(shape, bias, rng):
    arrays = [uniform(rng, *shape), uniform(rng, 7, 10)] + [uniform(rng, 7)] * bias
    check_like_torch(lambda lib, *tensors: lib.nn.functional.linear(*tensors), *arrays, unit="sums")


def test_linear_float64_and_views(rng):
    arrays = uniform(rng, 10, 6), uniform(rng, 10, 7), uniform(rng, 14)
    check_like_torch(
        lambda lib, x, w, b: lib.nn.functional.linear(x.t(), w.t(), b[::2]),
        *arrays,
        dtype="float64",
        unit="sums",
    )


def test_an_input_that_beta_leaves_out_is_not_read(rng):
    nan = ocl.full((2, 4), float("nan"))
    a, b = ocl.tensor(uniform(rng, 2, 3)), ocl.tensor(uniform(rng, 3, 4))
    np.testing.assert_array_equal(ocl.addmm(nan, a, b, beta=0).numpy(), ocl.mm(a, b).numpy())


def test_float32_matmul_precision():
    assert ocl.get_float32_matmul_precision() == "highest"
    for precision in ("high", "medium", "highest"):
        ocl.set_float32_matmul_precision(precision)
        assert ocl.get_float32_matmul_precision() == precision
    with pytest.raises(ValueError, match="'highest', 'high' or 'medium', got 'low'"):
        ocl.set_float32_matmul_precision("low")


def test_only_the_wanted_gradients_are_computed(rng):
    a, b = ocl.tensor(uniform(rng, 2, 3), requires_grad=True), ocl.tensor(uniform(rng, 3, 4))
    ocl.mm(a, b).sum().backward()
    assert a.grad is not None and b.grad is None


def test_infinities_and_nan_travel(rng):
    a, b = uniform(rng, 20, 30), uniform(rng, 30, 25)
    a[3, 7], b[7, 2] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        expected = np.isfinite(a @ b)
    np.testing.assert_array_equal(np.isfinite(ocl.mm(ocl.tensor(a), ocl.tensor(b)).numpy()), expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ocl.mm(ocl.ones(2, 3), ocl.ones(4, 5)), ValueError, r"cannot be multiplied \(2x3 and 4x5\)"),
        (
            lambda: ocl.mm(ocl.ones(2), ocl.ones(2, 2)),
            ValueError,
            r"mm: expected two matrices, got shapes \[2\]",
        ),
        (lambda: ocl.bmm(ocl.ones(2, 3, 4), ocl.ones(3, 4, 5)), ValueError, "bmm: shapes"),
        (lambda: ocl.bmm(ocl.ones(2, 3), ocl.ones(3, 4)), ValueError, "bmm: expected two batches"),
        (lambda: ocl.matmul(ocl.tensor(1.0), ocl.ones(2)), ValueError, "at least 1D"),
        (
            lambda: ocl.matmul(ocl.ones(2, 3, 4), ocl.ones(3, 4, 5)),
            ValueError,
            "matmul: shapes .* do not broadcast",
        ),
        (lambda: ocl.matmul(ocl.ones(2, 3, 4), ocl.ones(5, 4)), ValueError, "matmul: shapes"),
        (
            lambda: ocl.ones(2, 2, dtype=ocl.bool) @ ocl.ones(2, 2, dtype=ocl.bool),
            TypeError,
            "mm: not implemented for bool",
        ),
        (lambda: ocl.ones(2, 2) @ ocl.ones(2, 2).long(), TypeError, "expected both to have the same dtype"),
        (
            lambda: ocl.linear(ocl.ones(2, 3), ocl.ones(4, 5)),
            ValueError,
            "linear: .*expected 5 input features",
        ),
        (
            lambda: ocl.linear(ocl.ones(2, 3), ocl.ones(3)),
            ValueError,
            r"expected a weight of shape \[out, in\]",
        ),
        (
            lambda: ocl.linear(ocl.ones(2, 3), ocl.ones(4, 3), ocl.ones(3)),
            ValueError,
            r"expected a bias of shape \[4\]",
        ),
        (
            lambda: ocl.linear(ocl.ones(2, 3), ocl.ones(4, 3), ocl.ones(4).int()),
            TypeError,
            "expected bias of dtype float32, got int32",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("dtype", "factors"),
    [
        ("int64", (2**53 + 1, 1)),
        ("int64", (1, 2**63 - 1)),
        ("int64", (-(2**63), 2**62 + 3)),
        ("int32", (2**31 - 1, -(2**31))),
        ("uint8", (255, 254)),
    ],
)
def test_integer_factors_at_the_ends_of_their_dtype(dtype, factors):
    alpha, beta = factors
    rng = np.random.default_rng(3)
    c, a, b = (rng.integers(0, 9, shape) for shape in ((2, 1, 5), (2, 3, 4), (2, 4, 5)))
    expected = beta * c.astype(object) + alpha * np.matmul(a.astype(object), b.astype(object))
    expected = (expected % 2**64).astype(np.uint64).astype(dtype)
    c, a, b = (ocl.tensor(array.astype(dtype)) for array in (c, a, b))
    assert ocl.baddbmm(c, a, b, beta=2.0, alpha=3.0).equal(ocl.baddbmm(c, a, b, beta=2, alpha=3))
    np.testing.assert_array_equal(ocl.baddbmm(c, a, b, beta=beta, alpha=alpha).numpy(), expected)
    single = ocl.addmm(c[0], a[0], b[0], beta=beta, alpha=alpha)
    np.testing.assert_array_equal(single.numpy(), expected[0])


@pytest.mark.parametrize("name", ["add", "sub", "addmm", "baddbmm"])
@pytest.mark.parametrize(
    ("dtype", "factor"), [("int32", 2**53 + 1), ("int32", -(2**31) - 1), ("uint8", 256), ("int64", 0.5)]
)
def test_factors_that_the_dtype_does_not_hold(name, dtype, factor):
    square = np.ones((1, 2, 2) if name == "baddbmm" else (2, 2), dtype)
    operands = [square] * (2 if name in ("add", "sub") else 3)
    error = TypeError if factor == 0.5 and "mm" in name else ValueError
    with pytest.raises(error, match=f"{name}: .*(without overflow|must be integers|not be a floating)"):
        getattr(ocl, name)(*map(ocl.tensor, operands), alpha=factor)
