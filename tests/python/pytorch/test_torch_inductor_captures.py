"""torch.compile(mode="reduce-overhead") on ocl devices: captured graphs beside the same ones uncaptured."""

import copy
import gc
import os
import subprocess
import sys
import threading
import warnings

import pytest

torch = pytest.importorskip("torch", reason="NOT TESTED: PyTorch is not installed (docs/pytorch.md)")
pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")

nn, F = torch.nn, torch.nn.functional


@pytest.fixture(autouse=True)
def fresh_compiler():
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*runs a graph without a capture")
        yield
    torch._dynamo.reset()


@pytest.fixture
def replays(monkeypatch):
    """A list with one entry for each replay, which is the thread that asked for it."""
    asked, replay = [], torch.ocl.OCLGraph.replay

    def noted(graph):
        asked.append(threading.get_ident())
        replay(graph)

    monkeypatch.setattr(torch.ocl.OCLGraph, "replay", noted)
    return asked


def captured(function, **options):
    return torch.compile(function, mode="reduce-overhead", **options)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 16)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 2, 24, dropout=0.2, batch_first=True, activation="gelu")
            for _ in range(2)
        )
        self.head = nn.Linear(16, 4)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def mlp():
    return nn.Sequential(
        nn.Linear(12, 32), nn.GELU(), nn.Dropout(0.3), nn.Linear(32, 16), nn.LayerNorm(16), nn.Linear(16, 4)
    )


def conv_net():
    return nn.Sequential(
        nn.Conv2d(2, 6, 3), nn.BatchNorm2d(6), nn.SiLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(6 * 36, 4)
    )


NETS = {
    "mlp": (mlp, lambda: torch.randn(8, 12)),
    "conv net": (conv_net, lambda: torch.randn(5, 2, 8, 8)),
    "transformer": (Transformer, lambda: torch.randint(0, 30, (3, 7))),
}


def trained(net, batches, compile_it, steps_of=1, first_zero=True):
    """Losses, and the state at the end. `first_zero`: old gradients go before the forward pass."""
    net = copy.deepcopy(net).to("ocl")
    run, optimizer = compile_it(net), torch.optim.AdamW(net.parameters(), 1e-2)
    torch.manual_seed(7)
    losses = []
    for step, (x, labels) in enumerate(batches):
        if first_zero and step % steps_of == 0:
            optimizer.zero_grad()
        loss = F.cross_entropy(run(x.to("ocl")), labels.to("ocl"))
        if not first_zero and step % steps_of == 0:
            optimizer.zero_grad()
        loss.backward()
        if step % steps_of == steps_of - 1:
            optimizer.step()
        losses.append(loss)
    return [loss.item() for loss in losses], {name: t.cpu() for name, t in net.state_dict().items()}


def assert_same_training(net, make_input, replays, count=12, **options):
    torch.manual_seed(0)
    net = net()
    batches = []
    for _ in range(count):
        x = make_input()
        batches.append((x, torch.randint(0, 4, (len(x),))))
    expected = trained(net, batches, torch.compile, **options)
    torch._dynamo.reset()
    assert not replays
    found = trained(net, batches, captured, **options)
    assert found[0] == expected[0] and len(set(found[0])) == count
    for name, tensor in expected[1].items():
        assert torch.equal(found[1][name], tensor), name


@pytest.mark.parametrize("first_zero", [True, False])
@pytest.mark.parametrize("name", NETS)
def test_training_has_the_bits_of_uncaptured_code(name, first_zero, replays):
    assert_same_training(*NETS[name], replays, first_zero=first_zero)
    assert len(replays) >= 14  # forward passes from the third call on, backward passes from the fifth


def test_gradients_that_add_up_over_steps(replays):
    assert_same_training(*NETS["mlp"], replays, count=15, steps_of=3)
    assert len(replays) >= 10


@pytest.mark.parametrize("name", NETS)
def test_inference(name, replays):
    make, make_input = NETS[name]
    net = make().to("ocl").eval()
    inputs = [make_input().to("ocl") for _ in range(6)]
    with torch.no_grad():
        expected = [torch.compile(net)(x) for x in inputs]
        torch._dynamo.reset()
        run = captured(net)
        for x, truth in zip(inputs, expected, strict=True):
            assert torch.equal(run(x), truth)
    assert len(replays) == 4


