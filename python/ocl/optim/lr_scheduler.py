"""Learning-rate schedules, as torch.optim.lr_scheduler. Their formulas are the rows of
nn/optim/schedules.def."""

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter

from ocl import _C
from ocl.optim.constructors import constructor
from ocl.optim.schedule_values import (
    checked_dict,
    fitting,
    group_values,
    is_tensor,
    own_value,
    per_group,
    require_optimizer,
    set_group_value,
    set_rates_of,
)

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_optim = _C._optim
_EPOCH_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use "
    "`scheduler.step()` to step the scheduler."
)


class LRScheduler:
    """Base of the learning-rate schedules: call `step()` once an epoch. One of your own defines `get_lr`."""

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        require_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if is_tensor(rate) else rate)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when "
                    f"resuming scheduler with "
                    "last_epoch >= 0: load the optimizer's state first"
                )
        self.base_lrs = group_values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        """The first step, which the constructor ends with."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _start_rates(self):
        """The rates that the schedule starts from."""
        return self.base_lrs

    def _start_anew(self):
        """Goes to epoch 0, from the rates that the groups have now, as a schedule that is made."""
        self.last_epoch = -1
        self._initial_step()

    def state_dict(self):
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over a state dict. The rates themselves stand in the optimizer's."""
        for key in checked_dict(state_dict):
            own_value(self, key)
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rate of each group as last set by this schedule."""
        return self._last_lr

    def get_lr(self):
        """The rate of each group for `last_epoch`."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Moves to the next epoch, or to `epoch`, and sets the rates."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in "
                "the opposite order: "
                "`optimizer.step()` before `lr_scheduler.step()`, or the first value of the "
                "schedule is skipped.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_EPOCH_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed_form = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        self._set_rates(closed_form or self.get_lr)

    def _set_rates(self, rates):
        self._get_lr_called_within_step = True
        try:
            values = rates()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_group_value(group, "lr", value)
        self._last_lr = group_values(self.optimizer, "lr")


class _RuleSchedule(LRScheduler):
    """A schedule whose options and formula stand in the table; the formula reads this object's attributes."""

    def __init_subclass__(cls, rule=False, last=(("last_epoch", -1),), **options):
        super().__init_subclass__(**options)
        if rule:
            cls._rule = cls.__name__
            cls.__doc__ = cls.__doc__ or _optim.schedule_documentation(cls._rule)
            cls.__init__ = constructor(
                cls, ("optimizer",), _optim.schedule_options(cls._rule), cls._begin, dict(last)
            )

    def _begin(self, given):
        optimizer, last_epoch = given.pop("optimizer"), given.pop("last_epoch")
        require_optimizer(optimizer)
        self.last_epoch = last_epoch
        self._take_options(optimizer, given)
        before = [dict(group) for group in optimizer.param_groups]
        _optim.begin_schedule(self._rule, self, given, optimizer.param_groups, last_epoch == -1)
        self._group_settings = [
            {key: value for key, value in group.items() if key != "lr" and old.get(key, before) is not value}
            for group, old in zip(optimizer.param_groups, before, strict=True)
        ]
        self._after_options()
        LRScheduler.__init__(self, optimizer, last_epoch)

    def _take_options(self, optimizer, given):
        """Keeps the options that are no numbers."""

    def _after_options(self):
        """Gives attributes the form that PyTorch's have."""

    def _start_anew(self):
        # Another schedule of the same optimizer may have put its own there since.
        for group, settings in zip(self.optimizer.param_groups, self._group_settings, strict=False):
            group.update(settings)
        super()._start_anew()

    def state_dict(self):
        """All attributes but the optimizer and what its groups have."""
        return {key: value for key, value in super().state_dict().items() if key != "_group_settings"}

    def get_lr(self):
        """The rate of each group for `last_epoch`."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=2,
            )
        return _optim.rates(self._rule, self, self.optimizer.param_groups, False)

    def load_state_dict(self, state_dict):
        """Takes over a state dict, ours or PyTorch's; raises, and changes nothing, if it does not fit."""
        self.__dict__.update(self._checked(state_dict))

    def _checked(self, state_dict):
        state = {key: self._fitting(key, value) for key, value in checked_dict(state_dict).items()}
        for key in ("base_lrs", "_last_lr"):
            own = self.__dict__.get(key)
            if own is not None and key in state and len(state[key]) != len(own):
                raise ValueError(f"load_state_dict: expected {len(own)} {key}, got {len(state[key])}")
        self._check(types.SimpleNamespace(**{**self.__dict__, **state}))
        return state

    def _check(self, fields):
        _optim.check_schedule(self._rule, fields)

    def _fitting(self, key, value):
        return fitting(self, key, value)


