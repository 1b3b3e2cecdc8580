"""The classes that Dynamo and Inductor look up by the device's name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from torch_ocl import _C, _built_with


def _refusal(error: Exception) -> RuntimeError:
    return RuntimeError(
        f"torch.compile for ocl devices is written for PyTorch {_built_with.TORCH}, whose Inductor differs "
        f"from that of PyTorch {torch.__version__} ({error}): use "
        'torch.compile(..., backend="aot_eager")'
    )


class _Refused:
    """In the place of a wrapper, where PyTorch's interfaces moved."""

    supports_caching = False

    def __init__(self, error: Exception) -> None:
        self._error = error

    def create(self, *args: Any, **kwargs: Any) -> Any:
        raise _refusal(self._error) from self._error


def _or_refuse(register: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """Importing PyTorch never fails: where its interfaces moved, compiling says so."""

    @functools.wraps(register)
    def wrapped(module: ModuleType) -> None:
        try:
            register(module)
        except (ImportError, AttributeError, TypeError) as error:
            _faults.append(error)
            if hasattr(module, "device_codegens") and hasattr(module, "DeviceCodegen"):
                refused = _Refused(error)
                module.device_codegens["ocl"] = module.DeviceCodegen(refused.create, refused)

    return wrapped


_faults: list[Exception] = []


@_or_refuse
def register_interface(dynamo: ModuleType) -> None:
    """``dynamo``: the module torch._dynamo.device_interface."""
    from torch_ocl.inductor import fakes
    from torch_ocl.inductor.interface import OclInterface

    fakes.install()
    dynamo.register_interface_for_device("ocl", OclInterface)
    for index in range(_C.device_count()):
        dynamo.register_interface_for_device(f"ocl:{index}", OclInterface)


@_or_refuse
def register_backend(common: ModuleType) -> None:
    """``common``: the module torch._inductor.codegen.common, which others import first."""

    from torch._inductor.custom_graph_pass import CustomGraphModulePass

    class OpOverrides(common.DeviceOpOverrides):
        """Lines of generated Python."""

        def device_guard(self, device_idx: int) -> str:
            return f"torch.ocl.device({device_idx})"

        def set_device(self, device_idx: int) -> str:
            return f"torch.ocl.set_device({device_idx})"

        def synchronize(self) -> str:
            return "torch.ocl.synchronize()"

        def import_get_raw_stream_as(self, name: str) -> str:
            return f"from torch_ocl.inductor.interface import get_raw_stream as {name}"

    class Version(CustomGraphModulePass):
        """No pass: Inductor's caches take its id for a part of their keys."""

        def __call__(self, graph: torch.fx.Graph) -> None:
            pass

        def uuid(self) -> str:
            return code_version()

    class Scheduling:
        """The scheduling, once it is asked for. Inductor wants a class."""

        def __new__(cls, scheduler: Any) -> Any:
            return _loaded().OclScheduling(scheduler)

    class Wrapper:
        """Makes the wrapper, once Inductor is loaded."""

        supports_caching = True

        @staticmethod
        def create(*args: Any, **kwargs: Any) -> Any:
            return _loaded().wrapper_of(*args, **kwargs)

    class RefusedWrapper:
        """Inductor's C++."""

        supports_caching = False

        @staticmethod
        def create(*args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError(
                "ocl devices have no C++ wrapper of Inductor (cpp_wrapper=True, AOTInductor): compile "
                "without it, or export the net by ocl.export (docs/deploy.md)"
            )

    common.register_device_op_overrides("ocl", OpOverrides())
    common.register_backend_for_device("ocl", Scheduling, Wrapper, RefusedWrapper, None, Version())


@_or_refuse
def change_lowerings(lowering: ModuleType) -> None:
    """``lowering``: the module torch._inductor.lowering."""
    from torch_ocl.inductor import lowerings

    lowerings.change(lowering)


@_or_refuse
def change_layouts(graph: ModuleType) -> None:
    """``graph``: the module torch._inductor.graph."""
    from torch_ocl.inductor import lowerings

    lowerings.keep_layouts(graph)


@_or_refuse
def install_captures(output_code: ModuleType) -> None:
    """``output_code``: the module torch._inductor.output_code."""
    from torch_ocl.inductor import captures

    captures.install(output_code)


@functools.cache
def _loaded() -> ModuleType:
    """The code generator."""
    if _faults:
        raise _refusal(_faults[0]) from _faults[0]
    try:
        from torch_ocl.inductor import scheduling
    except (ImportError, AttributeError) as error:
        raise _refusal(error) from error
    return scheduling


def code_version() -> str:
    """Changes with the code generator, and with the kinds of device that it writes for.

    Also asked for where no graph is on ocl: it opens no device.
    """
    shapes = [(index, _C.device_properties(index)["kernel_shape"]) for index in sorted(_C.opened_devices())]
    return repr((_hash_of_files(), shapes, _built_with.VERSION))


@functools.cache
def _hash_of_files() -> str:
    from torch._inductor.custom_graph_pass import get_hash_for_files

    return repr(get_hash_for_files(tuple(sorted(str(path) for path in Path(__file__).parent.glob("*.py")))))
