"""Cases of operators on boxes. PyTorch's side is box_references.py: it has no such functions itself."""

import box_references
import numpy as np

from cases.conv import one_or_tuple
from cases.harness import DENSE, Case, Input, cases, is_torch

FORMATS = ("xyxy", "xywh", "cxcywh")


def ops_of(lib):
    return box_references if is_torch(lib) else lib.ops


def boxes_of(draw, shape, fmt="xyxy", dtypes=("float32", "float32", "int64", "int32"), smooth=False):
    """Boxes with both sides: on quarters where they are floats, unless `smooth`."""
    dtype = "float32" if smooth else draw.choice(dtypes)
    low, sides = draw.rng.integers(-20, 60, (*shape, 2)), draw.rng.integers(1, 50, (*shape, 2))
    if smooth:
        low, sides = low + draw.rng.random(low.shape), sides + draw.rng.random(low.shape)
    second = {"xyxy": low + sides, "xywh": sides, "cxcywh": 2 * sides}[fmt]
    array = np.concatenate([low, second], -1) / (4 if dtype == "float32" else 1)
    return Input(array.astype(dtype), draw.choice(DENSE), draw.integer(0, 99))


@cases("box_area")
def box_area(draw):
    fmt = draw.choice(FORMATS)
    boxes = boxes_of(draw, draw.shape(1, 3, 5), fmt)
    return Case(lambda lib, b: ops_of(lib).box_area(b, fmt), boxes)


@cases("box_convert")
def box_convert(draw):
    in_fmt, out_fmt = draw.choice(FORMATS), draw.choice(FORMATS)
    boxes = boxes_of(draw, draw.shape(0, 3, 5), in_fmt)
    return Case(lambda lib, b: ops_of(lib).box_convert(b, in_fmt, out_fmt), boxes)


@cases("box_iou")
def box_iou(draw):
    fmt, lead, smooth = draw.choice(FORMATS), draw.choice([(), (), (2,)]), draw.chance(0.5)
    dtypes = (draw.choice(["float32", "int64", "int32"]),)
    counts = draw.integer(0, 7), draw.choice([0, 1, 3, 40])
    boxes = [boxes_of(draw, (*lead, n), fmt, dtypes, smooth) for n in counts]
    # On quarters boxes touch, and there the gradient has two sides.
    return Case(lambda lib, a, b: ops_of(lib).box_iou(a, b, fmt), *boxes, unit="largest", gradcheck=smooth)


@cases("clip_boxes_to_image")
def clip_boxes_to_image(draw):
    smooth = draw.chance(0.5)
    boxes = boxes_of(draw, draw.shape(0, 3, 6), smooth=smooth)
    size = draw.integer(1, 9), draw.integer(1, 9)
    # A corner on the border has a gradient of two sides.
    return Case(lambda lib, b: ops_of(lib).clip_boxes_to_image(b, size), boxes, gradcheck=smooth)


@cases("remove_small_boxes")
def remove_small_boxes(draw):
    boxes, least = boxes_of(draw, (draw.choice([0, 1, 7, 50]),)), draw.choice([0, 2, 5.25, 100])
    return Case(lambda lib, b: ops_of(lib).remove_small_boxes(b, least), boxes, backward=False)


def candidates(draw):
    """Boxes, many of them alike, and scores, some of them equal."""
    n = draw.choice([0, 1, 2, 31, 32, 33, 64, 65, 200, 500])
    boxes = boxes_of(draw, (n,), dtypes=("float32",))
    scores = draw.rng.integers(0, 40, n).astype(np.float32) / 8
    if draw.chance(0.2):
        scores[draw.rng.random(n) < 0.1] = np.nan
    return (
        boxes,
        Input(scores, draw.choice(DENSE), draw.integer(0, 99)),
        draw.choice([0.0, 0.1003, 0.5, 0.5503, 0.9007, 1.0]),
    )


@cases("nms")
def nms(draw):
    boxes, scores, threshold = candidates(draw)
    return Case(lambda lib, b, s: ops_of(lib).nms(b, s, threshold), boxes, scores, backward=False)


@cases("batched_nms")
def batched_nms(draw):
    boxes, scores, threshold = candidates(draw)
    idxs = draw.integers(scores.shape, -1, draw.choice([1, 3, 20]), draw.choice(["int64", "int32"]))
    return Case(
        lambda lib, b, s, i: ops_of(lib).batched_nms(b, s, i, threshold), boxes, scores, idxs, backward=False
    )


@cases("roi_align")
def roi_align(draw):
    """Boxes within the planes, across their border, beyond it, and without area."""
    n, c, h, w = draw.integer(1, 3), draw.choice([1, 2, 9]), draw.size(12), draw.size(12)
    scale = draw.choice([1.0, 0.5, 0.25, 2.0])
    k = draw.choice([0, 1, 2, 2, 5, 12])
    corner = draw.rng.integers(-3 * h, 6 * h + 6, (k, 2)), draw.rng.integers(-2, 6 * h + 6, (k, 2))
    quarters = np.concatenate([draw.rng.integers(0, n, (k, 1)) * 4, corner[0], corner[0] + corner[1]], 1)
    x = draw.floats((n, c, h, w))
    size = one_or_tuple(draw, [draw.integer(1, 4), draw.integer(1, 4)])
    ratio, aligned = draw.choice([-1, 0, 1, 2, 3]), draw.chance(0.5)

    def function(lib, x, quarters):
        boxes = quarters.to(x.dtype) / 4  # as whole numbers they get no gradient in either library
        return ops_of(lib).roi_align(x, boxes, size, scale, ratio, aligned)

    return Case(function, x, draw.integers((k, 5), 0, 1) if k == 0 else Input(quarters), unit="sums")
