"""The memory behind tensors as an object, under PyTorch's names: whose it is, how much, and its bytes."""

from __future__ import annotations

import functools
import os
from typing import Any

from ocl import _C
from ocl._C import ArgumentTypeError, ArgumentValueError, Tensor
from ocl.creation import frombuffer
from ocl.late_numpy import np

__all__ = ["TypedStorage", "UntypedStorage"]


class _Storage:
    """Memory that tensors share. It lives as long as one of them, or the object, does."""

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected a Tensor, whose memory it is, got {type(tensor).__name__}"
            )
        self._whole = _C._whole_storage(tensor)

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
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        return self.tolist()[index]

    def __iter__(self) -> Any:
        return iter(self.tolist())


class UntypedStorage(_Storage):
    """The memory of a tensor as bytes. (torch.UntypedStorage)"""

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

    def tolist(self) -> list[int]:
        return list(_C._to_bytes(self._whole))

    def __repr__(self) -> str:
        return f"[ocl.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class _FileBytes(Tensor):
    """Bytes of a file. ``view(dtype=...)`` reads elements of the dtype, which have memory of their own."""

    def view(self, *size: Any, dtype: Any = None, **named: Any) -> Tensor:
        if dtype is None:
            return super().view(*size, **named)
        return frombuffer(self._content, dtype=dtype) if self._content else _C.empty(0, dtype=dtype)


class _FileStorage(UntypedStorage):
    """Bytes of a file. They are read where a part of them becomes a tensor."""

    def __init__(self, content: memoryview) -> None:
        self._content = content

    @functools.cached_property
    def _whole(self) -> Tensor:
        whole = _C.tensor(np.frombuffer(self._content, np.uint8)).as_subclass(_FileBytes)
        whole._content = self._content
        return whole

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

    def tolist(self) -> list:
        return self._whole.tolist()

    def __repr__(self) -> str:
        return f"[ocl.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"


def elements_of(storage: _Storage, dtype: Any) -> Tensor:
    """The memory as a vector of a dtype. Its elements have as many bytes as those of the tensor behind it."""
    whole = storage._whole
    if whole.dtype == dtype:
        return whole
    if not isinstance(storage, UntypedStorage) or _C.empty(0, dtype=dtype).element_size() != whole.itemsize:
        raise ArgumentTypeError(f"expected a storage of {dtype}, got one of {whole.dtype}")
    return whole.view(dtype)


def _untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory that the tensor shares with its views, as bytes. (torch.Tensor.untyped_storage)"""
    return UntypedStorage(self)


def _storage(self: Tensor) -> TypedStorage:
    """The memory that the tensor shares with its views. (torch.Tensor.storage)"""
    return TypedStorage(self)


Tensor.untyped_storage, Tensor.storage = _untyped_storage, _storage
