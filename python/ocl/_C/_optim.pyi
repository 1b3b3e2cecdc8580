"""
Optimizers.
"""
from __future__ import annotations
import typing
__all__: list[str] = ['Adam', 'AdamW', 'ExponentialLR', 'LRScheduler', 'Optimizer', 'ParameterGroup', 'SGD', 'StepLR']
class ParameterGroup:
    """
    Settings of some parameters, read and written by name like a dict.
    """
    def __contains__(self, arg0: str) -> bool:
        ...
    def __getitem__(self, arg0: str) -> typing.Any:
        ...
    def __setitem__(self, arg0: str, arg1: typing.Any) -> None:
        ...
    def keys(self) -> list:
        ...
class Optimizer:
    def add_param_group(self, param_group: dict) -> None:
        ...
    def load_state_dict(self, state_dict: dict) -> None:
        ...
    def state_dict(self) -> dict:
        ...
    def step(self) -> None:
        """
        Updates every parameter that has a gradient; does not wait.
        """
    def zero_grad(self, set_to_none: bool = True) -> None:
        ...
    @property
    def param_groups(self) -> list:
        ...
class SGD(Optimizer):
    """
    Gradient descent with momentum.
    """
    def __init__(self, params: typing.Any, lr: typing.SupportsFloat | typing.SupportsIndex = 0.001, momentum: typing.SupportsFloat | typing.SupportsIndex = 0.0, dampening: typing.SupportsFloat | typing.SupportsIndex = 0.0, weight_decay: typing.SupportsFloat | typing.SupportsIndex = 0.0, nesterov: bool = False, *, maximize: bool = False) -> None:
        ...
class Adam(Optimizer):
    """
    Kingma and Ba 2015.
    """
    def __init__(self, params: typing.Any, lr: typing.SupportsFloat | typing.SupportsIndex = 0.001, betas: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex] = (0.9, 0.999), eps: typing.SupportsFloat | typing.SupportsIndex = 1e-08, weight_decay: typing.SupportsFloat | typing.SupportsIndex = 0.0, amsgrad: bool = False, *, maximize: bool = False) -> None:
        ...
class AdamW(Adam):
    """
    Adam with decoupled weight decay.
    """
    def __init__(self, params: typing.Any, lr: typing.SupportsFloat | typing.SupportsIndex = 0.001, betas: tuple[typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex] = (0.9, 0.999), eps: typing.SupportsFloat | typing.SupportsIndex = 1e-08, weight_decay: typing.SupportsFloat | typing.SupportsIndex = 0.01, amsgrad: bool = False, *, maximize: bool = False) -> None:
        ...
class LRScheduler:
    """
    Base of the learning-rate schedules: call step() once an epoch.
    """
    def get_last_lr(self) -> list[float]:
        ...
    def load_state_dict(self, arg0: dict) -> None:
        ...
    def state_dict(self) -> dict:
        ...
    def step(self) -> None:
        ...
    @property
    def last_epoch(self) -> int:
        ...
class StepLR(LRScheduler):
    """
    Multiplies the rate by gamma every step_size epochs.
    """
    def __init__(self, optimizer: Optimizer, step_size: typing.SupportsInt | typing.SupportsIndex, gamma: typing.SupportsFloat | typing.SupportsIndex = 0.1) -> None:
        ...
class ExponentialLR(LRScheduler):
    """
    Multiplies the rate by gamma every epoch.
    """
    def __init__(self, optimizer: Optimizer, gamma: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
