"""torchvision, to compare with."""

import warnings

import pytest
from validation.torchvision_files import load_torchvision


def import_torchvision():
    """The package; skips the module that asks where it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return load_torchvision()
        except ImportError:
            pytest.skip(
                "NOT COMPARED: torchvision is not installed (pip install --no-deps torchvision==0.28.0)",
                allow_module_level=True,
            )
