"""torchvision's own model files, unchanged, with ``ocl`` standing for ``torch``."""

import contextlib
import enum
import importlib.util
import sys
import types
from pathlib import Path

import ocl

FILES = (
    "alexnet vgg resnet squeezenet densenet googlenet inception shufflenetv2 mobilenetv2 mobilenetv3 mnasnet "
    "efficientnet regnet convnext vision_transformer swin_transformer maxvit"
).split()


def find_torchvision():
    """The folder of the installed package, or None."""
    spec = importlib.util.find_spec("torchvision")
    return Path(spec.origin).parent if spec else None


def load_torchvision():
    """torchvision itself, over PyTorch; its operators of other devices have no build for CPUs."""
    sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("none"))
    return importlib.import_module("torchvision")


class _Interpolation(enum.Enum):
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


class _Preset:
    def __init__(self, **options):
        pass


def _module(name, **names):
    module = types.ModuleType(name)
    vars(module).update(names)
    return module


@contextlib.contextmanager
def _ocl_as_torch(folder):
    def is_theirs(name):
        return name.split(".")[0] in ("torch", "torchvision")

    theirs = {name: sys.modules.pop(name) for name in list(sys.modules) if is_theirs(name)}
    packages = {
        f"torchvision.{name}": _module(name, __path__=[str(folder / name)])
        for name in ("models", "ops", "transforms")
    }
    sys.modules.update(packages)
    sys.modules.update(
        {
            "torch": ocl,
            "torch.nn": ocl.nn,
            "torch.nn.functional": ocl.nn.functional,
            "torch.nn.init": ocl.nn.init,
            "torch.utils": ocl.utils,
            "torch.utils.checkpoint": ocl.utils.checkpoint,
            "torchvision": _module("torchvision", __path__=[str(folder)], **packages),
            # What pictures go through before a net, and files from the network: no part of the nets.
            "torchvision.transforms._presets": _module(
                "_presets", ImageClassification=_Preset, InterpolationMode=_Interpolation
            ),
            "torchvision._internally_replaced_utils": _module("none", load_state_dict_from_url=None),
            "torchvision.utils": _module(
                "utils",
                _log_api_usage_once=lambda given: None,
                _make_ntuple=lambda x, n: tuple(x) if isinstance(x, (tuple, list)) else (x,) * n,
            ),
        }
    )
    try:
        yield
    finally:
        for name in [name for name in sys.modules if is_theirs(name)]:
            del sys.modules[name]
        sys.modules.update(theirs)


def factories(folder):
    """{name: function} of every net of classification that the files register."""
    with _ocl_as_torch(folder):
        for name in ("stochastic_depth", "misc"):
            module = importlib.import_module(f"torchvision.ops.{name}")
            vars(sys.modules["torchvision.ops"]).update(
                {key: value for key, value in vars(module).items() if not key.startswith("_")}
            )
        for name in FILES:
            importlib.import_module(f"torchvision.models.{name}")
        return dict(importlib.import_module("torchvision.models._api").BUILTIN_MODELS)
