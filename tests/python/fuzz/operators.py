"""Random calls of every operator, forward and backward, against PyTorch.

The cases are those of tests/python/ops/cases, drawn by an enemy. One case is judged alone: its distance from
float64 is at most 4 times PyTorch's own plus FLOOR units in the last place.
"""

import warnings

import cases
import comparison
import numpy as np
import torch

import ocl
from fuzz.found import ACCEPTS, REFUSES, UNTYPED, WRONG, Found
from fuzz.hostile import HostileDraw, described
from fuzz.spies import Log, Spy

FLOOR = 16
LEAST = 0.1  # incoming gradients are up to 1: what cancels to 0 is off by roundings of such numbers
TYPED = (ValueError, TypeError, IndexError, RuntimeError, OSError, NotImplementedError, MemoryError)
NAMES = sorted(cases.CASES)
LIMITS = (3, 8, 20, 100, 400, 2000, 10000)


def subject_of(seed):
    """The operator that a seed means when none is named."""
    return NAMES[int(np.random.default_rng([seed, 1]).integers(len(NAMES)))]


def draw(name, seed, limit):
    """The case, and the narrower dtype that it is to be computed in, if any."""
    source = HostileDraw([seed, *name.encode()], limit or LIMITS[seed % len(LIMITS)])
    case = cases.CASES[name](source)
    floating = any(i.is_floating for i in case.inputs)
    dtype = source.choice([None, None, None, None, "float16", "bfloat16"])
    return case, dtype if floating and not source.has_specials else None


def logged(case):
    """The case with its calls written down: (case, log)."""
    log = Log()
    function = case.function
    spied = cases.Case(function, *case.inputs, unit=case.unit, backward=case.backward)
    spied.function = lambda lib, *tensors: function(Spy(lib, log) if lib is ocl else lib, *tensors)
    return spied, log


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]


def attempt(function):
    """The error that a function raises, or None."""
    try:
        function()
    except Exception as error:
        return error
    return None


def judge(name, seed, case, rounded_to, announce):
    """None, or (what, detail) of a disagreement. `announce(library)` is told which one is called next."""

    def ours():
        comparison.Run(ocl, case, rounded_to or "float32", backward=case.backward, rounded_to=rounded_to)
        ocl.synchronize()

    def theirs():
        comparison.Run(torch, case, "float32", backward=case.backward, rounded_to=rounded_to)

    announce(torch)
    their_error = attempt(theirs)
    announce(ocl)
    our_error = attempt(ours)
    if our_error is not None and not isinstance(our_error, TYPED):
        return UNTYPED, f"{type(our_error).__name__}: {our_error}"
    if their_error is not None:
        return None if our_error is not None else (ACCEPTS, f"PyTorch: {their_error}")
    if our_error is not None:
        return REFUSES, f"{type(our_error).__name__}: {our_error}"
    distances = comparison.Distances(rounded_to or "float32", LEAST)
    announce(torch)  # in float64 now, or in a narrow type; ours has just passed
    try:
        comparison.compare(distances, seed, case, rounded_to)
        distances.check(FLOOR)
    except AssertionError as error:
        return WRONG, str(error)
    return None


def run_one(name, seed, limit, announce):
    """One case. `announce(library, text)` is told what is about to be called."""
    name = name or subject_of(seed)
    case, dtype = draw(name, seed, limit)
    inputs = ", ".join(described(i.array, i.layout) for i in case.inputs)
    text = f"{name}{f' in {dtype}' if dtype else ''}: {inputs}"
    spied, log = logged(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = judge(name, seed, spied, dtype, lambda library: announce(library, text))
    if found is None:
        return None
    what, detail = found
    calls = "; ".join(dict.fromkeys(log.calls))
    return Found(what, name, f"{text} -> {calls}", detail)


def smaller(seed):
    """Cases to try for a smaller one of the same disagreement, as (seed, limit), the smallest first."""
    for limit in LIMITS:
        for other in range(25):
            yield 1000 * seed + other, limit
