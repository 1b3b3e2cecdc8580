"""Nets, as torchvision.models: written in C++ (``nn/models``), by its names.

Those of image classification and of language are here, others in ``segmentation`` and ``detection``.

Each takes the arguments of torchvision's function of that name and of its class; ``weights`` is the path of a
file (.pth, .safetensors), for none are downloaded. State dicts are torchvision's. The language models (gpt2,
gpt2_medium, gpt2_large, gpt2_xl) are so with the names, arguments and state dicts of Hugging Face's
transformers.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from types import ModuleType
from typing import Any

from ocl import _C
from ocl.models.generation import GenerationStep
from ocl.models.outputs import GoogLeNetOutputs, InceptionOutputs
from ocl.nn import Module
from ocl.nn.embedding import adopt

_NETS = (
    "AlexNet ConvNeXt DenseNet EfficientNet GoogLeNet GPT2LMHeadModel Inception3 MaxVit MNASNet MobileNetV2 "
    "MobileNetV3 RegNet ResNet ShuffleNetV2 SqueezeNet SwinTransformer VGG VisionTransformer"
).split()
_TASKS = ("detection", "segmentation")
_NAMES = _C._models.list_models() + _C._models.list_language_models()

# The modules of torchvision.models, then classes and functions: alexnet and googlenet are functions here, and
# modules in import statements, as there.
_files = {name: member for name, member in vars(_C._models).items() if isinstance(member, ModuleType)}
sys.modules.update({f"{__name__}.{name}": file for name, file in _files.items()})
globals().update(_files)
_builders = {
    name: (file_name, vars(file)[name])
    for file_name, file in _files.items()
    for name in _NAMES
    if name in vars(file)
}
for _file_name, _file in _files.items():
    if _file_name not in _TASKS:
        globals().update({name: vars(_file)[name] for name in _NETS if name in vars(_file)})


def _with_adopted(build: Callable) -> Callable:
    """The function or constructor, after which embeddings are those of ``ocl.nn``."""

    @functools.wraps(build)
    def built(*args: Any, **kwargs: Any) -> Any:
        net = build(*args, **kwargs)
        adopt(args[0] if net is None else net)
        return net

    return built


for _name in _C._models.list_language_models():
    _file_name, _build = _builders[_name]
    _builders[_name] = _file_name, _with_adopted(_build)
    _builders[_name][1].__module__, _builders[_name][1].__qualname__ = __name__, _name
    setattr(_files[_file_name], _name, _builders[_name][1])
for _class in (_files["gpt2"].GPT2Model, _files["gpt2"].GPT2LMHeadModel):
    _class.__init__ = _with_adopted(_class.__init__)
_functions = sorted(name for name, (file_name, _) in _builders.items() if file_name not in _TASKS)
globals().update({name: _builders[name][1] for name in _functions})


def _filters(patterns: str | Iterable[str] | None) -> list[str]:
    return [patterns] if isinstance(patterns, str) else list(patterns or ())


def list_models(
    module: ModuleType | None = None,
    include: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
) -> list[str]:
    """The names of all nets that torchvision has, or of those in ``module`` (``ocl.models``: image
    classification), that fit a pattern of ``include``, where given, and none of ``exclude``."""
    wanted, unwanted = _filters(include) or ["*"], _filters(exclude)
    return [
        name
        for name in _C._models.list_models()
        if (module is None or hasattr(module, name))
        and any(fnmatch(name, pattern) for pattern in wanted)
        and not any(fnmatch(name, pattern) for pattern in unwanted)
    ]


list_language_models = _C._models.list_language_models


def get_model_builder(name: str) -> Callable[..., Module]:
    """The function of that name. Raises ValueError, which says what is called alike, if there is none."""
    name = name.lower()
    _C._models.require_model(name)
    return _builders[name][1]


def get_model(name: str, **config: Any) -> Module:
    """The net of that name, made with the arguments ``config``."""
    return get_model_builder(name)(**config)


create_model = get_model

__all__ = [
    "GenerationStep",
    "GoogLeNetOutputs",
    "InceptionOutputs",
    "create_model",
    "get_model",
    "get_model_builder",
    "list_language_models",
    "list_models",
    *_NETS,
    *_TASKS,
    *_functions,
]
