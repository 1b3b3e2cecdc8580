"""Parts of a module of PyTorch's that run on a device. Needs PyTorch, unlike its neighbours."""

from typing import Any

import torch
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from torch.utils._pytree import tree_structure
from torch.utils.weak import WeakTensorKeyDictionary

import ocl
from ocl.export.aten.grouping import is_operator
from ocl.export.aten.loading import from_torch, operator_name, uploaded

_ARGUMENTS = (
    (torch.Tensor, TensorArgument),
    (torch.SymInt, SymIntArgument),
    (torch.SymFloat, SymFloatArgument),
    (torch.SymBool, SymBoolArgument),
)


class Copies:
    """Tensors of PyTorch's with their copies on a device, for as long as nobody writes to them."""

    def __init__(self, device: ocl.device):
        self.device = device
        self._copies = WeakTensorKeyDictionary()

    def __deepcopy__(self, memo: dict) -> "Copies":
        return Copies(self.device)

    def __reduce__(self) -> tuple:
        return Copies, (self.device,)

    def of(self, tensor: torch.Tensor) -> ocl.Tensor:
        """The copy; made anew where the tensor was written to."""
        if tensor.is_inference():  # these count no writes
            return uploaded(tensor, self.device)
        written, copy = self._copies.get(tensor, (None, None))
        if written != _writes(tensor):
            copy = uploaded(tensor, self.device)
            self.keep(tensor, copy)
        return copy

    def keep(self, tensor: torch.Tensor, copy: ocl.Tensor) -> None:
        """Remembers a copy that is there already."""
        if not tensor.is_inference():
            self._copies[tensor] = _writes(tensor), copy


def _writes(tensor: torch.Tensor) -> tuple:
    return tensor._version, tensor.data_ptr()


def delegate(
    module: torch.fx.GraphModule, prefix: str, program: torch.export.ExportedProgram, device: ocl.device
) -> None:
    """Puts parts that run on the device in place of the submodules whose names begin with ``prefix``."""
    copies = Copies(device)
    for node in module.graph.nodes:
        if node.op == "call_module" and node.target.startswith(prefix):
            setattr(module, node.target, Delegated(node, prefix, program, copies))


class Delegated(torch.nn.Module):
    """A part as PyTorch calls it: tensors and numbers in, a tuple of them out."""

    def __init__(
        self, node: torch.fx.Node, prefix: str, program: torch.export.ExportedProgram, copies: Copies
    ):
        super().__init__()
        part = node.graph.owning_module.get_submodule(node.target)
        self.operators = {
            each.name: operator_name(each.target) for each in part.graph.nodes if is_operator(each)
        }
        self._module = from_torch(_program(part, program), copies.device)
        self._copies = copies
        # A caller may write to the elements of an argument in ways that PyTorch does not count.
        self._copied = [each.op != "placeholder" for each in node.args]
        self._results = [_placement(value) for value in node.meta["val"]]
        self._shared = {each.args[1] for each in node.users if _is_read_by_part(each, prefix)}

    @property
    def device(self) -> ocl.device:
        """Where the part runs."""
        return self._copies.device

    def forward(self, *values: Any) -> tuple:
        tensors = [each for each in values if isinstance(each, torch.Tensor)]
        if torch.is_grad_enabled() and any(each.requires_grad for each in tensors):
            return _Recorded.apply(self, *values)
        with ocl.no_grad():
            return self.lowered(self._module(*self.lifted(values)))

    def recorded(self, values: tuple) -> tuple[list, list, tuple]:
        """The part's inputs and results on the device, with a history, and the results in PyTorch."""
        inputs = self.lifted(values)
        for index, value in enumerate(values):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                inputs[index] = inputs[index].detach().requires_grad_()
        with ocl.enable_grad():
            results = self._module(*inputs)
        return inputs, list(results), self.lowered(results)

    def lifted(self, values: tuple) -> list:
        """The values on the device."""
        return [
            value
            if not isinstance(value, torch.Tensor)
            else self._copies.of(value)
            if copied
            else uploaded(value, self.device)
            for value, copied in zip(values, self._copied, strict=True)
        ]

    def lifted_gradient(self, gradient: torch.Tensor | None) -> ocl.Tensor | None:
        return None if gradient is None else uploaded(gradient, self.device)

    def lowered(self, results: tuple) -> tuple:
        """The results in PyTorch."""
        made = [
            lowered(result, *placement) if isinstance(result, ocl.Tensor) else result
            for result, placement in zip(results, self._results, strict=True)
        ]
        for index in self._shared:
            if isinstance(results[index], ocl.Tensor):
                self._copies.keep(made[index], results[index].detach())
        return tuple(made)


