"""torchvision's own model files, unchanged, with ``ocl`` standing for ``torch``."""

import enum
import importlib
import sys
import types

from .standing_in import TORCH, folder_of, module_of, modules_replaced

FILES = (
    "alexnet vgg resnet squeezenet densenet googlenet inception shufflenetv2 mobilenetv2 mobilenetv3 mnasnet "
    "efficientnet regnet convnext vision_transformer swin_transformer maxvit"
).split()


def find_torchvision():
    """The folder of the installed package, or None."""
    return folder_of("torchvision")


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


def modules_for_ocl(folder):
    """{name: module} with which torchvision's files are imported over ``ocl``."""
    packages = {
        f"torchvision.{name}": module_of(name, __path__=[str(folder / name)])
        for name in ("models", "ops", "transforms")
    }
    return {
        **TORCH,
        **packages,
        "torchvision": module_of("torchvision", __path__=[str(folder)], **packages),
        # The transforms of pictures before a net, and files from the network: no part of the nets.
        "torchvision.transforms._presets": module_of(
            "_presets", ImageClassification=_Preset, InterpolationMode=_Interpolation
        ),
        "torchvision._internally_replaced_utils": module_of("none", load_state_dict_from_url=None),
        "torchvision.utils": module_of(
            "utils",
            _log_api_usage_once=lambda given: None,
            _make_ntuple=lambda x, n: tuple(x) if isinstance(x, (tuple, list)) else (x,) * n,
        ),
    }


def factories(folder):
    """{name: function} of every net of classification that the files register."""
    with modules_replaced(modules_for_ocl(folder), ("torch", "torchvision")):
        for name in ("stochastic_depth", "misc"):
            module = importlib.import_module(f"torchvision.ops.{name}")
            vars(sys.modules["torchvision.ops"]).update(
                {key: value for key, value in vars(module).items() if not key.startswith("_")}
            )
        for name in FILES:
            importlib.import_module(f"torchvision.models.{name}")
        return dict(importlib.import_module("torchvision.models._api").BUILTIN_MODELS)
