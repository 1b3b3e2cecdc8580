"""A tensor's description of itself: text, numbers, arrays, and what Python's protocols ask."""

import copy
import re

import numpy as np
import pytest
import torch
from support import assert_same, skip_without

import ocl

INF, NAN = float("inf"), float("nan")
VALUES = {
    "vector": [1.0, 2.5, -3.0],
    "whole": [1.0, 2.0, -300.0],
    "scientific": [1e-6, 1.0, 1000.0],
    "large": [1e9, 2.0],
    "large whole": [3e8, 4e8],
    "tiny": [1e-7, 2e-7],
    "not finite": [1.5, INF, -INF, NAN],
    "only not finite": [INF, NAN],
    "whole and not finite": [1.0, NAN, 30.0],
    "zeros": [0.0, 0.0],
    "minus zero": [-0.0, 1.5],
    "scalar": 3.25,
    "whole scalar": 3.0,
    "scientific scalar": 1e-9,
    "integers": [1, -20, 300],
    "integer": 7,
    "large integers": [2**62 + 1, 3],
    "bools": [True, False],
    "matrix": [[1.0, 2.0], [3.5, 4.0]],
    "cube": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
    "empty": [],
    "empty matrix": np.zeros((0, 3), np.float32),
    "empty integers": np.zeros((2, 0), np.int64),
    "long": np.arange(30, dtype=np.float32) / 7,
    "long integers": np.arange(100),
    "summarised": np.arange(2000, dtype=np.float32),
    "summarised matrix": np.arange(40 * 50, dtype=np.float32).reshape(40, 50) / 3,
    "summarised cube": np.arange(20 * 3 * 40).reshape(20, 3, 40),
    "wide": np.arange(2 * 25, dtype=np.float32).reshape(2, 25) * 1.01,
    "doubles": np.array([1.123456789, 2.0]),
    "halves": np.array([1.5, 2.25], np.float16),
    "bytes": np.array([1, 200], np.uint8),
}


def text_of(lib, tensor):
    """The library's text, less the device and the line breaks before what follows the numbers."""
    device = f", device='{tensor.device}'" if lib is ocl else ""
    text = repr(tensor).replace(",\n       device", ", device")
    return text.replace(device, "").replace("ocl.", "torch.").replace(",\n       ", ", ")


@pytest.mark.parametrize("name", VALUES)
def test_text(name):
    values = VALUES[name]
    skip_without(str(getattr(values, "dtype", None)))
    assert text_of(ocl, ocl.tensor(values)) == text_of(torch, torch.tensor(values))


def test_text_of_what_is_on_the_tape():
    x = ocl.tensor([1.0], requires_grad=True)
    assert repr(x).endswith(", requires_grad=True)")
    assert "grad_fn=<" in repr(x * 2)


@pytest.fixture
def default_printing():
    yield
    for lib in (torch, ocl):
        lib.set_printoptions(profile="default")


@pytest.mark.usefixtures("default_printing")
@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2},
        {"sci_mode": True},
        {"sci_mode": False},
        {"threshold": 5},
        {"threshold": 5, "edgeitems": 1},
        {"linewidth": 30},
        {"profile": "short"},
        {"profile": "full"},
    ],
    ids=str,
)
def test_print_options(options):
    values = np.arange(1200, dtype=np.float32).reshape(30, 40) / 7
    for lib in (torch, ocl):
        lib.set_printoptions(**options)
    for array in (values, values[0, :9], values[:3, :2]):
        assert text_of(ocl, ocl.tensor(array)) == text_of(torch, torch.tensor(array))


def test_format():
    assert f"{ocl.tensor(2.5):.3f} {ocl.tensor(7):03d}" == "2.500 007"
    assert f"{ocl.tensor([1.0])}" == repr(ocl.tensor([1.0]))


