"""Shapes: views, parts, joins, copies along dimensions."""

import math

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import integers, scalar

F = ocl.nn.functional


@operator("Identity", until=25, either=(0,))
def identity(call, x):
    return x


@operator("Shape", until=25, folds=False, either=(0,))
def shape(call, x):
    start, end = call.get("start", 0), call.get("end")
    return np.array(tuple(x.shape)[start:end], np.int64)


@operator("Size", until=25, folds=False, either=(0,))
def size(call, x):
    return np.array(math.prod(x.shape), np.int64)


@operator("Reshape", until=25, host=(1,))
def reshape(call, x, sizes):
    sizes = integers(sizes)
    if not call.get("allowzero", 0):
        sizes = [x.shape[i] if each == 0 else each for i, each in enumerate(sizes)]
    return x.reshape(sizes)


@operator("Flatten", until=25)
def flatten(call, x):
    axis = call.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape([math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])


@operator("Transpose", until=25)
def transpose(call, x):
    return x.permute(call.get("perm", list(reversed(range(x.ndim)))))


def _axes(call, axes) -> list[int] | None:
    axes = axes if call.version >= 13 else call.get("axes")
    return None if axes is None else integers(axes)


@operator("Squeeze", until=25, host=(1,))
def squeeze(call, x, axes=None):
    axes = _axes(call, axes)
    if axes is None:
        return x.squeeze()
    axes = {axis % x.ndim for axis in axes}
    if any(x.shape[axis] != 1 for axis in axes):
        raise ValueError(f"axes {sorted(axes)} of shape {tuple(x.shape)} are not all of size 1")
    return x.reshape([each for i, each in enumerate(x.shape) if i not in axes])


@operator("Unsqueeze", until=25, host=(1,))
def unsqueeze(call, x, axes=None):
    axes = _axes(call, axes)
    for axis in sorted(axis % (x.ndim + len(axes)) for axis in axes):
        x = x.unsqueeze(axis)
    return x


@operator("Concat")
def concat(call, *inputs):
    return ocl.cat(list(inputs), call["axis"])


@operator("Split", host=(1,))
def split(call, x, sizes=None):
    axis = call.get("axis", 0)
    sizes = sizes if call.version >= 13 else call.get("split")
    if sizes is None:
        parts = call.get("num_outputs", call.outputs)
        part = -(-x.shape[axis] // parts)
        sizes = [part] * (parts - 1) + [x.shape[axis] - part * (parts - 1)]
    return tuple(ocl.split(x, integers(sizes), axis))


@operator("Slice", host=(1, 2, 3, 4))
def slices(call, x, starts=None, ends=None, axes=None, steps=None):
    if call.version < 10:
        starts, ends, axes = call["starts"], call["ends"], call.get("axes")
    starts, ends = integers(starts), integers(ends)
    axes = list(range(len(starts))) if axes is None else integers(axes)
    steps = [1] * len(starts) if steps is None else integers(steps)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        x = _slice(x, axis % x.ndim, range(*slice(start, end, step).indices(x.shape[axis])))
    return x


def _slice(x, axis: int, places: range):
    if len(places) == 0:
        return x.narrow(axis, 0, 0)
    first, last = min(places[0], places[-1]), max(places[0], places[-1])
    if last - first + 1 < x.shape[axis]:
        x = x.narrow(axis, first, last - first + 1)
    if places.step < 0 and len(places) > 1:
        x = ocl.flip(x, [axis])
    if abs(places.step) == 1 or len(places) == 1:
        return x
    return x[(slice(None),) * axis + (slice(None, None, abs(places.step)),)]


@operator("Expand", host=(1,))
def expand(call, x, sizes):
    return x.expand(np.broadcast_shapes(tuple(x.shape), tuple(integers(sizes))))


@operator("Tile", host=(1,))
def tile(call, x, repeats):
    return ocl.tile(x, integers(repeats))


@operator("Pad", until=25, host=(1, 2, 3))
def pad(call, x, pads=None, value=None, axes=None):
    if call.version < 11:
        pads, value = call["pads"], call.get("value", 0.0)
    pads = integers(pads)
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in integers(axes)]
    around = dict(zip(axes, zip(pads[: len(axes)], pads[len(axes) :], strict=True), strict=True))
    mode = call.get("mode", "constant")
    if mode == "constant":
        flat = [each for axis in reversed(range(x.ndim)) for each in around.get(axis, (0, 0))]
        return F.pad(x, flat, value=scalar(value, 0))
    for axis, (before, after) in around.items():
        if before or after:
            kept = np.arange(x.shape[axis])[max(-before, 0) : x.shape[axis] - max(-after, 0)]
            places = np.pad(kept, (max(before, 0), max(after, 0)), mode=mode)
            x = ocl.index_select(x, axis, call.tensor(places))
    return x


