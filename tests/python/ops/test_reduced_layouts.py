"""Reductions, and what else runs along dimensions, of permuted, expanded, stepped and offset tensors.

Sizes stand around the vector widths of the kernels, and small ones multiply to such: a kernel that takes the
end points of a run of elements for the whole run is found here.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from support import to_numpy

import ocl

SIZES = (1, 2, 2, 2, 3, 4, 4, 5, 8, 15, 16, 17, 31, 33)
MOST_ELEMENTS = 5000


@dataclass
class Layout:
    """How a view of `sizes` lies over a contiguous tensor: `order` names the dimension of the view that each
    dimension of memory is, outermost first."""

    sizes: tuple
    order: tuple
    steps: tuple
    offsets: tuple
    expanded: tuple

    def memory_shape(self):
        return tuple(
            1 if self.expanded[d] else self.offsets[d] + self.sizes[d] * self.steps[d] for d in self.order
        )

    def view(self, memory):
        """The view of `memory`, a tensor of either library."""
        own = tuple(
            slice(None) if self.expanded[d] else slice(self.offsets[d], None, self.steps[d])
            for d in self.order
        )
        wide = memory[own].expand([self.sizes[d] for d in self.order])
        return wide.permute([self.order.index(d) for d in range(len(self.sizes))])


def draw_layout(rng, lowest_rank=1):
    sizes = []
    for _ in range(int(rng.integers(lowest_rank, 6))):
        size = int(rng.choice(SIZES))
        if math.prod(sizes) * size <= MOST_ELEMENTS:
            sizes.append(size)
    if len(sizes) < lowest_rank:
        sizes += [2] * (lowest_rank - len(sizes))
    rank = len(sizes)
    return Layout(
        tuple(sizes),
        tuple(map(int, rng.permutation(rank))),
        tuple(map(int, rng.choice([1, 1, 1, 2, 3], rank))),
        tuple(map(int, rng.choice([0, 0, 1, 3], rank))),
        tuple(map(bool, rng.random(rank) < 0.2)),
    )


def dense(sizes, order):
    rank = len(sizes)
    return Layout(tuple(sizes), order, (1,) * rank, (0,) * rank, (False,) * rank)


# Sixteen elements whose first and last lie fifteen apart, and those between do not lie in order.
TRAPS = (
    dense((2, 4, 2, 2), (0, 2, 1, 3)),
    Layout((3, 2, 2, 4), (0, 1, 2, 3), (1, 1, 1, 1), (0, 0, 0, 8), (False, False, True, False)),
)


def view_pair(layout, values):
    """The view in both libraries, of memory filled with `values(shape)`."""
    array = values(layout.memory_shape())
    return layout.view(ocl.tensor(array)), layout.view(torch.from_numpy(array))


def draw_dims(rng, rank):
    dims = [d for d in range(rank) if rng.random() < 0.5] or [int(rng.integers(rank))]
    return tuple(dims)


def as_list(results):
    return list(results) if isinstance(results, tuple) else [results]


def assert_alike(function, ours, theirs, what, exact=False):
    for actual, expected in zip(as_list(function(ocl, ours)), as_list(function(torch, theirs)), strict=True):
        np.testing.assert_allclose(
            to_numpy(actual), to_numpy(expected), *((0, 0) if exact else (2e-5, 1e-5)), err_msg=str(what)
        )


# --- sums: exact, so that every permutation can be tried against NumPy's own view

SMALL_SHAPES = [
    (2, 2, 4, 2),
    (2, 8, 2),
    (4, 4, 2),
    (3, 5, 2),
    (2, 2, 2, 2, 2),
    (15, 2, 3),
    (2, 16, 2),
    (17, 3, 2),
    (31, 2),
    (33, 4),
]


@pytest.mark.parametrize("sizes", SMALL_SHAPES, ids=str)
def test_every_permutation_and_set_of_dimensions(sizes):
    rank = len(sizes)
    orders = list(itertools.permutations(range(rank)))
    sets = [d for k in range(1, rank) for d in itertools.combinations(range(rank), k)]
    if len(orders) > 24:
        orders = orders[::5]
    found, expected = [], []
    for order in orders:
        array = np.arange(math.prod(sizes), dtype=np.float32).reshape([sizes[d] for d in order])
        view = dense(sizes, order).view(ocl.tensor(array))
        array = array.transpose([order.index(d) for d in range(rank)])
        for dims in sets:
            found.append(ocl.sum(view, dims).reshape(-1))
            expected.append(array.sum(dims).reshape(-1))
    np.testing.assert_array_equal(ocl.cat(found).numpy(), np.concatenate(expected))


@pytest.mark.parametrize("expanded", [0, 1, 2])
@pytest.mark.parametrize("sizes", [(2, 16, 4), (4, 15, 3), (8, 2, 17)], ids=str)
def test_expanded(sizes, expanded, rng):
    for order in itertools.permutations(range(3)):
        layout = dense(sizes, order)
        layout.expanded = tuple(d == expanded for d in range(3))
        ours, theirs = view_pair(layout, lambda shape: rng.integers(-9, 9, shape).astype(np.float32))
        for dims in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]:
            assert_alike(lambda lib, t, dims=dims: lib.sum(t, dims), ours, theirs, (layout, dims), True)


# --- every reduction of random layouts


def over_dims(name, **options):
    return lambda lib, t, dims: getattr(lib, name)(t, dim=dims, **options)


def over_one(name, **options):
    return lambda lib, t, dims: tuple_of(getattr(lib, name)(t, dim=dims[-1], **options))


def tuple_of(results):
    return tuple(results) if not hasattr(results, "shape") else results


REDUCTIONS = {
    "sum": over_dims("sum"),
    "mean": over_dims("mean"),
    "prod": over_one("prod"),
    "amax": over_dims("amax"),
    "amin": over_dims("amin"),
    "argmax": over_one("argmax"),
    "argmin": over_one("argmin"),
    "max": over_one("max"),
    "min": over_one("min"),
    "var": over_dims("var", correction=0),
    "std": over_dims("std", correction=0),
    "var_mean": over_dims("var_mean", correction=0),
    "std_mean": over_dims("std_mean", correction=0),
    "logsumexp": over_dims("logsumexp"),
    "norm 2": over_dims("norm", p=2.0),
    "norm 1": over_dims("norm", p=1),
    "norm 3": over_dims("norm", p=3.0),
    "norm inf": over_dims("norm", p=math.inf),
    "all": over_dims("all"),
    "any": over_dims("any"),
    "count_nonzero": over_dims("count_nonzero"),
    "cumsum": over_one("cumsum"),
    "cumprod": over_one("cumprod"),
    "softmax": over_one("softmax"),
    "log_softmax": over_one("log_softmax"),
    "sort": over_one("sort"),
    "argsort": over_one("argsort"),
    "topk": lambda lib, t, dims: tuple_of(lib.topk(t, max(1, t.shape[dims[0]] // 2), dims[0])),
}


def distinct(rng):
    """Elements of which no two are equal, of a size that products of them do not run away."""

    def values(shape):
        order = rng.permutation(math.prod(shape)).reshape(shape)
        return (1.3 * (order + 1) / order.size * (1 - 2 * (order % 2))).astype(np.float32)

    return values


def with_zeros(rng):
    return lambda shape: (rng.random(shape) < 0.1).astype(np.float32)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_reduction_of_random_layouts(name, rng):
    values = (with_zeros if name in ("all", "any", "count_nonzero") else distinct)(rng)
    picks = name in ("argmax", "argmin", "max", "min", "sort", "argsort", "topk")
    drawn = [draw_layout(rng) for _ in range(25)]
    if picks:  # of equal elements PyTorch may name any
        for layout in drawn:
            layout.expanded = (False,) * len(layout.sizes)
    for layout in (*TRAPS, *drawn):
        dims = (0,) if layout in TRAPS else draw_dims(rng, len(layout.sizes))
        ours, theirs = view_pair(layout, values)
        assert_alike(lambda lib, t, dims=dims: REDUCTIONS[name](lib, t, dims), ours, theirs, (layout, dims))


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"])
def test_every_dtype(dtype, rng):
    if dtype == "float64" and not ocl.get_device_properties()["fp64"]:
        pytest.skip("no float64")
    for _ in range(12):
        layout = draw_layout(rng, 2)
        ours, theirs = view_pair(layout, lambda shape: rng.integers(0, 2, shape).astype(dtype))
        dims = draw_dims(rng, len(layout.sizes))
        for name in ("sum", "amax", "any"):
            function = over_dims(name)
            assert_alike(
                lambda lib, t, f=function, dims=dims: f(lib, t, dims), ours, theirs, (name, layout, dims)
            )


# --- what else runs along dimensions


def functional(name, *arguments, **options):
    return lambda lib, t: getattr(lib.nn.functional, name)(t, *arguments, **options)


def class_loss(name):
    def function(lib, t):
        target = np.arange(t.numel() // t.shape[1]).reshape(t.shape[0], *t.shape[2:]) % t.shape[1]
        made = ocl.tensor(target) if lib is ocl else torch.from_numpy(target)
        return getattr(lib.nn.functional, name)(t, made, reduction="none")

    return function


def with_flipped(name):
    def function(lib, t):
        return getattr(lib.nn.functional, name)(t, t.flip(0), reduction="none")

    return function


ALONG = {
    "layer_norm": lambda lib, t: lib.nn.functional.layer_norm(t, t.shape[1:], eps=0.1),
    "rms_norm": lambda lib, t: lib.nn.functional.rms_norm(t, t.shape[1:], eps=0.1),
    "group_norm": lambda lib, t: lib.nn.functional.group_norm(t, t.shape[1], eps=0.1),
    "batch_norm": lambda lib, t: lib.nn.functional.batch_norm(t, None, None, training=True, eps=0.1),
    "normalize": functional("normalize"),
    "cross_entropy": class_loss("cross_entropy"),
    "nll_loss": class_loss("nll_loss"),
    "mse_loss": with_flipped("mse_loss"),
    "huber_loss": with_flipped("huber_loss"),
    "binary_cross_entropy_with_logits": with_flipped("binary_cross_entropy_with_logits"),
}


@pytest.mark.parametrize("name", ALONG)
def test_gradients_through_random_layouts(name, rng):
    """Forward and backward, so that gradients of those layouts arrive at sums and copies too."""
    for _ in range(8):
        layout = draw_layout(rng, 3)
        if "norm" in name and layout.sizes[0] * math.prod(layout.sizes[2:]) < 4:
            continue
        if name == "nll_loss":  # PyTorch's backward pass refuses other layouts of it
            layout.order = tuple(range(len(layout.sizes)))
        memory = rng.uniform(-2, 2, layout.memory_shape()).astype(np.float32)
        gradients = []
        for lib, make in ((ocl, ocl.tensor), (torch, torch.from_numpy)):
            leaf = make(memory.copy()).requires_grad_()
            y = ALONG[name](lib, layout.view(leaf))
            upstream = np.cos(np.arange(y.numel(), dtype=np.float32)).reshape(tuple(y.shape))
            y.backward(make(upstream))
            gradients.append((to_numpy(y), to_numpy(leaf.grad)))
        for actual, expected in zip(*gradients, strict=True):
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(actual, expected, 1e-4, 1e-4 * scale, err_msg=str(layout))
