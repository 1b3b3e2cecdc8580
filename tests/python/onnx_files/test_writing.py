"""ocl.onnx.save: nets under onnxruntime and read again, sizes that change, and what cannot be written."""

import copy

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="NOT TESTED: ocl.onnx.save, as there is no package onnx")
ort = pytest.importorskip(
    "onnxruntime", reason="NOT TESTED: ocl.onnx.save, as there is no package onnxruntime"
)
pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx.save, as there is no package onnx")

from small_unet import make_unet  # noqa: E402

import ocl  # noqa: E402
from ocl.capture import CaptureError, capture  # noqa: E402

F, M, nn = ocl.nn.functional, ocl.models, ocl.nn


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)


def swin():
    return M.SwinTransformer([4, 4], 32, [2, 2], [2, 2], [4, 4], num_classes=10)


def deeplab():
    return M.segmentation.deeplabv3_mobilenet_v3_large(num_classes=5, weights_backbone=None)


NETS = {
    "resnet18": (lambda: M.resnet18(num_classes=10), (3, 32, 32)),
    "resnet50": (lambda: M.resnet50(num_classes=10), (3, 32, 32)),
    "mobilenet_v2": (lambda: M.mobilenet_v2(num_classes=10), (3, 32, 32)),
    "mobilenet_v3_small": (lambda: M.mobilenet_v3_small(num_classes=10), (3, 32, 32)),
    "efficientnet_b0": (lambda: M.efficientnet_b0(num_classes=10), (3, 32, 32)),
    "vit": (lambda: M.VisionTransformer(32, 8, 2, 2, 32, 64, num_classes=10), (3, 32, 32)),
    "convnext_tiny": (lambda: M.convnext_tiny(num_classes=10), (3, 32, 32)),
    "densenet121": (lambda: M.densenet121(num_classes=10), (3, 32, 32)),
    "googlenet": (lambda: M.googlenet(num_classes=10, init_weights=False), (3, 64, 64)),
    "inception_v3": (lambda: M.inception_v3(num_classes=10, init_weights=False), (3, 75, 75)),
    "shufflenet": (lambda: M.shufflenet_v2_x0_5(num_classes=10), (3, 32, 32)),
    "squeezenet": (lambda: M.squeezenet1_1(num_classes=10), (3, 64, 64)),
    "mnasnet": (lambda: M.mnasnet0_5(num_classes=10), (3, 32, 32)),
    "regnet": (lambda: M.regnet_y_400mf(num_classes=10), (3, 32, 32)),
    "swin": (swin, (3, 32, 32)),
    "deeplabv3": (deeplab, (3, 64, 64)),
    "unet": (lambda: make_unet(ocl), (3, 16, 16)),
    "encoder": (encoder, (5, 16)),
    "lstm": (lambda: nn.LSTM(5, 7, 2, bidirectional=True, batch_first=True), (6, 5)),
    "gru": (lambda: nn.GRU(5, 7, batch_first=True), (6, 5)),
    "rnn": (lambda: nn.RNN(5, 7, 2, nonlinearity="relu", batch_first=True), (6, 5)),
}
QUICK = ("resnet18", "mobilenet_v3_small", "vit", "swin", "unet", "encoder", "lstm", "gru", "rnn")
ALL = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in NETS]


def drawn_net(name):
    """A net whose parameters and statistics are random, in eval mode."""
    ocl.manual_seed(0)
    net = NETS[name][0]().eval()
    with ocl.no_grad():
        for parameter in net.parameters():
            if parameter.numel() > 1 and parameter.std().item() == 0:
                parameter.add_(0.1 * ocl.randn_like(parameter))
        for each, buffer in net.named_buffers():
            if each.endswith("running_mean"):
                buffer.copy_(0.1 * ocl.randn_like(buffer))
    return net


def pictures(name, n):
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, *NETS[name][1]))


