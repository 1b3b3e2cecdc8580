"""The stream of random numbers of the process, as an object."""

from __future__ import annotations

from typing import Any

from ocl import _C, host_random
from ocl._C import Tensor

__all__ = ["default_generator"]


class DefaultGenerator:
    """It seeds the stream that functions draw from by themselves, and has its state.

    ``manual_seed`` returns it. It is no ``Generator``: functions do not take it as ``generator=``.
    (torch.default_generator)
    """

    @property
    def device(self) -> Any:
        return _C.get_default_device()

    def manual_seed(self, seed: int) -> DefaultGenerator:
        """Seeds everything, as ``ocl.manual_seed``."""
        return host_random.manual_seed(seed)

    def seed(self) -> int:
        """Seeds everything from the system's noise, and gives the seed."""
        from ocl.random import seed

        return seed()

    def initial_seed(self) -> int:
        return _C.initial_seed()

    def get_state(self) -> Tensor:
        """The state of the default device's stream, as ``ocl.get_rng_state``."""
        return _C.get_rng_state()

    def set_state(self, new_state: Tensor) -> DefaultGenerator:
        """Goes on where ``get_state`` was called."""
        _C.set_rng_state(new_state)
        return self


default_generator = DefaultGenerator()
