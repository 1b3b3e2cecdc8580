"""ocl.linalg at its edges: errors, singular and ill-conditioned matrices, NaN, old names, no elements."""

import math

import numpy as np
import pytest
import torch
from linalg_table import CASES, regular
from support import expect_near

import ocl
from ocl import linalg


def both(array, dtype="float64"):
    array = np.asarray(array, dtype)
    return ocl.tensor(array), torch.from_numpy(array.copy())


MATRIX, SINGULAR = ocl.ones(2, 2), ocl.zeros(2, 2)
WRONG_SHAPES = [
    lambda lib, o: lib.linalg.inv(o(2, 3)),
    lambda lib, o: lib.linalg.inv(o(2)),
    lambda lib, o: lib.linalg.cholesky(o(2, 3)),
    lambda lib, o: lib.linalg.det(o(2, 3)),
    lambda lib, o: lib.linalg.slogdet(o(3)),
    lambda lib, o: lib.logdet(o(2, 3)),
    lambda lib, o: lib.linalg.eigh(o(2, 3)),
    lambda lib, o: lib.linalg.eigvalsh(o(2, 3)),
    lambda lib, o: lib.linalg.svd(o(2)),
    lambda lib, o: lib.linalg.qr(o(2)),
    lambda lib, o: lib.linalg.lu(o(2)),
    lambda lib, o: lib.linalg.lu_factor(o(2)),
    lambda lib, o: lib.linalg.solve(o(2, 2), o(3, 1)),
    lambda lib, o: lib.linalg.solve(o(2, 2), o(3)),
    lambda lib, o: lib.linalg.solve(o(2, 2), o(2), left=False),
    lambda lib, o: lib.linalg.solve(o(3, 2, 2), o(4, 2, 1)),
    lambda lib, o: lib.linalg.solve_triangular(o(2, 2), o(3, 1), upper=True),
    lambda lib, o: lib.linalg.solve_triangular(o(2, 2), o(2), upper=True),
    lambda lib, o: lib.linalg.lu_solve(o(2, 2), o(3).int(), o(2, 1)),
    lambda lib, o: lib.linalg.lstsq(o(2, 2), o(3, 1)),
    lambda lib, o: lib.linalg.lstsq(o(2, 2), o(2, 1), driver="x"),
    lambda lib, o: lib.linalg.pinv(o(2)),
    lambda lib, o: lib.linalg.pinv(o(2, 3), hermitian=True),
    lambda lib, o: lib.linalg.matrix_rank(o(2)),
    lambda lib, o: lib.linalg.cond(o(2, 3), 1),
    lambda lib, o: lib.linalg.cond(o(2, 2), "x"),
    lambda lib, o: lib.linalg.matrix_exp(o(2, 3)),
    lambda lib, o: lib.linalg.matrix_power(o(2, 3), 2),
    lambda lib, o: lib.linalg.matrix_norm(o(2)),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2), 3),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2), "x"),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2), dim=(0, 0)),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2), dim=(0,)),
    lambda lib, o: lib.linalg.norm(o(2, 2, 2), "nuc"),
    lambda lib, o: lib.linalg.norm(o(2, 2, 2), 2, dim=(0, 1, 2)),
    lambda lib, o: lib.linalg.norm(o(2, 3), "fro", dim=1),
    lambda lib, o: lib.linalg.multi_dot([o(2)]),
    lambda lib, o: lib.linalg.multi_dot([o(2), o(2), o(2)]),
    lambda lib, o: lib.linalg.multi_dot([o(2, 2), o(3, 2)]),
    lambda lib, o: lib.linalg.tensorinv(o(2, 3), ind=1),
    lambda lib, o: lib.linalg.tensorinv(o(2, 3), ind=0),
    lambda lib, o: lib.linalg.tensorsolve(o(2, 3), o(2)),
    lambda lib, o: lib.linalg.vander(o(3), N=1),
    lambda lib, o: lib.vander(o(2, 2)),
    lambda lib, o: lib.linalg.cross(o(2), o(2)),
    lambda lib, o: lib.linalg.cross(o(3), o(2, 3)),
    lambda lib, o: lib.linalg.householder_product(o(2, 3), o(2)),
    lambda lib, o: lib.linalg.householder_product(o(3, 2), o(3)),
    lambda lib, o: lib.linalg.householder_product(o(2, 3, 2), o(2)),
    lambda lib, o: lib.linalg.qr(o(2, 2), "x"),
    lambda lib, o: lib.linalg.eigh(o(2, 2), "x"),
    lambda lib, o: lib.linalg.lu(o(2, 2), pivot=False),
    lambda lib, o: lib.linalg.svd(o(2, 2), driver="gesvd"),
    lambda lib, o: lib.cholesky_solve(o(3, 1), o(2, 2)),
    lambda lib, o: lib.triangular_solve(o(3, 1), o(2, 2)),
]
WRONG_INDICES = [
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2), dim=(0, 2)),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 0), -2),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 0), -1),
    lambda lib, o: lib.linalg.diagonal(o(2)),
]
WRONG_DTYPES = [
    lambda lib, o: lib.linalg.inv(o(2, 2).long()),
    lambda lib, o: lib.linalg.inv(o(2, 2).half()),
    lambda lib, o: lib.linalg.svd(o(2, 2).bfloat16()),
    lambda lib, o: lib.linalg.cholesky(o(2, 2).int()),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2).long()),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2).half(), 2),
    lambda lib, o: lib.linalg.matrix_norm(o(2, 2).double(), 1, dtype=lib.float32),
    lambda lib, o: lib.linalg.matrix_exp(o(2, 2).long()),
    lambda lib, o: lib.linalg.solve(o(2, 2), o(2).double()),
    lambda lib, o: lib.linalg.lstsq(o(2, 2), o(2, 2).double()),
    lambda lib, o: lib.linalg.lu_solve(o(2, 2), o(2).long(), o(2, 1)),
    lambda lib, o: lib.linalg.householder_product(o(2, 2), o(2).double()),
    lambda lib, o: lib.lu_unpack(o(2, 2), o(2).long()),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("calls", "error"),
    [(WRONG_SHAPES, ValueError), (WRONG_INDICES, IndexError), (WRONG_DTYPES, TypeError)],
    ids=["shapes", "indices", "dtypes"],
)
def test_arguments_that_pytorch_refuses(calls, error):
    for i, call in enumerate(calls):
        with pytest.raises((RuntimeError, IndexError)):
            call(torch, torch.ones)
        with pytest.raises(error) as refusal:
            call(ocl, ocl.ones)
        assert isinstance(refusal.value, RuntimeError), f"call {i}"


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, z: lib.linalg.inv(z),
        lambda lib, z: lib.linalg.inv(z.expand(3, 2, 2)),
        lambda lib, z: lib.linalg.inv_ex(z, check_errors=True),
        lambda lib, z: lib.linalg.solve(z, z),
        lambda lib, z: lib.linalg.solve_ex(z, z, check_errors=True),
        lambda lib, z: lib.linalg.cholesky(z),
        lambda lib, z: lib.linalg.cholesky_ex(z.expand(1, 2, 2), check_errors=True),
        lambda lib, z: lib.linalg.lu_factor(z),
        lambda lib, z: lib.linalg.svd(z + math.nan),
        lambda lib, z: lib.linalg.matrix_power(z, -2),
    ],
)
def test_linalg_error_has_pytorchs_words(call):
    with pytest.raises(RuntimeError) as theirs:
        call(torch, torch.zeros(2, 2))
    with pytest.raises(linalg.LinAlgError) as ours:
        call(ocl, ocl.zeros(2, 2))
    assert str(ours.value) == str(theirs.value)
    assert issubclass(linalg.LinAlgError, RuntimeError)


