"""Every operator in float64 against PyTorch's float64: a number of float32 on the way shows at 1e-8."""

import cases
import numpy as np
import pytest
import torch
from comparison import Run, array_of, drawn, skip_where_torch_fails
from support import skip_without

import ocl

SEEDS = range(20)
BAR = 1e-12  # of the largest element of a result or gradient


def is_floating(case):
    return any(i.is_floating for i in case.inputs)


NAMES = [name for name in sorted(cases.CASES) if any(is_floating(drawn(name, seed)) for seed in SEEDS)]


def largest_of(arrays):
    return max((np.abs(a[np.isfinite(a)]).max(initial=0) for a in arrays), default=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_like_torch(name):
    skip_without("float64")
    skip_where_torch_fails(name)
    for seed in SEEDS:
        case = drawn(name, seed)
        if not is_floating(case):
            continue
        ours, theirs = (Run(lib, case, "float64", backward=case.backward) for lib in (ocl, torch))
        for kind in ("results", "gradients"):
            pairs = zip(getattr(ours, kind), getattr(theirs, kind), strict=True)
            pairs = [tuple(map(array_of, pair)) for pair in pairs if None not in pair]
            # Rounding of what cancels to nothing is measured by what it is a difference of, here by the rest.
            everything = largest_of([b for _, b in pairs])
            for i, (a, b) in enumerate(pairs):
                assert a.dtype == b.dtype, f"{kind} {i}, seed {seed}"
                if b.dtype.kind != "f":
                    continue
                finite = np.isfinite(b)
                largest = largest_of([b])
                if largest < 1e-13 * max(everything, 1):
                    largest = max(everything, 1)
                off = np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)).max(initial=0)
                assert off <= BAR * largest, f"{kind} {i}, seed {seed}: {off} of {largest}"
