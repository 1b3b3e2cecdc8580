"""Transformers against PyTorch's with the same weights."""

import copy
import gc
import pickle
import re
import weakref

import numpy as np
import pytest
import torch
from support import expect_near

import ocl

WIDTH, HEADS, HIDDEN, SOURCE, TARGET, ITEMS = 12, 3, 20, 5, 4, 2


def encoder_layer(lib, **options):
    return lib.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0, **options)


def decoder_layer(lib, **options):
    return lib.nn.TransformerDecoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0, **options)


def encoder(lib, **options):
    return lib.nn.TransformerEncoder(encoder_layer(lib, **options), 2, lib.nn.LayerNorm(WIDTH))


def decoder(lib, **options):
    return lib.nn.TransformerDecoder(decoder_layer(lib, **options), 2)


def transformer(lib, **options):
    return lib.nn.Transformer(WIDTH, HEADS, 2, 1, HIDDEN, 0.0, **options)


ONE_INPUT, TWO_INPUTS = (encoder_layer, encoder), (decoder_layer, decoder, transformer)


def trio(build, **options):
    """PyTorch's in float64 and float32, and ours, with the same values."""
    torch.manual_seed(0)
    single = build(torch, **options)
    with torch.no_grad():
        for parameter in single.parameters():
            parameter.uniform_(-0.5, 0.5)
    double = copy.deepcopy(single).double()
    ours = build(ocl, **options)
    ours.load_state_dict(single.state_dict())
    return double, single, ours


def run(lib, layer, arrays, masks, **options):
    """The output, and the gradients of inputs and parameters."""
    dtype = lib.float64 if next(iter(layer.parameters())).dtype == lib.float64 else lib.float32

    def own(array):
        return lib.tensor(array).to(dtype) if array.dtype.kind == "f" else lib.tensor(array)

    inputs = [own(a).requires_grad_() for a in arrays]
    output = layer(*inputs, **{k: own(m) for k, m in masks.items()}, **options)
    (output * output * output).sum().backward()
    return [output] + [t.grad for t in (*inputs, *layer.parameters())]


def check(build, arrays, masks=None, options=None, **construct):
    double, single, ours = trio(build, **construct)
    given = (arrays, masks or {})
    actual, truth, reference = (
        run(lib, layer, *given, **(options or {}))
        for lib, layer in ((ocl, ours), (torch, double), (torch, single))
    )
    for i, values in enumerate(zip(actual, truth, reference, strict=True)):
        expect_near(*values, f"result {i}", units=8)


def inputs(build, batch_first=False, batched=True):
    rng = np.random.default_rng(0)

    def one(rows):
        shape = ((ITEMS, rows) if batch_first else (rows, ITEMS)) if batched else (rows,)
        return rng.uniform(-1, 1, (*shape, WIDTH)).astype(np.float32)

    if build in ONE_INPUT:
        return [one(SOURCE)]
    return [one(SOURCE), one(TARGET)] if build is transformer else [one(TARGET), one(SOURCE)]


every_module = pytest.mark.parametrize("build", ONE_INPUT + TWO_INPUTS, ids=lambda b: b.__name__)


@every_module
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.filterwarnings("ignore")
def test_forms(build, batch_first, norm_first, activation):
    options = {"batch_first": batch_first, "norm_first": norm_first, "activation": activation}
    check(build, inputs(build, batch_first), **options)


@every_module
@pytest.mark.filterwarnings("ignore")
def test_without_batch_and_bias(build):
    check(build, inputs(build, batched=False), bias=False, layer_norm_eps=1e-3)


def hidden(rows, columns, kind):
    """A mask that leaves every row a key."""
    mask = np.random.default_rng(1).random((rows, columns)) < 0.4
    mask[:, 0] = False
    return mask if kind == "bool" else np.where(mask, -np.inf, 0.25).astype(np.float32)


