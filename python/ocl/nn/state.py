"""State dicts as PyTorch gives them: an OrderedDict, with sparse buffers, whose elements Python holds."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from typing import Any

from ocl._C import ArgumentValueError
from ocl._C._nn import Module
from ocl.sparse import coo

_state_dict, _load_state_dict = Module.state_dict, Module.load_state_dict


def _sparse_buffers(module: Module) -> dict[str, coo.SparseTensor]:
    if not coo.is_in_use:
        return {}
    return {name: buffer for name, buffer in module.named_buffers() if type(buffer) is coo.SparseTensor}


@functools.wraps(_state_dict)
def _ordered(self: Module, *args: Any, **kwargs: Any) -> dict:
    state = _state_dict(self, *args, **kwargs)
    for name, buffer in _sparse_buffers(self).items():
        name = kwargs.get("prefix", "") + name
        if name in state:
            state[name] = buffer.detach()
    return state if kwargs.get("destination") is not None else OrderedDict(state)


def _load(self: Module, state_dict: dict, strict: bool = True, assign: bool = False) -> Any:
    own = {name: buffer for name, buffer in _sparse_buffers(self).items() if name in state_dict}
    if not own:
        return _load_state_dict(self, state_dict, strict, assign)
    dense = copy.copy(state_dict)
    for name, buffer in own.items():
        given = state_dict[name]
        if type(given) is not coo.SparseTensor or given.shape != buffer.shape:
            raise ArgumentValueError(
                f"load_state_dict: expected a sparse tensor of shape {tuple(buffer.shape)} for {name}, got "
                f"{type(given).__name__} of shape {tuple(given.shape)}"
            )
        dense[name] = buffer
    result = _load_state_dict(self, dense, strict, assign)
    for name, buffer in own.items():
        buffer._become(state_dict[name].detach().to(buffer.device, buffer.dtype).clone(), "load_state_dict")
    return result


_load.__name__, _load.__doc__ = "load_state_dict", _load_state_dict.__doc__.split("\n\n", 1)[-1]
Module.state_dict, Module.load_state_dict = _ordered, _load
