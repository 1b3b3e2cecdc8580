"""A forward that is set on one object, as quantizers and adapters do: whoever calls the module calls it."""

import copy
import gc

import pytest
import torch

import ocl
from ocl import models, nn


def doubling(module):
    """Has the module give twice what it gave."""
    own = module.forward
    module.forward = lambda *args, **kwargs: own(*args, **kwargs) * 2
    return module


@pytest.mark.parametrize("lib", [ocl, torch])
def test_in_containers_until_it_is_deleted(lib):
    net = lib.nn.Sequential(lib.nn.Identity(), lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Flatten()))
    x = lib.ones(2, 3)
    doubling(net[1][0])
    gc.collect()
    assert net(x).sum().item() == 12
    del net[1][0].forward
    assert net(x).sum().item() == 6
    doubling(net[1])
    assert net(x).sum().item() == 12


def test_of_classes_written_in_python():
    class Plus(nn.Module):
        def forward(self, x):
            return x + 1

    net = nn.Sequential(Plus(), Plus())
    doubling(net[0])
    assert net(ocl.ones(1)).item() == 5


@pytest.mark.parametrize("name", ["conv1", "bn1", "relu", "conv2", "bn2"])
def test_within_nets_that_cpp_runs(name):
    net = models.resnet18(num_classes=3).eval()
    x = ocl.randn(1, 3, 32, 32)
    block = net.layer1[0]
    child, calls = getattr(block, name), []
    own = child.forward

    def forward(x):
        calls.append(x.shape)
        return own(x)

    expected = net(x).detach().numpy()
    child.forward = forward
    assert abs(net(x).detach().numpy() - expected).max() < 1e-4
    assert len(calls) == (2 if name == "relu" else 1)


def test_all_tokens_reach_it():
    sizes = {"num_layers": 1, "num_heads": 2, "hidden_dim": 8, "mlp_dim": 8}
    net = models.VisionTransformer(image_size=32, patch_size=8, **sizes)
    block, seen = net.encoder.layers[0], []
    own = block.mlp.forward

    def forward(x):
        seen.append(x.shape)
        return own(x)

    block.mlp.forward = forward
    net.eval()(ocl.randn(2, 3, 32, 32))
    assert seen == [(2, 17, 8)]


def test_what_takes_several_arguments():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).train()
    own, calls = layer.self_attn.forward, []

    def forward(*args, **kwargs):
        calls.append((len(args), sorted(kwargs)))
        return own(*args, **kwargs)

    layer.self_attn.forward = forward
    layer(ocl.randn(2, 3, 8))
    assert len(calls) == 1


def test_hooks_stand_around_it():
    order = []
    net = nn.Sequential(nn.Identity())
    net[0].register_forward_pre_hook(lambda *_: order.append("before"))
    net[0].register_forward_hook(lambda *_: order.append("after"))

    def forward(x):
        order.append("forward")
        return x

    net[0].forward = forward
    net(ocl.ones(1))
    net[0](ocl.ones(1))
    assert order == ["before", "forward", "after"] * 2


def test_gradients_flow_through_it():
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    doubling(net[0])
    x = ocl.ones(1, 3, requires_grad=True)
    net(x).sum().backward()
    active = (
        net[0].weight.detach().numpy() @ x.detach().numpy().T + net[0].bias.detach().numpy()[:, None] > 0
    )[:, 0]
    assert abs(x.grad.numpy()[0] - 2 * net[0].weight.detach().numpy()[active].sum(0)).max() < 1e-6


def test_copies_have_it():
    net = nn.Sequential(nn.Identity(), nn.Identity())
    net[0].forward = triple
    assert copy.deepcopy(net)(ocl.ones(1)).item() == 3
    del net[0].forward
    assert net(ocl.ones(1)).item() == 1


def triple(x):
    return x * 3


def test_what_is_no_tensor_is_refused_where_one_is_needed():
    net = nn.Sequential(nn.Identity(), nn.ReLU())
    net[0].forward = lambda x: "text"
    with pytest.raises(TypeError):
        net(ocl.ones(1))
    net[0].forward = lambda x: 1 / 0
    with pytest.raises(ZeroDivisionError):
        net(ocl.ones(1))
    net[0].forward = 3
    with pytest.raises(TypeError):
        net(ocl.ones(1))