@every_module
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.filterwarnings("ignore")
def test_masks(build, kind):
    padding = {"src": hidden(ITEMS, SOURCE, kind), "tgt": hidden(ITEMS, TARGET, kind)}
    if build in ONE_INPUT:
        name = "src_mask" if build is encoder_layer else "mask"
        masks = {name: hidden(SOURCE, SOURCE, kind), "src_key_padding_mask": padding["src"]}
    else:
        masks = {
            "tgt_mask": hidden(TARGET, TARGET, kind),
            "memory_mask": hidden(TARGET, SOURCE, kind),
            "tgt_key_padding_mask": padding["tgt"],
            "memory_key_padding_mask": padding["src"],
        }
    if build is transformer:
        masks |= {"src_mask": hidden(SOURCE, SOURCE, kind), "src_key_padding_mask": padding["src"]}
    check(build, inputs(build), masks)


@pytest.mark.filterwarnings("ignore")
def test_causal_masks():
    for lib in (ocl, torch):
        mask = lib.nn.Transformer.generate_square_subsequent_mask(3)
        expected = [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]]
        np.testing.assert_array_equal(mask.numpy(), np.array(expected, np.float32))
    assert ocl.nn.Transformer.generate_square_subsequent_mask(2, dtype=ocl.float64).dtype == ocl.float64
    source = torch.nn.Transformer.generate_square_subsequent_mask(SOURCE).numpy()
    target = torch.nn.Transformer.generate_square_subsequent_mask(TARGET).numpy()
    check(encoder, inputs(encoder), {"mask": source}, {"is_causal": True})
    check(encoder_layer, inputs(encoder_layer), {"src_mask": source}, {"is_causal": True})
    check(decoder, inputs(decoder), {"tgt_mask": target}, {"tgt_is_causal": True})
    check(
        transformer,
        inputs(transformer),
        {"src_mask": source, "tgt_mask": target},
        {"src_is_causal": True, "tgt_is_causal": True},
    )
    with pytest.raises(RuntimeError, match="attn_mask"):
        encoder(ocl)(ocl.zeros(3, 1, WIDTH), is_causal=True)


def shown(module):
    """Its repr without what only some versions of PyTorch print of LayerNorm."""
    return re.sub(r"(affine=\w+), bias=\w+", r"\1", repr(module))


@every_module
@pytest.mark.filterwarnings("ignore")
def test_names_and_repr(build):
    theirs, ours = build(torch, bias=build is not decoder), build(ocl, bias=build is not decoder)
    assert shown(ours) == shown(theirs)
    assert {k: tuple(v.shape) for k, v in ours.state_dict().items()} == {
        k: tuple(v.shape) for k, v in theirs.state_dict().items()
    }
    assert list(ours.state_dict()) == list(theirs.state_dict())


@pytest.mark.filterwarnings("ignore")
def test_activations():
    check(encoder_layer, inputs(encoder_layer), activation=lambda x: x * x)
    for lib in (torch, ocl):
        layer = encoder_layer(lib, activation=lib.nn.Tanh())
        assert "(activation): Tanh()" in repr(layer)
        layer.norm1 = lib.nn.LayerNorm(WIDTH)  # a child may be replaced
        layer(lib.zeros(2, 1, WIDTH))
    x = ocl.randn(3, 1, WIDTH)
    layer = encoder_layer(ocl)
    before = layer(x).detach().numpy()
    layer.activation = ocl.tanh
    assert not np.array_equal(layer(x).detach().numpy(), before)
    layer.activation = ocl.relu
    np.testing.assert_array_equal(layer(x).detach().numpy(), before)
    layer.norm_first = True
    assert not np.array_equal(layer(x).detach().numpy(), before)
    for lib in (torch, ocl):
        with pytest.raises(RuntimeError, match="relu/gelu"):
            encoder_layer(lib, activation="sine")


@pytest.mark.filterwarnings("ignore")
def test_the_layers_of_a_stack_are_copies():
    layer = encoder_layer(ocl).double()
    stack = ocl.nn.TransformerEncoder(layer, 3)
    assert len(stack.layers) == stack.num_layers == 3
    for copied in stack.layers:
        assert copied is not layer
        for name, value in copied.state_dict().items():
            np.testing.assert_array_equal(value.numpy(), layer.state_dict()[name].numpy())
        assert copied.linear1.weight.dtype == ocl.float64
    stack.layers[0].linear1.weight.detach().zero_()
    assert stack.layers[1].linear1.weight.detach().numpy().any()
    assert layer.linear1.weight.detach().numpy().any()


