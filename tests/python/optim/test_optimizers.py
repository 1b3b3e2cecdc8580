"""Every optimizer against torch.optim, step by step."""

import numpy as np
import pytest
import torch
from support import as_array, expect_near

import ocl

SHAPES = [(), (1,), (3,), (2, 0), (5, 7), (17,), (2, 3, 4), (64, 33), (1, 1, 1, 1), (16385,), (3, 2, 5, 5)]
STEPS = 20
SITS_OUT = {3: (2, 5), 4: (2,), 5: (2,), 11: (0, 1)}  # step: parameters without a gradient in it

OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd_default": ("SGD", {}),
    "sgd_momentum": ("SGD", {"lr": 0.05, "momentum": 0.9}),
    "sgd_dampening": ("SGD", {"lr": 0.05, "momentum": 0.8, "dampening": 0.3}),
    "sgd_nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "sgd_decay": ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    "sgd_maximize": ("SGD", {"lr": 0.05, "momentum": 0.5, "maximize": True}),
    "adam": ("Adam", {}),
    "adam_betas": ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-4}),
    "adam_decay": ("Adam", {"lr": 0.01, "weight_decay": 0.1}),
    "adam_amsgrad": ("Adam", {"lr": 0.05, "betas": (0.5, 0.6), "amsgrad": True}),
    "adam_maximize": ("Adam", {"lr": 0.01, "maximize": True}),
    "adamw": ("AdamW", {}),
    "adamw_decay": ("AdamW", {"lr": 0.01, "weight_decay": 0.3}),
    "adamw_amsgrad": ("AdamW", {"lr": 0.05, "amsgrad": True, "maximize": True}),
    "rmsprop": ("RMSprop", {}),
    "rmsprop_alpha": ("RMSprop", {"lr": 0.02, "alpha": 0.8, "eps": 1e-3, "maximize": True}),
    "rmsprop_momentum": ("RMSprop", {"lr": 0.005, "momentum": 0.9, "weight_decay": 0.1}),
    "rmsprop_centered": ("RMSprop", {"lr": 0.005, "alpha": 0.9, "eps": 1e-2, "centered": True}),
    "rmsprop_both": ("RMSprop", {"lr": 0.002, "eps": 1e-2, "momentum": 0.5, "centered": True}),
    "adagrad": ("Adagrad", {}),
    "adagrad_decays": ("Adagrad", {"lr": 0.1, "lr_decay": 0.05, "weight_decay": 0.1}),
    "adagrad_start": (
        "Adagrad",
        {"lr": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3, "maximize": True},
    ),
}
every_optimizer = pytest.mark.parametrize("name, options", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())


class Training:
    """Parameters of one library, their optimizer, and the steps that all libraries take alike."""

    def __init__(self, library, dtype, name, options, shapes=SHAPES):
        generator = np.random.default_rng(0)
        self.library, self.dtype = library, dtype
        self.parameters = [
            self.tensor(generator.standard_normal(shape), requires_grad=True) for shape in shapes
        ]
        self.optimizer = getattr(library.optim, name)(self.parameters, **options)

    def tensor(self, values, **options):
        return self.library.tensor(np.asarray(values, np.float32), dtype=self.dtype, **options)

    def step(self, number, sits_out=()):
        generator = np.random.default_rng(1000 + number)
        for i, p in enumerate(self.parameters):
            gradient = self.tensor(generator.standard_normal(tuple(p.shape)))
            p.grad = None if i in sits_out else gradient
        self.optimizer.step()


def three_trainings(name, options, shapes=SHAPES):
    kinds = (ocl, ocl.float32), (torch, torch.float64), (torch, torch.float32)
    return [Training(library, dtype, name, options, shapes) for library, dtype in kinds]


def expect_same_parameters(trainings, what):
    # All parameters together: PyTorch's own error in a single element may be 0 by chance.
    flat = [np.concatenate([as_array(p).ravel() for p in t.parameters]) for t in trainings]
    expect_near(*flat, what, units=4)


