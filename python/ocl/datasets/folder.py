"""Files in folders, one folder a class."""

import errno
import os

from .vision import VisionDataset

__all__ = ["DatasetFolder", "IMG_EXTENSIONS", "ImageFolder", "default_loader", "find_classes", "make_dataset"]

_LAYOUT = "FOLDER/CLASS/picture.png"
IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def find_classes(directory):
    """The folders in a folder: (sorted names, number of each). FileNotFoundError where there is none."""
    place = os.path.abspath(directory)
    if not os.path.exists(place):
        raise FileNotFoundError(errno.ENOENT, f"No such folder; expected {_LAYOUT}", place)
    classes = sorted(entry.name for entry in os.scandir(place) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {place}; expected {_LAYOUT}.")
    return classes, {name: number for number, name in enumerate(classes)}


def make_dataset(directory, class_to_idx=None, extensions=None, is_valid_file=None, allow_empty=False):
    """The list of (path, class number) of the files below a folder, class by class, sorted by name.

    Matches torchvision.datasets.folder.make_dataset.

    Raises:
        ValueError: no class, or not just one of `extensions` and `is_valid_file`.
        FileNotFoundError: a class without a file, unless `allow_empty`.
    """
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        _, class_to_idx = find_classes(directory)
    if not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    if extensions is not None:
        endings = (extensions,) if isinstance(extensions, str) else tuple(extensions)

        def is_valid_file(path):
            return path.lower().endswith(endings)

    samples, empty = [], []
    for name in sorted(class_to_idx):
        paths = [path for path in _files_below(os.path.join(directory, name)) if is_valid_file(path)]
        samples += [(path, class_to_idx[name]) for path in paths]
        if not paths:
            empty.append(name)
    if empty and not allow_empty:
        supported = "" if extensions is None else f"Supported extensions are: {', '.join(endings)}"
        raise FileNotFoundError(f"Found no valid file for the classes {', '.join(empty)}. {supported}")
    return samples


def _files_below(folder):
    for place, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            yield os.path.join(place, name)


def default_loader(path):
    """The file as a Pillow image in mode RGB. OSError, which names the file, where that cannot be read."""
    from ocl.pillow import Image

    with open(path, "rb") as file:
        try:
            return Image.open(file).convert("RGB")
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise OSError(f"{os.fspath(path)}: {error}") from error


class DatasetFolder(VisionDataset):
    """``dataset[i]`` is what `loader` makes of a file, and the number of its class.

    Matches torchvision.datasets.DatasetFolder.

    `root` has a folder for each class; files may lie in folders below. Attributes: `classes`, `class_to_idx`,
    `samples` (a list of (path, class number)), `targets`.

    Args:
        loader: called with a path.
        extensions: what names of files end with, in any case; or else
        is_valid_file: called with a path, says whether it is a sample.
        allow_empty: let classes have no file.

    Raises:
        FileNotFoundError: no class, or a class without a file.
    """

    def __init__(
        self,
        root,
        loader,
        extensions=None,
        transform=None,
        target_transform=None,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.loader = loader
        self.extensions = extensions
        self.samples = self.make_dataset(self.root, self.class_to_idx, extensions, is_valid_file, allow_empty)
        self.targets = [target for _, target in self.samples]

    def find_classes(self, directory):
        """(names, number of each); a subclass may know others."""
        return find_classes(directory)

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False):
        """The samples; a subclass may find others."""
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)


class ImageFolder(DatasetFolder):
    """Images in folders: ``dataset[i]`` is a Pillow image, mode RGB, and the number of its class.

    Matches torchvision.datasets.ImageFolder; `imgs` is `samples`.
    """

    def __init__(
        self,
        root,
        transform=None,
        target_transform=None,
        loader=default_loader,
        is_valid_file=None,
        allow_empty=False,
    ):
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file, allow_empty)
        self.imgs = self.samples
