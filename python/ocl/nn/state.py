"""State dicts as PyTorch gives them: an OrderedDict."""

from __future__ import annotations

import functools
from collections import OrderedDict
from typing import Any

from ocl._C._nn import Module

_state_dict = Module.state_dict


@functools.wraps(_state_dict)
def _ordered(self: Module, *args: Any, **kwargs: Any) -> dict:
    state = _state_dict(self, *args, **kwargs)
    return state if kwargs.get("destination") is not None else OrderedDict(state)


Module.state_dict = _ordered
