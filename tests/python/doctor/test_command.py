"""The command line: what it prints and writes, and its exit statuses."""

import importlib.metadata
import json
import signal

import pytest
from command_line import run, run_with_few
from processes import run as run_program
from processes import start

import ocl
from ocl import profiler
from ocl.doctor import command, environment, hardware
from ocl.doctor.findings import ok
from ocl.doctor.problems import Problem


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One whole run: exit status, output, errors, and the report."""
    report = tmp_path_factory.mktemp("doctor") / "report.txt"
    device = str(ocl.get_default_device())
    status, output, errors = run(
        "doctor", "--quick", "--device", device, "--report", report, OCL_ALLOCATOR=""
    )
    return status, output, errors, report.read_text()


def test_a_device_without_fault(quick):
    status, output, errors, _ = quick
    assert (status, errors) == (0, ""), output
    assert output.splitlines()[-1] == "no fault found"
    subjects = {
        line.split()[1] for line in output.splitlines() if line.startswith(("ok ", "note ", "fault "))
    }
    assert subjects == {
        *("loader", "driver", "platform", "rights", "device", "features", "memory", "cache"),
        *("results", "repeats", "speed"),
    }


def test_the_report_has_everything(quick):
    _, output, _, report = quick
    head, *lines = report.splitlines()
    assert head.startswith("TapeCL doctor, quick, 20")
    assert head.endswith("UTC: no fault found")
    assert not any(line.startswith("running ") for line in lines)
    *found, unchecked, written, _ = output.splitlines()
    for line in (*found, unchecked):
        assert line in lines
    assert unchecked.startswith("not checked: pointwise operators, reductions, indexing")
    assert written.startswith("the report is in /")
    assert "attach it to an issue" in written
    assert any(line.startswith("tapecl ") and "numpy" in line for line in lines)
    assert "environment: OCL_ALLOCATOR=" in lines
    for family, names in ocl.implementations.families().items():
        for name in names:
            assert any(line.startswith(f"{family}={name} ") for line in lines), (family, name)
    at = lines.index("problem, with its shapes and dtype, and the implementations that ran it")
    assert "linear 5x37 11x37 11, float32" in lines[at:]
    assert any(line.startswith("    gemm=") for line in lines[at:])


def test_what_there_is():
    status, output, errors = run(OCL_ALLOCATOR="direct")
    assert (status, errors) == (0, "")
    lines = output.splitlines()
    assert lines[0].startswith(f"tapecl {ocl.__version__}, python 3.")
    assert f"torch {importlib.metadata.version('torch')}," in lines[0]
    assert any(line.startswith("OpenCL loader: /") for line in lines)
    for index in range(ocl.device_count()):
        name = ocl.get_device_name(f"ocl:{index}")
        assert any(line.startswith(f"ocl:{index}: {name} (") for line in lines)
    assert "environment: OCL_ALLOCATOR=direct" in lines
    assert any(line.startswith(f"kernel cache: {ocl.kernel_cache_info()['path']}, ") for line in lines)
    assert "fp16" in output
    assert "sub-groups" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doctor", "--device", "cuda:0"], "--device cuda:0: expected ocl:N, ocl or cpu"),
        (["doctor", "--device", "ocl:99"], "--device ocl:99: there is no such device; there are: ocl:0"),
        (["doctor", "--device", "ocl:-1"], "--device ocl:-1: expected ocl:N, ocl or cpu"),
        (["doctor", "--unbar", "--device", "ocl:99"], "--device ocl:99: there is no such device"),
        (["doctor", "--report", "/nonexistent/report.txt"], "--report /nonexistent/report.txt: No such file"),
        (["doctor", "--report", "/"], "--report /: Is a directory"),
        (["doctor", "--fast"], "unrecognized arguments: --fast"),
        (["doctor", "--bar", "--unbar"], "not allowed with argument"),
        (["nurse"], "invalid choice"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments, message, capsys):
    assert command.main(arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert len(errors.splitlines()) == 1
    assert errors.startswith("python -m ocl: ")
    assert message in errors


def test_its_status_is_the_processs():
    status, output, errors = run("doctor", "--device", "cuda:0")
    assert (status, output) == (2, "")
    assert errors == "python -m ocl: --device cuda:0: expected ocl:N, ocl or cpu\n"


def test_json(monkeypatch):
    status, output, _ = run_with_few(monkeypatch, "--json")
    assert status == 0
    found = json.loads(output)
    assert found["faults"] == 0
    assert found["quick"] is True
    assert found["devices"][0]["device"] == "ocl:0"
    assert found["speed"]["gflops"] > 0
    assert found["speed"]["launches"] > 0
    assert {"gemm", "max_pool2d_forward"} <= {o["family"] for o in found["implementations"]}
    assert all(f["level"] in ("ok", "note") for f in found["findings"])


def test_a_wrong_result_is_a_fault_in_every_output(monkeypatch, tmp_path):
    compute = Problem.compute

    def spoiled(self, device):
        results = compute(self, device)
        if "gemm=" in ocl.implementations.get():
            results["result"] *= 2
        return results

    monkeypatch.setattr(Problem, "compute", spoiled)
    status, output, _ = run_with_few(monkeypatch, "--report", tmp_path / "report.txt")
    assert status == 1
    assert "is wrong: linear 5x37" in output
    assert "-> `python -m ocl doctor --bar` leaves it out" in output
    report = (tmp_path / "report.txt").read_text()
    assert "fault" in report.splitlines()[0]
    assert "WRONG: linear 5x37" in report
    status, output, _ = run_with_few(monkeypatch, "--json")
    assert status == 1
    assert json.loads(output)["faults"] >= 1


CRASHES = """
import os, signal, sys
import ocl
from ocl.doctor import command
from ocl.doctor.problems import Problem

