"""Losses: of every element for all examples, then reduced example by example."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching.rules import Batched, Call, rule
from ocl.batching.rules.pointwise import aligned, lifted

__all__ = ["joined"]

_NONE, _MEAN, _SUM = 0, 1, 2


def joined(batch: Tensor) -> Tensor:
    """[B, N, ...] as [B * N, ...]."""
    return batch.reshape(batch.shape[0] * batch.shape[1], *batch.shape[2:])


def _reduced(loss: Tensor, reduction: Any, size: int) -> Tensor:
    if reduction in (_NONE, "none"):
        return loss
    flat = loss.reshape(size, -1)
    return flat.mean(1) if reduction in (_MEAN, "mean") else flat.sum(1)


def _elementwise(*names: str) -> Any:
    """The rule of a loss whose tensors broadcast."""

    def call_rule(call: Call) -> Any:
        tensors = lifted(call, *names)
        if call.name == "kl_div":
            if call["reduction"] == "batchmean":
                loss = call.again(**tensors, reduction="none")
                return loss.reshape(call.size, -1).sum(1) / call.batch("input").shape[1]
            none: Any = "none"
        else:
            none = _NONE
        loss = call.again(**tensors, reduction=none)
        return _reduced(loss, call["reduction"], call.size)

    return call_rule


rule("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "poisson_nll_loss", "soft_margin_loss",
     "hinge_embedding_loss")(_elementwise("input", "target"))  # fmt: skip
rule("binary_cross_entropy")(_elementwise("input", "target", "weight"))
rule("binary_cross_entropy_with_logits")(_elementwise("input", "target", "weight", "pos_weight"))
rule("margin_ranking_loss")(_elementwise("input1", "input2", "target"))


@rule("cross_entropy", "nll_loss")
def of_classes(call: Call) -> Any:
    """[B, N, C, ...] as [B * N, C, ...]."""
    if isinstance(call["weight"], Batched):
        return NotImplemented
    scores = "logits" if call.name == "cross_entropy" else "log_probabilities"
    x, target = call.batch(scores), call.batch("target")
    single = x.dim() == 2
    has_indices = target.dim() < x.dim()
    changed = {scores: x if single else joined(x), "target": target if single else joined(target)}
    loss = call.again(**changed, reduction=_NONE)
    loss = loss.reshape(call.size, *([] if single else x.shape[1:2]), *loss.shape[1:])
    if call["reduction"] == _NONE:
        return loss
    total = loss.reshape(call.size, -1).sum(1)
    if call["reduction"] == _SUM:
        return total
    if not has_indices:
        return total / (loss.numel() // call.size if call.size else 1)
    counts = target != call["ignore_index"]
    if call["weight"] is not None:
        places = _C.where(counts, target, _C.zeros_like(target))
        weights = call["weight"].index_select(0, places.reshape(-1)).reshape(target.shape)
        counts = _C.where(counts, weights, _C.zeros_like(weights))
    return total / counts.reshape(call.size, -1).sum(1).to(total.dtype)


@rule("cosine_similarity", "pairwise_distance")
def of_vectors(call: Call) -> Any:
    first, second = aligned([call["x1"], call["x2"]])
    if call.name == "pairwise_distance":
        return call.again(x1=first, x2=second) if max(first.dim(), second.dim()) > 1 else NotImplemented
    rank = max(first.dim() - call.is_batched("x1"), second.dim() - call.is_batched("x2"))
    return call.again(x1=first, x2=second, dim=call["dim"] % rank - rank)


@rule("cdist")
def cdist(call: Call) -> Any:
    first, second = aligned([call["x1"], call["x2"]])
    return call.again(x1=first, x2=second)
