"""Names of values in a graph, and the names by which generated code finds what they come from."""

from __future__ import annotations

import builtins
import inspect
import keyword
import math
import re
from typing import Any

import ocl
from ocl.overriding.asking import Asked

__all__ = [
    "BESIDE_BUILTINS",
    "Namespace",
    "name_of_target",
    "qualified_name",
    "readable_target",
    "shown_type",
]

# The names that the code of every graph finds.
BESIDE_BUILTINS = {
    "inf": math.inf,
    "nan": math.nan,
    "NoneType": type(None),
    "ocl": ocl,
    "device": ocl.device,
}
_TAKEN = {*keyword.kwlist, *vars(builtins), *BESIDE_BUILTINS, "torch", "fx_pytree", "pytree"}


class Namespace:
    """Gives each object a name that no other one has."""

    def __init__(self) -> None:
        self._of_object: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any = None) -> str:
        """A name like ``candidate``; the one that ``obj`` has already."""
        if obj is not None and obj in self._of_object:
            return self._of_object[obj]
        candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        base, number = re.match(r"^(.*?)(?:_(\d+))?$", candidate).groups()
        if number is None or candidate in self._used:
            count = self._counts.get(base, 0)
            if (
                candidate in _TAKEN
                and BESIDE_BUILTINS.get(candidate, vars(builtins).get(candidate)) is not obj
            ):
                count += 1
                candidate = f"{base}_{count}"
        else:
            count = int(number)
        while candidate in self._used:
            count += 1
            candidate = f"{base}_{count}"
        self._used.add(candidate)
        self._counts[base] = count
        if obj is not None:
            self._of_object[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        self._of_object[obj] = name

    def rename(self, obj: Any, name: str) -> None:
        self._of_object[obj] = name
        self._used.add(name)


def name_of_target(target: Any) -> str:
    """The name of a node of this target: ``add`` of operator.add, ``layer_conv1`` of "layer.conv1"."""
    name = target if isinstance(target, str) else target.__name__
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def qualified_name(target: Any) -> str:
    """The name by which the code of a graph finds a function or a class."""
    if isinstance(target, Asked):
        return f"ocl.Tensor.{target.name}" if target.place == "Tensor" else f"{target.place}.{target.name}"
    if getattr(builtins, target.__name__, None) is target:
        return target.__name__
    if target is getattr(ocl.Tensor, target.__name__, None):
        return f"ocl.Tensor.{target.__name__}"
    name = target.__name__
    if name == "<lambda>":  # the name that its source gives it
        name = inspect.getsource(target).split("=")[0].strip()
    for place in (ocl, ocl.nn.functional):
        if getattr(place, name, None) is target:
            return f"{place.__name__}.{name}"
    module = getattr(target, "__module__", None)
    if module is None:
        raise RuntimeError(f"cannot find the module of {target}")
    return f"{module}.{name}"


def readable_target(target: Any) -> str:
    """How a listing names a target."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    if module in ("builtins", "_operator"):
        return f"{module.lstrip('_')}.{target.__name__}"
    return qualified_name(target)


def shown_type(kind: Any) -> str:
    """A type as an annotation of a value names it."""
    if isinstance(kind, type):
        if kind.__module__ == "builtins":
            return kind.__qualname__
        if getattr(ocl, kind.__name__, None) is kind:
            return f"ocl.{kind.__name__}"
        return f"{kind.__module__}.{kind.__qualname__}"
    return repr(kind)
