"""Every optimizer and schedule of torch.optim, walked: constructor, attributes, repr, copies, subclassing."""

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
import torch

import ocl

OPTIMIZERS = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
]
each_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)
BUILD = {
    "LRScheduler": None,
    "LambdaLR": lambda s, o: s.LambdaLR(o, abs),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, abs),
    "StepLR": lambda s, o: s.StepLR(o, 2),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 3]),
    "ConstantLR": lambda s, o: s.ConstantLR(o),
    "LinearLR": lambda s, o: s.LinearLR(o),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.5),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 10),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.ExponentialLR(o, 0.5)], [3]),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.StepLR(o, 2), s.ExponentialLR(o, 0.5)]),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 0.5, 3),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=20),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=1),
}
each_schedule = pytest.mark.parametrize("name", [name for name in BUILD if BUILD[name]])


def arguments(cls):
    """Names, kinds and defaults: PyTorch's annotations are its own."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(cls).parameters.values()]


def parameters(library):
    return [library.tensor([1.0, -2.0, 3.0], requires_grad=True), library.ones(2, 2, requires_grad=True)]


def trained(library, name, steps=2, **options):
    held = parameters(library)
    optimizer = getattr(library.optim, name)(held, **options)
    for _ in range(steps):
        step(optimizer)
    return held, optimizer


def step(optimizer):
    held = optimizer.param_groups[0]["params"]

    def closure():
        optimizer.zero_grad()
        loss = sum((p * p).sum() for p in held)
        loss.backward()
        return loss

    return optimizer.step(closure)


def test_every_class_is_walked():
    theirs = {name for name in torch.optim.__all__ if inspect.isclass(getattr(torch.optim, name, None))}
    assert theirs - {"Optimizer", *OPTIMIZERS} == {"SparseAdam", "Muon"}  # docs/pytorch-differences.md
    assert set(BUILD) == set(torch.optim.lr_scheduler.__all__) == set(ocl.optim.lr_scheduler.__all__)


@each_optimizer
def test_an_optimizer_has_pytorchs_face(name):
    cls, theirs = getattr(ocl.optim, name), getattr(torch.optim, name)
    assert arguments(cls) == arguments(theirs)
    assert cls.__doc__ and cls.__name__ == name and issubclass(cls, ocl.optim.Optimizer)
    ours, reference = cls(parameters(ocl)), theirs(parameters(torch))
    assert repr(ours).replace("50.0)", "50)") == repr(reference)
    assert ours.defaults == reference.defaults
    assert list(ours.param_groups[0]) and set(ours.param_groups[0]) == set(reference.param_groups[0])
    public = {key for key in dir(reference) if not key.startswith("_")}
    assert public - set(dir(ours)) <= {
        "OptimizerPreHook",
        "OptimizerPostHook",
        "profile_hook_step",
        "share_memory",
    }


@each_optimizer
def test_settings_count_after_construction(name):
    for key in ("lr", "maximize"):
        trajectories = []
        for library in (ocl, torch):
            held, optimizer = trained(library, name, 1, lr=0.1)
            if key in optimizer.param_groups[0]:
                optimizer.param_groups[0][key] = 0.01 if key == "lr" else True
            step(optimizer)
            trajectories.append(held[0].tolist())
        np.testing.assert_allclose(*trajectories, rtol=1e-4, atol=1e-6)


@each_optimizer
def test_the_state_is_pytorchs(name):
    (held, ours), (their_held, theirs) = trained(ocl, name), trained(torch, name)
    if name == "SGD":
        assert ours.state == theirs.state == {}
        return
    state, expected = ours.state[held[0]], theirs.state[their_held[0]]
    assert set(state) == set(expected) - {"al"}  # LBFGS's scratch
    for key, value in expected.items():
        if key != "al" and not isinstance(value, list):
            np.testing.assert_allclose(np.asarray(state[key]), np.asarray(value), rtol=1e-4, err_msg=key)


@pytest.mark.parametrize("name", ["Adam", "RMSprop", "Adamax"])
def test_a_write_to_the_state_counts(name):
    results = []
    for library in (ocl, torch):
        held, optimizer = trained(library, name, lr=0.1)
        state = optimizer.state[held[0]]
        for value in state.values():
            if getattr(value, "shape", ()) == held[0].shape:
                value.fill_(0.5)
        state["step"] = library.tensor(7.0)
        step(optimizer)
        results.append(held[0].tolist())
        assert float(optimizer.state[held[0]]["step"]) == 8
        del optimizer.state[held[1]]  # starts afresh
        step(optimizer)
        results.append(held[1].tolist())
    np.testing.assert_allclose(results[0], results[2], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(results[1], results[3], rtol=1e-5, atol=1e-4)


@each_optimizer
def test_an_optimizer_is_subclassed(name):
    base = getattr(ocl.optim, name)

    class Counting(base):
        def __init__(self, params, lr):
            super().__init__(params, lr=lr)
            self.steps = 0

        def step(self, closure=None):
            self.steps += 1
            return super().step(closure)

    assert [p.name for p in inspect.signature(Counting).parameters.values()] == ["params", "lr"]
    held, twin = parameters(ocl), parameters(ocl)
    optimizer, plain = Counting(held, 0.1), base(twin, lr=0.1)
    calls = []
    optimizer.register_step_post_hook(lambda *_: calls.append("post"))
    for _ in range(2):
        step(optimizer)
        step(plain)
    assert optimizer.steps == 2 and calls == ["post", "post"] and repr(optimizer).startswith("Counting (")
    assert held[0].tolist() == twin[0].tolist()


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


each_way = pytest.mark.parametrize("copied", [copy.deepcopy, pickled])


@each_way
@each_optimizer
def test_copies_go_their_own_way(name, copied):
    held, optimizer = trained(ocl, name, lr=0.1)
    before = held[0].tolist()
    other = copied(optimizer)
    assert type(other) is type(optimizer) and repr(other) == repr(optimizer)
    theirs = other.param_groups[0]["params"][0]
    step(other)
    assert held[0].tolist() == before and theirs.tolist() != before
    shallow = copy.copy(optimizer)
    assert shallow.param_groups is optimizer.param_groups and shallow.state is optimizer.state
    step(shallow)
    assert held[0].tolist() == theirs.tolist()


# --- schedules


def momentum(library):
    return library.optim.SGD(parameters(library), lr=0.4, momentum=0.9)


def advance(schedule):
    schedule.step(*[1.0] * (type(schedule).__name__ == "ReduceLROnPlateau"))


def ignoring_warnings(test):
    return pytest.mark.filterwarnings("ignore")(test)


@pytest.mark.parametrize("name", BUILD)
def test_a_schedules_constructor_is_pytorchs(name):
    ours, theirs = (getattr(library.optim.lr_scheduler, name) for library in (ocl, torch))
    assert arguments(ours) == arguments(theirs)
    assert ours.__doc__ and ours.__name__ == name and issubclass(ours, ocl.optim.lr_scheduler.LRScheduler)


@ignoring_warnings
@each_schedule
def test_a_schedule_has_pytorchs_attributes(name):
    ours, theirs = (BUILD[name](library.optim.lr_scheduler, momentum(library)) for library in (ocl, torch))
    assert {key for key in dir(theirs) if not key.startswith("__")} - set(dir(ours)) <= {
        "_anneal_func",
        "_annealing_cos",
        "_annealing_linear",
        "_exp_range_scale_fn",
        "_init_is_better",
        "_init_scale_fn",
        "_is_better",
        "_scale_fn_ref",
        "_triangular2_scale_fn",
        "_triangular_scale_fn",
    }
    for key, value in vars(theirs).items():
        if isinstance(value, (int, float, str)):
            assert getattr(ours, key) == value, key
    assert ours.optimizer.param_groups[0]["lr"] == pytest.approx(theirs.optimizer.param_groups[0]["lr"])


@ignoring_warnings
@each_schedule
def test_a_schedules_attributes_are_live(name):
    """Every number among the attributes, halved after construction."""
    theirs = BUILD[name](torch.optim.lr_scheduler, momentum(torch))
    keys = [key for key, value in vars(theirs).items() if type(value) is float and not np.isinf(value)]
    for key in keys:
        rates = []
        for library in (ocl, torch):
            schedule = BUILD[name](library.optim.lr_scheduler, momentum(library))
            setattr(schedule, key, getattr(schedule, key) / 2)
            for _ in range(4):
                advance(schedule)
                rates.append(schedule.get_last_lr())
        np.testing.assert_allclose(rates[:4], rates[4:], rtol=1e-9)


@ignoring_warnings
@each_schedule
def test_a_schedule_is_subclassed(name):
    base = getattr(ocl.optim.lr_scheduler, name)
    made = BUILD[name](ocl.optim.lr_scheduler, momentum(ocl))

    class Doubled(base):
        def get_last_lr(self):
            return [2 * rate for rate in super().get_last_lr()]

    made.__class__ = Doubled
    assert made.get_last_lr() == [2 * made.optimizer.param_groups[0]["lr"]]


@ignoring_warnings
@each_way
@each_schedule
def test_copies_of_a_schedule_have_an_optimizer_of_their_own(name, copied):
    schedule = BUILD[name](ocl.optim.lr_scheduler, momentum(ocl))
    advance(schedule)
    rate = schedule.get_last_lr()
    other = copied(schedule)
    advance(other)
    advance(other)
    assert schedule.get_last_lr() == rate == [schedule.optimizer.param_groups[0]["lr"]]
    assert other.optimizer is not schedule.optimizer
    assert other.get_last_lr() == [other.optimizer.param_groups[0]["lr"]]


def test_warnings_are_pytorchs():
    def heard(library):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            schedule = library.optim.lr_scheduler.StepLR(momentum(library), 2)
            schedule.step()
            schedule.get_lr()
            schedule.step(3)
        return [(w.category, str(w.message)[:30]) for w in caught]

    assert heard(ocl) == heard(torch)
