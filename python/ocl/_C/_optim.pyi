"""
Formulas of optimizers and schedules; their classes are in ocl.optim.
"""
from __future__ import annotations
import typing
__all__: list[str] = ['Stepper', 'advance', 'begin_schedule', 'check_optimizer', 'check_plateau', 'check_schedule', 'cyclic_scale', 'lbfgs_step', 'optimizer_documentation', 'optimizer_options', 'rates', 'reduced_rate', 'schedule_documentation', 'schedule_options', 'sees_plateau']
class Stepper:
    """
    Takes the steps of one optimizer.
    """
    def __init__(self, name: str) -> None:
        ...
    def state_names(self, group: dict) -> tuple:
        """
        Names of the numbers and of the tensors that are kept for each parameter of a group.
        """
    def step(self, param_groups: list, state: dict) -> None:
        """
        One launch for all parameters of a group that have taken as many steps; does not wait.
        """
def advance(name: str, schedule: typing.Any, epoch: typing.SupportsFloat | typing.SupportsIndex | None) -> None:
    ...
def begin_schedule(name: str, schedule: typing.Any, given: dict, param_groups: list, fresh: bool) -> None:
    ...
def check_optimizer(name: str, options: dict) -> None:
    """
    Raises ValueError or TypeError for options that cannot be.
    """
def check_plateau(fields: typing.Any) -> None:
    ...
def check_schedule(name: str, fields: typing.Any) -> None:
    ...
def cyclic_scale(schedule: typing.Any, x: typing.SupportsFloat | typing.SupportsIndex) -> float:
    ...
def lbfgs_step(group: dict, state: dict, closure: typing.Any) -> typing.Any:
    ...
def optimizer_documentation(name: str) -> str:
    ...
def optimizer_options(name: str) -> list:
    """
    The rows of an optimizer's options: name, kind, default, required, keyword only.
    """
def rates(name: str, schedule: typing.Any, param_groups: list, closed_form: bool) -> list[float]:
    ...
def reduced_rate(schedule: typing.Any, rate: typing.SupportsFloat | typing.SupportsIndex, least: typing.SupportsFloat | typing.SupportsIndex) -> float:
    ...
def schedule_documentation(name: str) -> str:
    ...
def schedule_options(name: str) -> list:
    """
    The rows of a schedule's options: name, kind, default, required, keyword only.
    """
def sees_plateau(schedule: typing.Any, metric: typing.SupportsFloat | typing.SupportsIndex) -> bool:
    ...
