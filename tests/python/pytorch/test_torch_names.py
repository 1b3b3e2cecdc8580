"""Names of torch.cuda in torch.ocl, and libraries that ask for them."""

import copy
import importlib.util
import json
from importlib.machinery import SourceFileLoader

import pytest

torch = pytest.importorskip("torch")
when_imported = pytest.importorskip("torch_ocl._when_imported").when_imported


def test_properties_are_an_object_as_cudas():
    properties = torch.ocl.get_device_properties("ocl:0")
    assert properties == torch.ocl.get_device_properties(0) == torch.ocl.get_device_properties()
    assert properties.name == torch.ocl.get_device_name() != ""
    assert properties.total_memory == torch.ocl.mem_get_info()[1] > 1 << 20
    assert properties.multi_processor_count >= 1
    assert f"name='{properties.name}'" in repr(properties)
    assert f"total_memory={properties.total_memory >> 20}MB" in repr(properties)
    assert torch.ocl.get_device_capability()["has_fp64"] == properties.has_fp64
    assert torch.ocl.get_arch_list() == []
    with pytest.raises(AttributeError, match="major"):
        _ = properties.major
    with pytest.raises(AttributeError):
        properties.name = "other"


def test_errors_of_memory_have_cudas_name():
    assert torch.ocl.OutOfMemoryError is torch.OutOfMemoryError
    with pytest.raises(torch.ocl.OutOfMemoryError, match="out of memory on ocl:0"):
        torch.empty(1 << 45, device="ocl")
    torch.ocl.ipc_collect()


def test_torch_accelerator_sees_the_memory():
    before = torch.accelerator.memory_allocated()
    held = torch.empty(1 << 20, device="ocl")
    assert torch.accelerator.memory_allocated() - before >= held.nbytes
    assert torch.accelerator.max_memory_allocated() >= before + held.nbytes
    assert torch.accelerator.memory_reserved() >= torch.accelerator.memory_allocated()
    assert torch.accelerator.get_memory_info()[1] == torch.ocl.mem_get_info()[1]


LEGACY = {
    "BFloat16Tensor": torch.bfloat16,
    "BoolTensor": torch.bool,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "DoubleTensor": torch.float64,
    "FloatTensor": torch.float32,
    "HalfTensor": torch.float16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "ShortTensor": torch.int16,
}


@pytest.mark.parametrize("name", LEGACY)
def test_legacy_types(name):
    kind, dtype = getattr(torch.ocl, name), LEGACY[name]
    made = kind([[1, 0], [1, 1]])
    assert made.dtype == dtype and made.device == torch.device("ocl:0")
    assert made.cpu().tolist() == torch.tensor([[1, 0], [1, 1]], dtype=dtype).tolist()
    assert kind(2, 3).shape == (2, 3) == kind(torch.Size([2, 3])).shape and kind().shape == (0,)
    assert isinstance(made, kind) and not isinstance(made.cpu(), kind)
    other = torch.ocl.LongTensor if dtype != torch.int64 else torch.ocl.IntTensor
    assert not isinstance(made, other)
    assert made.type() == f"torch.ocl.{name}"
    assert isinstance(torch.ones(2).type(kind), kind) and torch.ones(2).type(kind).dtype == dtype


def test_functions_of_ones_own_in_mixed_precision():
    seen = []

    class Twice(torch.autograd.Function):
        @staticmethod
        @torch.ocl.amp.custom_fwd(cast_inputs=torch.float32)
        def forward(context, x):
            seen.append((x.dtype, torch.is_autocast_enabled("ocl")))
            return 2 * x

        @staticmethod
        @torch.ocl.amp.custom_bwd
        def backward(context, gradient):
            seen.append((gradient.dtype, torch.is_autocast_enabled("ocl")))
            return 2 * gradient

    x = torch.ones(3, device="ocl", dtype=torch.float16, requires_grad=True)
    with torch.autocast("ocl", dtype=torch.float16):
        Twice.apply(x).sum().backward()
    assert seen == [(torch.float32, False)] * 2 and x.grad.tolist() == [2, 2, 2]


def test_ranges_stand_in_the_profile(tmp_path):
    with torch.profiler.profile() as profile:
        assert torch.ocl.nvtx.range_push("outer") == 0
        with torch.ocl.nvtx.range("inner {}", 7):
            torch.ones(3, device="ocl").add_(1)
        torch.ocl.nvtx.mark("here")
        assert torch.ocl.nvtx.range_pop() == 0
    assert torch.ocl.nvtx.range_pop() == -1
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    times = {event["name"]: (event["ts"], event["ts"] + event["dur"]) for event in events if "dur" in event}
    assert {"outer", "inner 7", "here"} <= times.keys()
    assert times["outer"][0] <= times["inner 7"][0] and times["inner 7"][1] <= times["outer"][1]
    assert times["inner 7"][0] <= times["aten::add_"][0] and times["aten::add_"][1] <= times["inner 7"][1]


