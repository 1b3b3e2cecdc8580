"""Damaged files: what a reader makes of a mutated safetensors file, checkpoint or IDX file.

A case is a seed: it picks a valid file, mutates it, and reads it. Either the reader gives what an
independent reading of the same bytes gives, or it raises OSError or ValueError that names the file. The
contents of a checkpoint are then loaded into a module, an optimizer and a schedule: each takes it whole,
and can go on, or refuses it and stays as it was.
"""

import functools
import gzip
import json
import math
import random
import struct
import tempfile
import warnings
import zlib
from pathlib import Path

import numpy as np

import ocl
from fuzz.found import WRONG, Found
from ocl import _C

DTYPES = {
    "F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "U8": "u1", "BOOL": "?", "BF16": "u2",
}  # fmt: skip
REFUSALS = (OSError, ValueError)
# The errors of load_state_dict, which takes any Python object.
STATE_REFUSALS = (ValueError, TypeError, KeyError, IndexError, OverflowError)
EXTREMES = (
    0,
    1,
    7,
    8,
    255,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
)


class Disagreement(Exception):
    """An action that the reader should not have taken."""


def drawn(seed, kinds=None):
    """The case of `seed`: the kind of file, its damaged content, and what reads it.

    `kinds`: by name a function that gives a valid file, the one that reads it, and mutations.
    """
    kinds = kinds or KINDS
    rng = random.Random(seed)
    kind = rng.choice(tuple(kinds))
    original, read, mutations = kinds[kind]
    return kind, mutated(rng, mutations, original()), read


def disagreement(seed, folder, kinds=None):
    """Runs the case of `seed`, whose file is left in `folder`: None, or what is wrong, in words."""
    kind, content, read = drawn(seed, kinds)
    path = Path(folder) / f"{kind}-{seed}"
    path.write_bytes(content)
    return judged(read, path)


def run_one(name, seed, limit, announce, subject="files", kinds=None):
    """The case of `seed` as the fuzzer runs it."""
    announce(ocl, f"the file of seed {seed}")
    with tempfile.TemporaryDirectory(prefix="tapecl-fuzz-files-") as folder:
        wrong = disagreement(seed, folder, kinds)
        if wrong is None:
            return None
        return Found(WRONG, subject, smallest(seed, folder, kinds).read_bytes().hex(), wrong)


def judged(read, path):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
    except Disagreement as wrong:
        return f"{path.name}: {wrong}"
    except REFUSALS as refusal:
        if path.name not in str(refusal):
            return f"{path.name}: {type(refusal).__name__} does not name the file: {refusal}"
    except Exception as error:
        return f"{path.name}: {type(error).__name__}: {error}"
    path.unlink()
    return None


def run(seed, count, folder=None):
    """The disagreements of `count` cases from `seed` on: (seed, description, smallest file that shows it)."""
    folder = Path(folder or tempfile.mkdtemp(prefix="tapecl-fuzz-files-"))
    found = []
    for number in range(seed, seed + count):
        wrong = disagreement(number, folder)
        if wrong:
            found.append((number, wrong, smallest(number, folder)))
    return found


def smallest(seed, folder, kinds=None):
    """A file that shows the disagreement of `seed` too, with as much of it cut away as can be."""
    kind, content, read = drawn(seed, kinds)
    path = Path(folder) / f"{kind}-{seed}-smallest"
    step = len(content)
    while step:
        start = 0
        while start < len(content):
            shorter = content[:start] + content[start + step :]
            path.write_bytes(shorter)
            if judged(read, path):
                content = shorter
            else:
                start += step
        step //= 2
    path.write_bytes(content)
    return path


# --- the files


@functools.cache
def written(make):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        make(path)
        return path.read_bytes()


def write_tensors(path):
    values = {
        f"{name}.weight": np.arange(6).reshape(2, 3).astype(DTYPES[name]) for name in DTYPES if name != "BF16"
    }
    tensors = {name: ocl.tensor(array) for name, array in values.items() if array.dtype != np.float64}
    tensors["scalar"] = ocl.tensor(2.5)
    tensors["empty"] = ocl.zeros(0, 3)
    tensors["bfloat"] = ocl.ones(3).bfloat16()
    ocl.save(tensors, path)


def make_training():
    """A small net, its optimizer and its schedule."""
    model = ocl.nn.Sequential(ocl.nn.Linear(2, 3), ocl.nn.BatchNorm1d(3))
    optimizer = ocl.optim.Adam(model.parameters(), lr=0.1, amsgrad=True)
    schedules = ocl.optim.lr_scheduler
    schedule = schedules.SequentialLR(
        optimizer,
        [
            schedules.StepLR(optimizer, 2),
            schedules.MultiStepLR(optimizer, [1, 3]),
            schedules.CosineAnnealingLR(optimizer, 4),
        ],
        [2, 5],
    )
    return model, optimizer, schedule


