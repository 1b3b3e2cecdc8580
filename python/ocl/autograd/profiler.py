"""Profiles under the names of torch.autograd.profiler."""

from ocl.profiler import profile, record_function

__all__ = ["profile", "record_function"]
