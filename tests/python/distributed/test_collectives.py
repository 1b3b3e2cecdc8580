"""Every collective, over ranks that are processes; a program runs all sizes."""

import json

import numpy as np
import pytest
import torch
from ranks import run_ranks

# Elements around a group's pieces (4 MiB shared by the ranks), and few.
SIZES = [0, 1, 2, 3, 7, 1000, 1023, (1 << 20) - 1, 1 << 20, (1 << 20) + 1]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]

COMMON = """
def values(of_rank, count, dtype="float32", seed=0):
    drawn = np.random.default_rng((of_rank, count, seed)).integers(-8, 9, count)
    if dtype == "bool":
        return ocl.tensor(drawn > 0)
    return ocl.tensor((abs(drawn) if dtype == "uint8" else drawn).astype("float32")).to(getattr(ocl, dtype))

def same(actual, expected, what):
    actual = actual.float().numpy() if actual.dtype == ocl.bfloat16 else actual.numpy()
    expected = expected.float().numpy() if expected.dtype == ocl.bfloat16 else expected.numpy()
    assert actual.dtype == expected.dtype, what
    np.testing.assert_array_equal(actual, expected, err_msg=str(what))
"""


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_reduce_of_every_size(size):
    """Whole numbers, whose sums are exact in any order."""
    run_ranks(
        f"SIZES = {SIZES}"
        + COMMON
        + """
for count in SIZES:
    for op, fold in ((dist.ReduceOp.SUM, sum), (dist.ReduceOp.MAX, lambda all: np.max(list(all), 0))):
        t = values(rank, count)
        dist.all_reduce(t, op)
        expected = fold([values(r, count).numpy() for r in range(size)])
        same(t, ocl.tensor(np.asarray(expected, "float32")), (count, op))
""",
        size,
    )


def test_every_dtype_and_op():
    size = 3
    out = run_ranks(
        f"DTYPES = {DTYPES}"
        + """
import json
results = {}
for dtype in DTYPES:
    for op in ("SUM", "AVG", "MIN", "MAX", "PRODUCT"):
        t = ocl.tensor([1 + rank, 3 - rank, 0, 2], dtype=ocl.float32).to(getattr(ocl, dtype))
        try:
            dist.all_reduce(t, getattr(dist.ReduceOp, op))
        except TypeError as error:
            results[f"{dtype} {op}"] = str(error)
            continue
        assert str(t.dtype) == f"ocl.{dtype}" or dtype == "bool"
        results[f"{dtype} {op}"] = t.float().tolist()
print(json.dumps(results))
""",
        size,
    )
    results = [json.loads(text) for text in out]
    assert results[0] == results[1] == results[2]
    ranks = np.array([[1 + r, 3 - r, 0, 2] for r in range(size)], np.float64)
    for key, given in results[0].items():
        dtype, op = key.split()
        rows = (ranks != 0).astype(float) if dtype == "bool" else ranks
        if op == "AVG" and not getattr(torch, dtype).is_floating_point:
            assert "floating dtype" in given
            continue
        expected = {
            "SUM": rows.sum(0), "AVG": rows.mean(0), "MIN": rows.min(0), "MAX": rows.max(0),
            "PRODUCT": rows.prod(0),
        }[op]  # fmt: skip
        expected = np.minimum(expected, 1) if dtype == "bool" else expected
        rounded = torch.tensor(expected).to(getattr(torch, dtype)).float().tolist()
        assert given == rounded, key


def test_sums_are_made_in_the_order_of_ranks():
    """Bit for bit ((a + b) + c) + d, at every place of a tensor of several pieces; float16 rounds once."""
    run_ranks(
        """
for count in (5, 1000, 1_500_001):
    parts = [np.random.default_rng((r, count)).standard_normal(count).astype("float32") for r in range(size)]
    t = ocl.tensor(parts[rank])
    dist.all_reduce(t)
    expected = ((parts[0] + parts[1]) + parts[2]) + parts[3]
    np.testing.assert_array_equal(t.numpy(), expected)
    other_order = parts[0] + (parts[1] + (parts[2] + parts[3]))
    assert count < 1000 or (other_order != expected).any()
    halves = [part.astype("float16") for part in parts]
    t = ocl.tensor(halves[rank])
    dist.all_reduce(t)
    wide = [half.astype("float32") for half in halves]
    np.testing.assert_array_equal(t.numpy(), (((wide[0] + wide[1]) + wide[2]) + wide[3]).astype("float16"))
    wide = [ocl.tensor(part).bfloat16().float().numpy() for part in parts]
    t = ocl.tensor(parts[rank]).bfloat16()
    dist.all_reduce(t)
    expected = ocl.tensor(((wide[0] + wide[1]) + wide[2]) + wide[3]).bfloat16().float().numpy()
    np.testing.assert_array_equal(t.float().numpy(), expected)
""",
        4,
    )


