"""Factors of matrices, and what is computed by them, on the device: against PyTorch on the CPU."""

import pytest

torch = pytest.importorskip("torch")
linalg = torch.linalg
SHAPES = [(1, 1), (5, 5), (2, 32, 32), (33, 33), (2, 3, 40, 40), (70, 70), (0, 4, 4), (3, 0, 0)]
TALL = [(7, 3), (3, 7), (2, 45, 33), (33, 70), (2, 2, 64, 32), (0, 4, 3), (4, 0)]


@pytest.fixture(autouse=True)
def on_the_device_alone(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")


def positive(x):
    return x @ x.mT + torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)


def vectors(x):
    return x[..., :2] if x.shape[-1] else x


def householder(x):
    return linalg.householder_product(*torch.geqrf(x))


FUNCTIONS = {
    "cholesky": lambda x: linalg.cholesky(positive(x)),
    "cholesky_upper": lambda x: linalg.cholesky(positive(x), upper=True),
    "cholesky_inverse": lambda x: torch.cholesky_inverse(linalg.cholesky(positive(x))),
    "cholesky_solve": lambda x: torch.cholesky_solve(vectors(x), linalg.cholesky(positive(x))),
    "det": lambda x: linalg.det(x / 4),
    "slogdet": lambda x: linalg.slogdet(x),
    "inv": lambda x: linalg.inv(positive(x)),
    "inv_of_transposed": lambda x: linalg.inv(positive(x).mT),
    "solve": lambda x: linalg.solve(positive(x), vectors(x)),
    "solve_right": lambda x: linalg.solve(positive(x), vectors(x).mT, left=False),
    "lu": lambda x: linalg.lu(x),
    "lu_solve": lambda x: linalg.lu_solve(*linalg.lu_factor(positive(x)), vectors(x)),
    "lu_solve_adjoint": lambda x: linalg.lu_solve(*linalg.lu_factor(positive(x)), vectors(x), adjoint=True),
    "solve_triangular": lambda x: linalg.solve_triangular(positive(x), vectors(x), upper=True),
    "solve_triangular_right": lambda x: linalg.solve_triangular(
        positive(x).mT, vectors(x).mT, upper=False, left=False
    ),
    "unitriangular": lambda x: linalg.solve_triangular(x / 20, x, upper=False, unitriangular=True),
    "matrix_power": lambda x: linalg.matrix_power(positive(x), -2),
}
OF_TALL = {
    "lu": lambda x: linalg.lu(x),
    "qr": lambda x: linalg.qr(x),
    "qr_complete": lambda x: linalg.qr(x, mode="complete"),
    "geqrf": torch.geqrf,
}


def tensors_of(result):
    return list(result) if isinstance(result, tuple) else [result]


def compare(function, x, times=4):
    """No result is farther from that in float64 than a few times PyTorch's own in float32."""
    truth = tensors_of(function(x.double()))
    theirs, ours = (tensors_of(function(x.to(device))) for device in ("cpu", "ocl"))
    exact = tensors_of(function(x.double().to("ocl")))
    for t, e, mine, own in zip(truth, theirs, ours, exact, strict=True):
        assert mine.shape == t.shape and mine.dtype == e.dtype and mine.device.type == "ocl"
        torch.testing.assert_close(own.cpu(), t, rtol=1e-9, atol=1e-9)
        if t.numel() == 0 or not e.is_floating_point():
            assert torch.equal(mine.cpu(), e)
            continue
        size = t.abs().max().clamp_min(1e-30)
        far = [(r.cpu().double() - t).abs().max() / size for r in (e, mine)]
        assert far[1] <= times * far[0] + 1e-6, far


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_square_matrices(name, shape):
    torch.manual_seed(0)
    compare(FUNCTIONS[name], torch.randn(shape))


