"""Passes over exported programs: fused chains give eager's bits, folded norms give eager's results."""

import struct

import numpy as np
import pytest

import ocl
import ocl.nn.functional as F
from ocl import nn

UNARY = ["relu", "tanh", "sigmoid", "exp", "abs", "neg", "square", "sin"]
BINARY = ["add", "sub", "mul", "div", "maximum", "atan2"]
IN_PLACE = ["add_", "mul_", "relu_", "tanh_"]
DTYPES = [ocl.float32, ocl.float64, ocl.float16, ocl.bfloat16]


def bits(tensor):
    wide = tensor if tensor.dtype == ocl.bool else tensor.to(ocl.float64)
    return wide.detach().numpy().tobytes()


def primitives(program):
    return [primitive for primitive, _, _ in program.calls]


def run(program, inputs):
    results = ocl.runtime.prepare(program)(*inputs)
    return results if isinstance(results, tuple) else (results,)


def random_work(seed):
    """A function of three tensors, of random pointwise calls. Some results are read twice, some are written
    in place, some are broadcast or reduced."""

    def work(x, row, column):
        draws = np.random.default_rng(seed)
        pool = [x, row, column, x * 1.5]
        for _ in range(int(draws.integers(3, 14))):
            a, b = (pool[i] for i in draws.integers(len(pool), size=2))
            kind = draws.integers(9)
            if kind < 3:
                pool.append(getattr(ocl, draws.choice(UNARY))(a))
            elif kind < 6:
                pool.append(getattr(ocl, draws.choice(BINARY))(a, b))
            elif kind == 6:
                pool.append(ocl.where(a > b, a, b * float(draws.integers(1, 4))))
            elif kind == 7:
                pool.append(a ** float(draws.choice([0.0, 1.0, 2.0, 3.0])))
            elif draws.integers(2):
                fresh = pool[3 + int(draws.integers(len(pool) - 3))]
                if fresh.shape == x.shape:
                    method = str(draws.choice(IN_PLACE))
                    getattr(fresh, method)(*([row] if method in ("add_", "mul_") else []))
            else:
                pool.append(a.flip(0) if draws.integers(2) else a.sum(0, keepdim=True))
        kept = (
            [pool[i] for i in sorted(set(draws.integers(4, len(pool), size=3)))]
            if len(pool) > 4
            else pool[3:]
        )
        return tuple(kept)

    return work


@pytest.mark.parametrize("seed", range(60))
def test_random_work_keeps_its_bits(seed):
    draws = np.random.default_rng(1000 + seed)
    dtype = DTYPES[seed % 4]
    shape = [(3, 5, 7), (16, 16), (1, 33), (4, 1, 6)][int(draws.integers(4))]
    rows = [shape, shape[-1:], (*shape[:-1], 1)]
    inputs = [ocl.tensor(draws.standard_normal(s).astype(np.float32)).to(dtype) for s in rows]
    work = random_work(seed)
    program = ocl.export(work, tuple(inputs))
    results, truth = run(program, inputs), work(*inputs)
    assert len(results) == len(truth)
    for result, expected in zip(results, truth, strict=True):
        assert bits(result) == bits(expected), str(program)


def test_a_chain_is_one_call():
    def work(x, scale, shift):
        return ((x * scale + shift).relu() * 0.5).tanh()

    inputs = (ocl.randn(4, 6), ocl.randn(6), ocl.randn(4, 1))
    program = ocl.export(work, inputs)
    assert primitives(program) == ["pointwise"]
    assert bits(run(program, inputs)[0]) == bits(work(*inputs))


def test_what_others_read_is_stored():
    def work(x):
        y = x * 2
        return y + 1, y.sum()

    x = ocl.randn(5, 7)
    program = ocl.export(work, (x,))
    assert primitives(program) == ["pointwise", "reduce"]
    for result, expected in zip(run(program, (x,)), work(x), strict=True):
        assert bits(result) == bits(expected)


def test_what_is_overwritten_between_is_not_fused():
    def work(x, other):
        y = x * 1
        z = y * 2
        total = y.sum()
        y.mul_(total)
        return z + y + other

    inputs = (ocl.randn(5, 7), ocl.randn(5, 7))
    assert bits(run(ocl.export(work, inputs), inputs)[0]) == bits(work(*inputs))


def test_conditions_and_comparisons():
    def work(x, y):
        positive = x > y
        return ocl.where(positive, x, y * 2), positive

    inputs = (ocl.randn(9, 5), ocl.randn(9, 5))
    program = ocl.export(work, inputs)
    for result, expected in zip(run(program, inputs), work(*inputs), strict=True):
        assert result.dtype == expected.dtype and bits(result) == bits(expected)


