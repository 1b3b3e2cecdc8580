"""From an ExportedProgram to a `ProgramModule`: decomposition, what is missing, constants."""

from __future__ import annotations

import copy
import dataclasses
import operator as python_operator
import warnings
from typing import TYPE_CHECKING, Any

import ocl
from ocl.export.aten.errors import UnsupportedError
from ocl.export.aten.graph import Graph, Node, Reference
from ocl.export.aten.module import Input, Output, ProgramModule
from ocl.export.aten.structure import Structure
from ocl.export.aten.table import table
from ocl.imported import DTYPES, upload

if TYPE_CHECKING:
    import torch

# Arguments that say where and how a tensor lies: it lies where the module does.
_PLACEMENT = {"device", "layout", "memory_format", "non_blocking", "pin_memory", "implicit"}


def from_torch(exported_program: torch.export.ExportedProgram, device: Any = None) -> ProgramModule:
    """The program of ``torch.export.export`` as a module, on ``device`` or the default device.

    Parameters and buffers have the names of the original, so that state dicts fit. Arguments and results are
    nested as the original's. The module is in the mode that the program was exported in. A program that has
    operators beyond the table is decomposed first (``run_decompositions``).

    TypeError for what is no ExportedProgram. `UnsupportedError`, a ValueError, with all operators and dtypes
    that are not supported, before anything runs. (``exported_program.module()`` in PyTorch)
    """
    import torch

    if not isinstance(exported_program, torch.export.ExportedProgram):
        raise TypeError(
            f"from_torch: expected a torch.export.ExportedProgram, got {type(exported_program).__name__}"
        )
    program = decomposed(exported_program)
    missing = missing_operators(program)
    if missing:
        raise UnsupportedError(missing)
    return _Builder(program, device).module()


