"""Learning-rate schedules against torch's, for 50 steps each."""

import copy
import math

import numpy as np
import pytest
import torch

import ocl

pytestmark = pytest.mark.filterwarnings("ignore")


def schedules(library):
    return library.optim.lr_scheduler


# name: (what builds the schedule from a library and an optimizer, name of the optimizer)
SCHEDULES = {
    "StepLR": lambda s, o: s.StepLR(o, step_size=3, gamma=0.5),
    "StepLR every epoch": lambda s, o: s.StepLR(o, 1),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, milestones=[4, 10, 10, 31], gamma=0.3),
    "MultiStepLR unsorted": lambda s, o: s.MultiStepLR(o, [20, 5]),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, gamma=0.9),
    "ConstantLR": lambda s, o: s.ConstantLR(o),
    "ConstantLR options": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=12),
    "LinearLR": lambda s, o: s.LinearLR(o),
    "LinearLR options": lambda s, o: s.LinearLR(o, start_factor=0.1, end_factor=0.8, total_iters=20),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, total_iters=30, power=2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, T_max=50),
    "CosineAnnealingLR short": lambda s, o: s.CosineAnnealingLR(o, 7, eta_min=0.001),
    "WarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=6),
    "WarmRestarts growing": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.001),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95**epoch),
    "LambdaLR each": lambda s, o: s.LambdaLR(o, lr_lambda=[lambda e: 1 / (e + 1), lambda e: 1 + e % 3]),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, max_lr=0.5, total_steps=50),
    "OneCycleLR each": lambda s, o: s.OneCycleLR(
        o,
        max_lr=[0.5, 0.1],
        epochs=10,
        steps_per_epoch=5,
        pct_start=0.2,
        anneal_strategy="linear",
        base_momentum=[0.8, 0.7],
        max_momentum=0.9,
        div_factor=10.0,
        final_div_factor=100.0,
    ),
    "OneCycleLR three phases": lambda s, o: s.OneCycleLR(
        o, 0.5, total_steps=60, three_phase=True, cycle_momentum=False
    ),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9 if epoch % 2 else 1.05),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=7),
    "CyclicLR halving": lambda s, o: s.CyclicLR(
        o, [0.01, 0.02], [0.1, 0.2], step_size_up=4, step_size_down=6, mode="triangular2"
    ),
    "CyclicLR range": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, 5, mode="exp_range", gamma=0.95, base_momentum=0.7, max_momentum=0.95
    ),
    "CyclicLR function": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, 5, scale_fn=lambda x: 1 / (x + 1), scale_mode="iterations", cycle_momentum=False
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, factor=0.1, total_iters=4), s.ExponentialLR(o, gamma=0.9)]
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o,
        schedulers=[
            s.LinearLR(o, start_factor=0.1, total_iters=5),
            s.CosineAnnealingLR(o, T_max=20),
            s.ExponentialLR(o, gamma=0.9),
        ],
        milestones=[5, 25],
    ),
    "SequentialLR that begins a constant anew": lambda s, o: s.SequentialLR(
        o, [s.PolynomialLR(o, total_iters=1), s.ConstantLR(o, factor=0.5, total_iters=3)], milestones=[3]
    ),
    "LinearLR to 0": lambda s, o: s.LinearLR(o, start_factor=0.5, end_factor=0.0, total_iters=4),
}
each_schedule = pytest.mark.parametrize("name", SCHEDULES)
OPTIMIZERS = {"SGD": {"momentum": 0.9}, "Adam": {}, "RMSprop": {"momentum": 0.5}}


def make(library, name, optimizer="SGD"):
    groups = [{"params": [library.ones(1, requires_grad=True)], "lr": rate} for rate in (0.1, 0.02)]
    made = getattr(library.optim, optimizer)(groups, lr=1.0, **OPTIMIZERS[optimizer])
    return made, SCHEDULES[name](schedules(library), made)


