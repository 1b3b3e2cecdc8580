"""Exported programs outside Python: the library tapecl_runtime, the program tapecl-run and the example in C.

They are those that ./test.sh or ``cmake --build --preset …`` built; OCL_TEST_BUILD names another build.
"""

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from comparisons import not_compared
from training_steps import training

import ocl
from ocl import nn, optim

REPOSITORY = Path(__file__).parents[3]
OK, ARGUMENT, FILE, DEVICE = 0, 1, 2, 3


def find_build():
    """The newest build that has the library, or None."""
    builds = (
        [Path(os.environ["OCL_TEST_BUILD"])] if "OCL_TEST_BUILD" in os.environ else REPOSITORY.glob("build/*")
    )
    found = [build for build in builds if (build / "dlprim/libtapecl_runtime.so").exists()]
    return max(found, key=lambda b: (b / "dlprim/libtapecl_runtime.so").stat().st_mtime, default=None)


BUILD = find_build()
pytestmark = pytest.mark.skipif(
    BUILD is None, reason=not_compared("Python's bits with C's", "build of the library tapecl_runtime")
)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 8),
        ("bytes", ctypes.c_size_t),
    ]


@pytest.fixture(scope="module")
def library():
    library = ctypes.CDLL(str(BUILD / "dlprim/libtapecl_runtime.so"))
    library.tapecl_last_error.restype = ctypes.c_char_p
    library.tapecl_input_count.restype = library.tapecl_output_count.restype = ctypes.c_size_t
    return library


class Program:
    """A program through the C interface."""

    def __init__(self, library, path):
        self.library, self.handle = library, ctypes.c_void_p()
        self.check(library.tapecl_load(str(path).encode(), b"ocl:0", ctypes.byref(self.handle)))

    def check(self, status):
        assert status == OK, self.library.tapecl_last_error().decode()

    def __call__(self, *inputs):
        for i, values in enumerate(inputs):
            values = np.ascontiguousarray(values)
            self.check(
                self.library.tapecl_set_input(
                    self.handle,
                    ctypes.c_size_t(i),
                    values.ctypes.data_as(ctypes.c_void_p),
                    ctypes.c_size_t(values.nbytes),
                )
            )
        self.check(self.library.tapecl_run(self.handle))
        results = []
        for i in range(self.library.tapecl_output_count(self.handle)):
            about = Tensor()
            self.check(self.library.tapecl_output(self.handle, ctypes.c_size_t(i), ctypes.byref(about)))
            result = np.empty(tuple(about.shape[: about.rank]), about.dtype.decode())
            self.check(
                self.library.tapecl_get_output(
                    self.handle,
                    ctypes.c_size_t(i),
                    result.ctypes.data_as(ctypes.c_void_p),
                    ctypes.c_size_t(result.nbytes),
                )
            )
            results.append(result)
        return results

    def reshape(self, i, *shape):
        """The status of setting an input's shape."""
        sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        return self.library.tapecl_set_input_shape(self.handle, ctypes.c_size_t(i), sizes, len(shape))

    def bounds(self, i, dimension):
        name, least, greatest = ctypes.c_char_p(), ctypes.c_int64(), ctypes.c_int64()
        self.check(
            self.library.tapecl_input_bounds(
                self.handle, ctypes.c_size_t(i), dimension, *map(ctypes.byref, (name, least, greatest))
            )
        )
        return name.value.decode(), least.value, greatest.value

    def state(self, name, shape):
        result, size = np.empty(shape, np.float32), ctypes.c_size_t()
        self.check(self.library.tapecl_get_state(self.handle, name.encode(), None, ctypes.byref(size)))
        assert size.value == result.nbytes
        self.check(
            self.library.tapecl_get_state(
                self.handle, name.encode(), result.ctypes.data_as(ctypes.c_void_p), ctypes.byref(size)
            )
        )
        return result

    def free(self):
        self.library.tapecl_free(self.handle)


