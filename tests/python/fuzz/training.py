"""Whole small training programs beside PyTorch: losses, gradients, parameters and rates after every step.

A program is a list of features, each of which may be left out: weight sharing, frozen parameters, several
optimizers and schedules, clipping, accumulation, averages, copies, resuming, and the like. Its net, loss and
dtype come from the seed. It runs in ours, and in PyTorch's float32 and float64.
"""

import collections
import copy
import io
import warnings

import numpy as np
import torch
from support import has_float64

import ocl
from fuzz import training_parts as parts
from fuzz.found import WRONG, Found
from fuzz.operators import attempt, judge_errors
from fuzz.programs import kept_steps
from fuzz.twins import disagreement, recorded, set_weights

STEPS = 5
NET_FEATURES, FEATURES = {}, {}


def net_feature(function):
    """function(lib, net, numbers) changes a new net."""
    NET_FEATURES[function.__name__] = function
    return function


def feature(function):
    """function(training, numbers) changes how it trains, mostly by `training.at(moment, callback)`."""
    FEATURES[function.__name__] = function
    return function


class Training:
    """A program in one library and dtype."""

    def __init__(self, lib, dtype, base, program):
        self.lib, self.dtype, self.base = lib, getattr(lib, dtype), base
        self.program = [(name, n) for name, n in program if name]
        self.records, self.moments = [], collections.defaultdict(list)
        self.optimizer_numbers, self.schedule_seeds, self.more = [], [], []
        self.micro_batches, self.scale, self.set_to_none = 1, 1.0, True
        for name, n in self.program:
            if name in FEATURES:
                FEATURES[name](self, n)
        self.net = self.new_net()
        self.optimizers, self.schedules = self.new_optimizers(self.net), []
        self.schedules = self.new_schedules(self.optimizers)

    def at(self, moment, callback):
        """callback(step), before or after a step, or after its backward pass."""
        self.moments[moment].append(callback)

    def happens(self, moment, step):
        for callback in self.moments[moment]:
            callback(step)

    def new_net(self):
        net = parts.make_net(self.lib, self.base["net"], self.base["activation"])
        net = set_weights(self.lib, net, self.base["seed"]).to(self.dtype)
        for name, n in self.program:
            if name in NET_FEATURES:
                NET_FEATURES[name](self.lib, net, n)
        return net

    def new_optimizers(self, net):
        """One for all parameters, or several that share them out."""
        numbers, parameters = self.optimizer_numbers or [(self.base["optimizer"], 1)], list(net.parameters())
        return [
            parts.make_optimizer(self.lib, number, parameters[i :: len(numbers)], groups)
            for i, (number, groups) in enumerate(numbers)
        ]

    def new_schedules(self, optimizers):
        pairs = zip(optimizers, self.schedule_seeds, strict=False)
        return [parts.make_schedule(self.lib, optimizer, seed) for optimizer, seed in pairs]

    def input(self, step, micro=0):
        return parts.input_of(self.lib, self.base["net"], self.dtype, 100 * step + micro)

    def forward(self, step, micro):
        prediction, features = self.net(self.input(step, micro))
        loss = parts.loss_of(self.lib, self.base["loss"], prediction, 100 * step + micro)
        for term in self.more:
            loss = loss + term(prediction, features)
        return loss / self.micro_batches

    def record(self, label, value):
        self.records.append(recorded(label, value))

    def one_step(self, step):
        self.happens("before", step)
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=self.set_to_none)
        for micro in range(self.micro_batches):
            loss = self.forward(step, micro)
            self.record(f"loss {step}", loss)
            (loss * self.scale).backward()
        self.happens("backward", step)
        for name, parameter in self.net.named_parameters():
            self.record(f"gradient {step} of {name}", parameter.grad)
        for optimizer in self.optimizers:
            optimizer.step()
        for schedule in self.schedules:
            is_plateau = type(schedule).__name__ == "ReduceLROnPlateau"
            schedule.step(*([loss.item()] if is_plateau else []))
        self.happens("after", step)
        for name, parameter in self.net.state_dict().items():
            self.record(f"state {step} of {name}", parameter)
        rates = [group["lr"] for optimizer in self.optimizers for group in optimizer.param_groups]
        self.records.append((f"rate {step}", np.array(rates, np.float64)))

    def run(self):
        for step in range(STEPS):
            self.one_step(step)
        self.happens("end", STEPS)
        return self.records


# --- features of the net


@net_feature
def shared(lib, net, n):
    """Two layers have one weight."""
    if isinstance(net.first, lib.nn.Linear):
        net.middle[1].weight = net.first.weight
    elif isinstance(net.first, lib.nn.Embedding):
        net.last.weight = net.first.weight


@net_feature
def frozen(lib, net, n):
    parameters = list(net.parameters())
    parameters[n[0] % len(parameters)].requires_grad_(False)


