"""Recurrent layers: each direction by ocl's operator, or step by step where ONNX's cell is not PyTorch's."""

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import integers

_DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
# The gates of PyTorch's order among those of ONNX's.
_ORDER = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}


def _refuses(kind: str):
    def reason(attributes, version: int) -> str:
        directions = 2 if attributes.get("direction", "forward") == "bidirectional" else 1
        expected = _DEFAULTS[kind] * directions
        given = attributes.get("activations", expected)
        if given != expected and not (kind == "RNN" and given == ["Relu"] * directions):
            return f"activations {expected} expected, got {given}"
        if attributes.get("clip") is not None or attributes.get("input_forget", 0):
            return "clip and input_forget are not supported"
        return ""

    return reason


def _check_lengths(call, x, lengths) -> None:
    length = x.shape[call.get("layout", 0)]
    if lengths is not None and any(each != length for each in integers(lengths)):
        raise ValueError(f"sequences of the whole length {length} expected, got {integers(lengths)}")


def _in_order(weights, kind: str):
    """The gates of [gates * hidden, ...] in PyTorch's order."""
    parts = ocl.chunk(weights, len(_ORDER[kind]), 0)
    return weights if kind == "RNN" else ocl.cat([parts[i] for i in _ORDER[kind]], 0)


def _run(call, x, w, r, b, hidden, step):
    """Every direction in turn: [length, directions, batch, hidden] and the last states, each stacked.

    ``hidden`` are the initial states or None. ``step(i, x, states, w, r, b)`` gives outputs and last states.
    """
    batch_first = call.get("layout", 0)
    if batch_first:
        x = x.transpose(0, 1)
        hidden = [None if each is None else each.transpose(0, 1) for each in hidden]
    directions, size = r.shape[0], r.shape[2]
    zeros = ocl.zeros(x.shape[1], size, dtype=x.dtype, device=x.device)
    outputs, states = [], []
    for i in range(directions):
        backwards = i == 1 or call.get("direction", "forward") == "reverse"
        initial = [zeros if each is None else each[i] for each in hidden]
        y, last = step(
            i, ocl.flip(x, [0]) if backwards else x, initial, w[i], r[i], None if b is None else b[i]
        )
        outputs.append(ocl.flip(y, [0]) if backwards else y)
        states.append(last)
    stacked = [ocl.stack(list(each), 0) for each in zip(*states, strict=True)]
    y = ocl.stack(outputs, 1)
    if batch_first:
        y, stacked = y.permute([2, 0, 1, 3]), [each.transpose(0, 1) for each in stacked]
    return y, *stacked


def _by_operator(function, kind: str, x, states, w, r, b):
    parameters = [_in_order(w, kind), _in_order(r, kind)]
    if b is not None:
        parameters += [_in_order(each, kind) for each in ocl.chunk(b, 2, 0)]
    initial = [each.unsqueeze(0).contiguous() for each in states]
    hx = initial if kind == "LSTM" else initial[0]
    y, *last = function(x, hx, parameters, b is not None, 1, 0.0, False, False, False)
    return y, [each[0] for each in last]


@operator("RNN", host=(4,), refuses=_refuses("RNN"))
def rnn(call, x, w, r, b=None, lengths=None, h=None):
    _check_lengths(call, x, lengths)
    function = ocl.rnn_relu if call.get("activations", ["Tanh"])[0] == "Relu" else ocl.rnn_tanh
    return _run(call, x, w, r, b, [h], lambda _, *parts: _by_operator(function, "RNN", *parts))


@operator("GRU", host=(4,), refuses=_refuses("GRU"))
def gru(call, x, w, r, b=None, lengths=None, h=None):
    _check_lengths(call, x, lengths)
    if call.get("linear_before_reset", 0):
        return _run(call, x, w, r, b, [h], lambda _, *parts: _by_operator(ocl.gru, "GRU", *parts))
    return _run(call, x, w, r, b, [h], lambda _, *parts: _reset_first(*parts))


def _reset_first(x, states, w, r, b):
    """GRU whose reset gate acts before the product with the recurrent weights."""
    h, size = states[0], r.shape[1]
    gates_x = ocl.matmul(x, w.t())
    gates_x = gates_x if b is None else gates_x + b[: 3 * size] + b[3 * size :]
    outputs = []
    for row in ocl.unbind(gates_x, 0):
        gates = ocl.sigmoid(row[:, : 2 * size] + ocl.mm(h, r[: 2 * size].t()))
        z, reset = gates[:, :size], gates[:, size:]
        new = ocl.tanh(row[:, 2 * size :] + ocl.mm(reset * h, r[2 * size :].t()))
        h = (1 - z) * new + z * h
        outputs.append(h)
    return ocl.stack(outputs, 0), [h]


@operator("LSTM", host=(4,), refuses=_refuses("LSTM"))
def lstm(call, x, w, r, b=None, lengths=None, h=None, c=None, p=None):
    _check_lengths(call, x, lengths)
    if p is None:
        return _run(call, x, w, r, b, [h, c], lambda _, *parts: _by_operator(ocl.lstm, "LSTM", *parts))
    return _run(call, x, w, r, b, [h, c], lambda i, *parts: _with_peepholes(p[i], *parts))


def _with_peepholes(p, x, states, w, r, b):
    (h, c), size = states, r.shape[1]
    gates_x = ocl.matmul(x, w.t())
    gates_x = gates_x if b is None else gates_x + b[: 4 * size] + b[4 * size :]
    p_in, p_out, p_forget = ocl.chunk(p, 3, 0)
    outputs = []
    for row in ocl.unbind(gates_x, 0):
        i, o, f, g = ocl.chunk(row + ocl.mm(h, r.t()), 4, 1)
        c = ocl.sigmoid(f + p_forget * c) * c + ocl.sigmoid(i + p_in * c) * ocl.tanh(g)
        h = ocl.sigmoid(o + p_out * c) * ocl.tanh(c)
        outputs.append(h)
    return ocl.stack(outputs, 0), [h, c]
