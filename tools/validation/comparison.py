"""How far our float32 and PyTorch's are from PyTorch's float64, of one net, forward and backward.

A tensor's distance is the norm of the difference over the norm of the float64 tensor. A net passes where each
of its tensors is at most `LIMIT` times as far off as PyTorch's float32.
"""

import copy
import math
import time
from dataclasses import dataclass

import numpy as np
import torch

import ocl

from .kinks import Smoothing

LIMIT = 4.0
# An exact result of PyTorch's, by luck, allows no division: roundings of the last bits are free.
FLOOR = 2 * float(np.finfo(np.float32).eps)
# What a tie may move a gradient by. An operator that is wrong moves it by more.
KINK_LIMIT = 0.05

PASS, PASS_KINKS, FAIL = "pass", "pass (kinks)", "FAIL"


@dataclass(frozen=True)
class Distance:
    """Of one tensor: how far we and PyTorch's float32 are from float64."""

    name: str
    ours: float
    torch: float

    @property
    def ratio(self):
        return self.ours / max(self.torch, FLOOR)

    @property
    def passes(self):
        return self.ratio <= LIMIT  # not so for NaN


@dataclass(frozen=True)
class Comparison:
    """The distances of one run: outputs, gradients (of the pictures and of each parameter), buffers."""

    outputs: list
    gradients: list
    buffers: list

    @property
    def passes(self):
        return self._all_pass(self.outputs + self.gradients + self.buffers)

    @property
    def only_gradients_fail_within(self):
        """Whether what fails is gradients, none by more than what a tie may do."""
        failing = [distance for distance in self.gradients if not distance.passes]
        return self._all_pass(self.outputs + self.buffers) and all(d.ours <= KINK_LIMIT for d in failing)

    @staticmethod
    def _all_pass(distances):
        return all(distance.passes for distance in distances)


def worst(distances):
    """The one of the largest ratio, or None of none."""
    return max(distances, key=lambda d: math.inf if math.isnan(d.ratio) else d.ratio, default=None)


@dataclass(frozen=True)
class Outcome:
    """What became of one net in one mode; `smooth` is None for a net without kinks."""

    net: str
    mode: str
    shape: tuple
    exact: Comparison
    smooth: Comparison | None
    seconds: float

    @property
    def verdict(self):
        """A net with kinks must pass with smooth functions in their place whatever else it does."""
        if self.smooth is not None and not self.smooth.passes:
            return FAIL
        if self.exact.passes:
            return PASS
        return PASS_KINKS if self.smooth is not None and self.exact.only_gradients_fail_within else FAIL


def validate(name, theirs, make_ours, pictures, mode):
    """Compares in `mode` ("train" or "eval") a net of PyTorch's with ours of the same weights.

    Args:
        theirs: PyTorch's module, float32; it is left as it is.
        make_ours: called without arguments, gives our module; the weights are loaded into it.
        pictures: the input, a float32 array.
    """
    start = time.perf_counter()
    exact = _compare(theirs, make_ours, pictures, mode, None)
    smoothing = Smoothing()
    smooth = _compare(theirs, make_ours, pictures, mode, smoothing)
    return Outcome(name, mode, pictures.shape, exact, smooth, time.perf_counter() - start)


def _compare(theirs, make_ours, pictures, mode, smoothing):
    truth = _run(torch, copy.deepcopy(theirs).double(), pictures.astype(np.float64), mode, smoothing)
    if smoothing is not None and not smoothing.sites:
        return None
    single = _run(torch, copy.deepcopy(theirs), pictures, mode, smoothing)
    ours = make_ours()
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    actual = _run(ocl, ours, pictures, mode, smoothing)
    return Comparison(*map(_distances, truth, actual, single))


def _run(library, net, pictures, mode, smoothing):
    """(outputs, gradients, buffers), each {name: array or None}."""
    net.train(mode == "train")
    _draw_nothing(net)
    if smoothing is not None:
        with smoothing.of(library, net):
            return _forward_and_backward(library, net, pictures)
    return _forward_and_backward(library, net, pictures)


def _forward_and_backward(library, net, pictures):
    x = library.tensor(pictures, requires_grad=True)
    outputs = net(x)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    rng = np.random.default_rng(2)
    upstream = [rng.uniform(-1, 1, tuple(output.shape)).astype(np.float32) for output in outputs]
    total = sum(
        (output * library.tensor(given.astype(pictures.dtype))).sum()
        for output, given in zip(outputs, upstream, strict=True)
    )
    total.backward()
    gradients = {"(pictures)": x.grad} | {name: p.grad for name, p in net.named_parameters()}
    return (
        {f"output {i}": _array(output) for i, output in enumerate(outputs)},
        {name: _array(gradient) for name, gradient in gradients.items()},
        {name: _array(buffer) for name, buffer in net.named_buffers()},
    )


def _draw_nothing(net):
    """What is random in training is left out: both libraries draw other numbers."""
    for module in net.modules():
        if "Dropout" in type(module).__name__ or type(module).__name__ == "StochasticDepth":
            module.p = 0.0


def _array(tensor):
    return None if tensor is None else np.array(tensor.detach().numpy())


def _distances(truth, actual, single):
    """A tensor that one side has and the other has not is as far off as can be."""
    return [
        Distance(
            name,
            _relative(actual.get(name), truth.get(name)),
            _relative(single.get(name), truth.get(name)),
        )
        for name in dict.fromkeys([*truth, *actual])
    ]


def _relative(values, truth):
    if values is None and truth is None:
        return 0.0
    if values is None or truth is None or values.shape != truth.shape:
        return math.inf
    truth = truth.astype(np.float64)
    difference = float(np.linalg.norm((values - truth).ravel()))
    norm = float(np.linalg.norm(truth.ravel()))
    if difference == 0:
        return 0.0
    return difference / norm if norm else math.inf
