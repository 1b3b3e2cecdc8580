"""Calls of modules with other parameters and buffers than their own: torch.func.functional_call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ocl import nn
from ocl._C import Tensor
from ocl.nn.replaced import put_parameter

__all__ = ["functional_call"]

_ABSENT = object()


def functional_call(
    module: nn.Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other tensors in the place of its parameters and buffers, which it has
    again afterwards, whether the call returns or raises (torch.func.functional_call)::

        net = nn.Linear(3, 2)

        def loss(weights, x):
            return ocl.func.functional_call(net, weights, x).square().mean()

        slopes = ocl.func.grad(loss)(dict(net.named_parameters()), x)

    The keys of the dict, or of several without a name in common, are dotted names as in
    ``named_parameters()``; names that are left out keep their tensors. The tensors may have a history, which
    the result continues. Writes of the module into its buffers go into those of the dict; where it
    assigns others, a single dict gets them. ``args`` that are no tuple are a single argument.

    With ``tie_weights`` a tensor given for one name of a shared parameter stands for its other names too;
    ValueError where two names of it are given different ones. With ``strict`` every name must be given, and
    none that is not there, else RuntimeError. AttributeError for a name below a submodule that is not there,
    TypeError for what is no tensor. Threads must not call the module meanwhile.
    """
    given = _one_dict(parameter_and_buffer_dicts)
    replacements = _for_all_names(module, given) if tie_weights else given
    if strict:
        _require_same_names(module, replacements)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, replacements, given):
        return module(*args, **(kwargs or {}))


def _one_dict(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(entry, dict) for entry in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts = Counter(name for entry in dicts for name in entry)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: tensor for entry in dicts for name, tensor in entry.items()}


def _named_tensors(module: nn.Module) -> dict[str, Tensor]:
    """All parameters and buffers, shared ones under each of their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _for_all_names(module: nn.Module, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """Gives the value of one name of a shared tensor to its other names too."""
    tensors = _named_tensors(module)
    names_of: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        names_of.setdefault(id(tensor), []).append(name)
    result = dict(given)
    for names in names_of.values():
        replacements = [given[name] for name in names if name in given]
        if any(other is not replacements[0] for other in replacements):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider "
                "using tie_weights=False"
            )
        if replacements:
            result.update(dict.fromkeys(names, replacements[0]))
    return result


def _require_same_names(module: nn.Module, given: dict[str, Tensor]) -> None:
    names = _named_tensors(module).keys()
    wrong = {"Unexpected": sorted(given.keys() - names), "Missing": sorted(names - given.keys())}
    lines = [f"{kind} key(s): {', '.join(map(repr, found))}." for kind, found in wrong.items() if found]
    if lines:
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(lines)
        )


@contextmanager
def _replaced(module: nn.Module, replacements: dict[str, Tensor], given: dict[str, Tensor]) -> Iterator[None]:
    """Puts the replacements into the module for a while. Then ``given`` gets what stands in their places."""
    places: dict[str, _Place] = {}
    try:
        for name, tensor in replacements.items():
            place = _Place(module, name)
            place.put(tensor)
            places[name] = place
        yield
    finally:
        for name in given.keys() & places.keys():
            if (now := places[name].now()) is not _ABSENT:
                given[name] = now
        for place in reversed(places.values()):  # two names may be of one place
            place.restore()


class _Place:
    """Where a tensor stands in a module: among the parameters, the buffers or as an attribute."""

    def __init__(self, module: nn.Module, path: str) -> None:
        prefix, _, self._name = path.rpartition(".")
        self._module = _submodule(module, prefix)
        if not self._name:
            raise KeyError('tensor name can\'t be empty string ""')
        self._kind = next(
            (k for k in ("_parameters", "_buffers") if self._name in getattr(self._module, k)), None
        )
        self._before = self.now()
        if not (self._before is _ABSENT or self._before is None or isinstance(self._before, Tensor)):
            raise TypeError(f"attribute `{self._name}`: {self._before} is not an instance of ocl.Tensor")

    def now(self) -> Any:
        return getattr(self._module, self._name, _ABSENT)

    def put(self, tensor: Any) -> None:
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"{tensor} is not an instance of ocl.Tensor")
        if self._kind == "_parameters":
            put_parameter(self._module, self._name, tensor)
        elif self._kind == "_buffers":
            self._module._buffers[self._name] = tensor
        else:
            setattr(self._module, self._name, tensor)

    def restore(self) -> None:
        if self._kind is None and self.now() is not _ABSENT:
            delattr(self._module, self._name)  # a Parameter was taken up as one
        if self._before is not _ABSENT:
            self.put(self._before)


def _submodule(module: nn.Module, path: str) -> nn.Module:
    for name in path.split(".") if path else ():
        below = getattr(module, name, None)
        if below is None:
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if not isinstance(below, nn.Module):
            raise TypeError(f"submodule `{path}`: {below} is not an instance of ocl.nn.Module")
        module = below
    return module
