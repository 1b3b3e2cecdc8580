"""ocl.save and ocl.load: safetensors files, ours and others'."""

import json
import struct

import numpy as np
import pytest
import safetensors.numpy
import torch

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
    actual = actual.numpy() if isinstance(actual, ocl.Tensor) else actual
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
        (np.zeros(2), "the object is a ndarray"),
        ({"t": torch.ones(1)}, "t is a Tensor"),
        ({(1, 2): 3}, "key"),
    ],
)
def test_what_cannot_be_saved_is_refused(path, obj, what):
    with pytest.raises(TypeError, match=what):
        ocl.save(obj, path)
    assert not path.exists()


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
    np.testing.assert_array_equal(theirs.weight.detach().numpy(), ours.weight.numpy())


def test_load_onto_a_named_device(path, device):
    ocl.save({"x": ocl.ones(1)}, path)
    assert ocl.load(path, device)["x"].device == ocl.device(device)
    with pytest.raises(ocl.DeviceError, match="ocl:99"):
        ocl.load(path, device="ocl:99")


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
    "text": b"this is no safetensors file at all, but some text",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_is_named(path, content):
    path.write_bytes(content)
    with pytest.raises(OSError, match=path.name):
        ocl.load(path)


@pytest.mark.parametrize("structure", ["{", "[]", '{"tensor": "absent"}', '{"dict": 5}', '{"magic": 1}'])
def test_a_damaged_structure_is_named(path, structure):
    safetensors.numpy.save_file(
        {"x": np.zeros(1, np.float32)}, path, metadata={"tapecl.structure": structure}
    )
    with pytest.raises(OSError, match=path.name):
        ocl.load(path)


def test_a_missing_file_and_a_folder_are_named(path, tmp_path):
    with pytest.raises(OSError, match=path.name):
        ocl.load(path)
    with pytest.raises(OSError, match=tmp_path.name):
        ocl.load(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        ocl.save({"x": ocl.ones(1)}, tmp_path / "nowhere" / "x.safetensors")
