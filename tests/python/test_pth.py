"""ocl.load of what torch.save writes, compared with torch.load."""

import argparse
import io
import pickle
import struct
import zipfile
from collections import Counter, OrderedDict

import numpy as np
import pytest
import torch
from processes import run
from support import has_float64, skip_without

import ocl
from ocl import serialization

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
ABSENT_DTYPES = ("uint16", "uint32", "float8_e4m3fn")


def save_zip(obj, path):
    torch.save(obj, path)


def save_legacy(obj, path):
    torch.save(obj, path, _use_new_zipfile_serialization=False)


@pytest.fixture(params=[save_zip, save_legacy], ids=["zip", "legacy"])
def save(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weights.pth"


def bits(tensor):
    if isinstance(tensor, ocl.Tensor):
        return ocl._C._to_bytes(tensor.detach())
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def expect_same(ours, theirs):
    """Expects equal structures, classes of containers, dtypes, bits, strides, and parameters where theirs
    are.
    """
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, ocl.nn.Parameter) == isinstance(theirs, torch.nn.Parameter)
        assert str(ours.dtype).partition(".")[2] == str(theirs.dtype).partition(".")[2]
        assert (ours.shape, ours.stride()) == (tuple(theirs.shape), theirs.stride())
        assert (ours.requires_grad, ours.is_leaf) == (theirs.requires_grad, theirs.is_leaf)
        assert bits(ours) == bits(theirs)
    elif isinstance(theirs, torch.Size):
        assert ours == tuple(theirs)
    elif isinstance(theirs, dict):
        assert type(ours) is type(theirs) and list(ours) == list(theirs)
        for key, value in theirs.items():
            expect_same(ours[key], value)
    elif isinstance(theirs, list | tuple):
        assert type(ours) is type(theirs)
        for our_item, their_item in zip(ours, theirs, strict=True):
            expect_same(our_item, their_item)
    else:
        assert type(ours) is type(theirs) and ours == theirs


def random_bits(dtype, *shape):
    """Any values at all, NaN of every kind among them."""
    torch.manual_seed(0)
    if dtype == torch.bool:
        return torch.randint(2, shape) == 1
    return torch.randint(256, (*shape, dtype.itemsize), dtype=torch.uint8).view(dtype).reshape(shape)


# --- tensors


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(save, path, name):
    skip_without(name)
    tensor = random_bits(getattr(torch, name), 5, 77)
    save({"x": tensor, "dtype": tensor.dtype}, path)
    loaded = ocl.load(path)
    expect_same(loaded["x"], tensor)
    assert loaded["dtype"] == getattr(ocl, name)


@pytest.mark.parametrize("name", ABSENT_DTYPES)
def test_absent_dtypes_are_refused_by_name(save, path, name):
    save({"x": torch.zeros(2, dtype=getattr(torch, name))}, path)
    with pytest.raises(serialization.UnpicklingError, match=f"weights.pth: it holds {name} elements"):
        ocl.load(path)


def test_every_layout(save, path):
    x = torch.arange(24.0).reshape(2, 3, 4)
    layouts = {
        "transposed": x.transpose(0, 2),
        "sliced": x[:, 1:, ::2],
        "with an offset": x[1, 2],
        "expanded": torch.ones(3, 1).expand(3, 5),
        "channels last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "scalar": torch.tensor(2.5),
        "scalar of a larger one": x[1, 1, 1],
        "empty": torch.zeros(0, 3),
        "empty with an offset": x[1:, :0],
    }
    save(layouts, path)
    expect_same(ocl.load(path), layouts)


def test_tensors_that_share_memory_still_do(save, path):
    x = torch.arange(6.0)
    save({"whole": x, "row": x.view(2, 3)[1], "tied": x}, path)
    loaded = ocl.load(path)
    assert loaded["tied"] is loaded["whole"]
    loaded["row"].fill_(7)
    assert loaded["whole"].tolist() == [0, 1, 2, 7, 7, 7]


def dtypes_of_device():
    return [name for name in DTYPES if name != "float64" or has_float64()]


def test_large_storages_come_in_pieces(save, path, monkeypatch):
    monkeypatch.setattr("ocl.serialization.torch_file._PIECE", 64)
    tensors = {name: random_bits(getattr(torch, name), 1001) for name in dtypes_of_device()}
    save(tensors, path)
    expect_same(ocl.load(path), tensors)


def test_big_endian_archives(path, tmp_path):
    dtypes = dtypes_of_device()
    tensors = {name: random_bits(getattr(torch, name), 9) for name in dtypes}
    torch.save(tensors, tmp_path / "little")
    with zipfile.ZipFile(tmp_path / "little") as little, zipfile.ZipFile(path, "w") as big:
        for entry in little.namelist():
            content = little.read(entry)
            record = entry.partition("/")[2]
            if record == "byteorder":
                content = b"big"
            if record.startswith("data/"):
                dtype = getattr(torch, dtypes[int(record[5:])])
                content = np.frombuffer(content, f"u{dtype.itemsize}").byteswap().tobytes()
            big.writestr(entry, content)
    expect_same(ocl.load(path), tensors)


