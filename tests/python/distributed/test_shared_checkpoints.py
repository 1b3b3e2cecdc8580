"""Checkpoints of several ranks: who writes what, other numbers of ranks, ranks that are killed, damage."""

import json
import os
import re
import signal
import zlib

import numpy as np
import pytest
from processes import run
from ranks import HEAD, ends, run_ranks, start_ranks

import ocl
from ocl.distributed import checkpoint

TRAIN = """
from ocl import nn
from ocl.distributed.optim import ZeroRedundancyOptimizer
from ocl.optim import AdamW
from ocl.optim.lr_scheduler import StepLR
folder = sys.argv[1]

class Training:
    def __init__(self, zero=True):
        ocl.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Linear(5, 3), nn.Linear(3, 2))
        kinds = (ZeroRedundancyOptimizer, {"optimizer_class": AdamW}) if zero else (AdamW, {})
        self.optimizer = kinds[0](self.net.parameters(), lr=0.1, **kinds[1])
        self.schedule = StepLR(self.optimizer, 2, 0.5)
        self.step = 0

    def run(self, steps):
        for _ in range(steps):
            drawn = np.random.default_rng(self.step)
            x = ocl.tensor(drawn.standard_normal((4, 6), dtype=np.float32))
            self.optimizer.zero_grad()
            self.net(x).square().mean().backward()
            self.optimizer.step()
            self.schedule.step()
            self.step += 1

    def state(self):
        return {"net": self.net, "optimizer": self.optimizer, "schedule": self.schedule,
                "more": {"step": self.step, "seen": ocl.tensor([self.step, 7])}}

    def load(self):
        state = self.state()
        dist.checkpoint.load(state, folder)
        self.step = state["more"]["step"]
        assert state["more"]["seen"].tolist() == [self.step, 7]

    def weights(self):
        return [t.numpy().tobytes().hex() for t in self.net.state_dict().values()]
"""

SAVE = TRAIN + "training = Training()\ntraining.run(3)\ndist.checkpoint.save(training.state(), folder)\n"
GO_ON = """
import json
training = Training(zero="ALONE" not in os.environ)
training.load()
assert training.step == 3
training.run(2)
print(json.dumps(training.weights()))
"""


def index_of(folder):
    return json.loads((folder / "index.json").read_text().partition(" ")[2])