def go_on(model, optimizer, schedule):
    model(ocl.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]])).sum().backward()
    optimizer.step()
    schedule.step()


def write_checkpoint(path):
    training = make_training()
    go_on(*training)
    model, optimizer, schedule = (part.state_dict() for part in training)
    ocl.save(
        {"model": model, "optimizer": optimizer, "schedule": schedule, "log": [1, 0.5, "é", (None, True)]},
        path,
    )


def idx_bytes(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@functools.cache
def idx():
    return idx_bytes(np.arange(3 * 5 * 4, dtype=np.uint8).reshape(3, 5, 4))


@functools.cache
def packed_idx():
    return gzip.compress(idx(), mtime=0)


# --- mutations


def mutated(rng, mutations, content):
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(mutations)(rng, content)
    return content


def flip(rng, content):
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(rng, content):
    return content[: rng.randrange(len(content) + 1)]


def extend(rng, content):
    return content + rng.choice((b"\0", b"\x1f\x8b", rng.randbytes(9), content))


def splice(rng, content):
    """A piece of the file in another place of it: over what is there, between it, or cut away."""
    start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    at = rng.randrange(len(content) + 1)
    piece = content[start:end]
    return rng.choice(
        (
            content[:at] + piece + content[at:],
            content[:at] + piece + content[at + len(piece) :],
            content[:start] + content[end:],
        )
    )


def set_length(rng, content):
    """The header's length is another number."""
    (length,) = struct.unpack("<Q", content[:8].ljust(8, b"\0"))
    number = rng.choice((*EXTREMES, length + 1, length - 1, length + 8, length // 2, len(content)))
    return struct.pack("<Q", number % 2**64) + content[8:]


def set_dimensions(rng, content):
    """A dimension of an IDX file, its type or its rank is another number."""
    at = rng.choice((2, 3, 4, 8, 12))
    if at < 4:
        return content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
    return content[:at] + struct.pack(">I", rng.choice(EXTREMES) % 2**32) + content[at + 4 :]


def repacked(mutation):
    """That mutation of a gzip file's contents."""

    def mutate(rng, content):
        try:
            return gzip.compress(mutation(rng, gzip.decompress(content)), mtime=0)
        except (OSError, EOFError, ValueError, zlib.error):  # an earlier mutation has left no gzip file
            return flip(rng, content)

    return mutate


def bomb(rng, content):
    """Few bytes that unpack to many, with a header that says so, or not."""
    count = rng.choice((2**20, 2**20 - 1, 2**31, 2**32 - 1))
    return gzip.compress(struct.pack(">BBBBI", 0, 0, 8, 1, count) + bytes(2**20), mtime=0)


STRUCTURE = "tapecl.structure"


def edit_header(rng, content):
    return with_header(content, lambda header: edited(rng, header))


def edit_structure(rng, content):
    def change(header):
        metadata = header.setdefault("__metadata__", {})
        metadata[STRUCTURE] = json.dumps(edited(rng, json.loads(metadata[STRUCTURE])))
        return header

    return with_header(content, change)


def edit_parts(rng, content):
    """Another number, text, tensor, key or kind of container in the structure, which stays whole."""

    def change(header):
        metadata = header.setdefault("__metadata__", {})
        steps = json.loads(metadata[STRUCTURE])
        for _ in range(rng.choice((1, 1, 2, 5))):
            step = rng.choice(steps)
            kind, part = step
            if kind == "value":
                step[1] = rng.choice(
                    [v for v in (stranger(rng), nudged(rng, part), 1) if not isinstance(v, list | dict)]
                )
            elif kind == "tensor":
                step[:] = rng.choice((["tensor", rng.choice(sorted(header))], ["value", stranger(rng)]))
            elif kind == "dict":
                if part:
                    part[rng.randrange(len(part))] = rng.choice((rng.choice(part), stranger(rng), "step"))
            else:
                step[:] = rng.choice((["tuple", part], ["list", part], ["dict", list(range(part))]))
        metadata[STRUCTURE] = json.dumps(steps)
        return header

    return with_header(content, change)


def deepen(rng, content):
    """A structure nested far deeper than the program's stack."""

    def change(header):
        opening, closing = rng.choice((("[", "]"), ('{"list":[', "]}"), ('["list", ', "]")))
        depth = rng.choice((100, 10_000))
        header.setdefault("__metadata__", {})[STRUCTURE] = opening * depth + closing * depth
        return header

    return with_header(content, change)


def with_header(content, change):
    """`content` with its JSON header changed; as it is where an earlier mutation has left none."""
    try:
        (length,) = struct.unpack("<Q", content[:8])
        header = change(json.loads(content[8 : 8 + length]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, struct.error):
        return content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def edited(rng, tree):
    """JSON with one part of it replaced, removed, doubled or exchanged with another."""
    places = list(walked(tree))
    if not places:
        return stranger(rng)
    parent, key = rng.choice(places)
    other_parent, other_key = rng.choice(places)
    action = rng.randrange(5)
    if action == 0:
        parent[key] = stranger(rng)
    elif action == 1:
        del parent[key]
    elif action == 2 and isinstance(parent, list):
        parent.insert(key, parent[key])
    elif action == 3:
        parent[key] = nudged(rng, parent[key])
    else:
        # Texts, as an exchange could make a part hold itself.
        first, second = json.dumps(parent[key]), json.dumps(other_parent[other_key])
        parent[key] = json.loads(second)
        if other_key in (other_parent if isinstance(other_parent, dict) else range(len(other_parent))):
            other_parent[other_key] = json.loads(first)
    return tree


def walked(tree):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(items):
        yield tree, key
        yield from walked(value)


def stranger(rng):
    return rng.choice(
        (
            None,
            True,
            "",
            "F32",
            "U16",
            "tensor",
            [],
            {},
            [1],
            [[]],
            {"a": 1},
            -1,
            0.5,
            1e308,
            math.inf,
            math.nan,
        )
        + EXTREMES
    )


def nudged(rng, value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        return rng.choice(list(DTYPES)) if isinstance(value, str) else stranger(rng)
    return rng.choice((value + 1, value - 1, -value, value * 2, value + 0.5, value * 2**40))


# --- readers: each raises Disagreement where the reader under test gives something else than is there


def read_tensors(path):
    loaded = ocl.load(path)
    compare_tensors(path, loaded if isinstance(loaded, dict) else {}, named=True)
    return loaded


def compare_tensors(path, loaded, named):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    data = content[8 + length :]
    covered = sum(entry["data_offsets"][1] - entry["data_offsets"][0] for entry in header.values())
    if covered != len(data):
        raise Disagreement(f"loaded, but {covered} of {len(data)} bytes of data have a tensor")
    if not named:
        return
    if set(header) != set(loaded):
        raise Disagreement(f"loaded {sorted(loaded)}, the header has {sorted(header)}")
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensor = loaded[name]
        array = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
        if entry["dtype"] == "BOOL":
            array = array.view(np.uint8) != 0
        if entry["dtype"] == "BF16":
            tensor, array = tensor.float(), (array.astype(np.uint32) << 16).view(np.float32)
        if tensor.shape != array.shape or not np.array_equal(
            tensor.numpy(), array, equal_nan=array.dtype.kind == "f"
        ):
            raise Disagreement(f"tensor {name} is not what the file holds")


def read_checkpoint(path):
    loaded = ocl.load(path)
    compare_tensors(path, loaded, named=False)
    if not isinstance(loaded, dict):
        return
    training = make_training()
    for part, name in zip(training, ("model", "optimizer", "schedule"), strict=True):
        before = snapshot(part.state_dict())
        try:
            part.load_state_dict(loaded.get(name))
        except STATE_REFUSALS:
            if snapshot(part.state_dict()) != before:
                raise Disagreement(f"the {name} refused its state and changed") from None
        except Exception as error:
            raise Disagreement(f"the {name} met its state with {type(error).__name__}: {error}") from error
    try:
        go_on(*training)
        ocl.synchronize()
    except Exception as error:
        raise Disagreement(f"training cannot go on: {type(error).__name__}: {error}") from error


def snapshot(state):
    """Text that is equal for equal states."""
    if isinstance(state, ocl.Tensor):
        return str(state.dtype) + str(state.shape) + state.numpy().tobytes().hex()
    if isinstance(state, dict):
        return {key: snapshot(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [snapshot(item) for item in state]
    return repr(state)


def read_idx(path):
    loaded = _C._data.read_idx(path)
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    shape = struct.unpack(f">{content[3]}I", content[4 : 4 + 4 * content[3]])
    expected = np.frombuffer(content[4 + 4 * content[3] :], np.uint8).reshape(shape)
    if loaded.shape != shape or not np.array_equal(loaded, expected):
        raise Disagreement(f"loaded an array of shape {loaded.shape} that is not what the file holds")
    if _C._data.read_idx_shape(path) != shape:
        raise Disagreement("the shape read from the header alone is another")


ANY = (flip, flip, truncate, extend, splice)
SAFETENSORS = (*ANY, set_length, edit_header, edit_header, edit_header)
CHECKPOINT = (*SAFETENSORS, *(edit_structure,) * 3, *(edit_parts,) * 12, deepen)
IDX = (*ANY, set_dimensions, set_dimensions)
KINDS = {
    "tensors.safetensors": (functools.partial(written, write_tensors), read_tensors, SAFETENSORS),
    "checkpoint.safetensors": (functools.partial(written, write_checkpoint), read_checkpoint, CHECKPOINT),
    "idx": (idx, read_idx, IDX),
    "idx.gz": (packed_idx, read_idx, (*ANY, bomb, *(repacked(mutation) for mutation in IDX))),
}
