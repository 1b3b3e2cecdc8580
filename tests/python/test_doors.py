"""The doors: numbers and lists of them on their way into tensors and out again.

A number arrives with every digit that its dtype holds, or is refused where PyTorch refuses it. Each test
sweeps over doors, dtypes and what goes through them. Arrays: test_doors_of_arrays.py.
"""

import array
import collections
import copy
import ctypes
import enum
import fractions
import io
import math
import pickle
import re

import numpy as np
import pytest
import torch
from support import assert_same, of_dtype, skip_without

import ocl

INF, NAN = float("inf"), float("nan")
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
REFUSALS = (ValueError, TypeError, OverflowError)


def shown(data):
    """repr, the same in every process: pytest-xdist compares the names of tests."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(data)).replace("\n", "")


def assigned(index):
    def door(lib, dtype, number):
        x = lib.zeros(2, dtype=dtype)
        x[index(lib)] = number
        return x

    return door


# How a number comes into a tensor of a dtype: door(lib, dtype, number).
READERS = {
    "tensor": lambda lib, dtype, number: lib.tensor(number, dtype=dtype),
    "tensor of a list": lambda lib, dtype, number: lib.tensor([number, 0], dtype=dtype),
    "tensor of a tuple": lambda lib, dtype, number: lib.tensor(((0, number),), dtype=dtype),
    "as_tensor": lambda lib, dtype, number: lib.as_tensor([[number]], dtype=dtype),
    "new_tensor": lambda lib, dtype, number: lib.zeros(1, dtype=dtype).new_tensor([number]),
}
FILLERS = {
    "full": lambda lib, dtype, number: lib.full((2,), number, dtype=dtype),
    "full_like": lambda lib, dtype, number: lib.full_like(lib.zeros(2, dtype=dtype), number),
    "new_full": lambda lib, dtype, number: lib.zeros(2, dtype=dtype).new_full((2,), number),
    "fill_": lambda lib, dtype, number: lib.zeros(2, dtype=dtype).fill_(number),
    "init.constant_": lambda lib, dtype, number: lib.nn.init.constant_(lib.zeros(2, dtype=dtype), number),
    "masked_fill": lambda lib, dtype, number: lib.zeros(2, dtype=dtype).masked_fill(
        lib.tensor([True, False]), number
    ),
    "masked_fill_": lambda lib, dtype, number: lib.zeros(2, dtype=dtype).masked_fill_(
        lib.tensor([True, False]), number
    ),
    "scatter": lambda lib, dtype, number: lib.zeros(2, dtype=dtype).scatter(0, lib.tensor([1, 0]), number),
    "where": lambda lib, dtype, number: lib.where(
        lib.tensor([True, False]), number, lib.zeros(2, dtype=dtype)
    ),
    "where, the other": lambda lib, dtype, number: lib.where(
        lib.tensor([True, False]), lib.zeros(2, dtype=dtype), number
    ),
    "linspace": lambda lib, dtype, number: lib.linspace(number, number, 2, dtype=dtype),
}
SETTERS = {
    "x[0] =": assigned(lambda lib: 0),
    "x[:] =": assigned(lambda lib: slice(None)),
    "x[mask] =": assigned(lambda lib: lib.tensor([True, False])),
    "x[indices] =": assigned(lambda lib: lib.tensor([1])),
}

NUMBERS = (
    [True, 0, 1, -1, 44, 255, 256, 300, -255, -256, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1]
    + [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**24 + 1]
    + [0.0, -0.0, 1.1, -2.7, 2.7, 0.1, -0.5, 255.0, 255.5, 256.0, -1.0, 2147483647.5, -2147483648.5]
    + [1234567890.0, 1e-50, 1e40, 1e300, 9.21e18, INF, -INF, NAN]
    + [65504.0, 65519.0, 65520.0, 7e4, -7e4, 3.3895313892515355e38, 3.4e38, 3.4028235e38, 3.4028236e38]
    + [np.float64(1.1), np.float64(300), np.int64(300), np.int32(-1), np.uint8(3), np.int64(2**53 + 1)]
)
# PyTorch takes them for fills and assigns not all of them.
NUMPY_NUMBERS = [np.float32(1.5), np.float16(-2.5), np.longdouble(1.25), np.int16(7), np.uint64(9)]
BEYOND_64_BITS = [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**400, np.uint64(2**63)]


def described(tensor):
    """Shape, dtype and elements, with the signs of zeros."""
    elements = tensor.reshape(-1).tolist()
    shown = ["nan" if e != e else (e, math.copysign(1, e)) for e in elements]
    return tuple(tensor.shape), str(tensor.dtype).split(".")[1], shown


def outcome(door, lib, dtype, *given):
    """The outcome: a description, or an error."""
    try:
        return described(door(lib, getattr(lib, dtype), *given))
    except Exception as error:
        return error


def check_like_torch(door, dtype, numbers):
    """Every number gives PyTorch's elements, or both refuse."""
    skip_without(dtype)
    wrong = []
    for number in numbers:
        ours, theirs = outcome(door, ocl, dtype, number), outcome(door, torch, dtype, number)
        if isinstance(theirs, Exception):
            fine = isinstance(ours, REFUSALS)
        else:
            fine = ours == theirs
        if not fine:
            wrong.append(f"{number!r}: {ours!r}, PyTorch: {theirs!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("door", READERS)
def test_numbers_that_are_read(door, dtype):
    given = NUMBERS + NUMPY_NUMBERS + BEYOND_64_BITS + [np.bool_(True), None, "1", "a", [], {}, object()]
    given += [fractions.Fraction(1, 2)]
    check_like_torch(READERS[door], dtype, given)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("door", FILLERS)
def test_numbers_that_fill(door, dtype):
    if door.startswith("where") and dtype == "bool":
        numbers = [number for number in NUMBERS if not isinstance(number, bool)]
    else:
        numbers = NUMBERS + NUMPY_NUMBERS
    if door == "linspace":  # PyTorch makes it the least integer
        numbers = [number for number in numbers if number != 2**63 - 1]
    check_like_torch(FILLERS[door], dtype, numbers + [None, "1", fractions.Fraction(1, 2)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("door", SETTERS)
def test_numbers_that_are_assigned(door, dtype):
    check_like_torch(
        SETTERS[door], dtype, [*NUMBERS, None, "1", [1.1, 1.1], (1, 2), fractions.Fraction(1, 2)]
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_numbers_are_assigned_as_python_s(dtype):
    """PyTorch takes float64 and the integers alone."""
    skip_without(dtype)
    for number in [*NUMPY_NUMBERS, np.bool_(True)]:
        as_python_s = float(number) if number.dtype.kind == "f" else number.item()
        for door in SETTERS.values():
            ours, theirs = outcome(door, ocl, dtype, number), outcome(door, torch, dtype, as_python_s)
            assert isinstance(ours, ValueError) if isinstance(theirs, Exception) else ours == theirs


@pytest.mark.parametrize("door", [*READERS, *(d for d in FILLERS if "where" not in d), *SETTERS])
def test_2_to_the_63_is_no_int64(door):
    """PyTorch makes it the least integer."""
    with pytest.raises(ValueError, match="int64 without overflow"):
        (READERS | FILLERS | SETTERS)[door](ocl, ocl.int64, 2.0**63)


@pytest.mark.parametrize("door", FILLERS | SETTERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_beyond_64_bits_are_refused(door, dtype):
    skip_without(dtype)
    for number in BEYOND_64_BITS:
        with pytest.raises(ValueError, match="64 bits"):
            (FILLERS | SETTERS)[door](ocl, getattr(ocl, dtype), number)


def test_linspace_ends_at_the_largest_integer():
    assert ocl.linspace(2**63 - 1, 2**63 - 1, 2, dtype=ocl.int64).tolist() == [2**63 - 1] * 2
    assert ocl.linspace(-(2**63), 0, 3, dtype=ocl.int64).tolist() == [-(2**63), -(2**62), 0]


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bool"])
def test_the_factor_of_index_add(dtype):
    def door(lib, dtype, alpha):
        x = lib.tensor([1, 2]).to(dtype)
        return x.index_add(0, lib.tensor([0]), lib.tensor([3]).to(dtype), alpha=alpha)

    check_like_torch(door, dtype, [2, 1.5, -2, 300, 2**40, INF, -INF, NAN, 1e40, True])


def test_complex_numbers_are_refused_by_real_tensors():
    """bool takes every number; of a real one beside an imaginary part of 0 PyTorch takes the real part."""
    doors = READERS | FILLERS | SETTERS
    for number in (1j, np.complex64(1 - 2j), np.complex128(1j)):
        for dtype in DTYPES:
            for name, door in doors.items():
                if dtype == "bool" or name.startswith("where"):  # whose result is complex
                    continue
                if dtype == "float64":
                    skip_without(dtype)
                with pytest.raises((TypeError, ValueError)):
                    door(ocl, getattr(ocl, dtype), number)
                    pytest.fail(f"{name} took {number!r} for {dtype}")


# --- The dtype that is inferred

F64, F32, F16 = np.float64, np.float32, np.float16


class Level(enum.IntEnum):
    LOW = 3


NESTED = [
    1.5,
    1,
    True,
    Level.LOW,
    F64(1.5),
    F32(1.5),
    F16(1.5),
    np.int64(3),
    np.int32(3),
    np.uint8(3),
    np.bool_(True),
    [],
    [[]],
    [[], [1]],
    (),
    [F64(1.5)],
    [F64(1.1), 2],
    [2, F64(1.1)],
    [F32(1.5), 2],
    [F32(1.5), 2.5],
    [F16(1.5), 2.5],
    [F16(1.5), 2],
    [F64(1.1), F32(2)],
    [np.int32(1), 2],
    [np.int32(1), np.uint8(2)],
    [np.int32(1), 2.5],
    [np.int16(1), 2],
    [np.int8(1), 2.5],
    [np.int8(1), np.int32(2)],
    [np.uint16(1), 2.5],
    [np.uint64(1), F64(2.5)],
    [True, 2],
    [True, 2.5],
    [True, np.bool_(True)],
    [True, np.uint8(2)],
    [np.bool_(True)],
    [[1, 2], [3, 4.5]],
    [(1, 2), [3, F64(4.1)]],
    [np.array([1.1, 2])],
    [np.array([1, 2]), [3, 4]],
    [[3, 4], np.array([1, 2])],
    [np.array([1, 2]), [3.5, 4]],
    [np.array([1, 2], np.int32), np.array([3, 4.1])],
    [np.array([True]), [2]],
    [np.array([1, 2], np.uint8), np.array([3, 4], np.int32)],
    [np.array([1, 2], F16), np.array([3, 4], F16)],
    [np.array([1, 2], np.int16), np.array([3, 4], F32)],
    [np.zeros((2, 0))],
    [[np.ones((2, 3), F32)], [np.zeros((2, 3), F32)]],
    range(3),
    range(0),
    collections.deque([1, 2.5]),
    collections.UserList([1, 2]),
    bytearray(b"ab"),
    memoryview(b"ab"),
    [bytearray(b"ab"), [1, 2]],
    array.array("f", [1.5]),
    array.array("d", [1.5]),
    array.array("b", [-1]),
    array.array("H", [65535]),
    array.array("q", [2**53 + 1]),
    memoryview(np.array([1.5])),
    memoryview(np.array([True])),
    memoryview(np.arange(6)[::-2]),
    np.array(1.1),
    np.array([1, 2], np.uint8),
    np.zeros((2, 0), np.int32),
    np.ones((2, 3), F16).T,
]


@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize("data", NESTED, ids=shown)
def test_inferred_dtype(data, dtype):
    if isinstance(data, memoryview) and data.ndim == 1 and data.strides[0] < 0:
        data = memoryview(np.ascontiguousarray(data))[::-1][::-1]
    if dtype:
        skip_without(dtype)
        door = READERS["tensor"]
        ours, theirs = (outcome(door, lib, dtype, data) for lib in (ocl, torch))
    else:
        skip_without("float64")
        ours, theirs = (outcome(lambda lib, _: lib.tensor(data), lib, "int64") for lib in (ocl, torch))
    if isinstance(theirs, Exception):
        assert isinstance(ours, REFUSALS), theirs
    else:
        assert ours == theirs


@pytest.mark.parametrize(
    "data",
    [
        None,
        [None],
        "a",
        ["a"],
        [1, "a"],
        [np.str_("a")],
        np.bytes_(b"a"),
        {1, 2},
        {0: 1},
        [{0: 1}],
        object(),
        [1, [2]],
        [[1], 2],
        [[1, 2], [3]],
        [[1], []],
        [[[1]], [2]],
        [1, 10**400],
        [2**63],
        [-(2**63) - 1],
        fractions.Fraction(1, 2),
        np.longdouble(1.5),
        [np.longdouble(1.5)],
        np.datetime64("2020-01-01"),
        [np.timedelta64(3)],
        [np.array([1, 2]), [3]],
        [np.array([1, 2]), np.array([3])],
        [np.array([1, 2], object)],
        [np.array(["a"])],
        np.float32,
        [float],
    ],
    ids=shown,
)
def test_what_is_no_number_is_refused(data):
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        torch.tensor(data)
    with pytest.raises((TypeError, ValueError)):
        ocl.tensor(data)


def test_lists_that_contain_themselves_are_refused():
    inner, outer = [], [1]
    inner.append(inner)
    outer.append(outer)
    for data in (inner, outer, [outer, outer]):
        for dtype in (None, ocl.float32):
            with pytest.raises((TypeError, ValueError)):
                ocl.tensor(data, dtype=dtype)
    deep = 1
    for _ in range(9):
        deep = [deep]
    with pytest.raises(ValueError, match="dimensions"):
        ocl.tensor(deep)


def test_a_list_that_changes_while_it_is_read_is_refused():
    class Clearing:
        def __float__(self):
            data.clear()
            return 1.0

    data = [0.0, Clearing(), *map(float, range(100))]
    with pytest.raises(ValueError, match="length"):
        ocl.tensor(data, dtype=ocl.float32)


def test_errors_say_what_was_given():
    for data, message in (
        ([[1, 2], [3]], r"sequence of length 2 at dim 1, got one of length 1"),
        ([[1], 2], r"sequence of length 1 at dim 1, got a int"),
        ([1, [2]], "expected a number, got a list"),
        ("a", "got a str"),
        ([np.array([1, 2]), np.array([3])], r"shape \[2\] at dim 1, got an array of shape \[1\]"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            ocl.tensor(data)
    with pytest.raises(ValueError, match="value 300 cannot be converted to uint8 without overflow"):
        ocl.tensor([0, 300], dtype=ocl.uint8)


def test_bytes_are_integers_as_in_a_bytearray():
    assert_same(ocl.tensor(b"ab"), torch.tensor(bytearray(b"ab")))
    assert_same(ocl.tensor(b"ab", dtype=ocl.uint8), torch.tensor(bytearray(b"ab"), dtype=torch.uint8))
    assert_same(ocl.tensor(b""), torch.tensor(bytearray(b"")))


def test_buffers_of_every_format():
    skip_without("float64")
    matrix = memoryview(np.arange(6.0).reshape(2, 3))
    assert_same(ocl.tensor(matrix), torch.arange(6.0).reshape(2, 3))
    assert_same(ocl.tensor((ctypes.c_int16 * 2)(1, -2)), torch.tensor([1, -2]))
    for order in "<>":
        for code in "bhiqHIefd":
            numbers = np.array([1, 2, 100], order + code)
            expected = torch.tensor(numbers.tolist())
            assert_same(ocl.tensor(memoryview(numbers)), expected)
            assert_same(ocl.tensor([memoryview(numbers)] * 2), torch.stack([expected] * 2))
    assert_same(ocl.tensor(memoryview(np.array([1j, 2], "c8"))), torch.tensor([1j, 2]))
    with pytest.raises(TypeError):
        ocl.tensor((ctypes.c_char * 2)())


def test_zero_dimensional_arrays_in_a_list_are_numbers():
    skip_without("float64")
    assert_same(ocl.tensor([np.array(1.1), 2]), torch.tensor([np.float64(1.1), 2]))
    assert_same(ocl.tensor([[np.array(1)], [2]]), torch.tensor([[1], [2]]))
    with pytest.raises(ValueError, match="without overflow"):
        ocl.tensor([np.array(300)], dtype=ocl.uint8)


@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize(
    "make",
    [
        lambda t: [t(1.5), 2],
        lambda t: [t(1), 2.5],
        lambda t: [t(300), t(2)],
        lambda t: [t(True), t(False)],
        lambda t: [t([1.5])],
        lambda t: [t([1.5, 2.5])],
        lambda t: [[t(1.5), t(2)], [3, 4]],
        lambda t: [t(1.5).double(), 2.0] if ocl.get_device_properties()["fp64"] else [t(1)],
        lambda t: [t(-1)],
        lambda t: t(300),
        lambda t: t([-1.5, 300.5]),
    ],
)
def test_tensors_in_lists(make, dtype):
    if dtype:
        skip_without(dtype)
    results = []
    for lib in (ocl, torch):
        as_wanted = {"dtype": getattr(lib, dtype)} if dtype else {}
        try:
            results.append(described(lib.tensor(make(lib.tensor), **as_wanted)))
        except Exception as error:
            results.append(error)
    ours, theirs = results
    assert isinstance(ours, REFUSALS) if isinstance(theirs, Exception) else ours == theirs, (ours, theirs)


# --- Out again

ELEMENTS = {
    "float64": [1.1, 0.1, 1e40, -1e300, 1e-50, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, -0.0, INF, NAN],
    "float32": [1.1, 3.4028234663852886e38, 1e-45, 16777217.0, -0.0, INF, NAN],
    "float16": [1.1, 65504.0, 6e-8, -0.0, -INF, NAN],
    "bfloat16": [1.1, 3.3895313892515355e38, 1e-38, -0.0, INF, NAN],
    "int64": [2**63 - 1, -(2**63), 2**53 + 1, 0],
    "int32": [2**31 - 1, -(2**31), 0],
    "uint8": [255, 0],
    "bool": [True, False],
}


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_elements_come_out_as_they_went_in(dtype, tmp_path):
    skip_without(dtype)
    ours_dtype, theirs_dtype = of_dtype(dtype)
    ours = ocl.tensor(ELEMENTS[dtype], dtype=ours_dtype)
    theirs = torch.tensor(ELEMENTS[dtype], dtype=theirs_dtype)
    expected = described(theirs)
    assert described(ours) == expected
    file = io.BytesIO()
    ocl.save({"x": ours}, file)
    file.seek(0)
    for again in (
        pickle.loads(pickle.dumps(ours)),
        copy.deepcopy(ours),
        copy.copy(ours),
        ours.clone(),
        ocl.load(file)["x"],
        ocl.tensor(ours),
        ocl.tensor(ours.tolist(), dtype=ours_dtype),
    ):
        assert described(again) == expected
    for a, b in zip(ours, theirs, strict=True):
        assert type(a.item()) is type(b.item()) and repr(a.item()) == repr(b.item()) == repr(a.tolist())
        assert repr(float(a)) == repr(float(b)) and bool(a) == bool(b) and f"{a}" == f"{b}"
        if math.isfinite(b):
            assert int(a) == int(b)
        else:
            for library in (a, b):
                with pytest.raises((OverflowError, ValueError)):
                    int(library)
        if not theirs.is_floating_point():
            assert a.__index__() == b.__index__()
        text = repr(a).replace("ocl.", "torch.").replace(f", device='{a.device}'", "")
        assert text == repr(b)


def test_numpy_takes_every_digit():
    skip_without("float64")
    x = ocl.tensor([1.1, 1e-50], dtype=ocl.float64)
    for taken in (x.numpy(), np.asarray(x), np.from_dlpack(x), np.array(x, np.float64)):
        assert taken.dtype == np.float64 and taken.tolist() == [1.1, 1e-50]


@pytest.mark.parametrize("number", [1.1, 0.1, -2.7, 1e-50, 1e40, 2**53 + 1, F64(0.1), np.int64(3)], ids=repr)
def test_numbers_beside_float64_keep_their_digits(number):
    """Arithmetic and comparisons with Python's and NumPy's numbers."""
    skip_without("float64")
    values = [1.0, 0.1, -3.3]
    ours, theirs = ocl.tensor(values, dtype=ocl.float64), torch.tensor(values, dtype=torch.float64)
    for call in (
        lambda x: x + number,
        lambda x: x - number,
        lambda x: number - x,
        lambda x: x * number,
        lambda x: x == number,
        lambda x: x <= number,
        lambda x: x > number,
        lambda x: x.clamp(max=number),
        lambda x: x.clone().add_(number),
        lambda x: x.add(x, alpha=number),
    ):
        assert_same(call(ours), call(theirs))


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**62 + 1, 1], ids=repr)
def test_numbers_beside_int64_keep_their_digits(number):
    values = [0, 1, 2**53 + 1, -(2**53) - 1]
    ours, theirs = ocl.tensor(values), torch.tensor(values)
    for call in (
        lambda x: x + number,
        lambda x: number - x,
        lambda x: x * number,
        lambda x: x // number,
        lambda x: x % number,
        lambda x: x == number,
        lambda x: x != number,
        lambda x: x < number,
        lambda x: x >= number,
        lambda x: x.clamp(min=number),
        lambda x: x.clone().sub_(number),
        lambda x: x.add(x, alpha=number),
    ):
        assert_same(call(ours), call(theirs))


def test_padding_keeps_every_digit_of_an_integer():
    padded = ocl.nn.functional.pad(ocl.zeros(1, dtype=ocl.int64), (1, 0), value=2**53 + 1)
    assert padded.tolist() == [2**53 + 1, 0]
    for number in (300, -2.7, INF, NAN):
        with pytest.raises(ValueError, match="without overflow"):
            ocl.nn.functional.pad(ocl.zeros(1, dtype=ocl.uint8), (1, 0), value=number)
