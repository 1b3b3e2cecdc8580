"""Operators on boxes beyond random cases: thousands of boxes, boxes without area, errors, determinism."""

import box_references as reference
import numpy as np
import pytest
import torch
from comparisons import needs_torchvision
from support import skip_without
from validation.torchvision_files import load_torchvision

import ocl
from ocl import ops

NAN, INF = np.nan, np.inf


def random_boxes(rng, n, side=100.0, largest=30.0):
    corner = rng.uniform(0, side, (n, 2))
    return np.concatenate([corner, corner + rng.uniform(1, largest, (n, 2))], 1).astype(np.float32)


def ours(name, *arrays, **options):
    return getattr(ops, name)(*(ocl.tensor(a) if isinstance(a, np.ndarray) else a for a in arrays), **options)


def theirs(name, *arrays, **options):
    return getattr(reference, name)(
        *(torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arrays), **options
    )


@needs_torchvision("operators on boxes")
@pytest.mark.filterwarnings("ignore")
def test_the_references_are_torchvision():
    """Those of its functions that are written in Python, and roi_align within a picture, where its own is."""
    library = load_torchvision().ops
    rng = np.random.default_rng(0)
    a, b = (torch.from_numpy(random_boxes(rng, n)) for n in (9, 5))
    for fmt in ("xyxy", "xywh", "cxcywh"):
        torch.testing.assert_close(reference.box_iou(a, b, fmt), library.box_iou(a, b, fmt))
        torch.testing.assert_close(reference.box_area(a, fmt), library.box_area(a, fmt))
        for out in ("xyxy", "xywh", "cxcywh"):
            torch.testing.assert_close(reference.box_convert(a, fmt, out), library.box_convert(a, fmt, out))
    assert torch.equal(reference.clip_boxes_to_image(a, (50, 70)), library.clip_boxes_to_image(a, (50, 70)))
    assert torch.equal(reference.remove_small_boxes(a, 9), library.remove_small_boxes(a, 9))
    x = torch.from_numpy(rng.standard_normal((2, 3, 40, 50)).astype(np.float32))
    boxes = torch.cat([torch.tensor([[0.0], [1.0], [1.0]]), a[:3] / 4], 1)
    for ratio in (-1, 2):
        for aligned in (False, True):
            expected = torch_roi_align(x, boxes, 3, 4, ratio, aligned)
            actual = reference.roi_align(x, boxes, (3, 4), 1.0, ratio, aligned)
            torch.testing.assert_close(actual, expected)


def torch_roi_align(x, boxes, height, width, ratio, aligned):
    """torchvision's roi_align in Python, without its compiler."""
    from torchvision.ops import roi_align

    function = (
        roi_align._roi_align if hasattr(roi_align, "_roi_align") else roi_align.__globals__["_roi_align"]
    )
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function(x, boxes, 1.0, height, width, ratio, aligned)


@pytest.mark.parametrize("n", [3000, 12_000])  # the latter in several stretches of rows
def test_thousands_of_boxes(n):
    rng = np.random.default_rng(n)
    boxes, scores = random_boxes(rng, n, side=400.0), rng.random(n).astype(np.float32)
    kept = ours("nms", boxes, scores, 0.5).numpy()
    np.testing.assert_array_equal(kept, theirs("nms", boxes, scores, 0.5).numpy())
    assert 100 < len(kept) < n
    idxs = rng.integers(0, 5, n)
    kept = ours("batched_nms", boxes, scores, idxs, 0.5).numpy()
    np.testing.assert_array_equal(kept, theirs("batched_nms", boxes, scores, idxs, 0.5).numpy())


def test_ties_keep_the_first():
    boxes = np.tile(np.array([[0, 0, 4, 4]], np.float32), (70, 1))
    assert ours("nms", boxes, np.ones(70, np.float32), 0.5).tolist() == [0]
    assert ours("nms", boxes, np.ones(70, np.float32), 1.0).tolist() == list(range(70))
    # An overlap of one half exactly is not more than one half.
    pair = np.array([[0, 0, 2, 1], [0, 0, 1, 1]], np.float32)
    assert ours("nms", pair, np.array([1, 1], np.float32), 0.5).tolist() == [0, 1]
    assert ours("nms", pair, np.array([1, 1], np.float32), 0.4999999).tolist() == [0]


def test_a_threshold_between_two_floats():
    """0.7 lies between float32 numbers: overlaps of either are on the side of 0.7 itself."""
    pair = np.array([[0, 0, 10, 1], [0, 0, 7, 1]], np.float32)
    assert float(np.float32(0.7)) < 0.7
    assert ours("nms", pair, np.array([2, 1], np.float32), 0.7).tolist() == [0, 1]
    pair = np.array([[0, 0, 10, 1], [0, 0, 6, 1]], np.float32)
    assert float(np.float32(0.6)) > 0.6
    assert ours("nms", pair, np.array([2, 1], np.float32), 0.6).tolist() == [0]


