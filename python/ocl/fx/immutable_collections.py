"""Lists and dicts as arguments of nodes: a node learns of a change only when its ``args`` are set anew."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation: set the node's args or kwargs to a "
        "changed copy, so that the graph learns of it"
    )


def _without(base: type, names: str) -> dict[str, Any]:
    return {
        "__module__": __name__,
        "__reduce__": lambda self: (type(self), (base(self),)),
        "__hash__": lambda self: hash(tuple(self)),
        **dict.fromkeys((f"__{name}__" for name in ("setitem", "delitem")), _refuse),
        **dict.fromkeys(names.split(), _refuse),
    }


immutable_list = type(
    "immutable_list",
    (list,),
    _without(list, "__iadd__ __imul__ append clear extend insert pop remove reverse sort"),
)
immutable_dict = type(
    "immutable_dict", (dict,), _without(dict, "__ior__ clear pop popitem setdefault update")
)
