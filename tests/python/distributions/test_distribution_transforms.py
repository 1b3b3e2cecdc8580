"""Transforms, constraints and their registries, compared with PyTorch's of the same name."""

import numpy as np
import pytest
import torch
from support import skip_without, to_numpy

import ocl
import ocl.distributions
from ocl.distributions import biject_to, constraints, transform_to


@pytest.fixture(autouse=True)
def float64():
    skip_without("float64")


def tensor(lib, array):
    return lib.tensor(np.asarray(array).tolist(), dtype=lib.float64)


# A row: a transform of a library, and a function that draws its inputs.
def of(make, inputs=lambda rng: rng.uniform(-2, 2, (2, 3))):
    return make, inputs


def positive(rng):
    return rng.uniform(0.2, 3, (2, 3))


TRANSFORMS = {
    "abs": of(lambda d, lib: d.AbsTransform()),
    "affine": of(lambda d, lib: d.AffineTransform(1.5, -2.0)),
    "affine of tensors": of(
        lambda d, lib: d.AffineTransform(tensor(lib, [1.0, 2, 3]), tensor(lib, [0.5, -1, 2]))
    ),
    "affine of vectors": of(lambda d, lib: d.AffineTransform(0.5, 3.0, event_dim=1)),
    "exp": of(lambda d, lib: d.ExpTransform()),
    "power": of(lambda d, lib: d.PowerTransform(tensor(lib, [0.5, 2, -1])), positive),
    "sigmoid": of(lambda d, lib: d.SigmoidTransform()),
    "softplus": of(lambda d, lib: d.SoftplusTransform()),
    "tanh": of(lambda d, lib: d.TanhTransform()),
    "inverse": of(lambda d, lib: d.ExpTransform().inv, positive),
    "composed": of(lambda d, lib: d.ComposeTransform([d.AffineTransform(0.5, 2.0), d.ExpTransform()])),
    "composed to vectors": of(
        lambda d, lib: d.ComposeTransform([d.TanhTransform(), d.StickBreakingTransform(), d.ExpTransform()])
    ),
    "independent": of(lambda d, lib: d.IndependentTransform(d.ExpTransform(), 1)),
    "reshaped": of(lambda d, lib: d.ReshapeTransform((2, 3), (6,))),
    "softmax": of(lambda d, lib: d.SoftmaxTransform()),
    "stick breaking": of(lambda d, lib: d.StickBreakingTransform()),
    "cat": of(lambda d, lib: d.CatTransform([d.ExpTransform(), d.TanhTransform()], -1, [1, 2])),
    "stack": of(lambda d, lib: d.StackTransform([d.ExpTransform(), d.SigmoidTransform()], 0)),
    "cumulative": of(
        lambda d, lib: d.CumulativeDistributionTransform(d.Normal(tensor(lib, 0.5), tensor(lib, 1.5)))
    ),
    "lower cholesky": of(
        lambda d, lib: d.LowerCholeskyTransform(), lambda rng: rng.uniform(-1, 1, (2, 3, 3))
    ),
    "corr cholesky": of(lambda d, lib: d.CorrCholeskyTransform(), lambda rng: rng.uniform(-1, 1, (2, 6))),
    "corr cholesky of two": of(
        lambda d, lib: d.CorrCholeskyTransform(), lambda rng: rng.uniform(-1, 1, (2, 1))
    ),
}


def pair(name, rng):
    make, inputs = TRANSFORMS[name]
    x = inputs(rng)
    modules = {ocl: ocl.distributions, torch: torch.distributions}
    for lib, module in modules.items():
        names = type(
            "Names", (), {n: getattr(module.transforms, n) for n in torch.distributions.transforms.__all__}
        )
        names.Normal = module.Normal
        yield make(names, lib), tensor(lib, x).requires_grad_()


def close(actual, expected, rtol=1e-8):
    assert tuple(actual.shape) == tuple(expected.shape)
    np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform_like_torch(name, rng):
    (ours, x), (reference, expected_x) = pair(name, rng)
    y, expected_y = ours(x), reference(expected_x)
    close(y, expected_y)
    close(ours.inv(y.detach()), reference.inv(expected_y.detach()))
    assert ours.bijective == reference.bijective
    assert repr(ours.domain) == repr(reference.domain).replace("IndependentConstraint", "Independent")
    assert ours.codomain.event_dim == reference.codomain.event_dim
    assert ours.codomain.check(y).all().item()
    assert ours.inv.inv is ours
    try:
        expected = reference.log_abs_det_jacobian(expected_x, expected_y)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ours.log_abs_det_jacobian(x, y)
        return
    close(ours.log_abs_det_jacobian(x, y), expected)
    if expected.requires_grad:
        ours.log_abs_det_jacobian(x, y).sum().backward()
        expected.sum().backward()
        close(x.grad, expected_x.grad, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if name not in ("cat", "stack", "cumulative")])
def test_shapes_of_transforms(name, rng):
    (ours, x), (reference, _) = pair(name, rng)
    shape = ours.forward_shape(x.shape)
    assert shape == tuple(reference.forward_shape(torch.Size(x.shape)))
    assert ours.inverse_shape(shape) == tuple(reference.inverse_shape(torch.Size(shape)))


