"""Every operator on random cases against PyTorch on the CPU, forward and backward; the cases are in cases/.

The truth is PyTorch's result in float64. Our float32 error is at most 4 times PyTorch's own float32 error
plus one unit in the last place, both the largest over all cases of the operator.
"""

import cases
import numpy as np
import pytest
import torch
from comparison import as_list, check_cases, drawn, skip_where_torch_fails
from support import has_float64

import ocl

SEEDS = range(20)
TABLE = {row["name"]: row for row in ocl._C.operator_table()}
DIFFERENTIABLE = sorted(name for name, row in TABLE.items() if row["derivative"] and name in cases.CASES)

# Operators whose tests stand elsewhere, and why.
RANDOM = "test_random.py: the numbers are random"
ELSEWHERE = {
    name: RANDOM
    for name in (
        "rand randn randint rand_like randn_like randint_like randperm normal bernoulli multinomial uniform_ "
        "normal_ bernoulli_ exponential_ random_ gumbel_softmax"
    ).split()
}


def seeds_of(name):
    """All; on the simulator, which takes a thousand times as long, six small ones."""
    if "Oclgrind" not in ocl.get_device_name():
        return SEEDS
    return sorted(SEEDS, key=lambda seed: sum(i.array.size for i in drawn(name, seed).inputs))[4:10]


@pytest.mark.oclgrind
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(cases.CASES))
def test_like_torch(name):
    skip_where_torch_fails(name)
    check_cases(name, seeds_of(name))


def float64_functions(name, most_elements, count):
    """Up to `count` cases of an operator as (seed, function, inputs) for finite differences: a function of
    float64 leaves, whose result is one tensor."""
    if not has_float64():
        pytest.skip(f"{ocl.get_device_name()} has no float64")
    found = 0
    for seed in range(200):
        case = drawn(name, seed)
        floats = [i for i in case.inputs if i.is_floating]
        if not (case.backward and case.gradcheck and 0 < sum(i.array.size for i in floats) <= most_elements):
            continue
        leaves = [
            i.build(lambda a: ocl.tensor(a.astype(np.float64) if a.dtype.kind == "f" else a))[0]
            for i in case.inputs
        ]
        inputs = [leaf.requires_grad_() for i, leaf in zip(case.inputs, leaves, strict=True) if i.is_floating]

        def function(*given, case=case, leaves=leaves):
            given = iter(given)
            built = [
                i.build(lambda _, leaf=leaf, i=i: next(given) if i.is_floating else leaf)[1]
                for i, leaf in zip(case.inputs, leaves, strict=True)
            ]
            results = [r for r in as_list(case.function(ocl, *built)) if r.dtype.is_floating_point]
            return ocl.cat([r.reshape(-1) for r in results])

        yield seed, function, inputs
        found += 1
        if found == count:
            return
    assert found, f"no case of {name} is small enough for finite differences"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradcheck(name):
    for seed, function, inputs in float64_functions(name, 60, 3):
        assert ocl.autograd.gradcheck(function, inputs), f"seed {seed}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradgradcheck(name):
    ocl.manual_seed(1)
    for seed, function, inputs in float64_functions(name, 400, 4):
        assert ocl.autograd.gradgradcheck(function, inputs, fast_mode=True), f"seed {seed}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(cases.ERRORS))
def test_errors_like_torch(name):
    for i, call in enumerate(cases.ERRORS[name]()):
        try:
            call(torch)
        except Exception as error:
            raised = error
        else:
            raise AssertionError(f"call {i}: PyTorch raises nothing")
        try:
            call(ocl)
            ocl.synchronize()
        except type(raised):
            continue
        raise AssertionError(f"call {i}: nothing raised; PyTorch: {raised}")


def test_every_operator_has_cases():
    missing = sorted(set(TABLE) - set(cases.CASES) - set(ELSEWHERE))
    unknown = sorted(set(cases.CASES) - set(TABLE))
    assert not missing, "operators without cases"
    assert not unknown, "cases of operators that are in no table"
