"""ocl.linalg of complex matrices beside torch.linalg: results, gradients of any order, errors."""

import numpy as np
import pytest
import torch
from linalg_table import regular as real_regular
from linalg_table import spread

import ocl

SIZES = ((2, 2), (2, 3, 3), (2, 0, 0), (1, 1), (17, 17))
SHAPES = ((3, 5), (2, 5, 3), (4, 4), (0, 2, 3), (2, 0, 3), (20, 7))


def general(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def regular(rng, *shape):
    """Singular values between 1 and 3, no two of them near each other."""
    u, s, vh = np.linalg.svd(general(rng, *shape), full_matrices=False)
    return (u * spread(s.shape)) @ vh


def near_diagonal(rng, *shape):
    """Eigenvalues that are far from each other."""
    return 0.3 * general(rng, *shape) / max(shape[-1], 1) + np.eye(shape[-1]) * np.arange(1, shape[-1] + 1)


def hermitian(rng, *shape):
    """The root of a positive-definite matrix; its functions make that matrix of it."""
    return regular(rng, *shape)


def positive(a):
    return a @ a.mH


def phases(lib, vectors, dim):
    """The phase of the largest element along ``dim``, which a loss may not depend on."""
    if not vectors.numel():
        return 1
    place = vectors.detach().abs().argmax(dim, keepdim=True)
    return lib.sgn(vectors.gather(dim, place)).conj()


def of_eig(lib, a):
    """The values in a fixed order, and the vectors with the largest element real."""
    values, vectors = lib.linalg.eig(a)
    order = values.detach().real.argsort(-1)
    vectors = (vectors * phases(lib, vectors, -2)).gather(-1, order.unsqueeze(-2).expand(vectors.shape))
    return values.gather(-1, order), vectors.abs().square(), vectors / (vectors.abs() + 1)


def of_eigh(lib, a):
    values, vectors = lib.linalg.eigh(positive(a))
    return values, vectors.abs().square(), (vectors * values.sin().unsqueeze(-2)) @ vectors.mH


def of_svd(lib, a, full=False):
    u, s, vh = lib.linalg.svd(a, full)
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    return s, u.abs().square(), vh.abs().square(), (u * s.sin().unsqueeze(-2)) @ vh


def sorted_eigvals(lib, a):
    values = lib.linalg.eigvals(a)
    return values.gather(-1, values.detach().real.argsort(-1))


def squares(kind, function, *others):
    return kind, function, SIZES, others


def rectangles(kind, function, *others, shapes=SHAPES):
    return kind, function, shapes, others


def of_lstsq(lib, a, b, driver):
    return list(lib.linalg.lstsq(a, b, driver=driver))[:2]


CASES = {
    "inv": squares(regular, lambda lib, a: lib.linalg.inv(a)),
    "solve": squares(regular, lambda lib, a, b: lib.linalg.solve(a, b), 3),
    "solve of vectors": squares(regular, lambda lib, a, b: lib.linalg.solve(a, b), 0),
    "solve right": squares(regular, lambda lib, a, b: lib.linalg.solve(a, b.mT, left=False), 2),
    "solve_ex": squares(regular, lambda lib, a, b: lib.linalg.solve_ex(a, b)[0], 1),
    "det": squares(regular, lambda lib, a: lib.linalg.det(a)),
    "slogdet": squares(regular, lambda lib, a: lib.linalg.slogdet(a)),
    "logdet": squares(regular, lambda lib, a: lib.logdet(a)),
    "cholesky": squares(hermitian, lambda lib, a: lib.linalg.cholesky(positive(a))),
    "cholesky upper": squares(hermitian, lambda lib, a: lib.linalg.cholesky(positive(a), upper=True)),
    "cholesky_solve": squares(
        hermitian, lambda lib, a, b: lib.cholesky_solve(b, lib.linalg.cholesky(positive(a))), 2
    ),
    "cholesky_solve upper": squares(
        hermitian, lambda lib, a, b: lib.cholesky_solve(b, lib.linalg.cholesky(positive(a)).mH, True), 2
    ),
    "cholesky_inverse": squares(
        hermitian, lambda lib, a: lib.cholesky_inverse(lib.linalg.cholesky(positive(a)))
    ),
    "lu_factor": squares(regular, lambda lib, a: lib.linalg.lu_factor(a)),
    "lu": rectangles(regular, lambda lib, a: lib.linalg.lu(a)[1:]),
    "lu_solve": squares(
        regular,
        lambda lib, a, b: [
            lib.linalg.lu_solve(*lib.linalg.lu_factor(a), b if left else b.mT, left=left, adjoint=adjoint)
            for left in (True, False)
            for adjoint in (True, False)
        ],
        2,
    ),
    "triangular": squares(
        near_diagonal,
        lambda lib, a, b: [
            lib.linalg.solve_triangular(a, b if left else b.mT, upper=upper, left=left)
            for left in (True, False)
            for upper in (True, False)
        ],
        2,
    ),
    "triangular_solve": squares(
        near_diagonal, lambda lib, a, b: lib.triangular_solve(b, a, transpose=True)[0], 2
    ),
    "eigh": squares(hermitian, of_eigh),
    "eigvalsh": squares(hermitian, lambda lib, a: lib.linalg.eigvalsh(positive(a), "U")),
    "eig": squares(near_diagonal, of_eig),
    "eigvals": squares(near_diagonal, sorted_eigvals),
    "svd": rectangles(regular, of_svd),
    "svd full": rectangles(regular, lambda lib, a: of_svd(lib, a, True), shapes=SHAPES[:3]),
    "svdvals": rectangles(regular, lambda lib, a: lib.linalg.svdvals(a)),
    "torch.svd": rectangles(
        regular, lambda lib, a: (lambda u, s, v: [(u * s.unsqueeze(-2)) @ v.mH, s])(*lib.svd(a))
    ),
    "qr": rectangles(regular, lambda lib, a: lib.linalg.qr(a)),
    "qr complete": rectangles(regular, lambda lib, a: lib.linalg.qr(a, "complete"), shapes=((3, 5), (4, 4))),
    "pinv": rectangles(regular, lambda lib, a: lib.linalg.pinv(a)),
    "pinv hermitian": squares(hermitian, lambda lib, a: lib.linalg.pinv(positive(a), hermitian=True)),
    "matrix_rank": rectangles(regular, lambda lib, a: lib.linalg.matrix_rank(a)),
    "lstsq": rectangles(regular, lambda lib, a, b: of_lstsq(lib, a, b, None), 2),
    "lstsq gelsd": rectangles(
        regular, lambda lib, a, b: of_lstsq(lib, a, b, "gelsd"), 2, shapes=((5, 3), (3, 5), (20, 7))
    ),
    "householder_product": squares(
        near_diagonal, lambda lib, a, t: lib.linalg.householder_product(a, t[..., : a.shape[-1] // 2]), 0
    ),
    "matrix_exp": squares(general, lambda lib, a: lib.linalg.matrix_exp(a)),
    "matrix_exp small": squares(general, lambda lib, a: lib.linalg.matrix_exp(a * 0.01j)),
    "multi_dot": rectangles(general, lambda lib, a, b: lib.linalg.multi_dot([a.mH, b]), 3, shapes=((4, 5),)),
    "cross": rectangles(general, lambda lib, a: lib.linalg.cross(a, a * 1j + 1), shapes=((4, 3),)),
    "vander": rectangles(general, lambda lib, a: lib.linalg.vander(a, N=4), shapes=((4, 3),)),
    "tensorinv": rectangles(
        regular, lambda lib, a: lib.linalg.tensorinv(a.reshape(2, 3, 6)), shapes=((6, 6),)
    ),
    "cond": rectangles(regular, lambda lib, a: lib.linalg.cond(a), shapes=SHAPES[:3]),
    "cond 1": rectangles(
        regular,
        lambda lib, a: lib.linalg.cond(a, 1).detach(),  # PyTorch's gradient fails
        shapes=((4, 4), (2, 3, 3)),
    ),
    **{
        f"matrix_power {power}": squares(
            regular, lambda lib, a, power=power: lib.linalg.matrix_power(a, power)
        )
        for power in (0, 1, 3, -2)
    },
    **{
        f"matrix_norm {order}": rectangles(
            regular,
            lambda lib, a, order=order: (
                lib.linalg.matrix_norm(a, order),
                lib.linalg.norm(a, order, dim=(-1, -2), keepdim=True),
            ),
            shapes=SHAPES[:4] if order in (-2, -1, -float("inf")) else SHAPES,
        )
        for order in ("fro", "nuc", 2, -2, 1, -1, float("inf"), -float("inf"))
    },
    "norm nuc": rectangles(regular, lambda lib, a: lib.norm(a, "nuc"), shapes=((4, 3), (2, 2))),
}


def weighted(lib, tensors, seed):
    """A real sum of all elements of the tensors that require gradients, each with a weight of its own."""
    total = 0
    for i, tensor in enumerate(tensors):
        if tensor is not None and tensor.requires_grad:
            rng = np.random.default_rng([seed, i])
            weights = rng.uniform(-1, 1, tuple(tensor.shape))
            if tensor.is_complex():
                weights = weights + 1j * rng.uniform(-1, 1, weights.shape)
            product = tensor * lib.tensor(np.asarray(weights)).to(tensor.dtype)
            total = total + (product.real if tensor.is_complex() else product).sum()
    return total


def array_of(tensor):
    tensor = tensor.resolve_conj().detach()
    return tensor.numpy()


def computed(lib, function, arrays, transposed, order):
    leaves = [lib.tensor(array).requires_grad_() for array in arrays]
    tensors = [leaf.mT if transposed and leaf.ndim > 1 else leaf for leaf in leaves]
    results = function(lib, *tensors)
    found = [list(results) if isinstance(results, (tuple, list)) else [results]]
    for i in range(order):
        loss = weighted(lib, found[-1], i)
        if not isinstance(loss, lib.Tensor) or not loss.requires_grad:
            break
        found.append(list(lib.autograd.grad(loss, leaves, create_graph=i + 1 < order, allow_unused=True)))
    return [[None if t is None else array_of(t) for t in tensors] for tensors in found]


def drawn(name, shape, dtype, transposed):
    kind, _, _, others = CASES[name]
    rng = np.random.default_rng([7, *name.encode(), *shape])
    arrays = [kind(rng, *shape)]
    arrays += [general(rng, *shape[:-2], shape[-2], *([k] if k else [])) for k in others]
    if transposed:
        arrays = [array.swapaxes(-1, -2) if array.ndim > 1 else array for array in arrays]
    return [np.ascontiguousarray(array).astype(dtype) for array in arrays]


@pytest.mark.parametrize(
    ("name", "shape"),
    [(name, shape) for name, case in CASES.items() for shape in case[2]],
    ids=lambda part: part if isinstance(part, str) else "x".join(map(str, part)),
)
def test_complex128(name, shape):
    transposed = sum(shape) % 2 == 1
    arrays = drawn(name, shape, "complex128", transposed)
    ours, theirs = (computed(lib, CASES[name][1], arrays, transposed, 2) for lib in (ocl, torch))
    for what, mine, expected in zip(("result", "gradient", "second gradient"), ours, theirs, strict=False):
        assert len(mine) == len(expected)
        for i, (a, b) in enumerate(zip(mine, expected, strict=True)):
            if a is None or b is None:
                present = a if b is None else b
                assert present is None or not present.any(), f"{what} {i}"
                continue
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{what} {i}"
            scale = np.abs(b).max(initial=1)
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * scale, err_msg=f"{what} {i}")


@pytest.mark.parametrize("name", CASES)
def test_complex64_is_as_near_to_the_truth(name):
    shape = CASES[name][2][0]
    arrays = drawn(name, shape, "complex64", False)
    wide = [array.astype("complex128") for array in arrays]
    ours, single = (computed(lib, CASES[name][1], arrays, False, 1) for lib in (ocl, torch))
    truth = computed(torch, CASES[name][1], wide, False, 1)
    for mine, near, true in zip(ours, single, truth, strict=True):
        for a, b, t in zip(mine, near, true, strict=True):
            if a is None or b is None:
                continue
            assert a.dtype == b.dtype
            scale = np.abs(t).max(initial=1)
            allowed = 4 * np.abs(b - t).max(initial=0) + 32 * np.finfo("float32").eps * scale
            assert np.abs(a - t).max(initial=0) <= allowed


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eigenvalues_of_real_matrices_are_complex(n, dtype):
    """Pairs of them, too; their gradients are real."""
    rotation = np.linalg.qr(np.random.default_rng(n).standard_normal((2, n, n)))[0]
    array = (rotation + np.diag(np.arange(n)) * 0.5).astype(dtype)
    found = []
    for lib in (ocl, torch):
        a = lib.tensor(array).requires_grad_()
        values, vectors = lib.linalg.eig(a)
        ((vectors * values.unsqueeze(-2)) @ lib.linalg.inv(vectors) * 2).real.sum().backward()
        rebuilt = (vectors * values.unsqueeze(-2)) @ lib.linalg.inv(vectors)
        alone = np.sort_complex(lib.linalg.eigvals(a.detach()).numpy().round(4))
        found.append((array_of(rebuilt), array_of(a.grad), alone))
        assert str(values.dtype).endswith("complex64" if dtype == "float32" else "complex128")
        assert str(a.grad.dtype).endswith(dtype)
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=2e-4)


def test_eigenvalues_of_a_real_matrix_have_real_gradients():
    array = real_regular(np.random.default_rng(4), 4, 4)
    grads = []
    for lib in (ocl, torch):
        a = lib.tensor(array).requires_grad_()
        (lib.linalg.eigvals(a) ** 3).real.sum().backward()
        grads.append(a.grad.numpy())
    np.testing.assert_allclose(*grads, rtol=1e-9, atol=1e-9)


def cofactors(matrices):
    """The cofactors of (count, n, n), by definition; PyTorch's gradient of a singular matrix may be 0."""
    result = np.empty_like(matrices)
    for k, i, j in np.ndindex(*matrices.shape):
        minor = np.delete(np.delete(matrices[k], i, 0), j, 1)
        result[k, i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return result


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_singular_matrices_have_the_gradient_of_their_determinant(rank):
    rng = np.random.default_rng(rank)
    array = general(rng, 3, rank) @ general(rng, rank, 3)
    array[2] = array[0] * 1j if rank else 0  # the last row depends on the first: exactly singular
    array = np.stack([array, general(rng, 3, 3)])
    a = ocl.tensor(array).requires_grad_()
    (ocl.linalg.det(a) * (1 - 2j)).real.sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), ((1 - 2j) * cofactors(array)).conj(), rtol=1e-6, atol=1e-8)


