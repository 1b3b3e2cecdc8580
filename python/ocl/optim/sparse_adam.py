"""Adam for sparse gradients, as torch.optim.SparseAdam."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.autograd import enable_grad, no_grad
from ocl.optim.optimizer import Optimizer
from ocl.sparse.coo import SparseTensor


class SparseAdam(Optimizer):
    """Adam of which a step changes only the moments and the rows that a sparse gradient has.

    A step waits for the number of those rows. Raises ValueError for options out of range and for sparse
    parameters, RuntimeError for dense gradients. (torch.optim.SparseAdam)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not 0 < float(lr):
            raise ValueError(f"SparseAdam: expected lr > 0, got lr={lr}")
        if not 0 < eps:
            raise ValueError(f"SparseAdam: expected eps > 0, got eps={eps}")
        for number, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"SparseAdam: expected 0 <= betas[{number}] < 1, got {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [
            [group, number]
            for group, own in enumerate(self.param_groups)
            for number, p in enumerate(own["params"])
            if p.is_sparse
        ]
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors"
            )

    @no_grad()
    def step(self, closure: Callable | None = None) -> Any:
        """Updates the rows that the gradients have; returns what `closure`, called first, does."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        params = [(group, p) for group in self.param_groups for p in group["params"] if p.grad is not None]
        for _, p in params:
            if type(p.grad) is not SparseTensor:
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
        for group, p in params:
            self._step(p, group, self.state[p])
        return loss

    @staticmethod
    def _step(p: Tensor, group: dict, state: dict) -> None:
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = _C.zeros_like(p), _C.zeros_like(p)
        state["step"] += 1
        gradient = p.grad.detach().coalesce()
        if gradient._nnz() == 0:
            return
        values = -gradient.values() if group["maximize"] else gradient.values()
        first, second = group["betas"]
        means = []
        for moment, beta, arriving in (
            (state["exp_avg"], first, values),
            (state["exp_avg_sq"], second, values * values),
        ):
            before = moment.sparse_mask(gradient)._values()
            change = (arriving - before) * (1 - beta)
            moment.add_(gradient._with(change))
            means.append(before + change)
        bias = math.sqrt(1 - second ** state["step"]) / (1 - first ** state["step"])
        change = means[0] / (means[1].sqrt() + group["eps"])
        p.add_(gradient._with(change), alpha=-float(group["lr"]) * bias)
