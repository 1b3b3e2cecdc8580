"""Which way a net went at each of its kinks, and the same net made to go another's ways.

Where a ReLU or a max pool sits near a tie, one rounding decides which way it goes, and a gradient moves by
percents; in PyTorch's float32 as in ours. Decisions are arrays in the order of the calls: for each element
the piece of a function that it fell on, for each window of a max pool the place of its largest element.
"""

import contextlib
from unittest import mock

import numpy as np
import torch

# By the class of module: where the pieces of the function end, and the pieces from left to right.
_PIECES = {
    "ReLU": ((0,), (lambda x: 0 * x, lambda x: x)),
    "ReLU6": ((0, 6), (lambda x: 0 * x, lambda x: x, lambda x: 0 * x + 6)),
    "Hardswish": ((-3, 3), (lambda x: 0 * x, lambda x: x * (x + 3) / 6, lambda x: x)),
    "Hardsigmoid": ((-3, 3), (lambda x: 0 * x, lambda x: x / 6 + 0.5, lambda x: 0 * x + 1)),
}
_POOL = "MaxPool2d"


def host_array(tensor):
    """The values of a tensor of torch or ocl, of whatever device, as an array of their own."""
    tensor = tensor.detach()
    return np.array((tensor.cpu() if isinstance(tensor, torch.Tensor) else tensor).numpy())


def _piece_of(x, kind):
    """The number of the piece that each element is on; an end belongs to the flat side, as in PyTorch."""
    values, ends = host_array(x), _PIECES[kind][0]
    pieces = (values > ends[0]).astype(np.uint8)
    return pieces + (values >= ends[1]) if len(ends) == 2 else pieces


class Recording:
    """Within ``of``, notes in `decisions` what a net of torch or ocl decides."""

    def __init__(self):
        self.decisions = []
        self._inside = False

    def of(self, library, net):
        return _replaced(library, net, self._at_function, self._at_pool)

    def _at_function(self, library, kind, original, x):
        self._note(lambda: _piece_of(x, kind))
        return self._original(original, x)

    def _at_pool(self, library, original, x, **options):
        def places():
            found = library.nn.functional.max_pool2d.original(x.detach(), **options, return_indices=True)
            return host_array(found[1])

        self._note(places)
        return self._original(original, x)

    def _note(self, decide):
        if not self._inside:
            self.decisions.append(decide())

    def _original(self, original, x):
        """PyTorch's modules call the functions that are replaced as well."""
        outer, self._inside = self._inside, True
        try:
            return original(x)
        finally:
            self._inside = outer


class Repeating:
    """Within ``of``, a net of torch decides as `decisions` say."""

    def __init__(self, decisions):
        self._decisions = iter(decisions)

    def of(self, library, net):
        return _replaced(library, net, self._at_function, self._at_pool)

    def _at_function(self, library, kind, original, x):
        decision = library.from_numpy(next(self._decisions)).to(x.device)
        pieces = [piece(x) for piece in _PIECES[kind][1]]
        y = pieces[0]
        for number, piece in enumerate(pieces[1:], start=1):
            y = library.where(decision == number, piece, y)
        return y

    def _at_pool(self, library, original, x, **options):
        places = library.from_numpy(next(self._decisions)).to(x.device)
        return x.flatten(2).gather(2, places.flatten(2)).reshape(places.shape)


@contextlib.contextmanager
def _replaced(library, net, at_function, at_pool):
    """Puts the two in the place of modules with kinks and of the functions that nets call themselves."""
    nn, functional = library.nn, library.nn.functional

    class Replaced(nn.Module):
        def __init__(self, original, call):
            super().__init__()
            self.call = lambda x: call(original, x)

        def forward(self, x):
            return self.call(x)

    def at_module(kind):
        if kind == _POOL:
            return lambda original, x: at_pool(library, original, x, **_pool_options(original))
        return lambda original, x: at_function(library, kind, original, x)

    for parent in list(net.modules()):
        for name, child in list(parent._modules.items()):
            kind = type(child).__name__
            if kind in _PIECES or kind == _POOL:
                setattr(parent, name, Replaced(child, at_module(kind)))

    original_relu, original_pool = functional.relu, functional.max_pool2d

    def relu(input, inplace=False):
        return at_function(library, "ReLU", lambda x: original_relu(x, inplace=inplace), input)

    def max_pool2d(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
    ):
        options = _pool(kernel_size, stride, padding, dilation, ceil_mode)
        return at_pool(library, lambda x: original_pool(x, **options), input, **options)

    max_pool2d.original = original_pool
    with mock.patch.multiple(functional, relu=relu, max_pool2d=max_pool2d):
        yield


def _pool(kernel_size, stride, padding, dilation, ceil_mode):
    return {
        "kernel_size": kernel_size,
        "stride": kernel_size if stride is None else stride,
        "padding": padding,
        "dilation": dilation,
        "ceil_mode": ceil_mode,
    }


def _pool_options(module):
    return _pool(module.kernel_size, module.stride, module.padding, module.dilation, module.ceil_mode)
