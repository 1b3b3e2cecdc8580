"""Some of PyTorch's distributions make tensors of its default dtype, which must be that of the parameters.
`torch.compile`, once it has run, leaves their checks of arguments off."""

import pytest
import torch


@pytest.fixture(autouse=True)
def pytorch_computes_in_float64_and_checks_arguments():
    dtype, checks = torch.get_default_dtype(), torch.distributions.Distribution._validate_args
    torch.set_default_dtype(torch.float64)
    torch.distributions.Distribution.set_default_validate_args(True)
    yield
    torch.set_default_dtype(dtype)
    torch.distributions.Distribution.set_default_validate_args(checks)
