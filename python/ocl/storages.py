"""The memory behind tensors as an object, under PyTorch's names: whose it is, how much, and its bytes."""

from __future__ import annotations

import functools
import os
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.late_numpy import np

__all__ = ["TypedStorage", "UntypedStorage"]


class _Storage:
    """Memory that tensors share. It lives as long as one of them, or the object, does."""

    def __init__(self, tensor: Tensor, dtype: Any = None) -> None:
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected a Tensor, whose memory it is, got {type(tensor).__name__}"
            )
        self._whole = _C._whole_storage(tensor, dtype)

    @property
    def device(self) -> Any:
        return self._whole.device

    @property
    def is_cuda(self) -> bool:
        return self._whole.is_cuda

    def data_ptr(self) -> int:
        """A number for the place of the memory, which two tensors share if theirs is the same; no address."""
        return self._whole.data_ptr()

    def nbytes(self) -> int:
        """How many bytes it has."""
        return self._whole.nbytes

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and other.data_ptr() == self.data_ptr()

    def __hash__(self) -> int:
        return hash(self.data_ptr())

    def __len__(self) -> int:
        return self.size()

    def size(self) -> int:
        """How many elements it has."""
        raise NotImplementedError

    def tolist(self) -> list:
        """The elements; waits."""
        return self._whole.tolist()

    def __getitem__(self, index: Any) -> Any:
        return self.tolist()[index]

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._whole[index] = value

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def fill_(self, value: Any) -> _Storage:
        """Writes the value to every element, and returns the storage. (torch.UntypedStorage.fill_)"""
        self._whole.fill_(value)
        return self

    def copy_(self, source: _Storage, non_blocking: bool = False) -> _Storage:
        """Takes the elements of a storage of the same size, and returns itself. (torch.UntypedStorage.copy_)

        ``non_blocking`` changes nothing: copies never wait.
        """
        if len(source) != len(self):
            raise ArgumentValueError(f"copy_: expected a storage of size {len(self)}, got {len(source)}")
        self._whole.copy_(source._whole)
        return self

    def clone(self) -> _Storage:
        """A storage of its own with the same elements. (torch.UntypedStorage.clone)"""
        return type(self)(self._whole.clone())


class UntypedStorage(_Storage):
    """The memory of a tensor as bytes. (torch.UntypedStorage)"""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor, _C.uint8)

    @classmethod
    def from_file(cls, filename: str | os.PathLike, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, which go to the default device when a tensor is made of them.

        ValueError where it is shorter, and for ``shared``: what is written to a device reaches no file.
        (torch.UntypedStorage.from_file)
        """
        from ocl.serialization.torch_file import mapped

        if shared:
            raise ArgumentValueError("from_file: memory of a device is not shared with a file")
        content = memoryview(mapped(os.fspath(filename)))
        if not 0 <= nbytes <= len(content):
            raise ArgumentValueError(f"from_file: expected nbytes from 0 to {len(content)}, got {nbytes}")
        return _FileStorage(content[:nbytes])

    def untyped(self) -> UntypedStorage:
        """The storage itself. (torch.UntypedStorage.untyped)"""
        return self

    def size(self) -> int:
        return self.nbytes()

    def element_size(self) -> int:
        """The bytes of an element. (torch.UntypedStorage.element_size)"""
        return 1

    def __getitem__(self, index: int | slice) -> int | UntypedStorage:
        """A byte, for which it waits, or a storage of the bytes in between, which are shared."""
        if not isinstance(index, slice):
            return int(self._whole[index])
        start, stop, step = index.indices(len(self))
        if step != 1:
            raise ArgumentValueError(f"UntypedStorage: expected slices of step 1, got {step}")
        part = UntypedStorage.__new__(UntypedStorage)
        part._whole = self._whole[start : max(start, stop)]
        return part

    def __repr__(self) -> str:
        return f"[ocl.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class _FileStorage(UntypedStorage):
    """Bytes of a file. They are read where a part of them becomes a tensor."""

    def __init__(self, content: memoryview) -> None:
        self._content = content

    @functools.cached_property
    def _whole(self) -> Tensor:
        return _C.tensor(np.frombuffer(self._content, np.uint8))

    def nbytes(self) -> int:
        return len(self._content)

    def tolist(self) -> list[int]:
        return self._content.tolist()

    def __getitem__(self, index: Any) -> Any:
        part = self._content[index]
        return part if isinstance(part, int) else _FileStorage(part)


class TypedStorage(_Storage):
    """The memory of a tensor as elements of its dtype. (torch.TypedStorage)"""

    @property
    def dtype(self) -> Any:
        return self._whole.dtype

    def element_size(self) -> int:
        return self._whole.element_size()

    def untyped(self) -> UntypedStorage:
        """A storage of bytes over the memory."""
        return UntypedStorage(self._whole)

    def size(self) -> int:
        return self._whole.numel()

    def __repr__(self) -> str:
        return f"[ocl.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"


def elements_of(storage: _Storage, dtype: Any) -> Tensor:
    """The memory as a vector of a dtype, which is a typed storage's own."""
    if isinstance(storage, TypedStorage) and storage.dtype != dtype:
        raise ArgumentTypeError(f"expected a storage of {dtype}, got one of {storage.dtype}")
    whole = storage._whole
    if isinstance(storage, TypedStorage):
        return whole
    bytes_each = _C.empty(0, dtype=dtype).element_size()
    return whole[: len(whole) // bytes_each * bytes_each].view(dtype)


def _untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory that the tensor shares with its views, as bytes. (torch.Tensor.untyped_storage)"""
    return UntypedStorage(self)


def _storage(self: Tensor) -> TypedStorage:
    """The memory that the tensor shares with its views. (torch.Tensor.storage)"""
    return TypedStorage(self)


Tensor.untyped_storage, Tensor.storage = _untyped_storage, _storage
