"""DataLoader with worker processes: order, seeds, failures, and that nothing is left behind."""

import contextlib
import gc
import io
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from multiprocessing import forkserver
from pathlib import Path

import numpy as np
import pytest
import worker_datasets as samples
from PIL import Image
from processes import run, start

import ocl
from ocl.utils.data import DataLoader, Dataset, TensorDataset, transfer

PROC = Path("/proc/self")


def open_ends():
    """Errors of memory and pipes between processes, not the kernel cache's files."""
    if not PROC.is_dir():
        return 0
    targets = [os.readlink(path) for path in (PROC / "fd").iterdir() if os.path.islink(path)]
    return sum(target.startswith(("/memfd:ocl-batch", "pipe:", "socket:")) for target in targets)


def mapped_batches():
    return (PROC / "maps").read_text().count("memfd:ocl-batch") if PROC.is_dir() else 0


@pytest.fixture(autouse=True)
def nothing_is_left():
    """No process, no block of shared memory and no pipe outlives a test."""
    forkserver.ensure_running()
    gc.collect()
    before = open_ends()
    yield
    gc.collect()
    gc.collect()  # what a collected loader's finalizer held
    assert multiprocessing.active_children() == []
    assert mapped_batches() == 0
    assert open_ends() <= before


def values(batch):
    return batch.numpy().tolist()


def indices(loader):
    return [value for _, index in loader for value in values(index)]


# --- batches ---


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_batches_come_in_order(workers):
    loader = DataLoader(samples.Rows(), 3, num_workers=workers, device=ocl.get_default_device())
    batches = list(loader)
    assert len(batches) == len(loader) == 7
    assert [tuple(x.shape) for x, _ in batches] == [(3, 3)] * 6 + [(2, 3)]
    assert [value for _, y in batches for value in values(y)] == list(range(20))
    assert values(batches[4][0]) == [[12] * 3, [13] * 3, [14] * 3]


def test_the_same_batches_as_without_workers():
    options = dict(batch_size=4, shuffle=True, generator=5, drop_last=True)
    assert indices(DataLoader(samples.Rows(), num_workers=2, **options)) == indices(
        DataLoader(samples.Rows(), **options)
    )


def share_of_waiting(loader, step):
    """The time of a pass after its first batch, by a device that takes `step` seconds for each."""
    batches = iter(loader)
    next(batches)
    start, waited = time.perf_counter(), 0.0
    for _ in range(len(loader) - 1):
        time.sleep(step)
        before = time.perf_counter()
        next(batches)
        waited += time.perf_counter() - before
    return waited / (time.perf_counter() - start)


def test_the_device_never_waits_for_what_two_workers_can_decode():
    """Steps that take as long as decoding in one process: two have time to spare, on a busy machine too."""
    noise = np.random.default_rng(0).integers(0, 256, (16, 300, 400, 3), np.uint8)
    files = []
    for pixels in noise:
        Image.fromarray(pixels).save(file := io.BytesIO(), "jpeg")
        files.append(file.getvalue())
    pictures = samples.Photographs(files * 8)
    alone = DataLoader(pictures, 8)
    batches = iter(alone)
    next(batches)
    start = time.perf_counter()
    next(batches)
    step = max(1.5 * (time.perf_counter() - start), 0.02)
    assert share_of_waiting(alone, step) > 0.2
    loader = DataLoader(pictures, 8, num_workers=2, persistent_workers=True)
    assert min(share_of_waiting(loader, step) for _ in range(3)) < 0.05


def test_nested_samples_keep_their_structure():
    (batch,) = DataLoader(samples.Nested(4), 4, num_workers=1)
    assert list(batch) == ["image", "name", "points"]
    assert batch["image"].dtype == ocl.uint8 and tuple(batch["image"].shape) == (4, 2, 2)
    assert batch["name"] == [f"sample {i}" for i in range(4)]
    assert type(batch["points"]) is samples.Point
    assert values(batch["points"].x) == [0, 1, 2, 3]
    assert values(batch["points"].y[0]) == [0.0, 1.0, 2.0, 3.0]
    assert values(batch["points"].y[1]) == [True, False, True, False]


