"""One level of vmap: a function runs on one example, and what it does to it is done to the whole batch.

The function gets tensors of one example, and computes with them as ever, through modules in C++ too. An
interceptor and a call log hear of every operator that it calls (``calls.py``). At the end, or when
derivatives are asked for, the trace goes through these calls. Those that a batched tensor enters are made for
the whole batch, by the rule of the operator (``rules``). A table keeps the batch behind each tensor of the
example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching import noting
from ocl.batching.example import Batched, Example, current, plain, recording, thread
from ocl.seam import calls, parts, performing
from ocl.seam.calls import Entry, Heard
from ocl.seam.parts import elements_key, tensors_in

__all__ = ["RANDOM", "Trace"]

# Operators whose result has a shape, or is a number, that depends on the elements.
_DEPENDENT = (
    "allclose argwhere batched_nms equal masked_select nms nonzero remove_small_boxes unique "
    "unique_consecutive"
).split()


class Trace:
    """The batch behind each tensor of the example, and how it came about."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size, self.randomness = size, randomness
        self._outer = current()
        self._batches: dict[tuple, Tensor] = {}
        self._storages: dict[int, Any] = {}  # of the example, which must stay
        self._known: dict[tuple, Tensor] = {}  # tensors from outside, with their history
        self._log: _C._CallLog | None = None
        self._interceptor: _C._Interceptor | None = None
        self._heard: list[Heard] = []
        self._pending: list[Entry] = []

    # ---- who listens

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While the function runs."""
        if self._outer is not None:
            self._outer.stop()
        thread.trace = self
        self.start()
        try:
            with noting.methods_note():
                yield
        finally:
            self.stop()
            thread.trace = self._outer
            if self._outer is not None:
                self._outer.start()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """While work on whole batches is done, of which an outer vmap hears."""
        listens = current() is self
        if listens:
            self.stop()
            thread.trace = self._outer
            if self._outer is not None:
                self._outer.start()
        try:
            yield
        finally:
            if listens:
                if self._outer is not None:
                    self._outer.stop()
                thread.trace = self
                self.start()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """While the example is worked on and nobody shall hear of it."""
        self.stop()
        thread.trace = None
        try:
            yield
        finally:
            thread.trace = self
            self.start()

    def take(self, entry: Entry) -> None:
        """Hears of a call that an inner vmap has heard, and whose tensors are not batched there."""
        self.stop()
        self._pending.append(entry)
        self.start()

    def start(self) -> None:
        self._log = _C._CallLog()
        self._log.start()
        self._interceptor = _C._Interceptor(self._hear, True)
        self._interceptor.start()

    def stop(self) -> None:
        if self._log is None:
            return
        self._interceptor.stop()
        self._interceptor = None  # which holds this object
        self._log.stop()
        log, heard, self._log, self._heard = self._log, self._heard, None, []
        self._pending += calls.outermost(log.entries(), heard)

    def _hear(self, name: str, tensors: list, arguments: Callable[[], dict]) -> None:
        if name in _DEPENDENT and any(isinstance(t, Example) for t in tensors):
            raise RuntimeError(_DEPENDS.format(name))
        if self.randomness == "error" and name in RANDOM_CREATIONS:
            raise RuntimeError(RANDOM.format(name))
        history = [t is not None and t.requires_grad for t in tensors]
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad and not isinstance(tensor, Example):
                self.know(tensor)
        self._heard.append(Heard(name, tensors, history, _C.is_grad_enabled(), _C._autocast_mode()))

    # ---- what stands behind tensors of the example

    def example_of(self, batch: Tensor) -> Tensor:
        """A tensor of one example, behind which that batch stands."""
        first = batch.select(0, 0) if self.size else batch.new_zeros(batch.shape[1:])
        with recording(batch.requires_grad):
            example = first.clone()
        if batch.requires_grad and not example.requires_grad:
            example.requires_grad_()
        example = example.as_subclass(Example)
        self.put(example, batch)
        return example

    def has_batch(self, tensor: Tensor) -> bool:
        """Whether a batch stands behind the memory of that tensor."""
        return _C._storage_key(tensor) in self._storages

    def adopt(self, example: Tensor) -> None:
        """Makes a batch for a tensor that is like a batched one and to be written: what empty_like gives."""
        whole = example.storage_offset() == 0 and example.numel() == _C._whole_storage(example).numel()
        if _C._storage_key(example) in self._storages or not whole:
            return
        self.catch_up()
        if _C._storage_key(example) not in self._storages:
            with self.outside():
                batch = self.expanded(example).clone()
            self.put(example, batch)

    def know(self, tensor: Tensor) -> None:
        """Notes a tensor from outside, which calls that only listeners hear of take without its history."""
        self._known[elements_key(tensor)] = tensor

    def put(self, example: Tensor, batch: Tensor) -> None:
        key = elements_key(example)
        self._batches[key] = batch
        self._storages[key[0]] = example

    def batch_of(self, example: Tensor, has_history: bool | None = None) -> Batched | Tensor:
        """The batch behind a tensor, or the tensor itself where it is the same for all examples."""
        key = elements_key(example)
        batch = self._batches.get(key)
        if batch is None:
            if key[0] in self._storages and example.numel():
                raise NotImplementedError(
                    f"vmap: a view of shape {tuple(example.shape)} of a batched tensor that no operator made"
                )
            return example if self._outer or not isinstance(example, Example) else example.as_subclass(Tensor)
        has_history = example.requires_grad if has_history is None else has_history
        if batch.requires_grad and not has_history:
            batch = batch.detach()
        if has_history and not batch.requires_grad and (batch.is_floating_point() or batch.is_complex()):
            raise NotImplementedError(
                "vmap: a gradient flows through a tensor of which vmap does not know where it comes from: a "
                "tensor from outside of the function that is indexed or written by batched ones. Give it to "
                "the function as an argument (in_dims=None)"
            )
        return Batched(batch)

    def expanded(self, tensor: Tensor, has_history: bool | None = None) -> Tensor:
        """The batch behind a tensor; of one that is the same for all examples, that one for each."""
        found = self.batch_of(tensor, has_history)
        if isinstance(found, Batched):
            return found.tensor
        return found.expand(self.size, *found.shape)

    # ---- the work on batches

    def catch_up(self) -> None:
        """Does what was heard so far to the batches."""
        with self.outside():
            pending, self._pending = self._pending, []
            with recording(True):
                self._replay(pending)

    def _replay(self, entries: list[Entry]) -> None:
        written = calls.last_writes(entries)
        for place, entry in enumerate(entries):
            is_batched = any(_C._storage_key(t) in self._storages for t in tensors_in(entry.arguments))
            if not (is_batched or self.randomness == "different" and entry.name in RANDOM_CREATIONS):
                if self._outer is not None:
                    self._outer.take(entry)
                continue
            self._refuse_later_writes(entry, place, written)
            self._batch(entry)

    def _refuse_later_writes(self, entry: Entry, place: int, written: dict[int, int]) -> None:
        for tensor in tensors_in(entry.arguments):
            key = _C._storage_key(tensor)
            if key not in self._storages and written.get(key, -1) > place:
                raise NotImplementedError(
                    f"vmap: {entry.name}: a tensor that is not batched is used by a batched one, and written "
                    "in place afterwards. Use a copy of it (clone)"
                )

    def _batch(self, entry: Entry) -> None:
        from ocl.batching import rules

        if (
            entry.heard is None
            and entry.name not in _UNHEARD
            and not performing.is_in_place(entry.name, entry.arguments)
        ):
            raise NotImplementedError(
                f"vmap: {entry.name}: vmap does not hear of its tensors, as a module computes it outside of "
                "any operator"
            )
        if entry.name in _DEPENDENT:
            raise RuntimeError(_DEPENDS.format(entry.name))
        arguments = self._arguments(entry)
        call = rules.Call(entry.name, arguments, self.size, self.randomness)
        if performing.is_in_place(entry.name, entry.arguments):
            rules.write(call)
            return
        places, kinds = _results(entry)
        if not places:
            return
        call.expected = kinds
        with _casting(entry.heard.autocast if entry.heard else _C._autocast_mode()):
            results = rules.results(call)
        for path, result in zip(places, results, strict=True):
            if isinstance(result, Batched):
                self._put_at(entry, path, result.tensor)

    def _arguments(self, entry: Entry) -> dict:
        """The arguments of a call with the batches in them."""
        history = iter(())
        tensors: Iterator = iter(())
        if entry.heard is not None:
            pairs = [
                (t, h)
                for t, h in zip(entry.heard.tensors, entry.heard.has_history, strict=True)
                if t is not None
            ]
            tensors, history = iter([t for t, _ in pairs]), iter([h for _, h in pairs])

        def found(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            tensor = next(tensors, None)
            if tensor is None:  # of a call that only listeners hear of, which get no history
                key = elements_key(value)
                batch = self._batches.get(key)
                return self._known.get(key, value) if batch is None else Batched(batch)
            return self.batch_of(tensor, next(history))

        return parts.mapped(found, entry.arguments)

    def _put_at(self, entry: Entry, place: tuple, batch: Tensor) -> None:
        kind, where, layout = place
        source = calls.at(entry, kind, where)
        if kind == "argument" and _C._storage_key(source) not in self._storages:
            return  # a view of what all examples share, whose shape a batched tensor says
        shape, stride, offset, dtype = layout
        key = (_C._storage_key(source), offset, shape, stride, dtype)
        self._batches[key] = batch
        self._storages[key[0]] = source


_DEPENDS = (
    "vmap: {}: its result depends on the elements, so that its shape or value differs from example to "
    "example; this is not supported under vmap"
)
_UNHEARD = ("index", "slice", "to")
RANDOM = (
    "vmap: called random operation {} while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
RANDOM_CREATIONS = ("rand", "randn", "randint", "randperm", "normal")


def _results(entry: Entry) -> tuple[list[tuple], list[tuple]]:
    """Where the results of a call stand, of which no outer vmap shall hear that it is made again."""
    heard = entry.heard
    given = iter([t for t in heard.tensors if t is not None]) if heard else iter(())

    def plainly(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        tensor = next(given, value)
        if tensor.dtype == value.dtype:
            return plain(tensor)
        return plain(value).detach().requires_grad_(tensor.requires_grad)  # autocast's copy

    arguments = parts.mapped(plainly, entry.arguments)
    with _nobody_hears(), recording(heard.records if heard else True):
        return calls.results(entry, arguments, "vmap")


@contextmanager
def _casting(mode: tuple) -> Iterator[None]:
    """Under that mode of autocast, which the function may have left by now."""
    before = _C._autocast_mode()
    if mode != before:
        _C._set_autocast_mode(*mode)
    try:
        yield
    finally:
        if mode != before:
            _C._set_autocast_mode(*before)


@contextmanager
def _nobody_hears() -> Iterator[None]:
    """While an example's call is made a second time, of which no outer vmap shall hear."""
    trace = current()
    if trace is not None:
        trace.stop()
    thread.trace = None
    nobody = _C._Interceptor(lambda *call: None, False)  # autocast neither: the tensors are its copies
    nobody.start()
    try:
        yield
    finally:
        nobody.stop()
        thread.trace = trace
        if trace is not None:
            trace.start()
