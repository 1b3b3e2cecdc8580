"""Parameters of 16 bits whose steps are taken by float32 copies (keep_master_weights)."""

import copy

import numpy as np
import pytest

import ocl
from ocl import nn

OPTIMIZERS = {
    "SGD": {"momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "RMSprop": {"momentum": 0.5},
    "Adagrad": {},
    "Adadelta": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
}
SHAPES = ((4, 5), (3,), ())
each_dtype = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


def parameters(dtype, seed=1):
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.normal(size=shape), np.float32) for shape in SHAPES]
    return [ocl.tensor(a).to(getattr(ocl, dtype)).requires_grad_() for a in arrays]


def give_gradients(step, *lists):
    """Gives all of them equal numbers of 16 bits."""
    rng = np.random.default_rng([7, step])
    for i, shape in enumerate(SHAPES):
        numbers = ocl.tensor(np.asarray(rng.normal(size=shape), np.float32)).to(lists[0][i].dtype)
        for held in lists:
            held[i].grad = numbers.to(held[i].dtype)


@each_dtype
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_masters_are_trained_as_float32(name, dtype):
    narrow = parameters(dtype)
    wide = [p.detach().float().requires_grad_() for p in narrow]
    make = getattr(ocl.optim, name)
    ours = make(narrow, lr=0.01, **OPTIMIZERS[name]).keep_master_weights()
    reference = make(wide, lr=0.01, **OPTIMIZERS[name])
    for step in range(4):
        give_gradients(step, narrow, wide)
        ours.step()
        reference.step()
    for p, expected in zip(narrow, wide, strict=True):
        master = ours.state[p]["master"]
        assert p.dtype == getattr(ocl, dtype) and master.dtype == ocl.float32
        np.testing.assert_array_equal(master.numpy(), expected.detach().numpy())
        assert ocl.equal(p, expected.to(p.dtype))


def test_small_updates_are_not_lost():
    ends = []
    for keeps in (False, True):
        p = ocl.ones(3, dtype=ocl.bfloat16, requires_grad=True)
        optimizer = ocl.optim.SGD([p], lr=1e-4)
        if keeps:
            optimizer.keep_master_weights()
        for _ in range(100):
            p.grad = ocl.ones(3, dtype=ocl.bfloat16)
            optimizer.step()
        ends.append(p.float().tolist()[0])
    assert ends == [1.0, pytest.approx(0.99, abs=4e-3)]


@pytest.mark.parametrize("name", ["SGD", "AdamW", "Adafactor"])
def test_training_resumes_bit_for_bit(name, tmp_path):
    def optimizer_of(held):
        return getattr(ocl.optim, name)(held, lr=0.01, **OPTIMIZERS[name]).keep_master_weights()

    def steps(held, optimizer, numbers):
        for step in numbers:
            give_gradients(step, held)
            optimizer.step()

    straight = parameters("bfloat16")
    optimizer = optimizer_of(straight)
    steps(straight, optimizer, range(3))
    ocl.save(optimizer.state_dict(), tmp_path / "state.pt")
    resumed = [p.detach().clone().requires_grad_() for p in straight]
    other = getattr(ocl.optim, name)(resumed, lr=0.5)  # the state says that there are masters
    other.load_state_dict(ocl.load(tmp_path / "state.pt"))
    assert other.state[resumed[0]]["master"].dtype == ocl.float32
    steps(straight, optimizer, range(3, 6))
    steps(resumed, other, range(3, 6))
    assert all(ocl.equal(a, b) for a, b in zip(straight, resumed, strict=True))
    masters = [
        (optimizer.state[a]["master"], other.state[b]["master"])
        for a, b in zip(straight, resumed, strict=True)
    ]
    assert all(ocl.equal(a, b) for a, b in masters)


def test_from_a_later_step_on():
    p = parameters("bfloat16")
    optimizer = ocl.optim.Adam(p, lr=0.01)
    give_gradients(0, p)
    optimizer.step()
    assert optimizer.state[p[0]]["exp_avg"].dtype == ocl.bfloat16
    optimizer.keep_master_weights()
    for step in (1, 2):
        give_gradients(step, p)
        optimizer.step()
    assert optimizer.state[p[0]]["exp_avg"].dtype == optimizer.state[p[0]]["master"].dtype == ocl.float32


def test_wider_parameters_have_none_and_groups_come_later():
    wide = ocl.ones(2, requires_grad=True)
    optimizer = ocl.optim.SGD([wide], lr=0.1).keep_master_weights()
    late = ocl.ones(2, dtype=ocl.float16, requires_grad=True)
    optimizer.add_param_group({"params": [late]})
    for p in (wide, late):
        p.grad = ocl.ones(2, dtype=p.dtype)
    optimizer.step()
    assert "master" not in optimizer.state[wide]
    assert optimizer.state[late]["master"].tolist() == pytest.approx([0.9, 0.9])
    assert "master_weights" not in ocl.optim.SGD([wide]).param_groups[0]
    again = copy.deepcopy(optimizer)
    assert again.param_groups[1]["master_weights"] is True


def test_a_net_of_half():
    ocl.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 1)).bfloat16()
    optimizer = ocl.optim.AdamW(net.parameters(), lr=3e-3).keep_master_weights()
    x = ocl.randn(64, 8)
    target = x.sum(1, keepdim=True).tanh()
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x.bfloat16()).float(), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 5


def test_lbfgs_keeps_none():
    with pytest.raises(TypeError, match="keeps no master weights"):
        ocl.optim.LBFGS([ocl.ones(2, requires_grad=True)]).keep_master_weights()
