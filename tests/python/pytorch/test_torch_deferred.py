"""Work put off until it is read: batch norms and activations behind them (csrc/deferred.h). Nobody may see a
difference to work done at once, whoever reads, overwrites or keeps what."""

import copy
import io
import json
import os
import signal
import threading

import pytest
from support import in_threads, skip_without

torch = pytest.importorskip("torch")
F = torch.nn.functional

ACTIVATIONS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "hardswish": F.hardswish,
    "relu_": lambda x: F.relu(x, inplace=True),
    "relu6_": lambda x: F.relu6(x, inplace=True),
    "hardswish_": lambda x: F.hardswish(x, inplace=True),
    "hardsigmoid": F.hardsigmoid,
    "silu": F.silu,
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 0.7),
    "hardtanh_": lambda x: F.hardtanh(x, -0.5, 0.7, inplace=True),
}
SHAPES = [(5, 3), (4, 3, 17), (3, 5, 9, 11), (2, 3, 4, 5, 3), (2, 33, 1, 2)]


def look(x):
    """Reads one element, which makes all that was put off."""
    x.detach().reshape(-1)[:1].item()


def make_norm(channels, dtype=torch.float32, kind=torch.nn.BatchNorm2d, **options):
    norm = kind(channels, **options).to("ocl", dtype)
    generator = torch.Generator().manual_seed(1)
    for tensor in [*norm.parameters(), *(t for t in norm.buffers() if t.is_floating_point())]:
        tensor.data.copy_(torch.rand(tensor.shape, generator=generator) * 3 + 0.2)
    return norm


def kind_of(shape):
    return {
        2: torch.nn.BatchNorm1d,
        3: torch.nn.BatchNorm1d,
        4: torch.nn.BatchNorm2d,
        5: torch.nn.BatchNorm3d,
    }[len(shape)]


def step(activation, shape, training, dtype, looks, options):
    """Result and gradients of a norm and what follows; `looks`: nothing stays put off."""
    norm = make_norm(shape[1], dtype, kind_of(shape), **options).train(training)
    generator = torch.Generator().manual_seed(2)
    draw = lambda: (torch.randn(shape, generator=generator) * 4).to("ocl", dtype)  # noqa: E731
    x, direction = draw().requires_grad_(), draw()
    y = norm(x)
    if looks:
        look(y)
        y.register_hook(look)
        activation = activation.rstrip("_")  # in place of y there would be no hook on its gradient
    z = ACTIVATIONS[activation](y)
    z.backward(direction)
    gradients = [x.grad, *(p.grad for p in norm.parameters())]
    return [z.detach(), *gradients, *norm.buffers()]


@pytest.mark.parametrize("options", [{}, {"affine": False}, {"track_running_stats": False}], ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_same_bits_as_at_once(activation, shape, training, options):
    put_off, at_once = (
        step(activation, shape, training, torch.float32, looks, options) for looks in (False, True)
    )
    for ours, expected in zip(put_off, at_once, strict=True):
        torch.testing.assert_close(ours, expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("activation", ["relu", "relu6_", "hardswish", "silu"])
def test_other_dtypes(activation, dtype):
    skip_without(dtype)
    dtype = getattr(torch, dtype)
    for training in (True, False):
        ours, expected = (
            step(activation, (3, 5, 9, 11), training, dtype, looks, {}) for looks in (False, True)
        )
        # Half precision is rounded once less: an element beside a kink may lie on its other side.
        for a, b in zip(ours, expected, strict=True):
            unit = torch.finfo(dtype).eps * b.abs().max().clamp_min(1)
            assert ((a - b).abs() > 8 * unit).float().mean() <= (0 if dtype == torch.float64 else 0.01)


@pytest.mark.parametrize(
    "activation", ["relu", "relu_", "relu6", "relu6_", "hardswish", "hardswish_", "silu"]
)
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_gradients_of_gradients(activation, training):
    def grads(device, dtype):
        torch.manual_seed(3)
        norm = torch.nn.BatchNorm2d(3).train(training).to(device, dtype)
        x = (torch.randn(4, 3, 5, 7) * 3).to(device, dtype).requires_grad_()
        out = ACTIVATIONS[activation](norm(x)).pow(3).sum()
        inputs = [x, *norm.parameters()]
        first = torch.autograd.grad(out, inputs, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in first), inputs)

    for ours, expected in zip(grads("ocl", torch.float32), grads("cpu", torch.float64), strict=True):
        scale = expected.abs().max()
        torch.testing.assert_close(ours.cpu().double() / scale, expected / scale, rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    "activation", ["relu", "relu_", "relu6", "relu6_", "hardswish", "hardswish_", "silu"]
)
def test_runs_in_the_norms_kernels(activation, tmp_path):
    norm = make_norm(8)
    conv = torch.nn.Conv2d(3, 8, 3).to("ocl")
    x = torch.randn(2, 3, 9, 9, device="ocl")
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1]

    def once():
        y = ACTIVATIONS[activation](norm(conv(x)))
        y.backward(torch.ones_like(y))
        torch.ocl.synchronize()

    once()
    with torch.profiler.profile(activities=activities) as profile:
        once()
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    launched = [event["name"] for event in events if event.get("cat") == "kernel"]
    assert launched.count("batch_norm_forward") == 1
    of_others = ("relu", "threshold", "hardtanh", "hardswish", "silu", "clamp", "copy")
    assert [name for name in launched if name.startswith(of_others)] == []


