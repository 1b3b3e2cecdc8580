"""Which dtype a result has and which numbers a dtype takes: PyTorch's answers and errors."""

import numpy as np
import pytest
import torch
from support import assert_same, skip_without

import ocl

NAMES = {
    "int64": "int64",
    "int32": "int32",
    "int16": "int16",
    "int8": "int8",
    "uint8": "uint8",
    "bool": "bool",
    "float32": "float32",
}


def dtype_of(lib, name):
    return getattr(lib, "bool_" if lib is ocl and name == "bool" else name)


def both(call, *arrays):
    """The results of both libraries, or the errors they raised."""
    results = []
    for lib, make in ((ocl, ocl.tensor), (torch, torch.tensor)):
        try:
            results.append(call(lib, *map(make, arrays)))
        except Exception as error:
            results.append(error)
    return results


def check(call, *arrays):
    """Same result, or both refuse."""
    ours, theirs = both(call, *arrays)
    if isinstance(theirs, Exception):
        assert isinstance(ours, (ValueError, TypeError)), f"PyTorch refuses: {theirs}; got {ours}"
    else:
        assert not isinstance(ours, Exception), ours
        assert_same(ours, theirs)


BOUNDS = [
    {"min": 0, "max": 1},
    {"min": 1},
    {"max": 0},
    {"min": 0.5},
    {"min": True, "max": True},
    {"min": 0.0, "max": 150.0},
    {"min": 60, "max": 150},
    {"min": 0, "max": 300},
    {"max": 2**40},
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("dtype", NAMES)
def test_clamp(dtype, bounds):
    array = np.array([200, 100, 50, 0, 1]).astype(dtype)
    check(lambda lib, x: lib.clamp(x, **bounds), array)
    if "min" in bounds:
        check(lambda lib, x: lib.clamp_min(x, bounds["min"]), array)
    if "max" in bounds:
        check(lambda lib, x: lib.clamp_max(x, bounds["max"]), array)


def test_clamp_keeps_every_bit_of_an_integer():
    x = ocl.tensor([2**62 + 5, -(2**62) - 5])
    assert x.clamp(-(2**62) - 1, 2**62 + 1).tolist() == [2**62 + 1, -(2**62) - 1]


def test_clamp_takes_tensors_of_one_element():
    assert ocl.arange(4.0).clamp(ocl.tensor(1.0), ocl.tensor([2.0])).tolist() == [1, 1, 2, 2]


EQUATIONS = [
    ("i->", 1),
    ("i->i", 1),
    ("i,i->", 2),
    ("i,i->i", 2),
    ("i,j->ij", 2),
    ("i,i,i->", 3),
    ("i,j,k->", 3),
]


@pytest.mark.parametrize("equation, operands", EQUATIONS)
@pytest.mark.parametrize("dtype", NAMES)
def test_einsum_of_vectors(dtype, equation, operands):
    array = np.array([200, 100, 50]).astype(dtype)
    check(lambda lib, *x: lib.einsum(equation, *x), *[array] * operands)


@pytest.mark.parametrize("equation", ["ij->i", "ij->", "ii->i", "ii->", "ij,k->ik", "ij,jk->ik", "ij,k->"])
@pytest.mark.parametrize("dtype", NAMES)
def test_einsum_of_matrices(dtype, equation):
    array = np.array([[200, 100, 50], [0, 7, 255], [1, 0, 90]]).astype(dtype)
    others = [array] if "jk" in equation else [array[0]] if "," in equation else []
    check(lambda lib, *x: lib.einsum(equation, *x), array, *others)


def test_einsum_multiplies_only_what_has_one_dtype():
    check(lambda lib, x, y: lib.einsum("i,i->", x, y), np.uint8([1, 2]), np.int64([3, 4]))
    check(lambda lib, x, y: lib.einsum("i,j->ij", x, y), np.uint8([1, 2]), np.int64([3, 4]))


@pytest.mark.parametrize(
    "numbers",
    [
        (0, 5, 0.5),
        (0, 5, 1.5),
        (0.9, 5.9, 1),
        (0.9, 5.2, 1),
        (5, 0, -1.5),
        (5, 0, -0.5),
        (0, 5, 2.5),
        (0, 300, 100),
        (3, 3, 1),
        (0, 1, -1),
        (0, 1, float("nan")),
        (0, float("nan"), 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, "int64", "int32", "int16", "int8", "uint8", "float32", "bool"])
def test_arange(dtype, numbers):
    if (
        torch.__version__ < (2, 13)
        and dtype in ("int64", "int32", "int16", "int8", "uint8")
        and int(np.nan_to_num(numbers[2])) == 0
    ):
        pytest.skip("PyTorch before 2.13 divides by the step without its fraction, and dies")
    check(lambda lib: lib.arange(*numbers, dtype=dtype and dtype_of(lib, dtype)))


def test_arange_over_more_than_half_of_what_64_bits_count():
    assert ocl.arange(-(2**63), 2**63 - 1, 2**62).tolist() == [-(2**63), -(2**62), 0, 2**62]
    assert ocl.arange(2**63 - 1, -(2**63), -(2**63)).tolist() == [2**63 - 1, -1]
    assert ocl.arange(2**62, 2**62 + 3).tolist() == [2**62, 2**62 + 1, 2**62 + 2]


VALUES = [
    float("inf"),
    float("-inf"),
    float("nan"),
    1e20,
    1.9,
    2**40,
    300,
    -1,
    -300,
    255.5,
    256.5,
    1e10,
    1e300,
    5,
    2**63 - 1,
    -(2**63),
    True,
]
FILLED = ["int64", "int32", "int16", "int8", "uint8", "bool", "float32", "float16", "float64"]


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("dtype", FILLED)
def test_full(dtype, value):
    skip_without(dtype)
    check(lambda lib: lib.full((2,), value, dtype=dtype_of(lib, dtype)))
    check(lambda lib: lib.ones(2, dtype=dtype_of(lib, dtype)).fill_(value))


@pytest.mark.parametrize("value", [float("inf"), 2**40, 300, 1.5, -1], ids=str)
@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
def test_numbers_written_where_a_mask_or_an_index_says(dtype, value):
    array, mask = np.ones(2, dtype), np.array([True, False])
    check(lambda lib, x, m: x.masked_fill(m, value), array, mask)
    check(lambda lib, x, m: x.masked_fill_(m, value), array, mask)

    def assigned(lib, x):
        x[1] = value
        return x

    check(assigned, array)


@pytest.mark.parametrize("bounds", [(0, 300), (0, 256), (-5, 3), (0, 2**40), (0, 2**31)])
@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_random_numbers_fit_their_dtype(dtype, bounds):
    ours, theirs = both(lambda lib: lib.randint(*bounds, (2,), dtype=dtype_of(lib, dtype)))
    assert isinstance(ours, Exception) == isinstance(theirs, Exception)
    assert not isinstance(ours, Exception) or isinstance(ours, ValueError)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool", "float32"])
@pytest.mark.parametrize("bounds", [(0, 10), (0, 2**40), (0, float("inf"))], ids=str)
def test_linspace(dtype, bounds):
    if dtype == "float32" and bounds[1] == float("inf"):
        pytest.skip("what lies on the way to infinity is not compared")
    check(lambda lib: lib.linspace(*bounds, 3, dtype=dtype_of(lib, dtype)))


def test_arange_begins_where_it_says_whatever_the_step():
    np.testing.assert_array_equal(ocl.arange(-33.5, 10.0, 1e300).numpy(), [-33.5])
