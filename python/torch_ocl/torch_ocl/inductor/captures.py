"""``torch.compile(mode="reduce-overhead")``: the calls of a compiled graph, captured by ``OCLGraph``.

Inductor's own hook is CUDA's alone: for every other device it gives a reason not to capture. Here that reason
is ``BY_OCL``, or why ocl cannot capture either. The code generator sets it, it travels with the code through
Inductor's caches, and ``post_compile`` reads it.

After a few calls, which build kernels, a call is captured. Later ones copy their inputs to where the captured
inputs lie, and replay. Nothing is copied that always lies in one place: parameters, buffers, and what other
captured graphs have left, as a forward pass for its backward pass. Results stay where the replay writes them.
While somebody holds one from an earlier call, the graph runs without its capture, and from then on hands out
copies of that result.

Every graph has its memory for itself. In a pool that graphs share, one would have its results where another
has its intermediate numbers, and a replay of the other would overwrite them.
"""

from __future__ import annotations

import collections
import functools
import threading
import warnings
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import ModuleType
from typing import Any

import torch

from torch_ocl import _C
from torch_ocl.graphs import OCLGraph, graph

Way = Callable[[list[Any], list[torch.Tensor]], Any]
Run = Callable[[list[Any]], Any]
Kind = tuple[tuple[Hashable, ...], tuple[int | None, ...]]  # sizes and numbers, places of tensors

BY_OCL = "ocl devices capture by torch.ocl.OCLGraph"
_WARM_UP = 2  # calls of a kind before the one that is captured
_MOST_GRAPHS = 64  # of one compiled graph: for sets of parameters that share its code, as equal layers do
_MOST_SIZES = 8  # of a compiled graph whose sizes are dynamic
_MOST_KINDS = 1024  # kinds of calls that are counted


def install(output_code: ModuleType) -> None:
    """``output_code``: the module torch._inductor.output_code."""
    theirs = output_code.CompiledFxGraph.post_compile

    @functools.wraps(theirs)
    def post_compile(self: Any, example_inputs: Sequence[Any], *args: Any, **kwargs: Any) -> None:
        theirs(self, example_inputs, *args, **kwargs)
        if torch._inductor.config.triton.cudagraphs and "ocl" in self.device_types:
            _capture_calls_of(self, example_inputs)

    output_code.CompiledFxGraph.post_compile = post_compile


def reason_for(lowered: Any) -> str:
    """``BY_OCL``, or why a graph (Inductor's GraphLowering) is never captured."""
    from torch._inductor.utils import get_first_incompatible_cudagraph_node

    if lowered.disable_cudagraphs_reason:
        return lowered.disable_cudagraphs_reason
    others = sorted(set(lowered.device_types) - {"ocl", "meta"})
    if others:
        return f"it computes on {', '.join(others)} too"
    if len(lowered.device_idxs) != 1:
        return "it computes on several devices"
    node = get_first_incompatible_cudagraph_node(lowered.module)
    return BY_OCL if node is None else f"{node.target} cannot be captured"


def _capture_calls_of(compiled: Any, example_inputs: Sequence[Any]) -> None:
    from torch._inductor.utils import any_is_symbolic

    is_dynamic = any_is_symbolic(*example_inputs)
    reason = compiled.disabled_cudagraphs_reason
    if is_dynamic and torch._inductor.config.triton.cudagraph_skip_dynamic_graphs:
        reason = "config.triton.cudagraph_skip_dynamic_graphs is set"
    if reason != BY_OCL:
        _warn_of_uncaptured(reason)
        return
    is_backward = compiled.fx_kwargs["is_backward"]
    compiled.current_callable = CapturedCalls(
        compiled.current_callable,
        next(iter(compiled.device_idxs)),
        fixed=() if is_backward else compiled.fx_kwargs["static_input_idxs"] or (),
        mutated=compiled.mutated_input_idxs,
        is_dynamic=is_dynamic,
        needs_places=is_backward,
    )


def _warn_of_uncaptured(reason: str) -> None:
    warnings.warn(
        f'torch.compile on ocl devices runs a graph without a capture, which mode="reduce-overhead" asks '
        f"for: {reason} (docs/pytorch.md)",
        stacklevel=3,
    )


# The addresses of tensors that captured graphs read or leave in one place, as long as these graphs live.
# PyTorch's pointer to ocl's memory belongs to one storage. A graph keeps its storages, so that no other has
# their addresses.
_places: collections.Counter[int] = collections.Counter()


