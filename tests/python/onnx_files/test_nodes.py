"""ONNX's own backend node tests: every one of an operator that we claim, in the dtypes that tensors have.

`node_tests.txt` beside this file lists all that do not pass, with the reason of each.
"""

from pathlib import Path

import pytest

pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx, as there is no package onnx")

import onnx  # noqa: E402
from node_cases import foreign_dtypes, node_cases, run  # noqa: E402

from ocl.onnx import UnsupportedError  # noqa: E402

VERSION = "1.23."  # of the package whose tests the list is about
LEAST_PASSED = 1559

pytestmark = pytest.mark.skipif(
    not onnx.__version__.startswith(VERSION),
    reason=f"NOT TESTED: ONNX's node tests, listed for onnx {VERSION}* and not for {onnx.__version__}",
)

LISTED = {
    line.split(":", 1)[0]: line.split(": ", 1)[1]
    for line in (Path(__file__).parent / "node_tests.txt").read_text().splitlines()
    if line and not line.startswith("#")
}


def outcome(case) -> str:
    """The result of a case: "passed", or why not."""
    foreign = foreign_dtypes(case)
    if foreign:
        return "dtypes " + " ".join(foreign)
    try:
        run(case)
    except UnsupportedError as error:
        return "operators " + " ".join(sorted({row[1] for row in error.missing}))
    except AssertionError as error:
        return "differs: " + " ".join(str(error).split())[:200]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "passed"


def assert_as_listed(names) -> int:
    """Counts what passed; fails with every case that neither passes nor is listed, or listed and passes."""
    outcomes = {name: outcome(node_cases()[name]) for name in names}
    wrong = [
        f"{name}: {what}" for name, what in outcomes.items() if (what == "passed") == (name in LISTED)
        or name in LISTED and LISTED[name].startswith(("dtypes", "operators")) and LISTED[name] != what
    ]  # fmt: skip
    assert not wrong, "\n".join(wrong)
    return sum(what == "passed" for what in outcomes.values())


def test_a_tenth_of_the_node_tests():
    assert assert_as_listed(list(node_cases())[::10]) > LEAST_PASSED / 11


@pytest.mark.slow
def test_all_node_tests():
    assert assert_as_listed(node_cases()) >= LEAST_PASSED
    assert {*LISTED} <= {*node_cases()}
