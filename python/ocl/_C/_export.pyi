"""
Programs that need neither the tape nor modules.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import os
import typing
__all__: list[str] = ['ExportedProgram', 'ProgramRunner', 'export_dynamic_program', 'export_program', 'load_program', 'trust_binaries', 'with_binaries']
class ExportedProgram:
    """
    Work on a device as a list of calls over buffers.
    
    What :func:`ocl.export.export` makes; ``print`` shows its calls.
    """
    def __str__(self) -> str:
        ...
    def optimized(self) -> ExportedProgram:
        """
        A program that does the same in less time: what follows from constants alone is computed here.
        
        Batch norms behind convolutions and linear layers become parts of their weights. The results differ by
        roundings. Constants that changed are named ``folded_0`` and so on.
        """
    def save(self, path: os.PathLike | str | bytes, *, binaries: typing.Any = None) -> None:
        """
        Writes it to a file of the format .ocl, which is a safetensors file. Raises OSError.
        
        ``binaries`` is a list of devices whose built kernels the file holds too. For each, a process of its own runs the
        program with zeros as inputs. Runs use them where ``ocl.runtime.load`` is told to trust them.
        """
    @property
    def calls(self) -> list:
        """
        (primitive, operator, module) of each call, in order.
        """
    @property
    def inputs(self) -> list:
        """
        (name, shape, dtype) of each input; sizes that follow from symbols are texts.
        """
    @property
    def outputs(self) -> list:
        """
        (name, shape, dtype) of each result; sizes that follow from symbols are texts.
        """
    @property
    def symbols(self) -> dict:
        """
        (least, greatest) size of each symbol of a dynamic program, by name.
        """
class ProgramRunner:
    """
    Runs an exported program on a device.
    
    :func:`ocl.runtime.load` and :func:`ocl.runtime.prepare` make it. It is not thread safe.
    """
    def __init__(self, program: ExportedProgram, device: ocl._C.device) -> None:
        ...
    def run(self, inputs: collections.abc.Sequence[ocl._C.Tensor]) -> list[ocl._C.Tensor]:
        """
        Enqueues a run with these inputs, in order, and gives the results, which later runs leave alone. Raises TypeError or ValueError for inputs of other shapes or dtypes than the program's.
        """
    def state_dict(self, constants: bool = False) -> dict:
        """
        Copies of the states (parameters that the program trains, running statistics) by name; with ``constants`` of the constants too.
        """
    @property
    def arena_bytes(self) -> int:
        """
        Bytes of the memory that temporaries, inputs and results share.
        """
    @property
    def arena_lower_bound(self) -> int:
        """
        The most bytes of it that are in use at once: no plan needs less.
        """
    @property
    def inputs(self) -> list:
        """
        (name, shape, dtype) of each input; sizes that follow from symbols are texts.
        """
    @property
    def outputs(self) -> list:
        """
        (name, shape, dtype) of each result; sizes that follow from symbols are texts.
        """
    @property
    def program(self) -> ExportedProgram:
        """
        The program with its states as they are now. Waits for the device.
        """
    @property
    def replays(self) -> bool:
        """
        Whether runs enqueue commands that were kept, from the second run on.
        """
    @property
    def symbols(self) -> dict:
        """
        (least, greatest) size of each symbol of a dynamic program, by name.
        """
def export_dynamic_program(work: collections.abc.Callable, inputs: collections.abc.Sequence[tuple[str, ocl._C.Tensor]], dynamic: collections.abc.Sequence[collections.abc.Mapping[typing.SupportsIndex, tuple[str, typing.SupportsIndex, typing.SupportsIndex]]], named: collections.abc.Sequence[tuple[str, ocl._C.Tensor]]) -> ExportedProgram:
    """
    Calls `work(tensors) -> [(name, tensor), ...]` with several sizes and gives its program for all. `dynamic` has {dimension: (name, least, greatest)} for each input. See ocl.export.
    """
def export_program(work: collections.abc.Callable, inputs: collections.abc.Sequence[tuple[str, ocl._C.Tensor]], named: collections.abc.Sequence[tuple[str, ocl._C.Tensor]]) -> ExportedProgram:
    """
    Calls `work() -> [(name, tensor), ...]` twice and gives its program. See ocl.export.
    """
def load_program(path: os.PathLike | str | bytes, device: ocl._C.device) -> ExportedProgram:
    """
    Reads a file of the format .ocl. Raises OSError.
    """
def trust_binaries(program: ExportedProgram, device: ocl._C.device) -> None:
    """
    See ocl.runtime.load.
    """
def with_binaries(program: ExportedProgram, device: ocl._C.device) -> ExportedProgram:
    """
    The program with its kernels as they are built in this process, whose kernel cache must be empty.
    """