def _forget_places(addresses: Iterable[int]) -> None:
    for address in addresses:
        _places[address] -= 1
        if not _places[address]:
            del _places[address]


class CapturedCalls:
    """A compiled graph that is captured once it is warm: one capture for each kind of call.

    ``fixed``: inputs that are expected to stay in one place. ``needs_places``: whether a call of which no
    input is in a known place is left alone, as a backward pass is whose forward pass was not captured.
    """

    def __init__(
        self,
        run: Run,
        device: int,
        *,
        fixed: Iterable[int],
        mutated: Iterable[int],
        is_dynamic: bool,
        needs_places: bool,
    ) -> None:
        self._run, self._device = run, device
        self._fixed, self._mutated = frozenset(fixed), frozenset(mutated)
        self._is_dynamic, self._needs_places = is_dynamic, needs_places
        self._lock = threading.RLock()
        self._seen: collections.Counter[Kind] = collections.Counter()
        self._captures: dict[Kind, _Capture] = {}
        self._takes_more = True

    def __call__(self, inputs: list[Any]) -> Any:
        if (self._takes_more or self._captures) and not _C.is_capturing():
            with self._lock, torch.no_grad():
                capture = self._capture_for(inputs)
                if capture is not None and not capture.finds_results_held():
                    return capture.replay(inputs)
        return self._run(inputs)

    def _capture_for(self, inputs: list[Any]) -> _Capture | None:
        places: list[int | None] = []
        sizes: list[Hashable] = []
        for i, x in enumerate(inputs):
            if not isinstance(x, torch.Tensor):
                sizes.append(x)
                continue
            address = x.data_ptr()
            places.append(address if i in self._fixed or address in _places else None)
            if self._is_dynamic:
                sizes.append((x.shape, x.stride()))
        if self._needs_places and not any(places):
            return None
        kind = (tuple(sizes), tuple(places))
        found = self._captures.get(kind)
        if found is None and self._takes_more and self._is_warm(kind) and self._has_room_for(kind):
            return self._captured(inputs, kind)
        if found is not None:
            self._captures[kind] = self._captures.pop(kind)  # the last one used stands last
        return found

    def _is_warm(self, kind: Kind) -> bool:
        if len(self._seen) > _MOST_KINDS:
            self._seen.clear()
        self._seen[kind] += 1
        return self._seen[kind] > _WARM_UP

    def _has_room_for(self, kind: Kind) -> bool:
        if len({kind[0], *(sizes for sizes, _ in self._captures)}) > _MOST_SIZES:
            return self._take_no_more(f"it has more than {_MOST_SIZES} sizes")
        if len(self._captures) >= _MOST_GRAPHS and not self._forget_one():
            return self._take_no_more(f"its parameters are in more than {_MOST_GRAPHS} places")
        return True

    def _forget_one(self) -> bool:
        """Drops the capture that was not used for longest, as that of a net that is gone."""
        for kind, capture in self._captures.items():
            if not capture.finds_results_held():
                del self._captures[kind]
                return True
        return False

    def _captured(self, inputs: list[Any], kind: Kind) -> _Capture | None:
        places = iter(kind[1])
        stays = [isinstance(x, torch.Tensor) and next(places) is not None for x in inputs]
        try:
            capture = _Capture(self._run, inputs, stays, self._mutated, self._device)
        except RuntimeError as error:
            self._take_no_more(str(error))
            return None
        self._captures[kind] = capture
        return capture

    def _take_no_more(self, reason: str) -> bool:
        self._takes_more = False
        _warn_of_uncaptured(reason)
        return False


def _extent_of(x: torch.Tensor) -> int | None:
    """How many elements to copy, with those between x's own, where some of these may share memory."""
    if not torch._debug_has_internal_overlap(x):
        return None
    extent = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
    return extent if extent <= 4 * x.numel() else None


def _copy(source: torch.Tensor, destination: torch.Tensor, extent: int | None) -> None:
    """Between tensors of the same strides, of which that is the extent."""
    if extent is not None:
        source, destination = (x.as_strided((extent,), (1,)) for x in (source, destination))
    destination.copy_(source)


def _copy_of(x: torch.Tensor) -> torch.Tensor:
    made = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=x.device)
    _copy(x, made, _extent_of(x))
    return made


def _memory_of(x: torch.Tensor) -> int:
    return x.untyped_storage()._cdata


