"""Tensors of PyTorch's on ocl devices and of the package ``ocl`` over the same memory (DLPack)."""

import concurrent.futures
import gc
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import ocl

torch = pytest.importorskip("torch")

OPENCL = (4, 0)
DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.fixture(autouse=True)
def default_device():
    before = ocl.get_default_device()
    ocl.set_default_device("ocl:0")
    yield
    ocl.set_default_device(before)


def test_what_one_side_writes_the_other_sees():
    theirs = torch.arange(6.0).to("ocl").reshape(2, 3)
    ours = ocl.from_dlpack(theirs)
    assert ours.device == ocl.device("ocl:0") and ours.shape == (2, 3)
    for step in range(1, 20):  # each time after the other's last command, without a wait between
        ours.mul_(2)
        theirs.add_(step)
        ours.sub_(1)
    expected = torch.arange(6.0).reshape(2, 3)
    for step in range(1, 20):
        expected = expected * 2 + step - 1
    assert ours.tolist() == expected.tolist() == theirs.tolist()

    ours = ocl.ones(2, 3)
    theirs = torch.from_dlpack(ours)
    assert theirs.device == torch.device("ocl:0") and theirs.dtype == torch.float32
    theirs[1] = 5
    assert ours.tolist() == [[1, 1, 1], [5, 5, 5]]
    ours.zero_()
    assert theirs.tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_and_layouts(name):
    if name == "float64" and not torch.ocl.get_device_properties().has_fp64:
        pytest.skip("the device has no float64")
    base = torch.randint(0, 2, (5, 4, 3)).to(getattr(torch, name))
    there = base.to("ocl")
    for view in (
        lambda t: t,
        lambda t: t[1:, ::2],
        lambda t: t.permute(2, 0, 1),
        lambda t: t[2, 1, 2],
        lambda t: t[:0],
    ):
        ours = ocl.from_dlpack(view(there))
        assert ours.dtype == getattr(ocl, name)
        assert tuple(ours.stride()) == view(there).stride() or ours.numel() == 0
        assert ours.tolist() == view(base).tolist()
        back = torch.from_dlpack(ours)
        assert back.dtype == base.dtype and torch.equal(back.cpu(), view(base))
    # The last elements of a view, written through the other side.
    ocl.from_dlpack(there[1:, ::2]).fill_(1)
    base[1:, ::2] = 1
    assert torch.equal(there.cpu(), base)


def test_dtypes_that_only_pytorch_has():
    for dtype in (torch.uint32, torch.uint16):
        x = torch.tensor([1, 2, 3], dtype=dtype).to("ocl")
        assert torch.equal(torch.from_dlpack(x).cpu(), x.cpu())
        with pytest.raises(TypeError, match="no dtype for DLPack's type"):
            ocl.from_dlpack(x)


@pytest.mark.parametrize("elements", [5, 300_000, 6_000_000])  # below and above what goes beside the queue
def test_uploads_and_downloads_keep_the_order(elements):
    theirs = torch.zeros(elements, device="ocl")
    ours = ocl.from_dlpack(theirs)
    host = torch.arange(elements, dtype=torch.float32)
    for step in range(3):
        theirs.copy_(host)
        ours.add_(1)  # after the upload
        assert torch.equal(theirs.cpu(), host + 1)
        theirs.mul_(0)
        ours.copy_(ocl.tensor(host.numpy() + step))
        theirs.add_(1)
        np.testing.assert_array_equal(ours.numpy(), host.numpy() + step + 1)


def test_work_of_one_side_waits_for_long_work_of_the_other():
    """A sum of one row is one work item's on a CPU, beside which others are free to run."""
    elements = 4_000_000
    theirs = torch.zeros(elements, device="ocl")
    ours = ocl.from_dlpack(theirs)
    their_ones, our_ones = torch.ones(elements, device="ocl"), ocl.ones(elements)
    for _ in range(3):
        torch.cumsum(their_ones, 0, out=theirs)
        assert ours[-1].item() == elements
        ours.zero_()
        ours.copy_(ocl.cumsum(our_ones, 0))
        theirs[-1] += 1
        assert theirs[-1].item() == elements + 1 == ours[-1].item()
        torch.cumsum(their_ones, 0, out=theirs)
        ours[-1] = 7
        torch.ocl.synchronize()
        assert theirs[-1].item() == 7


