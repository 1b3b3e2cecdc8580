"""ONNX files as modules that run, train and export here, and modules as ONNX files.

::

    net = ocl.onnx.load("net.onnx")                # an ocl.nn.Module in eval mode
    scores = net(picture)
    ocl.export(net, (picture,)).save("net.ocl")    # the same work without Python
    ocl.onnx.save(net, "new.onnx", (picture,), input_names=["x"], dynamic_axes={"x": {0: "batch"}})

Needs the package ``onnx`` (``pip install tapecl[onnx]``).
"""

try:
    import onnx.checker  # noqa: F401
except ImportError as error:
    raise ImportError("ocl.onnx needs the package onnx: pip install onnx") from error

from ocl.onnx.errors import UnsupportedError, UnwritableError
from ocl.onnx.loading import load
from ocl.onnx.module import GraphModule
from ocl.onnx.saving import save, written_operators
from ocl.onnx.table import operators

__all__ = [
    "GraphModule",
    "UnsupportedError",
    "UnwritableError",
    "load",
    "operators",
    "save",
    "written_operators",
]
