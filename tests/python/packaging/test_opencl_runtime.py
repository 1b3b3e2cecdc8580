"""ocl finds the driver of the extra [cpu] where the system has none, and leaves a user's choice alone."""

import os
import sys

import pytest

from ocl import opencl_runtime

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="drivers are looked for on Linux only")


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A folder of announced drivers, empty at first, and an environment that chooses none."""
    for name in ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"):
        # Set first, so that what prepare() sets is taken back.
        monkeypatch.setenv(name, "")
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    monkeypatch.setattr(opencl_runtime, "_VENDORS", str(vendors))
    # No other distribution is found.
    monkeypatch.setattr(sys, "path", [str(tmp_path / "lib" / "site-packages")])
    return vendors


@pytest.fixture
def installed_driver(tmp_path):
    """The files that pip leaves of the wheel of Intel's driver: the library lies outside of site-packages."""
    information = tmp_path / "lib" / "site-packages" / "intel_opencl_rt-2026.2.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: intel-opencl-rt\nVersion: 2026.2.0\n")
    (information / "RECORD").write_text("../libintelocl.so.2026,,\n../libintelocl.so,,\n")
    driver = tmp_path / "lib" / "libintelocl.so"
    driver.touch()
    return driver


def chosen():
    return os.environ["OCL_ICD_VENDORS"], os.environ["OCL_ICD_FILENAMES"]


def test_the_wheels_driver_is_taken_where_there_is_no_other(system, installed_driver):
    opencl_runtime.prepare()
    assert chosen() == (str(installed_driver), str(installed_driver))


def test_a_driver_of_the_system_stays_alone(system, installed_driver):
    (system / "pocl.icd").write_text("libpocl.so.2\n")
    opencl_runtime.prepare()
    assert chosen() == ("", "")


@pytest.mark.parametrize("name", ["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"])
def test_a_choice_of_the_user_stays(system, installed_driver, monkeypatch, name):
    monkeypatch.setenv(name, "/somewhere")
    before = chosen()
    opencl_runtime.prepare()
    assert chosen() == before


def test_without_a_wheel_nothing_is_chosen(system):
    opencl_runtime.prepare()
    assert chosen() == ("", "")


def test_a_driver_whose_file_is_gone_is_not_chosen(system, installed_driver):
    installed_driver.unlink()
    opencl_runtime.prepare()
    assert chosen() == ("", "")
