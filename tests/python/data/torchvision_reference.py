"""torchvision, to compare with. Its CUDA builds register operators that a CPU build of PyTorch lacks."""

import sys
import types
import warnings

import pytest


def import_torchvision():
    """The package; skips the module that asks where it is not installed."""
    sys.modules.setdefault(
        "torchvision._meta_registrations", types.ModuleType("torchvision._meta_registrations")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(
            "torchvision",
            reason="NOT COMPARED: torchvision is not installed (pip install --no-deps torchvision==0.28.0)",
            exc_type=ImportError,
        )
