"""Averaged models and their schedule, beside PyTorch's."""

import copy
import pickle

import numpy as np
import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def net_of(library):
    nn = library.nn
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))


def filled(library, net, seed):
    rng = np.random.default_rng(seed)
    with library.no_grad():
        for tensor in [*net.parameters(), *net.buffers()]:
            if tensor.dtype == library.float32:
                tensor.copy_(
                    library.tensor(rng.uniform(0.5, 1.5, tuple(tensor.shape)).astype(np.float32).tolist())
                )
    return net


AVERAGES = {
    "mean": lambda utils: {},
    "mean and buffers": lambda utils: {"use_buffers": True},
    "ema": lambda utils: {"avg_fn": utils.get_ema_avg_fn(0.7)},
    "ema of lists": lambda utils: {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.7), "use_buffers": True},
    "mean of lists": lambda utils: {"multi_avg_fn": utils.get_swa_multi_avg_fn()},
    "of one's own": lambda utils: {"avg_fn": lambda average, new, count: average * 0.25 + new},
}


@pytest.mark.parametrize("options", AVERAGES.values(), ids=AVERAGES.keys())
def test_averages(options):
    def play(library):
        utils = library.optim.swa_utils
        averaged = utils.AveragedModel(filled(library, net_of(library), 0), **options(utils))
        for seed in range(1, 4):
            averaged.update_parameters(filled(library, net_of(library), seed))
        state = averaged.state_dict()
        return {name: np.array(value.tolist(), dtype=np.float64) for name, value in state.items()}

    ours, theirs = (play(library) for library in LIBRARIES)
    assert list(ours) == list(theirs)
    for name, expected in theirs.items():
        np.testing.assert_allclose(ours[name], expected, rtol=1e-6, err_msg=name)


def test_calls_and_copies():
    averaged = ocl.optim.swa_utils.AveragedModel(net_of(ocl))
    x = ocl.ones(4, 2)
    expected = averaged.module(x).tolist()
    for twin in (copy.deepcopy(averaged), pickle.loads(pickle.dumps(averaged))):
        twin.load_state_dict(averaged.state_dict())
        assert twin(x).tolist() == expected


def test_update_bn():
    def play(library):
        net = filled(library, net_of(library), 5)
        rng = np.random.default_rng(2)
        batches = [library.tensor(rng.standard_normal((6, 2)).astype(np.float32).tolist()) for _ in range(3)]
        net.eval()
        library.optim.swa_utils.update_bn([(batches[0], 1), batches[1], [batches[2]]], net)
        return net[1].running_mean.tolist(), net[1].running_var.tolist(), net[1].momentum, net.training

    (mean, var, *rest), (their_mean, their_var, *their_rest) = (play(library) for library in LIBRARIES)
    np.testing.assert_allclose(mean, their_mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(var, their_var, rtol=1e-5)
    assert rest == their_rest


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 5])
def test_schedule(strategy, epochs):
    def play(library):
        groups = [{"params": [library.nn.Parameter(library.ones(1))], "lr": lr} for lr in (0.5, 2.0)]
        optimizer = library.optim.SGD(groups, lr=1.0)
        schedule = library.optim.swa_utils.SWALR(optimizer, [0.1, 3.0], epochs, strategy)
        rates = []
        for epoch in range(8):
            optimizer.step()
            schedule.step()
            rates.append([group["lr"] for group in optimizer.param_groups])
            if epoch == 3:
                state = schedule.state_dict()
                schedule = library.optim.swa_utils.SWALR(optimizer, [0.1, 3.0], epochs, strategy)
                schedule.load_state_dict(pickle.loads(pickle.dumps(state)))
        return rates, schedule.anneal_epochs

    (ours, epochs_of_ours), (theirs, epochs_of_theirs) = (play(library) for library in LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert epochs_of_ours == epochs_of_theirs


def test_wrong_options():
    for library in LIBRARIES:
        utils = library.optim.swa_utils
        optimizer = library.optim.SGD([library.nn.Parameter(library.ones(1))], lr=1.0)
        for wrong in ({"anneal_strategy": "steps"}, {"anneal_epochs": -1}, {"swa_lr": [1.0, 2.0]}):
            with pytest.raises(ValueError, match="anneal_strategy|anneal_epochs|swa_lr"):
                utils.SWALR(optimizer, **{"swa_lr": 0.1, **wrong})
        with pytest.raises(ValueError, match="Invalid decay value"):
            utils.get_ema_avg_fn(1.5)
        with pytest.raises(AssertionError, match="Only one"):
            utils.AveragedModel(net_of(library), avg_fn=min, multi_avg_fn=min)
