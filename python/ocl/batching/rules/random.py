"""Random operators: other numbers for each example, or the same, as vmap's ``randomness`` says."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching.rules import Batched, Call, mapped, rule
from ocl.batching.trace import RANDOM
from ocl.nn import functional
from ocl.seam import performing


def _draws(call: Call) -> bool:
    if call.name.startswith("dropout"):
        return call["training"] and call["p"] > 0
    return call["training"] if call.name.startswith("rrelu") else True


def _check(call: Call) -> bool:
    """Whether each example draws its own numbers. Raises RuntimeError where randomness is an error."""
    if call.randomness == "error":
        raise RuntimeError(RANDOM.format(call.name))
    return call.randomness == "different"


@rule("dropout", "rrelu")
def elementwise(call: Call) -> Any:
    if not _draws(call):
        return call.again()
    if _check(call):
        return call.again()
    batch = call.batch("input")
    if call.name == "rrelu":
        return _same(call)
    kept = functional.dropout(
        _C.ones(batch.shape[1:], dtype=batch.dtype, device=batch.device), call["p"], True
    )
    return batch * kept


@rule("dropout2d")
def of_channels(call: Call) -> Any:
    if not _draws(call):
        return call.again()
    return _each(call) if _check(call) else _same(call)


@rule("bernoulli", "multinomial", "gumbel_softmax", "normal")
def of_examples(call: Call) -> Any:
    return _each(call) if _check(call) else _same(call)


@rule("rand", "randn", "randint", "randperm")
def created(call: Call) -> Any:
    if "shape" in call.arguments:
        return call.again(shape=[call.size, *call["shape"]])
    return _each(call)


def _each(call: Call) -> list[Tensor]:
    return _stacked([_one(call, i) for i in range(call.size)])


def _same(call: Call) -> list[Tensor]:
    """Each example's call with the generator as it was before the first."""
    state = _C.get_rng_state()
    made = []
    for i in range(call.size):
        _C.set_rng_state(state)
        made.append(_one(call, i))
    return _stacked(made)


def _one(call: Call, i: int) -> list[Tensor]:
    arguments = mapped(lambda v: v.tensor.select(0, i) if isinstance(v, Batched) else v, call.arguments)
    made = performing.perform(call.name, arguments)
    return list(made) if isinstance(made, (tuple, list)) else [made]


def _stacked(rows: list[list[Tensor]]) -> list[Tensor]:
    return [_C.stack(list(column)) for column in zip(*rows, strict=True)]


@rule("uniform_", "normal_", "bernoulli_", "exponential_", "random_", "dropout_", "rrelu_")
def written(call: Call) -> Any:
    first = next(iter(call.arguments))
    if call.name in ("dropout_", "rrelu_") and not _draws(call):
        call.again()
        return None
    if _check(call):
        if any(isinstance(v, Batched) for k, v in call.arguments.items() if k != first):
            return NotImplemented
        call.again()
        return None
    target = call[first].tensor
    if call.name in ("dropout_", "rrelu_"):
        state = _C.get_rng_state()
        for i in range(call.size):
            _C.set_rng_state(state)
            _one(call, i)
        return None
    if call.size:
        arguments = {**call.arguments, first: target.select(0, 0)}
        performing.perform(call.name, arguments)
        target.copy_(target.select(0, 0).clone().expand(target.shape))
    return None