def test_bytes_without_a_checksum_and_names_beyond_ascii(tmp_path):
    path = tmp_path / "gewichte-ü.pth"
    computes = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)
    try:
        torch.save({"ü": torch.ones(3)}, path)
    finally:
        torch.serialization.set_crc32_options(computes)
    assert ocl.load(path)["ü"].tolist() == [1, 1, 1]


def test_parameters_and_what_requires_gradients(save, path):
    plain, wanted = torch.ones(2), torch.ones(2, requires_grad=True)
    weight, fixed = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(3), requires_grad=False)
    save([plain, wanted, weight, fixed, weight.data], path)
    expect_same(ocl.load(path), [plain, wanted, weight, fixed, weight.data])


def test_attributes_of_tensors(save, path):
    weight, tensor = torch.nn.Parameter(torch.ones(3)), torch.ones(2)
    weight.group, tensor.note = ["decay", 1], "kept"
    save([weight, tensor], path)
    ours = ocl.load(path)
    assert ours[0].group == ["decay", 1] and ours[1].note == "kept"
    expect_same(ours, [weight, tensor])


# --- containers


CONTAINERS = {
    "numbers": [
        0,
        255,
        256,
        65535,
        65536,
        -1,
        2**31,
        -(2**63),
        2**1000,
        0.5,
        float("inf"),
        True,
        False,
        None,
    ],
    "texts": ["", "ünï", "x" * 300, "\ud800"],
    "bytes": [b"\x00\xff", bytearray(b"abc"), bytearray()],
    "complex": 1 - 2j,
    "set": {1, "a", None, (1, 2)},
    "size": torch.Size([2, 3]),
    "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
    "ordered": OrderedDict([("b", 1), ("a", OrderedDict())]),
    "counter": Counter("banana"),
    "keys": {1: "int", "1": "str", None: "none", 2.5: "float", (1, "a"): "tuple", b"x": "bytes"},
    "empty": [[], {}, (), set()],
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_plain_containers(save, path, name):
    save(CONTAINERS[name], path)
    expect_same(ocl.load(path), torch.load(path, weights_only=True))


def test_a_device_becomes_that_of_the_tensors(save, path, device):
    save([torch.device("cuda", 3), torch.device("cpu")], path)
    assert ocl.load(path, device) == [ocl.device(device)] * 2


def test_a_list_twice_is_one_list(save, path):
    shared = [1]
    circle = [shared, shared]
    circle.append(circle)
    save(circle, path)
    loaded = ocl.load(path)
    assert loaded[0] is loaded[1] and loaded[2] is loaded


def test_nesting_of_any_depth(path):
    def nested(opening, depth):
        return b"\x80\x02" + opening * depth + b"K\x01" + b"a" * depth + b"."

    write_archive(path, nested(b"]", 50_000))
    loaded = ocl.load(path)
    for _ in range(50_000):
        (loaded,) = loaded
    assert loaded == 1


def write_archive(path, pickled, **records):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickled)
        file.writestr("archive/version", "3\n")
        for name, content in records.items():
            file.writestr(f"archive/data/{name}", content)


def test_a_file_of_python_2(path):
    """Files like those of PyTorch's first model zoo: byte strings, a list of pairs, tensors of the first
    version.
    """
    tensor = (
        b"ctorch._utils\n_rebuild_tensor\n((U\x07storagectorch\nFloatStorage\nU\x01kU\x03cpuK\x02NtQ"
        b"K\x00K\x02\x85K\x01\x85tR"
    )
    pickles = [
        b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.",
        b"\x80\x02M\xe9\x03.",
        b"\x80\x02}(U\x10protocol_versionM\xe9\x03U\rlittle_endian\x88u.",
        b"\x80\x02ccollections\nOrderedDict\n](](U\x06weight" + tensor + b"ee\x85R.",
        b"\x80\x02]U\x01ka.",
    ]
    path.write_bytes(b"".join(pickles) + struct.pack("<q2f", 2, 1.5, -2))
    expect_same(ocl.load(path), OrderedDict(weight=torch.tensor([1.5, -2])))


# --- what modules, optimizers and schedules save


def make_net(library):
    nn = library.nn
    convolution = nn.Conv2d(1, 2, 3, bias=False)  # the norm would leave a bias a gradient of rounding errors
    return nn.Sequential(convolution, nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))


def make_training(library, optimizer):
    net = make_net(library)
    options = {
        "SGD": {"momentum": 0.9, "nesterov": True},
        "Adam": {"amsgrad": True},
        "RMSprop": {"momentum": 0.5},
    }
    optimizer = getattr(library.optim, optimizer)(net.parameters(), lr=0.05, **options.get(optimizer, {}))
    return net, optimizer, library.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)


