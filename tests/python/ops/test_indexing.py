"""Index expressions in brackets, and what random cases do not reach: duplicates, long rows, errors."""

import numpy as np
import pytest
import torch
from support import assert_same

import ocl

LIST = [2, -2, 0]
MASK = [True, False, True]
GRID = [[0], [-1]]

# Index expressions for a tensor of shape (3, 4, 5), as functions of the library's tensor().
EXPRESSIONS = {
    "ints": lambda t: t(LIST),
    "list": lambda t: LIST,
    "nested list": lambda t: (GRID,),
    "empty list": lambda t: [],
    "NumPy array": lambda t: np.array(LIST),
    "int32": lambda t: t(np.array(LIST, np.int32)),
    "grid": lambda t: t(GRID),
    "range": lambda t: range(2),
    "duplicates": lambda t: t([2, -1, 0, 2]),
    "duplicates of two": lambda t: (t([0, 0, 1, 0]), slice(None), t([1, 1, 1, -4])),
    "second dimension": lambda t: (slice(None), t(LIST)),
    "last dimension": lambda t: (..., t(LIST)),
    "slice before": lambda t: (slice(1, None), t(LIST)),
    "step after": lambda t: (t(LIST), slice(None, None, 2)),
    "neighbours": lambda t: (slice(None), t(LIST), t([0, 1, 3])),
    "neighbours in front": lambda t: (t(LIST), t([0, 1, 3])),
    "apart": lambda t: (t(LIST), slice(None), t([0, 1, 3])),
    "apart with steps": lambda t: (t(LIST), slice(None, None, 2), t([0, 1, 3])),
    "broadcast": lambda t: (t([[0], [2]]), t([1, 2, 3])),
    "all three": lambda t: (t(LIST), t([0, 1, 3]), t([[4], [0]])),
    "int and list": lambda t: (0, slice(None), LIST),
    "int between": lambda t: (t(LIST), 1, t([0, 1, 3])),
    "new axis": lambda t: (None, t(LIST)),
    "new axis between": lambda t: (t(LIST), None, t([0, 1, 3])),
    "new axis after": lambda t: (t(LIST), None),
    "ellipsis between": lambda t: (t(LIST), ..., t([0, 1, 3])),
    "scalar tensor": lambda t: t(1),
    "scalar tensor after": lambda t: (slice(None), t(-1)),
    "mask": lambda t: t(MASK),
    "mask list": lambda t: MASK,
    "mask of two": lambda t: t([[True, False, True, True]] * 2 + [[False] * 4]),
    "mask of all": lambda t: t(np.arange(60).reshape(3, 4, 5) % 7 > 2),
    "mask in the middle": lambda t: (slice(None), t([True, False, False, True])),
    "mask at the end": lambda t: (..., t([True, False, False, True, True])),
    "mask of nothing": lambda t: t([False] * 3),
    "mask and ints": lambda t: (t(MASK), t([0, 3])),
    "mask and list apart": lambda t: (t(MASK), slice(None), t([0, 3])),
    "mask and new axis": lambda t: (None, t(MASK), 1),
    "True": lambda t: True,
    "False": lambda t: False,
    "True and list": lambda t: (slice(None), True, LIST),
    "scalar mask": lambda t: t(True),
    "byte mask": lambda t: t(np.array([1, 0, 1], np.uint8)),
    "slices": lambda t: (slice(0, 2), slice(1, None, 2), None, ..., 3),
    "nothing": lambda t: (),
}
# PyTorch leaves open which of several writes counts, and writes by no bytes.
WRITABLE = [name for name in EXPRESSIONS if "duplicates" not in name and "byte" not in name]
VIEWS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.permute(2, 0, 1).contiguous().permute(1, 2, 0),
    "sliced": lambda x: x[:, :, :],
}

pytestmark = pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")


def numbers(shape, seed=0):
    return np.random.default_rng(seed).uniform(-3, 3, shape).astype(np.float32)


def both():
    return [(ocl, ocl.tensor), (torch, torch.tensor)]