def test_dropout_draws_anew(replays):
    run, x = captured(lambda x: F.dropout(x, 0.5)), torch.ones(1000, device="ocl")
    torch.manual_seed(3)
    drawn = [run(x).cpu() for _ in range(8)]
    assert len(replays) == 6
    for i, one in enumerate(drawn):
        assert 300 < (one == 0).sum() < 700
        assert not any(torch.equal(one, other) for other in drawn[:i])


def test_results_that_are_held_stay(replays):
    """All of them are, from calls before the capture and after it."""
    run, x = captured(lambda x: (x.sin() * 2, x.cumsum(0))), torch.arange(6.0, device="ocl")
    held = [run(x + i) for i in range(9)]
    views = [run(x + i)[0][2:4] for i in range(3)]
    for i, (first, second) in enumerate(held):
        torch.testing.assert_close(first.cpu(), (torch.arange(6.0) + i).sin() * 2)
        torch.testing.assert_close(second.cpu(), (torch.arange(6.0) + i).cumsum(0))
    for i, view in enumerate(views):
        torch.testing.assert_close(view.cpu(), ((torch.arange(6.0) + i).sin() * 2)[2:4])
    assert replays


def test_a_result_is_the_next_input(replays):
    run, x = captured(lambda x: x * 1.5 + 1), torch.ones(5, device="ocl")
    expected = torch.ones(5)
    for _ in range(10):
        x, expected = run(x), expected * 1.5 + 1
    torch.testing.assert_close(x.cpu(), expected)
    assert replays


def test_forward_passes_before_their_backward_passes(replays):
    net = mlp().to("ocl").eval()
    run, xs = captured(net), [torch.randn(8, 12, device="ocl") for _ in range(3)]
    for _ in range(6):
        expected = torch.autograd.grad(sum(net(x).square().sum() for x in xs), list(net.parameters()))
        found = torch.autograd.grad(sum(run(x).square().sum() for x in xs), list(net.parameters()))
        for mine, truth in zip(found, expected, strict=True):
            torch.testing.assert_close(mine, truth, rtol=1e-4, atol=1e-5)
    assert replays


def test_work_put_off_that_reads_results(replays):
    """A batch norm in eager mode is made when somebody reads it: here behind the next replay."""
    run, norm = captured(lambda x: x * 2 + 1), nn.BatchNorm2d(3).to("ocl")
    x = torch.randn(4, 3, 5, 5, device="ocl")
    with torch.no_grad():
        for _ in range(4):
            run(x)
        expected = norm(run(x)).cpu()
        found = norm(run(x))
        run(x + 100)
        assert torch.equal(found.cpu(), expected)
    assert len(replays) >= 4


def test_mutated_inputs(replays):
    def step(x, total):
        total.add_(x.sum(0))
        return total * 2

    run, x = captured(step), torch.randn(4, 6)
    total, expected = torch.zeros(6, device="ocl"), torch.zeros(6)
    for i in range(7):
        given = torch.zeros(6, device="ocl").copy_(total)  # in another place each time
        result = run((x + i).to("ocl"), given)
        total, expected = given, expected + (x + i).sum(0)
        torch.testing.assert_close(total.cpu(), expected)
        torch.testing.assert_close(result.cpu(), expected * 2)
    assert len(replays) >= 4


def test_statistics_are_updated_in_place(replays):
    norms = [nn.BatchNorm1d(5).to("ocl") for _ in range(2)]
    runs = [torch.compile(norms[0]), captured(norms[1])]
    for i in range(7):
        x = torch.randn(9, 5, device="ocl") + i
        for run in runs:
            run(x)
    for mine, truth in zip(norms[1].buffers(), norms[0].buffers(), strict=True):
        assert torch.equal(mine, truth)
    assert int(norms[1].num_batches_tracked) == 7 and len(replays) >= 4


@pytest.mark.parametrize("dynamic", [None, True])
def test_two_sizes(dynamic, replays):
    run = captured(lambda x: (x @ x.t()).softmax(-1).sum(0), dynamic=dynamic)
    for i in range(12):
        x = torch.randn(3 + 2 * (i % 2), 4)
        torch.testing.assert_close(run(x.to("ocl")).cpu(), (x @ x.t()).softmax(-1).sum(0))
    assert len(replays) >= 6


