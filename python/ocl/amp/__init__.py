"""Mixed precision by the names of torch.amp: ``autocast`` and ``GradScaler``."""

from ocl.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from ocl.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
