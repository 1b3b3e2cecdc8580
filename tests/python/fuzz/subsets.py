"""Operators with several results, of which the loss uses some.

The operators are those of tests/python/ops/cases that give several results in PyTorch, and those of MORE. A
case picks a subset of the results and a way to differentiate them; what that gives is compared as any
operator's results are, and so is which gradients there are.
"""

import functools
import warnings

import cases
import comparison
import numpy as np
import torch
from cases.harness import Case

from fuzz.found import Found
from fuzz.hostile import HostileDraw, described
from fuzz.operators import attempt, judge
from fuzz.spies import is_tensor
from fuzz.twins import set_weights, weights_like

LIMITS = (3, 8, 30, 200)


# --- operators that are no rows of the cases


def attention(draw):
    """The module with weights that are no inputs, on one tensor or on three."""
    width, heads = draw.choice([(2, 1), (4, 2), (8, 2)])
    batch, queries = draw.integer(1, 3), draw.integer(1, 5)
    options = draw.choice([{}, {}, {"average_attn_weights": False}, {"need_weights": False}])
    inputs = [draw.floats((queries, batch, width)) for _ in range(draw.choice([1, 3]))]

    def call(lib, *tensors):
        layer = set_weights(lib, lib.nn.MultiheadAttention(width, heads, dtype=tensors[0].dtype))
        return comparison.as_list(layer(*(tensors if len(tensors) == 3 else tensors * 3), **options))

    return Case(call, *inputs, unit="largest")


def function_of_several(draw):
    """A Function of the user's: three results, one of which may be whole numbers or not differentiable."""
    x, y = draw.floats(draw.shape(0, 3)), draw.floats((2,))
    integers, marked = draw.chance(0.3), draw.chance(0.3)
    materialised = draw.chance(0.7)

    def call(lib, x, y):
        class Several(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x, y)
                ctx.set_materialize_grads(materialised)
                third = (x > 0).to(lib.int64) if integers else x - 1
                if integers or marked:
                    ctx.mark_non_differentiable(third)
                return x * 2, y * y, third

            @staticmethod
            def backward(ctx, gx, gy, gz):
                x, y = ctx.saved_tensors
                first = None if gx is None else 2 * gx
                if not (integers or marked) and gz is not None:
                    first = gz if first is None else first + gz
                return first, None if gy is None else 2 * y * gy

        return Several.apply(x, y)

    return Case(call, x, y, unit="largest")


def joined(draw):
    """Results that are views of one tensor, written after they were made by what is differentiable."""
    x = draw.floats((draw.integer(2, 5), draw.integer(1, 4)))
    return Case(lambda lib, x: [*(x * 2).sigmoid().unbind(0)], x, unit="largest")


def of_lists(draw):
    """Gradients of several inputs, through operators that take lists and give lists."""
    shape = draw.shape(1, 2, largest=4)
    x, y = draw.floats(shape), draw.floats(shape)
    return Case(
        lambda lib, x, y: [*lib.stack([x, y]).chunk(2), *lib.cat([y, x]).split(1)], x, y, unit="largest"
    )


def whole_reductions(draw):
    """The value that one tensor is reduced to as a whole; one element may be NaN."""
    x = draw.distinct(draw.shape(0, 3, empty=False), "contiguous")
    if draw.chance(0.4):
        x.array.flat[draw.integer(0, x.array.size - 1)] = np.nan

    def call(lib, x):
        names = ("max", "min", "amax", "amin", "sum", "mean", "prod", "logsumexp", "norm")
        return [getattr(x, name)(*([tuple(range(x.dim()))] if name == "logsumexp" else [])) for name in names]

    return Case(call, x, unit="largest")


MORE = {
    "whole reductions": whole_reductions,
    "multi_head_attention": attention,
    "Function": function_of_several,
    "unbind of a result": joined,
    "chunk and split": of_lists,
}


