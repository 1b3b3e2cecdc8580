"""Some of PyTorch's distributions make tensors of its default dtype, which must be that of the parameters."""

import pytest
import torch


@pytest.fixture(autouse=True)
def pytorch_computes_in_float64():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
