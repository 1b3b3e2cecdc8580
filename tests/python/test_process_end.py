"""Forked children, the end of a process whose threads still compute, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import processes
import pytest

# --- fork

USED = """
import multiprocessing, os, sys, threading
import numpy as np
import ocl
x = ocl.ones(4, requires_grad=True)
y = (x * 2).sum()
y.item()

def wait_for(child):
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        import time; time.sleep(0.05)
    os.kill(child, 9)
    raise SystemExit("the child hangs")
"""

FORKS = {
    "sys.exit": """
child = os.fork()
if child == 0:
    sys.exit(7)
assert wait_for(child) == 7
""",
    "of a thread": """
def work():
    child = os.fork()
    if child == 0:
        sys.exit(0)  # ends the thread, and the process with it
    assert wait_for(child) == 0
    done.append(True)
done = []
thread = threading.Thread(target=work); thread.start(); thread.join(30)
assert done
""",
    "handlers and files": """
import atexit
read, write = os.pipe()
child = os.fork()
if child == 0:
    atexit.register(os.write, write, b"handler ran")
    del x, y
    sys.exit(3)
assert wait_for(child) == 3
assert os.read(read, 100) == b"handler ran"
""",
    "multiprocessing": """
def work(queue):
    queue.put(np.ones(3).sum())
context = multiprocessing.get_context("fork")
queue = context.Queue()
workers = [context.Process(target=work, args=(queue,)) for _ in range(3)]
for worker in workers: worker.start()
assert [queue.get(timeout=30) for _ in workers] == [3, 3, 3]
for worker in workers:
    worker.join(30)
    assert worker.exitcode == 0
with context.Pool(2) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
""",
    "while threads compute": """
stop = threading.Event()
def work():
    while not stop.is_set():
        (ocl.ones(100) * 2).sum().item()
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        os.environ["WORKER"] = "1"
        sys.exit(7)
    assert wait_for(child) == 7
stop.set()
for thread in threads: thread.join()
""",
    "data loader of PyTorch": """
import torch
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.tensor(float(i))
loader = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2)
total = sum(ocl.tensor(batch.numpy()).sum().item() for batch in loader)
assert total == 28, total
""",
    "devices are refused": """
uses = [lambda: ocl.ones(2), lambda: x + 1, lambda: x.detach().numpy(), lambda: y.backward(), ocl.synchronize,
        lambda: ocl.tensor([1.0]), lambda: ocl.device("ocl:0").index + ocl.ones(1), ocl.empty_cache,
        lambda: print(x), ocl.memory_allocated, lambda: ocl.nn.Linear(2, 2), lambda: ocl.randn(2)]
child = os.fork()
if child == 0:
    failures = 0
    for use in uses:
        try:
            use()
        except ocl.DeviceError as error:
            assert "forked" in str(error) and "spawn" in str(error), error
        else:
            failures += 1
    assert ocl.device_count() > 0 and ocl.is_available()
    sys.exit(failures)
assert wait_for(child) == 0
assert (x + 1).tolist() == [2, 2, 2, 2]
""",
}


@pytest.mark.parametrize("program", FORKS.values(), ids=FORKS.keys())
def test_a_forked_child_can_exit(program):
    processes.finish(processes.start(USED + program), timeout=120)


def test_fork_before_the_first_use():
    program = """
import os, sys
import ocl
child = os.fork()
if child == 0:
    sys.exit(int((ocl.ones(3) * 2).sum().item()))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 6
assert (ocl.ones(3) * 2).sum().item() == 6
"""
    processes.run(program)


# --- exit while daemon threads work

WORK = {
    "compute": "while True: y = (ocl.ones(100) * 2).tanh()",
    "read": "x = ocl.rand(300, 300)\n    while True: x = (x @ x) * 0.01; x.sum().item()",
    "build": """
    import ocl.nn.functional as F
    names = [n for n in dir(ocl) if hasattr(ocl.Tensor, n)]
    while True:
        for name in names:
            try: getattr(ocl, name)(ocl.ones(3))
            except Exception: pass
""",
    "import NumPy": """
    while True: ocl.tensor(ocl.ones(9).numpy(), dtype=ocl.uint8) + ocl.ones(9).numpy()[0]
""",
    "backward": """
    net = ocl.nn.Sequential(ocl.nn.Linear(20, 20), ocl.nn.Tanh(), ocl.nn.Linear(20, 1))
    while True: (net(ocl.randn(8, 20)) ** 2).mean().backward()
