"""Every operator in float16 and bfloat16, on rounded inputs, against PyTorch in float64."""

import cases
import pytest
from comparison import WIDE_ALONE, check_cases, drawn, skip_where_torch_fails

SEEDS = range(4)


def is_floating(case):
    return any(i.is_floating for i in case.inputs)


@pytest.mark.reduced_precision
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "name",
    [n for n in sorted(cases.CASES) if n not in WIDE_ALONE and any(is_floating(drawn(n, s)) for s in SEEDS)],
)
def test_like_torch(name, dtype):
    skip_where_torch_fails(name)
    check_cases(name, [seed for seed in SEEDS if is_floating(drawn(name, seed))], dtype)
