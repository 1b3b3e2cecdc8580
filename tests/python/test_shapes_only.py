"""Shapes without elements: what every operator gives under shapes_only is what it gives on a device, but for
the elements, and no device hears of it."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import ocl
from ocl import models, nn
from ocl.nn import functional as F  # noqa: N812

sys.path.insert(0, str(Path(__file__).parent / "ops"))

import cases  # noqa: E402
from comparison import Run, drawn  # noqa: E402

# Results that need elements: how many results there are, or a number for the host.
BY_ELEMENTS = set(
    "allclose equal masked_select nonzero remove_small_boxes nms batched_nms one_hot repeat_interleave "
    "unique unique_consecutive bincount histc masked_scatter quantile nanquantile "
    "lstm gru rnn_tanh rnn_relu".split()  # of packed rows, whose number a tensor says
)

# Cases of errors that only the device sees.
SEEN_BY_THE_DEVICE = (
    "out of range: ",
    "divided by zero",
    "invalid distribution",
    "probability tensor contains",
)


def commands():
    return ocl._C._commands(ocl.device("ocl:0"))


def facts(run):
    return [
        t if not isinstance(t, ocl.Tensor) else (tuple(t.shape), t.stride(), t.storage_offset(), t.dtype)
        for t in run.results + run.gradients
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(cases.CASES))
def test_like_the_device(name):
    for seed in range(8):
        case = drawn(name, seed)
        expected = facts(Run(ocl, case, "float32", backward=case.backward))
        before = commands()
        with ocl.shapes_only():
            try:
                shapes = facts(Run(ocl, case, "float32", backward=case.backward))
            except RuntimeError as error:
                assert "shapes only" in str(error)
                assert name in BY_ELEMENTS, f"{name}, seed {seed}: {error}"
                continue
        assert commands() == before
        assert shapes == expected, f"seed {seed}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(cases.ERRORS))
def test_errors_are_the_same(name):
    def error_of(call):
        try:
            call(ocl)
            ocl.synchronize()
        except Exception as error:
            return type(error), str(error)
        return None

    for i, call in enumerate(cases.ERRORS[name]()):
        expected = error_of(call)
        with ocl.shapes_only():
            given = error_of(call)
        by_elements = any(text in str(expected) for text in SEEN_BY_THE_DEVICE)
        if by_elements or "shapes only" in str(given):
            assert by_elements or name in BY_ELEMENTS, f"call {i}: {expected}"
            continue
        assert given == expected, f"call {i}"


NETS = {
    "resnet18": (models.resnet18, (2, 3, 64, 64)),
    "mobilenet_v3_small": (models.mobilenet_v3_small, (2, 3, 64, 64)),
    "vit_b_16": (models.vit_b_16, (1, 3, 224, 224)),
}


@pytest.mark.parametrize("name", NETS)
def test_a_net_trains(name):
    make, shape = NETS[name]
    before, memory = commands(), ocl.memory_allocated()
    with ocl.shapes_only():
        net = make()
        optimizer = ocl.optim.AdamW(net.parameters(), fused=True)
        for _ in range(2):
            optimizer.zero_grad()
            scores = net(ocl.randn(*shape))
            loss = F.cross_entropy(scores, ocl.randint(0, 1000, (shape[0],)))
            loss.backward()
            optimizer.step()
        assert scores.shape == (shape[0], 1000) and loss.shape == ()
        assert all(p.grad.shape == p.shape for p in net.parameters())
    assert commands() == before
    assert ocl.memory_allocated() == memory


def test_recurrent_and_half_precision():
    before = commands()
    with ocl.shapes_only():
        net = nn.LSTM(6, 5, 2, bidirectional=True, dropout=0.5)
        scaler = ocl.amp.GradScaler()
        with ocl.autocast("ocl", dtype=ocl.float16):
            output, (h, c) = net(ocl.randn(3, 4, 6))
        assert output.shape == (3, 4, 10) and output.dtype == ocl.float16
        assert h.shape == c.shape == (4, 4, 5)
        scaler.scale(output.float().sum()).backward()
        assert net.weight_hh_l0.grad.shape == (20, 5)
    assert commands() == before


def test_any_size():
    with ocl.shapes_only():
        product = ocl.empty(10**6, 10**6) @ ocl.empty(10**6, 10**5)
    assert product.shape == (10**6, 10**5)


def test_elements_are_refused_inside_and_later():
    real = ocl.tensor([1.0, 2.0])
    with ocl.shapes_only():
        shape = real * 2
        for ask in (shape.item, shape.tolist, shape.numpy, real.tolist, lambda: bool(real[0])):
            with pytest.raises(RuntimeError):
                ask()
        with pytest.raises(RuntimeError, match="shapes only"):
            str(shape)
    for ask in (shape.tolist, lambda: shape + 1, lambda: real.copy_(shape), shape.zero_):
        with pytest.raises(RuntimeError, match="shapes only"):
            ask()
    np.testing.assert_array_equal(real.numpy(), [1, 2])
    np.testing.assert_array_equal((real + 1).numpy(), [2, 3])


def test_what_is_outside_stays():
    ocl.manual_seed(3)
    expected = ocl.rand(5).numpy()
    ocl.manual_seed(3)
    real, layer = ocl.ones(3), nn.Linear(3, 2)
    ocl.manual_seed(3)
    weights = layer.weight.detach().numpy().copy()
    with ocl.shapes_only():
        real.add_(1)
        real[0] = 7
        ocl.rand(9)
        optimizer = ocl.optim.SGD(layer.parameters(), lr=1.0)
        layer(real).sum().backward()
        optimizer.step()
    np.testing.assert_array_equal(real.numpy(), 1)
    np.testing.assert_array_equal(layer.weight.detach().numpy(), weights)
    np.testing.assert_array_equal(ocl.rand(5).numpy(), expected)


def test_copies_for_autocast_are_not_kept():
    layer = nn.Linear(3, 2)
    with ocl.autocast("ocl"):
        with ocl.shapes_only():
            assert layer(ocl.ones(1, 3)).dtype == ocl.bfloat16
        assert layer(ocl.ones(1, 3)).float().isfinite().all()


def test_of_the_thread_that_enters():
    found = []
    with ocl.shapes_only(), ocl.shapes_only():
        other = threading.Thread(target=lambda: found.append((ocl.ones(3) + 1).tolist()))
        other.start()
        other.join()
    assert found == [[2, 2, 2]]
    assert (ocl.ones(2) + 1).tolist() == [2, 2]


@ocl.shapes_only()
def shape_of_sum(x):
    return x.sum(0)


def test_decorates():
    assert shape_of_sum(ocl.ones(3, 4)).shape == (4,)
    assert ocl.ones(3, 4).sum(0).tolist() == [3] * 4