@pytest.mark.parametrize("layout", VIEWS)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_reading_by_an_expression(name, layout):
    results = []
    for _, tensor in both():
        leaf = tensor(numbers((3, 4, 5))).requires_grad_()
        part = VIEWS[layout](leaf)[EXPRESSIONS[name](tensor)]
        part.backward(tensor(numbers(tuple(part.shape), 1)))
        results.append((part, leaf.grad))
    for ours, theirs in zip(*results, strict=True):
        assert tuple(ours.shape) == tuple(theirs.shape)
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("layout", VIEWS)
@pytest.mark.parametrize("kind", ["number", "scalar", "whole", "broadcast"])
@pytest.mark.parametrize("name", WRITABLE)
def test_writing_by_an_expression(name, kind, layout):
    def value_of(tensor, shape):
        if kind == "number":
            return 1.5
        shape = {"scalar": (), "whole": shape, "broadcast": (1, 1, *shape[-1:])}[kind]
        return tensor(numbers(shape, 2)).requires_grad_()

    results = []
    for _, tensor in both():
        leaf = tensor(numbers((3, 4, 5))).requires_grad_()
        x = VIEWS[layout](leaf * 1)
        index = EXPRESSIONS[name](tensor)
        value = value_of(tensor, tuple(x[index].shape))
        x[index] = value
        x.backward(tensor(numbers((3, 4, 5), 3)))
        results.append([x, leaf.grad] + ([] if kind == "number" else [value.grad]))
    for ours, theirs in zip(*results, strict=True):
        # No gradient at all stands for zeros: of what is overwritten whole, or not written at all.
        a, b = (0 if t is None else t.detach().numpy() for t in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_the_last_of_several_writes_counts():
    x = ocl.zeros(5)
    x[[1, 1, 3, 1]] = ocl.tensor([1.0, 2.0, 3.0, 4.0])
    assert x.tolist() == [0, 4, 0, 3, 0]
    index = ocl.tensor([[0, 1], [0, 0]])
    assert ocl.zeros(2, 2).scatter(0, index, ocl.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [
        [3, 4],
        [0, 2],
    ]
    n = 100_000
    index = ocl.tensor(np.arange(n) % 7)
    assert ocl.zeros(7).index_copy(0, index, ocl.tensor(np.arange(n, dtype=np.float32))).tolist() == [
        n - 1 - (n - 1 - i) % 7 for i in range(7)
    ]


def test_values_of_other_dtypes_are_converted():
    x = ocl.zeros(4, dtype=ocl.int64)
    x[[0, 1]] = ocl.tensor([1.7, -2.7])
    x[ocl.tensor([False, False, True, False])] = 9
    x[3:] = 4.5
    assert_same(x, torch.tensor([1, -2, 9, 4]))


def test_a_part_may_be_written_with_another():
    x = ocl.tensor(np.arange(12.0, dtype=np.float32).reshape(3, 4))
    x[[0, 1]] = x[1:]
    assert x.tolist() == [[4, 5, 6, 7], [8, 9, 10, 11], [8, 9, 10, 11]]


def test_in_place_operators_work_on_parts():
    x = ocl.zeros(4)
    x[[0, 2]] += 1
    x[x > 0.5] *= 3
    assert x.tolist() == [3, 0, 3, 0]


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (lambda t: t([1.0]), "tensors used as indices"),
        (lambda t: t([True, False]), "the shape of the mask"),
        (lambda t: (t([0, 1]), t([0, 1, 2])), "could not be broadcast together"),
        (lambda t: (0, 0, 0, t([0])), "too many indices"),
        (lambda t: t([3]), "index out of bounds: 3"),
        (lambda t: (slice(None), t([-5])), "index out of bounds: -5"),
        (lambda t: (t([0]), t([4])), "index out of bounds: 4"),
        (lambda t: 1.0, "tensor index"),
    ],
)
def test_wrong_indices(index, message):
    with pytest.raises(IndexError):
        torch.zeros(3, 4, 5)[index(torch.tensor)]
    x = ocl.zeros(3, 4, 5)
    with pytest.raises(IndexError, match=message):
        x[index(ocl.tensor)].numpy()
    with pytest.raises(IndexError, match=message):
        x[index(ocl.tensor)] = 1
        ocl.synchronize()


def test_a_changed_index_is_noticed_in_backward():
    x = ocl.ones(3).requires_grad_()
    index = ocl.tensor([0, 1])
    for function in (
        lambda: x[index],
        lambda: x.gather(0, index),
        lambda: x.index_select(0, index),
        lambda: (x * 1).scatter_add(0, index, ocl.ones(2)).gather(0, index),
    ):
        y = function().sum()
        index.add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def hot_index(n, rows):
    """Many duplicates of one place, some of others, in no order."""
    rng = np.random.default_rng(3)
    index = rng.integers(0, rows, n)
    index[rng.random(n) < 0.5] = rows // 2
    return index


@pytest.mark.parametrize("columns", [1, 3, 64, 65])
def test_sums_of_many_duplicates_are_exact_and_repeat(columns):
    n, rows = 20_000, 37
    index, source = hot_index(n, rows), numbers((n, columns))
    truth = np.zeros((rows, columns))
    np.add.at(truth, index, source.astype(np.float64))
    magnitude = np.zeros((rows, columns))
    np.add.at(magnitude, index, np.abs(source).astype(np.float64))

    def ours():
        target = ocl.zeros(rows, columns)
        return target.index_add(0, ocl.tensor(index), ocl.tensor(source)).numpy()

    first = ours()
    np.testing.assert_array_equal(first, ours())
    wide = np.ascontiguousarray(np.broadcast_to(index[:, None], source.shape))
    scattered = ocl.zeros(rows, columns).scatter_add(0, ocl.tensor(wide), ocl.tensor(source)).numpy()
    for result in (first, scattered):
        # Blocked sums: the error does not grow with the number of duplicates.
        assert (np.abs(result - truth) <= 4 * np.finfo(np.float32).eps * magnitude).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"])
def test_every_dtype_moves_and_adds(dtype):
    kind = getattr(ocl, dtype), getattr(torch, dtype)
    values = np.arange(12).reshape(3, 4) % 5
    index = [2, 0, 0]
    ours, theirs = ocl.tensor(values).to(kind[0]), torch.tensor(values).to(kind[1])
    assert_same(ours[index], theirs[index])
    assert_same(ours.tril(-1), theirs.tril(-1))
    assert_same(ours.sort(dim=0, stable=True).values, theirs.sort(dim=0, stable=True).values)
    assert_same(ours.argsort(dim=1, descending=True), theirs.argsort(dim=1, descending=True, stable=True))
    if dtype != "bool":
        added = [t.index_add(0, lib.tensor(index), t) for lib, t in ((ocl, ours), (torch, theirs))]
        assert_same(*added)


@pytest.mark.parametrize("n", [1000, 1025, 70_000])
@pytest.mark.parametrize("descending", [False, True])
def test_long_rows_sort_stably(n, descending):
    x = np.random.default_rng(n).integers(-20, 20, (3, n)).astype(np.float32)
    ours = ocl.tensor(x).sort(descending=descending)
    theirs = torch.tensor(x).sort(descending=descending, stable=True)
    assert_same(ours.values, theirs.values)
    assert_same(ours.indices, theirs.indices)


def test_many_true_elements():
    x = np.random.default_rng(0).random((300, 1001)) < 0.3
    assert_same(ocl.tensor(x).nonzero(), torch.tensor(x).nonzero())
