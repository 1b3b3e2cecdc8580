"""torch.autograd.forward_ad: dual numbers against PyTorch's, in float64."""

import numpy as np
import pytest
import torch
import torch.autograd.forward_ad
from nests import check
from support import has_float64

import ocl

pytestmark = pytest.mark.skipif(not has_float64(), reason="the device has no float64")
RNG = np.random.default_rng(3)


def drawn(*shape):
    return RNG.normal(size=shape)


def test_products():
    def run(lib, x, y, u, v):
        ad = lib.autograd.forward_ad
        with ad.dual_level():
            a, b = ad.make_dual(x, u), ad.make_dual(y, v)
            c = (a @ b).tanh().softmax(1)
            c = c + a.sum()
            inplace = a.clone().mul_(2)
            found = [ad.unpack_dual(t) for t in (a, c, inplace, (a * y.sum()).exp())]
        return [(tuple(f.primal for f in found), tuple(f.tangent for f in found))]

    check(run, drawn(3, 4), drawn(4, 3), drawn(3, 4), drawn(4, 3))


def test_values_without_a_tangent():
    ad = ocl.autograd.forward_ad
    x = ocl.ones(2)
    with ad.dual_level():
        dual = ad.make_dual(x, x)
        assert ad.unpack_dual(x).tangent is None
        assert ad.unpack_dual(x.clone().requires_grad_() * 2).tangent is None
        assert ad.unpack_dual(dual > 0).tangent is None
        assert not ad.unpack_dual(dual).primal.requires_grad
    primal, tangent = ad.unpack_dual(dual)
    assert tangent is None and primal is dual


def test_history_of_primals_and_tangents():
    def run(lib, x, u):
        ad = lib.autograd.forward_ad
        x, u = x.clone().requires_grad_(), u.clone().requires_grad_()
        with ad.dual_level():
            value, tangent = ad.unpack_dual(ad.make_dual(x, u).pow(3))
        (value.sum() + tangent.square().sum()).backward()
        return x.grad, u.grad

    check(run, drawn(3), drawn(3))


def test_a_module():
    def run(lib, x, u):
        ad = lib.autograd.forward_ad
        net = lib.nn.Linear(3, 2).double()
        with lib.no_grad():
            net.weight.fill_(0.3)
            net.bias.fill_(-0.1)
        with ad.dual_level():
            return tuple(t.detach() for t in ad.unpack_dual(net(ad.make_dual(x, u)).sigmoid()))

    check(run, drawn(4, 3), drawn(4, 3))


def test_levels():
    ad = ocl.autograd.forward_ad
    with ocl.no_grad():
        assert ad.enter_dual_level() == 0
        with pytest.raises(RuntimeError, match="Nested"):
            ad.enter_dual_level()
        ad.exit_dual_level()
        assert not ocl.is_grad_enabled()
    with pytest.raises(RuntimeError, match="exit"):
        ad.exit_dual_level()
    with pytest.raises(RuntimeError, match="no level exists"):
        ad.make_dual(ocl.ones(2), ocl.ones(2))


def test_bad_tangents():
    ad = ocl.autograd.forward_ad
    with ad.dual_level():
        with pytest.raises(RuntimeError, match="shape"):
            ad.make_dual(ocl.ones(2), ocl.ones(3))
        with pytest.raises(ValueError, match="floating"):
            ad.make_dual(ocl.tensor([1, 2]), ocl.ones(2))


def test_batched_weights_of_grad():
    def run(lib, x, w):
        x = x.requires_grad_()
        y = (x * x.sum()).sin()
        return lib.autograd.grad(y, x, w, is_grads_batched=True)

    check(run, drawn(3), drawn(5, 3))


def test_grad_inside_vmap():
    def run(lib, x, w):
        def f(a, b):
            a = a.clone().requires_grad_() if lib is torch else a.requires_grad_()
            return lib.autograd.grad((a * a.sum()).sin(), a, b)[0]

        return lib.func.vmap(f)(x, w)

    expected = torch.func.vmap(lambda a, b: torch.func.vjp(lambda c: (c * c.sum()).sin(), a)[1](b)[0])
    x, w = drawn(4, 3), drawn(4, 3)
    np.testing.assert_allclose(
        run(ocl, ocl.tensor(x), ocl.tensor(w)).numpy(), expected(torch.tensor(x), torch.tensor(w)).numpy()
    )
