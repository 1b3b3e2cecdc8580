"""ctc_loss and CTCLoss compared with PyTorch, forward and backward through log_softmax."""

import numpy as np
import pytest
import torch

import ocl


def run(lib, logits, targets, inputs, lengths, **options):
    """The losses and the gradient of the logits."""
    x = lib.tensor(logits).requires_grad_()
    log_probs = lib.nn.functional.log_softmax(x, -1)
    losses = lib.nn.functional.ctc_loss(log_probs, lib.tensor(targets), inputs, lengths, **options)
    losses.sum().backward()
    return losses.detach().numpy(), x.grad.numpy()


def compare(*arguments, **options):
    expected, got = (run(lib, *arguments, **options) for lib in (torch, ocl))
    for a, b in zip(expected, got, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_as_pytorch(seed, joined, reduction):
    """Repeated labels, empty targets, and targets that are too long for their inputs."""
    rng = np.random.default_rng(seed)
    steps, batch, classes = (int(n) for n in rng.integers([1, 1, 2], [9, 5, 6]))
    blank = int(rng.integers(classes))
    lengths = [int(n) for n in rng.integers(0, 5, batch)]
    inputs = [int(n) for n in rng.integers(1, steps + 1, batch)]
    targets = rng.choice([c for c in range(classes) if c != blank], (batch, max(lengths) + 1))
    if joined:
        targets = np.concatenate([row[:n] for row, n in zip(targets, lengths, strict=True)])
    logits = rng.normal(0, 2, (steps, batch, classes)).astype(np.float32)
    options = {"blank": blank, "reduction": reduction, "zero_infinity": True}
    compare(logits, targets, inputs, lengths, **options)


def test_one_sequence_without_a_batch():
    logits = np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32)
    for reduction in ("none", "mean"):
        compare(logits, np.array([1, 1, 3]), (6,), (3,), reduction=reduction)


def test_infinite_losses():
    """Two equal labels need a blank between them, so that two steps do not suffice."""
    for lib in (torch, ocl):
        log_probs = lib.nn.functional.log_softmax(lib.zeros(2, 1, 3), -1)
        of = lib.nn.functional.ctc_loss
        assert of(log_probs, lib.tensor([[1, 1]]), (2,), (2,)).item() == float("inf")
        assert of(log_probs, lib.tensor([[1, 1]]), (2,), (2,), zero_infinity=True).item() == 0.0


def test_padding_is_not_read():
    logits = np.random.default_rng(2).normal(size=(5, 2, 4)).astype(np.float32)
    compare(logits, np.array([[1, 2, 0], [3, 0, 0]]), (5, 4), (2, 1), reduction="none")
    padded, zeros = (
        run(ocl, logits, np.array([[1, 2, n], [3, n, n]]), (5, 4), (2, 1), reduction="none")[0]
        for n in (-1, 0)
    )
    np.testing.assert_array_equal(padded, zeros)


def test_module_takes_tensors_of_lengths():
    logits = np.random.default_rng(3).normal(size=(5, 2, 4)).astype(np.float32)
    results = []
    for lib in (torch, ocl):
        log_probs = lib.nn.functional.log_softmax(lib.tensor(logits), -1)
        loss = lib.nn.CTCLoss(blank=3, reduction="sum")
        targets, inputs, lengths = (lib.tensor(n) for n in ([[1, 2], [0, 1]], [5, 4], [2, 1]))
        results.append(loss(log_probs, targets, inputs, lengths).item())
    assert results[1] == pytest.approx(results[0], rel=1e-5)


def test_finite_differences():
    x = ocl.tensor(np.random.default_rng(4).normal(size=(4, 2, 3)), dtype=ocl.float64).requires_grad_()
    targets = ocl.tensor([[1, 1], [2, 1]])

    def loss(x):
        return ocl.nn.functional.ctc_loss(ocl.log_softmax(x, -1), targets, (4, 3), (2, 1))

    assert ocl.autograd.gradcheck(loss, (x,))
    assert ocl.autograd.gradgradcheck(loss, (x,), fast_mode=True)


@pytest.mark.parametrize(
    ("shape", "targets", "inputs", "lengths", "options"),
    [
        ((4, 2, 3), [[1], [2]], (4,), (1, 1), {}),
        ((4, 2, 3), [[1], [2]], (4, 5), (1, 1), {}),
        ((4, 2, 3), [[1], [2]], (4, 4), (1, 2), {}),
        ((4, 2, 3), [[1], [2]], (4, 4), (1, 1), {"blank": 3}),
        ((4, 2, 3), [1, 2, 1], (4, 4), (1, 1), {}),
        ((4, 2, 3), [[1], [2]], (4, 4), (1, 1), {"reduction": "all"}),
        ((4,), [1], (4,), (1,), {}),
    ],
)
def test_errors(shape, targets, inputs, lengths, options):
    with pytest.raises(ValueError):
        ocl.nn.functional.ctc_loss(ocl.zeros(*shape), ocl.tensor(targets), inputs, lengths, **options)
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        torch.nn.functional.ctc_loss(torch.zeros(*shape), torch.tensor(targets), inputs, lengths, **options)
