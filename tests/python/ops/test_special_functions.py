"""Bessel functions, tails of the normal distribution, incomplete gamma functions and zeta."""

import math

import numpy as np
import pytest
import torch
from support import assert_close_to_truth

import ocl

UNARY = {
    "i0": (-88, 88),
    "i0e": (-100, 100),
    "i1": (-88, 88),
    "i1e": (-100, 100),
    "erfcx": (-9, 60),
    "log_ndtr": (-50, 8),
    "ndtri": (1e-6, 1 - 1e-6),
}
EDGES = [-np.inf, np.inf, np.nan, 0.0, -0.0, 1.0, -1.0, 0.5, 8.0, -8.0, 1e-30, -1e-30]


def run(lib, name, *arrays):
    return getattr(lib.special, name)(*(lib.tensor(a) for a in arrays))


@pytest.mark.parametrize("name", UNARY)
def test_as_near_to_the_truth_as_torch(name):
    x = np.linspace(*UNARY[name], 4001).astype(np.float32)
    near = torch.tensor(x)
    assert_close_to_truth(
        run(ocl, name, x), getattr(torch.special, name)(near.double()), getattr(torch.special, name)(near)
    )
    double = x.astype(np.float64)
    np.testing.assert_allclose(run(ocl, name, double).numpy(), run(torch, name, double).numpy(), rtol=5e-15)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges(name, dtype):
    x = np.array(EDGES if name not in ("i0", "i1") else EDGES[2:], dtype)  # PyTorch has NaN for infinities
    expected = run(torch, name, x).numpy()
    np.testing.assert_allclose(run(ocl, name, x).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", UNARY)
def test_gradients(name):
    low, high = UNARY[name]
    points = (
        np.linspace(max(low, -6), min(high, 12), 40) if name != "ndtri" else np.linspace(1e-4, 1 - 1e-4, 41)
    )
    results = []
    for lib in (ocl, torch):
        x = lib.tensor(points, requires_grad=True)
        (first,) = lib.autograd.grad(getattr(lib.special, name)(x).sum(), [x], create_graph=True)
        (second,) = lib.autograd.grad((first * first).sum(), [x])
        results.append((first.detach().numpy(), second.numpy()))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_infinities_of_bessel_functions():
    x = ocl.tensor([math.inf, -math.inf, 91.0])  # PyTorch's overflow from 88.8 on
    assert ocl.special.i0(x).tolist()[:2] == [math.inf, math.inf]
    assert ocl.special.i1(x).tolist()[:2] == [math.inf, -math.inf]
    truth = torch.special.i0(torch.tensor([91.0]).double()).item()
    np.testing.assert_allclose(ocl.special.i0(x)[2].item(), truth, rtol=1e-5)


def test_gradients_at_zero():
    for name in ("i0", "i1", "i0e", "i1e"):
        x = ocl.tensor([0.0], requires_grad=True)
        getattr(ocl.special, name)(x).sum().backward()
        assert x.grad.item() == (0.5 if "1" in name else 0.0)


@pytest.mark.parametrize("name", [*UNARY, "modified_bessel_i0", "modified_bessel_i1"])
def test_dtypes_and_shapes(name):
    function = getattr(ocl.special, name)
    assert function(ocl.tensor([0, 1])).dtype == ocl.float32
    for dtype in (ocl.float16, ocl.bfloat16, ocl.float32):
        assert function(ocl.full((2,), 0.5).to(dtype)).dtype == dtype
    assert function(ocl.zeros(0, 3)).shape == (0, 3) and function(ocl.tensor(0.5)).shape == ()
    x = np.linspace(0.1, 0.9, 12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_allclose(function(ocl.tensor(x).t()).numpy(), function(ocl.tensor(x)).numpy().T)
    with pytest.raises(TypeError, match="expected a tensor"):
        function(0.5)


def test_old_names():
    x = ocl.tensor([0.5, 2.0])
    assert ocl.i0(x).tolist() == x.i0().tolist() == ocl.special.i0(x).tolist() == x.clone().i0_().tolist()
    a = ocl.tensor([1.5, 2.5])
    assert ocl.igamma(a, x).tolist() == a.igamma(x).tolist() == ocl.special.gammainc(a, x).tolist()
    assert ocl.igammac(a, x).tolist() == a.clone().igammac_(x).tolist()


# P and Q in 30 digits: PyTorch's own are off by 1e-9 in float64.
INCOMPLETE = np.array(
    [
        (0.001, 0.5, 0.9994399333435292, 0.0005600666564707498),
        (0.001, 0.001, 0.9936876467088603, 0.00631235329113971),
        (0.5, 0.01, 0.1124629160182849, 0.8875370839817152),
        (0.9, 0.99, 0.6719308947584711, 0.3280691052415288),
        (1.0, 1.0, 0.6321205588285577, 0.36787944117144233),
        (2.5, 0.3, 0.011996757205906266, 0.9880032427940937),
        (3.0, 7.0, 0.9703638361194782, 0.029636163880521777),
        (20.837, 14.689, 0.0759178995027655, 0.9240821004972345),
        (28.6, 43.9, 0.9942585476679963, 0.005741452332003692),
        (100.0, 90.0, 0.15822098918643016, 0.8417790108135699),
        (1000.0, 1100.0, 0.99894067674607, 0.0010593232539299773),
        (0.2, 30.0, 0.9999999999999987, 1.3076505945693054e-15),
        (10000.0, 10003.0, 0.5132943878403926, 0.48670561215960745),
        (924.4266502424052, 347.1779766927065, 6.926228839938707e-145, 1.0),
        (1e-08, 0.5, 0.9999999944022641, 5.597735977099587e-09),
    ]
)


@pytest.mark.parametrize(("name", "column"), [("gammainc", 2), ("gammaincc", 3)])
def test_incomplete_gamma(name, column):
    a, x = INCOMPLETE[:, 0], INCOMPLETE[:, 1]
    np.testing.assert_allclose(run(ocl, name, a, x).numpy(), INCOMPLETE[:, column], rtol=2e-12)
    rng = np.random.default_rng(0)
    a, x = rng.uniform(0.1, 30, 4000).astype(np.float32), rng.uniform(0, 60, 4000).astype(np.float32)
    truth = run(ocl, name, a.astype(np.float64), x.astype(np.float64)).numpy()
    is_large = truth > 1e-30  # PyTorch's lower tail is 0 far down
    found = [run(lib, name, a, x).numpy() for lib in (ocl, torch)]
    ours, torchs = (np.abs(f - truth)[is_large] / truth[is_large] for f in found)
    assert ours.max() <= 4 * torchs.max() and np.median(ours) <= 4 * np.median(torchs) + 1e-7


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_edges_of_incomplete_gamma(name):
    values = np.array([-1.0, 0.0, 1e-3, 1.0, 5.0, np.inf])
    a, x = (part.ravel() for part in np.meshgrid(values, values))
    for pair in ((math.nan, 0.0), (math.inf, math.nan)):  # PyTorch has numbers for some of them
        assert math.isnan(getattr(ocl.special, name)(*map(ocl.tensor, pair)).item())
    np.testing.assert_allclose(run(ocl, name, a, x).numpy(), run(torch, name, a, x).numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_gradients_of_incomplete_gamma(name):
    a, x = (INCOMPLETE[:9, i].copy() for i in (0, 1))
    results = []
    for lib in (ocl, torch):
        point = lib.tensor(x, requires_grad=True)
        value = getattr(lib.special, name)(lib.tensor(a), point)
        (first,) = lib.autograd.grad(value.sum(), [point], create_graph=True)
        results.append((first, point))
    np.testing.assert_allclose(results[0][0].detach().numpy(), results[1][0].detach().numpy(), rtol=1e-10)
    second = [
        lib.autograd.grad(g.sum(), [p])[0].numpy() for lib, (g, p) in zip((ocl, torch), results, strict=True)
    ]
    np.testing.assert_allclose(*second, rtol=1e-8)
    a, x = (ocl.tensor(v, dtype=ocl.float64, requires_grad=True) for v in ([0.7, 2.0, 8.0], [0.4, 3.0, 5.0]))
    assert ocl.autograd.gradcheck(getattr(ocl.special, name), (a, x))


def test_incomplete_gamma_broadcasts():
    a, x = np.array([[0.5], [2.0]], np.float32), np.array([1.0, 3.0, 0.0])
    for name in ("gammainc", "gammaincc"):
        ours, theirs = run(ocl, name, a, x), run(torch, name, a, x)
        assert ours.dtype == ocl.float64
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)
        assert getattr(ocl.special, name)(ocl.ones(2).half(), ocl.ones(2).half()).dtype == ocl.float16


def test_zeta():
    rng = np.random.default_rng(0)
    s, q = rng.uniform(1.01, 20, 4000).astype(np.float32), rng.uniform(0.1, 10, 4000).astype(np.float32)
    near = [torch.tensor(s), torch.tensor(q)]
    truth = torch.special.zeta(*(t.double() for t in near))
    assert_close_to_truth(run(ocl, "zeta", s, q), truth, torch.special.zeta(*near))
    np.testing.assert_allclose(
        run(ocl, "zeta", s.astype(np.float64), q.astype(np.float64)).numpy(), truth.numpy(), rtol=5e-15
    )
    np.testing.assert_allclose(
        ocl.special.zeta(2, ocl.tensor([1, 2])).tolist(), [math.pi**2 / 6, math.pi**2 / 6 - 1]
    )
    np.testing.assert_allclose(
        ocl.special.zeta(ocl.tensor([2.0, 4.0]), 1).tolist(), [math.pi**2 / 6, math.pi**4 / 90]
    )
    with pytest.raises(TypeError, match="expected a tensor among"):
        ocl.special.zeta(2, 1)


def test_zeta_left_of_zero():
    """Within an error of the largest term, as sums are compared."""
    s = np.repeat(np.arange(2.0, 8.0), 50)
    q = np.tile(np.linspace(-9.93, -0.07, 50), 6)
    largest = np.abs(q - np.round(q)) ** -s
    expected = run(torch, "zeta", s, q).numpy()
    assert (np.abs(run(ocl, "zeta", s, q).numpy() - expected) <= 1e-14 * largest).all()
    single = run(ocl, "zeta", s.astype(np.float32), q.astype(np.float32)).numpy()
    near = run(
        torch, "zeta", s.astype(np.float32).astype(np.float64), q.astype(np.float32).astype(np.float64)
    ).numpy()
    assert (np.abs(single - near) <= 1e-6 * largest).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeta_next_to_whole_numbers_below_zero(dtype):
    """One term is far larger than the others, and halves cancel."""
    s, q = (part.ravel().astype(dtype) for part in np.meshgrid(
        np.arange(2.0, 12.0), [-1e-3, -0.999, -5.001, -0.5, -2.5, -7.5, -1000.5])
    )  # fmt: skip
    expected = run(torch, "zeta", s.astype("float64"), q.astype("float64")).numpy()
    unit = np.finfo(dtype).eps
    largest = np.maximum(np.abs(q - np.round(q)).astype("float64") ** -s * (q % 0.5 != 0), np.abs(expected))
    error = np.abs(run(ocl, "zeta", s, q).numpy() - expected)
    # PyTorch's own sum in float64 is off where halves cancel.
    assert (error <= 16 * unit * largest + 1e-13 * np.abs(q - np.round(q)).astype("float64") ** -s).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges_of_zeta(dtype):
    values = [-np.inf, -3.0, -1.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 40.0, np.inf, np.nan]
    s, q = (part.ravel().astype(dtype) for part in np.meshgrid(values, [*values, -1e10, 1e10]))
    expected = run(torch, "zeta", s, q).numpy()
    rough = 1e-4 if dtype == "float32" else 1e-12  # the series of 40 at 40 is a denormal number
    np.testing.assert_allclose(run(ocl, "zeta", s, q).numpy(), expected, rtol=rough)


def test_gradients_of_zeta():
    results = []
    for lib in (ocl, torch):
        q = lib.tensor(np.linspace(0.3, 9, 20), requires_grad=True)
        (first,) = lib.autograd.grad(lib.special.zeta(3.5, q).sum(), [q], create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), [q])
        results.append((first.detach().numpy(), second.numpy()))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    s = ocl.tensor([2.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="zeta: input"):
        ocl.special.zeta(s, 2.0).sum().backward()
