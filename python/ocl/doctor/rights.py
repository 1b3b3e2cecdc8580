"""Whether the user may open the files of GPUs."""

from __future__ import annotations

import glob
import grp
import os
import pwd
import stat
from collections.abc import Iterable, Iterator

from ocl.doctor.findings import Finding, fault, note, ok

__all__ = ["PATTERNS", "check"]

# The files drivers open to compute; /dev/dri/card* is for screens.
PATTERNS = (
    "/dev/dri/renderD*",
    "/dev/kfd",
    "/dev/nvidia[0-9]*",
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/mali0",
)


def check(works_on_gpu: bool, patterns: Iterable[str] = PATTERNS) -> Iterator[Finding]:
    """`works_on_gpu`: a GPU is in use, so that what else may not be opened is no fault."""
    paths = sorted(path for pattern in patterns for path in glob.glob(pattern))
    if not paths:
        yield ok("rights", "no files of GPUs (/dev/dri/renderD*, /dev/kfd, /dev/nvidia*): nothing to open")
    for path in paths:
        try:
            entry = os.stat(path)
        except OSError as error:
            yield note("rights", f"{path}: {error.strerror}")
            continue
        if os.access(path, os.R_OK | os.W_OK):
            yield ok("rights", f"{path} ({_described(entry)}) is open to {_user()}")
        else:
            text = f"{path} ({_described(entry)}) is closed to {_user()}"
            yield (note if works_on_gpu else fault)("rights", text, _remedy(path, entry))


def _user() -> str:
    return _user_name(os.getuid())


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group_name(gid: int) -> str:
    """Empty where the number has no name here, as in a container."""
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return ""


def _described(entry: os.stat_result) -> str:
    owner = _user_name(entry.st_uid)
    return f"{owner}:{_group_name(entry.st_gid) or entry.st_gid}, {stat.filemode(entry.st_mode)}"


def _remedy(path: str, entry: os.stat_result) -> str:
    both = stat.S_IRGRP | stat.S_IWGRP
    group = _group_name(entry.st_gid)
    if entry.st_mode & both != both or entry.st_gid == 0:
        return (
            f"`sudo chgrp render {path} && sudo chmod 660 {path}`, then `sudo usermod -aG render {_user()}`"
        )
    if not group:
        return f"group {entry.st_gid} has no name here: start the container with `--group-add {entry.st_gid}`"
    if _user() in grp.getgrgid(entry.st_gid).gr_mem:
        return f"{_user()} is in the group {group}, but this session began before: log out and in again"
    return f"`sudo usermod -aG {group} {_user()}`, then log out and in again"
