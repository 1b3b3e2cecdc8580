"""Meshes of processes, DTensor, tensor parallelism, FSDP and SyncBatchNorm on ocl, against one process."""

import faulthandler
import os

import pytest

torch = pytest.importorskip("torch")
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as processes  # noqa: E402
from torch import nn  # noqa: E402

if not (dist.is_available() and dist.is_gloo_available()):
    pytest.skip("this PyTorch has no gloo: distributed training unchecked", allow_module_level=True)

WORLD = 2
OCL = torch.device("ocl:0")


def join(rank, folder, **options):
    faulthandler.enable()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # the machine's name need not have an address
    dist.init_process_group(
        "ocl", init_method=f"file://{folder}/store", rank=rank, world_size=WORLD, **options
    )


def mesh():
    return dist.device_mesh.init_device_mesh("ocl", (WORLD,))


def net(hidden=9):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, hidden), nn.ReLU(), nn.Linear(hidden, 4))


def data():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(6, 6, generator=generator), torch.randn(6, 4, generator=generator)


def close(ours, expected, **tolerances):
    torch.testing.assert_close(ours.detach().cpu(), expected.detach(), **tolerances)


def train(model, x, y, optimizer=torch.optim.AdamW, steps=3):
    optimizer = optimizer(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    return model


def dtensors(rank):
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    torch.manual_seed(0)
    a, b = torch.randn(5, 7), torch.randn(7, 3)  # rows that the processes share out unequally
    for left, right in ((Shard(0), Replicate()), (Shard(1), Shard(0)), (Replicate(), Shard(1))):
        ours = [
            distribute_tensor(t.to(OCL), mesh(), [p]).requires_grad_() for t, p in ((a, left), (b, right))
        ]
        theirs = [t.clone().requires_grad_() for t in (a, b)]
        product, expected = ours[0] @ ours[1], theirs[0] @ theirs[1]
        close(product.full_tensor(), expected)
        product.full_tensor().square().sum().backward()
        expected.square().sum().backward()
        for tensor, truth in zip(ours, theirs, strict=True):
            close(tensor.grad.full_tensor(), truth.grad, rtol=1e-5, atol=1e-5)


def tensor_parallel(rank):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    x, y = data()
    model = parallelize_module(net(8).to(OCL), mesh(), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    assert model[0].weight.to_local().shape == (4, 6)
    train(model, x.to(OCL), y.to(OCL))
    for ours, expected in zip(model.parameters(), train(net(8), x, y).parameters(), strict=True):
        close(ours.full_tensor(), expected, rtol=1e-4, atol=1e-5)


def fully_sharded(rank):
    from torch.distributed.fsdp import fully_shard

    x, y = data()
    rows = slice(rank * 3, rank * 3 + 3)
    model = net().to(OCL)
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=mesh())
    train(model, x[rows].to(OCL), y[rows].to(OCL))
    for ours, expected in zip(model.parameters(), train(net(), x, y).parameters(), strict=True):
        assert ours.to_local().shape[0] < expected.shape[0]
        close(ours.full_tensor(), expected, rtol=1e-4, atol=1e-5)


def fully_sharded_in_bfloat16(rank):
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    seen = []
    model = net().to(OCL)
    model[2].register_forward_hook(lambda layer, inputs, output: seen.append(output.dtype))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    fully_shard(model, mesh=mesh(), mp_policy=policy)
    x, y = data()
    train(model, x.to(OCL), y.to(OCL).bfloat16())
    assert set(seen) == {torch.bfloat16}
    for ours, expected in zip(model.parameters(), train(net(), x, y).parameters(), strict=True):
        assert ours.dtype == torch.float32
        close(ours.full_tensor(), expected, rtol=0.1, atol=0.06)


def fully_sharded_the_older_way(rank):
    from torch.distributed.fsdp import FullyShardedDataParallel

    x, y = data()
    rows = slice(rank * 3, rank * 3 + 3)
    model = FullyShardedDataParallel(net().to(OCL), device_id=OCL)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    nn.functional.mse_loss(model(x[rows].to(OCL)), y[rows].to(OCL)).backward()
    optimizer.step()
    expected = train_once(net(), x, y)
    with FullyShardedDataParallel.summon_full_params(model):
        for ours, truth in zip(model.parameters(), expected.parameters(), strict=True):
            close(ours, truth, rtol=1e-5, atol=1e-6)


def train_once(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    return model


def sync_batch_norm(rank):
    for shape, shares in (((5, 3), (2, 3)), ((7, 3, 5), (1, 6)), ((6, 2, 3, 5), (3, 3))):
        for affine in (True, False):
            torch.manual_seed(0)
            x, weights = torch.randn(shape) * 3 + 2, torch.randn(shape)
            begin = shares[0] * rank
            rows = slice(begin, begin + shares[rank])
            plain = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d}[len(shape)]
            plain = plain(shape[1], affine=affine, momentum=0.3).double()
            synced = nn.SyncBatchNorm(shape[1], affine=affine, momentum=0.3).to(OCL)
            whole, part = x.double().requires_grad_(), x[rows].to(OCL).requires_grad_()
            if affine:
                for ours, truth in zip(synced.parameters(), plain.parameters(), strict=True):
                    with torch.no_grad():
                        truth.normal_()
                        ours.copy_(truth)
            result, expected = synced(part), plain(whole)
            (result * weights[rows].to(OCL)).sum().backward()
            (expected * weights).sum().backward()
            close(result.double(), expected[rows], rtol=1e-4, atol=1e-5)
            close(part.grad.double(), whole.grad[rows], rtol=1e-4, atol=1e-5)
            close(synced.running_mean.double(), plain.running_mean, rtol=1e-5, atol=1e-6)
            close(synced.running_var.double(), plain.running_var, rtol=1e-4, atol=1e-5)
            for ours, truth in zip(synced.parameters(), plain.parameters(), strict=True):
                gradient = ours.grad
                dist.all_reduce(gradient)
                close(gradient.double(), truth.grad, rtol=1e-4, atol=1e-4)


def sync_batch_norm_of_half(rank):
    torch.manual_seed(0)
    layer = nn.SyncBatchNorm(4).to(OCL)
    x = torch.randn(6, 4, 5).half()
    part = x[rank * 3 : rank * 3 + 3].to(OCL).requires_grad_()
    result = layer(part)
    assert result.dtype == torch.float16
    close(result.float(), nn.BatchNorm1d(4)(x.float())[rank * 3 : rank * 3 + 3], rtol=2e-3, atol=2e-3)
    result.float().square().sum().backward()
    assert part.grad.dtype == torch.float16 and layer.weight.grad.dtype == torch.float32


def sync_batch_norm_without_rows(rank):
    layer = nn.SyncBatchNorm(3).to(OCL)
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    part = (x if rank == 0 else x[:0]).to(OCL).requires_grad_()
    result = layer(part)
    assert result.shape == part.shape
    result.sum().backward()
    plain = nn.BatchNorm1d(3)
    plain(x)
    close(layer.running_var, plain.running_var)


def messages(rank):
    """Both processes send before either receives."""
    sent, received = torch.full((3,), float(rank), device=OCL), torch.empty(3, device=OCL)
    for work in dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, sent, 1 - rank), dist.P2POp(dist.irecv, received, 1 - rank)]
    ):
        work.wait()
    assert received.tolist() == [1 - rank] * 3
    works = [dist.isend(sent + 5, 1 - rank), dist.irecv(received, 1 - rank)]
    for work in reversed(works):
        work.wait()
    assert received.tolist() == [6 - rank] * 3 and works[1].is_completed()


