from .densenet import densenet_cifar
from .dpn import DPN26
from .efficientnet import EfficientNetB0
from .googlenet import GoogLeNet
from .mobilenetv2 import MobileNetV2
from .preact_resnet import PreActResNet18
from .resnet import ResNet18, ResNet50
from .senet import SENet18
from .shufflenetv2 import ShuffleNetV2
from .vgg import VGG11

__all__ = [
    "DPN26",
    "VGG11",
    "EfficientNetB0",
    "GoogLeNet",
    "MobileNetV2",
    "PreActResNet18",
    "ResNet18",
    "ResNet50",
    "SENet18",
    "ShuffleNetV2",
    "densenet_cifar",
]
