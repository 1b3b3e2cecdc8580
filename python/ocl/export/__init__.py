"""From a module or a function to a program that needs neither the tape, nor modules, nor Python.

::

    program = ocl.export(nn.Linear(3, 2), (x.detach(),))  # or ocl.export.export(…)
    print(program)                                        # its calls
    program.save("net.ocl")
    ocl.runtime.load("net.ocl", "ocl:0")(x.detach())      # or by `tapecl-run`, or from C (tapecl.h)

A training step is a function like any other: its parameters, and what its optimizer keeps, become states of
the program, which go on from run to run::

    net = nn.Linear(3, 2)
    optimizer = ocl.optim.AdamW(net.parameters(), capturable=True)
    x, y = ocl.randn(4, 3), ocl.tensor([0, 1, 1, 0])

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step(x, y)                                  # an optimizer makes its states in the first step
    program = ocl.export(step, (x, y), named=net)

Sizes of the inputs may differ from run to run (:class:`Dim`)::

    batch = ocl.export.Dim("batch", min=1, max=64)
    program = ocl.export(nn.Linear(3, 2), (x.detach(),), dynamic_shapes={"input": {0: batch}})

``ocl.export.from_torch`` goes the other way: it makes a module of a program of ``torch.export``, and
``ocl.export.partition`` one of PyTorch's that runs what it can on a device.
"""

import dataclasses
import inspect
import sys
import types

import ocl
from ocl._C._export import ExportedProgram
from ocl._C._export import export_dynamic_program as _export_dynamic_program
from ocl._C._export import export_program as _export_program
from ocl.export.aten.errors import UnsupportedError
from ocl.export.aten.loading import from_torch
from ocl.export.aten.partitioning import partition
from ocl.export.aten.table import table as _table
from ocl.imported import ImportedModule

__all__ = ["Dim", "ExportedProgram", "UnsupportedError", "export", "from_torch", "operators", "partition"]


@dataclasses.dataclass(frozen=True)
class Dim:
    """A size of inputs that may differ from run to run, from ``min`` to ``max``, both included.

    Dimensions with a ``Dim`` of one name have one size. A program's memory is planned for ``max``, so there
    is no default. ``name`` is an identifier. Raises ValueError for other names and bounds.

    (torch.export.Dim)
    """

    name: str
    _: dataclasses.KW_ONLY
    max: int
    min: int = 1

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name.isidentifier() or not self.name.isascii():
            raise ValueError(f"export: Dim: an identifier expected as name, got {self.name!r}")
        for bound in (self.min, self.max):
            if not isinstance(bound, int) or isinstance(bound, bool):
                raise TypeError(f"export: Dim {self.name}: whole numbers expected as bounds, got {bound!r}")
        if not 0 <= self.min < self.max:
            raise ValueError(
                f"export: Dim {self.name}: 0 <= min < max expected, got min={self.min} and max={self.max}"
            )


def operators() -> list[str]:
    """The names of PyTorch's operators that `from_torch` supports, with their overloads."""
    return sorted(_table())


def _input_names(module_or_function, count: int, keywords) -> list[str]:
    """The names of the parameters that the inputs stand for."""
    if isinstance(module_or_function, ImportedModule):
        return [*module_or_function.input_names[:count], *keywords]
    is_module = isinstance(module_or_function, ocl.nn.Module)
    function = module_or_function.forward if is_module else module_or_function
    parameters = inspect.signature(function).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = [p.name for p in positional][:count]
    names += [f"input_{i}" for i in range(len(names), count)]
    return names + list(keywords)


def _named_results(result, name: str = "output") -> list[tuple[str, ocl.Tensor]]:
    """The tensors of a result, with names: "output", "output_0" of several, "output_key" of a dict's."""
    if isinstance(result, ocl.Tensor):
        return [(name, result)]
    if isinstance(result, dict):
        parts = result.items()
    elif isinstance(result, (tuple, list)):
        parts = enumerate(result)
    else:
        raise TypeError(
            "export: results must be tensors, or tuples, lists and dicts of them, "
            f"got {type(result).__name__}"
        )
    return [named for key, part in parts for named in _named_results(part, f"{name}_{key}")]


def _named_tensors(named) -> list[tuple[str, ocl.Tensor]]:
    if named is None:
        return []
    if isinstance(named, ocl.nn.Module):
        return [*named.named_parameters(), *named.named_buffers()]
    return list(named.items())


