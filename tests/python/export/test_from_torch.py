"""Programs that from_torch takes and refuses: structures, states, modes, sizes, inner graphs."""

import collections
import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from exporting import Of, exported
from torch import nn
from torch.export import Dim

import ocl
from ocl.export import UnsupportedError, from_torch


def up(tensor):
    return ocl.tensor(tensor.detach().numpy())


def close(mine, expected, tolerance=1e-5):
    np.testing.assert_allclose(
        mine.detach().numpy(), expected.detach().numpy(), rtol=tolerance, atol=tolerance
    )


def agrees(function, *args, **options):
    """Whether the program of a function gives what the function gives; returns the module."""
    module = from_torch(exported(Of(function), *args, **options))
    mine, expected = module(*(up(each) for each in args)), function(*args)
    flat = lambda value: [value] if isinstance(value, torch.Tensor) else list(value)  # noqa: E731
    for ours, theirs in zip([mine] if isinstance(mine, ocl.Tensor) else mine, flat(expected), strict=True):
        close(ours, theirs)
    return module


class States(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
        self.tied = nn.Linear(3, 4, bias=False)
        self.tied.weight = self.layer[0].weight
        self.unused = nn.Parameter(torch.ones(2))
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.register_buffer("scale", torch.full((4,), 2.0))
        self.register_buffer("shift", torch.ones(4), persistent=False)
        self.register_buffer("count", torch.tensor(0))
        self.constant = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x):
        self.count.add_(1)
        y = self.layer(x) * self.scale + self.shift + self.constant + torch.tensor([0.5])
        return y + self.tied(x) * self.frozen


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_parameters_and_buffers_have_their_names(decomposed, training):
    torch.manual_seed(0)
    net = States().train(training)
    x = torch.randn(5, 3)
    module = from_torch(exported(net, x, decomposed=decomposed))
    assert {*module.state_dict()} == {*net.state_dict()}
    assert {n for n, _ in module.named_parameters()} == {n for n, _ in net.named_parameters()}
    assert not module.frozen.requires_grad and module.layer
    assert module.state_dict()["tied.weight"].shape == (4, 3)
    weights = dict(module.named_parameters(remove_duplicate=False))
    assert weights["tied.weight"] is weights["layer.0.weight"]
    assert module.training == training
    if not training:
        close(module(up(x)), net(x))
    else:
        module(up(x)), net(x)
        for name, expected in net.state_dict().items():
            close(module.state_dict()[name], expected)
    assert module.count.item() == 1


def test_state_dicts_of_pytorch_fit():
    torch.manual_seed(0)
    net, other = nn.Linear(3, 2), nn.Linear(3, 2)
    x = torch.randn(4, 3)
    module = from_torch(exported(net, x))
    module.load_state_dict({name: up(value) for name, value in other.state_dict().items()})
    close(module(up(x)), other(x))


def test_modes_switch_dropout_and_batch_norm():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5))
    x = torch.randn(6, 4)
    module = from_torch(exported(net, x))
    assert module.training
    first, second = module(up(x)).detach().numpy(), module(up(x)).detach().numpy()
    assert (first == 0).any() and (first != second).any()
    net.load_state_dict({name: torch.tensor(v.numpy()) for name, v in module.state_dict().items()})
    module.eval()
    close(module(up(x)), net.eval()(x))
    for name, value in net.state_dict().items():
        close(module.state_dict()[name], value)

    module = from_torch(exported(net, x)).train()
    assert (module(up(x)).detach().numpy() == 0).any()
    net[1].train()(net[0](x))
    for name in ("1.running_mean", "1.running_var"):
        close(module.state_dict()[name], net.state_dict()[name])


def test_attention_drops_in_training_mode_alone():
    def attend(q):
        return nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5)

    q = torch.randn(1, 2, 6, 8)
    module = from_torch(exported(Of(attend), q))
    assert module.training and (module(up(q)).numpy() != module(up(q)).numpy()).any()
    close(module.eval()(up(q)), nn.functional.scaled_dot_product_attention(q, q, q))