def test_scores_and_boxes_that_are_no_numbers():
    boxes = np.array([[0, 0, 4, 4], [0, 0, 4, 4], [0, NAN, 4, 4], [0, 0, INF, 4], [0, 0, 4, 4]], np.float32)
    scores = np.array([1, NAN, 3, 4, INF], np.float32)
    for threshold in (0.0, 0.5):
        expected = theirs("nms", boxes, scores, threshold).tolist()
        assert ours("nms", boxes, scores, threshold).tolist() == expected
    assert ours("nms", boxes[:2], scores[:2], 0.5).tolist() == [1]  # NaN stands above all


def test_boxes_without_area():
    boxes = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [3, 3, 2, 2], [0, 0, 0, 5]], np.float32)
    scores = np.array([4, 3, 2, 1], np.float32)
    assert ours("nms", boxes, scores, 0.0).tolist() == theirs("nms", boxes, scores, 0.0).tolist()
    np.testing.assert_array_equal(
        ours("box_iou", boxes, boxes).numpy(), theirs("box_iou", boxes, boxes).numpy()
    )


@pytest.mark.parametrize("name", ["nms", "batched_nms"])
def test_no_boxes(name):
    empty = np.zeros((0, 4), np.float32), np.zeros(0, np.float32)
    idxs = (np.zeros(0, np.int64),) if name == "batched_nms" else ()
    kept = ours(name, *empty, *idxs, 0.5)
    assert (kept.shape, kept.dtype) == ((0,), ocl.int64)


def test_float64_decides_in_float64():
    skip_without("float64")
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 1 - 1e-12]])
    scores = np.array([1.0, 0.5])
    assert ours("nms", boxes, scores, 1 - 1e-11).tolist() == [0]
    assert ours("nms", boxes, scores, 1 - 1e-13).tolist() == [0, 1]


def test_tensors_with_strides():
    rng = np.random.default_rng(5)
    boxes, scores = random_boxes(rng, 60), rng.random(60).astype(np.float32)
    spread = ocl.tensor(np.ascontiguousarray(boxes.T)).t(), ocl.tensor(np.repeat(scores, 2))[::2]
    assert ops.nms(*spread, 0.3).tolist() == theirs("nms", boxes, scores, 0.3).tolist()


REGIONS = [
    [0, 2, 1, 9, 7],
    [0, -30, -30, -20, -20],  # beyond the planes
    [0, -3, -2, 30, 40],  # around them
    [0, 8, 7, 2, 3],  # the wrong way round
    [0, 4, 4, 4, 4],
    [0, -1e6, -1e6, 1e6, 1e6],
    [0, 9.5, 6.5, 11, 8],  # across the last elements
]


@pytest.mark.parametrize("ratio", [-1, 2])
@pytest.mark.parametrize("aligned", [False, True])
def test_regions_of_every_kind(ratio, aligned):
    rng = np.random.default_rng(6)
    x, boxes = rng.standard_normal((1, 10, 8, 11)).astype(np.float32), np.array(REGIONS, np.float32)
    if ratio < 0:
        boxes = np.delete(boxes, 5, 0)  # the reference would take all of its points
    actual, expected = ocl.tensor(x, requires_grad=True), torch.from_numpy(x).double().requires_grad_()
    y = ops.roi_align(actual, ocl.tensor(boxes), (3, 2), 1.0, ratio, aligned)
    truth = reference.roi_align(expected, torch.from_numpy(boxes), (3, 2), 1.0, ratio, aligned)
    np.testing.assert_allclose(y.detach().numpy(), truth.detach().numpy(), rtol=1e-5, atol=1e-5)
    g = rng.standard_normal(y.shape).astype(np.float32)
    y.backward(ocl.tensor(g))
    truth.backward(torch.from_numpy(g).double())
    np.testing.assert_allclose(actual.grad.numpy(), expected.grad.numpy(), rtol=1e-5, atol=1e-5)


def test_large_and_infinite_regions_end():
    x = ocl.tensor(np.ones((1, 2, 6, 6), np.float32), requires_grad=True)
    boxes = np.array(
        [[0, -1e9, -1e9, 1e9, 1e9], [0, 0, 0, INF, 3], [0, NAN, 0, 3, 3], [0, 0, 0, 6, 6]], np.float32
    )
    y = ops.roi_align(x, ocl.tensor(boxes), 2)
    assert y.detach().numpy()[1:3].max() == 0
    np.testing.assert_allclose(y.detach().numpy()[3], 1, rtol=1e-6)
    y.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_boxes_of_each_image():
    rng = np.random.default_rng(7)
    x, lists = (
        rng.standard_normal((3, 2, 9, 9)).astype(np.float32),
        [random_boxes(rng, n, 8, 5) for n in (2, 0, 3)],
    )
    numbers = np.repeat([0, 1, 2], [2, 0, 3])[:, None].astype(np.float32)
    together = np.concatenate([numbers, np.concatenate(lists)], 1)
    expected = ops.roi_align(ocl.tensor(x), ocl.tensor(together), 2)
    actual = ops.roi_align(ocl.tensor(x), [ocl.tensor(boxes) for boxes in lists], 2)
    np.testing.assert_array_equal(actual.numpy(), expected.numpy())
    assert ops.roi_align(ocl.tensor(x), [], (2, 3)).shape == (0, 2, 2, 3)