def small_net():
    ocl.manual_seed(1)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))


def test_forward_gives_the_same_bits(library, tmp_path):
    net = small_net().eval()
    random = np.random.default_rng(0)
    ocl.export(net, (ocl.zeros(3, 1, 8, 8),)).save(tmp_path / "net.ocl")
    program = Program(library, tmp_path / "net.ocl")
    for _ in range(3):
        x = random.standard_normal((3, 1, 8, 8)).astype(np.float32)
        with ocl.no_grad():
            assert program(x)[0].tobytes() == net(ocl.tensor(x)).numpy().tobytes()
    program.free()


def test_a_hundred_training_steps_give_the_same_bits(library, tmp_path):
    net = small_net()
    optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

    step = training(net, optimizer)
    random = np.random.default_rng(0)
    batches = [
        (random.standard_normal((4, 1, 8, 8)).astype(np.float32), random.integers(0, 10, 4))
        for _ in range(100)
    ]
    first = [ocl.tensor(values) for values in batches[0]]
    step(*first)
    ocl.export(step, first, named=net).save(tmp_path / "step.ocl")
    program = Program(library, tmp_path / "step.ocl")
    for x, y in batches:
        loss = program(x, y)[0]
        assert loss.tobytes() == step(ocl.tensor(x), ocl.tensor(y)).detach().numpy().tobytes()
    for name, parameter in net.named_parameters():
        assert program.state(name, tuple(parameter.shape)).tobytes() == parameter.detach().numpy().tobytes()
    program.free()


def pooled_net():
    ocl.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, 2),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 10),
    ).eval()


DYNAMIC = {"input": {0: ocl.export.Dim("batch", max=5), 2: ocl.export.Dim("height", min=5, max=20)}}


def test_dynamic_shapes_give_the_same_bits(library, tmp_path):
    net = pooled_net()
    random = np.random.default_rng(0)
    ocl.export(net, (ocl.zeros(3, 1, 8, 8),), dynamic_shapes=DYNAMIC).save(tmp_path / "net.ocl")
    program = Program(library, tmp_path / "net.ocl")
    assert program.bounds(0, 0) == ("batch", 1, 5) and program.bounds(0, 2) == ("height", 5, 20)
    assert program.bounds(0, 1) == ("", 1, 1) and program.bounds(0, 3) == ("", 8, 8)
    x = random.standard_normal((5, 1, 20, 8)).astype(np.float32)  # the greatest, which hold at first
    with ocl.no_grad():
        assert program(x)[0].tobytes() == net(ocl.tensor(x)).numpy().tobytes()
    for batch, height in [(1, 5), (5, 20), (2, 13), (2, 13), (2, 13), (4, 6), (1, 20)]:
        x = random.standard_normal((batch, 1, height, 8)).astype(np.float32)
        assert program.reshape(0, *x.shape) == OK
        with ocl.no_grad():
            assert program(x)[0].tobytes() == net(ocl.tensor(x)).numpy().tobytes()
    program.free()


