"""Learning-rate schedules, as torch.optim.lr_scheduler."""

from ocl import _C

LRScheduler = _C._optim.LRScheduler
StepLR = _C._optim.StepLR
ExponentialLR = _C._optim.ExponentialLR

__all__ = ["ExponentialLR", "LRScheduler", "StepLR"]
