"""Independent, transformed and mixed distributions, the general divergences, and errors."""

import numpy as np
import pytest
import torch
from distribution_cases import made
from support import skip_without, to_numpy

import ocl
import ocl.distributions

BOTH = (ocl, torch)


@pytest.fixture(autouse=True)
def float64():
    skip_without("float64")


def tensor(lib, array):
    return lib.tensor(np.asarray(array).tolist(), dtype=lib.float64)


def normal(lib, rng_seed, shape, **options):
    rng = np.random.default_rng(rng_seed)
    arrays = {"loc": rng.uniform(-1, 1, shape), "scale": rng.uniform(0.5, 2, shape)}
    return made(lib, "Normal", arrays, **options)[0]


def independent(lib, seed=0):
    return lib.distributions.Independent(normal(lib, seed, (2, 3)), 1)


def mixture(lib):
    rng = np.random.default_rng(3)
    weights = lib.distributions.Categorical(tensor(lib, rng.dirichlet(np.ones(4), 2)))
    return lib.distributions.MixtureSameFamily(weights, normal(lib, 4, (2, 4)))


def mixture_of_vectors(lib):
    weights = lib.distributions.Categorical(tensor(lib, [0.2, 0.5, 0.3]))
    return lib.distributions.MixtureSameFamily(
        weights, lib.distributions.Independent(normal(lib, 5, (3, 2)), 1)
    )


def transformed(lib, seed=1):
    d = lib.distributions
    return d.TransformedDistribution(
        normal(lib, seed, (2, 3)), [d.AffineTransform(1.0, -2.0), d.ExpTransform()]
    )


def transformed_to_simplex(lib, seed=2):
    d = lib.distributions
    return d.TransformedDistribution(normal(lib, seed, (2, 3)), d.StickBreakingTransform())


def broadcasting(lib, seed=2):
    d = lib.distributions
    shifts = tensor(lib, [[1.0, 2, 3], [4, 5, 6]])
    return d.TransformedDistribution(normal(lib, seed, (3,)), [d.AffineTransform(shifts, 2.0)])


MADE = [independent, mixture, mixture_of_vectors, transformed, transformed_to_simplex, broadcasting]
each = pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)


def close(actual, expected):
    assert tuple(actual.shape) == tuple(expected.shape)
    np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), rtol=1e-7, atol=1e-10)


def compared(make, compute):
    """compute(distribution, value) for both libraries; NotImplementedError must come from both."""
    torch.manual_seed(0)
    value = make(torch).sample((4,))
    try:
        expected = compute(make(torch), value)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            compute(make(ocl), tensor(ocl, value))
    else:
        close(compute(make(ocl), tensor(ocl, value)), expected)


@each
def test_like_torch(make):
    compared(make, lambda d, value: d.log_prob(value))
    compared(make, lambda d, value: d.cdf(value))
    compared(make, lambda d, value: d.icdf(value * 0 + 0.3))
    compared(make, lambda d, value: d.entropy())
    for name in ("mean", "mode", "variance"):
        compared(make, lambda d, value, name=name: getattr(d, name))


@each
def test_shapes(make):
    ours, reference = make(ocl), make(torch)
    assert (ours.batch_shape, ours.event_shape) == (
        tuple(reference.batch_shape),
        tuple(reference.event_shape),
    )
    assert ours.has_rsample == reference.has_rsample
    assert ours.sample((5, 2)).shape == tuple(reference.sample((5, 2)).shape)
    shape = (4, *reference.batch_shape)
    wide, expected = ours.expand(shape), reference.expand(shape)
    assert (wide.batch_shape, wide.event_shape) == (tuple(expected.batch_shape), tuple(expected.event_shape))
    value = expected.sample()
    close(wide.log_prob(tensor(ocl, value)), expected.log_prob(value))
    assert ours.support.check(ours.sample((20,))).all().item()
    with pytest.raises(ValueError):
        ours.log_prob(ocl.full((9, 9), float("nan"), dtype=ocl.float64))


@each
def test_draws(make):
    ocl.manual_seed(0)
    ours = make(ocl)
    drawn = to_numpy(ours.sample((20000,)))
    torch.manual_seed(0)
    expected = make(torch).sample((20000,)).numpy()
    for part in (np.quantile(drawn, q, axis=0) - np.quantile(expected, q, axis=0) for q in (0.1, 0.5, 0.9)):
        assert (np.abs(part) < 0.1 * expected.std(0)).all()


