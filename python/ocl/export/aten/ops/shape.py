"""Views, copies, joining, padding, and conversions of dtypes."""

import ocl
from ocl.export.aten.table import operator, operators

F = ocl.nn.functional

operators(
    "shape",
    {
        "aten.view.default": ocl.reshape,
        "aten.reshape.default": ocl.reshape,
        "aten._unsafe_view.default": ocl.reshape,
        "aten.permute.default": ocl.permute,
        "aten.transpose.int": ocl.transpose,
        "aten.t.default": ocl.t,
        "aten.unsqueeze.default": ocl.unsqueeze,
        "aten.squeeze.default": ocl.squeeze,
        "aten.squeeze.dim": ocl.squeeze,
        "aten.squeeze.dims": ocl.squeeze,
        "aten.select.int": ocl.select,
        "aten.cat.default": ocl.cat,
        "aten.stack.default": ocl.stack,
        "aten.split.Tensor": ocl.split,
        "aten.split_with_sizes.default": ocl.split,
        "aten.chunk.default": ocl.chunk,
        "aten.unbind.int": ocl.unbind,
        "aten.flip.default": ocl.flip,
        "aten.roll.default": ocl.roll,
        "aten.diagonal.default": ocl.diagonal,
        "aten.tril.default": ocl.tril,
        "aten.triu.default": ocl.triu,
        "aten.pixel_shuffle.default": ocl.pixel_shuffle,
        "aten.pixel_unshuffle.default": ocl.pixel_unshuffle,
        "aten.channel_shuffle.default": ocl.channel_shuffle,
        "aten.col2im.default": F.fold,
        "aten.im2col.default": F.unfold,
        "aten.unfold.default": ocl.Tensor.unfold_dimension,
        "aten.flatten.using_ints": ocl.flatten,
        "aten.unflatten.int": ocl.unflatten,
        "aten.select_scatter.default": ocl.select_scatter,
        "aten.diagonal_scatter.default": ocl.diagonal_scatter,
        "aten.detach.default": ocl.Tensor.detach,
        "aten.clone.default": ocl.clone,
        "aten.lift_fresh_copy.default": ocl.clone,
    },
)


@operator("aten.alias.default aten.lift_fresh.default aten.contiguous.default")
def same(x):
    return x


@operator("aten.expand.default")
def expand(x, size):
    return x.expand(size)


@operator("aten.repeat.default")
def repeat(x, repeats):
    return x.repeat(repeats)


@operator("aten.slice.Tensor")
def slice_of(x, dim=0, start=None, end=None, step=1):
    places = [slice(None)] * x.ndim
    places[dim] = slice(start, end, step)
    return x[tuple(places)]


@operator("aten.slice_scatter.default")
def slice_scatter(x, source, dim=0, start=None, end=None, step=1):
    return ocl.slice_scatter(x, source, dim, start, end, step)


@operator("aten._to_copy.default")
def to_copy(x, *, dtype=None):
    return x.clone() if dtype in (None, x.dtype) else x.to(dtype)


@operator("aten.to.dtype")
def to_dtype(x, dtype, copy=False):
    return x.clone() if copy and dtype == x.dtype else x.to(dtype)


@operator("aten.to.dtype_layout")
def to_dtype_layout(x, *, dtype=None, copy=False):
    return to_dtype(x, x.dtype if dtype is None else dtype, copy)


@operator("aten.type_as.default")
def type_as(x, other):
    return x.to(other.dtype)


@operator("aten.copy.default")
def copy(x, source):
    return source.to(x.dtype).expand(x.shape).clone()


@operator("aten.constant_pad_nd.default")
def constant_pad(x, padding, value=0):
    return F.pad(x, padding, "constant", value)


@operator("aten.reflection_pad1d.default aten.reflection_pad2d.default aten.reflection_pad3d.default")
def reflection_pad(x, padding):
    return F.pad(x, padding, "reflect")


@operator("aten.replication_pad1d.default aten.replication_pad2d.default aten.replication_pad3d.default")
def replication_pad(x, padding):
    return F.pad(x, padding, "replicate")


def _strided(node) -> str:
    return "" if node.args[0].meta["val"].is_contiguous() else "of a tensor that is not contiguous"


@operator("aten.as_strided.default", refuses=_strided)
def as_strided(x, size, stride, offset=None):
    return ocl.as_strided(x.contiguous(), size, stride, 0 if offset is None else offset)


@operator("aten._assert_tensor_metadata.default")
def assert_metadata(x, *args, **kwargs):
    """Nothing to do: shapes and dtypes of the inputs imply all that the exporter saw."""
