"""The work that profiles count, of calls whose work is known, and the ceilings that it is compared with."""

import csv
import json
import threading

import numpy as np
import pytest

import ocl
from ocl import nn
from ocl.profiler import ceilings, profile, record_calls

FLOAT = 4


def rows_of(recorded, folder):
    recorded.export_csv(str(folder / "launches.csv"))
    with open(folder / "launches.csv", newline="") as file:
        return list(csv.DictReader(file))


def work_of(rows):
    """(operations, bytes) of some launches, from their rates and times."""

    def total(rate):
        return sum(float(row[rate] or 0) * int(row["duration_ns"]) for row in rows)

    return total("gflops"), total("gbytes_per_s")


def tensors(*shapes, requires_grad=False):
    rng = np.random.default_rng(0)
    made = [ocl.tensor(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]
    return [t.requires_grad_(requires_grad) for t in made]


def tensors_in(value):
    if isinstance(value, ocl.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for part in value for t in tensors_in(part)] if isinstance(value, list) else []


def test_ceilings_are_measured_once(device):
    found = ceilings()
    assert found == ceilings(device) == ceilings(str(device))
    assert found.gflops > 0.1
    assert found.gbytes > 0.1


M, K, N = 96, 128, 160
CALLS = {
    "matrix product": (
        [(M, K), (K, N)],
        lambda a, b: a @ b,
        2 * M * K * N,
        FLOAT * (M * K + K * N + M * N),
    ),
    "batched product": (
        [(3, M, K), (3, K, N)],
        lambda a, b: a @ b,
        2 * 3 * M * K * N,
        FLOAT * 3 * (M * K + K * N + M * N),
    ),
    "convolution": (
        [(2, 8, 32, 32), (16, 4, 3, 3)],
        lambda x, w: nn.functional.conv2d(x, w, groups=2),
        2 * 2 * 16 * 30 * 30 * 4 * 9,
        FLOAT * (2 * 8 * 32 * 32 + 16 * 4 * 9 + 2 * 16 * 30 * 30),
    ),
    "attention": (  # without a gradient, for which probabilities [4, 64, 80] would be kept
        [(4, 64, 32), (4, 80, 32), (4, 80, 16)],
        nn.functional.scaled_dot_product_attention,
        2 * 4 * 64 * 80 * (32 + 16),
        FLOAT * 4 * (64 * 32 + 80 * 32 + 80 * 16 + 64 * 16),
    ),
    "pointwise": ([(300, 500)], lambda x: x.exp(), 0, FLOAT * 2 * 300 * 500),
    "in place": ([(300, 500)], lambda x: x.exp_(), 0, FLOAT * 2 * 300 * 500),
    "broadcast": (
        [(300, 500), (500,)],
        lambda x, row: x + row.expand(300, 500),
        0,
        FLOAT * (2 * 300 * 500 + 500),
    ),
    "embedding": (
        [(5000, 64)],
        lambda rows: nn.functional.embedding(ocl.arange(100), rows),
        0,
        FLOAT * 2 * 100 * 64 + 8 * 100,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_work_of_a_call(name, tmp_path):
    shapes, call, operations, traffic = CALLS[name]
    given = tensors(*shapes)
    with profile() as recorded:
        call(*given)
    rows = [row for row in rows_of(recorded, tmp_path) if row["operator"] != "arange"]
    found = work_of(rows)
    assert found[0] == pytest.approx(operations, rel=0.02)
    assert found[1] == pytest.approx(traffic, rel=0.02)


def test_what_a_primitive_calls_is_part_of_it(tmp_path):
    """A recurrent layer calls products of its own, whose operands are not counted again."""
    net, (x,) = nn.LSTM(24, 16), tensors((5, 3, 24))
    with ocl.no_grad():
        net(x)
        with record_calls() as recorded:
            net(x)
        with profile() as profiled:
            net(x)
    expected, within, nested = 0, -1, 0
    for call in recorded.calls:
        if call.depth <= within:
            within = -1
        if call.kind != "primitive":
            continue
        if within >= 0:
            nested += 1
            continue
        within = call.depth
        expected += sum(t.numel() * t.element_size() for t in tensors_in(call.arguments))
    assert nested > 0
    assert work_of(rows_of(profiled, tmp_path))[1] == pytest.approx(expected, rel=0.02)


def test_a_backward_pass_and_an_optimizer(tmp_path):
    w, x = tensors((200, 300), (64, 300))
    w.requires_grad_()
    optimizer = ocl.optim.AdamW([w])
    nn.functional.linear(x, w).sum().backward()
    optimizer.step()
    with profile() as recorded:
        loss = nn.functional.linear(x, w)
        loss.backward(loss.detach())
    product = 2 * 64 * 200 * 300
    assert work_of(rows_of(recorded, tmp_path))[0] == pytest.approx(2 * product, rel=0.02)
    with profile() as recorded:
        optimizer.step()
    # read: parameter, gradient, two moments; written: all but the gradient
    steps = [row for row in rows_of(recorded, tmp_path) if float(row["gbytes_per_s"] or 0)]
    assert work_of(steps)[1] == pytest.approx(7 * FLOAT * 200 * 300, rel=0.02)


def test_rates_are_compared_with_the_ceilings(tmp_path):
    a, b = tensors((256, 256), (256, 256))
    with profile() as recorded:
        for _ in range(3):
            (a @ b).exp()
    most = ceilings()
    rows = rows_of(recorded, tmp_path)
    assert len(rows) >= 6
    for row in rows:
        reached = max(float(row["gflops"] or 0) / most.gflops, float(row["gbytes_per_s"]) / most.gbytes)
        assert float(row["ceiling_percent"]) == pytest.approx(100 * reached, abs=0.1)
    products = [row for row in rows if row["gflops"]]
    assert {row["operator"] for row in products} == {"mm"}
    assert all(row["implementation"].startswith("gemm: ") for row in products)

    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    for row, event in zip(rows, [e for e in events if e["cat"] == "kernel"], strict=True):
        figures = event["args"]
        assert figures["GFLOP/s"] == (float(row["gflops"]) if row["gflops"] else None)
        assert figures["GB/s"] == float(row["gbytes_per_s"])
        assert figures["per cent of ceiling"] == float(row["ceiling_percent"])

    lines = recorded.table("operator").splitlines()
    assert lines[0].split()[-3:] == ["GFLOP/s", "GB/s", "ceiling"]
    assert f"{most.gflops:.1f} GFLOP/s in float32, {most.gbytes:.1f} GB/s" in lines[-2]
    (line,) = [line for line in lines if line.startswith("mm ")]
    operations, traffic = work_of(products)
    times = sum(int(row["duration_ns"]) for row in products)
    gflops, gbytes, percent = line.split()[-3:]
    assert float(gflops) == pytest.approx(operations / times, abs=0.11)
    assert float(gbytes) == pytest.approx(traffic / times, abs=0.11)
    ideal = sum(float(row["ceiling_percent"]) * int(row["duration_ns"]) for row in products) / times
    assert float(percent.rstrip("%")) == pytest.approx(ideal, abs=0.2)
    (line,) = [line for line in lines if line.startswith("exp ")]
    assert line.split()[-3] == "-"  # no product


def test_profiles_within_each_other_count_alike(tmp_path):
    (x,) = tensors((300, 500))
    with profile():
        with profile() as inner:
            x.exp()
        rows = rows_of(inner, tmp_path)
    assert work_of(rows)[1] == pytest.approx(FLOAT * 2 * 300 * 500, rel=0.02)


def test_what_other_threads_do_is_timed_but_not_counted(tmp_path):
    (x,) = tensors((300, 500))
    with profile() as recorded:
        thread = threading.Thread(target=x.exp)
        thread.start()
        thread.join()
    rows = rows_of(recorded, tmp_path)
    assert rows
    assert all(row["gflops"] == row["gbytes_per_s"] == row["ceiling_percent"] == "" for row in rows)
    line = recorded.table().splitlines()[1]
    assert line.split()[-3:] == ["-", "-", "-"]


def test_a_profile_that_another_thread_stops(tmp_path):
    (x,) = tensors((300, 500))
    recorded = profile().__enter__()
    x.exp()
    thread = threading.Thread(target=recorded.launches)
    thread.start()
    thread.join()
    assert len(recorded.launches()) == 1
    with profile() as after:
        x.exp()
    assert work_of(rows_of(after, tmp_path))[1] == pytest.approx(FLOAT * 2 * 300 * 500, rel=0.02)


def test_before_it_has_begun():
    for use in (
        profile.table,
        profile.launches,
        lambda p: p.export_csv("x"),
        lambda p: p.export_chrome_trace("x"),
    ):
        with pytest.raises(RuntimeError, match="nothing is recorded before `with profile"):
            use(profile())
    assert record_calls().calls == record_calls().choices == []
