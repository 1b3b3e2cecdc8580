"""The error of from_torch beyond Python's own."""

from ocl import imported


class UnsupportedError(imported.UnsupportedError):
    """A program needs operators that are not supported.

    ``missing`` lists them all: the operator with its overload, and the first node that needs it. Last comes
    the reason where the operator is supported but not so, else "".
    """

    def __init__(self, missing: list[tuple[str, str, str]]):
        lines = [f"{name} (first node: {node}{reason and '; ' + reason})" for name, node, reason in missing]
        super().__init__("from_torch", missing, lines)
