"""The error of loading beyond Python's own."""

from ocl import imported


class UnsupportedError(imported.UnsupportedError):
    """A model needs operators that are not supported.

    ``missing`` lists them all: domain, name, the version of the operator's definition, and the first node
    that needs it. Last comes the reason where the operator is supported but not with such attributes, else
    "".
    """

    def __init__(self, missing: list[tuple[str, str, int, str, str]]):
        lines = [
            f"{domain or 'ai.onnx'}::{name} version {version} (first node: {node}{reason and '; ' + reason})"
            for domain, name, version, node, reason in missing
        ]
        super().__init__("onnx", missing, lines)
