"""Kernels in files of programs: where they are trusted a first run builds nothing, with the same bits."""

import ctypes
import json
import sqlite3

import numpy as np
import processes
import pytest
import test_c_interface as c_interface

import ocl

RUN = """
import json, sys
import numpy as np
import ocl
run = ocl.runtime.load(sys.argv[1], trust_binaries=sys.argv[2] == "trust")
result = run(ocl.tensor(np.load(sys.argv[3])))
print(json.dumps([ocl.kernel_cache_info()["built"], result.numpy().tobytes().hex()]))
"""


def net():
    return ocl.nn.Sequential(ocl.nn.Conv2d(1, 4, 3), ocl.nn.ReLU(), ocl.nn.Flatten(), ocl.nn.Linear(64, 3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """x.npy, and net.ocl with the default device's binaries."""
    folder = tmp_path_factory.mktemp("binaries")
    x = np.random.default_rng(0).standard_normal((2, 1, 6, 6)).astype(np.float32)
    np.save(folder / "x.npy", x)
    program = ocl.export(net().eval(), (ocl.tensor(x),))
    program.save(folder / "net.ocl", binaries=[ocl.get_default_device()])
    program.save(folder / "without.ocl")
    return folder


def built_and_bits(path, trust, folder, tmp_path):
    """A process with empty caches runs it: how many kernels it builds, and the bits of the result."""
    caches = {
        name: tmp_path / f"{path.stem}_{trust}_{name}" for name in ("OCL_KERNEL_CACHE", "POCL_CACHE_DIR")
    }
    output, _ = processes.run(RUN, path, trust, folder / "x.npy", **caches)
    return json.loads(output)


def header_of(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    return data[8 : 8 + size].decode(), data[8 + size :]


def write(path, header, data):
    header = header.encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)
    return path


def test_trusted_binaries_are_used_and_others_not(folder, tmp_path):
    path = folder / "net.ocl"
    built, bits = built_and_bits(path, "trust", folder, tmp_path)
    built_untrusted, expected = built_and_bits(path, "ignore", folder, tmp_path)
    assert (built, bits) == (0, expected)
    assert built_untrusted > 0
    assert built_and_bits(folder / "without.ocl", "trust", folder, tmp_path) == [built_untrusted, expected]


def test_binaries_of_another_driver_are_left_out(folder, tmp_path):
    header, data = header_of(folder / "net.ocl")
    binaries = json.loads(json.loads(header)["__metadata__"]["tapecl_binaries"])
    driver = json.dumps(json.dumps(binaries[0]["driver"])[1:-1])[1:-1]
    assert binaries and driver in header
    other = write(tmp_path / "other.ocl", header.replace(driver, "another driver"), data)
    built, bits = built_and_bits(other, "trust", folder, tmp_path)
    assert built > 0
    assert bits == built_and_bits(folder / "net.ocl", "trust", folder, tmp_path)[1]


def test_a_program_that_is_saved_again_keeps_them(folder, tmp_path):
    ocl.runtime.load(folder / "net.ocl").save(tmp_path / "again.ocl")
    again, _ = header_of(tmp_path / "again.ocl")
    before, _ = header_of(folder / "net.ocl")
    kept = [json.loads(text)["__metadata__"]["tapecl_binaries"] for text in (again, before)]
    assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('tapecl_binary.0\\\\"', 'tapecl_binary.x\\\\"', "the tensor tapecl_binary.x is missing"),
        ('\\\\"driver\\\\":', '\\\\"drover\\\\":', '"driver" is missing'),
        ('"tapecl_binaries":"[', '"tapecl_binaries":"7[', "not JSON"),
    ],
)
def test_damaged_lists_of_binaries_are_refused(old, new, message, folder, tmp_path):
    header, data = header_of(folder / "net.ocl")
    old, new = old.replace("\\\\", "\\"), new.replace("\\\\", "\\")
    assert old in header
    path = write(tmp_path / "damaged.ocl", header.replace(old, new), data)
    with pytest.raises(OSError, match="damaged.ocl") as error:
        ocl.runtime.load(path)
    assert message in str(error.value)


def test_wrong_devices_are_refused(tmp_path):
    program = ocl.export(net().eval(), (ocl.zeros(2, 1, 6, 6),))
    with pytest.raises(ValueError, match="at least one device"):
        program.save(tmp_path / "net.ocl", binaries=[])
    with pytest.raises(RuntimeError, match="ocl:99"):
        program.save(tmp_path / "net.ocl", binaries=["ocl:99"])
    assert not list(tmp_path.iterdir())


@c_interface.pytestmark
def test_tapecl_run_writes_and_uses_them(folder, tmp_path, monkeypatch):
    tool, path = c_interface.BUILD / "tools/tapecl-run", tmp_path / "net.ocl"
    made = c_interface.run(tool, folder / "without.ocl", "--save-binaries", path)
    assert made.returncode == 0, made.stderr
    binaries = json.loads(json.loads(header_of(path)[0])["__metadata__"]["tapecl_binaries"])

    monkeypatch.setenv("OCL_KERNEL_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    arguments = ("-i", folder / "x.npy", "-o", tmp_path / "y.npy", "--trust-binaries")
    made = c_interface.run(tool, path, *arguments)
    assert made.returncode == 0, made.stderr
    with sqlite3.connect(tmp_path / "kernels/kernels.sqlite3") as database:
        keys = {key for (key,) in database.execute("SELECT key FROM entries")}
    assert keys == {binary["key"] for binary in binaries}  # nothing was built beside them
    loaded = ocl.runtime.load(path)
    expected = loaded(ocl.tensor(np.load(folder / "x.npy"))).numpy()
    assert np.load(tmp_path / "y.npy").tobytes() == expected.tobytes()


@c_interface.pytestmark
def test_c_takes_a_program_alone():
    library = ctypes.CDLL(str(c_interface.BUILD / "dlprim/libtapecl_runtime.so"))
    assert library.tapecl_trust_binaries(None) == c_interface.ARGUMENT
