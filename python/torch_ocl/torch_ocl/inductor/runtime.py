"""Kernels with their launch sizes, which the Python that Inductor writes calls."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from torch_ocl import _C

GROUP = 256  # the most work items that share local memory
CPU_TILE = 32  # rows of a tile that a CPU walks where tensors lie across each other
CPU_BLOCK = 128  # results that a work item of a CPU sums over an outer dimension at a time
_LEAST_SHARE = 4096  # elements: below it starting a work item costs a CPU more than its work

Sizes = tuple[tuple[int, int, int], tuple[int, int, int]]


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@functools.cache
def _limits(index: int) -> tuple[int, int]:
    """Compute units, and the largest power of two that a work group may have."""
    found = _C.device_properties(index)
    return found["max_compute_units"], min(GROUP, 1 << (found["max_work_group"].bit_length() - 1))


class CompiledKernel:
    """A kernel of generated OpenCL C. ``form`` is how its work is shared:

    - ``cpu``: a work item walks a stretch of rows (elements, of a pointwise kernel), which it is told;
    - ``cpu-outer``: the same, in stretches that fill vectors;
    - ``cpu-tiles``: the same, in stretches of whole tiles of ``reduced`` columns;
    - ``items``: a work item for each element;
    - ``lines``: a line of work items for each row, which lie side by side;
    - ``columns``: the same, where neighbours in a group belong to neighbouring rows.
    """

    def __init__(self, name: str, form: str, source: str, checks: Sequence[str], single: bool) -> None:
        options = " -cl-single-precision-constant" if single else ""
        self._kernel = _C.SourceKernel(source, name, options, list(checks))
        self._form = form
        self._sizes: dict[tuple[int, int, int], tuple[Sizes, int]] = {}

    @property
    def source(self) -> str:
        """The OpenCL C, in which ``#include`` names files of the library."""
        return self._kernel.source

    def __call__(
        self, tensors: list[torch.Tensor], numbers: list[int | float], rows: int, reduced: int
    ) -> None:
        """Enqueues it. ``rows``: results; ``reduced``: elements of which each is made."""
        if rows == 0:
            return
        key = (tensors[0].device.index, rows, reduced)
        found = self._sizes.get(key)
        if found is None:
            found = self._sizes[key] = self._plan(*key)
        (global_size, local_size), stretch = found
        if stretch:
            numbers.append(stretch)
        self._kernel.launch(tensors, numbers, global_size, local_size)

    def _plan(self, device: int, rows: int, reduced: int) -> tuple[Sizes, int]:
        units, most = _limits(device)
        if self._form.startswith("cpu"):
            shares = min(rows * reduced // _LEAST_SHARE + 1, 8 * units, rows)
            stretch = _ceil_div(rows, shares)
            whole = {"cpu-outer": 16, "cpu-tiles": CPU_TILE}.get(self._form, 1)
            stretch = _ceil_div(stretch, whole) * whole
            return ((_ceil_div(rows, stretch), 1, 1), (1, 1, 1)), stretch
        if self._form == "items":
            return ((rows, 1, 1), (most, 1, 1)), 0
        if self._form == "lines":
            lanes = most
            enough = 1 if rows < 16 * units else 8  # elements of an item, where rows fill the device
            while lanes > 4 and lanes // 2 * enough >= reduced:
                lanes //= 2
            lines = min(max(1, 128 // lanes), most // lanes)
            while lines > 1 and rows // lines < 16 * units:
                lines //= 2
            return ((lanes, _ceil_div(rows, lines) * lines, 1), (lanes, lines, 1)), 0
        columns = 1
        while columns < min(32, most) and columns < rows:
            columns *= 2
        lanes = most // columns
        while lanes > 1 and lanes // 2 >= reduced:
            lanes //= 2
        return ((_ceil_div(rows, columns) * columns, lanes, 1), (columns, lanes, 1)), 0
