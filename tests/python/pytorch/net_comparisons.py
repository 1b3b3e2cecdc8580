"""Nets on ocl beside PyTorch's CPU: how far results and gradients are from float64's, and losses of steps.

A case is an object with `net()`, `batch(seed)` (tensors, of which floating ones take the net's dtype) and
`run(net, batch)`, which gives the output and the loss.
"""

import contextlib
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

# Rounding at a place is a draw from some distribution, and so is a single gradient's distance: sums of
# them over a few batches are compared.
BATCHES = 3


def without_chance(module):
    """The net without what is random, which is not the same on two devices."""
    for part in module.modules():
        if type(part).__name__ in ("Dropout", "StochasticDepth", "DropPath", "Dropout2d"):
            for name in ("p", "drop_prob"):
                if hasattr(part, name):
                    setattr(part, name, 0.0)
    return module


def without_zeros(net):
    """The net with numbers where it would begin with zeros, which hide the gradients behind them."""
    for name, parameter in net.named_parameters():
        if "layer_scale" in name:
            torch.nn.init.ones_(parameter)
        elif parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    return net


def copies(net):
    """On the CPU, on the device, and in float64."""
    return copy.deepcopy(net), copy.deepcopy(net).to("ocl"), copy.deepcopy(net).double()


def placed(batch, net):
    parameter = next(net.parameters())

    def place(t):
        return t.to(parameter.device, parameter.dtype if t.is_floating_point() else t.dtype)

    return [place(t) for t in batch]


class Kinks(TorchFunctionMode):
    """Notes on which side of its kinks every element of a rectifier lies, and which element every maximum is;
    or has them as they were noted.

    A gradient jumps where rounding moves an element to the other side: by a thousand times what rounding else
    changes, in some batches, for one library or the other. So each is compared with float64 on its own sides.
    """

    def __init__(self, noted=None):
        super().__init__()
        self.noted, self.is_replayed = noted or [], noted is not None
        self.rest = iter(self.noted)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function.__name__ == "max_pool2d":
            return self.pool(*args, **kwargs)
        rectifier = rectifier_of(function, kwargs)
        if not rectifier:
            return function(*args, **kwargs)
        x = args[0]
        bounds, pieces = rectifier
        if not self.is_replayed:
            self.noted.append(sum((x > bound).to(torch.int32) for bound in bounds).cpu())
            return function(*args, **kwargs)
        side = next(self.rest)
        return sum(torch.where(side == i, piece(x), 0.0) for i, piece in enumerate(pieces))

    def pool(self, x, *args, return_indices=False, **kwargs):
        if not self.is_replayed:
            result, places = F.max_pool2d(x, *args, return_indices=True, **kwargs)
            self.noted.append(places.cpu())
            return result
        places = next(self.rest)
        return x.flatten(2).gather(2, places.flatten(2)).view(places.shape)


def rectifier_of(function, options):
    """Where the function's kinks are, and what it is between them; None of one that is no rectifier."""
    name = function.__name__.rstrip("_")
    if name == "hardtanh":
        least, most = options["min_val"], options["max_val"]
        within = (lambda x: torch.full_like(x, least), lambda x: x, lambda x: torch.full_like(x, most))
        return (least, most), within
    return {
        "relu": ((0,), (torch.zeros_like, lambda x: x)),
        "hardsigmoid": ((-3, 3), (torch.zeros_like, lambda x: x / 6 + 0.5, torch.ones_like)),
        "hardswish": ((-3, 3), (torch.zeros_like, lambda x: x * (x + 3) / 6, lambda x: x)),
    }.get(name)


def results_of(case, net, batch, kinks=None):
    """The output and the gradients, in float64, and the loss."""
    net.zero_grad()
    with kinks or contextlib.nullcontext():
        output, loss = case.run(net, placed(batch, net))
    loss.backward()
    tensors = [output.detach(), *(p.grad for p in net.parameters() if p.grad is not None)]
    return [t.cpu().double() for t in tensors], loss.item()


def distances(results, truth):
    return [float((r - t).norm() / t.norm().clamp_min(1e-12)) for r, t in zip(results, truth, strict=True)]


def compare(case):
    """For the output and for every gradient that is more than rounding: the distances of PyTorch's CPU from
    float64 and of ocl, summed over batches."""
    *nets, exact = copies(case.net())
    sums, norms = [0, 0], 0
    for seed in range(BATCHES):
        batch = case.batch(seed)
        for who, net in enumerate(nets):
            kinks = Kinks()
            results, _ = results_of(case, net, batch, kinks)
            truth, _ = results_of(case, exact, batch, Kinks(kinks.noted))
            sums[who] = sums[who] + np.array(distances(results, truth))
        norms = np.maximum(norms, [float(t.norm()) for t in truth])
    # A gradient that is zero but for rounding, as of a bias before batch norm, has no distance to compare.
    counted = [i for i, norm in enumerate(norms) if i and norm > 1e-5 * max(norms[1:])]
    assert len(counted) > len(norms) / 2
    return [(sums[0][i], sums[1][i]) for i in (0, *counted)]


def assert_as_near_as_theirs(case):
    """At most 4 times as far from float64 as PyTorch's CPU."""
    (their_output, our_output), *gradients = compare(case)
    assert our_output <= 4 * their_output + 1e-6
    for i, (theirs, ours) in enumerate(gradients):
        assert ours <= 4 * theirs, i


def assert_steps_agree(case, lr=1e-3, most_norm=float("inf")):
    """Losses of five steps within 1e-3 of those of PyTorch's CPU; gradients are clipped to `most_norm`."""
    losses = []
    for net in copies(case.net())[:2]:
        optimizer = torch.optim.SGD(net.parameters(), lr, momentum=0.9)
        losses.append([])
        for _ in range(5):
            losses[-1].append(results_of(case, net, case.batch(0))[1])
            torch.nn.utils.clip_grad_norm_(net.parameters(), most_norm)
            optimizer.step()
    theirs, ours = losses
    assert theirs[4] < theirs[0]
    for their_loss, our_loss in zip(theirs, ours, strict=True):
        assert abs(our_loss - their_loss) <= 1e-3 * abs(their_loss), (ours, theirs)
