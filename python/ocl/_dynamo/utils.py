"""The names of torch._dynamo.utils that programs ask for. Nothing is compiled here."""

from __future__ import annotations

from typing import Any

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type: Any) -> bool:
    """False. (torch._dynamo.utils.is_compile_supported)"""
    return False
