"""Whether every implementation of every family gives right results on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ocl import implementations, profiler
from ocl.doctor.findings import Finding, fault, note, ok
from ocl.doctor.problems import BESIDE, FAMILIES, Problem
from ocl.doctor.references import Arrays

__all__ = ["Outcome", "candidates", "check", "deviation", "findings", "forced", "refuses"]


class Outcome(NamedTuple):
    """The outcome of an implementation."""

    family: str
    implementation: str
    problems: int
    """How many it computed."""
    worst: float
    """The largest error, as a part of what is allowed."""
    fault: str
    """Empty where all is right."""
    refused: bool = False
    """The device lacks what the implementation needs, so that no problem can reach it."""
    runs: tuple[str, ...] = ()
    """The names of the problems that it computed, with their shapes and dtypes."""


def deviation(problem: Problem, results: Arrays, prefix: str) -> tuple[float, str]:
    """The largest error, as a part of what is allowed, of results named `prefix` and more; and its place."""
    worst, where = 0.0, ""
    for name, truth in problem.truth.items():
        if not name.startswith(prefix):
            continue
        actual = results[name].astype(np.float64)
        if actual.shape != truth.shape:
            return np.inf, f"{name} has shape {actual.shape}, expected {truth.shape}"
        allowed = np.broadcast_to(problem.allowed[name], truth.shape)
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.abs(actual - truth)
            error = np.where(off == 0, 0.0, np.where(np.isfinite(actual), off / allowed, np.inf))
        at = np.unravel_index(np.argmax(error), error.shape)
        if error[at] > worst:
            place = ", ".join(map(str, map(int, at)))
            count = int((error > 1).sum())
            worst = float(error[at])
            where = (
                f"{count} of {error.size} elements of the {name} wrong, at ({place}) {actual[at]:.6g} "
                f"in place of {truth[at]:.6g}"
            )
    return worst, where


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def forced(family: str, name: str, without: list[str]) -> implementations.using:
    """Forces an implementation; those `without` ("family=name") do not run beside it."""
    wishes = [implementations.get(), BESIDE.get(family, ""), f"{family}={name}"]
    wishes += [barred.replace("=", "=-") for barred in without if barred != f"{family}={name}"]
    return implementations.using(",".join(filter(None, wishes)))


def candidates(reasons: str) -> list[str]:
    """The implementations that can take a problem and that the user did not bar, from Choice.reasons."""
    named = [entry.split() for entry in reasons.replace("barred for this device", "faulty").split(", ")]
    return [words[0] for words in named if words[-1] != "cannot" and not {"barred", "refused"} & set(words)]


def refuses(properties: dict[str, Any], implementation: str) -> bool:
    """Whether a device can run an implementation for no problem: its name says what the implementation needs.

    `properties`: those of ``ocl.get_device_properties``. Implementations with none of these words run
    everywhere.
    """
    words = set(implementation.split("_"))
    shape = properties["kernel_shape"]
    if "cpu" in words:
        return shape != "cpu"
    if words & {"tensor", "warpgroup"}:  # NVIDIA's instructions
        return shape != "simt" or "NVIDIA" not in properties["vendor"]
    return bool(words & {"simt", "group"}) and shape != "simt"


def takers(problem: Problem, device: Any) -> dict[str, list[str]]:
    """For each of a problem's families the implementations that can take some of its calls."""
    families: dict[str, list[str]] = {}
    before = implementations.get()
    for beside in sorted({BESIDE.get(family, "") for family in problem.kind.families}):
        with (
            implementations.using(",".join(filter(None, (before, beside)))),
            profiler.record_calls() as recorded,
        ):
            problem.compute(device)
        for choice in recorded.choices:
            known = families.setdefault(choice.family, [])
            known += [name for name in candidates(choice.reasons) if name not in known]
    return families


