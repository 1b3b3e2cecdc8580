"""A report of a partition: its parts, where they run, and why not elsewhere."""

import collections
from dataclasses import dataclass

PYTORCH = "PyTorch"  # the place of operators that run on no device


@dataclass(frozen=True)
class Refusal:
    """Why an operator does not run on the devices that were asked before."""

    node: str
    operator: str
    reason: str


@dataclass(frozen=True)
class Part:
    """Operators that run in one place, and how many values come in and go out."""

    place: str  # "ocl:0", or `PYTORCH`
    operators: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    inputs: int
    outputs: int

    def __str__(self) -> str:
        counts = collections.Counter(self.operators)
        names = ", ".join(f"{name} x {count}" if count > 1 else name for name, count in counts.items())
        noun = "operator" if len(self.operators) == 1 else "operators"
        values = f"{self.inputs} {'value' if self.inputs == 1 else 'values'} in, {self.outputs} out"
        lines = [f"{self.place}: {len(self.operators)} {noun}, {values}: {names}"]
        same: dict[tuple[str, str], list[str]] = {}
        for each in self.refusals:
            same.setdefault((each.operator, each.reason), []).append(each.node)
        for (operator, reason), nodes in same.items():
            more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            lines.append(f"    {operator} (node {nodes[0]}{more}): {reason}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """The parts in the order that they run in. ``print`` shows them with the reasons."""

    parts: tuple[Part, ...]

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """All refusals."""
        return tuple(each for part in self.parts for each in part.refusals)

    def __str__(self) -> str:
        return "\n".join(map(str, self.parts)) or "no operators"
