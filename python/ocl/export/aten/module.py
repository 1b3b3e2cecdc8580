"""A program as a module."""

from dataclasses import dataclass

import ocl
from ocl.export.aten.graph import Graph, Run
from ocl.export.aten.structure import Structure
from ocl.imported import ImportedModule


@dataclass
class Input:
    """An input of the graph: a tensor that the module holds, or a leaf of the arguments."""

    held: str | None  # the tensor's name
    name: str = ""
    sizes: tuple | None = None  # of a leaf that is a tensor: numbers, and names of sizes that may change
    constant: object = None  # of a leaf that the program has in it, neither tensor nor size
    is_constant: bool = False


@dataclass
class Output:
    """An output of the graph: a result, or the new value of a tensor that the module or the caller holds."""

    held: str | None = None
    argument: str | None = None

    @property
    def is_result(self) -> bool:
        return self.held is None and self.argument is None


class ProgramModule(ImportedModule):
    """The program of a ``torch.export.ExportedProgram``.

    Arguments and results are nested as those of the module that was exported. In the mode that it was
    exported in the module computes what the program says. In the other mode all of its dropouts and batch
    norms train, or none of them does.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: list[Input],
        outputs: list[Output],
        arguments: Structure,
        results: Structure,
        ranges: dict[str, tuple],
        constants: list[str],
        training: bool,
    ):
        super().__init__()
        self._graph = graph
        self._inputs = inputs
        self._outputs = outputs
        self._arguments = arguments
        self._results = results
        self._ranges = ranges  # least and greatest of the sizes that may change
        self._constants = constants
        self._exported_training = training
        self.input_names = tuple(each.name for each in inputs if each.held is None)

    def forward(self, *args, **kwargs):
        leaves = self._leaves(args, kwargs)
        tensors = self._held()
        given = iter(leaves)
        values = [next(given) if each.held is None else tensors[each.held] for each in self._inputs]
        as_exported = self.training == self._exported_training
        constants = {name: tensors[name] for name in self._constants}
        run = Run(self._device([*leaves, *tensors.values()]), self.training, as_exported, constants)
        results = self._graph.run(run, values)
        arguments = dict(zip(self.input_names, leaves, strict=True))
        for output, value in zip(self._outputs, results, strict=True):
            if output.held is not None:
                self._move(output.held, tensors[output.held], value, as_exported)
            elif output.argument is not None and value is not arguments[output.argument]:
                arguments[output.argument].copy_(value)
        kept = (v for o, v in zip(self._outputs, results, strict=True) if o.is_result)
        return self._results.unflatten(kept)

    def _move(self, name: str, tensor: ocl.Tensor, value: ocl.Tensor, as_exported: bool) -> None:
        counts = name.rpartition(".")[2] == "num_batches_tracked"
        if value is tensor or (counts and not as_exported and not self.training):
            return
        with ocl.no_grad():
            tensor.copy_(value)

    def _leaves(self, args: tuple, kwargs: dict) -> list:
        positional, named = self._arguments.parts
        if len(args) != len(positional.parts) or {*kwargs} != {*named.keys}:
            raise TypeError(
                f"from_torch: the program takes {len(positional.parts)} arguments by position and "
                f"{', '.join(named.keys) or 'none'} by name, "
                f"got {len(args)} and {', '.join(kwargs) or 'none'}"
            )
        leaves = positional.flatten(args, "args") + named.flatten(kwargs, "kwargs")
        free: dict[str, int] = {}
        for declared, value in zip((each for each in self._inputs if each.held is None), leaves, strict=True):
            _check(declared, value, free)
        for name, size in free.items():
            low, high = self._ranges.get(name, (0, None))
            if size < low or (high is not None and size > high):
                expected = f"from {low} to {high}" if high is not None else f"of at least {low}"
                raise ValueError(f"from_torch: the size {name} is {expected} in the program, got {size}")
        return leaves

    def extra_repr(self) -> str:
        return f"{', '.join(self.input_names)}, {len(self._graph.nodes)} nodes"


def _check(declared: Input, value, free: dict[str, int]) -> None:
    """Whether a leaf is what the program was exported for; ``free`` has the sizes that may change."""
    if declared.is_constant:
        if isinstance(value, ocl.Tensor) or value != declared.constant:
            raise ValueError(
                f"from_torch: {declared.name} is {declared.constant!r} in the program, got {value!r}"
            )
        return
    if declared.sizes is None:
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"from_torch: {declared.name} is a number, got {type(value).__name__}")
        return
    if not isinstance(value, ocl.Tensor):
        raise TypeError(f"from_torch: {declared.name} is a tensor, got {type(value).__name__}")
    fits = value.ndim == len(declared.sizes) and all(
        size == (free.setdefault(expected, size) if isinstance(expected, str) else expected)
        for size, expected in zip(value.shape, declared.sizes, strict=True)
    )
    if not fits:
        expected = ", ".join(str(each) for each in declared.sizes)
        raise ValueError(f"from_torch: {declared.name} has the shape [{expected}], got {list(value.shape)}")
