"""vmap against a loop over the examples: odd programs, captured tensors, autocast, threads."""

import copy
import threading

import numpy as np
import pytest
from support import has_float64

import ocl
from ocl.func import grad, jacrev, vmap

pytestmark = pytest.mark.skipif(not has_float64(), reason="the device has no float64")

RNG = np.random.default_rng(7)


def drawn(*shape):
    return RNG.normal(size=shape)


def deep(a):
    return vmap(lambda b: vmap(lambda c: c * b[1:].sum() + a[0, 0], in_dims=-1)(b.expand(2, -1)))(a)


SHARED = ocl.rand(5)
LIKE_A_LOOP = {
    "copies": lambda a: copy.deepcopy(a) * 2 + copy.copy(a) + a.data + ocl.tensor(a),
    "constants": lambda a: a * ocl.tensor([1.0, 2, 3, 4, 5]) + np.arange(5, dtype="float32"),
    "read_of_a_shared_tensor": lambda a: a * SHARED.sum().item(),
    "views_of_a_shared_tensor": lambda a: SHARED.expand_as(a) + a + SHARED[1:].sum(),
    "rows": lambda a: ocl.stack([row.max() * i for i, row in enumerate(a)]),
    "mask": lambda a: a.clone().masked_fill_(a < 0, 0.5),
    "written_mask": lambda a: written(a.clone()),
    "empty_like": lambda a: ocl.empty_like(a).copy_(a) + a.new_zeros(3, 1),
    "host_functions": lambda a: ocl.linalg.pinv(a) @ a,
    "singular_values": lambda a: ocl.linalg.svdvals(a),
    "statistics": lambda a: ocl.cov(a) + a.std(1) + a.quantile(0.3),
    "dtypes": lambda a: (a.half() * 2).float() + (a * 10).long() + a.double().type_as(a),
    "attention": lambda a: ATTENTION(a, a, a, need_weights=False)[0],
    "in_place_layers": lambda a: LAYERS(a),
    "deep": deep,
    "derivative_of_a_nested_one": lambda a: jacrev(lambda b: vmap(lambda c: c.sin() * b.sum())(a).sum(0))(
        a[0]
    ),
    "resized_in_place": lambda a: a.clone().transpose_(0, 1).unsqueeze_(0),
}
ATTENTION = ocl.nn.MultiheadAttention(5, 1)
LAYERS = ocl.nn.Sequential(ocl.nn.Linear(5, 4), ocl.nn.ReLU(inplace=True), ocl.nn.Linear(4, 3))


def written(c):
    c[c < 0] = 0.25
    return c


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", LIKE_A_LOOP)
def test_like_a_loop(name):
    f, x = LIKE_A_LOOP[name], ocl.tensor(drawn(4, 3, 5).astype(np.float32))
    found = vmap(f)(x)
    assert type(found) is ocl.Tensor
    expected = np.stack([f(a).detach().numpy() for a in x])
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=2e-4, atol=1e-5)


CAPTURED = {
    "product": lambda a, w: (a * w).sum(),
    "slice": lambda a, w: (a * w[1:2]).sum(),
    "places": lambda a, w: (w[(a > 0).long()] * a).sum(),
    "added_in_place": lambda a, w: a.clone().add_(w).square().sum(),
    "assigned": lambda a, w: assigned(a.clone(), w).square().sum(),
    "copied": lambda a, w: (ocl.zeros_like(a).copy_(w) * a).sum(),
    "data": lambda a, w: (a * w.data * w).sum(),
}


def assigned(c, w):
    c[1:] = w[1:]
    return c


@pytest.mark.parametrize("name", CAPTURED)
def test_gradients_of_captured_tensors(name):
    x = ocl.tensor(drawn(4, 5))
    found = []
    for mapped in (True, False):
        w = ocl.tensor(drawn(5) * 0 + np.arange(1.0, 6)).requires_grad_()

        def f(a, w=w):
            return CAPTURED[name](a, w)

        (vmap(f)(x).sum() if mapped else sum(f(a) for a in x)).backward()
        found.append(w.grad.numpy())
    np.testing.assert_allclose(*found, rtol=1e-10)


@pytest.mark.parametrize(
    "read",
    [
        lambda a: a * float(a.as_subclass(ocl.Tensor).sum()),
        lambda a: a if a.as_subclass(ocl.Tensor).sum() > 0 else -a,
        lambda a: a * a.as_subclass(ocl.Tensor).numpy(),
        lambda a: a.as_subclass(ocl.Tensor).nonzero(),
        lambda a: next(row for row in a.unsqueeze(0) if row.sum() > 0),
    ],
)
def test_elements_are_not_to_be_read_by_another_class_either(read):
    with pytest.raises(RuntimeError, match="vmap"):
        vmap(read)(ocl.ones(3, 2))


def test_autocast_outside():
    x = ocl.tensor(drawn(3, 4, 4).astype(np.float32))
    with ocl.autocast("ocl", dtype=ocl.float16):
        found, expected = vmap(lambda a: a @ a)(x), x @ x
    assert found.dtype == expected.dtype == ocl.float16
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def half(function, enabled=True):
    with ocl.autocast("ocl", dtype=ocl.float16, enabled=enabled):
        return function()


def scores(a):
    """Products in float16, a sum in float32, and a part without autocast."""
    found = half(lambda: layer(a).softmax(-1) @ layer.weight)
    return (found.float() ** 2).sum() + half(lambda: half(lambda: a @ a.t(), False).sum())


layer = ocl.nn.Linear(4, 4)


@pytest.mark.parametrize("outside", [False, True])
def test_autocast_within_the_function(outside):
    x = ocl.tensor(drawn(3, 4, 4).astype(np.float32))
    for function in (lambda a: half(lambda: layer(a)), scores, grad(scores)):
        with ocl.autocast("ocl", dtype=ocl.float16, enabled=outside):
            found, expected = vmap(function)(x), ocl.stack([function(row) for row in x])
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=2e-3, atol=2e-3)
    assert vmap(lambda a: half(lambda: layer(a)))(x).dtype == ocl.float16


def test_threads_do_not_hear_of_each_other():
    wrong, before = [], ocl.Tensor.add_

    def work(number):
        x = ocl.tensor(drawn(4, 3) + number)
        for _ in range(10):
            slopes = vmap(grad(lambda a: a.clone().mul_(a).sum()))(x)
            if not np.allclose(slopes.numpy(), 2 * x.numpy()):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and ocl.Tensor.add_ is before
