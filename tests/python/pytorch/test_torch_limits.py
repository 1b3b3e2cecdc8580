"""Operators with a bound, a margin or an epsilon, at all sorts of values of it: results, gradients and
refusals are the CPU's. And what PyTorch's own samples of bad arguments are for: each is refused."""

import itertools
import math

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

INF, NAN = math.inf, math.nan
VALUES = (-INF, -2.0, -1.0, -0.5, 0.0, 0.1, 0.3, 0.5, 0.55, 0.7, 0.95, 1.0, 2.0, 25.0, INF, NAN)
BOUNDS = (-INF, -2.0, -0.5, 0.0, 0.3, 0.5, 0.6, 0.9, 1.0, 2.0, INF)
ANY = (*BOUNDS, NAN)
POSITIVE = (0.3, 0.5, 1.0, 2.0, 20.0)


def row(x):
    """The finite ones."""
    return x[1:-2].reshape(1, 13)


def other(x, value=0.0):
    return torch.full_like(row(x.detach()), value)


CALLS = {
    "logit": (lambda x, a: torch.logit(x, a), ANY),
    "clamp": (lambda x, a, b: torch.clamp(x, a, b), ANY, ANY),
    "clamp by tensors": (
        lambda x, a, b: torch.clamp(x, torch.full_like(x, a), torch.full_like(x, b)),
        ANY,
        ANY,
    ),
    "clamp_min": (lambda x, a: x.clamp_min(a), ANY),
    "clamp_max": (lambda x, a: x.clamp_max(a), ANY),
    # Without NaN, whose gradient the CPU has as 0 or 1 by where in memory it lies.
    "hardtanh": (lambda x, a, b: F.hardtanh(x[:-1], a, b), BOUNDS, BOUNDS),
    "hardshrink": (lambda x, a: F.hardshrink(x[:-1], a), BOUNDS),
    "softshrink": (lambda x, a: F.softshrink(x[:-1], a), ANY),
    "threshold": (lambda x, a, b: F.threshold(x, a, b), ANY, (0.0, 3.0, NAN)),
    "leaky_relu": (lambda x, a: F.leaky_relu(x, a), ANY),
    "elu": (lambda x, a: F.elu(x, a), (-2.0, -0.5, 0.0, *POSITIVE)),
    "celu": (lambda x, a: F.celu(x, a), (-2.0, -0.5, 0.0, *POSITIVE)),
    "softplus": (lambda x, a, b: F.softplus(x, a, b), POSITIVE, POSITIVE),
    "rrelu": (lambda x, a, b: F.rrelu(x, a, b), ANY, ANY),
    "nan_to_num": (lambda x, a: torch.nan_to_num(x, a, 2 * a, -a), ANY),
    "round": (lambda x, a: torch.round(x, decimals=a), (-3, -1, 0, 2, 6)),
    "huber_loss": (lambda x, a: F.huber_loss(x, torch.zeros_like(x), delta=a), ANY),
    "smooth_l1_loss": (lambda x, a: F.smooth_l1_loss(x, torch.zeros_like(x), beta=a), ANY),
    "normalize": (lambda x, a: F.normalize(row(x), eps=a), ANY),
    "cosine_similarity": (lambda x, a: F.cosine_similarity(row(x), other(x, 2), eps=a), ANY),
    "pairwise_distance": (lambda x, a: F.pairwise_distance(row(x), other(x), eps=a), ANY),
    "layer_norm": (lambda x, a: F.layer_norm(row(x), (13,), eps=a), ANY),
    "rms_norm": (lambda x, a: F.rms_norm(row(x), (13,), eps=a), ANY),
    "group_norm": (lambda x, a: F.group_norm(row(x)[:, :12].reshape(1, 2, 6), 1, eps=a), ANY),
    "batch_norm": (
        lambda x, a, b: F.batch_norm(
            row(x).T, other(x)[0, :1], other(x, 1)[0, :1], training=True, eps=a, momentum=b
        ),
        ANY,
        (0.0, 0.1, 2.0),
    ),
    "poisson_nll_loss": (lambda x, a: F.poisson_nll_loss(row(x), other(x), False, eps=a), ANY),
    "margin_ranking_loss": (
        lambda x, a: F.margin_ranking_loss(row(x), other(x), other(x, 1), margin=a),
        ANY,
    ),
    "hinge_embedding_loss": (lambda x, a: F.hinge_embedding_loss(row(x), other(x, -1), margin=a), ANY),
    "triplet_margin_loss": (lambda x, a: F.triplet_margin_loss(row(x), other(x), other(x, 1), margin=a), ANY),
    "multi_margin_loss": (
        lambda x, a: F.multi_margin_loss(row(x), torch.tensor([3], device=x.device), margin=a),
        ANY,
    ),
    "cross_entropy": (
        lambda x, a: F.cross_entropy(row(x), torch.tensor([3], device=x.device), label_smoothing=a),
        ANY,
    ),
    "renorm": (lambda x, a: torch.renorm(row(x), 2, 0, a), ANY),
    "vector_norm": (lambda x, a: torch.linalg.vector_norm(row(x), a), ANY),
    "cdist": (lambda x, a: torch.cdist(row(x), other(x), a), ANY),
    "isclose": (lambda x, a, b: torch.isclose(x, torch.ones_like(x), a, b), ANY, ANY),
    "histc": (lambda x, a, b: torch.histc(row(x).detach(), 4, a, b), ANY, ANY),
    "quantile": (lambda x, a: torch.quantile(row(x), a), ANY),
    "arange": (lambda x, a, b: torch.arange(0, a, b, device=x.device), ANY, ANY),
    "std": (lambda x, a: torch.std(row(x), correction=a), (-1, 0, 0.5, 1, 13, 20)),
}