def test_the_memory_lives_as_long_as_either_side_does():
    gc.collect()  # what tests before have left
    theirs = torch.full((1000,), 3.0, device="ocl")
    ours = ocl.from_dlpack(theirs)
    allocated = torch.ocl.memory_allocated()
    del theirs
    gc.collect()
    assert torch.ocl.memory_allocated() == allocated
    others = [torch.zeros(1000, device="ocl") for _ in range(8)]
    assert ours.sum().item() == 3000
    view = ours[10:20]
    del ours, others
    assert view.tolist() == [3] * 10
    del view
    assert torch.ocl.memory_allocated() < allocated

    ours = ocl.ones(1000)
    theirs = torch.from_dlpack(ours)[5:7]
    before = ocl.memory_allocated()
    del ours
    assert ocl.memory_allocated() == before and theirs.tolist() == [1, 1]
    del theirs
    assert ocl.memory_allocated() < before


def test_memory_that_is_given_back_waits_for_the_other_side():
    """The last user's commands may still run when the memory goes to the next tensor."""
    weight = ocl.ones(600, 600)
    for step in range(5):
        theirs = torch.full((600, 600), float(step), device="ocl")
        ours = ocl.from_dlpack(theirs)
        del theirs
        product = ours @ weight @ weight
        del ours
        torch.full((600, 600), -1.0, device="ocl")  # likely the same memory
        assert product[0, 0].item() == pytest.approx(step * 360000.0)


def test_capsules_that_nobody_takes_or_that_are_taken_twice():
    before = torch.ocl.memory_allocated()
    x = torch.ones(1000, device="ocl")
    for version in (None, (1, 0)):
        capsule = x.__dlpack__(max_version=version)
        del capsule
        capsule = x.__dlpack__(max_version=version)
        ocl.from_dlpack(capsule)
        with pytest.raises((ValueError, RuntimeError)):
            torch.from_dlpack(capsule)
    assert torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)).sum().item() == 1000
    del x, capsule
    assert torch.ocl.memory_allocated() == before


def test_devices_and_copies():
    theirs, ours = torch.ones(3, device="ocl"), ocl.ones(3)
    assert theirs.__dlpack_device__() == OPENCL
    on_host = np.from_dlpack(ours)  # those who ask for nothing get a copy
    ours.zero_()
    assert on_host.tolist() == [1, 1, 1]
    np.testing.assert_array_equal(torch.from_dlpack(ours, device="cpu"), [0, 0, 0])
    np.testing.assert_array_equal(np.from_dlpack(theirs, device="cpu"), [1, 1, 1])
    copied = torch.from_dlpack(ours, copy=True)
    ours.fill_(7)
    assert copied.tolist() == [0, 0, 0] and copied.device.type == "ocl"
    with pytest.raises(ValueError, match="without copying"):
        torch.from_dlpack(ours, device="cpu", copy=False)
    assert torch.from_dlpack(torch.arange(3)).tolist() == [0, 1, 2]
    assert torch.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]
    assert ocl.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]


def test_gradients_are_not_shared():
    with pytest.raises(BufferError, match="detach"):
        ocl.from_dlpack(torch.ones(3, device="ocl", requires_grad=True))
    with pytest.raises(BufferError, match="detach"):
        torch.from_dlpack(ocl.ones(3).requires_grad_())
    leaf = torch.ones(3, device="ocl", requires_grad=True)
    (leaf * 2).sum().backward()
    assert ocl.from_dlpack(leaf.grad).tolist() == [2, 2, 2]


def test_training_on_shared_parameters():
    """PyTorch's optimizer, in one launch, on parameters that the other library computes with."""
    theirs = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]).to("ocl"))
    ours = ocl.from_dlpack(theirs.detach())
    optimizer = torch.optim.Adam([theirs], lr=0.1, fused=True)
    expected = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    reference = torch.optim.Adam([expected], lr=0.1)
    for _ in range(5):
        theirs.grad = torch.from_dlpack(ours * 2)
        optimizer.step()
        expected.grad = expected.detach() * 2
        reference.step()
    np.testing.assert_allclose(ours.numpy(), expected.detach().numpy(), rtol=1e-5)