def test_arguments_that_are_none_stay_so():
    module = from_torch(exported(Of(lambda x, y=None: x if y is None else x + y), torch.ones(2), None))
    np.testing.assert_array_equal(module(ocl.ones(2), None).numpy(), [1, 1])
    with pytest.raises(ValueError, match="is None in the program, got tensor"):
        module(ocl.ones(2), ocl.ones(2))


def test_arguments_and_results_are_nested():

    def forward(x, parts, *, scale, other=None):
        total = x * scale + parts["p"][0] + parts["q"]
        ordered = collections.OrderedDict(second=total + 1, first=total)
        return {"sum": total, "rest": [total * 2, (total.sum(), None, 3)], "ordered": ordered}

    x, p, q, scale = (torch.randn(2, 3) for _ in range(4))
    program = exported(Of(forward), x, {"p": [p], "q": q}, kwargs={"scale": scale})
    module = from_torch(program)
    result = module(up(x), {"q": up(q), "p": (up(p),)}, scale=up(scale))
    expected = forward(x, {"p": [p], "q": q}, scale=scale)
    assert [*result] == ["sum", "rest", "ordered"] and isinstance(result["rest"], list)
    assert isinstance(result["ordered"], collections.OrderedDict)
    assert [*result["ordered"]] == ["second", "first"]
    close(result["sum"], expected["sum"])
    close(result["rest"][1][0], expected["rest"][1][0])
    assert result["rest"][1][1:] == (None, 3)


def test_wrong_arguments_are_named():
    def forward(x, y, *, flag):
        return (x + y["a"]) * (2 if flag else 3)

    module = from_torch(exported(Of(forward), torch.ones(2, 3), {"a": torch.ones(3)}, kwargs={"flag": True}))
    x, y = ocl.ones(2, 3), {"a": ocl.ones(3)}
    assert module(x, y, flag=True).sum().item() == 24
    with pytest.raises(TypeError, match=r"takes 2 arguments by position and flag by name, got 1 and none"):
        module(x)
    with pytest.raises(TypeError, match=r"args\[1\] has the keys \['a'\] in the program, got \['b'\]"):
        module(x, {"b": x}, flag=True)
    with pytest.raises(TypeError, match=r"args\[1\] is a dict in the program, got Tensor"):
        module(x, x, flag=True)
    with pytest.raises(ValueError, match=r"has the shape \[2, 3\], got \[3, 3\]"):
        module(ocl.ones(3, 3), y, flag=True)
    with pytest.raises(ValueError, match="is True in the program, got False"):
        module(x, y, flag=False)
    with pytest.raises(TypeError, match="is a tensor, got float"):
        module(1.0, y, flag=True)


def test_sizes_change():
    def forward(x):
        n, m = x.shape
        scale = n * 2 + m // 2 - max(n, 3)
        return x.reshape(m, n).repeat(2, 1)[: n + 1] * scale + torch.arange(n), torch.full(
            (n % 3 + 2, 2), 1.0 / n
        )

    dims = ({0: Dim("n", min=2, max=64), 1: Dim("m", min=2, max=64)},)
    program = exported(Of(forward), torch.randn(4, 5), dynamic_shapes=(dims,))
    module = from_torch(program)
    for n, m in ((4, 5), (7, 6), (2, 9)):
        x = torch.randn(n, m)
        for mine, expected in zip(module(up(x)), forward(x), strict=True):
            close(mine, expected)


def test_equal_sizes_are_checked():
    n = Dim("n")
    program = exported(
        Of(lambda x, y: x + y), torch.ones(4, 2), torch.ones(4, 2), dynamic_shapes=(({0: n}, {0: n}),)
    )
    module = from_torch(program)
    assert module(ocl.ones(7, 2), ocl.ones(7, 2)).shape == (7, 2)
    with pytest.raises(ValueError, match=r"has the shape \[s\d+, 2\], got \[1, 2\]"):
        module(ocl.ones(7, 2), ocl.ones(1, 2))


