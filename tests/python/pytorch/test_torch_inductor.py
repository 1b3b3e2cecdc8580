"""torch.compile on ocl: kernels that Inductor's loops become, beside PyTorch's CPU and float64's truth."""

import math
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="NOT TESTED: PyTorch is not installed (docs/pytorch.md)")
F = torch.nn.functional

FLOATING = (torch.float32, torch.float16, torch.bfloat16)
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


@pytest.fixture(autouse=True)
def fresh_compiler():
    yield
    torch._dynamo.reset()


def leaves(result):
    return [t for t in torch.utils._pytree.tree_leaves(result) if isinstance(t, torch.Tensor)]


def on_device(inputs):
    return [t.to("ocl") if isinstance(t, torch.Tensor) else t for t in inputs]


def in_double(inputs):
    return [t.double() if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in inputs]


def assert_near(function, *inputs, names=None, factor=4, **options):
    """The compiled function on ocl is as near to float64 as PyTorch's CPU is, within a few roundings."""
    theirs, truth = leaves(function(*inputs)), leaves(function(*in_double(inputs)))
    ours = leaves(torch.compile(function, fullgraph=True, **options)(*on_device(inputs)))
    assert len(ours) == len(theirs)
    for i, (mine, other, exact) in enumerate(zip(ours, theirs, truth, strict=True)):
        label = names[i] if names else i
        assert (mine.device.type, mine.dtype, mine.shape) == ("ocl", other.dtype, other.shape), label
        mine = mine.cpu()
        if not mine.is_floating_point():
            assert torch.equal(mine, other), label
            continue
        exact = exact.double().to(mine.dtype).double()  # its rounding is no error
        assert torch.equal(mine.isnan(), exact.isnan()), (label, mine, exact)
        infinite = exact.isinf()
        assert torch.equal(mine[infinite].double(), exact[infinite]), label
        numbers = exact.isfinite() & other.isfinite()
        mine, other, exact = mine.double()[numbers], other.double()[numbers], exact[numbers]
        if numbers.any():
            eps = torch.finfo(theirs[i].dtype).eps
            allowed = factor * (other - exact).abs().max() + 4 * eps * exact.abs() + 1e-6 * eps
            worst = ((mine - exact).abs() - allowed).argmax()
            assert ((mine - exact).abs() <= allowed).all(), (label, mine[worst], other[worst], exact[worst])


UNARY = {
    name: getattr(torch, name)
    for name in """abs neg sign exp exp2 expm1 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    erf erfc sigmoid sqrt rsqrt reciprocal log log2 log10 log1p floor ceil round trunc frac square relu isnan
    isinf isfinite signbit logical_not nan_to_num digamma lgamma erfinv sinc""".split()
} | {
    name: getattr(F, name)
    for name in """gelu silu elu selu celu mish softplus logsigmoid hardswish hardtanh hardsigmoid leaky_relu
    relu6 softsign tanhshrink softshrink hardshrink""".split()
}
BINARY = {
    name: getattr(torch, name)
    for name in """add sub mul div maximum minimum fmax fmin atan2 hypot copysign fmod remainder floor_divide
    eq ne lt le gt ge logical_and logical_or logical_xor xlogy logaddexp nextafter pow""".split()
}


def applied(functions):
    return lambda *inputs: [function(*inputs) for function in functions.values()]


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_functions_of_one_tensor(dtype):
    x = (torch.randn(7, 61) * 2).to(dtype)
    assert_near(applied(UNARY), x, names=list(UNARY))