@pytest.mark.parametrize("shape", TALL, ids=str)
@pytest.mark.parametrize("name", OF_TALL)
def test_of_any_matrices(name, shape):
    torch.manual_seed(0)
    compare(OF_TALL[name], torch.randn(shape))
    compare(OF_TALL[name], torch.randn(shape).mT)


@pytest.mark.parametrize("shape", [(7, 3), (2, 45, 33), (2, 2, 64, 32), (70, 70)], ids=str)
def test_products_of_reflections(shape):
    torch.manual_seed(0)
    x = torch.randn(shape)
    compare(householder, x)
    other = torch.randn(*shape[:-2], shape[-2], 5)
    for left in (True, False):
        for transpose in (True, False):
            compare(
                lambda x, left=left, transpose=transpose: torch.ormqr(
                    *torch.geqrf(x), (other if left else other.mT).to(x), left, transpose
                ),
                x,
            )


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "slogdet"])
def test_gradients(name):
    torch.manual_seed(0)
    x = torch.randn(2, 36, 36, dtype=torch.float64)
    found = []
    for device in ("cpu", "ocl"):
        leaf = x.to(device).requires_grad_()
        results = [r for r in tensors_of(FUNCTIONS[name](leaf)) if r.requires_grad]
        found.append(torch.autograd.grad(sum(r.sin().sum() for r in results), leaf)[0].cpu())
    torch.testing.assert_close(found[1], found[0], rtol=1e-6, atol=1e-8 * float(found[0].abs().max()))


@pytest.mark.parametrize("name", ["qr", "lu"])
@pytest.mark.parametrize("shape", [(40, 33), (33, 40)], ids=str)
def test_gradients_of_any_matrices(name, shape):
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    found = []
    for device in ("cpu", "ocl"):
        leaf = x.to(device).requires_grad_()
        results = [r for r in OF_TALL[name](leaf) if r.requires_grad]
        found.append(torch.autograd.grad(sum(r.sin().sum() for r in results), leaf)[0].cpu())
    torch.testing.assert_close(found[1], found[0], rtol=1e-6, atol=1e-8 * float(found[0].abs().max()))


SINGULAR = {
    "zeros": torch.zeros(3, 3),
    "a column": torch.tensor([[1.0, 0, 2], [3, 0, 4], [5, 0, 7]]),
    "late": torch.eye(40).index_fill(1, torch.tensor([37]), 0),
    "a batch": torch.stack([torch.eye(3), torch.zeros(3, 3)]),
    "negative": -torch.eye(3),
    "not positive": torch.eye(40).index_fill(0, torch.tensor([35]), -1),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_what_has_no_factors(name):
    a = SINGULAR[name]
    for function in (linalg.cholesky_ex, linalg.lu_factor_ex, linalg.inv_ex):
        theirs, ours = function(a), function(a.to("ocl"))
        assert torch.equal(ours.info.cpu(), theirs.info)
    for function in (linalg.cholesky, linalg.inv, linalg.lu_factor, lambda a: linalg.solve(a, a)):
        told = []
        for device in ("cpu", "ocl"):
            try:
                function(a.to(device))
                told.append(None)
            except RuntimeError as error:  # LinAlgError is one
                told.append((type(error), str(error)))
        assert told[0] == told[1]
    assert torch.equal(linalg.det(a.to("ocl")).cpu(), linalg.det(a))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: linalg.cholesky(x[:, :2]),
        lambda x: linalg.inv(x.half()),
        lambda x: linalg.solve(x, x[:2]),
        lambda x: linalg.solve_triangular(x, x[:2], upper=True),
        lambda x: linalg.lu_factor(x, pivot=False),
        lambda x: linalg.householder_product(x, x),
        lambda x: linalg.qr(x, mode="other"),
    ],
)
def test_bad_arguments(call):
    told = []
    for device in ("cpu", "ocl"):
        with pytest.raises((RuntimeError, NotImplementedError)) as error:
            call(torch.eye(3, device=device))
        told.append(
            (
                error.type,
                str(error.value).replace("on ocl devices", "on the CPU").replace(" with cusolver", ""),
            )
        )
    assert told[0] == told[1]


