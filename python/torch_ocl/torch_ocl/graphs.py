"""Graphs of ``torch.ocl``: what a step enqueues, done again without the host's work (``torch.cuda.graphs``).

A net that is small for its device waits for the host, which spends its time in Python and PyTorch. ::

    step()  # a few times first, so that optimizers have their state and kernels are built
    graph = torch.ocl.OCLGraph()
    with torch.ocl.graph(graph):
        loss = step()  # captured, not run
    for images, labels in loader:
        static_images.copy_(images)
        static_labels.copy_(labels)
        graph.replay()  # the step on what stands there now; ``loss`` has its result

A replay runs the same kernels on the same memory: inputs are copied into the tensors that were captured,
results stand where the captured ones do. Random numbers are drawn from their generators as the step itself
would draw them. All else that the host decides is as it was captured: learning rates, what ``if`` chose;
optimizers that count steps need ``capturable=True`` or ``fused=True``. Reading values (``item()``), copies
from and to the host, and operators that run on the CPU raise RuntimeError within a capture.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from torch_ocl import _C

PoolHandle = tuple[int, int]


def is_current_stream_capturing() -> bool:
    """Whether what this thread enqueues is captured (torch.cuda.is_current_stream_capturing)."""
    return _C.is_capturing()


def graph_pool_handle() -> PoolHandle:
    """An id of memory that several graphs can be given (torch.cuda.graph_pool_handle).

    They have to be replayed in the order of their captures, and none while another's results are needed.
    """
    return _C.new_graph_pool()


class OCLGraph:
    """Captured work of the current device (torch.cuda.CUDAGraph).

    ``torch.accelerator.Graph`` is the same where PyTorch has it. ``keep_graph`` has no effect: a graph is
    ready when its capture ends.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._graph = _C.Graph()

    def capture_begin(self, pool: PoolHandle | None = None, capture_error_mode: str = "thread_local") -> None:
        """Begins to capture this thread's operators, and those of backward passes that it runs.

        A graph that holds a capture raises RuntimeError, as does a thread that captures already. Every
        ``capture_error_mode`` is that of one thread.
        """
        self._graph.capture_begin((0, 0) if pool is None else tuple(pool))

    def capture_end(self) -> None:
        """Ends the capture."""
        self._graph.capture_end()

    def instantiate(self) -> None:
        """Nothing is left to do when a capture has ended."""

    def replay(self) -> None:
        """Enqueues the captured work. Does not wait."""
        self._graph.replay()

    def reset(self) -> None:
        """Lets go of the captured work and its memory; the graph may capture anew."""
        self._graph.reset()

    def pool(self) -> PoolHandle:
        """The id of this graph's memory, for other graphs."""
        return self._graph.pool()

    def debug_dump(self, debug_path: str) -> None:
        """Writes a line for each captured kernel."""
        with open(debug_path, "w") as file:
            file.write(self._graph.description())


class graph:
    """Captures what a block of code enqueues (torch.cuda.graph).

    A device has one stream: ``stream`` has no effect. A block that raises leaves the graph empty.
    """

    def __init__(
        self,
        ocl_graph: OCLGraph,
        pool: PoolHandle | None = None,
        stream: torch.Stream | None = None,
        capture_error_mode: str = "thread_local",
    ) -> None:
        self._graph, self._pool, self._mode = ocl_graph, pool, capture_error_mode

    def __enter__(self) -> None:
        torch.ocl.synchronize()
        gc.collect()  # what is not needed any more need not be kept by the graph
        torch.ocl.empty_cache()
        self._graph.capture_begin(self._pool, self._mode)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._graph.capture_end()
        if kind is not None:
            self._graph.reset()  # half a step is none


Callables = torch.nn.Module | Callable[..., Any]