def test_info_names_the_failing_minor_and_pivot():
    array = np.stack([np.eye(4)] * 3)
    array[1, 2, 2] = -1
    ours, theirs = both(array)
    assert (
        linalg.cholesky_ex(ours).info.tolist() == torch.linalg.cholesky_ex(theirs).info.tolist() == [0, 3, 0]
    )
    np.testing.assert_array_equal(linalg.cholesky_ex(ours).L[::2].numpy(), array[::2])
    with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\).*minor of order 3"):
        linalg.cholesky(ours)
    array[1, 2, 2] = 0
    ours, theirs = both(array)
    for name in ("inv_ex", "lu_factor_ex"):
        expected = getattr(torch.linalg, name)(theirs).info
        info = getattr(linalg, name)(ours).info
        assert (info.dtype, info.tolist()) == (ocl.int32, expected.tolist())
    assert linalg.solve_ex(ours, ours).info.tolist() == [0, 3, 0]
    np.testing.assert_array_equal(linalg.inv_ex(ours).inverse[::2].numpy(), array[::2])
    assert linalg.inv_ex(ours).inverse[1].isnan().all()


def test_only_one_triangle_is_read():
    array = np.array([[4.0, math.nan], [1.0, 3.0]])
    ours, theirs = both(array)
    for call in (
        lambda lib, a: lib.linalg.cholesky(a),
        lambda lib, a: lib.linalg.cholesky(a.mT, upper=True),
        lambda lib, a: lib.linalg.eigvalsh(a),
        lambda lib, a: lib.linalg.eigvalsh(a.mT, UPLO="u"),
        lambda lib, a: lib.linalg.solve_triangular(a, lib.ones(2, 1, dtype=lib.float64), upper=False),
        lambda lib, a: lib.linalg.pinv(a, hermitian=True),
    ):
        np.testing.assert_allclose(call(ocl, ours).numpy(), call(torch, theirs).numpy(), rtol=1e-12)