def settings(optimizer):
    return [
        value
        for group in optimizer.param_groups
        for key in ("lr", "momentum", "betas")
        if key in group.keys()
        for value in (group[key] if key == "betas" else [group[key]])
    ]


def history(library, name, steps=50, optimizer="SGD"):
    made, schedule = make(library, name, optimizer)
    values = []
    for _ in range(steps):
        assert schedule.get_last_lr() == [group["lr"] for group in made.param_groups]
        values.append(settings(made))
        made.step()
        schedule.step()
    return values


def expect_same(ours, theirs):
    for epoch, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-15), f"epoch {epoch}"


@each_schedule
def test_rates_are_torchs(name):
    expect_same(history(ocl, name), history(torch, name))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_one_cycle_moves_each_optimizers_momentum(optimizer):
    expect_same(*(history(library, "OneCycleLR each", 50, optimizer) for library in (ocl, torch)))


def test_schedules_combine():
    def play(library):
        made, first = make(library, "LinearLR")
        second = schedules(library).ExponentialLR(made, 0.9)
        values = []
        for _ in range(20):
            made.step()
            first.step()
            second.step()
            values.append(settings(made))
        return values

    expect_same(play(ocl), play(torch))


@each_schedule
@pytest.mark.parametrize("source", [ocl, torch], ids=["ocl", "torch"])
def test_a_schedule_resumes(name, source):
    """30 steps, and 30 more after both state dicts went over to a fresh optimizer and schedule."""
    made, schedule = make(source, name)
    for _ in range(19):
        made.step()
        schedule.step()
    other, resumed = make(ocl, name)
    resumed.load_state_dict(schedule.state_dict())
    other.load_state_dict(made.state_dict())
    assert getattr(resumed, "last_epoch", 0) == getattr(schedule, "last_epoch", 0)
    assert resumed.get_last_lr() == pytest.approx(schedule.get_last_lr(), rel=1e-9)
    expected = history(torch, name)[19:]
    for values in expected:
        assert settings(other) == pytest.approx(values, rel=1e-9, abs=1e-15)
        other.step()
        resumed.step()


@each_schedule
def test_state_dict_has_torchs_names(name):
    state, expected = (make(library, name)[1].state_dict() for library in (ocl, torch))
    assert set(state) == set(expected)
    for key in set(state) - {"_schedulers"}:
        is_inexact = isinstance(expected[key], float) or key in ("base_lrs", "_last_lr")
        assert state[key] == (pytest.approx(expected[key]) if is_inexact else expected[key]), key


# --- ReduceLROnPlateau

METRICS = [5, 4, 3, 3, 3, 3.1, 3, 2.9999, 2.5, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, -1, -1, -1.0001] + [
    0.5
] * 31
PLATEAUS = {
    "default": {},
    "impatient": {"patience": 1, "factor": 0.5},
    "max": {"mode": "max", "patience": 2},
    "absolute": {"threshold_mode": "abs", "threshold": 0.2, "patience": 2, "cooldown": 3},
    "max absolute": {"mode": "max", "threshold_mode": "abs", "threshold": 0.5, "patience": 0},
    "floor": {"patience": 0, "min_lr": [0.01, 0.005], "eps": 1e-3},
}


@pytest.mark.parametrize("options", PLATEAUS.values(), ids=PLATEAUS.keys())
def test_reduce_on_plateau(options):
    def play(library):
        made, _ = make(library, "LambdaLR")
        schedule = schedules(library).ReduceLROnPlateau(made, **options)
        values = []
        for metric in METRICS:
            made.step()
            schedule.step(library.tensor(float(metric)))
            state = schedule.state_dict()
            values.append([*schedule.get_last_lr(), state["num_bad_epochs"], state["cooldown_counter"]])
        return values

    assert len(METRICS) == 50
    expect_same(play(ocl), play(torch))


