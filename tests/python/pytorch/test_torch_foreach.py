"""Functions of lists of tensors (torch._foreach_*): one launch for tensors of one kind, or PyTorch's loop."""

import functools

import pytest

torch = pytest.importorskip("torch")

SIZES = [(), (1,), (0,), (3, 5), (4096,), (4097,), (17, 1031), (2, 3, 4, 5)]


def foreach_schemas():
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::_foreach_") and not schema.overload_name.endswith("out"):
            found[f"{schema.name[6:]}.{schema.overload_name or 'default'}"] = schema
    found.pop("_foreach_mm.default", None)  # of PyTorch 2.13, of matrices: a loop over products
    return found


SCHEMAS = foreach_schemas()


def draw(schema, dtype, generator):
    """Arguments of a schema: tensors of one dtype, numbers that it can hold."""

    def tensor(size):
        drawn = torch.rand(size, generator=generator) * 0.8 + 0.1
        return (drawn if dtype.is_floating_point else drawn * 10).to(dtype)

    def number():
        return tensor(()).item() + 1

    arguments, options = [], {}
    for argument in schema.arguments:
        kind = str(argument.type)
        if kind == "List[Tensor]":
            value = [tensor(size) for size in SIZES]
        elif argument.name == "scalars" and kind == "Tensor":
            value = torch.tensor([number() for _ in SIZES])
        elif kind == "Tensor":
            value = torch.tensor(number(), dtype=dtype)
        elif kind == "List[number]":
            value = [number() for _ in SIZES]
            value[3] = value[2] = value[0]
        elif kind == "number":
            value = number()
        else:
            continue
        if argument.kwarg_only:
            options[argument.name] = value
        else:
            arguments.append(value)
    return arguments, options


def to_device(value):
    if isinstance(value, torch.Tensor):
        return value if value.dim() else value.to("ocl")  # numbers for each tensor are the host's
    if isinstance(value, list):
        return [one.to("ocl") if isinstance(one, torch.Tensor) else one for one in value]
    return value


def op_of(name):
    base, overload = name.split(".")
    return getattr(getattr(torch.ops.aten, base), overload)


def assert_same(ours, theirs, **tolerance):
    for a, e in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.cpu(), e, **{"rtol": 1e-5, "atol": 1e-6, **tolerance}, equal_nan=True)


def run(name, arguments, options):
    results = op_of(name)(*arguments, **options)
    return arguments[0] if results is None else results


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64], ids=str)
@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_like_the_cpu(name, dtype, monkeypatch):
    arguments, options = draw(SCHEMAS[name], dtype, torch.Generator().manual_seed(len(name)))
    if name.startswith("_foreach_max."):  # of nothing there is no largest
        arguments = [[t for t in one if t.numel()] if isinstance(one, list) else one for one in arguments]
    ours = [to_device(one) for one in arguments], options
    try:
        theirs = run(name, arguments, options)
    except RuntimeError:
        assert dtype == torch.int64  # of which PyTorch has fewer functions
        return
    tolerance = {}
    if dtype == torch.float16:
        tolerance = {"rtol": 2e-3, "atol": 2e-3}
    elif dtype == torch.float64:
        tolerance = {"rtol": 1e-12, "atol": 1e-12}
    assert_same(run(name, *ours), theirs, **tolerance)


def kernels(call):
    """How many kernels it launches."""
    call()
    torch.ocl.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.PrivateUse1]) as profile:
        call()
        torch.ocl.synchronize()
    return sum(event.device_type == torch.autograd.DeviceType.PrivateUse1 for event in profile.events())


def lists(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [
        [torch.rand(SIZES[i % len(SIZES)], generator=generator).to("ocl") for i in range(30)]
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b, c: torch._foreach_add_(a, b, alpha=-0.5),
        lambda a, b, c: torch._foreach_mul_(a, 2.0),
        lambda a, b, c: torch._foreach_mul_(a, b[0]),
        lambda a, b, c: torch._foreach_addcdiv_(a, b, c, 0.1),
        lambda a, b, c: torch._foreach_addcmul_(a, b, c, [0.25] * 30),
        lambda a, b, c: torch._foreach_lerp_(a, b, 0.1),
        lambda a, b, c: torch._foreach_sqrt(a),
        lambda a, b, c: torch._foreach_zero_(a),
        lambda a, b, c: torch._foreach_copy_(a, b),
        lambda a, b, c: torch._foreach_clamp_max_(a, 0.5),
    ],
)
def test_one_launch(call):
    tensors = lists(3)
    assert kernels(lambda: call(*tensors)) == 1


@pytest.mark.parametrize("order", [2, 1, 0, 3.5, float("inf"), float("-inf"), -1])
def test_norms(order):
    generator = torch.Generator().manual_seed(2)
    shapes = [(3, 5), (4096,), (4097,), (1,), (), (70, 1031)]
    lists_of = {
        "one kind": [torch.randn(size, generator=generator) for size in shapes],
        "mixed": [torch.randn(3, generator=generator), torch.randn(4, generator=generator).double()],
        "special": [torch.tensor([1.0, float("nan")]), torch.tensor([float("inf"), 1]), torch.zeros(3)],
        "strided": [torch.randn(8, 6, generator=generator)[::2], torch.randn(4, 6, generator=generator).t()],
    }
    for name, tensors in lists_of.items():
        ours = torch._foreach_norm([t.to("ocl") for t in tensors], order)
        # With one thread PyTorch's float32 is 1e-5 off itself.
        truth = torch._foreach_norm([t.double() for t in tensors], order)
        assert_same(ours, [norm.to(t.dtype) for norm, t in zip(truth, tensors, strict=True)])
        assert name == "mixed" or kernels(functools.partial(torch._foreach_norm, ours, order)) == 2
    with_nothing = [torch.ones(3), torch.ones(0)]
    try:
        theirs = torch._foreach_norm(with_nothing, order)
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error)):
            torch._foreach_norm([t.to("ocl") for t in with_nothing], order)
    else:
        assert_same(torch._foreach_norm([t.to("ocl") for t in with_nothing], order), theirs)


