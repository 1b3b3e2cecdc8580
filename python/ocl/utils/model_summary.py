"""The layers of a model, what each gives, holds and computes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ocl
from ocl.autograd import no_grad
from ocl.profiler import Call, record_calls

__all__ = ["LayerSummary", "ModelSummary", "summary"]


@dataclass
class LayerSummary:
    """One module of the tree, or its second place if it stands in several.

    `params` are its own, those of modules below it not counted, and none that stood in a layer before;
    `param_bytes` are theirs and its buffers'. `mult_adds` and `output_bytes` are those of all its calls,
    modules below not counted.
    """

    name: str
    class_name: str
    depth: int
    is_leaf: bool
    params: int
    param_bytes: int = 0
    is_shared: bool = False
    calls: int = 0
    output_shapes: tuple[tuple[int, ...], ...] = ()
    output_bytes: int = 0
    mult_adds: int = 0

    @property
    def memory_bytes(self) -> int:
        """The memory that is held for it: parameters, buffers, and outputs where they are no output of a
        layer below.
        """
        return self.param_bytes + (self.output_bytes if self.is_leaf else 0)


@dataclass
class ModelSummary:
    """The result of ``summary``; its text is the table.

    The totals count what modules share once: `total_params`, `trainable_params`, `total_param_bytes` (with
    the buffers). `total_mult_adds` are the multiplications with addition of matrix products, convolutions and
    recurrent layers of one forward pass. `total_input` and `total_output_bytes` are bytes, of the inputs and
    of what the layers without layers below them give.
    """

    layers: list[LayerSummary]
    depth: int
    input_shapes: tuple[tuple[int, ...], ...]
    total_params: int
    trainable_params: int
    total_param_bytes: int
    total_mult_adds: int
    total_input: int
    total_output_bytes: int

    @property
    def training_bytes(self) -> int:
        """An estimate for a step of training, without the optimizer's states: inputs, outputs and parameters,
        the latter two with their gradients."""
        return self.total_input + 2 * (self.total_output_bytes + self.total_param_bytes)

    def __str__(self) -> str:
        return _table(self)

    __repr__ = __str__


def summary(
    model: ocl.nn.Module,
    input_size: Sequence | None = None,
    input_data: Any = None,
    *,
    depth: int = 3,
    device: Any = None,
    dtypes: Sequence | None = None,
) -> ModelSummary:
    """The outputs, memory and work of the layers of a model, from one run in evaluation without gradients.

    Matches torchinfo.summary. Works on any module, whatever its forward calls; the model is left as it was.

        print(summary(model, (1, 3, 224, 224)))

    Args:
        input_size: the shape of the input, batch included, or a list of shapes. The inputs are zeros.
        input_data: the inputs themselves, in place of `input_size`: a tensor, a tuple or list of arguments,
            or a dict of named ones.
        depth: levels of the tree that the table shows.
        device: where inputs are made, by default where the model's first parameter is.
        dtypes: of the inputs, one for each; by default the dtype of the model's first parameter.

    Raises:
        ValueError: not just one of `input_size` and `input_data`; a model that fails on inputs of that size.
    """
    if (input_size is None) == (input_data is None):
        raise ValueError("summary: give input_size or input_data, one of them")
    if input_data is None:
        input_data = _zeros(model, input_size, device, dtypes)
    arguments, named = _arguments(input_data)
    layers, of_module = _layers(model)
    modes = {module: module.training for module in model.modules()}
    watch = _Watch(of_module)
    try:
        model.eval()
        with no_grad(), watch.over(model):
            model(*arguments, **named)
    except Exception as error:
        if input_size is None or isinstance(error, ocl.DeviceError):
            raise
        what = f"the model fails on an input of size {input_size}; a size includes the batch"
        raise ValueError(f"summary: {what}, as in (1, 3, 224, 224): {error}") from error
    finally:
        for module, training in modes.items():
            module.training = training
    inputs = _tensors([arguments, named])
    parameters = list(model.parameters())
    return ModelSummary(
        layers=layers,
        depth=depth,
        input_shapes=tuple(tuple(tensor.shape) for tensor in inputs),
        total_params=sum(p.numel() for p in parameters),
        trainable_params=sum(p.numel() for p in parameters if p.requires_grad),
        total_param_bytes=sum(map(_bytes, [*parameters, *model.buffers()])),
        total_mult_adds=sum(layer.mult_adds for layer in layers),
        total_input=sum(map(_bytes, inputs)),
        total_output_bytes=sum(layer.output_bytes for layer in layers if layer.is_leaf),
    )


# --- the inputs ---


def _zeros(model, input_size, device, dtypes):
    """Zeros are numbers that every layer takes, indices too, and nothing is drawn for them."""
    shapes = [input_size] if all(isinstance(extent, int) for extent in input_size) else list(input_size)
    first = next(iter(model.parameters()), None)
    if device is None and first is not None:
        device = first.device
    if dtypes is None:
        dtypes = [ocl.float32 if first is None else first.dtype] * len(shapes)
    if len(dtypes) != len(shapes):
        raise ValueError(f"summary: {len(dtypes)} dtypes for {len(shapes)} inputs")
    return [ocl.zeros(*shape, dtype=t, device=device) for shape, t in zip(shapes, dtypes, strict=True)]


def _arguments(data):
    if isinstance(data, Mapping):
        return (), dict(data)
    return (tuple(data) if isinstance(data, (list, tuple)) else (data,)), {}


def _tensors(value):
    """The tensors in lists, tuples and dicts."""
    if isinstance(value, ocl.Tensor):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in _tensors(part)]
    return []


def _bytes(tensor):
    return tensor.numel() * tensor.element_size()


# --- the layers ---


def _layers(model):
    """(layers as they stand in the tree, {module: its layer})."""
    layers, of_module, counted = [], {}, {}

    def own(tensors):
        new = {id(tensor): tensor for tensor in tensors if id(tensor) not in counted}
        counted.update(new)
        return list(new.values())

    def walk(module, name, depth):
        is_shared = module in of_module
        children = [] if is_shared else [(key, child) for key, child in module._modules.items() if child]
        params = own(module.parameters(recurse=False))
        layer = LayerSummary(
            name,
            type(module).__name__,
            depth,
            is_leaf=not children,
            params=sum(p.numel() for p in params),
            param_bytes=sum(map(_bytes, [*params, *own(module.buffers(recurse=False))])),
            is_shared=is_shared,
        )
        layers.append(layer)
        of_module.setdefault(module, layer)
        for key, child in children:
            walk(child, f"{name}.{key}" if name else key, depth + 1)

    walk(model, "", 0)
    return layers, of_module


class _Watch:
    """Hooks that note calls and outputs; what is computed between them counts as the innermost module's."""

    def __init__(self, of_module):
        self._of_module = of_module
        self._running = []
        self._record = None

    def over(self, model):
        self._handles = []
        for module in model.modules():
            self._handles.append(module.register_forward_pre_hook(self._enter))
            self._handles.append(module.register_forward_hook(self._leave))
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for handle in self._handles:
            handle.remove()
        self._stop_recording()

    def _enter(self, module, arguments):
        self._stop_recording()
        self._running.append(self._of_module[module])
        self._start_recording()

    def _leave(self, module, arguments, output):
        self._stop_recording()
        layer = self._running.pop()
        tensors = _tensors(output)
        layer.calls += 1
        layer.output_shapes = tuple(tuple(tensor.shape) for tensor in tensors)
        layer.output_bytes += sum(map(_bytes, tensors))
        if self._running:
            self._start_recording()

    def _start_recording(self):
        """In pieces, since a record keeps the tensors of its calls."""
        self._record = record_calls().__enter__()

    def _stop_recording(self):
        if self._record is not None:
            self._record.__exit__()
            self._running[-1].mult_adds += _mult_adds(self._record.calls)
            self._record = None


