"""Devices, memory, waiting, threads and the profiler, as seen from Python."""

import concurrent.futures
import csv
import gc
import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import processes
import pytest
import torch
from support import in_threads

import ocl

MIB = 1 << 20


# --- the import


def test_what_few_programs_need_is_imported_when_asked_for():
    processes.run("""
import sys, ocl
late = {f"ocl.{name}" for name in ("datasets", "models", "transforms", "utils")}
assert not late & set(sys.modules) and {name[4:] for name in late} <= set(dir(ocl))
assert ocl.datasets.MNIST and ocl.models.resnet18 and {"ocl.datasets", "ocl.models"} <= set(sys.modules)
from ocl import transforms
assert transforms is ocl.transforms and ocl.utils.data.DataLoader
""")


def test_a_bare_import_loads_no_other_library_and_nothing_slow():
    processes.run("""
import sys
before = set(sys.modules)
import ocl
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
assert loaded - sys.stdlib_module_names == {"ocl"}, loaded - sys.stdlib_module_names
slow = {"asyncio", "concurrent", "csv", "ctypes.util", "decimal", "email", "http", "importlib.metadata"}
slow |= {"logging", "multiprocessing", "platform", "socket", "sqlite3", "ssl", "subprocess", "unittest"}
slow |= {"urllib", "xml"}
assert not slow & loaded, slow & loaded
net = ocl.nn.Sequential(ocl.nn.Linear(3, 4), ocl.nn.ReLU(), ocl.nn.Dropout(0.1), ocl.nn.Linear(4, 2))
optimizer = ocl.optim.AdamW(net.parameters(), lr=1e-3)
x, y = ocl.randn(5, 3), ocl.tensor([0, 1, 1, 0])
loss = ocl.nn.functional.cross_entropy(net(x[1:, None, 0:3][:, 0] * 2.0 + True), y)
loss.backward()
optimizer.step()
assert loss.item() > 0 and (x == x).all()
from ocl.late_numpy import np
assert "numpy" not in sys.modules and "linalg" in dir(np)
assert np.ndarray is sys.modules["numpy"].ndarray and np.linalg is sys.modules["numpy"].linalg
try:
    np.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise AssertionError
""")


# --- devices


def test_there_is_a_device(device):
    assert ocl.is_available() is True
    assert ocl.device_count() >= 1
    assert (
        ocl.get_device_name(device)
        and ocl.get_device_name(device) == ocl.get_device_properties(device)["name"]
    )


def test_names_of_devices(device):
    d = ocl.device(device)
    assert d == ocl.device(d.index) and str(d) == f"ocl:{d.index}" and repr(d) == f"device('ocl:{d.index}')"
    assert d == str(d) and hash(d) == hash(ocl.device(str(d)))
    assert ocl.device("ocl") == ocl.device("ocl:0")
    assert ocl.zeros(1, device=device).device == d
    assert ocl.zeros(1, device=d).device == d
    assert ocl.zeros(1).device == ocl.get_default_device() == d


def test_properties(device):
    properties = ocl.get_device_properties(device)
    assert properties["total_memory"] >= properties["max_allocation"] > 0
    assert properties["compute_units"] >= 1
    assert properties["kernel_shape"] in ("cpu", "simt")


@pytest.mark.parametrize("name", ["ocl:99", "ocl:12345"])
def test_a_device_that_does_not_exist(name):
    with pytest.raises(ocl.DeviceError, match=f"'{name}' does not exist; there are: ocl:0 = "):
        ocl.zeros(1, device=name)


@pytest.mark.parametrize(
    "name", ["", "gpu", "ocl:", "ocl:-1", "ocl:x", "ocl:0 ", "cuda:0", "ocl:99999999999"]
)
def test_a_word_that_is_no_device(name):
    with pytest.raises(ValueError, match="not a device name; expected 'ocl:N'"):
        ocl.device(name)


def test_a_number_that_is_no_device():
    with pytest.raises(ocl.DeviceError, match="ocl:-1"):
        ocl.device(-1)


def test_error_classes():
    assert issubclass(ocl.OutOfMemoryError, ocl.DeviceError)
    assert issubclass(ocl.KernelBuildError, ocl.DeviceError)
    assert issubclass(ocl.DeviceError, RuntimeError)


