"""Work that is no operator: derivatives, and functions that run once per example under vmap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching.example import Batched, Example, current, plain

__all__ = ["alias", "gradients", "leaf", "make_leaf", "opaque"]


def leaf(tensor: Tensor) -> Tensor:
    """A leaf for the elements of a tensor: by it a derivative is taken."""
    trace = current()
    if trace is None:
        return tensor.detach().requires_grad_()
    trace.catch_up()
    with trace.outside():
        batch = leaf(trace.expanded(tensor).detach().clone())
    with trace.silent():
        example = tensor.detach().clone().requires_grad_().as_subclass(Example)
        trace.put(example, batch)
    return example


def alias(tensor: Tensor) -> Tensor:
    """That tensor as another one: derivatives by it are of what uses this one alone."""
    trace = current()
    if trace is None:
        return tensor.view_as(tensor)
    trace.catch_up()
    with trace.outside():
        batch = trace.expanded(tensor).clone()
    with trace.silent():
        example = tensor.clone().as_subclass(Example)
        trace.put(example, batch)
    return example


def gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool = True,
) -> list[Tensor | None]:
    """``autograd.grad``, None for inputs without influence; under vmap of every example at once."""
    trace = current()
    if trace is None:
        return list(_C.grad(outputs, inputs, weights, retain_graph, create_graph, allow_unused))
    trace.catch_up()
    with trace.silent():
        found = list(_C.grad(outputs, inputs, weights, retain_graph, create_graph, allow_unused))
    with trace.outside():
        batches = _gradients_of_batches(trace, outputs, inputs, weights, retain_graph, create_graph)
    with trace.silent():
        results = []
        for example, batch in zip(found, batches, strict=True):
            if example is not None:
                if batch is None:
                    batch = _C.zeros((trace.size, *example.shape), dtype=example.dtype, device=example.device)
                example = example.clone().as_subclass(Example)
                trace.put(example, batch)
            results.append(example)
    return results


def _gradients_of_batches(trace, outputs, inputs, weights, retain_graph, create_graph):
    weights = weights or [None] * len(outputs)
    behind = [[None if t is None else trace.batch_of(t) for t in ts] for ts in (outputs, inputs, weights)]
    if all(isinstance(t, Batched) for t in behind[1]):
        # Nothing that examples share lies behind their inputs: one pass gives each example its own gradient.
        scalars = [
            t if isinstance(t, Batched) else Batched(t.expand(trace.size, *t.shape)) for t in behind[0]
        ]
        given = [
            Batched(_C.ones_like(o.tensor)) if w is None else w
            for o, w in zip(scalars, behind[2], strict=True)
        ]
        given = [
            w.tensor if isinstance(w, Batched) else w.expand(o.tensor.shape)
            for o, w in zip(scalars, given, strict=True)
        ]
        return gradients(
            [o.tensor for o in scalars], [t.tensor for t in behind[1]], given, retain_graph, create_graph
        )
    if any(isinstance(t, Batched) for t in (*behind[0], *behind[1])):
        raise NotImplementedError("vmap: derivatives of batched results by tensors that are not batched")
    rows = []
    for i in range(trace.size):  # a graph outside of vmap: one pass for each example's weights
        chosen = [w.tensor.select(0, i) if isinstance(w, Batched) else w for w in behind[2]]
        keeps = True if i + 1 < trace.size else retain_graph
        rows.append(gradients(behind[0], behind[1], chosen, keeps, create_graph))
    return [None if column[0] is None else _C.stack(list(column)) for column in zip(*rows, strict=True)]


def opaque(function: Callable, *args: Any) -> Any:
    """``function(*args)`` of an operation that is no operator, under vmap of one example after another."""
    trace = current()
    if trace is None:
        return function(*args)
    if not any(isinstance(a, Example) for a in args):
        return function(*args)
    trace.catch_up()
    with trace.outside():
        behind = [trace.batch_of(a) if isinstance(a, Tensor) else a for a in args]
        rows = [
            opaque(function, *(a.tensor.select(0, i) if isinstance(a, Batched) else a for a in behind))
            for i in range(trace.size)
        ]
    single = not isinstance(rows[0], (tuple, list))
    columns = [rows] if single else list(zip(*rows, strict=True))
    with trace.silent():
        made = function(*(plain(a) if isinstance(a, Tensor) else a for a in args))
    made = [made] if single else list(made)
    for place, column in enumerate(columns):
        if isinstance(column[0], Tensor):
            with trace.outside():
                batch = _C.stack(list(column))
            with trace.silent():
                made[place] = made[place].clone().as_subclass(Example)
                trace.put(made[place], batch)
    return made[0] if single else type(rows[0])(made)


def make_leaf(example: Tensor) -> None:
    """Derivatives by the batch behind that tensor are taken from here on."""
    trace = current()
    trace.catch_up()
    with trace.outside():
        batch = leaf(trace.expanded(example))
    trace.put(example, batch)
