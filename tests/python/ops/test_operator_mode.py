"""ocl.overrides.OperatorMode: who hears of an operator, and may answer in its place."""

import collections
import gc
import threading
import weakref

import cases
import numpy as np
import pytest
from comparison import Run, as_list, drawn
from support import skip_without
from test_registry import HEARD_AS

import ocl
from ocl import nn
from ocl.overrides import OperatorMode
from ocl.seam import parts

NAMES = sorted({row["name"] for row in ocl._C.operator_table()} & set(cases.CASES))


class Counting(OperatorMode):
    def __init__(self):
        super().__init__()
        self.counts = collections.Counter()

    def answer(self, name, arguments):
        self.counts[name] += 1


class Answering(OperatorMode):
    """Gives `results` for the operator of that name."""

    def __init__(self, name, results):
        super().__init__()
        self.name, self.results, self.arguments = name, results, []

    def answer(self, name, arguments):
        if name == self.name:
            self.arguments.append(arguments)
            return self.results
        return None


def test_hears_of_operators_within_layers():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    x = ocl.ones(5, 3)
    with Counting() as mode:
        net(x).softmax(1).sum()
    assert mode.counts == {"linear": 2, "relu": 1, "softmax": 1, "sum": 1}
    net(x)
    assert sum(mode.counts.values()) == 5


def test_answers_have_their_history():
    x = ocl.tensor([1.0, 2.0], requires_grad=True)
    with Answering("relu", 3 * x) as mode:
        y = (x - 1.5).relu()
    y.sum().backward()
    assert y.tolist() == [3, 6] and x.grad.tolist() == [3, 3]
    (arguments,) = mode.arguments
    assert arguments["inputs"][0].grad_fn is not None


def test_the_device_does_nothing_for_an_answer(device):
    x, y = ocl.rand(7), ocl.rand(7)
    x.sum().item()
    before = ocl._C._commands(device)
    with Answering("matmul", y):
        assert (x @ x) is y
    assert ocl._C._commands(device) == before


def test_other_arguments_are_computed_with():
    class Rounding(OperatorMode):
        def answer(self, name, arguments):
            if name == "linear":
                return self.perform(name, {**arguments, "weight": arguments["weight"].round()})
            return None

    layer = nn.Linear(6, 5)
    x = ocl.rand(2, 6)
    with Rounding():
        found = layer(x)
    expected = nn.functional.linear(x, layer.weight.detach().round(), layer.bias)
    np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
    found.sum().backward()
    assert layer.weight.grad is not None


def test_modes_within_modes():
    asked = []

    class Named(OperatorMode):
        def __init__(self, label, answers=None):
            super().__init__()
            self.label, self.answers = label, answers

        def answer(self, name, arguments):
            asked.append((self.label, name))
            if name == "exp" and self.answers == "exp":
                return arguments["inputs"][0].cos()
            return None

    x = ocl.zeros(2)
    with Named("outer"), Named("inner", "exp"):
        assert x.exp().tolist() == [1, 1]
        assert asked == [("inner", "exp"), ("outer", "cos")]
        asked.clear()
        x.sin()
        assert asked == [("inner", "sin"), ("outer", "sin")]


def test_one_mode_twice():
    mode = Counting()
    with mode, mode:
        ocl.ones(2).exp()
    assert mode.counts["exp"] == 2


def test_autocast_changes_what_nobody_answers():
    skip_without("float16")
    seen = []

    class Looking(OperatorMode):
        def answer(self, name, arguments):
            if name == "linear":
                seen.append(arguments["input"].dtype)

    x, weight = ocl.ones(2, 3), ocl.ones(4, 3)
    with Looking(), ocl.autocast("ocl", dtype=ocl.float16):
        inside = nn.functional.linear(x, weight)
    with ocl.autocast("ocl", dtype=ocl.float16), Looking():
        outside = nn.functional.linear(x, weight)
    assert inside.dtype == outside.dtype == ocl.float16
    assert seen == [ocl.float32] * 2
    assert nn.functional.linear(x, weight).dtype == ocl.float32


