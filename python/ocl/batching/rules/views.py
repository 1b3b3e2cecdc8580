"""Views, copies and joined tensors."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl.batching.rules import Call, rule
from ocl.batching.rules.dims import shift


@rule("view", "reshape")
def reshape(call: Call) -> Any:
    if "dtype" in call.arguments:
        return call.again()
    return call.again(shape=[call.size, *call.expected[0][0]])


@rule("flatten")
def flatten(call: Call) -> Any:
    return call.batch("input").reshape(call.size, *call.expected[0][0])


@rule("expand")
def expand(call: Call) -> Any:
    batch = call.batch("input")
    for _ in range(len(call["shape"]) - (batch.dim() - 1)):
        batch = batch.unsqueeze(1)
    return batch.expand(call.size, *call.expected[0][0])


@rule("expand_as", "view_as")
def as_other(call: Call) -> Any:
    shape = call.expected[0][0]
    batch = call.batch("input")
    if call.name == "view_as":
        return batch.view(call.size, *shape)
    for _ in range(len(shape) - (batch.dim() - 1)):
        batch = batch.unsqueeze(1)
    return batch.expand(call.size, *shape)


@rule("repeat", "tile")
def repeat(call: Call) -> Any:
    batch = call.batch("input")
    counts = call["repeats" if call.name == "repeat" else "dims"]
    for _ in range(len(counts) - (batch.dim() - 1)):
        batch = batch.unsqueeze(1)
    counts = [1] * (batch.dim() - 1 - len(counts)) + list(counts)
    return batch.repeat(1, *counts)


@rule("repeat_interleave")
def repeat_interleave(call: Call) -> Any:
    if not call.only("input"):
        return NotImplemented
    batch = call.batch("input")
    if call["dim"] is None:
        return call.again(input=batch.reshape(call.size, -1), dim=1)
    if batch.dim() == 1:
        return call.again(input=batch.unsqueeze(1), dim=1)
    return call.again(input=batch, dim=shift(call["dim"], batch.dim() - 1))


@rule("permute")
def permute(call: Call) -> Any:
    return call.again(dims=[0, *shift(call["dims"], len(call["dims"]))])


@rule("t")
def t(call: Call) -> Any:
    batch = call.batch("input")
    return batch.transpose(1, 2) if batch.dim() == 3 else batch.view_as(batch)


@rule("squeeze")
def squeeze(call: Call) -> Any:
    batch = call.batch("input")
    rank = batch.dim() - 1
    if rank == 0:
        return batch.view_as(batch)
    asked = call.get("dims", call.get("dim"))
    asked = range(rank) if asked is None else [asked] if isinstance(asked, int) else asked
    for dim in sorted((d % rank + 1 for d in asked), reverse=True):
        if batch.shape[dim] == 1:
            batch = batch.squeeze(dim)
    return batch.view_as(batch) if batch is call.batch("input") else batch


@rule("unsqueeze")
def unsqueeze(call: Call) -> Any:
    batch = call.batch("input")
    return batch.unsqueeze(call["dim"] % batch.dim() + 1)


@rule("diagonal")
def diagonal(call: Call) -> Any:
    batch = call.batch("input")
    rank = batch.dim() - 1
    return call.again(dim1=shift(call["dim1"], rank), dim2=shift(call["dim2"], rank))


@rule("clone", "contiguous", "to")
def copied(call: Call) -> Any:
    # Formats are of an example's dimensions, of which a batch has one more.
    arguments = {**call.arguments, **({"format": "preserve_format"} if "format" in call.arguments else {})}
    call.arguments = arguments
    return call.again()


@rule("empty_like", "zeros_like", "ones_like", "full_like")
def like(call: Call) -> Any:
    return call.again(format="preserve_format")


def _all(call: Call) -> list:
    return [call.batch_of(t) for t in call["tensors"]]


@rule("cat")
def cat(call: Call) -> Any:
    tensors = _all(call)
    rank = len(call.expected[0][0])
    # Empty tensors of one dimension are left out, whatever the ranks of the others.
    tensors = [t for t in tensors if t.dim() == rank + 1 or t.shape[1:] != (0,)]
    return _C.cat([t.to(call.expected[0][1]) for t in tensors], shift(call["dim"], rank))


@rule("stack")
def stack(call: Call) -> Any:
    return _C.stack(_all(call), shift(call["dim"], len(call.expected[0][0])))


@rule("hstack", "vstack", "dstack", "column_stack")
def stacked_along(call: Call) -> Any:
    rank = len(call.expected[0][0])
    tensors = _all(call)
    if call.name == "hstack":
        tensors = [t.unsqueeze(1) if t.dim() == 1 else t for t in tensors]
        return _C.cat(tensors, 1 if rank == 1 else 2)
    if call.name == "column_stack":
        tensors = [t.reshape(call.size, -1, 1) if t.dim() < 3 else t for t in tensors]
        return _C.cat(tensors, 2)
    if call.name == "vstack":
        tensors = [t.reshape(call.size, 1, -1) if t.dim() < 3 else t for t in tensors]
        return _C.cat(tensors, 1)
    tensors = [
        t.reshape(call.size, 1, -1, 1) if t.dim() < 3 else t.unsqueeze(3) if t.dim() == 3 else t
        for t in tensors
    ]
    return _C.cat(tensors, 3)


@rule("meshgrid")
def meshgrid(call: Call) -> Any:
    count = len(call["tensors"])
    made = []
    for place, tensor in enumerate(_all(call)):
        flat = tensor.reshape(call.size, -1)
        at = 1 - place if call["indexing"] == "xy" and place < 2 and count > 1 else place
        shape = [1] * count
        shape[at] = flat.shape[1]
        made.append(flat.reshape(call.size, *shape).expand(call.size, *call.expected[place][0]))
    return made
