"""conv2d: forward and all three gradients."""

import numpy as np
import pytest
from support import check_like_torch, small

import ocl


def uniform(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def check(rng, x, weight, bias=True, dtype="float32", **options):
    arrays = [uniform(rng, *x), uniform(rng, *weight)] + ([uniform(rng, weight[0])] if bias else [])
    check_like_torch(
        lambda lib, *tensors: lib.nn.functional.conv2d(*tensors, **options), *arrays, dtype=dtype, unit="sums"
    )


CASES = {
    "3x3": ((2, 3, 9, 11), (4, 3, 3, 3), {}),
    "1x1": ((2, 5, 7, 6), (8, 5, 1, 1), {}),
    "padding": ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": 1}),
    "padding pair": ((1, 2, 6, 9), (3, 2, 3, 5), {"padding": (0, 2)}),
    "padding beyond the kernel": ((1, 1, 3, 3), (1, 1, 2, 2), {"padding": 3}),
    "stride": ((2, 3, 11, 12), (4, 3, 3, 3), {"stride": 2}),
    "stride pair": ((2, 3, 11, 12), (4, 3, 3, 3), {"stride": (3, 1), "padding": (1, 0)}),
    "stride beyond the kernel": ((1, 2, 12, 13), (3, 2, 2, 2), {"stride": 4}),
    "dilation": ((2, 2, 12, 13), (3, 2, 3, 3), {"dilation": 2}),
    "dilation pair": ((1, 2, 14, 9), (3, 2, 3, 2), {"dilation": (3, 2), "stride": 2, "padding": 2}),
    "groups": ((2, 6, 7, 8), (4, 3, 3, 3), {"groups": 2}),
    "depthwise": ((2, 5, 9, 8), (5, 1, 3, 3), {"groups": 5, "padding": 1}),
    "depthwise with a multiplier": ((1, 3, 9, 8), (6, 1, 3, 3), {"groups": 3, "stride": 2}),
    "not square": ((1, 3, 5, 17), (2, 3, 1, 7), {"padding": (0, 3)}),
    "kernel of the input's size": ((3, 4, 5, 6), (7, 4, 5, 6), {}),
    "one channel": ((3, 1, 28, 28), (32, 1, 3, 3), {}),
    "many channels": ((2, 33, 6, 6), (65, 33, 3, 3), {"padding": 1}),
    "7x7 stride 2": ((1, 3, 33, 31), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
    "one pixel": ((2, 3, 1, 1), (4, 3, 1, 1), {}),
    "empty batch": ((0, 3, 6, 6), (4, 3, 3, 3), {}),
}


LARGE = ("one channel", "many channels", "7x7 stride 2")


@pytest.mark.parametrize("case", small(CASES, lambda case: case not in LARGE))
def test_geometries(case, rng):
    x, weight, options = CASES[case]
    check(rng, x, weight, **options)


@pytest.mark.parametrize("case", ["3x3", "dilation pair", "depthwise", "stride"])
def test_float64(case, rng):
    x, weight, options = CASES[case]
    check(rng, x, weight, dtype="float64", **options)


def test_without_bias(rng):
    check(rng, (2, 3, 9, 8), (4, 3, 3, 3), bias=False, padding=1)


@pytest.mark.parametrize("seed", range(30))
def test_random_geometries(seed):
    rng = np.random.default_rng(seed)
    groups = int(rng.choice([1, 1, 2, 3]))
    kernel, stride, dilation = rng.integers(1, 5, 2), rng.integers(1, 4, 2), rng.integers(1, 4, 2)
    padding = rng.integers(0, 4, 2)
    least = np.maximum(dilation * (kernel - 1) + 1 - 2 * padding, 1)
    size = least + rng.integers(0, 14, 2)
    channels, features = groups * rng.integers(1, 7), groups * rng.integers(1, 9)
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    options = {name: tuple(map(int, pair)) for name, pair in options.items()}
    x = (int(rng.integers(1, 4)), int(channels), *map(int, size))
    check(
        rng,
        x,
        (int(features), int(channels) // groups, *map(int, kernel)),
        bias=seed % 2 == 0,
        groups=groups,
        **options,
    )


def test_views_as_inputs(rng):
    def function(lib, x, w, b):
        y = lib.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.transpose(2, 3)[:, 1:], b[::2], padding=1)
        return y.transpose(1, 2)

    check_like_torch(
        function, uniform(rng, 2, 7, 6, 3), uniform(rng, 4, 4, 3, 2), uniform(rng, 8), unit="sums"
    )


def test_one_image_without_a_batch(rng):
    check(rng, (3, 9, 8), (4, 3, 3, 3), stride=2)


def test_gradients_of_constant_inputs_are_left_out(rng):
    x, w = ocl.tensor(uniform(rng, 1, 2, 5, 5)), ocl.tensor(uniform(rng, 3, 2, 3, 3), requires_grad=True)
    ocl.conv2d(x, w).sum().backward()
    assert x.grad is None and w.grad.shape == (3, 2, 3, 3)


def test_nan_stays_in_its_window(rng):
    x, w = uniform(rng, 1, 2, 9, 9), uniform(rng, 3, 2, 3, 3)
    x[0, 1, 4, 4] = np.nan
    y = ocl.conv2d(ocl.tensor(x), ocl.tensor(w), padding=1).numpy()
    expected = np.zeros((9, 9), bool)
    expected[3:6, 3:6] = True
    np.testing.assert_array_equal(np.isnan(y[0]), np.broadcast_to(expected, (3, 9, 9)))


X, W = (1, 4, 5, 5), (2, 4, 3, 3)


@pytest.mark.parametrize(
    ("x", "weight", "options", "message"),
    [
        (X, (2, 3, 3, 3), {}, r"expected input\[1, 4, 5, 5\] to have 3 channels, but got 4"),
        ((4,), W, {}, "expected a 4D input"),
        (X, (2, 4, 3), {}, "expected a 4D weight"),
        (X, (2, 4, 6, 6), {}, "Kernel size can't be greater than actual input size"),
        (X, W, {"dilation": 3}, "Kernel size can't be greater than actual input size"),
        (X, W, {"stride": 0}, "non-positive stride"),
        (X, W, {"padding": -1}, "negative padding"),
        (X, W, {"dilation": (1, 0)}, "dilation should be greater than zero"),
        (X, W, {"groups": 0}, "non-positive groups"),
        (X, (3, 2, 3, 3), {"groups": 2}, "expected weight to be divisible by 2"),
        (X, W, {"bias": (3,)}, r"expected bias of shape \[2\]"),
    ],
)
def test_wrong_shapes(x, weight, options, message):
    if "bias" in options:
        options = {"bias": ocl.ones(options["bias"])}
    with pytest.raises(ValueError, match=f"conv2d: .*{message}"):
        ocl.conv2d(ocl.ones(x), ocl.ones(weight), **options)


def test_wrong_types():
    with pytest.raises(TypeError, match="conv2d: expected a floating dtype"):
        ocl.conv2d(ocl.ones(X).bool(), ocl.ones(W).bool())
    with pytest.raises(TypeError, match="input is float32 but weight is int64"):
        ocl.conv2d(ocl.ones(X), ocl.ones(W).long())
    with pytest.raises((TypeError, ValueError), match="bias"):
        ocl.conv2d(ocl.ones(X), ocl.ones(W), ocl.ones(2).long())
    with pytest.raises(TypeError, match="argument 'stride' must be int or tuple of 2 ints, not tuple of 3"):
        ocl.conv2d(ocl.ones(X), ocl.ones(W), stride=(1, 2, 3))
