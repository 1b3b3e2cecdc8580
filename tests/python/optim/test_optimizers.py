"""Every optimizer against torch.optim, step by step."""

import numpy as np
import pytest
import torch
from support import as_array, expect_near, skip_without

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
    "adadelta": ("Adadelta", {}),
    "adadelta_rho": ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    "adamax": ("Adamax", {}),
    "adamax_betas": ("Adamax", {"lr": 0.05, "betas": (0.8, 0.95), "weight_decay": 0.1, "maximize": True}),
    "nadam": ("NAdam", {}),
    "nadam_decay": ("NAdam", {"lr": 0.02, "weight_decay": 0.1, "momentum_decay": 0.1}),
    "nadam_decoupled": (
        "NAdam",
        {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ),
    "radam": ("RAdam", {}),
    "radam_decay": ("RAdam", {"lr": 0.02, "weight_decay": 0.1, "betas": (0.8, 0.9)}),
    "radam_decoupled": ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    "rprop": ("Rprop", {}),
    "rprop_sizes": ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (0.01, 0.2), "maximize": True}),
    "rprop_least_above_most": ("Rprop", {"lr": 0.1, "step_sizes": (1.0, 0.2)}),
    "asgd": ("ASGD", {}),
    "asgd_mean": ("ASGD", {"lr": 0.1, "lambd": 0.1, "alpha": 0.5, "t0": 5, "weight_decay": 0.1}),
    "adafactor": ("Adafactor", {}),
    "adafactor_options": (
        "Adafactor",
        {
            "lr": 0.1,
            "beta2_decay": -0.5,
            "eps": (1e-6, 1e-2),
            "d": 1.5,
            "weight_decay": 0.1,
            "maximize": True,
        },
    ),
}
TENSOR_RULES = {"Adafactor"}  # written over tensor operators
FUSED = {case: entry for case, entry in OPTIMIZERS.items() if entry[0] not in TENSOR_RULES}
every_optimizer = pytest.mark.parametrize("name, options", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())


def shapes_for(name):
    # PyTorch's Adafactor divides by zero where there are no elements.
    return [shape for shape in SHAPES if name not in TENSOR_RULES or 0 not in shape]


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


def three_trainings(name, options, shapes=None):
    shapes = shapes or shapes_for(name)
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


@every_optimizer
def test_twenty_steps_in_double(name, options):
    """Within 1e-12 of the largest parameter, and so are the states."""
    skip_without("float64")
    shapes = [(), (5, 7), (17,)]
    trainings = [Training(library, library.float64, name, options, shapes) for library in (ocl, torch)]
    for number in range(STEPS):
        for training in trainings:
            training.step(number, SITS_OUT.get(number, ()))
    for ours, theirs in zip(*(training.parameters for training in trainings), strict=True):
        largest = np.abs(as_array(theirs)).max()
        np.testing.assert_allclose(as_array(ours), as_array(theirs), rtol=0, atol=1e-12 * largest)
        states = (t.optimizer.state.get(p, {}) for t, p in zip(trainings, (ours, theirs), strict=True))
        for (key, state), expected in zip(*(state.items() for state in states), strict=False):
            expected = np.asarray(expected[1], np.float64)
            bar = 1e-12 * np.abs(expected).max(initial=0)
            np.testing.assert_allclose(np.asarray(state, np.float64), expected, rtol=0, atol=bar, err_msg=key)


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    "name, options",
    [
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("Adam", {"amsgrad": True}),
        *[(n, {}) for n in ("Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD")],
    ],
)
def test_two_steps_of_tiny_parameters(name, options):
    trainings = three_trainings(name, options, [(), (3,), (2, 2)])
    for training in trainings:
        training.step(0)
        training.step(1)
    expect_same_parameters(trainings, "two steps")


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


def launches(action):
    with ocl.profiler.profile() as profile:
        action()
    return [kernel for _, kernel, _, _ in profile.launches()]


