"""Muon (Jordan et al. 2024), as torch.optim.Muon."""

import math

import ocl
from ocl.autograd import no_grad
from ocl.optim.builtin import _first_of
from ocl.optim.optimizer import Optimizer
from ocl.optim.sparse_steps import refuse_sparse

_ADJUSTMENTS = {
    "original": lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
}


def _orthogonalized(matrix, coefficients, steps, eps):
    """Near U V^T of the singular value decomposition, by Newton's and Schulz's iteration in bfloat16."""
    if steps >= 100:
        raise ValueError(f"Muon: expected ns_steps < 100, got ns_steps={steps}")
    a, b, c = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    x = matrix.bfloat16().T if is_tall else matrix.bfloat16()
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = ocl.addmm(x, ocl.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


class Muon(Optimizer):
    """Momentum whose updates are made orthogonal: for the matrices of hidden layers, beside another optimizer
    for the rest.

    ``adjust_lr_fn``: "original" (the default) or "match_rms_adamw", by which rates fit AdamW's.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.7750, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        for name, value in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay)):
            if not value >= 0:
                raise ValueError(f"Muon: expected {name} >= 0, got {name}={value}")
        if adjust_lr_fn is not None and adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if len(ns_coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    @no_grad()
    def step(self, closure=None):
        """One step over all parameters that have a gradient; returns what `closure` does."""
        loss = _first_of(closure)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    refuse_sparse("Muon", p)
                    self._update(group, p)
        return loss

    def _update(self, group, p):
        state, momentum, rate = self.state[p], group["momentum"], float(group["lr"])
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = ocl.zeros_like(p.grad)
        average = state["momentum_buffer"]
        average.lerp_(p.grad, 1 - momentum)
        update = p.grad.lerp(average, momentum) if group["nesterov"] else average
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - rate * group["weight_decay"])
        p.add_(update, alpha=-rate * _ADJUSTMENTS[group["adjust_lr_fn"] or "original"](*p.shape))
