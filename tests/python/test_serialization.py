"""ocl.save and ocl.load: safetensors files, ours and others'."""

import io
import json
import os
import pickle
import struct
import threading

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch
from fuzz import files

import ocl

NESTED = {
    "epoch": 3,
    "rates": [0.1, 1e-30, float("inf")],
    "name": "ünï",
    "nothing": None,
    "flags": (True, False),
    "deep": {"list": [{"x": 1}, [], {}], 5: "int key", "5": "text key"},
}


def arrays():
    generator = np.random.default_rng(0)
    return {
        "float": generator.standard_normal((3, 4)).astype(np.float32),
        "scalar": np.array(2.5, np.float32),
        "half": generator.standard_normal(5).astype(np.float16),
        "long": generator.integers(-(2**62), 2**62, (2, 2)),
        "int": np.array([-1, 2**31 - 1], np.int32),
        "byte": np.arange(7, dtype=np.uint8),
        "bool": np.array([True, False, True]),
        "empty": np.zeros((0, 3), np.float32),
        "edges": np.array([np.nan, np.inf, -np.inf, -0.0], np.float32),
        "layer.0.weight": generator.standard_normal((2, 1, 3, 3)).astype(np.float32),
    }


def expect_same_bits(actual, expected):
    actual = actual.detach().numpy() if isinstance(actual, ocl.Tensor) else actual
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.safetensors"


def test_a_flat_dict_comes_back(path):
    ocl.save({name: ocl.tensor(array) for name, array in arrays().items()}, path)
    loaded = ocl.load(path)
    assert set(loaded) == set(arrays())
    for name, array in arrays().items():
        expect_same_bits(loaded[name], array)


def test_safetensors_reads_what_we_write(path):
    ocl.save({name: ocl.tensor(array) for name, array in arrays().items()}, path)
    loaded = safetensors.numpy.load_file(path)
    assert set(loaded) == set(arrays())
    for name, array in arrays().items():
        expect_same_bits(loaded[name], array)


def test_we_read_what_safetensors_writes(path):
    safetensors.numpy.save_file(arrays(), path, metadata={"made": "elsewhere"})
    loaded = ocl.load(str(path))
    for name, array in arrays().items():
        expect_same_bits(loaded[name], array)


def header_of(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length])


def shuffled_state(seed):
    """A state dict in no order, with tensors without elements among the others."""
    rng = np.random.default_rng(seed)
    names = [
        f"{block}.{kind}" for block in ("conv", "bn", "10", "9", "Z", "ä") for kind in ("weight", "bias")
    ]
    rng.shuffle(names)
    dtypes = [np.float32, np.int64, np.uint8, np.float16]
    return {name: np.zeros(rng.integers(0, 3), dtypes[rng.integers(4)]) for name in names}


@pytest.mark.parametrize("seed", range(5))
def test_entries_keep_their_order(path, seed):
    state = shuffled_state(seed)
    tensors = {name: ocl.tensor(array) for name, array in state.items()}
    ocl.save(tensors, path)
    assert list(ocl.load(path)) == list(header_of(path)) == list(state)
    filled = [name for name, array in state.items() if array.size]
    assert [name for name in safetensors.torch.load_file(path) if name in filled] == filled
    nested = {"z": tensors, "a": [tensors, {"y": tensors["Z.bias"], "x": 1}], 3: None, 1: "text"}
    ocl.save(nested, path)
    loaded = ocl.load(path)
    assert list(loaded) == list(nested) and list(loaded["z"]) == list(loaded["a"][0]) == list(state)
    assert list(loaded["a"][1]) == ["y", "x"]
    torch.save({name: torch.from_numpy(array) for name, array in state.items()}, path)
    assert list(ocl.load(path)) == list(state)


def test_files_of_others_come_in_the_order_of_their_data(path):
    """Those of the safetensors library, and ours of before, whose headers were sorted."""
    state = {name: array for name, array in shuffled_state(1).items() if array.size}
    safetensors.numpy.save_file(state, path)
    assert list(ocl.load(path)) == list(safetensors.torch.load_file(path))
    header, data = {}, b""
    for name, array in state.items():
        offsets = [len(data), len(data) + array.nbytes]
        dtype = {"f4": "F32", "i8": "I64", "u1": "U8", "f2": "F16"}[array.dtype.str[1:]]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header, sort_keys=True).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    assert list(ocl.load(path)) == list(state)