def test_no_platform_at_all(tmp_path):
    program = """
import ocl
assert ocl.is_available() is False
assert ocl.device_count() == 0
for action in (lambda: ocl.ones(2), lambda: ocl.get_device_name(), lambda: ocl.device("cpu"),
               lambda: ocl.set_default_device("ocl:0"), lambda: ocl.nn.Linear(2, 2), ocl.memory_allocated):
    try:
        action()
    except ocl.DeviceError as error:
        assert "no OpenCL device" in str(error) and "apt install pocl-opencl-icd" in str(error), error
    else:
        raise AssertionError(action)
ocl.synchronize()
ocl.empty_cache()
ocl.manual_seed(1)
"""
    # OCL_ICD_FILENAMES: libraries that a loader takes beside those.
    processes.run(program, OCL_ICD_VENDORS=tmp_path, OCL_ICD_FILENAMES="")


@pytest.mark.skipif(not Path("/etc/OpenCL/vendors/pocl.icd").exists(), reason="PoCL is not installed")
def test_a_platform_that_shows_no_device(tmp_path):
    """PoCL, where it cannot make its cache."""
    (tmp_path / "file").touch()
    program = """
import ocl
assert ocl.is_available() is False
try:
    ocl.ones(2)
except ocl.DeviceError as error:
    assert "show no device: Portable Computing Language" in str(error), error
    assert "XDG_CACHE_HOME" in str(error), error
else:
    raise AssertionError("there is a device")
"""
    vendors = "/etc/OpenCL/vendors/pocl.icd"
    processes.run(
        program, OCL_ICD_VENDORS=vendors, OCL_ICD_FILENAMES="", POCL_CACHE_DIR=tmp_path / "file" / "cache"
    )


# --- memory


@pytest.fixture
def limited(device):
    """Sets a limit for the test above what is reserved now."""
    gc.collect()  # what tests before left in cycles is not given back in the midst of this one
    ocl.empty_cache()
    yield lambda extra: ocl.set_memory_limit(ocl.memory_reserved(device) + extra, device)
    ocl.set_memory_limit(0, device)
    ocl.empty_cache()


def test_statistics(device):
    ocl.empty_cache()
    before = ocl.memory_stats(device)
    ocl.reset_peak_memory_stats(device)
    x = ocl.zeros(MIB, device=device)
    assert ocl.memory_allocated(device) == before["allocated"] + 4 * MIB
    assert ocl.memory_reserved(device) >= ocl.memory_allocated(device)
    del x
    after = ocl.memory_stats(device)
    assert after["allocated"] == before["allocated"] == ocl.memory_allocated(device)
    assert after["max_allocated"] == before["allocated"] + 4 * MIB == ocl.max_memory_allocated(device)
    assert after["allocations"] == before["allocations"] + 1
    ocl.reset_peak_memory_stats(device)
    assert ocl.max_memory_allocated(device) == before["allocated"]
    assert set(after) == {"allocated", "reserved", "max_allocated", "max_reserved", "segments", "allocations"}


def test_freed_memory_is_kept_and_reused(device):
    ocl.empty_cache()
    x = ocl.zeros(8 * MIB, device=device)
    reserved = ocl.memory_reserved(device)
    del x
    assert ocl.memory_reserved(device) == reserved
    x = ocl.zeros(8 * MIB, device=device)
    assert ocl.memory_reserved(device) == reserved
    del x
    ocl.empty_cache()
    assert ocl.memory_reserved(device) <= reserved - 32 * MIB


def test_views_hold_their_memory(device):
    before = ocl.memory_allocated(device)
    view = ocl.zeros(MIB, device=device)[:1]
    assert ocl.memory_allocated(device) == before + 4 * MIB
    del view
    assert ocl.memory_allocated(device) == before


def test_out_of_memory_names_request_use_and_cache(limited, device):
    limited(16 * MIB)
    held = ocl.zeros(2 * MIB, device=device)
    with pytest.raises(ocl.OutOfMemoryError) as failure:
        ocl.zeros(16 * MIB, device=device)
    text = str(failure.value)
    assert f"out of memory on {ocl.device(device)}" in text
    for part in ("tried to allocate 64 MiB", "in use by tensors", "cached", "limit set"):
        assert part in text
    assert held.sum().item() == 0


