"""RNN, LSTM, GRU and their cells against PyTorch's with the same weights."""

import copy
import warnings

import numpy as np
import pytest
import torch
from support import expect_near

import ocl

SIZES = (1, 3, 15, 16, 17, 33)
KINDS = {"RNN": "RNN", "RNN relu": "RNN", "GRU": "GRU", "LSTM": "LSTM"}


def flat(result):
    """Tensors of nested tuples and packed sequences."""
    if hasattr(result, "batch_sizes"):
        return [result.data]
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in flat(part)]
    return [result]


def make(lib, kind, *sizes, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "RNN relu":
            options["nonlinearity"] = "relu"
        return getattr(lib.nn, KINDS[kind])(*sizes, **options)


def trio(kind, *sizes, **options):
    """PyTorch's in float64 and float32, and ours, with the same values."""
    torch.manual_seed(0)
    single = make(torch, kind, *sizes, **options)
    double = make(torch, kind, *sizes, **options).double()
    double.load_state_dict(single.state_dict())
    ours = make(ocl, kind, *sizes, **options)
    ours.load_state_dict(single.state_dict())
    return double, single, ours


class Problem:
    """A layer, an input and how it is given, drawn from a seed."""

    def __init__(self, kind, seed):
        rng = np.random.default_rng([seed, *kind.encode()])
        self.inputs, self.units = (int(rng.choice(SIZES)) for _ in range(2))
        self.options = {
            "num_layers": int(rng.integers(1, 4)),
            "bidirectional": bool(rng.random() < 0.5),
            "batch_first": bool(rng.random() < 0.5),
            "bias": bool(rng.random() < 0.7),
        }
        if kind == "LSTM" and self.units > 1 and rng.random() < 0.5:
            self.options["proj_size"] = int(rng.integers(1, self.units))
        self.form = rng.choice(["batch", "one", "transposed", "equal", "sorted", "unsorted"])
        steps, batch = int(rng.integers(1, 7)), int(rng.integers(1, 12))
        self.lengths = rng.integers(1, steps + 1, batch)
        self.lengths[rng.integers(batch)] = steps
        if self.form == "equal":
            self.lengths[:] = steps
        if self.form == "sorted":
            self.lengths = np.sort(self.lengths)[::-1].copy()
        first = self.options["batch_first"]
        shape = (batch, steps) if first else (steps, batch)
        self.x = rng.standard_normal((steps, self.inputs) if self.form == "one" else (*shape, self.inputs))
        layers = self.options["num_layers"] * (2 if self.options["bidirectional"] else 1)
        middle = () if self.form == "one" else (batch,)
        widths = [self.options.get("proj_size", self.units)] + [self.units] * (kind == "LSTM")
        self.states = (
            [rng.standard_normal((layers, *middle, w)) for w in widths] if rng.random() < 0.6 else []
        )
        self.seed = seed

    def run(self, lib, layer, dtype):
        """Results, and the gradients of input, states and parameters."""

        def leaf(array):
            return lib.tensor(array.astype(dtype)).requires_grad_()

        x, states = leaf(self.x), [leaf(s) for s in self.states]
        hx = (states[0] if len(states) == 1 else tuple(states)) if states else None
        if self.form in ("equal", "sorted", "unsorted"):
            given = lib.nn.utils.rnn.pack_padded_sequence(
                x, lib.tensor(self.lengths), self.options["batch_first"], self.form == "sorted"
            )
        elif self.form == "transposed":
            given = x.transpose(0, 1).contiguous().transpose(0, 1)
        else:
            given = x
        results = flat(layer(given, hx) if hx is not None else layer(given))
        rng = np.random.default_rng(self.seed)
        sum(
            (r * lib.tensor(rng.uniform(-1, 1, tuple(r.shape)).astype(dtype))).sum() for r in results
        ).backward()
        return results + [t.grad for t in (x, *states, *layer.parameters())]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS)