def test_gradients_repeat_to_the_bit():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((2, 5, 20, 20)).astype(np.float32)
    boxes = np.concatenate([rng.integers(0, 2, (200, 1)), random_boxes(rng, 200, 20, 15)], 1).astype(
        np.float32
    )

    def gradient():
        leaf = ocl.tensor(x, requires_grad=True)
        y = ops.roi_align(leaf, ocl.tensor(boxes), 7, 1.0, 2, True)
        (y * y).sum().backward()
        return leaf.grad.numpy()

    first = gradient()
    assert all((gradient() == first).all() for _ in range(3))


def test_a_number_of_no_image():
    x = ocl.ones(2, 1, 4, 4)
    for number in (2.0, -1.0, 7.0):
        y = ops.roi_align(x, ocl.tensor(np.array([[number, 0, 0, 2, 2]], np.float32)), 2)
        with pytest.raises(IndexError, match=f"roi_align: number of an image out of range: {int(number)}"):
            y.numpy()


def test_no_gradient_for_boxes():
    boxes = ocl.tensor(np.array([[0, 0, 0, 2, 2]], np.float32), requires_grad=True)
    assert not ops.roi_align(ocl.ones(1, 1, 4, 4), boxes, 2).requires_grad


FOUR, SCORES, PLANES = np.ones((3, 4), np.float32), np.ones(3, np.float32), np.ones((1, 2, 4, 4), np.float32)
REFUSED = [
    ("nms", (FOUR[:, :3], SCORES, 0.5), ValueError, r"nms: expected boxes \[N, 4\], got shape \[3, 3\]"),
    (
        "nms",
        (FOUR, SCORES[:2], 0.5),
        ValueError,
        r"nms: expected scores \[3\], one for each box, got shape \[2\]",
    ),
    ("nms", (FOUR, SCORES.astype(np.float16), 0.5), TypeError, "nms: expected boxes and scores of one dtype"),
    ("nms", (FOUR.astype(np.int32), SCORES.astype(np.int32), 0.5), TypeError, "nms: .*int32"),
    (
        "batched_nms",
        (FOUR, SCORES, np.ones(2, np.int64), 0.5),
        ValueError,
        r"batched_nms: expected idxs \[3\]",
    ),
    (
        "batched_nms",
        (FOUR, SCORES, SCORES, 0.5),
        TypeError,
        "batched_nms: expected an index of dtype int64 or int32",
    ),
    (
        "roi_align",
        (PLANES[0], np.ones((1, 5), np.float32), 2),
        ValueError,
        r"roi_align: expected an input \[N, C, H, W\]",
    ),
    ("roi_align", (PLANES, FOUR, 2), ValueError, r"roi_align: expected boxes \[K, 5\]"),
    (
        "roi_align",
        (PLANES, [ocl.ones(2, 5)], 2),
        ValueError,
        r"roi_align: expected boxes \[L, 4\] of each image",
    ),
    (
        "roi_align",
        (PLANES, np.ones((1, 5), np.float16), 2),
        TypeError,
        "of the input's dtype float32, got float16",
    ),
    (
        "roi_align",
        (PLANES, np.ones((1, 5), np.float32), (0, 2)),
        ValueError,
        r"positive output_size, got \(0, 2\)",
    ),
    ("roi_align", (PLANES[:, :, :0], np.ones((1, 5), np.float32), 2), ValueError, "planes with elements"),
    ("box_iou", (FOUR[:, :2], FOUR), ValueError, r"box_iou: expected boxes \[..., 4\], got shape \[3, 2\]"),
    ("box_iou", (FOUR[0], FOUR), ValueError, r"box_iou: expected boxes \[..., N, 4\]"),
    (
        "box_iou",
        (FOUR, FOUR, "xyxyxyxy"),
        ValueError,
        "box_iou: unsupported format 'xyxyxyxy', expected xyxy",
    ),
    ("box_area", (FOUR > 0,), TypeError, "box_area: expected numbers, got bool"),
    ("box_convert", (FOUR, "xyxy", "cxcywhr"), ValueError, "box_convert: unsupported format 'cxcywhr'"),
    ("clip_boxes_to_image", (SCORES, (2, 2)), ValueError, r"clip_boxes_to_image: expected boxes"),
    ("remove_small_boxes", (FOUR[None], 1.0), ValueError, r"remove_small_boxes: expected boxes \[N, 4\]"),
]


@pytest.mark.parametrize(("name", "arguments", "error", "message"), REFUSED)
def test_what_is_refused(name, arguments, error, message):
    with pytest.raises(error, match=message):
        ours(name, *arguments)
