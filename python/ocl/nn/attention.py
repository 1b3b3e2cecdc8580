"""torch.nn.attention: which kernels scaled_dot_product_attention may take, as PyTorch's users say it."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator

from ..backends import cuda

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """The back ends of torch.nn.attention.SDPBackend."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_SWITCHES = {
    SDPBackend.MATH: (cuda.math_sdp_enabled, cuda.enable_math_sdp),
    SDPBackend.FLASH_ATTENTION: (cuda.flash_sdp_enabled, cuda.enable_flash_sdp),
    SDPBackend.EFFICIENT_ATTENTION: (cuda.mem_efficient_sdp_enabled, cuda.enable_mem_efficient_sdp),
    SDPBackend.CUDNN_ATTENTION: (cuda.cudnn_sdp_enabled, cuda.enable_cudnn_sdp),
}


@contextlib.contextmanager
def sdpa_kernel(backends: SDPBackend | list[SDPBackend], set_priority: bool = False) -> Iterator[dict]:
    """torch.nn.attention.sdpa_kernel, as a context manager or decorator. It sets the switches of
    ``ocl.backends.cuda`` and changes no result: each device takes the fastest kernels that it has, and
    ``ocl.implementations`` chooses among them.

    backends:      one back end, or several; AssertionError for anything else, as PyTorch
    set_priority:  accepted; there is no order among them
    """
    wanted = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(wanted, list) or not all(isinstance(backend, SDPBackend) for backend in wanted):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    before = {backend: is_enabled() for backend, (is_enabled, _) in _SWITCHES.items()}
    try:
        for backend, (_, enable) in _SWITCHES.items():
            enable(backend in wanted)
        yield {}
    finally:
        for backend, (_, enable) in _SWITCHES.items():
            enable(before[backend])
