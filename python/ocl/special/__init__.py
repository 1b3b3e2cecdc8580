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
from ocl.special import bessel, cylinder, gaussian, polynomials
from ocl.special.bessel import *  # noqa: F403
from ocl.special.composed import multigammaln, ndtr
from ocl.special.cylinder import *  # noqa: F403
from ocl.special.gamma_functions import gammainc, gammaincc, zeta
from ocl.special.gaussian import *  # noqa: F403
from ocl.special.polynomials import *  # noqa: F403  (each documented there)

entr, xlog1py = special_entr, special_xlog1py
modified_bessel_i0, modified_bessel_i1 = bessel.i0, bessel.i1
expit, gammaln, psi = sigmoid, lgamma, digamma

__all__ = [
    *bessel.__all__,
    *cylinder.__all__,
    *gaussian.__all__,
    *polynomials.__all__,
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "multigammaln",
    "ndtr",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]
