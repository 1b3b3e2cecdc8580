"""PyTorch on OpenCL devices: ``torch.device("ocl:0")``, computed by TapeCL's kernels."""

import torch

from torch_ocl import _C  # noqa: F401  (loading it registers device and kernels)

torch.utils.rename_privateuse1_backend("ocl")

from torch_ocl import device_module  # noqa: E402

torch._register_device_module("ocl", device_module)
torch.utils.generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True)


def _autoload() -> None:
    """What ``import torch`` calls (the entry point torch.backends)."""