def test_memory_that_the_host_refuses(device):
    """PoCL took it at first use, and aborted the process."""
    if not ocl.get_device_properties(device)["is_cpu"]:
        pytest.skip("the device has memory of its own")
    program = """
import resource, sys
import ocl
x = ocl.zeros(1, device=sys.argv[1]) + 1
x.item()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (128 << 20), -1))
try:
    y = ocl.empty(256 << 20, dtype=ocl.uint8, device=sys.argv[1]) + 1
except ocl.OutOfMemoryError:
    print(x.item())
"""
    assert processes.run(program, device)[0] == "1.0\n"


def test_a_failed_step_leaves_room_for_a_smaller_one(limited, device):
    net = ocl.nn.Sequential(ocl.nn.Linear(256, 256), ocl.nn.ReLU(), ocl.nn.Linear(256, 10))
    optimizer = ocl.optim.Adam(net.parameters())

    def step(batch):
        optimizer.zero_grad()
        (net(ocl.randn(batch, 256)) ** 2).mean().backward()
        optimizer.step()

    step(16)
    limited(24 * MIB)
    in_use = ocl.memory_allocated(device)
    for _ in range(3):
        with pytest.raises(ocl.OutOfMemoryError):
            step(1 << 16)
        step(16)
    assert abs(ocl.memory_allocated(device) - in_use) <= MIB


def test_the_cache_is_given_up_before_giving_up(limited, device):
    limited(48 * MIB)
    x = ocl.zeros(8 * MIB, device=device)
    del x  # 32 MiB cached, in a segment too small for what follows
    assert ocl.zeros(10 * MIB, device=device).shape == (10 * MIB,)


# --- waiting


def chain_of_products(x):
    y = x
    for _ in range(60):
        y = (y @ x) * (2 / len(x))
    return y


def seconds_of_a_chain(x):
    """Seconds until a chain of products was enqueued, and until it was done."""
    start = time.perf_counter()
    chain_of_products(x)
    enqueued = time.perf_counter() - start
    ocl.synchronize()
    return enqueued, time.perf_counter() - start


def test_an_operator_returns_before_its_work_is_done():
    for size in (700, 1400, 2800, 5600):  # until there is enough work for the test to say anything
        x = ocl.rand(size, size)
        seconds_of_a_chain(x)  # the programs are built
        enqueued, done = seconds_of_a_chain(x)
        if done > 0.05:
            break
    assert done > 0.05
    assert enqueued < done / 2


def test_synchronize_takes_a_device(device):
    ocl.synchronize(device)
    ocl.synchronize(device=ocl.device(device))
    with pytest.raises(ocl.DeviceError):
        ocl.synchronize("ocl:99")


def test_python_runs_while_a_read_waits():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        for side in (700, 1400, 2800, 5600):  # so that fast devices take their time, too
            result = chain_of_products(ocl.rand(side, side))
            start = time.perf_counter()
            result.sum().item()
            end = time.perf_counter()
            if end - start > 0.2:
                break
    finally:
        stop.set()
        thread.join()
    assert end - start > 0.2
    assert sum(start < t < end for t in ticks) >= (end - start) / 0.05


def test_a_seed_gives_the_same_numbers():
    def draw():
        return np.concatenate([ocl.randn(5).numpy(), ocl.rand(3).numpy(), ocl.randint(0, 100, [4]).numpy()])

    ocl.manual_seed(4)
    first = draw()
    assert ocl.initial_seed() == 4
    ocl.manual_seed_all(4)
    np.testing.assert_array_equal(draw(), first)
    assert (draw() != first).any()


# --- threads


