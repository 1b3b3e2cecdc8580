"""Values that go into tensors: numbers, lists, arrays of every dtype, byte order and layout, and buffers.

A source is made anew for each library, since arrays may share their memory with a tensor.
"""

import array
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
NUMPY_DTYPES = tuple(d for d in DTYPES if d != "bfloat16")
OTHER_NUMPY_DTYPES = ("int8", "int16", "uint16", "uint32", "uint64", "complex64", "longdouble")

INTEGERS = (0, 1, 2, 3, 7, -1, -2, -128, 127, 128, 255, 256, 300, -300, 2**15, 1234567890, 2**31 - 1, 2**31)
INTEGERS += (
    -(2**31),
    -(2**31) - 1,
    2**24 + 1,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64 - 1,
    2**64,
)
INTEGERS += (-(2**63) - 1, 10**30, 65520, 9007199254740993)
FLOATS = (0.0, -0.0, 0.5, 1.0, 1.1, 0.1, 1 / 3, 2.5, -2.7, -1.5, 3.0, 300.0, 255.5, -0.5, 1234567890.0)
FLOATS += (
    16777217.0,
    65504.0,
    65519.9,
    65520.0,
    1e5,
    3.4e38,
    3.5e38,
    1e40,
    -1e40,
    1e-30,
    1e-45,
    1e-50,
    5e-324,
)
FLOATS += (1e308, 9.3e18, 2.0**53 + 2, math.inf, -math.inf, math.nan)
SCALAR_TYPES = (np.float16, np.float32, np.float64, np.longdouble, np.int8, np.int16, np.int32, np.int64)
SCALAR_TYPES += (np.uint8, np.uint16, np.uint32, np.uint64, np.bool_)
# Beyond these a dtype holds no number; bool counts as what PyTorch computes in then.
LARGEST = {"float16": 65504.0, "bfloat16": 3e38, "float32": 3e38, "uint8": 255, "int32": 2**31 - 1}
LARGEST |= {"int64": 2**63 - 1, "bool": 2**63 - 1}


@dataclass(frozen=True)
class Source:
    """`make()` gives the object; `plain()` what PyTorch takes in its place where it refuses that object, as
    it does arrays of the other byte order and of negative strides."""

    text: str
    make: Callable
    plain: Callable | None = None


# --- numbers


def plain_number(draw, kind):
    """One of Python's numbers: an int, float or bool; one of ten is at an end of some type."""
    if kind == "bool":
        return draw.chance(0.5)
    pool = INTEGERS if kind == "int" else FLOATS
    if draw.chance(0.6):
        return draw.choice(pool)
    return draw.integer(-9, 9) if kind == "int" else draw.rng.normal() * 3


def as_numpy_scalar(value, scalar_type):
    """The number in that type, or as it is where the type does not hold it."""
    try:
        with np.errstate(all="ignore"):
            return scalar_type(value)
    except (OverflowError, ValueError):
        return value


def number_value(draw):
    value = plain_number(draw, draw.choice(["int", "float", "float", "bool"]))
    return as_numpy_scalar(value, draw.choice(SCALAR_TYPES)) if draw.chance(0.35) else value


def python_number(value):
    """The number of Python's that a NumPy scalar holds, and any other as it is."""
    if isinstance(value, np.longdouble):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def number(draw):
    value = number_value(draw)
    # PyTorch does not know NumPy's longdouble, and takes its bools for floats in some places.
    plain = (lambda: python_number(value)) if isinstance(value, (np.longdouble, np.bool_)) else None
    return Source(repr(value), lambda: value, plain)


def number_for(draw, dtype):
    """A number for arithmetic with tensors of that dtype: what becomes of those that it does not hold,
    PyTorch leaves to each operator."""
    source = number(draw)
    value = python_number(source.make())
    largest = LARGEST.get(dtype, math.inf)
    is_smallest = isinstance(value, int) and -largest - 1 == value and dtype != "uint8"
    if math.isfinite(value) and not (
        is_smallest or (0 if dtype == "uint8" else -largest) <= value <= largest
    ):
        return Source("3", lambda: 3)
    return source


# --- lists


def nested(draw, shape, element):
    if not shape:
        return element()
    return draw.choice([list, list, tuple])(nested(draw, shape[1:], element) for _ in range(shape[0]))


def list_of_numbers(draw):
    kind = draw.choice(["int", "float", "float", "bool", "mixed", "scalars", "arrays"])
    shape = tuple(draw.integer(0 if draw.chance(0.1) else 1, 3) for _ in range(draw.integer(1, 3)))
    scalar_type = draw.choice(SCALAR_TYPES)

    def element():
        if kind == "mixed":
            return number_value(draw)
        if kind == "scalars":
            return as_numpy_scalar(plain_number(draw, draw.choice(["int", "float"])), scalar_type)
        if kind == "arrays":
            return np.arange(draw.choice([1, 2, 2, 2]), dtype=array_dtype)
        return plain_number(draw, kind)

    array_dtype = draw.choice(NUMPY_DTYPES)
    values = nested(draw, shape, element)
    if draw.chance(0.05):
        values = [*values, draw.choice([None, "1", [1], (), 1j, object])]  # mostly ragged, or no number
    plain = (lambda: without_scalars(values)) if kind == "scalars" and scalar_type is np.longdouble else None
    return Source(repr(values), lambda: values, plain)


