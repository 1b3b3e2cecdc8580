"""Numbers that depend on named sizes: sums of products of the names."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

__all__ = ["Size", "fitted", "samples"]


class Size:
    """A sum of products of named sizes, each with a factor: 3·batch·length + 2."""

    def __init__(self, terms: Mapping[tuple[str, ...], Fraction]) -> None:
        self.terms = {names: factor for names, factor in sorted(terms.items()) if factor}

    @property
    def symbol(self) -> str | None:
        """The name, where the number is that named size itself."""
        if len(self.terms) == 1:
            ((names, factor),) = self.terms.items()
            if len(names) == 1 and factor == 1:
                return names[0]
        return None

    def __add__(self, other: Size | int) -> Size | int:
        terms = dict(self.terms)
        for names, factor in _terms(other).items():
            terms[names] = terms.get(names, Fraction(0)) + factor
        return _plain(Size(terms))

    def __mul__(self, other: Size | int) -> Size | int:
        terms: dict[tuple[str, ...], Fraction] = {}
        for mine, factor in self.terms.items():
            for its, by in _terms(other).items():
                names = tuple(sorted((*mine, *its)))
                terms[names] = terms.get(names, Fraction(0)) + factor * by
        return _plain(Size(terms))

    def __neg__(self) -> Size | int:
        return self * -1

    def __sub__(self, other: Size | int) -> Size | int:
        return self + -other

    def __rsub__(self, other: int) -> Size | int:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(tuple(self.terms.items()))

    def __str__(self) -> str:
        return " + ".join(
            "*".join([*([str(factor)] if factor != 1 or not names else []), *names])
            for names, factor in reversed(self.terms.items())
        )

    __repr__ = __str__


def _terms(value: Size | int) -> Mapping[tuple[str, ...], Fraction]:
    return value.terms if isinstance(value, Size) else {(): Fraction(value)}


def _plain(size: Size) -> Size | int:
    """A number where no name is left."""
    if set(size.terms) <= {()}:
        return int(size.terms.get((), 0))
    return size


def samples(sizes: dict[str, int]) -> list[dict[str, int]]:
    """The sizes to run with, for `fitted`: those given, others that a formula needs, and one to check it."""
    names = sorted(sizes)
    moved = {name: sizes[name] + 1 + i for i, name in enumerate(names)}
    far = {name: sizes[name] + 3 + 2 * i for i, name in enumerate(names)}
    found = [sizes]
    for count in range(1, len(names) + 1):
        for chosen in combinations(names, count):
            found.append({**sizes, **{name: moved[name] for name in chosen}})
    return [*found, far] if names else found


def fitted(values: list[int], runs: list[dict[str, int]]) -> Size | int | None:
    """The formula that gives these values in these runs (of `samples`); None where there is none."""
    if len(set(values)) == 1:
        return values[0]
    names = sorted(runs[0])
    subsets = [s for count in range(len(names) + 1) for s in combinations(names, count)]
    rows = [[Fraction(_product(run, s)) for s in subsets] for run in runs[:-1]]
    factors = _solved(rows, [Fraction(v) for v in values[:-1]])
    size = _plain(Size(dict(zip(subsets, factors, strict=True))))
    check = sum(f * _product(runs[-1], s) for s, f in zip(subsets, factors, strict=True))
    return size if check == values[-1] else None


def _product(run: dict[str, int], names: tuple[str, ...]) -> int:
    made = 1
    for name in names:
        made *= run[name]
    return made


def _solved(rows: list[list[Any]], values: list[Any]) -> list[Fraction]:
    """The solution of linear equations of full rank."""
    n = len(values)
    table = [[*row, value] for row, value in zip(rows, values, strict=True)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if table[k][i])
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [each / table[i][i] for each in table[i]]
        for k in range(n):
            if k != i and table[k][i]:
                table[k] = [a - table[k][i] * b for a, b in zip(table[k], table[i], strict=True)]
    return [row[-1] for row in table]