def flat(result):
    if isinstance(result, ocl.Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else result
    return [tensor for part in parts if part is not None for tensor in flat(part)]


def session(path):
    onnx.checker.check_model(str(path), full_check=True)
    return ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def results(function, *arrays):
    with ocl.no_grad():
        return [each.numpy() for each in flat(function(*map(ocl.tensor, arrays)))]


def near(got, ours, truth):
    """Within a few times the distance of our float32 from float64."""
    assert len(got) == len(ours)
    for theirs, mine, exact in zip(got, ours, truth, strict=True):
        assert theirs.shape == mine.shape and theirs.dtype == mine.dtype
        distance = np.abs(mine - exact).max()
        assert distance > 0
        assert np.abs(theirs - exact).max() <= 8 * distance


@pytest.mark.parametrize("name", ALL)
def test_nets_give_our_results_for_every_batch(name, tmp_path):
    net, path = drawn_net(name), tmp_path / "net.onnx"
    example = ocl.tensor(pictures(name, 2).astype(np.float32))
    ocl.onnx.save(net, path, (example,), input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    running, again, exact = session(path), ocl.onnx.load(path), copy.deepcopy(net).to(ocl.float64)
    for n in (2, 3, 1):
        x = pictures(name, n)
        ours, truth = results(net, x.astype(np.float32)), results(exact, x)
        near(running.run(None, {"x": x.astype(np.float32)}), ours, truth)
        near(results(again, x.astype(np.float32)), ours, truth)


@pytest.mark.parametrize("name", ["resnet18", "unet", "encoder", "gru"])
def test_gradients_of_what_is_read_again_are_the_nets(name, tmp_path):
    net, path = drawn_net(name), tmp_path / "net.onnx"
    x = ocl.tensor(pictures(name, 2).astype(np.float32))
    ocl.onnx.save(net, path, x)
    again = ocl.onnx.load(path)
    for each in (net, again):
        sum((part * part).sum() for part in flat(each(x))).backward()
    found = {key: parameter.grad for key, parameter in again.named_parameters()}
    largest = max(np.abs(each.grad.numpy()).max() for each in net.parameters())
    for key, parameter in net.named_parameters():
        expected = parameter.grad.numpy()
        scale = np.abs(expected).max() + 0.01 * largest  # those before a norm are 0 but for rounding
        np.testing.assert_allclose(
            found[again.names.get(key, key)].numpy(), expected, rtol=0, atol=1e-4 * scale
        )


@pytest.mark.parametrize("opset", [17, 18, 19, 20, 21, 22])
def test_operator_sets(opset, tmp_path):
    net, path = drawn_net("unet"), tmp_path / "net.onnx"
    x = pictures("unet", 2).astype(np.float32)
    ocl.onnx.save(net, path, ocl.tensor(x), opset_version=opset)
    assert onnx.load(path).opset_import[0].version == opset
    np.testing.assert_allclose(session(path).run(None, {"x": x})[0], results(net, x)[0], rtol=1e-4, atol=1e-5)


def test_gpt2_with_batch_and_length_that_change(tmp_path):
    ocl.manual_seed(0)
    net = gpt2()
    tokens = np.random.default_rng(0).integers(0, 50, (2, 8))
    path = tmp_path / "net.onnx"
    axes = {"tokens": {0: "batch", 1: "length"}}
    ocl.onnx.save(net, path, (ocl.tensor(tokens),), input_names=["tokens"], dynamic_axes=axes)
    running, exact = session(path), copy.deepcopy(net).to(ocl.float64)
    for shape in ((2, 8), (1, 5), (3, 13)):
        x = np.random.default_rng(1).integers(0, 50, shape)
        near(running.run(None, {"tokens": x}), results(net, x), results(exact, x))


def gpt2():
    return M.GPT2LMHeadModel(vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=2).eval()


def test_names_modes_and_values_stay(tmp_path):
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout()).train()
    net[2].eval()
    before = {key: value.numpy().copy() for key, value in net.state_dict().items()}
    x = ocl.ones(2, 3)
    ocl.onnx.save(
        net, tmp_path / "net.onnx", x, output_names=["scores"], dynamic_axes={"input": [0], "scores": [0]}
    )
    assert net.training and net[1].training and not net[2].training
    for key, value in net.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[key])
    graph = onnx.load(tmp_path / "net.onnx").graph
    assert [each.name for each in graph.output] == ["scores"]
    assert {"0.weight", "0.bias", "1.weight", "1.running_mean"} <= {each.name for each in graph.initializer}
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "input_dynamic_axes_0"
    assert "BatchNormalization" in {each.op_type for each in graph.node}


