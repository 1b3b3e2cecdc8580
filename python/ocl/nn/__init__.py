"""Modules, as torch.nn: written in C++, subclassed in Python like PyTorch's."""

from ocl import _C

globals().update({name: value for name, value in vars(_C._nn).items() if not name.startswith("_")})

from ocl.nn import functional, init, utils  # noqa: E402
from ocl.nn.parameter import Buffer, Parameter  # noqa: E402
from ocl.nn.sync_batch_norm import SyncBatchNorm  # noqa: E402

__all__ = [name for name in dir(_C._nn) if not name.startswith("_")] + [
    "Buffer",
    "Parameter",
    "SyncBatchNorm",
    "functional",
    "init",
    "utils",
]
