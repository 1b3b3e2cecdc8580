"""How fast a device is: arithmetic, memory, transfers and launches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ocl import profiler
from ocl.doctor.findings import Finding, note, ok

__all__ = ["Speed", "check", "measure"]


class Speed(NamedTuple):
    gflops: float
    """10^9 operations a second of multiply-adds in registers, each two."""
    gbytes: float
    """10^9 bytes a second that a copy on the device reads and writes."""
    product_side: int
    product_gflops: float
    """Of a product of float32 matrices of that many rows and columns."""
    launches: float
    """Kernels a second, each of one work item, enqueued one after the other."""
    upload_gbytes: float
    download_gbytes: float


def seconds_of(run: Callable[[], object], wait: Callable[[], object], enough: float) -> float:
    """The time of one run among as many as take `enough` seconds together, after one that is not counted."""
    run()
    wait()
    count, start = 0, time.perf_counter()
    while count == 0 or time.perf_counter() - start < enough:
        run()
        count += 1
        if count % 64 == 0:
            wait()
    wait()
    return (time.perf_counter() - start) / count


def measure(device: Any, quick: bool) -> Speed:
    import ocl

    def wait() -> None:
        ocl.synchronize(device)

    enough = 0.1 if quick else 0.5
    most = profiler.ceilings(device)
    # Large enough to fill a fast device, small enough for a slow one to end soon.
    side = 4096 if most.gflops > 5000 else 1024 if most.gflops > 50 else 256
    a = ocl.ones(side, side, device=device)
    product = seconds_of(lambda: a @ a, wait, enough)
    one = ocl.zeros(1, device=device)
    launch = seconds_of(lambda: one.add_(1), wait, enough)
    host = np.ones(1 << 22, np.float32)
    there = ocl.tensor(host, device=device)
    upload = seconds_of(lambda: ocl.tensor(host, device=device), wait, enough)
    download = seconds_of(there.numpy, wait, enough)
    bytes_moved = host.nbytes * 1e-9
    return Speed(
        most.gflops,
        most.gbytes,
        side,
        2e-9 * side**3 / product,
        1 / launch,
        bytes_moved / upload,
        bytes_moved / download,
    )


def check(device: Any, quick: bool) -> tuple[Speed | None, Finding]:
    import ocl

    try:
        speed = measure(device, quick)
    except ocl.OutOfMemoryError as error:
        return None, note(
            "speed", f"not measured: {error}", "close other programs that use the device, and run it again"
        )
    text = (
        f"{speed.gflops:.4g} GFLOP/s ({speed.product_gflops:.4g} in products of {speed.product_side} x "
        f"{speed.product_side}), {speed.gbytes:.4g} GB/s copied, {speed.launches:.3g} launches/s, "
        f"transfers {speed.upload_gbytes:.3g} GB/s up, {speed.download_gbytes:.3g} down"
    )
    return speed, ok("speed", text)