def make_graphed_callables(
    callables: Callables | tuple[Callables, ...],
    sample_args: tuple[torch.Tensor, ...] | tuple[tuple[torch.Tensor, ...], ...],
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: PoolHandle | None = None,
) -> Callables | tuple[Callables, ...]:
    """Modules or functions that run as graphs, forward and backward (torch.cuda.make_graphed_callables).

    A module keeps its forward pass for the mode (train or eval) that it is not in now. With several, which
    have to run in the order given, all graphs share a pool. ``sample_args`` are tensors alone, with the
    shapes and the ``requires_grad`` of all later arguments; results and gradients are overwritten by the
    next call.
    Raises RuntimeError for modules with hooks, or buffers that require gradients, TypeError for arguments
    that are no tensors, and ValueError for later ones of other shapes.
    """
    if not isinstance(callables, tuple):
        return make_graphed_callables(
            (callables,), (sample_args,), num_warmup_iters, allow_unused_input, pool
        )[0]
    if torch.is_autocast_enabled("ocl") and torch.is_autocast_cache_enabled():
        raise RuntimeError("make_graphed_callables: autocast must have cache_enabled=False")
    pool = graph_pool_handle() if pool is None else pool
    parts = [_Part(one, args, allow_unused_input) for one, args in zip(callables, sample_args, strict=True)]
    for part in parts:
        part.warm_up(num_warmup_iters)
    for part in parts:
        part.capture_forward(pool)
    for part in reversed(parts):
        part.capture_backward(pool)
    return tuple(part.graphed() for part in parts)


class _Part:
    """One of several callables that run as graphs."""

    def __init__(self, function: Callables, args: tuple[Any, ...], allow_unused_input: bool) -> None:
        self._function, self._args, self._allow_unused = function, args, allow_unused_input
        leaves = tree_leaves(args)
        if not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
            raise TypeError("make_graphed_callables: sample_args must be tensors alone")
        self._parameters: list[torch.nn.Parameter] = []
        if isinstance(function, torch.nn.Module):
            if function._backward_hooks or function._forward_hooks or function._forward_pre_hooks:
                raise RuntimeError("make_graphed_callables: modules must not have hooks yet")
            if any(buffer.requires_grad for buffer in function.buffers()):
                raise RuntimeError("make_graphed_callables: buffers must not require gradients")
            self._parameters = list(function.parameters())
        self._inputs = leaves
        self._wanted = [t for t in [*leaves, *self._parameters] if t.requires_grad]
        self._forward, self._backward = OCLGraph(), OCLGraph()

    def warm_up(self, count: int) -> None:
        for _ in range(count):
            outputs = [o for o in tree_leaves(self._function(*self._args)) if o.requires_grad]
            self._gradients_of(outputs, [torch.empty_like(o) for o in outputs])

    def _gradients_of(
        self, outputs: list[torch.Tensor], incoming: list[torch.Tensor]
    ) -> list[torch.Tensor | None]:
        if not outputs or not self._wanted:
            return [None] * len(self._wanted)
        return list(torch.autograd.grad(outputs, self._wanted, incoming, allow_unused=self._allow_unused))

    def capture_forward(self, pool: PoolHandle) -> None:
        with graph(self._forward, pool):
            result = self._function(*self._args)
        self._outputs, self._structure = tree_flatten(result)

    def capture_backward(self, pool: PoolHandle) -> None:
        self._incoming = [torch.empty_like(o) if o.requires_grad else None for o in self._outputs]
        with graph(self._backward, pool):
            found = self._gradients_of(
                [o for o in self._outputs if o.requires_grad], [g for g in self._incoming if g is not None]
            )
        gradients = iter(found)
        self._gradients = [
            next(gradients) if t.requires_grad else None for t in [*self._inputs, *self._parameters]
        ]

    def graphed(self) -> Callables:
        part = self

        class Graphed(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
                for static, given in zip(part._inputs, inputs[: len(part._inputs)], strict=True):
                    if static.shape != given.shape:
                        raise ValueError(
                            f"a graphed callable takes {list(static.shape)}, as its sample, "
                            f"got {list(given.shape)}"
                        )
                    if static.data_ptr() != given.data_ptr():
                        static.copy_(given)
                part._forward.replay()
                return tuple(o.detach() for o in part._outputs)

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
                for static, given in zip(part._incoming, gradients, strict=True):
                    if static is not None and static.data_ptr() != given.data_ptr():
                        static.copy_(given)
                part._backward.replay()
                return tuple(None if g is None else g.detach() for g in part._gradients)

        def run(*args: Any) -> Any:
            leaves = tree_leaves(args)
            if len(leaves) != len(part._inputs):
                raise ValueError(
                    f"a graphed callable takes {len(part._inputs)} tensors, as its sample, got {len(leaves)}"
                )
            return tree_unflatten(Graphed.apply(*leaves, *part._parameters), part._structure)

        function = self._function
        if not isinstance(function, torch.nn.Module):
            return run
        own_forward, mode = function.forward, function.training
        function.forward = lambda *args: run(*args) if function.training == mode else own_forward(*args)
        return function
