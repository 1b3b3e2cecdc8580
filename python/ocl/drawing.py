"""Random numbers of further distributions."""

from __future__ import annotations

import math

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.arrangement import broadcast_tensors
from ocl.autograd import no_grad

__all__ = ["binomial", "poisson"]


def poisson(input: Tensor, generator: _C.Generator | None = None) -> Tensor:
    """Poisson numbers of the rates `input`, in its dtype; gradients are 0. Waits for the device.
    (torch.poisson)

    Raises ValueError for a negative rate.
    """
    from ocl.distributions import draws  # few programs need it

    if not input.is_floating_point():
        raise ArgumentTypeError(f"poisson: expected rates of a floating dtype, got {input.dtype}")
    if input.numel() and (input < 0).any().item():
        raise ArgumentValueError(
            "poisson: invalid Poisson rate, expected all Poisson rates to be non-negative"
        )
    rates = input.detach()
    rates = rates if rates.dtype == _C.float64 else rates.to(_C.float32)
    drawn = draws.poisson(rates, tuple(input.shape), generator).to(input.dtype)
    return drawn + input * 0 if input.requires_grad and _C.is_grad_enabled() else drawn


def binomial(count: Tensor, prob: Tensor, generator: _C.Generator | None = None) -> Tensor:
    """How many of `count` trials succeed, each with the probability `prob`; one dtype, which the result has.
    Waits for the device. (torch.binomial)
    """
    from ocl.distributions import draws  # few programs need it

    if count.dtype != prob.dtype or not count.is_floating_point():
        raise ArgumentTypeError(
            f"binomial: expected count and prob of one floating dtype, got {count.dtype} and {prob.dtype}"
        )
    wide = _C.float64 if count.dtype == _C.float64 else _C.float32
    counts, probs = broadcast_tensors(count.detach().to(wide), prob.detach().to(wide))
    if counts.numel() and (probs.lt(0) | probs.gt(1)).any().item():
        raise ArgumentValueError("binomial: expected probabilities between 0 and 1")
    return draws.binomial(counts, probs, tuple(counts.shape), generator).to(count.dtype)


def _uniform(like: Tensor, generator: _C.Generator | None) -> Tensor:
    """Numbers between 0 and 1, neither of which occurs, in float64 where `like` has it, else float32."""
    dtype = _C.float64 if like.dtype == _C.float64 else _C.float32
    drawn = _C.rand(tuple(like.shape), generator=generator, dtype=dtype, device=like.device)
    return drawn.clamp(min=2.0**-54 if dtype == _C.float64 else 2.0**-25)


def _check_floating(name: str, self: Tensor) -> None:
    if not self.is_floating_point():
        raise ArgumentTypeError(f"{name}: expected a tensor of a floating dtype, got {self.dtype}")


@no_grad()
def cauchy_(
    self: Tensor, median: float = 0, sigma: float = 1, *, generator: _C.Generator | None = None
) -> Tensor:
    """Overwrites with numbers of Cauchy's distribution. (torch.Tensor.cauchy_)"""
    _check_floating("cauchy_", self)
    if sigma <= 0:
        raise ArgumentValueError(f"cauchy_: expects sigma > 0.0, but found sigma={sigma}")
    angles = math.pi * (_uniform(self, generator) - 0.5)
    return self.copy_(median + sigma * angles.tan())


@no_grad()
def geometric_(self: Tensor, p: float, *, generator: _C.Generator | None = None) -> Tensor:
    """Overwrites with how many trials the first success takes, each with the probability p.
    (torch.Tensor.geometric_)
    """
    if self.dtype == _C.bool_:
        raise ArgumentTypeError("geometric_: expected a tensor of numbers, got bool")
    if not 0 < p < 1:
        raise ArgumentValueError(f"geometric_: expects p to be in (0, 1), but got p={p}")
    return self.copy_((_uniform(self, generator).log() / math.log1p(-p)).ceil())


@no_grad()
def log_normal_(
    self: Tensor, mean: float = 1, std: float = 2, *, generator: _C.Generator | None = None
) -> Tensor:
    """Overwrites with numbers whose logarithms have a normal distribution. (torch.Tensor.log_normal_)"""
    _check_floating("log_normal_", self)
    if std <= 0:
        raise ArgumentValueError(f"log_normal_: expects std > 0.0, but found std={std}")
    wide = _C.float64 if self.dtype == _C.float64 else _C.float32
    drawn = _C.randn(tuple(self.shape), generator=generator, dtype=wide, device=self.device)
    return self.copy_((mean + std * drawn).exp())


Tensor.cauchy_ = cauchy_
Tensor.geometric_ = geometric_
Tensor.log_normal_ = log_normal_