def test_zeros_on_a_triangular_diagonal_are_no_error():
    ours, theirs = both([[0.0, 1.0], [0.0, 2.0]])
    for upper in (True, False):
        expected = torch.linalg.solve_triangular(theirs, torch.ones(2, 1).double(), upper=upper)
        found = linalg.solve_triangular(ours, ocl.ones(2, 1).double(), upper=upper)
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.filterwarnings("error")
def test_overflow_does_not_warn():
    large = ocl.eye(4) * 1e30
    assert linalg.det(large).item() == math.inf
    assert linalg.inv(linalg.inv(large) * 1e-10).isinf().any()
    assert linalg.solve_triangular(ocl.eye(2) * 1e-30, large[:2], upper=True).isinf().any()


def test_eigenvalues_of_nan():
    array = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    for call in (linalg.eigvalsh, lambda a: linalg.eigh(a).eigenvalues):
        values = call(ocl.tensor(array)).numpy()
        np.testing.assert_array_equal(values, [[1, 1], [np.nan, np.nan]])


@pytest.mark.parametrize(
    "call",
    [
        lambda: linalg.inv(np.eye(2)),
        lambda: linalg.solve(MATRIX, np.eye(2)),
        lambda: linalg.solve(np.eye(2), MATRIX),
        lambda: linalg.lstsq(MATRIX, [1.0, 2.0]),
        lambda: linalg.solve_triangular(MATRIX, np.eye(2), upper=True),
    ],
)
def test_only_tensors_are_taken(call):
    with pytest.raises(TypeError, match="expected a Tensor for (A|B|other), got"):
        call()


def test_powers_are_whole_numbers():
    with pytest.raises(TypeError):
        linalg.matrix_power(MATRIX, 2.5)
    whole = ocl.tensor([[1, 2], [3, 4]])
    for n in (0, 1, 4):
        expected = torch.linalg.matrix_power(torch.tensor(whole.tolist()), n)
        assert linalg.matrix_power(whole, n).tolist() == expected.tolist()
    assert linalg.vander(whole[0]).dtype == ocl.int64


