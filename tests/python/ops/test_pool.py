"""max_pool2d, avg_pool2d and adaptive_avg_pool2d."""

import numpy as np
import pytest
import torch
from support import FLOATS, assert_same, check_like_torch, small

import ocl


def uniform(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


MAX_CASES = {
    "2": ((2, 3, 8, 8), {"kernel_size": 2}),
    "2, odd size": ((2, 3, 9, 7), {"kernel_size": 2}),
    "3 stride 2 padding 1": ((2, 3, 11, 10), {"kernel_size": 3, "stride": 2, "padding": 1}),
    "overlapping": ((1, 2, 9, 9), {"kernel_size": 3, "stride": 1}),
    "not square": ((1, 2, 9, 13), {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 1)}),
    "dilation": ((2, 2, 12, 13), {"kernel_size": 3, "stride": 2, "dilation": (2, 3)}),
    "ceil": ((2, 2, 8, 9), {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
    "ceil with padding": ((1, 2, 7, 8), {"kernel_size": 3, "stride": 3, "padding": 1, "ceil_mode": True}),
    "ceil, a window that would start outside": (
        (1, 1, 5, 5),
        {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True},
    ),
    "stride beyond the kernel": ((1, 2, 13, 14), {"kernel_size": 2, "stride": 5}),
    "whole plane": ((2, 3, 5, 6), {"kernel_size": (5, 6)}),
    "1": ((1, 2, 3, 4), {"kernel_size": 1}),
    "no batch": ((3, 8, 8), {"kernel_size": 2}),
    "empty batch": ((0, 3, 8, 8), {"kernel_size": 2}),
    "many planes": ((16, 33, 26, 26), {"kernel_size": 2}),
}
AVERAGE_CASES = {name: case for name, case in MAX_CASES.items() if "dilation" not in case[1]} | {
    "padding not counted": ((2, 2, 9, 8), {"kernel_size": 3, "padding": 1, "count_include_pad": False}),
    "divisor": ((2, 2, 9, 8), {"kernel_size": 3, "stride": 2, "divisor_override": 7}),
    "ceil, padding not counted": (
        (1, 2, 8, 7),
        {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False},
    ),
}
CASES = {"max_pool2d": MAX_CASES, "avg_pool2d": AVERAGE_CASES}
POOLS = [(pool, name) for pool, cases in CASES.items() for name in cases]


@pytest.mark.parametrize(("pool", "name"), small(POOLS, lambda pool, name: name != "many planes"))
def test_pool(pool, name, rng):
    shape, options = CASES[pool][name]
    check_like_torch(
        lambda lib, x: getattr(lib.nn.functional, pool)(x, **options), uniform(rng, *shape), unit="sums"
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_dtypes_and_views(pool, dtype, rng):
    def function(lib, x):
        return getattr(lib.nn.functional, pool)(x.permute(0, 3, 1, 2)[:, :, 1:], 3, 2, 1).transpose(1, 3)

    check_like_torch(function, uniform(rng, 2, 10, 9, 4), dtype=dtype, unit="sums")


@pytest.mark.parametrize("name", MAX_CASES)
def test_indices(name, rng):
    shape, options = MAX_CASES[name]
    x = rng.integers(0, 4, shape).astype(np.float32)  # many equal ones: the first counts
    values, places = ocl.max_pool2d(ocl.tensor(x), return_indices=True, **options)
    expected = torch.nn.functional.max_pool2d(torch.tensor(x), return_indices=True, **options)
    assert_same(values, expected[0])
    assert_same(places, expected[1])


@pytest.mark.parametrize("padding", [0, 1])
def test_max_of_nan_and_infinities(padding):
    x = np.full((1, 1, 6, 6), -np.inf, np.float32)
    x[0, 0, 2, 3], x[0, 0, 5, 5], x[0, 0, 4, 0] = np.nan, np.inf, 1
    ours = ocl.max_pool2d(ocl.tensor(x), 2, padding=padding)
    assert_same(ours, torch.nn.functional.max_pool2d(torch.tensor(x), 2, padding=padding))


def test_gradients_of_overlapping_windows_add_up():
    x = ocl.tensor(np.float32([[[[0, 0, 0], [0, 9, 0], [0, 0, 0]]]]), requires_grad=True)
    ocl.max_pool2d(x, 2, 1).sum().backward()
    assert x.grad.numpy()[0, 0].tolist() == [[0, 0, 0], [0, 4, 0], [0, 0, 0]]


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((2, 3, 8, 8), 1),
        ((2, 3, 8, 8), 4),
        ((2, 3, 7, 9), (3, 5)),
        ((1, 2, 5, 4), (5, 4)),
        ((1, 2, 3, 3), (7, 5)),
        ((3, 6, 5), 2),
        ((2, 2, 13, 1), (4, 1)),
        ((0, 3, 4, 4), 2),
        ((8, 16, 7, 7), 1),
    ],
    ids=str,
)
def test_adaptive_average(shape, size, rng):
    check_like_torch(
        lambda lib, x: lib.nn.functional.adaptive_avg_pool2d(x, size), uniform(rng, *shape), unit="sums"
    )


SIZES_OF_ONE = {
    "avg_pool2d": lambda lib, x, w, one: lib.nn.functional.avg_pool2d(x, one(2), one(1), one(1)),
    "avg_pool2d, padding": lambda lib, x, w, one: lib.nn.functional.avg_pool2d(x, 2, padding=one(1)),
    "max_pool2d": lambda lib, x, w, one: lib.nn.functional.max_pool2d(x, one(2), one(1), one(1), one(1)),
    "conv2d": lambda lib, x, w, one: lib.nn.functional.conv2d(x, w, None, one(2), one(1), one(1)),
    "conv_transpose2d": lambda lib, x, w, one: lib.nn.functional.conv_transpose2d(
        x, w, None, one(2), one(1), one(1), 1, one(1)
    ),
    "avg_pool1d": lambda lib, x, w, one: lib.nn.functional.avg_pool1d(x[0], one(2), one(1), one(1)),
    "max_pool1d": lambda lib, x, w, one: lib.nn.functional.max_pool1d(x[0], one(2), one(1), one(1), one(1)),
    "adaptive_avg_pool1d": lambda lib, x, w, one: lib.nn.functional.adaptive_avg_pool1d(x[0], one(3)),
    "conv1d": lambda lib, x, w, one: lib.nn.functional.conv1d(
        x[:, :, 0], w[:, :, 0], None, one(2), one(1), one(1)
    ),
    "AvgPool2d": lambda lib, x, w, one: lib.nn.AvgPool2d(one(2), one(1), one(1))(x),
    "MaxPool2d": lambda lib, x, w, one: lib.nn.MaxPool2d(one(2), one(1), one(1))(x),
    "AvgPool1d": lambda lib, x, w, one: lib.nn.AvgPool1d(one(2), one(1), one(1))(x[0]),
}
WAYS_OF_ONE = {
    "tuple": lambda n: (n,),
    "list": lambda n: [n],
    "NumPy's": np.int64,
    "tuple of NumPy's": lambda n: (np.int32(n),),
}


@pytest.mark.parametrize("way", WAYS_OF_ONE)
@pytest.mark.parametrize("name", SIZES_OF_ONE)
def test_one_size_stands_for_all(name, way, rng):
    call, one = SIZES_OF_ONE[name], WAYS_OF_ONE[way]
    x, w = uniform(rng, 1, 2, 6, 7), uniform(rng, 2, 2, 3, 3)
    check_like_torch(lambda lib, x, w: call(lib, x, w, one) + 0 * w.sum(), x, w, unit="sums")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: ocl.max_pool2d(x, 0), ValueError, "max_pool2d: kernel"),
        (lambda x: ocl.max_pool2d(x, 2, 0), ValueError, "max_pool2d: .*stride"),
        (lambda x: ocl.max_pool2d(x, 2, padding=2), ValueError, "pad.* half"),
        (lambda x: ocl.max_pool2d(x, 2, padding=-1), ValueError, "padding|pad"),
        (lambda x: ocl.max_pool2d(x, 2, dilation=0), ValueError, "dilation"),
        (lambda x: ocl.max_pool2d(x, 9), ValueError, "too small"),
        (lambda x: ocl.max_pool2d(x[0, 0], 2), ValueError, r"\[C, H, W\]|3D|4D"),
        (lambda x: ocl.avg_pool2d(x, 2, divisor_override=0), ValueError, "divisor must be not zero"),
        (lambda x: ocl.avg_pool2d(x.int(), 2), TypeError, "avg_pool2d: expected a floating dtype"),
        (lambda x: ocl.max_pool2d(x.bool(), 2), TypeError, "max_pool2d: expected a dtype of real numbers"),
        (lambda x: ocl.adaptive_avg_pool2d(x, -1), ValueError, "output size must be non-negative"),
        (lambda x: ocl.avg_pool2d(x, (1, 2, 3)), TypeError, "must be int or tuple of 2 ints, not tuple of 3"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(ocl.ones(1, 2, 6, 6))


@pytest.mark.parametrize("lib", [ocl, torch], ids=["ocl", "torch"])
def test_places_that_were_written_give_no_gradient(lib):
    x = lib.rand(1, 1, 4, 4).requires_grad_()
    y, places = lib.nn.functional.max_pool2d(x, 2, return_indices=True)
    places.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation|written"):
        y.sum().backward()
