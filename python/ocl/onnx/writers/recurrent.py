"""Recurrent layers."""

from __future__ import annotations

from ocl.capture import Node, Value
from ocl.onnx.writing import NotWritable, Writer, writes

# Where ONNX's gates stand among PyTorch's.
_ORDERS = {"lstm": [0, 3, 1, 2], "gru": [1, 0, 2], "rnn_tanh": [0], "rnn_relu": [0]}


@writes("lstm gru rnn_tanh rnn_relu")
def recurrent(w: Writer, node: Node) -> list[str]:
    a, name = node.arguments, node.operator
    if "data" in a:
        raise NotWritable("of packed sequences")
    options, state = a["options"], a["hx"]
    if options["dropout"] and options["train"]:
        raise NotWritable("in training mode it draws random numbers")
    directions = 2 if options["bidirectional"] else 1
    x, single = a["input"], a["input"].ndim == 2
    h0, c0 = (state["h"], state.get("c")) if isinstance(state, dict) else (state, None)
    given = w.name_of(x)
    if single:
        given = w.op("Unsqueeze", given, w.constant([1]))
    elif options["batch_first"]:
        given = w.op("Transpose", given, perm=[1, 0, 2])
    starts = [
        None if v is None else w.op("Unsqueeze", v, w.constant([1])) if single else w.name_of(v)
        for v in (h0, c0)
    ]
    per = len(a["params"]) // (options["num_layers"] * directions)
    finals: list[list[str]] = [[], []]
    for layer in range(options["num_layers"]):
        weights = [a["params"][(layer * directions + d) * per : (layer * directions + d + 1) * per]
                   for d in range(directions)]  # fmt: skip
        at = [
            None if s is None else w.op("Slice", s, w.constant([layer * directions]),
                                        w.constant([(layer + 1) * directions]), w.constant([0]))
            for s in starts
        ]  # fmt: skip
        made = _layer(w, name, given, weights, at, options["has_biases"])
        for kept, each in zip(finals, made[1:], strict=False):
            kept.append(each)
        turned = w.op("Transpose", made[0], perm=[0, 2, 1, 3])
        given = w.op("Reshape", turned, w.constant([0, 0, -1]))
    if single:
        given = w.op("Squeeze", given, w.constant([1]))
    elif options["batch_first"]:
        given = w.op("Transpose", given, perm=[1, 0, 2])
    joined = [w.op("Concat", *each, axis=0) for each in finals if each]
    return [given, *(w.op("Squeeze", v, w.constant([1])) if single else v for v in joined)]


def _layer(w: Writer, name: str, x: str, weights: list, starts: list, has_biases: bool) -> list[str]:
    if any(len(each) > (4 if has_biases else 2) for each in weights):
        raise NotWritable("with projections")
    sides = [_joined(w, name, [each[i] for each in weights]) for i in range(2)]
    bias = None
    if has_biases:
        halves = [_joined(w, name, [each[i] for each in weights]) for i in (2, 3)]
        bias = w.op("Concat", *halves, axis=1)
    size = w.number(weights[0][1].shape[1], "the hidden size")
    options = {"hidden_size": size, "direction": "bidirectional" if len(weights) == 2 else "forward"}
    if name == "gru":
        options["linear_before_reset"] = 1
    if name == "rnn_relu":
        options["activations"] = ["Relu"] * len(weights)
    kind = {"lstm": "LSTM", "gru": "GRU"}.get(name, "RNN")
    return w.op(kind, x, *sides, bias, None, *starts, results=3 if name == "lstm" else 2, **options)


def _joined(w: Writer, name: str, values: list[Value]) -> str:
    """The weights of the directions, with the gates in ONNX's order."""
    parts = []
    for value in values:
        made, count = w.name_of(value), len(_ORDERS[name])
        if count > 1:
            step = w.number(value.shape[0], "the hidden size") // count
            pieces = w.op("Split", made, w.constant([step] * count), results=count, axis=0)
            made = w.op("Concat", *(pieces[i] for i in _ORDERS[name]), axis=0)
        parts.append(w.op("Unsqueeze", made, w.constant([0])))
    return parts[0] if len(parts) == 1 else w.op("Concat", *parts, axis=0)


@writes("lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell")
def cell(w: Writer, node: Node) -> str | list[str]:
    """A step of a layer: a sequence of one."""
    a, name = node.arguments, node.operator.removesuffix("_cell")
    x, state, single = a["input"], a["hx"], a["input"].ndim == 1
    h0, c0 = (state["h"], state.get("c")) if isinstance(state, dict) else (state, None)
    front = w.constant([0, 1] if single else [0])
    starts = [None if v is None else w.op("Unsqueeze", v, front) for v in (h0, c0)]
    biases = [a.get("b_ih"), a.get("b_hh")]
    if (biases[0] is None) != (biases[1] is None):
        raise NotWritable("with one bias of two")
    weights = [a["w_ih"], a["w_hh"], *(b for b in biases if b is not None)]
    made = _layer(w, name, w.op("Unsqueeze", x, front), [weights], starts, biases[0] is not None)
    last = [w.op("Squeeze", v, front) for v in made[1:]]
    return last if len(node.results) > 1 else last[0]
