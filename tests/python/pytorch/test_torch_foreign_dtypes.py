"""Tensors of dtypes that there are no kernels for: they move on the device, and are computed on the CPU."""

import io
import warnings

import pytest

torch = pytest.importorskip("torch")

NUMBERS = [
    torch.complex64,
    torch.complex128,
    torch.complex32,
    torch.uint16,
    torch.uint32,
    torch.uint64,
]
FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
COMPLEX = [torch.complex64, torch.complex128]
COMPUTED = [*COMPLEX, torch.int8, torch.int16]  # the latter by kernels


def some(dtype, *shape):
    """Every bit pattern may stand there."""
    size = torch.empty(0, dtype=dtype).element_size()
    return torch.randint(0, 256, (*shape, size), dtype=torch.uint8).view(dtype).squeeze(-1)


def few(dtype, *shape):
    """Numbers that sums and products of few of them hold exactly."""
    parts = torch.randint(-3, 4, (2, *shape)).float()
    return (torch.complex(*parts) if dtype.is_complex else parts[0]).to(dtype)


def bits(tensor):
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    return tensor.unsqueeze(-1).view(torch.uint8)


def assert_same_bits(ours, theirs):
    assert ours.device.type == "ocl"
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert torch.equal(bits(ours), bits(theirs))


VIEWS = {
    "whole": lambda t: t,
    "turned": lambda t: t.permute(2, 0, 1),
    "gaps": lambda t: t[1:, ::2, 1::2],
    "offset": lambda t: t[2, 3:],
    "one": lambda t: t[1, 2, 3],
    "none": lambda t: t[:0],
    "spread": lambda t: t[:, :1].expand(3, 5, 4),
    "windows": lambda t: t.unfold(1, 3, 2),
    "flat": lambda t: t.reshape(-1)[7:],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", NUMBERS + FLOAT8)
def test_moving_keeps_every_bit(dtype, view):
    x, look = some(dtype, 3, 5, 4), VIEWS[view]
    there = x.to("ocl")
    assert_same_bits(there, x)
    assert_same_bits(look(there), look(x))
    assert_same_bits(look(there).clone(), look(x))
    assert_same_bits(look(x).to("ocl"), look(x))
    assert torch.equal(bits(look(there).contiguous()), bits(look(x).contiguous()))
    here = torch.empty_like(look(x))
    here.copy_(look(there))
    assert torch.equal(bits(here), bits(look(x)))


@pytest.mark.parametrize("dtype", NUMBERS + FLOAT8)
def test_views_share_memory(dtype):
    x = some(dtype, 4, 6)
    there, other = x.to("ocl"), some(dtype, 3, 2)
    there.t()[1::2, ::2] = other.to("ocl")
    x.t()[1::2, ::2] = other
    assert_same_bits(there, x)
    there[1].copy_(some(dtype, 6).zero_())
    x[1].copy_(x[1].clone().zero_())
    there[0, 2:4] = other[0]  # from the host
    x[0, 2:4] = other[0]
    assert_same_bits(there, x)


@pytest.mark.parametrize("dtype", NUMBERS + FLOAT8)
def test_filling(dtype):
    for make in (
        lambda device: torch.zeros(2, 3, dtype=dtype, device=device),
        lambda device: torch.ones(2, 3, dtype=dtype, device=device),
        lambda device: torch.full((3,), 5, dtype=dtype, device=device),
        lambda device: torch.zeros(4, 6, dtype=dtype, device=device)[1:, ::2].t().fill_(3),
        lambda device: torch.full((), 1, dtype=dtype, device=device),
        lambda device: torch.zeros(0, dtype=dtype, device=device).fill_(1),
    ):
        assert_same_bits(make("ocl"), make("cpu"))
    whole, there = torch.zeros(4, 6, dtype=dtype), torch.zeros(4, 6, dtype=dtype, device="ocl")
    for t in (whole, there):
        t[1:, ::2].fill_(7)
        t[2].zero_()
    assert_same_bits(there, whole)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16])
@pytest.mark.parametrize("value", [-1, -128, 127])
def test_filling_with_the_ends(dtype, value):
    assert_same_bits(torch.full((3,), value, dtype=dtype, device="ocl"), torch.full((3,), value, dtype=dtype))


@pytest.mark.parametrize("value", [2**64 - 1, 2**63, 1])
def test_filling_with_large_numbers(value):
    x = torch.full((3,), value, dtype=torch.uint64, device="ocl")
    assert x.tolist() == [value] * 3