# --- inputs that are overwritten, results that are


def expected_of(norm, x):
    """On the CPU, before anything is overwritten."""
    return copy.deepcopy(norm).cpu()(x.detach().cpu())


OVERWRITTEN = {
    "input": lambda norm, x: x.zero_(),
    "part of the input": lambda norm, x: x[1:, :, ::2].fill_(7),
    "weight": lambda norm, x: norm.weight.data.fill_(9),
    "bias": lambda norm, x: norm.bias.data.mul_(5),
    "running mean": lambda norm, x: norm.running_mean.fill_(3),
    "input from the host": lambda norm, x: x.copy_(torch.ones(x.shape)),
    "input by out=": lambda norm, x: torch.add(x, 1, out=x),
    "all parameters by foreach": lambda norm, x: torch._foreach_mul_([p.data for p in norm.parameters()], 3),
    "input by an index": lambda norm, x: x.index_fill_(0, torch.tensor([0, 2], device="ocl"), 4),
    "input by random numbers": lambda norm, x: x.uniform_(),
}


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize("overwrite", OVERWRITTEN.values(), ids=OVERWRITTEN.keys())
@torch.no_grad()
def test_inputs_may_be_overwritten(overwrite, training):
    norm, x = make_norm(3).train(training), torch.randn(4, 3, 6, 5, device="ocl")
    expected = expected_of(norm, x)
    y = norm(x)
    copied = y.clone()
    overwrite(norm, x)
    torch.testing.assert_close(y.cpu(), expected)
    torch.testing.assert_close(copied.cpu(), expected)


@pytest.mark.parametrize("overwritten", ["direction", "input", "weight", "bias", "result"])
@pytest.mark.parametrize("activation", ["relu", "relu6", "hardswish", "silu"])
def test_gradients_whose_inputs_are_overwritten(activation, overwritten):
    """Both kinds of gradients: told by the result, and by the norm that was put off before."""
    norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl", requires_grad=True)
    there, on_host = copy.deepcopy(norm).cpu(), x.detach().cpu().requires_grad_()
    direction = torch.randn(4, 3, 6, 5)
    results = []
    for one, value in ((norm, x), (there, on_host)):
        given = direction.to(value.device)
        y = one(value)
        z = ACTIVATIONS[activation](y)
        (gradient,) = torch.autograd.grad(z, y, given)
        of_that_name = {
            "direction": given,
            "input": value,
            "weight": one.weight,
            "bias": one.bias,
            "result": z,
        }
        del y
        with torch.no_grad():
            of_that_name[overwritten].fill_(-100)
        results.append(gradient.cpu())
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-6)