class _Capture:
    """One captured call. ``stays``: of each input, whether later calls have it in the same place."""

    def __init__(
        self, run: Run, inputs: list[Any], stays: list[bool], mutated: frozenset[int], device: int
    ) -> None:
        for x in inputs:
            _require_capturable(x, device)
        moved = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and not stays[i]]
        self._written = [i for i in moved if i in mutated]
        self._graph = OCLGraph()
        with torch.ocl.device(device), torch.inference_mode(False), torch.no_grad():
            given = [
                x if not isinstance(x, torch.Tensor) else x.detach() if stays[i] else _copy_of(x)
                for i, x in enumerate(inputs)
            ]
            with graph(self._graph):
                results = list(run(list(given)))
        self._inputs = {i: (given[i], _extent_of(given[i])) for i in moved}
        self._made: list[torch.Tensor] = []  # the results that each replay makes
        self._hand_out = [self._way_to(result, given) for result in results]
        in_place = [x for i, x in enumerate(given) if stays[i]]
        known = {_memory_of(x) for x in in_place}
        in_place += [x for x in results if isinstance(x, torch.Tensor) and _memory_of(x) in known]
        self._keep_places(in_place)
        del given, results, in_place  # they would be counted among the holders of their memory
        self._memories = [x.untyped_storage() for x in self._made]
        self._idle_counts = [torch._C._storage_Use_Count(memory._cdata) for memory in self._memories]
        self._is_copied = [False] * len(self._made)

    def _way_to(self, result: Any, given: list[Any]) -> Way:
        """From the inputs of a call and what a replay has made to that result."""
        if not isinstance(result, torch.Tensor):
            return lambda inputs, made: result
        for i, x in enumerate(given):
            if x is result:
                return lambda inputs, made: inputs[i]
            if isinstance(x, torch.Tensor) and _memory_of(x) == _memory_of(result):
                if x.dtype != result.dtype:
                    raise RuntimeError("a result is an input seen as another dtype")
                offset = result.storage_offset() - x.storage_offset()
                return functools.partial(_view_of_input, i, result.shape, result.stride(), offset)
        at = next((at for at, x in enumerate(self._made) if x is result), len(self._made))
        if at == len(self._made):
            self._made.append(result)
        return lambda inputs, made: made[at]

    def _keep_places(self, in_place: list[torch.Tensor]) -> None:
        """Tells other graphs where this one's tensors are, and PyTorch's operators to put nothing off there.

        A replay reads and writes that memory at any time, as another library does that has it by DLPack.
        """
        self._kept = [x.untyped_storage() for x in in_place]
        for x in (*in_place, *self._made):
            _C.to_dlpack(x, None)
        addresses = [address for x in (*in_place, *self._made) if (address := x.data_ptr())]
        _places.update(addresses)
        weakref.finalize(self, _forget_places, addresses)

    def finds_results_held(self) -> bool:
        """Whether somebody holds a result of an earlier call. Calls after this one give copies of it."""
        held = [
            i
            for i, memory in enumerate(self._memories)
            if torch._C._storage_Use_Count(memory._cdata) > self._idle_counts[i]
        ]
        for i in held:
            self._is_copied[i] = True
        return bool(held)

    def replay(self, inputs: list[Any]) -> tuple[Any, ...]:
        for i, (place, extent) in self._inputs.items():
            _copy(inputs[i], place, extent)
        self._graph.replay()
        for i in self._written:
            place, extent = self._inputs[i]
            _copy(place, inputs[i].data, extent)  # whose version stays, as where the kernels write
        made = [
            _copy_of(x) if is_copied else x.detach()
            for x, is_copied in zip(self._made, self._is_copied, strict=True)
        ]
        results = tuple(way(inputs, made) for way in self._hand_out)
        inputs.clear()
        return results


def _require_capturable(x: Any, device: int) -> None:
    if isinstance(x, torch.Tensor):
        if x.device != torch.device("ocl", device) or x.layout != torch.strided:
            raise RuntimeError(f"it has an input on {x.device}, {x.layout}")
    elif x is not None and not isinstance(x, (int, float)):
        raise RuntimeError(f"it has an input of type {type(x).__name__}")


def _view_of_input(
    i: int, shape: Sequence[int], strides: Sequence[int], offset: int, inputs: list[Any], made: list[Any]
) -> torch.Tensor:
    return inputs[i].as_strided(shape, strides, inputs[i].storage_offset() + offset)
