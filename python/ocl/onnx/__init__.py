"""ONNX files as modules that run, train and export here.

::

    net = ocl.onnx.load("net.onnx")                # an ocl.nn.Module in eval mode
    scores = net(picture)
    ocl.export(net, (picture,)).save("net.ocl")    # the same work without Python

Needs the package ``onnx`` (``pip install tapecl[onnx]``).
"""

try:
    import onnx.checker  # noqa: F401
except ImportError as error:
    raise ImportError("ocl.onnx needs the package onnx: pip install onnx") from error

from ocl.onnx.errors import UnsupportedError
from ocl.onnx.loading import load
from ocl.onnx.module import GraphModule
from ocl.onnx.table import operators

__all__ = ["GraphModule", "UnsupportedError", "load", "operators"]
