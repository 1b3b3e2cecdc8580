"""Runs one line of a PyTorch program on torch or on ocl, and compares what the two give."""

import contextlib
import copy
import importlib
import pickle
import warnings
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch

import ocl

HERE = Path(__file__).parent


def _lines(name):
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


LINES = _lines("idioms.txt")
# The modules that lines use, and that a program imports before.
MODULES = (
    "autograd.functional fx nn.utils.fusion nn.utils.prune optim.lr_scheduler optim.swa_utils utils._pytree "
    "utils.checkpoint utils.dlpack"
).split()
# The lines that ocl answers otherwise; docs/pytorch-differences.md has the reasons.
DEVIATIONS = _lines("deviations.txt")


def names_for(library):
    """The names that a line finds: the library under the name torch, and tensors of it."""
    rng = np.random.default_rng(5)

    def tensor(*shape):
        return library.tensor(rng.standard_normal(shape).astype(np.float32))

    for name in MODULES:
        with contextlib.suppress(ImportError):  # the line that needs it says that it is missing
            importlib.import_module(f"{library.__name__}.{name}")
    return {
        "torch": library,
        "nn": library.nn,
        "F": library.nn.functional,
        "np": np,
        "copy": copy,
        "pickle": pickle,
        "OrderedDict": OrderedDict,
        "x": tensor(3, 4),
        "y": tensor(3, 4),
        "v": tensor(4),
        "w": tensor(4, 5),
        "img": tensor(2, 3, 8, 8),
        "seq": tensor(2, 5, 4),
        "i": library.tensor(np.array([3, 0, 2])),
        "m": library.tensor(rng.random((3, 4)) > 0.5),
    }


def run(line, library):
    """The value of the line's last expression; the name z where the line ends with a statement."""
    names = names_for(library)
    *statements, last = [part.strip() for part in line.split("; ")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in statements:
            exec(statement, names)
        if last.startswith("with "):
            exec(last, names)
            return names.get("z")
        return eval(last, names)


def neutral(value):
    """The value as nests of NumPy arrays, numbers and texts, without a trace of the library it came from."""
    if isinstance(value, (torch.Tensor, ocl.Tensor)):
        if value.dtype in (torch.bfloat16, ocl.bfloat16):
            value = value.float()
        return value.detach().cpu().numpy()
    if isinstance(value, (torch.Size, ocl.Size)):
        return ("Size", *value)
    if isinstance(value, (torch.dtype, ocl.dtype)):
        return str(value).rpartition(".")[2]
    if isinstance(value, dict):
        return {key: neutral(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        kind = list if isinstance(value, list) else tuple
        return kind(neutral(entry) for entry in value)
    if isinstance(value, str):
        return value.replace("ocl.", "torch.")
    if value is None or isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return value
    return type(value).__name__


def difference(ours, theirs):
    """None where the two neutral values agree, otherwise what differs."""
    if isinstance(theirs, np.ndarray):
        if not isinstance(ours, np.ndarray) or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return f"{ours!r} is not {theirs!r}"
        if np.allclose(
            ours, theirs, rtol=1e-3 if ours.dtype == np.float16 else 1e-5, atol=1e-6, equal_nan=True
        ):
            return None
        return f"{ours!r} is not {theirs!r}"
    if type(ours) is not type(theirs):
        return f"{ours!r} is not {theirs!r}"
    if isinstance(theirs, dict):
        if list(ours) != list(theirs):
            return f"keys {list(ours)} are not {list(theirs)}"
        return difference(list(ours.values()), list(theirs.values()))
    if isinstance(theirs, (tuple, list)):
        if len(ours) != len(theirs):
            return f"{ours!r} is not {theirs!r}"
        found = [difference(mine, other) for mine, other in zip(ours, theirs, strict=True)]
        return next((one for one in found if one), None)
    if isinstance(theirs, float):
        same = bool(np.isclose(ours, theirs, rtol=1e-5, atol=1e-6, equal_nan=True))
        return None if same else f"{ours!r} is not {theirs!r}"
    return None if ours == theirs else f"{ours!r} is not {theirs!r}"