def _with_closed_form(cls):
    """The class with the form of its rates that needs no history, which `step(epoch)` takes."""

    def _get_closed_form_lr(self):
        return _optim.rates(self._rule, self, self.optimizer.param_groups, True)

    cls._get_closed_form_lr = _get_closed_form_lr
    return cls


def _own_state(function):
    """The part of a function that a state dict keeps: the attributes of a callable object."""
    return None if function is None or isinstance(function, types.FunctionType) else function.__dict__.copy()


class _FunctionSchedule(_RuleSchedule):
    def _take_options(self, optimizer, given):
        functions, count = given["lr_lambda"], len(optimizer.param_groups)
        if not isinstance(functions, (list, tuple)):
            functions = [functions] * count
        if len(functions) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(functions)}")
        for function in functions:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        self.lr_lambdas = list(functions)

    def state_dict(self):
        """All attributes but the optimizer; of the functions, the attributes of those that are objects."""
        return {**super().state_dict(), "lr_lambdas": [_own_state(function) for function in self.lr_lambdas]}

    def _checked(self, state_dict):
        return super()._checked({key: value for key, value in state_dict.items() if key != "lr_lambdas"})

    def load_state_dict(self, state_dict):
        super().load_state_dict(state_dict)
        for function, own in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if own is not None:
                function.__dict__.update(own)


class LambdaLR(_FunctionSchedule, rule=True): ...


class MultiplicativeLR(_FunctionSchedule, rule=True): ...


@_with_closed_form
class StepLR(_RuleSchedule, rule=True): ...


@_with_closed_form
class MultiStepLR(_RuleSchedule, rule=True):
    def _after_options(self):
        self.milestones = Counter(int(epoch) for epoch in self.milestones)

    def _fitting(self, key, value):
        if key != "milestones":
            return super()._fitting(key, value)
        if not isinstance(value, (Counter, dict, list, tuple)):
            raise TypeError(f"load_state_dict: 'milestones' cannot be {value!r}")
        counts = Counter({int(epoch): count for epoch, count in Counter(value).items()})
        fits = all(isinstance(count, int) and 0 <= count <= 2**20 for count in counts.values())
        if not fits or any(abs(epoch) > 2**52 for epoch in counts):
            raise ValueError(f"load_state_dict: 'milestones' cannot be {value!r}")
        return counts


@_with_closed_form
class ConstantLR(_RuleSchedule, rule=True): ...


@_with_closed_form
class LinearLR(_RuleSchedule, rule=True): ...


@_with_closed_form
class ExponentialLR(_RuleSchedule, rule=True): ...


@_with_closed_form
class PolynomialLR(_RuleSchedule, rule=True): ...


@_with_closed_form
class CosineAnnealingLR(_RuleSchedule, rule=True): ...


class CosineAnnealingWarmRestarts(_RuleSchedule, rule=True):
    def _begin(self, given):
        for name in ("T_0", "T_mult"):
            if not isinstance(given[name], int):
                raise ValueError(f"Expected integer {name}, but got {given[name]}")
        super()._begin(given)

    def step(self, epoch=None):
        """Moves to the next epoch, or to `epoch`, which may be a fraction, and sets the rates."""
        _optim.advance(self._rule, self, epoch)
        self._set_rates(self.get_lr)