def test_two_dtypes_in_a_triangular_system():
    with pytest.raises(TypeError, match="Expected A and B to have the same dtype"):
        linalg.solve_triangular(MATRIX, MATRIX.double(), upper=True)


def test_derivatives_that_pytorch_lacks():
    a = ocl.rand(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="mode='r'"):
        linalg.qr(a, "r").R.sum().backward()
    with pytest.raises(RuntimeError, match="mode='complete' and nrows > ncols"):
        linalg.qr(a, "complete").R.sum().backward()
    assert linalg.qr(a, "r").Q.shape == (0,)
    np.testing.assert_allclose(
        linalg.qr(a.detach(), "r").R.numpy(), linalg.qr(a.detach()).R.numpy(), rtol=1e-6
    )


SINGULAR_DETERMINANTS = {
    "rank n - 1": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, 0.0, 0.0]],
    "rank n - 2": [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    "nothing": np.zeros((3, 3)),
    "one": [[0.0]],
}


@pytest.mark.parametrize("which", SINGULAR_DETERMINANTS)
def test_gradient_of_a_determinant_that_is_zero(which):
    array = np.array(SINGULAR_DETERMINANTS[which])
    batch = ocl.tensor(np.stack([array, np.eye(len(array)) * 2])).requires_grad_()
    linalg.det(batch).sum().backward()
    n = len(array)
    cofactors = [
        [
            (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(array, i, 0), j, 1)) if n > 1 else 1
            for j in range(n)
        ]
        for i in range(n)
    ]
    np.testing.assert_allclose(batch.grad[0].numpy(), cofactors, atol=1e-13)
    np.testing.assert_allclose(batch.grad[1].numpy(), np.eye(n) * 2 ** (n - 1), atol=1e-13)


def test_second_gradient_of_a_determinant_that_is_zero():
    array = np.array(SINGULAR_DETERMINANTS["rank n - 1"])
    assert ocl.autograd.gradgradcheck(linalg.det, ocl.tensor(array, requires_grad=True), fast_mode=True)


