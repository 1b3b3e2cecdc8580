"""Operators of one tensor along some of its dimensions: the same along the next ones of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl.batching.rules import Call, rule

__all__ = ["DIMENSIONS", "shifted"]

# Names of parameters that are dimensions of the first tensor.
DIMENSIONS = (
    "dim", "dims", "dim0", "dim1", "dim2", "start_dim", "end_dim", "dimension", "axis0", "axis1", "source",
    "destination",
)  # fmt: skip


def _next(dimension: int, rank: int) -> int:
    return dimension % max(rank, 1) + 1


def shift(value: Any, rank: int) -> Any:
    """Those dimensions of one example in a batch."""
    return [_next(d, rank) for d in value] if isinstance(value, list) else _next(value, rank)


def shifted(call: Call) -> Any:
    """The operator along the next dimensions."""
    first = next(iter(call.arguments))
    if not call.only(first):
        return NotImplemented
    batch = call.batch(first)
    rank = batch.dim() - 1
    has_none = rank == 0
    if has_none:  # along the only dimension that a tensor without any stands for
        batch = batch.unsqueeze(-1)
    changed = {
        key: shift(value, rank)
        for key, value in call.arguments.items()
        if key in DIMENSIONS and value is not None and not isinstance(value, bool)
    }
    made = call.again(**{first: batch}, **changed)
    if not has_none:
        return made
    shapes = [(call.size, *shape) for shape, _ in call.expected]
    made = made if isinstance(made, (tuple, list)) else [made]
    return [each.reshape(shape) for each, shape in zip(made, shapes, strict=True)]


rule(
    "softmax", "log_softmax", "softmin", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "sort",
    "argsort",
    "topk", "kthvalue", "mode", "glu", "flip", "transpose", "swapaxes", "unbind", "split", "chunk", "narrow",
    "select", "unflatten", "movedim", "slice", "unfold_dimension",
)(shifted)  # fmt: skip


def _reduced(call: Call) -> Any:
    """A reduction over some dimensions, or over all of one example where it names none."""
    first = next(iter(call.arguments))
    if not call.only(first):
        return NotImplemented
    key = "dims" if "dims" in call.arguments else "dim"
    dims = call.get(key)
    if key == "dims" and dims:
        return shifted(call)
    if key == "dim" and dims is not None:
        return shifted(call)
    batch = call.batch(first)
    if key == "dim" or batch.dim() == 1:
        batch, dims = batch.reshape(call.size, -1), 1
    else:
        dims = list(range(1, batch.dim()))
    whole = {key: [dims] if key == "dims" and isinstance(dims, int) else dims}
    if "keepdim" in call.arguments:
        whole["keepdim"] = False
    made = call.again(**{first: batch}, **whole)
    made = made if isinstance(made, (tuple, list)) else [made]
    return [each.reshape(call.size, *shape) for each, (shape, _) in zip(made, call.expected, strict=True)]


rule(
    "sum", "mean", "prod", "amax", "amin", "all", "any", "count_nonzero", "argmax", "argmin", "var", "std",
    "var_mean", "std_mean", "logsumexp", "norm", "aminmax", "nansum", "nanmean", "normalize",
)(_reduced)  # fmt: skip


def _chosen(of_all: Callable) -> Callable:
    """max, min and the medians, which have a form for all elements, one along a dimension, one of two
    tensors."""

    def call_rule(call: Call) -> Any:
        if "other" in call.arguments:
            from ocl.batching.rules.pointwise import aligned

            first, second = aligned([call["input"], call["other"]])
            return call.again(input=first, other=second)
        if "dim" in call.arguments:
            return shifted(call)
        return of_all(call.batch("input").reshape(call.size, -1))

    return call_rule


rule("max")(_chosen(lambda x: x.amax(1)))
rule("min")(_chosen(lambda x: x.amin(1)))
rule("median")(_chosen(lambda x: x.median(1)[0]))
rule("nanmedian")(_chosen(lambda x: x.nanmedian(1)[0]))


@rule("diff")
def diff(call: Call) -> Any:
    batch = call.batch("input")
    beside = {key: call.batch(key) for key in ("prepend", "append") if call.get(key) is not None}
    return call.again(input=batch, dim=_next(call["dim"], batch.dim() - 1), **beside)


@rule("trace")
def trace(call: Call) -> Any:
    return call.batch("input").diagonal(0, 1, 2).sum(1).to(call.expected[0][1])


@rule("roll")
def roll(call: Call) -> Any:
    batch = call.batch("input")
    if call["dims"]:
        return call.again(input=batch, dims=shift(call["dims"], batch.dim() - 1))
    flat = batch.reshape(call.size, -1)
    return _C.roll(flat, call["shifts"], [1]).reshape(batch.shape)


@rule("rot90")
def rot90(call: Call) -> Any:
    batch = call.batch("input")
    return call.again(input=batch, dims=shift(call["dims"], batch.dim() - 1))


@rule("fliplr", "flipud")
def flipped(call: Call) -> Any:
    return call.batch("input").flip(2 if call.name == "fliplr" else 1)


@rule("tril", "triu")
def triangle(call: Call) -> Any:
    return call.again()
