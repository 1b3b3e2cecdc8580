"""Layers of which devices have operators of their own: recurrent ones, and attention that is not trained."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="NOT TESTED: PyTorch is not installed (docs/pytorch.md)")
nn = torch.nn

RECURRENT = {
    "lstm": lambda: nn.LSTM(4, 5),
    "lstm of two layers, both ways": lambda: nn.LSTM(4, 5, 2, bidirectional=True),
    "lstm that projects": lambda: nn.LSTM(4, 5, proj_size=3),
    "lstm without biases": lambda: nn.LSTM(4, 5, bias=False),
    "gru": lambda: nn.GRU(4, 5),
    "gru of two layers, both ways": lambda: nn.GRU(4, 5, 2, bidirectional=True),
    "gru without biases": lambda: nn.GRU(4, 5, bias=False),
}


def leaves(value):
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, tuple) else [value]


def assert_near(ours, truth):
    torch.testing.assert_close(ours.cpu().double(), truth, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", RECURRENT)
@pytest.mark.parametrize("packed", [False, True])
def test_recurrent_layers(name, packed):
    truth = RECURRENT[name]().double()
    ours = copy.deepcopy(truth).float().to("ocl:0")
    x = torch.randn(6, 3, 4, dtype=torch.float64, requires_grad=True)
    x_ours = x.detach().float().to("ocl:0").requires_grad_()

    def outputs(net, x):
        given = nn.utils.rnn.pack_padded_sequence(x, [6, 4, 1]) if packed else x
        y, state = net(given)
        return leaves((y.data if packed else y, state))

    for results in zip(outputs(truth, x), outputs(ours, x_ours), strict=True):
        assert_near(results[1].detach(), results[0].detach())
        results[0].square().sum().backward(retain_graph=True)
        results[1].square().sum().backward(retain_graph=True)
    assert_near(x_ours.grad, x.grad)
    for a, b in zip(truth.parameters(), ours.parameters(), strict=True):
        assert_near(b.grad, a.grad)


@pytest.mark.parametrize("make", [nn.LSTMCell, nn.GRUCell])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_recurrent_cells_of_16_bits(make, dtype):
    cell = make(4, 5).to(dtype)
    truth = copy.deepcopy(cell).double()
    x = torch.randn(3, 4, dtype=dtype)
    expected = leaves(truth(x.double()))
    for result, wanted in zip(leaves(cell.to("ocl:0")(x.to("ocl:0"))), expected, strict=True):
        assert result.dtype == dtype
        assert (result.cpu().double() - wanted).abs().max() < 4 * torch.finfo(dtype).eps


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("options", [{}, {"norm_first": True}, {"activation": "gelu"}])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_encoders_where_nothing_is_trained(padded, causal, options):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)
    net = nn.TransformerEncoder(layer, 2).eval()
    ours = copy.deepcopy(net).to("ocl:0")
    x = torch.randn(2, 4, 8)
    hidden = torch.tensor([[False, False, False, True], [False] * 4]) if padded else None
    mask = torch.ones(4, 4).bool().triu(1) if causal else None

    def on_device(t):
        return None if t is None else t.to("ocl:0")

    with torch.no_grad():
        expected = net.double()(x.double(), mask, hidden)
        result = ours(on_device(x), on_device(mask), on_device(hidden)).cpu()
    seen = torch.ones(2, 4).bool() if hidden is None else ~hidden
    assert_near(result[seen], expected[seen])


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("of_itself", [False, True])
def test_attention_where_nothing_is_trained(need_weights, average, of_itself):
    net = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    ours = copy.deepcopy(net).to("ocl:0")
    query, key = torch.randn(2, 4, 8), torch.randn(2, 5, 8)
    options = {"need_weights": need_weights, "average_attn_weights": average}

    def run(net, query, key):
        key = query if of_itself else key
        with torch.no_grad():
            return net(query, key, key, **options)

    expected = run(net.double(), query.double(), key.double())
    results = run(ours, query.to("ocl:0"), key.to("ocl:0"))
    assert_near(results[0], expected[0])
    assert (results[1] is None) == (expected[1] is None)
    if need_weights:
        assert_near(results[1], expected[1])


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints_drop_the_same_again(use_reentrant):
    x = torch.ones(64, device="ocl:0", requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(nn.functional.dropout, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert torch.equal(y.detach(), x.grad)


def test_memory_may_be_recorded_on_streams():
    x = torch.ones(3, device="ocl")
    x.record_stream(torch.ocl.current_stream())
    assert x.tolist() == [1, 1, 1]
