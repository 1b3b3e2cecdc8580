"""Steps that are captured and replayed: torch.ocl.OCLGraph, torch.accelerator.Graph, graphed callables."""

import gc
import threading

import pytest

torch = pytest.importorskip("torch", reason="NOT TESTED: PyTorch is not installed (docs/pytorch.md)")
nn, F = torch.nn, torch.nn.functional


def small_net(p=0.3):
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3),
        nn.ReLU(inplace=True),
        nn.Flatten(),
        nn.Dropout(p),
        nn.Linear(16 * 16, 32),
        nn.GELU(),
        nn.LayerNorm(32),
        nn.Linear(32, 10),
    ).to("ocl")


def batches(count):
    return [(torch.randn(5, 1, 14, 14), torch.randint(0, 10, (5,))) for _ in range(count)]


def train_step(net, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
    return loss


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9),
    "fused sgd": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True, fused=True),
    "fused adamw": lambda p: torch.optim.AdamW(p, 1e-2, fused=True),
    "adam": lambda p: torch.optim.Adam(p, 1e-2, capturable=True, amsgrad=True),
    "adam one by one": lambda p: torch.optim.Adam(p, 1e-2, capturable=True, foreach=False),
    "adadelta": lambda p: torch.optim.Adadelta(p, capturable=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 1e-3, capturable=True),
}


def captured_by_ocl(step):
    graph = torch.ocl.OCLGraph()
    with torch.ocl.graph(graph):
        result = step()
    return graph, result


def captured_by_accelerator(step):
    if not hasattr(torch.accelerator, "Graph"):
        pytest.skip("NOT TESTED: this PyTorch has no torch.accelerator.Graph")
    graph = torch.accelerator.Graph()
    with torch.Stream(), graph:
        result = step()
    return graph, result


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_has_the_same_bits(name):
    data, warm = batches(7), 3
    losses, nets, states = {}, {}, {}
    for way in ("at once", "graph"):
        nets[way] = net = small_net()
        optimizer = OPTIMIZERS[name](net.parameters())
        torch.manual_seed(3)
        for images, labels in data[:warm]:
            train_step(net, optimizer, images.to("ocl"), labels.to("ocl"))
        if way == "graph":
            images, labels = (t.to("ocl") for t in data[0])
            graph, loss = captured_by_ocl(lambda: train_step(net, optimizer, images, labels))  # noqa: B023
        losses[way] = []
        for batch in data[warm:]:
            if way == "at once":
                loss = train_step(net, optimizer, *(t.to("ocl") for t in batch))
            else:
                images.copy_(batch[0])
                labels.copy_(batch[1], non_blocking=True)
                graph.replay()
            losses[way].append(loss.item())
        states[way] = torch.ocl.get_rng_state()
    assert losses["graph"] == losses["at once"]
    assert len(set(losses["graph"])) == len(losses["graph"])
    assert torch.equal(states["graph"], states["at once"])
    for (key, a), b in zip(
        nets["graph"].state_dict().items(), nets["at once"].state_dict().values(), strict=True
    ):
        assert torch.equal(a.cpu(), b.cpu()), key


@pytest.mark.parametrize("capture", [captured_by_ocl, captured_by_accelerator])
def test_nothing_runs_in_a_capture(capture):
    x = torch.ones(1000, device="ocl")
    graph, y = capture(lambda: x.add_(1).mul(2))
    assert x.sum().item() == 1000
    for i in range(1, 4):
        graph.replay()
        assert x.sum().item() == 1000 * (1 + i) and y.sum().item() == 2000 * (1 + i)
    assert graph.pool() != (0, 0)
    graph.reset()
    with pytest.raises(RuntimeError, match="nothing has been captured"):
        graph.replay()


def test_a_graph_of_the_accelerator_shows_its_kernels(tmp_path):
    x = torch.ones(10, device="ocl")
    graph, _ = captured_by_accelerator(lambda: x.cumsum(0) * 2)  # which never become one launch
    graph.enable_debug_mode()
    graph.debug_dump(str(tmp_path / "graph.txt"))
    lines = (tmp_path / "graph.txt").read_text().splitlines()
    assert any("cumsum" in line for line in lines[:-1]) and "mul" in lines[-1]
    ours, _ = captured_by_ocl(lambda: x.cumsum(0) * 2)
    ours.debug_dump(str(tmp_path / "ours.txt"))
    assert (tmp_path / "ours.txt").read_text().splitlines() == lines


