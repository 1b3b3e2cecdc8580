"""A module on one device, by the name of PyTorch's module for several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ocl import _C
from ocl._C._nn import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Calls ``module`` on the one device of ``device_ids`` (torch.nn.DataParallel).

    ``device_ids``: numbers or devices, by default the device of the module's first parameter. RuntimeError
    for more than one: use ``DistributedDataParallel``, one process a device, which is faster in PyTorch too.
    Names of the state dict begin with ``module.``, and the module's tensors must be on
    that device.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        first = next(iter(module.parameters()), None)
        own = _C.get_default_device() if first is None else first.device
        devices = [own] if device_ids is None else [_device(d) for d in device_ids]
        if len(devices) != 1:
            raise RuntimeError(
                f"DataParallel: expected one device, got {[str(d) for d in devices]}: one process computes "
                "on one device. Use ocl.nn.parallel.DistributedDataParallel, one process a device"
            )
        if output_device is not None and _device(output_device) != devices[0]:
            raise RuntimeError(f"DataParallel: expected output_device {devices[0]}, got {output_device}")
        wrong = [name for name, p in module.named_parameters() if p.device != devices[0]]
        if wrong:
            raise RuntimeError(
                f"module must have its parameters and buffers on device {devices[0]} (device_ids[0]) but "
                f"found one of them on another device: {wrong[0]}"
            )
        self.device_ids, self.output_device, self.dim = devices, devices[0], dim
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def _device(given: Any) -> Any:
    return _C.device(f"ocl:{given}" if isinstance(given, int) else given)
