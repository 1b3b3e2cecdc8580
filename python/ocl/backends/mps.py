"""The names of torch.backends.mps: that library is not used."""


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False
