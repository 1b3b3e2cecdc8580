"""Draws: their moments and distribution, their gradients, and the seed that repeats them."""

import math

import numpy as np
import pytest
import scipy.special
import torch
from distribution_cases import CASES, class_of, made
from support import skip_without, to_numpy

import ocl
from ocl import distributions
from ocl.special.incomplete_gamma import gammainc, log_sample_slope

COUNT = 20000
KOLMOGOROV_SMIRNOV = 2.0 / math.sqrt(COUNT)  # exceeded once in 1500 draws by chance; the seed is fixed

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.given)


def of_case(case, rng, **options):
    skip_without("float64")
    return made(ocl, case.name, case.arrays(rng, (3,)), **options)


@each_case
def test_moments_of_draws(case, rng):
    ours, _ = of_case(case, rng)
    try:
        mean, variance = to_numpy(ours.mean), to_numpy(ours.variance)
    except NotImplementedError:
        return
    if case.name == "VonMises" or not np.isfinite(variance).all():
        return  # The variance is a circular one, or there is none: the cdf is compared.
    ocl.manual_seed(1)
    drawn = to_numpy(ours.sample((COUNT,)))
    spread = np.sqrt(variance / COUNT)
    assert (np.abs(drawn.mean(0) - mean) < 5 * spread + 1e-12).all()
    fourth = ((drawn - mean) ** 4).mean(0)
    assert (np.abs(drawn.var(0) - variance) < 5 * np.sqrt(fourth / COUNT) + 1e-12).all()


def ranks(drawn, reference):
    """The cdf at sorted draws; where PyTorch has none, its density is integrated by trapezoids."""
    try:
        return reference.cdf(torch.tensor(drawn)).numpy()
    except NotImplementedError:
        grid = np.linspace(drawn.min(0) - 1e-3, drawn.max(0) + 1e-3, 200001)
        reference._validate_args = False
        density = np.nan_to_num(reference.log_prob(torch.tensor(grid)).exp().numpy())
        steps = (density[1:] + density[:-1]) / 2 * np.diff(grid, axis=0)
        total = np.concatenate([np.zeros((1, density.shape[1])), np.cumsum(steps, 0)])
        columns = [np.interp(drawn[:, i], grid[:, i], total[:, i]) for i in range(total.shape[1])]
        return np.stack(columns, 1)


SMOOTH = """
    Cauchy Chi2 ContinuousBernoulli Exponential Gamma GeneralizedPareto Gumbel HalfCauchy HalfNormal
    InverseGamma Kumaraswamy Laplace LogNormal LogitRelaxedBernoulli Normal Pareto Uniform VonMises Weibull
""".split()


@pytest.mark.parametrize("case", [c for c in CASES if c.name in SMOOTH], ids=lambda case: case.given)
def test_distribution_of_continuous_draws(case, rng):
    skip_without("float64")
    arrays = case.arrays(rng, (3,))
    reference, _ = made(torch, case.name, arrays)
    ocl.manual_seed(2)
    drawn = np.sort(to_numpy(made(ocl, case.name, arrays)[0].sample((COUNT,))), 0)
    expected = ranks(drawn, reference)
    steps = np.arange(1, COUNT + 1)[:, None] / COUNT
    assert np.abs(expected - steps).max() < KOLMOGOROV_SMIRNOV


@pytest.mark.parametrize(("a", "b"), [(0.4, 0.7), (2.0, 0.5), (5.0, 3.0), (0.01, 0.02)])
def test_distribution_of_beta_draws(a, b):
    skip_without("float64")
    ocl.manual_seed(3)
    ours, _ = made(ocl, "Beta", {"concentration1": np.array(a), "concentration0": np.array(b)})
    drawn = np.sort(to_numpy(ours.sample((COUNT,))))
    assert not np.isnan(drawn).any()
    inner = (drawn > 1e-15) & (drawn < 1 - 1e-12)  # Nearer to the ends float64 cannot tell values apart.
    expected = scipy.special.betainc(a, b, drawn)
    assert np.abs(expected - np.arange(1, COUNT + 1) / COUNT)[inner].max() < KOLMOGOROV_SMIRNOV


COUNTS = [
    case
    for case in CASES
    if case.name in ("Binomial", "Geometric", "NegativeBinomial", "Poisson", "Bernoulli")
]


@pytest.mark.parametrize("case", COUNTS, ids=lambda case: case.given)
def test_distribution_of_counts(case, rng):
    skip_without("float64")
    arrays = case.arrays(rng, (3,))
    ocl.manual_seed(4)
    drawn = to_numpy(made(ocl, case.name, arrays)[0].sample((COUNT,)))
    values = torch.arange(int(drawn.max()) + 1, dtype=torch.float64)[:, None]
    reference, _ = made(torch, case.name, arrays, validate_args=False)
    probabilities = reference.log_prob(values).exp().numpy()
    counted = np.stack([(drawn <= v).mean(0) for v in range(len(values))])
    assert np.abs(np.nancumsum(probabilities, 0) - counted).max() < KOLMOGOROV_SMIRNOV


@pytest.mark.parametrize("case", [c for c in CASES if c.name == "Categorical"], ids=lambda case: case.given)
def test_frequencies_of_categories(case, rng):
    ours, _ = of_case(case, rng)
    ocl.manual_seed(5)
    frequencies = np.stack(
        [(to_numpy(ours.sample((COUNT,))) == k).mean(0) for k in range(ours.probs.shape[-1])], -1
    )
    np.testing.assert_allclose(frequencies, to_numpy(ours.probs), atol=0.02)


