"""Calls of every operator with one argument out of range: the ends of the integer types, NaN, other kinds.

Both libraries get the same call. Either both refuse it, or both give the same.
"""

import warnings

import cases
import comparison
import numpy as np
import torch

import ocl
from fuzz.found import WRONG, Found
from fuzz.hostile import HostileDraw, described
from fuzz.operators import NAMES, attempt, judge_errors, subject_of
from fuzz.spies import Log, Spy, is_tensor

__all__ = ["run_one", "smaller", "subject_of", "NAMES"]

SMALL = (-1, 0, 1, 2, 7, -3)
LARGE = (2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**32 + 1, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63)
INTEGERS = SMALL + LARGE
FLOATS = (0.0, -1.0, 1.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"))


class Mutation:
    """Changes one number of the first call that has any; the same for the same seed."""

    def __init__(self, seed):
        self.seed, self.log, self.done = seed, Log(), False

    def __call__(self, path, arguments, keywords):
        if not self.done:
            rng = np.random.default_rng([self.seed, 2])
            places = [*enumerate(arguments), *keywords.items()]
            numbers = [(place, at) for place in places for at in self.numbers(place[1])]
            if numbers:
                (key, value), at = numbers[int(rng.integers(len(numbers)))]
                changed = self.replaced(value, at, rng)
                if isinstance(key, int):
                    arguments = (*arguments[:key], changed, *arguments[key + 1 :])
                else:
                    keywords = {**keywords, key: changed}
                self.done = True
        self.log(path, arguments, keywords)
        return arguments, keywords

    @staticmethod
    def numbers(value):
        """Where in an argument numbers stand: None for the argument itself, or a place in a list."""
        if isinstance(value, (int, float)):
            return [None]
        if isinstance(value, (tuple, list)) and value and all(isinstance(v, (int, float)) for v in value):
            return range(len(value))
        return []

    @staticmethod
    def replaced(value, at, rng):
        if at is not None:
            return type(value)([*value[:at], Mutation.replaced(value[at], None, rng), *value[at + 1 :]])
        if isinstance(value, bool):
            return not value
        pool = FLOATS if isinstance(value, float) else INTEGERS
        return pool[int(rng.integers(len(pool)))]


def results_of(lib, case, mutation):
    tensors = []
    for given in case.inputs:
        make = lib.tensor if lib is ocl else (lambda array: torch.from_numpy(array.copy()))
        tensors.append(given.build(make)[1])
    results = comparison.as_list(case.function(Spy(lib, mutation), *tensors))
    return [comparison.array_of(r) if is_tensor(r) else np.asarray(r) for r in results]


def pieces(*arrays, size=2**24):
    """The elements of arrays of one shape, some at a time: what compares them takes little memory."""
    flat = [array.ravel() for array in arrays]
    for start in range(0, flat[0].size, size):
        yield [array[start : start + size] for array in flat]


def are_alike(ours, theirs):
    if ours.dtype.kind != "f":
        return all(np.array_equal(a, b) for a, b in pieces(ours, theirs))
    scale = max((np.abs(b[np.isfinite(b)]).max(initial=0) for (b,) in pieces(theirs)), default=0)
    tolerances = {"rtol": 1e-4, "atol": 1e-5 * float(scale)}
    return all(np.allclose(a, b, **tolerances, equal_nan=True) for a, b in pieces(ours, theirs))


def difference(ours, theirs):
    """In what the results differ beyond rounding, or None."""
    if len(ours) != len(theirs):
        return f"{len(ours)} results, PyTorch has {len(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {i}: {a.dtype}{list(a.shape)}, PyTorch has {b.dtype}{list(b.shape)}"
        if not are_alike(a, b):
            return f"result {i}: {a.ravel()[:6]}, PyTorch has {b.ravel()[:6]}"
    return None


def run_one(name, seed, limit, announce):
    name = name or subject_of(seed)
    source = HostileDraw([seed, *name.encode()], limit or 30)
    source.has_specials = False
    case = cases.CASES[name](source)
    inputs = ", ".join(described(i.array, i.layout) for i in case.inputs)
    answers, errors, logs = {}, {}, {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = Mutation(seed)
        for lib in (torch, ocl):
            mutation = Mutation(seed)
            logs[lib] = mutation.log

            def call(lib=lib, mutation=mutation):
                answers[lib] = results_of(lib, case, mutation)

            announce(lib, f"{inputs} -> {given.log.text()}")
            errors[lib] = attempt(call)
            if not mutation.done and errors[lib] is None:
                return None
            given = mutation
    text = f"{inputs} -> {logs[ocl].text()}"
    found = judge_errors(errors[ocl], errors[torch])
    if found is None and errors[torch] is None:
        detail = difference(answers[ocl], answers[torch])
        found = detail and (WRONG, detail)
    return Found(found[0], name, text, found[1]) if found else None


def smaller(seed):
    for limit in (2, 6, 20):
        for other in range(40):
            yield 1000 * seed + other, limit
