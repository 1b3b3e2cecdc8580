"""Modules, as torch.nn: written in C++, subclassed in Python like PyTorch's."""

import importlib
from typing import TYPE_CHECKING

from ocl import _C

globals().update({name: value for name, value in vars(_C._nn).items() if not name.startswith("_")})

from ocl.nn import (  # noqa: E402, F401
    converting,
    functional,
    further_methods,
    global_hooks,
    init,
    lazy,
    replaced,
    small_layers,
    state,
    utils,
)
from ocl.nn.adaptive_softmax import AdaptiveLogSoftmaxWithLoss  # noqa: E402
from ocl.nn.dropouts import AlphaDropout, Dropout1d, Dropout3d, FeatureAlphaDropout  # noqa: E402
from ocl.nn.embedding import Embedding, EmbeddingBag  # noqa: E402, F401  (in place of those of C++)
from ocl.nn.fractional_max_pool import FractionalMaxPool2d, FractionalMaxPool3d  # noqa: E402
from ocl.nn.lazy import *  # noqa: E402, F403
from ocl.nn.max_unpool import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d  # noqa: E402
from ocl.nn.parameter import (  # noqa: E402
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)
from ocl.nn.sequence_losses import CTCLoss  # noqa: E402
from ocl.nn.small_layers import *  # noqa: E402, F403
from ocl.nn.sync_batch_norm import SyncBatchNorm  # noqa: E402
from ocl.nn.triplet_margin import TripletMarginWithDistanceLoss  # noqa: E402

if TYPE_CHECKING:
    from ocl.nn import attention, modules, parallel  # noqa: F401

_LATE = ("attention", "modules", "parallel")  # imported when first asked for: few programs need them


def __getattr__(name):
    if name in _LATE:
        return importlib.import_module(f"ocl.nn.{name}")
    if name == "DataParallel":
        return importlib.import_module("ocl.nn.parallel").DataParallel
    raise AttributeError(f"module 'ocl.nn' has no attribute {name!r}")


__all__ = [name for name in dir(_C._nn) if not name.startswith("_")] + [
    *lazy.__all__,
    *small_layers.__all__,
    "AdaptiveLogSoftmaxWithLoss",
    "AlphaDropout",
    "Buffer",
    "CTCLoss",
    "Dropout1d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Parameter",
    "SyncBatchNorm",
    "TripletMarginWithDistanceLoss",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "modules",
    "parallel",
    "utils",
]
