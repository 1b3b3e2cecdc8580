"""Calls that PyTorch refuses, and numbers at the ends of a dtype: the errors are of the CPU's kind."""

import operator

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

TENSORS = {
    torch.bool: torch.tensor([True, False, True]),
    torch.uint8: torch.tensor([5, 1, 200], dtype=torch.uint8),
    torch.int32: torch.tensor([5, 1, -200], dtype=torch.int32),
    torch.int64: torch.tensor([5, 1, -200]),
}

FUNCTIONS = {
    **{name: getattr(torch, name) for name in ("abs", "ceil", "floor", "round", "trunc", "relu", "selu")},
    **{
        name: getattr(F, name)
        for name in ("elu", "hardsigmoid", "hardswish", "leaky_relu", "mish", "silu", "softplus")
    },
    **{
        name: getattr(F, name)
        for name in ("softshrink", "hardshrink", "tanhshrink", "softsign", "logsigmoid", "gelu")
    },
    **{name: getattr(F, name) for name in ("hardtanh", "relu6", "celu", "dropout")},
    **{
        f"{name} of two": (lambda x, name=name: getattr(F, name)(x, x)) for name in ("mse_loss", "huber_loss")
    },
    **{
        f"{name} of two": (lambda x, name=name: getattr(F, name)(x, x))
        for name in ("smooth_l1_loss", "l1_loss")
    },
    "bce_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, x),
    "prelu": lambda x: F.prelu(x, x[:1]),
    "threshold": lambda x: F.threshold(x, 1, 2),
    "lerp": lambda x: torch.lerp(x, x, 0.5),
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "addcdiv": lambda x: torch.addcdiv(x, x, x),
    "one minus": lambda x: 1 - x,
    "minus true": lambda x: x - True,
    "minus itself": lambda x: x - x,
    "median": torch.median,
    "kthvalue": lambda x: torch.kthvalue(x, 1).values,
}
NUMBERS = (-1, -2, 0, 1, 2, 255, 256, 300, 2**31, True, 2.5, float("inf"))
OPERATORS = {
    name: getattr(operator, name)
    for name in ("add", "mul", "lt", "le", "gt", "ge", "eq", "ne", "pow", "and_")
}
OPERATORS |= {
    "rsub": lambda x, number: number - x,
    "floordiv": lambda x, number: x // number,
    "mod": lambda x, number: x % number,
    "fmod": torch.fmod,
    "trunc": lambda x, number: torch.div(x, number, rounding_mode="trunc"),
    "square": lambda x, number: x.square(),
    "in place": lambda x, number: x.clone().pow_(number),
    "at most": lambda x, number: (
        x.clamp(max=number) if number == float("inf") or number in (1, 2, 2.5) else x
    ),
    "at least": lambda x, number: (
        x.clamp(min=number) if number == float("inf") or number in (1, 2, 2.5) else x
    ),
}


def outcome(function, *arguments):
    try:
        result = function(*arguments)
    except (RuntimeError, TypeError, ZeroDivisionError) as error:
        assert "does not build" not in str(error)
        return None if "ZeroDivision" in str(error) else "refused"
    return result.dtype, result.tolist() if result.dim() else result.item()


