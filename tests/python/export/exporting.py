"""Tests of torch.export take their modules and programs from here."""

import warnings

from torch import nn
from torch.export import export


class Of(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def exported(module, *args, decomposed=False, **options):
    """Its program, without PyTorch's warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = export(module, args, **options)
        return program.run_decompositions() if decomposed else program
