"""Implementations that are left out on a device, in this process and in later ones."""

import sqlite3
from pathlib import Path

import pytest
from command_line import run
from processes import run as run_program
from processes import start

import ocl

HERE = Path(__file__).parent

# A process whose gemm=NAME is wrong runs the doctor with the arguments that follow.
FAULTY = """
import sys
import pytest
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.."]
from command_line import run_with_few
import ocl
from ocl.doctor.problems import Problem

compute = Problem.compute
def spoiled(self, device):
    results = compute(self, device)
    if ocl.implementations.get().split(",")[-1] == "gemm=" + sys.argv[2]:
        results["result"] *= 2
    return results
Problem.compute = spoiled
with pytest.MonkeyPatch.context() as patch:
    status, output, errors = run_with_few(patch, *sys.argv[3:])
print(output)
sys.stderr.write(errors)
sys.exit(status)
"""
CHOOSE = """
import ocl
with ocl.profiler.record_calls() as recorded:
    ocl.ones(5, 37) @ ocl.ones(37, 11)
print(recorded.choices[-1].implementation)
print(recorded.choices[-1].reasons)
"""


@pytest.fixture
def cache(tmp_path):
    """Variables of processes that share a kernel cache of their own."""
    return {"OCL_KERNEL_CACHE": tmp_path / "cache"}


def chosen(**environment):
    """The implementation of gemm that a process takes, and the reasons."""
    return run_program(CHOOSE, **environment)[0].splitlines()


def faulty_doctor(name, *arguments, **environment):
    process = start(FAULTY, HERE, name, *arguments, **environment)
    output, errors = process.communicate(timeout=300)
    assert errors == ""
    return process.returncode, output


def test_a_faulty_one_is_barred_for_later_processes(cache):
    name, _ = chosen(**cache)
    status, output = faulty_doctor(name, "--bar", **cache)
    assert status == 1
    assert f"ok     bar          gemm={name} is left out on ocl:0 from now on" in output
    assert f"barred for this device: gemm={name}" in output

    other, reasons = chosen(**cache)
    assert other != name
    assert f"{name} barred for this device" in reasons
    _, output, _ = run(**cache)
    assert f"    barred: gemm={name} (doctor: gemm={name} is wrong: linear 5x37" in output

    status, output = faulty_doctor(name, **cache)  # still wrong, and no news
    assert status == 0, output
    assert f"note   results      gemm={name} is barred, and wrong" in output

    forced, _ = chosen(**cache, OCL_IMPLEMENTATIONS=f"gemm={name}")
    assert forced == name

    status, output, _ = run("doctor", "--unbar", **cache)
    assert (status, output) == (0, "ocl:0: 1 implementation taken back\n")
    assert chosen(**cache)[0] == name
    assert "    barred: " not in run(**cache)[1]


def test_without_a_fault_nothing_is_barred(cache):
    status, output = faulty_doctor("none", "--bar", **cache)
    assert status == 0
    assert "ok     bar          nothing to bar" in output
    assert run("doctor", "--unbar", **cache)[1] == "ocl:0: 0 implementations taken back\n"


def test_another_driver_starts_with_all(cache):
    name, _ = chosen(**cache)
    bar = f"import ocl; ocl.implementations.bar('gemm', '{name}', 'for this test')"
    run_program(bar, **cache)
    assert chosen(**cache)[0] != name
    with sqlite3.connect(cache["OCL_KERNEL_CACHE"] / "kernels.sqlite3") as database:
        (row,) = database.execute("SELECT device, driver, family, implementation, reason FROM barred")
        properties = ocl.get_device_properties("ocl:0")
        assert row == (properties["name"], properties["driver_version"], "gemm", name, "for this test")
        database.execute("UPDATE barred SET driver = 'older'")
    database.close()
    assert chosen(**cache)[0] == name


def test_no_implementation_left_is_an_error_that_names_them(cache):
    program = """
import ocl
for name in ocl.implementations.families()["gemm"]:
    ocl.implementations.bar("gemm", name, "for this test")
ocl.ones(2, 3) @ ocl.ones(3, 4)
"""
    process = start(program, **cache)
    _, errors = process.communicate(timeout=100)
    last = errors.splitlines()[-1]
    assert "no implementation of gemm is left that can take this problem" in last
    assert "barred for this device as faulty: cpu_tiles, " in last


def test_bars_count_at_once_and_names_are_checked(cache):
    program = """
import ocl
from ocl import implementations as i
def chosen():
    with ocl.profiler.record_calls() as recorded:
        ocl.ones(5, 37) @ ocl.ones(37, 11)
    return recorded.choices[-1].implementation
first = chosen()
i.bar("gemm", first, "one reason")
i.bar("gemm", first, "another")
assert i.barred("ocl:0") == [i.Barred("gemm", first, "another")]
assert chosen() != first
i.unbar()
assert i.barred() == [] and chosen() == first
for family, name, message in (("gem", "x", "no family of implementations is named 'gem'"),
                              ("gemm", "fast", "gemm has no implementation 'fast'")):
    try:
        i.bar(family, name, "")
    except ValueError as error:
        assert message in str(error), error
    else:
        raise AssertionError(name)
assert i.barred() == []
"""
    run_program(program, **cache)


def test_where_nothing_can_be_kept_barring_is_a_fault(tmp_path):
    program = "import ocl; ocl.implementations.bar('gemm', 'clblast', '')"
    process = start(program, OCL_KERNEL_CACHE="off")
    _, errors = process.communicate(timeout=100)
    assert errors.splitlines()[-1].startswith("OSError: the kernel cache, which keeps what is barred, is off")

    name, _ = chosen(OCL_KERNEL_CACHE="off")
    status, output = faulty_doctor(name, "--bar", OCL_KERNEL_CACHE="off")
    assert status == 1
    assert f"fault  bar          gemm={name} cannot be barred: the kernel cache" in output
    assert f"OCL_IMPLEMENTATIONS=gemm=-{name}" in output


def test_an_older_file_without_the_table_serves(cache):
    run_program("import ocl; ocl.ones(2).sum().item()", **cache)
    with sqlite3.connect(cache["OCL_KERNEL_CACHE"] / "kernels.sqlite3") as database:
        assert database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'barred'").fetchone() == (0,)
        entries = database.execute("SELECT count(*) FROM entries").fetchone()
    database.close()
    run_program("import ocl; ocl.implementations.bar('gemm', 'clblast', 'for this test')", **cache)
    with sqlite3.connect(cache["OCL_KERNEL_CACHE"] / "kernels.sqlite3") as database:
        assert database.execute("SELECT count(*) FROM barred").fetchone() == (1,)
        assert database.execute("SELECT count(*) FROM entries").fetchone() == entries
    database.close()
