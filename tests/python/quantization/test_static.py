"""quantize_static: which calls become int8, what their results are worth, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import ocl
from ocl import models, nn
from ocl.datasets import MNIST
from ocl.nn import functional as F
from ocl.quantization import Int8StaticActivationInt8WeightConfig, Int8WeightOnlyConfig, quantize_static

DIGITS = Path(__file__).parents[3].parent / "shared" / "data" / "mnist"


class Small(nn.Module):
    """Everything that becomes int8, and a softmax, which does not."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.depthwise = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.ReLU6())
        self.side = nn.Conv2d(8, 8, 1)
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 2)
        deep = self.depthwise(x)
        total = F.relu(self.side(x) + deep)
        joined = ocl.cat([total, deep, x + deep], 1)
        return F.softmax(self.head(F.adaptive_avg_pool2d(joined, 1).flatten(1)), 1)


def small_program():
    ocl.manual_seed(3)
    net, x = Small().eval(), ocl.randn(4, 3, 12, 10)
    return ocl.export(net, (x,)), x


def primitives(program):
    return [primitive for primitive, _, _ in program.calls]


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_no_convolution_of_a_net_stays_float(name):
    """Residual blocks add and activate behind their norms."""
    net, x = getattr(models, name)(num_classes=10).eval(), ocl.randn(1, 3, 32, 32)
    called = primitives(quantize_static(ocl.export(net, (x,)), [x]))
    assert not any(call.startswith(("conv2d", "pointwise", "linear")) for call in called), called


def test_an_optimized_program_gives_the_same():
    """Convolutions have taken their epilogues by then, and chains are one call each."""
    program, x = small_program()
    optimized = program.optimized()
    assert "conv2d_epilogue_forward" in primitives(optimized)
    runs = [ocl.runtime.prepare(quantize_static(p, [x]))(x) for p in (program, optimized)]
    assert runs[0].tolist() == runs[1].tolist()
    assert sorted(primitives(quantize_static(optimized, [x]))) == sorted(
        primitives(quantize_static(program, [x]))
    )


def test_calls_of_int8():
    program, x = small_program()
    quantized = quantize_static(program, [x])
    called = primitives(quantized)
    assert called[0] == "int8_quantize" and called.count("int8_quantize") == 1
    assert called.count("int8_dequantize") == 1 and called[-1] == "softmax_forward"
    assert called.count("int8_conv2d") == 3 and called.count("int8_linear") == 1
    assert (
        called.count("int8_max_pool2d")
        == called.count("int8_adaptive_avg_pool2d")
        == called.count("cat")
        == 1
    )
    assert not any(
        name in called for name in ("conv2d_forward", "pointwise", "batch_norm_forward", "max_pool2d_forward")
    )
    # The sum behind `side` and its ReLU are parts of the convolution's call; the other sum is one of its own.
    assert "addend=%" in str(quantized)


def test_results_are_near():
    program, x = small_program()
    expected = ocl.runtime.prepare(program)(x).numpy()
    got = ocl.runtime.prepare(quantize_static(program, [x[:2].clone().repeat(2, 1, 1, 1), x]))(x).numpy()
    assert np.abs(got - expected).max() < 0.01


def test_every_batch_counts():
    """The greatest numbers are in one batch only, wherever it stands."""
    program, x = small_program()
    small, large = x * 0.01, x
    texts = {str(quantize_static(program, batches)) for batches in ([small, large], [large, small], [large])}
    assert len(texts) == 1
    assert str(quantize_static(program, [small])) not in texts


def test_files_keep_the_bits(tmp_path):
    program, x = small_program()
    quantized = quantize_static(program, [(x,)], Int8StaticActivationInt8WeightConfig())
    quantized.save(tmp_path / "net.ocl")
    program.optimized().save(tmp_path / "float.ocl")
    loaded = ocl.runtime.load(tmp_path / "net.ocl", "ocl:0")
    np.testing.assert_array_equal(loaded(x).numpy(), ocl.runtime.prepare(quantized)(x).numpy())


def test_what_others_read_stays_float32():
    """An activation that is a result, or that another call reads, comes in float32 too."""
    ocl.manual_seed(0)
    net, x = nn.Linear(6, 6).eval(), ocl.randn(3, 6)

    def work(x):
        y = net(x)
        return y, net(y.sin())

    program = ocl.export(work, (x,))
    quantized = quantize_static(program, [x])
    assert primitives(quantized).count("int8_dequantize") == primitives(quantized).count("int8_quantize") == 2
    for got, expected in zip(ocl.runtime.prepare(quantized)(x), work(x), strict=True):
        assert (got - expected).abs().max().item() < 0.05


