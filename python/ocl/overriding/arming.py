"""When functions and methods begin to ask, and which."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from ocl._C import Tensor
from ocl.overriding import asking
from ocl.overriding.asking import Asked, AskedProperty
from ocl.seam.members import Layer

__all__ = ["FACTORIES", "IGNORED", "PLACES", "all_asked", "arm", "functions_of", "is_armed", "watch_refusals"]

# The modules whose functions ask.
PLACES = (
    "ocl",
    "ocl.nn.functional",
    "ocl.nn.init",
    "ocl.linalg",
    "ocl.fft",
    "ocl.special",
)
# Functions that ask nobody: they are about the process and its devices, or take any object.
IGNORED = frozenset(
    """
    are_deterministic_algorithms_enabled autocast backward broadcast_shapes calculate_gain can_cast
    compile constant_ device_count empty_cache from_dlpack from_numpy get_autocast_dtype
    get_default_device get_default_dtype get_device_name get_device_properties
    get_float32_matmul_precision get_fusion get_num_interop_threads get_num_threads get_rng_state grad
    gradcheck initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_enabled
    is_available is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled
    is_pinned is_storage is_tensor kernel_cache_info load manual_seed manual_seed_all
    max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats
    operator_table pin_memory pointwise_table promote_types reduction_table reset_peak_memory_stats save
    seed set_default_device set_default_dtype set_default_tensor_type set_float32_matmul_precision
    set_fusion set_memory_limit set_num_interop_threads set_num_threads set_printoptions set_rng_state
    synchronize typename use_deterministic_algorithms vmap with_sparse_meaning
    """.split()
)
# Functions that take no tensors: only modes hear of them.
FACTORIES = frozenset(
    """
    arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye
    fftfreq frombuffer full hamming_window hann_window kaiser_window linspace logspace normal ones rand
    randint randn randperm range rfftfreq scalar_tensor sparse_coo_tensor tensor tril_indices
    triu_indices zeros
    """.split()
)
# Members of Tensor that ask nobody.
_IGNORED_MEMBERS = frozenset(
    """
    __array_priority__ __array_ufunc__ __class__ __delattr__ __dict__ __dir__ __doc__ __getattribute__
    __hash__ __init__ __init_subclass__ __iter__ __module__ __new__ __setattr__ __torch_function__
    __weakref__ _become_view _is_parameter _make_subclass _pybind11_conduit_v1_ as_subclass
    """.split()
)
# Operators that are said to be other methods, as in PyTorch.
_SAID_TO_BE = {
    **{f"__{name}__": name for name in ("abs", "add", "sub", "mul", "matmul", "neg", "pow")},
    **{f"__{name}__": name for name in ("ne", "lt", "le", "gt", "ge")},
    "__pos__": "positive",
    **{f"__i{name}__": f"{name}_" for name in ("add", "sub", "mul")},
    "__radd__": "add",
    "__rmul__": "mul",
    "__truediv__": "div",
    "__itruediv__": "div_",
    "__ifloordiv__": "floor_divide_",
    "__mod__": "remainder",
    "__imod__": "remainder_",
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
}


def functions_of(place: str) -> Iterator[tuple[str, Callable]]:
    """The functions of a module that ask, by name."""
    for name, value in list(vars(importlib.import_module(place)).items()):
        if name.startswith("_") or name in IGNORED or isinstance(value, (type, types.ModuleType)):
            continue
        if callable(value):
            yield name, value


# --- functions that have not begun to ask

_watched: dict[Callable, Callable] = {}  # the functions behind those that watch


def _watching(function: Callable) -> Callable:
    """The function, which begins to ask where it refuses an object that wants to be asked."""

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:
            found = asking.those_asked((*args, *kwargs.values()))
            if is_armed() or not any(asking.replaces(type(value)) for value in found):
                raise
        arm()
        return next(asked for asked in _asked if asked.stands_for is watched)(*args, **kwargs)

    return watched


@functools.cache
def watch_refusals() -> None:
    """Lets functions notice objects that are no tensors and define ``__torch_function__``."""
    for place in () if is_armed() else PLACES:
        names = vars(importlib.import_module(place))
        for name, function in functions_of(place):
            names[name] = watching = _watching(function)
            _watched[watching] = function


# --- functions that ask

_asked: list[Asked] = []
_members: dict[str, Asked | AskedProperty] = {}


def all_asked() -> Iterator[Asked]:
    """The functions and methods that ask, once they do."""
    yield from _asked
    yield from (member for member in _members.values() if isinstance(member, Asked))


def is_armed() -> bool:
    return bool(_asked)


def _names_of_members() -> list[str]:
    return [
        name
        for name, member in vars(Tensor).items()
        if name not in _IGNORED_MEMBERS
        and not isinstance(member, (staticmethod, classmethod))
        and (callable(member) or hasattr(member, "__get__"))
    ]


def _asking_member(name: str, member: Any) -> Any:
    if name not in _members:
        _members[name] = (Asked if callable(member) else AskedProperty)(member, "Tensor", name)
    asked = _members[name]
    if isinstance(asked, Asked):
        asked.inner = member  # which may listen for somebody
    return asked


_layer = Layer(2, _names_of_members, _asking_member)


def arm() -> None:
    """From here on functions and methods ask."""
    if is_armed():
        return
    for place in PLACES:
        names = vars(importlib.import_module(place))
        for name, function in functions_of(place):
            asked = names[name] = Asked(function, place, name)
            asked.inner = _watched.get(function, function)
            asked.asks_classes = name not in FACTORIES
            _asked.append(asked)
    _layer.on()
    for name, other in _SAID_TO_BE.items():
        _members[name].public = _members[other]
    renew = getattr(sys.modules.get("torch"), "_begin_to_ask", None)
    if renew is not None:
        renew()