def test_each_rank_writes_its_share_and_other_numbers_of_ranks_go_on(tmp_path):
    run_ranks(SAVE, 3, tmp_path)
    index = index_of(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(["index.json"] + [p["file"] for p in index["parts"]])
    held = [ocl.load(tmp_path / part["file"]) for part in index["parts"]]
    names = [name for part in held for name in part]
    assert len(names) == len(set(names)) and "net/0.weight" in names  # once each
    sizes = [sum(t.numel() * t.element_size() for t in part.values()) for part in held]
    assert max(sizes) < 1.5 * sum(sizes) / 3
    states = [{name.split("/")[2] for name in part if name.startswith("optimizer/state")} for part in held]
    assert all(states) and sum(map(len, states)) == 8  # no parameter's states in two parts
    without_a_break = "import json\nt = Training(zero=False)\nt.run(5)\nprint(json.dumps(t.weights()))"
    alone = {"RANK": 0, "WORLD_SIZE": 1, "ALONE": 1}
    expected, _ = run(HEAD + TRAIN + without_a_break, tmp_path, **alone)
    for size in (3, 2, 4):
        assert set(run_ranks(TRAIN + GO_ON, size, tmp_path)) == {expected}
    assert run(HEAD + TRAIN + GO_ON, tmp_path, **alone)[0] == expected


def test_a_rank_reads_only_the_files_with_something_of_its_own(tmp_path):
    run_ranks(
        TRAIN
        + """
training = Training()
training.run(3)
dist.checkpoint.save({"optimizer": training.optimizer}, folder)
read, real = [], ocl._C._data.load_tensors
ocl._C._data.load_tensors = lambda path, device: read.append(path) or real(path, device)
dist.checkpoint.load({"optimizer": training.optimizer}, folder)
assert len(read) == 1 and f"-{rank:05}-of" in read[0], read
""",
        3,
        tmp_path,
    )


KILLED = """
import signal
folder, victim, moment = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def state_of(step):
    return {"step": step, "all": {str(i): ocl.full((50 + i,), float(step)) for i in range(7)},
            f"own{rank}": ocl.full((20,), float(step))}

dist.checkpoint.save(state_of(1), folder)
data = ocl._C._data
save_tensors, write_file, unlink = data.save_tensors, data.write_file, os.unlink

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def half_a_part(tensors, path, metadata):
    if moment == "before its part":
        die()
    if moment == "within its part":
        save_tensors(tensors, path, metadata)
        content = open(path, "rb").read()
        os.remove(path)
        open(path + ".0123456789abcdef.tmp", "wb").write(content[: len(content) // 2])  # as writers name it
        die()
    save_tensors(tensors, path, metadata)
    if moment == "after its part":
        die()

def index(path, content):
    if moment == "before the index":
        die()
    write_file(path, content)
    if moment == "after the index":
        die()

if rank == victim:
    data.save_tensors, data.write_file = half_a_part, index
dist.checkpoint.save(state_of(2), folder)
raise SystemExit("not killed")
"""


@pytest.mark.parametrize(
    "victim, moment, survives",
    [
        (1, "before its part", 1),
        (2, "within its part", 1),
        (1, "after its part", 1),
        (0, "before the index", 1),
        (0, "after the index", 2),
    ],
)
def test_a_killed_rank_leaves_a_whole_checkpoint(tmp_path, victim, moment, survives):
    results = ends(start_ranks(KILLED, 3, tmp_path, victim, moment))
    assert results[victim][0] == -signal.SIGKILL
    for rank, (status, _, errors) in enumerate(results):
        assert rank == victim or (status == 1 and f"rank {victim} (process" in errors), errors
    state = {"step": 0, "all": {str(i): ocl.zeros(50 + i) for i in range(7)}}
    state |= {f"own{rank}": ocl.zeros(20) for rank in range(3)}
    checkpoint.load(state, tmp_path)
    assert state["step"] == survives
    for tensor in [*state["all"].values(), *(state[f"own{rank}"] for rank in range(3))]:
        assert (tensor == survives).all()
    checkpoint.save(state, tmp_path)  # takes away what the killed save has left
    parts = [part["file"] for part in index_of(tmp_path)["parts"]]
    assert sorted(os.listdir(tmp_path)) == sorted(["index.json", *parts])


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.02 * n for n in range(8)])
def test_kills_at_any_moment(tmp_path, delay):
    import time

    processes = start_ranks(
        """
step = 1
while True:
    state = {"step": step, "all": {str(i): ocl.full((20_000,), float(step)) for i in range(5)}}
    dist.checkpoint.save(state, sys.argv[1])
    if step == 1:
        print("ready", flush=True)
    step += 1
""",
        3,
        tmp_path,
    )
    for process in processes:
        assert process.stdout.readline().strip() == "ready"
    time.sleep(delay)
    processes[int(delay * 100) % 3].send_signal(signal.SIGKILL)
    ends(processes, timeout=30)
    state = {"step": 0, "all": {str(i): ocl.zeros(20_000) for i in range(5)}}
    checkpoint.load(state, tmp_path)
    assert state["step"] >= 1 and all((t == state["step"]).all() for t in state["all"].values())


@pytest.fixture
def saved(tmp_path):
    checkpoint.save({"a": ocl.arange(10.0), "b": [ocl.ones(2), 3], "c": {}}, tmp_path)
    (part,) = index_of(tmp_path)["parts"]
    return tmp_path, tmp_path / part["file"]


def flip_a_bit(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", ["missing", "truncated", "a bit", "another file"])
@pytest.mark.parametrize("which", ["part", "index"])
def test_damage_is_refused_by_the_name_of_the_file(saved, damage, which):
    folder, part = saved
    path = part if which == "part" else folder / "index.json"
    if damage == "missing":
        path.unlink()
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:-1])
    elif damage == "another file":
        ocl.save({"a": ocl.zeros(10)}, path)
    else:
        flip_a_bit(path, -1)
    a = ocl.zeros(10)
    with pytest.raises(OSError, match=re.escape(path.name)) as caught:
        checkpoint.load({"a": a}, folder)
    assert isinstance(caught.value, FileNotFoundError) == (damage == "missing")
    assert (a == 0).all()


