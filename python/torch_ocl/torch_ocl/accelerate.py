"""accelerate and transformers' Trainer on the device that ``ACCELERATE_TORCH_DEVICE`` names.

Processes that torchrun starts train together. accelerate knows by name which devices have processes that work
together: on others each of them would train alone, without a word. Here it does what it does for several
processes on the CPU (``DistributedType.MULTI_CPU``), which is DistributedDataParallel on whatever device the
model is, with the process group of ocl. Mixed precision is bfloat16 (``bf16=True``); accelerate refuses
float16 on devices that it does not know.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import torch


def _is_one_of_several() -> bool:
    """Whether a launcher started this process, by what accelerate goes by."""
    return int(os.environ.get("LOCAL_RANK", -1)) != -1


def _names_ocl() -> bool:
    return os.environ.get("ACCELERATE_TORCH_DEVICE", "").partition(":")[0] == "ocl"


def install_in_transformers(import_utils: ModuleType) -> None:
    """Tells ``transformers.utils.import_utils``, which asks devices by name, that ocl's have bfloat16."""
    is_available = import_utils.is_torch_bf16_gpu_available
    import_utils.is_torch_bf16_gpu_available = lambda: _names_ocl() or is_available()


def install(state: ModuleType) -> None:
    """Teaches ``accelerate.state`` that processes on ocl devices work together."""
    prepare = state.PartialState._prepare_backend

    def prepare_backend(
        self: Any, cpu: bool = False, sagemaker_dp: bool = False, backend: str | None = None
    ) -> tuple[str | None, Any]:
        if self.device is None or self.device.type != "ocl" or cpu or not _is_one_of_several():
            return prepare(self, cpu, sagemaker_dp, backend)
        if self.device.index is None:
            index = int(os.environ["LOCAL_RANK"]) % torch.ocl.device_count()
            self.device = torch.device("ocl", index)
            torch.ocl.set_device(self.device)
        return backend or "ocl", state.DistributedType.MULTI_CPU

    state.PartialState._prepare_backend = prepare_backend
