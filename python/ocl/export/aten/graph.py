"""Graphs as lists of nodes that are ready to run.

Values are tensors, numbers of Python, and tuples of these.
"""

import ocl
from ocl.export.aten.table import Row
from ocl.imported import last_uses


class Reference:
    """An argument that another node computes."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name


def references(argument):
    """The names that an argument refers to, those in lists and dicts of arguments too."""
    if isinstance(argument, Reference):
        yield argument.name
    elif isinstance(argument, (tuple, list)):
        for each in argument:
            yield from references(each)
    elif isinstance(argument, dict):
        yield from references([*argument.values()])
    elif isinstance(argument, slice):
        yield from references((argument.start, argument.stop, argument.step))


def resolve(argument, values: dict):
    """The argument with values in place of references."""
    if isinstance(argument, Reference):
        return values[argument.name]
    if isinstance(argument, (tuple, list)):
        return type(argument)(resolve(each, values) for each in argument)
    if isinstance(argument, dict):
        return {key: resolve(each, values) for key, each in argument.items()}
    if isinstance(argument, slice):
        return slice(*(resolve(each, values) for each in (argument.start, argument.stop, argument.step)))
    return argument


class Node:
    """One node: its row of the table and its arguments."""

    def __init__(self, name: str, operator: str, row: Row, args: tuple, kwargs: dict, wanted: set | None):
        self.name = name
        self.operator = operator
        self.row = row
        self.args = args
        self.kwargs = kwargs
        self.wanted = wanted  # which of several results somebody reads; None: all
        self.outputs = [name]
        self.last_uses: list[str] = []

    def uses(self) -> list[str]:
        return [*references(self.args), *references(self.kwargs)]

    def run(self, run: "Run", values: dict):
        args, kwargs = resolve(self.args, values), resolve(self.kwargs, values)
        try:
            if self.row.call:
                return self.row.function(Call(self, run), *args, **kwargs)
            return self.row.function(*args, **kwargs)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            if str(error).startswith("from_torch: "):
                raise
            raise ValueError(f"from_torch: node {self.name!r} ({self.operator}): {error}") from error


class Graph:
    """Nodes in order, the names that come in, and what goes out."""

    def __init__(self, inputs: list[str], nodes: list[Node], output):
        self.inputs = inputs
        self.nodes = nodes
        self.output = output
        own = {*inputs, *(node.name for node in nodes)}
        for node, names in zip(nodes, last_uses(nodes, {*references(output)}, own), strict=True):
            node.last_uses = names

    def run(self, run: "Run", inputs):
        """The results for the inputs."""
        values = run.constants | dict(zip(self.inputs, inputs, strict=True))
        for node in self.nodes:
            values[node.name] = node.run(run, values)
            for name in node.last_uses:
                values.pop(name, None)
        return resolve(self.output, values)


class Run:
    """How one run of a program goes: where, in which mode, and with which constants of its graphs."""

    __slots__ = ("as_exported", "constants", "device", "training")

    def __init__(
        self, device: ocl.device, training: bool, as_exported: bool, constants: dict[str, ocl.Tensor]
    ):
        self.device = device
        self.constants = constants
        self.training = training
        self.as_exported = as_exported  # whether the mode is that of the exported program


class Call:
    """One evaluation of a node: what its function may ask for."""

    __slots__ = ("node", "run")

    def __init__(self, node: Node, run: Run):
        self.node = node
        self.run = run

    @property
    def device(self) -> ocl.device:
        """Where tensors are made."""
        return self.run.device

    def trains(self, flag: bool) -> bool:
        """Whether the operator trains: the program's flag in its own mode, else the module's mode."""
        return flag if self.run.as_exported else self.run.training

    def wants(self, index: int) -> bool:
        """Whether one of the results is read."""
        return self.node.wanted is None or index in self.node.wanted

    def graph(self, graph: Graph, *inputs):
        """The results of a graph that is an argument."""
        return graph.run(self.run, inputs)
