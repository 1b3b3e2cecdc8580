"""The functions that have a sparse meaning, and how the dense ones ask for it.

A function of ``ocl`` that is in the table looks at the classes of its arguments, and calls the table's where
a sparse tensor is among them. Every other function meets the shape without elements, and raises.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ocl._C import ArgumentTypeError
from ocl.sparse import coo, elementwise, making, products, reductions, selecting
from ocl.sparse.coo import SparseTensor


def refusal(name: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{name}: not implemented for layout ocl.sparse_coo; to_dense() gives a strided tensor"
    )


def refusing(name: str) -> Callable:
    """A function without a sparse meaning."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise refusal(name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raises TypeError: {name} is not implemented for layout ocl.sparse_coo."
    return function


# The functions and methods of each name, for calls with a sparse tensor.
FUNCTIONS: dict[str, Callable] = {
    **{name: elementwise.zero_preserving(name) for name in elementwise.ZERO_PRESERVING},
    "add": elementwise.add,
    "addmm": products.addmm,
    "any": reductions.any_,
    "bmm": products.bmm,
    "clone": SparseTensor.clone,
    "div": elementwise.div,
    "divide": elementwise.div,
    "empty_like": elementwise.zeros_like,
    "floor_divide": elementwise.floor_divide,
    "index_select": selecting.index_select,
    "is_same_size": elementwise.is_same_size,
    "linear": products.linear,
    "matmul": products.matmul,
    "mm": products.mm,
    "mul": elementwise.mul,
    "multiply": elementwise.mul,
    "mv": products.mv,
    "narrow_copy": selecting.narrow_copy,
    "neg": elementwise.neg,
    "negative": elementwise.neg,
    "norm": reductions.norm,
    "permute": selecting.permute,
    "positive": elementwise.positive,
    "pow": elementwise.pow,
    "select": selecting.select,
    "sub": elementwise.sub,
    "subtract": elementwise.sub,
    "sum": reductions.sum,
    "swapaxes": selecting.transpose,
    "swapdims": selecting.transpose,
    "t": selecting.t,
    "transpose": selecting.transpose,
    "true_divide": elementwise.true_divide,
    "unsqueeze": selecting.unsqueeze,
    "zeros_like": elementwise.zeros_like,
    # These would give dense elements for the shape alone.
    **{
        name: refusing(name) for name in ("full_like", "ones_like", "rand_like", "randint_like", "randn_like")
    },
}

# Functions of a list of tensors.
LIST_FUNCTIONS: dict[str, Callable] = {
    "cat": selecting.cat,
    "concat": selecting.cat,
    "concatenate": selecting.cat,
    "stack": selecting.stack,
}

# Methods of a dense tensor that take a sparse one.
DENSE_METHODS: dict[str, Callable] = {
    **{
        name: FUNCTIONS[name]
        for name in ("add", "addmm", "matmul", "mm", "mul", "multiply", "sub", "subtract")
    },
    "add_": elementwise.add_,
    "sub_": elementwise.sub_,
    "__iadd__": elementwise.add_,
    "__isub__": elementwise.sub_,
    "copy_": elementwise.copy_,
    "sparse_mask": making.sparse_mask,
}


def asking(dense: Callable, sparse: Callable) -> Callable:
    """``dense``, or ``sparse`` where an argument is a sparse tensor."""

    @functools.wraps(dense)
    def function(*args: Any, **kwargs: Any) -> Any:
        if coo.is_in_use and SparseTensor in map(type, (*args, *kwargs.values())):
            return sparse(*args, **kwargs)
        return dense(*args, **kwargs)

    return function


def _named(function: Callable, module: str, name: str) -> Callable:
    """Says where a function is found, for pickles."""
    function.__module__, function.__qualname__ = module, name
    return function


def asking_list(dense: Callable, sparse: Callable) -> Callable:
    """``dense``, or ``sparse`` where a sparse tensor is in the list that is the first argument."""

    @functools.wraps(dense)
    def function(*args: Any, **kwargs: Any) -> Any:
        tensors = args[0] if args else kwargs.get("tensors", ())
        if isinstance(tensors, (list, tuple)) and SparseTensor in map(type, tensors):
            return sparse(*args, **kwargs)
        return dense(*args, **kwargs)

    return function


def with_sparse_meaning(module: str, functions: dict[str, Any]) -> dict[str, Callable]:
    """Those functions of a module that have a sparse meaning, by name, as they ask for it."""
    result = {name: asking(functions[name], of) for name, of in FUNCTIONS.items() if name in functions}
    for name, of in LIST_FUNCTIONS.items():
        if name in functions:
            result[name] = asking_list(functions[name], of)
    return {name: _named(function, module, name) for name, function in result.items()}
