"""The class of tensors, as classes derived from it find it, and PyTorch's names in ``torch._C``."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.nn.parameter import Parameter
from ocl.overriding import asking
from ocl.overriding.arming import arm
from ocl.overriding.asking import state

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass"]


class DisableTorchFunctionSubclass(asking.DisableTorchFunctionSubclass):
    __doc__ = asking.DisableTorchFunctionSubclass.__doc__

    def __enter__(self) -> None:
        arm()
        super().__enter__()


class DisableTorchFunction(asking.DisableTorchFunction):
    __doc__ = asking.DisableTorchFunction.__doc__


def _init_subclass(cls: type, **keywords: Any) -> None:
    super(Tensor, cls).__init_subclass__(**keywords)
    if asking.replaces(cls):
        arm()


Tensor.__init_subclass__ = classmethod(_init_subclass)
Tensor.__torch_function__ = classmethod(asking.default_torch_function)
Parameter.__torch_function__ = asking.disabled_torch_function_impl


def put_torch_names() -> None:
    """Puts PyTorch's names into ``ocl._C``, where a program finds them as those of ``torch._C``."""
    _C.DisableTorchFunction, _C.DisableTorchFunctionSubclass = (
        DisableTorchFunction,
        DisableTorchFunctionSubclass,
    )
    _C._disabled_torch_function_impl = asking.disabled_torch_function_impl
    _C._is_torch_function_enabled = lambda: state.classes_are_asked
    _C._is_torch_function_mode_enabled = lambda: bool(asking.current_modes())
    _C._len_torch_function_stack = lambda: len(state.modes)
