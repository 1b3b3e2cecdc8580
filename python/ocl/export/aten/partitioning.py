"""From an ExportedProgram to a module of PyTorch's whose parts run on devices, as far as these can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ocl
from ocl.export.aten.loading import functional, operator_name
from ocl.export.aten.report import PYTORCH, Part, Refusal, Report

if TYPE_CHECKING:
    import torch


def partition(
    exported_program: torch.export.ExportedProgram, device: Any = None, memory: int | None = None
) -> torch.fx.GraphModule:
    """The program as a module of PyTorch's, whose parts run on ``device`` where it can run them.

    The module takes and gives tensors of PyTorch, nested as the original's. Operators that the device cannot
    run stay in PyTorch. ``device`` may be a list: what the first cannot run goes to the next. ``memory`` is
    the number of bytes that each device may hold, its whole memory by default. The need is estimated for a
    run without gradients, at the example's sizes. Between parts elements go through the host.

    ``report`` of the module, when printed, says the parts, where they run, and which operators were refused
    and why.

    Parameters and buffers are PyTorch's, those of the program under their names. Devices keep copies, and
    read them again once PyTorch has counted a write. Optimizers and ``load_state_dict`` are counted, writes
    through ``.data`` and NumPy are not. The module trains: gradients flow through all parts. Gradients of
    gradients are refused. It stays in the mode of the program; PyTorch refuses ``train()`` and ``eval()``.

    TypeError for what is no ExportedProgram, ValueError for no devices and for a negative ``memory``.
    (``exported_program.module()`` in PyTorch)
    """
    import torch
    from torch.fx.graph_module import _USER_PRESERVED_ATTRIBUTES_KEY

    from ocl.export.aten.delegation import delegate
    from ocl.export.aten.grouping import group

    if not isinstance(exported_program, torch.export.ExportedProgram):
        raise TypeError(
            f"partition: expected a torch.export.ExportedProgram, got {type(exported_program).__name__}"
        )
    if memory is not None and memory < 0:
        raise ValueError(f"partition: memory: a number of bytes expected, got {memory}")
    devices = _devices(device)
    program = functional(exported_program)
    module = program.module()
    reasons: dict[str, dict[str, str]] = {}  # why a node is refused, by its name and the device
    for index, each in enumerate(devices):
        prefix = f"_part_{index}_"
        for name, reason in group(module, each, memory, prefix).items():
            reasons.setdefault(name, {})[str(each)] = reason
        delegate(module, prefix, program, each)
    module.recompile()
    module.report = _report(module, reasons)
    module.meta[_USER_PRESERVED_ATTRIBUTES_KEY] = {"report": module.report}  # by copies
    return module


def _devices(device: Any) -> list[ocl.device]:
    given = device if isinstance(device, (tuple, list)) else [device]
    if not given:
        raise ValueError("partition: at least one device expected")
    return [ocl.get_default_device() if each is None else ocl.device(each) for each in given]


def _report(module: torch.fx.GraphModule, reasons: dict[str, dict[str, str]]) -> Report:
    """The parts of devices, and between them the operators that PyTorch runs."""
    parts = []
    rest: list[torch.fx.Node] = []
    for node in module.graph.nodes:
        part = module.get_submodule(node.target) if node.op == "call_module" else None
        if hasattr(part, "operators"):
            parts += _rest(rest, reasons)
            rest = []
            refusals = _refusals(part.operators, reasons)
            names = tuple(part.operators.values())
            parts.append(Part(str(part.device), names, refusals, len(node.args), len(node.meta["val"])))
        elif node.name in reasons:
            rest.append(node)
    return Report((*parts, *_rest(rest, reasons)))


def _rest(nodes: list[torch.fx.Node], reasons: dict[str, dict[str, str]]) -> Iterator[Part]:
    """Operators that PyTorch runs one after another as a part, if there are any."""
    if not nodes:
        return
    operators = {node.name: operator_name(node.target) for node in nodes}
    inside = {*nodes}
    reads = {each for node in nodes for each in node.all_input_nodes} - inside
    gives = [node for node in nodes if {*node.users} - inside]
    yield Part(PYTORCH, tuple(operators.values()), _refusals(operators, reasons), len(reads), len(gives))


def _refusals(operators: dict[str, str], reasons: dict[str, dict[str, str]]) -> tuple[Refusal, ...]:
    """The refusals among nodes, whose operators come by name; one reason where all devices have the same."""
    made = []
    for name, operator in operators.items():
        by_device = reasons.get(name, {})
        different = len({*by_device.values()}) > 1
        texts = [f"{device}: {reason}" if different else reason for device, reason in by_device.items()]
        if texts:
            made.append(Refusal(name, operator, "; ".join(texts if different else texts[:1])))
    return tuple(made)
