"""nll_loss, cross_entropy, mse_loss and l1_loss."""

import numpy as np
import pytest
from support import FLOATS, check_like_torch

import ocl

REDUCTIONS = ("none", "mean", "sum")
SHAPES = [(5,), (8, 10), (1, 1), (3, 7, 4), (2, 5, 6, 3), (130, 10), (4, 1003)]


def scores_and_target(shape, rng, ignored=False):
    classes = shape[0] if len(shape) == 1 else shape[1]
    target = rng.integers(0, classes, () if len(shape) == 1 else (shape[0], *shape[2:]))
    if ignored:
        target = np.where(rng.uniform(size=target.shape) < 0.4, 1, target)
        target.flat[0] = 0
    return rng.uniform(-3, 3, shape).astype(np.float32), np.asarray(target), classes


def class_loss(name, **options):
    def function(lib, scores, target, weight=None):
        given = (
            lib.nn.functional.log_softmax(scores, 0 if scores.ndim == 1 else 1)
            if name == "nll_loss"
            else scores
        )
        return getattr(lib.nn.functional, name)(
            given, target, weight if weight is None else weight.detach(), **options
        )

    return function


def check(name, rng, shape, weighted=False, ignored=False, dtype="float32", **options):
    scores, target, classes = scores_and_target(shape, rng, ignored)
    if ignored:
        options["ignore_index"] = 1
    arrays = [scores, target] + [rng.uniform(0.1, 2, classes).astype(np.float32)] * weighted
    check_like_torch(class_loss(name, **options), *arrays, dtype=dtype, unit="largest gradient", ulps=4)


@pytest.mark.oclgrind
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_class_indices(name, shape, reduction, rng):
    check(name, rng, shape, reduction=reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("shape", [(9, 10), (2, 5, 6, 3)], ids=str)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_weights_and_ignored_indices(name, shape, ignored, weighted, reduction, rng):
    check(name, rng, shape, weighted, ignored, reduction=reduction)


@pytest.mark.parametrize("smoothing", [0.1, 1.0])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(5,), (9, 10), (2, 5, 4, 3)], ids=str)
def test_label_smoothing(shape, weighted, reduction, smoothing, rng):
    check(
        "cross_entropy", rng, shape, weighted, len(shape) > 1, reduction=reduction, label_smoothing=smoothing
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_dtypes(name, dtype, rng):
    check(name, rng, (9, 10), weighted=True, ignored=True, dtype=dtype)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(5,), (9, 10), (2, 5, 4, 3)], ids=str)
def test_class_probabilities(shape, weighted, reduction, smoothing, rng):
    scores, _, classes = scores_and_target(shape, rng)
    probabilities = rng.uniform(0, 1, shape).astype(np.float32)

    def function(lib, scores, target, weight=None):
        detached = None if weight is None else weight.detach()
        return lib.nn.functional.cross_entropy(
            scores, target, detached, reduction=reduction, label_smoothing=smoothing
        )

    arrays = [scores, probabilities] + [rng.uniform(0.1, 2, classes).astype(np.float32)] * weighted
    check_like_torch(function, *arrays, unit="largest gradient", ulps=4)


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_everything_ignored(name):
    scores, target = ocl.ones(3, 4, requires_grad=True), ocl.full((3,), -100)
    loss = getattr(ocl, name)(scores, target)
    assert np.isnan(loss.item())
    assert getattr(ocl, name)(scores, target, reduction="sum").item() == 0
    getattr(ocl, name)(scores, target, reduction="sum").backward()
    assert not scores.grad.numpy().any()


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_empty_batch(name):
    for reduction in ("none", "sum", "mean"):
        loss = getattr(ocl, name)(ocl.ones(0, 4), ocl.full((0,), 1), reduction=reduction).numpy()
        assert {"none": loss.shape == (0,), "sum": (loss == 0).all(), "mean": np.isnan(loss).all()}[reduction]


def test_large_logits(rng):
    scores = np.float32([[1e4, -1e4, 0], [-1e4, 1e4, 3], [0, 0, 0]])
    check_like_torch(
        class_loss("cross_entropy", reduction="none"),
        scores,
        np.array([1, 1, 2]),
        unit="largest gradient",
        ulps=4,
    )