def without_scalars(values):
    return [*map(without_scalars, values)] if isinstance(values, (list, tuple)) else python_number(values)


# --- arrays


def values_of(draw, dtype, shape):
    """Elements that every conversion keeps or rounds: PyTorch leaves open what becomes of others."""
    values = draw.rng.integers(0, 100, shape) if dtype.kind in "ub" else draw.rng.integers(-100, 100, shape)
    if dtype.kind in "fc":
        values = values * draw.choice([1.0, 0.1, 1.1])
    return np.array(values, dtype)


def reversed_(draw, values):
    return values[tuple(slice(None, None, draw.choice([-1, -1, -2, 1])) for _ in values.shape)]


def stepped(draw, values):
    return values[tuple(slice(draw.integer(0, 1), None, draw.integer(1, 3)) for _ in values.shape)]


def overlapping(draw, values):
    flat = np.ascontiguousarray(values).reshape(-1)
    rows = draw.integer(1, max(flat.size // 2, 1))
    columns = max(flat.size - rows + 1, 0) if flat.size else 0
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), flat.strides * 2)


def read_only(draw, values):
    values.flags.writeable = False
    return values


def unaligned(draw, values):
    room = np.zeros(values.nbytes + 1, np.uint8)
    room[1:] = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
    return room[1:].view(values.dtype).reshape(values.shape)


def field_of_records(draw, values):
    records = np.zeros(values.shape, [("before", "u1"), ("it", values.dtype)])
    records["it"] = values
    return records["it"]


LAYOUTS = {
    "contiguous": lambda draw, values: values,
    "transposed": lambda draw, values: values.T,
    "reversed": reversed_,
    "stepped": stepped,
    "expanded": lambda draw, values: np.broadcast_to(values, (draw.integer(0, 3), *values.shape)),
    "overlapping": overlapping,
    "read-only": read_only,
    "unaligned": unaligned,
    "a field": field_of_records,
    "a subclass": lambda draw, values: values.view(np.recarray) if draw.chance(0.5) else np.ma.array(values),
}


def native(given):
    """A copy that PyTorch takes: of this machine's byte order, row by row."""
    dtype = np.float64 if given.dtype == np.longdouble else given.dtype.newbyteorder("=")
    return np.array(np.asarray(given), dtype=dtype, order="C")


def numeric_array(draw, dtypes=NUMPY_DTYPES, shape=None):
    dtype = np.dtype(draw.choice(dtypes))
    is_swapped = dtype.itemsize > 1 and draw.chance(0.25)
    shape = draw.shape(0, 3) if shape is None else shape
    seed, layout = draw.integer(0, 2**31), draw.choice(tuple(LAYOUTS))
    limit = draw.limit

    def make():
        again = type(draw)(seed, limit)
        values = values_of(again, dtype, shape)
        if is_swapped:
            values = values.astype(dtype.newbyteorder(">"))
        return LAYOUTS[layout](again, values)

    text = f"{'swapped ' if is_swapped else ''}{dtype}{list(make().shape)} {layout}"
    if make().size <= 6:
        text += f" {make().tolist()}"
    return Source(text, make, lambda: native(make()))


def odd_array(draw):
    """An array of a dtype that tensors do not have."""
    makes = {
        "object numbers": lambda: np.array([1, 2.5, True], dtype=object),
        "objects": lambda: np.array([None, "a", []], dtype=object),
        "structured": lambda: np.zeros(2, dtype=[("a", "f4"), ("b", "i8")]),
        "strings": lambda: np.array(["1", "22"]),
        "bytes": lambda: np.array([b"1", b"22"]),
        "dates": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
        "empty objects": lambda: np.zeros((0, 2), dtype=object),
    }
    name = draw.choice(tuple(makes))
    return Source(f"array of {name}", makes[name])


def any_array(draw):
    if draw.chance(0.1):
        return odd_array(draw)
    return numeric_array(draw, NUMPY_DTYPES if draw.chance(0.85) else OTHER_NUMPY_DTYPES)


# --- buffers and the like


def buffer(draw):
    content = bytes(draw.rng.integers(0, 256, 8 * draw.integer(0, 2), np.uint8))
    code = draw.choice("bBhHiIlLqQfd")
    small = array.array(code, [0, 1, 100][: draw.integer(0, 3)])
    makes = {
        f"{content!r}": lambda: content,
        f"bytearray({content!r})": lambda: bytearray(content),
        f"memoryview({content!r})": lambda: memoryview(content),
        f"memoryview({content!r}).cast('i')": lambda: memoryview(content).cast("i"),
        f"memoryview({content!r})[::-1]": lambda: memoryview(content)[::-1],
        f"{small!r}": lambda: array.array(code, small),
        f"memoryview({small!r})": lambda: memoryview(array.array(code, small)),
        "range(-1, 4, 2)": lambda: range(-1, 4, 2),
    }
    text = draw.choice(tuple(makes))
    return Source(text, makes[text])


def anything(draw):
    return draw.choice([number, list_of_numbers, list_of_numbers, any_array, any_array, buffer])(draw)
