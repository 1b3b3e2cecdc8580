"""The base of all optimizers, as torch.optim.Optimizer."""

import copy
import functools
import itertools
import warnings
import weakref
from collections import OrderedDict, defaultdict

import ocl

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]


class RemovableHandle:
    """The result of the register_… methods: `remove()` ends the hook."""

    _ids = itertools.count()

    def __init__(self, hooks):
        self._hooks = weakref.ref(hooks)
        self.id = next(self._ids)

    def remove(self):
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


class _Hooks(OrderedDict):
    """Hooks by the number of their handle, in the order in which they are called."""

    def add(self, hook, prepend=False):
        handle = RemovableHandle(self)
        self[handle.id] = hook
        if prepend:
            self.move_to_end(handle.id, last=False)
        return handle

    def all(self):
        return list(self.values())


_every_step_pre = _Hooks()
_every_step_post = _Hooks()


def register_optimizer_step_pre_hook(hook):
    """Calls `hook(optimizer, args, kwargs)` before every step of every optimizer; it may return new args
    and kwargs."""
    return _every_step_pre.add(hook)


def register_optimizer_step_post_hook(hook):
    """Calls `hook(optimizer, args, kwargs)` after every step of every optimizer."""
    return _every_step_post.add(hook)


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()

_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def _with_hooks(step):
    """`step` of a class, with the hooks around it where it is the step of the optimizer's own class."""

    @functools.wraps(step)
    def hooked(*args, **kwargs):
        self = args[0]
        if getattr(type(self), "step", None) is not hooked:  # called by the step of a subclass
            return step(*args, **kwargs)
        self._opt_called = True
        if _HOOKS[0] not in vars(self):  # one that wraps another, and does not call the constructor
            return step(*args, **kwargs)
        for hook in _every_step_pre.all() + self._optimizer_step_pre_hooks.all():
            result = hook(self, args, kwargs)
            if result is None:
                continue
            if not (isinstance(result, tuple) and len(result) == 2):
                raise RuntimeError(f"a step pre-hook must return None or (args, kwargs), but got {result}.")
            args, kwargs = result
        out = step(*args, **kwargs)
        for hook in self._optimizer_step_post_hooks.all() + _every_step_post.all():
            hook(self, args, kwargs)
        return out

    return hooked


def _type_name(thing):
    return type(thing).__name__


class Optimizer:
    """Base of all optimizers. One of your own calls ``super().__init__(params, defaults)`` and has a step().

    ``param_groups`` is a list of dicts with "params" and any settings, ``state[p]`` a dict for each of them.
    """

    def __init__(self, params, defaults):
        if isinstance(params, ocl.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + _type_name(params)
            )
        self.__setstate__({"defaults": defaults, "state": defaultdict(dict), "param_groups": []})
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, _Hooks())

    def __repr__(self):
        text = type(self).__name__ + " ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    def step(self, closure=None):
        """Performs one step. `closure` computes the loss and its gradients once more, and returns the
        loss."""
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Drops the gradients of all parameters, or sets them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif (grad := p.grad) is not None:
                    p.grad = grad = grad.detach()
                    grad.zero_()

    def add_param_group(self, param_group):
        """Adds a dict with "params" and settings of its own; those left out are the optimizer's defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, ocl.Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names and len(names) != len(params):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        params = [param[1] if isinstance(param, tuple) else param for param in params]
        for param in params:
            if not isinstance(param, ocl.Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_type_name(param)}"
                )
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, "
                "this will cause an error",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if names else 'without'} names to the optimizer"
                )
            if not set(group["params"]).isdisjoint(params):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    # --- hooks

    def register_step_pre_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` before a step; it may return new args and kwargs."""
        return self._optimizer_step_pre_hooks.add(hook)

    def register_step_post_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` after a step."""
        return self._optimizer_step_post_hooks.add(hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` before a state dict is made."""
        return self._optimizer_state_dict_pre_hooks.add(hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` with a state dict just made; it may return another."""
        return self._optimizer_state_dict_post_hooks.add(hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` before a state dict is loaded; it may return another."""
        return self._optimizer_load_state_dict_pre_hooks.add(hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` after a state dict was loaded."""
        return self._optimizer_load_state_dict_post_hooks.add(hook, prepend)

    # --- state dicts

    def state_dict(self):
        """{"state": {index: …}, "param_groups": […]}: parameters stand as their indices. Shares the
        tensors."""
        for hook in self._optimizer_state_dict_pre_hooks.all():
            hook(self)
        indices, start, groups = {}, 0, []
        for group in list(self.param_groups):
            params = group["params"]
            for index, p in enumerate(params, start):
                indices.setdefault(p, index)
            start += len(params)
            packed = {key: value for key, value in list(group.items()) if key != "params"}
            packed["params"] = [indices[p] for p in params]
            groups.append(packed)
        state = {
            indices[key] if isinstance(key, ocl.Tensor) else key: value
            for key, value in list(self.state.items())
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.all():
            other = hook(self, result)
            result = result if other is None else other
        return result

    def load_state_dict(self, state_dict):
        """Takes over a state dict, ours or PyTorch's; its tensors are copied."""
        if not isinstance(state_dict, dict):
            raise TypeError(f"expected a state dict, got a {type(state_dict).__name__}")
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.all():
            other = hook(self, state_dict)
            state_dict = state_dict if other is None else other
        saved = copy.deepcopy(state_dict["param_groups"])
        groups = self.param_groups
        if len(saved) != len(groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for group in saved:
            if not isinstance(group, dict):
                raise TypeError(f"loaded state dict: 'param_groups' cannot be {group}")
        if any(len(own["params"]) != len(new["params"]) for own, new in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        if not isinstance(state_dict["state"], dict):
            raise TypeError(f"loaded state dict: 'state' cannot be {state_dict['state']}")
        params = {
            index: (p, new)
            for own, new in zip(groups, saved, strict=True)
            for index, p in zip(new["params"], own["params"], strict=True)
        }
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            param, group = params.get(key, (None, None))
            state[key if param is None else param] = (
                value if param is None else self._loaded(param, group, value)
            )
        for own, new in zip(groups, saved, strict=True):
            self._check_loaded(own["params"], new, state)
        for own, new in zip(groups, saved, strict=True):  # a group stays the dict that it is
            new["params"] = own["params"]
            if "param_names" in own:
                new.setdefault("param_names", own["param_names"])
            own.update(new)
            for key in [key for key in own if key not in new]:
                del own[key]
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.all():
            hook(self)

    def _loaded(self, param, group, value, key=None):
        """A copy of what a state dict has for a parameter of that group, on its device and of its dtype, or
        of float32 beside a master copy."""
        if isinstance(value, dict):
            return {key: self._loaded(param, group, item, key) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._loaded(param, group, item) for item in value)
        if isinstance(value, ocl.Tensor) and value.is_sparse:
            return value.detach().to(param.device, param.dtype).clone()
        if not hasattr(value, "__array__"):
            return copy.deepcopy(value)
        if key == "step":
            return value.item()
        dtype = param.dtype if param.is_floating_point() or param.is_complex() else None
        if group.get("master_weights") and dtype in (ocl.float16, ocl.bfloat16):
            dtype = ocl.float32
        return ocl.tensor(value, dtype=dtype, device=param.device)

    def _check_loaded(self, params, group, state):
        """Raises ValueError or TypeError unless the optimizer can go on from a loaded group and its
        states."""
