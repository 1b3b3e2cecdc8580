"""A graph as a module."""

import numpy as np

import ocl
from ocl.imported import ImportedModule
from ocl.onnx.graph import Graph, Run


class GraphModule(ImportedModule):
    """The graph of an ONNX model.

    Floating initializers are parameters; scalars, running statistics and integers are buffers. ``names`` says
    under which path each initializer stands here. Inputs are tensors in the order of ``input_names``, or by
    name. An array of NumPy instead stays on the host, for inputs that say a shape. The result is a tensor, or
    a tuple in the order of ``output_names``.

    In eval mode the graph computes what the file says. In training mode batch normalisation normalises by the
    batch and moves its statistics, and dropout drops.
    """

    def __init__(self, graph: Graph, parameters: dict, buffers: dict, constants: dict):
        super().__init__()
        self.graph = graph
        self.input_names = tuple(graph.inputs)
        self.output_names = tuple(graph.outputs)
        self._constants = constants
        for name, value in parameters.items():
            self._add_parameter(name, ocl.nn.Parameter(value))
        for name, (value, persistent) in buffers.items():
            self._add_buffer(name, value, persistent)

    def forward(self, *inputs, **by_name):
        tensors = self._held()
        values = self._inputs(inputs, by_name)
        run = Run(self._constants, tensors, self._device([*values, *tensors.values()]), self.training)
        results = tuple(_on_device(run, each) for each in run.outputs(self.graph, values))
        return results[0] if len(results) == 1 else results

    def _inputs(self, inputs, by_name) -> list:
        given = dict(zip(self.input_names, inputs, strict=False)) | by_name
        if len(inputs) + len(by_name) != len(self.input_names) or {*given} != {*self.input_names}:
            raise TypeError(
                f"onnx: the graph takes the inputs {', '.join(self.input_names) or 'none'}, "
                f"got {len(inputs)} by position and {', '.join(by_name) or 'none'} by name"
            )
        return [given[name] for name in self.input_names]

    def extra_repr(self) -> str:
        return (
            f"{', '.join(self.input_names)} -> {', '.join(self.output_names)}, {len(self.graph.nodes)} nodes"
        )


def _on_device(run: Run, value):
    if isinstance(value, list):
        return [_on_device(run, each) for each in value]
    return run.tensor(value) if isinstance(value, np.ndarray) else value