def test_layers_of_ones_own():
    """A stack takes layers of any class that can be copied."""

    class Scale(ocl.nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def forward(self, src, src_mask=None, is_causal=False, src_key_padding_mask=None):
            return src * self.factor

        def __deepcopy__(self, memo):
            return Scale(self.factor)

    y = ocl.nn.TransformerEncoder(Scale(2.0), 3)(ocl.ones(2, 1, WIDTH))
    np.testing.assert_array_equal(y.numpy(), 8)


@pytest.mark.filterwarnings("ignore")
def test_dropout_while_training():
    ocl.manual_seed(0)
    layer = ocl.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.5)
    x = ocl.randn(3, 1, WIDTH)
    assert not np.array_equal(layer(x).detach().numpy(), layer(x).detach().numpy())
    layer.eval()
    np.testing.assert_array_equal(layer(x).detach().numpy(), layer(x).detach().numpy())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("src", "tgt"), [((5, 2, WIDTH), (4, 3, WIDTH)), ((5, 2, WIDTH), (4, 2, 7)), ((5, 2, 7), (4, 2, 7))]
)
def test_inputs_that_do_not_fit(src, tgt):
    for lib in (torch, ocl):
        with pytest.raises(RuntimeError, match="must be equal"):
            transformer(lib)(lib.zeros(*src), lib.zeros(*tgt))


@pytest.mark.filterwarnings("ignore")
def test_parameters_of_a_transformer_begin_as_torchs():
    ocl.manual_seed(0)
    for name, parameter in transformer(ocl).named_parameters():
        if parameter.dim() > 1:
            bound = np.sqrt(6 / sum(parameter.shape))
            assert 0.8 * bound < np.abs(parameter.detach().numpy()).max() <= bound, name


@pytest.mark.parametrize("build", [encoder_layer, decoder_layer])
def test_activations_of_python(build):
    """A function is an attribute, which copies take along and the collector sees."""

    def square(x):
        return x * x

    layer = build(ocl, activation=square)
    assert layer.activation is square
    assert build(ocl).activation is ocl.nn.functional.relu
    assert build(ocl, activation="gelu").activation is ocl.nn.functional.gelu
    values = [ocl.randn(3, 1, WIDTH) for _ in inputs(build)]
    expected = layer(*values).detach().numpy()
    twin = copy.deepcopy(layer)
    assert twin.activation is square
    np.testing.assert_array_equal(twin(*values).detach().numpy(), expected)
    layer.activation = ocl.nn.functional.gelu
    again = pickle.loads(pickle.dumps(layer))
    assert again.activation is ocl.nn.functional.gelu
    np.testing.assert_array_equal(again(*values).detach().numpy(), layer(*values).detach().numpy())
    module = build(ocl, activation=ocl.nn.Tanh())
    assert copy.deepcopy(module).activation is not module.activation
    for wrong in (None, 3):
        with pytest.raises(TypeError, match="activation"):
            build(ocl, activation=wrong)

    def in_a_cycle():
        layer = build(ocl)
        layer.activation = lambda x: (layer, x)[1]
        return weakref.ref(layer)

    gone = in_a_cycle()
    gc.collect()
    assert gone() is None


def test_hooks_of_the_attention_run():
    def seen(lib):
        layer = encoder_layer(lib)
        calls = []

        def hook(module, args, kwargs, output):
            calls.append((len(args), sorted(kwargs), kwargs["need_weights"], output[1]))
            return (output[0] * 0, None)

        layer.self_attn.register_forward_hook(hook, with_kwargs=True)
        layer(lib.ones(2, 1, WIDTH))
        return calls

    assert seen(ocl) == seen(torch)


def test_attention_of_ones_own():
    """A submodule that takes the attention's place is called as the attention is."""

    class Mean(ocl.nn.Module):
        def forward(self, query, key, value, key_padding_mask=None, need_weights=True, **_):
            assert need_weights is False and key_padding_mask is None
            return value.mean(0, keepdim=True).expand_as(query), None

    layer = encoder_layer(ocl)
    layer.self_attn = Mean()
    assert layer(ocl.ones(2, 1, WIDTH)).shape == (2, 1, WIDTH)
