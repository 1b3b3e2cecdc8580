"""Files that were written for PyTorch, imported unchanged with ``ocl`` standing for ``torch``."""

import contextlib
import importlib
import importlib.util
import sys
import types
from pathlib import Path

import ocl

TORCH = {
    "torch": ocl,
    "torch.fx": ocl.fx,
    "torch.jit": ocl.jit,
    "torch.nn": ocl.nn,
    "torch.nn.functional": ocl.nn.functional,
    "torch.nn.init": ocl.nn.init,
    "torch.utils": ocl.utils,
    "torch.utils.checkpoint": ocl.utils.checkpoint,
}


def folder_of(package):
    """Where a package is installed, or None; it is not imported."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec else None


def module_of(name, **names):
    """A module that has these names and no file."""
    module = types.ModuleType(name)
    vars(module).update(names)
    return module


@contextlib.contextmanager
def modules_replaced(modules, packages):
    """Within, imports find `modules`, and everything else of the `packages` is imported anew.

    A module that is None cannot be imported. Modules that were there before are there again afterwards.
    """

    def is_replaced(name):
        return name.split(".")[0] in packages or name in modules

    before = {name: sys.modules.pop(name) for name in list(sys.modules) if is_replaced(name)}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if is_replaced(name)]:
            del sys.modules[name]
        sys.modules.update(before)