@net_feature
def cut(lib, net, n):
    """A parameter that is a part of a larger tensor."""
    old = net.last.weight.detach()
    rows, columns = old.shape
    large = lib.zeros(rows + 2, 2 * columns, dtype=old.dtype)
    part = (large[:rows, :columns], large[1 : rows + 1, ::2])[n[0] % 2]
    part.copy_(old)
    net.last.weight = lib.nn.Parameter(part)


@net_feature
def hooked_parameter(lib, net, n):
    hooks = (lambda g: g * 0.5, lambda g: None, lambda g: g.clamp(-0.1, 0.1))
    parameters = [p for p in net.parameters() if p.requires_grad]
    if parameters:
        parameters[n[0] % len(parameters)].register_hook(hooks[n[1] % 3])


@net_feature
def hooked_module(lib, net, n):
    target = (net.first, net.middle, net.last)[n[0] % 3]
    if n[1] % 2:
        target.register_forward_hook(lambda module, inputs, output: output * 0.5)
    else:
        target.register_full_backward_hook(lambda module, given, taken: None)


@net_feature
def evaluating(lib, net, n):
    """Norms keep their statistics while the rest trains."""
    net.middle.eval()


# --- features of the training


@feature
def optimizer(training, n):
    training.optimizer_numbers.append((n[0], n[1] % 3 + 1))


@feature
def schedule(training, n):
    training.schedule_seeds.append(n[0])


@feature
def accumulated(training, n):
    training.micro_batches = n[0] % 3 + 1


@feature
def zeros_kept(training, n):
    training.set_to_none = False


@feature
def clipped(training, n):
    utils, most = training.lib.nn.utils, (0.05, 1.0, 10.0)[n[1] % 3]

    def clip(step):
        parameters = list(training.net.parameters())
        if n[0] % 3 == 0:
            utils.clip_grad_value_(parameters, most)
        else:
            kind = (2.0, float("inf"), 1)[n[2] % 3]
            training.record(f"norm {step}", utils.clip_grad_norm_(parameters, most, norm_type=kind))

    training.at("backward", clip)


@feature
def scaled(training, n):
    """A large loss, whose gradients are scaled back before the step."""
    training.scale = 2.0 ** (n[0] % 12)

    def unscale(step):
        with training.lib.no_grad():
            for parameter in training.net.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(1 / training.scale)

    training.at("backward", unscale)


@feature
def detached(training, n):
    training.more.append(lambda prediction, features: 0.1 * (features.detach() * features.sin()).mean())


@feature
def some_of_the_results(training, n):
    """One result of an operator that has several."""
    forms = (
        lambda p: p.max(1)[0].sum(),
        lambda p: p.topk(2, 1).values[:, 1].mean(),
        lambda p: p.chunk(2, 1)[n[1] % 2].square().mean(),
        lambda p: p.sort(1)[0][:, 0].mean(),
        lambda p: p.unbind(0)[1].mean(),
        lambda p: p.max(),
    )
    training.more.append(lambda prediction, features: 0.1 * forms[n[0] % len(forms)](prediction))


@feature
def regularised(training, n):
    power = (2, 2.0, 4, 3)[n[0] % 4]
    training.more.append(lambda *_: 0.01 * sum((p**power).sum() for p in training.net.parameters()))


@feature
def averaged(training, n):
    lib, swa_utils = training.lib, training.lib.optim.swa_utils
    models = []
    forms = (
        {},
        {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)},
        {"avg_fn": lambda average, new, count: 0.9 * average + 0.1 * new},
        {"use_buffers": True},
    )

    def update(step):
        if not models:
            models.append(swa_utils.AveragedModel(training.net, **forms[n[0] % len(forms)]))
        models[0].update_parameters(training.net)

    def end(step):
        for name, tensor in models[0].state_dict().items():
            training.record(f"average {name}", tensor)
        with lib.no_grad():
            training.record("average prediction", models[0](training.input(0))[0])

    training.at("after", update)
    training.at("end", end)


def evaluation(training, n, step):
    """Predictions of a generator under no_grad and the like, in one of the ways that people write it."""
    lib = training.lib
    modes = (lib.no_grad, lib.inference_mode, lib.enable_grad, lambda: lib.set_grad_enabled(False))
    mode = modes[n[0] % len(modes)]

    def predictions(count=2):
        for i in range(count):
            received = yield training.net(training.input(step, 50 + i))[0] + i
            if received is not None:
                yield training.net(training.input(step, received))[0]

    form = n[1] % 5
    if form == 0:
        return list(mode()(predictions)())
    if form == 1:
        with lib.no_grad():
            return list(mode()(predictions)(1))
    if form == 2:
        with mode():
            return list(predictions(1))
    if form == 3:
        return mode()(lambda: list(predictions(1)))()
    generator = mode()(predictions)()
    return [next(generator), generator.send(60), training.net(training.input(step, 61))[0], next(generator)]


@feature
def evaluated(training, n):
    def evaluate(step):
        for i, result in enumerate(evaluation(training, n, step)):
            training.record(f"evaluation {step} {i}", result)
            training.record(f"flag {step} {i}", [result.requires_grad, training.lib.is_grad_enabled()])

    training.at("after", evaluate)