def test_logarithm_of_determinants():
    ours, theirs = both([[[1.0, 2.0], [3.0, 4.0]], [[2.0, 0.0], [0.0, 3.0]], [[0.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_allclose(ocl.logdet(ours).numpy(), torch.logdet(theirs).numpy(), rtol=1e-12)
    for mine, expected in zip(linalg.slogdet(ours), torch.linalg.slogdet(theirs), strict=True):
        np.testing.assert_allclose(mine.numpy(), expected.numpy(), rtol=1e-12)


def hilbert(n):
    return 1 / (np.arange(1, n + 1)[:, None] + np.arange(n))


ILL_CONDITIONED = {
    "inv": lambda lib, a: lib.linalg.inv(a),
    "solve": lambda lib, a: lib.linalg.solve(a, lib.ones_like(a[:, :1])),
    "lu_solve": lambda lib, a: lib.linalg.lu_solve(*lib.linalg.lu_factor(a), lib.ones_like(a[:, :1])),
    "cholesky": lambda lib, a: lib.linalg.cholesky(a),
    "svdvals": lambda lib, a: lib.linalg.svdvals(a),
    "eigvalsh": lambda lib, a: lib.linalg.eigvalsh(a),
    "lstsq": lambda lib, a: lib.linalg.lstsq(a[:, :4], a[:, 4:])[0],
    "pinv": lambda lib, a: lib.linalg.pinv(a[:, :4]),
    "det": lambda lib, a: lib.linalg.det(a),
    "slogdet": lambda lib, a: lib.linalg.slogdet(a)[1],
    "qr": lambda lib, a: lib.linalg.qr(a)[1].abs(),
}


@pytest.mark.parametrize("name", ILL_CONDITIONED)
def test_ill_conditioned_in_float32(name):
    function = ILL_CONDITIONED[name]
    array = hilbert(5).astype(np.float32)
    ours, single = both(array, "float32")
    truth = function(torch, single.double())
    expect_near(function(ocl, ours), truth, function(torch, single), units=64)


def test_exponentials_over_many_norms():
    rng = np.random.default_rng(4)
    array = np.stack([rng.standard_normal((6, 6)) * 10.0**i for i in range(-6, 2)]).astype(np.float32)
    for dtype in ("float32", "float64"):
        ours, theirs = both(array, dtype)
        truth = torch.matrix_exp(theirs.double())
        found, near = ocl.matrix_exp(ours), torch.matrix_exp(theirs)
        for i in range(len(array)):
            expect_near(found[i], truth[i], near[i], f"{dtype} {i}", units=1000 if dtype == "float64" else 32)
    assert ocl.matrix_exp(ocl.full((2, 2), math.nan)).isnan().all()
    assert ocl.matrix_exp(ocl.full((2, 2), math.inf)).isnan().all()


def test_larger_factors():
    """Halving of columns and rows, which small matrices do not reach."""
    array = np.random.default_rng(2).standard_normal((2, 150, 130))
    for given in (array, array.swapaxes(1, 2)):
        ours, theirs = both(given)
        packed, pivots = linalg.lu_factor(ours)
        expected, rows = torch.linalg.lu_factor(theirs)
        assert pivots.tolist() == rows.tolist()
        np.testing.assert_allclose(packed.numpy(), expected.numpy(), atol=1e-11)
        swaps, lower, upper = linalg.lu(ours)
        np.testing.assert_allclose((swaps @ lower @ upper).numpy(), given, atol=1e-12)


def test_lu_with_zero_pivots():
    array = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 0.0, 5.0]])
    ours, theirs = both(array)
    for mine, expected in zip(linalg.lu_factor_ex(ours), torch.linalg.lu_factor_ex(theirs), strict=True):
        np.testing.assert_allclose(mine.numpy(), expected.numpy(), atol=1e-15)


@pytest.mark.parametrize(
    "tolerances",
    [
        {},
        {"atol": 0.5},
        {"atol": 1e-30},
        {"atol": 0.0},
        {"rtol": 0.3},
        {"atol": 0.2, "rtol": 0.3},
        {"atol": [0.2, 3.0]},
        {"rtol": [[0.1], [0.5]]},
        {"hermitian": True, "rtol": 0.3},
    ],
)
def test_tolerances(tolerances):
    array = np.array([np.diag([4.0, 1.0, -0.3]), np.diag([2.0, 0.25, 1e-20])])
    ours, theirs = both(array)
    if "rtol" in tolerances and isinstance(tolerances["rtol"], list):
        ours, theirs = ours.expand(2, 2, 3, 3), theirs.expand(2, 2, 3, 3)
    mine, others = (
        {k: lib.tensor(v, dtype=lib.float64) if isinstance(v, list) else v for k, v in tolerances.items()}
        for lib in (ocl, torch)
    )
    np.testing.assert_allclose(
        linalg.pinv(ours, **mine).numpy(), torch.linalg.pinv(theirs, **others).numpy(), atol=1e-14
    )
    ranks, expected = linalg.matrix_rank(ours, **mine), torch.linalg.matrix_rank(theirs, **others)
    assert (ranks.dtype, ranks.tolist()) == (ocl.int64, expected.tolist())
    assert linalg.matrix_rank(ours, 0.5).tolist() == torch.linalg.matrix_rank(theirs, 0.5).tolist()
    rcond = linalg.pinv(ours, 0.3).numpy()
    np.testing.assert_allclose(rcond, torch.linalg.pinv(theirs, 0.3).numpy(), atol=1e-14)


def test_conditions_of_singular_matrices():
    array = np.array([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]]])
    ours, theirs = both(array)
    for p in ("fro", "nuc", 1, -1, math.inf, -math.inf, -2):
        found, expected = linalg.cond(ours, p).numpy(), torch.linalg.cond(theirs, p).numpy()
        # MKL rounds a singular matrix in another way on another processor.
        expected = np.where(expected > 1 / np.finfo(np.float64).eps, math.inf, expected)
        np.testing.assert_allclose(found, expected, atol=1e-15, err_msg=str(p))
    assert math.isnan(linalg.cond(SINGULAR).item())


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 3)], ids=str)
def test_results_of_least_squares(driver, shape):
    rng = np.random.default_rng(1)
    a, b = both(regular(rng, *shape)), both(rng.standard_normal((*shape[:-1], 2)))
    for right in (lambda t: t, lambda t: t[..., 0]):
        ours = linalg.lstsq(a[0], right(b[0]), driver=driver)
        theirs = torch.linalg.lstsq(a[1], right(b[1]), driver=driver)
        assert ours._fields == ("solution", "residuals", "rank", "singular_values")
        for mine, expected in zip(ours, theirs, strict=True):
            assert str(mine.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
            np.testing.assert_allclose(mine.numpy(), expected.numpy(), atol=1e-12)


def test_least_squares_of_low_rank():
    rng = np.random.default_rng(1)
    array = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 4))
    (a, c), (b, d) = both(array), both(rng.standard_normal((5, 1)))
    ours, theirs = linalg.lstsq(a, b, driver="gelsd"), torch.linalg.lstsq(c, d, driver="gelsd")
    np.testing.assert_allclose(ours.solution.numpy(), theirs.solution.numpy(), atol=1e-12)
    assert ours.rank.item() == theirs.rank.item() == 2 and ours.residuals.shape == (0,)
    cut = linalg.lstsq(a, b, rcond=0.99).rank.item()
    assert cut == torch.linalg.lstsq(c, d, rcond=0.99, driver="gelsd").rank.item() == 1


