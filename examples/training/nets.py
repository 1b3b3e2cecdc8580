"""Nets by name: those of ``ocl.models``, a small one of our own, and whatever else is registered."""

import difflib

from ocl import nn

__all__ = ["make_net", "net_names", "register_net", "require_side", "suitable_side"]

_registered = {}

# The smallest pictures that a training takes, by how the names of nets begin; any where none is told.
_LEAST_SIDES = {
    "alexnet": 63,
    "convnext": 32,
    "densenet": 29,
    "googlenet": 15,
    "inception": 299,  # for its auxiliary head
    "maxvit": 64,
    "squeezenet1_0": 21,
    "squeezenet1_1": 17,
    "swin": 4,
    "vgg": 32,
}


def register_net(make):
    """Decorates a function make(num_classes=…, channels=…): its name becomes a net's."""
    _registered[make.__name__] = make
    return make


def net_names():
    """All names that make_net knows, sorted."""
    models = _library()
    return sorted({*_registered, *(models.list_models(module=models) if models else ())})


def make_net(name, num_classes, channels=3, side=224, **options):
    """The net of that name for pictures [N, channels, side, side]; `options` are for one of ocl.models.

    Raises:
        ValueError: no such net.
    """
    if name in _registered:
        return _registered[name](num_classes=num_classes, channels=channels)
    models = _library()
    known = models.list_models(module=models) if models else []
    if name not in known:
        near = difflib.get_close_matches(name, net_names(), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; --list-nets shows them all"
        without = "" if models else " (this ocl has no ocl.models)"
        raise ValueError(f"there is no net {name!r}{without}{hint}")
    net = models.get_model(name, num_classes=num_classes, **_options_of_side(name, side), **options)
    return with_channels(net, channels)


def suitable_side(name, side):
    """The least side of pictures, from `side` on, that the net of that name can be trained on."""
    least = max([least for start, least in _LEAST_SIDES.items() if name.startswith(start)], default=1)
    step = _step_of_sides(name)
    return -(-max(side, least) // step) * step


def require_side(name, side):
    """Raises ValueError where the net cannot be trained on pictures of that side."""
    suitable = suitable_side(name, side)
    if suitable != side:
        step = _step_of_sides(name)
        multiples = f", in multiples of {step}" if step > 1 else ""
        raise ValueError(f"{name} needs --side {suitable} or more{multiples}, and not {side}")


def _step_of_sides(name):
    if name.startswith("vit_"):
        return int(name.rpartition("_")[2])  # the side of its patches
    return _MAXVIT_STRIDE if name.startswith("maxvit") else 1


_MAXVIT_STRIDE = 32


def _options_of_side(name, side):
    """Options of nets whose parameters depend on the size of the pictures."""
    if name.startswith("vit_"):
        return {"image_size": side}
    if name.startswith("maxvit"):  # its last stage is one window, as of torchvision's 224 by windows of 7
        return {"input_size": (side, side), "partition_size": side // _MAXVIT_STRIDE}
    return {}


def _library():
    try:
        from ocl import models
    except ImportError:
        return None
    return models


def with_channels(net, channels):
    """`net` with a first convolution that takes so many channels."""
    for parent in net.modules():
        for name, child in parent._modules.items():
            if isinstance(child, nn.Conv2d):
                if child.in_channels != channels:
                    setattr(parent, name, _of_channels(child, channels))
                return net
    raise ValueError(f"{type(net).__name__} has no convolution that could take {channels} channels")


def _of_channels(conv, channels):
    return nn.Conv2d(
        channels,
        conv.out_channels,
        conv.kernel_size,
        conv.stride,
        conv.padding,
        conv.dilation,
        bias=conv.bias is not None,
    )


class _Block(nn.Module):
    """Two convolutions beside a shortcut (He et al. 2016)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        return self.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


@register_net
def small(num_classes, channels=3):
    """A ResNet of three blocks for small pictures, 76 thousand parameters."""
    return nn.Sequential(
        nn.Conv2d(channels, 16, 3, 1, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        _Block(16, 16, 2),
        _Block(16, 32, 2),
        _Block(32, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, num_classes),
    )