class _Recorded(torch.autograd.Function):
    """A part whose gradients flow through the device's tape."""

    @staticmethod
    def forward(ctx: Any, part: Delegated, *values: Any) -> tuple:
        inputs, results, lowered_results = part.recorded(values)
        ctx.mark_non_differentiable(
            *(
                theirs
                for ours, theirs in zip(results, lowered_results, strict=True)
                if isinstance(ours, ocl.Tensor) and not ours.requires_grad
            )
        )
        ctx.set_materialize_grads(False)
        ctx.part, ctx.tape = part, (inputs, results)
        return lowered_results

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple:
        if torch.is_grad_enabled():  # which create_graph=True says
            raise RuntimeError(
                "partition: a part has no gradients of gradients: create_graph=True is refused"
            )
        if ctx.tape is None:
            raise RuntimeError(
                "partition: backward a second time through a part that was freed: the first one needs "
                "retain_graph=True"
            )
        keep = torch._C._autograd._get_current_graph_task_keep_graph()
        inputs, results = ctx.tape
        wanted = [index for index, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        given = [
            (result, ctx.part.lifted_gradient(gradient))
            for result, gradient in zip(results, gradients, strict=True)
            if gradient is not None and isinstance(result, ocl.Tensor) and result.requires_grad
        ]
        found: list = [None] * len(inputs)
        if given:
            outputs, grads = zip(*given, strict=True)
            reached = ocl.autograd.grad(
                outputs, [inputs[i] for i in wanted], grads, retain_graph=keep, allow_unused=True
            )
            for index, gradient in zip(wanted, reached, strict=True):
                found[index] = None if gradient is None else lowered(gradient)
        if not keep:
            ctx.tape = None
        return None, *found


def lowered(tensor: ocl.Tensor, dtype: torch.dtype | None = None, device: Any = None) -> torch.Tensor:
    """A tensor of a device in PyTorch; its elements are copied."""
    tensor = tensor.detach()
    if tensor.dtype == ocl.bfloat16:  # which NumPy has not
        return torch.from_numpy(tensor.float().numpy()).to(device, torch.bfloat16)
    return torch.from_numpy(tensor.numpy()).to(device, dtype)


def _is_read_by_part(node: torch.fx.Node, prefix: str) -> bool:
    return any(user.op == "call_module" and user.target.startswith(prefix) for user in node.users)


def _placement(value: Any) -> tuple:
    return (value.dtype, value.device) if isinstance(value, torch.Tensor) else ()


def _program(part: torch.fx.GraphModule, whole: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """A part, that takes all it reads as arguments and gives a tuple, as a program."""
    inputs = [each for each in part.graph.nodes if each.op == "placeholder"]
    outputs = part.graph.output_node().args[0]
    signature = ExportGraphSignature(
        [InputSpec(InputKind.USER_INPUT, _argument(each), None) for each in inputs],
        [OutputSpec(OutputKind.USER_OUTPUT, _argument(each), None) for each in outputs],
    )
    structures = tree_structure((tuple(inputs), {})), tree_structure(tuple(outputs))
    return torch.export.ExportedProgram(
        part,
        part.graph,
        signature,
        {},
        whole.range_constraints,
        [ModuleCallEntry("", ModuleCallSignature([], [], *structures))],
        None,
        {},
        verifiers=whole.verifiers,
    )


def _argument(node: torch.fx.Node) -> Any:
    value = node.meta.get("val")
    for kind, argument in _ARGUMENTS:
        if isinstance(value, kind):
            return argument(node.name)
    return ConstantArgument(node.name, value)
