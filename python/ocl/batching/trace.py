"""One level of vmap: a function runs on one example, and what it does to it is done to the whole batch.

The function gets tensors of one example, and computes with them as ever, through modules in C++ too. The seam
tells of every operator that it calls (``seam.py``). At the end, or when derivatives are asked for, the trace
goes through these calls: those that a batched tensor enters are made for the whole batch by the rule of the
operator (``rules``), and a table keeps which batch stands behind which tensor of the example.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ocl import _C
from ocl._C import Tensor
from ocl.batching import noting, seam
from ocl.shapes import shapes_only

__all__ = ["Batched", "Trace", "current", "gradients", "leaf", "opaque"]

_thread = threading.local()


def current() -> Trace | None:
    """The innermost vmap whose function this thread runs."""
    return getattr(_thread, "trace", None)


def note_reading(name: str, tensor: Tensor) -> None:
    """Hears that elements are to be read, of a tensor of whatever class."""
    trace = current()
    if trace is None or isinstance(tensor, Example):  # which refuses itself
        return
    trace.catch_up()
    if _C._storage_key(tensor) in trace._storages:
        raise RuntimeError(f"vmap: It looks like you're calling .{name}() on a Tensor. {_READS}")


def note(written: bool, tensor: Any, others: tuple) -> None:
    """Hears of a method that takes tensors of which no interceptor hears: indexing, or one that writes."""
    trace = current()
    if trace is None:
        return
    if (
        written
        and not isinstance(tensor, Example)
        and any(isinstance(t, Example) for t in _tensors(list(others)))
    ):
        raise RuntimeError(WRITTEN.format("a write"))
    if written and isinstance(tensor, Example):
        trace.adopt(tensor)
    for each in (tensor, *_tensors(list(others))):
        if each.requires_grad and not isinstance(each, Example):
            trace.know(each)


class Batched(NamedTuple):
    """The tensors of all examples, along a first dimension."""

    tensor: Tensor


class Example(Tensor):
    """A tensor of one example. Its elements are not to be read: they differ from example to example."""

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        trace = current()
        if trace is not None and requires_grad and not self.requires_grad:
            trace.make_leaf(self)
        return super().requires_grad_(requires_grad)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind(0))

    def __deepcopy__(self, memo: dict) -> Tensor:
        return memo.setdefault(id(self), self.detach().clone())

    def __repr__(self) -> str:
        return f"BatchedTensor(shape={tuple(self.shape)}, dtype={self.dtype})"


def _refusing(name: str, reason: str) -> Callable:
    def refuse(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"vmap: It looks like you're calling {name} on a Tensor. {reason}")

    return refuse


_READS = "We don't support vmap over calling it, please try to rewrite what you're doing to avoid it."
_FLOW = "We don't support data-dependent control flow: what it says differs from example to example."
for _name in ("item", "tolist", "numpy", "__array__", "__dlpack__", "__contains__", "__reduce_ex__"):
    setattr(Example, _name, _refusing(f".{_name}()", _READS))
for _name in ("__bool__", "__int__", "__float__", "__index__", "is_nonzero"):
    setattr(Example, _name, _refusing(f".{_name}()", _FLOW))
for _name in ("backward", "register_hook", "retain_grad", "register_post_accumulate_grad_hook"):
    setattr(Example, _name, _refusing(f".{_name}()", "Use ocl.func.grad, ocl.func.vjp or the like instead."))

# Operators whose result has a shape, or is a number, that depends on the elements.
_DEPENDENT = (
    "allclose argwhere batched_nms equal masked_select nms nonzero remove_small_boxes unique "
    "unique_consecutive"
).split()


class _Heard(NamedTuple):
    """What the interceptor says of a call: the tensors with their history, and whether each has one."""

    name: str
    tensors: list
    has_history: list[bool]
    records: bool


class _Entry(NamedTuple):
    name: str
    arguments: dict
    inner: list
    heard: _Heard | None


def _key(tensor: Tensor) -> tuple:
    """Two tensors of one key have the same elements."""
    return (
        _C._storage_key(tensor),
        tensor.storage_offset(),
        tuple(tensor.shape),
        tensor.stride(),
        tensor.dtype,
    )


class Trace:
    """The batch behind each tensor of the example, and how it came about."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size, self.randomness = size, randomness
        self._outer = current()
        self._batches: dict[tuple, Tensor] = {}
        self._storages: dict[int, Any] = {}  # of the example, which must stay
        self._known: dict[tuple, Tensor] = {}  # tensors from outside, with their history
        self._log: _C._CallLog | None = None
        self._heard: list[_Heard] = []
        self._pending: list[_Entry] = []

    # ---- who listens

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While the function runs."""
        if self._outer is not None:
            self._outer._stop()
        _thread.trace = self
        self._start()
        try:
            with noting.methods_note():
                yield
        finally:
            self._stop()
            _thread.trace = self._outer
            if self._outer is not None:
                self._outer._start()

    @contextmanager
    def _outside(self) -> Iterator[None]:
        """While work on whole batches is done, of which an outer vmap hears."""
        listens = current() is self
        if listens:
            self._stop()
            _thread.trace = self._outer
            if self._outer is not None:
                self._outer._start()
        try:
            yield
        finally:
            if listens:
                if self._outer is not None:
                    self._outer._stop()
                _thread.trace = self
                self._start()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """While the example is worked on and nobody shall hear of it."""
        self._stop()
        _thread.trace = None
        try:
            yield
        finally:
            _thread.trace = self
            self._start()

    def _take(self, entry: _Entry) -> None:
        """Hears of a call that an inner vmap has heard, and whose tensors are not batched there."""
        self._stop()
        self._pending.append(entry)
        self._start()

    def _start(self) -> None:
        self._log = _C._CallLog()
        self._log.start()
        _C._set_interceptor(self._hear)

    def _stop(self) -> None:
        if self._log is None:
            return
        _C._set_interceptor(None)
        self._log.stop()
        log, heard, self._log, self._heard = self._log, self._heard, None, []
        self._pending += _outermost(log.entries(), heard)

    def _hear(self, name: str, tensors: list) -> list:
        if name in _DEPENDENT and any(isinstance(t, Example) for t in tensors):
            raise RuntimeError(DEPENDS.format(name))
        if self.randomness == "error" and name in RANDOM_CREATIONS:
            raise RuntimeError(RANDOM.format(name))
        history = [t is not None and t.requires_grad for t in tensors]
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad and not isinstance(tensor, Example):
                self.know(tensor)
        self._heard.append(_Heard(name, tensors, history, _C.is_grad_enabled()))
        return [None] * len(tensors)

    # ---- what stands behind tensors of the example

    def example_of(self, batch: Tensor) -> Tensor:
        """A tensor of one example, behind which that batch stands."""
        first = batch.select(0, 0) if self.size else batch.new_zeros(batch.shape[1:])
        with _C_grad(batch.requires_grad):
            example = first.clone()
        if batch.requires_grad and not example.requires_grad:
            example.requires_grad_()
        example = example.as_subclass(Example)
        self._put(example, batch)
        return example

    def make_leaf(self, example: Tensor) -> None:
        """Derivatives by the batch behind that tensor are taken from here on."""
        self.catch_up()
        with self._outside():
            batch = leaf(self.expanded(example))
        self._put(example, batch)

    def adopt(self, example: Tensor) -> None:
        """Makes a batch for a tensor that is like a batched one and to be written: what empty_like gives."""
        whole = example.storage_offset() == 0 and example.numel() == _C._whole_storage(example).numel()
        if _C._storage_key(example) in self._storages or not whole:
            return
        self.catch_up()
        if _C._storage_key(example) not in self._storages:
            with self._outside():
                batch = self.expanded(example).clone()
            self._put(example, batch)

    def know(self, tensor: Tensor) -> None:
        """Notes a tensor from outside, which calls that only listeners hear of take without its history."""
        self._known[_key(tensor)] = tensor

    def _put(self, example: Tensor, batch: Tensor) -> None:
        key = _key(example)
        self._batches[key] = batch
        self._storages[key[0]] = example

    def batch_of(self, example: Tensor, has_history: bool | None = None) -> Batched | Tensor:
        """The batch behind a tensor, or the tensor itself where it is the same for all examples."""
        key = _key(example)
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
        if has_history and not batch.requires_grad and batch.is_floating_point():
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
        with self._outside():
            pending, self._pending = self._pending, []
            with _C_grad(True):
                self._replay(pending)

    def _replay(self, entries: list[_Entry]) -> None:
        written = _last_writes(entries)
        for place, entry in enumerate(entries):
            is_batched = any(_C._storage_key(t) in self._storages for t in _tensors(entry.arguments))
            if not (is_batched or self.randomness == "different" and entry.name in RANDOM_CREATIONS):
                if self._outer is not None:
                    self._outer._take(entry)
                continue
            self._refuse_later_writes(entry, place, written)
            self._batch(entry)

    def _refuse_later_writes(self, entry: _Entry, place: int, written: dict[int, int]) -> None:
        for tensor in _tensors(entry.arguments):
            key = _C._storage_key(tensor)
            if key not in self._storages and written.get(key, -1) > place:
                raise NotImplementedError(
                    f"vmap: {entry.name}: a tensor that is not batched is used by a batched one, and written "
                    "in place afterwards. Use a copy of it (clone)"
                )

    def _batch(self, entry: _Entry) -> None:
        from ocl.batching import rules

        if (
            entry.heard is None
            and entry.name not in _UNHEARD
            and not seam.is_in_place(entry.name, entry.arguments)
        ):
            raise NotImplementedError(
                f"vmap: {entry.name}: vmap does not hear of its tensors, as a module computes it outside of "
                "any operator, or an autocast within the function stands between"
            )
        if entry.name in _DEPENDENT:
            raise RuntimeError(DEPENDS.format(entry.name))
        arguments = self._arguments(entry)
        call = rules.Call(entry.name, arguments, self.size, self.randomness)
        if seam.is_in_place(entry.name, entry.arguments):
            rules.write(call)
            return
        places, kinds = _results(entry)
        if not places:
            return
        call.expected = kinds
        for path, result in zip(places, rules.results(call), strict=True):
            if isinstance(result, Batched):
                self._put_at(entry, path, result.tensor)

    def _arguments(self, entry: _Entry) -> dict:
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
                key = _key(value)
                batch = self._batches.get(key)
                return self._known.get(key, value) if batch is None else Batched(batch)
            return self.batch_of(tensor, next(history))

        return seam.mapped(found, entry.arguments)

    def _put_at(self, entry: _Entry, place: tuple, batch: Tensor) -> None:
        kind, where, layout = place
        if kind == "argument":
            source = dict(seam.parts(entry.arguments))[where]
            if _C._storage_key(source) not in self._storages:
                return  # a view of what all examples share, whose shape a batched tensor says
        else:
            source = dict(seam.parts(entry.inner[kind].arguments))[where]
        shape, stride, offset, dtype = layout
        key = (_C._storage_key(source), offset, shape, stride, dtype)
        self._batches[key] = batch
        self._storages[key[0]] = source


DEPENDS = (
    "vmap: {}: its result depends on the elements, so that its shape or value differs from example to "
    "example; this is not supported under vmap"
)
WRITTEN = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
    "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
    "`self` not being vmapped over in {}. Please try to use out-of-place operators instead of inplace "
    "arithmetic"
)
_UNHEARD = ("index", "slice", "to")
RANDOM = (
    "vmap: called random operation {} while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
RANDOM_CREATIONS = ("rand", "randn", "randint", "randperm", "normal")


@contextmanager
def _C_grad(is_on: bool) -> Iterator[None]:
    before = _C.is_grad_enabled()
    _C._set_grad_enabled(is_on)
    try:
        yield
    finally:
        _C._set_grad_enabled(before)


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for _, leaf in seam.parts(value) if isinstance(leaf, Tensor)]


class _Primitive(NamedTuple):
    name: str
    arguments: dict


def _outermost(calls: list[tuple], heard: list[_Heard]) -> list[_Entry]:
    """The operators that no other one called, each with the primitives that it called."""
    found: list[_Entry] = []
    told = iter(heard)
    pending = next(told, None)
    within: list[tuple] = []
    depth_of_one = None

    def close() -> None:
        if found:
            found[-1].inner.extend(_Primitive(n, a) for n, _, _, a in _topmost(within, "primitive"))
        within.clear()

    for call in calls:
        name, kind, depth, arguments = call
        if depth_of_one is not None and depth > depth_of_one:
            within.append(call)
            if (
                kind == "operator"
                and found[-1].heard is None
                and pending is not None
                and pending.name == name
            ):
                pending = next(told, None)  # an operator within one that no interceptor hears of
            continue
        close()
        depth_of_one = depth if kind in ("operator", "primitive") else None
        if depth_of_one is None:
            continue
        own = None
        hears = kind == "operator" and not seam.is_in_place(name, arguments)
        if hears and pending is not None and pending.name == name:
            own, pending = pending, next(told, None)
        found.append(_Entry(name, arguments, [], own))
    close()
    return found


def _logged(name: str, arguments: dict) -> tuple[Any, list[tuple]]:
    """The result of a call, and the calls within."""
    log = _C._CallLog()
    log.start()
    try:
        made = seam.perform(name, arguments)
    finally:
        log.stop()
    return made, log.entries()


def _topmost(calls: list[tuple], kind: str) -> list[tuple]:
    """The calls of a kind that are not within another one of it."""
    found, depth_of_one = [], None
    for call in calls:
        depth = call[2]
        if depth_of_one is not None and depth > depth_of_one:
            continue
        depth_of_one = depth if call[1] == kind else None
        if depth_of_one is not None and call[0] != "upload":  # of numbers that Python gives
            found.append(call)
    return found


def _plain(tensor: Tensor) -> Tensor:
    return tensor.as_subclass(Tensor) if isinstance(tensor, Example) else tensor


def _last_writes(entries: list[_Entry]) -> dict[int, int]:
    """For each storage that is written in place the place of the last entry that does."""
    found = {}
    for place, entry in enumerate(entries):
        if seam.is_in_place(entry.name, entry.arguments):
            found[_C._storage_key(next(iter(_tensors(entry.arguments))))] = place
    return found


def _results(entry: _Entry) -> tuple[list[tuple], list[tuple]]:
    """Where the results of a call stand: it is made again, and what lies behind its results is found among
    the arguments of the primitives that it calls, which are those that the first call had."""
    heard = entry.heard
    given = iter([t for t in heard.tensors if t is not None]) if heard else iter(())
    arguments = seam.mapped(lambda v: _plain(next(given, v)) if isinstance(v, Tensor) else v, entry.arguments)
    with _nobody_hears(), _C_grad(heard.records if heard else True):
        try:
            with shapes_only():
                made, calls = _logged(entry.name, arguments)
        except RuntimeError as error:
            if "shapes only" not in str(error):
                raise
            made, calls = _logged(entry.name, arguments)
    primitives = [(n, a) for n, kind, _, a in _topmost(calls, "primitive")]
    if [n for n, _ in primitives] != [p.name for p in entry.inner]:
        raise NotImplementedError(
            f"vmap: {entry.name}: a second call took another way: {[n for n, _ in primitives]} and "
            f"{[p.name for p in entry.inner]}"
        )
    flat = [leaf for _, leaf in seam.parts(made)]
    where = {}
    for path, value in seam.parts(arguments):
        if isinstance(value, Tensor):
            where.setdefault(_C._storage_key(value), ("argument", path))
    for number, (_, given_to) in enumerate(primitives):
        for path, value in seam.parts(given_to):
            if isinstance(value, Tensor):
                where.setdefault(_C._storage_key(value), (number, path))
    places = []
    for result in flat:
        place = where.get(_C._storage_key(result))
        if place is None:
            if result.numel() and entry.inner:
                raise NotImplementedError(f"vmap: {entry.name}: where its result lies is not known")
            if result.numel():
                return [], []  # nothing was computed: memory for results to come
            place = next(iter(where.values()))
        layout = tuple(result.shape), result.stride(), result.storage_offset(), result.dtype
        places.append((*place, layout))
    return places, [(tuple(r.shape), r.dtype) for r in flat]


@contextmanager
def _nobody_hears() -> Iterator[None]:
    """While an example's call is made a second time, of which no outer vmap shall hear."""
    trace = current()
    if trace is not None:
        trace._stop()
    _thread.trace = None
    _C._set_interceptor(
        lambda name, tensors: [None] * len(tensors)
    )  # an autocast outside casts batches alone
    try:
        yield
    finally:
        _C._set_interceptor(None)
        _thread.trace = trace
        if trace is not None:
            trace._start()


