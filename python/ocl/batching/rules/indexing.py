"""Reading and writing at places that tensors name."""

from __future__ import annotations

from typing import Any

from ocl import _C
from ocl._C import Tensor
from ocl.batching.rules import Batched, Call, rule
from ocl.batching.rules.dims import shift
from ocl.nn import functional
from ocl.seam import performing


def _raised(call: Call, *names: str) -> dict[str, Tensor]:
    """Those arguments as [B, ...], with a dimension where an example's have none."""
    found = {}
    for name in names:
        if isinstance(call[name], Tensor | Batched):
            batch = call.batch(name)
            found[name] = batch.unsqueeze(-1) if batch.dim() == 1 else batch
    return found


def _shaped(call: Call, made: Tensor) -> Tensor:
    return made.reshape(call.size, *call.expected[0][0])


@rule("gather", "scatter", "scatter_add", "scatter_reduce")
def along(call: Call) -> Any:
    names = [name for name in ("input", "index", "src") if name in call.arguments]
    tensors = _raised(call, *names)
    rank = tensors["input"].dim() - 1
    if "src" in tensors and call.is_batched("src") and call["src"].tensor.dim() == 1 and rank > 1:
        return NotImplemented
    return _shaped(call, call.again(**tensors, dim=shift(call["dim"], rank)))


@rule("scatter_", "scatter_add_")
def along_in_place(call: Call) -> Any:
    names = [name for name in ("input", "index", "src") if name in call.arguments]
    tensors = _raised(call, *names)
    call.again(**tensors, dim=shift(call["dim"], tensors["input"].dim() - 1))
    return None


@rule("take_along_dim")
def take_along_dim(call: Call) -> Any:
    x, indices = call.batch("input"), call.batch("indices")
    if call["dim"] is None:
        x, indices = x.reshape(call.size, -1), indices.reshape(call.size, -1)
        return _shaped(call, x.gather(1, indices))
    return call.again(input=x, indices=indices, dim=shift(call["dim"], x.dim() - 1))


@rule("take")
def take(call: Call) -> Any:
    x, index = call.batch("input").reshape(call.size, -1), call.batch("index")
    flat = index.reshape(call.size, -1)
    flat = _C.where(flat < 0, flat + x.shape[1], flat)
    return x.gather(1, flat).reshape(index.shape)


@rule("index_select")
def index_select(call: Call) -> Any:
    x, index = call["input"], call["index"]
    if not isinstance(index, Batched):
        batch = _raised(call, "input")["input"]
        return _shaped(call, call.again(input=batch, dim=shift(call["dim"], batch.dim() - 1)))
    places = index.tensor.reshape(call.size, -1)
    if not isinstance(x, Batched):
        x = x.reshape(1) if x.dim() == 0 else x
        dim = call["dim"] % x.dim()
        made = x.index_select(dim, places.reshape(-1))
        made = made.reshape(*x.shape[:dim], call.size, -1, *x.shape[dim + 1 :])
        return _shaped(call, made.movedim(dim, 0))
    batch = _raised(call, "input")["input"]
    dim = shift(call["dim"], batch.dim() - 1)
    at = places.reshape(call.size, *[1] * (dim - 1), -1, *[1] * (batch.dim() - dim - 1))
    sizes = [*batch.shape[:dim], places.shape[1], *batch.shape[dim + 1 :]]
    return _shaped(call, batch.gather(dim, at.expand(sizes)))


@rule("index_add", "index_copy", "index_fill", "index_reduce")
def indexed(call: Call) -> Any:
    if isinstance(call["index"], Batched):
        return NotImplemented
    if isinstance(call.get("value"), Batched):
        return NotImplemented
    names = [name for name in ("input", "source") if name in call.arguments]
    tensors = _raised(call, *names)
    rank = tensors["input"].dim() - 1
    return _shaped(call, call.again(**tensors, dim=shift(call["dim"], rank)))


@rule("index_add_", "index_copy_")
def indexed_in_place(call: Call) -> Any:
    if isinstance(call["index"], Batched):
        return NotImplemented
    tensors = _raised(call, "input", "source")
    call.again(**tensors, dim=shift(call["dim"], tensors["input"].dim() - 1))
    return None


@rule("embedding")
def embedding(call: Call) -> Any:
    if call.only("input"):
        return call.again()
    if not isinstance(call["weight"], Batched):
        return NotImplemented
    weight, padding = call["weight"].tensor, call["padding_idx"]
    rows = weight.shape[1]
    index = call.batch("input")
    first = _C.arange(call.size, device=weight.device).reshape(-1, *[1] * (index.dim() - 1)) * rows
    made = functional.embedding(index.long() + first, weight.reshape(call.size * rows, -1))
    if padding is not None:
        at_padding = (index == padding % rows).unsqueeze(-1)
        made = _C.where(at_padding, made.detach(), made)
    return made


@rule("one_hot")
def one_hot(call: Call) -> Any:
    return call.again(num_classes=call.expected[0][0][-1]) if call["num_classes"] > 0 else NotImplemented


def _explicit(items: list, rank: int) -> list:
    """One item for each dimension and new axis: without the ellipsis, and with masks as places."""
    used = sum(1 for i in items if i not in ("None", "...") if not isinstance(i, Tensor | Batched))
    used += sum(1 for i in items if isinstance(i, Tensor | Batched))
    rest = [":"] * (rank - used)
    at = next((n for n, i in enumerate(items) if isinstance(i, str) and i == "..."), None)
    return [*items, *rest] if at is None else [*items[:at], *rest, *items[at + 1 :]]


