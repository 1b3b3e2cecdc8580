"""Optimizers, as torch.optim: one launch a step for all parameters of a group."""

from ocl import _C
from ocl.optim import lr_scheduler

SGD = _C._optim.SGD
Adam = _C._optim.Adam
AdamW = _C._optim.AdamW
RMSprop = _C._optim.RMSprop
Adagrad = _C._optim.Adagrad
Optimizer = _C._optim.Optimizer

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