def test_large_batches_pass_through_shared_memory():
    (rows, index), *_ = DataLoader(samples.Rows(4, width=3_000_000), 4, num_workers=1)
    assert tuple(rows.shape) == (4, 3_000_000)
    assert values(rows[:, -1]) == [0, 1, 2, 3]


def test_an_empty_dataset_has_no_batches():
    assert list(DataLoader(samples.Rows(0), 4, num_workers=2)) == []
    assert list(DataLoader(samples.Rows(0), 4, num_workers=2, shuffle=True)) == []
    assert list(DataLoader(samples.Stream(0), 4, num_workers=2)) == []


def test_without_batching_samples_come_alone():
    got = list(DataLoader(samples.Rows(3), batch_size=None, num_workers=2))
    assert [values(row) for row, _ in got] == [[0] * 3, [1] * 3, [2] * 3]
    assert [index for _, index in got] == [0, 1, 2]


def test_ragged_samples():
    with pytest.raises(ValueError, match="(?s)worker process 0.*unequal shape"):
        list(DataLoader(samples.Ragged(), 4, num_workers=1))
    batch = next(iter(DataLoader(samples.Ragged(), 4, num_workers=1, collate_fn=samples.widths)))
    assert batch["count"] == 4
    assert values(batch["total"]) == [1, 2, 3, 1]


def test_arrays_need_no_process():
    data = TensorDataset(np.arange(10), np.arange(10))
    loader = DataLoader(data, 3, num_workers=2)
    iterator = iter(loader)
    first = next(iterator)
    assert multiprocessing.active_children() == []
    assert values(first[0]) == [0, 1, 2]
    assert [values(x) for x, _ in iterator] == [[3, 4, 5], [6, 7, 8], [9]]


# --- streams ---


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_streams(workers):
    batches = [values(batch) for batch in DataLoader(samples.Stream(), 2, num_workers=workers)]
    assert sorted(sum(batches, [])) == list(range(10))
    if workers == 3:
        assert batches == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]


def test_streams_that_end_at_different_times():
    assert [values(batch) for batch in DataLoader(samples.UnevenStream(), 2, num_workers=2)] == [
        [0, 1],
        [100],
        [2, 3],
        [4, 5],
        [6],
    ]
    dropped = [
        values(batch) for batch in DataLoader(samples.UnevenStream(), 2, num_workers=2, drop_last=True)
    ]
    assert dropped == [[0, 1], [2, 3], [4, 5]]


# --- who the workers are ---


