"""The optimizers of torch.optim. Their options and formulas are the rows of
dlprim/ops/optim/optimizers.def."""

import math

import ocl
from ocl import _C
from ocl.optim import sparse_steps
from ocl.optim.constructors import constructor
from ocl.optim.optimizer import Optimizer
from ocl.sparse import coo

_optim = _C._optim


def _first_of(closure):
    """The result of the closure, called with the tape on."""
    if closure is None:
        return None
    with ocl.enable_grad():
        return closure()


class _RuleOptimizer(Optimizer):
    """An optimizer whose options and formula stand in the table. `state` and `param_groups` are what it
    goes by."""

    def __init_subclass__(cls, rule=False, **options):
        super().__init_subclass__(**options)
        if rule:
            cls._rule = cls.__name__
            cls.__doc__ = cls.__doc__ or _optim.optimizer_documentation(cls._rule)
            cls.__init__ = constructor(cls, ("params",), _optim.optimizer_options(cls._rule), cls._begin)

    def _begin(self, given):
        params = given.pop("params")
        _optim.check_optimizer(self._rule, given)
        fused = given.get("fused")
        if fused and given.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        Optimizer.__init__(self, params, given)

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_stepper" not in self.__dict__:
            self._stepper = _optim.Stepper(self._rule)

    def step(self, closure=None):
        """Updates every parameter that has a gradient; does not wait. A closure is called first, and its
        result
        returned."""
        loss = _first_of(closure)
        groups = self.param_groups
        if coo.is_in_use:
            groups = sparse_steps.step(self, self._rule)
        self._stepper.step(groups, self.state)
        return loss

    def keep_master_weights(self):
        """Gives parameters of 16 bits (of ``net.bfloat16()``) a float32 copy each, ``master`` in
        their state, from the next step on. Steps change the copy, and it is rounded to the parameter: small
        updates are not lost. All other state is float32 then, too. Sets ``master_weights`` of every group,
        those to come included. Returns the optimizer; TypeError of LBFGS."""
        for settings in (self.defaults, *self.param_groups):
            settings["master_weights"] = True
        return self

    def _check_loaded(self, params, group, state):
        if "lr" in self.defaults and "lr" not in group:  # schedules read it; files of old lack other options
            raise ValueError("loaded state dict has a parameter group without 'lr'")
        options = {name: group.get(name, initial) for name, initial in self.defaults.items()}
        options.pop("master_weights", None)
        _optim.check_optimizer(self._rule, options)
        numbers, tensors = self._stepper.state_names(options)  # a master that is missing is made
        for number, p in enumerate(params):
            entry = state.get(p)
            if entry is None:
                continue
            if not isinstance(entry, dict):
                raise TypeError(f"loaded state dict: 'state' cannot be {entry}")
            if entry:
                self._check_entry(number, p, entry, numbers, tensors)

    def _check_entry(self, number, p, entry, numbers, tensors):
        for name in numbers + tensors:
            if name not in entry:
                raise ValueError(f"loaded state dict has no '{name}' for parameter {number}")
        for name in numbers:
            entry[name] = float(entry[name])
        if "step" in numbers:
            steps = entry["step"]
            if not (steps >= 0 and steps <= 2**53 and steps == math.floor(steps)):
                raise ValueError(f"loaded state dict has a parameter that has taken {steps:g} steps")
            entry["step"] = int(steps)
        for name in tensors:
            state = entry[name]
            if not isinstance(state, ocl.Tensor):
                raise TypeError(f"loaded state dict: '{name}' of parameter {number} cannot be {state}")
            if state.shape != p.shape:
                raise ValueError(
                    f"loaded {name} of shape {list(state.shape)} for a parameter of shape {list(p.shape)}"
                )


class SGD(_RuleOptimizer, rule=True): ...


class Adam(_RuleOptimizer, rule=True): ...


class AdamW(Adam, rule=True): ...


class RMSprop(_RuleOptimizer, rule=True): ...


class Adagrad(_RuleOptimizer, rule=True): ...


class Adadelta(_RuleOptimizer, rule=True): ...


class Adamax(_RuleOptimizer, rule=True): ...


class NAdam(_RuleOptimizer, rule=True): ...


class RAdam(_RuleOptimizer, rule=True): ...


class Rprop(_RuleOptimizer, rule=True): ...


class ASGD(_RuleOptimizer, rule=True): ...


class Adafactor(_RuleOptimizer, rule=True):
    def _check_entry(self, number, p, entry, numbers, tensors):
        kept = tensors[:2] if p.dim() > 1 else tensors[2:]
        super()._check_entry(number, p, entry, numbers, [])
        for name in kept:
            if not isinstance(entry.get(name), ocl.Tensor):
                raise ValueError(f"loaded state dict has no '{name}' for parameter {number}")


class LBFGS(_RuleOptimizer, rule=True):
    def keep_master_weights(self):
        raise TypeError("LBFGS keeps no master weights")

    def _begin(self, given):
        if given["max_eval"] is None:
            given["max_eval"] = given["max_iter"] * 5 // 4
        super()._begin(given)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure):
        """Calls `closure`, which computes the loss and its gradients, several times. Returns the first
        loss."""

        def loss():
            with ocl.enable_grad():
                result = closure()
            if coo.is_in_use:
                for p in group["params"]:
                    sparse_steps.refuse_sparse("LBFGS", p)
            return result

        (group,) = self.param_groups
        return _optim.lbfgs_step(group, self.state[group["params"][0]], loss)
