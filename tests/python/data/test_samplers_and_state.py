"""Samplers, datasets of datasets, collating, the arguments and the state of the loader, beside PyTorch's."""

import abc
import collections
import itertools
import json

import numpy as np
import pytest
import torch
import worker_datasets as samples

import ocl
from ocl.utils import data
from ocl.utils.data import DataLoader

theirs = torch.utils.data


# --- samplers ---


def test_samplers_visit_what_they_should():
    rows = samples.Rows(10)
    assert list(data.SequentialSampler(rows)) == list(range(10))
    assert sorted(data.RandomSampler(rows)) == list(range(10))
    assert len(list(data.RandomSampler(rows, num_samples=25))) == 25
    assert sorted(list(data.RandomSampler(rows, num_samples=25, generator=1))[:20]) == sorted(
        2 * list(range(10))
    )
    assert set(data.RandomSampler(rows, True, 1000)) == set(range(10))
    assert sorted(data.SubsetRandomSampler([3, 5, 9])) == [3, 5, 9]
    assert list(data.BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(data.BatchSampler(data.SequentialSampler(rows), 4, True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    drawn = list(data.WeightedRandomSampler([0, 1, 3], 4000, generator=2))
    np.testing.assert_allclose(np.bincount(drawn) / 4000, [0, 0.25, 0.75], atol=0.03)
    assert sorted(data.WeightedRandomSampler([1, 1, 0, 2], 3, replacement=False)) == [0, 1, 3]


def test_generators_of_samplers():
    def order(generator):
        return list(data.RandomSampler(samples.Rows(50), generator=generator))

    assert order(4) == order(4) != order(5)
    assert order(ocl.Generator().manual_seed(4)) == order(4)
    assert order(np.random.default_rng(1)) == order(np.random.default_rng(1))
    with pytest.raises(TypeError, match="generator"):
        order("4")


def endless_samplers():
    """Samplers of orders that no memory holds, by name."""
    rows = samples.Rows(50)
    return {
        "replacement": data.RandomSampler(rows, True, 10**10, generator=1),
        "permutations": data.RandomSampler(rows, False, 10**10, generator=1),
        "one": data.RandomSampler(samples.Rows(1), False, 10**10, generator=1),
        "weighted": data.WeightedRandomSampler(np.arange(50), 10**10, generator=1),
        "in order": data.SequentialSampler(range(10**12)),
    }


@pytest.mark.parametrize("name", endless_samplers())
def test_samplers_draw_what_is_needed(name):
    sampler = endless_samplers()[name]
    assert len(sampler) == (10**12 if name == "in order" else 10**10)
    first = list(itertools.islice(sampler, 2000))
    again = endless_samplers()[name]
    batches = list(itertools.islice(data.BatchSampler(again, 32, False), 100))
    assert first == [index for batch in batches for index in batch][:2000]
    assert {len(batch) for batch in batches} == {32}
    if name == "permutations":
        assert sorted(first[:50]) == sorted(first[50:100]) == list(range(50))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", ["replacement", "permutations", "weighted"])
def test_a_loader_draws_what_is_needed(name, workers):
    def first_batches():
        loader = DataLoader(samples.Rows(50), 4, sampler=endless_samplers()[name], num_workers=workers)
        batches = [labels.tolist() for _, labels in itertools.islice(loader, 3)]
        state = loader.state_dict()
        return batches, state, loader

    batches, state, loader = first_batches()
    assert sum(batches, []) == list(itertools.islice(endless_samplers()[name], 12))
    following = [labels.tolist() for _, labels in itertools.islice(resumed(loader, state), 2)]
    assert sum(batches + following, []) == list(itertools.islice(endless_samplers()[name], 20))
    # A pass that is given up leaves the same pass to come, however far workers were ahead.
    assert [y.tolist() for _, y in itertools.islice(loader, 1)] == [
        y.tolist() for _, y in itertools.islice(first_batches()[2], 1)
    ]


def resumed(loader, state):
    loader.load_state_dict(state)
    return loader


@pytest.mark.parametrize("size", [1, 7, 100, 101, 250])
@pytest.mark.parametrize("name", ["replacement", "permutations", "one", "weighted"])
def test_batches_are_cut_across_the_parts_of_an_order(name, size, monkeypatch):
    monkeypatch.setattr(data.sampler, "_AT_ONCE", 100)
    monkeypatch.setattr(data.sampler, "_FEW", 60)
    sampler = endless_samplers()[name]
    vars(sampler).update({key: 1005 for key in ("num_samples", "_num_samples") if key in vars(sampler)})
    start = sampler.state_dict()
    order = list(sampler)
    following = sampler.state_dict()
    assert len(order) == 1005
    sampler.load_state_dict(start)
    batches = list(data.BatchSampler(sampler, size, False))
    assert sum(batches, []) == order
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    sampler.load_state_dict(start)
    next(iter(sampler))  # given up at once
    assert sampler.state_dict() == following


def test_short_orders_are_those_of_before():
    """The result of a seed is part of the interface: states and seeds of older programs go on."""
    rows = samples.Rows(10)
    drawn = np.random.Generator(np.random.Philox(3))
    assert list(data.RandomSampler(rows, True, 1000, generator=3)) == drawn.integers(10, size=1000).tolist()
    drawn = np.random.Generator(np.random.Philox(3))
    twice = [*drawn.permutation(10), *drawn.permutation(10)]
    assert list(data.RandomSampler(rows, num_samples=15, generator=3)) == twice[:15]


def test_endless_samplers_and_streams():
    class Endless(data.Sampler[int]):
        def __iter__(self):
            return itertools.cycle([3, 1, 2])

    batches = itertools.islice(data.BatchSampler(Endless(), 2, True), 3)
    assert list(batches) == [[3, 1], [2, 3], [1, 2]]
    for workers in (0, 2):
        loader = DataLoader(samples.Rows(5), 2, sampler=Endless(), num_workers=workers)
        assert [y.tolist() for _, y in itertools.islice(loader, 3)] == [[3, 1], [2, 3], [1, 2]]
        loader = DataLoader(samples.Rows(5), batch_sampler=data.BatchSampler(Endless(), 2, True))
        assert [y.tolist() for _, y in itertools.islice(loader, 2)] == [[3, 1], [2, 3]]
        stream = DataLoader(samples.Stream(10**12), 2, num_workers=workers)
        assert [tuple(x.shape) for x in itertools.islice(stream, 5)] == 5 * [(2,)]


@pytest.mark.parametrize(
    "name",
    [
        *("Dataset", "IterableDataset", "StackDataset", "ConcatDataset", "Subset", "ChainDataset"),
        *("Sampler", "DataLoader"),
    ],
)
def test_generic_classes(name):
    kind = getattr(data, name)
    assert kind[int] is not None

    class Derived(kind[list[int]]):
        pass

    assert issubclass(Derived, kind)

    class Abstract(kind, abc.ABC):
        pass


def test_hierarchy_of_datasets_is_that_of_pytorch():
    classes = ["Dataset", "IterableDataset", "TensorDataset", "ConcatDataset", "ChainDataset", "Subset"]
    classes += ["StackDataset", "Sampler", "RandomSampler", "BatchSampler", "SequentialSampler"]
    for one in classes:
        for other in classes:
            expected = issubclass(getattr(theirs, one), getattr(theirs, other))
            assert issubclass(getattr(data, one), getattr(data, other)) == expected, (one, other)
    with pytest.raises(TypeError, match="len"):
        len(data.Dataset())


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("BatchSampler", (range(3), 0, False)),
        ("BatchSampler", (range(3), True, False)),
        ("BatchSampler", (range(3), 2, 1)),
        ("RandomSampler", ([1], 1)),
        ("RandomSampler", ([1], False, -1)),
        ("WeightedRandomSampler", ([1], 0)),
        ("WeightedRandomSampler", ([1], 1, 1)),
        ("WeightedRandomSampler", ([[1]], 1)),
        ("ConcatDataset", ([],)),
    ],
)
def test_arguments_refused_as_in_pytorch(name, arguments):
    with pytest.raises((TypeError, ValueError, AssertionError)) as reference:
        getattr(theirs, name)(*arguments)
    kind = ValueError if reference.type is AssertionError else reference.type
    with pytest.raises(kind):
        getattr(data, name)(*arguments)


def test_a_sampler_with_its_own_iter_counts():
    class Backwards(data.SequentialSampler):
        def __iter__(self):
            return iter(range(len(self.data_source) - 1, -1, -1))

    rows = samples.Rows(5)
    loader = DataLoader(rows, 2, sampler=Backwards(rows))
    assert [y.tolist() for _, y in loader] == [[4, 3], [2, 1], [0]]
    batches = DataLoader(data.TensorDataset(np.arange(6)), batch_sampler=[[5, 0], [1]])
    assert [x.tolist() for (x,) in batches] == [[5, 0], [1]]
    assert len(batches) == 2


# --- datasets of datasets ---


def test_datasets_of_datasets():
    first, second = samples.Rows(3), samples.Rows(2)
    both = first + second
    assert len(both) == 5
    assert [both[i][1] for i in (0, 2, 3, 4, -1)] == [0, 2, 0, 1, 1]
    with pytest.raises(IndexError):
        both[5]
    with pytest.raises(ValueError):
        both[-6]
    chained = samples.Stream(2) + samples.Stream(3)
    assert list(chained) == [0, 1, 0, 1, 2]
    assert data.StackDataset(a=first, b=first)[1]["b"][1] == 1
    with pytest.raises(ValueError, match="equal length"):
        data.StackDataset(first, second)


@pytest.mark.parametrize("lengths", [[3, 7], [0.3, 0.3, 0.4], [0.25, 0.75], [10]])
def test_random_split(lengths):
    rows = samples.Rows(10)
    parts = data.random_split(rows, lengths, generator=1)
    reference = theirs.random_split(range(10), lengths)
    assert [len(part) for part in parts] == [len(part) for part in reference]
    assert sorted(part[i][1] for part in parts for i in range(len(part))) == list(range(10))
    with pytest.raises(ValueError, match="add up"):
        data.random_split(rows, [3, 3])


# --- collating ---

Pair = collections.namedtuple("Pair", "first second")


def shape_of(value):
    """Types, dtypes and numbers of a batch, the same for ours and PyTorch's."""
    if isinstance(value, (np.ndarray, torch.Tensor)):
        dtype = str(value.dtype).removeprefix("torch.").replace("float64", "float32")
        return dtype, np.asarray(value).tolist()
    if isinstance(value, dict):
        return type(value), {key: shape_of(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        kind = type(value) if hasattr(value, "_fields") else list
        return kind, [shape_of(part) for part in value]
    return value


@pytest.mark.parametrize(
    "batch",
    [
        [1, 2],
        [0.5, 1.5],
        [True, False],
        ["a", "bc"],
        [b"a", b"bc"],
        [np.float32(1), np.float32(2)],
        [np.int64(3), np.int64(4)],
        [np.arange(3), np.arange(3)],
        [(1, 2.0), (3, 4.0)],
        [[1, "x"], [2, "y"]],
        [Pair(1, [2, 3]), Pair(4, [5, 6])],
        [{"a": 1, "b": {"c": [1.0]}}, {"a": 2, "b": {"c": [2.0]}}],
        [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
        [collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)],
    ],
)
def test_collate_like_pytorch(batch):
    assert shape_of(data.default_collate(batch)) == shape_of(theirs.default_collate(batch))


@pytest.mark.parametrize("batch", [[[1], [1, 2]], [object(), object()], [None], [{"a": 1}, {"b": 1}]])
def test_collate_refuses_like_pytorch(batch):
    with pytest.raises((RuntimeError, TypeError, KeyError)) as reference:
        theirs.default_collate(batch)
    with pytest.raises(reference.type):
        data.default_collate(batch)


# --- the loader's arguments ---


@pytest.mark.parametrize(
    "options",
    [
        dict(num_workers=-1),
        dict(timeout=-1),
        dict(prefetch_factor=2),
        dict(persistent_workers=True),
        dict(sampler=range(3), shuffle=True),
        dict(batch_sampler=[[0]], batch_size=2),
        dict(batch_sampler=[[0]], drop_last=True),
        dict(batch_size=None, drop_last=True),
    ],
)
def test_loader_arguments_refused_as_in_pytorch(options):
    with pytest.raises(ValueError):
        theirs.DataLoader(range(3), **options)
    with pytest.raises(ValueError, match="DataLoader"):
        DataLoader(range(3), **options)


@pytest.mark.parametrize("options", [dict(shuffle=True), dict(sampler=range(3)), dict(batch_sampler=[[0]])])
def test_streams_have_no_order(options):
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(samples.Stream(), **options)


# --- state ---


def batches_of(loader):
    return [[np.asarray(part).tolist() for part in batch] for batch in loader]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("generator", [None, 11])
def test_a_pass_is_resumed(workers, generator):
    def made():
        return DataLoader(samples.Drawing(), 3, shuffle=True, num_workers=workers, generator=generator)

    def draws(batches):
        return [batch[:2] if workers == 0 else batch for batch in batches]

    ocl.manual_seed(1)
    whole = made()
    passes = [draws(batches_of(whole)) for _ in range(3)]
    ocl.manual_seed(1)
    stopped = made()
    batches_of(stopped)
    iterator = iter(stopped)
    for _ in range(3):
        next(iterator)
    state = json.loads(json.dumps(stopped.state_dict()))
    del iterator
    ocl.manual_seed(1 if generator is None else 99)
    resumed = made()
    resumed.load_state_dict(state)
    assert resumed.state_dict() == state
    assert draws(batches_of(resumed)) == passes[1][3:]
    assert draws(batches_of(resumed)) == passes[2]


@pytest.mark.parametrize("kind", ["arrays", "stream", "sampler", "plain"])
def test_other_passes_are_resumed(kind):
    def made():
        if kind == "arrays":
            return DataLoader(data.TensorDataset(np.arange(20)), 3, shuffle=True, generator=4)
        if kind == "stream":
            return DataLoader(samples.Stream(20), 3)
        if kind == "sampler":
            sampler = data.WeightedRandomSampler(np.arange(1, 21), 15, generator=3)
            return DataLoader(samples.Rows(), 4, sampler=sampler)
        return DataLoader(samples.Rows(), batch_size=None)

    def flat(batches):
        return [
            np.asarray(batch if isinstance(batch, ocl.Tensor) else batch[-1]).tolist() for batch in batches
        ]

    expected = flat(made())
    stopped = made()
    iterator = iter(stopped)
    taken = flat([next(iterator), next(iterator)])
    resumed = made()
    resumed.load_state_dict(stopped.state_dict())
    assert taken + flat(resumed) == expected


def test_states_that_do_not_fit():
    loader = DataLoader(samples.Rows(), 4)
    with pytest.raises(ValueError, match="batch_size 3.*4"):
        loader.load_state_dict(DataLoader(samples.Rows(), 3).state_dict())
    with pytest.raises(ValueError, match="lacks"):
        loader.load_state_dict({})
    for position in (-1, "x", 2.5, None):
        with pytest.raises(ValueError, match="position"):
            loader.load_state_dict({**loader.state_dict(), "position": position})
    with pytest.raises(ValueError, match="whole number"):
        DataLoader(samples.Rows(), 2.5)
    list(loader)
    assert loader.state_dict()["position"] == 0


@pytest.mark.parametrize("error", [ValueError, RuntimeError])
def test_samples_of_unequal_shape_are_pytorchs_error_too(error):
    with pytest.raises(error, match=r"unequal shape \[\(1,\), \(2,\)\]"):
        data.default_collate([np.zeros(1), np.zeros(2)])
    with pytest.raises(error, match="unequal shape"):
        next(iter(data.DataLoader([ocl.zeros(1), ocl.zeros(2)], batch_size=2)))