def test_results_go_to_tensors_of_any_strides():
    a = positive(torch.randn(2, 34, 34))
    for make in (lambda: torch.empty(0), lambda: torch.empty(34, 34, 2).permute(2, 0, 1)):
        for function in (linalg.cholesky, linalg.inv):
            out = make().to("ocl")
            strides = out.stride()
            assert function(a.to("ocl"), out=out) is out
            torch.testing.assert_close(out.cpu(), function(a), rtol=1e-3, atol=1e-4)
            assert out.numel() == 0 or strides == (0,) or len(strides) == 1 or out.stride() == strides


def test_large_and_small_columns_of_reflections():
    x = torch.randn(40, 6)
    for factor in (1e30, 1e-30):
        q, r = linalg.qr((x * factor).to("ocl"))
        theirs = linalg.qr(x.double())
        torch.testing.assert_close(q.cpu().double(), theirs.Q, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(r.cpu().double() / factor, theirs.R, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "shape", [(20, 64, 32), (17, 2500, 9), (1, 1024, 40), (5, 1, 3), (0, 8, 8), (4, 0, 8)], ids=str
)
def test_products_of_int8_are_exact(shape, monkeypatch):
    """Sums pass the whole numbers of float32, and operands have any strides."""
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")
    m, depth, n = shape
    a, b = (torch.randint(-128, 128, size, dtype=torch.int8) for size in ((m, depth), (depth, n)))
    lowest = torch.full_like(a, -128), torch.full_like(b, -128)
    for x, y in ((a, b), lowest, (a.t().contiguous().t(), b.t().contiguous().t())):
        wanted = x.int() @ y.int()
        ours = torch._int_mm(x.to("ocl"), y.to("ocl"))
        assert ours.dtype == torch.int32 and torch.equal(ours.cpu(), wanted)
        out = torch.empty(n, m, dtype=torch.int32, device="ocl").t()
        torch._int_mm(x.to("ocl"), y.to("ocl"), out=out)
        assert torch.equal(out.cpu(), wanted)


def test_bad_products_of_int8():
    a = torch.ones(4, 8, dtype=torch.int8, device="ocl")
    for bad in ((a, a), (a, a[0]), (a.int(), a.t()), (a, a.t().float())):
        with pytest.raises(RuntimeError, match="_int_mm"):
            torch._int_mm(*bad)
    with pytest.raises(RuntimeError, match="expected out of shape"):
        torch._int_mm(a, a.t(), out=torch.empty(3, 4, dtype=torch.int32, device="ocl"))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_products_of_whole_numbers_wrap(dtype, monkeypatch):
    """Rows are longer and shorter than what one work item makes, of any strides, and added to others."""
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")
    limits = torch.iinfo(dtype)
    for m, depth, n in ((3, 7, 70), (5, 33, 32), (2, 4, 31), (1, 1, 1)):
        a, b, c = (
            torch.randint(limits.min, limits.max, (2, *size), dtype=dtype)
            for size in ((m, depth), (depth, n), (m, n))
        )
        for x, y in ((a, b), (a.mT.contiguous().mT, b.mT.contiguous().mT), (a[:1].expand_as(a), b)):
            ours = torch.baddbmm(c.to("ocl"), x.to("ocl"), y.to("ocl"), beta=3, alpha=-2 if limits.min else 2)
            theirs = torch.baddbmm(c, x, y, beta=3, alpha=-2 if limits.min else 2)
            assert torch.equal(ours.cpu(), theirs)
            ours = torch.addmm(c[0, 0].to("ocl"), x[0].to("ocl"), y[0].to("ocl"))
            assert torch.equal(ours.cpu(), torch.addmm(c[0, 0], x[0], y[0]))
