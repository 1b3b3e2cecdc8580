"""The functions of torch.nn.functional, by their names: every operator of the library."""

from ocl._C import *  # noqa: F403