@functools.cache
def names():
    """Whatever gives several results in PyTorch in one of its first cases."""
    found = list(MORE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(cases.CASES):
            drawn = [comparison.drawn(name, seed) for seed in range(4)]
            if any(has_several(case) for case in drawn if case.backward):
                found.append(name)
    return found


def has_several(case):
    results = []
    error = attempt(lambda: results.extend(comparison.Run(torch, case, "float32", backward=False).results))
    return error is None and len(results) > 1


def subject_of(seed):
    return names()[int(np.random.default_rng([seed, 5]).integers(len(names())))]


# --- ways to differentiate


def loss_of(lib, results, subset):
    """A sum in which every element has a weight of its own."""
    total = None
    for i in subset:
        term = (results[i] * weights_like(lib, results[i], i)).sum()
        total = term if total is None else total + term
    return total


def there(lib, tensors):
    """The tensors that are there, and one that says which are."""
    flags = lib.tensor(np.array([t is not None for t in tensors]))
    return [flags, *(t.detach() for t in tensors if t is not None)]


def by_backward(lib, results, subset, inputs):
    loss_of(lib, results, subset).backward()
    return there(lib, [x.grad for x in inputs])


def by_grad(lib, results, subset, inputs):
    return there(lib, lib.autograd.grad(loss_of(lib, results, subset), inputs, allow_unused=True))


def by_grad_of_results(lib, results, subset, inputs):
    chosen = [results[i] for i in subset]
    upstream = [weights_like(lib, r, i) for i, r in zip(subset, chosen, strict=True)]
    return there(lib, lib.autograd.grad(chosen, inputs, upstream, allow_unused=True))


def twice(lib, results, subset, inputs):
    loss = loss_of(lib, results, subset)
    loss.backward(retain_graph=True)
    loss.backward()
    return there(lib, [x.grad for x in inputs])


def one_by_one(lib, results, subset, inputs):
    for i in subset:
        loss_of(lib, results, [i]).backward(retain_graph=True)
    return there(lib, [x.grad for x in inputs])


def with_hooks(lib, results, subset, inputs):
    """Hooks on every result and input: which are called, and with what."""
    seen = [None] * (len(results) + len(inputs))

    def watch(place):
        def hook(gradient):
            seen[place] = gradient if seen[place] is None else seen[place] + gradient

        return hook

    for place, tensor in enumerate([*results, *inputs]):
        if tensor.requires_grad:
            tensor.register_hook(watch(place))
    loss_of(lib, results, subset).backward()
    return there(lib, seen)


def retained(lib, results, subset, inputs):
    for result in results:
        if result.requires_grad and not result.is_leaf:
            result.retain_grad()
    loss_of(lib, results, subset).backward()
    return there(lib, [t.grad for t in (*results, *inputs) if t.is_leaf or t.retains_grad])


WAYS = {
    "backward": by_backward,
    "grad": by_grad,
    "grad of results": by_grad_of_results,
    "twice": twice,
    "one by one": one_by_one,
    "hooks": with_hooks,
    "retained gradients": retained,
}


def of_subset(case, way, subset_seed):
    """The case whose results are what the way gives for a subset that `subset_seed` decides."""
    wanted = np.random.default_rng(subset_seed).random(len(case.inputs)) < 0.8

    def call(lib, *tensors):
        floating = [i.is_floating for i in case.inputs]
        inputs = [
            t.detach().requires_grad_(bool(w)) if f else t
            for t, f, w in zip(tensors, floating, wanted, strict=True)
        ]
        results = list(filter(is_tensor, comparison.as_list(case.function(lib, *inputs))))
        useful = [i for i, r in enumerate(results) if r.requires_grad]
        leaves = [t for t in inputs if t.requires_grad]
        if not useful or not leaves:
            return [lib.tensor(np.array([r.requires_grad for r in results]))]  # nothing to differentiate
        rng = np.random.default_rng([subset_seed, 1])
        chosen = rng.permutation(useful)[: rng.integers(1, len(useful) + 1)]
        return WAYS[way](lib, results, [int(i) for i in sorted(chosen)], leaves)

    return Case(call, *case.inputs, unit="largest", backward=False)


def run_one(name, seed, limit, announce):
    name = name or subject_of(seed)
    draw = HostileDraw([seed, *name.encode()], limit or LIMITS[seed % len(LIMITS)])
    draw.has_specials = False
    case = (MORE.get(name) or cases.CASES[name])(draw)
    way, subset_seed = draw.choice(tuple(WAYS)), draw.integer(0, 2**31)
    if not case.backward:
        return None
    text = f"{name} by {way}, subset {subset_seed}: "
    text += ", ".join(described(i.array, i.layout) for i in case.inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = of_subset(case, way, subset_seed)
        found = judge(name, seed, drawn, None, lambda library: announce(library, text))
    return Found(found[0], f"subset: {name}", text, found[1]) if found else None


def smaller(seed):
    for limit in LIMITS:
        for other in range(30):
            yield 1000 * seed + other, limit
