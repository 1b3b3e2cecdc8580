"""ocl.autograd.functional against torch.autograd.functional, in float64."""

import numpy as np
import pytest
import torch
from nests import assert_nests_close, on_both
from support import has_float64

import ocl

pytestmark = pytest.mark.skipif(not has_float64(), reason="the device has no float64")


def rows(lib, x):
    return (x.exp() * x).sum(-1)


def two_results(lib, x):
    return x.sin() * x[0], (x**3).sum()


def of_two(lib, x, y):
    return (x * y).tanh(), (x**2).sum(0)


def scalar(lib, x):
    return (x**3).sum() * x.flatten()[0]


def scalar_of_two(lib, x, y):
    return (x**2 @ y.t()).sin().sum() + (y**3).sum()


# function, shapes of the inputs, whether they are given as a tuple
FUNCTIONS = {
    "rows": (rows, [(2, 3)], False),
    "rows of one number": (rows, [(1,)], False),
    "rows of none": (rows, [(2, 0)], False),
    "a tuple of one": (rows, [(2, 3)], True),
    "two results": (two_results, [(4,)], False),
    "of two": (of_two, [(2, 3), (3,)], True),
}
SCALARS = {
    "one": (scalar, [(2, 3)], False),
    "three dimensions": (scalar, [(2, 1, 2)], False),
    "no dimension": (scalar, [()], False),
    "a tuple of one": (scalar, [(3,)], True),
    "two": (scalar_of_two, [(2, 3), (4, 3)], True),
}


def drawn(rng, shapes, is_tuple):
    arrays = tuple(rng.standard_normal(shape) for shape in shapes)
    return arrays if is_tuple else arrays[0]


def like(rng, results):
    """Random arrays in the form of some results."""
    if isinstance(results, tuple):
        return tuple(rng.standard_normal(tuple(r.shape)) for r in results)
    return rng.standard_normal(tuple(results.shape))


def compare(name, function, *arguments, **options):
    """The results of torch.autograd.functional.name and ours."""

    def run(lib, *tensors):
        return getattr(lib.autograd.functional, name)(lambda *x: function(lib, *x), *tensors, **options)

    expected, actual = on_both(run, *arguments)
    assert_nests_close(actual, expected)
    return actual


@pytest.mark.parametrize("case", FUNCTIONS)
def test_products_with_jacobians(case, rng):
    function, shapes, is_tuple = FUNCTIONS[case]
    inputs = drawn(rng, shapes, is_tuple)
    tensors = [torch.tensor(x) for x in (inputs if is_tuple else (inputs,))]
    compare("vjp", function, inputs, like(rng, function(torch, *tensors)))
    compare("jvp", function, inputs, drawn(rng, shapes, is_tuple))


@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("case", [case for case in FUNCTIONS if "none" not in case])
def test_jacobians(case, vectorize, rng):
    function, shapes, is_tuple = FUNCTIONS[case]
    compare("jacobian", function, drawn(rng, shapes, is_tuple), vectorize=vectorize)


def test_jacobian_of_nothing():
    found = ocl.autograd.functional.jacobian(lambda x: x * 2, ocl.ones(0, 3))
    assert found.shape == (0, 3, 0, 3)


@pytest.mark.parametrize("case", SCALARS)
def test_hessians(case, rng):
    function, shapes, is_tuple = SCALARS[case]
    inputs, v = drawn(rng, shapes, is_tuple), drawn(rng, shapes, is_tuple)
    for vectorize in (False, True):
        compare("hessian", function, inputs, vectorize=vectorize)
    for name in ("vhp", "hvp"):
        compare(name, function, inputs, v)


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_vector_that_is_left_out(name):
    compare(name, scalar, np.array([1.5]))


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian", "hessian", "vhp", "hvp"])
def test_results_are_differentiated_in_turn(name, rng):
    """With create_graph=True, by the inputs and by v."""
    x, v = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))

    def run(lib, x, v):
        x, v = x.requires_grad_(), v.requires_grad_()
        known = () if name in ("jacobian", "hessian") else (v.sum() if name == "vjp" else v,)
        results = getattr(lib.autograd.functional, name)(
            lambda x: scalar(lib, x), x, *known, create_graph=True
        )
        results = results if isinstance(results, tuple) else (results,)
        total = sum(r.square().sum() for r in results)
        return results, lib.autograd.grad(total, (x, v) if known else (x,))

    expected, actual = on_both(run, x, v)
    assert_nests_close(actual, expected)
    assert all(r.requires_grad for r in actual[0])


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian", "hessian", "vhp", "hvp"])
def test_results_have_no_history_unless_asked(name):
    x = ocl.ones(1, dtype=ocl.float64, requires_grad=True)
    w = ocl.ones(1, dtype=ocl.float64, requires_grad=True)
    results = getattr(ocl.autograd.functional, name)(lambda x: (w * x**3).sum(), x)
    for result in results if isinstance(results, tuple) else (results,):
        assert not result.requires_grad
    assert x.grad is None and w.grad is None


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian", "hessian", "vhp", "hvp"])
def test_recording_that_is_off_stays_off(name):
    with ocl.no_grad():
        compare(name, scalar, np.array([1.5]))
        assert not ocl.is_grad_enabled()


