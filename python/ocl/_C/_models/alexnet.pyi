from __future__ import annotations
import ocl._C._nn
import os
import typing
__all__: list[str] = ['AlexNet', 'alexnet']
class AlexNet(ocl._C._nn.Module):
    """
    One weird trick for parallelizing convolutional neural networks (Krizhevsky 2014): [N, 3, H, W] -> [N, num_classes].
    """
    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
def alexnet(*, weights: str | os.PathLike | None = None, progress: bool = True, num_classes: int = 1000, dropout: float = 0.5) -> AlexNet:
    """
    AlexNet (Krizhevsky 2014), as torchvision's; pictures of 63 x 63 or more.
    
    The arguments are AlexNet's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