def test_views_as_inputs(rng):
    def flat(lib, scores, target):
        return lib.nn.functional.cross_entropy(scores.t(), target[:, 0])

    def plane(lib, scores, target):
        return lib.nn.functional.cross_entropy(
            scores.permute(0, 3, 1, 2), target.transpose(1, 2), reduction="none"
        )

    check_like_torch(
        flat,
        rng.uniform(-1, 1, (6, 4)).astype(np.float32),
        rng.integers(0, 6, (4, 3)),
        unit="largest gradient",
        ulps=4,
    )
    check_like_torch(
        plane,
        rng.uniform(-1, 1, (2, 4, 3, 5)).astype(np.float32),
        rng.integers(0, 5, (2, 3, 4)),
        unit="largest gradient",
        ulps=4,
    )


@pytest.mark.parametrize("bad", [10, -1, 2**40])
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_target_out_of_range(name, bad):
    scores = ocl.ones(4, 10, requires_grad=True)
    loss = getattr(ocl, name)(scores, ocl.tensor([0, 1, bad, 2]))
    with pytest.raises(IndexError, match=f"{name}.*out of range|{name}.*out of bounds"):
        loss.item()
    # The library goes on as if nothing had happened.
    ocl.synchronize()
    assert getattr(ocl, name)(scores, ocl.tensor([0, 1, 2, 9])).item() == pytest.approx(
        -1 if name == "nll_loss" else np.log(10)
    )


def test_target_out_of_range_is_raised_where_the_program_waits_next():
    ocl.cross_entropy(ocl.ones(2, 3), ocl.tensor([0, 3]))
    with pytest.raises(IndexError, match="cross_entropy"):
        ocl.synchronize()
    ocl.synchronize()
    assert ocl.ones(3).sum().item() == 3


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    "shapes", [((4, 5), (4, 5)), ((), ()), ((2, 3, 301), (2, 3, 301)), ((0, 2), (0, 2))], ids=str
)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss"])
def test_regression_losses(name, shapes, reduction, rng):
    arrays = [rng.uniform(-2, 2, shape).astype(np.float32) for shape in shapes]
    check_like_torch(
        lambda lib, a, b: getattr(lib.nn.functional, name)(a, b, reduction=reduction),
        *arrays,
        unit="largest gradient",
        ulps=4,
    )


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss"])
def test_regression_losses_in_float64(name, rng):
    arrays = [rng.uniform(-2, 2, (7, 9)).astype(np.float32) for _ in range(2)]
    check_like_torch(
        lambda lib, a, b: getattr(lib.nn.functional, name)(a, b),
        *arrays,
        dtype="float64",
        unit="largest gradient",
        ulps=4,
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda f: f(ocl.ones(2, 3), ocl.tensor([0])),
            ValueError,
            r"expected a target of shape \[2\].*got \[1\]",
        ),
        (
            lambda f: f(ocl.ones(2, 3), ocl.tensor([0, 1]).int()),
            TypeError,
            "expected a target of dtype int64, got int32",
        ),
        (
            lambda f: f(ocl.ones(2, 3), ocl.tensor([0, 1]), ocl.ones(2)),
            ValueError,
            "weight should be defined for all 3",
        ),
        (lambda f: f(ocl.ones(2, 3).int(), ocl.tensor([0, 1])), TypeError, "expected a floating dtype"),
        (lambda f: f(ocl.tensor(1.0), ocl.tensor(0)), ValueError, "expected scores of shape"),
        (
            lambda f: f(ocl.ones(2, 3), ocl.tensor([0, 1]), reduction="all"),
            ValueError,
            "all is not a valid value for reduction",
        ),
    ],
)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_errors(name, call, error, message):
    with pytest.raises(error, match=message):
        call(getattr(ocl, name))


def test_label_smoothing_out_of_range():
    with pytest.raises(ValueError, match="label_smoothing must be between 0.0 and 1.0"):
        ocl.cross_entropy(ocl.ones(2, 3), ocl.tensor([0, 1]), label_smoothing=1.5)
