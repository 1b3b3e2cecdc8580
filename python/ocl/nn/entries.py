"""The entries of a module by name, under the names that PyTorch's programs use: `_modules`, `_parameters`,
`_buffers`.
"""

from collections import namedtuple
from collections.abc import MutableMapping


class Entries(MutableMapping):
    """The parameters, the buffers or the submodules of a module by name: what is done to it, the module has.

    Names that are kept for later stand there with None. An iteration sees the entries that were there when
    it began.
    """

    __slots__ = ("_kind", "_module")

    def __init__(self, module, kind):
        self._module, self._kind = module, kind

    def copy(self):
        """The entries of now in a dict of their own."""
        return self._module._entries(self._kind)

    def __getitem__(self, name):
        return self.copy()[name]

    def __setitem__(self, name, value):
        self._module._set_entry(self._kind, name, value)

    def __delitem__(self, name):
        if name not in self.copy():
            raise KeyError(name)
        self._module._delete_entry(name)

    def __iter__(self):
        return iter(self.copy())

    def __reversed__(self):
        return reversed(self.copy())

    def __len__(self):
        return len(self.copy())

    def keys(self):
        return self.copy().keys()

    def values(self):
        return self.copy().values()

    def items(self):
        return self.copy().items()

    def __repr__(self):
        return repr(self.copy())


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Names that a state dict lacked, and names in it that the module does not have."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"

    __str__ = __repr__
