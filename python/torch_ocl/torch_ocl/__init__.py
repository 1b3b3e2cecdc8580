"""PyTorch on OpenCL devices: ``torch.device("ocl:0")``, computed by TapeCL's kernels."""

import atexit


# Before torch, which looks for it while it is imported from here.
def _autoload() -> None:
    """The function that ``import torch`` calls (the entry point torch.backends)."""


import torch  # noqa: E402

from torch_ocl import _compatibility, opencl_runtime  # noqa: E402

_compatibility.check_torch()
_compatibility.check_ocl()
opencl_runtime.prepare()
_C = _compatibility.load_compiled()  # which registers device and kernels
_compatibility.explain_cuda()

torch.utils.rename_privateuse1_backend("ocl")

from torch_ocl import (  # noqa: E402
    accelerate,
    data_parallel,
    device_module,
    dlpack,
    inductor,
    lightning,
    safetensors,
    sharing,
    transformers,
    ultralytics,
)
from torch_ocl._when_imported import when_imported  # noqa: E402

torch._register_device_module("ocl", device_module)
atexit.register(_C.finish_backward_passes)
dlpack.install()
sharing.install()
inductor.install()
data_parallel.install()
for _library in (accelerate, lightning, safetensors, transformers, ultralytics):
    for _name, _install in _library.INSTALLERS.items():
        when_imported(_name, _install)
torch.utils.generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True)

if torch.distributed.is_available() and torch.distributed.is_gloo_available():
    from torch_ocl import distributed, sync_batch_norm

    distributed.install()
    sync_batch_norm.install()
