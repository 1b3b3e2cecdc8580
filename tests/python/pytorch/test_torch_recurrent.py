"""Recurrent layers of PyTorch on ocl, which run on dlprim's, beside PyTorch's on the CPU."""

import copy
import itertools

import pytest

torch = pytest.importorskip("torch", reason="NOT TESTED: PyTorch is not installed (docs/pytorch.md)")
nn = torch.nn

DEVICE = "ocl"
KINDS = {
    "lstm": nn.LSTM,
    "gru": nn.GRU,
    "tanh": nn.RNN,
    "relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k),
}
OPTIONS = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"bias": False, "batch_first": True},
    {"num_layers": 3},
]


def pair(kind, *sizes, dtype=torch.float32, **options):
    torch.manual_seed(3)
    layer = KINDS[kind](*sizes, **options).to(dtype)
    return layer, copy.deepcopy(layer).to(DEVICE)


def flat(result):
    output, states = result
    return [output, *(states if isinstance(states, tuple) else (states,))]


def close(expected, actual, rtol=1e-5, atol=2e-6):
    torch.testing.assert_close(actual.cpu(), expected, rtol=rtol, atol=atol)


def loss_of(results):
    return sum((r.float() ** 2).sum() * (i + 1) for i, r in enumerate(results))


def check(theirs, mine, x, *states):
    """Results and all gradients."""
    leaves = [t.clone().requires_grad_() for t in (x, *states)]
    own = [t.detach().to(DEVICE).requires_grad_() for t in leaves]

    def run(layer, x, *states):
        given = () if not states else (tuple(states) if len(states) > 1 else states[0],)
        return flat(layer(x, *given))

    expected, actual = run(theirs, *leaves), run(mine, *own)
    for e, a in zip(expected, actual, strict=True):
        close(e, a)
    loss_of(expected).backward()
    loss_of(actual).backward()
    for e, a in zip([*leaves, *theirs.parameters()], [*own, *mine.parameters()], strict=True):
        close(e.grad, a.grad, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize(("kind", "options"), itertools.product(KINDS, OPTIONS))
def test_like_the_cpu(kind, options):
    theirs, mine = pair(kind, 5, 7, **options)
    check(theirs, mine, torch.randn(4, 3, 5))


@pytest.mark.parametrize("kind", KINDS)
def test_states_of_the_callers(kind):
    theirs, mine = pair(kind, 5, 7, num_layers=2)
    count = 2 if kind == "lstm" else 1
    check(theirs, mine, torch.randn(4, 3, 5), *(torch.randn(2, 3, 7) for _ in range(count)))


def test_projections():
    theirs, mine = pair("lstm", 5, 7, proj_size=3, num_layers=2, bidirectional=True)
    check(theirs, mine, torch.randn(4, 3, 5))


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_of_several_lengths(kind):
    theirs, mine = pair(kind, 5, 6, num_layers=2, bidirectional=True)
    sequences = [torch.randn(length, 5) for length in (6, 4, 4, 1)]
    results = []
    for layer, device in ((theirs, "cpu"), (mine, DEVICE)):
        given = [s.clone().to(device).requires_grad_() for s in sequences]
        output, states = layer(nn.utils.rnn.pack_sequence(given))
        padded, _ = nn.utils.rnn.pad_packed_sequence(output)
        found = flat((padded, states))
        loss_of(found).backward()
        results.append([*found, *(s.grad for s in given), *(p.grad for p in layer.parameters())])
    for e, a in zip(*results, strict=True):
        close(e.detach(), a.detach(), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives(kind):
    theirs, mine = pair(kind, 3, 4, dtype=torch.float64)
    x = torch.randn(3, 2, 3, dtype=torch.float64)
    results = []
    for layer, device in ((theirs, "cpu"), (mine, DEVICE)):
        leaves = [x.to(device).requires_grad_(), *layer.parameters()]
        first = torch.autograd.grad(loss_of(flat(layer(leaves[0]))), leaves, create_graph=True)
        results.append(torch.autograd.grad(sum((g**2).sum() for g in first), leaves))
    for e, a in zip(*results, strict=True):
        close(e, a, rtol=1e-4, atol=1e-4)  # the losses are summed in float32


def test_one_kernel_for_many_steps():
    """Whole layers run on dlprim's, and not cell by cell."""
    from torch.autograd import profiler

    _, mine = pair("lstm", 5, 7)
    x = torch.randn(20, 3, 5, device=DEVICE)
    mine(x)
    with profiler.profile(use_device="ocl") as profile:
        mine(x)
    assert not [e for e in profile.function_events if "_thnn_fused_lstm_cell" in e.name]


def test_dropout_between_layers():
    _, mine = pair("lstm", 5, 64, num_layers=2, dropout=0.5)
    x = torch.randn(6, 4, 5, device=DEVICE)
    torch.manual_seed(1)
    first = mine(x)[0]
    torch.manual_seed(1)
    assert torch.equal(mine(x)[0], first)
    assert not torch.equal(mine(x)[0], first)
    mine.eval()
    assert torch.equal(mine(x)[0], mine(x)[0])


def test_gradients_that_nobody_asks_for():
    _, mine = pair("gru", 5, 7)
    x = torch.randn(4, 3, 5, device=DEVICE)
    mine.weight_hh_l0.requires_grad_(False)
    mine(x)[1].sum().backward()
    assert mine.weight_hh_l0.grad is None and mine.weight_ih_l0.grad is not None
    with torch.no_grad():
        assert not mine(x)[0].requires_grad
    with torch.inference_mode():
        close(mine(x)[0].cpu(), mine(x)[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sixteen_bits(dtype):
    theirs, mine = pair("lstm", 5, 7)
    x = torch.randn(4, 3, 5)
    expected = theirs(x)[0]
    found = mine.to(dtype)(x.to(DEVICE, dtype))[0]
    assert found.dtype == dtype
    close(expected, found.float(), rtol=0.05, atol=0.03)
    with torch.autocast(DEVICE, dtype=dtype):
        assert mine.float()(x.to(DEVICE))[0].dtype == dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda layer, device: layer(torch.randn(4, 3, 6, device=device)),
        lambda layer, device: layer(torch.randn(4, 3, 5, device=device), torch.randn(1, 2, 7, device=device)),
        lambda layer, device: layer(torch.randn(0, 3, 5, device=device)),
        lambda layer, device: layer(torch.randn(4, 3, 5, device=device, dtype=torch.float64)),
    ],
)
def test_errors_are_pytorchs(call):
    theirs, mine = pair("gru", 5, 7)
    with pytest.raises(Exception) as expected:  # noqa: PT011  (whichever it is)
        call(theirs, "cpu")
    with pytest.raises(type(expected.value)):
        call(mine, DEVICE)


def test_a_weight_written_before_backward():
    _, mine = pair("tanh", 5, 7)
    loss = mine(torch.randn(4, 3, 5, device=DEVICE))[0].sum()
    with torch.no_grad():
        mine.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