def test_a_mixtures_gradients(rng):
    logits, loc = rng.uniform(-1, 1, (2, 4)), rng.uniform(-1, 1, (2, 4))
    gradients = []
    for lib in BOTH:
        d = lib.distributions
        tensors = [tensor(lib, array).requires_grad_() for array in (logits, loc)]
        mixed = d.MixtureSameFamily(d.Categorical(logits=tensors[0]), d.Normal(tensors[1], 1.0))
        mixed.log_prob(tensor(lib, [0.3, -0.7])).sum().backward()
        gradients.append([t.grad for t in tensors])
    for actual, expected in zip(*gradients, strict=True):
        close(actual, expected)


@pytest.mark.parametrize("make", [independent, transformed], ids=lambda make: make.__name__)
def test_divergences(make):
    actual, expected = (lib.distributions.kl_divergence(make(lib, 0), make(lib, 1)) for lib in BOTH)
    close(actual, expected)


def test_divergences_that_are_not_known():
    d = ocl.distributions
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(d.VonMises(0.0, 1.0), d.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        d.kl_divergence(transformed(ocl), d.LogNormal(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        d.kl_divergence(independent(ocl), d.Independent(normal(ocl, 0, (2, 3)), 2))
    with pytest.raises(TypeError, match="Distribution subclass"):
        d.register_kl(int, d.Normal)


def test_registered_divergences_and_their_nearest_bases():
    d = ocl.distributions

    class Mine(d.Normal):
        pass

    mine, other = Mine(0.0, 1.0), d.Normal(1.0, 1.0)
    assert d.kl_divergence(mine, other).item() == 0.5  # by its base class
    d.register_kl(Mine, d.Normal)(lambda p, q: "p")
    d.register_kl(d.Normal, Mine)(lambda p, q: "q")
    assert d.kl_divergence(mine, other) == "p"
    with pytest.warns(RuntimeWarning, match="Ambiguous"):
        assert d.kl_divergence(mine, mine) == "p"


@pytest.mark.parametrize("kind", ["Bernoulli", "Binomial"])
def test_divergence_of_impossible_outcomes(kind):
    results = []
    for lib in BOTH:
        of_p, of_q = (
            made(lib, kind, {"probs": np.array(v)})[0] for v in ([0, 1, 0.5, 0.5], [0.3, 0.3, 0.2, 0.9])
        )
        results.append(lib.distributions.kl_divergence(of_p, of_q))
    close(*results)


def test_uniforms_that_do_not_cover():
    d = ocl.distributions
    assert d.kl_divergence(d.Uniform(0.0, 2.0), d.Uniform(0.0, 1.0)).item() == float("inf")


def test_errors():
    d = ocl.distributions
    for make, message in (
        (lambda: d.Bernoulli(), "Either `probs` or `logits`"),
        (lambda: d.Bernoulli(0.5, 0.0), "Either `probs` or `logits`"),
        (lambda: d.Categorical(ocl.tensor(0.5)), "at least one-dimensional"),
        (lambda: d.Dirichlet(ocl.tensor(0.5)), "at least one-dimensional"),
        (lambda: d.Normal(0.0, "a"), "must all be instances"),
        (lambda: d.Normal(0.0, -1.0), "to satisfy the constraint"),
        (lambda: d.Uniform(1.0, 0.0), "low>= high"),
        (lambda: d.Independent(d.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims"),
        (lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), 3), "must be a Transform"),
        (
            lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), d.SoftmaxTransform()),
            "shape with size at least",
        ),
        (lambda: d.MixtureSameFamily(d.Normal(0.0, 1.0), d.Normal(0.0, 1.0)), "Categorical"),
        (
            lambda: d.MixtureSameFamily(d.Categorical(ocl.ones(3)), d.Normal(ocl.zeros(2), 1.0)),
            "does not equal",
        ),
        (lambda: d.Distribution.set_default_validate_args("no"), "validate_args"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(NotImplementedError):
        d.Bernoulli(0.5).rsample()


def test_validation_can_be_turned_off():
    d = ocl.distributions
    assert d.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    assert d.Uniform(0.0, 1.0, validate_args=False).log_prob(ocl.tensor(2.0)).item() == -float("inf")
    try:
        d.Distribution.set_default_validate_args(False)
        d.Normal(0.0, -1.0)
    finally:
        d.Distribution.set_default_validate_args(__debug__)


def test_repr():
    d = ocl.distributions
    assert repr(d.Normal(ocl.zeros((2, 3)), 1.0)) == "Normal(loc: ocl.Size([2, 3]), scale: ocl.Size([2, 3]))"
    assert repr(d.Independent(d.Poisson(ocl.ones(3)), 1)) == "Independent(Poisson(rate: ocl.Size([3])), 1)"
    assert repr(d.constraints.interval(0.0, 1.0)) == "Interval(lower_bound=0.0, upper_bound=1.0)"
