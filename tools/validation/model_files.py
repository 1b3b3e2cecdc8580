"""Model files of timm and vit-pytorch, unchanged, over PyTorch and over ``ocl``."""

import contextlib
import importlib

import ocl

from .standing_in import TORCH, folder_of, module_of, modules_replaced
from .torchvision_files import find_torchvision, load_torchvision, modules_for_ocl

# The company and the source of files of weights: no part of the nets.
_ABSENT = {name: None for name in ("huggingface_hub", "safetensors", "safetensors.torch")}
_HUB = dict.fromkeys(
    ("HASH_REGEX", "download_url_to_file", "get_dir", "load_state_dict_from_url", "urlparse")
)


class _ModelFiles:
    """Imports files of one package, each with the library that stands for ``torch``: torch itself or ocl."""

    def __init__(self, package, *needs):
        self._package, self._needs = package, needs
        self._loaded = {}

    @property
    def missing(self):
        """The packages that are needed and not installed."""
        return [name for name in (self._package, *self._needs) if folder_of(name) is None]

    def load(self, library, name):
        """The module of one model file."""
        key = (library.__name__, name)
        if key not in self._loaded:
            with self._context(library):
                self._loaded[key] = importlib.import_module(f"{self._prefix}.{name}")
                self._prepare(library)
        return self._loaded[key]

    def _prepare(self, library):
        pass


class Timm(_ModelFiles):
    """timm.models."""

    _prefix = "timm.models"

    def __init__(self):
        super().__init__("timm", "torchvision")

    @contextlib.contextmanager
    def _context(self, library):
        folder = folder_of("timm")
        modules = {
            **_ABSENT,
            "timm": module_of("timm", __path__=[str(folder)], __version__=None),
            "timm.data": module_of("timm.data", __path__=[str(folder / "data")]),
            "timm.models": module_of("timm.models", __path__=[str(folder / "models")]),
        }
        packages = ["timm"]
        if library is ocl:
            modules |= {**modules_for_ocl(find_torchvision()), "torch.hub": module_of("torch.hub", **_HUB)}
            packages += ["torch", "torchvision"]
        else:
            load_torchvision()
        with modules_replaced(modules, packages):
            constants = importlib.import_module("timm.data.constants")
            vars(modules["timm.data"]).update(vars(constants))
            yield


class VitPytorch(_ModelFiles):
    """vit_pytorch."""

    _prefix = "vit_pytorch"

    def __init__(self):
        super().__init__("vit_pytorch", "einops")

    @contextlib.contextmanager
    def _context(self, library):
        modules = {"vit_pytorch": module_of("vit_pytorch", __path__=[str(folder_of("vit_pytorch"))])}
        packages = ["vit_pytorch"]
        if library is ocl:
            modules |= TORCH
            packages += ["torch", "einops"]
        with modules_replaced(modules, packages):
            yield

    def _prepare(self, library):
        """einops chooses by the modules that are there when it first sees a tensor of a type."""
        importlib.import_module("einops").rearrange(library.zeros(1, 1), "a b -> b a")
