"""Random calls of every operator, forward and backward, against PyTorch.

The cases are those of tests/python/ops/cases, drawn by an enemy. One case is judged alone: its distance from
float64 is at most 4 times PyTorch's own plus FLOOR units in the last place.
"""

import warnings

import cases
import comparison
import numpy as np
import torch
from support import has_float64

import ocl
from fuzz.found import ACCEPTS, REFUSES, UNTYPED, WRONG, Found
from fuzz.hostile import HostileDraw, described
from fuzz.spies import Log, Spy
from fuzz.twins import disagreement, recorded

FLOOR = 16
LEAST = 0.1  # incoming gradients are up to 1: what cancels to 0 is off by roundings of such numbers
TYPED = (ValueError, TypeError, IndexError, RuntimeError, OSError, NotImplementedError, MemoryError)
NAMES = sorted(cases.CASES)
LIMITS = (3, 8, 20, 100, 400, 2000, 10000)
NARROW = ("float16", "bfloat16")


def subject_of(seed):
    """The operator that a seed means when none is named."""
    return NAMES[int(np.random.default_rng([seed, 1]).integers(len(NAMES)))]


def draw(name, seed, limit):
    """The case, and the dtype that it is to be computed in, if that is not float32. In narrow ones the
    numbers may be such that their squares are out of range."""
    source = HostileDraw([seed, *name.encode()], limit or LIMITS[seed % len(LIMITS)])
    dtype = source.choice([None, None, None, None, "float16", "bfloat16", "float64"])
    if dtype in NARROW and not source.has_specials:
        source.magnitude = source.choice([1, 1, 1, 200, 2000, 1e-4])
    case = cases.CASES[name](source)
    floating = any(i.is_floating for i in case.inputs)
    if not floating or source.has_specials or (dtype == "float64" and not has_float64()):
        return case, None
    return case, dtype


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


def judge_errors(ours, theirs):
    """(what, detail) where one library raises and the other does not, or ours no error of a right type."""
    if ours is not None and not isinstance(ours, (*TYPED, type(theirs))):
        return UNTYPED, f"{type(ours).__name__}: {ours}"
    if (ours is None) == (theirs is None):
        return None
    return (ACCEPTS, f"PyTorch: {theirs}") if ours is None else (REFUSES, f"{type(ours).__name__}: {ours}")


def records(lib, case, dtype):
    """Results and gradients; each is measured by its own largest element."""
    run = comparison.Run(lib, case, dtype, backward=case.backward)
    named = [(f"result{i}", r) for i, r in enumerate(run.results)]
    return [
        recorded(*record) for record in (*named, *((f"gradient {i}", g) for i, g in enumerate(run.gradients)))
    ]


def judge_double(case):
    """In what float64 differs from PyTorch's beyond 1e-12 of the largest element."""
    ours, single, truth = (
        records(*run) for run in ((ocl, case, "float64"), (torch, case, "float32"), (torch, case, "float64"))
    )
    return disagreement(ours, single, truth, "float64")


def judge(name, seed, case, dtype, announce):
    """None, or (what, detail) of a disagreement. `announce(library)` is told which one is called next."""
    rounded_to = dtype if dtype in NARROW else None

    def ours():
        comparison.Run(ocl, case, dtype or "float32", backward=case.backward, rounded_to=rounded_to)
        ocl.synchronize()

    def theirs():
        comparison.Run(torch, case, "float32", backward=case.backward, rounded_to=rounded_to)

    announce(torch)
    their_error = attempt(theirs)
    announce(ocl)
    our_error = attempt(ours)
    found = judge_errors(our_error, their_error)
    if found or their_error is not None:
        return found
    announce(torch)  # in float64 now, or in a narrow type; ours has just passed
    if dtype == "float64":
        detail = judge_double(case)
        return (WRONG, detail) if detail else None
    distances = comparison.Distances(rounded_to or "float32", LEAST)
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
