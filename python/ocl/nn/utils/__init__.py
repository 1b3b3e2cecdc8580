"""Helpers around training, as torch.nn.utils: gradient clipping, packed sequences in `rnn`, and weights that
are computed from other parameters in `parametrize` and `parametrizations`."""

import importlib
from typing import TYPE_CHECKING

from ocl.nn.utils import rnn
from ocl.nn.utils.clipping import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)

if TYPE_CHECKING:
    from ocl.nn.utils import fusion, parametrizations, parametrize, prune  # noqa: F401
    from ocl.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
    from ocl.nn.utils.fusion import (
        fuse_conv_bn_eval,
        fuse_conv_bn_weights,
        fuse_linear_bn_eval,
        fuse_linear_bn_weights,
    )
    from ocl.nn.utils.hooked_norms import (
        remove_spectral_norm,
        remove_weight_norm,
        spectral_norm,
        weight_norm,
    )
    from ocl.nn.utils.init import skip_init

# Imported when first asked for: few programs need them.
_LATE_MODULES = ("convert_parameters", "fusion", "parametrizations", "parametrize", "prune")
_LATE_NAMES = {
    "fuse_conv_bn_eval": "fusion",
    "fuse_conv_bn_weights": "fusion",
    "fuse_linear_bn_eval": "fusion",
    "fuse_linear_bn_weights": "fusion",
    "parameters_to_vector": "convert_parameters",
    "remove_spectral_norm": "hooked_norms",
    "remove_weight_norm": "hooked_norms",
    "skip_init": "init",
    "spectral_norm": "hooked_norms",
    "vector_to_parameters": "convert_parameters",
    "weight_norm": "hooked_norms",
}


def __getattr__(name):
    if name in _LATE_MODULES:
        return importlib.import_module(f"ocl.nn.utils.{name}")
    if name in _LATE_NAMES:
        return getattr(importlib.import_module(f"ocl.nn.utils.{_LATE_NAMES[name]}"), name)
    raise AttributeError(f"module 'ocl.nn.utils' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATE_MODULES, *_LATE_NAMES})


__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "fusion",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