def test_reduce_on_plateau_resumes():
    made, _ = make(ocl, "LambdaLR")
    schedule = ocl.optim.lr_scheduler.ReduceLROnPlateau(made, patience=2)
    assert schedule.state_dict()["best"] == math.inf
    for metric in METRICS[:12]:
        schedule.step(metric)
    other, _ = make(ocl, "LambdaLR")
    resumed = ocl.optim.lr_scheduler.ReduceLROnPlateau(other)
    resumed.load_state_dict(schedule.state_dict())
    other.load_state_dict(made.state_dict())
    for metric in METRICS[12:]:
        schedule.step(metric)
        resumed.step(metric)
        assert resumed.get_last_lr() == schedule.get_last_lr()
    assert resumed.best == schedule.best


# --- use and misuse


def test_a_scheduler_keeps_its_optimizer():
    _, scheduler = make(ocl, "ExponentialLR")
    scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.09, 0.018])
    assert scheduler.base_lrs == [0.1, 0.02]


def test_the_rate_counts_in_the_next_step():
    p = ocl.zeros(1, requires_grad=True)
    optimizer = ocl.optim.SGD([p], lr=1.0)
    scheduler = ocl.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    p.grad = ocl.ones(1)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    assert p.item() == -1.75


@pytest.mark.parametrize(
    "name", ["StepLR", "MultiStepLR", "LinearLR options", "CosineAnnealingLR", "WarmRestarts"]
)
def test_going_to_an_epoch(name):
    def play(library):
        made, schedule = make(library, name)
        values = []
        for epoch in (3, 17, 0, 40):
            schedule.step(epoch)
            values.append(settings(made))
        return values

    expect_same(play(ocl), play(torch))


def test_fractions_of_epochs():
    def play(library):
        made, schedule = make(library, "WarmRestarts growing")
        values = []
        for i in range(50):
            schedule.step(i * 0.4)
            values.append(settings(made))
        return values

    expect_same(play(ocl), play(torch))


def test_a_run_goes_on_from_last_epoch():
    def play(library):
        groups = [{"params": [library.ones(1, requires_grad=True)], "lr": 0.05, "initial_lr": 0.1}]
        made = library.optim.SGD([library.ones(1, requires_grad=True)], lr=0.05)
        made.param_groups[0]["initial_lr"] = groups[0]["initial_lr"]
        schedule = schedules(library).CosineAnnealingLR(made, 10, last_epoch=4)
        values = []
        for _ in range(6):
            values.append(schedule.get_last_lr())
            made.step()
            schedule.step()
        return values

    expect_same(play(ocl), play(torch))


WRONG = {
    "step size": (lambda s, o: s.StepLR(o, step_size=0), "expected step_size > 0, got step_size=0"),
    "factor": (lambda s, o: s.ConstantLR(o, factor=2.0), "factor <= 1, got factor=2"),
    "start": (lambda s, o: s.LinearLR(o, start_factor=0.0), "expected start_factor > 0"),
    "end": (lambda s, o: s.LinearLR(o, end_factor=1.5), "end_factor <= 1"),
    "restart": (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), "expected T_0 > 0"),
    "lambdas": (lambda s, o: s.LambdaLR(o, [abs] * 3), "Expected 2 lr_lambdas, but got 3"),
    "steps": (lambda s, o: s.OneCycleLR(o, 0.1), "total_steps OR"),
    "strategy": (lambda s, o: s.OneCycleLR(o, 0.1, total_steps=5, anneal_strategy="x"), "'cos' or 'linear'"),
    "rates": (lambda s, o: s.OneCycleLR(o, [0.1] * 3, total_steps=5), "max_lr has 3 values"),
    "mode": (lambda s, o: s.ReduceLROnPlateau(o, mode="x"), "mode x is unknown"),
    "growth": (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), "expected factor < 1"),
    "floors": (lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1.0] * 3), "expected 2 min_lrs, got 3"),
    "nothing": (lambda s, o: s.SequentialLR(o, [], []), "at least one scheduler"),
    "milestones": (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]), "one more than"),
    "plateau": (
        lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1), s.ReduceLROnPlateau(o)], [1]),
        "not support .?ReduceLROnPlateau",
    ),
    "resuming": (lambda s, o: s.StepLR(o, 1, last_epoch=3), "initial_lr"),
}