def test_more_sizes_than_are_kept(replays):
    run = captured(lambda x: x.sin().sum(0), dynamic=True)

    def call(size):
        x = torch.randn(size, 4)
        torch.testing.assert_close(run(x.to("ocl")).cpu(), x.sin().sum(0))

    for size in range(2, 10):
        for _ in range(3):
            call(size)
    assert len(replays) == 8
    call(20), call(20)
    with pytest.warns(UserWarning, match="runs a graph without a capture.*more than 8 sizes"):
        call(20)
    call(20), call(21), call(5)
    assert len(replays) == 9


def test_inputs_with_gaps_and_repetitions(replays):
    run = captured(lambda x, y, z: x * 2 + y + z)
    for _ in range(6):
        whole = torch.randn(4, 7, device="ocl")
        x, y = whole[:, 1:6:2], torch.randn(4, 1, device="ocl").expand(4, 3)
        z = torch.randn(3, device="ocl")
        torch.testing.assert_close(run(x, y, z).cpu(), x.cpu() * 2 + y.cpu() + z.cpu())
    assert len(replays) == 4


def test_results_that_are_inputs_or_views_of_them(replays):
    weight = nn.Parameter(torch.randn(4, 6, device="ocl"))

    def step(x):
        return x, x[1:], weight.t(), x @ weight.t()

    run = captured(step)
    for _ in range(6):
        x = torch.randn(3, 6, device="ocl")
        same, part, turned, product = run(x)
        assert torch.equal(same, x) and torch.equal(part, x[1:]) and torch.equal(turned, weight.t())
        assert part.data_ptr() == x[1:].data_ptr() and turned.data_ptr() == weight.data_ptr()
        torch.testing.assert_close(product, x @ weight.t())
    assert replays


def test_equal_layers_share_code(replays):
    layers = [nn.Linear(6, 6).to("ocl") for _ in range(3)]

    @captured
    def apply(layer, x):
        return F.gelu(layer(x))

    for _ in range(9):
        x = y = torch.randn(4, 6, device="ocl")
        for layer in layers:
            x, y = apply(layer, x), F.gelu(layer(y))
        torch.testing.assert_close(x, y)
    assert len(replays) >= 9


def test_parameters_that_move(replays):
    net, x = nn.Linear(6, 6).to("ocl"), torch.randn(4, 6, device="ocl")
    run = captured(net)
    for _ in range(3):
        for _ in range(4):
            torch.testing.assert_close(run(x), net(x))
        net.weight.data = torch.randn(6, 6, device="ocl")
    assert len(replays) >= 6


def test_several_threads(replays):
    run, wrong = captured(lambda x: (x.sin() + x.cos()).cumsum(0)), []
    expected = [
        (torch.full((50,), float(i)).sin() + torch.full((50,), float(i)).cos()).cumsum(0) for i in range(4)
    ]
    run(torch.zeros(50, device="ocl"))

    def work(i):
        x = torch.full((50,), float(i), device="ocl")
        for _ in range(20):
            result = run(x)
            if not torch.allclose(result.cpu(), expected[i], rtol=1e-4, atol=1e-4):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and replays


def test_within_a_capture_of_ones_own(replays):
    run, x = captured(lambda x: x.sin() + 1), torch.zeros(4, device="ocl")
    for _ in range(4):
        run(x)
    graph = torch.ocl.OCLGraph()
    with torch.ocl.graph(graph):
        y = run(x)
    x.fill_(1)
    graph.replay()
    torch.testing.assert_close(y.cpu(), torch.ones(4).sin() + 1)


@torch.library.custom_op("ocl_test_captures::counted", mutates_args=(), tags=(torch.Tag.cudagraph_unsafe,))
def counted(x: torch.Tensor) -> torch.Tensor:
    calls.append(x.shape)
    return x * 2


@counted.register_fake
def counted_shape(x):
    return torch.empty_like(x)


calls = []


def with_an_effect_on_the_host(x):
    return counted(x) + 1


