"""Machines without a loader, a driver or a device."""

import pytest
from command_line import run

from ocl.doctor import drivers


@pytest.fixture
def without_loader(tmp_path):
    """Variables under which the loader's library is no library."""
    (tmp_path / "libOpenCL.so.1").touch()
    return {"LD_LIBRARY_PATH": tmp_path}


def without_drivers_but(folder):
    """Variables under which the loader looks for drivers in that folder alone."""
    return {"OCL_ICD_VENDORS": folder, "OCL_ICD_FILENAMES": None}


def faults(output):
    return [line for line in output.splitlines() if line.startswith("fault")]


@pytest.mark.parametrize("arguments", [(), ("doctor",)])
def test_no_loader_is_one_line(without_loader, arguments):
    status, output, errors = run(*arguments, **without_loader)
    assert (status, errors) == (1, "")
    (line,) = faults(output)
    assert "this machine has no OpenCL loader (libOpenCL.so.1)" in line
    assert "-> install one: `apt install ocl-icd-libopencl1`" in output


def test_no_loader_has_a_report(without_loader, tmp_path):
    status, _, _ = run("doctor", "--report", tmp_path / "report.txt", **without_loader)
    assert status == 1
    text = (tmp_path / "report.txt").read_text()
    assert "1 fault found" in text
    assert "no OpenCL loader" in text
    assert "numpy" in text


def test_importing_without_a_loader_is_one_line(without_loader):
    from processes import start

    process = start("import ocl", **without_loader)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 1
    assert errors.splitlines()[-1].startswith("ImportError: ocl: this machine has no OpenCL loader")


def test_another_fault_of_the_import_stays():
    from ocl.doctor.loader import explained

    error = ImportError("undefined symbol: sqlite3_open")
    assert explained(error) is error


@pytest.mark.parametrize("arguments", [(), ("doctor",)])
def test_no_driver_is_one_fault(arguments):
    status, output, errors = run(*arguments, **without_drivers_but("/nonexistent"))
    assert (status, errors) == (1, "")
    (line,) = faults(output)
    assert "no driver is announced: /nonexistent has no .icd file" in line
    assert "apt install pocl-opencl-icd" in output


def test_a_driver_that_does_not_load(tmp_path):
    (tmp_path / "broken.icd").write_text("libnone.so.1\n")
    status, output, _ = run("doctor", **without_drivers_but(tmp_path))
    assert status == 1
    (first, _) = faults(output)
    assert "libnone.so.1, which" in first
    assert "does not load: libnone.so.1: cannot open shared object file" in first


def found_with(monkeypatch, platforms):
    monkeypatch.setattr(drivers, "platforms", lambda: platforms)
    return [f for f in drivers.check() if f.subject == "platform"]


def test_a_platform_without_a_device(monkeypatch):
    (found,) = found_with(monkeypatch, [("Portable Computing Language", 0)])
    assert found.level == "fault"
    assert "POCL_CACHE_DIR" in found.remedy
    (found,) = found_with(monkeypatch, [("rusticl", 0)])
    assert "RUSTICL_ENABLE" in found.remedy
    (found,) = found_with(monkeypatch, [("Some GPU's", 0)])
    assert "rights" in found.remedy


def test_beside_one_with_a_device_it_is_no_fault(monkeypatch):
    found = found_with(monkeypatch, [("rusticl", 0), ("Portable Computing Language", 1)])
    assert [f.level for f in found] == ["note", "ok"]


def test_drivers_may_be_named_otherwise(monkeypatch):
    """Platforms without an .icd file are no fault: some loaders find drivers by other variables."""
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nonexistent")
    monkeypatch.setattr(drivers, "platforms", lambda: [("Portable Computing Language", 1)])
    assert {f.level for f in drivers.check()} == {"ok"}


def test_a_library_may_be_named_in_place_of_a_folder(monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", "/opt/driver/libdriver.so")
    assert drivers.announced() == [("OCL_ICD_VENDORS", "/opt/driver/libdriver.so")]