@feature
def copied(training, n):
    """At some step the training goes on with copies of the net and of the states."""

    def change(step):
        if step != n[0] % STEPS:
            return
        training.net = copy.deepcopy(training.net)
        states = [o.state_dict() for o in training.optimizers]
        training.optimizers = training.new_optimizers(training.net)
        for one, state in zip(training.optimizers, states, strict=True):
            one.load_state_dict(copy.deepcopy(state))
        resume_schedules(training, [s.state_dict() for s in training.schedules])

    training.at("before", change)


def resume_schedules(training, states):
    rates = [[group["lr"] for group in o.param_groups] for o in training.optimizers]
    training.schedules = training.new_schedules(training.optimizers)
    for one, state in zip(training.schedules, states, strict=True):
        one.load_state_dict(state)
    for optimizer, saved in zip(training.optimizers, rates, strict=True):
        for group, rate in zip(optimizer.param_groups, saved, strict=True):
            group["lr"] = rate


@feature
def resumed(training, n):
    """At some step everything is saved, and loaded into new objects."""

    def change(step):
        if step != n[0] % STEPS:
            return
        file, lib = io.BytesIO(), training.lib
        state = {
            "net": training.net.state_dict(),
            "optimizers": [o.state_dict() for o in training.optimizers],
        }
        lib.save(state, file)
        file.seek(0)
        state = lib.load(file)
        training.record(f"keys {step}", list(state["net"]))
        training.net = training.new_net()
        training.net.load_state_dict(state["net"])
        training.optimizers = training.new_optimizers(training.net)
        for one, saved in zip(training.optimizers, state["optimizers"], strict=True):
            one.load_state_dict(saved)
        resume_schedules(training, [s.state_dict() for s in training.schedules])

    training.at("before", change)


@feature
def frozen_later(training, n):
    """A parameter is frozen at some step, and set free at another."""

    def change(step):
        parameters = list(training.net.parameters())
        chosen = parameters[n[0] % len(parameters)]
        if step in (n[1] % STEPS, n[2] % STEPS):
            chosen.requires_grad_(not chosen.requires_grad)

    training.at("before", change)


@feature
def group_later(training, n):
    """A parameter that comes at some step, in a group of its own; schedules would not know it."""
    scale = []

    def change(step):
        if step == n[0] % STEPS and not scale and not training.schedules:
            scale.append(training.lib.nn.Parameter(training.lib.ones(parts.CLASSES, dtype=training.dtype)))
            training.optimizers[0].add_param_group({"params": scale, "lr": 0.01})

    training.at("before", change)
    training.more.append(lambda p, f: (p * scale[0]).square().mean() if scale else 0.0)


# --- programs

WEIGHTS = dict.fromkeys([*NET_FEATURES, *FEATURES], 1.0) | {
    "optimizer": 3.0,
    "schedule": 2.0,
    "evaluated": 1.5,
}


def base_of(seed):
    rng = np.random.default_rng([seed, 8])
    return {
        "net": str(rng.choice(tuple(parts.NETS))),
        "activation": str(rng.choice(parts.ACTIVATIONS)),
        "loss": str(rng.choice(tuple(parts.LOSSES))),
        "optimizer": int(rng.integers(1000)),
        "dtype": str(rng.choice(["float32", "float64"])),
        "seed": int(rng.integers(1000)),
    }


def program_of(seed):
    rng = np.random.default_rng([seed, 9])
    weights = np.array(list(WEIGHTS.values()))
    chosen = rng.choice(list(WEIGHTS), int(rng.integers(1, 9)), p=weights / weights.sum())
    return [(str(name), [int(v) for v in rng.integers(0, 1000, 3)]) for name in chosen]


def run_one(name, seed, limit, announce):
    """`name`: the numbers of the features that are kept, with commas; all where empty."""
    base, program = base_of(seed), kept_steps(program_of(seed), name)
    if base["dtype"] == "float64" and not has_float64():
        base["dtype"] = "float32"
    names = parts.OPTIMIZER_NAMES
    numbers = [n[0] for step, n in program if step == "optimizer"] or [base["optimizer"]]
    text = f"{base}, {', '.join(names[number % len(names)] for number in numbers)}: " + "; ".join(
        f"{i} {step}{n}" for i, (step, n) in enumerate(program) if step
    )
    records = {}

    def train(key, lib, dtype):
        records[key] = Training(lib, dtype, base, program).run()

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        announce(torch, text)
        their_error = attempt(lambda: train("single", torch, "float32"))
        if their_error is None:
            train("truth", torch, "float64")
        announce(ocl, text)
        our_error = attempt(lambda: train("ours", ocl, base["dtype"]))
        found = judge_errors(our_error, their_error)
        if found is None and our_error is None:
            detail = disagreement(records["ours"], records["single"], records["truth"], base["dtype"])
            found = detail and (WRONG, detail)
    return Found(found[0], "training", text, found[1]) if found else None
