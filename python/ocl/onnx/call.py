"""One evaluation of a node: what its function may ask for."""

import ocl


class Call:
    """The node's attributes and version, and where and how the graph runs."""

    __slots__ = ("node", "run")

    def __init__(self, node, run):
        self.node = node
        self.run = run

    def __getitem__(self, name: str):
        """An attribute that has to be there."""
        if name not in self.node.attributes:
            raise ValueError(f"attribute {name!r} is missing")
        return self.node.attributes[name]

    def get(self, name: str, default=None):
        """An attribute, or its default."""
        return self.node.attributes.get(name, default)

    @property
    def version(self) -> int:
        """The version of the operator's definition that the model means."""
        return self.node.version

    @property
    def name(self) -> str:
        return self.node.op_type

    @property
    def outputs(self) -> int:
        """How many results the node names."""
        return len(self.node.outputs)

    def wants(self, index: int) -> bool:
        """Whether the result is used."""
        return index < len(self.node.outputs) and bool(self.node.outputs[index])

    @property
    def training(self) -> bool:
        """Whether the module is in training mode."""
        return self.run.training

    @property
    def device(self) -> ocl.device:
        """Where tensors are made."""
        return self.run.device

    def tensor(self, value) -> ocl.Tensor:
        """A value as a tensor on the device."""
        return self.run.tensor(value)

    def subgraph(self, name: str, *inputs) -> list:
        """The results of the graph that an attribute holds."""
        return self.run.inner(self[name], inputs)
