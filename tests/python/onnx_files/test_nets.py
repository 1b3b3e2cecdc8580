"""Nets that PyTorch exports: their results, gradients, and the programs that they become."""

import numpy as np
import pytest
import torch
from comparisons import not_compared
from exported_nets import THIRTY, agrees, drawn_net, marked

pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx, as there is no package onnx")

import ocl  # noqa: E402

OLDER_EXPORTER = (
    "resnet18", "mobilenet_v3_small", "vit_b_16", "squeezenet1_1", "densenet121", "swin_t",
    "shufflenet_v2_x0_5", "unet", "lstm", "gru", "bert_of_tokens",
)  # fmt: skip
QUICK = ("squeezenet1_1", "lstm", "gru", "bert_of_tokens")
EXPORTERS = marked(OLDER_EXPORTER, QUICK, False) + marked((*THIRTY, "lstm"), (), True)


def exported(net, args, kwargs, path, dynamo):
    if dynamo:
        pytest.importorskip("onnxscript", reason=not_compared("torch.onnx.export(dynamo=True)", "onnxscript"))
    torch.onnx.export(net, args, path, kwargs=kwargs, dynamo=dynamo, opset_version=20, verbose=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, dynamo", EXPORTERS)
def test_results_are_pytorchs_and_programs_have_their_bits(name, dynamo, tmp_path):
    net, args, kwargs = drawn_net(name)
    exported(net, args, kwargs, tmp_path / "net.onnx", dynamo)
    module = ocl.onnx.load(tmp_path / "net.onnx")
    agrees(module, net, args, kwargs, tmp_path / "net.ocl")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [pytest.param(False, marks=pytest.mark.slow), True])
def test_gradients_are_the_native_nets(training, tmp_path):
    net, (x,), _ = drawn_net("resnet18")
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