def test_functions_of_special_values():
    tiny = torch.finfo(torch.float32).tiny
    values = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, 1e30, -1e30, tiny, 0.5, -0.5, 88.5, -104.0]
    names = [
        n
        for n in UNARY
        if n not in ("digamma", "lgamma", "sin", "cos", "tan", "sinc", "nan_to_num", "softshrink")
    ]
    assert_near(applied({n: UNARY[n] for n in names}), torch.tensor(values), names=names)
    a, b = (
        t.flatten().contiguous()
        for t in torch.meshgrid(torch.tensor(values), torch.tensor(values), indexing="ij")
    )
    names = [
        n for n in BINARY if n not in ("pow", "fmod", "remainder", "floor_divide", "nextafter", "logaddexp")
    ]
    assert_near(applied({n: BINARY[n] for n in names}), a, b, names=names)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_functions_of_two_tensors(dtype):
    a, b = (torch.randn(5, 1, 33) * 3).to(dtype), (torch.randn(4, 33) * 2).to(dtype)
    names = [
        n
        for n in BINARY
        if dtype == torch.float32 or n not in ("nextafter", "fmod", "remainder", "floor_divide")
    ]
    assert_near(applied({n: BINARY[n] for n in names}), a.abs() + 0.5, b, names=names)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_whole_numbers(dtype):
    low = 0 if dtype == torch.uint8 else -100
    a, b = torch.randint(low, 100, (3, 50), dtype=dtype), torch.randint(1, 9, (50,), dtype=dtype)
    names = ["add", "sub", "mul", "maximum", "minimum", "fmod", "remainder", "floor_divide", "eq", "lt", "ge"]
    functions = {n: BINARY[n] for n in names} | {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | ~b,
        "xor": lambda a, b: a ^ b,
        "left": lambda a, b: a << (b % 3),
        "right": lambda a, b: a >> (b % 3),
        "true division": lambda a, b: a / b,
        "where": lambda a, b: torch.where(a > b, a, b * 2),
        "abs": lambda a, b: a.abs(),
        "sign": lambda a, b: a.sign(),
        "power": lambda a, b: a**3,
    }
    assert_near(applied(functions), a, b, names=list(functions))
    reductions = {
        "sum": lambda a: a.sum(-1),
        "amax": lambda a: a.amax(0),
        "amin": lambda a: a.amin(-1),
        "prod": lambda a: (a % 3 + 1).prod(0),
        "argmax": lambda a: a.argmax(-1),
    }
    assert_near(applied(reductions), a, names=list(reductions))


def test_bool():
    a, b = torch.rand(9, 31) > 0.5, torch.rand(31) > 0.5
    assert_near(
        lambda a, b: (
            a & b,
            a | b,
            a ^ b,
            ~a,
            a.sum(0),
            a.any(-1),
            a.all(0),
            a.float() * 2,
            a == b,
            (a * b).int(),
        ),
        a,
        b,
    )


def test_float64():
    if not torch.ocl.get_device_properties().has_fp64:
        pytest.skip("NOT TESTED: the device has no float64")
    x = torch.randn(11, 40, dtype=torch.float64)
    ours = torch.compile(lambda x: (F.gelu(x), x.softmax(-1), x.var(0), x.amax(-1), x.argmin(0), x.sum()))(
        x.to("ocl")
    )
    theirs = (F.gelu(x), x.softmax(-1), x.var(0), x.amax(-1), x.argmin(0), x.sum())
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.cpu(), other, rtol=1e-12, atol=1e-13)


def test_conversions():
    x = torch.tensor([-3.7, -1.0, -0.2, 0.0, 0.4, 1.5, 2.5, 100.9])
    to = (torch.int64, torch.int32, torch.int16, torch.int8, torch.bool, torch.float16, torch.bfloat16)
    assert_near(lambda x: [x.to(d) for d in to], x)
    assert_near(lambda x: [x.to(torch.float16).view(torch.int16), x.to(torch.bfloat16).view(torch.int16)], x)
    assert_near(lambda i: [i.float(), i.half(), i.bfloat16(), i.bool()], torch.arange(-40, 40))


REDUCTIONS = {
    "sum": lambda x, d: x.sum(d),
    "mean": lambda x, d: x.mean(d, keepdim=True),
    "prod": lambda x, d: (x * 0.1 + 1).prod(d),
    "amax": lambda x, d: x.amax(d),
    "amin": lambda x, d: x.amin(d),
    "var": lambda x, d: x.var(d),
    "std": lambda x, d: x.std(d, correction=0),
    "norm": lambda x, d: x.norm(dim=d),
    "logsumexp": lambda x, d: x.logsumexp(d),
    "any": lambda x, d: (x > 2).any(d),
    "all": lambda x, d: (x > -2).all(d),
    "argmax": lambda x, d: x.argmax(d),
    "argmin": lambda x, d: x.argmin(d),
    "softmax": lambda x, d: x.softmax(d),
    "log_softmax": lambda x, d: x.log_softmax(d),
}


