"""Every operator on random cases against PyTorch on the CPU, forward and backward; the cases are in cases/.

The truth is PyTorch's result in float64. Our float32 error is at most 4 times PyTorch's own float32 error
plus one unit in the last place, both the largest over all cases of the operator.
"""

import importlib
import pkgutil

import cases
import numpy as np
import pytest
import torch
from support import has_float64

import ocl

for module in pkgutil.iter_modules(cases.__path__):
    importlib.import_module(f"cases.{module.name}")

SEEDS = range(20)
TABLE = {row["name"]: row for row in ocl._C.operator_table()}
DIFFERENTIABLE = sorted(name for name, row in TABLE.items() if row["derivative"] and name in cases.CASES)

# Operators whose tests stand elsewhere, and why.
RANDOM = "test_random.py: the numbers are random"
ELSEWHERE = {
    name: RANDOM
    for name in (
        "rand randn randint rand_like randn_like randint_like randperm normal bernoulli multinomial uniform_ "
        "normal_ bernoulli_ exponential_ random_"
    ).split()
}


def drawn(name, seed):
    return cases.CASES[name](cases.Draw([seed, *name.encode()]))


def as_list(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def array_of(tensor):
    return tensor.numpy(force=True) if isinstance(tensor, torch.Tensor) else tensor.numpy()


class Run:
    """A case computed by one library in one floating dtype: results, and gradients of the floating inputs."""

    def __init__(self, lib, case, dtype, absolute=False, backward=True):
        def tensor_of(array):
            if array.dtype.kind == "f":
                array = np.asarray(np.abs(array) if absolute else array, dtype)
            return lib.tensor(array) if lib is ocl else torch.from_numpy(array.copy())

        built = [i.build(tensor_of) for i in case.inputs]
        leaves = [leaf for leaf, _ in built]
        if backward:
            for i, leaf in zip(case.inputs, leaves, strict=True):
                leaf.requires_grad_(i.is_floating)
            built = [i.build(lambda _, leaf=leaf: leaf) for i, leaf in zip(case.inputs, leaves, strict=True)]
        self.results = as_list(case.function(lib, *(view for _, view in built)))
        self.gradients = []
        roots = [r for r in self.results if r.requires_grad] if backward else []
        if roots:
            rng = np.random.default_rng(7)
            upstream = [rng.uniform(-1, 1, tuple(r.shape)).astype(np.float32) for r in roots]
            gradients = [tensor_of(u) for u in upstream]
            if len(roots) == 1:
                roots[0].backward(gradients[0])
            else:
                sum((r * g).sum() for r, g in zip(roots, gradients, strict=True)).backward()
            self.gradients = [leaf.grad for i, leaf in zip(case.inputs, leaves, strict=True) if i.is_floating]


class Distances:
    """The largest error of each result and gradient over the cases, in units in the last place."""

    def __init__(self):
        self.ours, self.theirs, self.worst = {}, {}, {}

    def add(self, what, actual, truth, single, magnitude, seed):
        if actual.size == 0:
            return
        np.testing.assert_array_equal(
            np.where(np.isfinite(single), 0, single),
            np.where(np.isfinite(actual), 0, actual),
            err_msg=f"{what}, seed {seed}: not finite where PyTorch is, or the other way round",
        )
        finite = np.isfinite(single) & np.isfinite(truth)
        scale = np.where(np.isfinite(magnitude), np.maximum(np.abs(magnitude), np.abs(truth)), np.abs(truth))
        kind = np.finfo(np.float32)
        unit = np.maximum(scale * kind.eps, kind.tiny)
        with np.errstate(invalid="ignore"):
            ours = np.where(finite, np.abs(actual.astype(np.float64) - truth) / unit, 0)
            theirs = np.where(finite, np.abs(single.astype(np.float64) - truth) / unit, 0)
        self.theirs[what] = max(self.theirs.get(what, 0), theirs.max())
        if ours.max() > self.ours.get(what, -1):
            self.ours[what] = ours.max()
            at = np.unravel_index(np.argmax(ours), ours.shape)
            self.worst[what] = (
                f"seed {seed} at {at}: {actual[at]!r}, PyTorch {single[at]!r}, truth {truth[at]!r}"
            )

    def check(self):
        for what, ours in self.ours.items():
            allowed = 4 * self.theirs[what] + 1
            assert ours <= allowed, f"{what}: {ours:.2f} units off, allowed {allowed:.2f}; {self.worst[what]}"


def compare(distances, seed, case):
    truth = Run(torch, case, "float64", backward=case.backward)
    single = Run(torch, case, "float32", backward=case.backward)
    ours = Run(ocl, case, "float32", backward=case.backward)
    largest_result = max((r.numel() for r in truth.results), default=0)
    is_summed = [i.is_floating and i.stored_elements() < largest_result for i in case.inputs]
    absolute = (
        Run(torch, case, "float64", absolute=True, backward=case.backward)
        if case.unit == "sums" or any(is_summed)
        else None
    )
    # What a rounding error of each result and gradient is measured by: a gradient that sums over broadcast
    # dimensions by the magnitudes that it adds up.
    sums = {
        "results": [case.unit == "sums"] * len(truth.results),
        "gradients": [
            case.unit == "sums" or summed
            for i, summed in zip(case.inputs, is_summed, strict=True)
            if i.is_floating
        ],
    }
    for kind in ("results", "gradients"):
        lists = [getattr(run, kind) for run in (ours, truth, single)]
        assert len(lists[0]) == len(lists[1]), (
            f"{kind}, seed {seed}: {len(lists[0])}, PyTorch has {len(lists[1])}"
        )
        for i, (a, t64, t32) in enumerate(zip(*lists, strict=True)):
            what = f"{kind[:-1]} {i}"
            assert (a is None) == (t64 is None), f"{what}, seed {seed}: {a}, PyTorch has {t64}"
            if a is None:
                continue
            assert tuple(a.shape) == tuple(t64.shape), f"{what}, seed {seed}"
            assert str(a.dtype).split(".")[1] == str(t32.dtype).split(".")[1], f"{what}, seed {seed}"
            actual, truth_array, single_array = array_of(a), array_of(t64), array_of(t32)
            if single_array.dtype.kind != "f":
                np.testing.assert_array_equal(actual, single_array, err_msg=f"{what}, seed {seed}")
                continue
            magnitude = np.float64(0)
            if sums[kind][i]:
                magnitude = array_of(getattr(absolute, kind)[i])
            elif case.unit == "largest" and truth_array.size:
                magnitude = np.abs(truth_array).max()
            distances.add(what, actual, truth_array, single_array, magnitude, seed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(cases.CASES))
def test_like_torch(name):
    distances = Distances()
    for seed in SEEDS:
        try:
            compare(distances, seed, drawn(name, seed))
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}: {type(error).__name__}: {error}") from error
    distances.check()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradcheck(name):
    if not has_float64():
        pytest.skip(f"{ocl.get_device_name()} has no float64")
    checked = 0
    for seed in SEEDS:
        case = drawn(name, seed)
        floats = [i for i in case.inputs if i.is_floating]
        if not (case.backward and case.gradcheck and 0 < sum(i.array.size for i in floats) <= 60):
            continue
        leaves = [
            i.build(lambda a: ocl.tensor(a.astype(np.float64) if a.dtype.kind == "f" else a))[0]
            for i in case.inputs
        ]
        inputs = [leaf.requires_grad_() for i, leaf in zip(case.inputs, leaves, strict=True) if i.is_floating]

        def function(*given, case=case, leaves=leaves):
            given = iter(given)
            built = [
                i.build(lambda _, leaf=leaf, i=i: next(given) if i.is_floating else leaf)[1]
                for i, leaf in zip(case.inputs, leaves, strict=True)
            ]
            results = [r for r in as_list(case.function(ocl, *built)) if r.dtype.is_floating_point]
            return ocl.cat([r.reshape(-1) for r in results])

        assert ocl.autograd.gradcheck(function, inputs), f"seed {seed}"
        checked += 1
        if checked == 3:
            return
    assert checked, f"no case of {name} is small enough for finite differences"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(cases.ERRORS))
def test_errors_like_torch(name):
    for i, call in enumerate(cases.ERRORS[name]()):
        try:
            call(torch)
        except Exception as error:
            raised = error
        else:
            raise AssertionError(f"call {i}: PyTorch raises nothing")
        try:
            call(ocl)
            ocl.synchronize()
        except type(raised):
            continue
        raise AssertionError(f"call {i}: nothing raised; PyTorch: {raised}")


def test_every_operator_has_cases():
    missing = sorted(set(TABLE) - set(cases.CASES) - set(ELSEWHERE))
    unknown = sorted(set(cases.CASES) - set(TABLE))
    assert not missing, "operators without cases"
    assert not unknown, "cases of operators that are in no table"
