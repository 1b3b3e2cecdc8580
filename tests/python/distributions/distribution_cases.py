"""The distributions under test: a row has a name and the parameters of PyTorch's class of that name.

A parameter is a pair of bounds, between which a tensor of the batch shape is drawn. It may also be a
function of the random generator and the batch shape, or a constant, which is passed as it is.
"""

from dataclasses import dataclass, field

import numpy as np
import torch.distributions as torch_distributions

import ocl
from ocl import distributions as ocl_distributions


def probabilities(count):
    return lambda rng, shape: rng.dirichlet(np.ones(count), shape)


def vectors(size, low=-2.0, high=2.0):
    return lambda rng, shape: rng.uniform(low, high, (*shape, size))


def lower_factors(size):
    def draw(rng, shape):
        lower = np.tril(rng.uniform(-1, 1, (*shape, size, size)), -1)
        return lower + np.eye(size) * rng.uniform(0.5, 2, (*shape, size, 1))

    return draw


def covariances(size):
    def draw(rng, shape):
        lower = lower_factors(size)(rng, shape)
        return lower @ lower.swapaxes(-1, -2)

    return draw


def integers(low, high):
    return lambda rng, shape: rng.integers(low, high + 1, shape).astype(np.float64)


@dataclass
class Case:
    name: str
    parameters: dict
    given: str = field(init=False)

    def __post_init__(self):
        self.given = "-".join([self.name, *self.parameters])

    def arrays(self, rng, shape=(2, 3)):
        """The parameters, NumPy arrays but for constants."""

        def value(spec):
            if callable(spec):
                return np.asarray(spec(rng, shape))
            return rng.uniform(*spec, shape) if isinstance(spec, tuple) else spec

        return {name: value(spec) for name, spec in self.parameters.items()}


def class_of(lib, name):
    """The distribution's class of `lib`, ocl or torch."""
    if lib is ocl:
        return getattr(ocl_distributions, name)
    return getattr(torch_distributions, name, None) or getattr(torch_distributions.relaxed_bernoulli, name)


def made(lib, name, arrays, requires_grad=False, dtype="float64", **options):
    """The distribution of `lib` (ocl or torch) with those parameters, and the tensors among them by name."""
    tensors = {}
    for key, array in arrays.items():
        if isinstance(array, np.ndarray):
            tensor = lib.tensor(array.tolist(), dtype=getattr(lib, dtype))
            tensors[key] = tensor.requires_grad_() if requires_grad else tensor
    return class_of(lib, name)(**{**arrays, **tensors}, **options), tensors


REAL, POSITIVE, UNIT = (-2.0, 2.0), (0.3, 3.0), (0.05, 0.95)
LOC_SCALE = {"loc": REAL, "scale": POSITIVE}

