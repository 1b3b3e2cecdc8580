"""Nested tensors on ocl devices, jagged and strided."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")

F = torch.nn.functional

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
LENGTHS = (3, 5, 1)


def jagged(parts, device):
    nested = torch.nested.nested_tensor(parts, layout=torch.jagged, device=device)
    return nested.detach().requires_grad_()


@pytest.mark.parametrize("options", [{}, {"scale": 0.3}], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_jagged_attention(options, dtype):
    """It is the attention of each sequence alone."""
    parts = [[torch.randn(n, 2, 4, dtype=dtype) for n in LENGTHS] for _ in range(3)]
    ours = [jagged(p, "ocl") for p in parts]
    made = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in ours), **options).transpose(1, 2)
    made.values().sin().sum().backward()

    leaves = [[p.clone().requires_grad_() for p in of] for of in parts]
    theirs = torch.cat(
        [
            F.scaled_dot_product_attention(*(t.transpose(0, 1) for t in of), **options).transpose(0, 1)
            for of in zip(*leaves, strict=True)
        ]
    )
    theirs.sin().sum().backward()
    torch.testing.assert_close(made.values().detach().cpu(), theirs.detach())
    for our, their in zip(ours, leaves, strict=True):
        torch.testing.assert_close(our.grad.values().cpu(), torch.cat([t.grad for t in their]))


OPERATORS = {
    "linear": lambda x: F.linear(x, torch.ones(3, 4, device=x.device) / 2),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "softmax": lambda x: torch.softmax(x, -1),
    "arithmetic": lambda x: x * x + 1,
    "gelu": F.gelu,
    "cat": lambda x: torch.cat([x, x], -1),
    "padded": lambda x: x.to_padded_tensor(-1.0),
    "unbind": lambda x: torch.cat(list(x.unbind())),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_jagged_operators(name, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")
    parts, results = [torch.randn(n, 4) for n in LENGTHS], []
    for device in ("cpu", "ocl"):
        x = jagged(parts, device)
        made = OPERATORS[name](x)
        made = made.values() if made.is_nested else made
        made.sin().sum().backward()
        results.append((made.detach().cpu(), x.grad.values().cpu()))
    torch.testing.assert_close(results[1], results[0])


def test_strided_nested_tensors():
    """Functions that PyTorch makes of other operators work; the rest is refused."""
    parts, results = [torch.randn(n, 4) for n in LENGTHS], []
    for device in ("cpu", "ocl"):
        x = torch.nested.nested_tensor(parts, device=device, requires_grad=True)
        y = torch.matmul(x, x.transpose(1, 2)).softmax(-1)
        y.to_padded_tensor(0.0).sin().sum().backward()
        results.append([y.to_padded_tensor(0.0).detach().cpu(), x.grad.to_padded_tensor(0.0).cpu()])
    torch.testing.assert_close(results[1], results[0])
    with pytest.raises(NotImplementedError, match="layout=torch.jagged"):
        F.layer_norm(torch.nested.nested_tensor(parts, device="ocl"), (4,))
