"""Random numbers of ``torch.ocl``: as torch.cuda's functions of these names."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from torch_ocl import _C
from torch_ocl._devices import Device, index_of


def default_generator(device: Device = None) -> torch.Generator:
    """The generator that random operators on ``device`` draw from."""
    return _C.default_generator(index_of(device))


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator."""
    default_generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices."""
    for index in range(_C.device_count()):
        default_generator(index).manual_seed(int(seed))


def seed() -> int:
    """Seeds the current device's generator with a number that is different every time, and gives it."""
    return default_generator().seed()


def seed_all() -> None:
    """Seeds the generators of all devices with one number that is different every time."""
    if _C.device_count():
        manual_seed_all(default_generator(0).seed())


def initial_seed() -> int:
    """The seed of the current device's generator."""
    return default_generator().initial_seed()


def get_rng_state(device: Device = None) -> torch.Tensor:
    """The state of a device's generator, bytes on the CPU."""
    return default_generator(device).get_state()


def set_rng_state(state: torch.Tensor, device: Device = None) -> None:
    """Goes on from a state of :func:`get_rng_state`."""
    default_generator(device).set_state(state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices' generators."""
    return [get_rng_state(index) for index in range(_C.device_count())]


def set_rng_state_all(states: Iterable[torch.Tensor]) -> None:
    """Goes on from the states of :func:`get_rng_state_all`."""
    for index, state in enumerate(states):
        set_rng_state(state, index)