@operator("DepthToSpace", until=28)
def depth_to_space(call, x):
    n, c, h, w = x.shape
    block = call["blocksize"]
    if call.get("mode", "DCR") == "CRD":
        return F.pixel_shuffle(x, block)
    x = x.reshape([n, block, block, c // block**2, h, w]).permute([0, 3, 4, 1, 5, 2])
    return x.reshape([n, c // block**2, h * block, w * block])


@operator("SpaceToDepth", until=28)
def space_to_depth(call, x):
    n, c, h, w = x.shape
    block = call["blocksize"]
    x = x.reshape([n, c, h // block, block, w // block, block])
    order = [0, 1, 3, 5, 2, 4] if call.get("mode", "DCR") == "CRD" else [0, 3, 5, 1, 2, 4]
    return x.permute(order).reshape([n, c * block**2, h // block, w // block])


@operator("CenterCropPad", host=(1,))
def center_crop_pad(call, x, sizes):
    sizes = integers(sizes)
    for axis, size in zip(call.get("axes", list(range(x.ndim))), sizes, strict=True):
        axis, have = axis % x.ndim, x.shape[axis]
        if size < have:
            x = x.narrow(axis, (have - size) // 2, size)
        elif size > have:
            before = (size - have) // 2
            flat = [0, 0] * (x.ndim - 1 - axis) + [before, size - have - before]
            x = F.pad(x, flat)
    return x


@operator("Trilu", host=(1,))
def trilu(call, x, k=None):
    return (ocl.triu if call.get("upper", 1) else ocl.tril)(x, scalar(k, 0))


@operator("ReverseSequence", until=28, host=(1,))
def reverse_sequence(call, x, lengths):
    time, batch = call.get("time_axis", 0), call.get("batch_axis", 1)
    places = np.tile(np.arange(x.shape[time]), (x.shape[batch], 1))
    for row, length in zip(places, integers(lengths), strict=True):
        row[:length] = row[:length][::-1]
    places = places if batch < time else places.T
    sizes = [each if i in (time, batch) else 1 for i, each in enumerate(x.shape)]
    return ocl.take_along_dim(x, call.tensor(places.reshape(sizes)).expand(x.shape), time)


@operator("Col2Im", host=(1, 2))
def col2im(call, x, image, block):
    image, block = integers(image), integers(block)
    rank = len(image)
    pads = call.get("pads", [0] * 2 * rank)
    strides, dilations = call.get("strides", [1] * rank), call.get("dilations", [1] * rank)
    padded = [
        size + before + after for size, before, after in zip(image, pads[:rank], pads[rank:], strict=True)
    ]
    places = np.zeros([1] * 2 * rank, np.int64)  # [block..., windows...] in the flattened padded picture
    for i in range(rank):
        taps = np.arange(block[i]) * dilations[i]
        firsts = np.arange(0, padded[i] - taps[-1], strides[i])
        shape = [block[i] if j == i else len(firsts) if j == rank + i else 1 for j in range(2 * rank)]
        places = places * padded[i] + (taps[:, None] + firsts).reshape(shape)
    n, channels = x.shape[0], x.shape[1] // math.prod(block)
    y = ocl.zeros(n, channels, math.prod(padded), dtype=x.dtype, device=x.device)
    y = ocl.index_add(y, 2, call.tensor(places.reshape(-1)), x.reshape([n, channels, -1]))
    y = y.reshape([n, channels, *padded])
    for i in range(rank):
        y = y.narrow(2 + i, pads[i], image[i])
    return y
