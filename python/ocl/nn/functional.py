"""The functions of torch.nn.functional, by their names: every operator of the library."""

from ocl._C import *  # noqa: F403
from ocl._C._nn._functional import *  # noqa: F403  (those that take inplace)
