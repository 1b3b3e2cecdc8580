"""Where the entries of a zip file lie, which are stored as they are; none is ever unpacked."""

from __future__ import annotations

import struct
from itertools import pairwise
from mmap import mmap
from typing import NamedTuple

from ocl.serialization.errors import UnpicklingError

_END = struct.Struct("<4s4H2LH")
_END_LOCATOR_64 = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")

_LONGEST_COMMENT = 2**16 - 1
_IN_EXTRA_FIELD = 2**32 - 1
_EXTRA_FIELD_64 = 1
_ENCRYPTED = 1


class Entry(NamedTuple):
    """The bytes of an entry; where it is not stored, they are compressed or encrypted."""

    start: int
    size: int
    is_stored: bool

    @property
    def end(self) -> int:
        return self.start + self.size


def entries(file: mmap) -> dict[bytes, Entry]:
    """Every entry by its name, in the directory's order.

    Raises UnpicklingError unless all of them lie in the file, apart from each other.
    """
    start, end, count = _directory(file)
    found: dict[bytes, Entry] = {}
    occupied: list[tuple[int, int]] = []
    for _ in range(count):
        name, header, size, is_stored, start = _described(file, start, end)
        entry = Entry(_start(file, name, header), size, is_stored)
        if entry.end > len(file):
            raise UnpicklingError(f"its entry {_shown(name)} is cut off")
        if name in found:
            raise UnpicklingError(f"its entry {_shown(name)} occurs twice")
        found[name] = entry
        occupied.append((header, entry.end))
    if start != end:
        raise UnpicklingError("its directory is of another size than it says")
    occupied.sort()
    if any(first_end > second_start for (_, first_end), (second_start, _) in pairwise(occupied)):
        raise UnpicklingError("its entries overlap")
    return found


def _directory(file: mmap) -> tuple[int, int, int]:
    """Start, end and number of entries of the central directory."""
    at = file.rfind(b"PK\5\6", max(0, len(file) - _END.size - _LONGEST_COMMENT))
    if at < 0:
        raise UnpicklingError("it is cut off: a zip file without its directory")
    _, _, _, _, count, size, start, _ = _unpacked(_END, file, at, b"PK\5\6")
    locator = at - _END_LOCATOR_64.size
    if locator >= 0 and file[locator : locator + 4] == b"PK\6\7":
        _, _, at, _ = _unpacked(_END_LOCATOR_64, file, locator, b"PK\6\7")
        *_, count, size, start = _unpacked(_END_64, file, at, b"PK\6\6")
    if start + size > at:
        raise UnpicklingError("its directory lies beyond its end")
    return start, start + size, count


def _described(file: mmap, at: int, end: int) -> tuple[bytes, int, int, bool, int]:
    """Name, place of the local header, size, and whether it is stored, of the entry described at `at`; and
    where the next description is."""
    fields = _unpacked(_ENTRY, file, at, b"PK\1\2")
    _, _, _, flags, method, _, _, _, packed, size = fields[:10]
    name_length, extra_length, comment_length, _, _, _, header = fields[10:]
    name_end = at + _ENTRY.size + name_length
    extra_end = name_end + extra_length
    if extra_end + comment_length > end:
        raise UnpicklingError("its directory is cut off")
    name = file[at + _ENTRY.size : name_end]
    size, packed, header = _with_extra_field([size, packed, header], file[name_end:extra_end])
    is_stored = method == 0 and size == packed and not flags & _ENCRYPTED
    return name, header, packed, is_stored, extra_end + comment_length


def _with_extra_field(numbers: list[int], extra: bytes) -> list[int]:
    """The numbers of an entry, those of 64 bits from its extra field."""
    wide = iter(())
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == _EXTRA_FIELD_64:
            wide = iter(struct.unpack_from(f"<{min(length, len(extra) - 4) // 8}Q", extra, 4))
        extra = extra[4 + length :]
    return [next(wide, number) if number == _IN_EXTRA_FIELD else number for number in numbers]


def _start(file: mmap, name: bytes, header: int) -> int:
    *_, name_length, extra_length = _unpacked(_LOCAL, file, header, b"PK\3\4")
    name_start = header + _LOCAL.size
    if file[name_start : name_start + name_length] != name:
        raise UnpicklingError(f"its entry {_shown(name)} has another name where it lies")
    return name_start + name_length + extra_length


def _unpacked(record: struct.Struct, file: mmap, at: int, signature: bytes) -> tuple:
    if at + record.size > len(file) or file[at : at + 4] != signature:
        raise UnpicklingError("its directory is damaged")
    return record.unpack_from(file, at)


def _shown(name: bytes) -> str:
    return repr(name.decode(errors="replace")[:100])