READERS = {
    "to the host": lambda y: y.cpu(),
    "a view": lambda y: y[1:, :, ::2, 1:].cpu(),
    "a view of other sizes": lambda y: y.view(-1).cpu(),
    "another dtype": lambda y: y.half().cpu(),
    "contiguous": lambda y: y.contiguous().cpu(),
    "channels last": lambda y: y.contiguous(memory_format=torch.channels_last).cpu(),
    "a copy that is changed": lambda y: y.clone().add_(1).cpu(),
    "a copy into part": lambda y: torch.zeros(9, *y.shape[1:], device="ocl")[2:6].copy_(y).cpu(),
    "in place": lambda y: y.mul_(3).cpu(),
    "part of it in place": lambda y: (y[1].zero_(), y.cpu())[1],
    "overwritten": lambda y: y.fill_(2).cpu(),
    "an activation of a part": lambda y: F.relu(y[1:3]).cpu(),
    "an activation of other sizes": lambda y: F.relu(y.flatten(1)).cpu(),
    "an activation in place of a part": lambda y: (F.relu(y[1:3], inplace=True), y.cpu())[1],
    "an activation with out=": lambda y: torch.clamp(y, 0, 6, out=torch.empty_like(y)).cpu(),
    "itself with itself": lambda y: (y * y + y).cpu(),
    "joined": lambda y: torch.cat([y, y]).cpu(),
    "deep copy": lambda y: copy.deepcopy(y).cpu(),
    "resized": lambda y: y.resize_(8, *y.shape[1:])[:4].cpu(),
    "detached and written to": lambda y: (y.detach()[0].fill_(5), y.cpu())[1],
    "as numbers": lambda y: torch.tensor(y.tolist()),
    "another norm": lambda y: F.batch_norm(y, None, None, training=True).cpu(),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
@torch.no_grad()
def test_readers(read, monkeypatch):
    norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl")
    y = norm(x)
    at_once = norm(x)
    look(at_once)
    torch.testing.assert_close(read(y), read(at_once), rtol=0, atol=0)


@torch.no_grad()
def test_saved():
    norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl")
    file = io.BytesIO()
    torch.save(norm(x), file)
    file.seek(0)
    torch.testing.assert_close(torch.load(file).cpu(), norm(x).cpu(), rtol=0, atol=0)


@torch.no_grad()
def test_activation_of_a_copy_leaves_the_norm():
    norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl")
    y = norm(x)
    for_relu, for_swish = y.clone(), y.clone()
    F.relu(for_relu, inplace=True)
    swish = F.hardswish(for_swish)
    expected = y.cpu()
    torch.testing.assert_close(for_relu.cpu(), expected.clamp_min(0), rtol=0, atol=0)
    torch.testing.assert_close(swish.cpu(), F.hardswish(expected))
    torch.testing.assert_close(for_swish.cpu(), expected, rtol=0, atol=0)


def test_hooks_and_kept_gradients_see_the_gradient_between():
    norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl", requires_grad=True)
    there, on_host = copy.deepcopy(norm).cpu(), x.detach().cpu().requires_grad_()
    seen = []
    for one, value in ((norm, x), (there, on_host)):
        y = one(value)
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        F.relu(y).pow(2).sum().backward()
        seen.append([y.grad.cpu(), value.grad.cpu(), *(p.grad.cpu() for p in one.parameters())])
    for ours, expected in zip(*seen, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)


def test_gradients_that_go_two_ways():
    """A shortcut's gradient is that of the sum, as is the norm's: the activation's, put off."""
    norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl", requires_grad=True)
    there, on_host = copy.deepcopy(norm).cpu(), x.detach().cpu().requires_grad_()
    for one, value in ((norm, x), (there, on_host)):
        F.relu(one(value) + value).pow(2).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), on_host.grad, rtol=1e-4, atol=1e-4)


def test_memory_that_others_have_is_not_put_off():
    """Once memory has gone out by DLPack, whoever has it may write to it at any time."""
    ocl = pytest.importorskip("ocl")
    norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl")
    outside = ocl.from_dlpack(x)
    with torch.no_grad():
        expected = expected_of(norm, x)
        y = norm(x)
        outside.fill_(3)
        torch.testing.assert_close(y.cpu(), expected)
        y = norm(x + 1)
        expected = y.clone()
        look(expected)
        torch.testing.assert_close(torch.from_numpy(ocl.from_dlpack(y).numpy()), expected.cpu())


# --- calls that no net makes