# ---- what is no operator


def leaf(tensor: Tensor) -> Tensor:
    """A leaf for the elements of a tensor: by it a derivative is taken."""
    trace = current()
    if trace is None:
        return tensor.detach().requires_grad_()
    trace.catch_up()
    with trace._outside():
        batch = leaf(trace.expanded(tensor).detach().clone())
    with trace.silent():
        example = tensor.detach().clone().requires_grad_().as_subclass(Example)
        trace._put(example, batch)
    return example


def alias(tensor: Tensor) -> Tensor:
    """That tensor as another one: derivatives by it are of what uses this one alone."""
    trace = current()
    if trace is None:
        return tensor.view_as(tensor)
    trace.catch_up()
    with trace._outside():
        batch = trace.expanded(tensor).clone()
    with trace.silent():
        example = tensor.clone().as_subclass(Example)
        trace._put(example, batch)
    return example


def gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor | None],
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool = True,
) -> list[Tensor | None]:
    """``autograd.grad``, None for inputs without influence; under vmap of every example at once."""
    trace = current()
    if trace is None:
        return list(_C.grad(outputs, inputs, weights, retain_graph, create_graph, allow_unused))
    trace.catch_up()
    with trace.silent():
        found = list(_C.grad(outputs, inputs, weights, retain_graph, create_graph, allow_unused))
    with trace._outside():
        batches = _gradients_of_batches(trace, outputs, inputs, weights, retain_graph, create_graph)
    with trace.silent():
        results = []
        for example, batch in zip(found, batches, strict=True):
            if example is not None:
                if batch is None:
                    batch = _C.zeros((trace.size, *example.shape), dtype=example.dtype, device=example.device)
                example = example.clone().as_subclass(Example)
                trace._put(example, batch)
            results.append(example)
    return results


