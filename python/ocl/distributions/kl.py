"""Kullback-Leibler divergences of pairs of distributions.

Where both densities are known in closed form, KL(p || q) is the mean of -log q under p less the entropy of p.
The means
come from a few moments of p, so that a kind of q is one function for all p.
"""

import math
import warnings

from ocl import _C
from ocl.distributions.categorical import Categorical, OneHotCategorical
from ocl.distributions.continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from ocl.distributions.counts import Bernoulli, Binomial, ContinuousBernoulli, Geometric, Poisson
from ocl.distributions.distribution import Distribution
from ocl.distributions.exp_family import ExponentialFamily
from ocl.distributions.gamma_family import Beta, Dirichlet, Gamma
from ocl.distributions.multivariate_normal import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    solve_lower,
    square_norm,
)
from ocl.distributions.transformed import Gumbel, HalfNormal, Pareto
from ocl.distributions.transformed_distribution import Independent, TransformedDistribution
from ocl.distributions.utils import broadcast_all, sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_EULER = 0.57721566490153286060
_registry = {}
_found = {}


def register_kl(type_p, type_q):
    """A decorator that registers a function of (p, q) for two classes. Matches
    torch.distributions.register_kl.

    Raises TypeError where one of them is no class of distributions.
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def register(function):
        _registry[type_p, type_q] = function
        _found.clear()
        return function

    return register


def kl_divergence(p, q):
    """KL(p || q), of the batch shape. Matches torch.distributions.kl_divergence.

    The function registered for the nearest base classes is called; NotImplementedError where there is none.
    """
    key = type(p), type(q)
    if key not in _found:
        _found[key] = _nearest(*key)
    if _found[key] is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return _found[key](p, q)


def _nearest(type_p, type_q):
    """The registered function of the nearest bases; a warning where p and q ask for different ones."""
    places = {
        (type_p.__mro__.index(p), type_q.__mro__.index(q)): function
        for (p, q), function in _registry.items()
        if issubclass(type_p, p) and issubclass(type_q, q)
    }
    if not places:
        return None
    by_p, by_q = min(places), min(places, key=lambda place: place[::-1])
    if places[by_p] is not places[by_q]:
        names = type_p.__mro__[by_p[0]].__name__, type_q.__mro__[by_q[1]].__name__
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({', '.join(names)})",
            RuntimeWarning,
            stacklevel=3,
        )
    return places[by_p]


def _infinite_where(condition, values):
    values, condition = broadcast_all(values, condition)
    return values.masked_fill(condition, math.inf)


# --- by means of -log q ---


def _x_log_x(x):
    return _C.xlogy(x, x)


def _mean_log(p):
    """The mean of log(x)."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -_EULER - p.rate.log()
    if isinstance(p, Gamma):
        return p.concentration.digamma() - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1