def test_numbers():
    assert ocl.tensor(2.5).item() == 2.5 and ocl.tensor([[7]]).item() == 7 and ocl.tensor(True).item() is True
    assert int(ocl.tensor(2.7)) == 2 and float(ocl.tensor(3)) == 3.0 and bool(ocl.tensor([0.0])) is False
    assert ["a", "b", "c"][ocl.tensor(1)] == "b" and list(range(ocl.tensor(3))) == [0, 1, 2]
    assert ocl.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]] and ocl.tensor(1.5).tolist() == 1.5
    assert ocl.tensor([1.5, 2.0]).bfloat16().tolist() == [1.5, 2.0]
    for refused in (lambda: ocl.ones(2).item(), lambda: bool(ocl.ones(2)), lambda: bool(ocl.ones(0))):
        with pytest.raises((ValueError, RuntimeError)):
            refused()
    with pytest.raises(TypeError):
        [1, 2][ocl.tensor(1.0)]


def test_containers():
    x = ocl.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert len(x) == 2 and 3.0 in x and 5.0 not in x
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    a, b = x.requires_grad_()
    (a * 2 + b).sum().backward()
    assert x.grad.tolist() == [[2, 2], [1, 1]]
    for refused in (lambda: len(ocl.tensor(1)), lambda: iter(ocl.tensor(1))):
        with pytest.raises(TypeError):
            refused()


def test_facts():
    x = ocl.zeros(2, 3, dtype=ocl.float16)
    assert x.element_size() == x.itemsize == 2 and x.nelement() == x.numel() == 6 and x.nbytes == 12
    assert x.ndim == x.dim() == x.ndimension() == 2 and x.size(-1) == 3 and x.stride(0) == 3
    assert x[1:].storage_offset() == 3 and x.is_floating_point() and not x.long().is_floating_point()
    assert x.type() == "ocl.HalfTensor" and x.type(ocl.int32).dtype == ocl.int32
    assert (
        ocl.is_tensor(x) and not ocl.is_tensor(np.zeros(2)) and ocl.is_floating_point(x) and ocl.numel(x) == 6
    )


def test_transposes():
    x = ocl.tensor(np.arange(24).reshape(2, 3, 4))
    assert x.mT.shape == (2, 4, 3) and x.T.shape == (4, 3, 2) and x[0, 0].T.shape == (4,)
    with pytest.raises((ValueError, RuntimeError)):
        _ = x[0, 0].mT


def test_conversions():
    x = ocl.tensor([1.7, -2.0])
    device = ocl.device("ocl:0")
    for moved in (
        x.to(ocl.int64),
        x.to(dtype=ocl.int64),
        x.to(device, ocl.int64),
        x.to("ocl:0", dtype=ocl.int64),
        x.to(ocl.zeros(1, dtype=ocl.int64, device=x.device)),
        x.to(device=device, dtype=ocl.int64),
        x.long(),
        x.type(ocl.int64),
    ):
        assert moved.dtype == ocl.int64 and moved.tolist() == [1, -2]
    assert x.to(ocl.float32) is x
    copied = x.to(ocl.float32, copy=True)
    copied.zero_()
    assert x.tolist() != [0, 0]
    assert [x.half().dtype, x.bfloat16().dtype, x.int().dtype, x.byte().dtype, x.bool().dtype] == [
        ocl.float16,
        ocl.bfloat16,
        ocl.int32,
        ocl.uint8,
        ocl.bool,
    ]


def test_exchange_with_other_libraries(rng):
    array = rng.uniform(-1, 1, (3, 4)).astype(np.float32)
    x = ocl.tensor(array)
    np.testing.assert_array_equal(np.asarray(x.t()), array.T)
    np.testing.assert_array_equal(x.numpy(force=True), array)
    np.testing.assert_array_equal(np.from_dlpack(x), array)
    assert_same(x, torch.from_dlpack(x).cpu())  # shared, where torch_ocl is installed
    assert_same(ocl.from_dlpack(torch.from_numpy(array)), torch.from_numpy(array))
    assert_same(ocl.from_dlpack(array), torch.from_numpy(array))
    assert_same(ocl.from_numpy(array), torch.from_numpy(array))
    assert ocl.as_tensor(x).tolist() == x.tolist()
    shared = ocl.as_tensor(x)
    shared.zero_()
    assert not x.numpy().any(), "as_tensor of a tensor is that tensor"
    assert ocl.as_tensor([1, 2], dtype=ocl.float32).dtype == ocl.float32
    assert x.__dlpack_device__() == (1, 0)