PHASED = {
    "eigh": lambda lib, a: lib.linalg.eigh(a @ a.mH)[1].real.sum(),
    "eig": lambda lib, a: lib.linalg.eig(a)[1].imag.exp().sum(),
    "svd": lambda lib, a: lib.linalg.svd(a)[0].real.sum(),
    "svd of vh": lambda lib, a: lib.linalg.svd(a)[2].imag.sum(),
}


@pytest.mark.parametrize("name", PHASED)
def test_losses_that_depend_on_phases_are_refused(name):
    for lib in (ocl, torch):
        a = lib.tensor(general(np.random.default_rng(3), 3, 3) + np.diag([0, 5, 10])).requires_grad_()
        with pytest.raises(RuntimeError, match="specified up to multiplication by"):
            PHASED[name](lib, a).backward()


def test_matrices_that_are_refused():
    for lib, error in ((ocl, ValueError), (torch, RuntimeError)):
        with pytest.raises(error, match="should not contain infs or NaNs"):
            lib.linalg.eig(lib.full((2, 2), float("nan"), dtype=lib.complex64))
        with pytest.raises(error, match="must be batches of square matrices"):
            lib.linalg.eigvals(lib.ones(2, 3, dtype=lib.complex64))
        with pytest.raises(RuntimeError, match="is singular"):
            lib.linalg.solve(lib.zeros(2, 2, dtype=lib.complex64), lib.ones(2, dtype=lib.complex64))
        with pytest.raises(RuntimeError, match="order 1 is not positive-definite"):
            lib.linalg.cholesky(-lib.eye(2, dtype=lib.complex128))
        with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
            lib.linalg.matrix_norm(lib.ones(2, 2).long())
        with pytest.raises(RuntimeError, match="same dtype"):
            lib.linalg.solve(lib.eye(2, dtype=lib.complex64), lib.ones(2))
    with pytest.raises(TypeError, match="floating point or complex"):
        ocl.linalg.inv(ocl.ones(2, 2).long())


def test_vmap_of_complex_matrices():
    array = regular(np.random.default_rng(1), 4, 3, 3).astype("complex64")
    for function in (ocl.linalg.inv, ocl.linalg.det, ocl.linalg.matrix_exp, ocl.linalg.eigvals):
        mapped = ocl.vmap(function)(ocl.tensor(array)).numpy()
        np.testing.assert_allclose(mapped, function(ocl.tensor(array)).numpy(), rtol=1e-5, atol=1e-5)


def test_low_rank_decompositions():
    rng = np.random.default_rng(0)
    for shape in ((9, 6), (6, 9)):
        array = general(rng, shape[0], 3) @ general(rng, 3, shape[1])
        u, s, v = ocl.svd_lowrank(ocl.tensor(array), 4)
        np.testing.assert_allclose(((u * s) @ v.mH).numpy(), array, atol=1e-9)
