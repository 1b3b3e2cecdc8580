"""ocl.amp.GradScaler beside torch.amp.GradScaler on the CPU."""

import numpy as np
import pytest
import torch

import ocl

OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 0.05},
    "AdamW": {"lr": 0.05, "amsgrad": True},
    "RMSprop": {"lr": 0.01, "momentum": 0.5},
}


def pair(name, **options):
    """A layer, its optimizer and a scaler in both libraries, with the same numbers."""
    found = []
    rng = np.random.default_rng(0)
    weight, bias = rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal(3).astype(np.float32)
    for lib in (torch, ocl):
        layer = lib.nn.Linear(4, 3)
        with lib.no_grad():
            layer.weight.copy_(lib.tensor(weight))
            layer.bias.copy_(lib.tensor(bias))
        groups = [{"params": [layer.weight]}, {"params": [layer.bias], "lr": 0.01}]
        optimizer = getattr(lib.optim, name)(groups, **OPTIMIZERS[name])
        scaler = lib.amp.GradScaler("cpu" if lib is torch else "ocl", **options)
        found.append((lib, layer, optimizer, scaler))
    return found


def numbers(optimizer, layer):
    states = [optimizer.state[p] for p in (layer.weight, layer.bias)]
    flat = [
        {
            k: np.asarray(v.tolist() if hasattr(v, "tolist") else v)
            for k, v in sorted(s.items())
            if v is not None
        }
        for s in states
    ]
    return [layer.weight.tolist(), layer.bias.tolist(), flat]


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("where", ["weight", "bias"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_steps_with_an_infinity(name, where, bad):
    """In either group: the step is left out, weights and states stay, the scale is halved."""
    results = []
    for lib, layer, optimizer, scaler in pair(name, init_scale=1024.0, growth_interval=3):
        rng = np.random.default_rng(1)
        trace = []
        for step in range(9):
            optimizer.zero_grad()
            x = lib.tensor(rng.standard_normal((5, 4)).astype(np.float32))
            loss = layer(x).square().mean()
            scaler.scale(loss).backward()
            before = numbers(optimizer, layer)
            if step in (2, 3, 7):
                gradient = getattr(layer, where).grad
                gradient.view(-1)[1] = bad
            scaler.step(optimizer)
            scaler.update()
            if step in (2, 3, 7):
                for mine, then in zip(numbers(optimizer, layer)[:2], before[:2], strict=True):
                    assert mine == then
                for mine, then in zip(numbers(optimizer, layer)[2], before[2], strict=True):
                    assert mine.keys() == then.keys()
                    assert all(np.array_equal(mine[k], then[k]) for k in mine)
            trace.append(scaler.get_scale())
        results.append((trace, layer.weight.tolist(), layer.bias.tolist()))
    assert results[0][0] == results[1][0]
    for e, a in zip(results[0][1:], results[1][1:], strict=True):
        np.testing.assert_allclose(a, e, rtol=2e-5, atol=1e-6)


def test_gradients_are_unscaled_once_to_be_clipped():
    norms = []
    for lib, layer, optimizer, scaler in pair("SGD", init_scale=512.0):
        scaler.scale(layer(lib.ones(2, 4)).square().sum()).backward()
        scaler.unscale_(optimizer)
        norms.append(float(lib.nn.utils.clip_grad_norm_(layer.parameters(), 0.5)))
        with pytest.raises(RuntimeError, match="already been called on this optimizer"):
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        with pytest.raises(RuntimeError, match="already been called since"):
            scaler.step(optimizer)
        scaler.update()
    np.testing.assert_allclose(norms[1], norms[0], rtol=1e-5)


def test_scale_of_many():
    for _, _, _, scaler in pair("SGD", init_scale=4.0):
        lib = torch if isinstance(scaler, torch.amp.GradScaler) else ocl
        one, (two, three) = scaler.scale([lib.ones(2), (lib.ones(1), lib.ones(()))])
        assert one.tolist() == [4, 4] and two.tolist() == [4] and three.item() == 4
    assert ocl.amp.GradScaler(init_scale=2.0**17).scale(ocl.ones((), dtype=ocl.float16)).item() == 2.0**17


def test_several_optimizers():
    traces = []
    for lib, layer, first, scaler in pair("SGD", init_scale=8.0):
        second = lib.optim.Adam([layer.bias], lr=0.1)
        scaler.scale(layer(lib.ones(1, 4)).sum()).backward()
        layer.weight.grad[0, 0] = float("inf")
        before = layer.weight.tolist(), layer.bias.tolist()
        scaler.step(first)
        assert (layer.weight.tolist(), layer.bias.tolist()) == before
        scaler.step(second)
        assert layer.bias.tolist() != before[1]
        scaler.update()
        traces.append(scaler.get_scale())
    assert traces == [4.0, 4.0]


def test_state_dict():
    (_, _, _, theirs), (_, _, _, mine) = pair("SGD", init_scale=256.0, growth_interval=7)
    assert mine.state_dict() == theirs.state_dict()
    other = ocl.amp.GradScaler()
    other.load_state_dict(theirs.state_dict())
    assert other.state_dict() == mine.state_dict()
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})


def test_disabled():
    for lib, layer, optimizer, scaler in pair("SGD", enabled=False):
        loss = layer(lib.ones(1, 4)).sum()
        assert scaler.scale(loss) is loss and scaler.get_scale() == 1 and not scaler.is_enabled()
        loss.backward()
        before = layer.weight.tolist()
        scaler.step(optimizer)
        scaler.update()
        assert layer.weight.tolist() != before and scaler.state_dict() == {}


def test_errors():
    scaler = ocl.amp.GradScaler()
    layer = ocl.nn.Linear(2, 2)
    optimizer = ocl.optim.SGD(layer.parameters(), lr=0.1)
    with pytest.raises(RuntimeError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="No inf checks were recorded prior to update"):
        ocl.amp.GradScaler().update()
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: None)
    for options in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(ValueError, match="factor must be"):
            ocl.amp.GradScaler(**options)
    half = ocl.nn.Linear(2, 2).half()
    half(ocl.ones(1, 2, dtype=ocl.float16)).sum().backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        ocl.amp.GradScaler().step(ocl.optim.SGD(half.parameters(), lr=0.1))
    with pytest.raises(ValueError, match="iterable"):
        scaler.scale(3)


def test_gradients_of_other_layouts_and_dtypes():
    scaler = ocl.amp.GradScaler(init_scale=4.0)
    leaves = [
        ocl.ones(2, 3, requires_grad=True),
        ocl.ones(3, dtype=ocl.float64, requires_grad=True),
        ocl.ones(0, requires_grad=True),
        ocl.ones(4, dtype=ocl.bfloat16, requires_grad=True),
    ]
    optimizer = ocl.optim.SGD(leaves, lr=1.0)
    for leaf in leaves:
        leaf.grad = ocl.full(leaf.shape, 8.0, dtype=leaf.dtype)
    leaves[0].grad = ocl.full((4, 6), 8.0)[::2, 1::2]
    leaves[0].grad  # noqa: B018
    scaler.unscale_(optimizer)
    assert [leaf.grad.tolist() for leaf in leaves] == [[[2.0] * 3] * 2, [2.0] * 3, [], [2.0] * 4]
