"""Generators and random operators of ocl devices."""

import copy
import itertools
import math

import pytest

torch = pytest.importorskip("torch")

COUNT = 40_000


def mean_of(sample):
    return sample.double().mean().item() if sample.device.type == "cpu" else mean_of(sample.cpu())


# The drawn numbers, their mean, and the standard deviation of one number.
DISTRIBUTIONS = {
    "uniform": (lambda x: x.uniform_(-1, 3), 1, 4 / math.sqrt(12)),
    "normal": (lambda x: x.normal_(2, 3), 2, 3),
    "log_normal": (lambda x: x.log_normal_(0, 0.5), math.exp(0.125), 0.61),
    "exponential": (lambda x: x.exponential_(2), 0.5, 0.5),
    "geometric": (lambda x: x.geometric_(0.25), 4, math.sqrt(0.75) / 0.25),
    "cauchy": (lambda x: x.cauchy_(1, 2).gt(1).float(), 0.5, 0.5),
    "bernoulli": (lambda x: x.bernoulli_(0.3), 0.3, 0.46),
    "bernoulli of a tensor": (lambda x: torch.bernoulli(torch.full_like(x, 0.7)), 0.7, 0.46),
    "normal of tensors": (lambda x: torch.normal(torch.ones_like(x), torch.full_like(x, 2)), 1, 2),
    "normal of means": (lambda x: torch.normal(torch.ones_like(x), 2.0), 1, 2),
    "normal of deviations": (lambda x: torch.normal(1.0, torch.full_like(x, 2)), 1, 2),
    "integers": (lambda x: torch.randint(-3, 8, x.shape, device="ocl"), 2, math.sqrt(10)),
    "random_": (lambda x: x.random_(0, 5), 2, math.sqrt(2)),
    "multinomial": (
        lambda x: torch.multinomial(torch.tensor([0.2, 0.0, 0.8], device="ocl"), COUNT, True),
        1.6,
        0.8,
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_numbers_are_distributed_as_asked(name):
    draw, mean, deviation = DISTRIBUTIONS[name]
    sample = draw(torch.empty(COUNT, device="ocl"))
    assert sample.device.type == "ocl"
    assert abs(mean_of(sample) - mean) < 5 * deviation / math.sqrt(COUNT)
    again = draw(torch.empty(COUNT, device="ocl"))
    assert not torch.equal(sample.cpu(), again.cpu())


def test_a_seed_gives_the_same_numbers():
    def drawn():
        torch.manual_seed(5)
        return [torch.randn(7, device="ocl").cpu(), torch.rand(3, 5, device="ocl").cpu()]

    first, second = drawn(), drawn()
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    torch.ocl.manual_seed(5)
    assert torch.equal(torch.randn(7, device="ocl").cpu(), first[0])
    assert torch.ocl.initial_seed() == 5


def test_states_are_saved_and_restored():
    state = torch.ocl.get_rng_state()
    first = torch.randn(100, device="ocl").cpu()
    torch.ocl.set_rng_state(state)
    assert torch.equal(torch.randn(100, device="ocl").cpu(), first)
    with torch.random.fork_rng(device_type="ocl"):
        inside = torch.randn(9, device="ocl").cpu()
    assert torch.equal(torch.randn(9, device="ocl").cpu(), inside)
    with pytest.raises(RuntimeError, match="16 bytes"):
        torch.ocl.set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_generators_of_ones_own():
    generator = torch.Generator(device="ocl").manual_seed(3)
    assert generator.device.type == "ocl"
    first = torch.randn(50, device="ocl", generator=generator).cpu()
    before = torch.ocl.get_rng_state()
    other = copy.copy(generator.get_state())
    second = torch.randn(50, device="ocl", generator=generator).cpu()
    assert torch.equal(torch.ocl.get_rng_state(), before)  # the default one has not moved
    generator.set_state(other)
    assert torch.equal(torch.randn(50, device="ocl", generator=generator).cpu(), second)
    generator.manual_seed(3)
    assert torch.equal(torch.randn(50, device="ocl", generator=generator).cpu(), first)
    with pytest.raises(RuntimeError, match="Expected a 'ocl' device type for generator"):
        torch.randn(3, device="ocl", generator=torch.Generator())


def test_layouts_get_the_same_numbers():
    x = torch.empty(6, 8, device="ocl")
    plain = x.uniform_(generator=torch.Generator("ocl").manual_seed(1)).cpu()
    turned = torch.empty(8, 6, device="ocl").t().uniform_(generator=torch.Generator("ocl").manual_seed(1))
    assert torch.equal(turned.cpu(), plain)
    whole = torch.zeros(6, 20, device="ocl")
    whole[:, 5:13].uniform_(generator=torch.Generator("ocl").manual_seed(1))
    assert torch.equal(whole[:, 5:13].cpu(), plain)
    assert whole.cpu()[:, :5].eq(0).all() and whole.cpu()[:, 13:].eq(0).all()
    assert torch.empty(0, 3, device="ocl").normal_().shape == (0, 3)


def test_permutations():
    order = torch.randperm(1000, device="ocl")
    assert order.dtype == torch.int64
    assert sorted(order.tolist()) == list(range(1000))
    assert torch.randperm(0, device="ocl").numel() == 0
    draws = torch.multinomial(torch.ones(3, 10, device="ocl"), 10)
    assert [sorted(row) for row in draws.tolist()] == [list(range(10))] * 3


# Numbers that one bound or another refuses.
NUMBERS = (-math.inf, -1e39, -1.5, -1.0, 0.0, 0.5, 1.0, 1.5, 1e39, math.inf, math.nan)
WHOLE = (-(2**63), -(2**40), -300, -1, 0, 1, 2, 255, 256, 65504, 2**24 + 1, 2**40, 2**63 - 1)
F = torch.nn.functional

FILLINGS = {
    "uniform_": (lambda x, a, b: x.uniform_(a, b), NUMBERS, NUMBERS),
    "normal_": (lambda x, a, b: x.normal_(a, b), (0.0, math.nan), NUMBERS),
    "log_normal_": (lambda x, a, b: x.log_normal_(a, b), (0.0,), NUMBERS),
    "cauchy_": (lambda x, a, b: x.cauchy_(a, b), (0.0,), NUMBERS),
    "exponential_": (lambda x, a: x.exponential_(a), NUMBERS),
    "geometric_": (lambda x, a: x.geometric_(a), NUMBERS),
    "bernoulli_": (lambda x, a: x.bernoulli_(a), NUMBERS),
    "bernoulli_ by a tensor": (lambda x, a: x.bernoulli_(torch.full((4,), a, device=x.device)), NUMBERS),
    "bernoulli": (lambda x, a: torch.bernoulli(torch.full_like(x, a)), NUMBERS),
    "bernoulli of one": (lambda x, a: torch.bernoulli(x, a), NUMBERS),
    "normal of means": (lambda x, a: torch.normal(x.zero_(), a), NUMBERS),
    "normal of deviations": (lambda x, a: torch.normal(0.0, torch.full_like(x, a)), NUMBERS),
    "normal of both": (lambda x, a: torch.normal(x.zero_(), torch.full_like(x, a)), NUMBERS),
    "normal of a size": (lambda x, a: torch.normal(0.0, a, (4,), device=x.device), NUMBERS),
    "random_": (lambda x, a, b: x.random_(a, b), WHOLE, WHOLE),
    "random_ to": (lambda x, a: x.random_(a), WHOLE),
    "random_ from": (lambda x, a: x.random_(a, None), WHOLE[:-1]),  # with the last one the CPU hangs
    "randint": (lambda x, a, b: torch.randint(a, b, (4,), device=x.device, dtype=x.dtype), WHOLE, WHOLE),
    "randperm": (lambda x, a: torch.randperm(int(a), device=x.device), (-1, 0, 3)),
    "dropout": (lambda x, a: F.dropout(x.zero_(), a), NUMBERS),
    "dropout of all": (lambda x, a: torch.dropout(x.zero_(), a, True), NUMBERS),
    "alpha_dropout": (lambda x, a: F.alpha_dropout(x.zero_(), a), NUMBERS),
    "feature_dropout": (lambda x, a: F.dropout2d(x.zero_().reshape(1, 2, 2, 1), a), NUMBERS),
    "native_dropout": (lambda x, a: torch.native_dropout(x.zero_(), a, True), NUMBERS),
    "rrelu": (lambda x, a, b: F.rrelu(x.zero_(), a, b, True), NUMBERS, NUMBERS),
    "gumbel_softmax": (lambda x, a: F.gumbel_softmax(x.zero_(), a), (0.5, 1.0)),
    "multinomial": (lambda x, a: torch.multinomial(x.fill_(1), a), (-1, 0, 1, 4, 5)),
    "multinomial again": (lambda x, a: torch.multinomial(x.fill_(1), a, True), (-1, 0, 1, 4, 5)),
    "multinomial of weights": (lambda x, a: torch.multinomial(torch.full_like(x, a), 2).cpu(), NUMBERS),
}


def is_taken(call, device, dtype, arguments):
    try:
        call(torch.empty(4, device=device, dtype=dtype), *arguments)
    # Weights are looked at by the device, which raises IndexError when somebody waits.
    except (RuntimeError, ValueError, TypeError, IndexError, OverflowError):
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.uint8], ids=str)
@pytest.mark.parametrize("name", FILLINGS)
def test_arguments_are_taken_and_refused_as_on_the_cpu(name, dtype, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    call, *choices = FILLINGS[name]
    theirs = torch.float32 if (name, dtype) == ("rrelu", torch.float16) else dtype  # which the CPU lacks
    for arguments in itertools.product(*choices):
        expected, given = is_taken(call, "cpu", theirs, arguments), is_taken(call, "ocl", dtype, arguments)
        assert given == expected, (arguments, expected)


def test_dropout():
    x = torch.ones(COUNT, device="ocl", requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    kept = y.detach().cpu()
    assert kept.unique().tolist() == pytest.approx([0, 4 / 3])
    assert abs(mean_of(kept) - 1) < 5 * math.sqrt(1 / 3 / COUNT)
    assert torch.equal(x.grad.cpu(), kept)
    assert torch.equal(torch.nn.functional.dropout(x, 0.25, training=False).detach().cpu(), torch.ones(COUNT))
    assert torch.nn.functional.dropout(x, 1.0).detach().cpu().eq(0).all()
