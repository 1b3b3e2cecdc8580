"""PyTorch programs on ocl: ``ocl.as_torch()`` first, or ``python -m ocl.as_torch script.py args…``.

Afterwards ``import torch`` and ``import torch.nn`` give ocl's modules. A name that ocl does not have is an
ImportError or an AttributeError that says so. "cuda" stands for OpenCL devices, "cpu" for the default device.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import runpy
import sys
import types
from collections.abc import Callable
from typing import Any

import ocl
from ocl import _C, absent, adapting, device_names, settings, torch_modules
from ocl._C import Tensor
from ocl._C._nn import Module
from ocl.late_numpy import np
from ocl.library import dispatching
from ocl.library.operators import ops
from ocl.meta_device import MetaDevice, put_answers
from ocl.overriding.arming import watch_refusals
from ocl.overriding.asking import Asked
from ocl.overriding.classes import put_torch_names

__all__ = ["as_torch"]

VERSION = "2.13.0+ocl"
_MARK = "_is_ocl"
runs_program = False  # whether this process is `python -m ocl.as_torch`


class _Loader(importlib.abc.Loader):
    """Gives a module of ocl's, which stays what it is, under a name of torch's."""

    def __init__(self, own_name: str, name: str) -> None:
        self._own_name, self._name = own_name, name

    def create_module(self, spec: Any) -> types.ModuleType:
        module = importlib.import_module(self._own_name)
        self._own = module.__spec__, module.__loader__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__, module.__loader__ = self._own
        absent.complete(self._name, module)


class _AbsentLoader(importlib.abc.Loader):
    """Gives a module whose names refuse to be used."""

    def create_module(self, spec: Any) -> types.ModuleType:
        return absent.module_of(spec.name.removeprefix("torch."))

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class _Finder(importlib.abc.MetaPathFinder):
    """Finds ``torch.X`` where ``ocl.X`` is, and says what is missing where it is not. Adapts libraries."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if not fullname.startswith("torch."):
            return adapting.found(fullname, path)
        name = fullname.removeprefix("torch.")
        if absent.is_absent(name):
            return importlib.machinery.ModuleSpec(fullname, _AbsentLoader(), is_package=True)
        own_name = torch_modules.module_with_the_names_of(name) or f"ocl.{name}"
        try:
            found = importlib.util.find_spec(own_name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise ModuleNotFoundError(
                f"no module named {fullname!r}: ocl, which stands for torch here, has no {own_name}",
                name=fullname,
            )
        is_package = found.submodule_search_locations is not None or absent.holds_absent(name)
        return importlib.machinery.ModuleSpec(fullname, _Loader(own_name, name), is_package=is_package)


class _Torch(types.ModuleType):
    """The module ``torch``: ocl's names, with PyTorch's names of devices."""

    __version__ = VERSION

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'torch' has no attribute {name!r}")
        if name in absent.dtypes:
            return absent.dtypes[name]
        own_name = torch_modules.module_with_the_names_of(name)
        try:
            value = importlib.import_module(own_name) if own_name else getattr(ocl, name)
        except AttributeError:
            raise AttributeError(
                f"module 'torch' has no attribute {name!r}: ocl, which stands for it here, does not have it"
            ) from None
        if isinstance(value, types.ModuleType):
            sys.modules.setdefault(f"torch.{name}", value)
            absent.complete(name, value)
        elif _takes_device(value):
            value = value.calling(_with_names) if isinstance(value, Asked) else _with_names(value)
        self.__dict__[name] = value
        return value

    def _begin_to_ask(self) -> None:
        """Takes up the functions that ask ``__torch_function__``, in the place of those that it has."""
        for name, value in list(self.__dict__.items()):
            asked = getattr(ocl, name, None) if callable(value) else None
            if isinstance(asked, Asked):
                del self.__dict__[name]
                getattr(self, name).stands_for = value

    def __dir__(self) -> list[str]:
        return sorted({*dir(ocl), "__version__"})


class _DeviceMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "meta" in (args or kwargs.values()):
            return MetaDevice()
        translated = [device_names.translated(args[0])] if args else []
        kwargs = {key: device_names.translated(value) for key, value in kwargs.items()}
        if len(args) == 2 and args[0] == "cuda":
            return _C.device(f"ocl:{args[1]}")
        return _C.device(*translated, *args[1:], **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (_C.device, MetaDevice))


class _Device(metaclass=_DeviceMeta):
    """torch.device: gives ocl's devices, of which it is the class to isinstance."""


def _takes_device(value: Any) -> bool:
    is_function = inspect.isbuiltin(value) or isinstance(value, types.FunctionType)
    documentation = getattr(value, "__doc__", None) or ""
    return (
        (is_function or isinstance(value, Asked) or type(value).__name__ == "method_descriptor")
        and "device" in documentation
    ) or value is ocl.load


def _parameters(function: Callable) -> tuple[str, ...]:
    return function.__code__.co_varnames if isinstance(function, types.FunctionType) else ()


def _in_dtype(default: Any, function: Callable, args: tuple, kwargs: dict) -> Any:
    """The result in the default dtype: that of a layer, or of a function that no array gave its float32."""
    if args and isinstance(args[0], Module):
        return function(*args, **{**kwargs, "dtype": default})
    result = function(*args, **kwargs)
    is_float = isinstance(result, Tensor) and result.dtype == _C.float32
    if not is_float or any(isinstance(given, (Tensor, np.ndarray)) for given in args):
        return result
    return function(*args, **{**kwargs, "dtype": default})


def _with_names(function: Callable) -> Callable:
    """The function, for which PyTorch's names of devices are translated. It keeps to the default dtype."""
    takes_dtype = "dtype" in (function.__doc__ or "") or "dtype" in _parameters(function)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for key in ("device", "map_location"):
            if key in kwargs:
                kwargs[key] = device_names.translated(kwargs[key])
        if settings.reduced_default is not None and takes_dtype and kwargs.get("dtype") is None:
            return _in_dtype(settings.reduced_default, function, args, kwargs)
        return function(*args, **kwargs)

    setattr(called, _MARK, True)
    return called


def _with_place(method: Callable) -> Callable:
    """The method ``to``, whose first argument may be the name of a device."""

    @functools.wraps(method)
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args:
            args = (device_names.translated(args[0]), *args[1:])
        if "device" in kwargs:
            kwargs["device"] = device_names.translated(kwargs["device"])
        return method(self, *args, **kwargs)

    return to


def _cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
    """On the OpenCL device that the name or number stands for, by default the default one."""
    return self.to("cuda" if device is None else device)


def _cpu(self: Any, memory_format: Any = None) -> Any:
    """The tensor or module itself: there are no host tensors, and ``numpy()`` reads from every device."""
    return self


def _pin_memory(self: Any, device: Any = None) -> Any:
    """The tensor itself, as of ``cpu()``: it is on the device already."""
    return self


def _translate_names() -> None:
    """Has tensors, modules and layers take PyTorch's names of devices."""
    device_names.stand_for_ocl = True
    for kind in (Tensor, Module):
        kind.to = _with_place(kind.to)
        kind.cuda, kind.cpu = _cuda, _cpu
    Tensor.pin_memory = _pin_memory
    Tensor.is_cuda = property(lambda self: True, doc="True: the tensor is on an OpenCL device.")
    for name in ("new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"):
        setattr(Tensor, name, _with_names(getattr(Tensor, name)))
    for kind in vars(_C._nn).values():
        if isinstance(kind, type) and "__init__" in vars(kind) and "device" in (kind.__init__.__doc__ or ""):
            kind.__init__ = _with_names(kind.__init__)


def as_torch() -> types.ModuleType:
    """Lets ``import torch`` give ocl in this process, and returns that module.

    ``torch.device("cuda:1")`` is ``ocl.device("ocl:1")``, "cuda" and "cpu" are the default device, and
    ``torch.cuda.is_available()`` tells whether there is one. ``torch.__version__`` is "2.13.0+ocl". Once
    on, it stays on. RuntimeError where PyTorch has been imported already.
    """
    there = sys.modules.get("torch")
    if isinstance(there, _Torch):
        return there
    if there is not None:
        raise RuntimeError(
            "as_torch: PyTorch has been imported already; call ocl.as_torch() before the first `import torch`"
        )
    torch = _Torch("torch", ocl.__doc__)
    torch.__path__, torch.__package__ = [], "torch"
    torch.__spec__ = importlib.machinery.ModuleSpec("torch", None, is_package=True)
    torch.device, torch.ops = _Device, ops
    sys.modules["torch"], sys.modules["torch.ops"] = torch, ops
    sys.meta_path.insert(0, _Finder())
    _translate_names()
    watch_refusals()
    put_answers()
    put_torch_names()
    dispatching.put_torch_names()
    return torch


class _Callable(types.ModuleType):
    """This module, which may be called: ``ocl.as_torch()`` stays what it is once it has been imported."""

    def __call__(self) -> types.ModuleType:
        return as_torch()


sys.modules[__name__].__class__ = _Callable


def main(arguments: list[str]) -> None:
    """Runs a program: ``script.py args…`` or ``-m module args…``."""
    is_module = arguments[:1] == ["-m"]
    sys.argv = arguments[1:] if is_module else arguments
    if not sys.argv:
        raise SystemExit("usage: python -m ocl.as_torch script.py [args…] | -m module [args…]")
    module = importlib.import_module("ocl.as_torch")
    module.runs_program = True
    module()
    if is_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(importlib.import_module("pathlib").Path(sys.argv[0]).resolve().parent)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