def test_profilers_do_not_part_them():
    theirs = torch.zeros(1000, device="ocl")
    ours = ocl.from_dlpack(theirs)
    with ocl.profiler.profile():
        for _ in range(10):
            ours.add_(1)
            theirs.mul_(2)
    ours.add_(1)
    assert theirs[3].item() == 2047


def test_threads_of_both_sides():
    theirs = [torch.zeros(5000, device="ocl") for _ in range(4)]
    ours = [ocl.from_dlpack(t) for t in theirs]

    def work(i):
        for _ in range(50):
            ours[i].add_(1)
            theirs[i].add_(1)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert [t[7].item() for t in theirs] == [100] * 4


@pytest.mark.parametrize("first", ["torch", "ocl"])
def test_whoever_comes_first(first):
    """Each side opens the device before the other is there."""
    program = {
        "torch": "import torch; x = torch.ones(3, device='ocl'); import ocl; y = ocl.from_dlpack(x)",
        "ocl": "import ocl; y = ocl.ones(3, device='ocl:0'); import torch; x = torch.from_dlpack(y)",
    }[first] + "; y.add_(1); x.mul_(3); print(y.tolist(), x.tolist())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[6.0, 6.0, 6.0] [6.0, 6.0, 6.0]", done.stderr


def test_memory_of_another_context_is_refused():
    """A capsule that seems to come from a library that has met nobody: a tensor's memory under another
    device's context.
    """
    program = """
        import ctypes
        from ctypes import byref, c_int, c_int32, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p
        import ocl, torch

        class Data(ctypes.Structure):
            _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32),
                        ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                        ("shape", c_void_p),
                        ("strides", c_void_p), ("byte_offset", c_uint64)]

        opencl = ctypes.CDLL("libOpenCL.so.1")
        opencl.clCreateContext.restype = opencl.clCreateBuffer.restype = c_void_p
        platform, device, code = c_void_p(), c_void_p(), c_int()
        opencl.clGetPlatformIDs(1, byref(platform), None)
        opencl.clGetDeviceIDs(platform, c_uint64(0xFFFFFFFF), 1, byref(device), None)
        context = c_void_p(opencl.clCreateContext(None, 1, byref(device), None, None, byref(code)))
        buffer = opencl.clCreateBuffer(context, c_uint64(1), c_size_t(64), None, byref(code))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]

        def shown(**changes):
            capsule = torch.to_dlpack(torch.ones(4, device="ocl"))
            data = Data.from_address(get(capsule, b"dltensor"))
            for name, value in changes.items():
                setattr(data, name, value)
            return capsule

        wrong = [("data", buffer), ("byte_offset", 1 << 40), ("byte_offset", 2), ("lanes", 2),
                 ("device_id", 99)]
        for change in wrong:
            for take in (torch.from_dlpack, ocl.from_dlpack):
                try:
                    take(shown(**dict([change])))
                except Exception as error:
                    print(type(error).__name__, str(error).splitlines()[0])
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120
    )
    said = done.stdout.splitlines()
    assert done.returncode == 0 and len(said) == 10, done.stderr + done.stdout
    words = (
        "another OpenCL context",
        "reaches past the buffer",
        "cannot begin at byte",
        "in one lane",
        "ocl:99",
    )
    for i, word in enumerate(words):
        assert word in said[2 * i] and word in said[2 * i + 1], said


def test_memory_of_others_is_refused():
    x = torch.ones(3, device="ocl")
    # PyTorch's own capsules have for a pointer what it takes for one (runtime/allocator.cpp): of a view none.
    assert torch._C._from_dlpack(torch._C._to_dlpack(x)).add_(1).tolist() == x.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="not of ocl's allocator"):
        torch._C._from_dlpack(torch._C._to_dlpack(x[1:])).add_(1).cpu()