def test_other_shapes_and_dtypes_stay_apart():
    def work(x):
        row = x[0] * 2
        return (row + x).to(ocl.float64) * 3

    x = ocl.randn(4, 3)
    program = ocl.export(work, (x,))
    assert bits(run(program, (x,))[0]) == bits(work(x))


def test_long_chains_are_parted():
    def work(x):
        for i in range(40):
            x = x * 1.01 + i
        return x

    x = ocl.randn(37)
    program = ocl.export(work, (x,))
    assert 2 <= len(program.calls) <= 8
    assert bits(run(program, (x,))[0]) == bits(work(x))


def test_a_training_step_has_fewer_calls_and_the_same_bits():
    ocl.manual_seed(0)

    def gated(x):
        return x * F.sigmoid(1.702 * x)

    weights = [ocl.randn(6, 8, requires_grad=True), ocl.randn(8, 3, requires_grad=True)]
    x, y = ocl.randn(5, 6), ocl.randn(5, 3)

    def step(x, y):
        for weight in weights:
            weight.grad = None
        loss = ((gated(x @ weights[0]) @ weights[1] - y) ** 2).mean()
        loss.backward()
        with ocl.no_grad():
            for weight in weights:
                weight -= 0.1 * weight.grad
        return loss

    program = ocl.export(step, (x, y), named={"first": weights[0], "second": weights[1]})
    assert "chain" in str(program)
    runner = ocl.runtime.prepare(program)
    for _ in range(4):
        assert bits(runner(x, y)) == bits(step(x, y))
    for name, weight in zip(("first", "second"), weights, strict=True):
        assert bits(runner.state_dict()[name]) == bits(weight)


def settled(net):
    """In eval mode, with statistics and weights that norms do not pass by."""
    for module in net.modules():
        if hasattr(module, "running_mean"):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 2)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias)
    return net.eval()


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)) + x)


