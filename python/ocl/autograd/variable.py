"""Variable, PyTorch's name of tensors with gradients before its version 0.4."""

from __future__ import annotations

from typing import Any

from ocl._C import Tensor

__all__ = ["Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)


class Variable(metaclass=_VariableMeta):
    """``Variable(tensor)`` is a tensor over its memory, and every tensor is a Variable.

    Matches torch.autograd.Variable.

    ``volatile`` changes nothing, as in PyTorch.
    """