""",
    "hooks": """
    x = ocl.ones(5, requires_grad=True)
    x.register_hook(lambda g: g * 2 + sum(range(3000)))
    while True: (x * 2).exp().sum().backward()
""",
    "Python modules": """
    class Twice(ocl.nn.Module):
        def forward(self, x): return x * 2
    net = ocl.nn.Sequential(ocl.nn.Linear(5, 5), Twice(), ocl.nn.ReLU())
    while True: net(ocl.ones(2, 5)).sum().backward()
""",
    "a callback that does not end": """
    import time
    x = ocl.ones(5, requires_grad=True)
    x.register_hook(lambda g: time.sleep(1000))
    x.sum().backward()
""",
}


def exit_code_beside(work, seconds):
    program = f"""
import threading, time
import ocl
def work():
    {work}
for _ in range(2): threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
"""
    process = processes.start(program, OCL_KERNEL_CACHE="off")
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_exit_while_daemon_threads_work(work):
    for seconds in (0.05, 0.5, 1.1):
        assert exit_code_beside(work, seconds) == (0, "")


def test_exit_handlers_may_compute():
    program = """
import atexit
atexit.register(lambda: print((ocl.ones(4) * 3).sum().item()))
import ocl, threading
threading.Thread(target=lambda: [(ocl.ones(9) * 2).exp() for _ in iter(int, 1)], daemon=True).start()
ocl.ones(2).exp().tolist()
"""
    assert processes.run(program)[0] == "12.0\n"


# --- Ctrl-C

INTERRUPTED = """
import time
import ocl

def build():
    x = ocl.ones(3, 4, requires_grad=True)
    (x @ x.t()).tanh().softmax(0).sum().backward()
    ocl.synchronize()
    return x.grad.tolist()

print("begins", flush=True)
try:
    build()
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert build() == build()
print("built", flush=True)
"""


@pytest.mark.parametrize("after", [0.05, 0.2, 0.4])
def test_ctrl_c_while_kernels_are_built(tmp_path, after):
    """Sends it like a terminal: to the process and to all that its OpenCL implementation started."""
    environment = {**os.environ, "OCL_KERNEL_CACHE": str(tmp_path / "ours"), "POCL_CACHE_DIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        env=environment,
        cwd=processes.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "begins\n"
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (0, "interrupted\nbuilt\n"), errors


@pytest.mark.parametrize("index", [1, 9], ids=["right", "failing"])
def test_ctrl_c_while_a_read_waits(index):
    program = """
import os, signal, sys, threading, time
import ocl
def multiply(x, times):
    for _ in range(times):
        x = (x @ x) / len(x)
    return x
def seconds(x):
    start = time.perf_counter()
    multiply(x, 20).sum().item()
    return time.perf_counter() - start
def least_seconds(x):
    return min(seconds(x) for _ in range(4))
x = ocl.rand(600, 600)
while least_seconds(x) < 0.05:  # products that the device works at for longer than it takes to enqueue them
    x = ocl.rand(2 * len(x), 2 * len(x))
def embed(index):
    return ocl.nn.functional.embedding(ocl.tensor([index]), ocl.ones(4, 3))
embed(1).sum().item()  # NVIDIA's driver waits for the device as it loads a program
x = multiply(x, round(20 / least_seconds(x)) + 1)
embed(int(sys.argv[1]))
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    x.sum().item()
    while True: pass
except KeyboardInterrupt:
    print("interrupted")
assert ocl.ones(3).sum().item() == 3
"""
    assert processes.run(program, index)[0] == "interrupted\n"


# --- the program's own handlers of signals

HANDLERS = """
import ctypes, os, signal

def handler_of(number):
    action = (ctypes.c_void_p * 64)()  # struct sigaction begins with the handler, here longer than it is
    assert ctypes.CDLL(None).sigaction(int(number), None, action) == 0
    return action[0]

called = []
asking = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2]
for number in asking:
    signal.signal(number, lambda number, _: called.append(number))
before = [handler_of(number) for number in asking]
import ocl
assert (ocl.ones(3) + 1).sum().item() == 6
assert [handler_of(number) for number in asking] == before
for number in asking:
    os.kill(os.getpid(), number)
    os.kill(os.getpid(), number)
assert set(called) == set(asking), called
"""


def test_a_program_keeps_its_handlers_of_signals():
    processes.run(HANDLERS)