class Checker:
    """Runs problems with each implementation forced, family by family."""

    def __init__(self, device: Any, problems: list[Problem], progress: Callable[[str], None]) -> None:
        import ocl

        self.device, self.problems, self.progress = device, problems, progress
        self._properties = ocl.get_device_properties(device)
        self.faulty: list[str] = []
        self._takers: dict[str, dict[str, list[str]]] = {}

    def outcomes(self, family: str) -> list[Outcome]:
        found = []
        for name in implementations.families()[family]:
            found.append(self._checked(family, name))
            if found[-1].fault:
                self.faulty.append(f"{family}={name}")
        return found

    def _can_take(self, problem: Problem, family: str, name: str) -> bool:
        if problem.name not in self._takers:
            try:
                self._takers[problem.name] = takers(problem, self.device)
            except Exception:
                # Some implementation fails; which one, forcing each tells.
                self._takers[problem.name] = {}
        known = self._takers[problem.name]
        return not known or name in known.get(family, [])

    def _is_to_blame(self, forced: tuple[str, str], chosen: list[tuple[str, str]], problem: Problem) -> bool:
        """Whether what was forced caused an error, and not another that computes a part of the problem."""
        works_without = bool(self._takers[problem.name])
        return forced in chosen if works_without else chosen[-1:] == [forced]

    def _checked(self, family: str, name: str) -> Outcome:
        runs, worst = [], 0.0
        for problem in self.problems:
            if family not in problem.kind.families or not self._can_take(problem, family, name):
                continue
            self.progress(f"{family}={name}: {problem.name}")
            results, error = {}, None
            with forced(family, name, self.faulty), profiler.record_calls() as recorded:
                try:
                    results = problem.compute(self.device)
                except Exception as raised:
                    error = raised
            chosen = [(c.family, c.implementation) for c in recorded.choices]
            if error is not None and self._is_to_blame((family, name), chosen, problem):
                said = f"{problem.name}: {first_line(error)}"
                return Outcome(family, name, len(runs) + 1, np.inf, said, runs=(*runs, problem.name))
            if error is not None or (family, name) not in chosen:
                continue
            runs.append(problem.name)
            error, where = deviation(problem, results, FAMILIES[family])
            worst = max(worst, error)
            if error > 1:
                return Outcome(family, name, len(runs), worst, f"{problem.name}: {where}", runs=tuple(runs))
        refused = not runs and refuses(self._properties, name)
        return Outcome(family, name, len(runs), worst, "", refused, tuple(runs))


def check(
    device: Any, problems: list[Problem], progress: Callable[[str], None] = lambda line: None
) -> Iterator[list[Outcome]]:
    """Every implementation of every family over those of `problems` that it can take, a list a family.

    A family is checked after those that it is made of, and without their faulty implementations, so that a
    fault is reported once.
    """
    checker = Checker(device, problems, progress)
    for family in FAMILIES:
        yield checker.outcomes(family)


def findings(outcomes: list[Outcome], barred: set[str]) -> list[Finding]:
    """For the outcomes of a family: a line for what is right, and one for each faulty implementation.

    An implementation in `barred` ("family=name") is no fault any more.
    """
    family = outcomes[0].family
    ran = [o for o in outcomes if o.problems]
    right = [o for o in ran if not o.fault]
    if not ran:
        return [fault("results", f"{family}: none of its {len(outcomes)} implementations ran", REPORT)]
    lines = [_of_one(o, barred) for o in ran if o.fault or f"{o.family}={o.implementation}" in barred]
    if right:
        names, runs = ", ".join(o.implementation for o in right), sum(o.problems for o in right)
        worst = max(o.worst for o in right)
        text = f"{family}: {names} right in {runs} runs; largest error {worst:.2g} of what is allowed"
        untried = [o.implementation for o in outcomes if not o.problems and not o.refused]
        lines.insert(0, ok("results", f"{text}; not tried: {', '.join(untried)}" if untried else text))
    return lines


REPORT = "run `python -m ocl doctor --report FILE` and file an issue with the file"
BAR = "`python -m ocl doctor --bar` leaves it out on this device; attach --report's file to an issue"


def _of_one(outcome: Outcome, barred: set[str]) -> Finding:
    name = f"{outcome.family}={outcome.implementation}"
    if name not in barred:
        return fault("results", f"{name} is wrong: {outcome.fault}", BAR, name)
    if outcome.fault:
        return note("results", f"{name} is barred, and wrong: {outcome.fault}", implementation=name)
    return note(
        "results",
        f"{name} is barred, and right today",
        "`python -m ocl doctor --unbar` takes bars back, after an update of the driver, say",
        name,
    )
