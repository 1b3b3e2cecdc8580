"""Cases of the recurrent functions: layers, directions, projections, packed rows, and single steps."""

import numpy as np

from cases.harness import Case, cases, errors

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
SIZES = (1, 2, 3, 5, 15, 16, 17, 33)


class Parameters:
    """Parameters as one tensor, so that one size of rounding errors serves all. Their values are those that
    PyTorch begins with: gates that are shut lose the digits of their gradients in every library."""

    def __init__(self, draw, name, features, units, projected=0, layers=1, directions=1, biases=True):
        self.shapes, state = [], projected or units
        for layer in range(layers):
            for _ in range(directions):
                rows = GATES[name] * units
                self.shapes += [(rows, features if layer == 0 else directions * state), (rows, state)]
                self.shapes += [(rows,), (rows,)] if biases else []
                self.shapes += [(projected, units)] if projected else []
        values = [draw.rng.uniform(-1, 1, shape) * max(shape[-1], 2) ** -0.5 for shape in self.shapes]
        self.flat = np.concatenate([v.astype(np.float32).reshape(-1) for v in values])
        self.is_transposed = [len(shape) == 2 and draw.chance(0.2) for shape in self.shapes]

    def split(self, flat):
        parts, start = [], 0
        for shape, is_transposed in zip(self.shapes, self.is_transposed, strict=True):
            part = flat[start : start + int(np.prod(shape))]
            start += part.shape[0]
            parts.append(part.reshape(shape[::-1]).t() if is_transposed else part.reshape(shape))
        return parts


@cases("lstm", "gru", "rnn_tanh", "rnn_relu")
def sequences(draw, name):
    small = draw.chance(0.5)
    units = draw.choice((1, 2) if small else SIZES)
    features = draw.integer(1, 2) if small else draw.choice(SIZES)
    layers, directions = (1, 1) if small and draw.chance(0.6) else (draw.integer(1, 3), draw.integer(1, 2))
    biases, batch_first, packed = draw.chance(0.7), draw.chance(0.3), draw.chance(0.4)
    projected = draw.integer(1, units - 1) if name == "lstm" and units > 1 and draw.chance(0.4) else 0
    steps, batch = draw.integer(1, 2 if small else 6), draw.integer(1, 2 if small else 11)
    states = [draw.floats((layers * directions, batch, projected or units), -1, 1)]
    if name == "lstm":
        states.append(draw.floats((layers * directions, batch, units), -1, 1))
    params = Parameters(draw, name, features, units, projected, layers, directions, biases)
    settings = [biases, layers, 0.0, True, directions == 2]
    if packed:
        lengths = sorted((draw.integer(1, steps) for _ in range(batch)), reverse=True)
        sizes = [sum(length > t for length in lengths) for t in range(lengths[0])]
        x = draw.floats((sum(sizes), features), -1, 1)
    else:
        x = draw.floats((batch, steps, features) if batch_first else (steps, batch, features), -1, 1)
        settings.append(batch_first)

    def call(lib, flat, x, *states):
        hx = list(states) if name == "lstm" else states[0]
        given = (x, lib.tensor(sizes)) if packed else (x,)
        return getattr(lib, name)(*given, hx, params.split(flat), *settings)

    # relu has no slope at 0, which sums come near.
    return Case(call, params.flat, x, *states, unit="largest", gradcheck=name != "rnn_relu" or steps == 1)


@cases("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cells(draw, name):
    small = draw.chance(0.5)
    units, features = (draw.integer(1, 2) if small else draw.choice(SIZES) for _ in range(2))
    batch = draw.integer(1, 3 if small else 20)
    states = [draw.floats((batch, units), -1, 1) for _ in range(2 if name == "lstm_cell" else 1)]
    params = Parameters(draw, name.removesuffix("_cell"), features, units, biases=draw.chance(0.7))

    def call(lib, flat, x, *states):
        hx = list(states) if name == "lstm_cell" else states[0]
        return getattr(lib, name)(x, hx, *params.split(flat))

    return Case(call, params.flat, draw.floats((batch, features), -1, 1), *states, unit="largest")


def tensors_of(lib, name, features=3, units=2):
    rows = GATES[name] * units
    return [lib.zeros(rows, features), lib.zeros(rows, units), lib.zeros(rows), lib.zeros(rows)]


def hidden(lib, name, *shape):
    return [lib.zeros(*shape), lib.zeros(*shape)] if name == "lstm" else lib.zeros(*shape)


@errors("lstm", "gru", "rnn_tanh", "rnn_relu")
def sequence_errors(name):
    def call(x=(4, 2, 3), h=(1, 2, 2), kept=4, dtype="float32"):
        def run(lib):
            data = lib.zeros(*x, dtype=getattr(lib, dtype))
            params = tensors_of(lib, name)[:kept]
            return getattr(lib, name)(data, hidden(lib, name, *h), params, True, 1, 0.0, True, False, False)

        return run

    calls = [call(x=(0, 2, 3)), call(kept=3), call(dtype="float64")]
    # oneDNN's LSTM in PyTorch reads beyond states and weights that do not fit.
    return calls if name == "lstm" else [*calls, call(h=(1, 3, 2)), call(h=(1, 2, 3)), call(x=(4, 2, 5))]


@errors("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cell_errors(name):
    layer = name.removesuffix("_cell")

    def call(x=(2, 3), h=(2, 2), kept=4):
        return lambda lib: getattr(lib, name)(
            lib.zeros(*x), hidden(lib, layer, *h), *tensors_of(lib, layer)[:kept]
        )

    return [call(x=(2, 5)), call(h=(3, 2)), call(h=(2, 3))]