def test_sizes_out_of_their_range_are_refused():
    program = exported(Of(lambda x: x * 2), torch.ones(4), dynamic_shapes=(({0: Dim("n", min=2, max=6)},),))
    module = from_torch(program)
    assert module(ocl.ones(6)).shape == (6,)
    for n in (1, 7):
        with pytest.raises(ValueError, match=rf"the size s\d+ is from 2 to 6 in the program, got {n}"):
            module(ocl.ones(n))


@pytest.mark.filterwarnings("ignore")  # of PyTorch, as attributes are no parameters
def test_constants_of_graphs_are_buffers():
    def conditional(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

    program = exported(Of(conditional), torch.ones(2))
    for graph_module in [*program.graph_module.modules()]:
        if isinstance(graph_module, torch.fx.GraphModule):
            graph_module.constant = torch.tensor([10.0, 20.0])
            output = graph_module.graph.output_node()
            (last,) = output.args[0]
            with graph_module.graph.inserting_before(output):
                constant = graph_module.graph.get_attr("constant")
                total = graph_module.graph.call_function(torch.ops.aten.add.Tensor, (last, constant))
            output.args = ((total,),)
    module = from_torch(program)
    assert not module.state_dict() and len([*module.buffers()]) == 3
    np.testing.assert_array_equal(module(ocl.ones(2)).numpy(), [22, 42])
    np.testing.assert_array_equal(module(-ocl.ones(2)).numpy(), [18, 38])


def test_numbers_that_change_are_arguments():
    program = exported(
        Of(lambda x, n: x[:n] * n), torch.arange(6.0), 3, dynamic_shapes=((None, Dim.DYNAMIC),), strict=False
    )
    module = from_torch(program)
    np.testing.assert_array_equal(module(ocl.arange(6.0), 4).numpy(), np.arange(4) * 4)
    with pytest.raises(TypeError, match="is a number, got str"):
        module(ocl.arange(6.0), "4")


def test_elements_that_are_read_say_sizes():
    def forward(x, n):
        count = n.item()
        torch._check(count >= 0)
        torch._check(count <= 6)
        return x.narrow(0, 0, count).sum(), torch.nonzero(x > 2)

    x = torch.arange(6.0)
    module = from_torch(exported(Of(forward), x, torch.tensor(4)))
    for n in (4, 2):
        for mine, expected in zip(module(up(x), ocl.tensor(n)), forward(x, torch.tensor(n)), strict=True):
            close(mine, expected)
    with pytest.raises(ValueError, match="from_torch: node"):
        module(up(x), ocl.tensor(7))


def test_arguments_that_the_program_writes_to_change():
    def forward(x, state):
        state["count"].add_(1)
        x[0] = 7
        return x * state["count"]

    program = exported(Of(forward), torch.ones(3), {"count": torch.zeros(1)})
    x, state = ocl.ones(3), {"count": ocl.ones(1)}
    result = from_torch(program)(x, state)
    np.testing.assert_array_equal(x.numpy(), [7, 1, 1])
    assert state["count"].item() == 2
    np.testing.assert_array_equal(result.numpy(), [14, 2, 2])


def test_views_that_are_written_to_change_their_base():
    def forward(x):
        y = x.clone()
        y.reshape(-1)[1:3].mul_(5)
        y.t()[0].add_(1)
        return y

    agrees(forward, torch.arange(6.0).reshape(2, 3))


class WithoutGradients(nn.Module):
    """A weight that acts three times, and gets a gradient of the last alone."""

    def __init__(self, in_place):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([2.0]))
        self.in_place = in_place

    def forward(self, x):
        with torch.no_grad():
            y = x * self.weight
        z = (x * self.weight).detach() * y + x * self.weight
        return (z.add_(1) if self.in_place else z + 1), y


