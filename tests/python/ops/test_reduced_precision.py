"""Every operator in float16 and bfloat16, on rounded inputs, against PyTorch in float64."""

import cases
import pytest
from comparison import Distances, compare, drawn

SEEDS = range(4)


def is_floating(case):
    return any(i.is_floating for i in case.inputs)


@pytest.mark.reduced_precision
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "name", [n for n in sorted(cases.CASES) if any(is_floating(drawn(n, s)) for s in SEEDS)]
)
def test_like_torch(name, dtype):
    distances = Distances(dtype)
    for seed in SEEDS:
        case = drawn(name, seed)
        if not is_floating(case):
            continue
        try:
            compare(distances, seed, case, dtype)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}: {type(error).__name__}: {error}") from error
    distances.check()
