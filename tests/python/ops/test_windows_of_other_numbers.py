"""Convolution, pooling and their kin of whole numbers, truths and complex numbers."""

import itertools

import numpy as np
import pytest
import torch

import ocl
from ocl.nn import functional as F

WHOLE = ("uint8", "int8", "int16", "int32", "int64")
SHAPES = {1: (2, 4, 13), 2: (2, 4, 9, 10), 3: (2, 4, 5, 6, 7)}


def extremes(rng, dtype, shape):
    """Numbers over the whole range of a dtype, its ends among them."""
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values.flat[::7], values.flat[1::7] = info.min, info.max
    return values


def compare(call, *arrays):
    """Both libraries' results of the call, whose dtypes and elements are equal."""
    ours = call(ocl, *(ocl.tensor(a) for a in arrays))
    theirs = call(torch, *(torch.tensor(a) for a in arrays))
    several = isinstance(theirs, tuple)
    for a, b in zip(ours if several else [ours], theirs if several else [theirs], strict=True):
        assert str(a.dtype).split(".")[1] == str(b.dtype).split(".")[1]
        np.testing.assert_array_equal(a.numpy(), b.numpy())


POOLS = (
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "stride": 1, "ceil_mode": True},
    {"kernel_size": 2, "stride": 3, "dilation": 2, "padding": 1},
)


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("dims", (2, 3))
def test_max_pool(rng, dtype, dims):
    x = extremes(rng, dtype, SHAPES[dims])
    name = f"max_pool{dims}d"
    for options in POOLS:
        compare(lambda lib, x, o=options: getattr(lib.nn.functional, name)(x, **o), x)


@pytest.mark.parametrize("dtype", WHOLE)
def test_max_pool_of_lines(rng, dtype):
    """PyTorch has planes and volumes of whole numbers."""
    x = extremes(rng, dtype, SHAPES[1])
    for options in POOLS:
        lines = F.max_pool1d(ocl.tensor(x), **options).numpy()
        sides = {"kernel_size": (1, options["kernel_size"]), "stride": (1, options.get("stride", 2))}
        sides |= {"padding": (0, options.get("padding", 0)), "dilation": (1, options.get("dilation", 1))}
        sides["ceil_mode"] = options.get("ceil_mode", False)
        planes = torch.nn.functional.max_pool2d(torch.tensor(x)[:, :, None], **sides)
        np.testing.assert_array_equal(lines, planes[:, :, 0].numpy())


@pytest.mark.parametrize("dtype", ("int32", "int64"))
def test_places_of_maxima(rng, dtype):
    x = rng.integers(-3, 3, SHAPES[2]).astype(dtype)
    for options in POOLS:
        ours = F.max_pool2d(ocl.tensor(x), return_indices=True, **options)
        theirs = F_of_floats(x, options)
        np.testing.assert_array_equal(ours[0].numpy(), theirs[0].numpy().astype(dtype))
        np.testing.assert_array_equal(ours[1].numpy(), theirs[1].numpy())


def F_of_floats(x, options):  # noqa: N802  (PyTorch gives no places of whole numbers)
    return torch.nn.functional.max_pool2d(torch.tensor(x).double(), return_indices=True, **options)


def test_max_pool_of_a_view(rng):
    x = extremes(rng, "int16", (2, 9, 10, 4))
    compare(lambda lib, x: lib.nn.functional.max_pool2d(x.permute(0, 3, 1, 2)[..., ::2], 2), x)


@pytest.mark.parametrize("dims", SHAPES)
def test_avg_pool(rng, dims):
    x = rng.integers(-1000, 1000, SHAPES[dims])
    x.flat[:3] = 2**60, 2**60 + 1, -(2**61)
    name = f"avg_pool{dims}d"
    for options in (*POOLS[:3], {"kernel_size": 3, "padding": 1, "count_include_pad": False}):
        compare(lambda lib, x, o=options: getattr(lib.nn.functional, name)(x, **o), x)
    if dims > 1:
        compare(lambda lib, x: getattr(lib.nn.functional, name)(x, 2, divisor_override=3), x)


CONVOLUTIONS = (
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2},
    {"groups": 4, "stride": 3},
)