# Memory that a capture lets go of is written by every replay: it must not be another tensor's, nor given
# back.
def test_memory_is_the_graphs_own():
    x = torch.randn(300_000, device="ocl")
    graph, y = captured_by_ocl(lambda: (x * 2).exp().log().sub(1).view(-1))
    others = [torch.full((300_000,), 7.0, device="ocl") for _ in range(6)]
    gc.collect()
    torch.ocl.empty_cache()
    graph.replay()
    assert torch.allclose(y.cpu(), 2 * x.cpu() - 1, atol=1e-5)
    assert all((other == 7).all().item() for other in others)


def test_memory_comes_back():
    torch.ocl.synchronize()
    gc.collect()
    torch.ocl.empty_cache()
    before = torch.ocl.memory_reserved()
    x = torch.randn(1 << 20, device="ocl")
    graph, y = captured_by_ocl(lambda x=x: x * 2 + 1)
    graph.replay()
    assert torch.ocl.memory_reserved() >= before + 3 * (4 << 20)
    del graph, x, y
    torch.ocl.synchronize()
    torch.ocl.empty_cache()
    assert torch.ocl.memory_reserved() <= before


def test_what_was_there_before_is_kept():
    x = torch.full((1000,), 3.0, device="ocl")
    graph, y = captured_by_ocl(lambda x=x: x + 1)
    del x
    gc.collect()
    others = [torch.zeros(1000, device="ocl") for _ in range(6)]
    graph.replay()
    assert (y == 4).all().item() and not any(other.any().item() for other in others)


