"""GB/s between host and device and between devices, and how much of an upload hides behind computation."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import ocl

SIDE, SIDE_ON_CPUS = 4096, 1024  # of the matrices


@dataclass(frozen=True)
class Library:
    """One library's way to move an array; every function returns when the transfer is over."""

    up: Callable  # array -> tensor
    down: Callable  # tensor -> array
    pin: Callable  # array -> what up_pinned takes and down_pinned writes
    up_pinned: Callable  # pinned -> tensor
    down_pinned: Callable  # tensor, pinned -> None
    across: Callable | None  # tensor -> tensor on another device
    begin_up: Callable  # pinned -> tensor, without waiting
    begin_work: Callable  # count -> None: that many products of matrices, without waiting
    wait: Callable


def our_library(device):
    def waited(result):
        ocl.synchronize()
        return result

    side = SIDE_ON_CPUS if ocl.get_device_properties(device)["is_cpu"] else SIDE
    matrix = ocl.ones(side, side, device=device)
    others = [f"ocl:{i}" for i in range(ocl.device_count()) if f"ocl:{i}" != str(ocl.device(device))]

    def begin_work(count):
        for _ in range(count):
            ocl.matmul(matrix, matrix)

    return Library(
        up=lambda array: waited(ocl.tensor(array, device=device)),
        down=lambda tensor: tensor.numpy(),
        pin=lambda array: ocl.pin_memory(array, device=device),
        up_pinned=lambda pinned: waited(ocl.tensor(pinned, device=device, non_blocking=True)),
        down_pinned=lambda tensor, pinned: tensor.numpy(out=pinned),
        across=(lambda tensor: waited(tensor.to(others[0]))) if others else None,
        begin_up=lambda pinned: ocl.tensor(pinned, device=device, non_blocking=True),
        begin_work=begin_work,
        wait=ocl.synchronize,
    )


def torch_library():
    """PyTorch on CUDA, or None where it cannot."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None

    def wait():
        for index in range(torch.cuda.device_count()):
            torch.cuda.synchronize(index)

    def waited(result):
        wait()
        return result

    matrix = torch.ones(SIDE, SIDE, device="cuda:0")
    stream = torch.cuda.Stream(0)

    def begin_work(count):
        for _ in range(count):
            torch.matmul(matrix, matrix)

    def begin_up(pinned):
        with torch.cuda.stream(stream):
            return pinned.to("cuda:0", non_blocking=True)

    return Library(
        up=lambda array: waited(torch.from_numpy(array).to("cuda:0")),
        down=lambda tensor: tensor.cpu().numpy(),
        pin=lambda array: torch.from_numpy(array).pin_memory(),
        up_pinned=lambda pinned: waited(pinned.to("cuda:0", non_blocking=True)),
        down_pinned=lambda tensor, pinned: waited(pinned.copy_(tensor, non_blocking=True)),
        across=(lambda tensor: waited(tensor.to("cuda:1"))) if torch.cuda.device_count() > 1 else None,
        begin_up=begin_up,
        begin_work=begin_work,
        wait=wait,
    )


def seconds(call, rounds):
    """The median of `rounds`, after one that makes buffers and builds programs."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        del result
    return statistics.median(times[1:])


def hidden_share(library, pinned, rounds):
    """How much of an upload that begins behind work of twice its length costs no time: 1 is all of it."""

    def work(count):
        library.begin_work(count)
        library.wait()

    def both(count):
        library.begin_work(count)
        tensor = library.begin_up(pinned)
        library.wait()
        return tensor

    upload = seconds(lambda: library.up_pinned(pinned), rounds)
    one = seconds(lambda: work(4), rounds) / 4
    count = max(1, round(2 * upload / one))
    alone, together = seconds(lambda: work(count), rounds), seconds(lambda: both(count), rounds)
    return (alone + upload - together) / upload


def figures_of(library, array, rounds):
    """{what: GB/s}, and the hidden share; what was moved is compared with what came back."""
    gigabytes = array.nbytes / 1e9
    tensor, pinned, target = library.up(array), library.pin(array), library.pin(np.zeros_like(array))
    library.down_pinned(tensor, target)
    for back in (library.down(tensor), np.asarray(target), library.down(library.up_pinned(pinned))):
        if not np.array_equal(back, array):
            raise SystemExit("bench.py: an array came back changed")
    figures = {
        "up": gigabytes / seconds(lambda: library.up(array), rounds),
        "down": gigabytes / seconds(lambda: library.down(tensor), rounds),
        "up, pinned": gigabytes / seconds(lambda: library.up_pinned(pinned), rounds),
        "down, pinned": gigabytes / seconds(lambda: library.down_pinned(tensor, target), rounds),
    }
    if library.across:
        if not np.array_equal(library.down(library.across(tensor)), array):
            raise SystemExit("bench.py: an array came changed to the other device")
        figures["device to device"] = gigabytes / seconds(lambda: library.across(tensor), rounds)
    figures["upload hidden by work"] = hidden_share(library, pinned, rounds)
    return figures


def bench_transfers(options):
    """Arrays of float32 between host and device, beside PyTorch's with CUDA where it is."""
    array = np.random.default_rng(0).standard_normal(options.megabytes * 250_000, np.float32)
    libraries = {"ocl": our_library(options.device), "torch": torch_library()}
    results = {
        name: figures_of(library, array, options.blocks) for name, library in libraries.items() if library
    }
    print(f"transfers of {options.megabytes} MB, GB/s ({ocl.get_device_name()})")
    for what in results["ocl"]:
        row = [f"{name} {figures[what]:7.2f}" for name, figures in results.items() if what in figures]
        print(f"  {what:22} " + "  ".join(row))
    return results
