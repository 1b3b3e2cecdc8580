"""Parameter groups and state dicts of optimizers."""

import gc

import numpy as np
import pytest
import torch
from support import expect_near

import ocl

KINDS = {
    "SGD": {"lr": 0.05, "momentum": 0.9},
    "SGD plain": {"lr": 0.05},
    "Adam": {"lr": 0.01},
    "Adam amsgrad": {"lr": 0.01, "amsgrad": True},
    "AdamW": {"lr": 0.01, "weight_decay": 0.1},
    "RMSprop": {"lr": 0.01},
    "RMSprop all": {"lr": 0.01, "momentum": 0.9, "centered": True, "eps": 1e-2},
    "Adagrad": {"lr": 0.05, "lr_decay": 0.1},
    "Adadelta": {"lr": 0.5},
    "Adamax": {"lr": 0.05},
    "NAdam": {"lr": 0.02},
    "RAdam": {"lr": 0.02},
    "Rprop": {"lr": 0.05},
    "ASGD": {"lr": 0.05, "t0": 1},
    "Adafactor": {"lr": 0.05},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def parameters(library, count=3, **options):
    generator = np.random.default_rng(0)
    return [
        library.tensor(generator.standard_normal(3 + i).astype(np.float32), requires_grad=True, **options)
        for i in range(count)
    ]


def step(library, optimizer, tensors, number):
    generator = np.random.default_rng(50 + number)
    for p in tensors:
        p.grad = library.tensor(generator.standard_normal(tuple(p.shape)).astype(np.float32), dtype=p.dtype)
    optimizer.step()


def make(library, kind, tensors):
    return getattr(library.optim, kind.split()[0])(tensors, **KINDS[kind])


def test_groups_with_settings_of_their_own():
    def train(library, **options):
        first, second, third = parameters(library, **options)
        optimizer = library.optim.SGD(
            [{"params": [first]}, {"params": second, "lr": 1.0, "momentum": 0.0}], lr=0.1, momentum=0.9
        )
        optimizer.add_param_group({"params": [third], "weight_decay": 0.5})
        for number in range(3):
            step(library, optimizer, (first, second, third), number)
        assert [group["lr"] for group in optimizer.param_groups] == [0.1, 1.0, 0.1]
        return first, second, third

    for values in zip(train(ocl), train(torch, dtype=torch.float64), train(torch), strict=True):
        expect_near(*values, units=4)


def test_named_parameters_are_taken_too():
    net = ocl.nn.Linear(2, 2)
    assert len(ocl.optim.SGD(net.named_parameters()).param_groups[0]["params"]) == 2


def test_settings_are_read_and_written_like_a_dict():
    optimizer = ocl.optim.Adam(parameters(ocl), betas=(0.5, 0.6))
    (group,) = optimizer.param_groups
    assert group["betas"] == (0.5, 0.6) and group["amsgrad"] is False and len(group["params"]) == 3
    assert set(group.keys()) >= {"params", "lr", "betas", "eps", "weight_decay"}
    assert "lr" in group and "momentum" not in group
    group["lr"] = 0.25
    group["betas"] = (0.7, 0.8)
    assert optimizer.param_groups[0]["lr"] == 0.25
    assert optimizer.param_groups[0]["betas"] == (0.7, 0.8)
    assert dict(group)["lr"] == 0.25 and dict(group.items())["eps"] == 1e-8
    assert group.get("lr") == 0.25 and group.get("momentum") is None and group.get("momentum", 1) == 1
    assert set(group) == set(group.keys())
    with pytest.raises(KeyError, match="momentum"):
        group["momentum"]
    group["name"] = "all"  # any key
    assert type(group) is dict and optimizer.state_dict()["param_groups"][0]["name"] == "all"


def test_a_changed_rate_counts_from_the_next_step():
    p = ocl.zeros(1, requires_grad=True)
    optimizer = ocl.optim.SGD([p], lr=1.0)
    p.grad = ocl.ones(1)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.5
    optimizer.step()
    assert p.item() == -1.5


def test_a_group_stays_itself_when_others_are_added():
    first, *others = parameters(ocl, count=20)
    optimizer = ocl.optim.SGD([first], lr=0.5)
    group = optimizer.param_groups[0]
    for p in others:
        optimizer.add_param_group({"params": [p]})
    group["lr"] = 0.125
    assert optimizer.param_groups[0]["lr"] == 0.125
    del optimizer
    gc.collect()
    assert group["lr"] == 0.125


def test_impossible_groups_are_refused():
    held = parameters(ocl)
    optimizer = ocl.optim.SGD(held)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": held[:1]})
    with pytest.raises(TypeError, match="must be a dict"):
        optimizer.add_param_group(held)
    with pytest.raises(ValueError, match="with/without names"):
        optimizer.add_param_group({"params": [("w", ocl.ones(1, requires_grad=True))]})
    assert len(optimizer.param_groups) == 1


# --- state dicts


@every_kind
def test_layout_is_torchs(kind):
    layouts = []
    for library in (ocl, torch):
        tensors = parameters(library)
        optimizer = make(library, kind, tensors)
        step(library, optimizer, tensors, 0)
        state = optimizer.state_dict()
        entries = {index: set(entry) for index, entry in state["state"].items()}
        layouts.append((set(state), entries, state["param_groups"]))
    assert layouts[0] == layouts[1]


@every_kind
@pytest.mark.parametrize("way", ["ours to ours", "torch to ours", "ours to torch"])
def test_training_goes_on_from_a_state_dict(kind, way):
    """Five steps without a break, and three plus two with the state dict in between."""
    source_library, target_library = {
        "ours to ours": (ocl, ocl),
        "torch to ours": (torch, ocl),
        "ours to torch": (ocl, torch),
    }[way]
    source = parameters(source_library)
    optimizer = make(source_library, kind, source)
    for number in range(3):
        step(source_library, optimizer, source, number)

    target = [target_library.tensor(p.detach().numpy().copy(), requires_grad=True) for p in source]
    resumed = make(target_library, kind, target)
    state = optimizer.state_dict()
    if way == "ours to torch":
        for entry in state["state"].values():
            entry.update(
                {name: torch.from_numpy(t.numpy()) for name, t in entry.items() if isinstance(t, ocl.Tensor)}
            )
    resumed.param_groups[0]["lr"] = 123.0  # the state dict puts it right
    resumed.load_state_dict(state)
    for number in (3, 4):
        step(target_library, resumed, target, number)

    truth, reference = parameters(torch, dtype=torch.float64), parameters(torch)
    for tensors in (truth, reference):
        unbroken = make(torch, kind, tensors)
        for number in range(5):
            step(torch, unbroken, tensors, number)
    for values in zip(target, truth, reference, strict=True):
        expect_near(*values, units=4)


@every_kind
def test_a_loaded_state_is_a_copy(kind):
    source = parameters(ocl)
    optimizer = make(ocl, kind, source)
    step(ocl, optimizer, source, 0)
    target = [p.detach().clone().requires_grad_() for p in source]
    resumed = make(ocl, kind, target)
    resumed.load_state_dict(optimizer.state_dict())
    step(ocl, optimizer, source, 1)
    step(ocl, resumed, target, 1)
    again = resumed.state_dict()["state"]
    for index, entry in optimizer.state_dict()["state"].items():
        for name, value in entry.items():
            if isinstance(value, ocl.Tensor):
                np.testing.assert_array_equal(again[index][name].numpy(), value.numpy())


def trained(rate=0.01):
    tensors = parameters(ocl)
    optimizer = ocl.optim.Adam([{"params": tensors[:2]}, {"params": tensors[2:], "lr": 0.5}], lr=rate)
    step(ocl, optimizer, tensors, 0)
    return tensors, optimizer


def whole_state(optimizer):
    state = optimizer.state_dict()
    entries = {
        index: {name: value if name == "step" else value.tolist() for name, value in entry.items()}
        for index, entry in state["state"].items()
    }
    return entries, state["param_groups"]


DOES_NOT_FIT = {
    "groups": (lambda s: s["param_groups"].append({"params": []}), "different number of parameter groups"),
    "parameters": (lambda s: s["param_groups"][1]["params"].pop(), "doesn't match the size"),
    "no buffer": (lambda s: s["state"][2].pop("exp_avg_sq"), "no 'exp_avg_sq' for parameter 0"),
    "shape": (
        lambda s: s["state"][2].update(exp_avg=np.zeros(2)),
        r"exp_avg of shape \[2\] for a parameter of shape \[5\]",
    ),
    "no array": (lambda s: s["state"][2].update(exp_avg=["a"] * 5), "'exp_avg' of parameter 0 cannot be"),
    "nothing": (lambda s: s["state"][2].update(exp_avg=None), "'exp_avg' of parameter 0 cannot be None"),
    "rate": (lambda s: s["param_groups"][1].update(lr="fast"), "'lr' cannot be 'fast'"),
    "betas": (lambda s: s["param_groups"][1].update(betas=[0.5]), "expected two numbers as betas"),
    "steps": (lambda s: s["state"][2].update(step=float("nan")), "has taken nan steps"),
    "negative steps": (lambda s: s["state"][2].update(step=-1), "has taken -1 steps"),
    "half a step": (lambda s: s["state"][2].update(step=0.5), "has taken 0.5 steps"),
    "entry": (lambda s: s["state"].update({2: [1]}), "'state' cannot be"),
    "group": (lambda s: s["param_groups"].__setitem__(1, 5), "'param_groups' cannot be 5"),
    "no parameters": (lambda s: s["param_groups"][1].pop("params"), "params"),
    "state": (lambda s: s.update(state=[]), "'state' cannot be"),
    "unhashable": (lambda s: s["param_groups"][1].update(params=[[]]), "unhashable"),
    "no state": (lambda s: s.pop("state"), "state"),
    "no groups": (lambda s: s.pop("param_groups"), "param_groups"),
}


@pytest.mark.parametrize("change, message", DOES_NOT_FIT.values(), ids=DOES_NOT_FIT.keys())
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(change, message):
    _, source = trained(rate=0.25)
    state = source.state_dict()
    change(state)
    tensors, optimizer = trained()
    before = whole_state(optimizer)
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        optimizer.load_state_dict(state)
    assert whole_state(optimizer) == before
    step(ocl, optimizer, tensors, 1)


def test_running_out_of_memory_changes_nothing(device):
    size = 1 << 18
    state = {"step": 1, "exp_avg": np.ones(size), "exp_avg_sq": np.ones(size)}
    state = {"state": dict.fromkeys(range(4), state), "param_groups": [{"lr": 7.0, "params": [0, 1, 2, 3]}]}
    tensors = [ocl.zeros(size, requires_grad=True) for _ in range(4)]
    optimizer = ocl.optim.Adam(tensors, lr=0.5)
    for p in tensors:
        p.grad = ocl.ones(size)
    optimizer.step()
    before = whole_state(optimizer)
    ocl.synchronize()
    ocl.empty_cache()
    ocl.set_memory_limit(ocl.memory_reserved(device) + 12 * size, device)
    try:
        with pytest.raises(ocl.OutOfMemoryError):
            held = []
            while True:
                held.append(ocl.empty(size))
                optimizer.load_state_dict(state)
                before = whole_state(optimizer)
    finally:
        ocl.set_memory_limit(0, device)
    assert whole_state(optimizer) == before


def test_a_group_stays_itself_when_a_state_is_loaded():
    _, optimizer = trained()
    group = optimizer.param_groups[0]
    _, source = trained(rate=0.25)
    optimizer.load_state_dict(source.state_dict())
    assert group["lr"] == 0.25
    group["lr"] = 0.125
    assert optimizer.param_groups[0]["lr"] == 0.125


def test_a_state_dict_without_its_parts_is_refused():
    with pytest.raises(KeyError, match="param_groups"):  # as PyTorch
        ocl.optim.SGD(parameters(ocl)).load_state_dict({})
