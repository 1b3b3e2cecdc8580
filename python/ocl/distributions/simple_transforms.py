"""Transforms of each number, and of vectors to probabilities."""

import math

from ocl import _C
from ocl.distributions import constraints
from ocl.distributions.transform import Transform, with_event_dim
from ocl.distributions.utils import broadcast_shapes, sum_rightmost
from ocl.type_info import finfo

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StickBreakingTransform",
    "TanhTransform",
]


class _Elementwise(Transform):
    """A monotone function of each element; objects of one class without parameters are equal."""

    bijective = True
    sign = 1

    def __eq__(self, other):
        return type(other) is type(self)

    __hash__ = object.__hash__


class ExpTransform(_Elementwise):
    """y = exp(x). Matches torch.distributions.transforms.ExpTransform."""

    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(_Elementwise):
    """y = x ** exponent for positive x. Matches torch.distributions.transforms.PowerTransform."""

    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, _C.Tensor) else _C.tensor(float(exponent))

    @property
    def sign(self):
        return self.exponent.sign()

    def __eq__(self, other):
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all().item())

    __hash__ = object.__hash__

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(_Elementwise):
    """y = 1 / (1 + exp(-x)), kept inside (0, 1). Matches torch.distributions.transforms.SigmoidTransform."""

    codomain = constraints.unit_interval

    def _call(self, x):
        info = finfo(x.dtype)
        return x.sigmoid().clamp(min=info.tiny, max=1 - info.eps)

    def _inverse(self, y):
        info = finfo(y.dtype)
        inside = y.clamp(min=info.tiny, max=1 - info.eps)
        return inside.log() - (-inside).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -_C.softplus(-x) - _C.softplus(x)


class SoftplusTransform(_Elementwise):
    """y = log(1 + exp(x)). Matches torch.distributions.transforms.SoftplusTransform."""

    codomain = constraints.positive

    def _call(self, x):
        return _C.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -_C.softplus(-x)


class TanhTransform(_Elementwise):
    """y = tanh(x). Matches torch.distributions.transforms.TanhTransform."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - _C.softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = abs(x); its inverse gives the positive x. Matches torch.distributions.transforms.AbsTransform."""

    codomain = constraints.positive

    def __eq__(self, other):
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """y = loc + scale * x, of numbers or tensors. Matches torch.distributions.transforms.AffineTransform."""

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self):
        return self._event_dim

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return with_event_dim(constraints.real, self._event_dim)

    codomain = domain

    @property
    def sign(self):
        if isinstance(self.scale, _C.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def __eq__(self, other):
        if not isinstance(other, AffineTransform):
            return False
        return _equal(self.loc, other.loc) and _equal(self.scale, other.scale)

    __hash__ = object.__hash__

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        log_scale = scale.abs().log() if isinstance(scale, _C.Tensor) else math.log(abs(scale))
        return sum_rightmost(_C.zeros_like(x) + log_scale, self._event_dim)

    def forward_shape(self, shape):
        return broadcast_shapes(shape, *(getattr(part, "shape", ()) for part in (self.loc, self.scale)))

    inverse_shape = forward_shape


def _equal(a, b):
    same = a == b
    return bool(same.all().item()) if isinstance(same, _C.Tensor) else same


class SoftmaxTransform(Transform):
    """y = softmax(x) over the last dimension; not bijective.

    Matches torch.distributions.transforms.SoftmaxTransform.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other):
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.softmax(-1)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        return _with_a_dimension(shape)

    inverse_shape = forward_shape


def _with_a_dimension(shape):
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    return shape


class StickBreakingTransform(Transform):
    """n real numbers as n + 1 probabilities: each breaks a share off the rest of a stick.

    Matches torch.distributions.transforms.StickBreakingTransform.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other):
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    @staticmethod
    def _log_rests(x):
        """log(number of pieces that still come after each), which centres the shares."""
        count = x.shape[-1]
        return _C.arange(count, 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x):
        shares = SigmoidTransform()(x - self._log_rests(x))
        rests = (1 - shares).cumprod(-1)
        one = _C.ones_like(x[..., :1])
        return _C.cat([shares, one], -1) * _C.cat([one, rests], -1)

    def _inverse(self, y):
        pieces = y[..., :-1]
        rests = (1 - pieces.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return pieces.log() - rests.log() + self._log_rests(pieces)

    def log_abs_det_jacobian(self, x, y):
        centred = x - self._log_rests(x)
        return (_C.logsigmoid(centred) - centred + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return (*_with_a_dimension(shape)[:-1], shape[-1] + 1)

    def inverse_shape(self, shape):
        return (*_with_a_dimension(shape)[:-1], shape[-1] - 1)
