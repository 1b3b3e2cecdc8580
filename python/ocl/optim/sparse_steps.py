"""Steps of SGD and Adagrad for parameters whose gradients are sparse, as torch.optim takes them.

They write the rows alone that the gradient has. The other optimizers refuse sparse gradients.
"""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, Tensor
from ocl.sparse.coo import SparseTensor
from ocl.sparse.elementwise import add_

_ADVICE = {"Adam": ", please consider SparseAdam instead", "AdamW": ", please consider SparseAdam instead"}


def refuse_sparse(name: str, p: Tensor) -> None:
    """Raises where the gradient of a parameter is sparse."""
    if type(p.grad) is SparseTensor:
        name = "Adam" if name == "AdamW" else name
        raise RuntimeError(f"{name} does not support sparse gradients{_ADVICE.get(name, '')}")


def step(optimizer: Any, rule: str) -> list[dict]:
    """Steps the parameters with sparse gradients, and gives the groups with the others."""
    found = [[p for p in group["params"] if type(p.grad) is SparseTensor] for group in optimizer.param_groups]
    if not any(found):
        return optimizer.param_groups
    if rule not in _STEPS:
        refuse_sparse(rule, next(p for some in found for p in some))
    for group, some in zip(optimizer.param_groups, found, strict=True):
        if some:
            _check(rule, group, some)
    recorded = _C.is_grad_enabled()
    _C._set_grad_enabled(False)
    try:
        for group, some in zip(optimizer.param_groups, found, strict=True):
            for p in some:
                _STEPS[rule](p, group, optimizer.state[p])
    finally:
        _C._set_grad_enabled(recorded)
    return [
        {**group, "params": [p for p in group["params"] if all(p is not other for other in some)]}
        for group, some in zip(optimizer.param_groups, found, strict=True)
    ]


def _check(rule: str, group: dict, params: list[Tensor]) -> None:
    if group["weight_decay"] != 0:
        raise RuntimeError(f"{rule}: weight_decay option is not compatible with sparse gradients")
    if group.get("master_weights") and any(p.dtype in (_C.float16, _C.bfloat16) for p in params):
        raise ArgumentTypeError(f"{rule}: master weights are not kept of parameters with sparse gradients")


def _sgd(p: Tensor, group: dict, state: dict) -> None:
    momentum, gradient = group["momentum"], p.grad.detach()
    if group["maximize"]:
        gradient = -gradient
    if momentum != 0:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = gradient.clone()
        else:
            buffer.mul_(momentum)
            add_(buffer, gradient, alpha=1 - group["dampening"])
        state["momentum_buffer"] = buffer
        if not group["nesterov"]:
            gradient = buffer
        elif type(buffer) is SparseTensor:
            gradient = gradient.add(buffer, alpha=momentum)
        else:
            gradient = (buffer * momentum).add(gradient)
    p.add_(gradient, alpha=-float(group["lr"]))


def _adagrad(p: Tensor, group: dict, state: dict) -> None:
    if "sum" not in state:
        state["step"] = 0
        state["sum"] = _C.full_like(p, group["initial_accumulator_value"])
    state["step"] += 1
    gradient = p.grad.detach().coalesce()
    if group["maximize"]:
        gradient = -gradient
    rate = float(group["lr"]) / (1 + (state["step"] - 1) * group["lr_decay"])
    values, total = gradient.values(), state["sum"]
    total.add_(gradient._with(values * values))
    root = total.sparse_mask(gradient)._values().sqrt() + group["eps"]
    p.add_(gradient._with(values / root), alpha=-rate)


_STEPS = {"SGD": _sgd, "Adagrad": _adagrad}
