"""Seeds and states of the random numbers of all devices, as torch.random."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from typing import Any

from ocl import _C, host_random
from ocl._C import get_rng_state, initial_seed, set_rng_state
from ocl.process_generator import default_generator

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

manual_seed = host_random.manual_seed


def seed() -> int:
    """Seeds everything from the system's noise, and gives the seed. (torch.seed)"""
    chosen = secrets.randbits(63)
    manual_seed(chosen)
    return chosen


@contextlib.contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "ocl",
) -> Iterator[None]:
    """Inside, random numbers may be seeded and drawn; afterwards their streams go on as if nothing had been.

    The stream of the devices is one, so that ``devices`` changes nothing: it is always put back. So is the
    stream of samplers and loaders. (torch.random.fork_rng)
    """
    if not enabled:
        yield
        return
    state = _C.get_rng_state()
    with host_random.kept():
        try:
            yield
        finally:
            _C.set_rng_state(state)