def _gradients_of_batches(trace, outputs, inputs, weights, retain_graph, create_graph):
    weights = weights or [None] * len(outputs)
    behind = [[None if t is None else trace.batch_of(t) for t in ts] for ts in (outputs, inputs, weights)]
    if all(isinstance(t, Batched) for t in behind[1]):
        # What examples share is behind none of their inputs, so that one pass gives each its own gradient.
        scalars = [
            t if isinstance(t, Batched) else Batched(t.expand(trace.size, *t.shape)) for t in behind[0]
        ]
        given = [
            Batched(_C.ones_like(o.tensor)) if w is None else w
            for o, w in zip(scalars, behind[2], strict=True)
        ]
        given = [
            w.tensor if isinstance(w, Batched) else w.expand(o.tensor.shape)
            for o, w in zip(scalars, given, strict=True)
        ]
        return gradients(
            [o.tensor for o in scalars], [t.tensor for t in behind[1]], given, retain_graph, create_graph
        )
    if any(isinstance(t, Batched) for t in (*behind[0], *behind[1])):
        raise NotImplementedError("vmap: derivatives of batched results by tensors that are not batched")
    rows = []
    for i in range(trace.size):  # a graph outside of vmap: one pass for each example's weights
        chosen = [w.tensor.select(0, i) if isinstance(w, Batched) else w for w in behind[2]]
        keeps = True if i + 1 < trace.size else retain_graph
        rows.append(gradients(behind[0], behind[1], chosen, keeps, create_graph))
    return [None if column[0] is None else _C.stack(list(column)) for column in zip(*rows, strict=True)]


def opaque(function: Callable, *args: Any) -> Any:
    """``function(*args)`` of an operation that is no operator, under vmap of one example after another."""
    trace = current()
    if trace is None:
        return function(*args)
    if not any(isinstance(a, Example) for a in args):
        return function(*args)
    trace.catch_up()
    with trace._outside():
        behind = [trace.batch_of(a) if isinstance(a, Tensor) else a for a in args]
        rows = [
            opaque(function, *(a.tensor.select(0, i) if isinstance(a, Batched) else a for a in behind))
            for i in range(trace.size)
        ]
    single = not isinstance(rows[0], (tuple, list))
    columns = [rows] if single else list(zip(*rows, strict=True))
    with trace.silent():
        made = function(*(_plain(a) if isinstance(a, Tensor) else a for a in args))
    made = [made] if single else list(made)
    for place, column in enumerate(columns):
        if isinstance(column[0], Tensor):
            with trace._outside():
                batch = _C.stack(list(column))
            with trace.silent():
                made[place] = made[place].clone().as_subclass(Example)
                trace._put(made[place], batch)
    return made[0] if single else type(rows[0])(made)