def test_special_values_of_float16():
    """Conversions of all numbers there are: subnormal, infinite and NaN too."""
    run_ranks(
        """
every = np.arange(65536, dtype="uint16").view("float16")
t = ocl.tensor(every if rank == 0 else np.full(65536, 0.0001, "float16"))
dist.all_reduce(t)
with np.errstate(over="ignore", invalid="ignore"):
    expected = (every.astype("float32") + np.float16(0.0001).astype("float32")).astype("float16")
np.testing.assert_array_equal(t.numpy(), expected)
""",
        2,
    )


@pytest.mark.parametrize("size", [2, 3])
def test_others_of_every_size(size):
    run_ranks(
        f"SIZES = {SIZES[:-2]}"
        + COMMON
        + """
for count in SIZES:
    for root in (0, size - 1):
        t = values(rank, count)
        dist.broadcast(t, root)
        same(t, values(root, count), ("broadcast", count))
        t = values(rank, count)
        dist.reduce(t, root)
        total = sum(values(r, count).numpy() for r in range(size))
        same(t, ocl.tensor(total) if rank == root else values(rank, count), ("reduce", count))
        outputs = [ocl.zeros(count) for _ in range(size)] if rank == root else None
        dist.gather(values(rank, count), outputs, root)
        for r, output in enumerate(outputs or []):
            same(output, values(r, count), ("gather", count))
        t = ocl.zeros(count)
        dist.scatter(t, [values(r, count, seed=1) for r in range(size)] if rank == root else None, root)
        same(t, values(rank, count, seed=1), ("scatter", count))
    outputs = [ocl.zeros(count) for _ in range(size)]
    dist.all_gather(outputs, values(rank, count))
    for r, output in enumerate(outputs):
        same(output, values(r, count), ("all_gather", count))
    joined = ocl.zeros(size * count)
    dist.all_gather_into_tensor(joined, values(rank, count))
    same(joined, ocl.cat([values(r, count) for r in range(size)]), ("all_gather_into_tensor", count))
    t = ocl.zeros(count)
    dist.reduce_scatter(t, [values(rank, count, seed=s) for s in range(size)])
    expected = ocl.tensor(sum(values(r, count, seed=rank).numpy() for r in range(size)))
    same(t, expected, ("reduce_scatter", count))
    t = ocl.zeros(count)
    dist.reduce_scatter_tensor(t, ocl.cat([values(rank, count, seed=s) for s in range(size)]))
    same(t, expected, ("reduce_scatter_tensor", count))
    outputs = [ocl.zeros(count + r) for r in range(size)]
    dist.all_to_all(outputs, [values(rank, count + rank, seed=s) for s in range(size)])
    for r, output in enumerate(outputs):
        same(output, values(r, count + r, seed=rank), ("all_to_all", count))
""",
        size,
    )


def test_all_to_all_single_with_sizes():
    run_ranks(
        """
given = ocl.arange(6 * 2, dtype=ocl.float32).reshape(6, 2) + 100 * rank
sizes = [[1, 5], [4, 2]][rank]
expected_sizes = [[1, 4], [5, 2]][rank]
output = ocl.zeros(sum(expected_sizes), 2)
dist.all_to_all_single(output, given, expected_sizes, sizes)
rows = np.arange(12).reshape(6, 2)
expected = [np.concatenate([rows[:1], 100 + rows[:4]]), np.concatenate([rows[1:], 100 + rows[4:]])][rank]
np.testing.assert_array_equal(output.numpy(), expected)
even = ocl.zeros(6, 2)
dist.all_to_all_single(even, given)
np.testing.assert_array_equal(even.numpy(), np.concatenate([rows[3 * rank:][:3], 100 + rows[3 * rank:][:3]]))
""",
        2,
    )


def test_messages_in_any_order():
    """Both directions at once, large and small, of several ranks; each pair's in order."""
    run_ranks(
        """
sizes = [0, 1, 1 << 18, (1 << 18) + 1, 700_001]
works, received = [], []
for other in range(size):
    if other == rank:
        continue
    for count in sizes:
        t = ocl.zeros(count)
        received.append((other, count, t))
        works.append(dist.irecv(t, other, tag=count % 5))
for other in reversed(range(size)):
    if other != rank:
        works += [dist.isend(ocl.full((count,), float(10 * rank + other)), other, tag=count % 5)
                  for count in sizes]
total = ocl.ones(5)
dist.all_reduce(total)  # is not held up by messages
for work in works:
    work.wait()
for other, count, t in received:
    assert (t.numpy() == 10 * other + rank).all(), (other, count)
if rank == 0:
    dist.send(ocl.arange(3), 1)
elif rank == 1:
    t = ocl.zeros(3, dtype=ocl.int64)
    assert dist.recv(t, 0) == 0 and t.tolist() == [0, 1, 2]
""",
        3,
    )