def test_within_vmap():
    x = ocl.rand(3, 4)
    with Counting() as mode:
        found = ocl.func.vmap(lambda row: row.exp().sum())(x)
    np.testing.assert_allclose(found.numpy(), x.exp().sum(1).numpy(), rtol=1e-6)
    assert mode.counts["exp"] >= 1


def test_errors_pass_through():
    class Refusing(OperatorMode):
        def answer(self, name, arguments):
            raise LookupError(name)

    x = ocl.ones(2)
    with Refusing(), pytest.raises(LookupError, match="exp"):
        x.exp()
    assert ocl.ones(1).exp().item() > 2


@pytest.mark.parametrize(
    ("name", "results", "message"),
    [
        ("exp", [], "exp: an interceptor gave 0 results, expected 1"),
        ("exp", (None,), "exp: an interceptor gave an undefined result"),
        ("exp", 3, "list of tensors"),
        ("topk", "one", "topk: an interceptor gave 1 results, expected 2"),
    ],
)
def test_wrong_answers(name, results, message):
    x = ocl.ones(3)
    with Answering(name, x if results == "one" else results):
        with pytest.raises((TypeError, RuntimeError), match=message):
            x.topk(1) if name == "topk" else x.exp()


def test_modes_end_in_order():
    first, second = Counting(), Counting()
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError, match="in another order"):
        first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    first.__exit__(None, None, None)
    ocl.ones(2).exp()
    assert not first.counts


def test_belongs_to_its_thread():
    with Counting() as mode:
        thread = threading.Thread(target=lambda: ocl.ones(2).exp())
        thread.start()
        thread.join()
    assert not mode.counts


def test_does_not_outlive_its_use():
    mode = Counting()
    with mode:
        ocl.ones(2).exp()
    gone = weakref.ref(mode)
    del mode
    gc.collect()
    assert gone() is None


# Their calls do not say whether the places are wanted too.
NOT_OF_PLACES = {f"{kind}max_pool{n}d" for kind in ("", "adaptive_") for n in (1, 2, 3)}
# Their results are truths of the host.
WITHOUT_TENSORS = {"allclose", "equal"}
# Functions in C++ that have more results than their call in Python asks for.
RESULTS = {
    "unique": 3,
    "unique_consecutive": 3,
    "gru": 3,
    "rnn_tanh": 3,
    "rnn_relu": 3,
    "gru_cell": 2,
    "rnn_tanh_cell": 2,
    "rnn_relu_cell": 2,
}


class Performing(OperatorMode):
    """Makes every call of that operator itself."""

    def __init__(self, name):
        super().__init__()
        self.name, self.times = name, 0

    def answer(self, name, arguments):
        if name != self.name:
            return None
        self.times += 1
        made = [leaf for _, leaf in parts.parts(self.perform(name, arguments))]
        return made + [None] * (RESULTS.get(name, 0) - len(made))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [n for n in NAMES if not n.endswith("_") and n not in NOT_OF_PLACES | WITHOUT_TENSORS]
)
def test_every_row_is_asked_and_answered(name):
    """With all that its call has: results and gradients are those of the call that nobody answered."""
    times = 0
    for seed in range(4):
        case = drawn(name, seed)
        states = []
        for mode in (Counting(), Performing(HEARD_AS.get(name, name))):
            ocl.manual_seed(seed)
            with mode:
                run = Run(ocl, case, "float32")
            results = [r for r in as_list(run.results) if isinstance(r, ocl.Tensor)]
            states.append([t.detach().numpy() for t in (*results, *run.gradients) if t is not None])
        times += mode.times
        for expected, found in zip(*states, strict=True):
            np.testing.assert_array_equal(found, expected)
    assert times, "nobody was asked"


@pytest.mark.parametrize("name", sorted(WITHOUT_TENSORS))
def test_results_that_are_no_tensors(name):
    x = ocl.ones(2)
    with Answering(name, x), pytest.raises(TypeError, match="no tensors"):
        getattr(ocl, name)(x, x)


def test_places_of_maxima_can_be_answered():
    x, places = ocl.rand(1, 2, 6), ocl.zeros(1, 2, 3, dtype=ocl.int64)
    with Answering("max_pool1d", (x, places)):
        values, found = nn.functional.max_pool1d(x, 2, return_indices=True)
    assert values is x and found is places
