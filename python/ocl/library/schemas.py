"""Schemas say the arguments of operators, as torch.library reads and writes them."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ocl import _C

__all__ = ["Argument", "Schema", "infer_schema", "parsed"]

_MISSING = inspect.Parameter.empty
_SINGLE = {
    _C.Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    _C.dtype: "ScalarType",
    _C.device: "Device",
    int | float | bool: "Scalar",
}


class Argument(NamedTuple):
    """One argument of an operator."""

    name: str
    type: str
    default: Any = _MISSING
    is_keyword: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not _MISSING


class Schema(NamedTuple):
    """The arguments of an operator, and its results as they are written."""

    text: str
    arguments: tuple[Argument, ...]
    returns: str

    def bound(self, name: str, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The positional arguments and those by keyword alone, with their defaults; TypeError where one is
        missing or unknown."""
        positional = [argument for argument in self.arguments if not argument.is_keyword]
        if len(args) > len(positional):
            raise TypeError(f"{name}() expected at most {len(positional)} argument(s) but got {len(args)}")
        given = dict(zip((argument.name for argument in positional), args, strict=False))
        for key, value in kwargs.items():
            if key in given or all(key != argument.name for argument in self.arguments):
                raise TypeError(f"{name}() got an unexpected or repeated keyword argument '{key}'")
            given[key] = value
        for argument in self.arguments:
            if argument.name not in given:
                if not argument.has_default:
                    raise TypeError(f"{name}() is missing value for argument '{argument.name}'")
                given[argument.name] = argument.default
        by_keyword = {a.name: given[a.name] for a in self.arguments if a.is_keyword}
        return tuple(given[argument.name] for argument in positional), by_keyword


def _pieces(text: str) -> list[str]:
    """The arguments of a list, whose commas within brackets part nothing."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [piece.strip() for piece in found if piece.strip()]


def _default(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text, text)


def parsed(schema: str) -> Schema:
    """The schema ``(Tensor x, float factor=1.0, *, int[] sizes) -> Tensor``; ValueError for another text."""
    match = re.fullmatch(r"\s*\((.*)\)\s*->\s*(.+?)\s*", schema, re.DOTALL)
    if match is None:
        raise ValueError(f"expected a schema as '(Tensor x, float y=1.0) -> Tensor', got {schema!r}")
    arguments, is_keyword = [], False
    for piece in _pieces(match[1]):
        if piece == "*":
            is_keyword = True
            continue
        declared, has_default, default = piece.partition("=")
        kind, _, name = declared.strip().rpartition(" ")
        if not kind:
            raise ValueError(f"expected 'TYPE NAME' in the schema {schema!r}, got {piece!r}")
        value = _default(default.strip()) if has_default else _MISSING
        arguments.append(Argument(name, kind.strip(), value, is_keyword))
    return Schema(schema.strip(), tuple(arguments), match[2])


def _type_name(annotation: Any) -> str | None:
    if annotation in _SINGLE:
        return _SINGLE[annotation]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if type(None) in parts and len(parts) == 2:
        inner = _type_name(next(part for part in parts if part is not type(None)))
        return None if inner is None else f"{inner}?"
    if origin in (list, Sequence) and len(parts) == 1:
        inner = _type_name(parts[0])
        return None if inner is None else f"{inner}[]"
    return None


def _returned(annotation: Any) -> str | None:
    if annotation is None or annotation is type(None):
        return "()"
    if typing.get_origin(annotation) is tuple:
        inner = [_type_name(part) for part in typing.get_args(annotation)]
        return None if None in inner else f"({', '.join(inner)})"
    return _type_name(annotation)


def infer_schema(prototype_function: Callable, /, *, mutates_args: Any, op_name: str | None = None) -> str:
    """The schema that a function's annotations say; ValueError where one is missing or of no schema's type.

    ``mutates_args`` names the tensors that the function writes, or is "unknown". (torch.library.infer_schema)
    """
    hints = typing.get_type_hints(prototype_function)
    written, after_keyword_mark = [], False
    parameters = inspect.signature(prototype_function).parameters
    unknown = mutates_args == "unknown"
    if not unknown and not set(mutates_args) <= set(parameters):
        raise ValueError(f"infer_schema: mutates_args {mutates_args} must be names of arguments")
    for number, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ValueError(f"infer_schema(func): the parameter {name} takes a varying number of arguments")
        kind = _type_name(hints.get(name))
        if kind is None:
            raise ValueError(
                f"infer_schema(func): Parameter {name} must have a type annotation that a schema knows, got "
                f"{hints.get(name)!r}"
            )
        if kind.startswith("Tensor") and (unknown or name in mutates_args):
            kind = f"Tensor(a{number}!){kind.removeprefix('Tensor')}"
        if parameter.kind == parameter.KEYWORD_ONLY and not after_keyword_mark:
            written.append("*")
            after_keyword_mark = True
        default = "" if parameter.default is _MISSING else f"={_written(parameter.default)}"
        written.append(f"{kind} {name}{default}")
    returns = _returned(hints.get("return", _MISSING))
    if returns is None:
        raise ValueError(
            f"infer_schema(func): the function must say what it returns, got {hints.get('return')!r}"
        )
    return f"{op_name or ''}({', '.join(written)}) -> {returns}"


def _written(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else str(default)