class Shared(nn.Module):
    """A convolution whose result a norm and somebody else read."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)

    def forward(self, x):
        y = self.conv(x)
        return self.norm(y) * y


NETS = {
    "plain": (lambda: nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5)), (2, 3, 9, 7), 1),
    "grouped": (
        lambda: nn.Sequential(nn.Conv2d(4, 8, 3, groups=2, bias=False), nn.BatchNorm2d(8), nn.ReLU()),
        (1, 4, 8, 8),
        1,
    ),
    "linear": (lambda: nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Linear(5, 2)), (3, 6), 2),
    "1d": (lambda: nn.Sequential(nn.Conv1d(3, 5, 3), nn.BatchNorm1d(5)), (2, 3, 11), 1),
    "3d": (lambda: nn.Sequential(nn.Conv3d(2, 3, 2), nn.BatchNorm3d(3), nn.SiLU()), (1, 2, 4, 5, 6), 2),
    "residual": (Residual, (2, 4, 6, 6), 1),
    "shared": (Shared, (2, 4, 6, 6), None),
    "norm first": (lambda: nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 2, 3)), (2, 3, 6, 6), None),
}


@pytest.mark.parametrize("dtype", [ocl.float32, ocl.float64, ocl.float16])
@pytest.mark.parametrize("name", NETS)
def test_folded_norms(name, dtype):
    make, shape, calls = NETS[name]
    ocl.manual_seed(3)
    net = settled(make()).to(dtype)
    x = ocl.randn(*shape).to(dtype)
    program = ocl.export(net, (x,))
    optimized = program.optimized()
    if calls is None:
        assert "batch_norm_forward" in primitives(optimized)
    else:
        assert len(optimized.calls) == calls, str(optimized)
        assert "batch_norm_forward" not in primitives(optimized)
    with ocl.no_grad():
        truth = net.double()(x.double()).numpy()
    scale = np.abs(truth).max()
    before, after = (
        np.abs(run(p, (x,))[0].double().numpy() - truth).max() / scale for p in (program, optimized)
    )
    assert after <= max(4 * before, 4 * {8: 2**-53, 4: 2**-24, 2: 2**-11}[dtype.itemsize])


class Finished(nn.Module):
    """A convolution of those options, a norm, what is added to it, and an activation."""

    def __init__(self, activation, adds, channels, **options):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(**options), nn.BatchNorm2d(channels)
        self.activation, self.adds = activation, adds

    def forward(self, x):
        y = self.norm(self.conv(x))
        return self.activation(y + x if self.adds else y)


CONVOLUTIONS = {
    "pointwise": (dict(in_channels=24, out_channels=24, kernel_size=1), (2, 24, 11, 9)),
    "pointwise of many": (dict(in_channels=160, out_channels=160, kernel_size=1), (1, 160, 7, 7)),
    "few of many": (dict(in_channels=40, out_channels=40, kernel_size=1, bias=False), (1, 40, 35, 37)),
    "windows": (dict(in_channels=16, out_channels=16, kernel_size=3, padding=1), (2, 16, 13, 37)),
    "winograd": (dict(in_channels=64, out_channels=64, kernel_size=3, padding=1), (2, 64, 30, 31)),
    "depthwise": (dict(in_channels=9, out_channels=9, kernel_size=5, padding=2, groups=9), (2, 9, 14, 19)),
    "small planes": (dict(in_channels=9, out_channels=9, kernel_size=3, padding=1, groups=9), (3, 9, 3, 3)),
    "grouped": (dict(in_channels=8, out_channels=8, kernel_size=3, padding=1, groups=2), (2, 8, 9, 17)),
    "deep and narrow": (dict(in_channels=20, out_channels=20, kernel_size=5, padding=2), (1, 20, 6, 6)),
    "one pixel": (dict(in_channels=30, out_channels=30, kernel_size=1), (4, 30, 1, 1)),
    "strided": (dict(in_channels=6, out_channels=6, kernel_size=3, stride=2), (2, 6, 19, 21)),
}
ACTIVATIONS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "silu": F.silu,
    "hardswish": F.hardswish,
    "none": lambda y: y,
}


@pytest.mark.parametrize("dtype", [ocl.float32, ocl.float16, ocl.bfloat16, ocl.float64], ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_with_an_epilogue(name, activation, dtype):
    options, shape = CONVOLUTIONS[name]
    epsilon = {8: 2**-53, 4: 2**-24, 2: 2**-8 if dtype == ocl.bfloat16 else 2**-11}[dtype.itemsize]
    if dtype == ocl.float64:  # which the truth has too, whose roundings add up
        epsilon *= float(np.sqrt(options["in_channels"] * options["kernel_size"] ** 2))
    for adds in (False, True) if "stride" not in options else (False,):
        ocl.manual_seed(5)
        net = settled(Finished(ACTIVATIONS[activation], adds, shape[1], **options)).to(dtype)
        x = (2 * ocl.randn(*shape)).to(dtype)
        program = ocl.export(net, (x,))
        optimized = program.optimized()
        assert len(optimized.calls) == 1, str(optimized)
        runner = ocl.runtime.prepare(optimized)
        results = [runner(x) for _ in range(3)]  # made anew, kept, replayed
        assert all(bits(result) == bits(results[0]) for result in results)
        with ocl.no_grad():
            truth = net.double()(x.double()).numpy()
        scale = np.abs(truth).max()
        before, after = (
            np.abs(y.double().numpy() - truth).max() / scale for y in (run(program, (x,))[0], results[0])
        )
        assert after <= max(4 * before, 4 * epsilon)


@pytest.mark.parametrize("name", ["winograd", "pointwise", "depthwise"])
def test_epilogues_of_dynamic_programs(name):
    options, shape = CONVOLUTIONS[name]
    net = settled(Finished(F.silu, True, shape[1], **options))
    batch = ocl.export.Dim("batch", max=5)
    program = ocl.export(net, (ocl.randn(2, *shape[1:]),), dynamic_shapes={"x": {0: batch}}).optimized()
    assert primitives(program) == ["conv2d_epilogue_forward"]
    runner = ocl.runtime.prepare(program)
    for count in (1, 5, 2, 2, 2, 1):
        x = ocl.randn(count, *shape[1:])
        with ocl.no_grad():
            expected = net(x).numpy()
        np.testing.assert_allclose(runner(x).numpy(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["shared", "read twice", "into the addend", "into the input"])
def test_results_that_others_need_are_not_joined(name):
    conv = nn.Conv2d(4, 4, 3, padding=1)

    def work(x, other):
        y = conv(x)
        if name == "shared":
            return F.relu(y), y
        if name == "read twice":
            return F.relu(y + y), other
        if name == "into the addend":
            kept = other * 2
            return kept.add_(y).relu_(), other
        kept = x * 2
        return kept, conv(kept).relu_() + kept.mul_(3)

    inputs = (ocl.randn(2, 4, 6, 7), ocl.randn(2, 4, 6, 7))
    with ocl.no_grad():
        expected = work(*inputs)
        program = ocl.export(work, inputs).optimized()
    for result, truth in zip(run(program, inputs), expected, strict=True):
        np.testing.assert_allclose(result.numpy(), truth.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["winograd", "pointwise", "depthwise", "windows"])
def test_an_epilogue_of_numbers_that_are_not_finite(name):
    options, shape = CONVOLUTIONS[name]
    net = settled(Finished(F.relu, True, shape[1], **options))
    x = ocl.randn(*shape)
    x[0, 1, 2, 3], x[1, 3, 4, 5] = float("inf"), float("nan")
    optimized = ocl.export(net, (x,)).optimized()
    with ocl.no_grad():
        expected = net(x).numpy()
    np.testing.assert_allclose(run(optimized, (x,))[0].numpy(), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.skipif(
    not ocl.get_device_properties(ocl.get_default_device())["is_cpu"],
    reason="weights are packed on CPUs alone",
)
@pytest.mark.parametrize("name", ["windows", "winograd"])
def test_constant_weights_are_packed_once(name):
    options, shape = CONVOLUTIONS[name]
    net = settled(nn.Sequential(nn.Conv2d(**options)))
    x = ocl.randn(*shape)
    fixed = ocl.runtime.prepare(ocl.export(net, (x,)))
    weight = net[0].weight.detach()

    def given(x, weight):
        return F.conv2d(x, weight, net[0].bias.detach(), padding=1)

    free = ocl.runtime.prepare(ocl.export(given, (x, weight)))

    def packings(work):
        with ocl.profiler.profile() as profile:
            work()
        return sum(kernel in ("pack_weights", "winograd_filters") for _, kernel, _, _ in profile.launches())

    assert [packings(lambda: fixed(x)) for _ in range(4)] == [1, 0, 0, 0]
    assert [packings(lambda: free(x, weight)) for _ in range(4)] == [1, 1, 1, 1]
    assert bits(fixed(x)) == bits(free(x, weight))
    assert bits(free(x, 2 * weight)) != bits(free(x, weight))


def test_a_norm_without_weights():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, affine=False)).eval()
    net[1].running_mean.normal_()
    x = ocl.randn(2, 3, 6, 6)
    optimized = ocl.export(net, (x,)).optimized()
    assert primitives(optimized) == ["conv2d_forward"]
    with ocl.no_grad():
        np.testing.assert_allclose(run(optimized, (x,))[0].numpy(), net(x).numpy(), rtol=1e-5, atol=1e-5)


def test_training_is_left_alone():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).train()
    x = ocl.randn(2, 3, 6, 6)
    program = ocl.export(net, (x,))
    assert primitives(program.optimized()) == primitives(program)


def test_the_first_program_stays_as_it_was(tmp_path):
    net = settled(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)))
    program = ocl.export(net, (ocl.randn(2, 3, 6, 6),))
    text = str(program)
    program.optimized().save(tmp_path / "net.ocl")
    assert str(program) == text
    loaded = ocl.runtime.load(tmp_path / "net.ocl")
    x = ocl.randn(2, 3, 6, 6)
    assert bits(loaded(x)) == bits(run(program.optimized(), (x,))[0])


def test_optimized_twice_is_optimized_once():
    net = settled(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()))
    once = ocl.export(net, (ocl.randn(2, 3, 6, 6),)).optimized()
    assert str(once.optimized()) == str(once)


def test_dropout_is_not_constant():
    weight = ocl.randn(50, 50)

    def work(x):
        return x + F.dropout(weight, 0.5, training=True)

    x = ocl.zeros(50, 50)
    runner = ocl.runtime.prepare(ocl.export(work, (x,)).optimized())
    assert bits(runner(x)) != bits(runner(x))


CHAIN = "chain float32: tanh.forward(x0); mul.forward(r0, x0) -> r1"


@pytest.mark.parametrize(
    "chain",
    [
        "chain float32: tanh.forward(x0); mul.forward(r0, x0) -> r2",
        "chain float32: tanh.forward(x0); mul.forward(r1, x0) -> r1",
        "chain float32: tanh.forward(x0); mul.forward(r0) -> r1",
        "chain float32: tanh.forward(x9); mul.forward(r0, x0) -> r1",
        "chain float32: tanh.forward(x1); mul.forward(r0, x1) -> r1",
        "chain float32: tanh.forward(x0); mul.forward(r0, x0)",
        "chain float32: tanh.forward(x0); mul.forward(r0, x0) -> r1;",
        "chain float32: tanh.forward(x0); nothing.forward(r0, x0) -> r1",
        "chain float32: tanh.backward(x0); mul.forward(r0, x0) -> r1",
        "chain float32: gt.forward(x0, x0); mul.forward(r0, x0) -> r1",
        "chain float32: where.forward(x0, x0, x0) -> r0",
        "chain int32: neg.forward(x0); mul.forward(r0, x0) -> r1",
        "chain float99: tanh.forward(x0); mul.forward(r0, x0) -> r1",
        "chain float32: " + "; ".join(["tanh.forward(x0)"] * 17) + " -> r1",
        "chain float32: tanh.forward(x99999999999999999999) -> r0",
        "chain ",
        "chain",
    ],
)
def test_chains_of_files_are_checked(chain, tmp_path):
    program = ocl.export(lambda x: x.tanh() * x, (ocl.randn(3),))
    path = tmp_path / "chain.ocl"
    program.save(path)
    assert CHAIN in str(program)
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = data[8 : 8 + size].decode()
    assert CHAIN in header
    header = header.replace(CHAIN, chain).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data[8 + size :])
    with pytest.raises((ValueError, TypeError)):
        ocl.runtime.load(path)(ocl.randn(3))
