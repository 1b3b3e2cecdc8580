"""The names that model files need of ``torch.jit``. Nothing is compiled here: programs run as Python."""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeVar

__all__ = [
    "Final",
    "annotate",
    "export",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "trace",
    "trace_module",
    "unused",
]

Function = TypeVar("Function")


def is_scripting() -> bool:
    """False. (torch.jit.is_scripting)"""
    return False


def is_tracing() -> bool:
    """False. (torch.jit.is_tracing)"""
    return False


def annotate(the_type: Any, the_value: Function) -> Function:
    """The value itself. (torch.jit.annotate)"""
    return the_value


def unused(function: Function) -> Function:
    """The function itself. (torch.jit.unused)"""
    return function


def ignore(drop: Any = False, **options: Any) -> Any:
    """The function itself, as ``@ignore`` and as ``@ignore(drop=…)``. (torch.jit.ignore)"""
    return drop if callable(drop) else lambda function: function


def export(function: Function) -> Function:
    """The function itself. (torch.jit.export)"""
    return function


def script(obj: Function, *args: Any, **options: Any) -> Function:
    """The function, class or module itself: it goes on as Python. (torch.jit.script)"""
    return obj


def script_if_tracing(fn: Function) -> Function:
    """The function itself. (torch.jit.script_if_tracing)"""
    return fn


_script_if_tracing = script_if_tracing


def trace(func: Function, example_inputs: Any = None, *args: Any, **options: Any) -> Function:
    """The function or module itself, after one call with the example inputs. (torch.jit.trace)

    Python's branches go on to be taken anew in every call, where PyTorch keeps those of the trace.
    """
    from ocl._C import Tensor
    from ocl.autograd import no_grad

    if example_inputs is not None:
        inputs = (example_inputs,) if isinstance(example_inputs, (Tensor, dict)) else tuple(example_inputs)
        with no_grad():
            func(*inputs)
    return func


def trace_module(mod: Function, inputs: Any, *args: Any, **options: Any) -> Function:
    """The module itself. (torch.jit.trace_module)"""
    return mod


def freeze(mod: Function, *args: Any, **options: Any) -> Function:
    """The module itself, which must be in eval mode, else ValueError. (torch.jit.freeze)"""
    if getattr(mod, "training", False):
        raise ValueError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval()"
        )
    return mod


def optimize_for_inference(mod: Function, *args: Any, **options: Any) -> Function:
    """The module itself. (torch.jit.optimize_for_inference)"""
    return mod


def save(m: Any, f: Any, *args: Any, **options: Any) -> NoReturn:
    """Raises NotImplementedError: there are no TorchScript files here."""
    raise NotImplementedError(
        "ocl.jit.save is not there: ocl.export writes programs to files, ocl.save state dicts"
    )


def load(f: Any, *args: Any, **options: Any) -> NoReturn:
    """Raises NotImplementedError: there are no TorchScript files here."""
    raise NotImplementedError(
        "ocl.jit.load is not there: ocl.runtime.load reads programs, ocl.load state dicts"
    )


def _overload_method(function: Function) -> Function:
    return function