@pytest.mark.parametrize("dtype", TENSORS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_whole_numbers(name, dtype):
    theirs = outcome(FUNCTIONS[name], TENSORS[dtype])
    ours = outcome(FUNCTIONS[name], TENSORS[dtype].to("ocl"))
    if isinstance(theirs, tuple) and isinstance(ours, tuple):
        assert ours[0] == theirs[0]
        assert ours[1] == pytest.approx(theirs[1], nan_ok=True, rel=1e-5, abs=1e-6)
    else:
        assert ours == theirs


@pytest.mark.parametrize("dtype", TENSORS, ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_numbers_beside_whole_numbers(name, dtype):
    for number in NUMBERS:
        theirs = outcome(OPERATORS[name], TENSORS[dtype], number)
        if name in ("floordiv", "trunc", "mod", "fmod") and number is True:
            continue  # which CUDA takes
        ours = outcome(OPERATORS[name], TENSORS[dtype].to("ocl"), number)
        if isinstance(theirs, tuple) and theirs[0].is_floating_point:
            assert ours[0] == theirs[0], number
            assert ours[1] == pytest.approx(theirs[1], nan_ok=True), number
        else:
            assert ours == theirs, number


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_whole_numbers_over_zeros_in_a_tensor(name, dtype):
    a, zeros = (torch.tensor(values, dtype=dtype, device="ocl") for values in ([7, 8, 9], [1, 0, 2]))
    divide = getattr(torch, name)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divide(a, zeros).tolist()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divide(5, zeros).tolist() if name != "fmod" else a.fmod_(zeros).tolist()
    assert divide(a[:0], 0).tolist() == []
    assert divide(torch.tensor([7, 8], dtype=dtype, device="ocl"), zeros[::2]).tolist() in ([7, 4], [0, 0])
    torch.ocl.synchronize()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.5, 2.5])
def test_powers(exponent, dtype):
    values = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, float("inf"), -float("inf"), float("nan")]
    found = []
    for device in ("cpu", "ocl"):
        x = torch.tensor(values, dtype=dtype, device=device, requires_grad=True)
        y = x**exponent
        y.sum().backward()
        each = torch._foreach_pow([x.detach(), x.detach()[2:5]], exponent)
        found.append([t.detach().cpu() for t in (y, x.grad, *each, 1.5 ** x.detach())])
    for theirs, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_parts_that_overlap_are_not_copied():
    for device in ("cpu", "ocl"):
        x = torch.arange(8.0, device=device)
        with pytest.raises(RuntimeError, match="single memory location"):
            x[1:].copy_(x[:-1])
        with pytest.raises(RuntimeError, match="single memory location"):
            x[:1].expand(3).copy_(torch.ones(3, device=device))
        x[:4].copy_(x[4:])  # beside each other
        x.copy_(x)
        assert x.tolist() == [4, 5, 6, 7, 4, 5, 6, 7]


def test_devices_are_not_mixed_where_the_cpu_computes(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    a, b = torch.eye(3, device="ocl"), torch.ones(3, 1)
    for call in (torch.linalg.lstsq, torch.ormqr, lambda a, b: torch.linalg.householder_product(a, b[:, 0])):
        with pytest.raises(RuntimeError, match="same device"):
            call(a, b[:, 0], b) if call is torch.ormqr else call(a, b)
    assert torch.linalg.lstsq(a, b.to("ocl")).solution.tolist() == b.tolist()


def test_errors_name_the_operator_that_met_a_bad_index():
    x = torch.zeros(4, device="ocl")
    far = torch.tensor([9], device="ocl")
    for name, call in {
        "scatter": lambda: x.scatter(0, far, 1.0),
        "gather": lambda: x.gather(0, far),
        "index": lambda: x[far],
        "index_select": lambda: x.index_select(0, far),
    }.items():
        with pytest.raises(IndexError, match=rf"^{name}: index out of (bounds|range): 9"):
            (call() + 1).sum().item()
    torch.ocl.synchronize()


def test_numbers_that_stand_for_no_word():
    x = torch.rand(1, 1, 3, 3, device="ocl")
    grid = torch.rand(1, 3, 3, 2, device="ocl")
    for call in (
        lambda: torch._C._nn.mse_loss(x, x, 7),
        lambda: torch._C._nn.mse_loss(x, x, -1),
        lambda: torch.grid_sampler(x, grid, 9, 0, False),
        lambda: torch.grid_sampler(x, grid, 0, -3, False),
        lambda: torch.ops.aten._cdist_forward(x[0, 0], x[0, 0], 2.0, 5),
    ):
        with pytest.raises(RuntimeError, match="must be from 0 to 2, got"):
            call()
