"""How far our float32 and PyTorch's are from PyTorch's float64, of one net, forward and backward.

A tensor's distance is the norm of the difference over the norm of the float64 tensor. A net passes where each
of its tensors is at most `LIMIT` times as far off as PyTorch's float32.
"""

import copy
import math
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import torch

import ocl

from .kinks import Recording, Repeating, host_array

LIMIT = 4.0
# An exact result of PyTorch's, by luck, allows no division: roundings of the last bits are free.
FLOOR = 2 * float(np.finfo(np.float32).eps)

PASS, PASS_KINKS, FAIL = "pass", "pass (kinks)", "FAIL"


@dataclass(frozen=True)
class Distance:
    """The distances of one tensor of ours and of PyTorch's float32 from float64."""

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
    """All distances of a net in one mode.

    `values` are the outputs and, in train mode, the buffers. `gradients` are those of the pictures and of
    each parameter, `aligned` the same where float64 goes at each kink the way that the float32 went which it
    is compared with; and `decisions` is how far those ways take float64's outputs from where they were.
    """

    values: list
    gradients: list
    aligned: list
    decisions: list

    @property
    def verdict(self):
        if not all(d.passes for d in [*self.values, *self.aligned, *self.decisions]):
            return FAIL
        return PASS if all(d.passes for d in self.gradients) else PASS_KINKS


def worst(distances):
    """The one of the largest ratio."""
    return max(distances, key=lambda d: math.inf if math.isnan(d.ratio) else d.ratio)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one net in one mode."""

    net: str
    mode: str
    shape: tuple
    comparison: Comparison
    seconds: float

    @property
    def verdict(self):
        return self.comparison.verdict


@dataclass(frozen=True)
class Numbers:
    """The results of a run, {name: array or None}, and its decisions."""

    values: dict
    gradients: dict
    decisions: list

    @property
    def outputs(self):
        return {name: value for name, value in self.values.items() if name.startswith("(")}


def validate(name, theirs, ours, pictures, mode, twin=None, truth_device="cpu"):
    """Compares in `mode` ("train" or "eval") a net of PyTorch's with ours of the same weights.

    PyTorch's own distance of a tensor is the largest of those by its several ways to compute: where a
    gradient is a sum of which next to nothing is left, that of one way alone may be small by chance.

    Args:
        theirs: PyTorch's module, float32, on the CPU; it is left as it is.
        ours: our module; it gets the weights of `theirs`, and is good for nothing else afterwards.
        pictures: the input, a float32 array.
        twin: another of our modules, of the same operators, whose decisions are taken for those of `ours`:
            where forward is C++, no one from outside sees what it does between its submodules.
        truth_device: of PyTorch's, where float64 is computed.
    """
    start = time.perf_counter()
    truth = _Truth(theirs, pictures, mode, truth_device)
    own = [truth.distances_of(run(theirs, pictures, mode)) for run in _TORCH_RUNS]
    actual = truth.distances_of(_our_numbers(theirs, ours, twin, pictures, mode))
    comparison = Comparison(
        *(
            [
                Distance(name, actual[kind].get(name, math.inf), max(one[kind].get(name, 0.0) for one in own))
                for name in dict.fromkeys([*own[0][kind], *actual[kind]])
            ]
            for kind in ("values", "gradients", "aligned", "decisions")
        )
    )
    return Outcome(name, mode, pictures.shape, comparison, time.perf_counter() - start)


def _our_numbers(theirs, ours, twin, pictures, mode):
    weights = {key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()}
    nets = [net for net in (ours, twin) if net is not None]
    for net in nets:
        net.load_state_dict(weights)
    numbers, *others = (_run(ocl, net, pictures, mode) for net in nets)
    return replace(numbers, decisions=others[0].decisions) if others else numbers


class _Truth:
    """PyTorch's float64, going its own ways at the kinks or another's."""

    def __init__(self, theirs, pictures, mode, device):
        self._theirs, self._pictures, self._mode = theirs, pictures.astype(np.float64), mode
        self._device = device
        self._own = self._numbers(None)

    def _numbers(self, decisions):
        net = copy.deepcopy(self._theirs).to(self._device, torch.float64)
        numbers = _run(torch, net, self._pictures, self._mode, decisions)
        del net
        if self._device != "cpu":
            torch.get_device_module(self._device).empty_cache()  # ours may be the same device
        return numbers

    def distances_of(self, found):
        """{"values", "gradients", "aligned", "decisions"}: each {name of a tensor: distance}."""
        aligned = self._aligned(found.decisions)
        return {
            "values": _distances(found.values, self._own.values),
            "gradients": _distances(found.gradients, self._own.gradients),
            "aligned": _distances(found.gradients, aligned.gradients),
            "decisions": _distances(aligned.outputs, self._own.outputs),
        }

    def _aligned(self, decisions):
        own = self._own.decisions
        if len(decisions) != len(own) or any(a.shape != b.shape for a, b in zip(decisions, own, strict=True)):
            raise ValueError(f"the nets differ: {len(decisions)} calls with kinks, PyTorch's has {len(own)}")
        if all(np.array_equal(a, b) for a, b in zip(decisions, own, strict=True)):
            return self._own
        return self._numbers(decisions)


def _run_plainly(theirs, pictures, mode):
    return _run(torch, copy.deepcopy(theirs), pictures, mode)


def _run_channels_last(theirs, pictures, mode):
    net = copy.deepcopy(theirs).to(memory_format=torch.channels_last)
    return _run(torch, net, pictures, mode, memory_format=torch.channels_last)


def _run_without_onednn(theirs, pictures, mode):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what GPUs could do
        with torch.backends.mkldnn.flags(enabled=False):
            return _run(torch, copy.deepcopy(theirs), pictures, mode)


_TORCH_RUNS = (_run_plainly, _run_channels_last, _run_without_onednn)


def _run(library, net, pictures, mode, decisions=None, **options):
    """The Numbers of a net, which decides as `decisions` say if they are given."""
    net.train(mode == "train")
    _draw_nothing(net)
    recording = Recording()
    with recording.of(library, net) if decisions is None else Repeating(decisions).of(library, net):
        values, gradients = _forward_and_backward(library, net, pictures, **options)
    return Numbers(values, gradients, recording.decisions)


def _forward_and_backward(library, net, pictures, **options):
    device = next(net.parameters()).device
    leaf = library.tensor(pictures, device=device, requires_grad=True)
    outputs = net(leaf.contiguous(**options) if options else leaf)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    rng = np.random.default_rng(2)
    upstream = [rng.uniform(-1, 1, tuple(output.shape)).astype(np.float32) for output in outputs]
    total = sum(
        (output * library.tensor(given.astype(pictures.dtype), device=device)).sum()
        for output, given in zip(outputs, upstream, strict=True)
    )
    total.backward()
    values = {f"(output {i})": host_array(output) for i, output in enumerate(outputs)}
    if net.training:
        values |= {name: host_array(buffer) for name, buffer in net.named_buffers()}
    gradients = {"(pictures)": leaf.grad} | {name: p.grad for name, p in net.named_parameters()}
    return values, {name: None if g is None else host_array(g) for name, g in gradients.items()}


def _draw_nothing(net):
    """Random layers of training are left out: both libraries draw other numbers."""
    for module in net.modules():
        if "Dropout" in type(module).__name__ or type(module).__name__ == "StochasticDepth":
            module.p = 0.0


def _distances(values, truth):
    """A tensor that one side has and the other has not is as far off as can be."""
    return {name: _relative(values.get(name), truth.get(name)) for name in dict.fromkeys([*truth, *values])}


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
