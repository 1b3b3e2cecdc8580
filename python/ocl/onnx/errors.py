"""The errors of loading beyond Python's own, and how a node's errors say which it is."""

import ocl
from ocl import imported

# Python and NumPy raise these where a message of a file does not hold what an operator expects.
READING_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    NotImplementedError,
    RecursionError,
)
MEMORY_ERRORS = (MemoryError, ocl.OutOfMemoryError)


def at_node(node: str, error: Exception) -> Exception:
    """The error to raise in the place of one that a node met: it names the node, the innermost of several."""
    if str(error).startswith("onnx: "):
        return error
    # Not the error's own type: NumPy's takes other arguments.
    kind = next((each for each in MEMORY_ERRORS if isinstance(error, each)), ValueError)
    return kind(f"onnx: {node}: {str(error) or type(error).__name__}")


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


class UnwritableError(imported.UnsupportedError):
    """A model has operators that ONNX has nothing for, or that `save` does not write.

    ``missing`` lists them all: the operator, its first result in the graph, and the reason where other calls
    of the operator can be written, else "".
    """

    def __init__(self, missing: list[tuple[str, str, str]]):
        lines = [f"{name} (first: {first}{reason and '; ' + reason})" for name, first, reason in missing]
        super().__init__("onnx: save", missing, lines)
