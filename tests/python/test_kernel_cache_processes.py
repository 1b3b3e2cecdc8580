"""One kernel cache used by many processes, killed ones and damaged files included."""

import hashlib
import json
import os
import signal
import sqlite3
import stat
import time

import processes
import pytest

import ocl

TRAIN = """
import json
import numpy as np
import ocl
from ocl import nn

ocl.manual_seed(0)
head = nn.Sequential(nn.Flatten(), nn.Linear(27, 5))
net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), head)
optimizer = ocl.optim.Adam(net.parameters(), lr=0.01)
x = ocl.tensor(np.random.default_rng(0).standard_normal((4, 1, 8, 8)).astype(np.float32))
target = ocl.tensor(np.array([0, 1, 2, 3]))
losses = []
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), target)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
ocl.synchronize()
print(json.dumps({"losses": losses, **ocl.kernel_cache_info()}))
"""


def started(folder, program=TRAIN):
    return processes.start(program, OCL_KERNEL_CACHE=folder)


def finished(process):
    """The output of the training, and its warnings."""
    output, errors = processes.finish(process)
    return json.loads(output), errors


def trained(folder):
    return finished(started(folder))


def expect_whole(path):
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The training of a process with a cache of its own, empty at first."""
    result, errors = trained(tmp_path_factory.mktemp("alone"))
    assert errors == "" and result["built"] > 5
    return result


@pytest.fixture
def filled(tmp_path):
    """The database file of a cache that holds all programs of the training."""
    result, _ = trained(tmp_path)
    return result["path"]


def test_eight_processes_fill_one_cache(tmp_path, alone):
    running = [started(tmp_path) for _ in range(8)]
    for process in running:
        result, errors = finished(process)
        assert errors == ""
        assert result["losses"] == alone["losses"]
    expect_whole(result["path"])
    last, errors = trained(tmp_path)
    assert errors == "" and last["built"] == 0 and last["losses"] == alone["losses"]
    assert last["entries"] == alone["built"]


WAIT = """
import json
import time
import ocl

entries = lambda: ocl.kernel_cache_info()["entries"]
ocl.ones(3).exp().sum().item()
found = {"at once": entries(), "built": ocl.kernel_cache_info()["built"]}
time.sleep(QUIET)
ocl.ones(3).exp().sum().item()
found["later"] = entries()
(ocl.ones(3) + 1).sum().item()  # a new kernel
found["behind a new one"] = entries()
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    "quiet, later",
    [(0, 0), pytest.param(31, 1, marks=pytest.mark.slow)],
    ids=["at once", "half a minute later"],
)
def test_programs_are_stored_while_no_kernel_is_new(quiet, later, tmp_path):
    if not ocl.get_device_properties()["platform_name"].startswith("Portable"):
        pytest.skip("other implementations than PoCL's give binaries at once")
    program = WAIT.replace("QUIET", str(quiet))
    result, errors = finished(started(tmp_path, program))
    assert errors == "" and result["built"] >= 2
    assert result["at once"] == 0 and result["later"] == result["behind a new one"] == later
    last, _ = finished(started(tmp_path, program))
    assert last["built"] == 0


def test_a_second_process_builds_nothing(filled, alone, tmp_path):
    second, errors = trained(tmp_path)
    assert errors == ""
    assert second["built"] == second["misses"] == 0 and second["hits"] == alone["built"]
    assert second["losses"] == alone["losses"]


@pytest.mark.parametrize("wait_for", ["imports", "some programs"])
def test_a_killed_process_leaves_a_cache_to_use(tmp_path, alone, wait_for):
    # Stores as it goes, and says so, to be killed in the midst of it.
    program = TRAIN.replace("losses = []", "losses = []\nprint('building', flush=True)").replace(
        "loss.backward()", "loss.item(); print('some programs', flush=True); loss.backward()"
    )
    process = started(tmp_path, program + "\nimport time; time.sleep(60)")  # alive when the signal comes
    assert process.stdout.readline() == "building\n"
    if wait_for == "some programs":
        assert process.stdout.readline() == "some programs\n"
        time.sleep(0.05)  # backward builds now
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL

    result, errors = trained(tmp_path)
    assert errors == "" and result["losses"] == alone["losses"]
    expect_whole(result["path"])
    assert trained(tmp_path)[0]["built"] == 0


RESNET50 = """
import json
import numpy as np
import ocl

ocl.manual_seed(0)
net = ocl.models.resnet50()
optimizer = ocl.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
x = ocl.tensor(np.random.default_rng(0).standard_normal((2, 3, 64, 64)).astype(np.float32))
ocl.nn.functional.cross_entropy(net(x), ocl.tensor(np.array([1, 2]))).backward()
optimizer.step()
net.eval()(x)
ocl.synchronize()
print(json.dumps(ocl.kernel_cache_info()))
"""


def test_resnet50_needs_few_programs_and_a_second_process_builds_none(tmp_path):
    first, _ = finished(started(tmp_path, RESNET50))
    assert 0 < first["built"] <= 60
    second, _ = finished(started(tmp_path, RESNET50))
    assert second["built"] == second["misses"] == 0


def overwrite(path, start, content):
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(content)


def damage_rows(path, statement):
    with sqlite3.connect(path) as database:
        assert database.execute(statement).rowcount > 0
    database.close()


