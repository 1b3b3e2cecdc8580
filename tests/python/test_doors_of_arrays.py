"""Arrays on their way into tensors: every dtype, byte order and layout, or a refusal that names the dtype."""

import re

import numpy as np
import pytest
import torch
from support import assert_same, of_dtype, skip_without

import ocl

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")

CODES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
HELD = {"?": "bool", "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64"}
HELD |= {"f2": "float16", "f4": "float32", "f8": "float64"}


def with_layout(values, layout):
    """Equal elements, otherwise laid out in memory."""
    if layout == "negative":
        return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    if layout == "transposed":
        return np.asfortranarray(values)
    if layout == "every other":
        return np.repeat(values, 2, axis=1)[:, ::2]
    if layout == "unaligned":
        memory = np.zeros(values.nbytes + 1, np.uint8)[1:]
        unaligned = memory.view(values.dtype).reshape(values.shape)
        unaligned[...] = values
        return unaligned
    if layout == "read-only":
        values = values.copy()
        values.flags.writeable = False
    return values


LAYOUTS = ("plain", "negative", "transposed", "every other", "unaligned", "read-only")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", CODES)
def test_arrays_of_every_order_and_layout(code, order, layout):
    values = with_layout(np.array([[0, 1, 2], [3, 100, 77]]).astype(order + code), layout)
    native = np.ascontiguousarray(values.astype(code))
    if code not in HELD:
        for door in (ocl.tensor, ocl.from_numpy, ocl.as_tensor):
            with pytest.raises(TypeError, match=re.escape(values.dtype.name)):
                door(values)
    else:
        skip_without(HELD[code])
        expected = torch.from_numpy(native)
        for door in (
            ocl.tensor,
            ocl.from_numpy,
            ocl.as_tensor,
            ocl.zeros(1).to(of_dtype(HELD[code])[0]).new_tensor,
        ):
            assert_same(door(values), expected)
        assert_same(ocl.tensor(values[0, 1]), torch.tensor(native[0, 1]))
        assert_same(ocl.tensor(values[:0]), expected[:0])
        assert_same(ocl.tensor(values[1:, 2:].reshape(())), torch.tensor(native[1, 2]))
        assert_same(ocl.tensor([values, values]), torch.stack([expected, expected]))
        x = ocl.zeros(2, 3, dtype=of_dtype(HELD[code])[0])
        x[:] = values
        assert_same(x, expected)
        assert_same(x.zero_().copy_(values), expected)
        x.zero_()[0] = values[1]
        assert_same(x[0], expected[1])
    for dtype in DTYPES:
        if dtype != "float64" or ocl.get_device_properties()["fp64"]:
            ours, theirs = of_dtype(dtype)
            assert_same(ocl.tensor(values, dtype=ours), torch.tensor(native, dtype=theirs))


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", ["i1", "i2", "i4", "i8", "u2", "u4", "u8"])
def test_index_arrays_of_every_order(code, order):
    x, index = ocl.arange(5.0), np.array([4, 0, 2]).astype(order + code)
    assert x[index].tolist() == [4, 0, 2]
    x[index] = 9.0
    assert x.tolist() == [9, 1, 9, 3, 9]
    x[index[:1]] = np.array([7.0], order + "f4")
    assert x.tolist() == [9, 1, 9, 3, 7]


def test_index_arrays_beyond_64_bits_are_refused():
    for index in (np.array([2**64 - 1], np.uint64), [2**64 - 1], [2**63], [2**64]):
        with pytest.raises(IndexError):
            ocl.arange(5.0)[index]


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", "b"]),
        np.array([b"a"]),
        np.array([1, None]),
        np.array([1, 2], object),
        np.array(["2020-01-01"], "M8[D]"),
        np.array([3], "m8[s]"),
        np.zeros(2, [("a", "f4"), ("b", "i4")]),
        np.zeros(2, "V4"),
        np.array([1.5], np.longdouble),
    ],
    ids=lambda values: values.dtype.name,
)
def test_arrays_of_no_numbers_are_refused_by_name(values):
    x = ocl.zeros(len(values))
    for give in (
        ocl.tensor,
        ocl.from_numpy,
        ocl.as_tensor,
        lambda a: ocl.tensor([a]),
        lambda a: x.__setitem__(slice(None), a),
        x.copy_,
    ):
        with pytest.raises(TypeError, match=re.escape(values.dtype.name)):
            give(values)
    if values.dtype.kind != "f":
        with pytest.raises(TypeError, match=re.escape(values.dtype.name)):
            ocl.tensor(values, dtype=ocl.float32)


