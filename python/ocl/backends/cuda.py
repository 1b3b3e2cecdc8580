"""The switches of torch.backends.cuda, which change nothing: CUDA is not used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class _Matmul:
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False


matmul = _Matmul()
_sdp = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """False."""
    return False


def flash_sdp_enabled() -> bool:
    """The setting of enable_flash_sdp; which kernels attention takes, ocl.implementations says."""
    return _sdp["flash"]


def mem_efficient_sdp_enabled() -> bool:
    """The setting of enable_mem_efficient_sdp."""
    return _sdp["mem_efficient"]


def math_sdp_enabled() -> bool:
    """The setting of enable_math_sdp."""
    return _sdp["math"]


def cudnn_sdp_enabled() -> bool:
    """The setting of enable_cudnn_sdp."""
    return _sdp["cudnn"]


def enable_flash_sdp(enabled: bool) -> None:
    """Keeps the setting."""
    _sdp["flash"] = bool(enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Keeps the setting."""
    _sdp["mem_efficient"] = bool(enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Keeps the setting."""
    _sdp["math"] = bool(enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Keeps the setting."""
    _sdp["cudnn"] = bool(enabled)


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Sets the switches inside of a ``with`` block."""
    before = dict(_sdp)
    _sdp.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _sdp.update(before)
