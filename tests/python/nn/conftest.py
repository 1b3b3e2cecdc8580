import pytest
import torch

import ocl


@pytest.fixture(params=[ocl, torch], ids=["ocl", "torch"])
def library(request):
    """Ours, and PyTorch: for tests of what Python's classes do in both."""
    return request.param


@pytest.fixture
def nn(library):
    return library.nn