def test_like_torch(kind, seed):
    problem = Problem(kind, seed)
    double, single, ours = trio(kind, problem.inputs, problem.units, **problem.options)
    truth = problem.run(torch, double, np.float64)
    reference = problem.run(torch, single, np.float32)
    actual = problem.run(ocl, ours, np.float32)
    assert len(actual) == len(truth)
    for i, values in enumerate(zip(actual, truth, reference, strict=True)):
        expect_near(*values, f"result {i} of {problem.form}", units=16)


@pytest.mark.parametrize(
    ("kind", "options"), [("LSTM", {"proj_size": 3}), ("LSTM", {}), ("GRU", {}), ("RNN", {})], ids=str
)
@pytest.mark.parametrize("units", [19, 270])
def test_sizes_for_which_devices_take_other_kernels(kind, options, units):
    problem = Problem(kind, 0)
    problem.form, problem.inputs, problem.units = "sorted", 5, units
    problem.options = {"bidirectional": True, "batch_first": False, **options}
    rng = np.random.default_rng(0)
    problem.lengths = np.sort(rng.integers(1, 4, 90))[::-1].copy()
    problem.x = rng.standard_normal((3, 90, 5))
    problem.states = []
    double, single, ours = trio(kind, 5, units, **problem.options)
    for values in zip(
        problem.run(ocl, ours, np.float32),
        problem.run(torch, double, np.float64),
        problem.run(torch, single, np.float32),
        strict=True,
    ):
        expect_near(*values, units=16)


@pytest.mark.parametrize("kind", KINDS)
def test_float64(kind):
    for seed in (0, 1, 2):
        problem = Problem(kind, seed)
        double, _, ours = trio(kind, problem.inputs, problem.units, **problem.options)
        ours = ours.double()
        ours.load_state_dict(double.state_dict())
        for actual, truth in zip(
            problem.run(ocl, ours, np.float64), problem.run(torch, double, np.float64), strict=True
        ):
            np.testing.assert_allclose(actual.detach().numpy(), truth.detach().numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("LSTM", {}),
        ("LSTM", {"num_layers": 2, "dropout": 0.25, "bidirectional": True, "proj_size": 2}),
        ("GRU", {"bias": False, "batch_first": True}),
        ("RNN", {"num_layers": 3}),
        ("RNN relu", {}),
    ],
    ids=str,
)
def test_names_repr_and_attributes(kind, options):
    theirs, ours = make(torch, kind, 5, 7, **options), make(ocl, kind, 5, 7, **options)
    assert repr(ours) == repr(theirs)
    assert {k: tuple(v.shape) for k, v in ours.state_dict().items()} == {
        k: tuple(v.shape) for k, v in theirs.state_dict().items()
    }
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for (
        name
    ) in "mode input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size".split():
        assert getattr(ours, name) == getattr(theirs, name), name
    assert [[tuple(w.shape) for w in ws] for ws in ours.all_weights] == [
        [tuple(w.shape) for w in ws] for ws in theirs.all_weights
    ]
    assert ours.flatten_parameters() is None


def test_parameters_begin_as_torchs():
    layer = ocl.nn.LSTM(20, 25)
    for parameter in layer.parameters():
        values = parameter.detach().numpy()
        assert np.abs(values).max() <= 0.2
        assert np.abs(values).max() > 0.15
    layer.weight_ih_l0.detach().zero_()
    layer.reset_parameters()
    assert np.abs(layer.weight_ih_l0.detach().numpy()).max() > 0.15


def test_a_setting_changed_afterwards_is_obeyed():
    layer = ocl.nn.GRU(3, 4)
    x = ocl.randn(5, 2, 3)
    before = layer(x)[0]
    layer.batch_first = True
    after = layer(x.transpose(0, 1))[0]
    np.testing.assert_array_equal(after.transpose(0, 1).detach().numpy(), before.detach().numpy())
    layer = ocl.nn.RNN(3, 4)
    layer.nonlinearity = "relu"
    assert layer(x)[0].detach().numpy().min() == 0


def test_device_and_dtype_of_the_constructor():
    layer = ocl.nn.LSTM(3, 4, device=ocl.ones(1).device, dtype=ocl.float64)
    assert layer.weight_hh_l0.dtype == ocl.float64
    assert layer(ocl.zeros(2, 1, 3, dtype=ocl.float64))[0].dtype == ocl.float64
    assert ocl.nn.GRUCell(3, 4, dtype=ocl.float64).weight_ih.dtype == ocl.float64