@pytest.mark.parametrize("kind", ["whole", "part", "eval", "gradient"])
@torch.no_grad()
def test_copied_onto_what_it_is_made_of(kind):
    norm, x = make_norm(3).train(kind != "eval"), torch.randn(4, 3, 6, 5, device="ocl")
    expected = expected_of(norm, x)
    if kind == "gradient":
        direction = torch.randn_like(x)
        expected = torch.where(x.cpu() > 0, direction.cpu(), 0.0)
        direction.copy_(torch.ops.aten.threshold_backward(direction, x, 0))
        torch.testing.assert_close(direction.cpu(), expected)
    elif kind == "part":
        x[1:].copy_(norm(x)[1:])
        torch.testing.assert_close(x[1:].cpu(), expected[1:])
    else:
        x.copy_(norm(x))
        torch.testing.assert_close(x.cpu(), expected)


@torch.no_grad()
def test_views_of_other_dtypes():
    norm, x = make_norm(3), torch.randn(4, 3, 6, 2, device="ocl")
    expected = expected_of(norm, x)
    torch.testing.assert_close(torch.view_as_complex(norm(x)).clone().cpu(), torch.view_as_complex(expected))
    torch.testing.assert_close(norm(x).view(torch.int8).clone().cpu().view(torch.float32), expected)


@torch.no_grad()
def test_a_call_that_fails_leaves_what_was_put_off():
    x, z, d = (torch.randn(4, 3, 6, 5, device="ocl") for _ in range(3))
    expected = torch.where(z.cpu() > 0, d.cpu(), 0.0)
    g = torch.ops.aten.threshold_backward(d, z, 0)
    _, mean, invstd = torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    with pytest.raises(Exception, match="weight"):
        torch.ops.aten.native_batch_norm_backward(
            g, x, torch.ones(5, device="ocl"), None, None, mean, invstd, True, 1e-5, [True] * 3
        )
    torch.testing.assert_close(g.cpu(), expected)


def test_a_direction_that_is_the_norms_own_result():
    for overwritten in ("x", "weight"):
        norm, x = make_norm(3), torch.randn(4, 3, 6, 5, device="ocl", requires_grad=True)
        y = norm(x)
        (g,) = torch.autograd.grad(F.relu6(y), y, y.detach())
        expected = y.detach().cpu()
        expected = torch.where((expected > 0) & (expected < 6), expected, 0.0)
        with torch.no_grad():
            (x if overwritten == "x" else norm.weight).fill_(-100)
        torch.testing.assert_close(g.cpu(), expected)


@torch.no_grad()
def test_gradients_of_another_norm():
    """One input and one pair of statistics under another weight, or the gradient itself as the input."""
    x, d = (torch.randn(4, 3, 6, 5, device="ocl") for _ in range(2))
    w, b = torch.rand(3, device="ocl") + 1, torch.rand(3, device="ocl")
    for weight, input_of in ((-w, lambda g: x), (w, lambda g: g)):
        results = []
        for looks in (False, True):
            y, mean, invstd = torch.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5)
            for backward in (
                lambda y=y: torch.ops.aten.hardtanh_backward(d, y, 0, 6),
                lambda y=y: torch.ops.aten.threshold_backward(d, y, 0),
            ):
                g = backward()
                if looks:
                    look(g)
                results.append(
                    torch.ops.aten.native_batch_norm_backward(
                        g, input_of(g), weight, None, None, mean, invstd, True, 1e-5, [True] * 3
                    )
                )
        half = len(results) // 2
        for ours, expected in zip(results[:half], results[half:], strict=True):
            torch.testing.assert_close(ours, expected, rtol=0, atol=0)


