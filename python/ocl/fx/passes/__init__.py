"""Passes that look at graphs. (torch.fx.passes)"""

from ocl.fx.passes import shape_prop

__all__ = ["shape_prop"]
