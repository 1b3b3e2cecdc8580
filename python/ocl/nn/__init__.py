"""Modules, as torch.nn: written in C++, subclassed in Python like PyTorch's."""

import importlib
from typing import TYPE_CHECKING

from ocl import _C

globals().update({name: value for name, value in vars(_C._nn).items() if not name.startswith("_")})

from ocl.nn import functional, init, replaced, state, utils  # noqa: E402, F401
from ocl.nn.max_unpool import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d  # noqa: E402
from ocl.nn.parameter import Buffer, Parameter  # noqa: E402
from ocl.nn.sequence_losses import CTCLoss  # noqa: E402
from ocl.nn.sync_batch_norm import SyncBatchNorm  # noqa: E402
from ocl.nn.triplet_margin import TripletMarginWithDistanceLoss  # noqa: E402

if TYPE_CHECKING:
    from ocl.nn import parallel  # noqa: F401


def __getattr__(name):
    if name == "parallel":  # imported when first asked for: it takes groups of processes along
        return importlib.import_module("ocl.nn.parallel")
    raise AttributeError(f"module 'ocl.nn' has no attribute {name!r}")


__all__ = [name for name in dir(_C._nn) if not name.startswith("_")] + [
    "Buffer",
    "CTCLoss",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Parameter",
    "SyncBatchNorm",
    "TripletMarginWithDistanceLoss",
    "functional",
    "init",
    "parallel",
    "utils",
]
