"""Files that torch.save wrote: zip archives, and the format before them; read without PyTorch.

Buffers go from the mapped file to the device piece by piece. Tensors that share a buffer share it again.
"""

from __future__ import annotations

import errno
import os
import stat
from mmap import ACCESS_READ, mmap
from typing import Any, NamedTuple

from ocl import _C
from ocl._C import Tensor
from ocl.late_numpy import np
from ocl.serialization import zip_directory
from ocl.serialization.errors import UnpicklingError
from ocl.serialization.placement import Placement
from ocl.serialization.torch_globals import StorageType
from ocl.serialization.unpickler import Unpickler

_ZIP = (b"PK\3\4", b"PK\5\6")
_MAGIC_NUMBER = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # a pickle of it, but for the protocol
_MAGIC_NUMBER_AT = 2
_TAR = b"ustar"
_TAR_AT = 257

_NEWEST_ZIP_VERSION = 10
_LEGACY_VERSION = 1001
_PIECE = 64 << 20


def mapped(path: str | bytes) -> mmap | bytes:
    """The content of a file. Raises OSError for what is no regular one."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{os.fsdecode(path)}: not a regular file")
        return mmap(descriptor, 0, access=ACCESS_READ) if status.st_size > 0 else b""
    finally:
        os.close(descriptor)


def is_torch_file(content: mmap | bytes) -> bool:
    return _is_zip(content) or _is_legacy(content) or _is_tar(content)


def load(content: mmap, placement: Placement) -> Any:
    """The object that torch.save was given, with tensors where `placement` says. Raises UnpicklingError."""
    if _is_zip(content):
        return _ZipFile(content, placement).load()
    if _is_legacy(content):
        return _LegacyFile(content, placement).load()
    raise UnpicklingError("it is a tar file, as the first versions of PyTorch wrote, which is not read")


def _is_zip(content: mmap | bytes) -> bool:
    return content[:4] in _ZIP


def _is_legacy(content: mmap | bytes) -> bool:
    return content[_MAGIC_NUMBER_AT : _MAGIC_NUMBER_AT + len(_MAGIC_NUMBER)] == _MAGIC_NUMBER


def _is_tar(content: mmap | bytes) -> bool:
    return content[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR


class _Buffer(NamedTuple):
    """A storage as a pickle names it."""

    dtype: _C.dtype
    key: str
    location: str
    count: int

    @property
    def size(self) -> int:
        return self.count * self.dtype.itemsize


def _buffer(identity: Any, length: int) -> _Buffer:
    """The buffer of a persistent id, a tuple of `length`."""
    if type(identity) is not tuple or len(identity) != length or identity[0] != "storage":
        raise UnpicklingError("its pickle refers to something that is no storage of a tensor")
    kind, key, location, count = identity[1:5]
    types = (StorageType, str, str, int)
    if tuple(map(type, (kind, key, location, count))) != types or count < 0 or any(identity[5:]):
        raise UnpicklingError("its pickle names a storage that cannot be")
    return _Buffer(kind.dtype, key, location, count)


class _File:
    """The common part of both formats: buffers, each of which is on the device once."""

    def __init__(self, content: mmap, placement: Placement):
        self._content = content
        self._placement = placement
        self._known: dict[str, tuple[_Buffer, Tensor]] = {}

    def _tensor_of(self, buffer: _Buffer) -> Tensor:
        known, tensor = self._known.get(buffer.key, (buffer, None))
        if known != buffer:
            raise UnpicklingError(f"its storage {buffer.key} is of two types, sizes or locations")
        if tensor is None:
            tensor = self._loaded(buffer)
            self._known[buffer.key] = buffer, tensor
        return tensor

    def _loaded(self, buffer: _Buffer) -> Tensor:
        raise NotImplementedError

    def _empty(self, buffer: _Buffer) -> Tensor:
        return self._placement.empty(buffer.count, buffer.dtype, buffer.location)

    def _fill(self, tensor: Tensor, start: int, swaps_bytes: bool = False) -> None:
        """Copies the bytes from `start` on to the device, of which the host holds a piece at a time."""
        item = tensor.dtype.itemsize
        per_piece = _PIECE // item
        for first in range(0, tensor.numel(), per_piece):
            count = min(per_piece, tensor.numel() - first)
            begin = start + first * item
            piece = self._content[begin : begin + count * item]
            if swaps_bytes:
                piece = np.frombuffer(piece, f"u{item}").byteswap().tobytes()
            tensor[first : first + count].copy_(_C._from_bytes(piece, tensor.dtype, tensor.device))


class _ZipFile(_File):
    """Records below one folder: data.pkl, and data/KEY for the storages that it names."""

    def __init__(self, content: mmap, placement: Placement):
        super().__init__(content, placement)
        entries = zip_directory.entries(content)
        folder, slash, _ = next(iter(entries), b"").partition(b"/")
        self._records = {
            name[len(folder) + 1 :]: entry
            for name, entry in entries.items()
            if slash and name.startswith(folder + slash)
        }

    def load(self) -> Any:
        if b"constants.pkl" in self._records:
            raise UnpicklingError(
                "it is a TorchScript archive, which is a program; save the module's state_dict() instead"
            )
        self._check_version()
        self._swaps_bytes = self._is_big_endian()
        pickled = self._record(b"data.pkl")
        return Unpickler(pickled, self._load_storage, self._placement.device).load()

    def _record(self, name: bytes) -> bytes:
        entry = self._entry(name)
        return self._content[entry.start : entry.end]

    def _entry(self, name: bytes) -> zip_directory.Entry:
        entry = self._records.get(name)
        if entry is None or not entry.is_stored:
            what = "a compressed" if entry else "no"
            raise UnpicklingError(f"it has {what} {name.decode()[:100]}, as no archive of torch.save has")
        return entry

    def _check_version(self) -> None:
        version = self._record(b"version").strip()[:20]
        if not version.isdigit() or not 1 <= int(version) <= _NEWEST_ZIP_VERSION:
            raise UnpicklingError(f"it is of the unknown version {version!r}")

    def _is_big_endian(self) -> bool:
        order = self._record(b"byteorder") if b"byteorder" in self._records else b"little"
        if order not in (b"little", b"big"):
            raise UnpicklingError(f"it has the unknown byte order {order[:20]!r}")
        return order == b"big"

    def _load_storage(self, identity: Any) -> Tensor:
        return self._tensor_of(_buffer(identity, 5))

    def _loaded(self, buffer: _Buffer) -> Tensor:
        entry = self._entry(b"data/" + buffer.key.encode(errors="replace"))
        if entry.size != buffer.size:
            raise UnpicklingError(
                f"its storage {buffer.key} has {entry.size} bytes, but {buffer.size} by its pickle"
            )
        tensor = self._empty(buffer)
        self._fill(tensor, entry.start, self._swaps_bytes)
        return self._placement.moved(tensor, buffer.location)


class _LegacyFile(_File):
    """Five pickles; then the storages in the order of the last of them, each after its number of elements."""

    def __init__(self, content: mmap, placement: Placement):
        super().__init__(content, placement)
        self._promised = 0

    def load(self) -> Any:
        pickles = Unpickler(self._content, self._load_storage, self._placement.device)
        pickles.load()
        version, system = pickles.load(), pickles.load()
        if version != _LEGACY_VERSION:
            raise UnpicklingError("it is of an unknown version")
        if type(system) is not dict or system.get("little_endian") is not True:
            raise UnpicklingError("it was not written on a little-endian machine")
        loaded = pickles.load()
        self._read_storages(pickles.load(), pickles.position)
        return loaded

    def _load_storage(self, identity: Any) -> Tensor:
        return self._tensor_of(_buffer(identity, 6))

    def _loaded(self, buffer: _Buffer) -> Tensor:
        self._promised += buffer.size
        if self._promised > len(self._content):
            raise UnpicklingError("its storages are larger than the file")
        return self._placement.moved(self._empty(buffer), buffer.location)

    def _read_storages(self, keys: Any, start: int) -> None:
        """Fills the tensors, which lie on the device since the pickle named their storages."""
        are_keys = type(keys) is list and all(type(key) is str for key in keys)
        if not are_keys or sorted(keys) != sorted(self._known):
            raise UnpicklingError("the list of its storages is another than its pickle names")
        for key in keys:
            buffer, tensor = self._known[key]
            end = start + 8 + buffer.size
            if int.from_bytes(self._content[start : start + 8], "little") != buffer.count:
                raise UnpicklingError(f"its storage {key[:100]} is of another size than its pickle says")
            if end > len(self._content):
                raise UnpicklingError("it is cut off")
            self._fill(tensor, start + 8)
            start = end
