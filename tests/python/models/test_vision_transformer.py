"""The work that ``ocl.models.VisionTransformer`` leaves out: its head reads a class token, so that the last
block makes no others, unless somebody could tell.
"""

import copy

import numpy as np
import pytest

import ocl
from ocl import nn
from ocl.models import vision_transformer

TOKENS = 5  # of pictures of 32 x 32 in patches of 16 x 16, and the class token
SIZES = {"image_size": 32, "patch_size": 16, "num_layers": 3, "num_heads": 2, "hidden_dim": 24, "mlp_dim": 40}
LAST = ".layers.encoder_layer_2"


def new_net(**options):
    return vision_transformer.VisionTransformer(**SIZES, num_classes=7, **options)


def pictures():
    return ocl.tensor(np.random.default_rng(2).standard_normal((2, 3, 32, 32)).astype(np.float32))


def tokens_of_blocks(net):
    """How many tokens each block's MLP was given."""
    with ocl.no_grad(), ocl.profiler.record_calls() as recorded:
        net(pictures())
    first_layers = [call for call in recorded.calls if call.kind == "module" and call.name.endswith("GELU")]
    return [call.arguments["input"].shape[1] for call in first_layers]


def last_block(net):
    return net.encoder.layers[-1]


def outcome(net):
    """Outputs, and gradients by name."""
    net.zero_grad()
    x = pictures().requires_grad_()
    y = net(x)
    (y**2).sum().backward()
    gradients = {name: parameter.grad.numpy() for name, parameter in net.named_parameters()}
    return {"outputs": y.detach().numpy(), "x": x.grad.numpy(), **gradients}


@pytest.mark.parametrize("options", [{}, {"representation_size": 11}], ids=str)
def test_gives_the_same_as_when_nothing_is_left_out(options):
    net = new_net(**options)
    nn.init.normal_(net.heads.head.weight)
    assert tokens_of_blocks(net) == [TOKENS, TOKENS, 1]
    shortened = outcome(net)
    handle = net.encoder.register_forward_hook(lambda module, args, output: None)
    assert tokens_of_blocks(net) == [TOKENS] * 3
    whole = outcome(net)
    handle.remove()
    assert tokens_of_blocks(net) == [TOKENS, TOKENS, 1]
    for name, expected in whole.items():
        bound = 1e-5 * np.abs(expected).max()
        np.testing.assert_allclose(shortened[name], expected, rtol=0, atol=bound, err_msg=name)
        assert np.abs(expected).max() > 0 or "bias" in name, name


@pytest.mark.parametrize(
    "place",
    ["", ".layers", ".ln", LAST, f"{LAST}.self_attention", f"{LAST}.dropout", f"{LAST}.ln_2", f"{LAST}.mlp",
     f"{LAST}.mlp.1", f"{LAST}.mlp.3"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["forward_hook", "forward_pre_hook", "full_backward_hook"])
def test_hooks_see_all_tokens(place, kind):
    net = new_net()
    seen = []

    def hook(module, *values):
        tensors = values[-1] if isinstance(values[-1], tuple) else values[-1:]
        seen.extend(tensor.shape[:2] for tensor in tensors if tensor is not None)

    getattr(net.get_submodule("encoder" + place), f"register_{kind}")(hook)
    net(pictures()).sum().backward()
    assert seen
    assert set(seen) == {(2, TOKENS)}
    assert tokens_of_blocks(net) == [TOKENS] * 3


def test_hooks_elsewhere_do_not_matter():
    net = new_net()
    block = last_block(net)
    for module in (net, net.heads, net.encoder.dropout, net.encoder.layers[0], block.ln_1):
        module.register_forward_hook(lambda module, args, output: None)
    assert tokens_of_blocks(net) == [TOKENS, TOKENS, 1]


class OwnLinear(nn.Linear):
    pass


class OwnBlock(vision_transformer.EncoderBlock):
    pass


class OwnEncoder(vision_transformer.Encoder):
    pass


class AcrossTokens(nn.Module):
    """Subtracts the mean of all tokens: what a token becomes depends on the others."""

    def forward(self, x):
        return x - x.mean(1, keepdim=True)


def replace_linear(net):
    last_block(net).mlp[3] = OwnLinear(40, 24)


def replace_norm(net):
    last_block(net).ln_2 = AcrossTokens()


def replace_norm_by_one_of_all_tokens(net):
    last_block(net).ln_2 = nn.LayerNorm([TOKENS, 24])


def replace_last_norm(net):
    net.encoder.ln = AcrossTokens()


def replace_dropout(net):
    last_block(net).dropout = AcrossTokens()


def replace_block(net):
    net.encoder.layers[2] = OwnBlock(2, 24, 40, 0.0, 0.0)


def replace_encoder(net):
    net.encoder = OwnEncoder(TOKENS, 3, 2, 24, 40, 0.0, 0.0)


def replace_layers(net):
    class Blocks(nn.Sequential):
        pass

    net.encoder.layers = Blocks(*net.encoder.layers)


@pytest.mark.parametrize(
    "replace",
    [replace_linear, replace_norm, replace_norm_by_one_of_all_tokens, replace_last_norm, replace_dropout,
     replace_block, replace_encoder, replace_layers],
)  # fmt: skip
def test_modules_of_other_classes_get_all_tokens(replace):
    net = new_net()
    replace(net)
    assert tokens_of_blocks(net) == [TOKENS] * 3
    hooked = copy.deepcopy(net)
    hooked.encoder.register_forward_hook(lambda module, args, output: None)
    x = pictures()
    np.testing.assert_array_equal(net(x).detach().numpy(), hooked(x).detach().numpy())


def test_modules_that_work_token_by_token_may_stand_there():
    net = new_net()
    last_block(net).ln_2 = nn.Identity()
    last_block(net).mlp = nn.Sequential(
        nn.Linear(24, 40), nn.GELU(), nn.Sequential(nn.ReLU(), nn.Linear(40, 24))
    )
    assert tokens_of_blocks(net) == [TOKENS, TOKENS, 1]


def test_encoders_alone_give_all_tokens():
    net = new_net()
    assert net.encoder(ocl.randn(2, TOKENS, 24)).shape == (2, TOKENS, 24)
    assert last_block(net)(ocl.randn(2, TOKENS, 24)).shape == (2, TOKENS, 24)


def test_an_encoder_without_blocks():
    net = vision_transformer.VisionTransformer(**{**SIZES, "num_layers": 0})
    assert net(pictures()).shape == (2, 1000)


def test_dropout_and_half_precision():
    net = new_net(dropout=0.5, attention_dropout=0.5)
    assert tokens_of_blocks(net) == [TOKENS, TOKENS, 1]
    net = net.eval().to(ocl.float16)
    assert net(pictures().half()).dtype == ocl.float16
