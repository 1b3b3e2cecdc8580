"""Containers: the list and dict manners of the C++ library's Sequential, ModuleList and their kin."""

from collections import OrderedDict
from collections.abc import Mapping

from ocl import _C


class _Sequence:
    """What Sequential and ModuleList share: they behave like a list of modules."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def _name_at(self, index):
        names = list(self._modules)
        if not -len(names) <= index < len(names):
            raise IndexError(f"index {index} is out of range")
        return names[index]

    def _renumber(self, modules):
        for name in self._modules:
            delattr(self, name)
        self.extend(modules)

    def __setitem__(self, index, module):
        self.add_module(self._name_at(index), module)

    def __delitem__(self, index):
        modules = list(self)
        if not isinstance(index, slice):
            self._name_at(index)
        del modules[index]
        self._renumber(modules)

    def append(self, module):
        """Adds a module at the end, under the next number."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index, module):
        """Puts a module before the one at index; all are numbered anew."""
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, index=-1):
        """Takes the module at index out and returns it."""
        module = self[index]
        del self[index]
        return module

    def __iadd__(self, modules):
        return self.extend(modules)


class Sequential(_Sequence, _C._nn.Sequential):
    """Each module's output is the next one's input.

    Takes modules one by one, or an OrderedDict of names and modules; slices are Sequentials too.
    """

    def __init__(self, *modules):
        super().__init__()
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], Mapping) else None
        for name, module in named.items() if named is not None else enumerate(modules):
            self.add_module(str(name), module)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __add__(self, other):
        return Sequential(*self, *other)


class ModuleList(_Sequence, _C._nn.ModuleList):
    """Modules by number, which the owner calls as it likes."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name_at(index)]

    def __add__(self, other):
        return type(self)([*self, *other])


class ModuleDict(_C._nn.ModuleDict):
    """Modules by name, in the order in which they were added."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        self._modules[key]  # KeyError where there is none
        delattr(self, key)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def update(self, modules):
        """Adds the modules of a mapping or of pairs."""
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module

    def pop(self, key):
        """Takes a module out and returns it."""
        module = self[key]
        del self[key]
        return module

    def clear(self):
        for name in self._modules:
            delattr(self, name)


class ParameterList(_C._nn.ParameterList):
    """Parameters by number; a tensor that is none yet becomes one."""

    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def _name_at(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index % len(self))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._parameters[self._name_at(index)]

    def __setitem__(self, index, value):
        self.register_parameter(self._name_at(index), value)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def append(self, value):
        """Adds a parameter at the end."""
        self.register_parameter(str(len(self)), value)
        return self

    def extend(self, values):
        """Adds parameters at the end."""
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)
