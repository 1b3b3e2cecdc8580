"""Optimizers and schedules of one's own, as PyTorch programs write them; hooks."""

import gc
import importlib
import weakref

import numpy as np
import pytest
import torch

import ocl


def optimizers(library):
    class Momentum(library.optim.Optimizer):
        """Momentum over `decay`, with the steps counted for each parameter."""

        def __init__(self, params, lr=0.1, decay=0.9):
            super().__init__(params, {"lr": lr, "decay": decay})

        @library.no_grad()
        def step(self, closure=None):
            loss = None
            if closure is not None:
                with library.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if not state:
                        state["step"], state["average"] = 0, library.zeros_like(p)
                    state["step"] += 1
                    state["average"].mul_(group["decay"]).add_(p.grad)
                    p.sub_(state["average"] * group["lr"])
            return loss

    return Momentum


def play(library):
    first = library.tensor([1.0, 2.0], requires_grad=True)
    second = library.tensor([3.0], requires_grad=True)
    Momentum = optimizers(library)
    optimizer = Momentum([{"params": [first], "name": "first"}], lr=0.5)
    optimizer.add_param_group({"params": second, "decay": 0.5})
    schedule = library.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    def closure():
        optimizer.zero_grad()
        loss = (first * first).sum() + (second * second * first[:1]).sum()
        loss.backward()
        return loss

    losses = []
    for _ in range(5):
        losses.append(float(optimizer.step(closure)))
        schedule.step()
    other = Momentum([{"params": [library.zeros(2, requires_grad=True)]}, {"params": library.zeros(1)}])
    other.load_state_dict(optimizer.state_dict())
    kept = other.state[other.param_groups[0]["params"][0]]
    return {
        "losses": losses,
        "values": [*first.tolist(), *second.tolist()],
        "steps": [optimizer.state[p]["step"] for p in (first, second)],
        "average": kept["average"].tolist(),
        "names": [group.get("name") for group in other.param_groups],
        "repr": repr(optimizer),
        "keys": [sorted(group) for group in optimizer.param_groups],
    }


def test_an_optimizer_of_ones_own():
    ours, theirs = play(ocl), play(torch)
    for key, value in theirs.items():
        if isinstance(value[0], float):
            np.testing.assert_allclose(ours[key], value, rtol=1e-5, err_msg=key)
        elif key != "repr":
            assert ours[key] == value, key
    assert ours["repr"].split("\n")[:4] == theirs["repr"].split("\n")[:4]


def test_required_options():
    p = ocl.ones(1, requires_grad=True)
    required = ocl.optim.optimizer.required

    class Bare(ocl.optim.Optimizer):
        def __init__(self, params, lr=required):
            super().__init__(params, {"lr": lr})

    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Bare([p])
    optimizer = Bare([{"params": p, "lr": 1.0}])
    with pytest.raises(NotImplementedError):
        optimizer.step()


def test_named_parameters_are_kept():
    for library in (ocl, torch):
        net = library.nn.Linear(2, 3)
        optimizer = library.optim.SGD(net.named_parameters())
        assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
        assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
        with pytest.raises(ValueError, match="Some param names are missing"):
            library.optim.SGD([("w", net.weight), net.bias])


def hooks_heard(library):
    heard = []
    p = library.ones(2, requires_grad=True)
    p.grad = library.ones(2)
    optimizer = library.optim.SGD([p], lr=0.5)

    def note(name, result=None):
        def hook(*args):
            heard.append((name, len(args)))
            return result

        return hook

    optimizer.register_step_pre_hook(note("pre"))
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((args[0], lambda: 7), {}))
    post = optimizer.register_step_post_hook(note("post"))
    optimizer.register_state_dict_pre_hook(note("state pre"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_state_dict_post_hook(note("state post"), prepend=True)
    optimizer.register_load_state_dict_pre_hook(
        lambda o, state: {**state, "param_groups": [{**state["param_groups"][0], "lr": 0.125}]}
    )
    optimizer.register_load_state_dict_post_hook(note("load post"))
    module = importlib.import_module(f"{library.__name__}.optim.optimizer")
    every = module.register_optimizer_step_post_hook(note("every"))
    heard.append(optimizer.step())
    every.remove()
    post.remove()
    optimizer.step()
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    heard.append((sorted(state), optimizer.param_groups[0]["lr"]))
    optimizer.register_step_pre_hook(note("bad", result=3))
    with pytest.raises(RuntimeError):
        optimizer.step()
    return heard


def test_hooks():
    assert hooks_heard(ocl) == hooks_heard(torch)


def schedules(library):
    class Triangle(library.optim.lr_scheduler.LRScheduler):
        def __init__(self, optimizer, period, last_epoch=-1):
            self.period = period
            super().__init__(optimizer, last_epoch)

        def get_lr(self):
            place = self.last_epoch % self.period
            return [base * (1 + min(place, self.period - place)) for base in self.base_lrs]

    return Triangle


def test_a_schedule_of_ones_own():
    def rates(library):
        optimizer = library.optim.SGD([library.ones(1, requires_grad=True)], lr=0.5)
        schedule = schedules(library)(optimizer, 6)
        values = []
        for _ in range(8):
            values.append(schedule.get_last_lr())
            optimizer.step()
            schedule.step()
        state = schedule.state_dict()
        resumed = schedules(library)(optimizer, 3)
        resumed.load_state_dict(state)
        assert resumed.period == 6 and resumed.optimizer is optimizer
        return values, state

    assert rates(ocl) == rates(torch)


def test_a_schedule_needs_an_optimizer():
    for build in (
        lambda s: s.StepLR(3, 2),
        lambda s: s.OneCycleLR(3, 0.1, total_steps=4),
        lambda s: s.ReduceLROnPlateau(3),
        lambda s: s.LRScheduler(3),
    ):
        with pytest.raises(TypeError, match="int is not an Optimizer"):
            build(ocl.optim.lr_scheduler)


def test_a_function_that_holds_its_model_is_collected():
    class Training:
        def __init__(self):
            net = ocl.nn.Linear(2, 2)
            optimizer = ocl.optim.SGD(net.parameters(), lr=0.1)
            self.schedule = ocl.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0 if self else 0.0)

    alive = weakref.ref(Training())
    gc.collect()
    assert alive() is None


def test_a_callable_objects_attributes_are_saved():
    class Factor:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, epoch):
            return self.factor**epoch

    optimizer = ocl.optim.SGD([ocl.ones(1, requires_grad=True)], lr=1.0)
    schedule = ocl.optim.lr_scheduler.LambdaLR(optimizer, Factor(0.5))
    state = schedule.state_dict()
    assert state["lr_lambdas"] == [{"factor": 0.5}]
    other = ocl.optim.lr_scheduler.LambdaLR(optimizer, Factor(0.25))
    other.load_state_dict(state)
    assert other.lr_lambdas[0].factor == 0.5


@pytest.mark.parametrize("library", [ocl, torch], ids=["ocl", "torch"])
def test_an_optimizer_that_wraps_another_need_not_call_the_constructor(library):
    class Wrapper(library.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner

        @property
        def param_groups(self):
            return self.inner.param_groups

        def step(self, closure=None):
            self.inner.step(closure)

    weight = library.ones(2, requires_grad=True)
    wrapper = Wrapper(library.optim.SGD([weight], lr=0.5))
    weight.sum().backward()
    wrapper.step()
    assert weight.tolist() == [0.5, 0.5]
