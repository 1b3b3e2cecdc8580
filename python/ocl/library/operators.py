"""The operators that programs define by name, as ``torch.ops`` has them: ``ops.mylib.f(x)``."""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.amp.autocast_mode import is_autocast_enabled
from ocl.autograd.function import Function
from ocl.func.trees import leaves
from ocl.library.dispatching import excluded
from ocl.library.schemas import Schema
from ocl.shapes import is_shapes_only

__all__ = ["OpOverload", "OpOverloadPacket", "defined", "operator_of", "ops", "remove"]

# All devices are OpenCL devices: a kernel of any kind that computes by tensors' functions serves them.
_KERNELS = (
    "ocl",
    "PrivateUse1",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
    "CUDA",
    "CPU",
)
_AUTOCAST = ("AutocastPrivateUse1", "AutocastCUDA", "AutocastCPU")
_AUTOGRAD = ("AutogradPrivateUse1", "AutogradCUDA", "AutogradCPU", "Autograd")


class OpOverload:
    """One operator: its schema, and the functions that were registered for it."""

    def __init__(self, namespace: str, name: str, overload: str, schema: Schema) -> None:
        self.namespace, self._name, self._overloadname = namespace, f"{namespace}::{name}", overload
        self._schema = schema
        self.kernels: dict[str, Callable] = {}
        self.fake: Callable | None = None
        self._backward: Callable | None = None
        self._setup_context: Callable | None = None
        self.__name__ = f"{name}.{overload}"
        self.__qualname__ = self.__name__
        self.__module__ = f"torch.ops.{namespace}"

    def name(self) -> str:
        """The name with its namespace, and the overload where it has one."""
        return self._name if self._overloadname == "default" else f"{self._name}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._name.replace('::', '.')}', overload='{self._overloadname}')>"

    def register_autograd(self, backward: Callable, setup_context: Callable | None) -> None:
        """Takes the formula of the gradient: ``backward(ctx, *gradients)``."""
        self._backward, self._setup_context = backward, setup_context

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, by_keyword = self._schema.bound(self._name, args, kwargs)
        left_out = {key.name for key in excluded()}
        for keys, applies in ((_AUTOCAST, is_autocast_enabled()), (_AUTOGRAD, True)):
            for key in keys if applies else ():
                if key in self.kernels and key not in left_out:
                    return self.kernels[key](*args, **by_keyword)
        if "CompositeImplicitAutograd" in self.kernels:
            return self.kernels["CompositeImplicitAutograd"](*args, **by_keyword)
        if not _C.is_grad_enabled() or not any(
            isinstance(value, Tensor) and value.requires_grad for value in leaves([args, by_keyword])
        ):
            return self._compute(args, by_keyword)
        return self._recorded(args, by_keyword)

    def _compute(self, args: tuple, by_keyword: dict[str, Any]) -> Any:
        if is_shapes_only() and self.fake is not None:
            return self.fake(*args, **by_keyword)
        for key in _KERNELS:
            if key in self.kernels:
                return self.kernels[key](*args, **by_keyword)
        raise NotImplementedError(
            f"Could not run '{self.name()}': no kernel in Python is registered for OpenCL devices, and "
            "kernels that are compiled for PyTorch cannot be loaded"
        )

    def _recorded(self, args: tuple, by_keyword: dict[str, Any]) -> Any:
        """The result on the tape, where the registered formula gives its gradient."""
        operator = self

        class Recorded(Function):
            @staticmethod
            def forward(ctx: Any, *args: Any) -> Any:
                output = operator._compute(args, by_keyword)
                if operator._setup_context is not None:
                    keywords = {"keyword_only_inputs": by_keyword} if by_keyword else {}
                    operator._setup_context(ctx=ctx, inputs=args, output=output, **keywords)
                return tuple(output) if isinstance(output, list) else output

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                if operator._backward is None:
                    raise RuntimeError(
                        f"Trying to backward through {operator.name()} but no autograd formula was "
                        "registered. Please use register_autograd to add one."
                    )
                return operator._backward(ctx, *gradients)

        Recorded.__name__ = self._name.replace("::", "_")
        return Recorded.apply(*args)


