"""Importing this module calls ``as_torch``, for processes that begin with an import: a loader's workers."""

import ocl

__all__ = []

ocl.as_torch()