@pytest.mark.parametrize("dim", (0, 1, 2))
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_reductions(dtype, dim):
    x = torch.randn(13, 37, 66).to(dtype)
    functions = {name: lambda x, f=f: f(x, dim) for name, f in REDUCTIONS.items()}
    assert_near(applied(functions), x, names=list(functions), factor=6)


@pytest.mark.parametrize("shape", ((100_003,), (3, 20_001), (20_001, 3), (1, 1), (2, 3, 1025, 2)), ids=str)
def test_long_and_short_reductions(shape):
    x = torch.randn(shape) + 1
    functions = {
        "all of it": lambda x: (x.sum(), x.amax(), x.argmax(), x.mean()),
        "last": lambda x: (x.sum(-1), x.amin(-1), x.argmin(-1)),
        "first": lambda x: (x.sum(0), x.amax(0), (x * x).mean(0)),
    }
    assert_near(applied(functions), x)


def test_maxima_of_nan_and_equal_values():
    x = torch.tensor([[1.0, math.nan, 3, math.nan], [2, 2, 1, 2], [-math.inf] * 4, [-0.0, 0.0, -0.0, 0.0]])
    assert_near(lambda x: (x.amax(-1), x.amin(-1), x.argmax(-1), x.argmin(-1), x.amax(0), x.argmax(0)), x)


def test_indices_of_64_bits(monkeypatch):
    """Which tensors of more than 2^31 elements have."""
    from torch._inductor.codegen.simd import SIMDScheduling

    monkeypatch.setattr(SIMDScheduling, "can_use_32bit_indexing", staticmethod(lambda *args: False))
    x = torch.randn(7, 30, 20)
    with torch._inductor.config.patch(force_disable_caches=True):
        for dim in (0, 1, 2):
            functions = [lambda x, f=f, dim=dim: f(x, dim) for f in REDUCTIONS.values()]
            assert_near(
                lambda x, functions=functions: [f(x) for f in functions], x, names=list(REDUCTIONS), factor=6
            )
        assert_near(lambda x: x.permute(2, 0, 1).contiguous() + torch.arange(30, device=x.device), x)


def test_views_and_layouts():
    x = torch.randn(6, 10, 14)
    assert_near(lambda x: x.permute(2, 0, 1).contiguous() * 2 + 1, x)
    assert_near(lambda x: (x.transpose(0, 2) + torch.ones(10, 1)[:, :1].to(x)).sum(1), x)
    assert_near(lambda x: x[:, 1::3, 2:-2].sin() + x[1, 2, 3], x)
    assert_near(lambda x, y: torch.cat([x, y.flip(1) * 2], 2).relu(), x, torch.randn(6, 10, 3))
    assert_near(lambda x: (x.unfold(2, 4, 2).amax(-1), x.view(3, 2, 140).sum((0, 2))), x)
    strided = torch.randn(20, 33).t()[3:30:2]
    assert_near(lambda x: (x.exp(), x.sum(0), x.sum(1), x.softmax(0)), strided)
    assert_near(lambda x: x.expand(5, 7, 9) * 2, torch.randn(7, 1))
    assert_near(
        lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect") + F.pad(x, (1, 2, 3, 0)), torch.randn(2, 3, 9, 11)
    )


def test_indexing():
    table, places = torch.randn(20, 12), torch.randint(-20, 20, (5, 6))
    assert_near(lambda t, i: t[i] * 2 + t[i.clamp(0, 3)], table, places)
    assert_near(lambda t, i: t.gather(0, i.abs() % 20), table, torch.randint(0, 20, (20, 12)))
    assert_near(
        lambda t: (
            t[torch.arange(5, device=t.device) * 2]
            + t.index_select(0, torch.tensor([3] * 5, device=t.device))
        ),
        table,
    )
    assert_near(lambda t, m: torch.where(m, t, 0.5).masked_fill(t < -1, -1), table, torch.rand(20, 12) > 0.5)
    assert_near(
        lambda t, i, v: t.index_put((i,), v, accumulate=True) * 2,
        table,
        torch.randint(0, 20, (50,)),
        torch.randn(50, 12),
    )
    assert_near(
        lambda t, i, v: t.scatter_add(0, i, v).exp(),
        table,
        torch.randint(0, 20, (30, 12)),
        torch.randn(30, 12),
    )
    assert_near(lambda t, i: F.embedding(i % 20, t).mean(1), table, places)
    assert_near(lambda t: t.triu(2) + t.tril(-1) + torch.arange(12, device=t.device), table)
    assert_near(lambda t: F.one_hot(t.argmax(1), 12) * 3, table)