def test_every_bit_of_an_index_counts(saved):
    folder, _ = saved
    path = folder / "index.json"
    for at in range(0, path.stat().st_size, 7):
        flip_a_bit(path, at)
        with pytest.raises(OSError, match="index.json"):
            checkpoint.load({"a": ocl.zeros(10)}, folder)
        flip_a_bit(path, at)
    checkpoint.load({"a": ocl.zeros(10)}, folder)


def index_with(parts, leaves=()):
    return json.dumps({"format": "tapecl.checkpoint.1", "parts": parts, "leaves": list(leaves)})


NO_INDEX = [
    "[]",
    "{}",
    "3",
    '{"format": "tapecl.checkpoint.1"}',
    index_with(1),
    index_with([{"file": "/etc/passwd", "bytes": 1, "crc32": 0}]),
    index_with([{"file": "../000001-00000-of-00001.safetensors", "bytes": 1, "crc32": 0}]),
    index_with([None], [{"path": ["a"], "name": "a", "part": 0, "tensors": ["tensor"], "structure": "[]"}]),
]


@pytest.mark.parametrize("text", NO_INDEX)
def test_an_index_with_a_right_sum_is_checked_too(tmp_path, text):
    (tmp_path / "index.json").write_text(f"{zlib.crc32(text.encode()):010} {text}")
    with pytest.raises(OSError, match="index.json"):
        checkpoint.load({"a": ocl.zeros(10)}, tmp_path)


def test_a_sum_of_other_digits(saved):
    folder, _ = saved
    (folder / "index.json").write_text("² {}")
    with pytest.raises(OSError, match="index.json"):
        checkpoint.load({"a": ocl.zeros(10)}, folder)


def test_files_of_others_stay(tmp_path):
    others = (
        "my_model-000100-00001-of-00002.safetensors",
        "000100-00001-of-00002.safetensors.bak",
        "notes.tmp",
    )
    for name in others:
        (tmp_path / name).write_text("")
    unfinished = tmp_path / "000001-00000-of-00001.safetensors.0123456789abcdef.tmp"
    unfinished.write_text("")
    for _ in range(2):
        checkpoint.save({"a": ocl.zeros(3)}, tmp_path)
    assert not unfinished.exists()
    own = {"index.json", "000002-00000-of-00001.safetensors"}
    assert {path.name for path in tmp_path.iterdir()} == {*others, *own}


def test_members_of_nets_with_names_of_methods(tmp_path):
    net = ocl.nn.Sequential()
    net.loads, net.sharded_state_dict = ocl.nn.Linear(2, 2), ocl.nn.Linear(2, 1)
    checkpoint.save({"net": net}, tmp_path)
    weight = net.loads.weight.detach().clone()
    with ocl.no_grad():
        net.loads.weight.zero_()
    checkpoint.load({"net": net}, tmp_path)
    assert (net.loads.weight == weight).all()


def test_values_go_into_what_is_given(saved):
    folder, _ = saved
    a, nested = ocl.zeros(10), {"b": None, "c": {}}
    state = {"a": a, **nested}
    checkpoint.load(state, str(folder))
    assert state["a"] is a and a.tolist() == list(range(10))
    assert state["b"][0].tolist() == [1, 1] and state["b"][1] == 3
    with pytest.raises(RuntimeError, match="Missing key in checkpoint state_dict: d/e"):
        checkpoint.load({"d": {"e": 1}}, folder)
    with pytest.raises(RuntimeError, match="Missing key in checkpoint state_dict: net"):
        checkpoint.load({"net": ocl.nn.Linear(2, 2)}, folder)
    with pytest.raises(ValueError, match=r"a has shape \(10,\), expected \(9,\)"):
        checkpoint.load({"a": ocl.zeros(9)}, folder)