OLD_NAMES = {
    "inverse": lambda a, b: a.inverse(),
    "det": lambda a, b: a.det(),
    "slogdet": lambda a, b: a.slogdet(),
    "logdet": lambda a, b: a.logdet(),
    "cholesky": lambda a, b: (a @ a.mT).cholesky(),
    "cholesky upper": lambda a, b: (a @ a.mT).cholesky(upper=True),
    "cholesky_inverse": lambda a, b: a.tril().cholesky_inverse(),
    "cholesky_solve": lambda a, b: b.cholesky_solve(a.tril()),
    "triangular_solve": lambda a, b: b.triangular_solve(a),
    "triangular_solve transpose": lambda a, b: b.triangular_solve(a, transpose=True),
    "triangular_solve lower": lambda a, b: b.triangular_solve(a, False, True, True),
    "qr": lambda a, b: [t.abs() for t in b.qr()],
    "qr full": lambda a, b: b.qr(some=False)[1].abs(),
    "svd": lambda a, b: [t.abs() for t in b.svd()],
    "svd full": lambda a, b: [b.svd(some=False)[1], b.svd(some=False)[2].abs()],
    "svd values": lambda a, b: b.svd(compute_uv=False),
    "pinverse": lambda a, b: b.pinverse(),
    "matrix_exp": lambda a, b: a.matrix_exp(),
    "matrix_power": lambda a, b: a.matrix_power(3),
    "lu": lambda a, b: a.lu(),
    "lu infos": lambda a, b: a.lu(get_infos=True),
    "lu_solve": lambda a, b: b.lu_solve(*a.lu()),
    "orgqr": lambda a, b: b.orgqr(b[0, :1]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OLD_NAMES)
def test_methods_of_tensors(name):
    rng = np.random.default_rng(8)
    a = regular(rng, 4, 4)
    a *= np.sign(np.linalg.det(a))
    (ours, theirs), (right, their_right) = both(a), both(rng.standard_normal((4, 2)))
    found, expected = OLD_NAMES[name](ours, right), OLD_NAMES[name](theirs, their_right)
    if isinstance(found, ocl.Tensor):
        found, expected = [found], [expected]
    elif hasattr(found, "_fields"):
        assert all(hasattr(expected, field) for field in found._fields) or name.startswith("lu")
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), atol=1e-12)