def _mean_exp(p, t):
    """The mean of exp(-t * x)."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (1 + t / p.rate).pow(-p.concentration)
    if isinstance(p, Normal):
        return (-p.loc * t + 0.5 * (p.scale * t).square()).exp()
    return ((-t * p.low).exp() - (-t * p.high).exp()) / (t * (p.high - p.low))


def _cross_normal(p, q):
    spread = (p.variance + (p.mean - q.loc).square()) / (2 * q.scale.square())
    return spread + q.scale.log() + 0.5 * math.log(2 * math.pi)


def _cross_exponential(p, q):
    return q.rate * p.mean - q.rate.log()


def _cross_gamma(p, q):
    a = q.concentration
    return a.lgamma() - a * q.rate.log() - (a - 1) * _mean_log(p) + q.rate * p.mean


def _cross_gumbel(p, q):
    centred = (p.mean - q.loc) / q.scale
    return q.scale.log() + centred + (q.loc / q.scale).exp() * _mean_exp(p, 1 / q.scale)


def _cross_continuous_bernoulli(p, q):
    return -p.mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()


def _cross_pareto(p, q):
    return (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()


def _cross_beta(p, q):
    """For a uniform p, whose 1 - x is uniform too."""
    a, b = q.concentration1, q.concentration0
    mirrored = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    return normalizer - (a - 1) * _mean_log(p) - (b - 1) * _mean_log(mirrored)


def _cross_uniform(p, q):
    return (q.high - q.low).log()


def _nowhere(p, q):
    return False


def _below_zero(p, q):
    return p.low < 0


def _beyond_unit(p, q):
    return (p.high > 1) | (p.low < 0)


# A row: kinds of p, the kind of q, the mean of -log q, and where p has values that q has not.
_CROSS_ENTROPIES = (
    (
        (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform),
        Normal,
        _cross_normal,
        _nowhere,
    ),
    ((Beta, ContinuousBernoulli, Gamma, Pareto), Exponential, _cross_exponential, _nowhere),
    ((Uniform,), Exponential, _cross_exponential, _below_zero),
    ((Beta, Exponential, Pareto), Gamma, _cross_gamma, _nowhere),
    ((Uniform,), Gamma, _cross_gamma, _below_zero),
    ((Exponential, Gamma, Normal, Uniform), Gumbel, _cross_gumbel, _nowhere),
    ((Beta,), ContinuousBernoulli, _cross_continuous_bernoulli, _nowhere),
    ((Uniform,), ContinuousBernoulli, _cross_continuous_bernoulli, lambda p, q: (p.high >= 1) | (p.low <= 0)),
    ((Uniform,), Pareto, _cross_pareto, lambda p, q: p.low < q.scale),
    ((Uniform,), Beta, _cross_beta, _beyond_unit),
    ((Beta,), Uniform, _cross_uniform, lambda p, q: (q.low > 0) | (q.high < 1)),
    ((ContinuousBernoulli,), Uniform, _cross_uniform, lambda p, q: (q.low >= 0) | (q.high <= 1)),
    ((Uniform,), Uniform, _cross_uniform, lambda p, q: (q.low > p.low) | (q.high < p.high)),
    ((Bernoulli,), Poisson, lambda p, q: q.rate - p.probs * q.rate.log(), _nowhere),
)

# The first kinds have values where the second have none.
_INFINITE = (
    ((Beta, ContinuousBernoulli), (Pareto,)),
    ((Exponential, Gamma), (Beta, ContinuousBernoulli, Pareto, Uniform)),
    ((Gumbel, Laplace, Normal), (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    ((Pareto,), (Beta, ContinuousBernoulli, Uniform)),
    ((Poisson,), (Bernoulli, Binomial)),
)


def _by_cross_entropy(cross, outside):
    def divergence(p, q):
        result = cross(p, q) - p.entropy()
        missing = outside(p, q)
        return result if missing is False else _infinite_where(missing, result)

    return divergence


def _infinite(p, q):
    mean = p.mean
    return _C.full(mean.shape, math.inf, dtype=mean.dtype, device=mean.device)


for _kinds, _q, _cross, _outside in _CROSS_ENTROPIES:
    for _p in _kinds:
        register_kl(_p, _q)(_by_cross_entropy(_cross, _outside))
for _kinds, _others in _INFINITE:
    for _p in _kinds:
        for _q in _others:
            register_kl(_p, _q)(_infinite)


# --- pairs with a formula of their own ---


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_exponential_families(p, q):
    if type(p) is not type(q):
        raise NotImplementedError(
            f"The cross KL-divergence between different exponential families cannot be computed: "
            f"{type(p).__name__} and {type(q).__name__}"
        )
    event_dim = len(p.event_shape)
    natural, normalizer, means = p._normalizer_and_means()
    result = q._log_normalizer(*q._natural_params) - normalizer
    for of_p, of_q, mean in zip(natural, q._natural_params, means, strict=True):
        result = result - sum_rightmost((of_q - of_p) * mean, event_dim)
    return result


@register_kl(Beta, Beta)
@register_kl(ContinuousBernoulli, ContinuousBernoulli)
@register_kl(Dirichlet, Dirichlet)
@register_kl(Exponential, Exponential)
@register_kl(Gamma, Gamma)
def _kl_same_family(p, q):
    return _kl_exponential_families(p, q)


@register_kl(Poisson, Poisson)
def _kl_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Normal, Normal)
def _kl_normal(p, q):
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _kl_half_normal(p, q):
    return _kl_normal(p.base_dist, q.base_dist)


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p, q):
    difference = p.loc - q.loc
    standard = difference / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * standard.square()).exp()
    distance = distance + difference * (math.sqrt(0.5) * standard).erf()
    return distance / q.scale + (2 * q.scale).log() - p.entropy()


@register_kl(Laplace, Laplace)
def _kl_laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return distance / q.scale + ratio * (-distance / p.scale).exp() - ratio.log() - 1


@register_kl(Cauchy, Cauchy)
def _kl_cauchy(p, q):
    return ((p.scale + q.scale).square() + (p.loc - q.loc).square()).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _kl_gumbel(p, q):
    ratio = p.scale / q.scale
    tail = ((q.loc - p.loc) / q.scale + (1 + ratio).lgamma()).exp()
    return (p.loc - q.loc) / q.scale - ratio.log() - (1 + _EULER) + _EULER * ratio + tail


@register_kl(Pareto, Pareto)
def _kl_pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return _infinite_where(p.scale < q.scale, result)


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli(p, q):
    yes = p.probs * (_C.softplus(-q.logits) - _C.softplus(-p.logits))
    no = (1 - p.probs) * (_C.softplus(q.logits) - _C.softplus(p.logits))
    of_p, of_q, yes, no = broadcast_all(p.probs, q.probs, yes, no)
    yes = _infinite_where(of_q == 0, yes).masked_fill(of_p == 0, 0)
    no = _infinite_where(of_q == 1, no).masked_fill(of_p == 1, 0)
    return yes + no


@register_kl(Binomial, Binomial)
def _kl_binomial(p, q):
    if (p.total_count < q.total_count).any().item():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return _infinite_where(p.total_count > q.total_count, kl)


@register_kl(Geometric, Geometric)
def _kl_geometric(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Categorical, Categorical)
def _kl_categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    of_p, of_q, terms = broadcast_all(p.probs, q.probs, terms)
    return _infinite_where(of_q == 0, terms).masked_fill(of_p == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(p, q):
    return _kl_categorical(p._categorical, q._categorical)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError(
            "KL(p || q) of transformed distributions needs equal transforms and event shapes"
        )
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _kl_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(p || q) of Independent needs equal reinterpreted_batch_ndims")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    trace = sum(_trace_of_quotient(q, factor) for factor in p._covariance_factors())
    distance = q._mahalanobis(q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + distance - p.event_shape[0])


def _trace_of_quotient(q, factor):
    """The trace of factor @ factor.mT by the covariance of q."""
    if isinstance(q, MultivariateNormal):
        return square_norm(solve_lower(q._factor, factor))
    weighted = q._factor.mT @ (factor / q._diag.unsqueeze(-1))
    return square_norm(factor * q._diag.rsqrt().unsqueeze(-1)) - square_norm(
        solve_lower(q._capacitance, weighted)
    )
