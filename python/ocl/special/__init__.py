"""Special functions by the names of torch.special."""

from ocl._C import (
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    lgamma,
    log1p,
    log_softmax,
    logit,
    logsumexp,
    polygamma,
    round,
    sigmoid,
    sinc,
    softmax,
    special_entr,
    special_xlog1py,
    xlogy,
)
from ocl.special import polynomials
from ocl.special.composed import multigammaln, ndtr
from ocl.special.polynomials import *  # noqa: F403  (each documented there)

entr, xlog1py = special_entr, special_xlog1py
expit, gammaln, psi = sigmoid, lgamma, digamma

__all__ = [
    *polynomials.__all__,
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]