def outcome(call, device, arguments):
    """The result and the gradient, or None for a refusal."""
    x = torch.tensor(VALUES).to(device).requires_grad_()
    try:
        y = call(x, *arguments)
        if y.requires_grad:
            y.sum().backward()
        return y.detach().cpu(), None if x.grad is None else x.grad.cpu()
    except (RuntimeError, ValueError, TypeError):
        return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_unusual_bounds(name, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    call, *choices = CALLS[name]
    for arguments in itertools.product(*choices):
        expected, given = (outcome(call, device, arguments) for device in ("cpu", "ocl"))
        assert (given is None) == (expected is None), arguments
        for ours, theirs in zip(given or (), expected or (), strict=True):
            tell = lambda text, a=arguments: f"{a}: {text}"  # noqa: E731
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, equal_nan=True, msg=tell)


def outcomes_of_refusals(operator, device):
    """For each of PyTorch's own samples of bad arguments: whether it was refused."""
    refused = []
    for bad in operator.error_inputs(device):
        given = bad.sample_input
        try:
            result = operator(given.input, *given.args, **given.kwargs)
            for tensor in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(tensor, torch.Tensor):
                    tensor.cpu()  # what the device only sees is raised here
            refused.append(False)
        except Exception:  # of whatever kind: some samples stop in PyTorch's Python already
            refused.append(True)
    return refused


@pytest.mark.filterwarnings("ignore")
def test_pytorchs_own_samples_of_bad_arguments(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    samples = pytest.importorskip("torch.testing._internal.common_methods_invocations")
    compared = 0
    for op in samples.op_db:
        # Samples of more dimensions than ocl's tensors have, or taking the CPU for the only device without
        # CUDA.
        if op.error_inputs_func is None or op.name in ("median", "aminmax", "amax", "amin", "where"):
            continue
        theirs, ours = (outcomes_of_refusals(op, device) for device in ("cpu", "ocl:0"))
        if len(theirs) != len(ours):  # it has others for devices
            assert all(ours), op.full_name
            continue
        compared += len(ours)
        assert ours == theirs, op.full_name
    assert compared > 500
