"""Tensors of ocl devices on their way to other processes."""

import multiprocessing
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest

torch = pytest.importorskip("torch")
import torch.multiprocessing as processes  # noqa: E402

TENSORS = {
    "contiguous": lambda: torch.arange(6.0).reshape(2, 3),
    "transposed": lambda: torch.arange(6.0).reshape(2, 3).t(),
    "part": lambda: torch.arange(24.0).reshape(4, 6)[1:3, ::2],
    "expanded": lambda: torch.ones(1, 3).expand(2, 3),
    "channels last": lambda: torch.rand(1, 2, 3, 3).contiguous(memory_format=torch.channels_last),
    "empty": lambda: torch.zeros(0, 3),
    "scalar": lambda: torch.tensor(3),
    "half": lambda: torch.arange(3.0).half(),
    "bfloat16": lambda: torch.arange(3.0).bfloat16(),
    "bool": lambda: torch.tensor([True, False]),
    "int8": lambda: torch.arange(3, dtype=torch.int8),
    "conjugate": lambda: torch.tensor([1 + 2j]).conj(),
    "leaf": lambda: torch.ones(2, requires_grad=True),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "frozen parameter": lambda: torch.nn.Parameter(torch.ones(2), requires_grad=False),
}


def placed(name):
    host = TENSORS[name]()
    moved = host.detach().to("ocl")
    if isinstance(host, torch.nn.Parameter):
        return host, torch.nn.Parameter(moved, requires_grad=host.requires_grad)
    return host, moved.requires_grad_(host.requires_grad)


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_arrive_as_they_were(name):
    host, tensor = placed(name)
    came = pickle.loads(ForkingPickler.dumps(tensor))
    assert type(came) is type(tensor) and came.device == tensor.device
    assert (came.dtype, came.shape, came.requires_grad) == (host.dtype, host.shape, host.requires_grad)
    assert name in ("part", "expanded") or came.stride() == tensor.stride()
    assert torch.equal(came.detach().cpu(), host.detach())


def test_storages_arrive():
    x = torch.arange(4.0, device="ocl")
    came = pickle.loads(ForkingPickler.dumps(x.untyped_storage()))
    assert came.device == x.device
    assert torch.empty(0, device="ocl").set_(came, 0, (4,), (1,)).tolist() == [0, 1, 2, 3]


def test_tensors_in_the_middle_of_a_graph_are_refused():
    x = torch.ones(2, device="ocl", requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="non-leaf tensor which requires_grad"):
        ForkingPickler.dumps(x)


def answer(incoming, outgoing):
    """Ends before anybody has read its answer."""
    for tensor in incoming.get(timeout=200):
        outgoing.put((tensor.device.type, tensor.detach() * 2))


def put_what_cannot_be_read(outgoing):
    outgoing.put(torch.zeros(3, device="ocl")[torch.tensor([9], device="ocl")])
    outgoing.put(torch.ones(2, device="ocl", requires_grad=True) * 2)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_queues(method):
    context = processes.get_context(method)
    there, back = context.Queue(), context.Queue()
    worker = context.Process(target=answer, args=(there, back))
    worker.start()
    there.put([torch.ones(2, device="ocl"), torch.nn.Parameter(torch.ones(1, device="ocl"))])
    worker.join()
    for expected in ([2, 2], [2]):
        device, tensor = back.get(timeout=200)
        assert device == tensor.device.type == "ocl" and tensor.tolist() == expected


def test_a_receiver_is_told_what_the_sender_met():
    context = processes.get_context("spawn")
    queue = context.Queue()
    worker = context.Process(target=put_what_cannot_be_read, args=(queue,))
    worker.start()
    for message in ("could not be read by the process that sent it: IndexError.*9", "non-leaf tensor"):
        with pytest.raises(RuntimeError, match=message):
            queue.get(timeout=200)
    worker.join()


def take(queue, told):
    try:
        queue.get(timeout=200)
    except Exception as error:
        told.put(str(error))


def test_a_forked_receiver_is_told_that_it_has_no_device():
    torch.ones(1, device="ocl").item()
    context = multiprocessing.get_context("fork")
    queue, told = context.Queue(), context.Queue()
    worker = context.Process(target=take, args=(queue, told))
    worker.start()
    queue.put(torch.ones(2, device="ocl"))
    assert "forked from one that had used OpenCL" in told.get(timeout=200)
    worker.join()


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.full((3,), float(index), device="ocl")


def test_workers_of_a_loader():
    loader = torch.utils.data.DataLoader(Rows(), 2, num_workers=1, multiprocessing_context="spawn")
    assert [(b.device.type, b[:, 0].tolist()) for b in loader] == [
        ("ocl", [0, 1]),
        ("ocl", [2, 3]),
        ("ocl", [4, 5]),
    ]
    torch.ones(1, device="ocl").item()
    forked = torch.utils.data.DataLoader(Rows(), 2, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(RuntimeError, match="forked from one that had used OpenCL"):
        list(forked)
