"""Nets of classification: the same one from torchvision and from us, with the same weights."""

from dataclasses import dataclass, field

import numpy as np
import torch

from .torchvision_files import factories, find_torchvision, load_torchvision

# One of each family.
FAMILIES = (
    "alexnet vgg11 resnet18 squeezenet1_1 densenet121 googlenet inception_v3 shufflenet_v2_x0_5 mobilenet_v2 "
    "mobilenet_v3_small mnasnet0_5 efficientnet_b0 regnet_y_400mf convnext_tiny vit_b_16 swin_t maxvit_t"
).split()


@dataclass(frozen=True)
class Setting:
    """The input of a net, `batch` pictures of `side` pixels, and the options of its factory."""

    side: int = 64
    batch: int = 8
    options: dict = field(default_factory=dict)


def setting(name, side=None, batch=None):
    """Small pictures where the net takes them; batches that leave a batch norm some tens of numbers.

    `side` and `batch`, where given, are taken instead.
    """
    if name.startswith("vit"):
        side = side or 4 * int(name.rsplit("_", 1)[1])
        return Setting(side, batch or 8, {"image_size": side})
    usual = _usual_setting(name)
    return Setting(side or usual.side, batch or usual.batch, usual.options)


def _usual_setting(name):
    if name == "inception_v3":  # the smallest side from which its second head gets a picture
        return Setting(299, 4, {"init_weights": False})
    if name == "googlenet":
        return Setting(options={"init_weights": False})
    if name.startswith("maxvit"):  # windows of 7 × 7 that must divide the picture after 32-fold reduction
        return Setting(224, 2)
    return Setting()


def our_factory(source):
    """make(name, **options) of our nets, from ``ocl.models`` or from torchvision's files over ``ocl``."""
    if source == "models":
        import ocl.models

        return ocl.models.get_model
    nets = factories(find_torchvision())
    return lambda name, **options: nets[name](**options)


def names_of_all():
    """Every net of classification that torchvision registers."""
    models = load_torchvision().models
    return models.list_models(module=models)


def torchvision_net(name, options, seed=0):
    """torchvision's net in a state as after training: signals do not die, parameters are not idle."""
    torch.manual_seed(seed)
    net = load_torchvision().models.get_model(name, **options)
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    for key, parameter in net.named_parameters():
        if key.endswith("layer_scale"):  # begins at 1e-6
            torch.nn.init.uniform_(parameter, 0.5, 1)
        elif not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    return net


def pictures(setting, seed=1):
    """float32 [batch, 3, side, side] of the standard normal distribution."""
    shape = (setting.batch, 3, setting.side, setting.side)
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
