"""A restricted unpickler: the opcodes and names that torch.save writes for tensors and plain containers.

A table gives the meaning of a name in the pickle, and only functions of that table are called; the opcodes
are those of torch.load(weights_only=True). The length of the pickle bounds its time and memory.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from mmap import mmap
from typing import Any

from ocl import _C
from ocl.serialization import allow_list
from ocl.serialization.errors import UnpicklingError
from ocl.serialization.torch_globals import (
    GLOBALS,
    StorageType,
    checked_key,
    is_function,
    refusal,
)

_LONGEST_NAME = 1000
_SIZED = (tuple, list, dict, OrderedDict, Counter, str, bytes)

_INT32 = struct.Struct("<i")
_UINT32 = struct.Struct("<I")
_UINT16 = struct.Struct("<H")
_UINT8 = struct.Struct("<B")
_FLOAT = struct.Struct(">d")


class Unpickler:
    """Reads one pickle after the other from a buffer; `position` is where the next one begins.

    `load_storage` makes a one-dimensional tensor of a storage's persistent id; a torch.device becomes
    `device`.
    """

    def __init__(
        self,
        memory: bytes | mmap,
        load_storage: Callable[[Any], _C.Tensor],
        device: _C.device | None = None,
        position: int = 0,
    ):
        self.position = position
        self._memory = memory
        self._load_storage = load_storage
        self._device = device

    def load(self) -> Any:
        self._stack: list[Any] = []
        self._outer_stacks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        # Whoever wrote the items of a container spent bytes on each; copies of one container cost nothing.
        self._copies_left = 4 * len(self._memory)
        while (opcode := self._take(1)) != pickle.STOP:
            if opcode not in _STEPS:
                raise UnpicklingError(f"its pickle has the opcode {opcode!r}, which torch.save never writes")
            _STEPS[opcode](self)
        return _without_functions(self._pop())

    # --- the buffer

    def _take(self, count: int) -> bytes:
        end = self.position + count
        if end > len(self._memory):
            raise UnpicklingError("its pickle is cut off")
        taken = self._memory[self.position : end]
        self.position = end
        return taken

    def _number(self, kind: struct.Struct) -> Any:
        return kind.unpack(self._take(kind.size))[0]

    def _line(self) -> str:
        end = self._memory.find(b"\n", self.position, self.position + _LONGEST_NAME)
        if end < 0:
            raise UnpicklingError("its pickle has a name without an end")
        return _text(self._take(end + 1 - self.position)[:-1])

    # --- the stack

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _pop(self) -> Any:
        if not self._stack:
            raise UnpicklingError("its pickle takes what is not there")
        return self._stack.pop()

    def _top(self) -> Any:
        self._push(top := self._pop())
        return top

    def _mark(self) -> None:
        self._outer_stacks.append(self._stack)
        self._stack = []

    def _pop_to_mark(self) -> list[Any]:
        if not self._outer_stacks:
            raise UnpicklingError("its pickle takes what is not there")
        items, self._stack = self._stack, self._outer_stacks.pop()
        return items

    def _push_tuple(self, count: int) -> None:
        items = [self._pop() for _ in range(count)]
        self._push(tuple(reversed(items)))

    def _spend(self, count: int) -> None:
        self._copies_left -= count
        if self._copies_left < 0:
            raise UnpicklingError("its pickle copies far more than it holds")

    # --- containers

    def _append(self, items: list[Any]) -> None:
        if type(target := self._top()) is not list:
            raise UnpicklingError(f"its pickle appends to a {type(target).__name__}")
        target.extend(items)

    def _set_items(self, items: list[Any]) -> None:
        if type(target := self._top()) not in (dict, OrderedDict, Counter):
            raise UnpicklingError(f"its pickle sets items of a {type(target).__name__}")
        if len(items) % 2:
            raise UnpicklingError("its pickle has a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            self._spend(len(key) if type(key) is tuple else 0)
            target[checked_key(key)] = value

    def _append_one(self) -> None:
        self._append([self._pop()])

    def _set_one(self) -> None:
        value, key = self._pop(), self._pop()
        self._set_items([key, value])

    # --- objects

    def _global(self) -> None:
        module, name = self._line(), self._line()
        full_name = f"{'builtins' if module == '__builtin__' else module}.{name}"
        if full_name == "torch.device":
            self._push(torch_device)
        elif full_name in GLOBALS:
            self._push(GLOBALS[full_name])
        elif (allowed := allow_list.allowed(full_name)) is not None:
            self._push(allowed)
        else:
            raise refusal(full_name)

    def _reduce(self) -> None:
        arguments, function = self._arguments(), self._pop()
        if function is torch_device:
            self._push(self._device)
        elif is_function(function):
            try:
                self._push(function(*arguments))
            except _C.DeviceError:
                raise
            except (TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
                raise UnpicklingError(f"its pickle calls {function.__name__} wrongly: {error}") from error
        elif allow_list.is_allowed(function):
            self._push(function(*arguments))
        else:
            raise UnpicklingError(f"its pickle calls a {type(function).__name__}")

    def _new_object(self) -> None:
        arguments, cls = self._arguments(), self._pop()
        if not allow_list.is_allowed(cls):
            raise UnpicklingError("its pickle makes an object of a class that is not allowed")
        self._push(cls.__new__(cls, *arguments))

    def _arguments(self) -> tuple:
        arguments = self._pop()
        if type(arguments) is not tuple:
            raise UnpicklingError(f"its pickle calls something with a {type(arguments).__name__}")
        self._spend(sum(len(argument) for argument in arguments if type(argument) in _SIZED))
        return arguments

    def _build(self) -> None:
        state, instance = self._pop(), self._top()
        if type(instance) is OrderedDict:  # a state dict of a module: of which version its layers are
            if type(state) is dict and "_metadata" in state:
                instance._metadata = state["_metadata"]
        elif allow_list.is_allowed(type(instance)):
            self._set_state(instance, state)
        else:
            raise UnpicklingError(f"its pickle sets the state of a {type(instance).__name__}")

    def _set_state(self, instance: Any, state: Any) -> None:
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
            return
        attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
        for part in (attributes, slots):
            if part is not None and type(part) is not dict:
                raise UnpicklingError(f"its pickle has a {type(part).__name__} for the state of an object")
        self._spend(len(attributes or ()))
        instance.__dict__.update(attributes or {})
        for name, value in (slots or {}).items():
            setattr(instance, name, value)

    # --- the memo

    def _get(self, number: int) -> None:
        if number not in self._memo:
            raise UnpicklingError("its pickle asks for what it has not kept")
        self._push(self._memo[number])

    def _put(self, number: int) -> None:
        self._memo[number] = self._top()


def torch_device() -> None:
    """Stands for torch.device in a pickle."""


def _without_functions(loaded: Any) -> Any:
    """The loaded object, unless it holds one of the functions that stand for names in files, uncalled."""
    seen, todo = set(), [loaded]
    while todo:
        item = todo.pop()
        if is_function(item) or item is torch_device or type(item) is StorageType:
            raise UnpicklingError("it holds a function or a class itself, which is nothing to load")
        if id(item) in seen or not isinstance(item, (dict, list, tuple, set)):
            continue
        seen.add(id(item))
        todo += item.values() if isinstance(item, dict) else item
        todo.append(getattr(item, "_metadata", None))
    return loaded


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise UnpicklingError("its pickle has text that is not UTF-8") from None


# pickle's opcodes, each with what it does.
_STEPS: dict[bytes, Callable[[Unpickler], None]] = {
    pickle.PROTO: lambda self: self._take(1),
    pickle.NONE: lambda self: self._push(None),
    pickle.NEWFALSE: lambda self: self._push(False),
    pickle.NEWTRUE: lambda self: self._push(True),
    pickle.BININT: lambda self: self._push(self._number(_INT32)),
    pickle.BININT1: lambda self: self._push(self._number(_UINT8)),
    pickle.BININT2: lambda self: self._push(self._number(_UINT16)),
    pickle.LONG1: lambda self: self._push(pickle.decode_long(self._take(self._number(_UINT8)))),
    pickle.BINFLOAT: lambda self: self._push(self._number(_FLOAT)),
    pickle.BINUNICODE: lambda self: self._push(_text(self._take(self._number(_UINT32)))),
    pickle.SHORT_BINSTRING: lambda self: self._push(_text(self._take(self._number(_UINT8)))),
    pickle.EMPTY_LIST: lambda self: self._push([]),
    pickle.EMPTY_DICT: lambda self: self._push({}),
    pickle.EMPTY_SET: lambda self: self._push(set()),
    pickle.EMPTY_TUPLE: lambda self: self._push(()),
    pickle.TUPLE1: lambda self: self._push_tuple(1),
    pickle.TUPLE2: lambda self: self._push_tuple(2),
    pickle.TUPLE3: lambda self: self._push_tuple(3),
    pickle.TUPLE: lambda self: self._push(tuple(self._pop_to_mark())),
    pickle.MARK: Unpickler._mark,
    pickle.APPEND: Unpickler._append_one,
    pickle.APPENDS: lambda self: self._append(self._pop_to_mark()),
    pickle.SETITEM: Unpickler._set_one,
    pickle.SETITEMS: lambda self: self._set_items(self._pop_to_mark()),
    pickle.BINGET: lambda self: self._get(self._number(_UINT8)),
    pickle.LONG_BINGET: lambda self: self._get(self._number(_UINT32)),
    pickle.BINPUT: lambda self: self._put(self._number(_UINT8)),
    pickle.LONG_BINPUT: lambda self: self._put(self._number(_UINT32)),
    pickle.BINPERSID: lambda self: self._push(self._load_storage(self._pop())),
    pickle.GLOBAL: Unpickler._global,
    pickle.REDUCE: Unpickler._reduce,
    pickle.NEWOBJ: Unpickler._new_object,
    pickle.BUILD: Unpickler._build,
}