def test_bools_of_other_bytes_than_0_and_1_are_true():
    array = np.array([[0, 2, 1], [255, 0, 128]], np.uint8).view(bool)
    truth = [[False, True, True], [True, False, True]]
    doors = (ocl.tensor, ocl.from_numpy, ocl.from_dlpack, ocl.as_tensor)
    for x in [door(array) for door in doors] + [ocl.from_dlpack(torch.from_numpy(array))]:
        assert x.dtype == ocl.bool and x.tolist() == truth
        assert x.sum().item() == 4 and x.float().tolist() == np.float32(truth).tolist()
        assert x.numpy().view(np.uint8).max() == 1
        assert ocl.eq(x, ocl.tensor(truth)).all()
    assert ocl.tensor(array[:, ::2]).tolist() == [[False, True], [True, True]]
    for dtype in (ocl.int64, ocl.uint8, ocl.float32, ocl.bfloat16):
        assert ocl.tensor(array, dtype=dtype).sum().item() == 4
    x = ocl.zeros(2, 3)
    x[array] = 1
    assert x.sum().item() == 4 and ocl.ones(2, 3)[array].sum().item() == 4


def test_new_tensors_like_one():
    x = ocl.zeros(2, dtype=ocl.int32)
    made = [x.new_zeros(2, 3), x.new_ones((4,)), x.new_full((2,), 7), x.new_empty(5), x.new_tensor([1, 2])]
    assert [tuple(m.shape) for m in made] == [(2, 3), (4,), (2,), (5,), (2,)]
    assert made[2].tolist() == [7, 7] and made[1].tolist() == [1] * 4
    assert all(m.dtype == ocl.int32 for m in made)
    assert x.new_zeros(1, dtype=ocl.float32).dtype == ocl.float32


def test_promotion():
    tensors = {
        "float": (ocl.ones(2), torch.ones(2)),
        "half": (ocl.ones(2).half(), torch.ones(2).half()),
        "long": (ocl.ones(2).long(), torch.ones(2).long()),
        "scalar long": (ocl.tensor(1), torch.tensor(1)),
        "scalar float": (ocl.tensor(1.0), torch.tensor(1.0)),
        "bool": (ocl.ones(2).bool(), torch.ones(2).bool()),
        "int": (ocl.ones(2).int(), torch.ones(2).int()),
    }
    for a, ta in tensors.values():
        for b, tb in list(tensors.values()) + [(2, 2), (2.5, 2.5), (True, True)]:
            assert str(ocl.result_type(a, b))[4:] == str(torch.result_type(ta, tb))[6:]
            if hasattr(b, "dtype"):
                assert (
                    str(ocl.promote_types(a.dtype, b.dtype))[4:]
                    == str(torch.promote_types(ta.dtype, tb.dtype))[6:]
                )
                assert ocl.can_cast(a.dtype, b.dtype) == torch.can_cast(ta.dtype, tb.dtype)


def test_copies_of_modules_and_tensors():
    x = ocl.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    with ocl.no_grad():
        y.add_(1)
    assert x.tolist() == [1, 2] and y.tolist() == [2, 3] and y.requires_grad and y.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="deepcopy"):
        copy.deepcopy(x * 2)


def test_cpu_gives_what_is_on_a_cpu():
    x = ocl.tensor([[1.0, 2.0]], requires_grad=True)
    if not ocl.get_device_properties(x.device)["is_cpu"]:
        pytest.skip("the device is no CPU")
    assert x.cpu() is x
    assert x.detach().cpu().numpy().tolist() == [[1.0, 2.0]]
    layer = ocl.nn.Linear(2, 1)
    assert layer.cpu() is layer


def test_cpu_copies_from_another_device():
    try:
        cpu = ocl.device("cpu")
    except ocl.DeviceError as error:
        with pytest.raises(ocl.DeviceError, match=re.escape(str(error))):
            ocl.ones(2).cpu()
        return
    others = [
        f"ocl:{i}" for i in range(ocl.device_count()) if not ocl.get_device_properties(f"ocl:{i}")["is_cpu"]
    ]
    if not others:
        pytest.skip("every device here is a CPU")
    x = ocl.ones(3, device=others[0], requires_grad=True)
    y = (x * 2).cpu()
    assert y.device == cpu
    y.sum().backward()
    assert x.grad.tolist() == [2.0] * 3
    assert next(ocl.nn.Linear(2, 1, device=others[0]).cpu().parameters()).device == cpu