def test_a_function_with_formulas_of_sizes(tmp_path):
    def work(x, y):
        n = x.shape[0]
        places = ocl.arange(n).to(ocl.float32)[:, None]
        return (x + places).reshape(n * x.shape[1]), ocl.cat([x, y])[1 : n + 1], x.sum() / n

    arrays = [np.random.default_rng(i).standard_normal((2 + i, 3)).astype(np.float32) for i in range(2)]
    axes = {"x": {0: "n"}, "y": {0: "m"}}
    ocl.onnx.save(work, tmp_path / "net.onnx", tuple(map(ocl.tensor, arrays[:2])), dynamic_axes=axes)
    running = session(tmp_path / "net.onnx")
    assert running.get_outputs()[0].shape == ["3*n"]
    for n, m in ((2, 3), (5, 1), (1, 4)):
        x, y = np.ones((n, 3), np.float32) * 2, np.ones((m, 3), np.float32)
        for got, ours in zip(running.run(None, {"x": x, "y": y}), results(work, x, y), strict=True):
            np.testing.assert_allclose(got, ours, rtol=1e-5)


def test_writes_to_slices_and_in_place(tmp_path):
    def work(x):
        y = x.clone()
        y[:, 1:] = 3.0
        y[0] = x[1]
        return F.relu(y, inplace=True) + y

    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    ocl.onnx.save(work, tmp_path / "net.onnx", ocl.tensor(x), dynamic_axes={"x": [0]})
    for n in (3, 2, 5):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
        np.testing.assert_array_equal(
            session(tmp_path / "net.onnx").run(None, {"x": x})[0], results(work, x)[0]
        )


INDICES = {
    "numbers": lambda x, i, j: x[1, -2],
    "None and numbers": lambda x, i, j: x[None, 1, :, None, 2],
    "steps": lambda x, i, j: x[:, 1::2, ..., -3:],
    "dots": lambda x, i, j: x[..., None, 0],
    "one tensor": lambda x, i, j: x[:, i, 1:],
    "a matrix of places": lambda x, i, j: x[:, :, j],
    "two tensors": lambda x, i, j: x[:, i, j],
    "all": lambda x, i, j: x[i % 2, i, i],
}


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_indices(name, dtype, tmp_path):
    x = (np.random.default_rng(0).standard_normal((2, 5, 4)) * 3).astype(dtype)
    i, j = np.array([0, -1, 3]), np.array([[0], [-2]])
    work = INDICES[name]
    given = tuple(map(ocl.tensor, (x, i, j)))
    ocl.onnx.save(
        lambda x, i, j: work(x, i, j) ^ True if dtype == "bool" else work(x, i, j) * 2,
        tmp_path / "net.onnx",
        given,
    )
    running = session(tmp_path / "net.onnx")
    feeds = {each.name: {"x": x, "i": i, "j": j}[each.name] for each in running.get_inputs()}
    np.testing.assert_array_equal(
        running.run(None, feeds)[0],
        results(lambda x, i, j: work(x, i, j) ^ True if dtype == "bool" else work(x, i, j) * 2, x, i, j)[0],
    )


def test_autocast_within_a_module(tmp_path):
    net = nn.Linear(8, 8)

    def work(x):
        with ocl.autocast(x.device.type, dtype=ocl.float16):
            return F.relu(net(x))

    x = np.random.default_rng(0).standard_normal((2, 8)).astype(np.float32)
    ocl.onnx.save(work, tmp_path / "net.onnx", ocl.tensor(x))
    got, ours = session(tmp_path / "net.onnx").run(None, {"x": x})[0], results(work, x)[0]
    assert got.dtype == ours.dtype == np.float16
    np.testing.assert_allclose(got, ours, rtol=4e-3, atol=4e-3)


def test_weights_beside_the_file(tmp_path):
    net = nn.Linear(64, 64)
    x = np.ones((2, 64), np.float32)
    for _ in range(2):  # the second replaces the first
        ocl.onnx.save(net, tmp_path / "net.onnx", ocl.tensor(x), external_data=True)
    assert (tmp_path / "net.onnx.data").stat().st_size < 2 * 64 * 64 * 4
    assert (tmp_path / "net.onnx").stat().st_size < 4000
    np.testing.assert_allclose(
        session(tmp_path / "net.onnx").run(None, {"input": x})[0], results(net, x)[0], rtol=1e-4, atol=1e-6
    )


def test_all_missing_operators_are_listed_before_anything_is_written(tmp_path):
    path = tmp_path / "net.onnx"
    with pytest.raises(ocl.onnx.UnwritableError) as raised:
        ocl.onnx.save(lambda x: ocl.lgamma(x) + F.dropout(x) + ocl.digamma(x), path, ocl.ones(2))
    assert [each[0] for each in raised.value.missing] == ["lgamma", "dropout", "digamma"]
    assert "dropout (first: dropout; in training mode it draws random numbers)" in str(raised.value)
    assert not path.exists()