def test_state_dicts_of_modules_keep_their_order(path):
    """A program may walk a state dict beside the module's tensors."""
    net = ocl.nn.Sequential(ocl.nn.Linear(2, 3), ocl.nn.BatchNorm1d(3), ocl.nn.LSTM(3, 2))
    net.scales = ocl.nn.ParameterDict({"z": ocl.zeros(1), "a": ocl.zeros(2)})
    net.heads = ocl.nn.ModuleDict({"z": ocl.nn.Linear(1, 1), "a": ocl.nn.Linear(1, 2)})
    names = list(net.state_dict())
    ocl.save(net.state_dict(), path)
    loaded = ocl.load(path)
    assert list(loaded) == names
    for (name, saved), (own, tensor) in zip(loaded.items(), net.state_dict().items(), strict=True):
        assert name == own and saved.shape == tensor.shape
    for assign in (False, True):
        net.load_state_dict(dict(reversed(loaded.items())), assign=assign)
        assert list(net.state_dict()) == names
    assert list(pickle.loads(pickle.dumps(net)).state_dict()) == names

    optimizer = ocl.optim.AdamW(net.parameters())
    state = optimizer.state_dict()
    ocl.save(state, path)
    assert repr(ocl.load(path)) == repr(state)


def test_bfloat16(path):
    ocl.save({"x": ocl.tensor([1.0, -2.5]).bfloat16()}, path)
    assert ocl.load(path)["x"].dtype == ocl.bfloat16
    assert ocl.load(path)["x"].float().tolist() == [1, -2.5]


def test_bools_of_other_bytes_than_0_and_1_are_true(path):
    safetensors.numpy.save_file({"bool": np.array([0, 2, 255, 1], np.uint8).view(bool)}, path)
    loaded = ocl.load(path)["bool"]
    assert loaded.sum().item() == 3 and loaded.tolist() == [False, True, True, True]


def test_views_are_saved_as_what_they_show(path):
    x = ocl.tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    ocl.save({"t": x.t(), "slice": x[1:, ::2], "expanded": x[0, :1].expand(3)}, path)
    loaded = ocl.load(path)
    assert loaded["t"].tolist() == x.t().tolist()
    assert loaded["slice"].tolist() == [[4, 6], [8, 10]]
    assert loaded["expanded"].tolist() == [0, 0, 0]


def test_nested_structures_come_back(path):
    tensor = ocl.tensor([1.0, 2.0])
    ocl.save({**NESTED, "tensors": [tensor, {"inner": tensor * 2}]}, path)
    loaded = ocl.load(path)
    tensors = loaded.pop("tensors")
    assert loaded == NESTED
    assert isinstance(loaded["flags"], tuple)
    assert tensors[0].tolist() == [1, 2] and tensors[1]["inner"].tolist() == [2, 4]


@pytest.mark.parametrize("obj", [[], {}, (), 5, "text", None, True, [1, (2, {"a": None})]], ids=str)
def test_anything_plain_comes_back(path, obj):
    ocl.save(obj, path)
    loaded = ocl.load(path)
    assert loaded == obj and type(loaded) is type(obj)


def test_one_tensor_comes_back(path):
    ocl.save(ocl.tensor([1.0, 2.0]), path)
    assert ocl.load(path).tolist() == [1, 2]


@pytest.mark.parametrize(
    "obj",
    [
        lambda a, b: {"x": {"y": a}, "x/y": b},
        lambda a, b: {0: a, "0": b},
        lambda a, b: {"tensor": {0: a}, "x": [b]},
        lambda a, b: {"": {"x": a}, "/x": b},
    ],
    ids=["slash", "int and text", "no clash", "empty"],
)
def test_names_that_look_alike_stay_apart(path, obj):
    def values(node):
        if isinstance(node, ocl.Tensor):
            return node.item()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        return {key: values(value) for key, value in items}

    saved = obj(ocl.tensor(1.0), ocl.tensor(2.0))
    ocl.save(saved, path)
    assert values(ocl.load(path)) == values(saved)


