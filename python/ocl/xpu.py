"""torch.xpu: there are no devices of that name here; ocl.accelerator lists those that there are."""

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """False. (torch.xpu.is_available)"""
    return False


def device_count() -> int:
    """0. (torch.xpu.device_count)"""
    return 0
