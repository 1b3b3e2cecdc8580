"""Counts the programs that the tests of operators need: building them is what a cold kernel cache costs."""

from collections import Counter
from pathlib import Path

import pytest

import ocl

OPERATORS = Path(__file__).parent / "ops"
REDUCED, OTHERS = "float16 and bfloat16", "other dtypes"
MOST_FOR_AN_OPERATOR = 3  # of OTHERS, on an average over all operators


def programs_so_far():
    info = ocl.kernel_cache_info()
    return info["hits"] + info["built"]


class ProgramCounts:
    """A pytest plugin. Where processes share the tests (pytest-xdist), the largest count of any is told."""

    def __init__(self):
        self.counts = Counter({REDUCED: 0, OTHERS: 0})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        before = programs_so_far()
        result = yield
        if OPERATORS in item.path.parents:
            dtypes = REDUCED if item.get_closest_marker("reduced_precision") else OTHERS
            self.counts[dtypes] += programs_so_far() - before
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.counts |= Counter(getattr(node, "workeroutput", {}).get("programs", {}))

    @property
    def most(self):
        return MOST_FOR_AN_OPERATOR * len(ocl._C.operator_table())

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["programs"] = dict(self.counts)
        elif self.counts[OTHERS] > self.most:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for dtypes in (REDUCED, OTHERS):
            terminalreporter.write_line(f"operators: {self.counts[dtypes]} programs needed for {dtypes}")
        if self.counts[OTHERS] > self.most:
            terminalreporter.write_line(f"FAILED: the operators may need {self.most} programs", red=True)
