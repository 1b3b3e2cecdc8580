"""The fields that a reduction keeps while it goes through elements, and how two parts of one are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from torch_ocl.inductor.types import computed_type, is_floating, range_of

Slots = Sequence[str]  # C expressions of where the fields are


@dataclass
class Accumulator:
    """A reduction under way: fields, each with a type and a start, and its results.

    ``values`` are the C expressions of an element (or of a part's fields, for welford_combine).
    """

    name: str
    kind: str
    ctype: str  # of the values
    values: tuple[str, ...]
    results: tuple[str, ...]  # the names of the results
    result_types: tuple[str, ...]
    wide_index: bool = False  # positions need 64 bits

    def fields(self) -> list[tuple[str, str]]:
        """Types and starting values."""
        if self.kind == "sum":
            return [(self.ctype, "0")]
        if self.kind == "prod":
            return [(self.ctype, "1")]
        if self.kind in ("any", "xor_sum"):
            return [("int" if self.kind == "any" else self.ctype, "0")]
        if self.kind in ("max", "min"):
            key = self._key_type()
            return [(key, range_of(key)[0 if self.kind == "max" else 1])]
        if self._is_packed():
            return [("long", "LONG_MIN")]
        if self.kind in ("argmax", "argmin"):
            return [(self._key_type(), range_of(self._key_type())[0]), ("long", "LONG_MAX")]
        return [(self.ctype, "0")] * 3  # Welford: mean, squared deviations, weight

    def names(self, suffix: str = "") -> list[str]:
        return [f"{self.name}_{i}{suffix}" for i in range(len(self.fields()))]

    def uses_position(self) -> bool:
        return self.kind in ("argmax", "argmin")

    def update(self, slots: Slots, position: str) -> list[str]:
        """Statements that take an element in; ``position`` is its place among the elements."""
        if self.kind == "sum":
            return [f"ADD_TO({slots[0]}, {self.values[0]})"]
        if self.kind == "prod":
            return [f"MULTIPLY_INTO({slots[0]}, {self.values[0]})"]
        if self.kind == "any":
            return [f"{slots[0]} |= (({self.values[0]}) != 0);"]
        if self.kind in ("max", "min", "xor_sum"):
            return self.join(slots, [self._key()])
        if self._is_packed():
            return self.join(slots, [f"((long)({self._key()}) << 32 | (uint)~({position}))"])
        if self.uses_position():
            return self.join(slots, [self._key(), f"(long)({position})"])
        if self.kind == "welford_combine":
            return self.join(slots, self.values)
        mean, squares, weight = slots
        value = self.values[0]
        return [
            f"{{ {weight} += 1; const {self.ctype} difference = {value} - {mean};",
            f"{mean} += difference / {weight}; {squares} += difference * ({value} - {mean}); }}",
        ]

    def join(self, slots: Slots, others: Slots) -> list[str]:
        """Statements that take another part's fields in."""
        first, other = slots[0], others[0]
        if self.kind == "sum":
            return [f"ADD_TO({first}, {other})"]
        if self.kind == "prod":
            return [f"MULTIPLY_INTO({first}, {other})"]
        if self.kind == "any":
            return [f"{first} |= {other};"]
        if self.kind == "xor_sum":
            return [f"{first} ^= {other};"]
        if self.kind in ("max", "min"):
            sign = "<" if self.kind == "max" else ">"
            key = self._key_type()
            chosen = f"{first} {sign} other ? other : {first}"
            return [f"{{ const {key} other = {other}; {first} = {chosen}; }}"]
        if self._is_packed():
            return [f"{{ const long other = {other}; {first} = {first} < other ? other : {first}; }}"]
        if self.uses_position():
            place, other_place = slots[1], others[1]
            return [
                f"if ({other} > {first} || ({other} == {first} && {other_place} < {place}))",
                f"{{ {first} = {other}; {place} = {other_place}; }}",
            ]
        mean, squares, weight = slots
        other_mean, other_squares, other_weight = others
        return [
            f"{{ const {self.ctype} both = {weight} + {other_weight}, difference = {other_mean} - {mean};",
            f"const {self.ctype} share = both == 0 ? 0 : {other_weight} / both;",
            f"{mean} += difference * share;",
            f"{squares} += {other_squares} + difference * difference * {weight} * share;",
            f"{weight} = both; }}",
        ]

    def finish(self, slots: Slots) -> list[str]:
        """The expressions of the results."""
        if self.kind in ("max", "min"):
            if is_floating(self.ctype):
                return [f"{self.ctype}_of_key({slots[0]})"]
            return [slots[0]]
        if self.kind == "any":
            return [f"{slots[0]} != 0"]
        if self._is_packed():
            return [f"(long)(uint)~(uint)({slots[0]})"]
        if self.uses_position():
            return [slots[1]]
        return list(slots)

    def _is_packed(self) -> bool:
        """Whether key and position share 64 bits, which compilers turn into vectors."""
        return self.uses_position() and not self.wide_index and self._key_type() not in ("long", "ulong")

    def _key_type(self) -> str:
        if self.ctype == "double":
            return "long"
        if self.ctype == "float" or (self.uses_position() and self.ctype not in ("long", "ulong", "uint")):
            return "int"
        if self.uses_position():
            return "ulong" if self.ctype == "ulong" else "long"
        return "uchar" if self.ctype == "bool" else self.ctype

    def _key(self) -> str:
        """The element as an integer of the same order. NaN comes behind all that it is compared with."""
        value, key = self.values[0], self._key_type()
        largest = self.kind in ("max", "argmax")
        if is_floating(self.ctype):
            text = f"{'largest' if largest else 'least'}_key_of_{self.ctype}({value})"
        else:
            text = f"({key})({value})"
        return f"({key})~{text}" if self.kind == "argmin" else text


def accumulated_type(kind: str, src_dtype: torch.dtype) -> str:
    """The C type that a reduction of that dtype works in."""
    ctype = computed_type(src_dtype)
    if kind in ("sum", "prod") and ctype in ("bool", "char", "uchar", "short", "ushort", "int", "uint"):
        return "long"
    return ctype