def test_dropout_between_layers():
    ocl.manual_seed(0)
    x = ocl.randn(4, 3, 6)
    layer = ocl.nn.LSTM(6, 64, num_layers=2, dropout=0.5)
    first, second = (layer(x)[0].detach().numpy() for _ in range(2))
    assert not np.array_equal(first, second)
    layer.eval()
    first, second = (layer(x)[0].detach().numpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)
    layer.train()
    layer.dropout = 1.0  # nothing arrives: the second layer sees zeros
    layer(x)[0].sum().backward()
    np.testing.assert_array_equal(layer.weight_ih_l1.grad.numpy(), 0)
    np.testing.assert_array_equal(layer.weight_ih_l0.grad.numpy(), 0)
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        ocl.nn.GRU(3, 4, dropout=0.5)


def test_dropout_has_the_gradient_of_its_mask():
    layer = ocl.nn.RNN(3, 4, num_layers=2, dropout=0.5).double()
    x = ocl.randn(3, 2, 3, dtype=ocl.float64)

    def function(x):
        ocl.manual_seed(3)
        return layer(x)[0]

    assert ocl.autograd.gradcheck(function, [x.requires_grad_()])


def test_backward_twice_with_retain_graph():
    layer = ocl.nn.GRU(3, 4, bidirectional=True)
    y = layer(ocl.randn(5, 2, 3))[0].sum()
    y.backward(retain_graph=True)
    once = layer.weight_hh_l0.grad.numpy()
    y.backward()
    np.testing.assert_allclose(layer.weight_hh_l0.grad.numpy(), 2 * once, rtol=1e-6)


def test_only_the_last_state_is_used():
    layers = trio("LSTM", 3, 4, num_layers=2)
    x = np.random.default_rng(0).standard_normal((5, 2, 3))
    results = []
    for lib, layer, dtype in zip(
        (torch, torch, ocl), layers, (np.float64, np.float32, np.float32), strict=True
    ):
        _, (h, _c) = layer(lib.tensor(x.astype(dtype)))
        h[-1].sum().backward()
        results.append([p.grad for p in layer.parameters()])
    for truth, reference, actual in zip(*results, strict=True):
        expect_near(actual, truth, reference, units=8)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.nn.LSTM(0, 3),
        lambda lib: lib.nn.LSTM(3, 0),
        lambda lib: lib.nn.GRU(3, 3, num_layers=0),
        lambda lib: lib.nn.GRU(3, 3, 2, dropout=1.5),
        lambda lib: lib.nn.LSTM(3, 4, proj_size=4),
        lambda lib: lib.nn.LSTM(3, 4, proj_size=-1),
        lambda lib: lib.nn.RNN(3, 4, nonlinearity="sine"),
        lambda lib: lib.nn.LSTM(3, 4)(lib.zeros(3)),
        lambda lib: lib.nn.LSTM(3, 4)(lib.zeros(0, 2, 3)),
        lambda lib: lib.nn.LSTM(3, 4)(lib.zeros(2, 2, 5)),
        lambda lib: lib.nn.GRU(3, 4)(lib.zeros(2, 2, 3, dtype=lib.float64)),
        lambda lib: lib.nn.GRU(3, 4)(lib.zeros(2, 2, 3), lib.zeros(1, 3, 4)),
        lambda lib: lib.nn.GRU(3, 4)(lib.zeros(2, 2, 3), lib.zeros(2, 4)),
        lambda lib: lib.nn.GRU(3, 4)(lib.zeros(2, 3), lib.zeros(1, 1, 4)),
        lambda lib: lib.nn.LSTM(3, 4)(lib.zeros(2, 2, 3), (lib.zeros(1, 2, 4), lib.zeros(1, 2, 3))),
        lambda lib: lib.nn.GRUCell(3, 4)(lib.zeros(1, 2, 3)),
        lambda lib: lib.nn.RNNCell(3, 4)(lib.zeros(2, 5)),
        lambda lib: lib.nn.RNNCell(3, 4, nonlinearity="sine")(lib.zeros(2, 3)),
        lambda lib: lib.nn.LSTMCell(3, 4)(lib.zeros(2, 3), (lib.zeros(3, 4), lib.zeros(3, 4))),
    ],
)
def test_errors_like_torch(call):
    with pytest.raises(Exception) as raised:  # noqa: PT011
        call(torch)
    with pytest.raises(raised.type):
        call(ocl)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize(
    ("name", "options"),
    [("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu"}), ("GRUCell", {"bias": False}), ("LSTMCell", {})],
    ids=str,
)
def test_cells(name, options, given, batched):
    torch.manual_seed(0)
    single = getattr(torch.nn, name)(5, 17, **options)
    double = getattr(torch.nn, name)(5, 17, **options).double()
    double.load_state_dict(single.state_dict())
    ours = getattr(ocl.nn, name)(5, 17, **options)
    assert repr(ours) == repr(single)
    assert list(ours.state_dict()) == list(single.state_dict())
    ours.load_state_dict(single.state_dict())
    rng = np.random.default_rng(0)
    batch = (3,) if batched else ()
    arrays = [rng.standard_normal((*batch, 5))] + [rng.standard_normal((*batch, 17)) for _ in range(2)]
    results = []
    for lib, cell, dtype in (
        (ocl, ours, np.float32),
        (torch, double, np.float64),
        (torch, single, np.float32),
    ):
        x, h, c = (lib.tensor(a.astype(dtype)).requires_grad_() for a in arrays)
        hx = (h, c) if name == "LSTMCell" else h
        for _ in range(2):
            result = cell(x, hx) if given else cell(x)
            hx = result
        parts = flat(result)
        sum((part * part).sum() for part in parts).backward()
        leaves = [x, *(((h, c) if name == "LSTMCell" else (h,)) if given else ()), *cell.parameters()]
        results.append(parts + [t.grad for t in leaves])
    for values in zip(*results, strict=True):
        expect_near(*values, units=8)


