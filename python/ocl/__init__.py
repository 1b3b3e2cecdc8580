"""TapeCL: neural-network training with autograd on any OpenCL device.

The names are PyTorch's; a tensor lives on an OpenCL device ("ocl:0", "cpu"), and NumPy arrays are the host's
side: ``ocl.tensor(array)`` uploads, ``.numpy()`` downloads.
"""

# ruff: noqa: E402  (OpenCL is found before the compiled module is imported)

import importlib
import importlib.util
import math
from typing import TYPE_CHECKING

from ocl import opencl_runtime

opencl_runtime.prepare()
try:
    from ocl import _C
except ImportError as error:
    from ocl.doctor.loader import explained

    raise explained(error) from None
from ocl._C import *  # noqa: F403  (the C++ library's functions and classes, each documented there)
from ocl._C import (  # noqa: F401  (under torch's names)
    DeviceError,
    KernelBuildError,
    OutOfMemoryError,
    Tensor,
    _fft_c2c,
    _fft_c2r,
    _fft_r2c,
    device,
    dtype,
)

from ocl import amp, arrays, autograd, copying, fx, implementations, jit  # isort: skip  # noqa: F401
from ocl import linalg, nn, ops, optim, profiler, serialization, special  # isort: skip
from ocl import fft, func, sparse  # isort: skip
from ocl import arithmetic, complex_numbers, creation, differences, drawing, placement  # isort: skip
from ocl import questions, statistics, views  # isort: skip
from ocl import in_place, memory  # isort: skip  # noqa: F401  (it takes methods of the others)
from ocl.amp import GradScaler
from ocl.amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_enabled
from ocl.arithmetic import *  # noqa: F403  (each documented there, as the names of all modules below)
from ocl.arrangement import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_tensors,
    broadcast_to,
    cumulative_trapezoid,
    dsplit,
    hsplit,
    msort,
    row_stack,
    tensor_split,
    trapezoid,
    trapz,
    vsplit,
)
from ocl.autograd import enable_grad, inference_mode, is_inference_mode_enabled, no_grad, set_grad_enabled
from ocl.complex_numbers import *  # noqa: F403
from ocl.creation import *  # noqa: F403
from ocl.differences import *  # noqa: F403
from ocl.drawing import *  # noqa: F403
from ocl.fft.short_time import istft, stft
from ocl.func import vmap
from ocl.host_random import manual_seed, manual_seed_all
from ocl.in_place import *  # noqa: F403
from ocl.linalg.torch_names import *  # noqa: F403
from ocl.overriding.classes import *  # noqa: F403
from ocl.placement import *  # noqa: F403
from ocl.questions import *  # noqa: F403
from ocl.serialization import load, save
from ocl.shapes import shapes_only
from ocl.size import Size
from ocl.sparse.asking import with_sparse_meaning
from ocl.sparse.layouts import *  # noqa: F403
from ocl.sparse.making import sparse_coo_tensor
from ocl.statistics import *  # noqa: F403
from ocl.type_info import finfo, iinfo
from ocl.views import *  # noqa: F403

globals().update(with_sparse_meaning("ocl", globals()))
globals().update(nn.complex_layers.with_complex_meaning("ocl"))
spmm = globals()["mm"]
from ocl.sparse import methods  # isort: skip  # noqa: F401  (it takes the methods that tensors have by now)

if TYPE_CHECKING:
    from ocl import (  # noqa: F401
        datasets,
        distributed,
        distributions,
        export,
        models,
        onnx,
        quantization,
        runtime,
        transforms,
        utils,
    )

float = float32 = _C.float32
double = float64 = _C.float64
half = float16 = _C.float16
bfloat16 = _C.bfloat16
long = int64 = _C.int64
int = int32 = _C.int32
short = int16 = _C.int16
int8 = _C.int8
cfloat = complex64 = _C.complex64
cdouble = complex128 = _C.complex128
uint8 = _C.uint8
bool = bool_ = _C.bool_


__version__ = _C._version()


