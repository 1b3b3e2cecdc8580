"""Learning-rate schedules, as torch.optim.lr_scheduler."""

from ocl import _C

LRScheduler = _C._optim.LRScheduler
LambdaLR = _C._optim.LambdaLR
StepLR = _C._optim.StepLR
MultiStepLR = _C._optim.MultiStepLR
ConstantLR = _C._optim.ConstantLR
LinearLR = _C._optim.LinearLR
ExponentialLR = _C._optim.ExponentialLR
PolynomialLR = _C._optim.PolynomialLR
CosineAnnealingLR = _C._optim.CosineAnnealingLR
CosineAnnealingWarmRestarts = _C._optim.CosineAnnealingWarmRestarts
SequentialLR = _C._optim.SequentialLR
ReduceLROnPlateau = _C._optim.ReduceLROnPlateau
OneCycleLR = _C._optim.OneCycleLR

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