DAMAGES = {
    "file of garbage": lambda path: open(path, "wb").write(b"no database " * 1000),
    "header": lambda path: overwrite(path, 0, b"x" * 100),
    "pages in the middle": lambda path: overwrite(path, 4096, b"\xa5" * 20_000),
    "cut off": lambda path: open(path, "r+b").truncate(10_000),
    "one binary": lambda path: damage_rows(
        path, "UPDATE blobs SET bytes = x'00112233' WHERE id = (SELECT min(id) FROM blobs)"
    ),
    "all binaries": lambda path: damage_rows(path, "UPDATE blobs SET bytes = randomblob(length(bytes))"),
    "no binaries": lambda path: damage_rows(path, "DELETE FROM blobs"),
    "tables gone": lambda path: sqlite3.connect(path).executescript("DROP TABLE entries; DROP TABLE blobs"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_costs_a_rebuild_and_one_warning(filled, alone, damage, tmp_path):
    damage(filled)
    result, errors = trained(tmp_path)
    assert result["losses"] == alone["losses"]
    assert result["built"] > 0
    assert len(errors.strip().splitlines()) == 1, errors
    assert "cache" in errors
    again, errors = trained(tmp_path)
    assert errors == "" and again["built"] == 0 and again["losses"] == alone["losses"]
    expect_whole(filled)


def test_an_empty_file_is_an_empty_cache(filled, alone, tmp_path):
    open(filled, "w").close()
    result, _ = trained(tmp_path)
    assert result["losses"] == alone["losses"] and result["built"] == alone["built"]
    assert trained(tmp_path)[0]["built"] == 0


def test_a_folder_that_cannot_be_made_costs_a_warning(tmp_path, alone):
    (tmp_path / "file").write_text("in the way")
    result, errors = trained(tmp_path / "file" / "cache")
    assert result["losses"] == alone["losses"] and result["built"] == alone["built"]
    assert len(errors.strip().splitlines()) == 1 and "file" in errors


# --- entries and files that somebody else made


def digest(key, variants, binary):
    return hashlib.sha256(f"{len(key)} {len(variants)} {key}{variants}".encode() + binary).hexdigest()


def forge(path, change):
    """Replaces every entry by what `change` makes of a list of (label, variants, binary), digests and all."""
    with sqlite3.connect(path) as database:
        rows = database.execute(
            "SELECT id, key, label, variants, bytes FROM entries JOIN blobs USING (id) ORDER BY id"
        ).fetchall()
        forged = change([row[2:] for row in rows])
        for (number, key, *_), (variants, binary) in zip(rows, forged, strict=True):
            database.execute(
                "UPDATE entries SET variants = ?, size = ?, digest = ? WHERE id = ?",
                (variants, len(binary), digest(key, variants, binary), number),
            )
            database.execute("UPDATE blobs SET bytes = ? WHERE id = ?", (binary, number))
    database.close()


def each(change):
    return lambda entries: [change(*entry[1:]) for entry in entries]


def others(entries):
    """For each entry that of a program from another file. One with kernels of the same names would be taken:
    that an entry is of its key the digest tells, which is forged here."""
    files = [label.split()[0] for label, _, _ in entries]
    after = [
        next(k % len(files) for k in range(i, i + len(files)) if files[k % len(files)] != files[i])
        for i in range(len(files))
    ]
    return [entries[i][1:] for i in after]


FORGERIES = {
    "another program's": others,
    "garbage": each(lambda variants, binary: (variants, b"\xa5" * len(binary))),
    "nothing": each(lambda variants, binary: (variants, b"")),
    "of another device": each(lambda variants, binary: (variants, binary[:8] + b"\x5a" * 8 + binary[16:])),
    "variants": each(lambda variants, binary: ("no_such_kernel 1x1x1\n" * 1000, binary)),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forged_entry_costs_a_rebuild(filled, alone, forgery, tmp_path):
    forge(filled, forgery)
    result, _ = trained(tmp_path)
    assert result["losses"] == alone["losses"]
    again, errors = trained(tmp_path)
    assert errors == "" and again["built"] == 0 and again["losses"] == alone["losses"]


@pytest.mark.parametrize("name", ["", "kernels.sqlite3", "link"])
def test_what_others_may_write_is_not_used(filled, alone, name, tmp_path):
    folder = tmp_path
    if name == "link":
        folder = tmp_path.parent / f"link to {tmp_path.name}"
        folder.symlink_to(tmp_path)
    os.chmod(tmp_path / name if name != "link" else tmp_path, 0o777)
    result, errors = trained(folder)
    assert result["losses"] == alone["losses"] and result["built"] == alone["built"]
    assert result["path"] == "" and result["hits"] == 0
    assert len(errors.strip().splitlines()) == 1, errors
    assert "chmod go-w" in errors and str(tmp_path / name if name != "link" else tmp_path) in errors


def test_folders_are_made_for_the_user_alone(tmp_path):
    before = os.umask(0)
    try:
        result, errors = trained(tmp_path / "new" / "cache")
    finally:
        os.umask(before)
    assert errors == "" and result["path"]
    for folder in (tmp_path / "new", tmp_path / "new" / "cache"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not stat.S_IMODE(os.stat(result["path"]).st_mode) & 0o022


ENVIRONMENT_MOVES_AFTER_EACH_LAUNCH = """
import os
import time
import ocl

x = ocl.ones(257)
for name in ("exp", "log", "sin", "cos", "tanh", "sqrt"):
    getattr(ocl, name)(x)
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        for _ in range(100):
            os.putenv("TAPECL_TEST", "x")
            os.unsetenv("TAPECL_TEST")
ocl.synchronize()
print("done")
"""


def test_a_program_may_set_variables_after_a_kernels_first_launch(tmp_path):
    """PoCL starts the linker in a thread of its own, with the environment of that moment."""
    caches = {"OCL_KERNEL_CACHE": tmp_path / "ours", "POCL_CACHE_DIR": tmp_path / "pocl"}
    output, _ = processes.run(ENVIRONMENT_MOVES_AFTER_EACH_LAUNCH, **caches)
    assert output.split() == ["done"]