@pytest.mark.parametrize("build, message", WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_refused(build, message):
    groups = [{"params": [ocl.ones(1, requires_grad=True)]} for _ in range(2)]
    with pytest.raises((ValueError, KeyError), match=message):
        build(ocl.optim.lr_scheduler, ocl.optim.SGD(groups))


def test_one_cycle_ends():
    _, schedule = make(ocl, "OneCycleLR")
    for _ in range(50):
        schedule.step()
    with pytest.raises(ValueError, match="Tried to step 51 times"):
        schedule.step()


def test_one_cycle_needs_a_momentum():
    optimizer = ocl.optim.Adagrad([ocl.ones(1, requires_grad=True)])
    with pytest.raises(ValueError, match="momentum or beta1"):
        ocl.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=5)


# --- schedules of schedules: within its span each gives the rates that it gives alone. PyTorch's do not where
# they contain schedules of schedules.

PARTS = {
    "Step": lambda s, o: s.StepLR(o, 2, 0.5),
    "MultiStep": lambda s, o: s.MultiStepLR(o, [1, 4], 0.3),
    "Constant": lambda s, o: s.ConstantLR(o, 0.1, 3),
    "Linear": lambda s, o: s.LinearLR(o, 0.2, 0.9, 4),
    "Exponential": lambda s, o: s.ExponentialLR(o, 0.8),
    "Polynomial": lambda s, o: s.PolynomialLR(o, 40, 2.0),
    "Multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9),
}
ABSOLUTE_PARTS = {  # more than factors of the groups' rates: not directly in a chain
    "Cosine": lambda s, o: s.CosineAnnealingLR(o, 5, 0.001),
    "Lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "Restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
}
SETTING_PARTS = {  # set the groups' first rates, from which those start that are made afterwards
    "Cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.3, 3),
    "OneCycle": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=60),
}
EPOCHS = 30


def drawn_tree(rng, depth, in_chain=False):
    """A part's name, ("sequential", trees, milestones) or ("chained", trees)."""
    kind = rng.choice(["part", "sequential", "chained"]) if depth else "part"
    if kind == "part":
        return str(rng.choice([*PARTS, *([] if in_chain else ABSOLUTE_PARTS)]))
    trees = [drawn_tree(rng, depth - 1, kind == "chained") for _ in range(rng.integers(1, 4))]
    if kind == "chained":
        return "chained", trees
    milestones = sorted(rng.choice(np.arange(1, 12), len(trees) - 1, replace=False).tolist())
    return "sequential", trees, milestones


def optimizer_of_two_groups():
    groups = [{"params": [ocl.ones(1, requires_grad=True)], "lr": rate} for rate in (0.1, 0.02)]
    return ocl.optim.SGD(groups, momentum=0.9)


def made_of(tree, optimizer):
    s = ocl.optim.lr_scheduler
    if isinstance(tree, str):
        return {**PARTS, **ABSOLUTE_PARTS, **SETTING_PARTS}[tree](s, optimizer)
    parts = [made_of(part, optimizer) for part in tree[1]]
    return s.SequentialLR(optimizer, parts, tree[2]) if tree[0] == "sequential" else s.ChainedScheduler(parts)


def played(optimizer, schedule, epochs):
    rates = []
    for _ in range(epochs):
        rates.append([group["lr"] for group in optimizer.param_groups])
        assert schedule.get_last_lr() == rates[-1]
        optimizer.step()
        schedule.step()
    return rates