def on_both_devices(x):
    return (x.cpu() * 2).to(x.device) + x


def without_a_kernel(x):
    return torch.special.airy_ai(x) + 1


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (with_an_effect_on_the_host, "counted.* cannot be captured"),
        (on_both_devices, "computes on cpu too"),
        (without_a_kernel, "read by the host while commands are captured"),
    ],
)
def test_what_cannot_be_captured_runs_uncaptured(function, reason, replays, monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    run = captured(function)
    with pytest.warns(UserWarning, match=f"runs a graph without a capture.*{reason}") as told:
        for i in range(6):
            x = torch.arange(4.0) + i
            torch.testing.assert_close(run(x.to("ocl")).cpu(), function(x))
    assert sum("without a capture" in str(one.message) for one in told) == 1
    assert not replays


def test_a_number_on_the_cpu(replays):
    run = captured(lambda x, scale: x * scale)
    with pytest.warns(UserWarning, match="runs a graph without a capture.*cpu"):
        for i in range(6):
            x = torch.arange(4.0)
            torch.testing.assert_close(run(x.to("ocl"), torch.tensor(1.0 + i)).cpu(), x * (1 + i))
    assert not replays


def test_memory_comes_back():
    def used():
        torch._dynamo.reset()
        gc.collect()
        torch.ocl.synchronize()
        return torch.ocl.memory_allocated()

    before = used()
    run, x = captured(lambda x: (x.sin() + 1) @ x), torch.randn(300, 300, device="ocl")
    for _ in range(5):
        run(x)
    del run, x
    assert used() <= before


def test_captures_of_nets_that_are_gone_make_room(replays, monkeypatch):
    """Each net has its parameters in other places, and so a capture of its own over the same code."""
    from torch_ocl.inductor import captures

    monkeypatch.setattr(captures, "_MOST_GRAPHS", 2)
    x, nets = torch.randn(4, 8, device="ocl"), []
    for _ in range(5):
        nets.append(nn.Linear(8, 3).to("ocl"))
        run, before = torch.compile(nets[-1], mode="reduce-overhead"), len(replays)
        with torch.no_grad():
            for _ in range(5):
                torch.testing.assert_close(run(x).cpu(), nets[-1](x).cpu())
        assert len(replays) > before


def test_a_replay_launches_nothing_from_python(monkeypatch):
    from torch_ocl.inductor.runtime import CompiledKernel

    launched, launch = [], CompiledKernel.__call__

    def noted(kernel, *args):
        launched.append(kernel)
        launch(kernel, *args)

    def operators_of(call):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            call()
        return {event.name for event in profile.events() if event.name.startswith(("aten::", "OCLGraph"))}

    monkeypatch.setattr(CompiledKernel, "__call__", noted)
    net, x = mlp().to("ocl").eval(), torch.randn(8, 12, device="ocl")
    run = captured(net)
    with torch.no_grad():
        run(x)
        assert len(launched) >= 2 and "aten::addmm" in operators_of(lambda: run(x))
        run(x)
        launched.clear()
        assert operators_of(lambda: run(x)) == {
            "aten::copy_",
            "aten::_copy_from",
            "aten::detach",
            "OCLGraph.replay",
        }
        assert not launched


def test_code_out_of_the_cache_is_captured(tmp_path):
    """A second process finds the code that the first one wrote, and what it says of captures."""
    program = """
import torch
x, replays, replay = torch.randn(9, 40, device="ocl"), [], torch.ocl.OCLGraph.replay
torch.ocl.OCLGraph.replay = lambda graph: (replays.append(graph), replay(graph))
run = torch.compile(lambda x: x.sin() + 1, mode="reduce-overhead")
for _ in range(5):
    torch.testing.assert_close(run(x).cpu(), x.cpu().sin() + 1)
mixed = torch.compile(lambda x: (x.cpu() * 2).to("ocl"), mode="reduce-overhead")
mixed(x), mixed(x)
print(len(replays), torch._dynamo.utils.counters["inductor"]["fxgraph_cache_hit"])
"""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    for hits in (0, 2):
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=600
        )
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.split() == ["3", str(hits)]
        assert ended.stderr.count("without a capture") == 1
