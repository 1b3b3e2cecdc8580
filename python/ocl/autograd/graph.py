"""Nodes of the tape, and what it keeps for backward: what torch.autograd.graph has."""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from ocl import _C
from ocl._C import Node, Tensor
from ocl.utils.hooks import RemovableHandle

__all__ = [
    "Node",
    "disable_saved_tensors_hooks",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

_of_thread = threading.local()


class saved_tensors_hooks:  # noqa: N801  (PyTorch's name)
    """Keeps something else in the place of each tensor that operators save for backward.

    In the block ``pack_hook(tensor)`` gives the object that is kept, and in a backward pass
    ``unpack_hook(object)`` gives the tensor back, of the same shape, dtype and device. The innermost pair
    counts. (torch.autograd.graph.saved_tensors_hooks)

    An operator may save fewer tensors than PyTorch's, or others. ``unpack_hook`` is called at each use. The
    tensor that ``pack_hook`` gets has no history, but it is the caller's own where it is a leaf: a hook that
    returns it keeps it alive.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if (message := getattr(_of_thread, "refusal", None)) is not None:
            raise RuntimeError(message)
        _C._push_saved_tensor_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args: object) -> None:
        _C._pop_saved_tensor_hooks()


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """Keeps what is saved for backward in the host's memory instead of the device's.

    Each tensor that operators save in the block is read when it is saved and written back when backward
    needs it. ``pin_memory`` and ``device_type`` change nothing. (torch.autograd.graph.save_on_cpu)
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(self._pack, self._unpack)

    @staticmethod
    def _pack(tensor: Tensor) -> tuple:
        return _C._to_bytes(tensor), tensor.shape, tensor.dtype, tensor.device

    @staticmethod
    def _unpack(packed: tuple) -> Tensor:
        elements, shape, dtype, device = packed
        return _C._from_bytes(elements, dtype, device).view(shape)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In the block ``saved_tensors_hooks`` raises RuntimeError with that message, and so does the block where
    such hooks are on.

    Matches torch.autograd.graph.disable_saved_tensors_hooks.
    """
    if _C._packs_saved_tensors():
        raise RuntimeError(error_message)
    before = getattr(_of_thread, "refusal", None)
    _of_thread.refusal = error_message
    try:
        yield
    finally:
        _of_thread.refusal = before


class _Handles(RemovableHandle):
    """The handle of several hooks."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Calls ``fn`` once in each backward pass that makes gradients of ``tensors``.

    With ``mode="all"`` it is called when all those that the pass makes are there, with a list in which None
    stands for the others. With "any" it is called at the first one, with that one. The handle's ``remove``
    ends the hook. (torch.autograd.graph.register_multi_grad_hook)
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    waiting = _WaitingForAll(tensors, fn) if mode == "all" else _WaitingForAny(fn)
    return _Handles(
        [
            tensor.register_hook(functools.partial(waiting.arrived, i))
            for i, tensor in enumerate(tensors)
            if mode == "all" or tensor.requires_grad
        ]
    )


class _WaitingForAll:
    """The gradients of each pass that have come so far."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable) -> None:
        self._fn = fn
        self._nodes = [_C._edge_to(tensor)[0] for tensor in tensors]
        if None in self._nodes:
            raise RuntimeError(
                f"register_multi_grad_hook: tensor {self._nodes.index(None)} does not require a gradient"
            )
        self._lock = threading.Lock()
        self._passes: dict[int, list[Tensor | None]] = {}

    def arrived(self, place: int, gradient: Tensor) -> None:
        number = _C._current_pass()
        with self._lock:
            is_first = number not in self._passes
            gradients = self._passes.setdefault(number, [None] * len(self._nodes))
            gradients[place] = gradient
            is_last = all(
                g is not None or not _C._is_to_be_visited(node)
                for g, node in zip(gradients, self._nodes, strict=True)
            )
            if is_last:
                del self._passes[number]
        if is_last:
            self._fn(gradients)
        elif is_first:  # a node that is visited may make no gradient of a tensor
            _C._at_end_of_pass(functools.partial(self._ended, number))

    def _ended(self, number: int, is_complete: bool) -> None:
        with self._lock:
            gradients = self._passes.pop(number, None)
        if is_complete and gradients is not None:
            self._fn(gradients)


class _WaitingForAny:
    """The last passes that brought a gradient."""

    def __init__(self, fn: Callable) -> None:
        self._fn = fn
        self._lock = threading.Lock()
        self._passes: deque[int] = deque(maxlen=64)  # one for each thread that walks, at most

    def arrived(self, place: int, gradient: Tensor) -> None:
        number = _C._current_pass()
        with self._lock:
            is_first = number not in self._passes
            if is_first:
                self._passes.append(number)
        if is_first:
            self._fn(gradient)