CASES = [
    Case("Bernoulli", {"probs": UNIT}),
    Case("Bernoulli", {"logits": REAL}),
    Case("Beta", {"concentration1": POSITIVE, "concentration0": POSITIVE}),
    Case("Binomial", {"total_count": 7, "probs": UNIT}),
    Case("Binomial", {"total_count": 40, "logits": REAL}),
    Case("Categorical", {"probs": probabilities(4)}),
    Case("Categorical", {"logits": vectors(5)}),
    Case("Cauchy", LOC_SCALE),
    Case("Chi2", {"df": (0.5, 6.0)}),
    Case("ContinuousBernoulli", {"probs": UNIT}),
    Case("ContinuousBernoulli", {"logits": (-0.003, 0.003)}),
    Case("Dirichlet", {"concentration": vectors(3, 0.3, 3.0)}),
    Case("Exponential", {"rate": POSITIVE}),
    Case("FisherSnedecor", {"df1": (1.0, 6.0), "df2": (4.5, 9.0)}),
    Case("Gamma", {"concentration": POSITIVE, "rate": POSITIVE}),
    Case("Gamma", {"concentration": (0.05, 0.3), "rate": POSITIVE}),
    Case("GeneralizedPareto", {**LOC_SCALE, "concentration": (-0.9, 0.2)}),
    Case("GeneralizedPareto", {**LOC_SCALE, "concentration": lambda rng, shape: np.zeros(shape)}),
    Case("Geometric", {"probs": UNIT}),
    Case("Geometric", {"logits": REAL}),
    Case("Gumbel", LOC_SCALE),
    Case("HalfCauchy", {"scale": POSITIVE}),
    Case("HalfNormal", {"scale": POSITIVE}),
    Case("InverseGamma", {"concentration": (2.5, 6.0), "rate": POSITIVE}),
    Case("Kumaraswamy", {"concentration1": POSITIVE, "concentration0": POSITIVE}),
    Case("Laplace", LOC_SCALE),
    Case("LogNormal", {"loc": (-1.0, 1.0), "scale": (0.2, 0.8)}),
    Case("LogisticNormal", {"loc": vectors(3), "scale": vectors(3, 0.3, 1.0)}),
    Case("LogitRelaxedBernoulli", {"temperature": (0.5, 0.9), "probs": UNIT}),
    Case("Multinomial", {"total_count": 5, "probs": probabilities(4)}),
    Case("Multinomial", {"total_count": 3, "logits": vectors(4)}),
    Case("NegativeBinomial", {"total_count": integers(1, 9), "probs": UNIT}),
    Case("NegativeBinomial", {"total_count": POSITIVE, "logits": REAL}),
    Case("Normal", LOC_SCALE),
    Case("OneHotCategorical", {"probs": probabilities(4)}),
    Case("OneHotCategoricalStraightThrough", {"logits": vectors(4)}),
    Case("Pareto", {"scale": POSITIVE, "alpha": (2.5, 6.0)}),
    Case("Poisson", {"rate": (0.3, 30.0)}),
    Case("RelaxedBernoulli", {"temperature": (0.5, 0.9), "logits": REAL}),
    Case(
        "RelaxedOneHotCategorical",
        {"temperature": lambda rng, shape: rng.uniform(0.5, 0.9), "probs": probabilities(3)},
    ),
    Case("StudentT", {"df": (4.5, 9.0), **LOC_SCALE}),
    Case("Uniform", {"low": (-3.0, -1.0), "high": (0.0, 2.0)}),
    Case("VonMises", {"loc": REAL, "concentration": (0.2, 9.0)}),
    Case("Weibull", {"scale": POSITIVE, "concentration": (0.6, 3.0)}),
    Case("MultivariateNormal", {"loc": vectors(3), "scale_tril": lower_factors(3)}),
    Case("MultivariateNormal", {"loc": vectors(3), "covariance_matrix": covariances(3)}),
    Case("MultivariateNormal", {"loc": vectors(3), "precision_matrix": covariances(3)}),
    Case(
        "LowRankMultivariateNormal",
        {
            "loc": vectors(4),
            "cov_factor": lambda rng, shape: rng.uniform(-1, 1, (*shape, 4, 2)),
            "cov_diag": vectors(4, 0.3, 2.0),
        },
    ),
    Case("Wishart", {"df": (5.0, 9.0), "scale_tril": lower_factors(3)}),
    Case("Wishart", {"df": (5.0, 9.0), "covariance_matrix": covariances(3)}),
    Case("Wishart", {"df": (5.0, 9.0), "precision_matrix": covariances(3)}),
    Case("LKJCholesky", {"dim": 4, "concentration": POSITIVE}),
]

# The pairs of kl_divergence: parameters of both, where those of the rows above do not give a finite result.
WIDE = {"low": (-9.0, -8.0), "high": (8.0, 9.0)}
KL_PARAMETERS = {
    ("Beta", "Uniform"): ({}, WIDE),
    ("Uniform", "Uniform"): ({}, WIDE),
    ("ContinuousBernoulli", "Uniform"): ({}, WIDE),
    ("Uniform", "Beta"): ({"low": (0.1, 0.3), "high": (0.4, 0.9)}, {}),
    ("Uniform", "ContinuousBernoulli"): ({"low": (0.1, 0.3), "high": (0.4, 0.9)}, {}),
    ("Uniform", "Exponential"): ({"low": (0.1, 0.3), "high": (0.4, 0.9)}, {}),
    ("Uniform", "Gamma"): ({"low": (0.1, 0.3), "high": (0.4, 0.9)}, {}),
    ("Uniform", "Pareto"): ({"low": (4.0, 5.0), "high": (6.0, 9.0)}, {}),
    ("Pareto", "Pareto"): ({"scale": (4.0, 5.0)}, {}),
}


def case_of(name):
    return next(case for case in CASES if case.name == name)