def test_sums_into_places_repeat_exactly():
    """No atomics: PyTorch's own backends give other last bits each time."""
    table, places = torch.randn(3, 40, device="ocl"), torch.randint(0, 3, (5000,), device="ocl")
    values = torch.randn(5000, 40, device="ocl")
    step = torch.compile(lambda t, i, v: t.index_put((i,), v.sin(), accumulate=True))
    first = step(table, places, values)
    assert all(torch.equal(first, step(table, places, values)) for _ in range(3))


def test_functions_without_a_kernel_stay_calls():
    x = torch.rand(50) * 3
    assert_near(lambda x: x.cumsum(0) * 2 + 1, x)
    assert_near(lambda x: x.sort().values - x.topk(50).values, x)


def launches_of(function, *inputs):
    """The kernels that a second call enqueues."""
    function(*inputs)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.PrivateUse1]) as profile:
        function(*inputs)
        torch.ocl.synchronize()
    return [
        event.name for event in profile.events() if event.device_type == torch.autograd.DeviceType.PrivateUse1
    ]


def test_a_chain_is_one_launch():
    x, s, b, y = (torch.randn(shape, device="ocl") for shape in ((40, 50), (50,), (50,), (40, 50)))
    names = launches_of(torch.compile(lambda x, s, b, y: F.gelu(x * s + b) * y), x, s, b, y)
    assert len(names) == 1 and "gelu" in names[0], names
    names = launches_of(torch.compile(lambda x, s, b: F.layer_norm(x + 1, (50,), s, b).softmax(-1)), x, s, b)
    assert len(names) == 1, names


def test_changing_sizes():
    compiled = torch.compile(lambda x, w: F.gelu(x * w).softmax(-1).sum(0) + x.shape[0], dynamic=True)
    for rows, columns in ((3, 5), (17, 130), (64, 33), (1000, 8), (2, 3000)):
        x, w = torch.randn(rows, columns), torch.randn(columns)
        truth = F.gelu(x.double() * w.double()).softmax(-1).sum(0) + rows
        mine = compiled(x.to("ocl"), w.to("ocl")).cpu()
        torch.testing.assert_close(mine.double(), truth, rtol=1e-5, atol=1e-5)


def test_numbers_as_arguments():
    compiled = torch.compile(lambda x, a: x * a + a, dynamic=True)
    x = torch.randn(30)
    for a in (2.5, -0.125, 3, 7):
        torch.testing.assert_close(compiled(x.to("ocl"), a).cpu(), x * a + a)


def test_changes_in_place():
    def change(x, y):
        x.mul_(2).add_(y)
        y[1:3] = x[0:2]
        return x.sum() + y.sum()

    x, y = torch.randn(6, 9), torch.randn(6, 9)
    mine = on_device([x, y])
    result = torch.compile(change)(*mine)
    expected = change(x, y)
    for a, b in ((result, expected), (mine[0], x), (mine[1], y)):
        torch.testing.assert_close(a.cpu(), b)


