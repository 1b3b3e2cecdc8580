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


def test_a_failed_load_changes_nothing(theirs):
    ours = build(ocl.nn)
    before = {name: t.numpy() for name, t in ours.state_dict().items()}
    state = dict(theirs.state_dict())
    del state["2.running_var"]
    with pytest.raises((ValueError, RuntimeError)):
        ours.load_state_dict(state)
    for name, t in ours.state_dict().items():
        expect_exact(t, before[name], name)


def test_loading_does_not_disturb_a_recorded_graph_silently(theirs):
    ours = build(ocl.nn)
    loss = (ours(ocl.randn(4, 2)) ** 2).sum()
    ours.load_state_dict(theirs.state_dict())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
