"""Functions of one example as functions of a batch: torch.func.vmap."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching.example import Batched
from ocl.batching.trace import Trace
from ocl.func import trees

__all__ = ["vmap"]


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """A function that maps ``func`` over a dimension of its arguments (torch.func.vmap)::

        ocl.func.vmap(ocl.dot)(ocl.rand(8, 3), ocl.rand(8, 3))  # (8,)

        slope = ocl.func.grad(lambda w, x: (w * x).sum().exp())
        ocl.func.vmap(slope, in_dims=(None, 0))(ocl.rand(3), ocl.rand(8, 3))  # (8, 3)

    ``func`` is called once, with tensors of one example, and every operator that it calls is made for the
    whole batch. An operator without a rule for that runs once per example, with one warning.

    ``in_dims`` says along which dimension of each argument the examples lie: a number, None for what all
    examples share, or a nest of those of the form of the arguments, or of their first levels. Keyword
    arguments are shared. ``out_dims`` says where the results have that dimension, None for
    a result that all examples share. ``randomness``: "error" for random operators, "different" numbers for
    each example, or the "same". ``chunk_size``: how many examples are computed at once.

    Raises ValueError for dimensions that do not fit and for sizes that differ; RuntimeError for code that
    depends on elements (``item()``, ``if x > 0``, ``nonzero``), for a batched write into a tensor that is
    not, and for random operators with randomness="error".
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        flat, dims, rebuild = _inputs(func, in_dims, args, kwargs)
        size = _size(flat, dims, func)
        if chunk_size is None or size <= chunk_size:
            return _map(func, flat, dims, rebuild, size, out_dims, randomness)
        return _by_chunks(func, flat, dims, rebuild, size, out_dims, randomness, chunk_size)

    return mapped


def _name(func: Callable) -> str:
    return getattr(func, "__name__", repr(func))


def _inputs(func: Callable, in_dims: Any, args: tuple, kwargs: dict) -> tuple[list, list, Callable]:
    """The leaves of the arguments, the dimension of each, and what makes arguments of leaves."""
    name = _name(func)
    start = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, list, tuple, dict)) or isinstance(in_dims, bool):
        raise ValueError(
            f"{start}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
            f"inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a function with no inputs. The latter is unsupported."
        )
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    spread = _spread(in_dims, args)
    if spread is None:
        raise ValueError(
            f"{start}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{trees.structure(in_dims)} but inputs has structure {trees.structure(args)}."
        )
    flat, dims = [*trees.leaves(args), *trees.leaves(kwargs)], [*spread, *[None] * len(trees.leaves(kwargs))]
    for place, (leaf, dim) in enumerate(zip(flat, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int) or isinstance(dim, bool):
            raise ValueError(
                f"{start}Got in_dim={dim} for an input but in_dim must be either an integer dimension or "
                "None."
            )
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{start}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap "
                "over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"{start}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                f"{leaf.dim()} so expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
        dims[place] = dim % leaf.dim()

    def rebuild(leaves: list) -> tuple[tuple, dict]:
        rest = iter(leaves)
        return trees.mapped(lambda _: next(rest), args), trees.mapped(lambda _: next(rest), kwargs)

    return flat, dims, rebuild


def _spread(dims: Any, tree: Any) -> list | None:
    """One entry of ``dims``, a nest of the first levels of ``tree``, for each leaf of that; None where it
    is not."""
    if dims is None or not isinstance(dims, (dict, list, tuple)):
        return [dims] * len(trees.leaves(tree))
    if isinstance(dims, dict):
        if not isinstance(tree, dict) or set(dims) != set(tree):
            return None
        pairs = [(dims[key], tree[key]) for key in tree]
    else:
        if not isinstance(tree, (list, tuple)) or len(dims) != len(tree):
            return None
        if isinstance(tree, list) != isinstance(dims, list):
            return None
        pairs = list(zip(dims, tree, strict=True))
    found = [_spread(*pair) for pair in pairs]
    return None if any(each is None for each in found) else [leaf for each in found for leaf in each]


def _size(flat: list, dims: list, func: Callable) -> int:
    sizes = [leaf.shape[dim] for leaf, dim in zip(flat, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError(f"vmap({_name(func)}): at least one input must be mapped over: all in_dims are None")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} "
            "for the mapped dimension"
        )
    return sizes[0]


def _map(
    func: Callable,
    flat: list,
    dims: list,
    rebuild: Callable,
    size: int,
    out_dims: Any,
    randomness: str,
) -> Any:
    batches = [x if d is None else x.movedim(d, 0) for x, d in zip(flat, dims, strict=True)]
    trace = Trace(size, randomness)
    with trace.inside():
        with trace.silent():
            given = [trace.example_of(x) if d is not None else x for x, d in zip(batches, dims, strict=True)]
        for x, d in zip(batches, dims, strict=True):
            if d is None and isinstance(x, Tensor):
                trace.know(x)
        args, kwargs = rebuild(given)
        result = func(*args, **kwargs)
    trace.catch_up()
    return _results(func, trace, result, out_dims)


def _results(func: Callable, trace: Trace, result: Any, out_dims: Any) -> Any:
    name = _name(func)
    leaves = trees.leaves(result)
    dims = _spread(out_dims, result)
    if isinstance(out_dims, tuple) and not isinstance(result, (tuple, list)) and len(out_dims) == 1:
        dims = _spread(out_dims[0], result)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {trees.structure(out_dims)} but outputs has "
            f"structure {trees.structure(result)}."
        )
    made = []
    for leaf, dim in zip(leaves, dims, strict=True):
        if dim is not None and (not isinstance(dim, int) or isinstance(dim, bool)):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )
        if not isinstance(leaf, Tensor):
            if dim is None:
                made.append(leaf)
                continue
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did you mean "
                "to set out_dims= to None for output?"
            )
        found = trace.batch_of(leaf)
        if dim is None:
            if isinstance(found, Batched):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
                )
            made.append(found)
            continue
        batch = trace.expanded(leaf)
        if not -batch.dim() <= dim < batch.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-batch.dim()}, {batch.dim() - 1}], "
                f"but got {dim})"
            )
        made.append(batch.movedim(0, dim))
    rest = iter(made)
    return trees.mapped(lambda _: next(rest), result)


def _by_chunks(
    func: Callable,
    flat: list,
    dims: list,
    rebuild: Callable,
    size: int,
    out_dims: Any,
    randomness: str,
    chunk_size: int,
) -> Any:
    state = _C.get_rng_state() if randomness == "same" else None
    parts = []
    for start in range(0, size, chunk_size):
        count = min(chunk_size, size - start)
        if state is not None:
            _C.set_rng_state(state)
        chunk = [x if d is None else x.narrow(d, start, count) for x, d in zip(flat, dims, strict=True)]
        parts.append(_map(func, chunk, dims, rebuild, count, out_dims, randomness))
    columns = zip(*(trees.leaves(part) for part in parts), strict=True)
    spread = _spread(out_dims, parts[0])
    spread = _spread(out_dims[0], parts[0]) if spread is None else spread
    joined = iter([c[0] if d is None else _C.cat(list(c), d) for c, d in zip(columns, spread, strict=True)])
    return trees.mapped(lambda _: next(joined), parts[0])