def test_random_numbers():
    @torch.compile
    def draw(x):
        return torch.rand_like(x), torch.randn_like(x), F.dropout(x, 0.25), torch.randint_like(x, 3, 9)

    x = torch.ones(400, 500, device="ocl")
    torch.manual_seed(5)
    first = [t.cpu() for t in draw(x)]
    second = [t.cpu() for t in draw(x)]
    torch.manual_seed(5)
    assert all(torch.equal(a, b.cpu()) for a, b in zip(first, draw(x), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    uniform, normal, dropped, whole = first
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 4 / math.sqrt(12 * 2e5) and abs(uniform.var() - 1 / 12) < 1e-3
    assert abs(normal.mean()) < 4 / math.sqrt(2e5) and abs(normal.var() - 1) < 0.02
    assert normal.abs().max() < 6 and abs(normal.pow(4).mean() - 3) < 0.1
    assert abs((dropped == 0).float().mean() - 0.25) < 0.005 and torch.allclose(
        dropped.max(), torch.tensor(4 / 3)
    )
    assert whole.min() == 3 and whole.max() == 8 and abs(whole.mean() - 5.5) < 0.02
    rows = uniform - uniform.mean()
    assert abs((rows[:, 1:] * rows[:, :-1]).mean() * 12) < 0.01  # neighbours do not depend on each other


def test_the_same_mask_in_backward():
    x = torch.ones(100, 100, device="ocl", requires_grad=True)
    y = torch.compile(lambda x: F.dropout(x * 2, 0.5))(x)
    y.sum().backward()
    assert torch.equal((y == 0).cpu(), (x.grad == 0).cpu())


def test_a_bad_index_is_an_error_where_the_host_waits():
    table = torch.randn(10, 4, device="ocl")
    lookup = torch.compile(lambda t, i: t[i] + 1)
    with pytest.raises(IndexError, match="index out of range in a kernel of torch.compile: 10"):
        lookup(table, torch.tensor([3, 10], device="ocl")).cpu()
    assert lookup(table, torch.tensor([3, -1], device="ocl")).cpu().shape == (2, 4)


def test_what_is_not_there_says_so():
    x = torch.randn(5, device="ocl")
    with pytest.raises(Exception, match="no C\\+\\+ wrapper"):
        torch.compile(lambda x: x.sin() + 1, options={"cpp_wrapper": True})(x)


def test_another_release_of_pytorch_says_what_to_use():
    """The interfaces of Inductor that are used here are private."""
    from torch_ocl.inductor import registration

    class Moved:
        DeviceCodegen = staticmethod(lambda scheduling, wrapper: (scheduling, wrapper))
        device_codegens = {}

    try:
        registration.register_backend(Moved)  # which has nothing else
        for refused in (Moved.device_codegens["ocl"][0], Moved.device_codegens["ocl"][1].create):
            with pytest.raises(RuntimeError, match='differs from that of PyTorch .*backend="aot_eager"'):
                refused(None)
    finally:
        registration._faults.clear()


def test_compiling_for_the_cpu_opens_no_device():
    program = """
import torch, torch_ocl
print(torch.compile(lambda x: x.sin() + 1)(torch.zeros(3)), torch_ocl._C.opened_devices())
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.strip() == "tensor([1., 1., 1.]) []", result.stderr


def test_two_devices_in_a_graph():
    x, y = torch.randn(5, 7), torch.randn(5, 7)
    mine = torch.compile(lambda x, y: ((x * 2).cpu() + y).to("ocl") - 1)(x.to("ocl"), y)
    torch.testing.assert_close(mine.cpu(), x * 2 + y - 1)


def test_modes():
    x = torch.randn(9, 40, device="ocl")
    expected = (x.cpu().sin() @ x.cpu().t()).softmax(-1)
    for mode in ("default", "reduce-overhead", "max-autotune"):
        mine = torch.compile(lambda x: (x.sin() @ x.t()).softmax(-1), mode=mode)(x)
        torch.testing.assert_close(mine.cpu(), expected)
        torch._dynamo.reset()


def test_source_kernel_refuses_what_it_cannot_launch():
    from torch_ocl import _C

    kernel = _C.SourceKernel("__kernel void f(__global float *x_buffer, const ulong x_start) {}", "f")
    with pytest.raises(ValueError, match="got none"):
        kernel.launch([], [], (1, 1, 1), (1, 1, 1))
    with pytest.raises(ValueError, match="positive sizes"):
        kernel.launch([torch.zeros(3, device="ocl")], [], (0, 1, 1), (1, 1, 1))
    with pytest.raises(RuntimeError, match="expected a tensor of an ocl device|expected a tensor"):
        kernel.launch([torch.zeros(3)], [], (1, 1, 1), (1, 1, 1))
    with pytest.raises(Exception, match="does not build"):
        _C.SourceKernel("__kernel void g( {", "g").launch(
            [torch.zeros(3, device="ocl")], [], (1, 1, 1), (1, 1, 1)
        )