def rates_of(tree, epochs):
    """The rates that are expected, from those of every part alone."""
    if isinstance(tree, str):
        optimizer = optimizer_of_two_groups()
        return np.array(played(optimizer, made_of(tree, optimizer), epochs))
    parts = [rates_of(part, epochs) for part in tree[1]]
    if tree[0] == "chained":
        base = np.array([0.1, 0.02])
        return base * np.prod([part / base for part in parts], axis=0)
    ends = [*tree[2], epochs]
    return np.concatenate(
        [part[: end - start] for part, start, end in zip(parts, [0, *tree[2]], ends, strict=True)]
    )


def trees():
    rng = np.random.default_rng(46)
    inner = ("sequential", ["Step", "Lambda"], [3])
    by_hand = [
        ("sequential", [("sequential", ["Constant", "Exponential"], [4]), "Step"], [15]),
        ("sequential", ["Linear", ("sequential", ["Cosine", inner], [5])], [2]),
        ("sequential", [("chained", ["Constant", "Exponential"]), inner], [6]),
        ("chained", [("sequential", ["Linear", "Step"], [4]), "Exponential"]),
        ("chained", ["Exponential", ("chained", [("sequential", ["Linear", "Cosine"], [4]), "Constant"])]),
        ("sequential", ["Step", ("sequential", ["Restarts", "OneCycle"], [7]), "Cyclic"], [3, 20]),
    ]
    return by_hand + [drawn_tree(rng, 1 + number % 3) for number in range(40)]


@pytest.mark.parametrize("tree", trees(), ids=str)
def test_schedules_of_schedules(tree):
    expected = rates_of(tree, EPOCHS)
    optimizer = optimizer_of_two_groups()
    expect_same(played(optimizer, made_of(tree, optimizer), EPOCHS), expected.tolist())

    for stop in (0, 1, 4, 6, 11):  # saved, and resumed by another program
        first = optimizer_of_two_groups()
        schedule = made_of(tree, first)
        played(first, schedule, stop)
        states = copy.deepcopy((first.state_dict(), schedule.state_dict()))
        second = optimizer_of_two_groups()
        resumed = made_of(tree, second)
        second.load_state_dict(states[0])
        resumed.load_state_dict(states[1])
        expect_same(played(second, resumed, EPOCHS - stop), expected[stop:].tolist())


def test_one_cycles_after_each_other_keep_their_own_rates():
    s = ocl.optim.lr_scheduler
    makers = [lambda o, top=top: s.OneCycleLR(o, top, total_steps=12) for top in (0.5, 0.1)]
    alone = []
    for make_one in makers:
        optimizer = optimizer_of_two_groups()
        alone += played(optimizer, make_one(optimizer), 10)
    optimizer = optimizer_of_two_groups()
    both = s.SequentialLR(optimizer, [make_one(optimizer) for make_one in makers], [10])
    expect_same(played(optimizer, both, 20), alone)


def test_a_plateau_beside_a_schedule_of_schedules():
    def play(library):
        s = schedules(library)
        optimizer = library.optim.SGD([library.ones(1, requires_grad=True)], lr=1.0)
        parts = [s.LinearLR(optimizer, 0.5, 1.0, 3), s.ExponentialLR(optimizer, 0.9)]
        warmed = s.SequentialLR(optimizer, parts, [3])
        plateau = s.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
        rates = []
        for _ in range(15):
            optimizer.step()
            warmed.step()
            plateau.step(1.0)
            rates.append(optimizer.param_groups[0]["lr"])
        return [rates]

    expect_same(play(ocl), play(torch))


def test_an_error_in_a_lambda_arrives():
    optimizer = ocl.optim.SGD([ocl.ones(1, requires_grad=True)])
    with pytest.raises(ZeroDivisionError):
        ocl.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / epoch)


# --- states that do not fit