@pytest.mark.parametrize("dtype", COMPLEX)
def test_filling_with_complex_numbers(dtype):
    for value in (1 + 2j, complex("nan"), -0.0, complex(0, float("-inf"))):
        x, y = (torch.zeros(2, 3, dtype=dtype, device=device) for device in ("ocl", "cpu"))
        assert_same_bits(x[:, 1:].fill_(value), y[:, 1:].fill_(value))
        assert_same_bits(x, y)
    assert torch.zeros(2, device="ocl").fill_(3 + 0j).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.zeros(2, device="ocl").fill_(3 + 1j)


@pytest.mark.parametrize("dtype", NUMBERS + FLOAT8)
def test_saved_ones_come_back(dtype):
    x, file = some(dtype, 3, 4), io.BytesIO()
    torch.save(x.to("ocl")[1:, ::2], file)
    for location in (None, "cpu"):
        file.seek(0)
        loaded = torch.load(file, map_location=location)
        assert loaded.device.type == (location or "ocl")
        assert torch.equal(bits(loaded), bits(x[1:, ::2]))


@pytest.mark.parametrize("source", COMPUTED + [torch.float32, torch.int64, torch.bool, torch.float8_e5m2])
@pytest.mark.parametrize("to", COMPUTED + [torch.float32, torch.int64, torch.bool, torch.float8_e5m2])
def test_conversions(source, to, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    x = few(source, 4, 6)
    there = x.to("ocl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of imaginary parts that are dropped
        assert_same_bits(there.to(to), x.to(to))
        out, ours = torch.zeros(6, 4, dtype=to), torch.zeros(6, 4, dtype=to, device="ocl")
        assert_same_bits(ours.t()[1:].copy_(there[:3]), out.t()[1:].copy_(x[:3]))
        assert_same_bits(ours, out)
        assert_same_bits(ours.copy_(x[0, :4]), out.copy_(x[0, :4]))
        assert torch.equal(bits(torch.zeros(4, 6, dtype=to).copy_(there)), bits(x.to(to)))


READ_OTHERWISE = {
    "conjugate": lambda t: t.conj(),
    "imaginary": lambda t: t.imag,
    "negative": lambda t: t.conj().imag,
    "both": lambda t: t.conj()._neg_view(),
    "real": lambda t: t.conj().real,
    "adjoint": lambda t: t.mH,
    "parts": lambda t: torch.view_as_real(t),
    "gaps": lambda t: t.conj()[1:, ::2],
}


def with_signs(dtype):
    """No zeros, whose signs PyTorch's CPU does not keep."""
    parts = torch.randint(1, 4, (2, 4, 4)) * (2 * torch.randint(0, 2, (2, 4, 4)) - 1.0)
    return (torch.complex(*parts) if dtype.is_complex else parts[0]).to(dtype)


@pytest.mark.parametrize("dtype", [*COMPLEX, torch.complex32])
@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_numbers_that_are_read_otherwise(name, dtype):
    if name == "both" and dtype == torch.complex32:
        pytest.skip("PyTorch's CPU has none to compare with")
    read, x = READ_OTHERWISE[name], with_signs(dtype)
    there = x.to("ocl")
    assert_same_bits(read(there), read(x))
    assert_same_bits(read(there).clone(), read(x))
    assert_same_bits(read(x).to("ocl"), read(x))
    here = torch.zeros_like(read(x))
    assert torch.equal(bits(here.copy_(read(there))), bits(read(x)))
    # And written to: from either kind, from the device and from the host.
    for other in (lambda t: t, lambda t: t.conj()):
        if name == "parts" and other(x).is_conj():
            continue  # PyTorch refuses
        for on in ("ocl", "cpu"):
            x, y = with_signs(dtype), with_signs(dtype)
            there, value = x.to("ocl"), y.to(on)
            read(there).copy_(read(other(value)))
            read(x).copy_(read(other(y)))
            assert_same_bits(there, x)


@pytest.mark.parametrize("dtype", [*COMPLEX, torch.complex32, torch.float32])
def test_conjugates_are_made_on_the_device(dtype):
    x = with_signs(dtype)
    there = x.to("ocl")
    for make in (
        lambda t: t.clone().conj_physical_(),
        lambda t: t.conj().conj_physical(),
        lambda t: t.conj_physical(),
        lambda t: t.t()[1:].conj_physical(),
        lambda t: torch.conj_physical(t, out=torch.zeros_like(t).t()),
    ):
        assert_same_bits(make(there), make(x) if dtype != torch.complex32 else half(make, x))


def half(make, x):
    return make(x.to(torch.complex64)).to(torch.complex32)


def test_a_number_on_the_host_is_written_conjugate():
    x, y = torch.tensor([1 + 2j, 3 - 4j]), torch.zeros(2, dtype=torch.complex64)
    x.to("ocl").conj()
    y.copy_(x.to("ocl").conj())
    assert y.tolist() == [1 - 2j, 3 + 4j]
    assert x.to("ocl").conj()[0].item() == 1 - 2j


OPERATORS = {
    "sum of two": lambda x, y: x + y,
    "with a number": lambda x, y: 2 * x + 1,
    "in place": lambda x, y: x.clone().mul_(y),
    "in place, gaps": lambda x, y: x.clone()[1:, ::2].sub_(y[1:, ::2]),
    "out": lambda x, y: torch.add(x, y, out=torch.empty_like(x).t().contiguous().t()),
    "out, empty": lambda x, y: torch.mul(x, y, out=x.new_empty(0)),
    "equal": lambda x, y: (x == y) | (x != x.t()),
    "all equal": lambda x, y: torch.tensor([torch.equal(x, x), torch.equal(x, y)], device=x.device),
    "sum": lambda x, y: x.sum(1),
    "sum of all": lambda x, y: x.sum(),
    "prod": lambda x, y: x[:, :2].prod(1),
    "any": lambda x, y: x.any(0),
    "nonzero": lambda x, y: x.nonzero(),
    "where": lambda x, y: torch.where(x == y, x, y),
    "masked": lambda x, y: x[x != y],
    "masked fill": lambda x, y: x.masked_fill(x == y, 1),
    "index": lambda x, y: x[[2, 0, 2]],
    "index put": lambda x, y: x.clone().index_put_((torch.tensor([1, 3], device=x.device),), y[:2]),
    "index select": lambda x, y: x.index_select(1, torch.tensor([3, 0, 3], device=x.device)),
    "gather": lambda x, y: x.gather(0, torch.tensor([[1, 0, 2, 3]], device=x.device)),
    "scatter": lambda x, y: x.scatter(0, torch.tensor([[1, 0, 2, 3]], device=x.device), y),
    "index add": lambda x, y: x.index_add(0, torch.tensor([1, 1], device=x.device), y[:2]),
    "cat": lambda x, y: torch.cat([x, y[:1], x[:0]]),
    "cat of two dtypes": lambda x, y: torch.cat([x, torch.ones(1, 4, dtype=torch.bool, device=x.device)]),
    "stack": lambda x, y: torch.stack([x, y], 1),
    "flip": lambda x, y: x.flip(0, 1),
    "roll": lambda x, y: x.roll((1, 2), (0, 1)),
    "repeat": lambda x, y: x.repeat(2, 1),
    "tril": lambda x, y: x.tril(),
    "mm": lambda x, y: x @ y,
    "neg": lambda x, y: -x,
    "square": lambda x, y: x.square(),
    "cumsum": lambda x, y: x.cumsum(0),
    "bool": lambda x, y: x.bool(),
    "with a float": lambda x, y: x + torch.ones(4, device=x.device),
    "with a 0-d of the host": lambda x, y: x * torch.tensor(3),
    "a complex number": lambda x, y: torch.ones(4, device=x.device) * 2j + x,
    "list": lambda x, y: torch.stack(torch._foreach_add([x, y], 1)),
    "kinds": lambda x, y: torch.ones(4, device=x.device).sum(dtype=x.dtype),
    "arange": lambda x, y: torch.arange(5, device=x.device, dtype=torch.int16),
}


@pytest.mark.parametrize("dtype", COMPUTED)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, dtype, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    x, y = few(dtype, 4, 4), few(dtype, 4, 4)
    expected = OPERATORS[name](x, y)
    actual = OPERATORS[name](x.to("ocl"), y.to("ocl"))
    assert actual.device.type == "ocl" and actual.dtype == expected.dtype
    torch.testing.assert_close(actual.cpu(), expected)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.int8, torch.uint32, torch.float8_e5m2])