def test_eight_threads_compute_at_once():
    def work(i):
        generator = np.random.default_rng(i)
        for round_ in range(20):
            a, b = generator.standard_normal((2, 13 + i, 13 + i)).astype(np.float32)
            x = ocl.tensor(a, requires_grad=True)
            y = ocl.tanh(x @ ocl.tensor(b)) * float(i) + float(round_)
            y.sum().backward()
            expected = np.tanh(a.astype(np.float64) @ b)
            np.testing.assert_allclose(y.detach().numpy(), expected * i + round_, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(
                x.grad.numpy(), i * (1 - expected**2) @ b.T.astype(np.float64), rtol=1e-3, atol=1e-3
            )

    in_threads(work)


def test_eight_threads_train_each_a_net():
    state = torch.nn.Linear(6, 4).state_dict()

    def work(_):
        net = ocl.nn.Linear(6, 4)
        net.load_state_dict(state)
        optimizer = ocl.optim.Adam(net.parameters(), lr=0.01)
        x = ocl.tensor(np.linspace(-1, 1, 30, dtype=np.float32).reshape(5, 6))
        target = ocl.tensor(np.arange(5) % 4)
        for _ in range(10):
            optimizer.zero_grad()
            ocl.nn.functional.cross_entropy(net(x), target).backward()
            optimizer.step()
        return net.weight.detach().numpy()

    weights = in_threads(work)
    for one in weights[1:]:
        np.testing.assert_array_equal(one, weights[0])


def test_eight_threads_build_one_program_once():
    program = """
import threading
import ocl
barrier = threading.Barrier(8)
results = []
def work():
    barrier.wait()
    results.append(ocl.ones(10).exp().sum().item())
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
assert len(set(results)) == 1, results
several = ocl.kernel_cache_info()["built"]
ocl.ones(10).exp().sum().item()
assert ocl.kernel_cache_info()["built"] == several
print(several)
"""
    alone = "import ocl; ocl.ones(10).exp().sum().item(); print(ocl.kernel_cache_info()['built'])"
    counts = [int(processes.run(text, OCL_KERNEL_CACHE="off")[0]) for text in (program, alone)]
    assert counts[0] == counts[1] > 0


# --- what the device finds wrong


@pytest.mark.parametrize("index", [2**40 + 3, -(2**62), 2**63 - 1, -(2**31) - 5])
def test_an_index_is_named_in_64_bits(index):
    table = ocl.ones(4, 3)
    for call in (
        lambda i: ocl.nn.functional.embedding(i, table),
        lambda i: ocl.index_select(table, 0, i),
        lambda i: table[i],
        lambda i: ocl.nn.functional.nll_loss(ocl.ones(1, 3), i),
        lambda i: ocl.nn.functional.cross_entropy(ocl.ones(1, 3), i),
        lambda i: ocl.zeros(4, 3).index_add(0, i, ocl.ones(1, 3)),
    ):
        with pytest.raises(IndexError, match=f" {index}$"):
            call(ocl.tensor([index]))
            ocl.synchronize()


def test_an_error_is_raised_in_the_thread_that_made_it():
    table = ocl.ones(4, 3)
    failed, waited = threading.Event(), threading.Event()

    def work(i):
        if i == 0:
            ocl.nn.functional.embedding(ocl.tensor([77]), table)
            failed.set()
            assert waited.wait(30)
            with pytest.raises(IndexError, match="embedding.* 77$"):
                ocl.ones(2).sum().item()
            ocl.synchronize()
        else:
            assert failed.wait(30)
            assert (table * 2).sum().item() == 24
            assert ocl.nn.functional.embedding(ocl.tensor([1]), table).tolist() == [[1, 1, 1]]
            ocl.synchronize()
            waited.set()

    in_threads(work, 2)


def test_an_error_of_the_main_thread_is_not_raised_in_another():
    table = ocl.ones(4, 3)
    ocl.nn.functional.embedding(ocl.tensor([78]), table)

    def work(_):
        assert (table * 2).sum().item() == 24
        ocl.synchronize()

    in_threads(work, 2)
    with pytest.raises(IndexError, match="embedding.* 78$"):
        ocl.synchronize()
    ocl.synchronize()


def test_an_error_reaches_who_uses_the_result():
    table = ocl.ones(4, 3)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        wrong = pool.submit(lambda: ocl.nn.functional.embedding(ocl.tensor([79]), table) * 2).result()
        with pytest.raises(
            IndexError, match=r"embedding.* 79 \(in a call by the thread of native id \d+, whose"
        ):
            (wrong + 1).sum().item()
        with pytest.raises(IndexError, match="embedding.* 79$"):
            pool.submit(ocl.synchronize).result()


def test_an_error_of_a_thread_that_has_ended_names_it():
    thread = threading.Thread(target=lambda: ocl.nn.functional.embedding(ocl.tensor([80]), ocl.ones(4, 3)))
    thread.start()
    native_id = thread.native_id
    thread.join()
    while os.path.exists(f"/proc/self/task/{native_id}"):  # join() comes before the thread's own last steps
        time.sleep(0.001)
    with pytest.raises(IndexError, match=rf"embedding.* 80 \(.* native id {native_id}, which ended"):
        ocl.ones(2).tolist()
    ocl.synchronize()


# --- the profiler


@pytest.fixture
def profile():
    with ocl.profiler.profile() as recorded:
        for _ in range(3):
            x = ocl.ones(1000, requires_grad=True)
            (x.exp() @ x).backward()
    return recorded


def test_launches(profile, device):
    launches = profile.launches()
    assert len(launches) >= 9
    for where, kernel, start, end in launches:
        assert where == str(ocl.device(device)) and kernel and 0 < start <= end
    assert [start for _, _, start, _ in launches] == sorted(start for _, _, start, _ in launches)


def test_table(profile):
    lines = profile.table().splitlines()
    kernels = {kernel for _, kernel, _, _ in profile.launches()}
    titles = ["kernel", "calls", "total", "ms", "mean", "us", "share", "GFLOP/s", "GB/s", "ceiling"]
    assert lines[0].split() == titles
    assert {line.split()[0] for line in lines[1:-2]} == kernels
    shares = [float(line.split()[4].rstrip("%")) for line in lines[1:-2]]
    assert shares == sorted(shares, reverse=True) and abs(sum(shares) - 100) < 1
    assert lines[-1].endswith(f"in {len(profile.launches())} launches")


def test_chrome_trace(profile, tmp_path):
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    events = [event for event in events if event["cat"] == "kernel"]
    assert [event["name"] for event in events] == [kernel for _, kernel, _, _ in profile.launches()]
    for event, (_, _, start, end) in zip(events, profile.launches(), strict=True):
        assert event["ph"] == "X"
        assert event["dur"] == pytest.approx((end - start) / 1000, abs=0.01)


def test_csv(profile, tmp_path):
    profile.export_csv(str(tmp_path / "launches.csv"))
    with open(tmp_path / "launches.csv") as file:
        rows = list(csv.DictReader(file))
    assert [(row["device"], row["kernel"], int(row["start_ns"])) for row in rows] == [
        (where, kernel, start) for where, kernel, start, _ in profile.launches()
    ]
    assert all(int(row["duration_ns"]) >= 0 for row in rows)


def test_a_trace_that_cannot_be_written_is_named(profile, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        profile.export_csv(str(tmp_path / "nowhere" / "x.csv"))


def test_nothing_is_recorded_outside():
    with ocl.profiler.profile() as outer:
        pass
    ocl.ones(3).exp()
    assert outer.launches() == []
    assert outer.table().splitlines()[-1] == "total 0.000 ms in 0 launches"


def test_a_profile_of_the_first_thing_a_program_does():
    program = """
import ocl
with ocl.profiler.profile() as p:
    ocl.ones(3).exp().numpy()
assert p.launches()
"""
    processes.run(program)


def test_an_exception_ends_the_profile():
    with pytest.raises(KeyError), ocl.profiler.profile():
        raise KeyError
    assert (ocl.ones(2) + 1).tolist() == [2, 2]


# --- the kernel cache


def cache_info(**environment):
    program = "import ocl, json; ocl.ones(10).exp().numpy(); print(json.dumps(ocl.kernel_cache_info()))"
    output, errors = processes.run(program, **environment)
    assert errors == ""
    return json.loads(output)


def test_kernel_cache_info():
    info = ocl.kernel_cache_info()
    assert set(info) == {"path", "entries", "bytes", "hits", "misses", "built", "build_seconds"}
    assert isinstance(info["path"], str) and isinstance(info["build_seconds"], float)


def test_kernel_cache_moved_and_used(tmp_path):
    first, second = (cache_info(OCL_KERNEL_CACHE=tmp_path / "kernels") for _ in range(2))
    assert first["path"].startswith(str(tmp_path / "kernels"))
    assert first["built"] == first["misses"] > 0 and first["hits"] == 0 and first["build_seconds"] > 0
    assert second["built"] == second["misses"] == 0 and second["hits"] == first["built"] == second["entries"]
    assert second["bytes"] > 0 and second["build_seconds"] == 0


def test_kernel_cache_off(tmp_path):
    for _ in range(2):
        info = cache_info(OCL_KERNEL_CACHE="off", XDG_CACHE_HOME=tmp_path)
        assert info["path"] == "" and info["entries"] == 0 and info["built"] > 0
    assert not list(tmp_path.rglob("*.sqlite*")) and not (tmp_path / "tapecl").exists()


def test_kernel_cache_by_default_in_the_users_cache_folder(tmp_path):
    info = cache_info(OCL_KERNEL_CACHE="", XDG_CACHE_HOME=tmp_path)
    assert info["path"].startswith(str(tmp_path / "tapecl"))
