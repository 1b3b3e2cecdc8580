"""Operators with several results of which the loss uses some: every subset, every way to differentiate.

The operators are all of cases/ that give several results in PyTorch, so that a new one joins by itself, and
those of OTHERS, which are no rows of the table: layers, functions of the user's, chains. The view of each
way is compared with PyTorch's in float64: which gradients there are, and their values.
"""

import functools
import itertools
import warnings

import cases
import numpy as np
import pytest
import torch
from comparison import array_of, as_list, drawn
from support import skip_without

import ocl

MOST_SUBSETS = 12
CASES_EACH = 2


def is_tensor(value):
    return isinstance(value, (torch.Tensor, ocl.Tensor))


def flat(results):
    """The tensors of a result, in order; states of recurrent layers are tuples within."""
    parts = [flat(r) if isinstance(r, (tuple, list)) else [r] for r in as_list(results)]
    return [t for part in parts for t in part if is_tensor(t)]


def numbers(lib, shape, seed):
    values = np.random.default_rng(seed).uniform(-1, 1, shape)
    return lib.tensor(values, dtype=lib.float64)


def with_weights(lib, module):
    with lib.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(lib, tuple(parameter.shape), [i, 3]))
    return module


# --- what is no row of the table


def attention(**options):
    def call(lib, query, key, value):
        layer = with_weights(lib, lib.nn.MultiheadAttention(4, 2, dtype=lib.float64))
        return layer(query, key, value, **options)

    return call, [(3, 2, 4), (5, 2, 4), (5, 2, 4)]


def self_attention(lib, x):
    return with_weights(lib, lib.nn.MultiheadAttention(4, 2, dtype=lib.float64))(x, x, x)


def recurrent(name, **options):
    def call(lib, x):
        return with_weights(lib, getattr(lib.nn, name)(3, 4, dtype=lib.float64, **options))(x)

    return call, [(2, 3, 3)]


def packed(lib, x):
    layer = with_weights(lib, lib.nn.LSTM(3, 4, dtype=lib.float64))
    rows = lib.nn.utils.rnn.pack_padded_sequence(x, lib.tensor([3, 1]), enforce_sorted=False)
    output, states = layer(rows)
    return lib.nn.utils.rnn.pad_packed_sequence(output)[0], states


def function_of_several(materialises, returns_input=False):
    def call(lib, x, y):
        class Several(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x, y)
                ctx.set_materialize_grads(materialises)
                places = (x > 0).to(lib.int64)
                constant = x + 1
                ctx.mark_non_differentiable(places, constant)
                return x * y, places, y * y, constant, x - y

            @staticmethod
            def backward(ctx, by_product, by_places, by_square, by_constant, by_difference):
                x, y = ctx.saved_tensors
                if materialises:
                    given = by_product, by_places, by_square, by_constant, by_difference
                    assert all(tuple(g.shape) == tuple(x.shape) for g in given)
                dx = dy = lib.zeros_like(x)
                if by_product is not None:
                    dx, dy = dx + by_product * y, dy + by_product * x
                if by_square is not None:
                    dy = dy + 2 * y * by_square
                if by_difference is not None:
                    dx, dy = dx + by_difference, dy - by_difference
                return dx, dy

        return Several.apply(x, y)

    return call, [(2, 3), (2, 3)]


def parts_of_a_result(lib, x):
    y = x.sigmoid()
    return [*y.unbind(0), *y.chunk(2, 1)]


OTHERS = {
    "MultiheadAttention": attention(),
    "MultiheadAttention by heads": attention(average_attn_weights=False),
    "MultiheadAttention of one tensor": (self_attention, [(3, 2, 4)]),
    "LSTM": recurrent("LSTM", num_layers=2, bidirectional=True),
    "LSTM with projections": recurrent("LSTM", proj_size=2, batch_first=True),
    "GRU": recurrent("GRU", num_layers=2),
    "RNN": recurrent("RNN", bidirectional=True),
    "packed LSTM": (packed, [(3, 2, 3)]),
    "Function": function_of_several(True),
    "Function that takes None": function_of_several(False),
    "parts of a result": (parts_of_a_result, [(2, 4)]),
    "max_pool2d": (lambda lib, x: lib.nn.functional.max_pool2d(x, 2, return_indices=True), [(1, 2, 4, 4)]),
}


class Subject:
    """One call of an operator: function(lib, *inputs) on arrays of which floating ones are leaves."""

    def __init__(self, function, inputs):
        self.function, self.inputs = function, inputs

    def build(self, lib):
        """Leaves and what is made of them for the call, in float64."""
        leaves, views = [], []
        for item in self.inputs:
            if not isinstance(item, cases.Input):
                leaves.append(item(lib).requires_grad_())
                views.append(leaves[-1])
                continue
            leaf = item.build(
                lambda a: lib.tensor(np.array(a, "float64" if a.dtype.kind == "f" else a.dtype))
            )[0]
            if item.is_floating:
                leaves.append(leaf.requires_grad_())
            views.append(item.build(lambda _, leaf=leaf: leaf)[1])
        return leaves, views

    def run(self, lib):
        """Leaves and results."""
        leaves, views = self.build(lib)
        return leaves, flat(self.function(lib, *views))