@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("dims", SHAPES)
def test_convolution_wraps_around(rng, dtype, dims):
    x = extremes(rng, dtype, SHAPES[dims])
    name = f"conv{dims}d"
    for options in CONVOLUTIONS:
        groups = options.get("groups", 1)
        weight = extremes(rng, dtype, (8, 4 // groups) + (3, 2, 2)[-dims:])
        bias = extremes(rng, dtype, (8,))
        for given in ((x, weight, bias), (x, weight)):
            ours = getattr(F, name)(*map(ocl.tensor, given), **options)
            wide = [torch.tensor(a).long() for a in given]  # PyTorch dilates int64 alone
            theirs = getattr(torch.nn.functional, name)(*wide, **options).numpy().astype(dtype)
            assert ours.numpy().dtype == dtype
            np.testing.assert_array_equal(ours.numpy(), theirs)


@pytest.mark.parametrize("dims", SHAPES)
def test_transposed_convolution_of_whole_numbers(rng, dims):
    x = extremes(rng, "int64", SHAPES[dims])
    name = f"conv_transpose{dims}d"
    for options in (*CONVOLUTIONS, {"stride": 2, "output_padding": 1}):
        groups = options.get("groups", 1)
        weight = extremes(rng, "int64", (4, 8 // groups) + (3, 2, 2)[-dims:])
        bias = extremes(rng, "int64", (8,))
        for given in ((x, weight, bias), (x, weight)):
            compare(lambda lib, *t, o=options: getattr(lib.nn.functional, name)(*t, **o), *given)


def test_padding_by_a_word_and_no_batch(rng):
    x, weight = extremes(rng, "int32", (4, 9, 10)), extremes(rng, "int32", (5, 4, 3, 2))
    for padding in ("same", "valid"):
        compare(lambda lib, x, w, p=padding: lib.nn.functional.conv2d(x, w, padding=p), x, weight)


def test_convolutions_of_nothing():
    weight = np.ones((5, 4, 2, 2), "int64")
    for n in ("conv2d", "conv_transpose2d"):
        kernel = weight if n == "conv2d" else weight.swapaxes(0, 1)
        compare(
            lambda lib, x, w, n=n: getattr(lib.nn.functional, n)(x, w), np.ones((0, 4, 6, 6), "int64"), kernel
        )


def complex_numbers(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex128)


@pytest.mark.parametrize("name", ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d"])
def test_complex_convolution(rng, name):
    dims = int(name[-2])
    weight_shape = (4, 2) if "transpose" in name else (8, 2)
    arrays = (
        complex_numbers(rng, *SHAPES[dims]),
        complex_numbers(rng, *weight_shape, *(3, 2, 2)[-dims:]),
        complex_numbers(rng, 4 if "transpose" in name else 8),
    )
    found = []
    for lib in (ocl, torch):
        given = [lib.tensor(a, requires_grad=True) for a in arrays]
        y = getattr(lib.nn.functional, name)(*given, stride=2, padding=1, groups=2)
        y.abs().square().sum().backward()
        found.append([y.detach().numpy(), *(g.grad.numpy() for g in given)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


def test_unfold_and_fold_of_truths_and_complex_numbers(rng):
    options = {"kernel_size": 3, "dilation": 2, "padding": 1, "stride": 2}
    for x in (rng.random((2, 3, 9, 8)) < 0.5, complex_numbers(rng, 2, 3, 9, 8)):
        compare(lambda lib, x: lib.nn.functional.unfold(x, **options), x)
        columns = torch.nn.functional.unfold(torch.tensor(x), **options).numpy()
        ours = F.fold(ocl.tensor(columns), (9, 8), **options)
        theirs = torch.nn.functional.fold(torch.tensor(columns), (9, 8), **options)
        assert ours.numpy().dtype == x.dtype
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-13)


@pytest.mark.parametrize("dtype", WHOLE)
def test_poisson_loss_of_whole_numbers(rng, dtype):
    x, target = rng.integers(0, 5, (3, 4)).astype(dtype), rng.integers(0, 9, (3, 4)).astype(dtype)
    for log_input, full in itertools.product((True, False), repeat=2):
        given = {"log_input": log_input, "full": full}
        ours = F.poisson_nll_loss(ocl.tensor(x), ocl.tensor(target), **given)
        theirs = torch.nn.functional.poisson_nll_loss(torch.tensor(x), torch.tensor(target), **given)
        assert ours.dtype == ocl.float32 and theirs.dtype == torch.float32
        np.testing.assert_allclose(ours.item(), theirs.item(), rtol=1e-6)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: F.max_pool2d(x.bool(), 2), "max_pool2d: expected a dtype of real numbers, got bool"),
        (lambda x: F.max_pool2d(x.to(ocl.complex64), 2), "max_pool2d: not implemented for complex numbers"),
        (lambda x: F.adaptive_max_pool2d(x.int(), 2), "adaptive_max_pool2d: expected a floating dtype"),
        (lambda x: F.adaptive_avg_pool2d(x.long(), 2), "adaptive_avg_pool2d: expected a floating dtype"),
        (lambda x: F.avg_pool2d(x.int(), 2), "avg_pool2d: expected a floating dtype, got int32"),
        (lambda x: F.conv2d(x.bool(), x.bool()), "conv2d: expected a floating dtype, got bool"),
        (lambda x: F.conv2d(x.int(), x.long()), "conv2d: input is int32 but weight is int64"),
        (lambda x: F.conv2d(x.to(ocl.complex64), x), "conv2d: expected input, weight and bias of one dtype"),
        (lambda x: F.unfold(x.long(), 2), "unfold: expected a floating dtype, got int64"),
        (lambda x: F.poisson_nll_loss(x.bool(), x), "poisson_nll_loss: expected real numbers, got bool"),
    ],
)
def test_dtypes_without_a_meaning(call, words):
    with pytest.raises(TypeError, match=words):
        call(ocl.ones(1, 1, 3, 3))
