"""Nets without kinks: smooth functions in place of those whose gradient jumps.

Where a ReLU or a max pool sits near a tie, one rounding decides which way it goes, and a gradient moves by
percents; in PyTorch's float32 as in ours. A net of smooth functions has no such points.
"""

import contextlib
from unittest import mock


def _silu(nn, module):
    return nn.SiLU()


def _average_pool(nn, module):
    return nn.AvgPool2d(module.kernel_size, module.stride, module.padding, ceil_mode=module.ceil_mode)


_MODULES = {
    "ReLU": _silu,
    "ReLU6": _silu,
    "Hardswish": _silu,
    "Hardsigmoid": lambda nn, module: nn.Sigmoid(),
    "MaxPool2d": _average_pool,
}


class Smoothing:
    """Within `of`, a net of torch or ocl is smooth, whether it asks for modules or for functions.

    `sites` counts the modules that were replaced and the calls that were.
    """

    def __init__(self):
        self.sites = 0

    @contextlib.contextmanager
    def of(self, library, net):
        self._replace_modules(library.nn, net)
        functional = library.nn.functional

        def relu(input, inplace=False):
            self.sites += 1
            return functional.silu(input)

        def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
            self.sites += 1
            return functional.avg_pool2d(input, kernel_size, stride, padding, ceil_mode)

        with mock.patch.multiple(functional, relu=relu, max_pool2d=max_pool2d):
            yield

    def _replace_modules(self, nn, net):
        for parent in list(net.modules()):
            for name, child in list(parent._modules.items()):
                replacement = _MODULES.get(type(child).__name__)
                if replacement:
                    setattr(parent, name, replacement(nn, child))
                    self.sites += 1
