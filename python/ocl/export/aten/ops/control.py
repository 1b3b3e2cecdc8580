"""Operators that run graphs: modes, conditions and loops. Conditions of tensors are read on the host."""

import ocl
from ocl.export.aten.table import operator


@operator("higher_order.wrap_with_set_grad_enabled", call=True)
def with_grad_enabled(call, enabled, graph, *inputs):
    # Enabled means as around the module, which may itself run without gradients.
    with ocl.set_grad_enabled(enabled and ocl.is_grad_enabled()):
        return call.graph(graph, *inputs)


@operator("higher_order.wrap_with_autocast", call=True)
def with_autocast(call, device_type, dtype, enabled, cache_enabled, graph, *inputs):
    with ocl.autocast("ocl", dtype, enabled, cache_enabled):
        return call.graph(graph, *inputs)


def _number(value):
    if isinstance(value, (tuple, list)):
        (value,) = value
    return value.item() if isinstance(value, ocl.Tensor) else value


@operator("higher_order.cond", call=True)
def cond(call, condition, yes, no, inputs=()):
    return call.graph(yes if _number(condition) else no, *inputs)


@operator("higher_order.while_loop", call=True)
def while_loop(call, condition, body, carried, others=()):
    carried = tuple(carried)
    while _number(call.graph(condition, *carried, *others)):
        carried = tuple(call.graph(body, *carried, *others))
    return carried


def _stacked(rows: list) -> tuple:
    if not rows:
        raise ValueError("a loop without a pass has no results to join, as their shapes are not known")
    return tuple(ocl.stack(list(each)) for each in zip(*rows, strict=True))


@operator("higher_order.map_impl", call=True)
def map_over(call, graph, sequences, others=()):
    count = sequences[0].shape[0]
    return _stacked([call.graph(graph, *(each[i] for each in sequences), *others) for i in range(count)])


@operator("higher_order.scan", call=True)
def scan(call, graph, carried, sequences, others=()):
    carried, rows = tuple(carried), []
    for i in range(sequences[0].shape[0]):
        results = call.graph(graph, *carried, *(each[i] for each in sequences), *others)
        carried = tuple(results[: len(carried)])
        rows.append(results[len(carried) :])
    return *carried, *_stacked(rows)
