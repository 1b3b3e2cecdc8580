"""Collectives by torch.distributed's names, on the groups of the C++ library."""

import pickle

import numpy as np

import ocl
from ocl._C._distributed import ReduceOp

from .groups import of

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "gather",
    "irecv",
    "isend",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "send",
]


def _done(work, async_op):
    if async_op:
        return work
    work.wait()


def _rank_in(group, rank, function):
    """The number in `group` of a process that is named by its number in ``group.WORLD``."""
    try:
        return group.global_ranks().index(rank)
    except ValueError:
        raise ValueError(f"{function}: rank {rank} is not in the group {group.global_ranks()}") from None


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduces `tensor` over the group, in place: ((rank 0 + rank 1) + rank 2) + …, the same bits on all."""
    return _done(of(group, "all_reduce").all_reduce(tensor, op), async_op)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None, async_op=False):
    """Like all_reduce, for rank `dst` alone; the tensors of others stay as they are."""
    chosen = of(group, "reduce")
    return _done(chosen.reduce(tensor, _rank_in(chosen, dst, "reduce"), op), async_op)


def broadcast(tensor, src, group=None, async_op=False):
    """Gives all processes the elements of rank `src`'s `tensor`."""
    chosen = of(group, "broadcast")
    return _done(chosen.broadcast(tensor, _rank_in(chosen, src, "broadcast")), async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Every process's `tensor`, in the order of ranks, into the tensors of a list."""
    return _done(of(group, "all_gather").all_gather(list(tensor_list), tensor), async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """Like all_gather, into one tensor that holds the results one after another."""
    chosen = of(group, "all_gather_into_tensor")
    parts = _parts("all_gather_into_tensor", output_tensor, [input_tensor.numel()] * chosen.size())
    return _done(chosen.all_gather(parts, input_tensor.reshape(-1)), async_op)


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    """Like all_gather, for rank `dst` alone, which gives the list."""
    chosen = of(group, "gather")
    outputs = [] if gather_list is None else list(gather_list)
    return _done(chosen.gather(outputs, tensor, _rank_in(chosen, dst, "gather")), async_op)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    """The tensors of rank `src`'s list to one process each, into `tensor`."""
    chosen = of(group, "scatter")
    inputs = [] if scatter_list is None else list(scatter_list)
    return _done(chosen.scatter(tensor, inputs, _rank_in(chosen, src, "scatter")), async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduces the lists of all processes element by element; rank i gets the i-th result in `output`."""
    chosen = of(group, "reduce_scatter")
    if len(input_list) != chosen.size():
        raise ValueError(f"reduce_scatter: {len(input_list)} inputs for {chosen.size()} ranks")
    joined = ocl.cat([one.detach().reshape(-1) for one in input_list])
    return _done(chosen.reduce_scatter(output, joined, op), async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):  # noqa: A002
    """Like reduce_scatter, of one tensor that holds the inputs one after another."""
    return _done(of(group, "reduce_scatter_tensor").reduce_scatter(output, input, op), async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Sends the i-th input to rank i, and receives its input for this process as the i-th output."""
    chosen = of(group, "all_to_all")
    return _done(chosen.all_to_all(list(output_tensor_list), list(input_tensor_list)), async_op)


def all_to_all_single(
    output,
    input,
    output_split_sizes=None,
    input_split_sizes=None,
    group=None,
    async_op=False,  # noqa: A002
):
    """Like all_to_all, of tensors that are split along their first dimension: evenly, or as the sizes say."""
    chosen = of(group, "all_to_all_single")

    def split(tensor, sizes, name):
        rows = tensor.shape[0] if tensor.dim() else 0
        if not sizes:
            if rows % chosen.size():
                raise ValueError(
                    f"all_to_all_single: {rows} rows of {name} do not divide by {chosen.size()} ranks"
                )
            sizes = [rows // chosen.size()] * chosen.size()
        if len(sizes) != chosen.size() or sum(sizes) != rows:
            raise ValueError(
                f"all_to_all_single: {name}_split_sizes {list(sizes)} for {rows} rows, {chosen.size()} ranks"
            )
        each = tensor.numel() // rows if rows else 0
        return _parts("all_to_all_single", tensor, [size * each for size in sizes])

    outputs, inputs = split(output, output_split_sizes, "output"), split(input, input_split_sizes, "input")
    return _done(chosen.all_to_all(outputs, inputs), async_op)


def _parts(function, tensor, sizes):
    """Views of a contiguous tensor's elements."""
    if tensor.numel() != sum(sizes):
        raise ValueError(f"{function}: a tensor of {tensor.numel()} elements, expected {sum(sizes)}")
    if not tensor.is_contiguous():
        raise ValueError(f"{function}: expected a contiguous tensor, got strides {tensor.stride()}")
    flat, first, parts = tensor.detach().view(-1), 0, []
    for size in sizes:
        parts.append(flat[first : first + size])
        first += size
    return parts


def send(tensor, dst, group=None, tag=0):
    """Sends `tensor` to rank `dst`, which receives it. Returns when it has left this process."""
    isend(tensor, dst, group, tag).wait()


def recv(tensor, src, group=None, tag=0):
    """Receives what rank `src` sends into `tensor`; the rank."""
    irecv(tensor, src, group, tag).wait()
    return src


def isend(tensor, dst, group=None, tag=0):
    """Like send, without waiting; a work."""
    chosen = of(group, "send")
    return chosen.send(tensor, _rank_in(chosen, dst, "send"), tag)


def irecv(tensor, src, group=None, tag=0):
    """Like recv, without waiting; a work."""
    if src is None:
        raise ValueError("recv: expected the rank that sends")
    chosen = of(group, "recv")
    return chosen.recv(tensor, _rank_in(chosen, src, "recv"), tag)


def barrier(group=None):
    """Returns when all processes have come here."""
    of(group, "barrier").barrier()


def _padded(data, length):
    return data + b"\0" * (length - len(data))


def all_gather_object(object_list, obj, group=None):
    """Every process's object, pickled, in the order of ranks into a list of that length."""
    chosen = of(group, "all_gather_object")
    if len(object_list) != chosen.size():
        raise ValueError(f"all_gather_object: a list of {len(object_list)} for {chosen.size()} ranks")
    own = pickle.dumps(obj)
    lengths = np.frombuffer(b"".join(chosen.all_gather_bytes(np.int64(len(own)).tobytes())), np.int64)
    for i, data in enumerate(chosen.all_gather_bytes(_padded(own, int(lengths.max())))):
        object_list[i] = pickle.loads(data[: lengths[i]])


def broadcast_object_list(object_list, src=0, group=None):
    """Gives all processes the objects of rank `src`'s list, pickled."""
    chosen = of(group, "broadcast_object_list")
    root = _rank_in(chosen, src, "broadcast_object_list")
    all_lists = [None] * chosen.size()
    all_gather_object(all_lists, list(object_list) if chosen.rank() == root else None, chosen)
    object_list[:] = all_lists[root]