@pytest.mark.parametrize("name, options", FUSED.values(), ids=FUSED.keys())
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
    before = [p.detach().numpy() for p in training.parameters]
    assert launches(training.optimizer.step) == []
    for p, expected in zip(training.parameters, before, strict=True):
        np.testing.assert_array_equal(p.detach().numpy(), expected)


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
    np.testing.assert_array_equal(p.detach().numpy(), -values.T)


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
    np.testing.assert_array_equal(p.detach().numpy(), [np.nan, -np.inf, -1])


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("SGD", {"lr": -1.0}, "SGD: expected lr >= 0, got lr=-1"),
        ("SGD", {"momentum": -0.5}, "expected momentum >= 0"),
        ("SGD", {"weight_decay": -0.5}, "expected weight_decay >= 0"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires"),
        ("SGD", {"nesterov": True, "momentum": 0.9, "dampening": 0.1}, "zero dampening"),
        ("Adam", {"lr": -1.0}, "expected lr >= 0"),
        ("Adam", {"eps": -1.0}, "expected eps >= 0"),
        ("Adam", {"betas": (1.0, 0.9)}, "betas must hold"),
        ("AdamW", {"betas": (0.9, -0.1)}, "betas must hold"),
        ("AdamW", {"weight_decay": -1.0}, "expected weight_decay >= 0"),
        ("RMSprop", {"alpha": -1.0}, "RMSprop: expected alpha >= 0"),
        ("RMSprop", {"momentum": -1.0}, "expected momentum >= 0"),
        ("Adagrad", {"lr_decay": -1.0}, "Adagrad: expected lr_decay >= 0"),
        ("Adagrad", {"initial_accumulator_value": -1.0}, "expected initial_accumulator_value >= 0"),
        ("Adadelta", {"rho": 1.5}, "expected rho >= 0"),
        ("NAdam", {"momentum_decay": -1.0}, "expected momentum_decay >= 0"),
        ("Rprop", {"etas": (1.5, 2.0)}, "etas must hold"),
        ("Adafactor", {"beta2_decay": 1.0}, "expected beta2_decay <= 0"),
        ("Adafactor", {"eps": (-1.0, 1.0)}, "eps must hold"),
        ("LBFGS", {"lr": -1.0}, "expected lr >= 0"),
    ],
)
def test_impossible_settings_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(ocl.optim, name)([ocl.ones(1, requires_grad=True)], **options)
    with pytest.raises(ValueError):  # as PyTorch does
        getattr(torch.optim, name)([torch.ones(1, requires_grad=True)], **options)


def test_settings_of_other_kinds_are_refused():
    held = [ocl.ones(1, requires_grad=True)]
    with pytest.raises(TypeError, match="'lr' cannot be 'fast'"):
        ocl.optim.SGD(held, lr="fast")
    with pytest.raises(TypeError, match=r"Adam: expected two numbers as betas, got \(0.5\)"):
        ocl.optim.Adam(held, betas=(0.5,))
    with pytest.raises(TypeError, match="Adam: differentiable=True is not supported"):
        ocl.optim.Adam(held, differentiable=True)
    with pytest.raises(RuntimeError, match="fused.*foreach"):
        ocl.optim.Adam(held, fused=True, foreach=True)
    with pytest.raises(TypeError, match=r"Adam\(\): got an unexpected keyword argument 'rate'"):
        ocl.optim.Adam(held, rate=1)
    with pytest.raises(TypeError, match=r"SGD\(\): missing a required argument: 'params'"):
        ocl.optim.SGD()


@pytest.mark.parametrize("choice", ["foreach", "fused"])
def test_how_pytorch_computes_changes_nothing(choice):
    first, second = (Training(ocl, ocl.float32, "Adam", options, [(3,)]) for options in ({}, {choice: True}))
    for training in (first, second):
        training.step(0)
    assert first.parameters[0].tolist() == second.parameters[0].tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_steps_counted_on_the_device(name, dtype):
    """``capturable`` gives the numbers of steps counted on the host, where a parameter misses steps and after
    the state was loaded."""

    def train(capturable):
        ocl.manual_seed(0)
        parameters = [ocl.randn(5, dtype=getattr(ocl, dtype), requires_grad=True) for _ in range(2)]
        optimizer = getattr(ocl.optim, name)(parameters, lr=0.1, amsgrad=True, capturable=capturable)
        for step in range(8):
            for i, p in enumerate(parameters):
                p.grad = ocl.randn(5, dtype=p.dtype) if i == 0 or step % 3 else None
            optimizer.step()
            if step == 4:
                state = optimizer.state_dict()
                optimizer = getattr(ocl.optim, name)(parameters, lr=0.1, amsgrad=True, capturable=capturable)
                optimizer.load_state_dict(state)
        assert [float(optimizer.state[p]["step"]) for p in parameters] == [8, 5]
        return np.concatenate([p.detach().numpy() for p in parameters])

    np.testing.assert_allclose(train(True), train(False), rtol=2e-6 if dtype == "float32" else 1e-12)


def test_a_rate_that_is_a_tensor():
    p = ocl.zeros(1, requires_grad=True)
    optimizer = ocl.optim.SGD([p], lr=ocl.tensor(0.5))
    schedule = ocl.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    rate = optimizer.param_groups[0]["lr"]
    for _ in range(2):
        p.grad = ocl.ones(1)
        optimizer.step()
        schedule.step()
    assert p.item() == -0.75 and optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.125


def test_impossible_parameters_are_refused():
    p = ocl.ones(1, requires_grad=True)
    for parameters, message in (
        ([], "empty parameter list"),
        ([p * 2], "non-leaf"),
        ([{"params": [p]}, {"params": [p]}], "more than one"),
    ):
        with pytest.raises(ValueError, match=message):
            ocl.optim.SGD(parameters)
    with pytest.raises(TypeError, match="only optimize Tensors, but one of the params is float"):
        ocl.optim.SGD([1.0])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        ocl.optim.SGD([p, p])
    with pytest.raises(TypeError, match="iterable of Tensors"):
        ocl.optim.SGD(p)
    with pytest.raises(TypeError, match="ordered collections"):
        ocl.optim.SGD([{"params": {p}}])
    with pytest.raises(ValueError, match="each element once in memory"):
        shared = ocl.ones(1, 3).expand(2, 3).detach().requires_grad_()
        shared.grad = ocl.ones(2, 3)
        ocl.optim.SGD([shared]).step()


