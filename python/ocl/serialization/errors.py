"""The errors of files."""

import pickle


class UnpicklingError(OSError, pickle.UnpicklingError):
    """A file of PyTorch's is damaged, or holds what is not loaded from a file."""