def _dimensions(given, name: str, tensor) -> dict[int, tuple[str, int, int]]:
    """{dimension: (name, min, max)} of an input, of what `dynamic_shapes` says of it."""
    if given is None:
        return {}
    if isinstance(given, (tuple, list)):
        if len(given) != tensor.ndim:
            raise ValueError(
                f"export: dynamic_shapes: input {name} has {tensor.ndim} dimensions, got {len(given)}"
            )
        given = dict(enumerate(given))
    if not isinstance(given, dict):
        raise TypeError(f"export: dynamic_shapes: a dict expected for {name}, got {type(given).__name__}")
    found = {}
    for dim, about in given.items():
        if about is None:
            continue
        if not isinstance(about, Dim):
            raise TypeError(
                f"export: dynamic_shapes: an ocl.export.Dim expected for dimension {dim} of {name}, "
                f"got {type(about).__name__}"
            )
        if not isinstance(dim, int) or not -tensor.ndim <= dim < tensor.ndim:
            raise ValueError(
                f"export: dynamic_shapes: input {name} has {tensor.ndim} dimensions, and none of index {dim}"
            )
        found[dim % tensor.ndim] = (about.name, about.min, about.max)
    return found


def _dynamic(dynamic_shapes, names: list[str], tensors) -> list[dict[int, tuple[str, int, int]]]:
    """For each input its dimensions that differ."""
    if isinstance(dynamic_shapes, (tuple, list)):
        if len(dynamic_shapes) != len(names):
            raise ValueError(
                f"export: dynamic_shapes: {len(names)} inputs ({', '.join(names)}), got {len(dynamic_shapes)}"
            )
        dynamic_shapes = dict(zip(names, dynamic_shapes, strict=True))
    if not isinstance(dynamic_shapes, dict):
        raise TypeError(
            f"export: dynamic_shapes: a dict or a tuple expected, got {type(dynamic_shapes).__name__}"
        )
    for name in dynamic_shapes:
        if name not in names:
            raise ValueError(f"export: dynamic_shapes: no input {name!r} among {', '.join(names)}")
    return [_dimensions(dynamic_shapes.get(n), n, t) for n, t in zip(names, tensors, strict=True)]


def export(module_or_function, args=(), kwargs=None, *, dynamic_shapes=None, named=None) -> ExportedProgram:
    """The work of a call ``module_or_function(*args, **kwargs)`` as a program for inputs of these shapes.

    The arguments are tensors, and become the program's inputs under the names of the parameters; results
    are tensors, or tuples, lists and dicts of them. A module runs without recording gradients, in the mode
    that it is in (call ``eval()`` before). A function runs as it is, so that it may be a training step;
    ``named`` is a module or a dict of tensors, whose names the program's states and constants get.

    The function is called twice, and has to do the same both times but for random numbers. Its tensors hold
    afterwards what they held before, gradients aside. It raises an error where it reads elements on the
    host (``item()``, ``if`` of a tensor) and where its shapes depend on data (``nonzero``). Numbers that
    change from one call to the next are an error, too. The error says what it was: Adam counts steps on the
    host unless it is ``capturable``. The memory of all intermediate results is held meanwhile.

    ``dynamic_shapes`` names the sizes that may differ from run to run, each a :class:`Dim`:
    ``{"x": {0: Dim("batch", max=64)}}`` by the inputs' names, or a tuple with an entry for each input. The
    example's sizes have to lie within the bounds. The function is called with more sizes then, mostly under
    ``shapes_only``: what it keeps from such a call, a cache say, has no elements. Every number that differs
    becomes a formula of the sizes. The error names the call, the argument and the numbers where none fits,
    and where the calls themselves depend on the sizes (``if x.shape[0] > 3``).

    (torch.export.export)
    """
    kwargs = kwargs or {}
    is_module = isinstance(module_or_function, ocl.nn.Module)
    if not is_module and not callable(module_or_function):
        raise TypeError(f"export: expected a module or a function, got {type(module_or_function).__name__}")
    values = [*args, *kwargs.values()]
    for value in values:
        if not isinstance(value, ocl.Tensor):
            raise TypeError(f"export: expected tensors as arguments, got {type(value).__name__}")
    names = _input_names(module_or_function, len(args), kwargs)

    inputs = list(zip(names, values, strict=True))
    dynamic = [] if dynamic_shapes is None else _dynamic(dynamic_shapes, names, values)

    def work(tensors=values):
        given = dict(zip(kwargs, tensors[len(args) :], strict=True))
        return _named_results(module_or_function(*tensors[: len(args)], **given))

    def exported():
        if any(dynamic):
            return _export_dynamic_program(work, inputs, dynamic, _named_tensors(named))
        return _export_program(work, inputs, _named_tensors(named))

    if not is_module:
        return exported()
    named = module_or_function if named is None else named
    with ocl.no_grad():
        return exported()


class _CallableModule(types.ModuleType):
    """``ocl.export(…)`` is ``ocl.export.export(…)``."""

    def __call__(self, *args, **kwargs):
        return export(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