def test_a_loaded_group_needs_a_learning_rate():
    p = ocl.ones(2, requires_grad=True)
    optimizer = ocl.optim.AdamW([p], lr=0.5)
    state = optimizer.state_dict()
    del state["param_groups"][0]["eps"]  # an option that files of old may lack
    optimizer.load_state_dict(state)
    del state["param_groups"][0]["lr"]
    with pytest.raises(ValueError, match="without 'lr'"):
        optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 0.5


# --- LBFGS

LINE_SEARCHES = {
    "plain": {"lr": 0.1},
    "few": {"lr": 0.2, "max_iter": 4, "history_size": 2},
    "wolfe": {"line_search_fn": "strong_wolfe"},
    "wolfe short": {"line_search_fn": "strong_wolfe", "max_iter": 5, "max_eval": 4},
}


def line_search_losses(library, options, steps=6):
    start = np.array([-1.5, 2.0, 0.5, -1.0])
    x = library.tensor(start[:2], dtype=library.float64, requires_grad=True)
    y = library.tensor(start[2:], dtype=library.float64, requires_grad=True)
    optimizer = library.optim.LBFGS([x, y], **options)

    def closure():
        optimizer.zero_grad()
        loss = ((1 - x) ** 2).sum() + (10 * (y - x * x) ** 2).sum()  # Rosenbrock's valley
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(steps)]
    state = optimizer.state[x]
    return losses, (state["func_evals"], state["n_iter"]), np.concatenate([x.tolist(), y.tolist()])


@pytest.mark.parametrize("options", LINE_SEARCHES.values(), ids=LINE_SEARCHES.keys())
def test_line_search_is_torchs(options):
    skip_without("float64")
    (losses, counts, place), (expected, expected_counts, expected_place) = (
        line_search_losses(library, options) for library in (ocl, torch)
    )
    np.testing.assert_allclose(losses, expected, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(place, expected_place, rtol=1e-5, atol=1e-7)
    assert counts == expected_counts


@pytest.mark.parametrize(
    "damage",
    [
        {"old_stps": []},
        {"ro": []},
        {"d": None},
        {"prev_flat_grad": None},
        {"d": "x"},
        {"old_dirs": "far"},
        {"n_iter": -1},
    ],
    ids=str,
)
def test_damaged_states_of_a_line_search_are_refused(damage):
    def make():
        x = ocl.tensor([1.0, 2.0, -1.0], requires_grad=True)
        optimizer = ocl.optim.LBFGS([x], max_iter=3)

        def closure():
            optimizer.zero_grad()
            loss = (x**4).sum()
            loss.backward()
            return loss

        return optimizer, closure

    optimizer, closure = make()
    optimizer.step(closure)
    state = optimizer.state_dict()
    for name, value in damage.items():
        state["state"][0][name] = [ocl.ones(2)] if value == "far" else value
    other, closure = make()
    with pytest.raises((ValueError, TypeError)):
        other.load_state_dict(state)
        other.step(closure)
    with pytest.raises(ValueError, match="history_size"):
        ocl.optim.LBFGS([ocl.ones(2, requires_grad=True)], history_size=0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adafactor"])
def test_parameters_of_16_bits(name, dtype):
    """Computed in float32, rounded once a step: no farther from float64 than PyTorch's steps."""
    rng = np.random.default_rng(1)
    start, gradients = rng.standard_normal(33), rng.standard_normal((4, 33))
    places = []
    for library, kind in ((torch, "float64"), (torch, dtype), (ocl, dtype)):
        p = library.tensor(start.tolist(), dtype=getattr(library, kind), requires_grad=True)
        options = {"eps": 1e-3} if name in ("Adam", "AdamW", "RMSprop") else {}
        optimizer = getattr(library.optim, name)([p], lr=0.05, **options)
        for gradient in gradients:
            rounded = torch.tensor(gradient).to(getattr(torch, dtype)).double().tolist()
            p.grad = library.tensor(rounded, dtype=p.dtype)
            optimizer.step()
        places.append(np.array(p.tolist()))
    truth, theirs, ours = places
    unit = float(torch.finfo(getattr(torch, dtype)).eps)
    assert np.abs(ours - truth).max() <= 1.5 * np.abs(theirs - truth).max() + unit


def test_line_search_refuses():
    first, second = (ocl.ones(1, requires_grad=True) for _ in range(2))
    with pytest.raises(ValueError, match="parameter groups"):
        ocl.optim.LBFGS([{"params": [first]}, {"params": [second]}])
    optimizer = ocl.optim.LBFGS([first], line_search_fn="armijo")
    with pytest.raises(TypeError):
        optimizer.step()
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        optimizer.step(lambda: (first * first).sum())