@pytest.mark.parametrize("in_place", [False, True])
def test_regions_without_gradients_stay_so(in_place):
    net, x = WithoutGradients(in_place), torch.ones(1)
    module = from_torch(exported(net, x))
    decomposed = "aten.mul.Tensor" in [node.operator for node in module._graph.nodes[:1]]
    assert decomposed == in_place
    total, without = module(up(x))
    assert not without.requires_grad
    total.backward()
    net(x)[0].backward()
    assert module.weight.grad.item() == net.weight.grad.item() == 1
    with ocl.no_grad():
        assert not module(up(x))[0].requires_grad


@pytest.mark.parametrize("decomposed", [False, True])
def test_autocast_regions_compute_in_their_dtype(decomposed):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = self.layer(x)
            return y, x + y

    net, x = Net(), torch.randn(3, 8)
    module = from_torch(exported(net, x, decomposed=decomposed))
    mine, expected = module(up(x)), net(x)
    assert mine[0].dtype == ocl.bfloat16
    close(mine[1], expected[1], 2e-2)


def test_conditions_and_loops():
    def conditional(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

    x = torch.arange(4.0)
    program = exported(Of(conditional), x)
    for given in (x, -x):
        close(from_torch(program)(up(given)), conditional(given))

    def loop(x, n):
        from torch._higher_order_ops.while_loop import while_loop

        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (n, x))

    module = from_torch(exported(Of(loop), x, torch.tensor(0)))
    count, result = module(up(x), ocl.tensor(2))
    assert count.item() == 5
    np.testing.assert_array_equal(result.numpy(), np.arange(4) * 8)

    def mapped(x, y):
        from torch._higher_order_ops.map import map as torch_map

        return torch_map(lambda row, y: row * y, x, y)

    rows, factor = torch.randn(3, 2), torch.randn(2)
    close(from_torch(exported(Of(mapped), rows, factor))(up(rows), up(factor)), rows * factor)


def test_scans_carry_and_stack():
    from torch._higher_order_ops.scan import scan

    def step(carried, row):
        return carried + row, carried * row

    x = torch.randn(4, 3)
    init = torch.zeros(3)
    module = from_torch(exported(Of(lambda i, x: scan(step, i, x)), init, x))
    last, rows = module(up(init), up(x))
    close(last, x.sum(0))
    close(rows, torch.stack([x[:k].sum(0) * x[k] for k in range(4)]))


def test_all_that_is_missing_is_named_before_anything_runs():
    def forward(x):
        y = torch.fft.rfft(x).abs().sum()
        return y + torch.special.i0(x) + torch.special.i0(x + 1), x.to(torch.uint16)

    with pytest.raises(UnsupportedError) as caught:
        from_torch(exported(Of(forward), torch.eye(3)))
    names = [name for name, _, _ in caught.value.missing]
    assert names.count("aten.i0.default") == 1 and any("fft" in name for name in names)
    assert any(reason == "no tensors of the dtype torch.uint16" for _, _, reason in caught.value.missing)
    assert "from_torch: operators that are not supported: aten." in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_what_a_row_cannot_do_is_missing_with_its_reason():
    def forward(x):
        return torch.as_strided(x.t(), (2, 2), (1, 2))

    with pytest.raises(UnsupportedError) as caught:
        from_torch(exported(Of(forward), torch.ones(3, 4)))
    ((name, _, reason),) = caught.value.missing
    assert (name, reason) == ("aten.as_strided.default", "of a tensor that is not contiguous")
    agrees(lambda x: torch.as_strided(x, (2, 2), (1, 2), 3), torch.arange(12.0).reshape(3, 4))