def test_a_question_for_a_library_is_no_import(tmp_path, monkeypatch):
    """Libraries ask one another's specs, and import later or never."""
    (tmp_path / "asked_for.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen = []
    when_imported("asked_for", seen.append)
    for _ in range(2):
        assert importlib.util.find_spec("asked_for").loader.get_source("asked_for") == "value = 3\n"
    assert not seen
    module = importlib.import_module("asked_for")
    assert seen == [module] and module.value == 3
    assert type(module.__loader__) is type(module.__spec__.loader) is SourceFileLoader
    importlib.reload(module)
    assert seen == [module]
    assert importlib.util.find_spec("no_such_library") is None


@pytest.mark.parametrize("device", ["ocl:0", "ocl", torch.device("ocl:0"), torch.device("ocl")])
def test_safetensors_loads_to_the_device(device, tmp_path):
    safetensors = pytest.importorskip("safetensors.torch", reason="NOT TESTED: safetensors is not installed")
    from safetensors import safe_open

    path = tmp_path / "weights.safetensors"
    weights = {
        "a": torch.randn(3, 5),
        "b": torch.arange(7),
        "c": torch.randn(2).bfloat16(),
        "d": torch.ones(2, 2, device="ocl"),
        "empty": torch.empty(0, 3),
    }
    safetensors.save_file(weights, path, metadata={"made": "here"})
    loaded = safetensors.load_file(path, device=device)
    for name, weight in weights.items():
        assert loaded[name].device == torch.device("ocl:0") and loaded[name].dtype == weight.dtype
        assert torch.equal(loaded[name].cpu(), weight.cpu())
    with safe_open(path, framework="pt", device=device) as file:
        assert file.metadata() == {"made": "here"}
        assert torch.equal(file.get_slice("a")[1:].cpu(), weights["a"][1:])
        assert file.get_tensor("b").device == torch.device("ocl:0")
    assert safetensors.load_file(path)["a"].device.type == "cpu"
    with pytest.raises(Exception, match="device nowhere is invalid"):
        safetensors.load_file(path, device="nowhere")


def test_data_parallel_on_one_device():
    net = torch.nn.Linear(4, 2)
    ours = torch.nn.DataParallel(copy.deepcopy(net).to("ocl"), device_ids=[0])
    x = torch.randn(5, 4)
    result = ours(x.to("ocl"))
    result.square().sum().backward()
    net(x).square().sum().backward()
    torch.testing.assert_close(result.cpu(), net(x))
    torch.testing.assert_close(ours.module.weight.grad.cpu(), net.weight.grad)
    with pytest.raises(RuntimeError, match=r"DataParallel over ocl devices \[0, 0\]: pass device_ids=\[0\]"):
        torch.nn.DataParallel(ours.module, device_ids=[0, 0])


def test_ultralytics_takes_the_device_by_name():
    pytest.importorskip("cv2", reason="NOT TESTED: opencv, which ultralytics needs, is not installed")
    pytest.importorskip("ultralytics", reason="NOT TESTED: ultralytics is not installed")
    from ultralytics.utils.torch_utils import select_device

    for name in ("ocl", "ocl:0", torch.device("ocl:0")):
        assert select_device(name) == torch.device("ocl:0")
    assert select_device("cpu", verbose=False).type == "cpu"
    with pytest.raises(ValueError, match="Invalid CUDA"):
        select_device("0")


def test_the_environment_is_collected():
    from torch.utils.collect_env import get_pretty_env_info

    assert "PyTorch version" in get_pretty_env_info()


def test_anomalies_are_traced():
    x = torch.zeros(2, device="ocl", requires_grad=True)
    with torch.autograd.set_detect_anomaly(True), pytest.warns(UserWarning, match="SqrtBackward0"):
        with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values"):
            (x.sqrt() * 0).sum().backward()


REPEATED = {
    "scatter_add": lambda x, at: torch.zeros(5, device="ocl").scatter_add(0, at, x),
    "index_add": lambda x, at: torch.zeros(5, device="ocl").index_add(0, at, x),
    "index_put": lambda x, at: torch.zeros(5, device="ocl").index_put((at,), x, accumulate=True),
    "index_put without a sum": lambda x, at: torch.zeros(5, device="ocl").index_put((at,), x),
    "embedding": lambda x, at: embedding_gradient(x, at),
}


def embedding_gradient(x, at):
    table = torch.zeros(5, 1, device="ocl", requires_grad=True)
    torch.nn.functional.embedding(at, table).backward(x[:, None])
    return table.grad


@pytest.mark.parametrize("name", REPEATED)
def test_sums_of_many_into_one_place_repeat_bit_by_bit(name):
    """Ten thousand numbers of many sizes go to five places: another order would give another sum."""
    x = (torch.randn(10_000) * 10.0 ** torch.randint(-4, 5, (10_000,))).to("ocl")
    at = torch.randint(0, 5, (10_000,)).to("ocl")
    torch.use_deterministic_algorithms(True)
    try:
        first = REPEATED[name](x, at)
        for _ in range(5):
            assert torch.equal(REPEATED[name](x, at), first)
    finally:
        torch.use_deterministic_algorithms(False)
