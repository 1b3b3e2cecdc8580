"""Arrays to and from devices: ordinary and page-locked memory, with and without waiting, and between devices.

Every test runs twice: as transfers are on the device under test, and in a process where they pass through
staging memory and queues of their own.
"""

import gc
import os
import subprocess
import sys

import numpy as np
import processes
import pytest
from support import in_threads

import ocl
from ocl.utils.data import DataLoader, TensorDataset

PIECE = 4 << 20


def pattern(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


@pytest.mark.skipif("OCL_STAGED_TRANSFERS" in os.environ, reason="this is that process")
def test_all_of_this_where_transfers_are_staged(device):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    environment = {**os.environ, "OCL_STAGED_TRANSFERS": "1", "OCL_TEST_DEVICE": str(device)}
    done = subprocess.run(command, env=environment, cwd=processes.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_staging_memory_is_used_where_memory_is_not_shared(device):
    array = pattern(3 * PIECE)
    assert np.array_equal(ocl.tensor(array, device=device).numpy(), array)
    shares = ocl.get_device_properties(device)["shares_host_memory"]
    assert shares == ("OCL_STAGED_TRANSFERS" not in os.environ) or not shares
    assert (ocl._C._staging_slots(device) == 0) == shares


@pytest.mark.parametrize(
    "count", [0, 1, 65535, 65536, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3, 18 * PIECE]
)
def test_sizes_around_pieces(count):
    array = pattern(count)
    given = array.copy()
    tensor = ocl.tensor(given)
    given[:] = 0  # the call has returned
    assert np.array_equal(tensor.numpy(), array)
    out = np.empty_like(array)
    assert tensor.numpy(out=out) is out
    assert np.array_equal(out, array)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int32, np.bool_])
def test_dtypes_and_arrays_that_are_not_contiguous(dtype):
    array = (pattern(3 * 1000 * 1000, 1) % 2).astype(dtype).reshape(3, 1000, 1000)
    for given in (array, array.T, array[:, ::2], array[::-1], array[:, 3:700, 5:]):
        tensor = ocl.tensor(given)
        assert np.array_equal(tensor.numpy(), given)
        assert np.array_equal(tensor.transpose(0, 1).numpy(), given.swapaxes(0, 1))


def test_true_may_be_any_byte():
    array = pattern(PIECE + 5, 2).view(np.bool_)
    assert ocl.tensor(array).sum().item() == np.count_nonzero(array.view(np.uint8))