def test_a_cache_gives_the_input_back():
    transform = ocl.distributions.ExpTransform(cache_size=1)
    x = ocl.randn((3,))
    assert transform.inv(transform(x)) is x
    assert ocl.distributions.ExpTransform().with_cache()._cache_size == 1
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        ocl.distributions.ExpTransform(cache_size=2)


def test_equality_of_transforms():
    d = ocl.distributions
    assert d.ExpTransform() == d.ExpTransform() != d.TanhTransform()
    assert d.AffineTransform(1.0, 2.0) == d.AffineTransform(1.0, 2.0) != d.AffineTransform(1.0, 3.0)
    assert d.ComposeTransform([d.ExpTransform()]) == d.ComposeTransform([d.ExpTransform()])
    assert d.ExpTransform().inv == d.ExpTransform().inv != d.ExpTransform()


def test_transforms_refuse_wrong_shapes():
    d = ocl.distributions
    with pytest.raises(ValueError, match="different numbers of elements"):
        d.ReshapeTransform((2, 3), (5,))
    with pytest.raises(ValueError, match="Too few dimensions"):
        d.IndependentTransform(d.ExpTransform(), 2)(ocl.zeros(3))
    with pytest.raises(ValueError, match="lower triangular part"):
        d.CorrCholeskyTransform()(ocl.zeros(5))


VALUES = [[-1.5, 0.0, 0.5], [1.0, 2.0, 7.0], [0.25, 0.25, 0.5], [0.0, 1.0, 0.0], [float("nan"), 3.0, -2.0]]
CONSTRAINTS = {
    name: lambda c, name=name: getattr(c, name)
    for name in (
        "boolean one_hot nonnegative_integer positive_integer real real_vector positive nonnegative "
        "unit_interval simplex"
    ).split()
} | {
    "integer_interval": lambda c: c.integer_interval(-1, 2),
    "greater_than": lambda c: c.greater_than(0.25),
    "greater_than_eq": lambda c: c.greater_than_eq(0.25),
    "less_than": lambda c: c.less_than(1.0),
    "interval": lambda c: c.interval(-1.5, 1.0),
    "half_open_interval": lambda c: c.half_open_interval(-1.5, 1.0),
    "multinomial": lambda c: c.multinomial(3),
    "independent": lambda c: c.independent(c.positive, 1),
    "cat": lambda c: c.cat([c.positive, c.real], -1, [1, 2]),
    "stack": lambda c: c.stack([c.positive, c.real, c.unit_interval], -1),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraint_like_torch(name):
    ours, reference = (CONSTRAINTS[name](lib) for lib in (constraints, torch.distributions.constraints))
    assert ours.check(tensor(ocl, VALUES)).tolist() == reference.check(tensor(torch, VALUES)).tolist()
    assert (ours.is_discrete, ours.event_dim) == (reference.is_discrete, reference.event_dim)


@pytest.mark.parametrize(
    "name", ["lower_triangular", "lower_cholesky", "corr_cholesky", "square", "symmetric"]
)
def test_constraint_of_matrices_like_torch(name):
    matrices = [
        [[1.0, 0], [0, 1]],
        [[1, 2], [2, 1]],
        [[1, 0], [0.6, 0.8]],
        [[-1, 0], [3, 1]],
        [[1, 2], [3, 4]],
    ]
    expected = getattr(torch.distributions.constraints, name).check(tensor(torch, matrices))
    assert getattr(constraints, name).check(tensor(ocl, matrices)).tolist() == expected.tolist()


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_registry_like_torch(name, registry, rng):
    ours, reference = (CONSTRAINTS[name](lib) for lib in (constraints, torch.distributions.constraints))
    x = rng.uniform(-2, 2, (4, 3))
    try:
        expected = getattr(torch.distributions, registry)(reference)(tensor(torch, x))
    except NotImplementedError:
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            getattr(ocl.distributions, registry)(ours)
        return
    y = getattr(ocl.distributions, registry)(ours)(tensor(ocl, x))
    close(y, expected)
    assert ours.check(y).all().item()


def test_registering():
    class Even(constraints.Constraint):
        pass

    transform_to.register(Even, lambda constraint: ocl.distributions.ExpTransform())
    assert transform_to(Even()) == ocl.distributions.ExpTransform()
    with pytest.raises(NotImplementedError):
        biject_to(Even())
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        biject_to.register(3, lambda constraint: None)
    assert constraints.is_dependent(constraints.dependent) and not constraints.is_dependent(constraints.real)
    with pytest.raises(ValueError, match="dependent"):
        constraints.dependent.check(ocl.zeros(1))
    with pytest.raises(NotImplementedError, match="statically"):
        _ = constraints.dependent.event_dim


def test_positive_definite_matrices(rng):
    x = rng.uniform(-1, 1, (2, 3, 3))
    ours, reference = (lib.distributions.PositiveDefiniteTransform() for lib in (ocl, torch))
    y, expected = ours(tensor(ocl, x)), reference(tensor(torch, x))
    close(y, expected)
    close(ours.inv(y), reference.inv(expected))
    close(transform_to(constraints.positive_definite)(tensor(ocl, x)), expected)
    for matrices in (y, -y, y + tensor(ocl, np.triu(np.ones((3, 3)), 1))):
        reference = torch.tensor(to_numpy(matrices))
        for name in ("positive_definite", "positive_semidefinite"):
            expected = getattr(torch.distributions.constraints, name).check(reference)
            assert getattr(constraints, name).check(matrices).tolist() == expected.tolist()
