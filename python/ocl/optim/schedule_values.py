"""The common part of learning-rate schedules: values of an optimizer's groups, and what fits into a state."""

import math

import ocl
from ocl.optim.optimizer import Optimizer


def is_tensor(value):
    return isinstance(value, ocl.Tensor)


def group_values(optimizer, key):
    return [group[key].clone() if is_tensor(group[key]) else group[key] for group in optimizer.param_groups]


def set_group_value(group, key, value):
    if is_tensor(group[key]):
        group[key].fill_(value.item() if is_tensor(value) else value)
    else:
        group[key] = value


def set_rates_of(optimizer, rates):
    """Groups that have just been added, for which there is no rate, keep theirs."""
    for group, rate in zip(optimizer.param_groups, rates, strict=False):
        set_group_value(group, "lr", rate)


def per_group(name, optimizer, value):
    """A list of one value for each group, of one for all or of such a list."""
    groups = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * groups
    if len(values) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(values)} values, "
            f"param_groups has {groups}."
        )
    return values


def is_number(value):
    return isinstance(value, (int, float)) or hasattr(value, "item")  # a tensor or NumPy's number


def checked_dict(state_dict):
    if not isinstance(state_dict, dict):
        raise TypeError(f"load_state_dict: expected a dict, got {type(state_dict).__name__}")
    return state_dict


def own_value(schedule, key):
    """The value that `schedule` has under a key of a state dict, if anything. Raises TypeError for names of
    methods.
    """
    own = schedule.__dict__
    if key == "optimizer" or (key not in own and callable(getattr(type(schedule), str(key), None))):
        raise TypeError(f"load_state_dict: '{key}' is no state of {type(schedule).__name__}")
    return own.get(key)


def fitting(schedule, key, value):
    """`value` of a state dict as what `schedule` has under that key. Raises TypeError or ValueError."""

    def refuse(error):
        raise error(f"load_state_dict: '{key}' cannot be {value!r}")

    own = own_value(schedule, key)
    if own is None:
        return value
    if isinstance(own, bool):
        return bool(value) if isinstance(value, int) else refuse(TypeError)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(own, int):
        is_count = isinstance(value, (int, float)) and abs(value) <= 2**52 and value == math.floor(value)
        return value if is_count else refuse(ValueError)
    fits = {float: (int, float), str: str, list: (list, tuple), dict: dict}
    for kind, allowed in fits.items():
        if isinstance(own, kind) and not isinstance(value, allowed):
            refuse(TypeError)
    if isinstance(own, (list, tuple)) and all(map(is_number, own)) and not all(map(is_number, value)):
        refuse(TypeError)
    return value


def require_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