def test_dynamic_shapes_have_errors(library, tmp_path):
    work = lambda x, y: x.sum(1) + y  # noqa: E731
    batch = ocl.export.Dim("batch", max=5)
    ocl.export(work, (ocl.zeros(3, 2), ocl.zeros(3)), dynamic_shapes=({0: batch}, {0: batch})).save(
        tmp_path / "sum.ocl"
    )
    program = Program(library, tmp_path / "sum.ocl")

    def message():
        return library.tapecl_last_error().decode()

    for shape, said in [
        ((6, 2), "dimension 0, batch, is 6, and must be from 1 to 5"),
        ((0, 2), "dimension 0, batch, is 0"),
        ((3, 4), "dimension 1 is 4, and must be 2"),
        ((3,), "got [3]"),
        ((1,) * 9, "got 9"),
    ]:
        assert program.reshape(0, *shape) == ARGUMENT
        assert said in message()
    assert program.reshape(7, 1) == ARGUMENT and "none of index 7" in message()
    assert library.tapecl_set_input_shape(program.handle, ctypes.c_size_t(0), None, 2) == ARGUMENT
    assert library.tapecl_set_input_shape(None, ctypes.c_size_t(0), None, 0) == ARGUMENT
    assert program.reshape(0, 3, 2) == OK and program.reshape(1, 4) == OK
    assert library.tapecl_run(program.handle) == ARGUMENT
    assert "batch" in message() and "another input" in message()
    assert program.reshape(1, 3) == OK
    x, y = np.ones((3, 2), np.float32), np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(program(x, y)[0], y + 2)
    values = (ctypes.c_float * 10)()
    assert (
        library.tapecl_set_input(program.handle, ctypes.c_size_t(0), values, ctypes.c_size_t(40)) == ARGUMENT
    )
    assert message() == "input x has 24 bytes, got 40"
    program.free()


def test_errors_are_statuses_and_texts(library, tmp_path):
    handle = ctypes.c_void_p()

    def message():
        return library.tapecl_last_error().decode()

    assert library.tapecl_load(b"/nowhere.ocl", b"ocl:0", ctypes.byref(handle)) == FILE
    assert "/nowhere.ocl" in message()
    assert library.tapecl_load(None, b"ocl:0", ctypes.byref(handle)) == ARGUMENT
    assert message() == "path is a null pointer"
    ocl.export(nn.Linear(3, 2), (ocl.zeros(1, 3),)).save(tmp_path / "net.ocl")
    path = str(tmp_path / "net.ocl").encode()
    assert library.tapecl_load(path, b"ocl:99", ctypes.byref(handle)) in (ARGUMENT, DEVICE)
    assert "99" in message()
    assert library.tapecl_load(path, b"ocl:0", ctypes.byref(handle)) == OK
    values = (ctypes.c_float * 4)()
    assert library.tapecl_set_input(handle, ctypes.c_size_t(0), values, ctypes.c_size_t(16)) == ARGUMENT
    assert message() == "input input has 12 bytes, got 16"
    assert library.tapecl_set_input(handle, ctypes.c_size_t(3), values, ctypes.c_size_t(12)) == ARGUMENT
    assert library.tapecl_set_input(handle, ctypes.c_size_t(0), None, ctypes.c_size_t(12)) == ARGUMENT
    size = ctypes.c_size_t()
    assert library.tapecl_get_state(handle, b"nothing", None, ctypes.byref(size)) == ARGUMENT
    assert library.tapecl_run(None) == ARGUMENT
    library.tapecl_free(handle)
    library.tapecl_free(None)


def run(program, *arguments):
    return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=300)