def composed(optimizer):
    s = ocl.optim.lr_scheduler
    parts = [s.StepLR(optimizer, 2), s.MultiStepLR(optimizer, [1, 3]), s.CosineAnnealingLR(optimizer, 4)]
    return s.SequentialLR(optimizer, parts, [2, 5])


KINDS_TO_LOAD = {
    "StepLR": lambda o: ocl.optim.lr_scheduler.StepLR(o, 2),
    "MultiStepLR": lambda o: ocl.optim.lr_scheduler.MultiStepLR(o, [1, 3]),
    "ConstantLR": lambda o: ocl.optim.lr_scheduler.ConstantLR(o),
    "LinearLR": lambda o: ocl.optim.lr_scheduler.LinearLR(o),
    "CosineAnnealingLR": lambda o: ocl.optim.lr_scheduler.CosineAnnealingLR(o, 4),
    "Restarts": lambda o: ocl.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 4),
    "OneCycleLR": lambda o: ocl.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=9),
    "Plateau": lambda o: ocl.optim.lr_scheduler.ReduceLROnPlateau(o),
    "SequentialLR": composed,
}
MISFITS = [
    ("StepLR", {"step_size": 0}),
    ("StepLR", {"step_size": 2.5}),
    ("StepLR", {"gamma": "text"}),
    ("StepLR", {"last_epoch": float("nan")}),
    ("StepLR", {"last_epoch": 2**62}),
    ("StepLR", {"base_lrs": []}),
    ("StepLR", {"base_lrs": [0.1, 0.2, 0.3]}),
    ("StepLR", {"_last_lr": [0.1]}),
    ("StepLR", {"base_lrs": {"a": 1}}),
    ("MultiStepLR", {"milestones": 5}),
    ("MultiStepLR", {"milestones": [2**64 - 1]}),
    ("ConstantLR", {"factor": 2}),
    ("LinearLR", {"start_factor": float("nan")}),
    ("CosineAnnealingLR", {"T_max": 0}),
    ("Restarts", {"T_mult": 0}),
    ("OneCycleLR", {"_anneal_func_type": "x"}),
    ("OneCycleLR", {"total_steps": 0}),
    ("Plateau", {"mode": "x"}),
    ("Plateau", {"min_lrs": []}),
    ("SequentialLR", {"_milestones": [1]}),
    ("SequentialLR", {"_schedulers": []}),
    ("SequentialLR", {"_schedulers": 5}),
    ("SequentialLR", {"_schedulers": [{}, {}, 5]}),
    ("SequentialLR", {"step": [1]}),
    ("SequentialLR", {"optimizer": None}),
    ("SequentialLR", {"_schedulers": [{}, {}, {"get_lr": 1}]}),
    ("Plateau", {"_reduce_lr": 0.5}),
    ("SequentialLR", {"_schedulers": [{"last_epoch": 7}, {"last_epoch": 8}, {"T_max": 0}]}),
]


@pytest.mark.parametrize("name, change", MISFITS, ids=str)
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(name, change):
    def make():
        groups = [{"params": [ocl.ones(1, requires_grad=True)]} for _ in range(2)]
        return KINDS_TO_LOAD[name](ocl.optim.SGD(groups, momentum=0.9))

    def advance(schedule):
        schedule.step(*[1.0] * (name == "Plateau"))

    source, schedule = make(), make()
    advance(source)
    before = schedule.state_dict()
    with pytest.raises((ValueError, TypeError)):
        schedule.load_state_dict({**source.state_dict(), **change})
    assert schedule.state_dict() == before
    schedule.load_state_dict(source.state_dict())
    assert schedule.state_dict() == source.state_dict()
    advance(schedule)


@pytest.mark.parametrize("state", [None, 5, [], "last_epoch"], ids=str)
@pytest.mark.parametrize("name", KINDS_TO_LOAD)
def test_a_state_that_is_no_dict_is_refused(name, state):
    schedule = KINDS_TO_LOAD[name](ocl.optim.SGD([ocl.ones(1, requires_grad=True)], momentum=0.9))
    before = schedule.state_dict()
    with pytest.raises(TypeError, match=f"load_state_dict: expected a dict, got {type(state).__name__}"):
        schedule.load_state_dict(state)
    assert schedule.state_dict() == before