def decomposed(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program in operators of the table, as far as PyTorch decomposes others."""
    if all(operator in table() for _, operator in called_operators(program.graph_module)):
        return program
    return functional(program)


def functional(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program decomposed, so that no operator of it writes to its arguments; the table's stay whole."""
    import torch

    decompositions = torch.export.default_decompositions()
    for operator in [*decompositions]:
        if str(operator) in table():
            del decompositions[operator]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _with_modes(program).run_decompositions(decompositions)


def _with_modes(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program with what decomposition would drop: dropout in eval mode, and regions without gradients."""
    import torch

    if not any(_is_dropout(*each) or _is_no_grad(*each) for each in called_operators(program.graph_module)):
        return program
    aten = torch.ops.aten
    module = copy.deepcopy(program.graph_module)
    names = {old.name: new.name for old, new in zip(program.graph.nodes, module.graph.nodes, strict=True)}
    for node, operator in [*called_operators(module)]:
        replaced = {}
        if _is_dropout(node, operator):
            value = node.meta["val"]
            whole = (value, value.to(torch.bool))
            pair = _insert_after(node, aten.native_dropout.default, node.args, whole, node.kwargs)
            replaced[node] = _insert_after(pair, python_operator.getitem, (pair, 0), value)
        elif _is_no_grad(node, operator):
            for each in node.users:
                if isinstance(each.meta.get("val"), torch.Tensor):
                    replaced[each] = _insert_after(each, aten.detach.default, (each,), each.meta["val"])
        for old, new in replaced.items():
            old.replace_all_uses_with(new, delete_user_cb=lambda user, new=new: user is not new)
            names |= {name: new.name for name, now in names.items() if now == old.name}
            if not old.users:
                old.graph.erase_node(old)
    signature = copy.deepcopy(program.graph_signature)
    for spec in (*signature.input_specs, *signature.output_specs):
        if getattr(spec.arg, "name", None) in names:
            spec.arg = dataclasses.replace(spec.arg, name=names[spec.arg.name])
    return torch.export.ExportedProgram(
        module,
        module.graph,
        signature,
        program.state_dict,
        program.range_constraints,
        program.module_call_graph,
        program.example_inputs,
        program.constants,
        verifiers=program.verifiers,
    )


def _is_dropout(node: torch.fx.Node, operator: str) -> bool:
    return operator == "aten.dropout.default"


def _is_no_grad(node: torch.fx.Node, operator: str) -> bool:
    return operator == "higher_order.wrap_with_set_grad_enabled" and node.args[0] is False


def _insert_after(
    node: torch.fx.Node, target: Any, args: tuple, value: Any, kwargs: Any = None
) -> torch.fx.Node:
    """A new node behind one, with the value that it stands for while tracing."""
    with node.graph.inserting_after(node):
        made = node.graph.call_function(target, args, kwargs)
    made.meta["val"] = value
    return made


def called_operators(root: torch.fx.GraphModule):
    """All nodes that call something, with the operator's name, those of inner graphs too."""
    import torch

    for module in root.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                if node.op.startswith("call"):
                    yield node, operator_name(node.target)


def operator_name(target: Any) -> str:
    """The operator's name as the table has it."""
    import torch

    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    module = getattr(target, "__module__", "") or ""
    return f"{module.lstrip('_').partition('.')[0]}.{getattr(target, '__name__', target)}"


def _values(value: Any):
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from _values(each)
    elif value is not None:
        yield value


def foreign_dtype(value: Any) -> str:
    """Why there are no such tensors, or ""."""
    import torch

    for each in _values(value):
        dtype = each.dtype if isinstance(each, torch.Tensor) else each
        if isinstance(dtype, torch.dtype) and str(dtype).removeprefix("torch.") not in DTYPES:
            return f"no tensors of the dtype {dtype}"
    return ""


def refusal(node: torch.fx.Node, operator: str) -> str | None:
    """Why a node is not supported: "" for an operator beyond the table, None where it is supported."""
    row = table().get(operator)
    if row is None:
        return ""
    values = [node.meta.get("val"), [*node.args], [*node.kwargs.values()]]
    return (row.refuses(node) if row.refuses else "") or foreign_dtype(values) or None


def missing_operators(program: torch.export.ExportedProgram) -> list[tuple[str, str, str]]:
    """Operators, inputs and kinds of states that are not supported, as `UnsupportedError` lists them."""
    missing: dict[tuple[str, str], str] = {}
    for node in program.graph.nodes:
        if node.op == "placeholder" and (reason := foreign_dtype(node.meta.get("val"))):
            missing.setdefault(("input", reason), node.name)
    for node, operator in called_operators(program.graph_module):
        reason = refusal(node, operator)
        if reason is not None:
            missing.setdefault((operator, reason), node.name)
    signature = program.graph_signature
    for spec in (*signature.input_specs, *signature.output_specs):
        if spec.kind.name not in _KINDS:
            missing.setdefault((f"signature {spec.kind.name}", ""), getattr(spec.arg, "name", str(spec.arg)))
    return sorted((name, node, reason) for (name, reason), node in missing.items())


_KINDS = {
    "USER_INPUT",
    "PARAMETER",
    "BUFFER",
    "CONSTANT_TENSOR",
    "USER_OUTPUT",
    "LOSS_OUTPUT",
    "BUFFER_MUTATION",
    "PARAMETER_MUTATION",
    "USER_INPUT_MUTATION",
}


def uploaded(tensor: torch.Tensor, device: Any) -> ocl.Tensor:
    """A tensor of PyTorch's on a device; its elements are copied."""
    name = str(tensor.dtype).removeprefix("torch.")
    host = tensor.detach().cpu().resolve_neg()
    return upload((host.float() if name == "bfloat16" else host).numpy(), DTYPES[name], device)


class _Builder:
    """Turns a program whose operators are all in the table into a module."""

    def __init__(self, program: torch.export.ExportedProgram, device: Any):
        self.program = program
        self.device = device
        self.constants: dict[str, torch.Tensor] = {}  # tensors that graphs have as attributes
        self.trains = False
        self._uploads: dict[tuple, ocl.Tensor] = {}

    def module(self) -> ProgramModule:
        graph = self.graph(self.program.graph_module)
        call_spec = self.program.call_spec
        made = ProgramModule(
            graph,
            self._inputs(),
            self._outputs(),
            _structure(call_spec.in_spec),
            _structure(call_spec.out_spec),
            _ranges(self.program),
            [*self.constants],
            self.trains,
        )
        self._add_tensors(made)
        return made.train(self.trains)

    def _inputs(self) -> list[Input]:
        placeholders = [node for node in self.program.graph.nodes if node.op == "placeholder"]
        return [
            _leaf(node) if spec.kind.name == "USER_INPUT" else Input(spec.target)
            for spec, node in zip(self.program.graph_signature.input_specs, placeholders, strict=True)
        ]

    def _outputs(self) -> list[Output]:
        made = []
        for spec in self.program.graph_signature.output_specs:
            if spec.kind.name in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
                made.append(Output(held=spec.target))
            elif spec.kind.name == "USER_INPUT_MUTATION":
                made.append(Output(argument=spec.target))
            else:
                made.append(Output())
        return made

    def _add_tensors(self, made: ProgramModule) -> None:
        import torch

        state, signature = self.program.state_dict, self.program.graph_signature
        fresh = set(signature.non_persistent_buffers)
        for name, tensor in state.items():
            if isinstance(tensor, torch.nn.Parameter):
                made._add_parameter(name, self._upload(tensor))
            else:
                made._add_buffer(name, self._upload(tensor), name not in fresh)
        for spec in signature.input_specs:
            if spec.kind.name in ("BUFFER", "CONSTANT_TENSOR") and spec.target not in made.names:
                made._add_buffer(spec.target, self._upload(self.program.constants[spec.target]), False)
        for name, tensor in self.constants.items():
            made._add_buffer(name, self._upload(tensor), False)

    def _upload(self, tensor: torch.Tensor) -> ocl.Tensor:
        """A tensor here; the same one for tensors that are one in PyTorch, as tied weights."""
        import torch

        trains = isinstance(tensor, torch.nn.Parameter)
        place = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride(), trains)
        if tensor.numel() == 0 or place not in self._uploads:
            made = uploaded(tensor, self.device)
            made = ocl.nn.Parameter(made, requires_grad=tensor.requires_grad) if trains else made
            self._uploads[place] = made
        return self._uploads[place]

    def graph(self, module: torch.fx.GraphModule) -> Graph:
        inputs, nodes, output = [], [], None
        inner: dict[str, Any] = {}  # attributes of the module that are graphs
        for node in module.graph.nodes:
            if node.op == "placeholder":
                inputs.append(node.name)
            elif node.op == "get_attr":
                value = _attribute(module, node.target)
                inner[node.name] = self._constant(value) if hasattr(value, "dtype") else self.graph(value)
            elif node.op == "output":
                output = self._argument(node.args[0], inner)
            else:
                nodes.append(self._node(node, inner))
        return Graph(inputs, nodes, output)

    def _constant(self, tensor: torch.Tensor) -> Reference:
        name = f"_constant_{len(self.constants)}"
        self.constants[name] = tensor
        return Reference(name)

    def _node(self, node: torch.fx.Node, inner: dict) -> Node:
        operator = operator_name(node.target)
        row = table()[operator]
        args = tuple(self._argument(each, inner) for each in node.args)
        kwargs = {
            key: self._argument(each, inner) for key, each in node.kwargs.items() if key not in _PLACEMENT
        }
        if row.flag is not None and row.flag < len(args):
            self.trains |= isinstance(args[row.flag], (bool, float)) and bool(args[row.flag])
        reads = [
            each.args[1] if operator_name(each.target) == "operator.getitem" else None
            for each in node.users
            if each.users or each.op == "output"
        ]
        wanted = None if None in reads else {*reads}
        return Node(node.name, operator, row, args, kwargs, wanted)

    def _argument(self, argument: Any, inner: dict) -> Any:
        """An argument with references, dtypes and graphs of ours in place of PyTorch's."""
        import torch

        if isinstance(argument, torch.fx.Node):
            return inner.get(argument.name, Reference(argument.name))
        if isinstance(argument, torch.dtype):
            return DTYPES[str(argument).removeprefix("torch.")]
        if isinstance(argument, (tuple, list)):
            parts = [self._argument(each, inner) for each in argument]
            return tuple(parts) if isinstance(argument, tuple) else parts
        if isinstance(argument, slice):
            return slice(
                *(self._argument(each, inner) for each in (argument.start, argument.stop, argument.step))
            )
        if isinstance(argument, dict):
            return {key: self._argument(each, inner) for key, each in argument.items()}
        return argument


def _ranges(program: torch.export.ExportedProgram) -> dict[str, tuple]:
    """The least and the greatest of each size that may change; None where there is no greatest."""
    return {
        str(symbol): (int(bounds.lower), int(bounds.upper) if bounds.upper.is_Integer else None)
        for symbol, bounds in program.range_constraints.items()
    }


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def _leaf(node: torch.fx.Node) -> Input:
    """The input that an argument's leaf is."""
    import torch

    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        sizes = tuple(size if isinstance(size, int) else str(size) for size in value.shape)
        return Input(None, node.name, sizes)
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return Input(None, node.name)
    return Input(None, node.name, constant=value, is_constant=True)


def _structure(spec: Any) -> Structure:
    """PyTorch's description of nested values as ours."""
    from torch.utils import _pytree

    if spec.is_leaf():
        return Structure(None)
    parts = tuple(_structure(spec.child(i)) for i in range(spec.num_children))
    kind = spec.type
    if kind in (tuple, list):
        return Structure(kind, None, parts)
    if kind is dict:
        return Structure(kind, list(spec.context), parts)
    registered = _pytree.SUPPORTED_NODES[kind]
    kind = spec.context if kind.__name__ == "namedtuple" else kind
    if hasattr(kind, "_fields"):
        return Structure(kind, None, parts)
    return Structure(kind, None, parts, (registered.flatten_fn, registered.unflatten_fn, spec.context))