def test_worker_info_and_init():
    loader = DataLoader(
        samples.WorkerIdentity(8), 2, num_workers=2, generator=3, worker_init_fn=samples.Opener()
    )
    batches = [[values(column) for column in batch] for batch in loader]
    assert [batch[0] for batch in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [batch[2] for batch in batches] == [[0, 0], [1, 1], [0, 0], [1, 1]]
    assert {count for batch in batches for count in batch[3]} == {2}
    assert batches[1][4][0] == batches[0][4][0] + 1, "a worker's seed is the base seed and its number"
    assert [batch[5][0] for batch in batches] == [0, 10, 0, 10]
    assert os.getpid() not in {pid for batch in batches for pid in batch[1]}


def test_persistent_workers_stay():
    loader = DataLoader(samples.WorkerIdentity(4), 2, num_workers=2, persistent_workers=True)
    first, second = ([values(batch[1]) for batch in loader] for _ in range(2))
    assert first == second
    assert len(multiprocessing.active_children()) == 2
    other = DataLoader(samples.WorkerIdentity(4), 2, num_workers=2)
    assert [values(batch[1]) for batch in other] != [values(batch[1]) for batch in other]


def test_a_new_pass_takes_over_persistent_workers():
    loader = DataLoader(samples.Rows(), 2, num_workers=2, persistent_workers=True)
    old = iter(loader)
    assert values(next(old)[1]) == [0, 1]
    assert indices(loader) == list(range(20))
    with pytest.raises(RuntimeError, match="later pass"):
        list(old)
    assert indices(loader) == list(range(20))


# --- seeds ---


def draws(workers, seed=7, **options):
    ocl.manual_seed(seed)
    loader = DataLoader(samples.Drawing(), 3, shuffle=True, num_workers=workers, **options)
    return [
        [tuple(row) for row in zip(*map(values, batch), strict=True)] for _ in range(2) for batch in loader
    ]


def test_draws_do_not_depend_on_the_number_of_workers():
    one = draws(1)
    assert one == draws(3) == draws(2, persistent_workers=True)
    drawn = [row[1:] for batch in one for row in batch]
    assert len(set(drawn)) == len(drawn) == 40, "no number is drawn twice"
    assert one != draws(1, seed=8)


def test_transforms_draw_the_same_without_workers():
    assert [[row[:2] for row in batch] for batch in draws(0)] == [
        [row[:2] for row in batch] for batch in draws(1)
    ]


# --- failures ---


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("raise_value_error", ValueError, "this sample is bad"),
        ("raise_key_error", KeyError, "missing"),
        ("raise_stop_iteration", RuntimeError, "StopIteration"),
        ("raise_own_error", RuntimeError, "ErrorOfTwoArguments"),
        ("raise_huge_error", RuntimeError, "xxxx"),
    ],
)
def test_exceptions_arrive_with_the_traceback(what, kind, message):
    loader = DataLoader(samples.Misbehaving(what), 2, num_workers=2)
    iterator = iter(loader)
    assert [values(next(iterator)[1]) for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(kind) as caught:
        next(iterator)
    text = str(caught.value)
    assert "worker process 0" in text and message in text
    if what != "raise_huge_error":
        assert "__getitem__" in text and "worker_datasets.py" in text
    with pytest.raises(StopIteration):
        next(iterator)


@pytest.mark.parametrize(
    ("what", "code"),
    [("exit", "exit code 3"), ("abort", "exit code 7"), ("kill", r"exit code -9 \(SIGKILL\)")],
)
def test_a_worker_that_dies_is_a_runtime_error(what, code):
    with pytest.raises(RuntimeError, match=rf"worker 0 \(pid \d+\) exited unexpectedly with {code}"):
        list(DataLoader(samples.Misbehaving(what, at=6), 3, num_workers=2, prefetch_factor=1))


WITHOUT_A_GUARD = """
import numpy as np
from ocl.utils.data import DataLoader, TensorDataset

class Rows(TensorDataset):
    def arrays(self):
        return None

for batch in DataLoader(Rows(np.zeros((8, 2), np.float32)), 4, num_workers=1):
    pass
"""


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_a_script_without_a_main_guard_is_told_so_last(tmp_path, method):
    program = tmp_path / "program.py"
    program.write_text(
        WITHOUT_A_GUARD.replace("num_workers=1", f"num_workers=1, multiprocessing_context='{method}'")
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: DataLoader worker 0")
    assert last.endswith('must begin its work under `if __name__ == "__main__":`')


def test_a_persistent_loader_recovers_from_a_death():
    loader = DataLoader(samples.Rows(), 5, num_workers=2, persistent_workers=True)
    assert len(indices(loader)) == 20
    os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="SIGKILL"):
        while True:
            indices(loader)
    assert indices(loader) == list(range(20))


def test_a_hanging_worker_times_out_and_is_ended():
    loader = DataLoader(samples.Misbehaving("hang", at=3), 2, num_workers=2, timeout=1)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="timed out after 1 seconds"):
        list(loader)
    assert time.monotonic() - start < 10


def test_failing_worker_init():
    with pytest.raises(OSError, match="(?s)worker process 0.*cannot open its file"):
        list(DataLoader(samples.Rows(), 2, num_workers=2, worker_init_fn=samples.failing_worker_init))


class HoldsTensor(Dataset):
    def __init__(self):
        self.tensor = ocl.tensor([1.0])


def test_what_cannot_be_sent_is_refused_with_advice():
    class Local(samples.Rows):
        pass

    with pytest.raises(TypeError, match="top of a module"):
        iter(DataLoader(Local(), 2, num_workers=2))
    with pytest.raises(TypeError, match="collate_fn.*lambda"):
        iter(DataLoader(samples.Rows(), 2, num_workers=1, collate_fn=lambda batch: batch))
    with pytest.raises(TypeError, match="ocl tensor.*numpy"):
        iter(DataLoader(HoldsTensor(), 2, num_workers=1))


# --- nothing is left behind ---