def test_what_depends_on_a_size_without_a_formula():
    x = ocl.ones(2, 3)
    with pytest.raises(CaptureError, match="other calls are made with the sizes"):
        capture(lambda x: x + 1 if x.shape[0] == 2 else x * 2, (x,), sizes=[{0: "n"}])
    with pytest.raises(CaptureError, match="argument inputs.1 depends on the sizes, and no formula fits it"):
        capture(lambda x: x * 2 ** x.shape[0], (x,), sizes=[{0: "n"}])
    with pytest.raises(CaptureError, match="constant that depends on the sizes"):
        capture(lambda x: x + ocl.tensor([[1.0]] * x.shape[0]), (x,), sizes=[{0: "n"}])
    with pytest.raises(CaptureError, match="fails with the sizes {'n': 3}"):
        capture(lambda x: x + ocl.ones(2, 1), (x,), sizes=[{0: "n"}])


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.sum().item(),
        lambda x: float(x.sum()),
        lambda x: float(x.sum().numpy()),
        lambda x: x.tolist()[0][0],
        lambda x: float(np.asarray(x)[0, 0]),
        lambda x: 2 if x.sum() > 0 else 3,
    ],
)
def test_elements_that_are_read_on_the_host(read):
    with pytest.raises(
        CaptureError, match="depend on the inputs.*, and a graph would keep their value of today"
    ):
        capture(lambda x: x * read(x), (ocl.ones(2, 3),))
    constant = ocl.full((2, 3), 3.0)
    assert capture(lambda x: x * read(constant), (ocl.ones(2, 3),)).operators() == ["mul"]


def test_tensors_that_are_written_as_a_whole(tmp_path):
    def work(x):
        return ocl.empty_like(x).copy_(x[0] > 0), x.clone().fill_(3), ocl.ones_like(x).zero_() + x

    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    ocl.onnx.save(work, tmp_path / "net.onnx", ocl.tensor(x), dynamic_axes={"x": [0]})
    x = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)
    for got, ours in zip(session(tmp_path / "net.onnx").run(None, {"x": x}), results(work, x), strict=True):
        np.testing.assert_array_equal(got, ours)


def test_what_no_graph_tells():
    x = ocl.ones(2, 3)

    def stale(x):
        y = x.clone()
        z = y.view(6)
        y.add_(1)
        return z

    with pytest.raises(CaptureError, match="the result takes a view of memory that add wrote"):
        capture(stale, (x,))
    with pytest.raises(CaptureError, match="a result of max_pool1d that is not told of"):
        capture(lambda x: F.max_pool1d(x, 2, return_indices=True), (x,))


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"args": (3,)}, TypeError, "expected tensors as args, got int at 0"),
        ({"input_names": ["a", "b"]}, ValueError, "input_names: 1 different names expected"),
        ({"output_names": ["input"]}, ValueError, "output_names: 1 names that no input has"),
        ({"dynamic_axes": {"y": [0]}}, ValueError, "dynamic_axes: no input 'y' among input"),
        ({"dynamic_axes": {"input": [2]}}, ValueError, "input has 2 dimensions, no axis 2"),
        ({"opset_version": 16}, ValueError, "opset_version 16 given, 17 to 23 expected"),
        ({"model": 3}, TypeError, "expected a module or a function, got int"),
    ],
)
def test_arguments_that_do_not_fit(change, error, text, tmp_path):
    given = {"model": nn.Linear(3, 2), "args": (ocl.ones(2, 3),), **change}
    with pytest.raises(error, match=text):
        ocl.onnx.save(given.pop("model"), tmp_path / "net.onnx", **given)


def test_a_graph_is_printed():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU()).eval()
    graph = capture(
        net, (ocl.ones(2, 3),), names=["x"], states=[*net.named_parameters()], sizes=[{0: "batch"}]
    )
    assert str(graph).splitlines() == [
        "graph(x: float32[batch, 3]):",
        "  state 0.weight: float32[4, 3]",
        "  state 0.bias: float32[4]",
        "  linear: float32[batch, 4] = linear(input=x, weight=0.weight, bias=0.bias)",
        "  relu: float32[batch, 4] = relu(inputs=[linear], parameters=[])",
        "  return relu",
    ]
