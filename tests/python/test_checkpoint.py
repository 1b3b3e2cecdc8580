"""ocl.utils.checkpoint: the same numbers, computed again instead of kept."""

import pytest
from support import expect_exact

import ocl
from ocl.utils.checkpoint import checkpoint, checkpoint_sequential


def net():
    ocl.manual_seed(1)
    nn = ocl.nn
    return nn.Sequential(
        nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2)
    )


def gradients(model, run, needs_grad):
    x = ocl.arange(12.0).reshape(3, 4) / 10
    x.requires_grad_(needs_grad)
    ocl.manual_seed(7)
    loss = run(model, x).square().sum()
    loss.backward()
    found = [loss.item(), *(p.grad.tolist() for p in model.parameters())]
    return [*found, x.grad.tolist()] if needs_grad else found


@pytest.mark.parametrize("needs_grad", [True, False])
@pytest.mark.parametrize(
    "run",
    [
        lambda model, x: checkpoint(model, x, use_reentrant=False),
        lambda model, x: checkpoint_sequential(model, 3, x),
        lambda model, x: checkpoint(lambda a, b=None: model(a) + b, x, b=0.0),
    ],
    ids=["whole", "sequential", "keywords"],
)
def test_the_same_gradients(run, needs_grad):
    plain = gradients(net(), lambda model, x: model(x), needs_grad)
    assert gradients(net(), run, needs_grad) == plain


def test_computes_twice_and_keeps_random_numbers_apart():
    calls = []

    def function(x):
        calls.append(ocl.is_grad_enabled())
        return ocl.nn.functional.dropout(x, 0.5)

    x = ocl.ones(50, requires_grad=True)
    y = checkpoint(function, x)
    before = ocl.get_rng_state()
    y.sum().backward()
    assert calls == [False, True]
    expect_exact(x.grad, y.tolist())
    assert (ocl.get_rng_state() == before).all()


def test_without_gradients_it_is_a_call():
    with ocl.no_grad():
        assert checkpoint(lambda x: x + 1, ocl.zeros(2)).tolist() == [1, 1]


def test_several_results_and_a_failure_that_gets_out():
    x = ocl.ones(3, requires_grad=True)
    a, b = checkpoint(lambda x: (x * 2, x * 3), x)
    (a + b).sum().backward()
    assert x.grad.tolist() == [5, 5, 5]

    def fails_later(x):
        if ocl.is_grad_enabled():
            raise RuntimeError("the second time")
        return x * 1

    with pytest.raises(RuntimeError, match="the second time"):
        checkpoint(fails_later, x).sum().backward()
