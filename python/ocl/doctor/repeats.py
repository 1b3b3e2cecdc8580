"""Whether a device gives the same bits each time.

Some drivers of phones get small linear layers, and kernels of two-dimensional work groups, wrong in one of
some hundred runs. So small problems are computed again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ocl.doctor import accuracy
from ocl.doctor.findings import Finding, fault, note, ok
from ocl.doctor.problems import SLACK, Problem
from ocl.doctor.references import Arrays

__all__ = ["check", "differing_runs"]

LINEAR = ((1, 16, 10), (8, 8, 8), (4, 16, 16), (16, 64, 10), (33, 35, 17))  # rows, inputs, outputs
WORK_GROUPS = ((8, 8), (4, 16))
MATRICES = ((8, 16, 8), (37, 50, 29))  # m, k, n

NO_BAR = "update the driver; if that does not help, attach the file of `--report FILE` to an issue"


def differing_runs(compute: Callable[[], Arrays], count: int) -> tuple[int, str]:
    """In how many of `count` runs some bits differ from the first's, and in which result."""
    first = {name: array.tobytes() for name, array in compute().items()}
    runs, which = 0, ""
    for _ in range(count - 1):
        differ = [name for name, array in compute().items() if array.tobytes() != first[name]]
        if differ:
            runs, which = runs + 1, differ[0]
    return runs, which


def check(
    device: Any,
    count: int,
    faulty: list[str],
    barred: set[str],
    progress: Callable[[str], None] = lambda line: None,
) -> Iterator[Finding]:
    """`faulty` implementations ("family=name") are known to be wrong and do not run. A fault of those
    that are `barred` is only a note."""
    lines = list(_of_linear_layers(device, count, faulty, barred, progress))
    if all(line.level == "ok" for line in lines):
        names = sorted({line.implementation for line in lines})
        text = f"{len(LINEAR)} small linear layers, {count} runs each by {', '.join(names)}: the same bits"
        lines = [ok("repeats", text)]
    yield from lines
    yield from _of_work_groups(device, count, progress)


def _of_linear_layers(
    device: Any, count: int, faulty: list[str], barred: set[str], progress: Callable[[str], None]
) -> Iterator[Finding]:
    """A finding for each implementation of gemm."""
    names: dict[str, list[Problem]] = {}
    for m, k, n in LINEAR:
        problem = Problem("linear", (m, k), (n, k), (n,))
        for name in accuracy.takers(problem, device)["gemm"]:
            names.setdefault(name, []).append(problem)
    for name, taken in names.items():
        implementation = f"gemm={name}"
        if implementation in faulty:
            continue
        progress(f"{implementation}: {count} runs each of {len(taken)} small linear layers")
        try:
            with accuracy.forced("gemm", name, faulty):
                wrong = [(p.name, *differing_runs(lambda p=p: p.compute(device), count)) for p in taken]
        except Exception as error:
            text = f"{implementation} fails: {accuracy.first_line(error)}"
            # Where no other is left for what this one cannot take, it is not to blame.
            yield note("repeats", text) if faulty else fault("repeats", text, accuracy.BAR, implementation)
            continue
        wrong = [(problem, runs, which) for problem, runs, which in wrong if runs]
        if not wrong:
            yield Finding("ok", "repeats", f"{implementation}: the same bits", implementation=name)
            continue
        problem, runs, which = wrong[0]
        text = f"{implementation} gives other bits for the {which} of {problem} in {runs} of {count} runs"
        if implementation in barred:
            yield note("repeats", f"{text}; it is barred", implementation=implementation)
        else:
            yield fault("repeats", text, accuracy.BAR, implementation)


def group_product(device: Any, a: Any, b: Any, group: tuple[int, int]) -> np.ndarray:
    """a @ b by a kernel of work groups of those rows and columns."""
    import ocl

    c = ocl.empty(a.shape[0], b.shape[1], device=device)
    ocl._C._group_probe(a, b, c, *group)
    return c.numpy()


def _of_work_groups(device: Any, count: int, progress: Callable[[str], None]) -> Iterator[Finding]:
    import ocl

    for rows, columns in WORK_GROUPS:
        shape = f"work groups of {rows} x {columns}"
        if rows * columns > ocl.get_device_properties(device)["max_work_group"]:
            yield note("repeats", f"{shape}: the device runs none so large")
            continue
        progress(f"{shape}: {count} runs each of {len(MATRICES)} products")
        faults = list(_faults_of_group(device, count, (rows, columns)))
        if faults:
            yield fault("repeats", f"{shape}: {faults[0]}", NO_BAR)
        else:
            text = f"{shape}: {len(MATRICES)} products, {count} runs each: right, and the same bits"
            yield ok("repeats", text)


def _faults_of_group(device: Any, count: int, group: tuple[int, int]) -> Iterator[str]:
    import ocl

    rng = np.random.default_rng(1)
    for m, k, n in MATRICES:
        left, right = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, k), (k, n)))
        a, b = (ocl.tensor(array, device=device) for array in (left, right))
        what = f"a product of {m} x {k} by {k} x {n}"
        try:
            runs, _ = differing_runs(lambda a=a, b=b: {"product": group_product(device, a, b, group)}, count)
            result = group_product(device, a, b, group)
        except ocl.DeviceError as error:
            yield f"{what} fails with {accuracy.first_line(error)}"
            continue
        truth = left.astype(np.float64) @ right.astype(np.float64)
        allowed = SLACK * 2.0**-23 * (np.abs(left).astype(np.float64) @ np.abs(right))
        if runs:
            yield f"{what} has other bits in {runs} of {count} runs"
        elif not (np.abs(result - truth) <= allowed).all():
            yield f"{what} is off by {np.abs(result - truth).max():.3g}"