def _has_mask(items: list) -> bool:
    tensors = [i.tensor if isinstance(i, Batched) else i for i in items if isinstance(i, Tensor | Batched)]
    return any(t.dtype in (_C.bool_, _C.uint8) for t in tensors)


def _rank(value: Any) -> int:
    return value.tensor.dim() - 1 if isinstance(value, Batched) else value.dim()


def _batched_items(call: Call, items: list) -> list | None:
    """The items for a batch, the first of which is for its first dimension; None where there are none: the
    dimensions of index tensors go to the front where others stand between them, and the batch must stay
    there."""
    places = [n for n, i in enumerate(items) if isinstance(i, Tensor | Batched)]
    if not any(isinstance(items[n], Batched) for n in places):
        if places and _moves_to_front(items):
            return None
        return [":", *items]
    rank = max(_rank(items[n]) for n in places)
    made = []
    for item in items:
        if isinstance(item, Batched):
            item = item.tensor.reshape(call.size, *[1] * (rank - _rank(item)), *item.tensor.shape[1:])
        made.append(item)
    first = _C.arange(call.size, device=next(i.tensor for i in items if isinstance(i, Batched)).device)
    return [first.reshape(call.size, *[1] * rank), *made]


def _moves_to_front(items: list) -> bool:
    """Whether index tensors and whole numbers have something else between them."""
    places = [n for n, i in enumerate(items) if isinstance(i, Tensor | Batched | int)]
    tensors = [n for n, i in enumerate(items) if isinstance(i, Tensor | Batched)]
    return bool(tensors) and places[-1] - places[0] + 1 != len(places)


_NUMBERS = (
    "vmap: It looks like you're calling .item() on a Tensor: an index without dimensions is read as a "
    "number, and x[i] is a view of an x that all examples share. Use x.index_select(dim, i), or give x to "
    "the function as a batched argument"
)


@rule("index")
def index(call: Call) -> Any:
    items = call["items"]
    if _has_mask([i for i in items if isinstance(i, Batched)]):
        raise RuntimeError(
            "vmap: x[mask] has as many elements as the mask is true, which differs from example to example; "
            "this is not supported under vmap. Use ocl.where"
        )
    if _has_mask(items):
        return NotImplemented
    source = call["a"]
    rank = _rank(source)
    items = _explicit(items, rank)
    names_places = any(isinstance(i, Batched) for i in items)
    batched = _batched_items(call, items)
    if batched is None:
        return NotImplemented
    if not names_places:
        return source.tensor[performing.index_items(batched)]
    if not isinstance(source, Batched) and all(
        _rank(i) == 0 for i in items if isinstance(i, Tensor | Batched)
    ):
        raise RuntimeError(_NUMBERS)
    if isinstance(source, Batched):
        made = source.tensor[performing.index_items(batched)]
        places = [n for n, i in enumerate(items) if isinstance(i, Tensor | Batched | int)]
        in_front = _moves_to_front([0, *items]) if places else False
        return _fronted(call, items, made, in_front)
    made = source[performing.index_items(batched[1:])]
    return _fronted(call, items, made, _moves_to_front(items))


def _fronted(call: Call, items: list, made: Tensor, in_front: bool) -> Tensor | Any:
    """Brings the batch to the front, and the dimensions of the places to where an example has them."""
    count = max(_rank(i) for i in items if isinstance(i, Tensor | Batched))
    before = 0
    for item in items:
        if isinstance(item, Tensor | Batched | int):
            break
        before += 1
    here = 0 if in_front else before
    there = 0 if _moves_to_front(items) else before
    made = made.movedim(here, 0)  # the batch is the first of the places' dimensions
    if here != there and count:
        made = made.movedim(list(range(1, 1 + count)), list(range(1 + there, 1 + there + count)))
    return made if tuple(made.shape[1:]) == call.expected[0][0] else NotImplemented


@rule("index_put_")
def index_put(call: Call) -> Any:
    items, given = call["items"], call["given"]
    target = call["a"].tensor
    items = _explicit(items, target.dim() - 1) if not _has_mask(items) else items
    if _has_mask(items) or any(isinstance(i, Batched) for i in items) or _moves_to_front(items):
        return NotImplemented
    if isinstance(given, Batched):
        shape = target[performing.index_items([":", *items])].shape
        given = given.tensor.reshape(
            call.size, *[1] * (len(shape) - given.tensor.dim()), *given.tensor.shape[1:]
        )
    performing.perform(
        call.name, {"a": target, "items": [":", *items], "given": given, "accumulate": call["accumulate"]}
    )
    return None


@rule("searchsorted")
def searchsorted(call: Call) -> Any:
    x = call["input"]
    if not isinstance(x, Tensor | Batched) or call["sorter"] is not None or _rank(x) == 0:
        return NotImplemented
    if _rank(call["sorted_sequence"]) == 1 and not call.is_batched("sorted_sequence"):
        return call.again()
    if _rank(call["sorted_sequence"]) == 1:
        flat = call.batch("input").reshape(call.size, -1)
        return _shaped(call, call.again(input=flat.contiguous()))
    return call.again(sorted_sequence=call.batch("sorted_sequence"), input=call.batch("input"))


@rule("bucketize", "isin")
def of_shared_places(call: Call) -> Any:
    first = next(iter(call.arguments))
    return call.again() if call.only(first) else NotImplemented