def test_joining_moves_every_bit(dtype):
    x, y = some(dtype, 3, 4), some(dtype, 2, 4)
    a, b = x.to("ocl"), y.to("ocl")
    assert_same_bits(torch.cat([a, b, a[:0], a.new_empty(0)]), torch.cat([x, y, x[:0], x.new_empty(0)]))
    assert_same_bits(torch.stack([a[:2], b], -1), torch.stack([x[:2], y], -1))
    ours, theirs = (some(dtype, 4, 5).zero_().to(device) for device in ("ocl", "cpu"))
    torch.cat([a.t(), b.t()], 1, out=ours), torch.cat([x.t(), y.t()], 1, out=theirs)
    assert_same_bits(ours, theirs)
    torch.cat([a, b], out=ours.t()), torch.cat([x, y], out=theirs.t())
    assert_same_bits(ours, theirs)
    assert_same_bits(a.roll((1, -1), (0, 1)), torch.cat([x[2:], x[:2]])[:, [1, 2, 3, 0]])


def test_gradients_through_complex_numbers(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    theirs = torch.randn(6, requires_grad=True)
    ours = theirs.detach().to("ocl").requires_grad_()
    for x in (theirs, ours):
        (torch.fft.rfft(x) * (1 + 2j)).abs().square().sum().backward()
    torch.testing.assert_close(ours.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-4)


def test_one_warning_for_an_operator(monkeypatch):
    x = torch.ones(3, dtype=torch.complex64, device="ocl")
    with pytest.raises(NotImplementedError, match=r"aten::cumsum.* has no kernel"):
        x.cumsum(0)
    with pytest.raises(NotImplementedError, match=r"_copy_from has no kernel"):
        x.real.to(torch.float8_e5m2)
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "warn")
    with pytest.warns(UserWarning, match=r"aten::cumprod.* runs on the CPU"):
        x.cumprod(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.cumprod(0).tolist() == [1, 1, 1]


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize(
    "name",
    [
        "sum of two",
        "with a number",
        "in place",
        "equal",
        "where",
        "neg",
        "square",
        "a complex number",
        "bool",
    ],
)
def test_arithmetic_of_complex_numbers_on_the_device(name, dtype, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "error")
    x, y = few(dtype, 4, 4), few(dtype, 4, 4)
    torch.testing.assert_close(OPERATORS[name](x.to("ocl"), y.to("ocl")).cpu(), OPERATORS[name](x, y))
    for function in (torch.abs, torch.angle, torch.sgn, torch.exp):
        torch.testing.assert_close(function(x.to("ocl")).cpu(), function(x))


def test_what_runs_on_the_cpu_is_drawn_from_the_device_s_seed(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")

    def draw(seed, device="ocl"):
        generator = torch.Generator("ocl").manual_seed(seed + 1)
        torch.manual_seed(seed)
        rates = torch.full((50,), 4.0, device=device)
        return [
            torch.poisson(rates),
            torch.poisson(rates),
            torch.poisson(rates, generator=generator),
            torch.randint(0, 100, (50,), dtype=torch.int16, device=device),
            torch.randn(50, dtype=torch.complex64, device=device),
        ]

    one, again, other = draw(3), draw(3), draw(4)
    for a, b, c in zip(one, again, other, strict=True):
        assert torch.equal(a.cpu(), b.cpu())
        assert not torch.equal(a.cpu(), c.cpu())
    assert not torch.equal(one[0], one[1])
    torch.manual_seed(3)
    state = torch.get_rng_state()  # of the CPU: draws of its own stay what they are
    draw(3)
    assert torch.equal(state, torch.get_rng_state())


def test_a_generator_of_the_cpu_is_refused(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    with pytest.raises(RuntimeError, match="generator"):
        torch.poisson(torch.ones(3, device="ocl"), generator=torch.Generator())


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_a_resize_to_the_same_sizes_keeps_strides(dtype):
    x = torch.zeros(3, 4, dtype=dtype, device="ocl").t()
    x.resize_(4, 3)
    assert x.stride() == (1, 4)
    x.resize_(2, 3)
    assert x.stride() == (3, 1)
    x = torch.zeros(1, 2, 3, 3, dtype=dtype, device="ocl").resize_(
        1, 2, 3, 3, memory_format=torch.channels_last
    )
    assert x.is_contiguous(memory_format=torch.channels_last)


def test_an_out_with_gaps_keeps_them(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    whole = torch.zeros(4, 6, device="ocl")
    out = whole.t()[::2]
    torch.special.airy_ai(torch.ones(3, 4, device="ocl"), out=out)
    assert out.stride() == (2, 6)
    assert torch.equal(whole.cpu() != 0, torch.tensor([True, False]).repeat(4, 3))


def test_quantized_tensors_are_refused():
    with pytest.raises((TypeError, RuntimeError, NotImplementedError)):
        torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8).to("ocl")
