"""Pillow, which the images of ocl.transforms and ocl.datasets need and nothing else does."""

try:
    from PIL import Image, ImageEnhance, ImageOps
except ImportError as error:
    raise ImportError(
        "ocl.transforms and datasets of images need Pillow: pip install pillow (or tapecl[images])"
    ) from error

__all__ = ["Image", "ImageEnhance", "ImageOps"]