def test_pinned_arrays():
    array = pattern(2 * PIECE + 11, 3).reshape(1, -1)
    pinned = ocl.pin_memory(array)
    assert ocl.is_pinned(pinned) and not ocl.is_pinned(array)
    assert np.array_equal(pinned, array) and pinned.flags.c_contiguous and pinned.flags.writeable
    part = pinned[:, 5:-70]
    assert ocl.is_pinned(part)
    for given in (pinned, part, pinned[:, ::3], pinned.view(np.bool_)[:, :7]):
        assert np.array_equal(ocl.tensor(given).numpy(), given.astype(bool) if given.dtype == bool else given)
    tensor = ocl.tensor(part)
    pinned[:] = 0  # the call has returned
    assert np.array_equal(tensor.numpy(), array[:, 5:-70])
    assert np.array_equal(tensor.numpy(out=part), array[:, 5:-70])
    assert (pinned[:, :5] == 0).all() and (pinned[:, -70:] == 0).all()
    assert ocl.pin_memory([1.5, 2]).tolist() == [1.5, 2]
    assert ocl.pin_memory(np.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(TypeError, match="an array of Python objects cannot be page-locked"):
        ocl.pin_memory(np.array([None, "x"], object))


def test_the_array_for_a_download_must_fit():
    tensor = ocl.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    with pytest.raises(TypeError, match="expected an array of float32 for out"):
        tensor.numpy(out=np.empty((2, 3)))
    with pytest.raises(ValueError, match=r"shape \[2, 3\] for out, got \[3, 2\]"):
        tensor.numpy(out=np.empty((3, 2), np.float32))
    with pytest.raises(ValueError, match="C-contiguous array for out"):
        tensor.numpy(out=np.empty((3, 2), np.float32).T)
    read_only = np.empty((2, 3), np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        tensor.numpy(out=read_only)
    out = np.empty((3, 2), np.float32)
    assert np.array_equal(tensor.T.numpy(out=out), tensor.numpy().T)


def test_a_pinned_array_may_go_while_it_is_uploaded():
    array = pattern(4 * PIECE, 4)
    busy = ocl.ones(600, 600)
    for _ in range(6):
        for _ in range(5):
            ocl.matmul(busy, busy)
        tensor = ocl.tensor(ocl.pin_memory(array), non_blocking=True)
        gc.collect()
        ocl.pin_memory(np.zeros_like(array))  # gets that memory as soon as it is free
        assert np.array_equal(tensor.numpy(), array)


def test_copies_from_arrays():
    tensor = ocl.zeros(3, PIECE // 2, dtype=ocl.float32)
    row = np.random.default_rng(5).standard_normal(PIECE // 2)
    before = tensor + 1
    assert tensor.copy_(row.astype(np.float32)) is tensor
    assert np.array_equal(tensor.numpy(), np.broadcast_to(row.astype(np.float32), tensor.shape))
    assert (before == 1).all().item()
    numbers = np.arange(PIECE // 2)
    tensor[1].copy_(ocl.pin_memory(numbers), non_blocking=True)
    assert np.array_equal(tensor[1].numpy(), numbers) and np.array_equal(tensor[0].numpy(), tensor[2].numpy())
    with pytest.raises(ValueError, match="do not broadcast"):
        tensor.copy_(np.zeros(5, np.float32))


def test_memory_is_used_again_while_kernels_read_it():
    matrix = ocl.tensor(np.eye(700, dtype=np.float32))
    # Tensor cores give back numbers that have some bits less than float32's.
    arrays = [np.round(64 * np.random.default_rng(i).standard_normal((700, 700))) / 64 for i in range(20)]
    arrays = [array.astype(np.float32) for array in arrays]
    products = []
    for array in arrays:
        step = ocl.tensor(array)
        for _ in range(3):
            step = ocl.matmul(step, matrix)
        products.append(step)
        del step
    for product, array in zip(products, arrays, strict=True):
        assert np.array_equal(product.numpy(), array)


def test_threads_that_upload_and_compute():
    failures = []

    def work(seed):
        for i in range(10):
            array = pattern(PIECE // 2 + i * 100000, 100 * seed + i)
            pinned = ocl.pin_memory(array)
            total = int(array.sum(dtype=np.int64))
            sums = [
                ocl.tensor(array).to(ocl.int64).sum(),
                ocl.tensor(pinned, non_blocking=True).to(ocl.int64).sum(),
            ]
            if [s.item() for s in sums] != [total, total]:
                failures.append((seed, i))

    in_threads(work, 3)
    assert not failures


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("pin_memory", [False, True])
def test_batches_of_arrays(workers, shuffle, pin_memory):
    images = np.random.default_rng(7).standard_normal((100, 3, 40, 40), np.float32)
    labels = np.arange(100)
    loader = DataLoader(
        TensorDataset(images, labels), 30, shuffle=shuffle, num_workers=workers, pin_memory=pin_memory
    )
    for _ in range(2):
        seen = []
        for batch, numbers in loader:
            seen += numbers.tolist()
            assert np.array_equal(batch.numpy(), images[numbers.numpy()])
        assert sorted(seen) == labels.tolist() and (seen != labels.tolist()) == shuffle


def test_rows_of_pinned_batches():
    from ocl.utils.data.fetch import ArrayFetcher

    array = np.arange(12).reshape(6, 2)
    fetch = ArrayFetcher([array], ocl.get_default_device())
    for rows in (range(1, 3), range(5, 0, -2), [0, -1, 3], np.array([4, 4])):
        (batch,) = fetch(rows)
        assert np.array_equal(batch, array[np.asarray(rows, np.int64)]) and ocl.is_pinned(batch)
    assert fetch([])[0].shape == (0, 2)
    for wrong in ([6], [-7]):
        with pytest.raises(IndexError):
            fetch(wrong)


TWO_DEVICES = """
import numpy as np
import ocl

assert ocl.device_count() >= 2
for count in (0, 1, 5, 16384, 1 << 20, (1 << 20) + 1, (5 << 20) + 3):
    array = np.random.default_rng(count).standard_normal(count, np.float32)
    here = ocl.tensor(array, device="ocl:0")
    there = (here * 2).to("ocl:1", non_blocking=True)
    assert str(there.device) == "ocl:1" and np.array_equal((there + 0).numpy(), array * 2)
    back = there.to("ocl:0")
    del there
    assert np.array_equal(back.numpy(), array * 2)

matrix = np.arange(1200 * 1100, dtype=np.float32).reshape(1200, 1100)
moved = ocl.tensor(matrix, device="ocl:0").T[3:].to("ocl:1")
assert np.array_equal(moved.numpy(), matrix.T[3:])
images = ocl.tensor(np.random.default_rng(0).standard_normal((2, 5, 90, 80), np.float32), device="ocl:0")
channels_last = images.to(memory_format=ocl.channels_last).to("ocl:1")
assert channels_last.is_contiguous(memory_format=ocl.channels_last)
assert np.array_equal(channels_last.numpy(), images.numpy())

pinned = ocl.pin_memory(matrix, device="ocl:0")
assert np.array_equal(ocl.tensor(pinned, device="ocl:1", non_blocking=True).numpy(), matrix)
target = ocl.zeros(1200, 1100, device="ocl:1")
target.copy_(ocl.tensor(matrix, device="ocl:0"), non_blocking=True)
assert np.array_equal(target.numpy(), matrix)

leaf = ocl.tensor(matrix, device="ocl:0", requires_grad=True)
(leaf.to("ocl:1") * 3).sum().backward()
assert leaf.grad.device == leaf.device and (leaf.grad == 3).all().item()

net = ocl.nn.Linear(600, 500, device="ocl:0")
weight = net.weight.detach().numpy()
net.to("ocl:1", non_blocking=True)
assert str(net.weight.device) == "ocl:1" and np.array_equal(net.weight.detach().numpy(), weight)
print("done")
"""


def test_two_devices():
    if not ocl.get_device_properties()["platform_name"].startswith("Portable"):
        pytest.skip("two devices of one machine are PoCL's to make")
    assert processes.run(TWO_DEVICES, POCL_DEVICES="pthread pthread")[0] == "done\n"