def test_work_comes_in_the_order_of_the_queue():
    """A collective sees what was enqueued before it, and nothing that is enqueued after wait() is early."""
    run_ranks(
        """
t = ocl.zeros(300_000)
for step in range(20):
    for _ in range(5):
        t += 1
    work = dist.all_reduce(t, async_op=True)
    work.wait()
    assert work.is_completed()
    t /= size
assert (t.numpy() == 100).all()
works = []
many = [ocl.full((1000 + i,), float(i)) for i in range(30)]
for one in many:
    works.append(dist.all_reduce(one, async_op=True))
for i, (one, work) in enumerate(zip(many, works)):
    work.wait()
    assert (one.numpy() == size * i).all()
""",
        2,
    )


def test_tensors_that_are_not_contiguous():
    run_ranks(
        """
base = ocl.arange(24, dtype=ocl.float32).reshape(4, 6) * (rank + 1)
expected = base.numpy() * 3 / (rank + 1)
view = base.t()
dist.all_reduce(view)
np.testing.assert_array_equal(base.numpy(), expected)
base = ocl.zeros(4, 6)
dist.broadcast(base[:, ::2], 0) if rank else dist.broadcast(ocl.ones(4, 3), 0)
if rank:
    assert base.numpy()[:, ::2].all() and not base.numpy()[:, 1::2].any()
dist.all_gather([base[:, 1::2], ocl.zeros(4, 3)], ocl.full((3, 4), 7.0).t())
assert (base.numpy()[:, 1::2] == 7).all()
""",
        2,
    )


def test_groups():
    run_ranks(
        """
odd = dist.new_group([1, 3])
swapped = dist.new_group([2, 0])
everyone = dist.new_group()
assert dist.get_world_size(everyone) == 4 and dist.get_rank() == rank
t = ocl.full((3,), float(rank))
if rank in (1, 3):
    assert dist.get_rank(odd) == [1, 3].index(rank)
    dist.all_reduce(t, group=odd)
    assert (t.numpy() == 4).all()
    dist.broadcast(t, 3, group=odd)
    try:
        dist.broadcast(t, 0, group=odd)
        raise SystemExit("accepted")
    except ValueError as error:
        assert "rank 0 is not in the group [1, 3]" in str(error)
else:
    assert dist.get_rank(odd) == -1
    assert dist.get_rank(swapped) == [2, 0].index(rank)
    both = [ocl.zeros(3), ocl.zeros(3)]
    dist.all_gather(both, t, group=swapped)
    assert both[0].tolist() == [2] * 3 and both[1].tolist() == [0] * 3
# Two groups at once, in another order on each rank.
a, b = ocl.ones(4), ocl.ones(4)
calls = [lambda: dist.all_reduce(a, async_op=True), lambda: dist.all_reduce(b, group=everyone, async_op=True)]
works = [call() for call in (calls if rank % 2 else calls[::-1])]
for work in works:
    work.wait()
assert (a.numpy() == 4).all() and (b.numpy() == 4).all()
dist.destroy_process_group(everyone)
try:
    dist.all_reduce(a, group=everyone)
    raise SystemExit("accepted")
except ValueError as error:
    assert "destroyed" in str(error)
dist.barrier()
dist.destroy_process_group()
assert not dist.is_initialized()
""",
        4,
    )


def test_objects():
    run_ranks(
        """
all = [None] * size
dist.all_gather_object(all, {"rank": rank, "text": "x" * (10 ** rank)})
assert [one["rank"] for one in all] == list(range(size)) and len(all[2]["text"]) == 100
some = [("from", 1), 2] if rank == 1 else [None, None]
dist.broadcast_object_list(some, 1)
assert some == [("from", 1), 2]
large = [None] * size
dist.all_gather_object(large, "y" * 300_000)
assert [len(one) for one in large] == [300_000] * size
""",
        3,
    )


def test_shares_memory_on_one_host():
    out = run_ranks("print(dist.group.WORLD.shares_memory_with(1 - rank))", 2)
    assert [text.strip() for text in out] == ["True", "True"]