@pytest.mark.parametrize(("n", "p"), [(0, 0.5), (5, 0.0), (50, 0.0), (5, 1.0), (50, 1.0)])
def test_sure_numbers(n, p):
    drawn = distributions.Binomial(ocl.tensor(float(n)), ocl.tensor(p)).sample((100,))
    assert (drawn == n * p if p != 0.5 else drawn == 0).all().item()
    assert (distributions.Poisson(0.0).sample((100,)) == 0).all().item()


@each_case
def test_a_seed_repeats_draws(case, rng):
    ours, _ = of_case(case, rng)
    draws = []
    for seed in (7, 7, 8):
        ocl.manual_seed(seed)
        draws.append(to_numpy(ours.sample((50,))))
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()


@each_case
def test_draws_lie_in_the_support_and_have_no_history(case, rng):
    ours, _ = of_case(case, rng, requires_grad=True)
    drawn = ours.sample((500,))
    assert not drawn.requires_grad
    assert ours.support.check(drawn).all().item()


@each_case
def test_gradients_of_means(case, rng):
    """The gradient of the draws' mean is near that of the mean's formula, by the gradients' own spread."""
    ours, parameters = of_case(case, rng, requires_grad=True)
    if not ours.has_rsample:
        with pytest.raises(NotImplementedError):
            ours.rsample()
        return
    ocl.manual_seed(9)
    drawn = ours.rsample((COUNT // 4,))
    assert drawn.requires_grad
    drawn.mean(0).sum().backward()
    gradients = {name: to_numpy(parameter.grad) for name, parameter in parameters.items()}
    assert all(np.isfinite(gradient).all() for gradient in gradients.values())
    try:
        mean = ours.mean
    except NotImplementedError:
        return
    if not mean.requires_grad or "Categorical" in case.name or case.name == "Cauchy":
        return  # A one-hot draw's gradient is not that of its mean, and Cauchy has none.
    if case.given == "ContinuousBernoulli-logits":
        return  # Near 1/2 its draws are the uniform numbers, as in PyTorch, and have no gradient.
    fresh, parameters = made(
        ocl, case.name, {k: to_numpy(v) for k, v in _held(ours, case).items()}, requires_grad=True
    )
    fresh.mean.sum().backward()
    for name, gradient in gradients.items():
        # At concentration 0 the exponential distribution's formulas serve, which know of no concentration.
        flat = case.name == "GeneralizedPareto" and name == "concentration" and not gradient.any()
        if parameters[name].grad is not None and not flat:
            expected = to_numpy(parameters[name].grad)
            scale = np.abs(expected).max() + to_numpy(ours.stddev.detach()).max()
            np.testing.assert_allclose(gradient, expected, atol=0.15 * scale)


def _held(distribution, case):
    return {name: getattr(distribution, name).detach() for name in case.parameters}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("low", "high"), [(0.01, 1), (1, 8), (8, 100), (100, 1e4), (1e4, 1e6)])
def test_implicit_gradients_of_gamma(low, high, dtype, rng):
    """Against the inverse of SciPy's incomplete gamma function, differentiated numerically, and PyTorch's."""
    skip_without(dtype)
    a = np.exp(rng.uniform(np.log(low), np.log(high), 2000)).astype(dtype)
    x = np.maximum(rng.gamma(a), 1e-30).astype(dtype)
    ours_a, ours_x = (ocl.tensor(v.tolist(), dtype=getattr(ocl, dtype)) for v in (a, x))
    a, x = a.astype(np.float64), x.astype(np.float64)
    p = scipy.special.gammainc(a, x)
    np.testing.assert_allclose(
        to_numpy(gammainc(ours_a, ours_x)), p, atol=1e-11 if dtype == "float64" else 2e-6
    )
    slope = to_numpy(log_sample_slope(ours_a, ours_x.log()) * ours_x)
    h = 1e-5 * a
    expected = (scipy.special.gammaincinv(a + h, p) - scipy.special.gammaincinv(a - h, p)) / (2 * h)
    kept = (p < 0.9) & (p > 1e-200)
    np.testing.assert_allclose(slope[kept], expected[kept], rtol=1e-6 if dtype == "float64" else 1e-5)
    np.testing.assert_allclose(slope, torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x)), rtol=4e-3)


def test_gradient_of_the_gamma_cdf(rng):
    skip_without("float64")
    a, x = rng.uniform(0.3, 12, 200), rng.uniform(0.1, 12, 200)
    ours_a, ours_x = (ocl.tensor(v.tolist(), dtype=ocl.float64, requires_grad=True) for v in (a, x))
    gammainc(ours_a, ours_x).sum().backward()
    h = 1e-6
    for ours, change in ((ours_a, (h, 0)), (ours_x, (0, h))):
        up = scipy.special.gammainc(a + change[0], x + change[1])
        down = scipy.special.gammainc(a - change[0], x - change[1])
        np.testing.assert_allclose(to_numpy(ours.grad), (up - down) / (2 * h), rtol=1e-4, atol=1e-8)


def test_gamma_cdf_at_the_ends():
    values = ocl.tensor([0.0, 1e30, float("inf")])
    assert distributions.Gamma(2.0, 1.0).cdf(values).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("name", "arrays"), [("Normal", {"loc": 0.0, "scale": 1.0}), ("Poisson", {"rate": 3.0})]
)
def test_draws_of_float32(name, arrays):
    assert class_of(ocl, name)(**arrays).sample((3,)).dtype == ocl.float32
