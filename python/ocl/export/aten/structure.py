"""How tensors lie in nested arguments and results."""

from dataclasses import dataclass


@dataclass
class Structure:
    """A leaf, or a container: its type, the keys of its parts, and these. ``kind`` None is a leaf.

    PyTorch has functions that take other containers than tuples, lists and dicts apart, and make them.
    ``other`` has both, and the context that they pass to each other.
    """

    kind: type | None
    keys: list | None = None
    parts: tuple["Structure", ...] = ()
    other: tuple | None = None

    @property
    def leaves(self) -> int:
        return 1 if self.kind is None else sum(part.leaves for part in self.parts)

    def flatten(self, value, where: str) -> list:
        """The leaves of a value; TypeError with its place where it is built otherwise."""
        if self.kind is None:
            return [value]
        values = self._parts(value, where)
        names = range(len(self.parts)) if self.keys is None else self.keys
        return [
            leaf
            for name, part, each in zip(names, self.parts, values, strict=True)
            for leaf in part.flatten(each, f"{where}[{name!r}]")
        ]

    def _parts(self, value, where: str) -> list:
        if self.other is not None and isinstance(value, self.kind):
            parts = list(self.other[0](value)[0])
        elif self.keys is not None and isinstance(value, dict):
            if {*value} != {*self.keys}:
                raise TypeError(
                    f"from_torch: {where} has the keys {self.keys} in the program, got {[*value]}"
                )
            return [value[key] for key in self.keys]
        elif self.keys is None and self.other is None and isinstance(value, (tuple, list)):
            parts = list(value)
        else:
            raise TypeError(
                f"from_torch: {where} is a {self.kind.__name__} in the program, got {type(value).__name__}"
            )
        if len(parts) != len(self.parts):
            raise TypeError(
                f"from_torch: {where} has {len(self.parts)} parts in the program, got {len(parts)}"
            )
        return parts

    def unflatten(self, leaves):
        """A value of an iterator's leaves."""
        if self.kind is None:
            return next(leaves)
        parts = [part.unflatten(leaves) for part in self.parts]
        if self.other is not None:
            return self.other[1](parts, self.other[2])
        if self.keys is not None:
            return self.kind(zip(self.keys, parts, strict=True))
        return self.kind(*parts) if hasattr(self.kind, "_fields") else self.kind(parts)
