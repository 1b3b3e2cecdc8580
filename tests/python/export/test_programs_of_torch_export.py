"""Nets that torch.export exports: their results, gradients, and the programs that they become."""

import copy
import warnings

import numpy as np
import pytest
import torch
from exported_nets import NETS, agrees, drawn_net, flat, marked, torchvision, up, widened

import ocl

nn = torch.nn
QUICK = ("squeezenet1_1", "encoder", "attention", "lstm", "gru", "rnn", "embedding", "bert")


def imported(net, args, kwargs, decomposed=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(net, args, kwargs)
        return ocl.export.from_torch(program.run_decompositions() if decomposed else program)


# PyTorch's run_decompositions fails: it cannot view what its attention gives.
NOT_DECOMPOSED = ("gpt2", "gpt2_with_cache")
PROGRAMS = marked(NETS, QUICK, False) + marked(
    (name for name in NETS if name not in NOT_DECOMPOSED), (), True
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, decomposed", PROGRAMS)
def test_results_are_pytorchs_and_programs_have_their_bits(name, decomposed, tmp_path):
    net, args, kwargs = drawn_net(name)
    module = imported(net, args, kwargs, decomposed)
    assert {*module.state_dict()} == {*net.state_dict()}
    agrees(module, net, args, kwargs, tmp_path / "net.ocl")


def near(mine, theirs, exact, name):
    """Ours is within 4 times PyTorch's own distance from the truth, and some units in the last place."""
    distance = (theirs - exact).abs().max().item()
    bound = 4 * distance + 1e-6 * exact.abs().max().item()
    assert np.abs(mine.numpy() - exact.numpy()).max() <= bound, name


TRAINED = (
    "resnet18",
    "mobilenet_v3_small",
    "convnext_tiny",
    "encoder",
    "attention",
    "lstm",
    "embedding",
    "gpt2",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", marked(TRAINED, QUICK))
@pytest.mark.parametrize("training", [False, True])
def test_gradients_are_pytorchs(name, training):
    """The loss is the mean square of all results; float64 tells how near PyTorch's float32 is."""
    net, args, kwargs = drawn_net(name)
    if args and args[0].ndim == 4:  # batch norms of few elements are ill-conditioned
        args = (torch.randn(4, 3, 64, 64),)
    net.train(training)
    for each in net.modules():
        if isinstance(each, (nn.Dropout, torchvision.ops.StochasticDepth, nn.MultiheadAttention)):
            each.eval()
        if isinstance(each, nn.MultiheadAttention):
            each.dropout = 0.0
    module = imported(net, args, kwargs)
    exact = copy.deepcopy(net).double()
    before = {key: value.clone() for key, value in net.state_dict().items()}

    def gradients(each, args, kwargs):
        results = flat(each(*args, **kwargs))
        sum((result * result).mean() for result in results).backward()
        return {key: p.grad for key, p in each.named_parameters() if p.grad is not None}

    mine = gradients(module, [up(each) for each in args], {key: up(each) for key, each in kwargs.items()})
    theirs = gradients(net, args, kwargs)
    truth = gradients(exact, [widened(e) for e in args], {key: widened(e) for key, e in kwargs.items()})
    assert {*mine} == {*theirs}
    for key, expected in truth.items():
        near(mine[key], theirs[key], expected, key)
    moved = [key for key, value in net.state_dict().items() if not torch.equal(value, before[key])]
    assert bool(moved) == (training and name in ("resnet18", "mobilenet_v3_small"))
    for key in moved:
        near(module.state_dict()[key], net.state_dict()[key], exact.state_dict()[key], key)
