"""Checkpoints that outlive a kill at any moment: the one before is there until the new one is whole."""

import os
import sys
from pathlib import Path

import ocl

__all__ = ["load_checkpoint", "save_checkpoint"]

NAME, PREVIOUS, UNFINISHED = "checkpoint", "checkpoint.previous", "checkpoint.unfinished"


def save_checkpoint(state, folder):
    """Writes `state` into the folder, beside the checkpoint of before, which takes the name PREVIOUS.

    On the disk under its own name before that, so that a kill or a power cut leaves one of the two whole.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ocl.save(state, folder / UNFINISHED)
    _to_disk(folder / UNFINISHED)
    if (folder / NAME).exists():
        os.replace(folder / NAME, folder / PREVIOUS)
    os.replace(folder / UNFINISHED, folder / NAME)
    _to_disk(folder)


def load_checkpoint(folder, device=None):
    """The newest state of the folder that is whole.

    Raises:
        FileNotFoundError: there is none.
        OSError: there are some, and all are damaged.
    """
    paths = [path for path in (Path(folder) / NAME, Path(folder) / PREVIOUS) if path.exists()]
    if not paths:
        raise FileNotFoundError(f"{folder} holds no checkpoint to resume")
    for path in paths[:-1]:
        try:
            return ocl.load(path, map_location=device)
        except OSError as error:
            print(f"{error}; going on from the one before", file=sys.stderr)
    return ocl.load(paths[-1], map_location=device)


def _to_disk(path):
    if os.name != "posix" and path.is_dir():
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
