"""Muon beside PyTorch's."""

import copy

import numpy as np
import pytest
import torch

import ocl

SHAPES = [(5, 5), (4, 9), (11, 3), (1, 7)]


def trained(library, steps=4, **options):
    rng = np.random.default_rng(3)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES]
    parameters = [library.nn.Parameter(library.tensor(v.tolist())) for v in values]
    optimizer = library.optim.Muon(parameters, **options)
    for _ in range(steps):
        for p in parameters:
            p.grad = library.tensor(rng.standard_normal(tuple(p.shape)).astype(np.float32).tolist())
        optimizer.step()
    return parameters, optimizer


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lr": 0.1, "nesterov": False},
        {"lr": 0.1, "weight_decay": 0.0, "momentum": 0.5, "adjust_lr_fn": "match_rms_adamw"},
        {
            "lr": 0.1,
            "adjust_lr_fn": "original",
            "ns_steps": 2,
            "ns_coefficients": (2.0, -1.5, 0.5),
            "eps": 1e-3,
        },
    ],
)
def test_steps(options):
    theirs, _ = trained(torch, **options)
    ours, _ = trained(ocl, **options)
    start, _ = trained(ocl, steps=0, **options)
    for p, expected, first in zip(ours, theirs, start, strict=True):
        # Both iterate in bfloat16, whose sums differ with their order: by a share of what the steps changed.
        change = np.abs(expected.detach().numpy() - first.detach().numpy()).max()
        np.testing.assert_allclose(
            p.detach().numpy(), expected.detach().numpy(), rtol=0, atol=max(0.03 * change, 1e-6)
        )


def test_state_and_copies():
    parameters, optimizer = trained(ocl)
    _, theirs = trained(torch)
    assert set(optimizer.state[parameters[0]]) == {"momentum_buffer"}
    assert set(optimizer.state_dict()["param_groups"][0]) >= set(theirs.defaults)
    assert optimizer.defaults == theirs.defaults
    twin = copy.deepcopy(optimizer)
    twin.load_state_dict(optimizer.state_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1.0}, "lr"),
        ({"momentum": -1.0}, "momentum"),
        ({"adjust_lr_fn": "none"}, "none is not supported"),
        ({"weight_decay": -1.0}, "decay|weight_decay"),
    ],
)
def test_wrong_options(options, message):
    for library in (torch, ocl):
        with pytest.raises(ValueError, match=f"(?i){message}|learning rate"):
            library.optim.Muon([library.nn.Parameter(library.ones(2, 2))], **options)


def test_vectors_are_refused():
    for library in (torch, ocl):
        with pytest.raises(ValueError, match="only supports 2D parameters"):
            library.optim.Muon([library.nn.Parameter(library.ones(2))])