@every_optimizer
def test_twenty_steps(name, options):
    trainings = three_trainings(name, options)
    for number in range(STEPS):
        for training in trainings:
            training.step(number, SITS_OUT.get(number, ()))
        if number in (0, 1, 5, STEPS - 1):
            expect_same_parameters(trainings, f"step {number}")


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    "name, options", [("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"amsgrad": True})]
)
def test_two_steps_of_tiny_parameters(name, options):
    trainings = three_trainings(name, options, [(), (3,), (2, 2)])
    for training in trainings:
        training.step(0)
        training.step(1)
    expect_same_parameters(trainings, "two steps")


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_defaults_are_torchs(name):
    ours = getattr(ocl.optim, name)([ocl.ones(1, requires_grad=True)]).param_groups[0]
    theirs = getattr(torch.optim, name)([torch.ones(1, requires_grad=True)]).param_groups[0]
    for option in ours.keys():
        if option != "params":
            assert ours[option] == theirs[option], option


def test_a_model_on_a_small_problem_converges():
    ocl.manual_seed(0)
    net = ocl.nn.Sequential(ocl.nn.Linear(2, 16), ocl.nn.Tanh(), ocl.nn.Linear(16, 1))
    optimizer = ocl.optim.Adam(net.parameters(), lr=0.02)
    x = ocl.tensor(np.random.default_rng(0).standard_normal((64, 2)).astype(np.float32))
    y = (x * x).sum(1, keepdim=True)
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        loss = ocl.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    assert losses[-1].item() < losses[0].item() / 20


def test_a_closure_is_called_with_the_tape_on():
    p = ocl.ones(2, requires_grad=True)
    optimizer = ocl.optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with ocl.no_grad():
        assert optimizer.step(closure).item() == 2
    assert p.tolist() == [0, 0]


def test_repr():
    def lines(library):
        return repr(library.optim.SGD([library.ones(1, requires_grad=True)], lr=0.5, momentum=0.25)).split(
            "\n"
        )

    # Ours has none of PyTorch's choices between implementations.
    of_torch_alone = ("differentiable", "foreach", "fused")
    kept = [line for line in lines(torch) if line.split(":")[0].strip() not in of_torch_alone]
    ours = lines(ocl)
    assert [line.split(":")[0] for line in ours] == [line.split(":")[0] for line in kept]
    assert "    lr: 0.5" in ours


def launches(action):
    with ocl.profiler.profile() as profile:
        action()
    return [kernel for _, kernel, _, _ in profile.launches()]


@every_optimizer
def test_one_launch_a_step(name, options):
    training = Training(ocl, ocl.float32, name, options)
    training.step(0)
    training.step(1)
    assert len(launches(training.optimizer.step)) == 1


def test_one_launch_for_each_lag():
    training = Training(ocl, ocl.float32, "Adam", {})
    training.step(0)
    training.step(1, sits_out=(2, 4))
    training.step(2)
    assert len(launches(training.optimizer.step)) == 2


def test_a_step_without_gradients_changes_nothing():
    training = Training(ocl, ocl.float32, "Adam", {})
    before = [p.numpy() for p in training.parameters]
    assert launches(training.optimizer.step) == []
    for p, expected in zip(training.parameters, before, strict=True):
        np.testing.assert_array_equal(p.numpy(), expected)


def test_a_step_counts_as_a_write():
    p = ocl.ones(2, requires_grad=True)
    optimizer = ocl.optim.SGD([p], lr=0.1)
    loss = (p * p).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    assert p.is_leaf and p.requires_grad and p.grad is not None
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_gradients_of_other_layouts_are_taken():
    p = ocl.zeros(3, 4, requires_grad=True)
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    p.grad = ocl.tensor(values).t()
    ocl.optim.SGD([p], lr=1.0).step()
    np.testing.assert_array_equal(p.numpy(), -values.T)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_zero_grad(set_to_none):
    p = ocl.ones(2, requires_grad=True)
    optimizer = ocl.optim.SGD([p])
    (p * 3).sum().backward()
    optimizer.zero_grad(set_to_none=set_to_none)
    assert p.grad is None if set_to_none else p.grad.tolist() == [0, 0]


def test_infinities_and_nan_stay_where_they_are():
    p = ocl.zeros(3, requires_grad=True)
    p.grad = ocl.tensor([np.nan, np.inf, 1.0])
    ocl.optim.SGD([p], lr=1.0).step()
    np.testing.assert_array_equal(p.numpy(), [np.nan, -np.inf, -1])


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("SGD", {"lr": -1.0}, "invalid lr value: -1"),
        ("SGD", {"momentum": -0.5}, "invalid momentum"),
        ("SGD", {"weight_decay": -0.5}, "invalid weight_decay"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires"),
        ("SGD", {"nesterov": True, "momentum": 0.9, "dampening": 0.1}, "zero dampening"),
        ("Adam", {"lr": -1.0}, "invalid lr"),
        ("Adam", {"eps": -1.0}, "invalid eps"),
        ("Adam", {"betas": (1.0, 0.9)}, r"betas must be in \[0, 1\)"),
        ("AdamW", {"betas": (0.9, -0.1)}, "betas must be in"),
        ("AdamW", {"weight_decay": -1.0}, "invalid weight_decay"),
        ("RMSprop", {"alpha": -1.0}, "RMSprop: invalid alpha"),
        ("RMSprop", {"momentum": -1.0}, "invalid momentum"),
        ("Adagrad", {"lr_decay": -1.0}, "Adagrad: invalid lr_decay"),
        ("Adagrad", {"initial_accumulator_value": -1.0}, "invalid initial_accumulator_value"),
    ],
)
def test_impossible_settings_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(ocl.optim, name)([ocl.ones(1, requires_grad=True)], **options)


def test_impossible_parameters_are_refused():
    p = ocl.ones(1, requires_grad=True)
    for parameters, message in (
        ([], "empty parameter list"),
        ([p * 2], "non-leaf"),
        ([p, p], "more than one"),
    ):
        with pytest.raises(ValueError, match=message):
            ocl.optim.SGD(parameters)
    with pytest.raises(TypeError, match="only optimize Tensors, got float"):
        ocl.optim.SGD([1.0])
    with pytest.raises(ValueError, match="contiguous"):
        transposed = ocl.ones(2, 3).t().detach().requires_grad_()
        transposed.grad = ocl.ones(3, 2)
        ocl.optim.SGD([transposed]).step()
