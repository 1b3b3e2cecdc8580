"""The tensors of one example, which a function under vmap computes with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ocl import _C
from ocl._C import Tensor

if TYPE_CHECKING:
    from ocl.batching.trace import Trace

__all__ = ["READS", "WRITTEN", "Batched", "Example", "current", "plain", "recording"]

thread = threading.local()


def current() -> Trace | None:
    """The innermost vmap whose function this thread runs."""
    return getattr(thread, "trace", None)


class Batched(NamedTuple):
    """The tensors of all examples, along a first dimension."""

    tensor: Tensor


class Example(Tensor):
    """A tensor of one example. Its elements are not to be read: they differ from example to example."""

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        if current() is not None and requires_grad and not self.requires_grad:
            from ocl.batching import derivatives  # which needs this class

            derivatives.make_leaf(self)
        return super().requires_grad_(requires_grad)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind(0))

    def __deepcopy__(self, memo: dict) -> Tensor:
        return memo.setdefault(id(self), self.detach().clone())

    def __repr__(self) -> str:
        return f"BatchedTensor(shape={tuple(self.shape)}, dtype={self.dtype})"


def _refusing(name: str, reason: str) -> Callable:
    def refuse(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"vmap: It looks like you're calling {name} on a Tensor. {reason}")

    return refuse


READS = "We don't support vmap over calling it, please try to rewrite what you're doing to avoid it."
_FLOW = "We don't support data-dependent control flow: what it says differs from example to example."
for _name in ("item", "tolist", "numpy", "__array__", "__dlpack__", "__contains__", "__reduce_ex__"):
    setattr(Example, _name, _refusing(f".{_name}()", READS))
for _name in ("__bool__", "__int__", "__float__", "__index__", "is_nonzero"):
    setattr(Example, _name, _refusing(f".{_name}()", _FLOW))
for _name in ("backward", "register_hook", "retain_grad", "register_post_accumulate_grad_hook"):
    setattr(Example, _name, _refusing(f".{_name}()", "Use ocl.func.grad, ocl.func.vjp or the like instead."))

WRITTEN = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
    "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
    "`self` not being vmapped over in {}. Please try to use out-of-place operators instead of inplace "
    "arithmetic"
)


def plain(tensor: Tensor) -> Tensor:
    return tensor.as_subclass(Tensor) if isinstance(tensor, Example) else tensor


@contextmanager
def recording(is_on: bool) -> Iterator[None]:
    before = _C.is_grad_enabled()
    _C._set_grad_enabled(is_on)
    try:
        yield
    finally:
        _C._set_grad_enabled(before)