def names_and_groups(rank):
    from torch.distributed._functional_collectives import all_gather_tensor

    world = dist.group.WORLD
    assert world.group_name and dist.distributed_c10d._resolve_process_group(world.group_name) is world
    assert {device.type for device in world._device_types} == {"cpu", "ocl"}
    two = dist.device_mesh.init_device_mesh("ocl", (1, WORLD), mesh_dim_names=("data", "tensor"))
    assert two["tensor"].get_local_rank() == rank and two["data"].size() == 1
    x = torch.tensor([rank + 1.0], device=OCL)
    dist.all_reduce(x, group=two["tensor"].get_group())
    assert x.item() == 3
    row = torch.empty(1, 2 * WORLD, device=OCL)  # shared out by its elements, not by its first dimension
    dist.all_gather_into_tensor(row, x.repeat(2) + rank)
    assert row.tolist() == [[3, 3, 4, 4]]
    part = torch.empty(2, 1, device=OCL)
    dist.reduce_scatter_tensor(part, row)
    assert part.tolist() == [[6], [6]] if rank == 0 else part.tolist() == [[8], [8]]
    gathered = all_gather_tensor(x + rank, 0, two["tensor"])
    assert gathered.tolist() == [3, 4]


CASES = {
    case.__name__: case
    for case in (
        dtensors,
        tensor_parallel,
        fully_sharded,
        fully_sharded_in_bfloat16,
        fully_sharded_the_older_way,
        sync_batch_norm,
        sync_batch_norm_of_half,
        sync_batch_norm_without_rows,
        messages,
        names_and_groups,
    )
}


def run(rank, folder, name, options):
    join(rank, folder, **options)
    CASES[name](rank)
    dist.barrier()
    dist.destroy_process_group()


@pytest.mark.parametrize("name", CASES)
def test_processes_compute_what_one_does(name, tmp_path):
    processes.spawn(run, (str(tmp_path), name, {}), nprocs=WORLD)


@pytest.mark.parametrize("name", ["fully_sharded", "names_and_groups"])
def test_groups_that_are_bound_to_a_device(name, tmp_path):
    processes.spawn(run, (str(tmp_path), name, {"device_id": OCL}), nprocs=WORLD)
