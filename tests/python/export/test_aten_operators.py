"""Every operator of from_torch's table beside PyTorch's: results, dtypes and gradients."""

import warnings

import aten_cases
import numpy as np
import pytest
import torch

import ocl
from ocl.export.aten.graph import Call, Node, Run
from ocl.export.aten.loading import _PLACEMENT, uploaded
from ocl.export.aten.table import table
from ocl.imported import DTYPES

CASES = [(name, k) for name, cases in aten_cases.CASES.items() for k in range(len(cases))]
# PyTorch does not differentiate these.
NOT_DIFFERENTIATED = {"aten._embedding_bag_forward_only.default", "aten.lift_fresh.default"}
# Linear algebra takes float32 and float64 alone, as in PyTorch; the greatest number depends on the dtype.
NO_16_BIT = {name for name, row in table().items() if row.family == "linalg"} - {"aten.linalg_cross.default"}
NO_16_BIT |= {"aten.nan_to_num.default"}
# States are rounded in each of 5 steps of 2 layers, where others round once.
ROUNDS_OFTEN = {"aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input"}
ELSEWHERE = ("operator.", "math.", "builtins.", "torch.", "higher_order.", "aten.sym", "aten._assert")
# Rows that only whole programs can test (test_from_torch.py).
IN_PROGRAMS = {"aten.item.default", "aten._local_scalar_dense.default"}
RECONSTRUCTED = {"aten.linalg_svd.default", "aten.linalg_eigh.default"}


def ours(argument, tensors):
    """An argument of PyTorch's as the row takes it; ``tensors`` gets the pairs."""
    if isinstance(argument, torch.Tensor):
        made = uploaded(argument, None)
        if argument.requires_grad:
            made.requires_grad_()
        tensors.append((argument, made))
        return made
    if isinstance(argument, torch.dtype):
        return DTYPES[str(argument).removeprefix("torch.")]
    if isinstance(argument, list):
        return [ours(each, tensors) for each in argument]
    return argument


def called(name, args, kwargs, training=False):
    row = table()[name]
    tensors = []
    args = [ours(each, tensors) for each in args]
    kwargs = {key: ours(each, tensors) for key, each in kwargs.items() if key not in _PLACEMENT}
    if row.call:
        node = Node("node", name, row, (), {}, None)
        args = [Call(node, Run(ocl.get_default_device(), training, True, {})), *args]
    return row.function(*args, **kwargs), tensors


def flat(result):
    if isinstance(result, (tuple, list)):
        return [each for part in result for each in flat(part)]
    return [result]


def with_gradients(argument):
    if isinstance(argument, torch.Tensor):
        fixed = getattr(argument, "is_fixed", False) or not argument.is_floating_point()
        return argument.detach().clone().requires_grad_(not fixed)
    return [with_gradients(each) for each in argument] if isinstance(argument, list) else argument


def theirs(name, args, kwargs):
    operator, overload = name.removeprefix("aten.").split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(getattr(torch.ops.aten, operator), overload)(*args, **kwargs)


TOLERANCES = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 2e-5, torch.float64: 2e-5}


def assert_close(mine, expected, truth=None):
    """Within the tolerance of PyTorch's result, or of `truth` by at most 4 times PyTorch's own distance."""
    assert list(mine.shape) == list(expected.shape)
    assert mine.dtype == DTYPES[str(expected.dtype).removeprefix("torch.")]
    got, wanted = mine.detach().to(ocl.float64).numpy(), expected.detach().double().numpy(force=True)
    tolerance = absolute = TOLERANCES.get(expected.dtype, 0)
    if truth is not None:
        exact = truth.detach().numpy(force=True)
        error = np.abs(wanted - exact)
        absolute = max(absolute, 4 * error[np.isfinite(error)].max(initial=0))
        wanted = np.where(np.isfinite(exact), exact, wanted)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=absolute)


def tensors_of(argument):
    if isinstance(argument, (list, tuple)):
        return [each for part in argument for each in tensors_of(part)]
    return [argument] if isinstance(argument, torch.Tensor) else []


def in_float64(argument):
    if isinstance(argument, torch.Tensor) and argument.is_floating_point():
        return argument.detach().double().requires_grad_(argument.requires_grad)
    return [in_float64(each) for each in argument] if isinstance(argument, list) else argument


def theirs_with_gradients(name, args, kwargs):
    """PyTorch's results, and a function that gives the gradients of the tensors for weights of results."""
    results = flat(theirs(name, args, kwargs))

    def gradients(weighted, weights):
        torch.autograd.backward([results[i] for i in weighted], weights)
        return [each.grad for each in tensors_of([*args, *kwargs.values()])]

    return results, gradients


