"""Refuses what does not belong together, in one line that names both sides, before it crashes."""

from __future__ import annotations

import functools
import re
from types import ModuleType

import torch

from torch_ocl import _built_with
from torch_ocl._when_imported import when_imported


def _release(version: str) -> str:
    """``2.13`` of ``2.13.0+cpu``. PyTorch's C++ interface stays within such a release."""
    return ".".join(re.findall(r"\d+", version)[:2])


def check_torch() -> None:
    """Before the compiled module is loaded, whose symbols are those of one release of PyTorch."""
    found, expected = torch.__version__, _built_with.TORCH
    if _release(found) != _release(expected):
        raise ImportError(
            f"torch_ocl {_built_with.VERSION} is built for PyTorch {expected}, and this is PyTorch {found}: "
            "install the tapecl-torch of that release, or build it here (docs/install.md)"
        )


def check_ocl() -> None:
    """Now if `ocl` is there, else once it is imported: both share contexts and memory."""
    when_imported("ocl", _compare_with_ocl)


def _compare_with_ocl(ocl: ModuleType) -> None:
    if ocl.__version__ != _built_with.VERSION:
        raise ImportError(
            f"torch_ocl is of TapeCL {_built_with.VERSION}, and ocl of {ocl.__version__}: "
            "install tapecl and tapecl-torch of one version"
        )


def load_compiled() -> ModuleType:
    try:
        from torch_ocl import _C
    except ImportError as error:
        raise ImportError(
            f"torch_ocl {_built_with.VERSION}, built for PyTorch {_built_with.TORCH} by "
            f"{_built_with.COMPILER}, does not load with PyTorch {torch.__version__}: {error}"
        ) from None
    return _C


_NO_CUDA_STREAM = "opt_ready_stream && opt_parent_stream"  # what PyTorch's engine asserts


def explain_cuda() -> None:
    """Says why ``backward()`` of tensors on CUDA fails: PyTorch has one accelerator a process."""
    if torch.version.cuda is None:
        return
    run = torch.autograd._engine_run_backward

    @functools.wraps(run)
    def run_backward(*args, **kwargs):
        try:
            return run(*args, **kwargs)
        except RuntimeError as error:
            if _NO_CUDA_STREAM not in str(error):
                raise
            raise RuntimeError(
                f"backward() of tensors on cuda: PyTorch {torch.__version__} has one accelerator a "
                "process, and here it is ocl: start programs that train on cuda with "
                "TORCH_DEVICE_BACKEND_AUTOLOAD=0"
            ) from None

    torch.autograd._engine_run_backward = run_backward
