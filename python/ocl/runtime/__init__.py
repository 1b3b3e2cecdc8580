"""Exported programs (:mod:`ocl.export`) run, without the tape and modules."""

import ocl
from ocl._C._export import ExportedProgram, load_program
from ocl._C._export import ProgramRunner as _ProgramRunner
from ocl._C._export import trust_binaries as _trust_binaries

__all__ = ["Program", "load", "prepare"]


class Program:
    """A program on a device, ready to run: ``program(x)``, or ``program(x=x)`` by the names of its inputs.

    Temporaries, inputs and results share memory that is planned once. The first run builds what kernels
    lack and chooses implementations; later ones enqueue what was kept. It must not be called by two threads
    at once.

    A dynamic program (``ocl.export``'s ``dynamic_shapes``) takes inputs of all sizes within its bounds, which
    ``symbols`` tells. Its memory is planned for the greatest; what a shape needs is kept for the 16 that came
    last."""

    def __init__(self, program: ExportedProgram, device="ocl:0"):
        self._runner = _ProgramRunner(program, ocl.device(device))
        self.device = ocl.device(device)
        self.input_names = [name for name, _, _ in self._runner.inputs]
        self.output_names = [name for name, _, _ in self._runner.outputs]

    def __call__(self, *args, **kwargs):
        """A run's result: a tensor, or a tuple of tensors. They are copies, which later runs leave alone.

        Raises TypeError for missing, surplus and unknown inputs and other dtypes, ValueError for shapes that
        the program was not exported for; it names the dimension, its size and the bounds."""
        results = self._runner.run(self._in_order(args, kwargs))
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: dict) -> dict:
        """Inputs and results by name."""
        return dict(zip(self.output_names, self._runner.run(self._in_order((), inputs)), strict=True))

    def _in_order(self, args, kwargs) -> list:
        names = self.input_names
        if len(args) > len(names):
            raise TypeError(f"the program takes {len(names)} inputs, got {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in given:
                what = "is given twice" if name in given else f"is none of the inputs {', '.join(names)}"
                raise TypeError(f"'{name}' {what}")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"the program misses the inputs {', '.join(missing)}")
        return [self._as_tensor(given[name]) for name in names]

    def _as_tensor(self, value):
        return value if isinstance(value, ocl.Tensor) else ocl.tensor(value, device=self.device)

    def state_dict(self, *, constants: bool = False) -> dict:
        """Copies of the program's states by name: parameters that it trains, running statistics. With
        ``constants`` of all else that its file holds too."""
        return self._runner.state_dict(constants)

    def save(self, path) -> None:
        """Writes the program with its states as they are now, so that runs of the file go on from here."""
        self._runner.program.save(path)

    @property
    def memory(self) -> dict:
        """Bytes of the memory that temporaries, inputs and results share ("arena"), and how many no plan
        can do without ("lower_bound")."""
        return {"arena": self._runner.arena_bytes, "lower_bound": self._runner.arena_lower_bound}

    @property
    def symbols(self) -> dict:
        """(least, greatest) size of each symbol of a dynamic program, by name; empty for given shapes."""
        return self._runner.symbols

    @property
    def replays(self) -> bool:
        """Whether the next run of these shapes enqueues commands that were kept, from the second run on."""
        return self._runner.replays


def prepare(program: ExportedProgram, device="ocl:0") -> Program:
    """An exported program on a device."""
    return Program(program, device)


def load(path, device="ocl:0", *, trust_binaries=False) -> Program:
    """A program from a file of the format .ocl. Raises OSError for a file that is damaged or no program.

    With ``trust_binaries`` kernels that the file holds for this device and driver
    (``ExportedProgram.save(path, binaries=...)``) go into the kernel cache, so that the first run builds
    nothing. They are native code that nobody checks, and run with the rights of the process, in later
    processes of yours too: say so only of files whose maker you trust. Kernels of other devices and drivers
    are built from source as ever."""
    program = load_program(path, ocl.device(device))
    if trust_binaries:
        _trust_binaries(program, ocl.device(device))
    return Program(program, device)