def test_dtypes_keys_and_names_that_read_alike(tmp_path):
    dtypes = ("float16", "bfloat16", "int64", "uint8", "bool")
    state = {
        "a": {"b": ocl.ones(1), 3: {None: ocl.zeros(2, 0), True: 1.5}},
        "a/b": ocl.full((2,), 2.0),
        **{dtype: ocl.ones(3, dtype=getattr(ocl, dtype)) for dtype in dtypes},
        "array": np.arange(3),
        "sparse": ocl.eye(3).to_sparse(),
        "scalar": ocl.tensor(4.0),
        "__metadata__": ocl.ones(1),
        "\ud800": ocl.ones(2),
    }
    checkpoint.save(state, tmp_path / "deep" / "folder")
    loaded = {
        "a": {"b": ocl.zeros(1), 3: {None: ocl.ones(2, 0), True: 0}},
        "a/b": ocl.zeros(2),
        **{dtype: ocl.zeros(3, dtype=getattr(ocl, dtype)) for dtype in dtypes},
        "array": None,
        "sparse": None,
        "scalar": ocl.tensor(0.0),
        "__metadata__": ocl.zeros(1),
        "\ud800": ocl.zeros(2),
    }
    checkpoint.load(loaded, tmp_path / "deep" / "folder")
    assert loaded["a"]["b"].tolist() == [1] and loaded["a"][3][True] == 1.5
    assert loaded["a/b"].tolist() == [2, 2] and loaded["scalar"].item() == 4
    assert all((loaded[dtype] == 1).all() for dtype in dtypes)
    assert loaded["__metadata__"].tolist() == [1] and loaded["\ud800"].tolist() == [1, 1]
    assert loaded["array"].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(loaded["sparse"].to_dense().numpy(), np.eye(3))


def test_what_cannot_be_saved(tmp_path):
    circle = {}
    circle["x"] = {"again": circle}
    for state, kind, words in (
        ({"f": {"g": print}}, TypeError, "f/g: .*builtin_function_or_method"),
        ({"f": {(1, 2): 3}}, TypeError, "f has a key of type tuple"),
        ({3: 4}, TypeError, "strings as keys"),
        (circle, ValueError, "x/again/x contains itself"),
    ):
        with pytest.raises(kind, match=words):
            checkpoint.save(state, tmp_path / "none")
    with pytest.raises(OSError, match="taken"):
        (tmp_path / "taken").write_text("")
        checkpoint.save({"a": 1}, tmp_path / "taken")
    assert not (tmp_path / "none" / "index.json").exists()


def test_what_one_rank_cannot_do_all_hear_of(tmp_path):
    run_ranks(
        """
folder = sys.argv[1]
def expect(kind, words, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        assert words in str(error), error
    else:
        raise SystemExit("accepted")
own = print if rank == 1 else 3
kind, words = (TypeError, "cannot be saved") if rank == 1 else (RuntimeError, "rank 1: checkpoint: a: ")
expect(kind, words, dist.checkpoint.save, {"a": own}, folder)
expect(ValueError, "w is {", dist.checkpoint.save, {"w": ocl.ones(2 + rank)}, folder)
expect(ValueError, "step is not the same on ranks 0 and 1", dist.checkpoint.save, {"step": rank}, folder)
nested = {"w": ocl.ones(2)} if rank == 0 else {"w": {"y": ocl.ones(2)}}
expect(ValueError, "w is a dict on one rank", dist.checkpoint.save, nested, folder)
dist.checkpoint.save({"w": ocl.ones(2)}, folder)
kind, words = (ValueError, "expected (3,)") if rank == 1 else (RuntimeError, "rank 1: ")
expect(kind, words, dist.checkpoint.load, {"w": ocl.zeros(2 + (rank == 1))}, folder)
kind, words = (OSError, "rank 0 does not see") if rank == 0 else (RuntimeError, "rank 0: ")
expect(kind, words, dist.checkpoint.save, {f"w{rank}": ocl.ones(2)}, f"{folder}/{rank}")
pair = dist.new_group([0, 1])
if rank < 2:
    dist.checkpoint.save({"w": ocl.full((2,), 5.0)}, folder, process_group=pair)
dist.barrier()
if rank == 2:
    state = {"w": ocl.zeros(2)}
    dist.checkpoint.load(state, folder, no_dist=True)
    assert state["w"].tolist() == [5, 5]
""",
        3,
        tmp_path,
    )
