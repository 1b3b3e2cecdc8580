"""Pointwise operators: dimensions are aligned from the right, so that a batch gets ones after its first."""

from __future__ import annotations

import functools
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching.rules import Batched, Call, rule
from ocl.seam import performing

__all__ = ["aligned", "lifted", "pointwise", "write"]


def logical_rank(value: Any) -> int:
    """The dimensions of one example's tensor."""
    if isinstance(value, Batched):
        return value.tensor.dim() - 1
    return value.dim() if isinstance(value, Tensor) else 0


def aligned(values: list, rank: int | None = None) -> list:
    """Tensors that broadcast as those of one example do, batches [B, ...] with ones where they lack
    dimensions."""
    rank = max(map(logical_rank, values)) if rank is None else rank
    return [_padded(v, rank) for v in values]


def _padded(value: Any, rank: int) -> Any:
    if not isinstance(value, Batched):
        return value
    batch = value.tensor
    lacking = rank - (batch.dim() - 1)
    for _ in range(lacking):
        batch = batch.unsqueeze(1)
    return batch


def lifted(call: Call, *names: str) -> dict[str, Tensor]:
    """Those arguments, where there are tensors, as [B, ...] of the same number of dimensions."""
    present = [name for name in names if isinstance(call.get(name), Tensor | Batched)]
    rank = max(logical_rank(call[name]) for name in present)
    return {name: _padded(Batched(call.batch(name)), rank) for name in present}


def _category(dtype: Any) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else int(dtype != _C.bool_)


def _weighed(values: list) -> list:
    """The values so that batches are promoted as one example's tensors, of which those without dimensions
    weigh less than others, and as much among themselves."""
    tensors = [v for v in values if isinstance(v, Tensor | Batched)]
    weighty = [v for v in tensors if logical_rank(v) > 0]
    if not weighty:
        return [v.reshape(1) if isinstance(v, Tensor) else v for v in values]
    dtype = functools.reduce(_C.promote_types, [_tensor(v).dtype for v in weighty])

    def weighed(value: Any) -> Any:
        if not isinstance(value, Batched) or logical_rank(value) > 0:
            return value
        if value.tensor.dtype == dtype or _category(value.tensor.dtype) > _category(dtype):
            return value
        return Batched(value.tensor.to(dtype))

    return [weighed(v) for v in values]


def _tensor(value: Any) -> Tensor:
    return value.tensor if isinstance(value, Batched) else value


def pointwise(call: Call) -> Any:
    inputs = aligned(_weighed(call["inputs"]), max(map(logical_rank, call["inputs"])))
    return performing.perform(call.name, {"inputs": inputs, "parameters": call["parameters"]})


def write(call: Call) -> None:
    """A pointwise operator that writes over its first input."""
    target = call["target"].tensor
    inputs = aligned(_weighed(call["inputs"]), target.dim() - 1)
    performing.perform(call.name, {"target": target, "inputs": inputs, "parameters": call["parameters"]})


@rule("nan_to_num", "polygamma")
def of_one_tensor(call: Call) -> Any:
    return call.again()


@rule("isclose")
def of_two_tensors(call: Call) -> Any:
    first, second = aligned([call["input"], call["other"]])
    return call.again(input=first, other=second)


@rule("masked_fill")
def masked_fill(call: Call) -> Any:
    x, mask, value = aligned([call["input"], call["mask"], call["value"]])
    if isinstance(value, Tensor):
        return _C.where(mask, value.to(call.expected[0][1]), x)
    return call.again(input=x, mask=mask)


@rule("masked_fill_")
def masked_fill_(call: Call) -> None:
    x = call["input"].tensor
    mask, value = aligned([call["mask"], call["value"]], x.dim() - 1)
    if isinstance(value, Tensor):
        x.copy_(_C.where(mask, value.to(x.dtype), x))
    else:
        x.masked_fill_(mask, value)


@rule("copy_")
def copy_(call: Call) -> None:
    target = call["self"].tensor
    target.copy_(aligned([call["source"]], target.dim() - 1)[0])


@rule("fill_")
def fill_(call: Call) -> None:
    target, value = call["self"].tensor, call["value"]
    if isinstance(value, Batched):
        target.copy_(aligned([value], target.dim() - 1)[0])
    else:
        target.fill_(value)


@rule("zero_")
def zero_(call: Call) -> None:
    call["self"].tensor.zero_()


@rule("prelu")
def prelu(call: Call) -> Any:
    x, weight = call["input"], call["weight"]
    if isinstance(weight, Batched) and weight.tensor[0].numel() == 1 or not isinstance(weight, Batched):
        batch = call.batch("input")
        rank = batch.dim() - 1
        slope = weight.tensor.reshape(call.size, *[1] * rank) if isinstance(weight, Batched) else weight
        if not isinstance(weight, Batched) and weight.numel() > 1 and rank > 1:
            slope = weight.reshape(-1, *[1] * (rank - 2))
        return _C.where(batch > 0, batch, slope * batch)
    batch = call.batch_of(x)
    rank = batch.dim() - 1
    slope = weight.tensor
    shape = (call.size, slope.shape[1]) if rank < 2 else (call.size, 1, slope.shape[1], *[1] * (rank - 2))
    return _C.where(batch > 0, batch, slope.reshape(shape) * batch)