def train(library, net, optimizer, schedule, steps):
    for number in steps:
        x = np.random.default_rng(number).standard_normal((4, 1, 4, 4)).astype(np.float32)
        optimizer.zero_grad()
        (net(library.tensor(x)) ** 2).mean().backward()
        optimizer.step()
        schedule.step()


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam"])
def test_a_training_of_pytorch_goes_on_here(save, path, optimizer):
    theirs, ours = make_training(torch, optimizer), make_training(ocl, optimizer)
    train(torch, *theirs, range(3))
    names = ("model", "optimizer", "lr_scheduler")
    save({"epoch": 3, **{n: part.state_dict() for n, part in zip(names, theirs, strict=True)}}, path)
    state = ocl.load(path)
    assert state["epoch"] == 3
    for name, part in zip(names, ours, strict=True):
        part.load_state_dict(state[name])
    train(torch, *theirs, range(3, 6))
    train(ocl, *ours, range(3, 6))
    for our, their in zip(ours[0].state_dict().values(), theirs[0].state_dict().values(), strict=True):
        np.testing.assert_allclose(our.numpy(), their.numpy(), rtol=1e-4, atol=1e-6)


def test_a_state_dict_keeps_its_metadata(save, path):
    state = make_net(torch).state_dict()
    save(state, path)
    loaded = ocl.load(path)
    expect_same(loaded, state)
    assert loaded._metadata == state._metadata


def test_a_checkpoint_with_a_namespace(save, path):
    checkpoint = {"model": make_net(torch).state_dict(), "epoch": 3, "args": argparse.Namespace(lr=0.1)}
    save(checkpoint, path)
    with pytest.raises(pickle.UnpicklingError, match=r"argparse\.Namespace.*add_safe_globals"):
        ocl.load(path)
    with serialization.safe_globals([argparse.Namespace]):
        loaded = ocl.load(path)
    assert loaded["args"] == argparse.Namespace(lr=0.1)
    expect_same(loaded["model"], checkpoint["model"])
    assert serialization.get_safe_globals() == []


def test_safe_globals():
    serialization.add_safe_globals([argparse.Namespace, (set, "elsewhere.Set")])
    assert serialization.get_safe_globals() == [argparse.Namespace, set]
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    with pytest.raises(ValueError, match="os.system is never safe"):
        serialization.add_safe_globals([(len, "os.system")])


# --- where tensors go


def test_map_location(save, path, device):
    tensors = {"x": torch.arange(3.0)}
    save(tensors, path)
    locations = []

    def note(buffer, location):
        locations.append(location)
        return buffer

    for map_location in (None, device, str(device), {"cpu": device}, {}, note, lambda buffer, location: None):
        loaded = ocl.load(path, map_location)
        expect_same(loaded, tensors)
        assert loaded["x"].device == ocl.device(device)
    assert locations == ["cpu"]
    with pytest.raises(ocl.DeviceError, match="ocl:99"):
        ocl.load(path, "ocl:99")
    with pytest.raises(TypeError, match="map_location must return"):
        ocl.load(path, lambda buffer, location: "cpu")


def test_open_files(path, save):
    given = {"weight": torch.arange(6.0).reshape(2, 3), "rate": 0.5}
    memory = io.BytesIO()
    save(given, memory)
    path.write_bytes(memory.getvalue())
    memory.seek(0)
    with open(path, "rb") as file:
        for source in (memory, file):
            expect_same(ocl.load(source), given)


def test_locations_of_safetensors(path, device):
    given = {"x": ocl.arange(6.0).view(2, 3), "rate": 0.5}
    ocl.save(given, path)
    seen = []

    def note(buffer, location):
        seen.append((tuple(buffer.shape), location))
        return buffer * 2

    for map_location in (
        {"cpu": device},
        {"cuda:0": "cpu"},
        lambda buffer, location: buffer,
        lambda *_: None,
    ):
        loaded = ocl.load(path, map_location)
        assert loaded["x"].tolist() == given["x"].tolist() and loaded["rate"] == 0.5
        assert loaded["x"].device == ocl.device(device)
    assert ocl.load(path, note)["x"].tolist() == (2 * given["x"]).tolist()
    assert seen == [((6,), "cpu")]
    with pytest.raises(TypeError, match="map_location must return"):
        ocl.load(path, lambda buffer, location: "cpu")


def test_code_of_files_is_never_run(path):
    program = "import os, pickle\nclass Evil:\n    def __reduce__(self): return os.mkdir, ('never',)\n"
    held = {}
    exec(program, held)
    torch.save({"x": torch.ones(2), "evil": held["Evil"]()}, path)
    for weights_only in (True, False):
        with pytest.raises(ocl.serialization.UnpicklingError, match="mkdir"):
            ocl.load(path, weights_only=weights_only)
    torch.save({"x": torch.ones(2), "epoch": 3}, path)
    loaded = ocl.load(path, weights_only=False)
    assert loaded["x"].tolist() == [1, 1] and loaded["epoch"] == 3


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # an import of it raises
import ocl
for path in sys.argv[1:]:
    print(ocl.load(path)["x"].tolist())
"""


def test_torch_is_not_imported(tmp_path):
    paths = [tmp_path / "zip", tmp_path / "legacy"]
    for write, path in zip((save_zip, save_legacy), paths, strict=True):
        write({"x": torch.nn.Parameter(torch.arange(3.0)), "size": torch.Size([1])}, path)
    assert run(WITHOUT_TORCH, *paths)[0].splitlines() == ["[0.0, 1.0, 2.0]"] * 2
