"""Parts of nets, as torchvision.ops."""

from ocl._C._models import MLP, Conv2dNormActivation, Permute, SqueezeExcitation
from ocl.nn import StochasticDepth

__all__ = ["MLP", "Conv2dNormActivation", "Permute", "SqueezeExcitation", "StochasticDepth"]
