"""Layout is a word: strides as PyTorch's of whatever takes or gives a memory format, and values and gradients
that do not depend on it."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import torch
from support import assert_close_to_truth, assert_same

import ocl

SIZES = (0, 1, 1, 2, 3, 4, 5)
FORMATS = ("contiguous_format", "channels_last", "preserve_format")
LIKE = ("empty_like", "zeros_like", "ones_like", "rand_like", "randn_like")


def shapes_of(rng, count=40, sizes=SIZES):
    return [tuple(int(n) for n in rng.choice(sizes, 4)) for _ in range(count)]


def laid_out(lib, array, layout):
    """A tensor of either library over a permutation, a step or an expansion of its memory."""
    tensor = torch.from_numpy(array) if lib is torch else ocl.tensor(array)
    if layout == "channels_last":
        return tensor.contiguous(memory_format=lib.channels_last)
    if layout == "permuted":
        return tensor.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)
    if layout == "stepped":
        wide = lib.zeros(*(2 * n for n in array.shape))
        part = wide[::2, ::2, ::2, ::2]
        part.copy_(tensor)
        return part
    if layout == "channels_last stepped":
        return laid_out(lib, array.repeat(2, axis=1), "channels_last")[:, ::2]
    if layout == "expanded":
        return tensor[:, :1].expand(*tensor.shape)
    return tensor


LAYOUTS = ("contiguous", "channels_last", "permuted", "stepped", "channels_last stepped", "expanded")


def drawn(rng, shape):
    return rng.standard_normal(shape).astype(np.float32)


def in_both(array, layout):
    return laid_out(ocl, array, layout), laid_out(torch, array, layout)


def assert_strides(ours, theirs, what=""):
    assert tuple(ours.shape) == tuple(theirs.shape), what
    if ours.numel():  # what no element lies by is left open
        assert ours.stride() == theirs.stride(), (what, tuple(ours.shape))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_conversions(layout, rng):
    for shape in shapes_of(rng):
        ours, theirs = in_both(drawn(rng, shape), layout)
        assert_strides(ours, theirs, "the input")
        for name in FORMATS:
            our_format, their_format = getattr(ocl, name), getattr(torch, name)
            for method in ("clone", "to", "double", "half"):
                if method == "double" and not ocl.get_device_properties()["fp64"]:
                    continue
                assert_strides(
                    getattr(ours, method)(memory_format=our_format),
                    getattr(theirs, method)(memory_format=their_format),
                    f"{method} {name} of {layout}",
                )
            for function in LIKE:
                assert_strides(
                    getattr(ocl, function)(ours, memory_format=our_format),
                    getattr(torch, function)(theirs, memory_format=their_format),
                    f"{function} {name} of {layout}",
                )
            if ours.numel():
                assert ours.is_contiguous(memory_format=our_format) == theirs.is_contiguous(
                    memory_format=their_format
                ), (name, shape)
            if name == "preserve_format":
                continue
            converted = ours.contiguous(memory_format=our_format)
            assert_strides(converted, theirs.contiguous(memory_format=their_format), f"contiguous {name}")
            assert (converted is ours) == ours.is_contiguous(memory_format=our_format)
            assert_same(converted, theirs)
        assert_strides(ocl.full_like(ours, 3), torch.full_like(theirs, 3), "full_like")
        assert_same(ours.clone(), theirs.clone())


@pytest.mark.parametrize("name", ["contiguous_format", "channels_last"])
def test_empty(name, rng):
    for shape in shapes_of(rng):
        ours = ocl.empty(*shape, memory_format=getattr(ocl, name))
        assert ours.stride() == torch.empty(*shape, memory_format=getattr(torch, name)).stride()
    assert ocl.empty((2, 3, 4, 5), memory_format=None).is_contiguous()


def test_five_dimensions(rng):
    for shape in itertools.product((1, 2, 3), repeat=5):
        array = drawn(rng, shape)
        ours = ocl.tensor(array).contiguous(memory_format=ocl.channels_last_3d)
        theirs = torch.from_numpy(array).contiguous(memory_format=torch.channels_last_3d)
        assert_strides(ours, theirs)
        assert_strides(ours + 1, theirs + 1)
        assert ours.is_contiguous(memory_format=ocl.channels_last_3d)


WRONG_CALLS = {
    "rank": (
        lambda lib: lib.ones(3, 4, 5).contiguous(memory_format=lib.channels_last),
        "required rank 4 tensor to use channels_last format",
    ),
    "rank of empty": (
        lambda lib: lib.empty(2, 3, memory_format=lib.channels_last),
        "required rank 4 tensor to use channels_last format",
    ),
    "rank of like": (
        lambda lib: lib.empty_like(lib.ones(2, 3), memory_format=lib.channels_last_3d),
        "required rank 5 tensor to use channels_last_3d format",
    ),
    "preserve what": (
        lambda lib: lib.empty(2, 3, 4, 5, memory_format=lib.preserve_format),
        "unsupported memory format",
    ),
    "contiguous as it is": (
        lambda lib: lib.ones(2, 3).t().contiguous(memory_format=lib.preserve_format),
        "preserve memory format is unsupported by the contiguous operator",
    ),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_errors(name):
    call, message = WRONG_CALLS[name]
    with pytest.raises(RuntimeError, match=message):
        call(torch)
    with pytest.raises(ValueError, match=message):
        call(ocl)


@pytest.mark.parametrize("call", [
    lambda lib, x: x.contiguous(memory_format="channels_last"),
    lambda lib, x: x.contiguous(lib.channels_last),
    lambda lib, x: x.clone(lib.channels_last),
    lambda lib, x: x.to(memory_format=3),
    lambda lib, x: lib.empty(2, 3, 4, 5, memory_format=1),
])  # fmt: skip
def test_type_errors(call):
    for lib in (torch, ocl):
        with pytest.raises(TypeError):
            call(lib, lib.ones(2, 3, 4, 5))


def test_the_words():
    assert repr(ocl.channels_last) == "ocl.channels_last"
    assert isinstance(ocl.contiguous_format, ocl.memory_format)
    assert pickle.loads(pickle.dumps(ocl.preserve_format)) is ocl.preserve_format
    assert copy.deepcopy(ocl.channels_last_3d) is ocl.channels_last_3d


@pytest.mark.parametrize("layout", ["channels_last", "permuted"])
def test_copies_keep_strides(layout, rng):
    ours = laid_out(ocl, drawn(rng, (2, 3, 4, 5)), layout)
    stride = ours.stride()
    for twin in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), ours.detach()):
        assert twin.stride() == stride
        np.testing.assert_array_equal(twin.numpy(), ours.numpy())


POINTWISE = {
    "unary": lambda lib, a, b: a.relu(),
    "binary": lambda lib, a, b: a + b,
    "binary turned": lambda lib, a, b: b * a,
    "with a number": lambda lib, a, b: 2 * a - 1,
    "comparison": lambda lib, a, b: a < b,
    "where": lambda lib, a, b: lib.where(a > 0, a, b),
    "cast": lambda lib, a, b: (a * 3).to(lib.int64),
    "promoted": lambda lib, a, b: a.to(lib.int64) + b,
    "clamp": lambda lib, a, b: a.clamp(-0.5, 0.5),
    "three": lambda lib, a, b: lib.lerp(a, b, a),
}
BROADCAST = ((1, 1, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), (0, 1, 0, 0), (0, 0, 0, 0))


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_strides(name, rng):
    function = POINTWISE[name]
    for shape in shapes_of(rng, 12, SIZES[1:]):
        first, second = str(rng.choice(LAYOUTS)), str(rng.choice(LAYOUTS))
        kept = BROADCAST[int(rng.integers(len(BROADCAST)))]
        narrow = tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True))
        our_a, their_a = in_both(drawn(rng, shape), first)
        our_b, their_b = in_both(drawn(rng, narrow), second)
        ours, theirs = function(ocl, our_a, our_b), function(torch, their_a, their_b)
        assert_strides(ours, theirs, (first, second, narrow))
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6, atol=1e-6)


def conversions(run):
    """Copies to another layout. Others are there because the recorder holds on to gradients."""
    with ocl.profiler.record_calls() as recorded:
        run()
    copies = [call.arguments for call in recorded.calls if call.name == "copy"]
    return [c for c in copies if c["source"].stride() != c["destination"].stride()]


def test_pointwise_copies_nothing(rng):
    x, y = (laid_out(ocl, drawn(rng, (2, 3, 4, 5)), "channels_last") for _ in range(2))
    x.requires_grad_()

    def run():
        z = (x * y + 1).add_(y).relu()
        z = ocl.where(z > 0, z, y) * ocl.ones(3, 1, 1)
        z = ocl.nn.functional.dropout(z)
        z.backward(y)

    assert not conversions(run)
    assert x.grad.is_contiguous(memory_format=ocl.channels_last)


def test_batch_norm_copies_nothing(rng):
    x, g = (laid_out(ocl, drawn(rng, (2, 3, 4, 5)), "channels_last") for _ in range(2))
    norm = ocl.nn.BatchNorm2d(3)
    x.requires_grad_()

    def run():
        norm.train()(x).backward(g)
        norm.eval()(x)

    assert not conversions(run)


@pytest.mark.parametrize("layout", ["channels_last", "permuted"])
def test_equal_layouts_are_copied_as_memory(layout, rng):
    x = laid_out(ocl, drawn(rng, (2, 3, 4, 5)), layout)
    with ocl.profiler.record_calls() as recorded:
        twin = x.clone()
        ocl.zeros_like(x)
    assert "pointwise" not in [call.name for call in recorded.calls]
    np.testing.assert_array_equal(twin.numpy(), x.numpy())


def F(lib):
    return lib.nn.functional


OPERATORS = {
    "conv2d": lambda lib, x, w, k: F(lib).conv2d(x, w, padding=1),
    "conv2d same": lambda lib, x, w, k: F(lib).conv2d(x, w[:, :, :2, :2], padding="same"),
    "conv2d 1x1": lambda lib, x, w, k: F(lib).conv2d(x, w[:, :, :1, :1]),
    "conv2d to a pixel": lambda lib, x, w, k: F(lib).conv2d(x, lib.ones_like(x[:1])),
    "conv_transpose2d": lambda lib, x, w, k: F(lib).conv_transpose2d(x, w.transpose(0, 1), k, stride=2),
    "max_pool2d": lambda lib, x, w, k: F(lib).max_pool2d(x, 2),
    "avg_pool2d": lambda lib, x, w, k: F(lib).avg_pool2d(x, 3, stride=2, padding=1),
    "adaptive_avg_pool2d": lambda lib, x, w, k: F(lib).adaptive_avg_pool2d(x, 2),
    "adaptive_avg_pool2d to a pixel": lambda lib, x, w, k: F(lib).adaptive_avg_pool2d(x, 1),
    "adaptive_max_pool2d": lambda lib, x, w, k: F(lib).adaptive_max_pool2d(x, 3),
    "batch_norm": lambda lib, x, w, k: F(lib).batch_norm(x, None, None, k, k, training=True),
    "batch_norm of evaluation": lambda lib, x, w, k: F(lib).batch_norm(
        x, k.detach(), (k * k + 1).detach(), k, k
    ),
    "group_norm": lambda lib, x, w, k: F(lib).group_norm(x, 2, k, k),
    "interpolate": lambda lib, x, w, k: F(lib).interpolate(x, scale_factor=(2.0, 1.5), mode="bilinear"),
    "interpolate nearest": lambda lib, x, w, k: F(lib).interpolate(x, size=(3, 9)),
    "pad": lambda lib, x, w, k: F(lib).pad(x, (1, 2, 0, 1), value=2.0),
    "pad reflect": lambda lib, x, w, k: F(lib).pad(x, (1, 2, 0, 1), mode="reflect"),
    "cat": lambda lib, x, w, k: lib.cat([x, x * 2], 1),
    "chain": lambda lib, x, w, k: (x * k.reshape(4, 1, 1) + 1).sigmoid() * x,
}


@pytest.mark.parametrize("layout", ["contiguous", "channels_last"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, layout, rng):
    """Values, gradients and strides of result and gradients as PyTorch's."""
    arrays = [drawn(rng, (2, 4, 6, 5)), drawn(rng, (4, 4, 3, 3)), drawn(rng, (4,))]
    seed = rng.integers(2**31)

    def run(lib, dtype=None):
        leaves = [laid_out(lib, a, layout if a.ndim == 4 else "contiguous") for a in arrays]
        leaves = [t.to(dtype) if dtype else t for t in leaves]
        for leaf in leaves:
            leaf.requires_grad_()
        result = OPERATORS[name](lib, *leaves)
        g = drawn(np.random.default_rng(seed), tuple(result.shape))
        g = laid_out(lib, g, layout)
        result.backward(g.to(dtype) if dtype else g)
        return result, [leaf.grad for leaf in leaves if leaf.grad is not None]

    ours, our_gradients = run(ocl)
    theirs, their_gradients = run(torch)
    truth, true_gradients = run(torch, torch.float64)
    assert_strides(ours, theirs, name)
    compared = ((ours, truth, theirs), *zip(our_gradients, true_gradients, their_gradients, strict=True))
    for our, true, their in compared:
        assert_close_to_truth(our, true, their, magnitude=true.abs().max())
        assert our.stride() == their.stride(), name


