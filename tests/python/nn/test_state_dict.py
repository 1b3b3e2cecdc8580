"""load_state_dict: from anything array-like, and what it says when things do not fit."""

import numpy as np
import pytest
import torch
from support import expect_exact

import ocl


def build(nn):
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.BatchNorm1d(3))


@pytest.fixture
def theirs():
    torch.manual_seed(1)
    net = build(torch.nn)
    net(torch.randn(4, 2))  # running statistics and a count
    return net


CONVERSIONS = {
    "torch": lambda t: t,
    "torch on the tape": lambda t: t.clone().requires_grad_() * 1 if t.is_floating_point() else t,
    "torch transposed": lambda t: t.t().contiguous().t(),
    "numpy": lambda t: t.numpy(),
    "numpy float64": lambda t: t.numpy().astype(np.float64) if t.is_floating_point() else t.numpy(),
    "lists": lambda t: t.tolist(),
    "ocl": lambda t: ocl.tensor(t),
    "ocl float16": lambda t: (
        ocl.tensor(np.float16(t.numpy()).astype(np.float32)).half()
        if t.is_floating_point()
        else ocl.tensor(t)
    ),
}


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS.keys())
def test_values_arrive(theirs, convert, request):
    ours = build(ocl.nn)
    ours.load_state_dict({name: convert(t) for name, t in theirs.state_dict().items()})
    tolerance = 1e-3 if "float16" in request.node.name else 0
    for name, expected in theirs.state_dict().items():
        actual = ours.state_dict()[name]
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=tolerance, err_msg=name)
        assert actual.dtype == (ocl.int64 if "num_batches" in name else ocl.float32)


def test_our_state_dict_loads_into_torch(theirs):
    ours = build(ocl.nn)
    theirs.load_state_dict(
        {name: torch.from_numpy(np.array(t.numpy())) for name, t in ours.state_dict().items()}
    )
    for name, t in theirs.state_dict().items():
        expect_exact(ours.state_dict()[name], t)


def test_parameters_stay_the_same_tensors(theirs):
    ours = build(ocl.nn)
    weight = ours[0].weight
    ours.load_state_dict(theirs.state_dict())
    expect_exact(weight, theirs[0].weight)
    assert weight.requires_grad and weight.is_leaf


def test_a_state_dict_shares_memory_and_knows_no_tape():
    ours = build(ocl.nn)
    state = ours.state_dict()
    assert not any(t.requires_grad for t in state.values())
    with ocl.no_grad():
        ours[0].bias.fill_(3)
    expect_exact(state["0.bias"], [3, 3, 3])


def messages(change):
    """Both libraries' words for a state dict that `change` has spoiled, with our way to write shapes."""
    texts = []
    for library in (ocl, torch):
        net = build(library.nn)
        state = dict(net.state_dict())
        change(state)
        with pytest.raises((ValueError, RuntimeError)) as failure:
            net.load_state_dict(state)
        texts.append(str(failure.value).replace("torch.Size(", "").replace("])", "]"))
    return texts


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("0.bias"),
        lambda state: (state.pop("0.weight"), state.pop("2.running_mean"), state.pop("2.bias")),
        lambda state: state.update({"extra": state["0.bias"]}),
        lambda state: state.update({"extra": state.pop("0.bias")}),
        lambda state: state.update({"0.weight": state["0.weight"].t()}),
        lambda state: state.update(
            {"0.weight": state["0.bias"], "0.bias": state["0.weight"], "zz": state["0.bias"]}
        ),
    ],
    ids=["missing", "several missing", "unexpected", "both", "size", "size and unexpected"],
)
def test_errors_in_torchs_words(change):
    ours, theirs = messages(change)
    assert ours == theirs


def test_not_strict_takes_what_fits(theirs):
    ours = build(ocl.nn)
    state = {"0.weight": theirs.state_dict()["0.weight"], "unknown": np.zeros(3)}
    ours.load_state_dict(state, strict=False)
    expect_exact(ours[0].weight, theirs[0].weight)


def test_a_wrong_size_is_refused_even_if_not_strict():
    with pytest.raises((ValueError, RuntimeError), match="size mismatch for 0.weight"):
        build(ocl.nn).load_state_dict({"0.weight": np.zeros((2, 2))}, strict=False)


class Raises:
    """An array-like that cannot be read."""

    def __array__(self, dtype=None, copy=None):
        raise ZeroDivisionError