def test_other_old_names():
    (a, c), (b, d) = both(np.arange(6.0).reshape(2, 3)), both([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(
        ocl.chain_matmul(a, a.mT, a).numpy(), torch.linalg.multi_dot([c, c.mT, c]).numpy()
    )
    assert ocl.chain_matmul(a) is a
    for arguments in ({}, {"N": 2}, {"N": 5}, {"increasing": True}, {"N": 1}, {"N": 0}):
        np.testing.assert_array_equal(
            ocl.vander(b, **arguments).numpy(), torch.vander(d, **arguments).numpy()
        )
    packed, pivots = ocl.lu(ocl.tensor(np.eye(2)))
    assert [t.shape for t in ocl.lu_unpack(packed, pivots, unpack_data=False)] == [(2, 2), (0,), (0,)]
    assert [t.shape for t in ocl.lu_unpack(packed, pivots, unpack_pivots=False)] == [(0,), (2, 2), (2, 2)]


def test_names_are_pytorchs():
    left_out = {"common_notes", "ldl_factor", "ldl_factor_ex", "ldl_solve"}
    theirs = {name for name in dir(torch.linalg) if not name.startswith("_")} - left_out
    assert set(linalg.__all__) == theirs


@pytest.mark.parametrize("name", [n for i, n in enumerate(CASES) if i % 3 == 0 and "lstsq-gels" not in n])
def test_shapes_without_elements(name):
    arrays = CASES[name].draw(np.random.default_rng(1))

    def facts():
        leaves = [ocl.tensor(a).requires_grad_() for a in arrays]
        results = CASES[name].function(ocl, *leaves)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        roots = [r.sum() for r in results if r.requires_grad]
        gradients = ocl.autograd.grad(sum(roots), leaves, allow_unused=True) if roots else []
        return [(t.shape, t.dtype, t.device) for t in (*results, *gradients) if t is not None]

    expected = facts()
    with ocl.shapes_only():
        assert facts() == expected


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_under_autocast(where):
    """float32 from 16-bit and float32 matrices, and gradients without 16-bit products."""
    rng = np.random.default_rng(6)
    array = regular(rng, 4, 4).astype(np.float32)

    def loss(a):
        named = (linalg.inv, linalg.matrix_exp, linalg.pinv, linalg.det, lambda x: linalg.lstsq(x, x)[0])
        results = [function(a) for function in named]
        assert {r.dtype for r in results} == {ocl.float32}
        return sum(r.sum() for r in results)

    expected = ocl.tensor(array, requires_grad=True)
    loss(expected).backward()
    found = ocl.tensor(array, requires_grad=True)
    with ocl.autocast("ocl", dtype=ocl.bfloat16):
        total = loss(found)
        if where == "inside":
            total.backward()
    if where == "outside":
        total.backward()
    np.testing.assert_allclose(found.grad.numpy(), expected.grad.numpy(), rtol=1e-6)
    rounded = found.detach().bfloat16().requires_grad_()
    with ocl.autocast("ocl", dtype=ocl.bfloat16):
        loss(rounded).backward()
    assert rounded.grad.dtype == ocl.bfloat16
    with pytest.raises(TypeError, match="Low precision"):
        linalg.inv(rounded)


def test_results_are_where_the_matrices_are():
    a = ocl.rand(3, 3)
    assert {t.device for t in linalg.svd(a)} == {a.device}
    assert not linalg.inv(a + 3 * ocl.eye(3)).requires_grad
    with ocl.no_grad():
        assert not linalg.svdvals(a.requires_grad_()).requires_grad


def test_gradients_by_differences():
    a = ocl.tensor(regular(np.random.default_rng(3), 3, 3), requires_grad=True)
    for function in (linalg.inv, linalg.det, linalg.matrix_exp, lambda x: linalg.qr(x).R):
        assert ocl.autograd.gradcheck(function, a)
        assert ocl.autograd.gradgradcheck(function, a, fast_mode=True)