def test_a_state_that_contains_itself():
    schedule = composed(ocl.optim.SGD([ocl.ones(1, requires_grad=True)]))
    state = schedule.state_dict()
    state["_schedulers"] = [state] * 3
    schedule.load_state_dict(state)  # no deeper than the schedule is


@pytest.mark.parametrize("name", ["CosineAnnealingLR", "LinearLR", "StepLR", "ExponentialLR"])
def test_groups_added_after_the_schedule(name):
    def play(library):
        optimizer = library.optim.SGD([library.ones(1, requires_grad=True)], lr=1.0)
        schedule = SCHEDULES[name](schedules(library), optimizer)
        for _ in range(3):
            optimizer.add_param_group({"params": [library.ones(1, requires_grad=True)], "lr": 0.5})
        rates = []
        for _ in range(6):
            schedule.step()
            rates.append(schedule.get_last_lr())
        return rates

    expect_same(play(ocl), play(torch))


def test_groups_that_have_no_base_rate():
    optimizer = ocl.optim.SGD([ocl.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    s = ocl.optim.lr_scheduler
    restarts, cycle = s.CosineAnnealingWarmRestarts(optimizer, 4), s.OneCycleLR(optimizer, 0.1, total_steps=9)
    optimizer.add_param_group({"params": [ocl.ones(1, requires_grad=True)], "lr": 0.5})
    restarts.step()
    assert optimizer.param_groups[1]["lr"] == 0.5
    with pytest.raises(KeyError, match="OneCycleLR: parameter group 1 has no 'initial_lr'"):
        cycle.step()


def test_numbers_of_other_libraries():
    schedule = ocl.optim.lr_scheduler.StepLR(ocl.optim.SGD([ocl.ones(1, requires_grad=True)]), 2)
    schedule.load_state_dict(
        {"last_epoch": torch.tensor(5), "gamma": ocl.tensor(0.25), "step_size": np.int64(3)}
    )
    assert (schedule.last_epoch, schedule.gamma, schedule.step_size) == (5, 0.25, 3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("build", "change"),
    [
        (lambda s, o: s.StepLR(o, 2), {"base_lrs": ["fast"]}),
        (lambda s, o: s.StepLR(o, 2), {"_last_lr": [None]}),
        (lambda s, o: s.StepLR(o, 2), {"last_epoch": "1"}),
        (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.StepLR(o, 3)], [4]), {"_milestones": ["4"]}),
        (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.StepLR(o, 3)], [4]), {"last_epoch": [1]}),
        (lambda s, o: s.ChainedScheduler([s.StepLR(o, 2)]), {"_last_lr": ["fast"]}),
    ],
)
def test_states_of_other_kinds_are_refused_and_change_nothing(build, change):
    optimizer = ocl.optim.SGD([ocl.nn.Parameter(ocl.ones(1))], lr=0.5)
    schedule = build(ocl.optim.lr_scheduler, optimizer)
    before = schedule.state_dict()
    with pytest.raises((TypeError, ValueError), match=f"'{next(iter(change))}' cannot be"):
        schedule.load_state_dict({**before, **change})
    assert schedule.state_dict() == before
    optimizer.step()
    schedule.step()


def test_a_rate_that_has_come_to_0_is_resumed():
    optimizer = ocl.optim.Adam([ocl.zeros(1, requires_grad=True)], lr=0.1)
    schedule = schedules(ocl).LinearLR(optimizer, start_factor=0.1, end_factor=0.0, total_iters=4)
    for _ in range(6):
        schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0
    ocl.optim.Adam([ocl.zeros(1, requires_grad=True)], lr=0.1).load_state_dict(optimizer.state_dict())
