"""Counts the programs that the tests of operators need: building them is what a cold kernel cache costs."""

import pytest

import ocl

MOST_PROGRAMS = 400  # for float32, float64 and the integers
programs = {"float16 and bfloat16": 0, "other dtypes": 0}


def programs_so_far():
    info = ocl.kernel_cache_info()
    return info["hits"] + info["built"]


@pytest.fixture(autouse=True)
def count_programs(request):
    before = programs_so_far()
    yield
    reduced = request.node.get_closest_marker("reduced_precision")
    programs["float16 and bfloat16" if reduced else "other dtypes"] += programs_so_far() - before


def pytest_sessionfinish(session):
    if programs["other dtypes"] > MOST_PROGRAMS:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for dtypes, count in programs.items():
        terminalreporter.write_line(f"operators: {count} programs needed for {dtypes}")
