"""The classes from which PyTorch derives its norms, for ``isinstance`` and ``issubclass``."""

from __future__ import annotations

from typing import Any

from ocl._C._nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, _NormBase
from ocl.nn import InstanceNorm3d, SyncBatchNorm

__all__ = ["_BatchNorm", "_InstanceNorm", "_NormBase"]


class _KindMeta(type(_NormBase)):
    """Counts the classes of ``_members``, and those derived of them, as derived of the kind."""

    _members: tuple[type, ...] = ()

    def __subclasscheck__(self, cls: type) -> bool:
        return super().__subclasscheck__(cls) or issubclass(cls, self._members)

    def __instancecheck__(self, instance: Any) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, self._members)


class _BatchNorm(_NormBase, metaclass=_KindMeta):
    """The kind of all batch norms. (torch.nn.modules.batchnorm._BatchNorm)"""

    _members = (BatchNorm1d, BatchNorm2d, BatchNorm3d, SyncBatchNorm)


class _InstanceNorm(_NormBase, metaclass=_KindMeta):
    """The kind of all instance norms. (torch.nn.modules.instancenorm._InstanceNorm)"""

    _members = (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
