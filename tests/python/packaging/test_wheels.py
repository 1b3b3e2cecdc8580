"""The wheels of tools/build_wheels: their contents, and that a stranger's environment imports and trains.

TAPECL_WHEELS names a folder of wheels that are there already; without it they are built, which takes minutes.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: wheels are made on Linux only"),
]

ROOT = Path(__file__).parents[3]
DATA = ROOT.parent / "shared" / "data" / "mnist"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
MOST_BYTES = 15e6
LOADER = "tapecl.libs/libOpenCL.so.1"
# Hides OpenCL from a command: no driver is announced, and what is left of the loader is no library.
WITHOUT_OPENCL = """
set -e
mkdir -p /etc/OpenCL/vendors
mount --bind "$EMPTY" /etc/OpenCL/vendors
for loader in $(ldconfig -p | sed -n 's/.*libOpenCL.so.1 .*=> //p'); do
  mount --bind /dev/null "$(realpath "$loader")"
done
exec "$@"
"""


@pytest.fixture(scope="session")
def dist():
    if folder := os.environ.get("TAPECL_WHEELS"):
        return Path(folder)
    folder = ROOT / "build" / "wheels" / "tested"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([ROOT / "tools/build_wheels", "--python", VERSION, "--output", folder], check=True)
    return folder


@pytest.fixture(scope="session")
def wheel(dist):
    [path] = dist.glob(f"tapecl-*-{TAG}-{TAG}-manylinux_*.whl")
    return path


@pytest.fixture(scope="session")
def names(wheel):
    with zipfile.ZipFile(wheel) as file:
        return set(file.namelist())


@pytest.fixture(scope="session")
def environment(wheel, tmp_path_factory):
    """The interpreter of a fresh environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    done = pip_install(folder / "bin" / "python", wheel)
    if done.returncode != 0:
        pytest.skip(f"NOT TESTED: pip cannot install numpy here: {done.stderr.strip().splitlines()[-1]}")
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def environment_with_driver(environment, wheel, tmp_path_factory):
    """An environment with the extra [cpu]."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    done = pip_install(folder / "bin" / "python", f"{wheel}[cpu]")
    if done.returncode != 0:
        pytest.skip(f"NOT TESTED: pip cannot install Intel's driver: {done.stderr.strip().splitlines()[-1]}")
    return folder / "bin" / "python"


@pytest.fixture
def without_opencl(tmp_path):
    """Runs a command where the system has neither a driver nor a loader."""
    empty = tmp_path / "vendors"
    empty.mkdir()

    def run(*command, **variables):
        start = ["unshare", "--mount", "bash", "-c", WITHOUT_OPENCL, "bash"]
        return run_outside([*start, *command], tmp_path, EMPTY=str(empty), **variables)

    if not shutil.which("unshare") or run("true").returncode != 0:
        pytest.skip("NOT TESTED without OpenCL: unshare needs root and a kernel that lets it mount")
    return run


def pip_install(python, requirement):
    command = [python, "-m", "pip", "install", "--quiet", requirement]
    return subprocess.run(command, env=outside(), capture_output=True, text=True)


def outside():
    """The environment of this process without what tests set for Python and for OpenCL."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OCL_"))}


def run_outside(command, folder, **variables):
    """Runs a command far from the tree."""
    command = [str(part) for part in command]
    variables = {**outside(), "OCL_KERNEL_CACHE": str(folder / "kernels"), **variables}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=900)


def expect_success(done):
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_holds_the_package_and_its_libraries(names):
    expected = {"ocl/__init__.py", "ocl/opencl_runtime.py", "ocl/py.typed", "ocl/_C/__init__.pyi"}
    assert expected | {LOADER, "ocl/examples/mnist.py"} <= names
    for library in ("libclblast-", "libsqlite3-"):
        assert any(name.startswith(f"tapecl.libs/{library}") for name in names), library
    assert sum("libOpenCL" in name for name in names) == 1


def test_the_wheel_holds_nothing_else(names):
    tops = {name.split("/")[0] for name in names}
    [information] = {name for name in tops if name.endswith(".dist-info")}
    assert tops == {"ocl", "tapecl.libs", information}
    assert not [name for name in names if name.endswith((".a", ".cpp", ".h", ".cl", ".pyc"))]


def test_the_wheel_is_small(wheel):
    assert wheel.stat().st_size <= MOST_BYTES


def test_auditwheel_finds_no_library_outside(wheel):
    program = Path(sys.executable).parent / "auditwheel"
    tools = [program, ROOT / "build/wheels" / TAG / "bin/auditwheel", shutil.which("auditwheel")]
    program = next((path for path in tools if path and Path(path).exists()), None)
    if program is None:
        pytest.skip("NOT TESTED: there is no auditwheel (pip install auditwheel)")
    shown = subprocess.run([program, "show", wheel], check=True, capture_output=True, text=True).stdout
    platform = wheel.stem.split("-")[-1].split(".")[0]
    assert f'consistent with the following platform tag: "{platform}"' in " ".join(shown.split()), shown


def test_the_source_distribution_builds_alone(dist):
    """The wheels are built from it; here that nothing of the build is missing or too much."""
    [archive] = dist.glob("tapecl-*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"CMakeLists.txt", "LICENSE", "pyproject.toml", "dlprim/dlprim.h", "examples/mnist.py"} <= names
    assert not [name for name in names if name.startswith(("tests/", "build/", ".venv", "dist/"))]


def test_a_fresh_environment_trains_on_the_systems_device(environment, tmp_path):
    done = run_outside([environment, ROOT / "tools/wheels/smoke.py"], tmp_path)
    assert "loss 0.0" in expect_success(done)


def test_the_example_is_in_the_package(environment, tmp_path):
    if not DATA.is_dir():
        pytest.skip(f"NOT TESTED: no MNIST files in {DATA}")
    done = run_outside([environment, "-m", "ocl.examples.mnist", "--data", DATA, "--epochs", "1"], tmp_path)
    last = expect_success(done).splitlines()[-1]
    assert last.startswith("test accuracy ") and float(last.split()[2]) >= 95


PLATFORMS = "import ocl; print(ocl.is_available(), ocl.device_count())"


def test_without_opencl_the_package_imports_and_says_what_is_missing(environment, without_opencl):
    assert expect_success(without_opencl(environment, "-c", PLATFORMS)).split() == ["False", "0"]
    done = without_opencl(environment, "-c", "import ocl; ocl.zeros(2, device='ocl:0')")
    assert done.returncode == 1
    assert "DeviceError: device 'ocl:0': no OpenCL device on this machine" in done.stderr


def test_the_extra_is_found_where_there_is_no_opencl(environment_with_driver, without_opencl):
    done = without_opencl(environment_with_driver, ROOT / "tools/wheels/smoke.py")
    output = expect_success(done)
    assert "loss 0.0" in output and " on " in output


def test_the_extra_leaves_the_systems_driver_alone(environment_with_driver, tmp_path):
    program = "import os, ocl; print(os.environ.get('OCL_ICD_VENDORS'), ocl.device_count() > 0)"
    done = run_outside([environment_with_driver, "-c", program], tmp_path)
    assert expect_success(done).split() == ["None", "True"]