def test_a_forked_child_is_refused():
    norm, x = make_norm(3).eval(), torch.randn(4, 3, 6, 5, device="ocl")
    with torch.no_grad():
        y = norm(x)
        copied = y.clone()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            refused = 0
            del copied
            for use in (lambda: y.cpu(), lambda: x.zero_(), lambda: F.relu(y)):
                try:
                    use()
                except RuntimeError as error:
                    refused += "forked" in str(error)
            os._exit(refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        torch.testing.assert_close(y.cpu(), copied.cpu(), rtol=0, atol=0)


def test_errors_come_at_the_call():
    x = torch.randn(4, 3, 6, 5, device="ocl")
    with pytest.raises(Exception, match="weight"):
        torch.native_batch_norm(x, torch.ones(5, device="ocl"), None, None, None, True, 0.1, 1e-5)
    with pytest.raises(RuntimeError, match="expected all tensors to be on ocl:0, but found one on cpu"):
        torch.native_batch_norm(x, torch.ones(3), None, None, None, True, 0.1, 1e-5)
    assert make_norm(3).eval()(x).isfinite().all()


def take_what_is_free():
    """Tensors in all the memory that the device has given and nobody uses, where it may give no more."""
    taken, size = [], 1 << 30
    while size > 1 << 16:
        try:
            taken.append(torch.empty(size, dtype=torch.uint8, device="ocl"))
        except torch.OutOfMemoryError:
            size //= 2
    return taken


def test_what_finds_no_memory_is_made_later():
    """The gradient behind a norm that is put off takes scratch memory where the norm does not follow."""
    shape = (8, 64, 64, 48)
    norm, x = make_norm(64), torch.randn(shape, device="ocl", requires_grad=True)
    direction = torch.randn(shape, device="ocl")
    gradients = []
    for has_room in (True, False):
        y = norm(x)
        (gradient,) = torch.autograd.grad(F.relu6(y), y, direction)
        torch.ocl.synchronize()
        torch.ocl.empty_cache()
        if not has_room:
            torch.ocl.set_per_process_memory_fraction(1e-12)
            try:
                taken = take_what_is_free()
                with pytest.raises(torch.OutOfMemoryError):
                    look(gradient)
                del taken
            finally:
                torch.ocl.set_per_process_memory_fraction(1.0)
        gradients.append(gradient.cpu())
    torch.testing.assert_close(*gradients, rtol=0, atol=0)


@torch.no_grad()
def test_nothing_is_kept():
    norm = make_norm(64)
    torch.ocl.synchronize()
    before = torch.ocl.memory_allocated()
    for _ in range(3):
        x = torch.randn(8, 64, 32, 32, device="ocl")
        y = norm(x)
        z = y.clone()
        del x, y, z
    assert torch.ocl.memory_allocated() == before


@torch.no_grad()
def test_empty():
    norm = make_norm(3).eval()
    for shape in ((0, 3, 4, 4), (2, 3, 0, 4)):
        assert F.relu(norm(torch.empty(shape, device="ocl"))).shape == shape


def test_threads():
    """Each reads, activates and overwrites what all have."""
    norm = make_norm(16).eval()
    x = torch.randn(8, 16, 24, 24, device="ocl")
    with torch.no_grad():
        expected = F.relu(norm(x)).cpu()
    failures = []

    @torch.no_grad()
    def work(number):
        for i in range(60):
            mine = x.clone()
            y = norm(mine)
            if (i + number) % 3 == 0:
                mine.zero_()
            z = F.relu(y, inplace=(i + number) % 2 == 0)
            if not torch.equal(z.cpu(), expected):
                failures.append((number, i))

    in_threads(work, 4)
    assert not failures


@torch.no_grad()
def test_one_thread_overwrites_what_another_is_about_to_use():
    norm = make_norm(4).eval()
    for _ in range(200):
        x = torch.ones(2, 4, 64, 64, device="ocl")
        y = norm(x)
        other = torch.full_like(x, 5)
        start = threading.Barrier(2)

        def overwrite(x=x, other=other, start=start):
            start.wait()
            x.copy_(other)

        thread = threading.Thread(target=overwrite)
        thread.start()
        start.wait()
        z = F.relu(y)
        thread.join()
        torch.testing.assert_close(z, F.relu(norm(torch.ones_like(x))), rtol=0, atol=0)


def test_memory_that_only_a_call_in_place_reads():
    """Large results that nobody has any more need no memory, unless a call reads what was there."""
    for number in range(6):
        x = torch.full((1 << 20,), float(number), device="ocl")
        y = torch.full_like(x, 7.0)
        y.sub_(x)
        z = y + 1
        del y
        last = z * x
        assert torch.equal(z.cpu(), torch.full((1 << 20,), 8.0 - number))
        assert torch.equal(last.cpu(), torch.full((1 << 20,), (8.0 - number) * number))
