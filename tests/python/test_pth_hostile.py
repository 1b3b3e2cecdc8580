"""Damaged and hostile files in PyTorch's formats: each is refused with an OSError that names it."""

import io
import pickle
import random
import resource
import struct
import zipfile

import pytest
import torch

import ocl
from ocl.serialization import UnpicklingError

TENSOR_OF_STORAGE = (
    b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n%b\n"
    b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpu%btQ%bK\x00%b%b\x89ccollections\nOrderedDict\n)RtR"
)


def number(value):
    return b"J" + struct.pack("<i", value) if abs(value) < 2**31 else pickle.dumps(value, 2)[2:-1]


def tensor(count=4, kind=b"FloatStorage", offset=0, size=b"K\x04\x85", stride=b"K\x01\x85"):
    """A pickle of a tensor over the storage "0"."""
    steps = TENSOR_OF_STORAGE % (kind, number(count), b"", size, stride)
    steps = steps.replace(b"tQK\x00", b"tQ" + number(offset), 1)
    return b"\x80\x02" + steps + b"."


def archive(pickled, storages=None, compression=zipfile.ZIP_STORED, folder="archive", version="3\n"):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as file:
        file.writestr(f"{folder}/data.pkl", pickled)
        file.writestr(f"{folder}/version", version)
        for key, storage in ({"0": bytes(16)} if storages is None else storages).items():
            file.writestr(f"{folder}/data/{key}", storage)
    return content.getvalue()


def written(obj, **options):
    content = io.BytesIO()
    torch.save(obj, content, **options)
    return content.getvalue()


def legacy(*pickles, after=b""):
    head = [
        pickle.dumps(0x1950A86A20F9469CFC6C, 2),
        pickle.dumps(1001, 2),
        pickle.dumps({"little_endian": True}, 2),
    ]
    return b"".join([*head, *pickles]) + after


def legacy_tensor(*arguments, **options):
    return tensor(*arguments, **options).replace(b"tQ", b"NtQ", 1)


def with_entries_overlapping():
    """The directory says that a storage begins within data.pkl, where a local header lies ready."""
    header = archive(b"x")[: 30 + len("archive/data.pkl")].replace(b"data.pkl", b"data/0//")
    content = archive(header + bytes(16), {"0//": bytes(16)})
    directory = content.index(b"PK\1\2")
    entry = content.index(b"archive/data/0//", directory) - 46
    at = content.index(b"archive/data/0//") - 30
    return content[: entry + 42] + struct.pack("<L", at) + content[entry + 46 :]


def calling(what, arguments=b")"):
    return archive(b"\x80\x02c" + what.replace(b".", b"\n", 1) + b"\n" + arguments + b"R.")


KEYS = b"\x80\x02]X\x01\x00\x00\x000a."
GOOD = written({"x": torch.arange(20.0), "n": [1, "two"]})
PLAIN = archive(tensor())  # without the records of zip64, which PyTorch always writes
GOOD_LEGACY = written({"x": torch.arange(20.0), "n": [1, "two"]}, _use_new_zipfile_serialization=False)

