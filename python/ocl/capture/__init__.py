"""The operators of a module or a function as a graph in static single assignment form.

::

    graph = capture(net, (x,), sizes=[{0: "batch"}])
    print(graph)

An operator is a row of the registry: its name, and its arguments by their names. Where `sizes` names axes,
the function runs for several sizes of each, and numbers that change with them stand in the graph as formulas
of the names (`Size`). Constants that change with them, and numbers that no formula fits, are errors.
"""

from ocl.capture.capturing import CaptureError, capture
from ocl.capture.graph import Graph, Node, Value
from ocl.capture.sizes import Size

__all__ = ["CaptureError", "Graph", "Node", "Size", "Value", "capture"]