def test_tapecl_run_reads_and_writes_arrays(tmp_path):
    net = small_net().eval()
    ocl.export(net, (ocl.zeros(3, 1, 8, 8),)).save(tmp_path / "net.ocl")
    x = np.random.default_rng(0).standard_normal((3, 1, 8, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    tool = BUILD / "tools/tapecl-run"
    made = run(
        tool,
        tmp_path / "net.ocl",
        "-i",
        tmp_path / "x.npy",
        "-o",
        tmp_path / "y.npy",
        "--repeat",
        4,
        "--profile",
    )
    assert made.returncode == 0, made.stderr
    assert (
        "conv2d_forward" in made.stdout and "4 more runs" not in made.stdout and "3 more runs" in made.stdout
    )
    with ocl.no_grad():
        assert np.load(tmp_path / "y.npy").tobytes() == net(ocl.tensor(x)).numpy().tobytes()
    shown = run(tool, tmp_path / "net.ocl", "--show")
    assert shown.stdout.startswith("program(input: float32[3, 1, 8, 8])")

    missing = run(tool, tmp_path / "net.ocl")
    assert missing.returncode == 1 and "the input input: float32[3, 1, 8, 8] is missing" in missing.stderr
    for option in ("-o", "--save"):
        nowhere = run(tool, tmp_path / "net.ocl", "-i", tmp_path / "x.npy", option, tmp_path / "none/y")
        assert nowhere.returncode == 1 and "none/y: cannot write" in nowhere.stderr
        assert "first result" not in nowhere.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.ocl", "x.npy", "y.npy"]
    np.save(tmp_path / "x.npy", x.astype(np.float64))
    other = run(tool, tmp_path / "net.ocl", "-i", tmp_path / "x.npy")
    assert other.returncode == 1 and "takes float32" in other.stderr
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\xff")
    assert run(tool, tmp_path / "net.ocl", "-i", tmp_path / "x.npy").returncode == 1


def test_tapecl_run_takes_sizes_from_arrays(tmp_path):
    net = pooled_net()
    ocl.export(net, (ocl.zeros(3, 1, 8, 8),), dynamic_shapes=DYNAMIC).save(tmp_path / "net.ocl")
    tool, random = BUILD / "tools/tapecl-run", np.random.default_rng(0)
    files = [tmp_path / "net.ocl", "-i", tmp_path / "x.npy", "-o", tmp_path / "y.npy"]
    for shape in [(1, 1, 5, 8), (5, 1, 20, 8), (2, 1, 11, 8)]:
        x = random.standard_normal(shape).astype(np.float32)
        np.save(tmp_path / "x.npy", x)
        with ocl.no_grad():
            expected = net(ocl.tensor(x)).numpy()
        made = run(tool, *files, "--repeat", 3)
        assert made.returncode == 0, made.stderr
        assert np.load(tmp_path / "y.npy").tobytes() == expected.tobytes()
        made = run(tool, *files, "--optimize")
        assert made.returncode == 0, made.stderr
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, rtol=1e-4, atol=1e-5)
    np.save(tmp_path / "x.npy", np.zeros((6, 1, 8, 8), np.float32))
    made = run(tool, *files)
    assert made.returncode == 1 and "batch, is 6, and must be from 1 to 5" in made.stderr
    shown = run(tool, tmp_path / "net.ocl", "--show").stdout
    assert shown.startswith("program(input: float32[batch, 1, height, 8]):\n  batch: from 1 to 5\n")
    assert "batch_norm_forward" in shown
    assert "batch_norm_forward" not in run(tool, tmp_path / "net.ocl", "--show", "--optimize").stdout
    missing = run(tool, tmp_path / "net.ocl")
    assert missing.returncode == 1 and "input: float32[batch, 1, height, 8] is missing" in missing.stderr


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_tapecl_run_knows_numpys_dtypes(dtype, shape, tmp_path):
    x = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    ocl.export(lambda x: x.clone(), (ocl.tensor(x),)).save(tmp_path / "net.ocl")
    np.save(tmp_path / "x.npy", x)
    made = run(
        BUILD / "tools/tapecl-run", tmp_path / "net.ocl", "-i", tmp_path / "x.npy", "-o", tmp_path / "y.npy"
    )
    assert made.returncode == 0, made.stderr
    y = np.load(tmp_path / "y.npy")
    assert y.dtype == x.dtype and y.shape == x.shape and np.array_equal(x, y)


def test_the_example_in_c(tmp_path):
    net = nn.Linear(7, 2)
    ocl.export(net, (ocl.zeros(1, 7),)).save(tmp_path / "net.ocl")
    made = run(BUILD / "examples/runner", tmp_path / "net.ocl", "ocl:0", 3)
    assert made.returncode == 0, made.stderr
    with ocl.no_grad():
        expected = net(ocl.tensor((np.arange(7) % 7 / 7).astype(np.float32)[None])).numpy()[0]
    assert made.stdout.startswith("output float32 [1, 2]")
    np.testing.assert_array_equal(np.array(made.stdout.split("]")[1].split(), np.float32), expected)
