"""The keys by which PyTorch's dispatcher chooses kernels, as far as operators of Python ask for them."""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterable, Iterator

from ocl import _C
from ocl.amp.autocast_mode import autocast
from ocl.modes import Mode

__all__ = ["DispatchKey", "DispatchKeySet", "excluded", "put_torch_names"]


class DispatchKey(enum.Enum):
    """Names of kinds of kernels. (torch._C.DispatchKey)"""

    Undefined = 0
    CPU = 1
    CUDA = 2
    XPU = 3
    MPS = 4
    PrivateUse1 = 5
    Meta = 6
    QuantizedCPU = 7
    CompositeImplicitAutograd = 8
    CompositeExplicitAutograd = 9
    Autograd = 10
    AutogradCPU = 11
    AutogradCUDA = 12
    AutogradPrivateUse1 = 13
    AutocastCPU = 14
    AutocastCUDA = 15
    AutocastXPU = 16
    AutocastPrivateUse1 = 17


class DispatchKeySet:
    """Several of the keys. (torch._C.DispatchKeySet)"""

    def __init__(self, keys: DispatchKey | Iterable[DispatchKey]) -> None:
        self._keys = frozenset([keys] if isinstance(keys, DispatchKey) else keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys | other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys & other._keys)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys - other._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(sorted(key.name for key in self._keys))})"

    def has(self, key: DispatchKey) -> bool:
        """Whether the key is one of them."""
        return key in self._keys

    def __iter__(self) -> Iterator[DispatchKey]:
        return iter(self._keys)


_thread = threading.local()


def excluded() -> DispatchKeySet:
    """The keys whose kernels this thread leaves out."""
    return getattr(_thread, "excluded", DispatchKeySet(()))


class _ExcludeDispatchKeyGuard(Mode):
    """Leaves out the kernels of keys within a ``with`` block, and autocast where its keys are among them."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self._keys = keys

    def _switch(self) -> tuple[DispatchKeySet, autocast | None]:
        before = excluded()
        _thread.excluded = before | self._keys
        if not any(key.name.startswith("Autocast") for key in self._keys):
            return before, None
        without = autocast(enabled=False)
        without.__enter__()
        return before, without

    def _restore(self, before: tuple[DispatchKeySet, autocast | None]) -> None:
        _thread.excluded, without = before
        if without is not None:
            without.__exit__()


def put_torch_names() -> None:
    """Puts PyTorch's names into ``ocl._C``, where a program finds them as those of ``torch._C``."""
    _C.DispatchKey, _C.DispatchKeySet = DispatchKey, DispatchKeySet
    _C._ExcludeDispatchKeyGuard = _ExcludeDispatchKeyGuard
    _C._log_api_usage_once = lambda event: None  # nothing is reported
    _C._get_tracing_state = lambda: None  # nothing is traced
