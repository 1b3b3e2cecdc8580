"""Processes that train one net together, on ocl devices."""

import faulthandler
import os
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as processes  # noqa: E402

if not (dist.is_available() and dist.is_gloo_available()):
    pytest.skip("this PyTorch has no gloo: distributed training unchecked", allow_module_level=True)

WORLD = 2


def net():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))


def train(model, x, y, steps=3):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return [p.detach().cpu() for p in model.parameters()]


def data():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(8, 6, generator=generator), torch.randn(8, 2, generator=generator)


def threads():
    return len(list(Path("/proc/self/task").iterdir()))


def work(rank, folder):
    faulthandler.enable()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # the machine's name need not have an address
    dist.init_process_group("ocl", init_method=f"file://{folder}/store", rank=rank, world_size=WORLD)
    x = torch.full((3,), float(rank + 1), device="ocl")
    dist.all_reduce(x)
    assert x.tolist() == [3, 3, 3]
    parts = [torch.empty(2, device="ocl") for _ in range(WORLD)]
    dist.all_gather(parts, torch.full((2,), float(rank), device="ocl"))
    assert [part.tolist() for part in parts] == [[0, 0], [1, 1]]
    y = torch.full((2,), float(rank), device="ocl")
    dist.broadcast(y, src=1)
    assert y.tolist() == [1, 1]
    on_host = torch.tensor([rank])
    dist.all_reduce(on_host, op=dist.ReduceOp.MAX)
    assert on_host.item() == 1
    if rank == 0:
        dist.send(torch.arange(4.0, device="ocl"), 1)
    else:
        received = torch.empty(4, device="ocl")
        dist.recv(received, 0)
        assert received.tolist() == [0, 1, 2, 3]
    dist.barrier()
    inputs, targets = data()
    rows = slice(rank * 4, rank * 4 + 4)
    model = torch.nn.parallel.DistributedDataParallel(net().to("ocl"))
    torch.save(train(model, inputs[rows].to("ocl"), targets[rows].to("ocl")), f"{folder}/{rank}.pt")
    group = dist.group.WORLD
    before = threads()
    dist.destroy_process_group()
    assert threads() < before  # gloo's have ended
    with pytest.raises(RuntimeError, match="allreduce: this process group has been destroyed"):
        group.allreduce([x])


def test_processes_train_as_one(tmp_path):
    processes.spawn(work, (str(tmp_path),), nprocs=WORLD)
    alone = train(net(), *data())
    for rank in range(WORLD):
        for ours, expected in zip(torch.load(tmp_path / f"{rank}.pt"), alone, strict=True):
            torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)
