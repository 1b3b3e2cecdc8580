"""Calls of operators in forward mode, under vmap, and their second derivatives, beside the CPU's.

Each function takes an operator and a Sample, and gives the tensors to compare.
"""

import itertools

import torch
from torch.autograd import forward_ad
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from torch_samples import Check, NotOnTheCpu, Sample, is_plain, ramp, tensors_of


def differentiable(sample, result):
    return [t for t in tensors_of(sample.process(result)) if is_plain(t) and t.is_floating_point()]


def tangents(op, sample):
    """Results and their tangents, for fixed, uneven tangents of the leaves."""
    with forward_ad.dual_level():
        sample.arguments = tree_map_only(
            torch.Tensor,
            lambda t: forward_ad.make_dual(t.detach(), ramp(t)) if t.requires_grad else t,
            sample.arguments,
        )
        results = [forward_ad.unpack_dual(t) for t in differentiable(sample, sample.call(op))]
        moved = [t for t in results if t.tangent is not None]
        return [t.primal for t in moved] + [t.tangent for t in moved]


def of_batches(op, sample):
    """Results for two examples: of all tensors, and of the first alone."""
    given, structure = tree_flatten(sample.arguments)
    given = [t.detach() if isinstance(t, torch.Tensor) else t for t in given]
    places = [i for i, t in enumerate(given) if isinstance(t, torch.Tensor)]

    def one(*tensors):
        arguments = list(given)
        for place, tensor in zip(places, tensors, strict=True):
            arguments[place] = tensor
        sample.arguments = tree_unflatten(arguments, structure)
        return tuple(tensors_of(sample.call(op)))

    def two(t):
        other = t.flip(tuple(range(t.dim()))) if t.is_floating_point() else t
        return torch.stack([t, other])

    results = []
    for batched in (len(places), 1)[: len(places)]:
        tensors = [two(given[p]) if i < batched else given[p] for i, p in enumerate(places)]
        dims = tuple(0 if i < batched else None for i in range(len(places)))
        results += torch.func.vmap(one, in_dims=dims, randomness="different")(*tensors)
    return results


def second_gradients(op, sample):
    """Gradients of fixed, uneven sums of the gradients, for the leaves and for the weights of the results."""
    outputs = [t for t in differentiable(sample, sample.call(op)) if t.grad_fn is not None]
    weights = [ramp(t).requires_grad_() for t in outputs]
    first = torch.autograd.grad(outputs, sample.leaves, weights, create_graph=True, allow_unused=True)
    first = [t for t in first if t is not None and t.grad_fn is not None]
    to = [*sample.leaves, *weights]
    second = torch.autograd.grad(first, to, [ramp(t) for t in first], allow_unused=True) if first else ()
    return [t for t in itertools.chain(first, second) if t is not None]


KINDS = {"forward": tangents, "vmap": of_batches, "gradgrad": second_gradients}


class DerivedCheck(Check):
    """Compares what a function of KINDS gives."""

    def __init__(self, op, dtype, device, kind):
        super().__init__(op, dtype, device)
        self.kind = kind

    def _sample(self, sample):
        results = KINDS[self.kind]
        try:
            expected = self.on_the_cpu(sample, lambda: results(self.op, self.theirs(sample)))
        except NotOnTheCpu:
            return False
        if not expected:
            self.reason = "no tensors to compare"
            return False
        self.compare(self.kind, results(self.op, Sample(sample, self.device, self.op.name)), expected)
        return True
