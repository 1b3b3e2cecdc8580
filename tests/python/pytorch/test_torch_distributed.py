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


def join(rank, folder):
    faulthandler.enable()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # the machine's name need not have an address
    dist.init_process_group(
        "ocl",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=WORLD,
        device_id=torch.device("ocl:0"),
    )


def work(rank, folder):
    join(rank, folder)
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


def tensor(*numbers):
    return torch.tensor(numbers, dtype=torch.float32, device="ocl")


def blank(*counts):
    return [torch.empty(count, device="ocl") for count in counts]


def collectives(rank, folder):
    """The collectives that work() leaves out, by the names that PyTorch has now and by older ones."""
    join(rank, folder)
    for gather in ("all_gather_into_tensor", "all_gather_single"):
        if hasattr(dist, gather):
            (whole,) = blank(4)
            getattr(dist, gather)(whole, tensor(rank, rank + 1))
            assert whole.tolist() == [0, 1, 1, 2]
    for scatter in ("reduce_scatter_tensor", "reduce_scatter_single"):
        if hasattr(dist, scatter):
            (part,) = blank(2)
            getattr(dist, scatter)(part, tensor(1, 2, 3, 4))
            assert part.tolist() == ([2, 4], [6, 8])[rank]
    dist.reduce_scatter(part, [tensor(1, 2), tensor(3, 4)])
    assert part.tolist() == ([2, 4], [6, 8])[rank]
    dist.all_to_all_single(part, tensor(rank * 10, rank * 10 + 1))
    assert part.tolist() == [rank, 10 + rank]
    parts = blank(1, 1)
    dist.all_to_all(parts, [tensor(rank * 10), tensor(rank * 10 + 1)])
    assert [p.item() for p in parts] == [rank, 10 + rank]
    dist.gather(tensor(rank), parts if rank == 0 else None)
    assert rank or [p.item() for p in parts] == [0, 1]
    dist.scatter(parts[0], [tensor(5), tensor(6)] if rank == 0 else None)
    assert parts[0].item() == 5 + rank
    total = tensor(rank + 1)
    dist.reduce(total, 0)
    assert rank or total.item() == 3
    objects = [None, None]
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": 0}, {"rank": 1}]
    if rank == 1:
        dist.send(tensor(7), 0)
    else:
        assert dist.recv(parts[0]) == 1 and parts[0].item() == 7  # from whoever sends
    pairs = blank(2, 2)
    with dist._coalescing_manager():
        for pair in pairs:
            dist.all_gather_into_tensor(pair, tensor(rank))
    assert [pair.tolist() for pair in pairs] == [[0, 1], [0, 1]]
    dist.barrier(device_ids=[0])
    dist.destroy_process_group()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_every_collective(tmp_path):
    processes.spawn(collectives, (str(tmp_path),), nprocs=WORLD)
