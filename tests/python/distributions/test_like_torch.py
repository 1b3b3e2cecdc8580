"""Every distribution computes what PyTorch's does: densities, moments, gradients, divergences."""

import inspect

import numpy as np
import pytest
import torch
import torch.distributions as torch_distributions
from distribution_cases import CASES, KL_PARAMETERS, Case, case_of, class_of, made
from support import skip_without, to_numpy
from torch.distributions import kl as torch_kl

import ocl
from ocl import distributions

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.given)


def pair(case, rng, shape=(2, 3), **options):
    skip_without("float64")
    arrays = case.arrays(rng, shape)
    return made(ocl, case.name, arrays, **options), made(torch, case.name, arrays, **options)


def close(actual, expected, rtol=1e-6):
    assert tuple(actual.shape) == tuple(expected.shape)
    assert str(actual.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
    np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), rtol=rtol, atol=1e-9)


def values_of(reference, sample_shape=(4,)):
    """Values that PyTorch draws, and the same for ocl."""
    torch.manual_seed(0)
    value = reference.sample(sample_shape)
    kind = ocl.int64 if value.dtype == torch.int64 else ocl.float64
    return ocl.tensor(value.tolist(), dtype=kind), value


@each_case
def test_log_prob_and_its_gradients(case, rng):
    (ours, parameters), (reference, references) = pair(case, rng, requires_grad=True)
    value, expected_value = values_of(reference)
    differentiable = not reference.support.is_discrete
    if differentiable:
        value, expected_value = value.requires_grad_(), expected_value.requires_grad_()
    actual, expected = ours.log_prob(value), reference.log_prob(expected_value)
    close(actual, expected)
    weights = rng.uniform(0.5, 1.5, tuple(expected.shape))
    (actual * ocl.tensor(weights.tolist(), dtype=ocl.float64)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    for name, parameter in parameters.items():
        expected_gradient = references[name].grad
        if case.name == "Wishart" and name == "scale_tril":
            expected_gradient = expected_gradient.tril()  # PyTorch has one for the zeros of a factor too
        close(parameter.grad, expected_gradient, rtol=1e-5)
    if differentiable:
        assert (value.grad is None) == (
            expected_value.grad is None
        )  # nobody sends a gradient to Uniform's values
        if value.grad is not None:
            close(value.grad, expected_value.grad, rtol=1e-5)


@each_case
@pytest.mark.parametrize("name", ["mean", "mode", "variance", "stddev"])
def test_moments(case, name, rng):
    (ours, _), (reference, _) = pair(case, rng)
    try:
        expected = getattr(reference, name)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            getattr(ours, name)
    else:
        if case.name != "Kumaraswamy" or name != "mode":  # PyTorch's is NaN everywhere
            close(getattr(ours, name), expected)


def test_mode_of_kumaraswamy_is_where_the_density_is_flat():
    skip_without("float64")
    ours, _ = made(
        ocl, "Kumaraswamy", {"concentration1": np.array([2.0, 3.5]), "concentration0": np.full(2, 1.7)}
    )
    mode = ours.mode.detach().requires_grad_()
    ours.log_prob(mode).sum().backward()
    np.testing.assert_allclose(to_numpy(mode.grad), 0, atol=1e-9)
    assert distributions.Kumaraswamy(0.5, 2.0).mode.isnan().item()


@each_case
def test_entropy_and_its_gradients(case, rng):
    (ours, parameters), (reference, references) = pair(case, rng, requires_grad=True)
    try:
        expected = reference.entropy()
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ours.entropy()
        return
    close(ours.entropy(), expected)
    if not expected.requires_grad:
        return
    close(ours.perplexity(), reference.perplexity())
    ours.entropy().sum().backward()
    expected.sum().backward()
    for name, parameter in parameters.items():
        if references[name].grad is not None:
            close(parameter.grad, references[name].grad, rtol=1e-5)


@each_case
def test_cdf_and_icdf(case, rng):
    (ours, _), (reference, _) = pair(case, rng)
    value, expected_value = values_of(reference)
    try:
        expected = reference.cdf(expected_value)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ours.cdf(value)
        return
    close(ours.cdf(value), expected)
    probability = rng.uniform(0.05, 0.95, (4, *reference.batch_shape))
    try:
        expected = reference.icdf(torch.tensor(probability))
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ours.icdf(ocl.tensor(probability.tolist(), dtype=ocl.float64))
    else:
        close(ours.icdf(ocl.tensor(probability.tolist(), dtype=ocl.float64)), expected)


@each_case
def test_enumerated_support(case, rng):
    (ours, _), (reference, _) = pair(case, rng)
    assert ours.has_enumerate_support == reference.has_enumerate_support
    # PyTorch says that LogitRelaxedBernoulli has no rsample, and gives it one.
    assert ours.has_rsample == (reference.has_rsample or case.name == "LogitRelaxedBernoulli")
    for expand in (True, False) if reference.has_enumerate_support else ():
        close(ours.enumerate_support(expand), reference.enumerate_support(expand))


@each_case
def test_shapes_and_expand(case, rng):
    (ours, _), (reference, _) = pair(case, rng)
    assert (ours.batch_shape, ours.event_shape) == (
        tuple(reference.batch_shape),
        tuple(reference.event_shape),
    )
    assert {type(ours.batch_shape), type(ours.event_shape), type(ours.expand((4, 2, 3)).batch_shape)} == {
        ocl.Size
    }
    assert ours.sample().shape == tuple(reference.sample().shape)
    assert ours.sample((5, 1)).shape == (5, 1, *reference.batch_shape, *reference.event_shape)
    assert ours.sample((0,)).shape == (0, *reference.batch_shape, *reference.event_shape)
    wide, expected = ours.expand((4, 2, 3)), reference.expand((4, 2, 3))
    assert (wide.batch_shape, wide.event_shape) == (tuple(expected.batch_shape), tuple(expected.event_shape))
    assert type(wide) is type(ours)
    assert wide.sample((2,)).shape == tuple(expected.sample((2,)).shape)
    value, expected_value = values_of(expected, ())
    close(wide.log_prob(value), expected.log_prob(expected_value))


@each_case
def test_repr(case, rng):
    (ours, _), (reference, _) = pair(case, rng)
    shown = repr(reference).replace("torch.Size", "ocl.Size")
    # PyTorch's Chi2 shows no df.
    assert repr(ours) == ("Chi2(df: ocl.Size([2, 3]))" if case.name == "Chi2" else shown)


@each_case
def test_numbers_as_parameters(case, rng):
    if any(callable(spec) for spec in case.parameters.values()):
        return
    numbers = {
        name: v if not isinstance(v, np.ndarray) else float(v) for name, v in case.arrays(rng, ()).items()
    }
    ours, reference = class_of(ocl, case.name)(**numbers), class_of(torch, case.name)(**numbers)
    assert (ours.batch_shape, ours.event_shape) == ((), tuple(reference.event_shape))
    assert ours.sample((3,)).dtype == ocl.float32


@each_case
def test_values_outside_the_support_are_refused(case, rng):
    (ours, _), (reference, _) = pair(case, rng)
    if repr(reference.support) in ("Real()", "IndependentConstraint(Real(), 1)"):
        value = ocl.full(ours.batch_shape + ours.event_shape, float("nan"), dtype=ocl.float64)
    else:
        value = ocl.full(ours.batch_shape + ours.event_shape, -7.5, dtype=ocl.float64)
    with pytest.raises(ValueError, match="to be within the support"):
        ours.log_prob(value)
    with pytest.raises(ValueError, match="must be a Tensor"):
        ours.log_prob(1.5)
    with pytest.raises(ValueError, match=r"not broadcastable|must match event_shape"):
        ours.log_prob(ocl.zeros((7, *ours.batch_shape[1:], 5), dtype=ocl.float64))


@each_case
def test_invalid_parameters_are_refused(case, rng):
    arrays = case.arrays(rng)
    for name, array in arrays.items():
        if isinstance(array, np.ndarray) and name != "temperature":  # which nobody checks
            bad = {**arrays, name: np.full_like(array, np.nan)}
            with pytest.raises((ValueError, RuntimeError)):  # RuntimeError by a failed factorization
                made(torch, case.name, bad)
            with pytest.raises(ValueError):
                made(ocl, case.name, bad)


@each_case
def test_entropy_of_parameters_without_gradients_has_no_graph(case, rng):
    (ours, _), _ = pair(case, rng)
    try:
        entropy = ours.entropy()
    except NotImplementedError:
        return
    assert not entropy.requires_grad


def kl_pairs():
    known = {name for name in distributions.__all__ if inspect.isclass(getattr(distributions, name))}
    general = {"ExponentialFamily", "TransformedDistribution", "Independent"}
    for p, q in sorted((p.__name__, q.__name__) for p, q in torch_kl._KL_REGISTRY):
        assert {p, q} <= known
        if not {p, q} & general:
            yield p, q


def with_parameters(case, changes):
    return Case(case.name, {**case.parameters, **changes})


@pytest.mark.parametrize(("p", "q"), list(kl_pairs()))
def test_kl_divergence(p, q, rng):
    changes = KL_PARAMETERS.get((p, q), ({}, {}))
    cases = [with_parameters(case_of(name), change) for name, change in zip((p, q), changes, strict=True)]
    arrays = [case.arrays(rng) for case in cases]
    if p == q and p == "MultivariateNormal" or "LowRank" in p + q:
        arrays = [{k: v[..., :3, :] if k == "cov_factor" else v[..., :3] if k in ("loc", "cov_diag") else v
                   for k, v in part.items()} for part in arrays]  # fmt: skip
    results = []
    for lib, module in ((ocl, distributions), (torch, torch_distributions)):
        pairs = [
            made(lib, case.name, part, requires_grad=True) for case, part in zip(cases, arrays, strict=True)
        ]
        results.append(
            (module.kl_divergence(pairs[0][0], pairs[1][0]), [t for _, ts in pairs for t in ts.values()])
        )
    (actual, ours), (expected, references) = results
    close(actual, expected)
    constants = [made(ocl, case.name, part)[0] for case, part in zip(cases, arrays, strict=True)]
    without_graph = distributions.kl_divergence(*constants)
    close(without_graph, expected.detach())
    assert not without_graph.requires_grad
    if expected.requires_grad:
        actual.sum().backward()
        expected.sum().backward()
        for parameter, reference in zip(ours, references, strict=True):
            if reference.grad is not None and bool(torch.isfinite(reference.grad).all()):
                close(parameter.grad, reference.grad, rtol=1e-5)


def test_every_distribution_has_a_row():
    kinds = [getattr(distributions, name) for name in distributions.__all__]
    kinds = {k.__name__ for k in kinds if inspect.isclass(k) and issubclass(k, distributions.Distribution)}
    made_of_others = {"Distribution", "ExponentialFamily", "Independent"}
    made_of_others |= {"MixtureSameFamily", "TransformedDistribution"}
    assert kinds - made_of_others == {case.name for case in CASES}
