"""TensorBoard's files, as torch.utils.tensorboard. The package tensorboardX writes them; an import of this
module asks for it.
"""

from __future__ import annotations

import functools
from typing import Any

from ocl._C import Tensor

try:
    import tensorboardX
except ImportError as error:
    raise ImportError(
        "ocl.utils.tensorboard needs the package tensorboardX, which writes the files: pip install "
        "tensorboardX"
    ) from error

__all__ = ["SummaryWriter"]


def _arrays(value: Any) -> Any:
    """`value` with arrays for the tensors in it."""
    if isinstance(value, Tensor):
        return value.numpy(force=True)
    if isinstance(value, dict):
        return {key: _arrays(part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_arrays(part) for part in value)
    return value


class SummaryWriter:
    """Writes scalars, histograms, images and more of ``add_…`` for TensorBoard to `log_dir`, by default a new
    folder below "runs". (torch.utils.tensorboard.SummaryWriter)

    The methods are those of ``tensorboardX.SummaryWriter``; tensors among their arguments are read,
    which waits.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        self._writer = tensorboardX.SummaryWriter(
            None if log_dir is None else str(log_dir),
            comment=comment,
            purge_step=purge_step,
            max_queue=max_queue,
            flush_secs=flush_secs,
            filename_suffix=filename_suffix,
        )
        self.log_dir = self._writer.logdir

    def get_logdir(self) -> str:
        """The folder of the files."""
        return self.log_dir

    def add_graph(self, model: Any, input_to_model: Any = None, *args: Any, **kwargs: Any) -> None:
        """Raises NotImplementedError: PyTorch's tracer would draw the graph."""
        raise NotImplementedError(
            "add_graph: there is no graph of a module without PyTorch's tracer; ocl.utils.summary lists its "
            "layers"
        )

    def __getattr__(self, name: str) -> Any:
        if name == "_writer":  # not there yet, or in a copy
            raise AttributeError(name)
        found = getattr(self._writer, name)
        if not name.startswith("add_"):
            return found

        @functools.wraps(found)
        def add(*args: Any, **kwargs: Any) -> Any:
            return found(*_arrays(args), **_arrays(kwargs))

        return add

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *reason: Any) -> None:
        self.close()