def test_captured_inputs_are_constants():
    def run(lib, x):
        return lib.autograd.functional.jacobian(lambda inside: inside * x, x)

    expected, actual = on_both(run, np.array([2.0, 3.0]))
    assert_nests_close(actual, expected)


def small_net(lib, x):
    def loss(w1, b1, w2):
        return ((x @ w1 + b1).tanh() @ w2).square().mean()

    return loss


def test_hessian_times_vector_of_a_net(rng):
    x = rng.standard_normal((7, 3))
    shapes = [(3, 5), (5,), (5, 2)]
    weights, v = drawn(rng, shapes, True), drawn(rng, shapes, True)

    def run(lib, x, *tensors):
        functions = lib.autograd.functional
        return [
            getattr(functions, name)(small_net(lib, x), tensors[:3], tensors[3:]) for name in ("hvp", "vhp")
        ]

    expected, actual = on_both(run, x, *weights, *v)
    assert_nests_close(actual, expected)
    # hessian @ v, by the matrix itself
    loss = small_net(ocl, ocl.tensor(x))
    matrix = ocl.autograd.functional.hessian(loss, tuple(map(ocl.tensor, weights)))
    for line, product in zip(matrix, actual[0][1], strict=True):
        total = sum(
            (part.reshape(product.numel(), -1) @ ocl.tensor(d).reshape(-1))
            for part, d in zip(line, v, strict=True)
        )
        np.testing.assert_allclose(total.numpy(), product.flatten().numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_dtypes(dtype):
    x = ocl.tensor([0.5, 1.5], dtype=getattr(ocl, dtype))
    functions = ocl.autograd.functional
    value, product = functions.jvp(lambda x: x**2, x, x)
    assert value.dtype == product.dtype == x.dtype
    assert product.tolist() == [0.5, 4.5]
    assert functions.hvp(lambda x: (x**2).sum(), x, x)[1].tolist() == [1.0, 3.0]
    matrix = functions.jacobian(lambda x: x**2, x)
    assert matrix.dtype == x.dtype and matrix.tolist() == [[1.0, 0.0], [0.0, 3.0]]
    assert functions.hessian(lambda x: (x**2).sum(), x).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def constant(lib, x):
    return lib.ones(2, dtype=lib.float64)


def first_alone(lib, x, y):
    return (x**2).sum()


def linear(lib, x):
    return (2 * x).sum()


def squares(lib, x):
    return (x**2).sum()


def products(lib, x):
    return (x * x).sum()


def not_tensors(lib, x):
    return [x]


def detached(lib, x):
    return (x * 2).detach()


ONE, TWO = np.array([2.0]), np.array([2.0, 3.0])
REFUSED = {
    "input that is no tensor": ("vjp", squares, [3.0], {}),
    "inputs that are no tensors": ("jacobian", first_alone, [(ONE, 3.0)], {}),
    "list of inputs": ("hessian", first_alone, [[ONE, ONE]], {}),
    "result that is no tensor": ("jvp", not_tensors, [TWO, TWO], {}),
    "v that is no tensor": ("vjp", squares, [TWO, 3.0], {}),
    "v of another size": ("jvp", squares, [TWO, ONE], {}),
    "v of another size in a tuple": ("jvp", first_alone, [(TWO, TWO), (TWO, ONE)], {}),
    "too few vectors": ("vhp", first_alone, [(TWO, TWO), (TWO,)], {}),
    "too many vectors": ("hvp", squares, [TWO, (TWO, TWO)], {}),
    "vjp without v": ("vjp", rows, [np.ones((2, 2))], {}),
    "jvp without v": ("jvp", rows, [TWO], {}),
    "vhp without v": ("vhp", squares, [TWO], {}),
    "hvp without v": ("hvp", squares, [TWO], {}),
    "hessian of several elements": ("hessian", rows, [np.ones((2, 2))], {}),
    "hessian of a tuple": ("hessian", two_results, [TWO], {}),
    "vhp of several elements": ("vhp", rows, [np.ones((2, 2)), np.ones((2, 2))], {}),
    "hvp of a tuple": ("hvp", two_results, [TWO, TWO], {}),
    "strict and vectorized": ("jacobian", squares, [TWO], {"strict": True, "vectorize": True}),
    "strict, constant": ("vjp", constant, [TWO, TWO], {"strict": True}),
    "strict, constant, jvp": ("jvp", constant, [TWO, TWO], {"strict": True}),
    "strict, detached": ("jacobian", detached, [TWO], {"strict": True}),
    "strict, unused input": ("vjp", first_alone, [(TWO, TWO)], {"strict": True}),
    "strict, unused input, jacobian": ("jacobian", first_alone, [(TWO, TWO)], {"strict": True}),
    "strict, linear, jacobian": ("jacobian", linear, [TWO], {"strict": True, "create_graph": True}),
    "strict, linear, vjp": ("vjp", linear, [TWO], {"strict": True, "create_graph": True}),
    "strict, linear, hessian": ("hessian", linear, [TWO], {"strict": True}),
    "strict, linear, vhp": ("vhp", linear, [TWO, TWO], {"strict": True}),
    "strict, linear, hvp": ("hvp", linear, [TWO, TWO], {"strict": True}),
    "strict, squares, hessian": ("hessian", products, [TWO], {"strict": True, "create_graph": True}),
    "strict, squares, hvp": ("hvp", products, [TWO, TWO], {"strict": True, "create_graph": True}),
    "strategy that there is not": ("jacobian", squares, [TWO], {"strategy": "sideways"}),
}


def words(error):
    """The text of an error, without how the libraries write types and sizes."""
    text = str(error).replace("torch.Size(", "").replace("ocl.", "torch.").replace("tuple(", "")
    for mark in "()[],'`":
        text = text.replace(mark, "")
    return text.split(" Hint: ")[0]


@pytest.mark.parametrize("case", REFUSED)
def test_what_pytorch_refuses(case):
    name, function, arguments, options = REFUSED[case]
    errors = []
    for lib in (torch, ocl):

        def given(value, lib=lib):
            if isinstance(value, (tuple, list)):
                return type(value)(map(given, value))
            return lib.tensor(value) if isinstance(value, np.ndarray) else value

        with pytest.raises((TypeError, RuntimeError, AssertionError)) as raised:
            getattr(lib.autograd.functional, name)(
                lambda *x, lib=lib: function(lib, *x), *map(given, arguments), **options
            )
        errors.append(raised)
    assert errors[1].type is errors[0].type
    assert words(errors[1].value) == words(errors[0].value)


def test_forward_mode():
    functions = ocl.autograd.functional
    x, y = ocl.tensor([0.3, -0.4, 0.5]), ocl.tensor([[1.0, 2.0], [3.0, 4.0]])

    def several(x, y):
        return x.exp().sum() * y, y.prod(0), x

    forward = {"strategy": "forward-mode", "vectorize": True}
    for of_forward, of_reverse in zip(
        functions.jacobian(several, (x, y), **forward), functions.jacobian(several, (x, y)), strict=True
    ):
        for a, b in zip(of_forward, of_reverse, strict=True):
            assert a.shape == b.shape and not a.requires_grad
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)
    assert functions.jacobian(lambda x: x * 2, x, **forward).tolist() == (2 * ocl.eye(3)).tolist()

    def product(x):
        return x.exp().prod() + x[0] ** 3

    outer = functions.hessian(product, x, outer_jacobian_strategy="forward-mode", vectorize=True)
    np.testing.assert_allclose(outer.numpy(), functions.hessian(product, x).numpy(), rtol=1e-5)
    for options in ({"vectorize": False}, {"create_graph": True}):
        with pytest.raises(NotImplementedError):
            functions.jacobian(several, (x, y), **{**forward, **options})
    with pytest.raises(NotImplementedError, match="outer_jacobian_strategy"):
        functions.hessian(product, x, True, outer_jacobian_strategy="forward-mode", vectorize=True)
    with pytest.raises(AssertionError, match="Expected strategy to be either"):
        functions.jacobian(several, (x, y), strategy="forward")