def test_a_pass_that_is_left_early():
    for _ in DataLoader(samples.Rows(width=100_000), 2, num_workers=2):
        break
    iterator = iter(DataLoader(samples.Misbehaving("hang", at=4), 2, num_workers=2))
    next(iterator)
    start = time.monotonic()
    del iterator
    gc.collect()
    assert time.monotonic() - start < 3
    assert multiprocessing.active_children() == []


def test_a_loader_that_is_dropped_ends_its_persistent_workers():
    loader = DataLoader(samples.Rows(), 2, num_workers=2, persistent_workers=True)
    next(iter(loader))
    del loader
    gc.collect()
    assert multiprocessing.active_children() == []


INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, "tests/python/data")
import ocl
import worker_datasets as samples
from ocl.utils.data import DataLoader

ocl.set_default_device(os.environ.get("OCL_TEST_DEVICE", "ocl:0"))
loader = DataLoader(samples.Misbehaving("hang", at=4), 2, num_workers=2, persistent_workers=True)
try:
    for number, batch in enumerate(loader):
        print("batch")
        if number == 1:
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
except KeyboardInterrupt:
    print("interrupted")
if sys.argv[1] == "raise":
    kept = iter(DataLoader(samples.Rows(), 2, num_workers=2))
    next(kept)
"""


@pytest.mark.parametrize("ending", ["raise", "return"])
def test_ctrl_c_and_the_end_of_the_process(ending):
    output, errors = run(INTERRUPTED, ending)
    assert output.split() == ["batch", "batch", "interrupted"]
    assert errors == ""


ORPHANED = """
import os, sys
sys.path.insert(0, "tests/python/data")
import ocl
import worker_datasets as samples
from ocl.utils.data import DataLoader
import multiprocessing

ocl.set_default_device(os.environ.get("OCL_TEST_DEVICE", "ocl:0"))
iterator = iter(DataLoader(samples.Misbehaving("hang", at=2), 2, num_workers=2))
next(iterator)
print(*[child.pid for child in multiprocessing.active_children()], flush=True)
os.kill(os.getpid(), 9)
"""


def test_workers_end_with_a_parent_that_is_killed():
    output, _ = start(ORPHANED).communicate(timeout=60)
    pids = [int(pid) for pid in output.split()]
    assert len(pids) == 2
    deadline = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, pids))


class TestBlock:
    def passed(self, value):
        near, far = multiprocessing.Pipe()
        transfer.Block.of(value).send(near)
        return transfer.Block.received(far)

    @pytest.mark.parametrize(
        "value",
        [
            None,
            [np.arange(5), "text", np.zeros((0, 3))],
            [np.zeros(0), np.zeros(0)],
            {"a": np.arange(100_000).reshape(10, -1), "b": np.float32(2)},
        ],
    )
    def test_a_value_arrives(self, value):
        np.testing.assert_equal(self.passed(value).take(), value)

    def test_arrays_can_be_written_and_stay_mapped_while_they_are_kept(self):
        first, second = self.passed([np.arange(10), np.arange(10.0)]).take()
        del second
        first += 1
        assert first.tolist() == list(range(1, 11))
        assert first.ctypes.data % 64 == 0

    def test_one_that_nobody_takes_is_gone_with_its_last_owner(self):
        before = open_ends()
        kept = [self.passed(np.zeros(100)) for _ in range(20)]
        assert open_ends() >= before + 20
        del kept
        assert open_ends() == before

    def test_too_many_open_files_are_an_error_that_says_so(self):
        near, far = multiprocessing.Pipe()
        block = transfer.Block.of(1)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        highest = max(int(path.name) for path in (PROC / "fd").iterdir())
        block.send(near)
        free = []
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 2, before[1]))
            with contextlib.suppress(OSError):
                while True:
                    free.append(os.dup(0))
            os.close(free.pop())  # receiving makes a second descriptor of the pipe
            with pytest.raises(RuntimeError, match="too many open files"):
                transfer.Block.received(far)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            for descriptor in free:
                os.close(descriptor)

    def test_a_sender_that_dies_on_the_way(self):
        near, far = multiprocessing.Pipe()
        near.send([])
        near.close()
        with pytest.raises(EOFError):
            transfer.Block.received(far)


def is_running(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_other_start_methods(method):
    loader = DataLoader(samples.Rows(6), 2, num_workers=1, multiprocessing_context=method)
    assert indices(loader) == list(range(6))