def test_a_scaler_leaves_out_steps_of_a_graph_that_overflow():
    weight = nn.Parameter(torch.ones(4, device="ocl"))
    factor = torch.ones((), device="ocl")
    optimizer = torch.optim.SGD([weight], 1.0, fused=True)
    scaler = torch.amp.GradScaler("ocl", init_scale=8.0, growth_interval=2)

    def step():
        optimizer.zero_grad()
        scaler.scale((weight * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    step()
    graph, _ = captured_by_ocl(step)
    seen = []
    for number in (1.0, float("inf"), 1.0, float("nan"), 1.0):
        factor.fill_(number)
        graph.replay()
        seen.append((weight[0].item(), scaler.get_scale()))
    assert seen == [(-1, 16), (-1, 8), (-2, 8), (-2, 4), (-3, 4)]


def test_kernels_of_a_replay_are_in_profiles():
    x = torch.ones(64, 64, device="ocl")
    graph, _ = captured_by_ocl(lambda: (x @ x).relu())
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1]
    with torch.profiler.profile(activities=activities) as profile:
        graph.replay()
        torch.ocl.synchronize()
    on_the_host = torch.autograd.DeviceType.CPU
    kernels = [event.name for event in profile.events() if event.device_type != on_the_host]
    assert any("gemm" in name for name in kernels) and any("relu" in name for name in kernels), kernels


def test_graphs_share_a_pool():
    pool = torch.ocl.graph_pool_handle()
    x = torch.randn(1000, device="ocl")
    first, second = torch.ocl.OCLGraph(), torch.ocl.OCLGraph()
    with torch.ocl.graph(first, pool):
        y = (x * 2).sin()
    with torch.ocl.graph(second, first.pool()):
        z = (y + 1).cos()
    assert first.pool() == second.pool() == pool
    for _ in range(2):
        x.normal_()
        first.replay()
        second.replay()
        assert torch.allclose(z.cpu(), (torch.sin(2 * x.cpu()) + 1).cos(), atol=1e-5)


# A batch norm's work may be put off until an activation takes it along (csrc/deferred.h).
def test_work_put_off_before_a_capture_is_not_the_graphs():
    norm = nn.BatchNorm2d(4).to("ocl")
    x = torch.randn(2, 4, 5, 5, device="ocl")
    put_off = norm(x)
    expected = F.batch_norm(x.cpu(), None, None, training=True).relu()
    graph, y = captured_by_ocl(lambda: put_off.relu())
    x.zero_()
    for _ in range(2):
        graph.replay()
    assert torch.allclose(y.cpu(), expected, atol=1e-5)
    assert torch.allclose(put_off.relu().cpu(), expected, atol=1e-5)


def test_work_put_off_before_a_replay_reads_what_was_there():
    x, norm = torch.randn(4, 3, 5, 5, device="ocl"), nn.BatchNorm2d(3)
    graph = torch.ocl.OCLGraph()
    with torch.ocl.graph(graph):
        y = 2 * x + x.square()
    graph.replay()
    expected = norm(y.cpu())
    z = norm.to("ocl")(y)
    x.mul_(10)
    graph.replay()
    torch.testing.assert_close(z.cpu(), expected)


def test_work_put_off_in_a_capture_is_the_graphs():
    norm = nn.BatchNorm2d(4).to("ocl")
    x = torch.randn(2, 4, 5, 5, device="ocl")
    graph, y = captured_by_ocl(lambda: norm(x))
    for _ in range(2):
        x.normal_()
        graph.replay()
        assert torch.allclose(y.cpu(), F.batch_norm(x.cpu(), None, None, training=True), atol=1e-5)


def test_random_numbers_are_new_ones_of_their_generator():
    def draw(generator):
        a = torch.empty(100, device="ocl").normal_(generator=generator)
        return a, torch.rand(7, device="ocl"), F.dropout(torch.ones(50, device="ocl"), 0.5)

    own = torch.Generator("ocl").manual_seed(5)
    torch.manual_seed(9)
    expected = [[t.cpu() for t in draw(own)] for _ in range(3)]
    own.manual_seed(5)
    torch.manual_seed(9)
    graph, drawn = captured_by_ocl(lambda: draw(own))
    for numbers in expected:
        graph.replay()
        assert all(torch.equal(a.cpu(), b) for a, b in zip(drawn, numbers, strict=True))
    own.manual_seed(5)
    torch.manual_seed(9)
    graph.replay()
    assert all(torch.equal(a.cpu(), b) for a, b in zip(drawn, expected[0], strict=True))


def test_what_cannot_be_repeated_is_refused():
    x = torch.ones(4, device="ocl")
    here = torch.empty(4)
    own = torch.Generator("ocl")
    waiting = {
        "item": lambda: x.sum().item(),
        "cpu": lambda: x.cpu(),
        "copy to the host": lambda: here.copy_(x),
        "copy from the host": lambda: torch.arange(4.0).to("ocl"),
        "synchronize": torch.ocl.synchronize,
        "nonzero": lambda: x.nonzero(),
        "randperm": lambda: torch.randperm(4, device="ocl"),
        "state": torch.ocl.get_rng_state,
        "set state": lambda: own.manual_seed(3),
        "nested": torch.ocl.OCLGraph().capture_begin,
    }
    for name, call in waiting.items():
        graph = torch.ocl.OCLGraph()
        with pytest.raises(RuntimeError, match="captur"), torch.ocl.graph(graph):
            x.add_(1)
            call()
        assert not torch.ocl.is_current_stream_capturing(), name
        with pytest.raises(RuntimeError, match="nothing has been captured"):
            graph.replay()
    assert x.tolist() == [1, 1, 1, 1]
    graph = torch.ocl.OCLGraph()
    with pytest.raises(RuntimeError, match="no capture has begun"):
        graph.capture_end()
    with torch.ocl.graph(graph):
        assert torch.ocl.is_current_stream_capturing()
        x.add_(1)
    with pytest.raises(RuntimeError, match="reset"):
        graph.capture_begin()
    graph.replay()
    assert x.tolist() == [2, 2, 2, 2]


def test_an_operator_that_runs_on_the_cpu_is_refused(monkeypatch):
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")
    x = torch.rand(3, 3, device="ocl")
    graph = torch.ocl.OCLGraph()
    with pytest.raises(RuntimeError, match="captured"), torch.ocl.graph(graph):
        torch.linalg.eigvals(x)


def test_another_thread_works_as_ever():
    x = torch.ones(10, device="ocl")
    found = []

    def work():
        y = torch.full((10,), 2.0, device="ocl", requires_grad=True)
        (y * y).sum().backward()
        found.append(y.grad.tolist())

    graph = torch.ocl.OCLGraph()
    with torch.ocl.graph(graph):
        z = x * 3
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [[4.0] * 10]
    graph.replay()
    assert z.tolist() == [3.0] * 10


def test_a_bad_index_is_told_at_the_next_wait():
    table = torch.randn(5, 3, device="ocl", requires_grad=True)
    index = torch.tensor([1, 2], device="ocl")

    def step():
        table.grad = None
        F.embedding(index, table).sum().backward()
        return table.grad

    step()
    graph, gradient = captured_by_ocl(step)
    index.copy_(torch.tensor([1, 7]))
    graph.replay()
    with pytest.raises(IndexError, match="7"):
        torch.ocl.synchronize()
    index.copy_(torch.tensor([4, 4]))
    graph.replay()
    assert gradient.sum(1).tolist() == [0, 0, 0, 0, 6]


def test_gradients_of_a_function_of_the_users():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    x = torch.ones(3, device="ocl", requires_grad=True)

    def step():
        (gradient,) = torch.autograd.grad(Cube.apply(x).sum(), x)
        return gradient

    step()
    graph, gradient = captured_by_ocl(step)
    for value in (2.0, 3.0):
        with torch.no_grad():
            x.fill_(value)
        graph.replay()
        assert gradient.tolist() == [3 * value * value] * 3


@pytest.mark.parametrize("is_module", [True, False])
def test_graphed_callables_train_as_others_do(is_module):
    data = batches(6)
    losses = {}
    for way in ("at once", "graph"):
        net = small_net(p=0.0)
        optimizer = torch.optim.SGD(net.parameters(), 0.05)
        run = net
        if way == "graph":
            state = {key: value.clone() for key, value in net.state_dict().items()}
            sample = torch.zeros(5, 1, 14, 14, device="ocl")
            if is_module:
                run = torch.ocl.make_graphed_callables(net, (sample,))
                assert run is net
            else:
                first = lambda x: net[:6](x)  # noqa: E731, B023
                weight = net[8].weight
                run_first = torch.ocl.make_graphed_callables(
                    lambda x, w: F.linear(x, w),
                    (torch.zeros(5, 256, device="ocl", requires_grad=True), weight.detach().requires_grad_()),
                )
                run = lambda x: net[9:](run_first(first(x).flatten(1), weight) + net[8].bias)  # noqa: E731, B023
            net.load_state_dict(state)  # warming up moved the running statistics
        losses[way] = []
        for images, labels in data:
            optimizer.zero_grad()
            loss = F.cross_entropy(run(images.to("ocl")), labels.to("ocl"))
            loss.backward()
            optimizer.step()
            losses[way].append(loss.item())
        net.eval()
        losses[way].append(net(data[0][0].to("ocl")).sum().item())
        losses[way].append(net(data[0][0][:2].to("ocl")).sum().item())
    assert losses["graph"] == pytest.approx(losses["at once"], rel=1e-5)


def test_several_graphed_callables():
    torch.manual_seed(0)
    first, second = nn.Linear(4, 5).to("ocl"), nn.Sequential(nn.Dropout(0.5), nn.Linear(5, 3)).to("ocl")
    graphed = torch.ocl.make_graphed_callables(
        (first, second),
        ((torch.zeros(2, 4, device="ocl"),), (torch.zeros(2, 5, device="ocl", requires_grad=True),)),
    )
    x = torch.randn(2, 4, device="ocl")
    torch.manual_seed(1)
    found = graphed[1](graphed[0](x))
    found.sum().backward()
    gradients = [p.grad.cpu() for m in (first, second) for p in m.parameters()]
    torch.manual_seed(1)
    copy = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5), nn.Linear(5, 3)).to("ocl")
    copy.load_state_dict(
        {
            **{f"0.{k}": v for k, v in first.state_dict().items()},
            **{f"2.{k}": v for k, v in second[1].state_dict().items()},
        }
    )
    torch.manual_seed(1)
    expected = copy(x)
    expected.sum().backward()
    assert torch.equal(found.cpu(), expected.cpu())
    for a, p in zip(gradients, copy.parameters(), strict=True):
        assert torch.allclose(a, p.grad.cpu())
    with pytest.raises(ValueError, match="takes \\[2, 4\\]"):
        graphed[0](torch.zeros(3, 4, device="ocl"))
    with pytest.raises(ValueError, match="takes 1 tensors"):
        graphed[0](x, x)
    with pytest.raises(TypeError, match="tensors alone"):
        torch.ocl.make_graphed_callables(nn.Linear(4, 5).to("ocl"), (3,))
