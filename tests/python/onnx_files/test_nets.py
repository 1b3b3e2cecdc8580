"""Nets that PyTorch exports: their results, gradients, and the programs that they become."""

import numpy as np
import pytest
import torch
from comparisons import evaluated_net, import_torchvision, not_compared

pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx, as there is no package onnx")

import ocl  # noqa: E402

torchvision = import_torchvision("nets that torch.onnx exports")
tv = torchvision.models


def picture(n, size):
    return lambda: torch.randn(n, 3, size, size, dtype=torch.float64)


def tokens():
    return torch.randint(0, 50, (2, 8))


class LastHidden(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, tokens):
        return self.net(tokens).last_hidden_state


def transformer(kind):
    transformers = pytest.importorskip(
        "transformers", reason=not_compared("ONNX files of BERT and GPT-2", "transformers")
    )
    if kind == "bert":
        config = transformers.BertConfig(
            vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
            max_position_embeddings=32, attn_implementation="eager",
        )  # fmt: skip
        return LastHidden(transformers.BertModel(config))
    config = transformers.GPT2Config(
        vocab_size=50,
        n_positions=32,
        n_embd=32,
        n_layer=2,
        n_head=2,
        use_cache=False,
        attn_implementation="eager",
    )
    return LastHidden(transformers.GPT2Model(config))


class UNet(torch.nn.Module):
    """Down, up by interpolation and by a transposed convolution, and joined again."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.down = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.InstanceNorm2d(16, affine=True), nn.GELU())
        self.up = nn.ConvTranspose2d(16, 8, 3, 2, 1, output_padding=1)
        self.last = nn.Conv2d(16, 4, 3, padding=1, padding_mode="reflect")

    def forward(self, x):
        fine = self.first(x)
        joined = torch.cat([fine, self.up(self.down(fine))], 1)
        return torch.nn.functional.interpolate(self.last(joined), scale_factor=2, mode="bilinear")


NETS = {
    "resnet18": (lambda: tv.resnet18(num_classes=10), picture(2, 32)),
    "mobilenet_v3_small": (lambda: tv.mobilenet_v3_small(num_classes=10), picture(2, 32)),
    "vit": (lambda: tv.VisionTransformer(32, 8, 2, 2, 32, 64, num_classes=10), picture(2, 32)),
    "squeezenet": (lambda: tv.squeezenet1_1(num_classes=10), picture(2, 64)),
    "densenet": (lambda: tv.DenseNet(8, (2, 2), 16, num_classes=10), picture(2, 32)),
    "swin": (lambda: tv.SwinTransformer([4, 4], 32, [2, 2], [2, 2], [4, 4], num_classes=10), picture(1, 32)),
    "shufflenet": (lambda: tv.shufflenet_v2_x0_5(num_classes=10), picture(1, 32)),
    "unet": (UNet, picture(2, 16)),
    "lstm": (lambda: torch.nn.LSTM(5, 7, 2, bidirectional=True), lambda: torch.randn(6, 2, 5).double()),
    "gru": (lambda: torch.nn.GRU(5, 7), lambda: torch.randn(6, 2, 5).double()),
    "bert": (lambda: transformer("bert"), tokens),
    "gpt2": (lambda: transformer("gpt2"), tokens),
}
NEW_EXPORTER = ("gpt2",)  # the older one has no aten::diff
QUICK = ("squeezenet", "lstm", "gru", "bert")
EXPORTERS = [
    pytest.param(name, False, marks=() if name in QUICK else pytest.mark.slow)
    for name in NETS
    if name not in NEW_EXPORTER
]
EXPORTERS += [
    pytest.param(name, True, marks=pytest.mark.slow) for name in ("resnet18", "vit", "lstm", "bert", "gpt2")
]


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for part in result for tensor in flat(part)]


def drawn_net(name):
    """A net without parameters whose elements are all equal, and its input."""
    make, draw = NETS[name]
    return evaluated_net(make), draw()


def exported(net, x, path, dynamo):
    if dynamo:
        pytest.importorskip("onnxscript", reason=not_compared("torch.onnx.export(dynamo=True)", "onnxscript"))
    x = x.float() if x.is_floating_point() else x
    torch.onnx.export(net, (x,), path, dynamo=dynamo, opset_version=20, verbose=False)
    return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, dynamo", EXPORTERS)
def test_results_are_pytorchs_and_programs_have_their_bits(name, dynamo, tmp_path):
    net, x64 = drawn_net(name)
    x = exported(net, x64, tmp_path / "net.onnx", dynamo)
    module = ocl.onnx.load(tmp_path / "net.onnx")
    given = ocl.tensor(x.numpy())
    with ocl.no_grad():
        results = module(given)
    results = results if isinstance(results, tuple) else (results,)
    with torch.no_grad():
        near, exact = flat(net(x)), flat(net.double()(x64))
    for ours, theirs, truth in zip(results, near, exact, strict=True):
        distance = (theirs - truth).abs().max().item()
        assert distance > 0
        assert np.abs(ours.numpy() - truth.numpy()).max() <= 4 * distance

    ocl.export(module, (given,)).save(tmp_path / "net.ocl")
    replayed = ocl.runtime.load(tmp_path / "net.ocl")(given)
    replayed = replayed if isinstance(replayed, (tuple, list)) else (replayed,)
    for ours, again in zip(results, replayed, strict=True):
        assert ours.numpy().tobytes() == again.numpy().tobytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [pytest.param(False, marks=pytest.mark.slow), True])
def test_gradients_are_the_native_nets(training, tmp_path):
    net, x = drawn_net("resnet18")
    x = x.float()
    torch.onnx.export(
        net, (x,), tmp_path / "net.onnx", dynamo=False, training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
    )  # fmt: skip
    module = ocl.onnx.load(tmp_path / "net.onnx").train(training)
    native = ocl.models.resnet18(num_classes=10)
    native.load_state_dict({name: ocl.tensor(value.numpy()) for name, value in net.state_dict().items()})
    native.train(training)

    gradients = {}
    for each in (module, native):
        loss = ocl.nn.functional.cross_entropy(each(ocl.tensor(x.numpy())), ocl.tensor(np.array([3, 7])))
        loss.backward()
        gradients[each] = {name: p.grad.numpy() for name, p in each.named_parameters()}
    assert {*gradients[module]} == {*gradients[native]}
    for name, expected in gradients[native].items():
        scale = np.abs(expected).max() + 1e-6
        np.testing.assert_allclose(gradients[module][name], expected, rtol=0, atol=1e-4 * scale, err_msg=name)
    moved = dict(native.named_buffers())
    for name, value in module.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            np.testing.assert_allclose(value.numpy(), moved[name].numpy(), rtol=1e-5, atol=1e-6)


def test_an_imported_net_trains(tmp_path):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    torch.onnx.export(net, (torch.zeros(8, 4),), tmp_path / "net.onnx", dynamo=False)
    module = ocl.onnx.load(tmp_path / "net.onnx")
    optimizer = ocl.optim.SGD(module.parameters(), lr=0.05)
    x = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    x, y = ocl.tensor(x), ocl.tensor(x.sum(1, keepdims=True))
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = ocl.nn.functional.mse_loss(module(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