def test_indices_of_the_maxima(rng):
    array = drawn(rng, (2, 4, 6, 5))
    for function in ("max_pool2d", "adaptive_max_pool2d"):
        results = [
            getattr(F(lib), function)(laid_out(lib, array, "channels_last"), 2, return_indices=True)
            for lib in (ocl, torch)
        ]
        for ours, theirs in zip(*results, strict=True):
            assert_same(ours, theirs)
            assert_strides(ours, theirs, function)


def net(lib):
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=2),
        nn.GroupNorm(2, 8),
        nn.SiLU(),
        nn.Upsample(scale_factor=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    )


def test_module_to():
    ours, theirs = net(ocl), net(torch)
    for parameter in ours.parameters():
        parameter.grad = ocl.ones_like(parameter)
    handles = list(ours.parameters())
    assert ours.to(memory_format=ocl.channels_last) is ours
    theirs.to(memory_format=torch.channels_last)
    for handle, mine, other in zip(handles, ours.parameters(), theirs.parameters(), strict=True):
        assert handle is mine
        assert mine.stride() == mine.grad.stride() == other.stride()
    ours.to(ocl.float16, memory_format=ocl.contiguous_format)
    assert all(p.is_contiguous() and p.dtype == ocl.float16 for p in ours.parameters())


