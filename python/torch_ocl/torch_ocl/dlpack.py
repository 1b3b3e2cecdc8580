"""DLPack without a copy: tensors of ocl devices show a cl_mem of the device, and torch.from_dlpack takes one.

PyTorch itself would show the place where it keeps its note of the memory, under a device type that nobody
else knows. The package ``ocl`` is taken from, too, though its tensors show a copy on the host to those who do
not ask for OpenCL's memory.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from torch_ocl import _C

_OPENCL, _CPU = 4, 1  # DLPack's device types
_VERSION = (1, 0)

_tensor_dlpack = torch.Tensor.__dlpack__
_tensor_dlpack_device = torch.Tensor.__dlpack_device__
_from_dlpack = torch.from_dlpack
_to_dlpack = torch.to_dlpack


def _show(tensor: torch.Tensor, version: tuple[int, int] | None, copy: bool | None) -> Any:
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.is_conj() or tensor.is_neg():
        raise BufferError("Can't export tensors with the conjugate or the negative bit set")
    if tensor.layout != torch.strided:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    return _C.to_dlpack(tensor.clone() if copy else tensor, version)


def _dlpack(
    self: torch.Tensor,
    *,
    stream: Any = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    if self.device.type != "ocl":
        return _tensor_dlpack(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
    here = (_OPENCL, self.device.index)
    if dl_device is None or tuple(dl_device) == here:
        return _show(self, max_version, copy)
    if tuple(dl_device) != (_CPU, 0) or copy is False:
        raise BufferError(f"a tensor on DLPack's device {here} cannot be shown on {tuple(dl_device)}")
    return _tensor_dlpack(self.cpu(), max_version=max_version)


def _dlpack_device(self: torch.Tensor) -> tuple[int, int]:
    return (_OPENCL, self.device.index) if self.device.type == "ocl" else _tensor_dlpack_device(self)


def to_dlpack(tensor: torch.Tensor) -> Any:
    """``torch.to_dlpack``."""
    return _show(tensor, None, None) if tensor.device.type == "ocl" else _to_dlpack(tensor)


def _shown_in_opencl(given: Any) -> Any:
    """A capsule over OpenCL's memory, where that is what is given; else None."""
    ocl = sys.modules.get("ocl")
    if ocl is not None and isinstance(given, ocl.Tensor):
        return given.__dlpack__(max_version=_VERSION, dl_device=(_OPENCL, given.device.index))
    if not hasattr(given, "__dlpack__"):
        return given if _C.shows_opencl(given) else None
    if given.__dlpack_device__()[0] != _OPENCL:
        return None
    return given.__dlpack__(max_version=_VERSION)


def from_dlpack(
    ext_tensor: Any, *, device: torch.device | str | None = None, copy: bool | None = None
) -> torch.Tensor:
    """``torch.from_dlpack``, which shares OpenCL's memory too."""
    capsule = _shown_in_opencl(ext_tensor)
    if capsule is None:
        options = {"device": device, "copy": copy}
        return _from_dlpack(ext_tensor, **{name: x for name, x in options.items() if x is not None})
    tensor = _C.from_dlpack(capsule)
    moved = tensor if device is None else tensor.to(device)
    if moved is not tensor and copy is False:
        raise ValueError(f"cannot move a tensor from {tensor.device} to {device} without copying")
    return moved.clone() if copy and moved is tensor else moved


def install() -> None:
    """Makes PyTorch's functions and tensors do so."""
    torch.Tensor.__dlpack__ = _dlpack
    torch.Tensor.__dlpack_device__ = _dlpack_device
    for module in (torch, torch.utils.dlpack):
        module.from_dlpack = from_dlpack
        module.to_dlpack = to_dlpack