def test_a_named_tuple_comes_back_as_a_tuple(path):
    ocl.save({"shape": torch.Size([2, 3]), "x": ocl.ones(1)}, path)
    assert ocl.load(path)["shape"] == (2, 3)


@pytest.mark.parametrize(
    "obj, what",
    [
        ({"a": [1, object()]}, "a/1 is a object"),
        (np.array([None, "a"]), "the object is a ndarray"),
        ({"t": torch.ones(1)}, "t is a Tensor"),
        ({(1, 2): 3}, "key"),
    ],
)
def test_what_cannot_be_saved_is_refused(path, obj, what):
    with pytest.raises(TypeError, match=what):
        ocl.save(obj, path)
    assert not path.exists()


def test_arrays_and_numbers_of_numpy_come_back(path):
    saved = {
        "state": ("MT19937", np.arange(5, dtype=np.uint32), 3, np.float32(0.1)),
        "matrix": np.array([[1.5, np.nan], [-0.0, np.inf]], ">f8"),
        "empty": np.zeros((0, 3), np.complex64),
        "transposed": np.arange(6, dtype=np.int16).reshape(2, 3).T,
    }
    ocl.save(saved, path)
    loaded = ocl.load(path)
    assert type(loaded["state"][3]) is np.float32 and loaded["state"][1].flags.writeable
    for name in ("matrix", "empty", "transposed"):
        assert loaded[name].dtype == saved[name].dtype
        np.testing.assert_array_equal(loaded[name], saved[name])
    np.testing.assert_array_equal(loaded["state"][1], saved["state"][1])


def test_net_and_optimizer_go_on_where_they_stopped(path):
    def make():
        net = ocl.nn.Sequential(
            ocl.nn.Linear(3, 4), ocl.nn.BatchNorm1d(4), ocl.nn.ReLU(), ocl.nn.Linear(4, 2)
        )
        return net, ocl.optim.Adam(net.parameters(), lr=0.05)

    def train(net, optimizer, steps):
        for number in steps:
            x = ocl.tensor(np.random.default_rng(number).standard_normal((8, 3)).astype(np.float32))
            optimizer.zero_grad()
            (net(x) ** 2).sum().backward()
            optimizer.step()

    net, optimizer = make()
    train(net, optimizer, range(3))
    ocl.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    other_net, other_optimizer = make()
    state = ocl.load(path)
    assert state["epoch"] == 3
    other_net.load_state_dict(state["net"])
    other_optimizer.load_state_dict(state["optimizer"])
    for pair in ((net, optimizer), (other_net, other_optimizer)):
        train(*pair, range(3, 6))
    for (name, ours), theirs in zip(net.state_dict().items(), other_net.state_dict().values(), strict=True):
        expect_same_bits(ours, theirs.numpy()), name


def test_a_file_of_a_module_loads_into_torch(path):
    ours, theirs = ocl.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    ocl.save(ours.state_dict(), path)
    theirs.load_state_dict(
        {name: torch.from_numpy(a) for name, a in safetensors.numpy.load_file(path).items()}
    )
    np.testing.assert_array_equal(theirs.weight.detach().numpy(), ours.weight.detach().numpy())


def test_load_onto_a_named_device(path, device):
    ocl.save({"x": ocl.ones(1)}, path)
    assert ocl.load(path, device)["x"].device == ocl.device(device)
    with pytest.raises(ocl.DeviceError, match="ocl:99"):
        ocl.load(path, map_location="ocl:99")


def test_saving_replaces_the_file_whole(path):
    ocl.save({"x": ocl.ones(1000)}, path)
    ocl.save({"y": ocl.ones(1)}, path)
    assert list(ocl.load(path)) == ["y"]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def header(description, data=b""):
    text = json.dumps(description).encode() if not isinstance(description, bytes) else description
    return struct.pack("<Q", len(text)) + text + data