def test_norms_are_tensors_of_their_own():
    a, b = torch._foreach_norm([torch.ones(4, device="ocl"), torch.ones(9, device="ocl")])
    a.zero_()
    assert (b._version, b.item(), b.storage_offset()) == (0, 3, 1) and b._base is None


def test_a_launch_for_each_number():
    (a,) = lists(1)
    assert kernels(lambda: torch._foreach_mul_(a, [1.0, 2.0, 1.0] * 10)) == 2


def layouts(base):
    """Equal numbers in many layouts."""
    whole = torch.zeros(2, *base.shape)
    gaps = torch.zeros(*base.shape, 2)
    on = [t.to("ocl") for t in (whole, gaps)]
    views = [on[0][1], on[1][..., 1], torch.empty_like(base.t().contiguous(), device="ocl").t()]
    for view in views:
        view.copy_(base)
    return [base.to("ocl"), *views]


def test_layouts():
    base, other = torch.rand(5, 7), torch.rand(5, 7)
    for k, mine in enumerate(layouts(base)):
        for theirs in layouts(other):
            mine.copy_(base)
            # Beside another tensor, so that the list is no shorter than what PyTorch loops over.
            pair = [mine, torch.ones(3, device="ocl")], [theirs, torch.ones(3, device="ocl")]
            assert_same(torch._foreach_sub(*pair), [base - other, torch.zeros(3)])
            torch._foreach_add_(*pair, alpha=2)
            assert_same([mine], [base + 2 * other])
            if k == 1:
                assert mine._base[0].count_nonzero().item() == 0


def test_broadcast_and_mixed():
    a = [torch.rand(3, 4, device="ocl"), torch.rand(4, device="ocl").double(), torch.ones(2, device="ocl")]
    b = [torch.rand(4, device="ocl"), torch.rand(4, device="ocl"), torch.ones((), device="ocl")]
    on_host = [t.cpu() for t in a], [t.cpu() for t in b]
    assert_same(torch._foreach_mul(a, b), torch._foreach_mul(*on_host))
    whole = [torch.arange(4, device="ocl"), torch.ones(2, device="ocl")]
    assert_same(torch._foreach_add(whole, 1.5), torch._foreach_add([t.cpu() for t in whole], 1.5))
    complex_number = torch._foreach_add([t.cpu() for t in b[:1]], 1.5j)
    assert complex_number[0].is_complex()


def test_tensors_that_share_memory_are_taken_in_order():
    for device in ("cpu", "ocl"):
        x, y = torch.arange(6.0, device=device), torch.ones(6, device=device)
        torch._foreach_add_([x, x], [y, y])
        torch._foreach_add_([x, y], [y, x])
        torch._foreach_mul_([x[:4], x[2:]], 2.0)
        torch._foreach_add_([x[1:], y[1:]], [x[:-1], y[:-1]] if device == "none" else [y[1:], y[1:]])
        if device == "cpu":
            expected = [x, y]
    assert_same([x, y], expected)


def test_errors():
    a, b = [torch.ones(3, device="ocl")], [torch.ones(4, device="ocl")]
    with pytest.raises(RuntimeError, match="broadcast"):
        torch._foreach_add_(a, b)
    with pytest.raises(RuntimeError, match="[Tt]ensor lists? must"):
        torch._foreach_add_(a, [])
    with pytest.raises(RuntimeError, match="alpha must not be a floating"):
        torch.add(torch.ones(3, dtype=torch.int64, device="ocl"), 1, alpha=0.5)
    whole = [torch.arange(5, device="ocl")] * 3
    assert torch.addcmul(*whole, value=0.5).tolist() == [0, 1, 2, 3, 4]  # as PyTorch: value is cut off
    leaf = [torch.ones(3, device="ocl", requires_grad=True)]
    with pytest.raises(RuntimeError, match="leaf"):
        torch._foreach_add_(leaf, 1.0)


def test_derivatives():
    x = [torch.rand(4, device="ocl", requires_grad=True), torch.rand(2, 2, device="ocl", requires_grad=True)]
    sum(t.sum() for t in torch._foreach_mul(torch._foreach_sqrt(x), 3.0)).backward()
    assert_same([t.grad for t in x], [1.5 / t.detach().cpu().sqrt() for t in x])


@pytest.mark.parametrize("foreach", [True, False])
@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adamax"])
def test_optimizers(name, foreach):
    nets = []
    for device in ("cpu", "ocl"):
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
        net = net.to(device)
        options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
        optimizer = getattr(torch.optim, name)(net.parameters(), 0.01, foreach=foreach, **options)
        for step in range(4):
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            x = torch.linspace(-1, 1, 24).reshape(6, 4).to(device)
            net(x).square().mean().backward()
            norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 0.05, foreach=foreach)
            optimizer.step()
        nets.append([*(p.detach() for p in net.parameters()), norm])
    assert_same(nets[1], nets[0], rtol=2e-4, atol=1e-5)