def test_linear_layers_of_sequences():
    ocl.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 4)).eval(), ocl.randn(2, 5, 16)
    quantized = quantize_static(ocl.export(net, (x,)), [x])
    assert primitives(quantized) == ["int8_quantize", "int8_linear", "int8_linear", "int8_dequantize"]
    assert (ocl.runtime.prepare(quantized)(x) - net(x)).abs().max().item() < 0.05


def test_numbers_that_are_all_zero():
    net, x = nn.Linear(4, 3).eval(), ocl.zeros(2, 4)
    with ocl.no_grad():
        net.weight.zero_()
        net.bias.zero_()
    assert (
        ocl.runtime.prepare(quantize_static(ocl.export(net, (x,)), [x]))(x).numpy().tolist()
        == [[0.0] * 3] * 2
    )


class TestErrors:
    def test_no_data(self):
        with pytest.raises(ValueError, match="calibration saw no data for the input x"):
            quantize_static(small_program()[0], [])

    @pytest.mark.parametrize("number", [float("nan"), float("inf")])
    def test_ranges_that_are_not_finite(self, number):
        program, x = small_program()
        bad = x.clone()
        bad[0, 0, 0, 0] = number
        for batches in ([bad], [bad, x], [x, bad]):
            with pytest.raises(ValueError, match="finite ones expected"):
                quantize_static(program, batches)

    def test_nothing_to_quantise(self):
        x = ocl.zeros(3)
        with pytest.raises(ValueError, match="no call that could be one of int8"):
            quantize_static(ocl.export(lambda x: x.sin(), (x,)), [x])

    def test_dynamic_programs(self):
        batch = ocl.export.Dim("batch", max=4)
        net, x = nn.Linear(4, 3).eval(), ocl.zeros(2, 4)
        program = ocl.export(net, (x,), dynamic_shapes={"input": {0: batch}})
        with pytest.raises(ValueError, match="expected a program of given shapes, got one of dynamic batch"):
            quantize_static(program, [x])

    def test_other_classes(self):
        program, x = small_program()
        with pytest.raises(TypeError, match="expected an ExportedProgram, got Linear"):
            quantize_static(nn.Linear(2, 2), [x])
        with pytest.raises(TypeError, match="as config, got Int8WeightOnlyConfig"):
            quantize_static(program, [x], Int8WeightOnlyConfig())


@pytest.mark.slow
@pytest.mark.skipif(not DIGITS.is_dir(), reason=f"no MNIST files in {DIGITS}, accuracy unchecked")
@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2"])
def test_accuracy_on_mnist(name):
    """int8 loses at most one point of 100 after 8,000 images of training; 400 others calibrate it."""
    ocl.manual_seed(0)
    images, targets = MNIST(DIGITS, download=False).arrays()
    test_images, test_targets = MNIST(DIGITS, train=False, download=False).arrays()
    net = getattr(models, name)(num_classes=10)
    # MNIST is gray, and small: one channel, and no halving at the net's door.
    first = net.conv1 if name == "resnet18" else net.features[0][0]
    narrow = nn.Conv2d(1, first.out_channels, 3, stride=1, padding=1, bias=False)
    if name == "resnet18":
        net.conv1 = narrow
    else:
        net.features[0][0] = narrow
    optimizer = ocl.optim.AdamW(net.parameters(), lr=2e-3)
    batch = 64
    for start in range(0, 8000, batch):
        optimizer.zero_grad()
        loss = F.cross_entropy(
            net(ocl.tensor(images[start : start + batch])), ocl.tensor(targets[start : start + batch])
        )
        loss.backward()
        optimizer.step()
    net.eval()

    size = 100
    count = len(test_targets) // size * size
    program = ocl.export(net, (ocl.zeros(size, 1, 28, 28),))
    seen = [ocl.tensor(images[at : at + size]) for at in range(8000, 8400, size)]
    quantized = quantize_static(program, seen)

    def accuracy(of):
        run = ocl.runtime.prepare(of)
        right = 0
        for at in range(0, count, size):
            scores = run(ocl.tensor(test_images[at : at + size])).numpy()
            right += int((scores.argmax(1) == test_targets[at : at + size]).sum())
        return 100 * right / count

    exact, rounded = accuracy(program), accuracy(quantized)
    print(f"{name}: {exact:.2f} % in float32, {rounded:.2f} % in int8")
    assert exact > 90
    assert rounded >= exact - 1