@pytest.mark.parametrize("name, k", CASES, ids=[f"{name}-{k}" for name, k in CASES])
def test_results_and_gradients_are_pytorchs(name, k):
    args, kwargs = aten_cases.CASES[name][k]
    if name not in NOT_DIFFERENTIATED:
        args = [with_gradients(each) for each in args]
        kwargs = {key: with_gradients(each) for key, each in kwargs.items()}
    expected, expected_gradients = theirs_with_gradients(name, args, kwargs)
    result, tensors = called(name, args, kwargs)
    compared = [(i, mine) for i, mine in enumerate(flat(result)) if mine is not None][: len(expected)]
    assert compared
    for i, mine in compared:
        assert_close(mine, expected[i])
    weighted = [i for i, _ in compared if expected[i].requires_grad]
    if not weighted:
        return
    draws = torch.Generator().manual_seed(k)
    weights = [torch.rand(expected[i].shape, dtype=expected[i].dtype, generator=draws) for i in weighted]
    try:
        gradients = expected_gradients(weighted, weights)
    except RuntimeError as error:
        assert "not implemented" in str(error) or "derivative" in str(error)
        return
    truths = gradients
    if any(each is not None and each.dtype == torch.float32 for each in gradients):
        exact_args = [in_float64(each) for each in args]
        exact_kwargs = {key: in_float64(each) for key, each in kwargs.items()}
        _, exact_gradients = theirs_with_gradients(name, exact_args, exact_kwargs)
        truths = exact_gradients(weighted, [each.double() for each in weights])
    mine_of = dict(compared)
    flows = [(mine_of[i], w) for i, w in zip(weighted, weights, strict=True) if mine_of[i].requires_grad]
    if flows:
        ocl.autograd.backward([mine for mine, _ in flows], [uploaded(w, None) for _, w in flows])
    assert len(tensors) == len(gradients)
    for (_, mine), wanted, truth in zip(tensors, gradients, truths, strict=True):
        if wanted is not None:
            assert_close(ocl.zeros_like(mine) if mine.grad is None else mine.grad, wanted, truth.double())


def converted(argument, dtype):
    if isinstance(argument, torch.Tensor) and argument.is_floating_point():
        return argument.to(dtype)
    return [converted(each, dtype) for each in argument] if isinstance(argument, list) else argument


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("name", [name for name in aten_cases.CASES if name not in NO_16_BIT])
def test_16_bit_results_are_near_those_of_rounded_arguments(name, dtype):
    """PyTorch computes the same of the rounded arguments in float32."""
    tolerance = {torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype] * (10 if name in ROUNDS_OFTEN else 1)
    for args, kwargs in aten_cases.CASES[name]:
        rounded = [converted(each, dtype) for each in args]
        expected = flat(theirs(name, [converted(each, torch.float32) for each in rounded], kwargs))
        results = flat(called(name, rounded, {k: converted(v, dtype) for k, v in kwargs.items()})[0])
        for mine, wanted in zip(results, expected, strict=False):
            if mine is not None and wanted.is_floating_point():
                assert list(mine.shape) == list(wanted.shape)
                got, wanted = mine.to(ocl.float64).numpy(), wanted.double().numpy()
                scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0)
                np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("name", aten_cases.RANDOM)
def test_shapes_and_dtypes_are_pytorchs(name):
    for args, kwargs in aten_cases.RANDOM[name]:
        expected = theirs(name, args, kwargs)
        mine, _ = called(name, args, kwargs)
        assert list(mine.shape) == list(expected.shape)
        assert mine.dtype == DTYPES[str(expected.dtype).removeprefix("torch.")]


@pytest.mark.parametrize("name", ["aten.linalg_svd.default", "aten._linalg_svd.default"])
def test_singular_vectors_make_the_matrix_again(name):
    a = aten_cases.f(2, 5, 3)
    (u, s, vh), _ = called(name, (a, False), {})
    assert_close(u * s.unsqueeze(-2) @ vh, a)
    assert_close(s, torch.linalg.svdvals(a))


@pytest.mark.parametrize("name", ["aten.linalg_eigh.default", "aten._linalg_eigh.default"])
def test_eigenvectors_make_the_matrix_again(name):
    a = aten_cases.definite(2, 4, 4)
    (values, vectors), _ = called(name, (a,), {})
    assert_close(vectors * values.unsqueeze(-2) @ vectors.transpose(-1, -2), a)
    assert_close(values, torch.linalg.eigvalsh(a))


def test_random_numbers_have_their_distributions():
    x = torch.zeros(20000)
    uniform = called("aten.uniform.default", (x, 1.0, 3.0), {})[0].numpy()
    assert uniform.min() >= 1 and uniform.max() <= 3 and abs(uniform.mean() - 2) < 0.05
    normal = called("aten.normal_functional.default", (x, 1.0, 3.0), {})[0].numpy()
    assert abs(normal.mean() - 1) < 0.1 and abs(normal.std() - 3) < 0.1
    whole = called("aten.randint.low", (2, 5, [20000]), {})[0].numpy()
    assert {*np.unique(whole)} == {2, 3, 4}
    dropped, kept = called("aten.native_dropout.default", (torch.ones(20000), 0.25, True), {}, True)[0]
    assert {*np.unique(dropped.numpy())} == {np.float32(0), np.float32(4 / 3)}
    assert abs(kept.to(ocl.float32).mean().item() - 0.75) < 0.02
    np.testing.assert_array_equal(dropped.numpy() > 0, kept.numpy())


def test_every_operator_has_cases():
    tested = {*aten_cases.CASES, *aten_cases.RANDOM, *IN_PROGRAMS, *RECONSTRUCTED}
    missing = [name for name in table() if name not in tested and not name.startswith(ELSEWHERE)]
    assert missing == []
    assert [name for name in tested if name not in table()] == []