def _assert(condition: object, message: str) -> None:
    """``assert condition, message``, as model files write it for PyTorch's tracer."""
    assert condition, message


# Imported when first asked for: half of the import would go into them, and transforms need Pillow.
_LATE = (
    "_dynamo",
    "accelerator",
    "as_torch",
    "backends",
    "capture",
    "compiler",
    "cuda",
    "datasets",
    "distributed",
    "distributions",
    "export",
    "hub",
    "library",
    "models",
    "multiprocessing",
    "overrides",
    "quantization",
    "random",
    "runtime",
    "testing",
    "transforms",
    "types",
    "utils",
    "version",
    "xpu",
)
_OPTIONAL = ("onnx",)  # needs a package of its own, so that dir() does not list it
# Names of PyTorch's that few programs ask for, and the modules that have them.
_LATE_NAMES = {
    "_sample_dirichlet": "distributions.gamma_family",
    "compile": "compiling",
    "TypedStorage": "storages",
    "UntypedStorage": "storages",
    "default_generator": "process_generator",
    "seed": "random",
    **dict.fromkeys(
        (
            "BFloat16Tensor",
            "BoolTensor",
            "ByteTensor",
            "CharTensor",
            "ComplexDoubleTensor",
            "ComplexFloatTensor",
            "DoubleTensor",
            "FloatTensor",
            "HalfTensor",
            "IntTensor",
            "LongTensor",
            "ShortTensor",
        ),
        "tensor_types",
    ),
    **dict.fromkeys(
        (
            "are_deterministic_algorithms_enabled",
            "get_default_dtype",
            "get_num_interop_threads",
            "get_num_threads",
            "is_deterministic_algorithms_warn_only_enabled",
            "set_default_dtype",
            "set_default_tensor_type",
            "set_num_interop_threads",
            "set_num_threads",
            "use_deterministic_algorithms",
        ),
        "settings",
    ),
}

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None


def __getattr__(name):
    if name in _LATE:
        return importlib.import_module(f"ocl.{name}")
    if name in _LATE_NAMES:
        value = getattr(importlib.import_module(f"ocl.{_LATE_NAMES[name]}"), name)
        globals()[name] = value
        return value
    if name in _OPTIONAL and importlib.util.find_spec(f"ocl.{name}") is not None:
        return importlib.import_module(f"ocl.{name}")
    raise AttributeError(f"module 'ocl' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATE, *_LATE_NAMES})


__all__ = [name for name in dir(_C) if not name.startswith("_")] + [
    *(
        name
        for module in (
            arithmetic,
            complex_numbers,
            creation,
            differences,
            drawing,
            in_place,
            placement,
            questions,
            sparse.layouts,
            statistics,
            views,
        )
        for name in module.__all__
    ),
    *linalg.torch_names.__all__,
    "GradScaler",
    "DeviceError",
    "KernelBuildError",
    "OutOfMemoryError",
    "Size",
    "Tensor",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "broadcast_to",
    "cumulative_trapezoid",
    "dsplit",
    "hsplit",
    "msort",
    "row_stack",
    "tensor_split",
    "trapezoid",
    "trapz",
    "vsplit",
    "amp",
    "autocast",
    "autograd",
    "bool",
    "datasets",
    "device",
    "distributed",
    "distributions",
    "dtype",
    "enable_grad",
    "export",
    "finfo",
    "func",
    "get_autocast_dtype",
    "fx",
    "fft",
    "istft",
    "stft",
    "iinfo",
    "jit",
    "implementations",
    "inference_mode",
    "is_autocast_enabled",
    "is_inference_mode_enabled",
    "linalg",
    "load",
    "manual_seed",
    "manual_seed_all",
    "models",
    "nn",
    "no_grad",
    "ops",
    "optim",
    "profiler",
    "runtime",
    "save",
    "serialization",
    "set_grad_enabled",
    "shapes_only",
    "sparse",
    "sparse_coo_tensor",
    "special",
    "spmm",
    "utils",
    "vmap",
]
