"""Every bit of what the calls of int8 compute, beside integers in NumPy."""

import zlib

import int8_reference as reference
import numpy as np
import pytest

import ocl

int8 = ocl._C._quantization


def numbers(random, *shape):
    """All numbers of int8, its ends more often than others."""
    drawn = random.integers(-128, 128, shape)
    ends = random.random(shape)
    return np.where(ends < 0.1, -128, np.where(ends > 0.9, 127, drawn)).astype(np.int8)


def tensor(array):
    return None if array is None else ocl.tensor(array)


def draw_format(random):
    return float(random.uniform(0.002, 0.2)), int(random.integers(-128, 128))


def draw_result(random, scale):
    low, high = sorted(int(n) for n in random.integers(-128, 128, 2))
    bounds = (-128, 127) if random.random() < 0.5 else (low, high)
    return (float(scale * random.uniform(0.3, 3)), int(random.integers(-128, 128)), *bounds)


@pytest.fixture
def random(request):
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


CONVOLUTIONS = {
    # x, weight, stride, padding, dilation, groups
    "products": ((2, 3, 9, 11), (5, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "one_by_one": ((3, 7, 5, 5), (13, 7, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "one_place": ((1, 5, 1, 1), (9, 5, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "strided": ((2, 4, 13, 10), (17, 4, 3, 5), (2, 3), (1, 2), (1, 1), 1),
    "strided_one_by_one": ((2, 6, 9, 8), (11, 6, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    "dilated": ((1, 3, 15, 17), (8, 3, 3, 3), (2, 1), (3, 2), (2, 3), 1),
    "grouped": ((2, 12, 7, 7), (18, 4, 3, 3), (1, 1), (1, 1), (1, 1), 3),
    "depthwise": ((2, 19, 9, 7), (19, 1, 3, 3), (1, 1), (1, 1), (1, 1), 19),
    "depthwise_wide": ((1, 3, 40, 70), (3, 1, 5, 5), (1, 1), (2, 2), (1, 1), 3),
    "depthwise_strided": ((2, 6, 11, 14), (12, 1, 3, 3), (2, 2), (1, 1), (1, 2), 6),
    "padding_beyond": ((1, 2, 2, 2), (3, 2, 3, 3), (1, 1), (4, 5), (1, 1), 1),
    "many_panels": ((2, 70, 40, 37), (33, 70, 3, 3), (1, 1), (1, 1), (1, 1), 1),
}


@pytest.mark.parametrize("implementation", ["cpu_products", "cpu_depthwise", "direct"])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_conv2d(random, case, implementation):
    x_shape, w_shape, stride, padding, dilation, groups = CONVOLUTIONS[case]
    x, weight = numbers(random, *x_shape), numbers(random, *w_shape)
    x_format, addend_format = draw_format(random), draw_format(random)
    sums = reference.conv2d_sums(x, x_format[1], weight, stride, padding, dilation, groups)
    scales = random.uniform(0.001, 0.01, w_shape[0]).astype(np.float32)
    result = draw_result(random, sums.std() * x_format[0] * 0.005 / 60)
    bias = random.normal(size=w_shape[0]).astype(np.float32) * np.float32(20 * result[0])
    for with_bias, with_addend in ((True, True), (False, False)):
        b = bias if with_bias else None
        addend = numbers(random, *sums.shape) if with_addend else None
        expected = reference.results_of_sums(sums, x_format, scales, b, addend, addend_format, result)
        with ocl.implementations.using(f"int8_conv2d={implementation}"):
            y = int8.conv2d(
                tensor(x), x_format, tensor(weight), tensor(scales), tensor(b), tensor(addend), addend_format,
                stride, padding, dilation, groups, result,
            )  # fmt: skip
        np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 1, 1), (5, 67, 13), (33, 512, 10), (2, 3000, 9)])
def test_linear(random, rows, inputs, outputs):
    x, weight = numbers(random, rows, inputs), numbers(random, outputs, inputs)
    x_format, addend_format = draw_format(random), draw_format(random)
    sums = (x.astype(np.int64) - x_format[1]) @ weight.T.astype(np.int64)
    scales = random.uniform(0.001, 0.01, outputs).astype(np.float32)
    result = draw_result(random, max(sums.std(), 100) * x_format[0] * 0.005 / 60)
    bias = random.normal(size=outputs).astype(np.float32) * np.float32(20 * result[0])
    addend = numbers(random, rows, outputs)
    expected = reference.results_of_sums(sums, x_format, scales, bias, addend, addend_format, result)
    y = int8.linear(
        tensor(x),
        x_format,
        tensor(weight),
        tensor(scales),
        tensor(bias),
        tensor(addend),
        addend_format,
        result,
    )
    np.testing.assert_array_equal(y.numpy(), expected)


def test_sums_as_large_as_they_come_are_exact():
    """65,536 products of the ends of int8: the least sum that int32 has to hold."""
    x, weight = np.full((1, 65536), 127, np.int8), np.full((1, 65536), -128, np.int8)
    y = int8.linear(
        tensor(x), (1.0, -128), tensor(weight), tensor(np.ones(1, np.float32)), None, None, (1.0, 0),
        (2.0**25, 0, -128, 127),
    )  # fmt: skip
    assert y.item() == round(-(65536 * 255 * 128) / 2**25)
    with pytest.raises(ValueError, match="sums of 65537 products, at most 65536"):
        int8.linear(
            ocl.zeros(1, 65537, dtype=ocl.int8), (1.0, 0), ocl.zeros(1, 65537, dtype=ocl.int8), ocl.ones(1),
            None, None, (1.0, 0), (1.0, 0, -128, 127),
        )  # fmt: skip


@pytest.mark.parametrize("count", [1, 16, 37, 1000])
def test_quantize_and_dequantize(random, count):
    format = draw_format(random)
    x = (random.normal(size=count) * 200 * format[0]).astype(np.float32)
    inverse = np.float32(1 / np.float64(np.float32(format[0])))
    q = int8.quantize(tensor(x), format)
    np.testing.assert_array_equal(q.numpy(), reference.finished(x * inverse, (*format, -128, 127)))
    expected = (q.numpy().astype(np.int32) - format[1]).astype(np.float32) * np.float32(format[0])
    np.testing.assert_array_equal(int8.dequantize(q, format).numpy(), expected)


def test_quantize_takes_halves_to_the_even_and_saturates():
    x = tensor(
        np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e9, -1e9, np.inf, -np.inf, np.nan, 126.5, 127.5], np.float32)
    )
    q = int8.quantize(x, (1.0, 0)).numpy().tolist()
    assert q == [0, 2, 2, 0, -2, 127, -128, 127, -128, -128, 126, 127]


@pytest.mark.parametrize("has_second", [False, True])
@pytest.mark.parametrize("count", [1, 16, 45, 3000])
def test_add(random, count, has_second):
    a, b = numbers(random, count), numbers(random, count) if has_second else None
    a_format, b_format = draw_format(random), draw_format(random)
    result = draw_result(random, a_format[0] + b_format[0])
    t = (a.astype(np.int32) - a_format[1]).astype(np.float32) * reference.ratio(a_format, result)
    if has_second:
        t = t + (b.astype(np.int32) - b_format[1]).astype(np.float32) * reference.ratio(b_format, result)
    y = int8.add(tensor(a), a_format, tensor(b), b_format, result)
    np.testing.assert_array_equal(y.numpy(), reference.finished(t, result))


@pytest.mark.parametrize(
    ("size", "window"),
    [
        ((7, 9), ((3, 3), (2, 2), (1, 1), (1, 1))),
        ((12, 8), ((2, 3), (1, 2), (0, 1), (2, 1))),
        ((5, 5), ((5, 5), (1, 1), (0, 0), (1, 1))),
    ],
)
def test_max_pool2d(random, size, window):
    x = numbers(random, 2, 5, *size)
    y = int8.max_pool2d(tensor(x), *window)
    np.testing.assert_array_equal(y.numpy(), reference.max_pool2d(x, *window))


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 9), (10, 11)])
def test_adaptive_avg_pool2d(random, size):
    x = numbers(random, 3, 5, 7, 9)
    format = draw_format(random)
    result = draw_result(random, format[0])
    y = int8.adaptive_avg_pool2d(tensor(x), format, size, result)
    np.testing.assert_array_equal(y.numpy(), reference.adaptive_avg_pool2d(x, format, size, result))


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ((0.0, 0), "expected a positive scale of the result, got 0"),
        ((-1.0, 0), "expected a positive scale"),
        ((float("nan"), 0), "expected a positive scale"),
        ((float("inf"), 0), "expected a positive scale"),
        ((1.0, 128), "expected a zero of the result from -128 to 127, got 128"),
    ],
)
def test_formats_are_checked(format, message):
    with pytest.raises(ValueError, match=message):
        int8.quantize(ocl.zeros(3), format)


def test_dtypes_and_bounds_are_checked():
    with pytest.raises(TypeError):
        int8.quantize(ocl.zeros(3, dtype=ocl.int32), (1.0, 0))
    with pytest.raises(TypeError):
        int8.add(ocl.zeros(3), (1.0, 0), None, (1.0, 0), (1.0, 0, -128, 127))
    with pytest.raises(ValueError, match="expected bounds -128 <= low <= high <= 127, got 5 and 4"):
        int8.add(ocl.zeros(3, dtype=ocl.int8), (1.0, 0), None, (1.0, 0), (1.0, 0, 5, 4))
