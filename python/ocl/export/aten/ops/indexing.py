"""Elements by their places."""

import math

import ocl
from ocl.export.aten.table import first_alone, operator, operators

F = ocl.nn.functional

operators(
    "indexing",
    {
        "aten.gather.default": ocl.gather,
        "aten.index_select.default": ocl.index_select,
        "aten.scatter.src": ocl.scatter,
        "aten.scatter.value": ocl.scatter,
        "aten.scatter_add.default": ocl.scatter_add,
        "aten.scatter_reduce.two": ocl.scatter_reduce,
        "aten.index_add.default": ocl.index_add,
        "aten.index_copy.default": ocl.index_copy,
        "aten.index_reduce.default": ocl.index_reduce,
        "aten.index_fill.int_Scalar": ocl.index_fill,
        "aten.index_fill.int_Tensor": ocl.index_fill,
        "aten.masked_fill.Scalar": ocl.masked_fill,
        "aten.masked_fill.Tensor": ocl.masked_fill,
        "aten.masked_select.default": ocl.masked_select,
        "aten.masked_scatter.default": ocl.masked_scatter,
        "aten.take.default": ocl.take,
        "aten.nonzero.default": ocl.nonzero,
        "aten.bucketize.Tensor": ocl.bucketize,
        "aten.bincount.default": ocl.bincount,
        "aten.isin.Tensor_Tensor": ocl.isin,
        "aten.isin.Tensor_Scalar": ocl.isin,
        "aten.repeat_interleave.self_int": ocl.repeat_interleave,
        "aten.repeat_interleave.self_Tensor": ocl.repeat_interleave,
        "aten.one_hot.default": F.one_hot,
    },
)


def _places(indices) -> tuple:
    return tuple(slice(None) if each is None else each for each in indices)


@operator("aten.index.Tensor")
def index(x, indices):
    return x[_places(indices)]


def _integers(x, indices) -> list:
    """Indices with integers in place of masks, and None for each dimension that has no index."""
    found = []
    for each in indices:
        if each is not None and each.dtype == ocl.bool_:
            found += list(ocl.nonzero(each).unbind(1))
        else:
            found.append(each)
    return found + [None] * (x.ndim - len(found))


@operator("aten.index_put.default aten._unsafe_index_put.default")
def index_put(x, indices, values, accumulate=False):
    if not accumulate:
        y = x.clone()
        y[_places(indices)] = values
        return y
    found = _integers(x, indices)
    chosen = [i for i, each in enumerate(found) if each is not None]
    kept = [i for i, each in enumerate(found) if each is None]
    order = chosen + kept
    turned = x.permute(order)
    rows = [x.shape[i] for i in chosen]
    rest = [x.shape[i] for i in kept]
    places = ocl.broadcast_tensors(*(found[i] for i in chosen))
    flat = 0
    for size, each in zip(rows, places, strict=True):
        flat = flat * size + ocl.where(each < 0, each + size, each)
    values = values.to(x.dtype).expand(_indexed_shape(x, found, places[0].shape))
    if chosen[-1] - chosen[0] + 1 == len(chosen):  # the indices' dimensions lie where the first of them was
        lead = chosen[0]
        moved = list(range(lead, lead + places[0].ndim))
        others = [i for i in range(values.ndim) if i not in moved]
        values = values.permute(moved + others)
    table = turned.reshape([math.prod(rows), *rest])
    added = ocl.index_add(table, 0, flat.reshape([-1]), values.reshape([-1, *rest]))
    return added.reshape([*rows, *rest]).permute(sorted(range(x.ndim), key=order.__getitem__))


def _indexed_shape(x, found, shape) -> list[int]:
    """The shape of ``x[indices]``."""
    chosen = [i for i, each in enumerate(found) if each is not None]
    kept = [x.shape[i] for i, each in enumerate(found) if each is None]
    lead = chosen[0] if chosen[-1] - chosen[0] + 1 == len(chosen) else 0
    return [*kept[:lead], *shape, *kept[lead:]]


@operator("aten.embedding.default")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return F.embedding(indices, weight, None if padding_idx < 0 else padding_idx)


_BAG_MODES = ("sum", "mean", "max")


@operator(
    "aten._embedding_bag.default aten._embedding_bag_forward_only.default aten.embedding_bag.padding_idx "
    "aten.embedding_bag.default",
    refuses=first_alone,
)
def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    weights=None,
    last=False,
    padding=-1,
):
    padding = None if padding is None or padding < 0 else padding
    return (
        F.embedding_bag(
            indices,
            weight,
            offsets,
            mode=_BAG_MODES[mode],
            per_sample_weights=weights,
            include_last_offset=last,
            padding_idx=padding,
        ),
        None,
        None,
        None,
    )


@operator("aten.searchsorted.Tensor aten.searchsorted.Scalar")
def searchsorted(sequence, value, *, out_int32=False, right=False, side=None, sorter=None):
    return ocl.searchsorted(sequence, value, out_int32=out_int32, right=right, side=side, sorter=sorter)


def _unique(x, inverse: bool, counts: bool, **options) -> tuple:
    """The distinct elements, and places and counts where they are asked for."""
    found = ocl.unique(x, return_inverse=inverse, return_counts=counts, **options)
    found = list(found) if inverse or counts else [found]
    return found.pop(0), found.pop(0) if inverse else None, found.pop(0) if counts else None


@operator("aten._unique2.default")
def unique(x, sorted=True, return_inverse=False, return_counts=False):  # noqa: A002  (PyTorch's name)
    return _unique(x, return_inverse, return_counts)


@operator("aten.unique_dim.default")
def unique_dim(x, dim, sorted=True, return_inverse=False, return_counts=False):  # noqa: A002
    return _unique(x, return_inverse, return_counts, dim=dim)