compute = Problem.compute
def crash(self, device):
    if "conv2d_forward=" in ocl.implementations.get():
        os.kill(os.getpid(), signal.SIGKILL)
    return compute(self, device)
Problem.compute = crash
command.main(["doctor", "--quick", "--report", sys.argv[1]])
"""


def test_the_report_of_a_process_that_crashed_says_what_ran(tmp_path):
    process = start(CRASHES, tmp_path / "report.txt")
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    lines = (tmp_path / "report.txt").read_text().splitlines()
    assert lines[-1].startswith("running conv2d_forward=")
    assert any(line.startswith("ok     results      gemm: ") for line in lines)


def test_memory_that_forgets_is_a_fault(monkeypatch):
    def forgets(device, host):
        came_back = host.copy()
        came_back[7] += 1
        return came_back

    monkeypatch.setattr(hardware, "round_trip", forgets)
    status, output, _ = run_with_few(monkeypatch)
    assert status == 1
    assert "fault  memory       1 of " in output


def test_no_memory_is_a_fault(monkeypatch):
    def none(device, host):
        raise ocl.OutOfMemoryError("no room for 64 MiB")

    monkeypatch.setattr(hardware, "round_trip", none)
    status, output, _ = run_with_few(monkeypatch)
    assert status == 1
    assert "no room for 64 MiB" in output
    assert "-> close other programs" in output


def test_no_room_to_measure_is_no_fault(monkeypatch):
    def none(device):
        raise ocl.OutOfMemoryError("no room for the copy")

    monkeypatch.setattr(profiler, "ceilings", none)
    status, output, _ = run_with_few(monkeypatch)
    assert status == 0
    assert "note   speed        not measured: no room for the copy" in output


def test_a_device_that_fails_is_a_fault(monkeypatch):
    def fails(device):
        raise ocl.DeviceError("clFinish CL_OUT_OF_RESOURCES (-5)\nand more")

    monkeypatch.setattr(profiler, "ceilings", fails)
    status, output, _ = run_with_few(monkeypatch)
    assert status == 1
    assert "fault  speed        DeviceError: clFinish CL_OUT_OF_RESOURCES (-5)\n" in output


def test_a_device_that_does_not_open_is_a_fault(monkeypatch):
    def closed(name):
        raise ocl.DeviceError("device ocl:0 does not open: clCreateContext CL_DEVICE_NOT_AVAILABLE (-2)")

    monkeypatch.setattr(ocl, "device", closed)
    status, output, _ = run_with_few(monkeypatch)
    assert status == 1
    assert "fault  device       device ocl:0 does not open" in output


def test_a_cache_that_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    status, output, _ = run(OCL_KERNEL_CACHE=tmp_path / "file")
    assert status == 0
    assert "kernel cache: none" in output


def test_a_cache_is_a_finding(monkeypatch):
    known = {"path": "/home/me/.cache/tapecl/kernels.sqlite3", "entries": 3, "bytes": 5 << 20}
    monkeypatch.setattr(environment, "cache", lambda: known)
    assert environment.check_cache() == ok("cache", f"{known['path']}: 3 kernels, 5 MiB")
    known["path"] = ""
    monkeypatch.setenv("OCL_KERNEL_CACHE", "off")
    assert environment.check_cache().level == "note"
    monkeypatch.setenv("OCL_KERNEL_CACHE", "/elsewhere")
    assert environment.check_cache().level == "fault"


def test_wrong_variables_are_one_line():
    status, output, errors = run(OCL_IMPLEMENTATIONS="gemm=fast")
    assert (status, errors) == (0, "")
    assert "ocl:0: set_implementations: gemm has no implementation 'fast'" in output
    status, output, errors = run("doctor", OCL_IMPLEMENTATIONS="gemm=fast")
    assert (status, output) == (2, "")
    assert errors.startswith("python -m ocl: set_implementations: gemm has no implementation 'fast'")
    assert len(errors.splitlines()) == 1


def test_a_device_may_be_named_by_its_type():
    if ocl.get_device_properties("ocl:0")["is_cpu"]:
        assert command.device_named("cpu") == ocl.device("ocl:0")
    assert command.device_named("ocl") == command.device_named(None) == ocl.device("ocl:0")


def test_nothing_of_it_is_imported_with_the_package():
    output, _ = run_program("import sys, ocl; print([n for n in sys.modules if n.startswith('ocl.doctor')])")
    assert output == "[]\n"