@functools.cache
def subjects(name):
    """A few small calls that give several results."""
    if name in OTHERS:
        function, shapes = OTHERS[name]
        return [Subject(function, [lambda lib, s=s, i=i: numbers(lib, s, [i]) for i, s in enumerate(shapes)])]
    found = []
    for case in (drawn(name, seed) for seed in range(12)):
        subject = Subject(case.function, case.inputs)
        if case.backward and sum(i.is_floating for i in case.inputs) and 1 < useful_results(subject):
            found.append((sum(i.array.size for i in case.inputs), len(found), subject))
    return [subject for _, _, subject in sorted(found)[:CASES_EACH]]


def useful_results(subject):
    """How many results PyTorch gives, if one of them has elements and a gradient."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = subject.run(torch)[1]
    return len(results) if any(r.requires_grad and r.numel() for r in results) else 0


def operators_with_several_results():
    def has(name):
        try:
            return bool(subjects(name))
        except RuntimeError:  # no kernel of PyTorch's for float64
            return False

    return [*OTHERS, *(name for name in sorted(cases.CASES) if has(name))]


def subsets_of(results):
    """All subsets of the results that have gradients, one of several draws where those are many."""
    useful = [i for i, r in enumerate(results) if r.requires_grad]
    every = [s for n in range(len(useful) + 1) for s in itertools.combinations(useful, n)]
    if len(every) <= MOST_SUBSETS:
        return every
    few = [s for s in every if len(s) in (0, 1, len(useful))][: MOST_SUBSETS // 2]
    rest = [s for s in every if s not in few]
    order = np.random.default_rng(0).permutation(len(rest))
    return [*few, *(rest[i] for i in order[: MOST_SUBSETS - len(few)])]


# --- ways to differentiate: each gives the tensors, or None, that it has seen


def loss_of(lib, results, subset, leaves):
    """A sum in which every element has a weight of its own, and the leaves have a part, too."""
    terms = [(results[i] * numbers(lib, tuple(results[i].shape), [i, 7])).sum() for i in subset]
    return sum([*terms, (leaves[0] * 0.5).sum()])


def by_backward(lib, results, subset, leaves):
    loss_of(lib, results, subset, leaves).backward()
    return [x.grad for x in leaves]


def by_grad(lib, results, subset, leaves):
    return lib.autograd.grad(loss_of(lib, results, subset, leaves), leaves, allow_unused=True)


def by_grad_towards_one(lib, results, subset, leaves):
    loss = loss_of(lib, results, subset, leaves)
    return [
        lib.autograd.grad(loss, x, allow_unused=True, retain_graph=True, materialize_grads=True)[0]
        for x in leaves
    ]


def by_grad_of_results(lib, results, subset, leaves):
    if not subset:
        return []
    chosen = [results[i] for i in subset]
    upstream = [numbers(lib, tuple(r.shape), [i, 7]) for i, r in zip(subset, chosen, strict=True)]
    return lib.autograd.grad(chosen, leaves, upstream, allow_unused=True)


def by_grad_towards_results(lib, results, subset, leaves):
    wanted = [r for r in results if r.requires_grad]
    return lib.autograd.grad(loss_of(lib, results, subset, leaves), [*wanted, *leaves], allow_unused=True)


def twice(lib, results, subset, leaves):
    loss = loss_of(lib, results, subset, leaves)
    loss.backward(retain_graph=True)
    loss.backward()
    return [x.grad for x in leaves]


def one_by_one(lib, results, subset, leaves):
    for i in subset:
        loss_of(lib, results, [i], leaves).backward(retain_graph=True)
    return [x.grad for x in leaves]


def other_after_other(lib, results, subset, leaves):
    """First the subset, then what it leaves out."""
    rest = [i for i, r in enumerate(results) if r.requires_grad and i not in subset]
    loss_of(lib, results, subset, leaves).backward(retain_graph=True)
    loss_of(lib, results, rest, leaves).backward()
    return [x.grad for x in leaves]


def with_hooks(lib, results, subset, leaves):
    """The gradients that hooks see on results and leaves; they double what they see. Those of results that
    the loss does not use see None in PyTorch, and are not called here.
    """
    seen = {}

    def watching(place):
        def hook(gradient):
            if gradient is not None:
                assert place not in seen
                seen[place] = gradient.clone()
                return gradient * 2
            return None

        return hook

    watched = [*(r for r in results if r.requires_grad), *leaves]
    for place, tensor in enumerate(watched):
        tensor.register_hook(watching(place))
    loss_of(lib, results, subset, leaves).backward()
    return [*(seen.get(place) for place in range(len(watched))), *(x.grad for x in leaves)]


def with_retained_gradients(lib, results, subset, leaves):
    kept = [r for r in results if r.requires_grad]
    for r in kept:
        r.retain_grad()
    loss_of(lib, results, subset, leaves).backward()
    return [t.grad for t in (*kept, *leaves)]


def with_the_rest_detached(lib, results, subset, leaves):
    """The loss uses them all, some without their history."""
    used = [r if i in subset else r.detach() for i, r in enumerate(results)]
    floating = [i for i, r in enumerate(results) if r.requires_grad]
    loss_of(lib, used, floating, leaves).backward()
    return [x.grad for x in leaves]


WAYS = {
    way.__name__: way
    for way in (
        by_backward,
        by_grad,
        by_grad_towards_one,
        by_grad_of_results,
        by_grad_towards_results,
        twice,
        one_by_one,
        other_after_other,
        with_hooks,
        with_retained_gradients,
        with_the_rest_detached,
    )
}


# PyTorch computes h of an LSTM's cell from c, on the CPU: ways that see gradients of results show that.
OF_RESULTS = (by_grad_towards_results, with_hooks, with_retained_gradients)
CHAINED = ("lstm_cell",)


def expect_same(ours, theirs, where):
    assert [t is None for t in ours] == [t is None for t in theirs], where
    arrays = [(array_of(a), array_of(b)) for a, b in zip(ours, theirs, strict=True) if a is not None]
    largest = max((np.abs(b).max(initial=0) for _, b in arrays), default=0)
    for i, (a, b) in enumerate(arrays):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9 * largest, err_msg=f"{where}: {i}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", operators_with_several_results())
def test_subsets(name, way):
    skip_without("float64")
    if name in CHAINED and way in OF_RESULTS:
        pytest.skip("PyTorch's CPU computes one result from the other")
    for number, subject in enumerate(subjects(name)):
        for subset in subsets_of(subject.run(torch)[1]):
            seen = []
            for lib in (ocl, torch):
                leaves, results = subject.run(lib)
                seen.append(way(lib, results, subset, leaves))
            expect_same(*seen, f"case {number}, results {subset}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", operators_with_several_results())
def test_one_of_them_written_in_place(name):
    """The gradient is that of the same written out of place; it is refused only where PyTorch refuses it."""
    skip_without("float64")

    def run(lib, subject, subset, written, in_place):
        leaves, results = subject.run(lib)
        factor = numbers(lib, tuple(results[written].shape), [5])
        if in_place:
            results[written].mul_(factor)
        else:
            results[written] = results[written] * factor
        return by_backward(lib, results, subset, leaves)

    for subject in subjects(name):
        theirs = subject.run(torch)[1]
        for written in (i for i, r in enumerate(theirs) if r.requires_grad):
            for subset in subsets_of(theirs)[:6]:
                where = f"results {subset}, {written} written"
                try:
                    ours = run(ocl, subject, subset, written, in_place=True)
                except RuntimeError:
                    with pytest.raises(RuntimeError):
                        run(torch, subject, subset, written, in_place=True)
                    continue
                expect_same(ours, run(torch, subject, subset, written, in_place=False), where)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("replaces", [False, True], ids=["looks", "replaces"])
@pytest.mark.parametrize("name", operators_with_several_results())
def test_module_backward_hooks(name, replaces):
    """The operator as a module whose hook sees the gradients of results and inputs, None where there is
    none."""
    skip_without("float64")

    def run(lib, subject, subset):
        class Whole(lib.nn.Module):
            def forward(self, *given):
                return tuple(flat(subject.function(lib, *given)))

        seen = []

        def hook(module, grad_input, grad_output):
            seen.extend([*grad_input, *grad_output])
            return tuple(None if g is None else g * 2 for g in grad_input) if replaces else None

        leaves, views = subject.build(lib)
        module = Whole()
        module.register_full_backward_hook(hook)
        loss_of(lib, module(*views), subset, leaves).backward()
        return [*seen, *(x.grad for x in leaves)]

    for subject in subjects(name):
        for subset in subsets_of(subject.run(torch)[1]):
            # Zeros stand for None below PyTorch's hook of the results.
            seen = []
            for lib in (ocl, torch):
                leaves = subject.build(lib)[0]
                found = run(lib, subject, subset)
                seen.append([lib.zeros(()) if g is None or not g.abs().sum() else g for g in found])
                assert len(found) >= len(leaves)
            expect_same(*seen, f"results {subset}")


def test_the_list_knows_the_operators():
    found = set(operators_with_several_results())
    assert {"lstm", "gru", "lstm_cell", "max", "min", "sort", "topk", "std_mean", "var_mean"} <= found
    assert {"split", "chunk", "unbind", "meshgrid"} <= found