def test_arrays_wrap_as_tensors_do_and_warn_of_nothing(recwarn):
    """Conversions of whole arrays are PyTorch's, without NumPy's warnings."""
    arrays = [np.array(values) for values in ([300, -1, 2**40 + 5], [True, False], [0.0, 1e-50, 1e300])]
    arrays += [np.array([-1.5, 300.7, 1e9, 70000.5], code) for code in ("f4", "f8")]
    for given in arrays:
        for dtype in DTYPES:
            if given.dtype.kind == "f" and given.max() > 2**63 and dtype in ("uint8", "int32", "int64"):
                continue  # undefined in C
            if dtype != "float64" or ocl.get_device_properties()["fp64"]:
                ours, theirs = of_dtype(dtype)
                assert_same(ocl.tensor(given, dtype=ours), torch.tensor(given, dtype=theirs))
    assert ocl.tensor(np.array([np.nan, 0]), dtype=ocl.bool).tolist() == [True, False]
    assert not recwarn.list


def test_overlapping_and_broadcast_arrays():
    broadcast = np.broadcast_to(np.array([1, 2], ">i4")[:, None], (2, 3))
    overlapping = np.lib.stride_tricks.sliding_window_view(np.arange(4.0, dtype=">f4"), 2)
    assert ocl.tensor(broadcast).tolist() == broadcast.tolist()
    assert ocl.tensor(overlapping).tolist() == overlapping.tolist()
    x = ocl.zeros(2, 3, dtype=ocl.int32)
    x[:] = np.array([5], ">i2").astype(">i4")
    assert x.tolist() == [[5, 5, 5]] * 2


def test_what_shows_itself_as_an_array():
    class Shows:
        def __init__(self, values):
            self.__array_interface__ = values.__array_interface__
            self.kept = values

    class Gives:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.5, 2.5], ">f4")

    assert ocl.tensor(Shows(np.array([1, 2], ">i4"))).tolist() == [1, 2]
    assert ocl.tensor(Gives()).tolist() == [1.5, 2.5] and ocl.tensor([Gives()]).shape == (1, 2)
    parameter = torch.nn.Parameter(torch.tensor([1.5]))
    assert ocl.tensor(parameter).tolist() == [1.5] and ocl.tensor([parameter]).tolist() == [[1.5]]


def test_bfloat16_of_pytorch():
    """Which NumPy lacks: every door takes it, with its dtype where none is asked for."""
    values = torch.tensor([[1.5, -3.140625], [0.0, 3e38]], dtype=torch.bfloat16)
    for given in (values, torch.nn.Parameter(values), values.t().contiguous().t()):
        for made in (ocl.tensor(given), ocl.as_tensor(given)):
            assert made.dtype == ocl.bfloat16 and made.tolist() == values.tolist()
        assert ocl.ones(1).new_tensor(given).tolist() == values.tolist()
    assert ocl.from_dlpack(values).dtype == ocl.bfloat16
    assert ocl.tensor(values, dtype=ocl.float32).tolist() == values.tolist()
    assert ocl.tensor([values, values]).tolist() == [values.tolist()] * 2
    theirs = torch.nn.Linear(3, 2, dtype=torch.bfloat16)
    ours = ocl.nn.Linear(3, 2, dtype=ocl.bfloat16)
    ours.load_state_dict(theirs.state_dict())
    assert ours.weight.tolist() == theirs.weight.tolist()


def test_arrays_of_the_other_order_reach_batches_and_modules():
    x, y = np.arange(8, dtype=">f4").reshape(4, 2), np.arange(4, dtype=">i8")
    for workers in (0, 1):
        loader = ocl.utils.data.DataLoader(ocl.utils.data.TensorDataset(x, y), 2, num_workers=workers)
        for batch, (rows, labels) in enumerate(loader):
            assert rows.tolist() == x[2 * batch : 2 * batch + 2].tolist()
            assert labels.tolist() == y[2 * batch : 2 * batch + 2].tolist()
    loader = ocl.utils.data.DataLoader(list(zip(x, y, strict=True)), 4)
    rows, labels = next(iter(loader))
    assert rows.tolist() == x.tolist() and labels.tolist() == y.tolist()
    layer = ocl.nn.Linear(2, 1, bias=False)
    layer.load_state_dict({"weight": np.array([[1.5, 2.5]], ">f8")})
    assert layer.weight.tolist() == [[1.5, 2.5]]
    pinned = ocl.pin_memory(np.array([1.5, 2.5], ">f4"))
    assert ocl.tensor(pinned, non_blocking=True).tolist() == [1.5, 2.5]