class OpOverloadPacket:
    """All overloads of an operator; a call takes the first whose arguments fit."""

    def __init__(self, name: str, overloads: dict[str, OpOverload]) -> None:
        self._qualified_op_name, self._overloads = name, overloads
        self.__name__ = name.partition("::")[2]

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self._overloads)

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("_") or name not in self._overloads:
            raise AttributeError(
                f"The underlying op of '{self._qualified_op_name}' has no overload name '{name}'"
            )
        return self._overloads[name]

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._qualified_op_name.replace('::', '.')}')>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for overload in self._overloads.values():
            try:
                overload._schema.bound(overload.name(), args, kwargs)
            except TypeError as error:
                refused = error
            else:
                return overload(*args, **kwargs)
        raise refused


class _Namespace(types.ModuleType):
    """The operators of one library, by their names."""

    def __init__(self, name: str, packets: dict[str, OpOverloadPacket]) -> None:
        super().__init__(f"torch.ops.{name}")
        self._short, self._packets = name, packets

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__") or name not in self._packets:
            raise AttributeError(
                f"'_OpNamespace' '{self._short}' object has no attribute '{name}': ocl knows the operators "
                "that the program defines by torch.library, and those of torchvision"
            )
        return self._packets[name]

    def __dir__(self) -> list[str]:
        return sorted(self._packets)


class _Ops(types.ModuleType):
    """A namespace for each library that defines operators, as torch.ops."""

    def __init__(self) -> None:
        super().__init__("torch.ops", "Operators that programs define by torch.library.")
        self._namespaces: dict[str, _Namespace] = {}
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(f"module 'torch.ops' has no attribute {name!r}")
        return self._namespaces.setdefault(name, _Namespace(name, {}))

    def load_library(self, path: str | os.PathLike) -> None:
        """Takes up torchvision's operators where the file is torchvision's; OSError for other files, which
        are compiled for PyTorch. (torch.ops.load_library)
        """
        path = os.fspath(path)
        if os.path.basename(os.path.dirname(path)) != "torchvision" or not _is_c_module(path):
            raise OSError(
                f"{path} is compiled for PyTorch, and ocl, which stands for it here, cannot load it"
            )
        from ocl.library import torchvision_operators

        torchvision_operators.define_all()
        self.loaded_libraries.add(path)


def _is_c_module(path: str) -> bool:
    return os.path.basename(path).partition(".")[0] == "_C"


ops = _Ops()


def _parts(qualified: str) -> tuple[str, str, str]:
    namespace, separator, rest = qualified.partition("::")
    name, _, overload = rest.partition(".")
    if not separator or not name:
        raise ValueError(f"expected an operator's name as 'namespace::name', got {qualified!r}")
    return namespace, name, overload or "default"


def defined(qualified: str, schema: Schema) -> OpOverload:
    """A new operator under that name; RuntimeError where it is there already."""
    namespace, name, overload = _parts(qualified)
    packets = getattr(ops, namespace)._packets
    packet = packets.setdefault(name, OpOverloadPacket(f"{namespace}::{name}", {}))
    if overload in packet._overloads:
        raise RuntimeError(f"Tried to register an operator ({qualified}{schema.text}) that is there already")
    packet._overloads[overload] = OpOverload(namespace, name, overload, schema)
    return packet._overloads[overload]


def operator_of(op: Any) -> OpOverload:
    """The operator of a name, of an overload, or of a packet; RuntimeError for a name that is not defined."""
    if isinstance(op, OpOverload):
        return op
    if isinstance(op, OpOverloadPacket):
        return op.default
    if not isinstance(op, str):
        operator = getattr(op, "_opoverload", None)
        if operator is None:
            raise ValueError(f"expected an operator or its name, got {type(op).__name__}")
        return operator
    namespace, name, overload = _parts(op)
    packet = getattr(ops, namespace)._packets.get(name)
    if packet is None or overload not in packet._overloads:
        raise RuntimeError(f"operator {op} does not exist")
    return packet._overloads[overload]


def remove(operator: OpOverload) -> None:
    """Takes an operator out of its namespace."""
    namespace, name, overload = _parts(operator.name())
    packets = getattr(ops, namespace)._packets
    packets[name]._overloads.pop(overload, None)
    if not packets[name]._overloads:
        del packets[name]
