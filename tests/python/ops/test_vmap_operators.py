"""Every operator under vmap: the batch has the bits of a loop over its examples, but for rounding, with
gradients.

Examples are the arrays of the operators' random cases (cases/), and numbers like them.
"""

import cases
import numpy as np
import pytest
from comparison import as_list, drawn

import ocl

SIZE = 3
SEEDS = range(4)
# Random numbers differ from call to call (test_vmap.py).
RANDOM = {
    "bernoulli", "dropout", "dropout2d", "exponential_", "gumbel_softmax", "multinomial", "normal", "rand",
    "randint",
    "randn", "randperm", "rand_like", "randn_like", "randint_like", "random_", "rrelu", "uniform_", "normal_",
    "bernoulli_",
}  # fmt: skip
# What they give depends on the elements: the shape, or a number of Python's.
DEPENDENT = {
    "empty_like", "allclose", "argwhere", "batched_nms", "bincount", "equal", "masked_select", "nms",
    "nonzero", "one_hot",
    "remove_small_boxes", "repeat_interleave", "unique", "unique_consecutive",
}  # fmt: skip
NAMES = sorted(set(cases.CASES) - RANDOM - DEPENDENT)


def examples_of(array, kind):
    """Arrays of one shape and dtype: of floats smaller ones, which stay sorted and in a function's domain."""
    if kind == "same":
        return [array] * SIZE
    if array.dtype.kind == "f":
        return [(array * (1 - 0.03 * k)).astype(array.dtype) for k in range(SIZE)]
    return [np.roll(array.reshape(-1), k).reshape(array.shape) for k in range(SIZE)]


def batches_of(case, batched, kind):
    """For each input its examples' arrays, of one that is not batched the same."""
    return [
        examples_of(i.array, kind if i.array.dtype.kind != "f" else "other") if b else [i.array] * SIZE
        for i, b in zip(case.inputs, batched, strict=True)
    ]


def leaves_of(batches, batched, dims, differentiates):
    tensors = []
    for arrays, is_batched, dim in zip(batches, batched, dims, strict=True):
        array = np.stack(arrays, dim) if is_batched else arrays[0]
        tensor = ocl.tensor(np.ascontiguousarray(array).reshape(array.shape))
        if differentiates and tensor.is_floating_point():
            tensor.requires_grad_()
        tensors.append(tensor)
    return tensors


def flat_results(results):
    return [r for r in as_list(results) if isinstance(r, ocl.Tensor)]


def run(compute, leaves, differentiates):
    """Results and gradients of all floating leaves."""
    results = compute(*leaves)
    roots = [r for r in results if r.requires_grad] if differentiates else []
    if roots:
        rng = np.random.default_rng(3)
        weights = [ocl.tensor(rng.uniform(0.5, 1, tuple(r.shape)).astype(str(r.dtype)[4:])) for r in roots]
        sum((r * w).sum() for r, w in zip(roots, weights, strict=True)).backward()
    gradients = [x.grad for x in leaves if x.requires_grad] if roots else []
    return [r.detach().numpy() for r in results], [None if g is None else g.numpy() for g in gradients]


def looped(function, batched, dims):
    def compute(*leaves):
        rows = []
        for i in range(SIZE):
            given = [x.select(d, i) if b else x for x, b, d in zip(leaves, batched, dims, strict=True)]
            if any(not x.requires_grad for x in given):
                given = [x if x.requires_grad else x.clone() for x in given]
            rows.append(flat_results(function(ocl, *given)))
        return [ocl.stack(list(column)) for column in zip(*rows, strict=True)]

    return compute


def mapped(function, batched, dims):
    in_dims = tuple(d if b else None for b, d in zip(batched, dims, strict=True))

    def compute(*leaves):
        return flat_results(
            ocl.vmap(lambda *given: tuple(flat_results(function(ocl, *given))), in_dims)(*leaves)
        )

    return compute


def mixes(name, case):
    """Which inputs are batched, and where: all, each alone, all but each; along 0, the last one and 1."""
    count = len(case.inputs)
    kinds = {(True,) * count}
    for place in range(count):
        kinds.add(tuple(n == place for n in range(count)))
        kinds.add(tuple(n != place for n in range(count)))
    for batched in sorted(kinds, reverse=True):
        if any(batched):
            yield batched, (0,) * count
    if name == "view":
        return  # a batch that lies along another dimension has no such view
    yield (True,) * count, (-1,) * count
    yield (True,) * count, tuple(min(1, i.array.ndim) for i in case.inputs)


def close(actual, expected, what):
    assert actual.shape == expected.shape and actual.dtype == expected.dtype, what
    if actual.dtype.kind != "f":
        np.testing.assert_array_equal(actual, expected, err_msg=what)
        return
    finite = np.isfinite(expected)
    scale = max(1.0, float(np.abs(expected[finite]).max())) if finite.any() else 1.0
    np.testing.assert_allclose(actual, expected, rtol=2e-4, atol=2e-5 * scale, err_msg=what)


def check(name, seed):
    case = drawn(name, seed)
    if not case.inputs:
        return
    for batched, dims in mixes(name, case):
        expected = None
        for kind in ("other", "same"):
            batches = batches_of(case, batched, kind)
            differentiates = case.backward and not name.endswith("_")
            try:
                expected = run(
                    looped(case.function, batched, dims),
                    leaves_of(batches, batched, dims, differentiates),
                    differentiates,
                )
                break
            except (RuntimeError, ValueError, IndexError):  # other places may be out of range
                if kind == "same":
                    raise
        what = f"{name}, seed {seed}, batched {batched} along {dims}"
        leaves = leaves_of(batches, batched, dims, differentiates)
        try:
            actual = run(mapped(case.function, batched, dims), leaves, differentiates)
        except RuntimeError as error:
            if "inplace arithmetic" in str(error) and not batched[0]:
                continue
            if "Batch norm got a batched tensor" in str(error) and not all(batched[:3]):
                continue
            raise AssertionError(what) from error
        for place, (a, e) in enumerate(zip(actual[0], expected[0], strict=True)):
            close(a, e, f"{what}, result {place}")
        for place, (a, e) in enumerate(zip(actual[1], expected[1], strict=True)):
            if a is None or e is None:
                assert not np.any(a if e is None else e) if (a is None) != (e is None) else True, what
            else:
                close(a, e, f"{what}, gradient {place}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_like_a_loop(name):
    for seed in SEEDS:
        check(name, seed)
