"""How ocl.save replaces a file: as a whole, keeping modes and links, and nothing of it where that fails."""

import contextlib
import errno
import os
import stat
import subprocess

import pytest
from processes import run, start

import ocl


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.safetensors"


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_umask_leaves(path, umask):
    ocl.save({"x": ocl.ones(1)}, path)
    assert mode(path) == 0o640


@pytest.mark.parametrize("given", [0o600, 0o664, 0o444])
def test_the_mode_of_the_file_replaced_stays(path, umask, given):
    path.touch()
    path.chmod(given)
    with contextlib.suppress(PermissionError):  # as for open(): who is not root may not write to 0o444
        ocl.save({"x": ocl.ones(1)}, path)
        assert list(ocl.load(path)) == ["x"]
    assert mode(path) == given


@pytest.mark.parametrize("to", ["real", "../{here}/real", "{folder}/real", "other"])
def test_a_symbolic_link_stays_one(path, tmp_path, to):
    real, other = tmp_path / "real", tmp_path / "other"
    ocl.save({"old": ocl.ones(1)}, real)
    other.symlink_to("real")
    path.symlink_to(to.format(here=tmp_path.name, folder=tmp_path))
    ocl.save({"new": ocl.ones(1)}, path)
    assert path.is_symlink() and other.is_symlink() and not real.is_symlink()
    assert list(ocl.load(real)) == ["new"]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_link_to_nothing_yet(path, tmp_path):
    path.symlink_to("elsewhere")
    ocl.save({"x": ocl.ones(1)}, path)
    assert path.is_symlink() and not (tmp_path / "elsewhere").is_symlink()
    assert list(ocl.load(tmp_path / "elsewhere")) == ["x"]


def test_links_in_a_circle(path, tmp_path):
    path.symlink_to("other")
    (tmp_path / "other").symlink_to(path)
    with pytest.raises(OSError, match=path.name) as error:
        ocl.save({"x": ocl.ones(1)}, path)
    assert error.value.errno == errno.ELOOP


def test_a_pipe_is_written_to(path, tmp_path):
    state = {"x": ocl.ones(5)}
    ocl.save(state, tmp_path / "file")
    os.mkfifo(path)
    with pytest.raises(OSError) as error:
        ocl.save(state, path)  # nobody reads
    assert error.value.errno == errno.ENXIO
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    ocl.save(state, path)
    assert os.read(reader, 10_000) == (tmp_path / "file").read_bytes()
    os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


KILLED_SAVE = """
import resource, signal, sys, ocl
state = {"small": ocl.ones(1), "x": ocl.zeros(1 << 18)}
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
ocl.save(state, sys.argv[1])
"""


def test_what_a_killed_save_left_goes_with_the_next(path, tmp_path):
    ocl.save({"before": ocl.ones(1)}, path)
    (tmp_path / "state.safetensors.backup.tmp").touch()
    process = start(KILLED_SAVE, path)
    process.communicate()
    assert process.returncode < 0
    assert len(list(tmp_path.iterdir())) == 3
    ocl.save({"else": ocl.ones(1)}, tmp_path / "else")
    assert len(list(tmp_path.iterdir())) == 4
    assert list(ocl.load(path)) == ["before"]
    ocl.save({"after": ocl.ones(1)}, path)
    assert {p.name for p in tmp_path.iterdir()} == {path.name, "state.safetensors.backup.tmp", "else"}


@contextlib.contextmanager
def small_disk(folder):
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk):
        path = disk / "state"
        ocl.save({"x": ocl.ones(1)}, path)
        with pytest.raises(OSError, match="state") as error:
            ocl.save({"x": ocl.ones(1 << 16)}, path)
        assert error.value.errno == errno.ENOSPC
        assert os.listdir(disk) == ["state"] and ocl.load(path)["x"].item() == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_without_room(path):
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=path.name) as error:
        ocl.save({"x": ocl.ones(1)}, path)
    assert error.value.errno == errno.ENOSPC
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


LIMITED_SAVE = """
import errno, resource, sys, ocl
state = {"x": ocl.ones(1 << 12)}
ocl.synchronize()
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, 1 << 10))
try:
    ocl.save(state, sys.argv[1])
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def test_a_file_that_may_not_grow(path):
    """In a process of its own, as the limit holds for all of its threads, those of drivers included."""
    assert run(LIMITED_SAVE, path)[0].split() == ["EFBIG"]
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_is_not_there_or_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere") as error:
        ocl.save({"x": ocl.ones(1)}, tmp_path / "nowhere" / "x.safetensors")
    assert error.value.filename == str(tmp_path / "nowhere" / "x.safetensors")
    with pytest.raises(IsADirectoryError):
        ocl.save({"x": ocl.ones(1)}, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        ocl.save({"x": ocl.ones(1)}, tmp_path / "file" / "x")


REFUSED_SAVES = """
import os, sys, ocl
state = {"x": ocl.ones(1)}
ocl.synchronize()
os.chdir(sys.argv[1])
if os.getuid() == 0:  # root may write anywhere
    os.setuid(65534)
for path in ("read-only", "closed/new"):
    try:
        ocl.save(state, path)
    except PermissionError as error:
        print(error.filename)
"""


def test_what_may_not_be_written(tmp_path):
    (tmp_path / "read-only").touch(0o444)
    (tmp_path / "closed").mkdir(0o555)
    tmp_path.chmod(0o777)
    assert run(REFUSED_SAVES, tmp_path)[0].split() == ["read-only", "closed/new"]
    assert (tmp_path / "read-only").read_bytes() == b""


def test_the_longest_names(tmp_path):
    path = tmp_path / ("x" * 255)
    ocl.save({"x": ocl.ones(1)}, path)
    assert list(ocl.load(path)) == ["x"]
