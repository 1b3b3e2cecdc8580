"""
Optimizers.
"""
from __future__ import annotations
import collections.abc
import typing
__all__: list[str] = ['Adagrad', 'Adam', 'AdamW', 'ConstantLR', 'CosineAnnealingLR', 'CosineAnnealingWarmRestarts', 'ExponentialLR', 'LRScheduler', 'LambdaLR', 'LinearLR', 'MultiStepLR', 'OneCycleLR', 'Optimizer', 'ParameterGroup', 'PolynomialLR', 'RMSprop', 'ReduceLROnPlateau', 'SGD', 'SequentialLR', 'StepLR']
class ParameterGroup:
    """
    Settings of some parameters, read and written by name like a dict.
    """
    def __contains__(self, arg0: str) -> bool:
        ...
    def __getitem__(self, arg0: str) -> typing.Any:
        ...
    def __iter__(self) -> collections.abc.Iterator:
        ...
    def __setitem__(self, arg0: str, arg1: typing.Any) -> None:
        ...
    def get(self, key: typing.Any, default: typing.Any = None) -> typing.Any:
        ...
    def items(self) -> list:
        ...
    def keys(self) -> list:
        ...
class Optimizer:
    def __repr__(self) -> str:
        ...
    def add_param_group(self, param_group: dict) -> None:
        ...
    def load_state_dict(self, state_dict: dict) -> None:
        ...
    def state_dict(self) -> dict:
        ...
    def step(self, closure: typing.Any = None) -> typing.Any:
        """
        Updates every parameter that has a gradient; does not wait. A closure is called first; its result is returned.
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
class RMSprop(Optimizer):
    """
    The gradient over a running root of its squares.
    """
    def __init__(self, params: typing.Any, lr: typing.SupportsFloat | typing.SupportsIndex = 0.01, alpha: typing.SupportsFloat | typing.SupportsIndex = 0.99, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-08, weight_decay: typing.SupportsFloat | typing.SupportsIndex = 0.0, momentum: typing.SupportsFloat | typing.SupportsIndex = 0.0, centered: bool = False, *, maximize: bool = False) -> None:
        ...
class Adagrad(Optimizer):
    """
    The gradient over the root of the sum of its squares.
    """
    def __init__(self, params: typing.Any, lr: typing.SupportsFloat | typing.SupportsIndex = 0.01, lr_decay: typing.SupportsFloat | typing.SupportsIndex = 0.0, weight_decay: typing.SupportsFloat | typing.SupportsIndex = 0.0, initial_accumulator_value: typing.SupportsFloat | typing.SupportsIndex = 0.0, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-10, *, maximize: bool = False) -> None:
        ...
class LRScheduler:
    """
    Base of the learning-rate schedules: call step() once an epoch.
    """
    def __getattr__(self, arg0: str) -> bool | int | float | str | list[int] | list[float]:
        ...
    def get_last_lr(self) -> list[float]:
        ...
    def load_state_dict(self, state_dict: dict) -> None:
        """
        Ours or PyTorch's. The rates themselves stand in the optimizer's state dict.
        """
    def state_dict(self) -> dict:
        ...
    def step(self, epoch: typing.SupportsFloat | typing.SupportsIndex | None = None) -> None:
        ...
    @property
    def base_lrs(self) -> list[float]:
        ...
    @property
    def last_epoch(self) -> int:
        ...
    @property
    def optimizer(self) -> Optimizer:
        ...
class LambdaLR(LRScheduler):
    """
    The base rate times lr_lambda(epoch).
    """
    def __init__(self, optimizer: Optimizer, lr_lambda: collections.abc.Sequence[collections.abc.Callable[[int], typing.SupportsFloat | typing.SupportsIndex]] | collections.abc.Callable[[int], typing.SupportsFloat | typing.SupportsIndex], last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class StepLR(LRScheduler):
    """
    Multiplies the rate by gamma every step_size epochs.
    """
    def __init__(self, optimizer: Optimizer, step_size: typing.SupportsInt | typing.SupportsIndex, gamma: typing.SupportsFloat | typing.SupportsIndex = 0.1, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class MultiStepLR(LRScheduler):
    """
    Multiplies the rate by gamma at each of milestones.
    """
    def __init__(self, optimizer: Optimizer, milestones: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], gamma: typing.SupportsFloat | typing.SupportsIndex = 0.1, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class ConstantLR(LRScheduler):
    """
    Multiplies the rate by factor for the first total_iters epochs.
    """
    def __init__(self, optimizer: Optimizer, factor: typing.SupportsFloat | typing.SupportsIndex = 0.3333333333333333, total_iters: typing.SupportsInt | typing.SupportsIndex = 5, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class LinearLR(LRScheduler):
    """
    The factor goes from start_factor to end_factor over total_iters epochs.
    """
    def __init__(self, optimizer: Optimizer, start_factor: typing.SupportsFloat | typing.SupportsIndex = 0.3333333333333333, end_factor: typing.SupportsFloat | typing.SupportsIndex = 1.0, total_iters: typing.SupportsInt | typing.SupportsIndex = 5, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class ExponentialLR(LRScheduler):
    """
    Multiplies the rate by gamma every epoch.
    """
    def __init__(self, optimizer: Optimizer, gamma: typing.SupportsFloat | typing.SupportsIndex, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class PolynomialLR(LRScheduler):
    """
    The rate goes to 0 within total_iters epochs by a power.
    """
    def __init__(self, optimizer: Optimizer, total_iters: typing.SupportsInt | typing.SupportsIndex = 5, power: typing.SupportsFloat | typing.SupportsIndex = 1.0, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class CosineAnnealingLR(LRScheduler):
    """
    The rate swings between its base and eta_min.
    """
    def __init__(self, optimizer: Optimizer, T_max: typing.SupportsInt | typing.SupportsIndex, eta_min: typing.SupportsFloat | typing.SupportsIndex = 0.0, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class CosineAnnealingWarmRestarts(LRScheduler):
    """
    Cosines that start again after T_0 epochs, then T_mult times as many each.
    """
    def __init__(self, optimizer: Optimizer, T_0: typing.SupportsInt | typing.SupportsIndex, T_mult: typing.SupportsInt | typing.SupportsIndex = 1, eta_min: typing.SupportsFloat | typing.SupportsIndex = 0.0, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class SequentialLR(LRScheduler):
    """
    Schedules one after the other, changing at milestones.
    """
    def __init__(self, optimizer: Optimizer, schedulers: collections.abc.Sequence[LRScheduler], milestones: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
class ReduceLROnPlateau(LRScheduler):
    """
    Reduces the rate when a metric stops improving.
    """
    def __init__(self, optimizer: Optimizer, mode: str = 'min', factor: typing.SupportsFloat | typing.SupportsIndex = 0.1, patience: typing.SupportsInt | typing.SupportsIndex = 10, threshold: typing.SupportsFloat | typing.SupportsIndex = 0.0001, threshold_mode: str = 'rel', cooldown: typing.SupportsInt | typing.SupportsIndex = 0, min_lr: typing.SupportsFloat | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = 0.0, eps: typing.SupportsFloat | typing.SupportsIndex = 1e-08) -> None:
        ...
    def step(self, metrics: typing.Any) -> None:
        """
        A tensor is read, which waits for it.
        """
class OneCycleLR(LRScheduler):
    """
    One rise of the rate to max_lr and its fall; step() once a batch.
    """
    def __init__(self, optimizer: Optimizer, max_lr: typing.SupportsFloat | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], total_steps: typing.SupportsInt | typing.SupportsIndex | None = None, epochs: typing.SupportsInt | typing.SupportsIndex | None = None, steps_per_epoch: typing.SupportsInt | typing.SupportsIndex | None = None, pct_start: typing.SupportsFloat | typing.SupportsIndex = 0.3, anneal_strategy: str = 'cos', cycle_momentum: bool = True, base_momentum: typing.SupportsFloat | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = 0.85, max_momentum: typing.SupportsFloat | typing.SupportsIndex | collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = 0.95, div_factor: typing.SupportsFloat | typing.SupportsIndex = 25.0, final_div_factor: typing.SupportsFloat | typing.SupportsIndex = 10000.0, three_phase: bool = False, last_epoch: typing.SupportsInt | typing.SupportsIndex = -1) -> None:
        ...