def _of_rnn(x, layer):
    weights = [layer[name] for name in ("w_ih", "w_hh", "w_hr") if layer[name] is not None]
    return x.shape[0] * sum(math.prod(weight.shape) for weight in weights)


def _of_attention(query, value):
    batch_and_queries, keys = math.prod(query.shape[:-1]), value.shape[-2]
    return batch_and_queries * keys * (query.shape[-1] + value.shape[-1])


# By a primitive's arguments. A transposed convolution is a convolution's backward pass.
_MULT_ADDS = {
    "attention_forward": lambda given: _of_attention(given["query"], given["value"]),
    "gemm": lambda given: math.prod(given["c"].shape) * given["a"].shape[-1],
    "linear_forward": lambda given: math.prod(given["y"].shape) * given["x"].shape[-1],
    "conv2d_forward": lambda given: math.prod(given["y"].shape) * math.prod(given["weight"].shape[1:]),
    "conv2d_backward_data": lambda given: math.prod(given["dy"].shape) * math.prod(given["weight"].shape[1:]),
    "rnn_forward": lambda given: _of_rnn(given["x"], given["layer"]),
}


def _mult_adds(calls: list[Call]) -> int:
    """The work of calls in order; those within a counted one, such as a convolution's matrix product, are
    its own.
    """
    total, counted_depth = 0, math.inf
    for call in calls:
        if call.depth > counted_depth:
            continue
        counted_depth = math.inf
        if call.kind == "primitive" and call.name in _MULT_ADDS:
            total += _MULT_ADDS[call.name](call.arguments)
            counted_depth = call.depth
    return total


# --- the table ---


def _table(found):
    rows = [("layer", "output", "parameters", "multiply-adds", "memory"), *_rows(found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{cell:{'<' if column < 2 else '>'}{widths[column]}}" for column, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([lines[0], rule, *lines[1:], rule, *_totals(found)])


def _rows(found):
    """A line for each layer shown; what lies below the deepest of them is added to it."""
    for index, layer in enumerate(found.layers):
        if layer.depth > found.depth:
            continue
        below = [layer]
        if layer.depth == found.depth:
            for other in found.layers[index + 1 :]:
                if other.depth <= layer.depth:
                    break
                below.append(other)
        label = layer.name.rpartition(".")[2]
        shapes = ", ".join(f"[{', '.join(map(str, shape))}]" for shape in layer.output_shapes)
        yield (
            "  " * layer.depth + (f"{label}: " if label else "") + layer.class_name,
            "shared" if layer.is_shared else shapes or "-",
            _count(sum(other.params for other in below)),
            _count(sum(other.mult_adds for other in below)),
            _size(sum(other.memory_bytes for other in below)),
        )


def _count(number):
    return f"{number:,}" if number else "-"


def _size(count):
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= scale:
            return f"{count / scale:.2f} {unit}"
    return f"{count} B" if count else "-"


def _totals(found):
    return [
        f"parameters: {found.total_params:,}, trainable {found.trainable_params:,}",
        f"multiply-adds: {_scaled(found.total_mult_adds)}",
        f"memory: inputs {_size(found.total_input)}, outputs {_size(found.total_output_bytes)}, "
        f"parameters and buffers {_size(found.total_param_bytes)}; "
        f"training, without the optimizer's states, about {_size(found.training_bytes)}",
    ]


def _scaled(number):
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= scale:
            return f"{number / scale:.2f} {unit}"
    return str(number)