HOSTILE = {
    # names
    "os.system": calling(b"posix.system", b"X\x04\x00\x00\x00true\x85"),
    "eval": calling(b"builtins.eval", b"X\x01\x00\x00\x001\x85"),
    "Python 2's eval": calling(b"__builtin__.eval", b"X\x01\x00\x00\x001\x85"),
    "getattr": calling(b"builtins.getattr"),
    "a name with dots": calling(b"collections.OrderedDict.__init__.__globals__"),
    "a function itself": archive(b"\x80\x02c__builtin__\nset\n."),
    "a function in containers": archive(b"\x80\x02}K\x01]cbuiltins\nset\nK\x01\x86as."),
    "a function of PyTorch's": archive(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n."),
    "a class of storages": archive(b"\x80\x02ctorch\nFloatStorage\n."),
    "the class of devices": archive(b"\x80\x02ctorch\ndevice\n."),
    "a function beside a state dict": archive(
        b"\x80\x02ccollections\nOrderedDict\n)R}X\x09\x00\x00\x00_metadatacbuiltins\nset\nsb."
    ),
    "a path for a module": calling(b"../torch.x"),
    "ocl itself": calling(b"ocl.load", b"X\x01\x00\x00\x00x\x85"),
    "a name without an end": archive(b"\x80\x02c" + b"a" * 5000),
    "a name that is not UTF-8": archive(b"\x80\x02c\xff\n\xff\n."),
    # opcodes
    "inst": archive(b"\x80\x02(iposix\nsystem\n."),
    "obj": archive(b"\x80\x02(cposix\nsystem\no."),
    "stack global": archive(pickle.dumps(print, 4)),
    "an extension": archive(b"\x80\x02\x82\x01."),
    "a frame": archive(b"\x80\x04\x95" + b"\xff" * 8 + b"."),
    "bytes of any size": archive(b"\x80\x04\x8e" + b"\xff" * 8 + b"."),
    "text of 4 GB": archive(b"\x80\x02X" + b"\xff" * 4 + b"abc."),
    "text that is not UTF-8": archive(b"\x80\x02X\x01\x00\x00\x00\xff."),
    "an empty pickle": archive(b""),
    "no stop": archive(b"\x80\x02]"),
    "stop without a value": archive(b"\x80\x02."),
    "what is not on the stack": archive(b"\x80\x02\x86."),
    "a mark that is not there": archive(b"\x80\x02K\x01u."),
    "a memo that is not there": archive(b"\x80\x02j\xff\xff\xff\xff."),
    "nothing to keep": archive(b"\x80\x02r\xff\xff\xff\xff."),
    "half an item": archive(b"\x80\x02}(K\x01u."),
    "items of a number": archive(b"\x80\x02K\x01(K\x01K\x02u."),
    "appending to a tuple": archive(b"\x80\x02)K\x01a."),
    "calling a number": archive(b"\x80\x02K\x01)R."),
    "calling with a list": calling(b"collections.OrderedDict", b"]"),
    "calling a dtype": calling(b"torch.float32"),
    "calling a storage": calling(b"torch.FloatStorage"),
    "calling a tensor's class": calling(b"torch.Tensor", number(2**40) + b"\x85"),
    "a new object": archive(b"\x80\x02ctorch\nTensor\n)\x81."),
    "state of a number": archive(b"\x80\x02K\x01}b."),
    "state of a list": archive(b"\x80\x02]}b."),
    "a list for a key": archive(b"\x80\x02}]K\x01s."),
    "a tuple of tuples for a key": archive(b"\x80\x02})" + b"\x85" * 20_000 + b"K\x01s."),
    # calls
    "bytes of a size": calling(b"builtins.bytearray", number(2**40) + b"\x85"),
    "a set of a number": calling(b"builtins.set", number(2**40) + b"\x85"),
    "a set of lists": calling(b"builtins.set", b"]]a\x85"),
    "pairs of nothing": calling(b"collections.OrderedDict", b"]K\x01a\x85"),
    "a size of a number": calling(b"torch.Size", b"K\x01\x85"),
    "bytes in another encoding": calling(b"_codecs.encode", b"X\x00\x00\x00\x00X\x05\x00\x00\x00zip64\x86"),
    "a set of many copied often": archive(
        b"\x80\x02]q\x00(" + b"K\x01" * 10_000 + b"ecbuiltins\nset\nq\x01" + b"h\x01h\x00\x85R" * 2_000 + b"."
    ),
    # storages
    "no storage": archive(tensor(), {}),
    "a short storage": archive(tensor(), {"0": bytes(15)}),
    "a long storage": archive(tensor(), {"0": bytes(17)}),
    "a huge storage": archive(tensor(2**40)),
    "a storage of 2**100": archive(tensor(2**100)),
    "a negative storage": archive(tensor(-4)),
    "a storage of other elements": archive(tensor(kind=b"DoubleStorage")),
    "an offset beyond": archive(tensor(offset=1)),
    "a negative offset": archive(tensor(offset=-1)),
    "an offset of 64 bits": archive(tensor(offset=2**63 - 1)),
    "an offset of more": archive(tensor(offset=2**80)),
    "a size beyond": archive(tensor(size=b"K\x05\x85")),
    "a negative size": archive(tensor(size=number(-1) + b"\x85")),
    "a size of 2**62": archive(tensor(size=number(2**62) + b"\x85")),
    "sizes that overflow": archive(tensor(size=number(2**40) * 2 + b"\x86", stride=b"K\x00K\x00\x86")),
    "a negative stride": archive(tensor(size=b"K\x02\x85", stride=number(-1) + b"\x85")),
    "a stride of 2**62": archive(tensor(size=b"K\x02\x85", stride=number(2**62) + b"\x85")),
    "more strides than sizes": archive(tensor(stride=b"K\x01K\x01\x86")),
    "more sizes than strides": archive(tensor(size=b"K\x01K\x01\x86")),
    "nine dimensions": archive(tensor(size=b"(" + b"K\x01" * 9 + b"t", stride=b"(" + b"K\x01" * 9 + b"t")),
    "a size that is a text": archive(tensor(size=b"X\x01\x00\x00\x00a\x85")),
    "a persistent id that is a number": archive(b"\x80\x02K\x01Q."),
    "a persistent id of something else": archive(tensor().replace(b"storage", b"gargage")),
    "a key with a path": archive(tensor().replace(b"X\x01\x00\x00\x000", b"X\x09\x00\x00\x00../../etc")),
    "integers that require gradients": archive(tensor(kind=b"IntStorage").replace(b"\x89cc", b"\x88cc")),
    # archives
    "an empty zip": b"PK\5\6" + bytes(18),
    "a cut zip": GOOD[:-30],
    "half a zip": GOOD[: len(GOOD) // 2],
    "four bytes": b"PK\3\4",
    "no data.pkl": archive(b"", folder="archive/deeper"),
    "no folder": archive(tensor()).replace(b"archive/", b"archive_"),
    "another version": archive(tensor(), version="11\n"),
    "a version that is none": archive(tensor(), version="new"),
    "a compressed bomb": archive(tensor(2**20), {"0": bytes(2**22)}, zipfile.ZIP_DEFLATED),
    "a directory elsewhere": PLAIN[:-6] + struct.pack("<L", 20) + PLAIN[-2:],
    "a directory beyond the end": PLAIN[:-6] + b"\xff" * 4 + PLAIN[-2:],
    "a huge directory": PLAIN[:-10] + b"\xff" * 4 + PLAIN[-6:],
    "many entries": PLAIN[:-14] + b"\xff" * 4 + PLAIN[-10:],
    "a directory of 64 bits elsewhere": GOOD[:-34] + b"\xff" * 8 + GOOD[-26:],
    "2**64 entries": GOOD[:-66] + b"\xff" * 8 + GOOD[-58:],
    "names that differ": GOOD.replace(b"data.pkl", b"DATA.pkl", 1),
    "entries that overlap": with_entries_overlapping(),
    "entries twice": archive(tensor(), {"0": bytes(16), "1": bytes(16)}).replace(b"data/1", b"data/0"),
    # the format before
    "a cut legacy file": GOOD_LEGACY[:-1],
    "a legacy file without storages": GOOD_LEGACY[:-88],
    "half a legacy file": GOOD_LEGACY[: len(GOOD_LEGACY) // 2],
    "a magic number alone": GOOD_LEGACY[:15],
    "a storage before its pickle": legacy_tensor().join([GOOD_LEGACY[:15], b""]),
    "a huge legacy storage": legacy(legacy_tensor(2**40), KEYS, after=struct.pack("<q", 2**40)),
    "a legacy storage of another size": legacy(legacy_tensor(), KEYS, after=struct.pack("<q", 5) + bytes(20)),
    "a legacy storage that is cut": legacy(legacy_tensor(), KEYS, after=struct.pack("<q", 4) + bytes(15)),
    "no keys": legacy(legacy_tensor(), b"\x80\x02].", after=bytes(24)),
    "keys of something else": legacy(legacy_tensor(), b"\x80\x02K\x05.", after=bytes(24)),
    "keys that are lists": legacy(legacy_tensor(), b"\x80\x02]]a.", after=bytes(24)),
    "a legacy view": legacy(tensor().replace(b"tQ", b"K\x01tQ", 1), KEYS, after=bytes(24)),
    "a tar file": bytes(257) + b"ustar" + bytes(250),
}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weights.pth"


@pytest.fixture
def little_memory():
    """A file that allocates gigabytes fails."""
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(path, little_memory, name):
    path.write_bytes(HOSTILE[name])
    with pytest.raises(UnpicklingError, match=path.name):
        ocl.load(path)


def test_the_files_that_they_are_made_of_are_good(path):
    for content in (GOOD, GOOD_LEGACY):
        path.write_bytes(content)
        assert ocl.load(path)["x"].tolist() == list(range(20))
    expected = ocl.zeros(4)
    for content in (archive(tensor()), legacy(legacy_tensor(), KEYS, after=struct.pack("<q", 4) + bytes(16))):
        path.write_bytes(content)
        assert ocl.equal(ocl.load(path), expected)


def test_a_few_elements_may_be_shown_as_many(path):
    """A tensor expanded to any size takes no memory, here as with PyTorch."""
    path.write_bytes(archive(tensor(size=number(2**40) + b"\x85", stride=b"K\x00\x85")))
    assert ocl.load(path).shape == (2**40,)


# --- mutations


def checkpoint(**options):
    weight = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4))
    state = {"w": weight, "t": weight.data.t(), "half": torch.ones(3).half(), "empty": torch.zeros(0)}
    return written({"model": state, "epoch": 3, "rest": [(1.5, None, True), {"a", "b"}, b"12"]}, **options)


def mutated(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, length = rng.randrange(len(content) + 1), rng.choice((1, 2, 4, 8, 40))
        kind = rng.randrange(6)
        if kind == 0:
            content[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            content[at : at + length] = rng.choice((b"\0", b"\xff")) * length
        elif kind == 2:
            del content[at : at + length]
        elif kind == 3:
            content[at:at] = rng.randbytes(length)
        elif kind == 4:
            source = rng.randrange(len(content) + 1)
            content[at : at + length] = content[source : source + length]
        else:
            del content[rng.randrange(len(content) // 2, len(content) + 1) :]
    return bytes(content)


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])
def test_mutated_files(path, little_memory, is_zip):
    original = checkpoint(_use_new_zipfile_serialization=is_zip)
    pickle_end = original.index(b"PK\7\x08") if is_zip else len(original)
    refused = 0
    for seed in range(300):
        rng = random.Random(seed)
        within = rng.random() < 0.5  # the pickle, which is small beside the padding of an archive
        head = original[:pickle_end]
        content = mutated(rng, head) + original[pickle_end:] if within else mutated(rng, original)
        path.write_bytes(content)
        try:
            ocl.load(path)
        except OSError as error:
            assert path.name in str(error), f"seed {seed}: {error}"
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    assert refused > 100