def test_module_to_another_rank():
    with pytest.raises(ValueError, match="required rank 5 tensor to use channels_last_3d format"):
        net(ocl).to(memory_format=ocl.channels_last_3d)


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_training(optimizer, rng):
    """Channels last is the same net: the losses agree within what rounding makes of them."""
    images, labels = drawn(rng, (16, 3, 8, 8)), rng.integers(0, 4, 16)
    first = net(ocl)
    second = copy.deepcopy(first).to(memory_format=ocl.channels_last)
    losses = []
    for module, layout in ((first, "contiguous"), (second, "channels_last")):
        options = {"momentum": 0.9} if optimizer == "SGD" else {}
        steps = getattr(ocl.optim, optimizer)(module.parameters(), lr=0.01, **options)
        x, y = laid_out(ocl, images, layout), ocl.tensor(labels)
        losses.append([])
        for _ in range(10):
            steps.zero_grad()
            loss = F(ocl).cross_entropy(module(x), y)
            loss.backward()
            ocl.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            steps.step()
            losses[-1].append(loss.item())
    np.testing.assert_allclose(losses[0], losses[1], rtol=2e-5)
    assert losses[0][-1] < losses[0][0]
    assert second[0].weight.is_contiguous(memory_format=ocl.channels_last)
    restored = net(ocl)
    restored.load_state_dict(second.state_dict())
    np.testing.assert_array_equal(restored[0].weight.detach().numpy(), second[0].weight.detach().numpy())


def test_a_step_after_the_format_changed(rng):
    """States lie as they did; the step brings them along."""
    layers = [ocl.nn.Conv2d(3, 4, 3) for _ in range(2)]
    layers[1].load_state_dict(layers[0].state_dict())
    steps = [ocl.optim.Adam(layer.parameters(), lr=0.1) for layer in layers]
    x = ocl.tensor(drawn(rng, (2, 3, 5, 5)))
    for round_ in range(3):
        for layer, step in zip(layers, steps, strict=True):
            step.zero_grad()
            layer(x).square().sum().backward()
            step.step()
        if round_ == 0:
            layers[1].to(memory_format=ocl.channels_last)
    np.testing.assert_allclose(
        layers[0].weight.detach().numpy(), layers[1].weight.detach().numpy(), rtol=1e-5, atol=1e-6
    )
