"""The normal distribution of angles."""

import math

from ocl import _C
from ocl.autograd import no_grad
from ocl.distributions import constraints
from ocl.distributions.distribution import Distribution
from ocl.distributions.draws import von_mises_angle

__all__ = ["VonMises"]

# Coefficients of the modified Bessel functions I0 and I1 (Abramowitz and Stegun, 9.8.1 to 9.8.4).
# Below 3.75 they are of powers of (x / 3.75)**2. Above, powers of 3.75 / x give I exp(-x) sqrt(x).
_BELOW = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
)
_ABOVE = (
    (
        *(0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281),
        *(-0.02057706, 0.02635537, -0.01647633, 0.00392377),
    ),
    (
        *(0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555),
        *(0.02282967, -0.02895312, 0.01787654, -0.00420059),
    ),
)


def _polynomial(coefficients, x):
    result = _C.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


def _log_bessel(order, x):
    """log of the modified Bessel function of the first kind of order 0 or 1, for x > 0."""
    below, above = x.clamp(max=3.75), x.clamp(min=3.75)
    small = _polynomial(_BELOW[order], (below / 3.75).square()).log() + order * below.log()
    large = above - 0.5 * above.log() + _polynomial(_ABOVE[order], 3.75 / above).log()
    return _C.where(x < 3.75, small, large)


class VonMises(Distribution):
    """Angles in radians around `loc`. Matches torch.distributions.VonMises."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc, concentration, validate_args=None):
        self._broadcast_parameters(validate_args, loc=loc, concentration=concentration)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def variance(self):
        """The circular variance."""
        k = self.concentration
        return 1 - (_log_bessel(1, k) - _log_bessel(0, k)).exp()

    def log_prob(self, value):
        cosine = (self._checked(value) - self.loc).cos()
        return self.concentration * cosine - math.log(2 * math.pi) - _log_bessel(0, self.concentration)

    @no_grad()
    def sample(self, sample_shape=()):
        angle = von_mises_angle(self.concentration, self._extended_shape(sample_shape))
        return (angle + math.pi + self.loc).remainder(2 * math.pi) - math.pi