GOOD = {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
DAMAGED = {
    "empty": b"",
    "short": b"\x01\x02",
    "header cut off": header(GOOD)[:-4],
    "data cut off": header(GOOD, b"1234"),
    "data too long": header(GOOD, b"123456789"),
    "header too long": struct.pack("<Q", 2**62) + b"{}",
    "not JSON": header(b"{nonsense}"),
    "not an object": header(b"[1, 2, 3]"),
    "unknown dtype": header({"x": {"dtype": "Q7", "shape": [2], "data_offsets": [0, 8]}}, bytes(8)),
    "dtype without ours": header({"x": {"dtype": "U16", "shape": [4], "data_offsets": [0, 8]}}, bytes(8)),
    "shape and range differ": header({"x": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, bytes(8)),
    "negative size": header({"x": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}, bytes(8)),
    "overlap": header(
        {
            "x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
            "y": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        },
        bytes(12),
    ),
    "a key twice": header(b'{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"shape":[1]}}', b"1"),
    "too many dimensions": header({"x": {"dtype": "U8", "shape": [1] * 9, "data_offsets": [0, 1]}}, b"1"),
    "shape overflows": header({"x": {"dtype": "U8", "shape": [2**62, 4], "data_offsets": [0, 0]}}),
    "text": b"this is no safetensors file at all, but some text",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_is_named(path, content):
    path.write_bytes(content)
    with pytest.raises(OSError, match=path.name):
        ocl.load(path)


@pytest.mark.parametrize(
    "what", ["unknown dtype", "negative size", "shape overflows", "shape and range differ"]
)
def test_a_damaged_tensor_is_named(path, what):
    path.write_bytes(DAMAGED[what])
    with pytest.raises(OSError, match='tensor "x": '):
        ocl.load(path)


DAMAGED_STRUCTURES = {
    "no JSON": "{",
    "nothing": "[]",
    "two parts": '[["value", 1], ["value", 2]]',
    "tree with an absent tensor": '{"tensor": "absent"}',
    "tree of a number": '{"dict": 5}',
    "tree of nothing known": '{"magic": 1}',
    "tree of two": '{"value": 1, "list": []}',
    "tree without nodes": '{"list": [5]}',
    "no step": "[5]",
    "absent tensor": '[["tensor", "absent"]]',
    "list of too many": '[["value", 1], ["list", 2]]',
    "list of less than none": '[["list", -1]]',
    "keys that are a number": '[["dict", 5]]',
    "key twice": '[["value", 1], ["value", 2], ["dict", ["a", "a"]]]',
    "key that is a list": '[["value", 1], ["dict", [[]]]]',
    "value that is a list": '[["value", []]]',
    "unknown part": '[["magic", 1]]',
    "array of objects": '[["array", ["|O", [1], "0000000000000000", false]]]',
    "array of no dtype": '[["array", ["magic", [1], "00", false]]]',
    "array of too few bytes": '[["array", ["<f4", [3], "00000000", false]]]',
    "array of no digits": '[["array", ["<f4", [1], "zz", false]]]',
    "array that is a number": '[["array", 5]]',
    "deep": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"list":[' * 100_000 + "]}" * 100_000,
}


@pytest.mark.parametrize("structure", DAMAGED_STRUCTURES.values(), ids=DAMAGED_STRUCTURES.keys())
def test_a_damaged_structure_is_named(path, structure):
    safetensors.numpy.save_file(
        {"x": np.zeros(1, np.float32)}, path, metadata={"tapecl.structure": structure}
    )
    with pytest.raises(OSError, match=path.name):
        ocl.load(path)


def test_a_structure_written_as_a_tree(path):
    tree = (
        '{"dict": [["a", {"list": [{"value": 1}, {"tensor": "x"}, {"tuple": []}]}], [5, {"dict": []}],'
        ' ["b", {"tuple": [{"value": null}, {"list": [{"value": "c"}]}]}]]}'
    )
    safetensors.numpy.save_file({"x": np.ones(1, np.float32)}, path, metadata={"tapecl.structure": tree})
    loaded = ocl.load(path)
    assert loaded["a"].pop(1).item() == 1
    assert loaded == {"a": [1, ()], 5: {}, "b": (None, ["c"])}


def test_a_missing_file_and_a_folder_are_named(path, tmp_path):
    with pytest.raises(FileNotFoundError, match=path.name) as error:
        ocl.load(path)
    assert error.value.filename == str(path)
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        ocl.load(tmp_path)


def test_a_name_in_no_encoding(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff"
    with pytest.raises(FileNotFoundError):
        ocl.load(path)
    ocl.save({"x": ocl.ones(1)}, path)
    assert ocl.load(os.fsdecode(path))["x"].item() == 1
    with open(path, "wb") as file:
        file.write(b"damage")
    with pytest.raises(OSError, match="neither a safetensors file nor"):
        ocl.load(path)


def test_a_pipe_is_refused_at_once(path):
    os.mkfifo(path)
    outcome = []

    def load():
        with pytest.raises(OSError, match=path.name):
            ocl.load(path)
        outcome.append("refused")

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    thread.join(10)
    assert outcome == ["refused"]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs devices")
def test_a_device_file_is_refused():
    with pytest.raises(OSError, match="/dev/zero"):
        ocl.load("/dev/zero")


def test_no_room_on_the_device_names_the_file(path, device):
    ocl.save({"big": ocl.zeros(1 << 20)}, path)
    ocl.empty_cache()
    ocl.set_memory_limit(ocl.memory_reserved(device) + 1000, device)
    try:
        with pytest.raises(ocl.OutOfMemoryError, match=f'{path.name}.*"big"'):
            held = [ocl.load(path) for _ in range(100)]
            del held
    finally:
        ocl.set_memory_limit(0, device)


def test_nesting_of_any_depth(path):
    deep = ocl.ones(1)
    for _ in range(3000):
        deep = {"a": [deep]}
    ocl.save(deep, path)
    deep = ocl.load(path)
    for _ in range(3000):
        (deep,) = deep["a"]
    assert deep.item() == 1


def test_what_contains_itself_is_refused(path):
    cycle = {"x": [1]}
    cycle["x"].append(cycle)
    with pytest.raises(ValueError, match="x/1 contains itself"):
        ocl.save(cycle, path)
    twice = [1]
    ocl.save([twice, twice], path)
    assert ocl.load(path) == [[1], [1]]


def test_mutated_files(tmp_path):
    found = files.run(1, 300, tmp_path)
    assert not found, "\n".join(wrong for _, wrong, _ in found)


# --- open files


@pytest.mark.parametrize("others", [{}, {"rate": 0.5, "steps": [1, 2]}], ids=["tensors", "nested"])
def test_open_files(others, path):
    obj = {"weight": ocl.arange(6).reshape(2, 3), **others}
    memory = io.BytesIO()
    ocl.save(obj, memory)
    ocl.save(obj, path)
    assert memory.getvalue() == path.read_bytes()
    with open(path, "wb") as file:
        file.write(b"before")
        ocl.save(obj, file)
    with open(path, "rb") as file:
        for source, start in ((memory, 0), (file, len("before"))):
            source.seek(start)
            loaded = ocl.load(source)
            assert loaded.keys() == obj.keys()
            np.testing.assert_array_equal(loaded["weight"].numpy(), obj["weight"].numpy())


def test_damage_in_an_open_file_is_told_by_its_name(path):
    path.write_bytes(header({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)))
    with open(path, "rb") as file, pytest.raises(OSError, match=f"^{path}: not a valid safetensors file"):
        ocl.load(file)
    with pytest.raises(OSError, match="^BytesIO: not a valid safetensors file"):
        ocl.load(io.BytesIO(path.read_bytes()))


def test_files_of_text_are_refused(path):
    with open(path, "w+") as file:
        with pytest.raises(TypeError):
            ocl.save({"x": ocl.ones(1)}, file)
        with pytest.raises(TypeError, match="binary"):
            ocl.load(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (pickle.dumps({"a": [1, 2]}), "it is a bare pickle"),
        (pickle.dumps({"a": [1, 2]}, 2), "it is a bare pickle"),
        (np.random.default_rng(0).bytes(300), "it is neither a safetensors file nor one of torch.save"),
    ],
)
def test_what_is_no_file_of_weights_is_told(content, message, tmp_path):
    path = tmp_path / "weights.pth"
    path.write_bytes(content)
    with pytest.raises(OSError, match=f"^{path}: {message}"):
        ocl.load(path)
    with pytest.raises(OSError, match=f"^BytesIO: {message}"):
        ocl.load(io.BytesIO(content))
