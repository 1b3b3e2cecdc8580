"""Nets on ocl beside PyTorch's CPU: how far results and gradients are from float64's, and losses of steps.

A case is an object with `net()`, `batch(seed)` (tensors, of which floating ones take the net's dtype) and
`run(net, batch)`, which gives the output and the loss.
"""

import copy
import statistics

import torch

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


def copies(net):
    """On the CPU, on the device, and in float64."""
    return copy.deepcopy(net), copy.deepcopy(net).to("ocl"), copy.deepcopy(net).double()


def placed(batch, net):
    parameter = next(net.parameters())

    def place(t):
        return t.to(parameter.device, parameter.dtype if t.is_floating_point() else t.dtype)

    return [place(t) for t in batch]


def results_of(case, net, batch):
    """The output and the gradients, in float64, and the loss."""
    net.zero_grad()
    output, loss = case.run(net, placed(batch, net))
    loss.backward()
    tensors = [output.detach(), *(p.grad for p in net.parameters() if p.grad is not None)]
    return [t.cpu().double() for t in tensors], loss.item()


def distance(results, truth):
    return [float((r - t).norm() / t.norm().clamp_min(1e-12)) for r, t in zip(results, truth, strict=True)]


def compare(case):
    """Of the output and of every gradient that is more than rounding: the distances of PyTorch's CPU from
    float64 and of ocl, summed over batches."""
    nets = copies(case.net())
    sums, norms = [0, 0], 0
    for seed in range(BATCHES):
        batch = case.batch(seed)
        theirs, ours, truth = (results_of(case, net, batch)[0] for net in nets)
        sums = [
            [a + b for a, b in zip(before or [0] * len(truth), distance(r, truth), strict=True)]
            for before, r in zip(sums, (theirs, ours), strict=True)
        ]
        norms = [max(float(t.norm()), n) for t, n in zip(truth, norms or [0] * len(truth), strict=True)]
    # A gradient that is zero but for rounding, as of a bias before batch norm, has no distance to compare.
    counted = [i for i, norm in enumerate(norms) if i and norm > 1e-5 * max(norms[1:])]
    assert len(counted) > len(norms) / 2
    return [(sums[0][i], sums[1][i]) for i in (0, *counted)]


def assert_as_near_as_theirs(case):
    """At most 4 times as far from float64 as PyTorch's CPU."""
    (their_output, our_output), *gradients = compare(case)
    assert our_output <= 4 * their_output + 1e-6
    typical = statistics.median(theirs for theirs, _ in gradients)
    for i, (theirs, ours) in enumerate(gradients):
        assert ours <= 4 * max(theirs, typical), i


def losses_of(case, net, lr=1e-3, steps=5):
    optimizer = torch.optim.SGD(net.parameters(), lr, momentum=0.9)
    batch = case.batch(0)
    losses = []
    for _ in range(steps):
        losses.append(results_of(case, net, batch)[1])
        optimizer.step()
    return losses


def give_statistics(net, batch):
    """Batch norms by the statistics of that batch from now on: by those of each batch anew, of four small
    pictures, deep nets are chaotic, and PyTorch's own float32 leaves float64's losses by some percent in five
    steps."""
    norms = [m for m in net.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    for norm in norms:
        norm.momentum = 1.0
    with torch.no_grad():
        net(batch[0])
    for norm in norms:
        norm.eval()


def assert_steps_agree(case, by_given_statistics=True):
    """Losses of five steps within 1e-3 of those of PyTorch's CPU."""
    net = case.net()
    if by_given_statistics:
        give_statistics(net, case.batch(0))
    theirs, ours = (losses_of(case, one) for one in copies(net)[:2])
    assert theirs[4] < theirs[0]
    for their_loss, our_loss in zip(theirs, ours, strict=True):
        assert abs(our_loss - their_loss) <= 1e-3 * abs(their_loss), (ours, theirs)
