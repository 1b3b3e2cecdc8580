"""Calls of operators, made again from what the call log has of them: a name, and named arguments as values.

``record_calls`` hears an operator with the arguments of its C++ function. ``perform`` makes such a call
again, with other tensors in their places.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ocl
from ocl import _C
from ocl._C import Tensor

__all__ = ["is_in_place", "is_pointwise", "perform"]


def is_in_place(name: str, arguments: dict[str, Any]) -> bool:
    """Whether that call writes its result over its first argument."""
    return is_pointwise(arguments) and "target" in arguments or name.endswith("_")


def is_pointwise(arguments: dict[str, Any]) -> bool:
    """Whether those are the arguments of a pointwise operator, of which all rows have the same."""
    return "inputs" in arguments and "parameters" in arguments


def perform(name: str, arguments: dict[str, Any]) -> Any:
    """The result of a call that was heard. Raises NotImplementedError for one that Python cannot make."""
    if is_pointwise(arguments):
        return _pointwise(name, **arguments)
    if name in _BY_HAND:
        return _BY_HAND[name](**arguments)
    if not arguments.get("dims", True):  # all of them, which all() and any() say by naming none
        arguments = {key: value for key, value in arguments.items() if key != "dims"}
    named = {_NAMES.get(key, key): _value(key, value) for key, value in arguments.items() if key != "format"}
    for place in (_C, ocl.nn.functional, _C._ops):
        function = getattr(place, name, None)
        if function is not None:
            return function(**named)
    raise NotImplementedError(f"{name}: Python has no function of this operator")


# Parameters of C++ functions that have another name in Python.
_NAMES = {
    "a": "input",
    "dims": "dim",
    "logits": "input",
    "log_probabilities": "input",
    "value": "fill_value",
}
_REDUCTIONS = ("none", "mean", "sum")


def _value(key: str, value: Any) -> Any:
    if key == "dtype" and value is not None:
        return getattr(_C, "bool_" if value == "bool" else value)
    if key == "reduction" and not isinstance(value, str):
        return _REDUCTIONS[value]
    return value


def _pointwise(name: str, inputs: list, parameters: list, target: Tensor | None = None) -> Any:
    if name in ("add", "sub", "rsub"):
        named = {"alpha": parameters[0]}
    elif name in ("addcmul", "addcdiv"):
        named = {"value": parameters[0]}
    else:
        named, inputs = {}, [*inputs, *parameters]
    if target is not None:
        return getattr(Tensor, name + "_")(target, *inputs[1:], **named)
    if not isinstance(inputs[0], Tensor) and name in ("add", "mul"):
        inputs = [inputs[1], inputs[0]] if named.get("alpha", 1) == 1 else inputs
    return getattr(_C, name)(*inputs, **named)


def _method(name: str) -> Callable:
    """A method that takes its arguments in order."""

    def call(**arguments: Any) -> Any:
        first, *others = (_value(key, value) for key, value in arguments.items() if key != "format")
        return getattr(first, name)(*others)

    return call


def _created(name: str) -> Callable:
    def call(shape: Any, dtype: Any, device: str, value: Any = None, **_: Any) -> Tensor:
        given = (shape,) if value is None else (shape, value)
        return getattr(_C, name)(*given, dtype=_value("dtype", dtype), device=device)

    return call


def _like(name: str) -> Callable:
    def call(input: Tensor, dtype: Any, device: Any, value: Any = None, **_: Any) -> Tensor:
        given = (input,) if value is None else (input, value)
        return getattr(_C, name)(*given, dtype=_value("dtype", dtype), device=device)

    return call


def _drawn(name: str) -> Callable:
    def call(
        dtype: Any = None, device: Any = None, shape: Any = None, generator: Any = None, **given: Any
    ) -> Tensor:
        options = {} if dtype is None else {"dtype": _value("dtype", dtype), "device": device}
        sizes = () if shape is None else (shape,)
        return getattr(_C, name)(*given.values(), *sizes, **options)

    return call


def _cell(name: str) -> Callable:
    def call(input: Tensor, hx: dict, **weights: Any) -> Any:
        state = hx["h"] if hx["c"] is None else (hx["h"], hx["c"])
        return getattr(_C, name)(input, state, *weights.values())

    return call


def _recurrent(name: str) -> Callable:
    def call(hx: dict, params: list, options: dict, **given: Any) -> Any:
        state = hx["h"] if hx["c"] is None else (hx["h"], hx["c"])
        first = options["has_biases"], options["num_layers"], options["dropout"], options["train"]
        if "data" in given:
            data, sizes = given["data"], _C.tensor(given["batch_sizes"])
            return getattr(_C, name)(data, sizes, state, params, *first, options["bidirectional"])
        last = options["bidirectional"], options["batch_first"]
        return getattr(_C, name)(given["input"], state, params, *first, *last)

    return call


def _to(a: Tensor, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    return a.to(device) if dtype is None else a.to(_value("dtype", dtype))


def _slice(a: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    return a[(slice(None),) * (dim % a.dim()) + (slice(start, end, step),)]


def _index_put(a: Tensor, items: list, given: Any, accumulate: bool) -> Tensor:
    if accumulate:
        return a.index_put_(index_items(items), given, accumulate=True)
    a[index_items(items)] = given
    return a


_BY_HAND: dict[str, Callable] = {
    **{
        name: _method(name)
        for name in (
            "clone contiguous copy_ fill_ zero_ expand view permute repeat masked_fill_ scatter_ "
            "scatter_add_ index_add_ index_copy_ put_ uniform_ normal_ bernoulli_ exponential_ random_ "
            "view_as expand_as flip roll rot90 tile split reshape"
        ).split()
    },
    **{name: _created(name) for name in ("empty", "full", "zeros", "ones")},
    **{name: _like(name) for name in ("empty_like", "full_like", "zeros_like", "ones_like")},
    **{name: _cell(name) for name in ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")},
    **{name: _recurrent(name) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    **{name: _drawn(name) for name in ("rand", "randn", "randint", "randperm", "normal")},
    "bernoulli": lambda p=None, input=None, generator=None: _C.bernoulli(
        *(t for t in (input, p) if t is not None)
    ),
    "block_diag": lambda tensors: _C.block_diag(*tensors),
    "cartesian_prod": lambda tensors: _C.cartesian_prod(*tensors),
    "dropout_": lambda x, p, training: ocl.nn.functional.dropout(x, p, training, inplace=True),
    "einsum": lambda equation, operands: _C.einsum(equation, *operands),
    "index": lambda a, items: a[index_items(items)],
    "index_add_": lambda input, dim, index, source, alpha: input.index_add_(dim, index, source, alpha=alpha),
    "index_fill": lambda input, dim, index, value: _C.index_fill(input, dim, index, value),
    "index_put_": _index_put,
    "logsumexp": lambda input, dims, keepdim: _C.logsumexp(
        input, dims or list(range(max(input.dim(), 1))), keepdim
    ),
    "masked_fill": lambda input, mask, value: _C.masked_fill(input, mask, value),
    "meshgrid": lambda tensors, indexing: _C.meshgrid(*tensors, indexing=indexing),
    "pad": lambda input, pad, mode, value: ocl.nn.functional.pad(input, pad, mode, value),
    "rrelu_": lambda x, lower, upper, training: ocl.nn.functional.rrelu(
        x, lower, upper, training, inplace=True
    ),
    "scaled_dot_product_attention": lambda query, key, value, options: (
        ocl.nn.functional.scaled_dot_product_attention(query, key, value, **options)
    ),
    "slice": _slice,
    "tensordot": lambda a, b, dims_self, dims_other: _C.tensordot(a, b, (dims_self, dims_other)),
    "to": _to,
    "unfold_dimension": lambda input, dimension, size, step: input.unfold(dimension, size, step),
}


def index_items(items: list) -> tuple:
    """The index of ``x[index]``, of which the seam tells slices and the like as texts."""
    return tuple(_item(item) if isinstance(item, str) else item for item in items)


def _item(text: str) -> Any:
    if text in ("...", "None"):
        return Ellipsis if text == "..." else None
    if not re.fullmatch(r"(-?\d*:?)*", text):
        raise NotImplementedError(f"index: {text}")
    return slice(*(int(each) if each else None for each in text.split(":")))
