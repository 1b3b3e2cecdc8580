"""The transforms of ocl.func against torch.func, in float64; functional_call: test_functional_call.py."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest
import torch
import torch.func
from nests import check
from support import has_float64

import ocl

pytestmark = pytest.mark.skipif(not has_float64(), reason="the device has no float64")


Point = namedtuple("Point", ["x", "y"])


def cubes(x):
    return (x**3).sum()


def mixed(x, y):
    return (x.exp() * y).sum() + (x * x).sum() * y.sum()


def waves(x, y):
    return {"a": (x * y).sin(), "b": (x.square().sum(), y * 2)}


@pytest.fixture
def arrays(rng):
    return rng.standard_normal((2, 3)), rng.standard_normal(3)


@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (1, 0), (0, -1)])
def test_gradients_by_arguments(argnums, arrays):
    check(lambda lib, x, y: lib.func.grad(mixed, argnums=argnums)(x, y), *arrays)
    check(lambda lib, x, y: lib.func.grad_and_value(mixed, argnums=argnums)(x, y), *arrays)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (2, 1, 2), (0,)])
def test_gradients_of_shapes(shape, rng):
    x = rng.standard_normal(shape)
    check(lambda lib, x: lib.func.grad(lambda x: (x.sin() * x).sum())(x), x)


def test_gradients_by_nests(arrays):
    x, y = arrays
    nest = {"w": x, "rest": [y, (x * 2,)], "last": OrderedDict(b=y)}

    def loss(tree, scale):
        rest = tree["rest"]
        return scale * ((tree["w"] * rest[0]).sum() + (rest[1][0] ** 2).sum() * tree["last"]["b"].sum())

    found = check(lambda lib, tree: lib.func.grad(loss)(tree, 2.0), nest)
    assert isinstance(found["last"], OrderedDict)
    point = ocl.func.grad(lambda p: (p.x * p.y).sum())(Point(ocl.ones(2), ocl.tensor([3.0, 4.0])))
    assert isinstance(point, Point) and point.x.tolist() == [3, 4]


def test_keywords_are_constants(arrays):
    check(lambda lib, x, y: lib.func.grad(lambda x, *, y: (x * y).sum())(x, y=y), *arrays)
    assert ocl.func.grad(cubes).__name__ == "cubes"


def test_what_comes_beside(arrays):
    def with_aux(x, y):
        return mixed(x, y), {"twice": x * 2, "y": [y]}

    check(lambda lib, x, y: lib.func.grad(with_aux, has_aux=True)(x, y), *arrays)
    check(lambda lib, x, y: lib.func.grad_and_value(with_aux, has_aux=True)(x, y), *arrays)
    check(lambda lib, x, y: lib.func.jacrev(lambda x, y: (x * y, x), has_aux=True)(x, y), *arrays)
    tangents = lambda lib, x, y: lib.func.jvp(  # noqa: E731
        lambda x, y: (x * y, [x]), (x, y), (x, y), has_aux=True
    )
    check(tangents, *arrays)

    def pulled(lib, x, y):
        value, vjp_fn, aux = lib.func.vjp(lambda x, y: (x * y, (x, y)), x, y, has_aux=True)
        return value, vjp_fn(value), aux

    check(pulled, *arrays)


def test_products_with_the_jacobian(arrays):
    def pulled(lib, x, y):
        value, vjp_fn = lib.func.vjp(waves, x, y)
        weights = {"a": x, "b": (lib.ones_like(value["b"][0]), y)}
        return value, vjp_fn(weights), vjp_fn({"a": x * 2, "b": (value["b"][0], y)})

    check(pulled, *arrays)
    check(lambda lib, x: lib.func.vjp(lambda x: x.sin(), x)[1](x), arrays[0])


def test_keys_in_another_order():
    x = ocl.ones(2)
    _, vjp_fn = ocl.func.vjp(lambda x: {"a": x * 2, "b": x * 3}, x)
    assert vjp_fn({"b": ocl.zeros(2), "a": x})[0].tolist() == [2, 2]
    _, product = ocl.func.jvp(lambda t: t["a"] * 2 + t["b"], ({"a": x, "b": x},), ({"b": x * 5, "a": x},))
    assert product.tolist() == [7, 7]


def test_vjp_of_a_graph_that_goes():
    _, vjp_fn = ocl.func.vjp(ocl.exp, ocl.ones(2))
    vjp_fn(ocl.ones(2), retain_graph=False)
    with pytest.raises(RuntimeError, match="second time"):
        vjp_fn(ocl.ones(2))


def test_products_of_the_jacobian(arrays):
    check(lambda lib, x, y: lib.func.jvp(waves, (x, y), (x * 2, y + 1)), *arrays)
    check(lambda lib, x: lib.func.jvp(lambda x: x.sum(0), (x,), (x,)), arrays[0])

    def in_part(lib, x, y):  # one result does not depend on the input, and one is of integers
        return lib.func.jvp(lambda x: (x * y, y * 2, (x > 0).to(lib.int64)), (x,), (x,))

    check(in_part, *arrays)


@pytest.mark.parametrize("argnums", [0, 1, (0,), (1, 0)])
def test_jacobians(argnums, arrays):
    check(lambda lib, x, y: lib.func.jacrev(waves, argnums=argnums)(x, y), *arrays)
    check(lambda lib, x, y: lib.func.jacrev(waves, argnums=argnums, chunk_size=1)(x, y), *arrays)


def test_jacobian_by_a_nest(arrays):
    function = lambda tree: tree["x"] * tree["y"][0]  # noqa: E731
    check(lambda lib, x, y: lib.func.jacrev(function)({"x": x, "y": (y,)}), *arrays)


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_hessians(argnums, arrays):
    check(lambda lib, x, y: lib.func.hessian(mixed, argnums=argnums)(x, y), *arrays)


def test_hessian_by_a_nest(arrays):
    function = lambda tree: (tree["x"] ** 2 * tree["y"]).sum()  # noqa: E731
    check(lambda lib, x, y: lib.func.hessian(function)({"x": x, "y": y}), *arrays)


def test_orders_of_a_polynomial():
    derivative = lambda x: x**5  # noqa: E731
    x = ocl.tensor(2.0, dtype=ocl.float64)
    for expected in (80, 160, 240, 240, 120, 0):
        derivative = ocl.func.grad(derivative)
        assert derivative(x).item() == pytest.approx(expected, rel=1e-12)


NESTED = {
    "gradient of a gradient": lambda f: f.grad(lambda x, y: f.grad(mixed)(x, y).sin().sum(), argnums=1),
    "gradient of a value": lambda f: f.grad(lambda x, y: f.grad_and_value(mixed)(x, y)[1] * x.sum()),
    "gradient of what comes beside": lambda f: f.grad(
        lambda x, y: f.grad(lambda x: (mixed(x, y), x * y), has_aux=True)(x)[1].square().sum()
    ),
    "by a captured tensor": lambda f: f.grad(
        lambda x, y: f.grad(lambda z: (z**2 * x).sum())(y).square().sum()
    ),
    "a captured tensor is a constant": lambda f: f.grad(
        lambda x, y: f.grad(lambda z: (z * x).sum())(x).sum()
    ),
    "of constants within": lambda f: f.grad(
        lambda x, y: (f.grad(cubes)(y).sum() + f.grad(lambda z: (z**2 * x).sum())(y).sum()) * x.sum()
    ),
    "jacobian of a gradient": lambda f: f.jacrev(f.grad(mixed), argnums=(0, 1)),
    "gradient of a jacobian": lambda f: f.grad(lambda x, y: f.jacrev(waves)(x, y)["a"].square().sum()),
    "three jacobians": lambda f: f.jacrev(f.jacrev(f.jacrev(lambda x, y: (x * y).exp().sum(0)))),
    "gradient of a jvp": lambda f: f.grad(
        lambda x, y: f.jvp(lambda z: z.exp() * y, (x,), (x.sin(),))[1].sum(), argnums=1
    ),
    "gradient by tangents": lambda f: f.grad(
        lambda x, y: f.jvp(lambda z: z.exp(), (y,), (x[0],))[1].square().sum()
    ),
    "jvp of a gradient": lambda f: lambda x, y: f.jvp(lambda x: f.grad(mixed)(x, y), (x,), (x * 2,)),
    "jvp of a jvp": lambda f: (
        lambda x, y: f.jvp(lambda x: f.jvp(lambda x: (x**3) * y, (x,), (y * x,))[1], (x,), (x * 2,))
    ),
    "vjp of a vjp": lambda f: lambda x, y: f.vjp(lambda x: f.vjp(lambda x: x.sin() * y, x)[1](x)[0], x)[1](x),
    "gradient by cotangents": lambda f: (
        lambda x, y: f.grad(lambda w: f.vjp(lambda x: x.sin() * y, x)[1](w)[0].square().sum())(x)
    ),
    "hessian times a vector": lambda f: (
        lambda x, y: f.jvp(f.grad(lambda x: mixed(x, y)), (x,), (x.cos(),))[1]
    ),
    "hessian of a norm of a gradient": lambda f: f.hessian(lambda x, y: f.grad(mixed)(x, y).square().sum()),
}


@pytest.mark.parametrize("case", NESTED)
def test_nests_of_transforms(case, arrays):
    found = check(lambda lib, x, y: NESTED[case](lib.func)(x, y), *arrays)
    for tensor in ocl.func.trees.leaves(found):
        assert not tensor.requires_grad


def test_a_graph_goes_on_into_what_requires_gradients(arrays):
    """By arguments that do, and by tensors that the function captures."""

    def run(lib, x, y):
        x.requires_grad_()
        y.requires_grad_()
        slope = lib.func.grad(lambda x: mixed(x, y))(x)
        slope_by_constant = lib.func.grad(lambda z: (z**2 * y).sum())(x.detach())
        value, vjp_fn = lib.func.vjp(lambda z: z.sin() * y, x)
        value_there, product = lib.func.jvp(lambda z: z.sin() * y, (x,), (x * 2,))
        total = sum(
            t.square().sum() for t in (slope, slope_by_constant, value, *vjp_fn(x), value_there, product)
        )
        total.backward()
        return x.grad, y.grad

    check(run, *arrays)


def histories(lib):
    """Whether results of transforms require gradients, where some of what they depend on does."""
    x = lib.ones(3, dtype=lib.float64)
    w = lib.ones(3, dtype=lib.float64, requires_grad=True)
    f = lib.func
    captured = lambda x: (w * x**3).sum()  # noqa: E731
    linear = lambda x: (w * 2).sum() + x.sum()  # noqa: E731
    found = {
        "plain": f.grad(cubes)(x),
        "argument": f.grad(cubes)(w),
        "captured": f.grad(captured)(x),
        "captured, but not by the gradient": f.grad(linear)(x),
        "value": f.grad_and_value(cubes)(x),
        "value, captured": f.grad_and_value(linear)(x),
        "beside": f.grad(lambda x: (cubes(x), (x * 2, w * 2, x)), has_aux=True)(x),
        "jacrev": f.jacrev(lambda x: x**3)(x),
        "jacrev, captured": f.jacrev(lambda x: x**3 * w)(x),
        "hessian": f.hessian(cubes)(x),
        "hessian, captured": f.hessian(captured)(x),
        "jvp": f.jvp(lambda x: x**3, (x,), (x,)),
        "jvp, tangents": f.jvp(lambda x: x**3, (x,), (w,)),
        "jvp, captured": f.jvp(lambda x: x**3 * w, (x,), (x,)),
        "nested": f.grad(lambda x: f.grad(captured)(x).sum())(x),
        "nested, plain": f.grad(lambda x: f.grad(cubes)(x).sum())(x),
    }
    for name, function, at in (("vjp", lambda x: x**3, x), ("vjp, captured", lambda x: x**3 * w, x)):
        value, vjp_fn = f.vjp(function, at)
        with lib.no_grad():
            unrecorded = vjp_fn(x)
        found[name] = (value, vjp_fn(x), vjp_fn(w), unrecorded)
    with lib.no_grad():
        found["off"] = (
            f.grad(captured)(x),
            f.grad(cubes)(w),
            f.jvp(captured, (x,), (w,)),
            f.jacrev(captured)(w),
        )
    return {name: [t.requires_grad for t in ocl.func.trees.leaves(nest)] for name, nest in found.items()}


def test_results_have_a_history_where_pytorchs_have():
    assert histories(ocl) == histories(torch)


def test_results_have_a_history_wherever_pytorchs_have():
    ours, theirs = histories(ocl), histories(torch)
    assert all(
        mine or not other for name in ours for mine, other in zip(ours[name], theirs[name], strict=True)
    )


def test_nothing_is_added_to_leaves():
    x, w = ocl.ones(3, requires_grad=True), ocl.ones(3, requires_grad=True)
    ocl.func.hessian(lambda x: (w * x**3).sum())(x)
    ocl.func.jvp(lambda x: w * x**3, (x,), (x,))
    assert x.grad is None and w.grad is None


def test_recording_that_is_off(arrays):
    def run(lib, x, y):
        with lib.no_grad():
            return lib.func.grad(mixed)(x, y), lib.func.hessian(mixed)(x, y), lib.func.jvp(cubes, (x,), (x,))

    def off_within(lib, x, y):
        def function(x):
            with lib.no_grad():
                constant = x**2
            return (x**2 * constant).sum()

        return lib.func.grad(function)(x), lib.func.grad(lambda x: lib.func.grad(function)(x).sum())(x)

    check(run, *arrays)
    check(off_within, *arrays)
    assert ocl.is_grad_enabled()


def test_a_function_that_raises():
    def raises(x):
        raise KeyError("here")

    with ocl.no_grad():
        for call in (
            lambda f: f.grad(raises),
            lambda f: f.jacrev(raises),
            lambda f: lambda x: f.vjp(raises, x),
        ):
            with pytest.raises(KeyError, match="here"):
                call(ocl.func)(ocl.ones(2))
        assert not ocl.is_grad_enabled()
    assert ocl.func.grad(cubes)(ocl.ones(2)).tolist() == [3, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_dtypes(dtype):
    x = ocl.tensor([0.5, 2.0], dtype=getattr(ocl, dtype))
    for found in (
        ocl.func.grad(lambda x: (x**2).sum())(x),
        ocl.func.jvp(lambda x: x**2, (x,), (ocl.ones_like(x),))[1],
        ocl.func.vjp(lambda x: x**2, x)[1](ocl.ones_like(x))[0],
    ):
        assert found.dtype == x.dtype and found.tolist() == [1.0, 4.0]
    assert ocl.func.hessian(lambda x: (x**2).sum())(x).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def steps_of_a_net(lib, x, t, w1, b1, w2):
    """The gradient of a loss, and its Hessian times a vector, by a dict of weights."""

    def loss(weights):
        hidden = lib.tanh(x @ weights["w1"] + weights["b1"])
        return (hidden @ weights["w2"] - t).square().mean()

    weights = {"w1": w1, "b1": b1, "w2": w2}
    direction = {name: w.cos() for name, w in weights.items()}
    return lib.func.grad_and_value(loss)(weights), lib.func.jvp(lib.func.grad(loss), (weights,), (direction,))


def test_hessian_times_vector_of_a_net(rng):
    shapes = [(7, 3), (7, 2), (3, 5), (5,), (5, 2)]
    check(steps_of_a_net, *(rng.standard_normal(shape) for shape in shapes))


def test_slopes_of_a_net_by_its_input(rng):
    """The residual of an equation, whose gradient is by the parameters that the net keeps."""
    points = rng.uniform(-1, 1, (5, 1))
    weights = [rng.standard_normal(shape) for shape in ((8, 1), (8,), (1, 8), (1,))]

    def run(lib, points, *weights):
        net = lib.nn.Sequential(lib.nn.Linear(1, 8), lib.nn.Tanh(), lib.nn.Linear(8, 1)).to(dtype=lib.float64)
        with lib.no_grad():
            for parameter, weight in zip(net.parameters(), weights, strict=True):
                parameter.copy_(weight)
        slope = lib.func.grad(lambda x: net(x).sum())
        bend = lib.func.grad(lambda x: slope(x).sum())
        loss = ((bend(points) + slope(points) * net(points)) ** 2).mean()
        loss.backward()
        return [loss, *(p.grad for p in net.parameters())]

    check(run, points, *weights)


ONES = np.ones(3)
REFUSED = {
    "no tensor": lambda lib, x: lib.func.grad(cubes)(3),
    "a number in a nest": lambda lib, x: lib.func.grad(lambda t: t[0].sum())((x, 3.0)),
    "result with dimensions": lambda lib, x: lib.func.grad(lambda x: x)(x),
    "result that is no tensor": lambda lib, x: lib.func.grad(lambda x: 3.0)(x),
    "argument that is not there": lambda lib, x: lib.func.grad(cubes, argnums=1)(x),
    "no argument": lambda lib, x: lib.func.grad(cubes, argnums=())(x),
    "an argument twice": lambda lib, x: lib.func.grad(lambda x, y: cubes(x), argnums=(0, 0))(x, x),
    "argnums of another type": lambda lib, x: lib.func.grad(cubes, argnums="a")(x),
    "argnum of another type": lambda lib, x: lib.func.grad(cubes, argnums=(0.5,))(x),
    "nothing beside": lambda lib, x: lib.func.grad(cubes, has_aux=True)(x),
    "no tensor beside": lambda lib, x: lib.func.grad(lambda x: (cubes(x), 3), has_aux=True)(x),
    "vjp of numbers": lambda lib, x: lib.func.vjp(lambda x: 3, x),
    "vjp of nothing": lambda lib, x: lib.func.vjp(lambda x: None, x),
    "vjp of integers": lambda lib, x: lib.func.vjp(lambda x: x.to(lib.int64), x),
    "vjp, nothing beside": lambda lib, x: lib.func.vjp(cubes, x, has_aux=True),
    "cotangents of another form": lambda lib, x: lib.func.vjp(lambda x: x, x)[1]((x, x)),
    "cotangents of another size": lambda lib, x: lib.func.vjp(lambda x: x, x)[1](x[:2]),
    "primals that are no tuple": lambda lib, x: lib.func.jvp(cubes, x, x),
    "no primals": lambda lib, x: lib.func.jvp(cubes, (), ()),
    "primals that are numbers": lambda lib, x: lib.func.jvp(cubes, (3,), (3,)),
    "jvp of numbers": lambda lib, x: lib.func.jvp(lambda x: 3, (x,), (x,)),
    "jvp of a constant": lambda lib, x: lib.func.jvp(lambda y: x * 2, (x,), (x,), strict=True),
    "jvp, nothing beside": lambda lib, x: lib.func.jvp(cubes, (x,), (x,), has_aux=True),
    "jacobian of numbers": lambda lib, x: lib.func.jacrev(lambda x: 3)(x),
    "chunks of nothing": lambda lib, x: lib.func.jacrev(cubes, chunk_size=0),
}


def words(error):
    """The text of an error, without how the libraries write types and sizes."""
    text = str(error).replace("torch.Size(", "").replace("ocl.", "torch.")
    for mark in "()[],":
        text = text.replace(mark, "")
    return text


@pytest.mark.parametrize("case", REFUSED)
def test_what_pytorch_refuses(case):
    errors = []
    for lib in (torch, ocl):
        with pytest.raises((RuntimeError, ValueError)) as raised:
            REFUSED[case](lib, lib.tensor(ONES))
        errors.append(raised)
    assert errors[1].type is errors[0].type
    assert words(errors[1].value) == words(errors[0].value)


def test_tangents_that_do_not_fit():
    x = ocl.ones(3)
    with pytest.raises(RuntimeError, match=r"size \(3,\) while the given tangent is of size \(2,\)"):
        ocl.func.jvp(cubes, (x,), (ocl.ones(2),))
    with pytest.raises(RuntimeError, match="same python structure"):
        ocl.func.jvp(cubes, (x,), (x, x))
    with pytest.raises(RuntimeError, match="floating"):
        ocl.func.grad(cubes)(ocl.ones(2, dtype=ocl.int64))
