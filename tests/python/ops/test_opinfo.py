"""The samples of PyTorch's own list of operators (OpInfo) give on ocl what they give on PyTorch.

All of them take minutes (`-m slow`); a few operators always run. `python opinfo_runs.py` counts them.
"""

from pathlib import Path

import pytest
from comparisons import not_compared

try:
    import opinfo_runs

    INFOS = {opinfo_runs.full_name(info): info for info in opinfo_runs.op_infos()}
except ImportError as error:  # the list needs expecttest
    pytest.skip(not_compared("PyTorch's samples of operators", f"{error.name}"), allow_module_level=True)

# ocl has at least so many of OpInfo's names.
NAMES_AT_LEAST = 505

# Every one of these had samples that failed once.
QUICK = [
    "addmv", "div.floor_rounding", "flip", "gradient", "linalg.vander", "nn.functional.cosine_embedding_loss",
    "nn.functional.feature_alpha_dropout.without_train", "nn.functional.interpolate.bicubic",
    "nn.functional.margin_ranking_loss", "nn.functional.pad.reflect", "nn.functional.pad.replicate",
    "repeat_interleave", "scatter", "squeeze", "tensordot", "topk", "transpose", "unsqueeze",
]  # fmt: skip


def allowed_failures():
    """{name: count} of opinfo_deviations.txt, which has the reasons."""
    text = (Path(__file__).parent / "opinfo_deviations.txt").read_text()
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {name: int(count) for name, count in lines}


ALLOWED = allowed_failures()


def check(name):
    counts = opinfo_runs.run(INFOS[name])
    allowed = ALLOWED.get(name, 0)
    shown = "\n".join(counts.failures[:8])
    assert len(counts.failures) <= allowed, (
        f"{name}: {len(counts.failures)} of {counts.samples} samples fail, {allowed} may:\n{shown}"
    )
    assert len(counts.failures) == allowed, (
        f"{name}: {len(counts.failures)} samples fail, opinfo_deviations.txt says {allowed}: lower it"
    )


def test_names_are_present():
    present = {info.name for info in INFOS.values() if opinfo_runs.is_present(info)}
    assert len(present) >= NAMES_AT_LEAST
    assert set(ALLOWED) <= set(INFOS)


@pytest.mark.parametrize("name", QUICK)
def test_samples_of_a_few(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, info in INFOS.items() if opinfo_runs.is_present(info)])
def test_samples(name):
    check(name)
