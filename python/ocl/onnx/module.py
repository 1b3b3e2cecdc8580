"""A graph as a module."""

import numpy as np

import ocl
from ocl.onnx.graph import Graph, Run


class GraphModule(ocl.nn.Module):
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
        self.names: dict[str, str] = {}
        self.input_names = tuple(graph.inputs)
        self.output_names = tuple(graph.outputs)
        self._constants = constants
        for name, value in parameters.items():
            holder, last = self._place(name)
            holder.register_parameter(last, ocl.nn.Parameter(value))
        for name, (value, persistent) in buffers.items():
            holder, last = self._place(name)
            holder.register_buffer(last, value, persistent=persistent)

    def _place(self, name: str) -> tuple[ocl.nn.Module, str]:
        """The submodule and the name for an initializer: its dotted path where that is free."""
        parts = name.split(".")
        if not all(parts) or not self._is_free(parts):
            parts = ["_" + name.replace(".", "_")]
            while hasattr(self, parts[0]):
                parts[0] += "_"
        holder = self
        for part in parts[:-1]:
            if not hasattr(holder, part):
                holder.add_module(part, ocl.nn.Module())
            holder = getattr(holder, part)
        self.names[name] = ".".join(parts)
        return holder, parts[-1]

    def _is_free(self, parts: list[str]) -> bool:
        holder = self
        for part in parts[:-1]:
            if not hasattr(holder, part):
                return not hasattr(ocl.nn.Module, part)
            holder = getattr(holder, part)
            if not isinstance(holder, ocl.nn.Module):
                return False
        return not hasattr(holder, parts[-1])

    def _held(self, path: str) -> ocl.Tensor:
        value = self
        for part in path.split("."):
            value = getattr(value, part)
        return value

    def forward(self, *inputs, **by_name):
        tensors = {name: self._held(path) for name, path in self.names.items()}
        values = self._inputs(inputs, by_name)
        run = Run(self._constants, tensors, self._device(tensors, values), self.training)
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

    def _device(self, tensors: dict, inputs: list) -> ocl.device:
        for value in (*inputs, *tensors.values()):
            if isinstance(value, ocl.Tensor):
                return value.device
        return ocl.get_default_device()

    def extra_repr(self) -> str:
        return (
            f"{', '.join(self.input_names)} -> {', '.join(self.output_names)}, {len(self.graph.nodes)} nodes"
        )


def _on_device(run: Run, value):
    if isinstance(value, list):
        return [_on_device(run, each) for each in value]
    return run.tensor(value) if isinstance(value, np.ndarray) else value
