"""PyTorch's modules that are not here, and the names of theirs that programs import under ``ocl.as_torch()``.

A program that imports a name and does not use it runs. Nothing is an instance of such a class, and whoever
constructs one or calls such a function gets NotImplementedError with the reason.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["Dtype", "complete", "dtypes", "holds_absent", "is_absent", "module_of"]

_WHOLE_TENSORS = (
    "a tensor lies on one device as a whole; ocl.distributed has groups of processes and their collectives"
)
_WHOLE_PARAMETERS = (
    "parameters are not split over processes; nn.parallel.DistributedDataParallel trains with whole ones, "
    "and distributed.optim.ZeroRedundancyOptimizer splits the state of the optimizer"
)
_WHOLE_CHECKPOINTS = (
    "distributed.checkpoint.save and load take modules and optimizers as they are, and a folder"
)
_FILES = (
    "DefaultLoadPlanner DefaultSavePlanner FileSystemReader FileSystemWriter HuggingFaceStorageReader "
    "HuggingFaceStorageWriter StateDictOptions consolidate_safetensors_files get_model_state_dict "
    "get_optimizer_state_dict set_model_state_dict set_optimizer_state_dict"
)
_FSDP = (
    "BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullStateDictConfig FullyShardedDataParallel "
    "MixedPrecision MixedPrecisionPolicy OffloadPolicy ShardingStrategy StateDictType fully_shard"
)
# The reason, and the names by their modules: those that begin with a capital letter are classes.
_ABSENT = {
    _WHOLE_TENSORS: {
        "distributed._functional_collectives": "all_to_all_single_autograd wait_tensor",
        "distributed.device_mesh": "DeviceMesh init_device_mesh",
        "distributed.tensor": "DTensor DeviceMesh distribute_module distribute_tensor init_device_mesh",
        "distributed.tensor._utils": "compute_local_shape_and_global_offset",
    },
    _WHOLE_PARAMETERS: {
        "distributed._composable.fsdp": _FSDP,
        "distributed.algorithms.join": "Join",
        "distributed.fsdp": _FSDP,
        "distributed.fsdp.fully_sharded_data_parallel": _FSDP,
    },
    _WHOLE_CHECKPOINTS: {
        "distributed.checkpoint": _FILES,
        "distributed.checkpoint._consolidate_hf_safetensors": _FILES,
        "distributed.checkpoint.default_planner": _FILES,
        "distributed.checkpoint.hf_storage": _FILES,
        "distributed.checkpoint.state_dict": _FILES,
    },
    "scaled_dot_product_attention takes a mask or a bias, and no attention takes functions": {
        "nn.attention.flex_attention": (
            "AuxOutput AuxRequest BlockMask _DEFAULT_SPARSE_BLOCK_SIZE create_block_mask create_mask "
            "flex_attention"
        ),
    },
    "ocl.quantization.quantize_ quantizes weights, and there are no quantized activations": {
        "ao.quantization": (
            "DeQuantStub QConfig QuantStub convert fuse_modules fuse_modules_qat get_default_qat_qconfig "
            "prepare prepare_qat"
        ),
    },
}
# Names beside those that ocl's modules have.
_BESIDE = {
    "cuda": (
        "OpenCL devices have no graphs of CUDA and no allocators of a program's",
        "CUDAGraph MemPool graph",
    ),
}
_NAMES = {
    module: (reason, inner.split()) for reason, part in _ABSENT.items() for module, inner in part.items()
}
# Modules that have the names of one of ocl's besides.
_BASES = {
    "distributed.checkpoint": "ocl.distributed.checkpoint",
    "distributed.tensor": "ocl.distributed.placements",
}
_PACKAGES = {module.rpartition(".")[0] for module in _NAMES}
_OF_OCL = {"autograd", "distributed", "nn.attention"}


class Dtype:
    """A dtype of PyTorch's that no tensor has here: programs keep it in tables and compare with it."""

    def __init__(self, name: str, bits: int) -> None:
        self._name, self.itemsize = name, max(1, bits // 8)
        self.is_floating_point, self.is_complex = name.startswith("float"), name.startswith("complex")
        self.is_signed = not name.startswith(("uint", "quint"))

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> tuple:
        return dtypes.__getitem__, (self._name,)


_BITS = {
    **dict.fromkeys(
        ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"), 8
    ),
    "float4_e2m1fn_x2": 8,
    **{f"uint{bits}": bits for bits in (1, 2, 3, 4, 5, 6, 7, 16, 32, 64)},
    **{f"int{bits}": bits for bits in range(1, 8)},
    "complex32": 32,
    "qint8": 8,
    "quint8": 8,
    "qint32": 32,
    "quint4x2": 8,
    "quint2x4": 8,
}
dtypes = {name: Dtype(name, bits) for name, bits in _BITS.items()}
dtypes["chalf"] = dtypes["complex32"]


def is_absent(module: str) -> bool:
    """Whether ``torch.MODULE`` is one of these modules, or holds one."""
    return module in _NAMES or (module in _PACKAGES and module not in _OF_OCL)


def holds_absent(module: str) -> bool:
    """Whether one of these modules is inside ``torch.MODULE``."""
    return module in _PACKAGES


def module_of(module: str) -> types.ModuleType:
    """The module ``torch.MODULE``, whose names refuse to be used."""
    made = types.ModuleType(f"torch.{module}", f"Names that programs import of torch.{module}.")
    if module in _BASES:
        base = importlib.import_module(_BASES[module])
        vars(made).update({name: getattr(base, name) for name in base.__all__})
    if module in _NAMES:
        _put(made, module, *_NAMES[module])
    return made


def complete(module: str, made: types.ModuleType) -> None:
    """Puts names that are not there into a module of ocl's, which stands for ``torch.MODULE``."""
    if module in _BESIDE:
        reason, names = _BESIDE[module]
        _put(made, module, reason, names.split())


def _put(made: types.ModuleType, module: str, reason: str, names: list[str]) -> None:
    for name in names:
        make = _refusing_class if name.lstrip("_")[0].isupper() else _refusing_function
        setattr(made, name, make(f"torch.{module}", name, reason))


def _refusal(name: str, reason: str) -> NotImplementedError:
    return NotImplementedError(f"{name} is not there: {reason}")


class _Refusing(type):
    """A class that nothing is an instance of. Its methods may be asked for where they are there alone."""

    reason: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise _refusal(f"{cls.__module__}.{cls.__name__}", cls.reason)


def _refusing_class(module: str, name: str, reason: str) -> type:
    return _Refusing(name, (), {"__module__": module, "__doc__": f"Not there: {reason}.", "reason": reason})


def _refusing_function(module: str, name: str, reason: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise _refusal(f"{module}.{name}", reason)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__, refuse.__doc__ = module, f"Raises NotImplementedError: {reason}."
    return refuse
