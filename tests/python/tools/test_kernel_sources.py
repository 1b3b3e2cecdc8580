"""Kernels use nothing that OpenCL C lacks, though some compilers take it: others have to build them."""

import re
from pathlib import Path

import pytest

KERNELS = sorted((Path(__file__).parents[3] / "dlprim").rglob("*.cl"))


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_no_variadic_macros(path):
    """PoCL's compiler takes them, NVIDIA's refuses them, as OpenCL C 1.2 (6.9.e) does."""
    assert not re.findall(r"#define\s+\w+\([^)]*\.\.\.\)|__VA_ARGS__", path.read_text())


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_lines_are_short(path):
    assert [n for n, line in enumerate(path.read_text().splitlines(), 1) if len(line) > 120] == []


def test_there_are_kernels():
    assert len(KERNELS) > 50
