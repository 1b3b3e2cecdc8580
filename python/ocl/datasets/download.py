"""Files from the network, taken only with the right checksum."""

import hashlib
import http.client
import urllib.error
import urllib.request

from ocl import _C

__all__ = ["DatasetNotFoundError", "DownloadError", "download", "has_md5"]

_TIMEOUT_SECONDS = 5


class DownloadError(OSError):
    """A dataset's files are not here and could not be fetched; the message says where to put them."""


class DatasetNotFoundError(FileNotFoundError, RuntimeError):
    """A dataset's files are not here, or are not what they should be. torchvision raises RuntimeError."""


def download(urls, path, md5, advice):
    """Fetches a file to `path` from the first of `urls`, http: or file:, that has it whole.

    Raises:
        DownloadError: none has; the message ends with `advice`.
    """
    failures = {}  # each kind once, by its words
    for url in urls:
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
                content = response.read()
        except urllib.error.HTTPError as error:
            failures[f"the server answers {error.code}"] = error
            continue
        except (OSError, http.client.HTTPException) as error:
            failures["unreachable"] = error
            continue
        if _md5(content) == md5:
            path.parent.mkdir(parents=True, exist_ok=True)
            _C._data.write_file(path, content)
            return
        failures["wrong MD5 checksum"] = ValueError(f"{url}: wrong MD5 checksum")
    cause = next(iter(failures.values()))
    raise DownloadError(f"cannot download {path.name} ({', '.join(failures)}); {advice}") from cause


def has_md5(path, md5):
    """Whether the file is there, with that checksum where one is given."""
    return path.is_file() and (md5 is None or _md5(path.read_bytes()) == md5)


def _md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