class CyclicLR(_RuleSchedule, rule=True):
    def _take_options(self, optimizer, given):
        self._scale_fn_custom = given["scale_fn"]

    def _begin(self, given):
        super()._begin(given)
        self.base_lrs = per_group("base_lr", self.optimizer, given["base_lr"])

    def scale_fn(self, x):
        """The factor of a cycle's height, by the number of the cycle or of the epoch."""
        return _optim.cyclic_scale(self, x)

    def state_dict(self):
        """All attributes but the optimizer; of the function, the attributes if it is an object."""
        return {**super().state_dict(), "_scale_fn_custom": _own_state(self._scale_fn_custom)}

    def load_state_dict(self, state_dict):
        own = checked_dict(state_dict)["_scale_fn_custom"]
        super().load_state_dict(
            {key: value for key, value in state_dict.items() if key != "_scale_fn_custom"}
        )
        if own is not None:
            self._scale_fn_custom.__dict__.update(own)


class OneCycleLR(_RuleSchedule, rule=True):
    @property
    def _phase_ends(self):
        return [phase["end_step"] for phase in self._schedule_phases]

    @_phase_ends.setter
    def _phase_ends(self, ends):
        rates = (
            ["initial_lr", "max_lr", "initial_lr", "min_lr"]
            if len(ends) == 3
            else ["initial_lr", "max_lr", "min_lr"]
        )
        momenta = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
        self._schedule_phases = [
            {
                "end_step": end,
                "start_lr": rates[i],
                "end_lr": rates[i + 1],
                "start_momentum": momenta[i],
                "end_momentum": momenta[i + 1],
            }
            for i, end in enumerate(ends)
        ]


def _check_parts(name, schedulers, optimizer):
    if len(schedulers) < 1:
        raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
    for index, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {index} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                f"additional kwargs to be "
                f"specified when calling `step`, but got one at index {index} in the given "
                f"schedulers sequence."
            )
        if optimizer is not None and optimizer is not scheduler.optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {index} with another one"
            )


class _ComposedSchedule(LRScheduler):
    """A schedule that is made of others. Each of them gives the rates that it gives alone."""

    def recursive_undo(self, sched=None):
        """Takes back the first step of every part, which each took when it was made."""
        for part in (sched or self)._schedulers:
            if isinstance(part, _ComposedSchedule):
                part.recursive_undo()
            elif getattr(part, "last_epoch", -1) >= 0:
                part.last_epoch -= 1

    def state_dict(self):
        """All attributes but the optimizer, and the state dicts of the schedules that it is made of."""
        return {
            **super().state_dict(),
            "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers],
        }

    def load_state_dict(self, state_dict):
        """Takes over a state dict; raises, and changes nothing, if it does not fit."""
        self._check_state(checked_dict(state_dict))
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)

    def _check_state(self, state_dict):
        for key, value in state_dict.items():
            if key != "_schedulers":
                fitting(self, key, value)
        states = state_dict["_schedulers"]
        if not isinstance(states, (list, tuple)) or not all(isinstance(state, dict) for state in states):
            raise TypeError(f"load_state_dict: '_schedulers' cannot be {states!r}")
        if len(states) != len(self._schedulers):
            raise ValueError(
                f"load_state_dict: expected the states of {len(self._schedulers)} schedules, got "
                f"{len(states)}"
            )
        for scheduler, state in zip(self._schedulers, states, strict=True):
            getattr(scheduler, "_check_state", getattr(scheduler, "_checked", dict))(state)


