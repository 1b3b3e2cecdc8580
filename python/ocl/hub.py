"""The names of torch.hub. Nothing is loaded from the network here, and no code of others is run."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn
from urllib.parse import urlparse

try:
    from tqdm import tqdm
except ImportError:

    class tqdm(contextlib.AbstractContextManager):  # noqa: N801  (PyTorch's name)
        """The progress of a loop, of which nothing is shown: the package tqdm is not installed."""

        def __init__(self, iterable: Iterable = (), **options: Any) -> None:
            self._iterable = iterable

        def __iter__(self) -> Iterator:
            return iter(self._iterable)

        def __exit__(self, *raised: Any) -> None:
            pass

        def update(self, n: float = 1) -> None:
            """Nothing."""

        def close(self) -> None:
            """Nothing."""


__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "load_url",
    "set_dir",
    "tqdm",
    "urlparse",
]

# The beginning of a file's hash in its name. (torch.hub.HASH_REGEX)
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")

_chosen: str | None = None


def get_dir() -> str:
    """The folder ``hub`` below TORCH_HOME, else below the cache folder's ``torch``. (torch.hub.get_dir)"""
    return os.path.join(_get_torch_home(), "hub") if _chosen is None else _chosen


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike) -> None:
    """Sets the folder that get_dir gives. (torch.hub.set_dir)"""
    global _chosen
    _chosen = os.path.expanduser(d)


def _refuse(what: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"ocl.hub.{what} is not there: {instead}")


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: it would run code of others."""
    _refuse(
        "load", f"make the net by ocl.models.{model}(), or import its model file, and ocl.load its weights"
    )


def list(github: str, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: A001
    """Raises NotImplementedError: it would run code of others."""
    _refuse("list", "ocl.models lists the nets that there are")


def help(github: str, model: str, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: A001
    """Raises NotImplementedError: it would run code of others."""
    _refuse("help", "ocl.models documents the nets that there are")


def load_state_dict_from_url(url: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: weights are read from files."""
    _refuse("load_state_dict_from_url", f"download {url} yourself, and read the file by ocl.load(path)")


load_url = load_state_dict_from_url


def download_url_to_file(url: str, dst: str | os.PathLike, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: nothing is loaded from the network."""
    _refuse("download_url_to_file", f"download {url} yourself")
