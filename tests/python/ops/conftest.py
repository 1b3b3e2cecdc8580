"""Counts the programs that the tests of operators need: building them is what a cold kernel cache costs."""

import pytest

import ocl

MOST_PROGRAMS = 400
programs = 0


def programs_so_far():
    info = ocl.kernel_cache_info()
    return info["hits"] + info["built"]


@pytest.fixture(autouse=True)
def count_programs():
    global programs
    before = programs_so_far()
    yield
    programs += programs_so_far() - before


def pytest_sessionfinish(session):
    if programs > MOST_PROGRAMS:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if programs:
        terminalreporter.write_line(f"operators: {programs} programs needed, at most {MOST_PROGRAMS} allowed")