def test_modules_are_copied_and_pickled():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True)).eval()
    x = torch.randn(5, 3)
    module = from_torch(exported(net, x))
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert copied.state_dict().keys() == module.state_dict().keys()
        close(copied(up(x)), net(x))
        with ocl.no_grad():
            copied.get_parameter("0.weight").zero_()
    close(module(up(x)), net(x))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_16_bits_stay_so(dtype):
    net, x = nn.Linear(3, 4).to(dtype), torch.randn(5, 3).to(dtype)
    module = from_torch(exported(net, x))
    given = ocl.tensor(x.float().numpy()).to(module.weight.dtype)
    result = module(given)
    assert str(result.dtype).removeprefix("ocl.") == str(dtype).removeprefix("torch.")
    np.testing.assert_array_equal(
        module.weight.detach().to(ocl.float32).numpy(), net.weight.detach().float().numpy()
    )
    np.testing.assert_allclose(
        result.detach().to(ocl.float32).numpy(), net(x).detach().float().numpy(), rtol=2e-2, atol=2e-2
    )


def test_dtypes_of_inputs_are_refused_by_name():
    with pytest.raises(
        UnsupportedError, match=r"input \(first node: \w+; no tensors of the dtype torch.uint32\)"
    ):
        from_torch(exported(Of(lambda x: x + 1), torch.ones(2, dtype=torch.uint32)))


def test_what_is_no_program_is_refused():
    with pytest.raises(TypeError, match="from_torch: expected a torch.export.ExportedProgram, got Linear"):
        from_torch(nn.Linear(2, 2))


def test_errors_of_a_run_name_the_node():
    module = from_torch(exported(nn.Linear(2, 2), torch.ones(3, 2)))
    with pytest.raises(ValueError, match=r"from_torch: node '\w+' \(aten.linear.default\)"):
        module(ocl.ones(3, 2, dtype=ocl.int64))


def test_devices_are_chosen():
    program = exported(nn.Linear(2, 2), torch.ones(3, 2))
    device = ocl.get_default_device()
    module = from_torch(program, str(device))
    assert module.weight.device == device
    assert module(ocl.ones(3, 2, device=device)).device == device


def test_modules_go_where_they_are_sent():
    program = exported(Of(lambda x: x + torch.arange(3.0) + torch.ones(3)), torch.zeros(3))
    last = f"ocl:{ocl.device_count() - 1}"
    module = from_torch(program).to(last)
    result = module(ocl.zeros(3, device=last))
    assert str(result.device) == last
    np.testing.assert_array_equal(result.numpy(), [1, 2, 3])


def test_programs_of_files_are_taken(tmp_path):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 2))
    x = torch.randn(3, 4)
    torch.export.save(exported(net, x), tmp_path / "net.pt2")
    module = from_torch(torch.export.load(tmp_path / "net.pt2"))
    close(module(up(x)), net(x))
    made = ocl.export(module, (up(x),))
    assert "input: float32[3, 4]" in str(made)
    made.save(tmp_path / "net.ocl")
    again = ocl.runtime.load(tmp_path / "net.ocl")(up(x))
    assert again.numpy().tobytes() == module(up(x)).detach().numpy().tobytes()


def test_a_program_trains():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    module = from_torch(exported(net, torch.zeros(8, 4)))
    optimizer = ocl.optim.SGD(module.parameters(), lr=0.05)
    x = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    x, y = ocl.tensor(x), ocl.tensor(x.sum(1, keepdims=True))
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = ocl.nn.functional.mse_loss(module(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10


def test_a_training_step_becomes_a_program(tmp_path):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 2)).train()
    program = exported(net, torch.randn(6, 4))
    x, y = ocl.randn(6, 4), ocl.tensor([0, 1, 0, 1, 1, 0])
    results = []
    for as_program in (False, True):
        module = from_torch(program)
        optimizer = ocl.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)

        def step(x, y, module=module, optimizer=optimizer):
            optimizer.zero_grad()
            loss = ocl.nn.functional.cross_entropy(module(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step(x, y)
        if as_program:
            ocl.export(step, (x, y), named=module).save(tmp_path / "step.ocl")
            step = ocl.runtime.load(tmp_path / "step.ocl")
        results.append([step(x, y).item() for _ in range(5)])
    assert results[0] == results[1] and results[0][-1] < results[0][0]


def test_ocl_does_not_import_torch():
    script = "import ocl, sys; ocl.export.operators(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