SPOILED = {
    "missing": lambda state: state.pop("2.running_var"),
    "unexpected": lambda state: state.update(extra=np.zeros(1)),
    "shape": lambda state: state.update({"2.running_var": np.zeros(4)}),
    "counter": lambda state: state.update({"2.num_batches_tracked": np.zeros(2, np.int64)}),
    "ragged": lambda state: state.update({"2.running_var": [[1], [1, 2]]}),
    "text": lambda state: state.update({"2.running_var": "text"}),
    "texts": lambda state: state.update({"2.running_var": ["a", "b", "c"]}),
    "nothing": lambda state: state.update({"2.running_var": None}),
    "objects": lambda state: state.update({"2.running_var": np.array([object()] * 3)}),
    "raises": lambda state: state.update({"2.running_var": Raises()}),
    "name": lambda state: state.update({5: np.zeros(1)}),
}


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_a_failed_load_changes_nothing(theirs, spoil, assign):
    ours = build(ocl.nn)
    before = {name: (t, t.numpy(), t._version) for name, t in ours.state_dict().items()}
    tensors = [hash(p) for p in ours.parameters()]
    state = dict(theirs.state_dict())
    spoil(state)
    with pytest.raises((ValueError, TypeError, ZeroDivisionError)):
        ours.load_state_dict(state, assign=assign)
    for name, t in ours.state_dict().items():
        held, value, version = before[name]
        expect_exact(t, value, name)
        assert held._version == version, name
    assert [hash(p) for p in ours.parameters()] == tensors


def test_what_cannot_be_converted_is_named():
    ours = build(ocl.nn)
    state = dict(ours.state_dict())
    state["0.bias"] = ["a", "b", "c"]
    with pytest.raises(TypeError, match="0.bias"):
        ours.load_state_dict(state)


def test_running_out_of_memory_changes_nothing(device):
    """The second of two conversions finds no room."""
    size = 1 << 18
    ours = ocl.nn.Sequential(ocl.nn.Linear(1, size), ocl.nn.Linear(1, size))
    state = {name: (t.half() * 0 + 5) for name, t in ours.state_dict().items()}
    before = {name: t.numpy() for name, t in ours.state_dict().items()}
    ocl.synchronize()
    ocl.empty_cache()
    for extra in (1, 2, 3):
        ocl.set_memory_limit(ocl.memory_reserved(device) + extra * 4 * size, device)
        try:
            blockers = []
            with pytest.raises(ocl.OutOfMemoryError):
                while True:
                    ours.load_state_dict(state)
                    for name, value in before.items():
                        ours.state_dict()[name].copy_(ocl.tensor(value))
                    blockers.append(ocl.empty(size))
        finally:
            ocl.set_memory_limit(0, device)
        for name, t in ours.state_dict().items():
            expect_exact(t, before[name], name)


def test_assigning_integers_to_parameters_changes_nothing():
    ours = build(ocl.nn)
    before = {name: t.numpy() for name, t in ours.state_dict().items()}
    state = {name: t + 1 for name, t in ours.state_dict().items()}
    state["2.bias"] = ocl.tensor([1, 2, 3])
    with pytest.raises((ValueError, RuntimeError), match='While copying the parameter named "2.bias"'):
        ours.load_state_dict(state, assign=True)
    for name, t in ours.state_dict().items():
        expect_exact(t, before[name], name)


def test_a_parameter_that_lies_over_itself_is_refused():
    for library in (ocl, torch):
        net = build(library.nn)
        net[0].bias = library.nn.Parameter(library.zeros(1).expand(3))
        first = net[0].weight.detach().tolist()
        state = {name: value * 0 + 2 for name, value in net.state_dict().items()}
        with pytest.raises(RuntimeError, match='While copying the parameter named "0.bias"'):
            net.load_state_dict(state)
        if library is ocl:
            assert net[0].weight.tolist() == first


def test_a_shared_parameter_has_two_names():
    """Floats under its second name are no counter."""

    def make(library):
        first, second = library.nn.Linear(2, 2), library.nn.Linear(2, 2)
        second.weight = first.weight
        return library.nn.Sequential(first, second)

    ours, theirs = make(ocl), make(torch)
    ours.load_state_dict({name: t.numpy() for name, t in theirs.state_dict().items()})
    expect_exact(ours[1].weight, theirs[1].weight)
    assert hash(ours[0].weight) == hash(ours[1].weight)


def test_a_scalar_may_be_a_list_of_one():
    for library in (ocl, torch):
        net = build(library.nn)
        state = {**net.state_dict(), "2.num_batches_tracked": library.tensor([7])}
        net.load_state_dict(state)
        assert net.state_dict()["2.num_batches_tracked"].item() == 7


def test_not_strict_reads_nothing_of_what_it_does_not_take():
    ours = build(ocl.nn)
    keys = ours.load_state_dict({**ours.state_dict(), "unknown": "text", "other": Raises()}, strict=False)
    assert keys.unexpected_keys == ["unknown", "other"] and keys.missing_keys == []


def test_loading_does_not_disturb_a_recorded_graph_silently(theirs):
    ours = build(ocl.nn)
    loss = (ours(ocl.randn(4, 2)) ** 2).sum()
    ours.load_state_dict(theirs.state_dict())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
