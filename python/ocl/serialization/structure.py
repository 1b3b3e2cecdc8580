"""Nested dicts, lists and tuples as tensors by name and the list of steps that rebuild the structure.

A tensor's name is its path in the structure ("state/0/exp_avg"). Each step puts one part on a stack, a
container after its items, which it takes from there; so no depth of nesting needs recursion. The steps are
JSON: they go into the metadata of a safetensors file.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ocl._C import Tensor
from ocl.late_numpy import np
from ocl.sparse.coo import SparseTensor, made

_PLAIN = (bool, int, float, str, type(None))
_KINDS = "biufc"  # of NumPy's arrays and numbers


def rebuilt_from_json(text: str, tensors: dict[str, Tensor]) -> Any:
    """The structure again. Raises ValueError for steps that :func:`taken_apart` cannot have made."""
    try:
        structure = json.loads(text)
        return _rebuilt(structure if isinstance(structure, list) else _steps_of(structure), tensors)
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(repr(error)) from error


class _End(NamedTuple):
    """Follows the items of a container."""

    container: dict | list | tuple | SparseTensor
    step: list


def taken_apart(obj: Any) -> tuple[dict[str, Tensor], list[list]]:
    """The tensors of ``obj`` by name, and the steps that rebuild it."""
    tensors: dict[str, Tensor] = {}
    steps: list[list] = []
    open_containers: set[int] = set()
    todo: list[tuple[Any, str]] = [(obj, "")]
    while todo:
        node, path = todo.pop()
        if isinstance(node, _End):
            open_containers.remove(id(node.container))
            steps.append(node.step)
        elif type(node) is SparseTensor:
            parts = node.detach()._parts
            steps_of_parts = ["sparse", [list(node.shape), parts.is_coalesced]]
            open_containers.add(id(node))
            todo.append((_End(node, steps_of_parts), path))
            todo.append((parts.values, f"{path}/values" if path else "values"))
            todo.append((parts.indices, f"{path}/indices" if path else "indices"))
        elif isinstance(node, Tensor):
            name = _unused(path or "tensor", tensors)
            tensors[name] = node
            steps.append(["tensor", name])
        elif isinstance(node, dict | list | tuple):
            if id(node) in open_containers:
                raise ValueError(f"save: {path or 'the object'} contains itself")
            open_containers.add(id(node))
            items = node.items() if isinstance(node, dict) else enumerate(node)
            children = [(item, f"{path}/{key}" if path else str(key)) for key, item in items]
            todo.append((_End(node, _container_step(node, path)), path))
            todo.extend(reversed(children))
        elif isinstance(node, _PLAIN):
            steps.append(["value", node])
        elif isinstance(node, np.ndarray | np.generic) and node.dtype.kind in _KINDS:
            number = isinstance(node, np.generic)
            steps.append(["array", [node.dtype.str, list(node.shape), node.tobytes().hex(), number]])
        else:
            raise TypeError(f"save: {path or 'the object'} is a {type(node).__name__}, which cannot be saved")
    return tensors, steps


def _container_step(container: dict | list | tuple, path: str) -> list:
    if not isinstance(container, dict):
        return ["tuple" if isinstance(container, tuple) else "list", len(container)]
    for key in container:
        if not isinstance(key, _PLAIN):
            raise TypeError(f"save: {path or 'the object'} has a key of type {type(key).__name__}")
    # A list: keys may be ints (an optimizer's state), which as JSON's keys would turn into strings.
    return ["dict", list(container)]


def _unused(name: str, tensors: dict[str, Tensor]) -> str:
    """``name``, with dashes after it where keys that read alike ("a/b", and "b" in "a") led to the same."""
    while name in tensors:
        name += "-"
    return name


def _rebuilt(steps: list[list], tensors: dict[str, Tensor]) -> Any:
    stack: list[Any] = []

    def take(count: int) -> list:
        if not 0 <= count <= len(stack):
            raise ValueError(f"{count!r} items of {len(stack)}")
        items = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        return items

    for kind, content in steps:
        if kind == "value" and isinstance(content, _PLAIN):
            stack.append(content)
        elif kind == "tensor":
            stack.append(tensors[content])
        elif kind == "sparse":
            shape, is_coalesced = content
            stack.append(_sparse(*take(2), shape, is_coalesced))
        elif kind == "array":
            stack.append(_array(*content))
        elif kind == "list":
            stack.append(take(content))
        elif kind == "tuple":
            stack.append(tuple(take(content)))
        elif kind == "dict":
            built = dict(zip(content, take(len(content)), strict=True))
            if len(built) < len(content):
                raise ValueError("a key occurs twice")
            stack.append(built)
        else:
            raise ValueError(f"unknown part {kind!r}")
    (whole,) = stack
    return whole


def _array(dtype: str, shape: list, content: str, is_number: bool) -> np.ndarray | np.generic:
    if np.dtype(dtype).kind not in _KINDS:
        raise ValueError(f"no array of {dtype!r} is saved")
    array = np.frombuffer(bytes.fromhex(content), dtype).reshape(shape).copy()
    return array[()] if is_number else array


def _sparse(indices: Tensor, values: Tensor, shape: list, is_coalesced: bool) -> SparseTensor:
    fits = isinstance(indices, Tensor) and isinstance(values, Tensor) and str(indices.dtype) == "ocl.int64"
    if not fits or indices.ndim != 2 or indices.shape[1:] != values.shape[:1]:
        raise ValueError("the parts of a sparse tensor do not fit")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"{shape!r} is no shape")
    if len(shape) != len(indices) + values.ndim - 1 or list(values.shape[1:]) != shape[len(indices) :]:
        raise ValueError(f"a sparse tensor of shape {shape!r} has values of shape {tuple(values.shape)}")
    return made(indices, values, shape, bool(is_coalesced))


def _steps_of(tree: dict) -> list[list]:
    """The steps of a structure as it was written at first: as a tree of JSON."""
    steps, todo = [], [tree]
    while todo:
        ((kind, content),) = todo.pop().items()
        if kind == "dict":
            keys, values = zip(*content, strict=True) if content else ((), ())
            steps.append([kind, list(keys)])
            todo.extend(values)
        elif kind in ("list", "tuple"):
            steps.append([kind, len(content)])
            todo.extend(content)
        else:
            steps.append([kind, content])
    return steps[::-1]
