"""Results lie in memory as those of PyTorch on the CPU: channels last where their inputs have them so."""

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402

FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def on_both(function, arguments, format):
    """Its results on the CPU and on the device, and the gradients of its inputs."""
    results = []
    for device in ("cpu", "ocl:0"):
        given = [a.detach().clone().to(device).requires_grad_() for a in arguments]
        y = function(*given)
        weights = torch.linspace(-1, 1, y.numel()).reshape(y.shape).to(device)
        y.backward(weights.contiguous(memory_format=format))
        results.append([y, *(a.grad for a in given)])
    return results


def check(function, arguments):
    for format in (torch.contiguous_format, FORMATS[arguments[0].dim()]):  # of the gradient
        expected, actual = on_both(function, arguments, format)
        for a, b in zip(actual, expected, strict=True):
            torch.testing.assert_close(a.cpu(), b, rtol=1e-4, atol=1e-4)
        assert actual[0].stride() == expected[0].stride()


def drawn(*shape, scale=1.0):
    return scale * torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def channels_last(tensor):
    return tensor.contiguous(memory_format=FORMATS[tensor.dim()])


OPERATORS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 0.75),
    "flip": lambda x: x.flip(1, 3),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "batch_norm and relu": lambda x: F.batch_norm(x, None, None, training=True).relu(),
    "group_norm": lambda x: F.group_norm(x, x.shape[1]),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 3),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 3),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "add": lambda x: x + x,
    "cat": lambda x: torch.cat([x, x], 1),
    "pad": lambda x: F.pad(x, (1, 2)),
    "reflection_pad2d": lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"),
    "replication_pad2d": lambda x: F.pad(x, (1, 2, 3, 0), mode="replicate"),
    "channel_shuffle": lambda x: torch.channel_shuffle(x, x.shape[1]),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("shape", [(2, 8, 9, 7), (3, 5, 4, 4)], ids=str)
def test_operators(name, shape):
    check(OPERATORS[name], [channels_last(drawn(*shape))])


@pytest.mark.parametrize("name", ["reflection_pad1d", "reflection_pad2d", "replication_pad3d"])
def test_padding_writes_where_its_result_is_given(name):
    axes = int(name[-2])
    pad, x = getattr(torch._C._nn, name), drawn(2, 3, *range(4, 4 + axes))
    expected = pad(x, (1, 2) * axes)
    memory = torch.zeros(expected.shape[::-1], device="ocl:0")
    pad(x.to("ocl:0"), (1, 2) * axes, out=memory.permute(*reversed(range(memory.dim()))))
    assert torch.equal(memory.cpu().permute(*reversed(range(memory.dim()))), expected)


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("of_input", [False, True])
@pytest.mark.parametrize("of_weight", [False, True])
def test_convolutions(is_transposed, of_input, of_weight):
    convolve = F.conv_transpose2d if is_transposed else F.conv2d
    x, weight = drawn(2, 4, 7, 6), drawn(4, 4, 3, 3)
    check(
        lambda x, weight: convolve(x, weight, stride=2, padding=1),
        [channels_last(x) if of_input else x, channels_last(weight) if of_weight else weight],
    )


def test_volumes():
    x = channels_last(drawn(2, 3, 4, 5, 6))
    check(lambda x, weight: F.conv3d(x, weight, padding=1), [x, drawn(2, 3, 3, 3, 3)])
    for mode in ("reflect", "replicate"):
        check(lambda x, mode=mode: F.pad(x, (1, 2, 0, 1, 1, 1), mode=mode), [x])
    check(lambda x: F.batch_norm(x, None, None, training=True), [x])


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_batch_norm_with_all_that_it_takes(training, dtype):
    x = channels_last(drawn(3, 6, 5, 7)).to(dtype)
    norms = [torch.nn.BatchNorm2d(6).to(device).train(training) for device in ("cpu", "ocl:0")]
    outputs, gradients = [], []
    for norm, device in zip(norms, ("cpu", "ocl:0"), strict=True):
        with torch.no_grad():
            norm.weight.copy_(torch.linspace(0.5, 2, 6))
            norm.bias.copy_(torch.linspace(-1, 1, 6))
            norm.running_var.copy_(torch.linspace(0.5, 3, 6))
        given = x.clone().to(device).requires_grad_()
        y = norm(given)
        y.backward(torch.linspace(-1, 1, y.numel()).reshape(y.shape).to(device, dtype))
        outputs.append(y)
        gradients.append([given.grad, norm.weight.grad, norm.bias.grad, norm.running_mean, norm.running_var])
    assert outputs[0].stride() == outputs[1].stride()
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(outputs[1].cpu(), outputs[0], **tolerance)
    for actual, expected in zip(gradients[1], gradients[0], strict=True):
        torch.testing.assert_close(actual.cpu(), expected, **tolerance)


@pytest.mark.parametrize("shape", [(2, 1, 5, 4), (2, 6, 1, 1), (3, 4, 1, 5), (0, 4, 3, 3)], ids=str)
def test_where_sizes_leave_it_open(shape):
    x = channels_last(drawn(*shape)).to("ocl:0").requires_grad_()
    norm = torch.nn.BatchNorm2d(shape[1]).to("ocl:0").eval()
    y = norm(x)
    y.sum().backward()
    torch.testing.assert_close(y.cpu(), x.detach().cpu() / (1 + 1e-5) ** 0.5)
    assert x.grad.shape == x.shape


def test_a_net_stays_in_its_format():
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1, bias=False),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 8, 3, padding=1, groups=8),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU6(),
        torch.nn.MaxPool2d(2),
    ).to("ocl:0", memory_format=torch.channels_last)
    seen = []
    for module in net:
        module.register_forward_hook(
            lambda _, __, y: seen.append(y.is_contiguous(memory_format=torch.channels_last))
        )
    y = net(drawn(2, 3, 8, 8).to("ocl:0", memory_format=torch.channels_last))
    assert seen == [True] * len(net)
    y.sum().backward()