def test_dropout_with_one_layer_warns_as_torch():
    texts = []
    for lib in (torch, ocl):
        with pytest.warns(UserWarning, match="num_layers greater than 1") as caught:
            layer = lib.nn.GRU(3, 4, dropout=0.5)
        texts.append(str(caught[0].message))
    assert texts[0] == texts[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy.deepcopy(layer)
        with pytest.raises(UserWarning):
            ocl.nn.LSTM(3, 4, dropout=0.5)


def test_mode_and_settings_that_are_fixed():
    layer = ocl.nn.RNN(3, 4)
    layer.mode = "RNN_RELU"
    assert layer.nonlinearity == "relu" and layer(ocl.randn(5, 2, 3))[0].detach().numpy().min() == 0
    for module, name, value in (
        (layer, "mode", "GRU"),
        (layer, "proj_size", 2),
        (ocl.nn.LSTM(3, 4), "mode", "GRU"),
    ):
        with pytest.raises(ValueError, match=name):
            setattr(module, name, value)
    with pytest.raises(TypeError, match="cannot be made"):
        ocl.nn.RNNBase()


def test_a_tensor_is_no_pair_of_states():
    """Also where it has two entries, as (h, c) would."""
    for call in (
        lambda: ocl.nn.LSTM(3, 2, 2)(ocl.ones(4, 2, 3), ocl.zeros(2, 2, 2)),
        lambda: ocl.nn.LSTM(3, 2)(ocl.ones(4, 2, 3), ocl.zeros(2, 1, 2, 2)),
        lambda: ocl.nn.LSTMCell(3, 2)(ocl.ones(2, 3), ocl.zeros(2, 2)),
    ):
        with pytest.raises(TypeError):
            call()
    both = [ocl.zeros(1, 2, 2), ocl.ones(1, 2, 2)]
    layer = ocl.nn.LSTM(3, 2)
    assert layer(ocl.ones(4, 2, 3), both)[0].shape == layer(ocl.ones(4, 2, 3), tuple(both))[0].shape