class SequentialLR(_ComposedSchedule):
    """Schedules one after the other: the next one takes over at each milestone, starting from its epoch 0."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        _check_parts(type(self).__name__, schedulers, optimizer)
        self._schedulers = schedulers
        self._check_milestones(milestones)
        self._milestones = milestones
        self.optimizer = optimizer
        self.recursive_undo()
        self._start_part(0)
        self.last_epoch = last_epoch + 1

    def _check_milestones(self, milestones):
        if len(milestones) != len(self._schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more "
                "than the number of "
                f"milestone points, but got number of schedulers {len(self._schedulers)} and the "
                f"number of milestones "
                f"to be equal to {len(milestones)}"
            )

    def _check_state(self, state_dict):
        self._check_milestones(state_dict.get("_milestones", self._milestones))
        super()._check_state(state_dict)

    def _part_at(self, epoch):
        return self._schedulers[bisect_right(self._milestones, epoch)]

    def _start_rates(self):
        return self._part_at(0)._start_rates()

    def _start_part(self, epoch):
        part = self._part_at(epoch)
        set_rates_of(self.optimizer, part._start_rates())
        part._start_anew()
        self._last_lr = part.get_last_lr()

    def _start_anew(self):
        self._start_part(0)
        self.last_epoch = 0

    def step(self):
        """Moves to the next epoch and sets the rates."""
        self.last_epoch += 1
        if self.last_epoch in self._milestones:
            return self._start_part(self.last_epoch)
        part = self._part_at(self.last_epoch)
        part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_ComposedSchedule):
    """Schedules at once: one step of each. The factors of their rates are multiplied."""

    def __init__(self, schedulers, optimizer=None):
        _check_parts(type(self).__name__, schedulers, optimizer)
        optimizer = optimizer or schedulers[0].optimizer
        _check_parts(type(self).__name__, schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = group_values(optimizer, "lr")
        if any(isinstance(part, _ComposedSchedule) for part in schedulers):  # its making has set the rates
            set_rates_of(optimizer, self._start_rates())
            self._start_anew()

    def _start_rates(self):
        return self._schedulers[0]._start_rates()

    def _start_anew(self):
        for part in self._schedulers:
            self._move(part, part._start_rates(), part._start_anew)
        self._last_lr = group_values(self.optimizer, "lr")

    def step(self):
        """Moves every schedule to its next epoch."""
        for part in self._schedulers:
            self._move(part, part.get_last_lr(), part.step)
        self._last_lr = group_values(self.optimizer, "lr")

    def _move(self, part, alone, move):
        """Calls `move`. A part that is made of others sets rates: it works on those that it would have
        `alone`, and the groups' are multiplied by what it does to them."""
        if not isinstance(part, _ComposedSchedule):
            return move()
        rates = group_values(self.optimizer, "lr")
        set_rates_of(self.optimizer, alone)
        move()
        moved = zip(rates, alone, part.get_last_lr(), strict=False)
        set_rates_of(self.optimizer, [_rescaled(*each) for each in moved])


def _rescaled(rate, before, after):
    return after if rate == before or before == 0 else rate * (after / before)


class ReduceLROnPlateau(_RuleSchedule):
    """Multiplies the rate by `factor` when a metric has stopped improving: call `step(metric)` once an
    epoch."""

    def _begin(self, given):
        optimizer, least = given.pop("optimizer"), given.pop("min_lr")
        _optim.check_plateau(types.SimpleNamespace(**given))
        require_optimizer(optimizer)
        self.optimizer = optimizer
        count, several = len(optimizer.param_groups), isinstance(least, (list, tuple))
        if several and len(least) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(least)}")
        self.default_min_lr = None if several else least
        self.min_lrs = list(least) if several else [least] * count
        self.__dict__.update(given)
        self.last_epoch = 0
        self._last_lr = group_values(optimizer, "lr")
        self._reset()

    def _reset(self):
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self):
        """Whether a reduction has just been, and none can follow yet."""
        return self.cooldown_counter > 0

    def step(self, metrics, epoch=None):
        """Takes the metric of an epoch. A tensor is read, which waits for it."""
        metric = float(metrics)
        if epoch is not None:
            warnings.warn(_EPOCH_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if _optim.sees_plateau(self, metric):
            self._reduce_lr(self.last_epoch)
        self._last_lr = group_values(self.optimizer, "lr")

    def _reduce_lr(self, epoch):
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}): give `min_lrs` "
                    f"as many values."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            set_group_value(group, "lr", _optim.reduced_rate(self, float(group["lr"]), least))

    def _check(self, fields):
        _optim.check_plateau(fields)
        if len(fields.min_lrs) != len(self.optimizer.param_groups):
            raise ValueError(f"load_state_dict: expected {len(self.optimizer.param_groups)} min_lrs")


ReduceLROnPlateau.__init__ = constructor(
    ReduceLROnPlateau, ("optimizer",), _optim.schedule_options("ReduceLROnPlateau"), ReduceLROnPlateau._begin
)


class _LRScheduler(LRScheduler):
    """The name that schedules of users' own are derived from in older programs."""
